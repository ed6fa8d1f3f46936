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

use std::path::Path;

use minwise_corpus::{Corpus, Format, Input, InputFormat, Overwrite, ReadOptions};
use minwise_engine::{PairFormat, RejectedRecords};

use crate::Exit;
use crate::args::{Command, IndexCommand, PairFormatArg, RunArgs};
use crate::interrupt;
use crate::printer::{CommandError, Failure, Printer};
use crate::progress::ProgressPrinter;
use crate::spell::spelled;

/// Number of rejected records that are shown.
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

/// Returns a sentence about the state that Ctrl-C leaves, and a hint about how to continue.
pub fn after_interruption(command: &Command) -> (&'static str, Option<&'static str>) {
    match command {
        Command::Dedup(args) if args.work.folder.is_some() && args.work.resume => {
            ("no output was written", Some("the same command continues the run"))
        }
        Command::Dedup(args) if args.work.folder.is_some() => {
            ("no output was written", Some("the same command with `--resume` continues the run"))
        }
        Command::Dedup(_) => {
            ("no output was written", Some("a run with `--work DIR` can be continued with `--resume`"))
        }
        Command::Index(args) => match args.what {
            IndexCommand::Add(_) => {
                ("the documents added so far are in the archive", Some("the same command adds the others"))
            }
            _ => ("the archive is unchanged, or the change is complete", None),
        },
        Command::Serve(_) => ("the server was stopped before it listened", None),
        Command::Accuracy(_) | Command::Check(_) | Command::Compare(_) => {
            ("not all documents were compared", None)
        }
        _ => ("no output was written", None),
    }
}
