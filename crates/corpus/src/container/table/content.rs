//! Reads a table, as the content of a source.

use std::any::Any;
use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::row::TableRow;
use super::{OpenTable, TableFormat};
use crate::document::{Document, DocumentText, RecordPlace};
use crate::error::Result;
use crate::reject::Reject;
use crate::scratch::Scratch;
use crate::source::Source;
use crate::sources::{
    Content, CutPoints, LoadTurns, PieceSize, RecordVisitor, ScannedLines, SourceHandle, SourcePart,
    TakeBatch,
};
use crate::unfolded::lost;

impl<F: TableFormat> Content for OpenTable<F> {
    fn cuts(&self, source: &Source) -> CutPoints {
        // The stored size of a piece is estimated by its share of the rows, because no file states how many bytes its
        // rows take.
        let rows = u128::from(self.rows.max(1));
        let before = |row: u64| (u128::from(source.size_bytes()) * u128::from(row) / rows) as u64;
        let sizes = self.pieces.iter().enumerate().map(|(number, piece)| {
            let rows = self.piece_rows(number);
            PieceSize { decoded_bytes: piece.size_bytes, stored_bytes: before(rows.end) - before(rows.start) }
        });
        CutPoints::Pieces(sizes.collect())
    }

    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        _turns: &LoadTurns<'_>,
        _scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        let reader = handle.reader()?;
        let pieces = match part {
            SourcePart::Pieces(pieces) if pieces.end <= self.pieces.len() => pieces.clone(),
            SourcePart::Pieces(_) | SourcePart::Bytes(_) | SourcePart::Whole => {
                return Err(handle.no_such_place(0));
            }
        };
        let (source, options) = (handle.number, handle.options());
        let first_row = self.piece_rows(pieces.start).start;
        for piece in pieces.clone() {
            let rows = self.form.load(&reader, piece, self.piece_rows(piece))?;
            for (number, row) in rows.iter(options.record_limit()).enumerate() {
                let offset = rows.first_row + number as u64;
                let len = u32::try_from(row.text_bytes).unwrap_or(u32::MAX);
                let document = row.document(options).map(|found| {
                    Document { values: rows.values(number), ..found }.with_text(DocumentText::Whole)
                });
                visit(RecordPlace { source, line: offset - first_row, offset, len }, document);
            }
        }
        Ok(ScannedLines(self.piece_rows(pieces.end).start - first_row))
    }

    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        let reader = handle.reader()?;
        let unfolded = &handle.shared.unfolded;
        let piece = self.piece_of(place.offset);
        let key = (place.source, piece);
        let rows = self.piece_rows(piece);
        let number = (place.offset - rows.start) as usize;
        let before = unfolded.get(key);
        let stored = if let Some(stored) = before.as_ref().filter(|stored| stored.has(number)) {
            Arc::clone(stored)
        } else {
            let rows = self.form.load(&reader, piece, rows)?;
            // A piece of which an unexpected row is read is stored as a whole, because more such rows may follow.
            let mut expected = unfolded.expected(place.source, rows.first_row, rows.len());
            if before.is_some() || expected.get(number) != Some(&true) {
                expected.fill(true);
            }
            let limit = handle.options().record_limit();
            unfolded.store(key, rows.len(), |row, bytes| {
                if expected.get(row) == Some(&true) {
                    rows.row(row, limit).push_to(bytes);
                }
            })?
        };
        let options = handle.options();
        let bytes = stored.read(number, &mut scratch.bytes)?;
        Ok(TableRow::from_bytes(bytes, options.text_fields.len()).ok_or_else(lost)?.document(options))
    }

    fn schema(&self, handle: &SourceHandle<'_>) -> Result<Option<SchemaRef>> {
        Ok(Some(self.form.schema(&handle.reader()?)?))
    }

    fn batches(
        &self,
        handle: &SourceHandle<'_>,
        _schema: &SchemaRef,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        self.form.batches(&handle.reader()?, places, take)
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn columns(&self) -> Option<Vec<&str>> {
        Some(self.form.columns())
    }

    fn difference(&self, other: &dyn Content) -> Option<String> {
        let other: &Self = (other as &dyn Any).downcast_ref()?;
        self.form.difference(&other.form)
    }
}
