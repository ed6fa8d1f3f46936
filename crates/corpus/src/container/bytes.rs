//! Copies kept records, byte for byte.
//!
//! Records become *batches*: about 1 MiB of one source, as a list of spans. The bytes between two spans belong to
//! records that are left out. Spans with small gaps are read in one read and then moved together in memory. This is
//! faster because a corpus of short documents has a gap every few records, and one read per span cost more than
//! copying the bytes.
//!
//! A batch has a known offset in a plain output file, so several threads copy batches with positional reads and writes, while
//! later decisions are still pending. Linux lets one thread at a time write to a file, so threads share the reading, and the
//! writing stays at the speed of one thread (some 4 GB/s). Letting the kernel copy between the files (`copy_file_range`) takes
//! the same lock; writing through mapped memory would take none, but ends the process by a signal on a full disk.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::{Error, Result};
use crate::output::{Output, PositionalFile};
use crate::scratch::{Scratch, grown};
use crate::sources::Sources;

/// Number of bytes that are read and written at a time. Larger blocks are no faster, and a block of this size fits in
/// a cache level.
const BLOCK_BYTES: u64 = 256 << 10;
/// Number of bytes after which a batch is full.
const BATCH_BYTES: u64 = 1 << 20;
/// Longest gap between two records that are read together, in bytes.
const GAP_BYTES: u64 = 16 << 10;
/// Number of bytes after which written data is synced to the disk, so that the disk works while more is copied.
const SYNC_BYTES: u64 = 16 << 20;
/// Number of batches per thread that can wait to be copied.
const WAITING: usize = 2;

/// Records of one source that are copied together, in the order given.
#[derive(Debug, Default, PartialEq, Eq)]
struct CopyBatch {
    source: u32,
    /// Byte ranges of the records. Adjacent records are one span.
    spans: Vec<Range<u64>>,
    /// Total length of all spans, in bytes.
    bytes: u64,
    /// Whether a line end is written before the batch, because the previous batch does not end its line.
    line_end: bool,
}

impl CopyBatch {
    /// Adds a record, and returns the offset of its end.
    fn push(&mut self, place: &RecordPlace) -> u64 {
        let (start, bytes) = (place.offset, u64::from(place.len));
        let end = start.saturating_add(bytes);
        self.source = place.source;
        self.bytes += bytes;
        match self.spans.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.spans.push(start..end),
        }
        end
    }

    fn output_bytes(&self) -> u64 {
        self.bytes + u64::from(self.line_end)
    }
}

/// Copies the records at `places` to `out`. Before them, writes the header of the first source in `numbers` that has a
/// header.
///
/// If a record does not end its line and another record follows, as at the end of many files, a line end is written
/// between them.
pub(super) fn copy(
    sources: &Sources,
    numbers: Range<u32>,
    places: &mut dyn Iterator<Item = RecordPlace>,
    out: &mut Output,
) -> Result<()> {
    let header = header_of(sources, numbers);
    let header = header.map(|(source, bytes)| RecordPlace { source, line: 0, offset: 0, len: bytes as u32 });
    let mut batches = CopyBatches { sources, places, header, held: None, open_line: false };
    let threads = out.threads();
    match out.positional()? {
        Some(file) if threads > 1 => {
            let end = copy_in_parallel(sources, &mut batches, &file, threads)?;
            out.go_on_at(end)
        }
        _ => copy_one_by_one(sources, &mut batches, out),
    }
}

/// Returns the first of the sources that has a header, and the length of the header in bytes. An empty file has no
/// header.
pub(super) fn header_of(sources: &Sources, numbers: Range<u32>) -> Option<(u32, u64)> {
    let bytes = |number: u32| sources.get(number).map_or(0, |(_, content)| content.header_bytes());
    numbers.map(|number| (number, bytes(number))).find(|(_, bytes)| *bytes > 0)
}

