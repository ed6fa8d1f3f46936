//! `minwise weights` counts the documents that have each shingle, and writes the counts to a file.

use std::path::PathBuf;
use std::time::Instant;

use minwise::figure::{counted, size};
use minwise_corpus::visible;
use minwise_engine::{WeightsOptions, WeightsRun};
use serde_json::json;

use super::REPORTED_BY_DEDUP;
use crate::Exit;
use crate::args::WeightsArgs;
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::spell::spelled;
use crate::summary::{self, SummaryLines};

pub fn run(args: &WeightsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = WeightsOptions::default()
        .inputs(settings::inputs(&args.inputs, &args.reading, None, &mut problems))
        .spec(settings::text_spec(&args.text, &mut problems))
        .threads(settings::given_threads(&args.threads, &mut problems))
        .output(PathBuf::from(&args.output))
        .overwrite(args.force);
    let run = problems.built(WeightsRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let counted_here = run.execute(&progress)?;
    progress.clear();
    let elapsed = started.elapsed();
    printer.event(&json!({
        "event": "summary",
        "documents": counted_here.documents,
        "nulls": counted_here.nulls,
        "skipped_files": counted_here.skipped_files.len(),
        "skipped_records": counted_here.skipped_records,
        "rejected": counted_here.rejected.count,
        "shingles": counted_here.shingles,
        "fingerprint": format!("{:016x}", counted_here.fingerprint),
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    let (documents, bytes) = (counted_here.documents, counted_here.bytes);
    let mut lines = SummaryLines::default();
    let nulls = summary::with_nulls(counted_here.nulls);
    let rejected = &counted_here.rejected;
    let read = documents + counted_here.nulls + rejected.count;
    let records = summary::records(read, rejected.count);
    lines.line("read", format!("{records}, {}{nulls}", size(bytes)));
    lines.line("rejected", counted(rejected.count, "record"));
    let skipped_files = counted_here.skipped_files.len() as u64;
    lines.optional(
        "skipped",
        summary::skipped(skipped_files, counted_here.skipped_records, args.messages.verbose),
    );
    let shingles = counted(counted_here.shingles, "shingle");
    lines.line("wrote", format!("the document frequencies of {shingles} to `{}`", visible(&args.output)));
    lines.line("time", summary::time(elapsed, documents, bytes));
    lines.detail("table", format!("{:016x}", counted_here.fingerprint));
    lines.stages(&progress.stages());
    printer.note(&lines.to_string());
    printer.skipped(&counted_here.skipped_files);
    let hint = rejected.hint.as_ref().map_or_else(|| REPORTED_BY_DEDUP.to_owned(), spelled);
    printer.rejects(rejected.count, &rejected.first, &rejected.lines, false, &hint);
    Ok(if rejected.count == 0 { Exit::Done } else { Exit::Error })
}
