//! Tables: rows that are stored by column, in Parquet files and Arrow IPC.
//!
//! A row has no bytes of its own that could be read at a position, so its place is its number in the file. The unit
//! of decoding is a *piece*: a few pages of a row group, or one record batch. A scan decodes pieces one after the
//! other, and only the columns of the texts, the id and the wanted values. If a row is read again, its whole piece is
//! decoded to a temporary file ([`unfolded`](crate::unfolded)), once for all its rows.
//!
//! Output is not made of documents. Whole columns are copied from file to file, so that the types, the nesting and
//! the metadata are the same as in the input ([`parquet`](super::parquet), [`arrow`](super::arrow)).

// If the feature of Parquet or Arrow IPC is off, the code that only this format uses is unused.
#![cfg_attr(not(all(feature = "arrow", feature = "parquet")), allow(unused_imports))]

mod annotations;
mod cells;
mod chosen;
mod content;
mod error;
mod fit;
mod lists;
mod row;
mod rows;
mod schema;
mod selection;
mod shown;
mod values;
mod wanted;
mod way;
mod words;
mod written;

use std::fmt::Debug;
use std::ops::Range;

use arrow_schema::SchemaRef;

pub(crate) use self::annotations::{annotation_column, annotation_field};
pub(crate) use self::cells::{Cells, Level};
pub(super) use self::chosen::chosen_rows;
#[cfg(feature = "parquet")]
pub(super) use self::error::ours;
pub(crate) use self::error::{Foreign, guarded};
pub(crate) use self::fit::{dotted, fit, merged, slices, text_at, unfolded};
pub(crate) use self::row::{TableRow, TextColumn};
pub(crate) use self::rows::TableRows;
pub(crate) use self::schema::column_difference;
pub(crate) use self::selection::{Selection, selections};
pub(crate) use self::shown::{is_scalar, not_json, plain, push_json, push_string};
pub use self::values::written_values;
pub(super) use self::values::{cells, has_dictionary, is_text};
pub(super) use self::wanted::{WantedColumns, wanted};
pub(super) use self::way::{ColumnEnd, ColumnRoute, Step, end_of};
pub(crate) use self::words::{many_of, one_of};
pub(crate) use self::written::{VALUES, days, decimal};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::source::SourceReader;
use crate::sources::TakeBatch;

/// A file of one of the formats that store rows by column.
pub(crate) trait TableFormat: Debug + Send + Sync + 'static {
    /// Decodes the wanted columns of the rows of a piece.
    fn load(&self, reader: &SourceReader, piece: usize, rows: Range<u64>) -> Result<TableRows>;

    /// Returns the names of the top-level columns.
    fn columns(&self) -> Vec<&str>;

    /// Returns the columns as an Arrow schema.
    fn schema(&self, reader: &SourceReader) -> Result<SchemaRef>;

    /// Passes rows of the file to `take` as record batches.
    fn batches(
        &self,
        reader: &SourceReader,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()>;

    /// Returns the reason why this file and another cannot be written as one; `None` if they can.
    fn difference(&self, other: &Self) -> Option<String>;
}

/// State of a Parquet or Arrow file after opening: its pieces, its number of rows and its schema.
#[derive(Debug)]
pub(crate) struct OpenTable<F> {
    /// Pieces, in the order of their rows. No piece is empty.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) rows: u64,
    pub(crate) form: F,
}

/// Rows that are decoded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) first_row: u64,
    /// Approximate size of the texts of the piece, in bytes.
    pub(crate) size_bytes: u64,
}

impl<F> OpenTable<F> {
    fn piece_rows(&self, piece: usize) -> Range<u64> {
        let first = |piece: usize| self.pieces.get(piece).map_or(self.rows, |piece| piece.first_row);
        first(piece)..first(piece + 1)
    }

    /// Returns the number of the piece that a row lies in.
    fn piece_of(&self, row: u64) -> usize {
        self.pieces.partition_point(|piece| piece.first_row <= row).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_their_pieces() {
        let piece = |first_row| Piece { first_row, size_bytes: 1 };
        let table = OpenTable { pieces: vec![piece(0), piece(3), piece(4)], rows: 9, form: () };
        let found: Vec<usize> = (0..9).map(|row| table.piece_of(row)).collect();
        assert_eq!(found, [0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!([0, 1, 2].map(|piece| table.piece_rows(piece)), [0..3, 3..4, 4..9]);
    }
}
