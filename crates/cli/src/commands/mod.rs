//! One file or folder a subcommand.

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
use minwise_engine::RejectedRecords;

use crate::Exit;
use crate::args::RunArgs;
use crate::interrupt;
use crate::printer::{Failure, Printer};
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
        InputFormat::Auto | InputFormat::Only(_) => InputFormat::Only(Format::DOCUMENT),
    }
}

fn overwrite(force: bool) -> Overwrite {
    if force { Overwrite::Allow } else { Overwrite::Refuse }
}

/// Lists the records that were rejected, and gives the exit code that they make. A run that has ended with `--max-rejects`
/// has no more of them than it was allowed.
fn rejects(rejected: &RejectedRecords, hint: &str, run: &RunArgs, printer: &Printer) -> Exit {
    let hint = rejected.hint.as_ref().map_or_else(|| hint.to_owned(), spelled);
    printer.rejects(rejected.count, &rejected.first, &rejected.lines, &hint);
    if rejected.count == 0 || run.max_rejects.is_some() { Exit::Done } else { Exit::Error }
}
