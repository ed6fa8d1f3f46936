//! Outputs: files and folders that are complete or not there.
//!
//! Nothing appears under its final name before it is complete: a file or folder is made beside it under a
//! temporary name and renamed at the end. A run that fails or is killed leaves what was there before.

mod file;
mod folder;
mod foreign;
mod gzip;
mod same;
mod table_compression;

use std::path::{Path, PathBuf};

pub(crate) use file::PositionalFile;
pub use file::{CompleteOutput, Output};
pub use folder::OutputFolder;
pub use foreign::foreign_file;
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
    /// Leave it if the new one, once it is complete, has the same bytes; refuse otherwise.
    Same,
}

/// The run that temporary outputs belong to, as a part of their names, so that another process of the same run knows what
/// an earlier one left behind when it was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTag(u64);

impl RunTag {
    /// The tag of the run with this id. No other run may have the same id: its temporary outputs would be removed.
    #[must_use]
    pub fn new(id: u64) -> Self {
        Self(id)
    }

    fn prefix(self) -> String {
        format!("{TEMPORARY_PREFIX}{:016x}-", self.0)
    }

    /// Removes what killed processes of the run left in the folder of an output.
    ///
    /// A process that replaces an output folder puts the old one aside for a moment. With `keep_old`, one that is aside
    /// stays, because it may be all there is.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if a file or folder cannot be removed.
    pub fn remove_leftovers(self, output: &Path, keep_old: bool) -> Result<()> {
        let resolved = fs_err::canonicalize(output).unwrap_or_else(|_| output.to_owned());
        let mut parents = vec![parent_of(output), parent_of(&resolved)];
        parents.dedup();
        for parent in parents {
            self.remove_in(&parent, keep_old)?;
        }
        Ok(())
    }

    /// Removes what killed processes of the run left in a folder.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if a file or folder cannot be removed.
    pub fn remove_in(self, folder: &Path, keep_old: bool) -> Result<()> {
        let prefix = self.prefix();
        // A folder that is not there holds nothing, and one that cannot be read is refused when it is written to.
        let Ok(entries) = fs_err::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            let path = entry.path();
            if !entry.file_name().to_string_lossy().starts_with(&prefix)
                || (keep_old && path.join(OLD).exists())
            {
                continue;
            }
            let removed =
                if path.is_dir() { fs_err::remove_dir_all(&path) } else { fs_err::remove_file(&path) };
            removed.map_err(|error| Error::path("remove", &path, crate::source::os_error(error)))?;
        }
        Ok(())
    }
}

/// The name of an old output folder while it is aside.
const OLD: &str = "old";

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

/// Refuses a path at which a folder is to be made or filled, if a file is there.
///
/// # Errors
/// Fails with [`ErrorKind::WrongOutputKind`] if the path is that of a file.
pub fn refuse_file(path: &Path) -> Result<()> {
    // Of a file, the system finds nothing at a path that ends in a slash.
    if !fs_err::metadata(path.components().as_path()).is_ok_and(|there| !there.is_dir()) {
        return Ok(());
    }
    let path = path.to_string_lossy().into_owned();
    Err(Error::new(ErrorKind::WrongOutputKind { path, found: "a file" }))
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

/// The prefix of temporary names, of a run if there is one.
fn prefix_of(tag: Option<RunTag>) -> String {
    tag.map_or_else(|| TEMPORARY_PREFIX.to_owned(), RunTag::prefix)
}

/// A builder of temporary names whose files get the permissions of any new file, not those of a secret.
fn temporary(mode: u32, prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(TEMPORARY_SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}
