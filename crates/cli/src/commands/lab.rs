//! `minwise lab`: the experiments of the sources, run again.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use minwise_corpus::visible;
use minwise_lab::experiment::{Experiment, Options};
use minwise_lab::png::Renderer;
use minwise_lab::record::{self, Record, Run};
use minwise_lab::{catalogue, report};
use serde_json::json;

use crate::Exit;
use crate::args::{LabArgs, LabCommand, LabRunArgs};
use crate::interrupt;
use crate::printer::{Failure, Printer};
use crate::settings::{self, Problems};

pub fn run(args: &LabArgs, printer: &Printer) -> Result<Exit, Failure> {
    // Folders are written file by file, each of them whole, and a record can be written again.
    interrupt::at_once(|| match &args.what {
        LabCommand::List => list(),
        LabCommand::Run(args) => run_experiments(args, printer),
        LabCommand::Report { folder } => write_report(Path::new(folder)),
    })
}

fn failure(error: impl std::fmt::Display) -> Failure {
    // With its causes, which tell the file or the experiment.
    Failure::Error { message: format!("{error:#}"), hint: None }
}

fn print(line: &str) -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout().lock(), "{}", visible(line))?)
}

fn list() -> Result<Exit, Failure> {
    print(&format!("{:24}  class  quick   full  what", "name"))?;
    for experiment in catalogue::all().map_err(failure)? {
        let definition = &experiment.definition;
        let needs = if definition.needs.is_empty() {
            String::new()
        } else {
            format!(" (needs {})", definition.needs.join(", "))
        };
        print(&format!(
            "{:24}  {:>5}  {:>3} s  {:>3} s  {}{needs}",
            experiment.name,
            definition.class.letter(),
            definition.seconds.quick,
            definition.seconds.full,
            definition.title
        ))?;
    }
    Ok(Exit::Done)
}

fn run_experiments(args: &LabRunArgs, printer: &Printer) -> Result<Exit, Failure> {
    let mut problems = Problems::default();
    let threads = settings::threads(args.threads.as_deref(), &mut problems);
    problems.finish()?;
    let experiments = chosen(&args.names)?;
    let data = args.data.as_ref().map(PathBuf::from);
    if let Some(folder) = data.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::Error {
            message: format!("there is no folder `{}`", folder.display()),
            hint: Some("docs/guides/lab.md says which data experiments look for".to_owned()),
        });
    }
    let peers = args.peers.as_ref().map(PathBuf::from);
    let options = Options { quick: args.quick, data, peers, threads };
    // Before hours of work, in case there are no fonts.
    let renderer = args.png.then(Renderer::new).transpose().map_err(failure)?;
    let begin = Instant::now();
    let mut records: Vec<Record> = vec![];
    for experiment in &experiments {
        printer.event(&json!({"event": "experiment", "name": experiment.name}));
        let run = Run::of(experiment, &options).map_err(failure)?;
        if let Some(folder) = &args.output {
            run.write(Path::new(folder), renderer.as_ref()).map_err(failure)?;
        }
        let unexpected = if run.record.is_expected { "" } else { " (not expected)" };
        print(&format!("{:24}  {}{unexpected}", run.record.name, run.record.outcome()))?;
        for reason in run.record.verdict.iter().flat_map(minwise_lab::verdict::Verdict::because) {
            print(&format!("    {reason}"))?;
        }
        for note in &run.record.notes {
            printer.note(&format!("{}: {note}", run.record.name));
        }
        records.push(run.record);
    }
    if let Some(folder) = &args.output {
        // Of all that is there, also from runs before this one.
        let all = record::read_all(Path::new(folder)).map_err(failure)?;
        record::write_index(Path::new(folder), &all).map_err(failure)?;
    }
    let of = records.iter().map(|record| (record.verdict.is_some(), record.is_expected));
    printer.note(&format!("{}, in {:.1} s", record::summary(of), begin.elapsed().as_secs_f64()));
    let all_expected = records.iter().all(|record| record.is_expected);
    Ok(if all_expected { Exit::Done } else { Exit::Finding })
}

/// The experiments of these names; all of them without any.
fn chosen(names: &[String]) -> Result<Vec<Experiment>, Failure> {
    let all = catalogue::all().map_err(failure)?;
    if let Some(name) = names.iter().find(|name| !all.iter().any(|experiment| experiment.is_named(name))) {
        return Err(Failure::Error {
            message: format!("there is no experiment `{name}`"),
            hint: Some("`minwise lab list` lists them".to_owned()),
        });
    }
    let is_chosen =
        |experiment: &Experiment| names.is_empty() || names.iter().any(|name| experiment.is_named(name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

fn write_report(folder: &Path) -> Result<Exit, Failure> {
    let records = record::read_all(folder).map_err(failure)?;
    if records.is_empty() {
        return Err(Failure::Error {
            message: format!("there are no results in `{}`", folder.display()),
            hint: Some("`minwise lab run --output DIR` writes them".to_owned()),
        });
    }
    let page = report::page(folder, &records).map_err(failure)?;
    let path = folder.join("index.html");
    fs_err::write(&path, page)?;
    print(&path.display().to_string())?;
    Ok(Exit::Done)
}
