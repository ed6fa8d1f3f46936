//! Outputs: files and folders that appear only when they are complete.
//!
//! A file or folder is made under a temporary name beside its final path, and renamed at the end. If a run fails or
//! is killed, an existing output stays as it was.

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

/// Rule for an output that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overwrite {
    /// Refuse the output, before any work is done.
    Refuse,
    /// Replace the existing output, once the new output is complete.
    Allow,
    /// Keep the existing output if the new output, once it is complete, has the same bytes. Otherwise, refuse the new
    /// output.
    Same,
}

/// Tag of a run in the names of its temporary outputs. If a process of the run is killed, another process of the same
/// run recognises its leftovers by the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTag(u64);

impl RunTag {
    /// Makes the tag of the run with this id. Two runs must not have the same id, because each would remove the
    /// temporary outputs of the other.
    #[must_use]
    pub fn new(id: u64) -> Self {
        Self(id)
    }

    fn prefix(self) -> String {
        format!("{TEMPORARY_PREFIX}{:016x}-", self.0)
    }

    /// Removes the files and folders that killed processes of the run left beside an output.
    ///
    /// A process that replaces an output folder first moves the old folder aside. With `keep_old`, an old folder that
    /// is aside is kept, because it may be the only complete one.
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

    /// Removes the files and folders that killed processes of the run left in a folder.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if a file or folder cannot be removed.
    pub fn remove_in(self, folder: &Path, keep_old: bool) -> Result<()> {
        let prefix = self.prefix();
        // A missing folder holds no leftovers, and a folder that cannot be read is refused when it is written to.
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

/// Name of an old output folder while it is moved aside.
const OLD: &str = "old";

/// Decision that all documents of an output have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputVerdict {
    /// The documents stay in the corpus.
    Kept,
    /// The documents are near-duplicates of others and leave the corpus.
    Removed,
}

/// Prefix of the names of temporary outputs, by which leftovers of a killed process are recognised.
pub const TEMPORARY_PREFIX: &str = ".minwise-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Returns the parent folder of an output.
pub(crate) fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Returns the parent folder of an output, if it exists.
fn existing_parent(path: &Path) -> Result<PathBuf> {
    let parent = parent_of(path);
    if parent.is_dir() {
        return Ok(parent);
    }
    let (path, parent) = (path.to_string_lossy().into_owned(), parent.to_string_lossy().into_owned());
    Err(Error::new(ErrorKind::NoParent { path, parent }))
}

/// Refuses a path at which a folder is to be made or filled, if the path is that of a file.
///
/// # Errors
/// Fails with [`ErrorKind::WrongOutputKind`] if the path is that of a file.
pub fn refuse_file(path: &Path) -> Result<()> {
    // `components` removes a slash at the end, because the system finds no file at a path with such a slash.
    if !fs_err::metadata(path.components().as_path()).is_ok_and(|there| !there.is_dir()) {
        return Ok(());
    }
    let path = path.to_string_lossy().into_owned();
    Err(Error::new(ErrorKind::WrongOutputKind { path, found: "a file" }))
}

fn exists(path: &Path) -> Error {
    Error::new(ErrorKind::OutputExists {
        path: path.to_string_lossy().into_owned(),
        is_folder: path.is_dir(),
    })
}

/// Makes a rename in a folder durable, so that a power cut does not undo it. Only Unix can sync a folder, and only
/// Unix needs it.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let synced = fs_err::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| Error::path("sync", folder, crate::source::os_error(error)))?;
    }
    Ok(())
}

/// Returns the prefix of temporary names, with the tag of a run if there is a tag.
fn prefix_of(tag: Option<RunTag>) -> String {
    tag.map_or_else(|| TEMPORARY_PREFIX.to_owned(), RunTag::prefix)
}

/// Returns a builder of temporary names. The files get the permissions of ordinary new files, because the default of
/// the library lets only the owner read them.
fn temporary(mode: u32, prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(TEMPORARY_SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}
