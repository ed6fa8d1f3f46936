//! Refuses outputs that cannot be written, before the work begins.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::each::converted_name;
use crate::annotation::MEMBER;
use crate::compression::Compression;
use crate::container;
use crate::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, Layout};
use crate::input::is_system_file;
use crate::problem::FileProblem;
use crate::source::{Source, os_error};

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

/// Refuses an output folder that has files other than the outputs of the inputs, because an output folder is replaced
/// as a whole. Files of file managers, such as `.DS_Store`, do not count.
///
/// # Errors
/// Fails with [`ErrorKind::OtherFiles`], which names the first such file, and with [`ErrorKind::Io`] if the folder cannot
/// be read.
pub fn refuse_other_files(corpus: &Corpus, folder: &Path, format: Option<Format>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let output = |source: &Source| {
        let name = converted_name(source.id(), source.format(), format.unwrap_or(source.format()));
        name.strip_prefix("./").map(str::to_owned).unwrap_or(name)
    };
    let names: HashSet<String> = corpus.inputs().iter().map(output).collect();
    let Some(file) = other_file(folder, "", &names)? else { return Ok(()) };
    let inside = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let instead = match corpus.inputs() {
        [source] if corpus.layout() == Layout::Records => Some(inside(&output(source))),
        _ => None,
    };
    let path = folder.to_string_lossy().into_owned();
    Err(Error::new(ErrorKind::OtherFiles { path, file: inside(&file), instead }))
}

/// Returns the first file below a folder, by name, that is not in `names`. `prefix` is the path of the folder in the
/// output folder.
fn other_file(folder: &Path, prefix: &str, names: &HashSet<String>) -> Result<Option<String>> {
    let failed = |error| Error::path("read", folder, os_error(error));
    let entries = fs_err::read_dir(folder).map_err(failed)?;
    let mut entries = entries.collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(fs_err::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let path = format!("{prefix}{}", name.to_string_lossy());
        // A link to a folder is a file here, because a run writes no links.
        if entry.file_type().map_err(failed)?.is_dir() {
            let other = other_file(&entry.path(), &format!("{path}/"), names)?;
            if other.is_some() {
                return Ok(other);
            }
        } else if !names.contains(&path) && !is_system_file(&name.to_string_lossy()) {
            return Ok(Some(path));
        }
    }
    Ok(None)
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
