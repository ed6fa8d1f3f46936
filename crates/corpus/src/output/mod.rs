//! Outputs: files and folders that are complete or not there.
//!
//! Nothing appears under its final name before it is complete: a file or folder is made beside it under a
//! temporary name and renamed at the end. A run that fails or is killed leaves what was there before.

mod file;
mod folder;
mod gzip;
mod table_compression;

use std::path::{Path, PathBuf};

pub use file::{CompleteOutput, Output};
pub use folder::OutputFolder;
pub use table_compression::TableCompression;

use crate::error::{Error, ErrorKind, Result};

/// What to do about an output that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overwrite {
    /// Refuse, and say so before any work is done.
    Refuse,
    /// Replace it, once the new one is complete.
    Allow,
}

/// The decision that all documents of an output have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputVerdict {
    /// The documents stay in the corpus.
    Kept,
    /// The documents are near-duplicates of others and leave the corpus.
    Removed,
}

/// How temporary outputs are called, so that what a killed process leaves behind is recognised.
pub const TEMPORARY_PREFIX: &str = ".minwise-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// The folder an output lies in.
pub(crate) fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The folder an output lies in, if it exists.
fn existing_parent(path: &Path) -> Result<PathBuf> {
    let parent = parent_of(path);
    if parent.is_dir() {
        return Ok(parent);
    }
    let (path, parent) = (path.to_string_lossy().into_owned(), parent.to_string_lossy().into_owned());
    Err(Error::new(ErrorKind::NoParent { path, parent }))
}

fn exists(path: &Path) -> Error {
    Error::new(ErrorKind::OutputExists { path: path.to_string_lossy().into_owned() })
}

/// Makes a rename in a folder last through a power cut. Only Unix can, and needs to.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let synced = fs_err::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| Error::path("sync", folder, crate::source::os_error(error)))?;
    }
    Ok(())
}

/// A builder of temporary names whose files get the permissions of any new file, not those of a secret.
fn temporary(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}
