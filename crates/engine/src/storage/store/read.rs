//! Reads a stored file by position, so that only the requested bytes are in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use minwise_corpus::{open_file, read_at};

use super::check::Description;
use super::{FileKind, StoreFooter, damaged};
use crate::error::Error;

/// Extent of the check when a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenCheck {
    /// Checks every byte.
    Everything,
    /// Checks only the header, for a file that this process has just written.
    Description,
}

/// Stored file that is read by position.
#[derive(Debug)]
pub(crate) struct StoredFile {
    file: File,
    header: StoreFooter,
    path: String,
    kind: FileKind,
}

impl StoredFile {
    pub(crate) fn open(path: &Path, kind: FileKind, check: OpenCheck) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = open_file(path, &name)?;
        if cfg!(target_endian = "big") {
            let reason = "its numbers are little-endian, and this machine's are not".to_owned();
            return Err(Error::file("read", &name, reason));
        }
        let about = file.metadata().map_err(|error| Error::io("read", &name, error))?;
        let read = |offset: u64, out: &mut [u8]| exactly(&file, offset, out);
        let described = Description::read(about.len(), kind, &read)
            .and_then(|described| match check {
                OpenCheck::Everything => described.check_body(&read).map(|()| described),
                OpenCheck::Description => Ok(described),
            })
            .map_err(|reason| damaged(&name, kind, reason, true))?;
        Ok(Self { header: described.header, file, path: name, kind })
    }

    /// Returns the byte ranges of sections.
    pub(crate) fn ranges<const N: usize>(&self, names: [&str; N]) -> Result<[Range<u64>; N], Error> {
        let mut ranges = [const { 0..0 }; N];
        for (range, name) in ranges.iter_mut().zip(names) {
            let there = self.header.sections.get(name).cloned();
            *range = there.ok_or_else(|| self.wrong(format!("its section `{name}` is missing")))?;
        }
        Ok(ranges)
    }

    /// Fills `out` with the bytes from `offset` on.
    pub(crate) fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        exactly(&self.file, offset, out).map_err(|error| Error::io("read", &self.path, error))
    }

    /// Reads all bytes of a section.
    pub(crate) fn section(&self, name: &str) -> Result<Vec<u8>, Error> {
        let [range] = self.ranges([name])?;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.read_exact_at(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the description in the header.
    pub(crate) fn about(&self) -> &serde_json::Value {
        &self.header.about
    }

    /// Makes the error for content that is wrong although its checksums are right.
    pub(crate) fn wrong(&self, reason: String) -> Error {
        damaged(&self.path, self.kind, reason, true)
    }
}

fn exactly(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    if read_at(file, offset, out)? == out.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
