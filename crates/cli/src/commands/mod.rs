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
use std::sync::Arc;

use minwise::shingle::Shingles;
use minwise::weight::Frequencies;
use minwise::{Spec, Weights};
use minwise_corpus::{Corpus, Format, InputFormat, Layout, Overwrite, ReadOptions, Scratch, visible};
use minwise_engine::frequencies::{FrequencyTable, count_for_a_run};
use minwise_engine::{Reading, Rejected, Weighing};

use crate::args::WeightArgs;
use crate::interrupt;
use crate::printer::{Failure, Printer};
use crate::progress::Progress;

/// Rejected records that are shown; the report has all of them.
const SHOWN_REJECTS: usize = 5;

fn open(inputs: &[String], options: &ReadOptions, progress: &Progress) -> Result<Corpus, Failure> {
    open_against(&[], inputs, options, progress)
}

fn open_against(
    references: &[String],
    inputs: &[String],
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Corpus, Failure> {
    Ok(interrupt::at_once(|| Corpus::open_against(references, inputs, options, progress))?)
}

/// The tables that the weights of a spec ask for, whose fingerprints go into it. Without a saved one, the corpus is counted.
fn weigh(
    args: &WeightArgs,
    spec: &mut Spec,
    corpus: Option<&Corpus>,
    options: &ReadOptions,
    threads: usize,
    progress: &Progress,
) -> Result<Weighing, Failure> {
    let mut weighing = Weighing::default();
    if spec.weights.need_table() {
        let table = match (&args.weights, corpus) {
            (Some(path), _) => saved(path, spec)?,
            (None, Some(corpus)) => {
                count_for_a_run(corpus, spec, threads, options.spool_dir.as_deref(), progress)?
            }
            (None, None) => {
                return Err(Failure::Error {
                    message: "document frequencies are not known from two documents".to_owned(),
                    hint: Some(
                        "`minwise weights INPUT -o FILE` counts a corpus, and `--weights FILE` uses it"
                            .to_owned(),
                    ),
                });
            }
        };
        spec.weights.table = Some(table.fingerprint());
        weighing.frequencies = Some(Arc::new(table));
    } else if args.weights.is_some() {
        return Err(Failure::Error {
            message: "`--weights`: nothing asks for document frequencies".to_owned(),
            hint: Some("`--weight tf-idf` and `--max-df` do".to_owned()),
        });
    }
    if !args.ignore_text.is_empty() {
        let ignored = ignored(&args.ignore_text, spec, options, progress)?;
        spec.weights.ignored = Some(Weights::fingerprint_of_ignored(&ignored));
        weighing.ignored = ignored.into();
    }
    Ok(weighing)
}

/// A saved table, if it can weigh what the spec gives.
fn saved(path: &str, spec: &Spec) -> Result<FrequencyTable, Failure> {
    let table = FrequencyTable::open(Path::new(path))?;
    let refused = |reason: String, hint: &str| Failure::Error {
        message: format!("`--weights`: `{path}`: {reason}"),
        hint: Some(hint.to_owned()),
    };
    table.check(spec).map_err(|error| {
        refused(error.to_string(), "`minwise weights` takes the same `--shingle` and `--normalize`")
    })?;
    // Nothing can be rare among no documents.
    if table.documents() == 0 {
        return Err(refused(
            "it counts no documents".to_owned(),
            "`minwise weights INPUT -o FILE` counts a corpus",
        ));
    }
    Ok(table)
}

/// The shingles of templates. One that has none was given by mistake.
fn ignored(
    paths: &[String],
    spec: &Spec,
    options: &ReadOptions,
    progress: &Progress,
) -> Result<Vec<u64>, Failure> {
    let options = ReadOptions { format: whole_files(options.format), ..options.clone() };
    let corpus = open(paths, &options, progress)?;
    let shingler = spec.shingler();
    let (mut shingles, mut all, mut refused) = (Shingles::new(), vec![], None);
    for chunk in corpus.chunks(u64::MAX) {
        corpus.scan(&chunk, &mut Scratch::new(), &mut |place, document| match document {
            Ok(document) => {
                shingler.shingle_into(&document.text, &mut shingles);
                all.extend_from_slice(shingles.hashes());
                if shingles.hashes().is_empty() {
                    let name = visible(corpus.sources()[place.source as usize].name());
                    refused = Some(format!("`{name}` has no shingles that could be left out"));
                }
            }
            Err(reject) => refused = Some(reject.to_string()),
        })?;
    }
    match refused {
        Some(reason) => Err(Failure::Error { message: format!("`--ignore-text`: {reason}"), hint: None }),
        None => Ok(all),
    }
}

/// How files are read where each is one document, whatever else it could be: as what they are, unless they are said to be
/// texts.
fn whole_files(format: InputFormat) -> InputFormat {
    match format {
        InputFormat::Only(Format::Text) => format,
        _ => InputFormat::Only(Format::Document),
    }
}

fn overwrite(force: bool) -> Overwrite {
    if force { Overwrite::Allow } else { Overwrite::Refuse }
}

/// Tells of the records that were not taken in, and which exit code that makes.
fn rejects(reading: &Reading, corpus: &Corpus, hint: &str, printer: &Printer) -> crate::Exit {
    let shown: Vec<String> = reading
        .rejected
        .first()
        .iter()
        .take(SHOWN_REJECTS)
        .map(|rejected| rejected.describe(corpus))
        .collect();
    let wrong_encoding = |rejected: &Rejected| rejected.code == "invalid_utf8";
    let not_a_line = |rejected: &Rejected| matches!(&*rejected.code, "invalid_json" | "not_an_object");
    let hint = if reading.documents.is_empty() && reading.rejected.first().iter().all(not_a_line) {
        "JSONL has one object a line; `jq -c` makes it of JSON that is laid out otherwise"
    } else if corpus.layout() == Layout::Texts && reading.rejected.first().iter().any(wrong_encoding) {
        "`--encoding auto` or `--encoding latin-1` reads texts that are not UTF-8"
    } else {
        hint
    };
    printer.rejects(reading.rejected.len(), &shown, hint);
    if reading.rejected.is_empty() { crate::Exit::Done } else { crate::Exit::Error }
}