/// Writes records. `annotate` makes the bytes to be written from the bytes of a record and its annotation.
pub(super) fn annotate(
    sources: &Sources,
    annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
    out: &mut Output,
    annotate: impl Fn(&[u8], &Annotation<'_>, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut scratch = Scratch::new();
    let mut line = Vec::new();
    for (place, annotation) in annotated {
        // The last line of a file may have no line end, so a line end is added before the next line.
        if line.last().is_some_and(|&byte| byte != b'\n') {
            out.write_bytes(b"\n")?;
        }
        annotate(sources.read_raw(&place, &mut scratch)?, &annotation, &mut line)?;
        out.write_bytes(&line)?;
    }
    Ok(())
}

/// Groups the places of records into batches.
struct CopyBatches<'c> {
    sources: &'c Sources,
    places: &'c mut dyn Iterator<Item = RecordPlace>,
    /// Place of the header, until the header is in a batch.
    header: Option<RecordPlace>,
    /// First place of the next batch, if it was already taken from `places`.
    held: Option<RecordPlace>,
    /// Whether the last batch does not end its line.
    open_line: bool,
}

impl CopyBatches<'_> {
    /// Returns the next batch; `None` if all records are in batches.
    fn next(&mut self) -> Result<Option<CopyBatch>> {
        let mut batch = CopyBatch::default();
        let mut ends_source = false;
        while batch.bytes < BATCH_BYTES && !ends_source {
            let next = self.header.take().or_else(|| self.held.take()).or_else(|| self.places.next());
            let Some(place) = next else { break };
            if batch.bytes > 0 && batch.source != place.source {
                self.held = Some(place);
                break;
            }
            if place.len > 0 {
                let end = batch.push(&place);
                ends_source = end == self.sources.get(place.source)?.0.source.size_bytes();
            }
        }
        if batch.bytes == 0 {
            return Ok(None);
        }
        batch.line_end = std::mem::take(&mut self.open_line);
        // Only the last record of a source may have no line end.
        if let (true, Some(last)) = (ends_source, batch.spans.last()) {
            let mut byte = [0];
            self.sources.read_span(batch.source, last.end - 1, &mut byte)?;
            self.open_line = byte != *b"\n";
        }
        Ok(Some(batch))
    }
}

/// Copies all batches with one thread.
fn copy_one_by_one(sources: &Sources, batches: &mut CopyBatches<'_>, out: &mut Output) -> Result<()> {
    let (mut block, mut unsynced) = (Vec::new(), 0);
    while let Some(batch) = batches.next()? {
        load(sources, &batch, &mut block, |bytes| out.write_bytes(bytes))?;
        unsynced += batch.output_bytes();
        if unsynced >= SYNC_BYTES {
            out.sync()?;
            unsynced = 0;
        }
    }
    Ok(())
}

/// A batch with its number and its offset in the output.
type PlacedBatch = (usize, u64, CopyBatch);

/// State that the threads that copy batches share.
struct SharedCopy<'c> {
    sources: &'c Sources,
    file: &'c PositionalFile<'c>,
    written: AtomicU64,
    is_syncing: AtomicBool,
    has_failed: AtomicBool,
    /// The error of the first batch that failed.
    failed: Mutex<Option<(usize, Error)>>,
}

/// Copies all batches with several threads, and returns where the output ends.
fn copy_in_parallel(
    sources: &Sources,
    batches: &mut CopyBatches<'_>,
    file: &PositionalFile<'_>,
    threads: usize,
) -> Result<u64> {
    let (send, receive) = sync_channel(WAITING * threads);
    let shared = SharedCopy {
        sources,
        file,
        written: AtomicU64::new(0),
        is_syncing: AtomicBool::new(false),
        has_failed: AtomicBool::new(false),
        failed: Mutex::new(None),
    };
    // The workers own the receiver together, so that `send` fails if all of them panic, instead of waiting forever.
    let receive = Arc::new(Mutex::new(receive));
    let made = thread::scope(|scope| {
        let shared = &shared;
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let receive = Arc::clone(&receive);
                scope.spawn(move || shared.work(&receive))
            })
            .collect();
        drop(receive);
        let made = shared.hand_out(batches, &send);
        drop(send);
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        made
    });
    match shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => made,
    }
}

