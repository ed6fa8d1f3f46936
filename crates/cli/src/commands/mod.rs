//! Subcommands of `minwise`: one file or folder per subcommand.

pub mod accuracy;
pub mod check;
pub mod compare;
pub mod dedup;
mod documents;
pub mod estimate;
pub mod generate;
pub mod index;
pub mod lab;
pub mod pairs;
pub mod plan;
pub mod serve;
pub mod sketch;
pub mod weights;

use std::io::Write as _;
use std::path::Path;

use minwise_corpus::{Corpus, Format, Input, InputFormat, Overwrite, ReadOptions};
use minwise_engine::{Destination, PairFormat, RejectedRecords};

use crate::Exit;
use crate::args::{Command, DedupArgs, Generate, IndexCommand, PairFormatArg, RunArgs};
use crate::interrupt;
use crate::printer::{CommandError, Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::spell::spelled;

/// Maximum number of rejected records that a command describes on standard error.
const SHOWN_REJECTS: usize = 5;
/// Hint for commands without a report: how to list all rejected records.
const REPORTED_BY_DEDUP: &str =
    "`minwise dedup --dry-run --report DIR` lists all of them in `DIR/rejects.jsonl`";

/// Returns the hint that names the list of all rejected records in the report, or the option that writes the report.
fn report_rejects(report: Option<&str>) -> String {
    match report {
        Some(folder) => format!("all of them are in `{}`", Path::new(folder).join("rejects.jsonl").display()),
        None => "`--report DIR` lists all of them in `DIR/rejects.jsonl`".to_owned(),
    }
}

/// Writes to standard output.
fn print(text: &[u8]) -> Result<(), Failure> {
    std::io::stdout().lock().write_all(text).map_err(on_stdout)
}

/// Converts an error of standard output. The message of the operating system does not name what was written.
fn on_stdout(error: std::io::Error) -> Failure {
    match Failure::from(error) {
        Failure::Error { code, message, hint } => {
            Failure::Error { code, message: format!("cannot write standard output: {message}"), hint }
        }
        other => other,
    }
}

fn open(inputs: &[Input], options: &ReadOptions, progress: &ProgressPrinter) -> Result<Corpus, Failure> {
    Ok(interrupt::at_once(|| Corpus::open(inputs, options, progress))?)
}

/// Returns the format in which a file is read as one document, even if it holds records. Text stays text; every other
/// format becomes `DOCUMENT`, which finds the kind of each file.
fn whole_files(format: InputFormat) -> InputFormat {
    match format {
        InputFormat::Only(Format::TEXT) => format,
        _ => InputFormat::Only(Format::DOCUMENT),
    }
}

fn overwrite(force: bool) -> Overwrite {
    if force { Overwrite::Allow } else { Overwrite::Refuse }
}

/// Returns the format of an output of pairs: the format that was asked for, or the format of its name.
fn pair_format(asked: Option<PairFormatArg>, output: Option<&str>) -> Result<PairFormat, Failure> {
    let name = output.unwrap_or_default();
    if let Some(format) = asked.or_else(|| PairFormatArg::of_name(name)) {
        return Ok(format.into());
    }
    let message = format!("`{name}` has the name of another format, but pairs are written as TSV or JSONL");
    let hint = "give it a name that ends in `.tsv` or `.jsonl`; `--format` sets the format under any name";
    Err(CommandError::BadSetting.with(message, Some(hint)))
}

/// Prints the rejected records, and returns the exit code that follows from them. With `--max-rejects`, the code is
/// `Done`, because a run with more rejects than permitted has failed before.
fn rejects(rejected: &RejectedRecords, hint: &str, run: &RunArgs, printer: &Printer) -> Exit {
    let hint = rejected.hint.as_ref().map_or_else(|| hint.to_owned(), spelled);
    let are_permitted = run.max_rejects.is_some();
    printer.rejects(rejected.count, &rejected.first, &rejected.lines, are_permitted, &hint);
    if rejected.count == 0 || are_permitted { Exit::Done } else { Exit::Error }
}

/// Message after Ctrl-C if all outputs are files, because a file gets its name when it is complete.
const NO_OUTPUT: &str = "no output was written";
/// Message after Ctrl-C if the only output is standard output, which may already have lines.
const PARTIAL_STDOUT: &str = "standard output is incomplete";
/// Message after Ctrl-C if one output is standard output and another is a file.
const PARTIAL_STDOUT_NO_FILE: &str = "standard output is incomplete, and no file was written";

/// Returns a sentence about the state that Ctrl-C leaves, and a hint about how to continue.
pub fn after_interruption(command: &Command) -> (&'static str, Option<&'static str>) {
    let of_stdout = |is_stdout: bool| if is_stdout { PARTIAL_STDOUT } else { NO_OUTPUT };
    match command {
        Command::Dedup(args) => {
            let hint = match (&args.work.folder, args.work.resume) {
                (Some(_), true) => "the same command continues the run",
                (Some(_), false) => "the same command with `--resume` continues the run",
                (None, _) => "a run with `--work DIR` can be continued with `--resume`",
            };
            (after_dedup(args), Some(hint))
        }
        Command::Pairs(args) => (of_stdout(is_stdout(args.output.as_deref())), None),
        Command::Estimate(args) => (of_stdout(is_stdout(args.output.as_deref())), None),
        Command::Index(args) => match &args.what {
            IndexCommand::Add(_) => {
                ("the documents added so far are in the archive", Some("the same command adds the others"))
            }
            IndexCommand::Export(args) => (of_stdout(is_stdout(args.output.as_deref())), None),
            IndexCommand::List(_) | IndexCommand::Show(_) | IndexCommand::Stats(_) => (PARTIAL_STDOUT, None),
            _ => ("the archive is unchanged, or the change is complete", None),
        },
        Command::Serve(_) => ("the server was stopped before it listened", None),
        Command::Accuracy(_) | Command::Check(_) | Command::Compare(_) => {
            ("not all documents were compared", None)
        }
        Command::Generate(args) if matches!(args.what, Generate::All { .. }) => {
            ("not all files were written", None)
        }
        Command::Plan(_) | Command::Generate(_) => (PARTIAL_STDOUT, None),
        Command::Sketch(_) | Command::Weights(_) => (NO_OUTPUT, None),
    }
}

/// Reports whether lines go to standard output, which is the default of the commands that list something.
fn is_stdout(output: Option<&str>) -> bool {
    output.is_none_or(|output| Destination::from(output) == Destination::Stdout)
}

/// Returns the state that Ctrl-C leaves after `dedup`.
fn after_dedup(args: &DedupArgs) -> &'static str {
    let outputs = [&args.output, &args.removed];
    let outputs = outputs.into_iter().flatten().map(|output| Destination::from(output.as_str()));
    let (stdouts, files): (Vec<_>, Vec<_>) = outputs.partition(|output| *output == Destination::Stdout);
    if args.dry_run || stdouts.is_empty() {
        NO_OUTPUT
    } else if files.is_empty() && args.report.is_none() {
        PARTIAL_STDOUT
    } else {
        PARTIAL_STDOUT_NO_FILE
    }
}
