//! Access to sketch rows in memory and on disk.

use std::ops::Range;

use super::{DocumentLocation, Documents};
use crate::error::Error;

/// Number of bytes of rows on disk that one reader caches.
const CACHE_BYTES: usize = 4 << 20;

/// Number of 32-bit words per cache line.
const LINE_WORDS: usize = 16;

/// Choice between the two rows of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowChoice {
    /// The row of the sketch.
    Sketch,
    /// The row of the sketch of positions, for the setting `order`.
    Placed,
}

impl Documents {
    /// Fills `out` with the sketch rows of consecutive documents; the rows of one segment are read together.
    pub(crate) fn rows_into(&self, mut documents: Range<u32>, out: &mut Vec<u32>) -> Result<(), Error> {
        let words = self.shape.words;
        out.resize(documents.len() * words, 0);
        let mut rest = &mut out[..];
        while !documents.is_empty() {
            let (found, here) = match self.find_document(documents.start) {
                DocumentLocation::Held(columns, at) => {
                    let rows = &columns.rows.as_slice()[at * words..];
                    rest.copy_from_slice(&rows[..rest.len()]);
                    return Ok(());
                }
                DocumentLocation::Stored(segment, at) => {
                    ((segment, at), (segment.documents - at).min(documents.len()))
                }
            };
            let (rows, behind) = rest.split_at_mut(here * words);
            found.0.row_into(found.1, rows)?;
            rest = behind;
            documents.start += here as u32;
        }
        Ok(())
    }
}

/// Reader of rows. Rows from disk are cached, because a document that is compared once is usually compared many times.
#[derive(Debug)]
pub(crate) struct RowReader<'a> {
    documents: &'a Documents,
    which: RowChoice,
    words: usize,
    /// The document in each slot, plus one; 0 marks an empty slot. A document can be in only one of the slots.
    slots: Vec<u32>,
    values: Vec<u32>,
    spare: Vec<u32>,
}

impl<'a> RowReader<'a> {
    pub(crate) fn new(documents: &'a Documents, which: RowChoice) -> Self {
        let shape = documents.shape();
        let words = match which {
            RowChoice::Sketch => shape.words,
            RowChoice::Placed => shape.placed_words.unwrap_or(0),
        };
        Self { documents, which, words, slots: vec![], values: vec![], spare: vec![] }
    }

    /// Loads those rows of `documents` that are in memory into the processor cache.
    ///
    /// A comparison needs the rows of two documents at distant addresses, and starts only after the previous
    /// comparison. Without this call, the processor would wait for memory once per row. These reads do not depend on
    /// each other, so they run at the same time.
    pub(crate) fn warm(&self, documents: impl Iterator<Item = u32>) {
        let mut sum = 0u32;
        for document in documents {
            if let DocumentLocation::Held(columns, at) = self.documents.find_document(document) {
                let row = held(columns, at, self.which);
                sum = row.iter().step_by(LINE_WORDS).fold(sum, |sum, &word| sum.wrapping_add(word));
            }
        }
        // Without `black_box`, the compiler would remove the reads, because nothing uses their sum.
        std::hint::black_box(sum);
    }

    pub(crate) fn row(&mut self, document: u32) -> Result<&[u32], Error> {
        if let DocumentLocation::Held(columns, at) = self.documents.find_document(document) {
            return Ok(held(columns, at, self.which));
        }
        let at = self.load(document)?;
        Ok(&self.values[at..at + self.words])
    }

    /// Returns the rows of two documents.
    pub(crate) fn pair(&mut self, a: u32, b: u32) -> Result<(&[u32], &[u32]), Error> {
        let (documents, which) = (self.documents, self.which);
        let held = |document| match documents.find_document(document) {
            DocumentLocation::Held(columns, at) => Some(held(columns, at, which)),
            DocumentLocation::Stored(..) => None,
        };
        match (held(a), held(b)) {
            (Some(a), Some(b)) => Ok((a, b)),
            (Some(a), None) => Ok((a, self.row(b)?)),
            (None, Some(b)) => Ok((self.row(a)?, b)),
            (None, None) => {
                // The first row is copied, because both documents may have the same slot.
                let mut spare = std::mem::take(&mut self.spare);
                spare.clear();
                spare.extend_from_slice(self.row(a)?);
                self.spare = spare;
                let at = self.load(b)?;
                Ok((&self.spare, &self.values[at..at + self.words]))
            }
        }
    }

    /// Loads a row from disk into its slot if it is not there, and returns its offset in `values`.
    fn load(&mut self, document: u32) -> Result<usize, Error> {
        if self.slots.is_empty() {
            let slots = (CACHE_BYTES / (4 * self.words.max(1))).max(1);
            self.slots = vec![0; slots];
            self.values = vec![0; slots * self.words];
        }
        let slot = document as usize % self.slots.len();
        let at = slot * self.words;
        if self.slots[slot] != document + 1 {
            let DocumentLocation::Stored(segment, place) = self.documents.find_document(document) else {
                unreachable!("rows in memory are not loaded")
            };
            let out = &mut self.values[at..at + self.words];
            self.slots[slot] = 0;
            match self.which {
                RowChoice::Sketch => segment.row_into(place, out)?,
                RowChoice::Placed => segment.placed_row_into(place, out)?,
            }
            self.slots[slot] = document + 1;
        }
        Ok(at)
    }
}

fn held(columns: &super::DocumentColumns, at: usize, which: RowChoice) -> &[u32] {
    match which {
        RowChoice::Sketch => columns.rows.row(at),
        RowChoice::Placed => columns.placed_rows.as_ref().map_or(&[], |rows| rows.row(at)),
    }
}