impl SharedCopy<'_> {
    /// Gives the batches their offsets, and hands them out. Returns the offset at which the last batch ends.
    fn hand_out(&self, batches: &mut CopyBatches<'_>, send: &SyncSender<PlacedBatch>) -> Result<u64> {
        let (mut number, mut offset) = (0, self.file.begin());
        while !self.has_failed.load(Ordering::Relaxed)
            && let Some(batch) = batches.next()?
        {
            let end = offset + batch.output_bytes();
            // `send` fails only if all workers panicked, and then joining them resumes the first panic.
            if send.send((number, offset, batch)).is_err() {
                break;
            }
            (number, offset) = (number + 1, end);
        }
        Ok(offset)
    }

    /// Copies batches until there are no more.
    fn work(&self, batches: &Mutex<Receiver<PlacedBatch>>) {
        let mut block = Vec::new();
        loop {
            let next = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((number, offset, batch)) = next else { return };
            // After a failure, workers discard batches, because `hand_out` would wait for a free place in the channel.
            if self.has_failed.load(Ordering::Relaxed) {
                continue;
            }
            if let Err(error) = self.copy(&batch, offset, &mut block) {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failed = Some((number, error));
                }
                self.has_failed.store(true, Ordering::Relaxed);
            }
        }
    }

    fn copy(&self, batch: &CopyBatch, mut offset: u64, block: &mut Vec<u8>) -> Result<()> {
        load(self.sources, batch, block, |bytes| {
            self.file.write_at(offset, bytes)?;
            offset += bytes.len() as u64;
            Ok(())
        })?;
        let bytes = batch.output_bytes();
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        let is_due = before / SYNC_BYTES < (before + bytes) / SYNC_BYTES;
        if is_due && !self.is_syncing.swap(true, Ordering::Acquire) {
            let synced = self.file.sync();
            self.is_syncing.store(false, Ordering::Release);
            synced?;
        }
        Ok(())
    }
}

/// Reads the bytes of a batch, without the bytes between its records, and passes them to `write` block by block.
fn load(
    sources: &Sources,
    batch: &CopyBatch,
    block: &mut Vec<u8>,
    mut write: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let block = grown(block, BLOCK_BYTES as usize);
    let mut filled = 0;
    if batch.line_end {
        block[0] = b'\n';
        filled = 1;
    }
    let mut spans = batch.spans.iter().cloned().peekable();
    while let Some(mut span) = spans.next() {
        while span.end - span.start > (block.len() - filled) as u64 {
            let rest = &mut block[filled..];
            sources.read_span(batch.source, span.start, rest)?;
            span.start += rest.len() as u64;
            write(block)?;
            filled = 0;
        }
        // Spans that lie close together are read in one call. Then their bytes are moved to their places in the block.
        let room = (block.len() - filled) as u64;
        let begin = filled;
        let mut read_end = span.end;
        filled += (span.end - span.start) as usize;
        let mut moves = vec![];
        while let Some(next) = spans.next_if(|next| {
            next.start >= read_end && next.start - read_end <= GAP_BYTES && next.end - span.start <= room
        }) {
            let from = begin + (next.start - span.start) as usize;
            let bytes = (next.end - next.start) as usize;
            moves.push((from..from + bytes, filled));
            filled += bytes;
            read_end = next.end;
        }
        let read_bytes = (read_end - span.start) as usize;
        sources.read_span(batch.source, span.start, &mut block[begin..begin + read_bytes])?;
        for (from, to) in moves {
            block.copy_within(from, to);
        }
    }
    if filled > 0 { write(&block[..filled]) } else { Ok(()) }
}
