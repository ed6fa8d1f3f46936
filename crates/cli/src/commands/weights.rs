//! `minwise weights`: in how many documents each shingle stands, as a file.

use std::path::PathBuf;
use std::time::Instant;

use minwise_engine::{WeightsOptions, WeightsRun};
use serde_json::json;

use super::REPORTED_BY_DEDUP;
use crate::Exit;
use crate::args::WeightsArgs;
use crate::printer::{Failure, Printer, counted, grouped, megabytes, skipped_line, with_nulls};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::spell::spelled;

pub fn run(args: &WeightsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = WeightsOptions::default()
        .inputs(settings::inputs(&args.inputs, None, &mut problems))
        .spec(settings::text_spec(&args.text, &mut problems))
        .threads(settings::given_threads(args.threads.as_deref(), &mut problems))
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
    printer.note(&format!(
        "counted     {}, {}{}; {} rejected{}\n\
         shingles    {} different ones\n\
         table       {:016x}\n\
         time        {:.2} s, {:.1} MB/s",
        counted(counted_here.documents, "document"),
        megabytes(counted_here.bytes),
        with_nulls(counted_here.nulls),
        grouped(counted_here.rejected.count),
        skipped_line(counted_here.skipped_files.len() as u64, counted_here.skipped_records),
        grouped(counted_here.shingles),
        counted_here.fingerprint,
        elapsed.as_secs_f64(),
        counted_here.bytes as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9),
    ));
    printer.skipped(&counted_here.skipped_files);
    let hint = counted_here.rejected.hint.as_ref().map_or_else(|| REPORTED_BY_DEDUP.to_owned(), spelled);
    let rejected = &counted_here.rejected;
    printer.rejects(rejected.count, &rejected.first, &rejected.lines, &hint);
    Ok(if counted_here.rejected.count == 0 { Exit::Done } else { Exit::Error })
}
