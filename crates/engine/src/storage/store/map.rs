//! Reads a stored file in place, by a memory map.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use minwise::VERSION;
use minwise::text::UNICODE;
use minwise_corpus::open_file;

use super::check::Description;
use super::{FileKind, StoreFooter, damaged};
use crate::error::Error;

/// Memory map of a stored file whose checksums were all verified.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    header: StoreFooter,
    path: String,
    kind: FileKind,
}

impl Mapped {
    pub(crate) fn open(path: &Path, kind: FileKind) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = open_file(path, &name)?;
        if !file.metadata().is_ok_and(|about| about.is_file()) {
            let reason = "it is no file that can be read in place".to_owned();
            return Err(damaged(&name, kind, reason, false));
        }
        if cfg!(target_endian = "big") {
            let reason = "its numbers are little-endian, and this machine's are not".to_owned();
            return Err(Error::file("read", &name, reason));
        }
        let map = map(&file).map_err(|error| Error::io("map", &name, error))?;
        let ours = map.starts_with(&kind.magic);
        let read = |offset: u64, out: &mut [u8]| {
            let begin = offset as usize;
            let bytes = begin.checked_add(out.len()).and_then(|end| map.get(begin..end));
            out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        };
        let described = Description::read(map.len() as u64, kind, &read)
            .and_then(|described| described.check_body(&read).map(|()| described))
            .map_err(|reason| damaged(&name, kind, reason, ours))?;
        Ok(Self { header: described.header, map, path: name, kind })
    }

    /// Refuses a file whose shingles or sketches were made by an incompatible version.
    pub(crate) fn check_versions(&self, spec_version: u32, unicode: &str) -> Result<(), Error> {
        for (what, there, here) in [
            ("spec version", spec_version.to_string(), VERSION.to_string()),
            ("Unicode version", unicode.to_owned(), UNICODE.to_owned()),
        ] {
            if there != here {
                let reason = format!("it was made with {what} {there}, and this program has {here}");
                return Err(self.wrong(reason));
            }
        }
        Ok(())
    }

    /// Returns the bytes of a section.
    pub(crate) fn section(&self, name: &str) -> Result<&[u8], Error> {
        let range = self.header.sections.get(name);
        let bytes = range.and_then(|range| self.map.get(to_usize(range)?));
        bytes.ok_or_else(|| self.wrong(format!("its section `{name}` is missing")))
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &str {
        &self.path
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

fn to_usize(range: &Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

#[expect(unsafe_code, reason = "a map of a file can be made in no other way")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: The file is a stored file. Minwise writes such files under another name, and never changes them once they
    // have their final name. Another program that writes into the file or cuts it short can make this process read
    // other bytes or crash; SECURITY.md states this.
    unsafe { Mmap::map(file) }
}
