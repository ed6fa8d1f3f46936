//! `minwise estimate`: similarities of sketches, from files.

use std::path::Path;
use std::time::Instant;

use minwise_corpus::{Output, escape_control, visible_json};
use minwise_engine::estimate::{Request, for_each_pair};
use minwise_engine::sketch_file::SketchFile;
use serde_json::json;

use super::overwrite;
use crate::Exit;
use crate::args::{EstimateArgs, PairFormat};
use crate::printer::{Failure, Printer, counted, grouped};
use crate::progress::Progress;
use crate::settings::{self, Problems};

pub fn run(args: &EstimateArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let threshold = settings::estimate_threshold(&args.threshold, &mut problems);
    let threads = settings::threads(args.threads.as_deref(), &mut problems);
    let filter = settings::filter_error(&args.filter_error, &mut problems);
    problems.finish()?;

    let first = SketchFile::open(Path::new(&args.first))?;
    let second = args.second.as_ref().map(|path| SketchFile::open(Path::new(path))).transpose()?;
    let mut out = match args.output.as_deref() {
        None | Some("-") => Output::stdout(),
        Some(path) => Output::create(Path::new(path), overwrite(args.force))?,
    };
    let progress = Progress::new(printer);
    let request = Request {
        first: &first,
        second: second.as_ref(),
        of: args.of.as_deref(),
        threshold,
        filter,
        threads,
    };
    let right = second.as_ref().unwrap_or(&first);
    let mut found = 0u64;
    let compared = for_each_pair(&request, &progress, |pair| {
        let (a, b) = (first.id(pair.first), right.id(pair.second));
        let estimate = &pair.estimate;
        let line = match args.format {
            PairFormat::Tsv => format!(
                "{}\t{}\t{:.6}\t{:.6}\n",
                escape_control(a),
                escape_control(b),
                estimate.value,
                estimate.standard_error
            ),
            PairFormat::Jsonl => {
                let pair = json!({
                    "first": a,
                    "second": b,
                    "estimate": estimate.value,
                    "standard_error": estimate.standard_error,
                    "interval": [estimate.interval.0, estimate.interval.1],
                });
                format!("{}\n", visible_json(&pair.to_string()))
            }
        };
        found += 1;
        Ok(out.write_bytes(line.as_bytes())?)
    })?;
    out.finish()?;
    progress.clear();

    let elapsed = started.elapsed();
    printer.event(&json!({
        "event": "summary",
        "spec": first.spec().to_string(),
        "threshold": threshold,
        "compared": compared.pairs,
        "words_compared": compared.words,
        "words": compared.of_words,
        "pairs": found,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    printer.note(&format!(
        "pairs       {} estimated at or above {threshold}, of {}\n\
         compared    {:.1} % of their words\n\
         spec        {}\n\
         time        {:.2} s",
        grouped(found),
        counted(compared.pairs, "pair"),
        100.0 * compared.words as f64 / (compared.of_words as f64).max(1.0),
        first.spec(),
        elapsed.as_secs_f64(),
    ));
    Ok(Exit::Done)
}
