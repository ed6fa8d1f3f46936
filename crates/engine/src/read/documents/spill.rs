//! Writing of documents to temporary files, by the threads that read.
//!
//! One thread at a time takes in the documents that all threads have read. If this thread also wrote them to disk, the
//! others would wait for it: with sixteen threads, half of the time of a run with little memory passed so. It therefore
//! only takes documents out of memory, and puts them on a list. Threads write the documents of the list before they
//! read more.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minwise_corpus::Temporary;

use super::columns::DocumentColumns;
use super::segment::{self, Medium, Segment, SegmentSection};
use crate::error::Error;
use crate::parallel;
use crate::rows::RowLayout;

/// Maximum number of taken-out segments in memory. With the documents that are being collected, they take as much
/// memory as all documents in memory before the first ones are written.
const WAITING: usize = 2;

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
    /// Number of taken-out segments that are not written completely.
    unwritten: usize,
    written: Vec<(u32, Segment)>,
    /// Files to which no thread writes now. Each thread writes to a file of its own, because the system lets only one
    /// thread at a time write to a file.
    files: Vec<Arc<Temporary>>,
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

    /// Puts documents on the list. If the list is full, writes them at once.
    pub(crate) fn put(&self, columns: SpilledColumns) -> Result<(), Error> {
        let mut state = self.state();
        if state.unwritten < WAITING {
            state.unwritten += 1;
            state.queue.push_back(columns);
            return Ok(());
        }
        drop(state);
        self.write(columns, 1).map(|emptied| self.state().spare.push(emptied))
    }

    /// Writes the first documents of the list, if there are any.
    pub(crate) fn help(&self) -> Result<(), Error> {
        let Some(columns) = self.state().queue.pop_front() else { return Ok(()) };
        let emptied = self.write(columns, 1)?;
        let mut state = self.state();
        state.unwritten -= 1;
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
        state.files.push(file);
        drop(state);
        columns.clear();
        Ok(columns)
    }

    /// Appends bytes to a file, and returns the file and the offset of the bytes.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<(Arc<Temporary>, u64), Error> {
        let file = self.file()?;
        let begin = file.append(bytes)?;
        self.state().files.push(Arc::clone(&file));
        Ok((file, begin))
    }

    /// Returns a file to which no other thread writes.
    fn file(&self) -> Result<Arc<Temporary>, Error> {
        match self.state().files.pop() {
            Some(file) => Ok(file),
            None => Ok(Arc::new(Temporary::create(self.folder)?)),
        }
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
