//! Decompresses files to temporary files, several files at the same time.
//!
//! Each thread decompresses whole files to a spool of its own, so that no thread waits for another. Files whose
//! decompression may take more than [`WINDOW_BYTES`] of memory are decompressed one at a time. If several files fail,
//! the error is that of the first of them in input order, for any number of threads.

use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use minwise::{Observer, Stage, Warning};

use super::{READ_BYTES, open_decoder};
use crate::compression::Compression;
use crate::error::Result;
#[cfg(feature = "zstd")]
use crate::frames;
use crate::members::{GzipMembers, MemberReader};
use crate::positional::read_at;
use crate::spool::{Spool, Spooled};

/// Largest window of a Zstandard file that is decompressed beside others. Only the option `--long` and the highest
/// levels of `zstd` make larger windows, of up to 2 GiB.
const WINDOW_BYTES: u64 = 8 << 20;
/// Number of first bytes of a Zstandard file that tell the size of its window.
const HEADER_BYTES: usize = 18;

/// A compressed file that waits until it is decompressed.
pub(super) struct PackedFile {
    /// Number of the source that the file becomes.
    pub(super) source: usize,
    pub(super) name: String,
    pub(super) file: File,
    pub(super) compression: Compression,
    pub(super) size_bytes: u64,
    /// Whether the members of the gzip file are noted.
    pub(super) notes_members: bool,
}

/// Place of a decompressed file.
pub(super) struct UnpackedFile {
    /// Number of the spool.
    pub(super) spool: usize,
    pub(super) spooled: Spooled,
    /// The members, if they were to be noted.
    pub(super) members: Option<GzipMembers>,
}

/// Decompresses files with at most `threads` threads, one per spool. `spools` must not be empty. Returns the places of
/// the files, in the order of `files`.
pub(super) fn unpack(
    files: &[PackedFile],
    spools: &mut [Spool],
    threads: usize,
    observer: &dyn Observer,
) -> Result<Vec<UnpackedFile>> {
    let workers = threads.min(spools.len()).min(files.len()).max(1);
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let large = Mutex::new(());
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let work = |(number_of_spool, spool): (usize, &mut Spool)| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number).filter(|_| number < failed.load(Ordering::Relaxed)) else {
                return;
            };
            let observer = UntilFailed { observer, number, failed: &failed };
            let _turn = takes_much_memory(file).then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
            let result = append(file, spool, threads / workers, &observer);
            let result =
                result.map(|(spooled, members)| UnpackedFile { spool: number_of_spool, spooled, members });
            if result.is_err() {
                failed.fetch_min(number, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    let mut spools = spools.iter_mut().enumerate().take(workers);
    thread::scope(|scope| {
        let first = spools.next();
        let others: Vec<_> = spools.map(|spool| scope.spawn(move || work(spool))).collect();
        first.into_iter().for_each(work);
        for other in others {
            // Workers are joined one by one, because a scope replaces the message of a panic by its own.
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Decompresses one file, with `threads` threads if it has several Zstandard frames.
fn append(
    file: &PackedFile,
    spool: &mut Spool,
    threads: usize,
    observer: &dyn Observer,
) -> Result<(Spooled, Option<GzipMembers>)> {
    let PackedFile { name, file, compression, size_bytes, notes_members, .. } = file;
    if *notes_members {
        let mut decoder = MemberReader::new(BufReader::with_capacity(READ_BYTES, file));
        let spooled = spool.append(name, Some(*compression), &mut decoder, observer)?;
        return Ok((spooled, Some(decoder.into_members())));
    }
    #[cfg(feature = "zstd")]
    if *compression == Compression::Zstd && threads > 1 && *size_bytes >= frames::LEAST_FILE_BYTES {
        let append = |reader: &mut dyn Read| spool.append(name, Some(*compression), reader, observer);
        return Ok((frames::with_reader(file, threads, append)?, None));
    }
    #[cfg(not(feature = "zstd"))]
    let _ = (size_bytes, threads);
    let mut decoder: Box<dyn Read> =
        open_decoder(*compression, BufReader::with_capacity(READ_BYTES, file), name)?;
    Ok((spool.append(name, Some(*compression), &mut decoder, observer)?, None))
}

/// Reports whether the decompression of a file may take more memory than [`WINDOW_BYTES`].
fn takes_much_memory(file: &PackedFile) -> bool {
    match file.compression {
        Compression::Gzip | Compression::Bzip2 => false,
        // The windows of `xz -9` have 64 MiB.
        Compression::Xz => true,
        Compression::Zstd => {
            let mut header = [0; HEADER_BYTES];
            let read = read_at(&file.file, 0, &mut header).unwrap_or(0);
            zstd_window(header.get(..read).unwrap_or_default()).is_none_or(|bytes| bytes > WINDOW_BYTES)
        }
    }
}

/// Returns the size of the window of a Zstandard frame, given its header (RFC 8878, section 3.1.1.1). Returns `None` if
/// the bytes are no such header.
fn zstd_window(header: &[u8]) -> Option<u64> {
    let (descriptor, fields) = header.strip_prefix(&0xFD2F_B528_u32.to_le_bytes())?.split_first()?;
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let window = u64::from(*fields.first()?);
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * (window & 7));
    }
    // A frame of a single segment has a window of the size of its content.
    let dictionary_id = (1_usize << (descriptor & 3)) / 2;
    let content = 1_usize << (descriptor >> 6);
    let size = fields.get(dictionary_id..dictionary_id + content)?;
    let size = size.iter().rev().fold(0, |size, &byte| size << 8 | u64::from(byte));
    Some(if content == 2 { size + 256 } else { size })
}

/// Observer of one file, which is given up if an earlier file has failed.
struct UntilFailed<'a> {
    observer: &'a dyn Observer,
    number: usize,
    failed: &'a AtomicUsize,
}

impl Observer for UntilFailed<'_> {
    fn begin(&self, stage: Stage, total: u64) {
        self.observer.begin(stage, total);
    }

    fn end(&self, stage: Stage) {
        self.observer.end(stage);
    }

    fn advance(&self, amount: u64) {
        self.observer.advance(amount);
    }

    fn warn(&self, warning: &Warning) {
        self.observer.warn(warning);
    }

    fn cancelled(&self) -> bool {
        self.failed.load(Ordering::Relaxed) < self.number || self.observer.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "zstd")]
    #[test]
    fn the_window_is_read_from_the_header() {
        use std::io::Write;
        let stream = |log: u32, pledged: Option<u64>| {
            let mut encoder = zstd::stream::Encoder::new(vec![], 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.set_pledged_src_size(pledged).unwrap();
            encoder.write_all(&[b'a'; 3000]).unwrap();
            encoder.finish().unwrap()
        };
        for log in [10, 20, 23, 27] {
            assert_eq!(zstd_window(&stream(log, None)), Some(1 << log));
        }
        // The content is smaller than the window, so it is a single segment.
        assert_eq!(zstd_window(&stream(20, Some(3000))), Some(3000));
        let whole = stream(20, None);
        assert_eq!(
            (zstd_window(&whole[..5]), zstd_window(b"no frame"), zstd_window(b"")),
            (None, None, None)
        );
    }
}
