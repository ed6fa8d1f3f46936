//! One file or folder a subcommand.

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

/// Rejected records that are shown.
const SHOWN_REJECTS: usize = 5;
/// Where all rejected records are listed, for commands that have no report.
const REPORTED_BY_DEDUP: &str =
    "`minwise dedup --dry-run --report DIR` lists all of them in `DIR/rejects.jsonl`";

/// Where the report has, or would have, all rejected records.
fn report_rejects(report: Option<&str>) -> String {
    match report {
        Some(folder) => format!("all of them are in `{}`", Path::new(folder).join("rejects.jsonl").display()),
        None => "`--report DIR` lists all of them in `DIR/rejects.jsonl`".to_owned(),
    }
}

fn open(inputs: &[Input], options: &ReadOptions, progress: &ProgressPrinter) -> Result<Corpus, Failure> {
    Ok(interrupt::at_once(|| Corpus::open(inputs, options, progress))?)
}

/// How files are read where each is one document, whatever else it could be: as what they are, unless they are said to be
/// texts.
fn whole_files(format: InputFormat) -> InputFormat {
    match format {
        InputFormat::Only(Format::TEXT) => format,
        _ => InputFormat::Only(Format::DOCUMENT),
    }
}

fn overwrite(force: bool) -> Overwrite {
    if force { Overwrite::Allow } else { Overwrite::Refuse }
}

/// The format of an output of pairs: as asked for, or by its name.
fn pair_format(asked: Option<PairFormatArg>, output: Option<&str>) -> Result<PairFormat, Failure> {
    let name = output.unwrap_or_default();
    if let Some(format) = asked.or_else(|| PairFormatArg::of_name(name)) {
        return Ok(format.into());
    }
    let message = format!("`{name}` has the name of another format, but pairs are written as TSV or JSONL");
    let hint = "give it a name that ends in `.tsv` or `.jsonl`; `--format` sets the format under any name";
    Err(CommandError::BadSetting.with(message, Some(hint)))
}

/// Lists the records that were rejected, and gives the exit code that they make. A run that has ended with `--max-rejects`
/// has no more of them than it was allowed.
fn rejects(rejected: &RejectedRecords, hint: &str, run: &RunArgs, printer: &Printer) -> Exit {
    let hint = rejected.hint.as_ref().map_or_else(|| hint.to_owned(), spelled);
    let are_permitted = run.max_rejects.is_some();
    printer.rejects(rejected.count, &rejected.first, &rejected.lines, are_permitted, &hint);
    if rejected.count == 0 || are_permitted { Exit::Done } else { Exit::Error }
}

/// What Ctrl-C leaves behind, and how to go on.
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
