//! Holds the decoded rows of a piece.

use std::borrow::Cow;

use super::cells::Cells;
use super::row::TableRow;

/// Texts, ids and values of some rows.
#[derive(Debug)]
pub(crate) struct TableRows {
    pub(crate) first_row: u64,
    /// The column of each text field.
    pub(crate) texts: Vec<Cells>,
    pub(crate) id: Option<Cells>,
    /// The column of each value field.
    pub(crate) values: Vec<Cells>,
}

impl TableRows {
    /// Iterates over all rows, in order. `limit` is the maximum size of a text, in bytes.
    pub(crate) fn iter(&self, limit: u64) -> impl Iterator<Item = TableRow<'_>> {
        (0..self.len()).map(move |row| self.row(row, limit))
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.texts.first().map_or(0, Cells::len)
    }

    /// Returns the row number `row` of the piece, counted from 0. `limit` is the maximum size of a text, in bytes.
    pub(crate) fn row(&self, row: usize, limit: u64) -> TableRow<'_> {
        TableRow::of(&self.texts, row, self.id.as_ref().and_then(|id| id.get(row)), limit)
    }

    /// Returns the values of a row. Null is an empty text, because every row of the table has the column.
    pub(crate) fn values(&self, row: usize) -> Vec<Option<Cow<'_, str>>> {
        let text = self.values.iter().map(|cells| cells.get(row).unwrap_or_default());
        text.map(|text| Some(String::from_utf8_lossy(text))).collect()
    }
}
