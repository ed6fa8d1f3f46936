//! `minwise lab`: the experiments of the sources, run again.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use minwise_corpus::{Output, visible};
use minwise_lab::corpus::{Made, Maker};
use minwise_lab::experiment::{Experiment, Options};
use minwise_lab::png::Renderer;
use minwise_lab::record::{self, Record, Run};
use minwise_lab::{catalogue, report};
use serde_json::json;

use super::overwrite;
use crate::Exit;
use crate::args::{LabArgs, LabCommand, LabCorpusArgs, LabRunArgs};
use crate::interrupt;
use crate::printer::{Failure, Printer};
use crate::settings::{self, Problems};

pub fn run(args: &LabArgs, printer: &Printer) -> Result<Exit, Failure> {
    // Folders are written file by file, each of them whole, and a record can be written again.
    interrupt::at_once(|| match &args.what {
        LabCommand::List => list(),
        LabCommand::Run(args) => run_experiments(args, printer),
        LabCommand::Corpus(args) => make_corpus(args),
        LabCommand::Report { folder } => write_report(Path::new(folder)),
    })
}

/// Makes a corpus, in order, in portions that threads make side by side.
fn make_corpus(args: &LabCorpusArgs) -> Result<Exit, Failure> {
    const TOGETHER: u64 = 2000;
    let mut problems = Problems::default();
    let whole = "a whole number";
    let made = Made {
        documents: problems.number("--documents", &args.documents, whole),
        words: problems.number("--words", &args.words, whole),
        copies: problems.number("--copies", &args.copies, "a number"),
        edits: problems.number("--edits", &args.edits, whole),
        families: args.families.as_ref().map(|number| problems.number("--families", number, whole)),
        seed: problems.number("--seed", &args.seed, whole),
    };
    problems.finish()?;
    if !(0.0..=1.0).contains(&made.copies) {
        let message =
            format!("`--copies`: a share cannot be {}: it must be at least 0 and at most 1", made.copies);
        return Err(Failure::Error { message, hint: None });
    }
    let overwrite = overwrite(args.force);
    let mut documents = match args.output.as_str() {
        "-" => Output::stdout(),
        path => Output::create(Path::new(path), overwrite)?,
    };
    let mut truths =
        args.truth.as_ref().map(|path| Output::create(Path::new(path), overwrite)).transpose()?;
    let maker = Maker::new(made);
    let portions = usize::try_from(made.documents.div_ceil(TOGETHER)).unwrap_or(usize::MAX);
    let wanted = truths.is_some();
    let make = |portion: usize| {
        let begin = portion as u64 * TOGETHER;
        let numbers = begin..(begin + TOGETHER).min(made.documents);
        let (mut documents, mut known) = (vec![], wanted.then(Vec::new));
        maker.write(numbers, &mut documents, known.as_mut()).map(|()| (documents, known.unwrap_or_default()))
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for first in (0..portions).step_by(threads) {
        let together: Vec<_> = std::thread::scope(|scope| {
            let handles: Vec<_> = (first..(first + threads).min(portions))
                .map(|portion| scope.spawn(move || make(portion)))
                .collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        for made in together {
            let (lines, known) = made?;
            documents.write_bytes(&lines)?;
            if let Some(truths) = &mut truths {
                truths.write_bytes(&known)?;
            }
        }
    }
    documents.finish()?;
    if let Some(truths) = truths {
        truths.finish()?;
    }
    Ok(Exit::Done)
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
