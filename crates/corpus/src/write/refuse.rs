//! Refuses outputs that cannot be written, before the work begins.

use std::collections::HashMap;
use std::path::Path;

use super::each::converted_name;
use crate::annotation::MEMBER;
use crate::compression::Compression;
use crate::container;
use crate::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::problem::FileProblem;
use crate::source::Source;

/// Refuses inputs that cannot be written as one file: tables and delimited records with different columns.
///
/// # Errors
/// Fails with [`ErrorKind::SchemasDiffer`], which states the first difference.
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

/// Refuses inputs that would have the same name in an output folder, and inputs without a name.
///
/// # Errors
/// Fails with [`ErrorKind::SameOutputName`] if two inputs would have the same name, and with
/// [`ErrorKind::NoOutputName`] if an input is standard input or documents in memory.
pub fn refuse_same_names(corpus: &Corpus, format: Option<Format>) -> Result<()> {
    let mut seen: HashMap<String, &Source> = HashMap::new();
    for source in corpus.inputs().iter().filter(|source| source.unreadable().is_none()) {
        if source.path().is_none() {
            return Err(Error::new(ErrorKind::NoOutputName { name: source.name().to_owned() }));
        }
        let name = converted_name(source.id(), source.format(), format.unwrap_or(source.format()));
        let output = name.strip_prefix("./").unwrap_or(&name);
        if let Some(first) = seen.insert(output.to_owned(), source) {
            return Err(Error::new(ErrorKind::SameOutputName {
                first: first.name().to_owned(),
                second: source.name().to_owned(),
                output: output.to_owned(),
            }));
        }
    }
    Ok(())
}

/// Refuses a gzip output if records of a compressed input share gzip members, because such records cannot be copied
/// in compressed form. Without `output`, each input is written under its own name.
///
/// # Errors
/// Fails with [`ErrorKind::Inside`] and [`FileProblem::SharedMember`] for the first such input.
pub fn refuse_shared_members(corpus: &Corpus, output: Option<&Path>) -> Result<()> {
    for (handle, content) in corpus.sources.iter_inputs() {
        let name = output.map_or_else(|| handle.source.id().into(), Path::to_string_lossy);
        if Compression::of_name(&name) == Some(Compression::Gzip) && content.shares_members() {
            return Err(Error::inside(handle.source.name(), FileProblem::SharedMember));
        }
    }
    Ok(())
}

/// Refuses inputs whose records have no room for an annotation, and inputs that already have the annotation column.
///
/// # Errors
/// Fails with [`ErrorKind::NoAnnotation`] if records of a format have no room for an annotation, and with
/// [`ErrorKind::Inside`] and [`FileProblem::ColumnExists`] if an input already has the column.
pub fn refuse_annotation(corpus: &Corpus) -> Result<()> {
    for format in corpus.formats() {
        if !container::of(format)?.can_annotate() {
            return Err(Error::new(ErrorKind::NoAnnotation { format }));
        }
    }
    for (handle, content) in corpus.sources.iter_inputs() {
        if content.columns().is_some_and(|columns| columns.contains(&MEMBER)) {
            let column = MEMBER.to_owned();
            return Err(Error::inside(handle.source.name(), FileProblem::ColumnExists { column }));
        }
    }
    Ok(())
}
