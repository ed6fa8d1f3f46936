//! Main function of `minwise-lab`: parses the arguments, runs experiments or makes a corpus, and prints the results.

mod args;
mod messages;
mod sixteen;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

use clap::Parser;
use minwise_corpus::{Output, Overwrite};
use minwise_lab::comparison::{self, ComparisonOptions};
use minwise_lab::corpus::{self, Made};
use minwise_lab::enlarge;
use minwise_lab::experiment::{Experiment, ExperimentOptions};
use minwise_lab::png::Renderer;
use minwise_lab::record::{self, ExperimentRecord, RecordedRun};
use minwise_lab::verdict::ExperimentVerdict;
use minwise_lab::{catalogue, machine, report};
use serde_json::json;

use crate::args::{Args, Command, ComparisonArgs, CorpusArgs, EnlargeArgs, MessageArgs, RunArgs};
use crate::messages::{LabFailure, Problems, print};

/// The allocator of `minwise`, because experiments measure its time and memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DONE: u8 = 0;
/// Exit code if a verdict was not the expected one.
const UNEXPECTED: u8 = 1;
const ERROR: u8 = 2;
const INTERRUPTED: i32 = 130;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    // Ctrl-C may end the process immediately: each record is written as a whole file and can be written again. If the
    // handler cannot be set, Ctrl-C still ends the process, only with another exit code.
    let _ = ctrlc::set_handler(|| std::process::exit(INTERRUPTED));
    let messages = match &args.command {
        Command::Run(args) => args.messages,
        Command::List
        | Command::Comparison(_)
        | Command::Corpus(_)
        | Command::Enlarge(_)
        | Command::Sixteen(_)
        | Command::Report { .. } => MessageArgs::default(),
    };
    let result = match &args.command {
        Command::List => list(),
        Command::Run(args) => run(args),
        Command::Comparison(args) => compare(args),
        Command::Corpus(args) => make_corpus(args),
        Command::Enlarge(args) => enlarge_corpus(args),
        Command::Sixteen(args) => {
            sixteen::run(args, all_cores()).map(|reached| if reached { DONE } else { UNEXPECTED })
        }
        Command::Report { folder } => write_report(Path::new(folder)),
    };
    ExitCode::from(match result {
        Ok(code) => code,
        Err(LabFailure::BrokenPipe) => DONE,
        Err(LabFailure::Error { messages: lines, hint }) => {
            messages.failure(&lines, hint.as_deref());
            ERROR
        }
    })
}

/// Prints the help, or the error of the parser. Control characters in the arguments are escaped.
fn usage(error: &clap::Error) -> ExitCode {
    let text = minwise_corpus::visible_lines(&error.render().to_string());
    // If neither stream can be written, there is nowhere to report it.
    let _ = if error.use_stderr() {
        std::io::stderr().write_all(text.as_bytes())
    } else {
        std::io::stdout().write_all(text.as_bytes())
    };
    ExitCode::from(error.exit_code() as u8)
}

fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn make_corpus(args: &CorpusArgs) -> Result<u8, LabFailure> {
    let mut problems = Problems::default();
    let whole = "a whole number";
    let made = Made {
        documents: problems.number("--documents", &args.documents, whole),
        words: problems.number("--words", &args.words, whole),
        copies: problems.number("--copies", &args.copies, "a number"),
        edits: problems.number("--edits", &args.edits, whole),
        families: args.families.as_ref().map(|number| problems.number("--families", number, whole)),
        form: problems.number("--form", &args.form, whole),
        revisions: args.revisions.as_ref().map(|number| problems.number("--revisions", number, whole)),
        seed: problems.number("--seed", &args.seed, whole),
    };
    if made.revisions == Some(0) {
        problems.add("--revisions", format_args!("a chain cannot have 0 revisions: it has at least 1"));
    }
    if !(0.0..=1.0).contains(&made.copies) {
        problems.add(
            "--copies",
            format_args!("a share cannot be {}: it must be at least 0 and at most 1", made.copies),
        );
    }
    problems.finish()?;
    let overwrite = if args.force { Overwrite::Allow } else { Overwrite::Refuse };
    let mut documents = match args.output.as_str() {
        "-" => Output::stdout(),
        path => Output::create(Path::new(path), overwrite)?,
    };
    let mut truths =
        args.truth.as_ref().map(|path| Output::create(Path::new(path), overwrite)).transpose()?;
    corpus::make(made, truths.is_some(), all_cores(), |lines, known| -> Result<(), LabFailure> {
        documents.write_bytes(lines)?;
        if let Some(truths) = &mut truths {
            truths.write_bytes(known)?;
        }
        Ok(())
    })?;
    documents.finish()?;
    if let Some(truths) = truths {
        truths.finish()?;
    }
    Ok(DONE)
}

fn enlarge_corpus(args: &EnlargeArgs) -> Result<u8, LabFailure> {
    let mut problems = Problems::default();
    let times = problems.number("--times", &args.times, "a whole number");
    let seed = problems.number("--seed", &args.seed, "a whole number");
    problems.finish()?;
    let text = read_corpus(&args.input)?;
    let overwrite = if args.force { Overwrite::Allow } else { Overwrite::Refuse };
    let mut documents = match args.output.as_str() {
        "-" => Output::stdout(),
        path => Output::create(Path::new(path), overwrite)?,
    };
    enlarge::enlarge(&text, times, seed, all_cores(), |lines| -> Result<(), LabFailure> {
        Ok(documents.write_bytes(lines)?)
    })?;
    documents.finish()?;
    Ok(DONE)
}

