//! Reads the records of a WARC file, as the content of a source.

use std::borrow::Cow;
use std::ops::Range;

use super::document;
use super::headers::Headers;
use super::http;
use super::open::{Role, WarcRecords, kind_of};
use super::record::{Bad, RecordKind, WarcRecord, id_of, parse_at};
use crate::container::turn::ReadPass;
use crate::decode::Decoded;
use crate::document::{Document, DocumentText, LONG_BYTES, RecordPlace};
use crate::error::Result;
use crate::extract::FileProperties;
use crate::field::FieldPath;
use crate::members::Alignment;
use crate::options::ReadOptions;
use crate::reject::{Reject, RejectReason};
use crate::scratch::{Scratch, grown};
use crate::source::{Source, SourceReader};
use crate::sources::{
    Content, CutPoints, LoadTurns, PieceSize, RecordVisitor, ScannedLines, SourceHandle, SourcePart,
};

/// Number of bytes of a record over the limit that are read to find its media type. Most HTTP heads are shorter.
const HTTP_HEAD_BYTES: u64 = 16 << 10;

impl Content for WarcRecords {
    fn cuts(&self, _source: &Source) -> CutPoints {
        let size = |numbers: Range<usize>| {
            let bytes = self.bytes_of(&numbers);
            PieceSize { decoded_bytes: bytes, stored_bytes: bytes }
        };
        CutPoints::Pieces(self.pieces().map(size).collect())
    }

    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        turns: &LoadTurns<'_>,
        scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        let numbers = match part {
            SourcePart::Pieces(pieces) if pieces.end <= self.pieces().len() => {
                let mut pieces = self.pieces().skip(pieces.start).take(pieces.len());
                let first = pieces.next().unwrap_or_default();
                first.start..pieces.last().unwrap_or(first).end
            }
            SourcePart::Pieces(_) | SourcePart::Bytes(_) | SourcePart::Whole => {
                return Err(handle.no_such_place(0));
            }
        };
        let reader = handle.reader()?;
        let limit = handle.options().record_limit();
        for (number, bytes, role) in self.records_in(numbers.clone()) {
            let size = bytes.end - bytes.start;
            let place = RecordPlace {
                source: handle.number,
                line: (number - numbers.start) as u64,
                offset: bytes.start,
                len: u32::try_from(size).unwrap_or(u32::MAX),
            };
            match role {
                Role::Companion(_) => {}
                Role::Bad => visit(place, Err(bad(&reader, &place)?)),
                Role::Document if size > limit => {
                    let record = parse_at(&reader, bytes.start)?.ok();
                    let too_large = RejectReason::TooLarge { bytes: size, limit };
                    let reason = match &record {
                        Some(record) => media(&reader, record)?.unwrap_or(too_large),
                        None => too_large,
                    };
                    let id = record.and_then(|record| id(&record.headers, handle.options()));
                    visit(place, Err(Reject { reason, id }));
                }
                Role::Document => {
                    if size > LONG_BYTES {
                        turns.take();
                    }
                    let raw = grown(&mut scratch.bytes, size as usize);
                    reader.read_exact_at(bytes.start, raw)?;
                    let document = find(handle, &place, raw, ReadPass::First)?;
                    visit(place, document.map(|document| document.with_text(DocumentText::Whole)));
                }
            }
        }
        Ok(ScannedLines(numbers.len() as u64))
    }

    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        if !self.has_document(place) {
            return Err(handle.no_such_place(place.offset));
        }
        let Scratch { bytes, decoded, .. } = scratch;
        if let Some(Decoded { text, repaired }) =
            handle.shared.found.read((place.source, place.offset), decoded)?
        {
            let record = parse_at(&handle.reader()?, place.offset)?;
            let id = record.ok().and_then(|record| id(&record.headers, handle.options()));
            return Ok(Ok(Document { id: id.map(Cow::Owned), text, repaired, values: vec![], about: None }));
        }
        let raw = handle.load(place, bytes)?;
        let document = find(handle, place, raw, ReadPass::Again)?;
        Ok(document.map(|document| Document { values: vec![], about: None, ..document }))
    }

    fn shares_members(&self) -> bool {
        match self.alignment {
            Some(Alignment::OneForAll | Alignment::Unaligned) => true,
            Some(Alignment::OnePerRecord) | None => false,
        }
    }

    fn revisits(&self) -> u64 {
        self.count(RecordKind::Revisit)
    }

    fn field_names(
        &self,
        place: &RecordPlace,
        handle: &SourceHandle<'_>,
        _scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        let record = parse_at(&handle.reader()?, place.offset)?;
        Ok(record.map_or_else(
            |_| vec![],
            |record| record.headers.iter().map(|(name, _)| name.to_owned()).collect(),
        ))
    }
}

