//! `minwise dedup` removes the near-duplicates of a corpus.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use minwise::figure::{counted, grouped, size, subject};
use minwise_corpus::{Source, visible};
use minwise_engine::{DedupOptions, DedupOutcome, DedupRun, Destination, Outputs, WorkOptions};
use serde_json::json;

use super::{rejects, report_rejects};
use crate::Exit;
use crate::args::{DedupArgs, WorkArgs};
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::shell;
use crate::summary::{self, ComparedPairs, SummaryLines, documents_of};

pub fn run(args: &DedupArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = options(args, &mut problems);
    let run = problems.built(DedupRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    summary(args, &outcome, started.elapsed(), printer);
    printer.skipped(outcome.corpus().skipped());
    let exit =
        rejects(&outcome.rejected_records(), &report_rejects(args.report.as_deref()), &args.run, printer);
    outcome.close()?;
    Ok(exit)
}

/// Converts the options of the command line to those of the engine.
fn options(args: &DedupArgs, problems: &mut FlagProblems) -> DedupOptions {
    let mut inputs = settings::inputs(&args.inputs, &args.reading, Some(&args.sketch.weights), problems);
    inputs.against = settings::words(&args.against);
    let mut arguments = settings::run_arguments(&args.near, &args.sketch, &args.run);
    let keep = (!args.keep.is_empty()).then(|| args.keep.join(";"));
    for (setting, text) in [
        ("cluster", Some(&args.cluster)),
        ("max-cluster", args.max_cluster.as_ref()),
        ("audit", Some(&args.audit)),
        ("keep", keep.as_ref()),
        ("output-format", args.output_format.as_ref()),
        ("compression", Some(&args.compression)),
    ] {
        if let Some(text) = text {
            arguments.set(setting, text);
        }
    }
    let settings = settings::settings_of(&mut arguments, problems);
    // `check --report` writes a file, so that people give the report of a run such a name, too.
    let file = args.report.as_deref().filter(|name| has_name_of_page(name) && !Path::new(name).is_dir());
    if let Some(name) = file {
        let folder = Path::new(name).with_extension("");
        problems.add(
            format!(
                "`--report`: the report is a folder of several files, and `{}` has the name of a file",
                visible(name)
            ),
            Some(format!(
                "`--report {0}` writes the page to `{0}/index.html`",
                visible(&folder.to_string_lossy())
            )),
        );
    }
    let written =
        |output: &Option<String>| output.as_deref().filter(|_| !args.dry_run).map(Destination::from);
    let outputs = Outputs::default()
        .kept(written(&args.output))
        .removed(written(&args.removed))
        .annotate(args.annotate)
        .format(arguments.output_format())
        .compression(arguments.compression())
        .report(args.report.as_ref().map(PathBuf::from))
        .overwrite(args.force);
    DedupOptions::default()
        .inputs(inputs)
        .settings(settings)
        .outputs(outputs)
        .work(work(&args.work))
        .command(shell::command())
}

/// Reports whether a name ends like that of a web page.
fn has_name_of_page(name: &str) -> bool {
    let extension = Path::new(name).extension().filter(|_| !name.ends_with('/'));
    extension.is_some_and(|extension| ["html", "htm"].iter().any(|page| extension.eq_ignore_ascii_case(page)))
}

fn work(args: &WorkArgs) -> Option<WorkOptions> {
    let folder = Path::new(args.folder.as_ref()?).to_owned();
    Some(WorkOptions::new(folder).resume(args.resume).keep(args.keep_work))
}

/// Prints what the run did.
fn summary(args: &DedupArgs, outcome: &DedupOutcome, elapsed: Duration, printer: &Printer) {
    if printer.is_json() {
        let mut event = json!({"event": "summary", "elapsed_ms": elapsed.as_millis() as u64});
        if let (Some(event), Ok(serde_json::Value::Object(fields))) =
            (event.as_object_mut(), serde_json::to_value(outcome.summary()))
        {
            event.extend(fields);
            let stages = outcome
                .stages()
                .iter()
                .map(|(stage, elapsed)| json!({"stage": stage, "elapsed_ms": elapsed.as_millis() as u64}));
            event.insert("stages".to_owned(), stages.collect());
        }
        return printer.event(&event);
    }
    printer.note(&lines(args, outcome, elapsed).to_string());
}

fn lines(args: &DedupArgs, outcome: &DedupOutcome, elapsed: Duration) -> SummaryLines {
    let summary = outcome.summary();
    let mut lines = SummaryLines::default();
    let input_bytes: u64 = outcome.corpus().inputs().iter().map(Source::size_bytes).sum();
    let mut read = format!("{}, {}", summary::records(summary.read, summary.rejected), size(input_bytes));
    read += &summary::with_nulls(summary.nulls);
    if summary.without_shingles > 0 {
        let unit = outcome.plan().spec().shingling.unit().noun();
        read += &format!("; {} without {unit}s", grouped(summary.without_shingles));
    }
    lines.line("read", read);
    if summary.reference + summary.reference_rejected > 0 {
        let rejected = match summary.reference_rejected {
            0 => String::new(),
            rejected => format!("; {} rejected", grouped(rejected)),
        };
        let documents = counted(summary.reference, "document");
        lines.line("reference", format!("{documents}, {}{rejected}", size(summary.bytes - input_bytes)));
    }
    let clusters = if summary.removed == 0 {
        String::new()
    } else {
        let clusters = counted(summary.clusters, "cluster");
        let equal = match summary.removed_equal {
            0 => String::new(),
            _ if summary.removed == 1 => "; equal after normalisation".to_owned(),
            equal => format!("; {} of them equal after normalisation", grouped(equal)),
        };
        format!(" in {clusters}{equal}")
    };
    let [kept, removed] =
        [summary.kept, summary.removed].map(|documents| documents_of(documents, summary.read));
    if args.annotate {
        lines.line("marked", format!("{removed}{clusters}"));
        lines.line("unmarked", kept);
    } else {
        lines.line("kept", kept);
        lines.line("removed", format!("{removed}{clusters}"));
    }
    if summary.spared > 0 {
        let of = counted(summary.max_cluster.unwrap_or_default(), "document");
        let large = subject(summary.large_clusters, "cluster", ["has", "have"]);
        let spared = counted(summary.spared, "document");
        lines.line("spared", format!("{spared}, because {large} more than {of} (`--max-cluster`)"));
    }
    lines.line("rejected", counted(summary.rejected, "record"));
    lines.optional(
        "skipped",
        summary::skipped(summary.skipped_files, summary.skipped_records, args.messages.verbose),
    );
    let compared = ComparedPairs {
        candidates: summary.candidates,
        filtered: summary.filtered,
        compared: summary.compared,
        verified: summary.verified,
        reordered: summary.reordered,
        reordered_estimated: summary.reordered_estimated,
        threshold: summary.threshold,
        measure: &summary.measure,
        order: summary.order,
    };
    lines.line("compared", compared.to_string());
    let at_threshold = summary::at_threshold(summary.read, summary.threshold, &outcome.plan().curve());
    let (expected, low) = (summary.expected_recall, summary.expected_recall_low);
    lines.line("recall", summary::recall(expected, low, at_threshold, summary.audit.as_ref()));
    for wrote in written(args, outcome) {
        lines.line("wrote", wrote);
    }
    lines.line("time", summary::time(elapsed, summary.read + summary.reference, summary.bytes));
    lines.detail("spec", summary.spec.as_str());
    lines.detail("settings", format!("keep {}, cluster {}", summary.keep, summary.cluster));
    lines.detail("candidates", summary::found_by(&summary.search, summary.bands, summary.rows));
    if let Some(share) = summary::filter_share(summary.filter_compared, summary.filter_registers) {
        lines.detail("sketches", share);
    }
    if let Some(error) = summary.error_per_look.and(summary.filter_error) {
        lines.detail("filter", summary::total_error(error));
    }
    lines.stages(outcome.stages());
    lines
}

/// Returns one text per output of the run, with its content and its path.
fn written(args: &DedupArgs, outcome: &DedupOutcome) -> Vec<String> {
    let summary = outcome.summary();
    let mut wrote = vec![];
    let mut to = |what: String, output: &str| {
        let place =
            if output == "-" { "standard output".to_owned() } else { format!("`{}`", visible(output)) };
        wrote.push(format!("{what} to {place}"));
    };
    if !args.dry_run {
        if let Some(output) = &args.output {
            let kept = counted(summary.kept, "kept document");
            let all = summary.kept + summary.removed;
            to(if args.annotate { counted(all, "annotated document") } else { kept }, output);
        }
        if let Some(output) = &args.removed {
            to(counted(summary.removed, "removed document"), output);
        }
    }
    if let Some(report) = &args.report {
        to("the report".to_owned(), &Path::new(report).join("index.html").to_string_lossy());
    }
    if args.dry_run {
        wrote.push("no documents (`--dry-run`)".to_owned());
    }
    wrote
}