/// Reads a whole corpus of text, decompressed if its name ends in `.zst`.
fn read_corpus(path: &str) -> Result<String, LabFailure> {
    let problem =
        |problem: &dyn std::fmt::Display| LabFailure::new(format!("cannot read `{path}`: {problem}"));
    let mut bytes = fs_err::read(path)?;
    if Path::new(path).extension().is_some_and(|extension| extension == "zst") {
        bytes = zstd::stream::decode_all(&bytes[..]).map_err(|error| problem(&error))?;
    }
    String::from_utf8(bytes).map_err(|_| problem(&"not UTF-8"))
}

fn compare(args: &ComparisonArgs) -> Result<u8, LabFailure> {
    let mut problems = Problems::default();
    let whole = "a whole number";
    let options = ComparisonOptions {
        seeds: problems.number("--seeds", &args.seeds, whole),
        pairs: problems.number("--pairs", &args.pairs, whole),
        threads: problems.number("--threads", &args.threads, whole),
        machine: args.machine.clone().unwrap_or_else(machine::described),
    };
    problems.finish()?;
    for (option, number, least) in [
        ("--seeds", options.seeds as usize, 2),
        ("--pairs", options.pairs, 1),
        ("--threads", options.threads, 1),
    ] {
        if number < least {
            return Err(LabFailure::new(format!("`{option}`: it must be at least {least}")));
        }
    }
    for file in comparison::files(Path::new(&args.data), &options)? {
        let path = Path::new(&args.output).join(&file.path);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(&path, file.content)?;
        print(&path.display().to_string())?;
    }
    Ok(DONE)
}

fn list() -> Result<u8, LabFailure> {
    print(&format!("{:24}  class  quick   full  what", "name"))?;
    for experiment in catalogue::all()? {
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
    Ok(DONE)
}

fn run(args: &RunArgs) -> Result<u8, LabFailure> {
    let mut problems = Problems::default();
    let threads = match args.threads.as_deref() {
        Some(text) => problems.number("--threads", text, "a whole number"),
        None => all_cores(),
    };
    if args.threads.as_deref().is_some_and(|text| text.parse() == Ok(0)) {
        problems.add("--threads", "it must be at least 1");
    }
    problems.finish()?;
    let experiments = chosen(&args.names)?;
    let data = args.data.as_ref().map(PathBuf::from);
    if let Some(folder) = data.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(LabFailure::with_hint(
            format!("there is no folder `{}`", folder.display()),
            "docs/guides/lab.md says which data experiments look for",
        ));
    }
    let peers = args.peers.as_ref().map(PathBuf::from);
    let options = ExperimentOptions { quick: args.quick, data, peers, threads };
    // The renderer is made before hours of work, because it fails if the machine has no fonts.
    let renderer = args.png.then(Renderer::new).transpose()?;
    let begin = Instant::now();
    let mut records: Vec<ExperimentRecord> = vec![];
    for experiment in &experiments {
        args.messages.event(&json!({"event": "experiment", "name": experiment.name}));
        let run = RecordedRun::of(experiment, &options);
        if let Some(folder) = &args.output {
            run.write(Path::new(folder), renderer.as_ref())?;
        }
        if let Some(why) = &run.record.failed {
            args.messages.failure(&[format!("{}: {why}", run.record.name)], None);
        }
        let unexpected =
            if run.record.is_expected || run.record.failed.is_some() { "" } else { " (not expected)" };
        print(&format!("{:24}  {}{unexpected}", run.record.name, run.record.outcome()))?;
        for reason in run.record.verdict.iter().flat_map(ExperimentVerdict::because) {
            print(&format!("    {reason}"))?;
        }
        for note in &run.record.notes {
            args.messages.note(&format!("{}: {note}", run.record.name));
        }
        records.push(run.record);
    }
    if let Some(folder) = &args.output {
        // The index lists everything in the folder, including results of earlier runs.
        let all = record::read_all(Path::new(folder))?;
        record::write_index(Path::new(folder), &all)?;
    }
    args.messages.note(&format!("{}, in {:.1} s", record::summary(&records), begin.elapsed().as_secs_f64()));
    Ok(if records.iter().any(|record| record.failed.is_some()) {
        ERROR
    } else if records.iter().all(|record| record.is_expected) {
        DONE
    } else {
        UNEXPECTED
    })
}

/// Returns the experiments with these names, or all experiments if there are no names.
fn chosen(names: &[String]) -> Result<Vec<Experiment>, LabFailure> {
    let all = catalogue::all()?;
    if let Some(name) = names.iter().find(|name| !all.iter().any(|experiment| experiment.is_named(name))) {
        return Err(LabFailure::with_hint(
            format!("there is no experiment `{name}`"),
            "`minwise-lab list` lists them",
        ));
    }
    let is_chosen =
        |experiment: &Experiment| names.is_empty() || names.iter().any(|name| experiment.is_named(name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

fn write_report(folder: &Path) -> Result<u8, LabFailure> {
    let records = record::read_all(folder)?;
    if records.is_empty() {
        return Err(LabFailure::with_hint(
            format!("there are no results in `{}`", folder.display()),
            "`minwise-lab run --output DIR` writes them",
        ));
    }
    let page = report::page(folder, &records)?;
    let path = folder.join("index.html");
    fs_err::write(&path, page)?;
    print(&path.display().to_string())?;
    Ok(DONE)
}
