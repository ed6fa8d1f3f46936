//! Documents read again, for their shingle sets.

use std::path::Path;

use minwise_corpus::{Corpus, Scratch};

use crate::error::Error;
use crate::memory;
use crate::read::documents::Documents;
use crate::read::prepare::{DocumentSet, Preparation, Prepared};
use crate::turn::LargeDocumentLock;

/// Shingles that are sorted together, however little memory there is: fewer would make too many stretches.
pub(crate) const LEAST: usize = 1 << 19;
/// How often shingles that are sorted together are in memory, about: while two documents are merged, as they were read, as
/// they are and as room to sort in.
const TIMES: u64 = 6;

/// How the shingles of huge documents are sorted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sorting<'a> {
    pub(crate) most: usize,
    pub(crate) folder: Option<&'a Path>,
}

impl<'a> Sorting<'a> {
    /// Within what there is room for if so many threads sort at one time, with temporary files in `folder`.
    pub(crate) fn new(room: memory::WorkingMemory, threads: usize, folder: Option<&'a Path>) -> Self {
        let shingles = room.held() / (TIMES * size_of::<u64>() as u64 * threads as u64);
        Self { most: usize::try_from(shingles).unwrap_or(usize::MAX).max(LEAST), folder }
    }
}

/// Reads documents again and gives their shingle sets.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    pub corpus: &'a Corpus,
    pub documents: &'a Documents,
    pub preparation: &'a Preparation,
    /// For documents whose sets are not held.
    pub sorting: Sorting<'a>,
    /// For documents that are too large to be read by several threads at a time.
    pub turns: LargeDocumentLock,
}

/// One thread's room to load sets in.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub(crate) scratch: Scratch,
    pub(crate) prepared: Prepared,
}

impl Room {
    /// Gives back what a large document took.
    pub(crate) fn give_back(&mut self) {
        self.prepared = Prepared::default();
        self.scratch.give_back();
    }
}

impl Loader<'_> {
    pub(crate) fn text_bytes(&self, document: u32) -> Result<u64, Error> {
        Ok(u64::from(self.documents.place(document)?.len))
    }

    /// Loads a set. Of more than `whole_bytes` of text, it is the only one that is made at the time.
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

    /// The shingles of a document in order, in the room.
    pub(crate) fn shingle<'r>(&self, document: u32, room: &'r mut Room) -> Result<&'r [u64], Error> {
        let read = self.corpus.read(&self.documents.place(document)?, &mut room.scratch)?;
        self.preparation.shingle(&read.text, &mut room.prepared);
        self.preparation.weigh(&mut room.prepared);
        Ok(self.preparation.in_order(&room.prepared))
    }
}
