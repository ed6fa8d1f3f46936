//! Refuses outputs that would overwrite an input or another output.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::corpus::Corpus;
use crate::error::{Error, ErrorKind, Result};
use crate::input::FileId;
use crate::output::parent_of;
use crate::source::{Source, os_error};

/// Refuses an output that is an input, that lies in a folder that was walked, or that contains an input.
///
/// No flag overrides this check: the inputs are read again while the output is written, and the next run would read
/// the output as an input.
///
/// # Errors
/// Fails with one of these kinds:
/// - [`ErrorKind::Overlap`]: the output is an input or contains one.
/// - [`ErrorKind::OutputInsideInput`]: the output lies in a folder that is read as input.
/// - [`ErrorKind::Io`]: the output exists and cannot be examined.
pub fn refuse_overlap(inputs: &Corpus, output: &Path) -> Result<()> {
    let overlap = |input: &str| {
        let output = output.to_string_lossy().into_owned();
        Err(Error::new(ErrorKind::Overlap { output, input: input.to_owned() }))
    };
    let there = fs_err::metadata(output).ok();
    if let Some(metadata) = &there {
        let id =
            FileId::of(output, metadata).map_err(|error| Error::path("open", output, os_error(error)))?;
        if let Some(source) = inputs.file_ids.source_of(&id).and_then(|number| inputs.sources().get(number)) {
            return overlap(source.name());
        }
    }
    let Some(resolved) = resolve(output) else { return Ok(()) };
    if let Some(folder) = inputs.walked.iter().find(|folder| resolved.starts_with(&folder.path)) {
        let output = output.to_string_lossy().into_owned();
        return Err(Error::new(ErrorKind::OutputInsideInput { output, folder: folder.name.clone() }));
    }
    if there.is_some_and(|metadata| metadata.is_dir())
        && let Some(source) = source_inside(inputs.sources(), &resolved)
    {
        return overlap(source.name());
    }
    Ok(())
}

/// Refuses outputs if one would replace another, or lies in a folder that is replaced as a whole.
///
/// Each output has the name of its setting, for the message.
///
/// # Errors
/// Fails with [`ErrorKind::SharedOutput`], which states the settings and the paths of the first two such outputs.
pub fn refuse_shared(outputs: &[(&'static str, &Path)]) -> Result<()> {
    let resolved: Vec<Option<PathBuf>> = outputs.iter().map(|(_, path)| resolve(path)).collect();
    for (at, second) in resolved.iter().enumerate() {
        for (before, first) in resolved.iter().enumerate().take(at) {
            let (Some(first), Some(second)) = (first, second) else { continue };
            if first.starts_with(second) || second.starts_with(first) {
                let [(first, one), (second, other)] = [&outputs[before], &outputs[at]];
                let paths = [one, other].map(|path| path.to_string_lossy().into_owned());
                return Err(Error::new(ErrorKind::SharedOutput { settings: [first, second], paths }));
            }
        }
    }
    Ok(())
}

/// Returns the path with links resolved, as far as the path exists.
fn resolve(output: &Path) -> Option<PathBuf> {
    if let Ok(path) = fs_err::canonicalize(output) {
        return Some(path);
    }
    Some(resolve(&parent_of(output))?.join(output.file_name()?))
}

/// Returns a source that lies in `folder`. Each parent folder is resolved once, because many sources share a folder.
fn source_inside<'s>(sources: &'s [Source], folder: &Path) -> Option<&'s Source> {
    let mut inside: HashMap<PathBuf, bool> = HashMap::new();
    sources.iter().find(|source| {
        source.path().is_some_and(|path| {
            let parent = parent_of(path);
            *inside.entry(parent).or_insert_with_key(|parent| {
                fs_err::canonicalize(parent).is_ok_and(|parent| parent.starts_with(folder))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, Unobserved};

    fn corpus(folder: &Path, input: &str) -> Corpus {
        Corpus::open(&[folder.join(input).into()], &ReadOptions::default(), &Unobserved).unwrap()
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("data/x")).unwrap();
        fs_err::create_dir_all(folder.path().join("other")).unwrap();
        fs_err::write(folder.path().join("data/a.jsonl"), "{\"text\": \"a\"}\n").unwrap();
        folder
    }

    #[test]
    fn outputs_do_not_replace_one_another() {
        let folder = folder();
        let shared = |a: &str, b: &str| {
            refuse_shared(&[("--output", &folder.path().join(a)), ("--removed", &folder.path().join(b))])
                .is_err()
        };
        assert!(shared("out", "out"));
        assert!(shared("out", "other/../out"));
        assert!(shared("out", "out/report/pairs.tsv"));
        assert!(!shared("out", "out-2"));
        assert!(!shared("new/a", "new/b"));
    }

    #[test]
    fn an_input_is_never_an_output() {
        let folder = folder();
        let corpus = corpus(folder.path(), "data/a.jsonl");
        let refused = |output: &str| refuse_overlap(&corpus, &folder.path().join(output)).is_err();
        assert!(refused("data/a.jsonl"));
        assert!(refused("data/x/../a.jsonl"));
        assert!(refused("data"), "the folder would be replaced with the input in it");
        assert!(!refused("data/b.jsonl"));
        assert!(!refused("data/x"));
        assert!(!refused("other"));
        assert!(!refused("missing/b.jsonl"));
        let error = refuse_overlap(&corpus, &folder.path().join("data/a.jsonl")).unwrap_err();
        assert!(error.to_string().contains("would overwrite the input"), "{error}");
    }

    #[test]
    fn a_folder_that_was_walked_takes_no_output() {
        let folder = folder();
        let corpus = corpus(folder.path(), "data");
        let refused = |output: &str| refuse_overlap(&corpus, &folder.path().join(output)).is_err();
        assert!(refused("data"));
        assert!(refused("data/new.jsonl"));
        assert!(refused("data/x/new.jsonl"));
        assert!(refused("other/../data/new.jsonl"));
        assert!(!refused("other/new.jsonl"));
        assert!(!refused("data-2.jsonl"));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_hide_it() {
        let folder = folder();
        std::os::unix::fs::symlink(folder.path().join("data"), folder.path().join("link")).unwrap();
        let corpus = corpus(folder.path(), "data");
        assert!(refuse_overlap(&corpus, &folder.path().join("link/new.jsonl")).is_err());
        assert!(refuse_overlap(&corpus, &folder.path().join("link/a.jsonl")).is_err());
    }
}
