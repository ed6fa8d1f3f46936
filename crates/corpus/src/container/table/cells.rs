//! One column of a piece.

use std::ops::Range;

use ::parquet::data_type::{AsBytes, ByteArray};

/// The values of one column as bytes. What a column has once, for many rows, is there once.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    bytes: Vec<u8>,
    cells: Vec<Cell>,
}

#[derive(Clone, Debug)]
enum Cell {
    Null,
    /// Among the bytes.
    Here(Range<usize>),
    /// Where it was decoded: in a page, or in the dictionary of all its pages.
    There(ByteArray),
}

impl Cells {
    /// Puts a copy of a value behind the others.
    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        let cell = value.map(|value| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(value);
            Cell::Here(start..self.bytes.len())
        });
        self.cells.push(cell.unwrap_or(Cell::Null));
    }

    /// The values at some places among these, in that order.
    pub(crate) fn picked(self, places: impl Iterator<Item = Option<usize>>) -> Self {
        let cell = |place: Option<usize>| place.and_then(|place| self.cells.get(place)).cloned();
        let cells = places.map(|place| cell(place).unwrap_or(Cell::Null)).collect();
        Self { bytes: self.bytes, cells }
    }

    /// The value of a row, counted from 0; `None` for null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        match self.cells.get(row)? {
            Cell::Null => None,
            Cell::Here(span) => self.bytes.get(span.clone()),
            Cell::There(value) => Some(value.as_bytes()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }
}

impl FromIterator<Option<ByteArray>> for Cells {
    fn from_iter<I: IntoIterator<Item = Option<ByteArray>>>(values: I) -> Self {
        let cells = values.into_iter().map(|value| value.map_or(Cell::Null, Cell::There)).collect();
        Self { bytes: vec![], cells }
    }
}

impl FromIterator<Option<String>> for Cells {
    fn from_iter<I: IntoIterator<Item = Option<String>>>(values: I) -> Self {
        let mut cells = Self::default();
        for value in values {
            cells.push(value.as_deref().map(str::as_bytes));
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_not_empty() {
        let mut cells = Cells::default();
        for value in [Some(&b"a"[..]), None, Some(b""), Some(b"bc")] {
            cells.push(value);
        }
        assert_eq!(
            [0, 1, 2, 3, 4].map(|row| cells.get(row)),
            [Some(&b"a"[..]), None, Some(b""), Some(b"bc"), None]
        );
        assert_eq!(cells.len(), 4);
    }
    #[test]
    fn what_repeats_is_there_once() {
        let mut values = Cells::default();
        values.push(Some(b"ab"));
        values.push(None);
        let cells = values.picked([Some(1), Some(0), None, Some(0), Some(2)].into_iter());
        let found = [0, 1, 2, 3, 4].map(|row| cells.get(row));
        assert_eq!(found, [None, Some(&b"ab"[..]), None, Some(b"ab"), None]);
        assert_eq!(cells.bytes, b"ab");
    }
}
