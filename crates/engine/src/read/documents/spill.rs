//! Writing of documents to temporary files, by the threads that read.
//!
//! One thread at a time takes in the documents that all threads have read. If this thread also wrote them to disk, the
//! others would wait for it: with sixteen threads, half of the time of a run with little memory passed so. It therefore
//! only takes documents out of memory, and puts them on a list. Threads write the documents of the list before they
//! read more.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use minwise_corpus::Temporary;

use super::columns::DocumentColumns;
use super::segment::{self, Medium, Segment, SegmentSection};
use crate::error::Error;
use crate::parallel;
use crate::rows::RowLayout;

/// Maximum number of temporary files.
const FILES: usize = 16;

/// Documents that were taken out of memory, to be written to disk.
#[derive(Debug)]
pub(crate) struct SpilledColumns {
    /// Number of the first of the documents.
    pub(super) first: u32,
    pub(super) columns: DocumentColumns,
}

/// Documents on their way to temporary files.
#[derive(Debug)]
pub(crate) struct Spill<'a> {
    /// Layout of the rows whose band keys are stored.
    rows: Option<&'a RowLayout>,
    folder: Option<&'a Path>,
    state: Mutex<SpillState>,
}

#[derive(Debug, Default)]
struct SpillState {
    /// Documents that no thread writes yet.
    queue: VecDeque<SpilledColumns>,
    /// Number of bytes of the documents that are on the list or being written from it.
    unwritten_bytes: u64,
    written: Vec<(u32, Segment)>,
    /// Files to which no thread writes now. Each thread writes to a file of its own, because the system lets only one
    /// thread at a time write to a file.
    files: VecDeque<Arc<Temporary>>,
    /// Number of files that were made.
    made: usize,
    /// Emptied columns, to be filled again.
    spare: Vec<DocumentColumns>,
}

impl<'a> Spill<'a> {
    /// Makes an empty list. Temporary files lie in `folder`, or in the temporary folder of the system.
    pub(crate) fn new(rows: Option<&'a RowLayout>, folder: Option<&'a Path>) -> Self {
        Self { rows, folder, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, SpillState> {
        // A panic of a thread ends the run, so the data behind a poisoned mutex are never used.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns emptied columns, if there are any.
    pub(crate) fn spare(&self) -> Option<DocumentColumns> {
        self.state().spare.pop()
    }

    /// Puts documents on the list. If they have more than `most_bytes` bytes, or the list would have more than twice as
    /// many, writes them at once instead, and returns the emptied columns.
    pub(crate) fn put(
        &self,
        columns: SpilledColumns,
        most_bytes: u64,
    ) -> Result<Option<DocumentColumns>, Error> {
        let mut state = self.state();
        let bytes = columns.columns.size_bytes();
        if bytes > most_bytes || state.unwritten_bytes + bytes > 2 * most_bytes {
            drop(state);
            return self.write(columns, 1).map(Some);
        }
        state.unwritten_bytes += bytes;
        state.queue.push_back(columns);
        Ok(None)
    }

    /// Writes the first documents of the list, if there are any.
    pub(crate) fn help(&self) -> Result<(), Error> {
        let Some(columns) = self.state().queue.pop_front() else { return Ok(()) };
        let bytes = columns.columns.size_bytes();
        let emptied = self.write(columns, 1)?;
        let mut state = self.state();
        state.unwritten_bytes -= bytes;
        state.spare.push(emptied);
        Ok(())
    }

    /// Writes documents with several threads, and returns the emptied columns.
    pub(crate) fn write(
        &self,
        SpilledColumns { first, mut columns }: SpilledColumns,
        threads: usize,
    ) -> Result<DocumentColumns, Error> {
        let file = self.file()?;
        let mut sections = [const { 0..0 }; SegmentSection::ALL.len()];
        segment::write(&columns, self.rows, threads, |section, bytes| {
            let begin = file.append(bytes)?;
            let range = &mut sections[section as usize];
            // Parts of one section are contiguous, because no other thread has the file meanwhile.
            if range.start == range.end {
                range.start = begin;
            }
            range.end = begin + bytes.len() as u64;
            Ok(())
        })?;
        let segment =
            Segment::new(Medium::Temporary(Arc::clone(&file)), sections, columns.len(), columns.shape());
        let mut state = self.state();
        state.written.push((first, segment));
        state.files.push_back(file);
        drop(state);
        columns.clear();
        Ok(columns)
    }

    /// Appends bytes to a file, and returns the file and the offset of the bytes.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<(Arc<Temporary>, u64), Error> {
        let file = self.file()?;
        let begin = file.append(bytes)?;
        self.state().files.push_back(Arc::clone(&file));
        Ok((file, begin))
    }

    /// Returns a file to which no other thread writes. All files grow alike, because each is [removed](close) by one
    /// thread.
    fn file(&self) -> Result<Arc<Temporary>, Error> {
        let mut state = self.state();
        if state.made >= FILES
            && let Some(file) = state.files.pop_front()
        {
            return Ok(file);
        }
        state.made += 1;
        drop(state);
        Ok(Arc::new(Temporary::create(self.folder)?))
    }

    /// Writes the documents that are still on the list with several threads, and returns the segments of all documents.
    pub(crate) fn finish(&self, threads: usize) -> Result<Vec<(u32, Segment)>, Error> {
        let queued = self.state().queue.len();
        parallel::in_order(queued, threads, || (), |(), _| self.help(), |()| Ok(()))?;
        let mut state = self.state();
        state.spare.clear();
        Ok(std::mem::take(&mut state.written))
    }
}

/// Closes the temporary files of segments with one thread per file.
///
/// The system removes the bytes of an unnamed file when it is closed. One thread took half a second for the segments of
/// two million short documents.
pub(super) fn close(segments: Vec<(u32, Segment)>) {
    /// Minimum number of bytes, because starting threads for fewer takes longer than removing them.
    const LEAST_BYTES: u64 = 64 << 20;
    let mut files: Vec<Arc<Temporary>> = vec![];
    for (_, segment) in &segments {
        if let Medium::Temporary(file) = &segment.medium
            && !files.iter().any(|other| Arc::ptr_eq(other, file))
        {
            files.push(Arc::clone(file));
        }
    }
    drop(segments);
    if files.iter().map(|file| file.size_bytes()).sum::<u64>() < LEAST_BYTES {
        return;
    }
    thread::scope(|scope| {
        for file in files {
            // A file for which the system gives no thread is closed by this thread, because its value is dropped here.
            let _ = thread::Builder::new().spawn_scoped(scope, move || drop(file));
        }
    });
}
