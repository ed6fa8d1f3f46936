//! What cannot be written, told before the work begins.

use std::collections::HashMap;

use super::MEMBER;
use crate::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::problem::Problem;
use crate::source::{Content, Source};
use crate::table;

/// Refuses inputs that cannot be written as one file: tables and delimited records with different columns.
pub fn refuse_unlike(corpus: &Corpus) -> Result<()> {
    table::refuse_unlike(corpus.inputs())?;
    let mut headed = corpus.inputs().iter().filter_map(|source| Some((source, names(source)?)));
    let Some((first, known)) = headed.next() else { return Ok(()) };
    for (second, names) in headed {
        if names != known {
            return Err(Error::new(ErrorKind::SchemasDiffer {
                first: first.name().to_owned(),
                second: second.name().to_owned(),
                difference: "their headers are different".to_owned(),
            }));
        }
    }
    Ok(())
}

/// The names in the header of delimited records; a source without records may have none.
fn names(source: &Source) -> Option<&[String]> {
    match &source.content {
        Content::Delimited(delimited) if source.size_bytes() > 0 => Some(&delimited.names),
        _ => None,
    }
}

/// Refuses inputs that would have the same name in an output folder, and one that has none.
pub fn refuse_same_names(corpus: &Corpus) -> Result<()> {
    let mut seen: HashMap<&str, &Source> = HashMap::new();
    for source in corpus.inputs() {
        if source.path().is_none() {
            return Err(Error::new(ErrorKind::NoOutputName));
        }
        let output = source.id().strip_prefix("./").unwrap_or(source.id());
        if let Some(first) = seen.insert(output, source) {
            return Err(Error::new(ErrorKind::SameOutputName {
                first: first.name().to_owned(),
                second: source.name().to_owned(),
                output: output.to_owned(),
            }));
        }
    }
    Ok(())
}

/// Refuses inputs that have the column that annotations would be written to.
pub fn refuse_annotation(corpus: &Corpus) -> Result<()> {
    table::refuse_column(corpus.inputs(), MEMBER)?;
    for source in corpus.inputs() {
        if names(source).is_some_and(|names| names.iter().any(|name| name == MEMBER)) {
            return Err(Error::inside(source.name(), Problem::ColumnExists { column: MEMBER.to_owned() }));
        }
    }
    Ok(())
}
