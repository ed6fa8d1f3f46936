//! An output folder.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use super::file::TABLE_BYTES;
use super::{
    OLD, Output, Overwrite, RunTag, existing_parent, exists, parent_of, prefix_of, refuse_file, sync_folder,
    temporary,
};
use crate::error::{Error, ErrorKind, Result};
use crate::source::os_error;

/// A folder that is filled under a temporary name beside its final path, and renamed by [`OutputFolder::finish`].
///
/// An `OutputFolder` that is dropped without `finish` leaves no folder behind. Unlike an [`Output`](crate::Output),
/// its files are not synced one by one, because that would take minutes for a large folder. Only a power cut just
/// after the end can lose the files.
#[derive(Debug)]
pub struct OutputFolder {
    temporary: TempDir,
    path: PathBuf,
    /// Path of the folder as it was given, for messages.
    name: PathBuf,
    tag: Option<RunTag>,
    must_be_same: bool,
    /// Number of threads that write or compress each file.
    threads: usize,
    /// Maximum number of bytes of a table that the threads keep in memory.
    buffer_bytes: u64,
}

impl OutputFolder {
    /// Begins a folder.
    ///
    /// A folder that is not empty is refused unless `overwrite` allows to replace it. The whole folder is replaced,
    /// and only at the end.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::OutputExists`]: the folder is not empty, and `overwrite` refuses to replace it.
    /// - [`ErrorKind::WrongOutputKind`]: the path is that of a file.
    /// - [`ErrorKind::NoParent`]: the parent of the folder does not exist.
    /// - [`ErrorKind::Io`]: the operating system refuses another action.
    pub fn create(path: &Path, overwrite: Overwrite) -> Result<Self> {
        Self::create_for(path, overwrite, None)
    }

    /// Begins an output folder of a run. Until it is complete, it bears the tag of the run in its name, by which a
    /// later process finds it if this process is killed.
    ///
    /// # Errors
    /// Fails as [`create`](Self::create) does.
    pub fn create_for(path: &Path, overwrite: Overwrite, tag: Option<RunTag>) -> Result<Self> {
        refuse_file(path)?;
        match fs_err::metadata(path) {
            Ok(_) if overwrite == Overwrite::Refuse && !is_empty(path)? => return Err(exists(path)),
            // A folder cannot replace a link. `components` removes a slash at the end of the path, because the system
            // would follow the link for a path with a slash.
            Err(_) if path.components().as_path().is_symlink() => {
                let path = path.to_string_lossy().into_owned();
                return Err(Error::new(ErrorKind::WrongOutputKind {
                    path,
                    found: "a link that leads nowhere",
                }));
            }
            _ => {}
        }
        let name = path.to_owned();
        let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let parent = existing_parent(&path)?;
        let prefix = prefix_of(tag);
        let temporary = temporary(0o777, &prefix).tempdir_in(&parent);
        let temporary = temporary.map_err(|error| Error::path("write in", &parent, error))?;
        Ok(Self {
            temporary,
            path,
            name,
            tag,
            must_be_same: overwrite == Overwrite::Same,
            threads: 1,
            buffer_bytes: TABLE_BYTES,
        })
    }

    /// Writes or compresses each [`file`](Self::file) with several threads from now on. The number of threads never
    /// changes the bytes of a file.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Sets the maximum bytes of a table that several threads keep in memory before they are written. The default is 64
    /// MiB.
    pub fn set_buffer_bytes(&mut self, bytes: u64) {
        self.buffer_bytes = bytes;
    }

    /// Returns the number of threads that write or compress each file.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Writes one file. `next` appends bytes to the buffer that it gets, and is called until it appends none.
    /// `relative` is the path of the file in the folder, with forward slashes; missing folders on this path are made.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::BadOutputName`] if the path is empty, leads out of the folder or was already written,
    /// and with [`ErrorKind::Io`] if the file cannot be written. Returns the first error of `next`.
    pub fn write_file(&self, relative: &str, mut next: impl FnMut(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let path = self.temporary.path().join(inside(relative)?);
        let mut file = fs_err::File::create_new(&path);
        if file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            let folder = parent_of(&path);
            fs_err::create_dir_all(&folder)
                .map_err(|error| Error::path("make the folder", &folder, os_error(error)))?;
            file = fs_err::File::create_new(&path);
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => bad_name(relative, "it was written before"),
            _ => Error::io("write", relative, os_error(error)),
        };
        let mut file = file.map_err(failed)?;
        let mut block = Vec::new();
        loop {
            block.clear();
            next(&mut block)?;
            if block.is_empty() {
                return Ok(());
            }
            file.write_all(&block).map_err(failed)?;
        }
    }

