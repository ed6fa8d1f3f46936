//! Pieces that were used last.

use super::Table;
use super::rows::Rows;
use crate::document::{Document, Place};
use crate::error::Result;
use crate::options::ReadOptions;
use crate::reject::Reject;
use crate::source::Reader;

/// Memory for decoded pieces, for each thread; one piece stays however large it is.
const KEPT_BYTES: usize = 16 << 20;

/// The pieces that one thread used last, decoded.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The last used at the end.
    pieces: Vec<(u32, usize, Rows)>,
}

impl Recent {
    /// Gives the memory back.
    pub(crate) fn clear(&mut self) {
        self.pieces = Vec::new();
    }

    /// Visits the rows of one piece, in order.
    pub(crate) fn scan(
        &mut self,
        table: &Table,
        reader: &Reader,
        (source, piece): (u32, usize),
        options: &ReadOptions,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<()> {
        let rows = self.piece(table, reader, (source, piece))?;
        for at in 0..rows.len() {
            let offset = rows.first_row + at as u64;
            let len = u32::try_from(rows.text_bytes(at)).unwrap_or(u32::MAX);
            visit(Place { source, line: offset, offset, len }, rows.document(at, options));
        }
        Ok(())
    }

    /// One row as a document.
    pub(crate) fn read(
        &mut self,
        table: &Table,
        reader: &Reader,
        place: &Place,
        options: &ReadOptions,
    ) -> Result<Result<Document<'_>, Reject>> {
        let rows = self.piece(table, reader, (place.source, table.piece_of(place.offset)))?;
        Ok(rows.document((place.offset - rows.first_row) as usize, options))
    }

    fn piece(&mut self, table: &Table, reader: &Reader, (source, piece): (u32, usize)) -> Result<&Rows> {
        if let Some(at) = self.pieces.iter().position(|entry| (entry.0, entry.1) == (source, piece)) {
            self.pieces.get_mut(at..).unwrap_or_default().rotate_left(1);
        } else {
            let rows = table.load(reader, piece)?;
            self.make_room(rows.size_bytes());
            self.pieces.push((source, piece, rows));
        }
        match self.pieces.last() {
            Some((_, _, rows)) => Ok(rows),
            None => Err(reader.bad("its rows", "none were decoded")),
        }
    }

    /// Gives up those that were used longest ago.
    fn make_room(&mut self, size_bytes: usize) {
        let mut kept = size_bytes;
        let fits = self.pieces.iter().rev().take_while(|(_, _, rows)| {
            kept += rows.size_bytes();
            kept <= KEPT_BYTES
        });
        let given_up = self.pieces.len() - fits.count();
        self.pieces.drain(..given_up);
    }
}
