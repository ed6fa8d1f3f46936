//! `minwise sketch`: the sketches of a corpus, as a file.

use std::path::PathBuf;
use std::time::Instant;

use minwise_engine::{SketchOptions, SketchOutcome, SketchRun};
use serde_json::json;

use super::{REPORTED_BY_DEDUP, rejects};
use crate::Exit;
use crate::args::SketchFileArgs;
use crate::printer::{Failure, Printer, counted, grouped, megabytes, skipped_line, with_nulls};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};

pub fn run(args: &SketchFileArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = SketchOptions::default()
        .inputs(settings::inputs(&args.inputs, None, &mut problems))
        .spec(settings::spec(&args.spec, &mut problems))
        .threads(settings::given_threads(args.run.threads.as_deref(), &mut problems))
        .memory(settings::memory(&args.run, &mut problems))
        .max_rejects(settings::max_rejects(&args.run, &mut problems))
        .output(PathBuf::from(&args.output))
        .overwrite(args.force);
    let run = problems.built(SketchRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    summary(&outcome, started, printer);
    printer.skipped(&outcome.skipped_files);
    Ok(rejects(&outcome.rejected, REPORTED_BY_DEDUP, &args.run, printer))
}

fn summary(outcome: &SketchOutcome, started: Instant, printer: &Printer) {
    let elapsed = started.elapsed();
    let SketchOutcome {
        spec,
        documents,
        nulls,
        bytes: read_bytes,
        rejected,
        skipped_records,
        skipped_files,
        ..
    } = outcome;
    let bytes = spec.method.size_bytes() as u64;
    printer.event(&json!({
        "event": "summary",
        "spec": spec.to_string(),
        "read": documents + nulls + rejected.count,
        "rejected": rejected.count,
        "nulls": nulls,
        "skipped_files": skipped_files.len(),
        "skipped_records": skipped_records,
        "sketched": documents,
        "sketch_bytes": bytes,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    printer.note(&format!(
        "read        {}, {}{}; {} rejected{}\n\
         sketched    {}, {bytes} bytes each\n\
         spec        {spec}\n\
         time        {:.2} s, {:.1} MB/s",
        counted(documents + nulls + rejected.count, "document"),
        megabytes(*read_bytes),
        with_nulls(*nulls),
        grouped(rejected.count),
        skipped_line(skipped_files.len() as u64, *skipped_records),
        counted(*documents, "document"),
        elapsed.as_secs_f64(),
        *read_bytes as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9),
    ));
}
