//! Holds the values of a column of a piece.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(feature = "parquet")]
use ::parquet::data_type::{AsBytes, ByteArray};

use super::row::TextColumn;
use crate::field::BETWEEN_ELEMENTS;

/// Values of one column as bytes. A value that the column stores once for many rows is stored once in `Cells`, too.
///
/// Texts in lists are joined one row at a time, when a row is read. If all rows were joined at once, a dictionary
/// value would take memory once per row that has it.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    bytes: Vec<u8>,
    values: Vec<ArrowCell>,
    /// Levels of lists around the cells, the outermost first; no levels if each row has one cell.
    levels: Vec<Level>,
}

/// For each list, the range of its elements among the lists of the next level, or among the cells; `None` if the list
/// is null.
pub(crate) type Level = Vec<Option<Range<usize>>>;

#[derive(Clone, Debug)]
enum ArrowCell {
    Null,
    /// A value that was copied to `bytes`.
    Here(Range<usize>),
    /// A value in place, where it was decoded: in a page, or in the dictionary of all pages of the column chunk.
    #[cfg(feature = "parquet")]
    There(ByteArray),
}

impl Cells {
    /// Adds a copy of a value.
    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        let cell = value.map(|value| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(value);
            ArrowCell::Here(start..self.bytes.len())
        });
        self.values.push(cell.unwrap_or(ArrowCell::Null));
    }

    /// Returns the values at `places`, in the order of `places`.
    pub(crate) fn picked(self, places: impl Iterator<Item = Option<usize>>) -> Self {
        let cell = |place: Option<usize>| place.and_then(|place| self.values.get(place)).cloned();
        let values = places.map(|place| cell(place).unwrap_or(ArrowCell::Null)).collect();
        Self { bytes: self.bytes, values, levels: vec![] }
    }

    /// Makes the cells the elements of lists.
    pub(crate) fn in_lists(self, levels: Vec<Level>) -> Self {
        Self { levels, ..self }
    }

    /// Visits the texts in a list, in order. If `level` is behind the last level, visits the text of a cell.
    fn each_text<'c>(&'c self, level: usize, number: usize, visit: &mut dyn FnMut(&'c [u8])) {
        let Some(lists) = self.levels.get(level) else {
            return self.get(number).into_iter().for_each(visit);
        };
        for element in lists.get(number).cloned().flatten().into_iter().flatten() {
            self.each_text(level + 1, element, visit);
        }
    }

    /// Returns the value of a cell, counted from 0; `None` for null. If there are no lists, each row is a cell.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        match self.values.get(row)? {
            ArrowCell::Null => None,
            ArrowCell::Here(span) => self.bytes.get(span.clone()),
            #[cfg(feature = "parquet")]
            ArrowCell::There(value) => Some(value.as_bytes()),
        }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.levels.first().map_or(self.values.len(), Vec::len)
    }
}

impl TextColumn for Cells {
    fn text(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        let Some(first) = self.levels.first() else { return self.get(row).map(Cow::Borrowed) };
        first.get(row)?.as_ref()?;
        let mut joined = Vec::with_capacity(usize::try_from(self.text_bytes(row)).unwrap_or(0));
        let mut is_first = true;
        self.each_text(0, row, &mut |text| {
            if !std::mem::take(&mut is_first) {
                joined.extend_from_slice(BETWEEN_ELEMENTS.as_bytes());
            }
            joined.extend_from_slice(text);
        });
        Some(Cow::Owned(joined))
    }

    fn text_bytes(&self, row: usize) -> u64 {
        if self.levels.is_empty() {
            return self.get(row).map_or(0, |text| text.len() as u64);
        }
        let (mut bytes, mut texts) = (0, 0u64);
        self.each_text(0, row, &mut |text| {
            bytes += text.len() as u64;
            texts += 1;
        });
        bytes + texts.saturating_sub(1) * BETWEEN_ELEMENTS.len() as u64
    }

    fn has_lists(&self) -> bool {
        !self.levels.is_empty()
    }
}

#[cfg(feature = "parquet")]
impl FromIterator<Option<ByteArray>> for Cells {
    fn from_iter<I: IntoIterator<Item = Option<ByteArray>>>(values: I) -> Self {
        let values =
            values.into_iter().map(|value| value.map_or(ArrowCell::Null, ArrowCell::There)).collect();
        Self { values, ..Self::default() }
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
    fn texts_in_lists_are_joined() {
        let texts = [Some("a"), None, Some(""), Some("中文"), Some("d")];
        let cells: Cells = texts.map(|text| text.map(ToOwned::to_owned)).into_iter().collect();
        // Lists may share elements, as two of these do.
        let inner = vec![Some(0..2), Some(2..4), None, Some(4..5), Some(1..2)];
        let cells = cells.in_lists(vec![vec![Some(0..3), None, Some(0..0), Some(3..4), Some(3..5)], inner]);
        let found = [0, 1, 2, 3, 4, 5].map(|row| cells.text(row));
        let found =
            found.each_ref().map(|text| text.as_deref().map(|text| std::str::from_utf8(text).unwrap()));
        assert_eq!(found, [Some("a\n\n\n\n中文"), None, Some(""), Some("d"), Some("d"), None]);
        assert_eq!([0, 1, 2, 3].map(|row| cells.text_bytes(row)), [11, 0, 0, 1]);
        assert_eq!(cells.len(), 5);
    }

    #[test]
    fn repeated_values_are_stored_once() {
        let mut values = Cells::default();
        values.push(Some(b"ab"));
        values.push(None);
        let cells = values.picked([Some(1), Some(0), None, Some(0), Some(2)].into_iter());
        let found = [0, 1, 2, 3, 4].map(|row| cells.get(row));
        assert_eq!(found, [None, Some(&b"ab"[..]), None, Some(b"ab"), None]);
        assert_eq!(cells.bytes, b"ab");
    }
}
