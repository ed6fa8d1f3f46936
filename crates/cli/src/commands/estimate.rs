//! `minwise estimate` estimates similarities from files of sketches.

use std::path::PathBuf;
use std::time::Instant;

use minwise::figure::{counted, percent};
use minwise_corpus::visible;
use minwise_engine::{Destination, EstimateOptions, EstimateRun};
use serde_json::json;

use super::pair_format;
use crate::Exit;
use crate::args::EstimateArgs;
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::summary::{self, SummaryLines};

pub fn run(args: &EstimateArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let threshold = problems.share_or(0.8, "--threshold", &args.threshold);
    let options = EstimateOptions::new(PathBuf::from(&args.first))
        .second(args.second.as_ref().map(PathBuf::from))
        .of(args.of.clone())
        .threshold(threshold)
        .filter_error(settings::filter_error(&args.filter_error, &mut problems))
        .looks(args.looks.as_ref().map(|looks| settings::looks(looks, &mut problems)))
        .error_per_look(settings::error_per_look(args.error_per_look.as_deref(), &mut problems))
        .threads(settings::given_threads(&args.threads, &mut problems))
        .output(args.output.as_deref().map_or(Destination::Stdout, Destination::from))
        .format(pair_format(args.format, args.output.as_deref())?)
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
    let mut lines = SummaryLines::default();
    let reach = if outcome.pairs == 1 { "reaches" } else { "reach" };
    let estimated = counted(outcome.pairs, "estimate");
    lines.line("compared", format!("{}: {estimated} {reach} {threshold}", counted(compared.pairs, "pair")));
    let place = match args.output.as_deref() {
        None | Some("-") => "standard output".to_owned(),
        Some(path) => format!("`{}`", visible(path)),
    };
    lines.line("wrote", format!("{} to {place}", counted(outcome.pairs, "pair")));
    lines.line("time", summary::time(elapsed, 0, 0));
    lines.detail("spec", outcome.spec.to_string());
    let share = percent(compared.words, compared.of_words);
    lines.detail("sketches", format!("{share} of the data of the compared sketches was read"));
    if args.error_per_look.is_some() {
        lines.detail("filter", summary::total_error(compared.filter_error));
    }
    printer.note(&lines.to_string());
    Ok(Exit::Done)
}
