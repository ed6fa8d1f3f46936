//! `minwise sketch` writes the sketches of a corpus to a file.

use std::path::PathBuf;
use std::time::Instant;

use minwise::figure::{counted, grouped, size};
use minwise_corpus::visible;
use minwise_engine::{SketchOptions, SketchOutcome, SketchRun};
use serde_json::json;

use super::{REPORTED_BY_DEDUP, rejects};
use crate::Exit;
use crate::args::SketchFileArgs;
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::summary::{self, SummaryLines};

pub fn run(args: &SketchFileArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = SketchOptions::default()
        .inputs(settings::inputs(&args.inputs, &args.reading, None, &mut problems))
        .spec(settings::spec(&args.spec, &mut problems))
        .threads(settings::given_threads(&args.run.threads, &mut problems))
        .memory(settings::memory(&args.run, &mut problems))
        .max_rejects(settings::max_rejects(args.run.max_rejects.as_deref(), &mut problems))
        .output(PathBuf::from(&args.output))
        .overwrite(args.force);
    let run = problems.built(SketchRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    summary(args, &outcome, started, &progress, printer);
    printer.skipped(&outcome.skipped_files);
    Ok(rejects(&outcome.rejected, REPORTED_BY_DEDUP, &args.run, printer))
}

fn summary(
    args: &SketchFileArgs,
    outcome: &SketchOutcome,
    started: Instant,
    progress: &ProgressPrinter,
    printer: &Printer,
) {
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
    let read = documents + nulls + rejected.count;
    let mut lines = SummaryLines::default();
    let nulls = summary::with_nulls(*nulls);
    let records = summary::records(read, rejected.count);
    lines.line("read", format!("{records}, {}{nulls}", size(*read_bytes)));
    lines.line("rejected", counted(rejected.count, "record"));
    lines.optional(
        "skipped",
        summary::skipped(skipped_files.len() as u64, *skipped_records, args.messages.verbose),
    );
    let sketches = counted(*documents, "sketch");
    lines
        .line("wrote", format!("{sketches} of {} bytes each to `{}`", grouped(bytes), visible(&args.output)));
    lines.line("time", summary::time(elapsed, read, *read_bytes));
    lines.detail("spec", spec.to_string());
    lines.stages(&progress.stages());
    printer.note(&lines.to_string());
}
