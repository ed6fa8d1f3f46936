//! Reads documents again to make their shingle sets.

use std::path::Path;

use minwise_corpus::{Corpus, Scratch};

use crate::error::Error;
use crate::memory;
use crate::read::documents::Documents;
use crate::read::prepare::{DocumentSet, Preparation, Prepared};
use crate::turn::LargeDocumentLock;

/// Minimum number of shingles that are sorted together, even if memory is short. Fewer shingles would make too many
/// runs.
pub(crate) const LEAST: usize = 1 << 19;
/// Approximate number of copies of sorted shingles in memory. While two documents are merged, each of them has three
/// copies: as read, as sorted, and as a buffer for sorting.
const TIMES: u64 = 6;

/// Limits for sorting the shingles of huge documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sorting<'a> {
    pub(crate) most: usize,
    pub(crate) folder: Option<&'a Path>,
}

impl<'a> Sorting<'a> {
    /// Returns the limits if `threads` threads sort at the same time within `room`. Temporary files go to `folder`.
    pub(crate) fn new(room: memory::WorkingMemory, threads: usize, folder: Option<&'a Path>) -> Self {
        let shingles = room.held() / (TIMES * size_of::<u64>() as u64 * threads as u64);
        Self { most: usize::try_from(shingles).unwrap_or(usize::MAX).max(LEAST), folder }
    }
}

/// Loader of shingle sets, which reads documents again.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    pub corpus: &'a Corpus,
    pub documents: &'a Documents,
    pub preparation: &'a Preparation,
    /// Limits for documents whose sets are not held in memory.
    pub sorting: Sorting<'a>,
    /// Turns for documents that are too large to be read by several threads at the same time.
    pub turns: LargeDocumentLock,
}

/// Buffers of one thread for loading sets.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub(crate) scratch: Scratch,
    pub(crate) prepared: Prepared,
}

impl Room {
    /// Releases the memory that a large document took.
    pub(crate) fn give_back(&mut self) {
        self.prepared = Prepared::default();
        self.scratch.give_back();
    }
}

impl Loader<'_> {
    pub(crate) fn text_bytes(&self, document: u32) -> Result<u64, Error> {
        Ok(u64::from(self.documents.place(document)?.len))
    }

    /// Loads a set. If the text has more than `whole_bytes` bytes, the thread waits for its turn.
    pub(crate) fn load(
        &self,
        document: u32,
        room: &mut Room,
        whole_bytes: u64,
    ) -> Result<DocumentSet, Error> {
        let place = self.documents.place(document)?;
        let text_bytes = u64::from(place.len);
        let _turn = self.turns.take(text_bytes > whole_bytes);
        let read = self.corpus.read(&place, &mut room.scratch)?;
        let set = self.preparation.set_alone(&read.text, &mut room.prepared);
        drop(read);
        if text_bytes > self.preparation.whole_bytes(1) {
            room.give_back();
        }
        Ok(set)
    }

    /// Reads a document and returns its shingles in document order. The shingles are stored in `room`.
    pub(crate) fn shingle<'r>(&self, document: u32, room: &'r mut Room) -> Result<&'r [u64], Error> {
        let read = self.corpus.read(&self.documents.place(document)?, &mut room.scratch)?;
        self.preparation.shingle(&read.text, &mut room.prepared);
        self.preparation.weigh(&mut room.prepared);
        Ok(self.preparation.in_order(&room.prepared))
    }
}
