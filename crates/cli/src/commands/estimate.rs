//! `minwise estimate`: similarities of sketches, from files.

use std::path::PathBuf;
use std::time::Instant;

use minwise_engine::{Destination, EstimateOptions, EstimateRun};
use serde_json::json;

use crate::Exit;
use crate::args::EstimateArgs;
use crate::printer::{Failure, Printer, counted, grouped, total_error};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};

pub fn run(args: &EstimateArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let threshold = problems.number("--threshold", &args.threshold, "a number");
    let options = EstimateOptions::new(PathBuf::from(&args.first))
        .second(args.second.as_ref().map(PathBuf::from))
        .of(args.of.clone())
        .threshold(threshold)
        .filter_error(settings::filter_error(&args.filter_error, &mut problems))
        .looks(args.looks.as_ref().map(|looks| settings::looks(looks, &mut problems)))
        .error_per_look(settings::error_per_look(args.error_per_look.as_deref(), &mut problems))
        .threads(settings::given_threads(args.threads.as_deref(), &mut problems))
        .output(args.output.as_deref().map_or(Destination::Stdout, Destination::from))
        .format(args.format.into())
        .overwrite(args.force);
    let run = problems.built(EstimateRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    let elapsed = started.elapsed();
    let compared = outcome.compared;
    printer.event(&json!({
        "event": "summary",
        "spec": outcome.spec.to_string(),
        "threshold": threshold,
        "compared": compared.pairs,
        "words_compared": compared.words,
        "words": compared.of_words,
        "filter_error": compared.filter_error,
        "pairs": outcome.pairs,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    printer.note(&format!(
        "pairs       {} estimated at or above {threshold}, of {}\n\
         compared    {:.1} % of their words{}\n\
         spec        {}\n\
         time        {:.2} s",
        grouped(outcome.pairs),
        counted(compared.pairs, "pair"),
        100.0 * compared.words as f64 / (compared.of_words as f64).max(1.0),
        args.error_per_look.as_ref().map_or(String::new(), |_| total_error(compared.filter_error)),
        outcome.spec,
        elapsed.as_secs_f64(),
    ));
    Ok(Exit::Done)
}
