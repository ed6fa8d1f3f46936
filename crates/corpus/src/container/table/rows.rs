//! The rows of a piece, decoded.

use std::borrow::Cow;

use super::cells::Cells;
use super::row::TableRow;

/// The texts, the id and the values of some rows.
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
    /// All rows, in order, with texts up to a limit of bytes.
    pub(crate) fn iter(&self, limit: u64) -> impl Iterator<Item = TableRow<'_>> {
        (0..self.len()).map(move |row| self.row(row, limit))
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.texts.first().map_or(0, Cells::len)
    }

    /// The row number `row` of the piece, counted from 0, with texts up to a limit of bytes.
    pub(crate) fn row(&self, row: usize, limit: u64) -> TableRow<'_> {
        TableRow::of(&self.texts, row, self.id.as_ref().and_then(|id| id.get(row)), limit)
    }

    /// The values of a row. Null is an empty text, because every row of the table has the column.
    pub(crate) fn values(&self, row: usize) -> Vec<Option<Cow<'_, str>>> {
        let text = self.values.iter().map(|cells| cells.get(row).unwrap_or_default());
        text.map(|text| Some(String::from_utf8_lossy(text))).collect()
    }
}
