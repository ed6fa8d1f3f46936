//! The rows of a piece, decoded.

use super::cells::Cells;
use super::row::Row;

/// The text and the id of some rows.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) first_row: u64,
    /// One column for each text field.
    pub(super) texts: Vec<Cells>,
    pub(super) id: Option<Cells>,
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
}
