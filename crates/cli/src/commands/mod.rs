//! One file a subcommand.

pub mod compare;
pub mod dedup;
pub mod estimate;
pub mod generate;
pub mod pairs;
pub mod plan;
pub mod sketch;

use minwise_corpus::{Corpus, Layout, Overwrite, ReadOptions};
use minwise_engine::{Reading, Rejected};

use crate::interrupt;
use crate::printer::{Failure, Printer};
use crate::progress::Progress;

/// Rejected records that are shown; the report has all of them.
const SHOWN_REJECTS: usize = 5;

fn open(inputs: &[String], options: &ReadOptions, progress: &Progress) -> Result<Corpus, Failure> {
    Ok(interrupt::at_once(|| Corpus::open(inputs, options, progress))?)
}

fn overwrite(force: bool) -> Overwrite {
    if force { Overwrite::Allow } else { Overwrite::Refuse }
}

/// Tells of the records that were not taken in, and which exit code that makes.
fn rejects(reading: &Reading, corpus: &Corpus, hint: &str, printer: &Printer) -> crate::Exit {
    let shown: Vec<String> =
        reading.rejected.iter().take(SHOWN_REJECTS).map(|rejected| rejected.describe(corpus)).collect();
    let wrong_encoding = |rejected: &Rejected| rejected.code == "invalid_utf8";
    let not_a_line = |rejected: &Rejected| matches!(&*rejected.code, "invalid_json" | "not_an_object");
    let hint = if reading.documents.is_empty() && reading.rejected.iter().all(not_a_line) {
        "JSONL has one object a line; `jq -c` makes it of JSON that is laid out otherwise"
    } else if corpus.layout() == Layout::Texts && reading.rejected.iter().any(wrong_encoding) {
        "`--encoding auto` or `--encoding latin-1` reads texts that are not UTF-8"
    } else {
        hint
    };
    printer.rejects(reading.rejected.len() as u64, &shown, hint);
    if reading.rejected.is_empty() { crate::Exit::Done } else { crate::Exit::Error }
}
