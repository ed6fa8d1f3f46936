//! `minwise pairs`: the near-duplicate pairs of a corpus.

use std::time::Instant;

use minwise::verify::Measure;
use minwise_engine::{Destination, PairsOptions, PairsOutcome, PairsRun};
use serde_json::json;

use super::{REPORTED_BY_DEDUP, rejects};
use crate::Exit;
use crate::args::PairsArgs;
use crate::printer::{
    Failure, Printer, counted, expected, found_by, grouped, megabytes, put_aside, reordered, skipped_line,
    total_error, with_nulls,
};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};

pub fn run(args: &PairsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = PairsOptions::default()
        .inputs(settings::inputs(&args.inputs, Some(&args.sketch.weights), &mut problems))
        .settings(settings::run(&args.sketch, &args.run, &mut problems))
        .of(args.of.clone())
        .output(args.output.as_deref().map_or(Destination::Stdout, Destination::from))
        .format(args.format.into())
        .overwrite(args.force);
    let run = problems.built(PairsRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    summary(&outcome, started, printer);
    printer.skipped(outcome.corpus().skipped());
    Ok(rejects(&outcome.rejected_records(), REPORTED_BY_DEDUP, &args.run, printer))
}

fn summary(outcome: &PairsOutcome, started: Instant, printer: &Printer) {
    let elapsed = started.elapsed();
    let (plan, verification) = (outcome.plan(), outcome.verification());
    let screened = verification.screened;
    let recall = &verification.expected_recall;
    let rejected = outcome.rejected_records().count;
    let (skipped_files, skipped_records) =
        (outcome.corpus().skipped().len() as u64, outcome.skipped_records());
    printer.event(&json!({
        "event": "summary",
        "spec": plan.spec().to_string(),
        "measure": plan.measure().to_string(),
        "search": plan.search().to_string(),
        "threshold": plan.threshold(),
        "read": outcome.read(),
        "rejected": rejected,
        "nulls": outcome.nulls(),
        "skipped_files": skipped_files,
        "skipped_records": skipped_records,
        "pairs": outcome.written(),
        "candidates": verification.candidates,
        "filtered": screened.pairs,
        "filter_compared": screened.compared,
        "filter_registers": screened.registers,
        "filter_error": plan.filter_error(),
        "looks": plan.looks(),
        "error_per_look": plan.error_per_look(),
        "compared": verification.compared,
        "verified": verification.verified,
        "reordered": verification.reordered,
        "reordered_estimated": verification.reordered_estimated,
        "full_shelves": verification.full_shelves.shelves,
        "left_out": verification.full_shelves.left_out,
        "expected_recall": recall.value(),
        "expected_recall_low": verification.expected_recall_low(),
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    let reordered = plan.order().map_or(String::new(), |order| {
        reordered(verification.reordered, verification.reordered_estimated, order)
    });
    let by = match plan.measure() {
        Measure::Jaccard => String::new(),
        measure => format!(" by {measure}"),
    };
    let error = plan.error_per_look().and(plan.filter_error()).map_or(String::new(), total_error);
    let bytes = outcome.corpus().size_bytes();
    printer.note(&format!(
        "read        {}, {}{}; {} rejected{}\n\
         pairs       {} at or above {}{by}\n\
         candidates  {}{}; {} compared exactly{reordered}{error}\n\
         recall      {}, {}\n\
         spec        {}\n\
         time        {:.2} s, {:.1} MB/s",
        counted(outcome.read(), "document"),
        megabytes(bytes),
        with_nulls(outcome.nulls()),
        grouped(rejected),
        skipped_line(skipped_files, skipped_records),
        grouped(outcome.written()),
        plan.threshold(),
        grouped(verification.candidates),
        put_aside(screened.pairs, screened.compared, screened.registers),
        grouped(verification.compared),
        expected(recall.value(), verification.expected_recall_low()),
        found_by(plan.search(), plan.banding().bands(), plan.banding().rows()),
        plan.spec(),
        elapsed.as_secs_f64(),
        bytes as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9),
    ));
}
