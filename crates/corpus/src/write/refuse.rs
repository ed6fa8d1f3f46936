//! What cannot be written, told before the work begins.

use std::collections::HashMap;

use crate::annotation::MEMBER;
use crate::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::problem::Problem;
use crate::source::Source;

/// Refuses inputs that cannot be written as one file: tables and delimited records with different columns.
pub fn refuse_unlike(corpus: &Corpus) -> Result<()> {
    let mut headed = corpus.sources.iter_inputs().filter(|(_, content)| content.columns().is_some());
    let Some((first, content)) = headed.next() else { return Ok(()) };
    for (second, other) in headed {
        if let Some(difference) = content.difference(other) {
            return Err(Error::new(ErrorKind::SchemasDiffer {
                first: first.source.name().to_owned(),
                second: second.source.name().to_owned(),
                difference,
            }));
        }
    }
    Ok(())
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
    for (handle, content) in corpus.sources.iter_inputs() {
        if content.columns().is_some_and(|columns| columns.contains(&MEMBER)) {
            let column = MEMBER.to_owned();
            return Err(Error::inside(handle.source.name(), Problem::ColumnExists { column }));
        }
    }
    Ok(())
}