impl WarcRecords {
    /// Reports whether a document lies at a place.
    fn has_document(&self, place: &RecordPlace) -> bool {
        let number = self.document_at(place.offset);
        let record = number.and_then(|number| self.records_in(number..number + 1).next());
        record.is_some_and(|(_, bytes, _)| bytes.end - bytes.start == u64::from(place.len))
    }
}

/// Returns the reason why a record that is not loaded is no document, if the media type of its HTTP response gives
/// one.
fn media(reader: &SourceReader, record: &WarcRecord) -> Result<Option<RejectReason>> {
    let block = record.block.end - record.block.start;
    let mut head = vec![0; block.min(HTTP_HEAD_BYTES) as usize];
    reader.read_exact_at(record.block.start, &mut head)?;
    Ok(document::of_media(&http::content_type(&head)))
}

/// Returns the id of a record: the header that the id field names, or else `WARC-Record-ID`.
fn id(headers: &Headers, options: &ReadOptions) -> Option<String> {
    let named = headers.get(&options.id_field.to_string()).filter(|id| !id.is_empty());
    named.or_else(|| id_of(headers)).map(ToOwned::to_owned)
}

/// Returns the reject for bytes at a place that are no record.
fn bad(reader: &SourceReader, place: &RecordPlace) -> Result<Reject> {
    Ok(match parse_at(reader, place.offset)? {
        Err(Bad { problem, id, .. }) => Reject { reason: problem.into(), id },
        // The bytes were no record when the source was opened, so the source has changed.
        Ok(_) => return Err(reader.changed()),
    })
}

/// Finds the document in the bytes of a record.
fn find<'a>(
    handle: &SourceHandle<'_>,
    place: &RecordPlace,
    raw: &'a [u8],
    turn: ReadPass,
) -> Result<Result<Document<'a>, Reject>> {
    let record = match parse_at(&raw, 0)? {
        Ok(record) => record,
        Err(Bad { problem, id, .. }) => return Ok(Err(Reject { reason: problem.into(), id })),
    };
    let WarcRecord { headers, block, .. } = &record;
    let options = handle.options();
    let id = id(headers, options);
    // `parse_at` has checked that the block lies in the bytes.
    let block = raw.get(block.start as usize..block.end as usize).unwrap_or_default();
    let found = match document::find(kind_of(&record), headers, block, &turn.limits(options)) {
        Ok(Some(found)) => found,
        Ok(None) => return Err(handle.no_such_place(place.offset)),
        Err(reason) => return Ok(Err(Reject { reason, id })),
    };
    if found.is_extracted {
        handle.shared.found.keep((handle.number, place.offset), &found.decoded)?;
    }
    let value = |field: &FieldPath| headers.get(&field.to_string()).map(ToOwned::to_owned);
    let values = options.value_fields.iter().map(|field| value(field).map(Cow::Owned)).collect();
    let about = (found.about != FileProperties::default()).then(|| Box::new(found.about));
    let Decoded { text, repaired } = found.decoded;
    Ok(Ok(Document { id: id.map(Cow::Owned), text, repaired, values, about }))
}
