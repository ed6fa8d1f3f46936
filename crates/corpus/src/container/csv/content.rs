//! Reads delimited records, as the content of a source.

use std::any::Any;

use arrow_schema::SchemaRef;

use super::open::Delimited;
use super::scan::{document, scan};
use crate::document::{Document, DocumentText, RecordPlace};
use crate::error::Result;
use crate::reject::{Reject, RejectReason};
use crate::scratch::Scratch;
use crate::source::Source;
use crate::sources::{
    Content, CutPoints, LoadTurns, PieceSize, RecordVisitor, ScannedLines, SourceHandle, SourcePart,
    TakeBatch,
};

impl Content for Delimited {
    fn cuts(&self, _source: &Source) -> CutPoints {
        let size = |(from, to): (&u64, &u64)| PieceSize { decoded_bytes: to - from, stored_bytes: to - from };
        CutPoints::Pieces(self.cuts.iter().zip(self.cuts.iter().skip(1)).map(size).collect())
    }

    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        _turns: &LoadTurns<'_>,
        scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        let reader = handle.reader()?;
        let pieces = match part {
            SourcePart::Pieces(pieces) if pieces.end <= self.pieces() => pieces.clone(),
            SourcePart::Pieces(_) | SourcePart::Bytes(_) | SourcePart::Whole => {
                return Err(handle.no_such_place(0));
            }
        };
        let visit = &mut |place, document: Result<Document<'_>, Reject>| {
            visit(place, document.map(|document| document.with_text(DocumentText::Whole)));
        };
        scan(self, &reader, handle.number, pieces, handle.options(), &mut scratch.bytes, visit)
            .map(ScannedLines)
    }

    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        let record = handle.load(place, &mut scratch.bytes)?;
        Ok(document(self, record, handle.options())
            .unwrap_or_else(|| Err(Reject::new(RejectReason::NotAnObject))))
    }

    fn schema(&self, _handle: &SourceHandle<'_>) -> Result<Option<SchemaRef>> {
        Ok(Some(self.arrow_schema()))
    }

    fn batches(
        &self,
        handle: &SourceHandle<'_>,
        _schema: &SchemaRef,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        self.arrow_batches(handle, places, take)
    }

    fn header_bytes(&self) -> u64 {
        self.header_bytes
    }

    fn columns(&self) -> Option<Vec<&str>> {
        // An empty source has no header, and fits every other source.
        (self.header_bytes > 0).then(|| self.names.iter().map(String::as_str).collect())
    }

    fn difference(&self, other: &dyn Content) -> Option<String> {
        let other: &Self = (other as &dyn Any).downcast_ref()?;
        if self.names != other.names {
            return Some("their headers are different".to_owned());
        }
        let [first, second] = [self, other].map(|delimited| char::from(delimited.delimiter));
        (first != second).then(|| format!("their fields are separated by {first:?} and by {second:?}"))
    }
}
