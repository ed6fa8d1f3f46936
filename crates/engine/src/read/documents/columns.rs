//! What is remembered of consecutive documents, in memory.

use std::ops::Range;

use minwise::sketch::Sketches;
use minwise_corpus::RecordPlace;

use crate::rows::RowLayout;

/// What rows look like, and so what a column of them takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowShape {
    /// Words that are kept of a sketch.
    pub words: usize,
    /// Words that say where shingles stand, if that matters.
    pub placed_words: Option<usize>,
    /// Words of 64 bits that say where a document stands in keeper order.
    pub rank_words: usize,
}

/// What a document has to be compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonKind {
    /// A text without shingles, which equals only the same text.
    Empty = 0,
    /// Shingles.
    Shingled = 1,
    /// No text at all: the record is kept, and compared with nothing.
    Null = 2,
    /// No document at all: the record is kept beside the documents, and compared with nothing.
    Skipped = 3,
}

impl ComparisonKind {
    /// The kind that a byte stands for.
    pub(super) fn of(byte: u8) -> Option<Self> {
        [Self::Empty, Self::Shingled, Self::Null, Self::Skipped].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// What is known of a document when it is added.
pub(crate) struct NewRow<'a> {
    pub place: RecordPlace,
    pub id: Option<&'a str>,
    pub kind: ComparisonKind,
    /// Documents with equal keys have equal shingles, or no shingles and equal texts.
    pub equality_key: u128,
}

/// One column a fact; a document is a row across all of them.
#[derive(Debug)]
pub(crate) struct DocumentColumns {
    pub(super) places: Vec<RecordPlace>,
    /// What the rankings of a policy make of each document.
    pub(super) ranks: Vec<u64>,
    rank_words: usize,
    pub(super) kinds: Vec<ComparisonKind>,
    /// The user's ids one after the other, and where each ends; a document without one has none of the bytes.
    pub(super) ids: String,
    pub(super) id_ends: Vec<u64>,
    pub(super) equality_keys: Vec<u128>,
    /// The part of each sketch that is kept, as [`RowLayout`] describes it.
    pub(super) rows: Sketches,
    pub(super) placed_rows: Option<Sketches>,
    /// Whether the rows are borrowed: rows of earlier documents lie before those of the documents here.
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
            is_borrower: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Where the first of them stands.
    pub(crate) fn first_place(&self) -> Option<RecordPlace> {
        self.places.first().copied()
    }

    /// Where the first of them stands that has shingles, or is null.
    pub(crate) fn first_shingled(&self) -> Option<RecordPlace> {
        self.places
            .iter()
            .zip(&self.kinds)
            .find(|(_, kind)| **kind != ComparisonKind::Empty)
            .map(|(place, _)| *place)
    }

    /// Adds a document with its rank; its rows are to be filled.
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

    /// Makes room for this many more documents.
    pub(crate) fn reserve(&mut self, documents: usize) {
        // Without room they grow as they need to.
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

    /// Adds the documents of a part behind these; its lines are numbered from `first_line`.
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

    /// Lends the rows to empty columns, which add theirs behind them until [`append`](Self::append) gives all of them back. Rows
    /// are nine tenths of a document, so that next to nothing is left to be copied.
    pub(super) fn lend_rows(&mut self, borrower: &mut Self) {
        // Where there are no rows yet, there is nothing to be copied, and room may have been made here.
        if self.len() > 0 {
            self.swap_rows(borrower);
            borrower.is_borrower = true;
        }
    }

    fn swap_rows(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.rows, &mut other.rows);
        std::mem::swap(&mut self.placed_rows, &mut other.placed_rows);
    }

    /// Forgets all documents and keeps the room they had.
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

    /// Bytes that the documents take.
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

    /// What is kept of the sketches of some documents.
    pub(super) fn rows(&self, documents: Range<usize>) -> impl Iterator<Item = &[u32]> {
        documents.map(|at| self.rows.row(at))
    }

    /// The keys of one band, of all documents.
    pub(super) fn band_keys(&self, band: usize, rows: &RowLayout) -> impl Iterator<Item = u64> {
        (0..self.len()).map(move |at| rows.key(band, self.rows.row(at)))
    }
}
