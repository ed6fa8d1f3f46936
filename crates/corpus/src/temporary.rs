//! Temporary files and folders, for data that does not fit into memory.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use crate::error::{Error, Result, TEMPORARY};
use crate::positional::{read_at, write_at};

/// Unnamed file that grows at its end, can be read anywhere, and disappears however the process ends.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    size_bytes: AtomicU64,
}

impl Temporary {
    /// Makes a temporary file in `folder`, or else in the system's folder for temporary files.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be made.
    pub fn create(folder: Option<&Path>) -> Result<Self> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let file = tempfile::tempfile_in(&folder)
            .map_err(|error| Error::path("make a temporary file in", &folder, error))?;
        Ok(Self { file, size_bytes: AtomicU64::new(0) })
    }

    /// Returns the size of the file in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes.load(Ordering::Acquire)
    }

    /// Writes bytes at the end of the file. Returns the offset at which they begin.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the bytes cannot be written, such as on a full disk.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let begin = self.size_bytes.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        write_at(&self.file, begin, bytes).map_err(|error| Error::io("write", TEMPORARY, error))?;
        Ok(begin)
    }

    /// Fills `out` with the bytes from `offset` on, which must already be written.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the bytes cannot be read or were never written.
    pub fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let read = read_at(&self.file, offset, out).map_err(|error| Error::io("read", TEMPORARY, error))?;
        if read == out.len() {
            return Ok(());
        }
        Err(Error::io("read", TEMPORARY, io::ErrorKind::UnexpectedEof.into()))
    }
}

/// Folder for temporary files. When the value is dropped, the folder and all its files are removed.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Makes a temporary folder in `folder`, or else in the system's folder for temporary files.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the folder cannot be made.
    pub fn create(folder: Option<&Path>) -> Result<Self> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        tempfile::Builder::new()
            .prefix(".minwise-")
            .tempdir_in(&folder)
            .map(Self)
            .map_err(|error| Error::path("make a temporary folder in", &folder, error))
    }

    /// Returns the path of the folder, which exists until the value is dropped.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_wherever_they_were_appended() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = Temporary::create(Some(folder.path())).unwrap();
        assert_eq!(temporary.append(b"one").unwrap(), 0);
        assert_eq!(temporary.append(b"three").unwrap(), 3);
        assert_eq!(temporary.size_bytes(), 8);
        let mut out = [0; 5];
        temporary.read_exact_at(3, &mut out).unwrap();
        assert_eq!(&out, b"three");
        assert!(temporary.read_exact_at(4, &mut out).is_err());
        assert!(fs_err::read_dir(folder.path()).unwrap().next().is_none(), "it has no name");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Temporary::create(Some(Path::new("no/such/folder"))).unwrap_err();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
