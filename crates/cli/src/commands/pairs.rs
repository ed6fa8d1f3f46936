//! `minwise pairs` writes the near-duplicate pairs of a corpus.

use std::time::Instant;

use minwise::figure::{counted, size, subject};
use minwise_corpus::visible;
use minwise_engine::{CandidatesOutcome, Destination, PairsOptions, PairsOutcome, PairsRun};
use serde_json::json;

use super::{REPORTED_BY_DEDUP, pair_format, rejects};
use crate::Exit;
use crate::args::PairsArgs;
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::summary::{self, ComparedPairs, SummaryLines};

pub fn run(args: &PairsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = PairsOptions::default()
        .inputs(settings::inputs(&args.inputs, &args.reading, Some(&args.sketch.weights), &mut problems))
        .settings(settings::run(&args.near, &args.sketch, &args.run, &mut problems))
        .of(args.of.clone())
        .output(args.output.as_deref().map_or(Destination::Stdout, Destination::from))
        .format(pair_format(args.format, args.output.as_deref())?)
        .overwrite(args.force);
    let run = problems.built(PairsRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    if args.candidates_only {
        let outcome = run.list_candidates(&progress)?;
        progress.clear();
        candidates_summary(args, &outcome, started, &progress, printer);
        printer.skipped(outcome.corpus().skipped());
        return Ok(rejects(&outcome.rejected_records(), REPORTED_BY_DEDUP, &args.run, printer));
    }
    let outcome = run.execute(&progress)?;
    progress.clear();
    summary(args, &outcome, started, &progress, printer);
    printer.skipped(outcome.corpus().skipped());
    Ok(rejects(&outcome.rejected_records(), REPORTED_BY_DEDUP, &args.run, printer))
}

/// Returns the output in words: standard output, or the path.
fn place(args: &PairsArgs) -> String {
    match args.output.as_deref() {
        None | Some("-") => "standard output".to_owned(),
        Some(path) => format!("`{}`", visible(path)),
    }
}

fn candidates_summary(
    args: &PairsArgs,
    outcome: &CandidatesOutcome,
    started: Instant,
    progress: &ProgressPrinter,
    printer: &Printer,
) {
    let elapsed = started.elapsed();
    let (plan, rejected) = (outcome.plan(), outcome.rejected_records().count);
    let (skipped_files, skipped_records) =
        (outcome.corpus().skipped().len() as u64, outcome.skipped_records());
    printer.event(&json!({
        "event": "summary",
        "spec": plan.spec().to_string(),
        "bands": plan.banding().bands(),
        "rows": plan.banding().rows(),
        "read": outcome.read(),
        "rejected": rejected,
        "nulls": outcome.nulls(),
        "skipped_files": skipped_files,
        "skipped_records": skipped_records,
        "candidates": outcome.written(),
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    let bytes = outcome.corpus().size_bytes();
    let mut lines = SummaryLines::default();
    let read = summary::records(outcome.read(), rejected);
    lines.line("read", format!("{read}, {}{}", size(bytes), summary::with_nulls(outcome.nulls())));
    lines.line("rejected", counted(rejected, "record"));
    lines.optional("skipped", summary::skipped(skipped_files, skipped_records, args.messages.verbose));
    let candidates = counted(outcome.written(), "candidate pair");
    lines.line("wrote", format!("{candidates} to {}, none of them compared", place(args)));
    lines.line("time", summary::time(elapsed, outcome.read(), bytes));
    lines.detail("spec", plan.spec().to_string());
    let (search, banding) = (plan.search().to_string(), plan.banding());
    lines.detail("candidates", summary::found_by(&search, banding.bands(), banding.rows()));
    lines.stages(&progress.stages());
    printer.note(&lines.to_string());
}

fn summary(
    args: &PairsArgs,
    outcome: &PairsOutcome,
    started: Instant,
    progress: &ProgressPrinter,
    printer: &Printer,
) {
    let elapsed = started.elapsed();
    let (plan, verification) = (outcome.plan(), outcome.verification());
    let screened = verification.screened;
    // Bands do not find pairs that share no shingle. A threshold of 0 asks for such pairs, so its recall would mean
    // nothing.
    let lists_any = plan.threshold() == 0.0;
    let has_recall = outcome.read() > 0 && !lists_any;
    let expected = verification.known_recall().filter(|_| has_recall);
    let low = verification.expected_recall_low().filter(|_| has_recall);
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
        "expected_recall": expected,
        "expected_recall_low": low,
        "elapsed_ms": elapsed.as_millis() as u64,
    }));
    let bytes = outcome.corpus().size_bytes();
    let mut lines = SummaryLines::default();
    let read = summary::records(outcome.read(), rejected);
    lines.line("read", format!("{read}, {}{}", size(bytes), summary::with_nulls(outcome.nulls())));
    lines.line("rejected", counted(rejected, "record"));
    lines.optional("skipped", summary::skipped(skipped_files, skipped_records, args.messages.verbose));
    let measure = plan.measure().to_string();
    let compared = ComparedPairs {
        candidates: verification.candidates,
        filtered: screened.pairs,
        compared: verification.compared,
        verified: verification.verified,
        reordered: verification.reordered,
        reordered_estimated: verification.reordered_estimated,
        threshold: plan.threshold(),
        measure: &measure,
        order: plan.order(),
    };
    // Documents with equal shingles are compared once. Each of them gets all pairs that were found, so more pairs are
    // written than verified.
    let more = outcome.written().saturating_sub(verification.verified);
    let equal = match more {
        1.. if args.of.is_none() && plan.order().is_none() && !lists_any => {
            let come = subject(more, "further pair", ["comes", "come"]);
            format!("; {come} from documents that are equal after normalisation")
        }
        _ => String::new(),
    };
    lines.line("compared", format!("{compared}{equal}"));
    if !lists_any {
        let at_threshold = summary::at_threshold(outcome.read(), plan.threshold(), &plan.curve());
        lines.line("recall", summary::recall(expected, low, at_threshold, None));
    }
    let noun = if lists_any { "pair" } else { "near-duplicate pair" };
    lines.line("wrote", format!("{} to {}", counted(outcome.written(), noun), place(args)));
    lines.line("time", summary::time(elapsed, outcome.read(), bytes));
    lines.detail("spec", plan.spec().to_string());
    let (search, banding) = (plan.search().to_string(), plan.banding());
    lines.detail("candidates", summary::found_by(&search, banding.bands(), banding.rows()));
    if let Some(share) = summary::filter_share(screened.compared, screened.registers) {
        lines.detail("sketches", share);
    }
    if let Some(error) = plan.error_per_look().and(plan.filter_error()) {
        lines.detail("filter", summary::total_error(error));
    }
    lines.stages(&progress.stages());
    printer.note(&lines.to_string());
}
