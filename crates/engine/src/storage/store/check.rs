//! Verifies a stored file: first its header and trailer, then every block of its body.

use std::io;
use std::ops::Range;

use minwise::figure::{counted, grouped};
use xxhash_rust::xxh3::xxh3_64;

use super::{ALIGNMENT, BLOCK_BYTES, FileKind, StoreFooter, TRAILER_BYTES};

/// Function that fills a buffer with the bytes from an offset on, or fails.
pub(super) type ReadAt<'a> = dyn Fn(u64, &mut [u8]) -> io::Result<()> + 'a;

/// Header and checksums, which follow the body of a file.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) header: StoreFooter,
    body_bytes: u64,
    checksums: Vec<u64>,
}

impl Description {
    /// Reads and checks the header and the trailer. An error is a sentence about the damage.
    pub(super) fn read(size_bytes: u64, kind: FileKind, read_at: &ReadAt<'_>) -> Result<Self, String> {
        if size_bytes == 0 {
            return Err("it is empty".to_owned());
        }
        let cut = || {
            format!("it ends after {}: it is cut short, or was never finished", counted(size_bytes, "byte"))
        };
        let read = |range: Range<u64>| -> Result<Vec<u8>, String> {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            read_at(range.start, &mut bytes).map_err(|error| error.to_string())?;
            Ok(bytes)
        };
        let head = read(0..size_bytes.min(12))?;
        if !head.starts_with(&kind.magic) {
            return Err(format!("it is no {}", kind.name));
        }
        let version = number(head.get(8..12).ok_or_else(cut)?) as u32;
        if version != kind.version {
            return Err(format!(
                "it has format version {version}, and this program reads version {}",
                kind.version
            ));
        }
        let before = match size_bytes.checked_sub(TRAILER_BYTES as u64) {
            Some(before) if before >= 16 => before,
            _ => return Err(cut()),
        };
        let trailer = read(before..size_bytes)?;
        if !trailer.ends_with(&kind.magic) {
            return Err(cut());
        }

        let wrong_end = || "the description at its end is not what was written".to_owned();
        let [body_bytes, header_bytes, checksum] = [0, 8, 16].map(|at| number(&trailer[at..at + 8]));
        let checksum_bytes = body_bytes.div_ceil(BLOCK_BYTES as u64).checked_mul(8);
        let described = checksum_bytes
            .and_then(|bytes| bytes.checked_add(header_bytes))
            .filter(|&bytes| body_bytes.checked_add(bytes) == Some(before));
        let (Some(_), Some(checksum_bytes)) = (described, checksum_bytes) else { return Err(wrong_end()) };
        let mut end = read(body_bytes..before)?;
        end.extend_from_slice(&trailer[..16]);
        if xxh3_64(&end) != checksum {
            return Err(wrong_end());
        }
        let (checksums, header) = end[..end.len() - 16].split_at(checksum_bytes as usize);
        let header: StoreFooter = serde_json::from_slice(header).map_err(|_| wrong_end())?;
        let fits = |range: &Range<u64>| {
            range.start.is_multiple_of(ALIGNMENT as u64)
                && range.start <= range.end
                && range.end <= body_bytes
        };
        if !header.sections.values().all(fits) {
            return Err(wrong_end());
        }
        Ok(Self { header, body_bytes, checksums: checksums.chunks(8).map(number).collect() })
    }

    /// Checks every block of the body. An error is a sentence about the damage and its place.
    pub(super) fn check_body(&self, read_at: &ReadAt<'_>) -> Result<(), String> {
        let mut block = vec![0; BLOCK_BYTES];
        for (number, &checksum) in (0..).zip(&self.checksums) {
            let first = number * BLOCK_BYTES as u64;
            let bytes = (BLOCK_BYTES as u64).min(self.body_bytes - first);
            let block = &mut block[..bytes as usize];
            read_at(first, block).map_err(|error| error.to_string())?;
            if xxh3_64(block) != checksum {
                return Err(place(&(first..first + bytes), &self.header));
            }
        }
        Ok(())
    }
}

/// Describes the place of the damage in words.
fn place(damaged: &Range<u64>, header: &StoreFooter) -> String {
    let touched = |range: &Range<u64>| range.start < damaged.end && range.end > damaged.start;
    let mut sections: Vec<_> = header.sections.iter().filter(|(_, range)| touched(range)).collect();
    sections.sort_by_key(|(_, range)| range.start);
    let names: Vec<String> = sections.into_iter().map(|(name, _)| format!("`{name}`")).collect();
    let sections = match names.as_slice() {
        [] => String::new(),
        [one] => format!(", in the section {one},"),
        [rest @ .., last] => format!(", in the sections {} and {last},", rest.join(", ")),
    };
    let (first, last) = (grouped(damaged.start), grouped(damaged.end - 1));
    format!("bytes {first} to {last}{sections} are not what was written")
}

/// Decodes a little-endian number of at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
