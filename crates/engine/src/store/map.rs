//! Reading a file of our own, in place.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use minwise::VERSION;
use minwise::text::UNICODE;
use minwise_corpus::open_file;
use xxhash_rust::xxh3::xxh3_64;

use super::{ALIGNMENT, BLOCK_BYTES, Header, Kind, TRAILER_BYTES};
use crate::error::{Error, ErrorKind};

/// A file that is mapped, and whose every byte is what was written.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    header: Header,
    path: String,
    kind: Kind,
}

impl Mapped {
    pub(crate) fn open(path: &Path, kind: Kind) -> Result<Self, Error> {
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
        let map = map(&file).map_err(|error| Error::file("map", &name, error.to_string()))?;
        let ours = map.starts_with(&kind.magic);
        let header = check(&map, kind).map_err(|reason| damaged(&name, kind, reason, ours))?;
        Ok(Self { map, header, path: name, kind })
    }

    /// Refuses what was made with shingles or sketches that mean something else today.
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

    /// The bytes of a section.
    pub(crate) fn section(&self, name: &str) -> Result<&[u8], Error> {
        let range = self.header.sections.get(name);
        let bytes = range.and_then(|range| self.map.get(to_usize(range)?));
        bytes.ok_or_else(|| self.wrong(format!("its section `{name}` is missing")))
    }

    /// Its name.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// What the file says of itself.
    pub(crate) fn about(&self) -> &serde_json::Value {
        &self.header.about
    }

    /// The error that something in the file makes no sense, though its checksums are right.
    pub(crate) fn wrong(&self, reason: String) -> Error {
        damaged(&self.path, self.kind, reason, true)
    }
}

fn to_usize(range: &Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

#[expect(unsafe_code, reason = "a map of a file can be made in no other way")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: The file is one of ours, which are written under another name and never changed once they have theirs.
    // Whoever writes into it meanwhile, or cuts it short, can make this process see other bytes or end it; SECURITY.md
    // says so.
    unsafe { Mmap::map(file) }
}

fn damaged(path: &str, kind: Kind, reason: String, ours: bool) -> Error {
    let hint = if ours {
        format!("make it again with {}", kind.made_by)
    } else {
        format!("{} makes a {}", kind.made_by, kind.name)
    };
    ErrorKind::File { path: path.to_owned(), action: "read", reason, hint: Some(hint) }.into()
}

/// Checks every byte; gives the header, or says what is wrong.
fn check(bytes: &[u8], kind: Kind) -> Result<Header, String> {
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    let cut = || format!("it ends after {} bytes: it is cut short, or was never finished", bytes.len());
    if !bytes.starts_with(&kind.magic) {
        return Err(format!("it is no {}", kind.name));
    }
    let version = number(bytes.get(8..12).ok_or_else(cut)?) as u32;
    if version != kind.version {
        return Err(format!(
            "it has format version {version}, and this program reads version {}",
            kind.version
        ));
    }
    if bytes.len() < 16 + TRAILER_BYTES || !bytes.ends_with(&kind.magic) {
        return Err(cut());
    }

    let (before, trailer) = bytes.split_at(bytes.len() - TRAILER_BYTES);
    let [body_bytes, header_bytes, checksum] = [0, 8, 16].map(|at| number(&trailer[at..at + 8]));
    let wrong_end = || "the description at its end is not what was written".to_owned();
    let body_bytes = usize::try_from(body_bytes).ok().filter(|&bytes| bytes <= before.len());
    let body_bytes = body_bytes.ok_or_else(wrong_end)?;
    let end = &bytes[body_bytes..bytes.len() - 16];
    if xxh3_64(end) != checksum {
        return Err(wrong_end());
    }
    let checksum_bytes = 8 * body_bytes.div_ceil(BLOCK_BYTES);
    let (body, after) = before.split_at(body_bytes);
    if Some(after.len()) != checksum_bytes.checked_add(header_bytes as usize) {
        return Err(wrong_end());
    }
    let (checksums, header) = after.split_at(checksum_bytes);
    let header: Header = serde_json::from_slice(header).map_err(|_| wrong_end())?;
    let fits = |range: &Range<u64>| {
        range.start.is_multiple_of(ALIGNMENT as u64)
            && range.start <= range.end
            && range.end <= body_bytes as u64
    };
    if !header.sections.values().all(fits) {
        return Err(wrong_end());
    }
    for (block, (content, checksum)) in body.chunks(BLOCK_BYTES).zip(checksums.chunks(8)).enumerate() {
        if xxh3_64(content) != number(checksum) {
            let first = block * BLOCK_BYTES;
            return Err(place(&(first..first + content.len()), &header));
        }
    }
    Ok(header)
}

/// Where the damage is, in words.
fn place(damaged: &Range<usize>, header: &Header) -> String {
    let touched = |range: &Range<u64>| range.start < damaged.end as u64 && range.end > damaged.start as u64;
    let mut sections: Vec<_> = header.sections.iter().filter(|(_, range)| touched(range)).collect();
    sections.sort_by_key(|(_, range)| range.start);
    let names: Vec<String> = sections.into_iter().map(|(name, _)| format!("`{name}`")).collect();
    let sections = match names.as_slice() {
        [] => String::new(),
        [one] => format!(", in the section {one},"),
        [rest @ .., last] => format!(", in the sections {} and {last},", rest.join(", ")),
    };
    format!("bytes {} to {}{sections} are not what was written", damaged.start, damaged.end - 1)
}

/// A little-endian number of at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
