//! The rows of a piece, decoded.

use std::borrow::Cow;

use super::cells::Cells;
use super::row::Row;

/// The texts, the id and the values of some rows.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) first_row: u64,
    /// One column for each text field.
    pub(super) texts: Vec<Cells>,
    pub(super) id: Option<Cells>,
    /// One column for each value field.
    pub(super) values: Vec<Cells>,
}

impl Rows {
    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        let count = self.texts.first().map_or(0, Cells::len);
        (0..count).map(|row| self.row(row))
    }

    /// One of them, counted from 0 within the piece.
    pub(super) fn row(&self, row: usize) -> Row<'_> {
        Row {
            texts: self.texts.iter().map(|text| text.get(row)).collect(),
            id: self.id.as_ref().and_then(|id| id.get(row)),
        }
    }

    /// The values of one of them. The columns are there, so that null is an empty text.
    pub(super) fn values(&self, row: usize) -> Vec<Option<Cow<'_, str>>> {
        let text = self.values.iter().map(|cells| cells.get(row).unwrap_or_default());
        text.map(|text| Some(String::from_utf8_lossy(text))).collect()
    }
}
