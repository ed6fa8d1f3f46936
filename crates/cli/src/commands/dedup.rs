//! `minwise dedup`: a corpus without its near-duplicates.

use std::path::{Path, PathBuf};
use std::time::Instant;

use minwise_engine::{DedupOptions, DedupRun, Destination, Outputs, WorkOptions};

use super::{rejects, report_rejects};
use crate::Exit;
use crate::args::{DedupArgs, WorkArgs};
use crate::printer::{Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::settings::{self, FlagProblems};
use crate::shell;

pub fn run(args: &DedupArgs, printer: &Printer) -> Result<Exit, Failure> {
    let started = Instant::now();
    let mut problems = FlagProblems::default();
    let options = options(args, &mut problems);
    let run = problems.built(DedupRun::new(options))?;

    let progress = ProgressPrinter::new(printer);
    let outcome = run.execute(&progress)?;
    progress.clear();
    printer.summary(outcome.summary(), started.elapsed());
    printer.skipped(outcome.corpus().skipped());
    let exit =
        rejects(&outcome.rejected_records(), &report_rejects(args.report.as_deref()), &args.run, printer);
    outcome.close()?;
    Ok(exit)
}

/// The typed options, as the engine takes them.
fn options(args: &DedupArgs, problems: &mut FlagProblems) -> DedupOptions {
    let mut inputs = settings::inputs(&args.inputs, Some(&args.sketch.weights), problems);
    inputs.against = settings::words(&args.against);
    let mut settings = settings::run(&args.sketch, &args.run, problems);
    settings.cluster = problems.parse("--cluster", &args.cluster);
    settings.max_cluster =
        args.max_cluster.as_ref().map(|most| settings::count(problems, "--max-cluster", most) as u64);
    settings.audit = settings::audit(&args.audit, problems);
    if !args.keep.is_empty() {
        settings.keep = Some(problems.parse("--keep", &args.keep.join(";")));
    }
    let written =
        |output: &Option<String>| output.as_deref().filter(|_| !args.dry_run).map(Destination::from);
    let outputs = Outputs::default()
        .kept(written(&args.output))
        .removed(written(&args.removed))
        .annotate(args.annotate)
        .format(args.output_format.as_ref().and_then(|format| problems.parsed("--output-format", format)))
        .compression(problems.parse("--compression", &args.compression))
        .report(args.report.as_ref().map(PathBuf::from))
        .overwrite(args.force);
    DedupOptions::default()
        .inputs(inputs)
        .settings(settings)
        .outputs(outputs)
        .work(work(&args.work))
        .command(shell::command())
}

fn work(args: &WorkArgs) -> Option<WorkOptions> {
    let folder = Path::new(args.folder.as_ref()?).to_owned();
    Some(WorkOptions::new(folder).resume(args.resume).keep(args.keep_work))
}
