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
    let mut arguments = settings::run_arguments(&args.sketch, &args.run);
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

fn work(args: &WorkArgs) -> Option<WorkOptions> {
    let folder = Path::new(args.folder.as_ref()?).to_owned();
    Some(WorkOptions::new(folder).resume(args.resume).keep(args.keep_work))
}