    /// Begins one file that is written in parts, and appears when it is [finished](Output::finish). `relative` is as
    /// for [`write_file`](Self::write_file).
    ///
    /// # Errors
    /// Fails with [`ErrorKind::BadOutputName`] if the path is empty, leads out of the folder or was already written,
    /// and otherwise as [`Output::create`] does.
    pub fn file(&self, relative: &str) -> Result<Output> {
        let path = self.temporary.path().join(inside(relative)?);
        let folder = parent_of(&path);
        fs_err::create_dir_all(&folder)
            .map_err(|error| Error::path("make the folder", &folder, os_error(error)))?;
        match Output::create(&path, Overwrite::Refuse) {
            Err(error) if matches!(error.kind(), ErrorKind::OutputExists { .. }) => {
                Err(bad_name(relative, "it was written before"))
            }
            created => {
                let mut out = created?;
                out.set_threads(self.threads)?;
                out.set_buffer_bytes(self.buffer_bytes);
                Ok(out)
            }
        }
    }

    /// Refuses an existing folder with other contents, if it [may not be replaced](Overwrite::Same).
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutputExists`] if such a folder exists, and with [`ErrorKind::Io`] if the folder
    /// cannot be read.
    pub fn check(&self) -> Result<()> {
        if self.must_be_same
            && self.path.exists()
            && !is_empty(&self.path)?
            && !super::same::same_folders(self.temporary.path(), &self.path)?
        {
            return Err(exists(&self.name));
        }
        Ok(())
    }

    /// Completes the folder: renames it to its final name, and removes the folder that had the name before.
    ///
    /// # Errors
    /// Fails as [`check`](Self::check) does, and with [`ErrorKind::Io`] if a folder cannot be renamed, removed or
    /// synced.
    pub fn finish(self) -> Result<()> {
        self.check()?;
        let Self { temporary, path, tag, must_be_same, .. } = self;
        if must_be_same && path.exists() && !is_empty(&path)? {
            // The existing folder has the same files, so nothing is replaced.
            return Ok(());
        }
        let rename = |from: &Path, to: &Path| {
            fs_err::rename(from, to)
                .map_err(|error| Error::path("rename the finished folder to", &path, os_error(error)))
        };
        let parent = parent_of(&path);
        let old = if path.exists() {
            let aside = super::temporary(0o700, &prefix_of(tag))
                .tempdir_in(&parent)
                .map_err(|error| Error::path("write in", &parent, error))?;
            rename(&path, &aside.path().join(OLD))?;
            Some(aside)
        } else {
            None
        };
        if let Err(error) = rename(temporary.path(), &path) {
            if let Some(old) = &old {
                rename(&old.path().join(OLD), &path)?;
            }
            return Err(error);
        }
        // The folder was renamed, so nothing is left to remove under the temporary name.
        let _ = temporary.keep();
        if let Some(old) = old {
            old.close().map_err(|error| Error::path("remove the old contents of", &path, error))?;
        }
        sync_folder(&parent)
    }
}

fn is_empty(folder: &Path) -> Result<bool> {
    let mut entries =
        fs_err::read_dir(folder).map_err(|error| Error::path("read", folder, os_error(error)))?;
    Ok(entries.next().is_none())
}

/// Returns the path that a name stands for, if the path stays inside the folder.
fn inside(relative: &str) -> Result<&Path> {
    let path = Path::new(relative);
    let mut parts = path.components().peekable();
    if parts.peek().is_none() {
        return Err(bad_name(relative, "it is empty"));
    }
    if parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Ok(path);
    }
    Err(bad_name(relative, "it leads out of the folder"))
}

fn bad_name(name: &str, message: &'static str) -> Error {
    Error::new(ErrorKind::BadOutputName { name: name.to_owned(), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        (folder, path)
    }

    fn write(folder: &OutputFolder, relative: &str, bytes: &[u8]) -> Result<()> {
        let mut bytes = bytes.iter();
        folder.write_file(relative, |block| {
            block.extend(bytes.next());
            Ok(())
        })
    }

    #[test]
    fn a_folder_appears_when_it_is_finished() {
        let (parent, path) = place();
        let folder = OutputFolder::create(&path, Overwrite::Refuse).unwrap();
        write(&folder, "a.txt", b"a").unwrap();
        write(&folder, "x/y/b.txt", b"b").unwrap();
        write(&folder, "x/y/c.txt", b"c").unwrap();
        assert!(!path.exists());
        folder.finish().unwrap();
        assert_eq!(fs_err::read(path.join("x/y/b.txt")).unwrap(), b"b");
        assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_may_be_written_bit_by_bit() {
        let (_parent, path) = place();
        let folder = OutputFolder::create(&path, Overwrite::Refuse).unwrap();
        let mut file = folder.file("x/a.gz").unwrap();
        file.write_bytes(b"one ").unwrap();
        file.write_bytes(b"two").unwrap();
        file.finish().unwrap();
        assert!(folder.file("x/a.gz").unwrap_err().to_string().ends_with("it was written before"));
        assert!(folder.file("../a").is_err());
        folder.finish().unwrap();
        assert!(
            fs_err::read(path.join("x/a.gz")).unwrap().starts_with(&[0x1f, 0x8b]),
            "compressed by its name"
        );
    }

    #[test]
    fn a_folder_that_is_dropped_leaves_nothing() {
        let (parent, path) = place();
        write(&OutputFolder::create(&path, Overwrite::Refuse).unwrap(), "a", b"a").unwrap();
        assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        let (_parent, path) = place();
        let folder = OutputFolder::create(&path, Overwrite::Refuse).unwrap();
        for name in ["../a", "/a", "x/../../a", "..", ""] {
            let error = write(&folder, name, b"").unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::BadOutputName { .. }), "{name}: {error}");
        }
        write(&folder, "./a", b"").unwrap();
        let error = write(&folder, "a", b"").unwrap_err();
        assert!(error.to_string().ends_with("it was written before"), "{error}");
    }

    #[test]
    fn what_is_there_is_replaced_whole_and_only_on_demand() {
        let (parent, path) = place();
        fs_err::create_dir_all(&path).unwrap();
        OutputFolder::create(&path, Overwrite::Refuse).unwrap().finish().unwrap();
        fs_err::write(path.join("old"), "old").unwrap();
        let error = OutputFolder::create(&path, Overwrite::Refuse).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutputExists { .. }), "{error}");
        let folder = OutputFolder::create(&path, Overwrite::Allow).unwrap();
        write(&folder, "new", b"new").unwrap();
        assert!(path.join("old").exists());
        folder.finish().unwrap();
        assert!(path.join("new").exists() && !path.join("old").exists());
        assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_with_the_same_files_is_left_alone() {
        use std::os::unix::fs::MetadataExt;
        let (parent, path) = place();
        let written = |bytes: &[u8], overwrite: Overwrite| {
            let folder = OutputFolder::create(&path, overwrite)?;
            write(&folder, "a", bytes)?;
            folder.finish()
        };
        written(b"one", Overwrite::Same).unwrap();
        let number = || fs_err::metadata(&path).unwrap().ino();
        let before = number();
        written(b"one", Overwrite::Same).unwrap();
        assert_eq!(number(), before);
        assert!(matches!(
            written(b"two", Overwrite::Same).unwrap_err().kind(),
            ErrorKind::OutputExists { .. }
        ));
        assert_eq!(fs_err::read_dir(parent.path()).unwrap().count(), 1);
    }

    /// If such a link were accepted, the folder would be filled and could then not be renamed.
    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_refused_before_anything_is_written() {
        let (parent, path) = place();
        std::os::unix::fs::symlink(parent.path().join("nowhere"), &path).unwrap();
        for path in [path.clone(), path.join("")] {
            for overwrite in [Overwrite::Same, Overwrite::Refuse, Overwrite::Allow] {
                let error = OutputFolder::create(&path, overwrite).unwrap_err();
                assert!(error.to_string().ends_with("it is a link that leads nowhere"), "{error}");
            }
        }
        assert!(path.is_symlink());
    }

    #[test]
    fn a_file_in_its_place_is_refused() {
        let (_parent, path) = place();
        fs_err::write(&path, "").unwrap();
        let error = OutputFolder::create(&path, Overwrite::Allow).unwrap_err();
        assert!(error.to_string().ends_with("it is a file"), "{error}");
    }
}
