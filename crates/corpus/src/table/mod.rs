//! Tables: rows that are stored by column, in Parquet files and Arrow IPC.
//!
//! A row has no bytes of its own that could be read at a position, so its place is its number in the file. What can be
//! decoded is a *piece*: a few pages of a row group, or one record batch. A scan decodes pieces one after the other,
//! and only the columns of the text, the id and wanted values. A row that is read again has its whole piece [`unfolded`] to a
//! temporary file, once for all rows of it.
//!
//! What is written never goes through documents: whole columns are copied from file to file, so that the types,
//! the nesting and the metadata are those of the input. [`parquet`] says how, and [`arrow`].

mod arrow;
mod cells;
mod compression;
mod error;
mod parquet;
mod row;
mod rows;
mod schema;
mod selection;
mod unfolded;
mod written;

use std::ops::Range;

use arrow_schema::{DataType, Field};

pub(crate) use self::arrow::{annotate_arrow, copy_arrow};
pub use self::compression::TableCompression;
pub(crate) use self::parquet::{annotate_parquet, copy_parquet};
use self::rows::Rows;
pub(crate) use self::schema::{refuse_column, refuse_unlike};
pub(crate) use self::unfolded::Unfolded;
use crate::document::{Document, Place};
use crate::error::Result;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::output::MEMBER;
use crate::reject::Reject;
use crate::source::Reader;

/// A table, as far as it is remembered.
#[derive(Debug)]
pub(crate) struct Table {
    /// In the order of their rows; none is empty.
    pieces: Vec<Piece>,
    rows: u64,
    form: Form,
}

/// Rows that are decoded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    first_row: u64,
    /// About how many bytes its text has.
    size_bytes: u64,
}

#[derive(Debug)]
enum Form {
    Parquet(parquet::File),
    Arrow(arrow::File),
}

impl Table {
    /// Reads what the file says about itself and finds its pieces.
    pub(crate) fn open(reader: &Reader, format: Format, options: &ReadOptions) -> Result<Self> {
        let (pieces, rows, form) = if format == Format::Parquet {
            let (file, pieces, rows) = parquet::File::open(reader, options)?;
            (pieces, rows, Form::Parquet(file))
        } else {
            let (file, pieces, rows) = arrow::File::open(reader, options)?;
            (pieces, rows, Form::Arrow(file))
        };
        Ok(Self { pieces, rows, form })
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// How many pieces there are.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// About how many bytes of text a piece has.
    pub(crate) fn piece_bytes(&self, piece: usize) -> u64 {
        self.pieces.get(piece).map_or(0, |piece| piece.size_bytes)
    }

    /// The rows of a piece.
    pub(crate) fn piece_rows(&self, piece: usize) -> Range<u64> {
        let first = |piece: usize| self.pieces.get(piece).map_or(self.rows, |piece| piece.first_row);
        first(piece)..first(piece + 1)
    }

    /// The piece a row lies in.
    fn piece_of(&self, row: u64) -> usize {
        self.pieces.partition_point(|piece| piece.first_row <= row).saturating_sub(1)
    }

    /// Decodes the wanted columns of the rows of a piece.
    fn load(&self, reader: &Reader, piece: usize) -> Result<Rows> {
        let rows = self.piece_rows(piece);
        match &self.form {
            Form::Parquet(file) => file.load(reader, rows),
            Form::Arrow(file) => file.load(reader, piece, rows.start),
        }
    }

    /// Visits the rows of one piece, in order. Their lines are their numbers in the table.
    pub(crate) fn scan(
        &self,
        reader: &Reader,
        (source, piece): (u32, usize),
        options: &ReadOptions,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<()> {
        let rows = self.load(reader, piece)?;
        for (number, row) in rows.iter().enumerate() {
            let offset = rows.first_row + number as u64;
            let len = u32::try_from(row.text_bytes()).unwrap_or(u32::MAX);
            let document =
                row.document(options).map(|found| Document { values: rows.values(number), ..found });
            visit(Place { source, line: offset, offset, len }, document);
        }
        Ok(())
    }

    /// Reads one row again.
    pub(crate) fn read<'b>(
        &self,
        reader: &Reader,
        place: &Place,
        options: &ReadOptions,
        unfolded: &Unfolded,
        bytes: &'b mut Vec<u8>,
    ) -> Result<Result<Document<'b>, Reject>> {
        let piece = self.piece_of(place.offset);
        let key = (place.source, piece);
        let row = (place.offset - self.piece_rows(piece).start) as usize;
        let stored = match unfolded.get(key) {
            Some(stored) => stored,
            None => unfolded.store(key, &self.load(reader, piece)?)?,
        };
        Ok(stored.read(row, options.text_fields.len(), bytes)?.document(options))
    }

    fn as_parquet(&self) -> Option<&parquet::File> {
        match &self.form {
            Form::Parquet(file) => Some(file),
            Form::Arrow(_) => None,
        }
    }

    fn as_arrow(&self) -> Option<&arrow::File> {
        match &self.form {
            Form::Arrow(file) => Some(file),
            Form::Parquet(_) => None,
        }
    }
}

/// The column that an annotation becomes, as Arrow describes it.
fn annotation_field() -> Field {
    let members = vec![
        Field::new("cluster", DataType::Utf8, false),
        Field::new("duplicate_of", DataType::Utf8, true),
        Field::new("similarity", DataType::Float64, true),
    ];
    Field::new(MEMBER, DataType::Struct(members.into()), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Columns;

    #[test]
    fn rows_are_found_in_their_pieces() {
        let piece = |first_row| Piece { first_row, size_bytes: 1 };
        let form = Form::Arrow(arrow::File::empty(Columns::default()));
        let table = Table { pieces: vec![piece(0), piece(3), piece(4)], rows: 9, form };
        let found: Vec<usize> = (0..9).map(|row| table.piece_of(row)).collect();
        assert_eq!(found, [0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!([0, 1, 2].map(|piece| table.piece_rows(piece)), [0..3, 3..4, 4..9]);
    }
}
