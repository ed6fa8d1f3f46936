//! Reads a column of a record batch in place.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;

use crate::container::table::{Cells, ColumnEnd, TextColumn, cells, is_text, text_at};

/// A column of a record batch.
#[derive(Debug)]
pub(super) enum MemoryColumn {
    /// A column with one value per row, read in place.
    Plain {
        array: ArrayRef,
        /// Rows in which one of the structs around the column is null.
        nulls: Option<NullBuffer>,
    },
    /// Texts in lists, which are joined when a row is read.
    Lists(Cells),
}

impl MemoryColumn {
    pub(super) fn new(end: ColumnEnd) -> Self {
        let ColumnEnd { array, nulls, levels } = end;
        if levels.is_empty() {
            return Self::Plain { array, nulls };
        }
        Self::Lists(cells(&*array, nulls.as_ref()).in_lists(levels))
    }

    /// Makes a column of texts that lie in no struct and no list.
    pub(super) fn of_array(array: ArrayRef) -> Self {
        Self::Plain { array, nulls: None }
    }

    /// Borrows the text of a row; `None` for null, and for texts in lists.
    pub(super) fn lent(&self, row: usize) -> Option<&str> {
        let Self::Plain { array, nulls } = self else { return None };
        let there = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        there.then(|| text_at(&**array, row)).flatten()
    }

    /// Returns the values of some rows as texts. Texts are borrowed; values of other types are written as texts once
    /// for all rows.
    pub(super) fn values(&self, rows: Range<usize>) -> ColumnValues<'_> {
        match self {
            Self::Plain { array, nulls } if !is_text(array.data_type()) => {
                let nulls = nulls.as_ref().map(|nulls| nulls.slice(rows.start, rows.len()));
                ColumnValues::Written(cells(&*array.slice(rows.start, rows.len()), nulls.as_ref()))
            }
            // A column of lists has no values here, because ids and values never lie in lists.
            Self::Plain { .. } | Self::Lists(_) => ColumnValues::Lent(self, rows.start),
        }
    }
}

impl TextColumn for MemoryColumn {
    fn text(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Plain { .. } => self.lent(row).map(|text| Cow::Borrowed(text.as_bytes())),
            Self::Lists(cells) => cells.text(row),
        }
    }

    fn text_bytes(&self, row: usize) -> u64 {
        match self {
            Self::Plain { .. } => self.lent(row).map_or(0, |text| text.len() as u64),
            Self::Lists(cells) => cells.text_bytes(row),
        }
    }

    fn has_lists(&self) -> bool {
        matches!(self, Self::Lists(_))
    }
}

/// The values of some rows of a column.
pub(super) enum ColumnValues<'c> {
    /// Borrowed values of the column, from this row on.
    Lent(&'c MemoryColumn, usize),
    Written(Cells),
}

impl ColumnValues<'_> {
    /// Returns the value number `at`, counted from 0; `None` for null.
    pub(super) fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Lent(column, first) => column.lent(first + at).map(str::as_bytes),
            Self::Written(cells) => cells.get(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::{Int8Type, UInt64Type};
    use arrow_array::{DictionaryArray, Int64Array, LargeStringArray, StringArray, StringViewArray};

    use super::*;

    #[test]
    fn texts_of_every_type_are_lent() {
        let texts =
            [Some("a"), None, Some(""), Some("a longer text, which a view does not hold inline: 文本")];
        // The third value of this dictionary is null, so that a row can be null although its key is not.
        let values = Arc::new(StringArray::from(vec![texts[0], texts[2], None, texts[3]]));
        let keys = vec![0_u64, 2, 1, 3].into();
        let arrays: [ArrayRef; 5] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(LargeStringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
            Arc::new(DictionaryArray::<UInt64Type>::new(keys, values)),
        ];
        for array in arrays {
            let column = MemoryColumn::of_array(Arc::clone(&array));
            let found: Vec<Option<&str>> = (0..4).map(|row| column.lent(row)).collect();
            assert_eq!(found, texts, "{}", array.data_type());
            let sliced = MemoryColumn::of_array(array.slice(2, 2));
            assert_eq!([sliced.lent(0), sliced.lent(1)], [texts[2], texts[3]], "{}", array.data_type());
            let lent = column.values(2..4);
            assert_eq!(lent.get(1), texts[3].map(str::as_bytes));
        }
    }

    #[test]
    fn values_of_other_types_are_written_as_texts() {
        let column = MemoryColumn::of_array(Arc::new(Int64Array::from(vec![Some(1), None, Some(-3)])));
        let values = column.values(1..3);
        assert_eq!((values.get(0), values.get(1)), (None, Some(&b"-3"[..])));
    }

    #[test]
    fn a_member_of_nothing_is_nothing() {
        let nulls = Some(NullBuffer::from(vec![false, true]));
        let column = MemoryColumn::Plain { array: Arc::new(StringArray::from(vec!["a", "b"])), nulls };
        assert_eq!((column.lent(0), column.lent(1)), (None, Some("b")));
    }
}
