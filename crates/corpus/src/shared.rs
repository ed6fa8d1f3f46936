//! State that all sources of a corpus share while they are read.

use std::cell::RefCell;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::document::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::found::FoundTexts;
use crate::options::ReadOptions;
use crate::scratch::grown;
use crate::source::{Reader, Source};
use crate::unfolded::Unfolded;

/// State that all sources of a corpus share while they are read.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: ReadOptions,
    /// Holds the bytes of sources that were decompressed or piped; `None` if there are none.
    pub(crate) spool: Option<Arc<File>>,
    /// Pieces of tables that were decoded to be read again.
    pub(crate) unfolded: Unfolded,
    /// Texts of documents that took long to find.
    pub(crate) found: FoundTexts,
    /// Locked by the thread that scans something long.
    long: Mutex<()>,
}

impl Shared {
    /// The state of a corpus of which nothing has been read.
    pub(crate) fn new(options: ReadOptions, spool: Option<Arc<File>>) -> Self {
        Self {
            spool,
            unfolded: Unfolded::new(options.spool_dir.clone()),
            found: FoundTexts::new(options.spool_dir.clone()),
            options,
            long: Mutex::default(),
        }
    }

    /// The turns of one scan.
    pub(crate) fn turns(&self) -> Turns<'_> {
        Turns { long: &self.long, taken: RefCell::default() }
    }
}

/// The turns of one scan. Only one thread at a time loads something long, because it is in memory twice, as bytes and as text,
/// and giants read by all threads together would fill the memory.
pub(crate) struct Turns<'a> {
    long: &'a Mutex<()>,
    taken: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl Turns<'_> {
    /// Waits for the turn, unless this scan has it already. The turn ends with the scan.
    pub(crate) fn take(&self) {
        let mut taken = self.taken.borrow_mut();
        if taken.is_none() {
            *taken = Some(self.long.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Whether the scan waited for its turn.
    pub(crate) fn is_taken(&self) -> bool {
        self.taken.borrow().is_some()
    }
}

/// A source in its corpus: everything that a [`Content`](crate::content::Content) needs to read it.
#[derive(Clone, Copy)]
pub(crate) struct Handle<'a> {
    /// The number of the source.
    pub(crate) number: u32,
    pub(crate) source: &'a Source,
    pub(crate) shared: &'a Shared,
}

impl<'a> Handle<'a> {
    /// Opens the source and checks that it is still what it was.
    pub(crate) fn reader(&self) -> Result<Reader> {
        self.source.open(self.shared.spool.as_ref())
    }

    /// How the corpus was opened.
    pub(crate) fn options(&self) -> &'a ReadOptions {
        &self.shared.options
    }

    /// Reads the bytes of a record.
    pub(crate) fn load<'b>(&self, place: &Place, bytes: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let out = grown(bytes, place.len as usize);
        self.reader()?.read_exact_at(place.offset, out)?;
        Ok(out)
    }

    /// The error that the source has nothing at `offset`.
    pub(crate) fn no_such_place(&self, offset: u64) -> Error {
        Error::new(ErrorKind::NoSuchPlace { source: self.number, offset })
    }
}
