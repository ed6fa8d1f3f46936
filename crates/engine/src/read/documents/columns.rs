//! Columns of consecutive documents, in memory.

use std::ops::Range;

use minwise::sketch::Sketches;
use minwise_corpus::RecordPlace;

/// Share of the reserved rows whose memory is touched ahead.
const AHEAD_SHARE: usize = 16;

/// Number of words that a row of each column takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowShape {
    /// Number of 32-bit words that are kept per sketch.
    pub words: usize,
    /// Number of 32-bit words per sketch of positions, if the setting `order` needs one.
    pub placed_words: Option<usize>,
    /// Number of 64-bit words for the ranks of a document in keeper order.
    pub rank_words: usize,
}

/// Kind of comparison that a document takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonKind {
    /// A text without shingles, which equals only documents with the same text.
    Empty = 0,
    /// A text with shingles.
    Shingled = 1,
    /// A null text: the record is kept, and compared with nothing.
    Null = 2,
    /// A skipped record, which is no document: it is written with the kept documents, and compared with nothing.
    Skipped = 3,
}

impl ComparisonKind {
    /// Returns the kind with this code.
    pub(super) fn of(byte: u8) -> Option<Self> {
        [Self::Empty, Self::Shingled, Self::Null, Self::Skipped].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Values of a document that is added to the columns.
pub(crate) struct NewRow<'a> {
    pub place: RecordPlace,
    pub id: Option<&'a str>,
    pub kind: ComparisonKind,
    /// Key that two documents share if their shingles are equal, or if neither has shingles and their texts are equal.
    pub equality_key: u128,
}

/// Columns of consecutive documents: one column per property, one row per document.
#[derive(Debug)]
pub(crate) struct DocumentColumns {
    pub(super) places: Vec<RecordPlace>,
    /// Ranks of each document by the keeper policy, `rank_words` words per document.
    pub(super) ranks: Vec<u64>,
    rank_words: usize,
    pub(super) kinds: Vec<ComparisonKind>,
    /// The user's ids, concatenated; `id_ends` has the end offset of each id. The id of a document without an id is
    /// empty.
    pub(super) ids: String,
    pub(super) id_ends: Vec<u64>,
    pub(super) equality_keys: Vec<u128>,
    /// The part of each sketch that is kept, in the layout of [`RowLayout`](crate::rows::RowLayout).
    pub(super) rows: Sketches,
    pub(super) placed_rows: Option<Sketches>,
    /// Number of rows whose memory is touched.
    touched: usize,
    /// Whether `rows` also holds the rows of earlier documents, borrowed by [`lend_rows`](Self::lend_rows).
    is_borrower: bool,
}

impl DocumentColumns {
    pub(crate) fn new(shape: RowShape) -> Self {
        Self {
            places: vec![],
            ranks: vec![],
            rank_words: shape.rank_words,
            kinds: vec![],
            ids: String::new(),
            id_ends: vec![],
            equality_keys: vec![],
            rows: Sketches::new(shape.words),
            placed_rows: shape.placed_words.map(Sketches::new),
            touched: 0,
            is_borrower: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn shape(&self) -> RowShape {
        RowShape {
            words: self.rows.registers(),
            placed_words: self.placed_rows.as_ref().map(Sketches::registers),
            rank_words: self.rank_words,
        }
    }

    /// Returns the place of the first document.
    pub(crate) fn first_place(&self) -> Option<RecordPlace> {
        self.places.first().copied()
    }

    /// Returns the place of the first record that has shingles, is null or was skipped.
    pub(crate) fn first_shingled(&self) -> Option<RecordPlace> {
        self.places
            .iter()
            .zip(&self.kinds)
            .find(|(_, kind)| **kind != ComparisonKind::Empty)
            .map(|(place, _)| *place)
    }

    /// Appends a document with its ranks. Returns its two rows, which the caller must fill.
    pub(crate) fn add(
        &mut self,
        new: &NewRow<'_>,
        rank: impl FnOnce(&mut Vec<u64>),
    ) -> (&mut [u32], Option<&mut [u32]>) {
        rank(&mut self.ranks);
        self.places.push(new.place);
        self.kinds.push(new.kind);
        self.ids.push_str(new.id.unwrap_or_default());
        self.id_ends.push(self.ids.len() as u64);
        self.equality_keys.push(new.equality_key);
        (self.rows.push(), self.placed_rows.as_mut().map(Sketches::push))
    }

    /// Reserves memory for `documents` more documents.
    pub(crate) fn reserve(&mut self, documents: usize) {
        // Errors are ignored, because the columns can still grow step by step.
        let _ = self.places.try_reserve(documents);
        let _ = self.ranks.try_reserve(documents * self.rank_words);
        let _ = self.kinds.try_reserve(documents);
        let _ = self.id_ends.try_reserve(documents);
        let _ = self.equality_keys.try_reserve(documents);
        if self.is_borrower {
            return;
        }
        self.rows.reserve(documents);
        if let Some(rows) = &mut self.placed_rows {
            rows.reserve(documents);
        }
    }

    /// Touches reserved memory for the rows of the next `documents` documents, with `threads` threads, and some memory
    /// ahead of it.
    ///
    /// One thread appends the parts of all threads. On sixteen threads, half of the time for reading short documents
    /// passed while the system provided the pages of the rows to this thread.
    pub(crate) fn touch_ahead(&mut self, documents: usize, threads: usize) {
        /// Maximum number of bytes ahead of the rows, because unused rows would count as memory of the run.
        const MOST_BYTES: usize = 64 << 20;
        /// Minimum number of bytes, because starting threads for fewer takes longer than touching them.
        const LEAST_BYTES: usize = 8 << 20;
        let row_bytes = (self.rows.registers() * size_of::<u32>()).max(1);
        let ahead_bytes = (self.rows.capacity() / AHEAD_SHARE * row_bytes).min(MOST_BYTES);
        let end = self.rows.len() + documents;
        if end <= self.touched || ahead_bytes < LEAST_BYTES {
            return;
        }
        let rows = documents.max(ahead_bytes / row_bytes);
        self.rows.touch(rows, threads);
        self.touched = self.rows.len() + rows;
    }

    /// Appends the documents of a part. `first_line` is added to their line numbers, because each part counts lines
    /// from 0.
    pub(crate) fn append(&mut self, part: &mut Self, first_line: u64) {
        for place in &mut part.places {
            place.line += first_line;
        }
        self.places.append(&mut part.places);
        self.ranks.append(&mut part.ranks);
        self.kinds.append(&mut part.kinds);
        let ids = self.ids.len() as u64;
        self.ids.push_str(&part.ids);
        self.id_ends.extend(part.id_ends.iter().map(|end| end + ids));
        self.equality_keys.append(&mut part.equality_keys);
        if part.is_borrower {
            self.swap_rows(part);
            part.is_borrower = false;
            return;
        }
        self.rows.append(&mut part.rows);
        if let (Some(rows), Some(part)) = (&mut self.placed_rows, &mut part.placed_rows) {
            rows.append(part);
        }
    }

    /// Swaps the rows into empty columns. These columns append their rows behind the swapped rows, until
    /// [`append`](Self::append) swaps all rows back. Rows take nine tenths of a document's bytes, so only the small
    /// columns are copied.
    pub(super) fn lend_rows(&mut self, borrower: &mut Self) {
        // Without rows there is nothing to save, and a swap would lose memory that `reserve` has reserved.
        if self.len() > 0 {
            self.swap_rows(borrower);
            borrower.is_borrower = true;
        }
    }

    fn swap_rows(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.rows, &mut other.rows);
        std::mem::swap(&mut self.placed_rows, &mut other.placed_rows);
    }

    /// Removes all documents, but keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.ranks.clear();
        self.kinds.clear();
        self.ids.clear();
        self.id_ends.clear();
        self.equality_keys.clear();
        self.rows.clear();
        if let Some(rows) = &mut self.placed_rows {
            rows.clear();
        }
    }

    /// Returns the number of bytes that the documents take.
    pub(crate) fn size_bytes(&self) -> u64 {
        let words = self.rows.registers() + self.placed_rows.as_ref().map_or(0, Sketches::registers);
        let fixed =
            size_of::<RecordPlace>() + size_of::<ComparisonKind>() + size_of::<u64>() + size_of::<u128>();
        (self.len() * (fixed + words * size_of::<u32>()) + 8 * self.ranks.len() + self.ids.len()) as u64
    }

    pub(super) fn user_id(&self, at: usize) -> Option<&str> {
        let begin = at.checked_sub(1).map_or(0, |before| self.id_ends[before]) as usize;
        let id = &self.ids[begin..self.id_ends[at] as usize];
        (!id.is_empty()).then_some(id)
    }

    /// Returns the kept sketch rows of a range of documents.
    pub(super) fn rows(&self, documents: Range<usize>) -> impl Iterator<Item = &[u32]> {
        documents.map(|at| self.rows.row(at))
    }
}
