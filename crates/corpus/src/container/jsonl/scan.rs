//! Scans the lines of a source as documents.

use std::cell::RefCell;
use std::ops::Range;

use arrow_schema::SchemaRef;

use super::convert;
use super::json::parse_line;
use super::lines::{self, Line, LongLine, scan_lines};
use super::skeleton::{Parsed, SkeletonOutcome, parse_skeleton, skeleton};
use super::types::note_line;
use super::values::{names, note_fields, values};
use crate::document::{Document, DocumentText, MaybeLong, RecordPlace};
use crate::error::Result;
use crate::field::FieldPath;
use crate::options::{Nulls, ReadOptions};
use crate::reject::{Reject, RejectReason};
use crate::scratch::{Scratch, grown};
use crate::shape::{At, ObjectMembers};
use crate::source::{Source, SourceReader};
use crate::sources::{
    Content, CutPoints, LoadTurns, RecordVisitor, ScannedLines, SoughtFields, SourceHandle, SourcePart,
    TakeBatch,
};
use crate::unescape::has_lone_surrogate;

/// Number of first bytes in which several text fields are searched for. The number doubles until a line ends there.
const SOUGHT_WINDOW: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct LineSource {
    /// The fields whose values are wanted while the source is scanned.
    pub(super) fields: Vec<FieldPath>,
}

impl Content for LineSource {
    fn cuts(&self, _source: &Source) -> CutPoints {
        CutPoints::Anywhere
    }

    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        turns: &LoadTurns<'_>,
        scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        let SourcePart::Bytes(span) = part else { return Err(handle.no_such_place(0)) };
        let reader = handle.reader()?;
        if span.end > reader.size_bytes() {
            return Err(handle.no_such_place(span.start));
        }
        let (source, options) = (handle.number, handle.options());
        let limit = options.record_limit();
        let Scratch { bytes, decoded, .. } = scratch;
        let shapes = &handle.shared.shapes;
        // Types are noted only if they are wanted, because nothing but a conversion to columns needs them.
        let seen = RefCell::new(shapes.are_wanted(source).then(ObjectMembers::default));
        // The result is whether a conversion replaces characters of the line, because this sets `repaired` of the
        // document.
        let note = |line: &str, offset: u64| {
            let mut seen = seen.borrow_mut();
            let Some(members) = &mut *seen else { return false };
            note_line(line, At { source, offset }, members);
            has_lone_surrogate(line)
        };
        let mut visit_line = |line: Line<'_>| {
            let Line { number, offset, len, content } = line;
            let place =
                RecordPlace { source, line: number, offset, len: u32::try_from(len).unwrap_or(u32::MAX) };
            match content {
                lines::LineContent::Text(text) => {
                    if let Some(document) = parse_line(text, options, decoded) {
                        let is_repaired = is_written(&document, options) && note(text, offset);
                        visit(
                            place,
                            document.map(|found| {
                                let repaired = found.repaired || is_repaired;
                                Document { values: values(text, &self.fields), repaired, ..found }
                                    .with_text(DocumentText::Whole)
                            }),
                        );
                    }
                }
                lines::LineContent::Long(document) => visit(place, document),
                lines::LineContent::NotUtf8 { at } => {
                    visit(place, Err(Reject::new(RejectReason::InvalidUtf8 { at })));
                }
                lines::LineContent::TooLarge => {
                    visit(place, Err(Reject::new(RejectReason::TooLarge { bytes: len, limit })));
                }
            }
        };
        let (lines, long) = scan_lines(&reader, (span.start, span.end), limit, bytes, &mut visit_line)?;
        if let Some(LongLine { number, range, content_bytes }) = long {
            // The buffer is freed before the long line is read, because the lines before it are no longer needed.
            *bytes = Vec::new();
            let (offset, len) = (range.start, range.end - range.start);
            let looked = look(&reader, offset..offset + content_bytes, options)?;
            match parsed(&looked, &reader, options, &self.fields)? {
                Parsed::Blank => {}
                Parsed::Record(mut record) => {
                    if let (SkeletonOutcome::Skeleton(skeleton), true) =
                        (&looked, is_written(&record, options))
                    {
                        // The types are complete, because a string that is left out of the skeleton is an empty
                        // string there.
                        let is_repaired = note(skeleton.line(), offset);
                        if let Ok(document) = &mut record
                            && !document.repaired
                            && shapes.are_wanted(source)
                        {
                            document.repaired = is_repaired || skeleton.omits_lone_surrogate(&reader)?;
                        }
                    }
                    visit_line(Line { number, offset, len, content: lines::LineContent::Long(record) });
                }
                Parsed::NeedsAll => {
                    turns.take();
                    let loaded = grown(bytes, content_bytes as usize);
                    reader.read_exact_at(offset, loaded)?;
                    visit_line(Line { number, offset, len, content: lines::LineContent::of(loaded) });
                }
            }
        }
        if let Some(members) = seen.into_inner() {
            shapes.note(source, span.clone(), members);
        }
        Ok(ScannedLines(lines))
    }

    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        let Scratch { bytes, decoded, .. } = scratch;
        Ok(match simdutf8::compat::from_utf8(handle.load(place, bytes)?) {
            Ok(line) => parse_line(line, handle.options(), decoded)
                .unwrap_or_else(|| Err(Reject::new(RejectReason::NotAnObject))),
            Err(error) => Err(Reject::new(RejectReason::InvalidUtf8 { at: error.valid_up_to() as u64 })),
        })
    }

    fn read_long(
        &self,
        place: &RecordPlace,
        handle: &SourceHandle<'_>,
    ) -> Result<Option<Result<MaybeLong<'static>, Reject>>> {
        let reader = handle.reader()?;
        let mut end = place.offset + u64::from(place.len);
        let mut last = [0];
        reader.read_exact_at(end - 1, &mut last)?;
        end -= u64::from(last == *b"\n");
        match parsed(&look(&reader, place.offset..end, handle.options())?, &reader, handle.options(), &[])? {
            Parsed::Record(record) => Ok(Some(record)),
            Parsed::Blank | Parsed::NeedsAll => Ok(None),
        }
    }

    fn batches(
        &self,
        handle: &SourceHandle<'_>,
        schema: &SchemaRef,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        convert::batches(handle, schema, places, take)
    }

    fn seek_fields(&self, handle: &SourceHandle<'_>, sought: &mut SoughtFields) -> Result<()> {
        let reader = handle.reader()?;
        let mut bytes = vec![];
        let mut window = SOUGHT_WINDOW.min(reader.size_bytes()).min(sought.bytes_left);
        loop {
            let from = bytes.len();
            bytes.resize(window as usize, 0);
            reader.read_exact_at(from as u64, &mut bytes[from..])?;
            let is_all = window == reader.size_bytes();
            if is_all || window == sought.bytes_left || memchr::memrchr(b'\n', &bytes[from..]).is_some() {
                break;
            }
            window = (2 * window).min(reader.size_bytes()).min(sought.bytes_left);
        }
        sought.bytes_left -= window;
        let is_cut = window < reader.size_bytes();
        let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            // The last line can be incomplete.
            if sought.is_done() || (is_cut && lines.peek().is_none()) {
                break;
            }
            if let Ok(line) = simdutf8::basic::from_utf8(line) {
                note_fields(line, sought);
            }
        }
        Ok(())
    }

    fn field_names(
        &self,
        place: &RecordPlace,
        handle: &SourceHandle<'_>,
        scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        let line = handle.load(place, &mut scratch.bytes)?;
        Ok(simdutf8::basic::from_utf8(line).map(names).unwrap_or_default())
    }
}

/// Reports whether a record may be written to an output. Rejected records are never written.
fn is_written<T>(record: &Result<T, Reject>, options: &ReadOptions) -> bool {
    match record {
        Ok(_) => true,
        Err(reject) => options.nulls == Nulls::Keep && matches!(reject.reason, RejectReason::Null { .. }),
    }
}

/// Scans a long line, which lies at `range` of the source, without its line feed.
fn look(reader: &SourceReader, range: Range<u64>, options: &ReadOptions) -> Result<SkeletonOutcome> {
    // The texts of a list lie in many places, and each may be short, so the line is loaded.
    if options.text_fields.iter().any(FieldPath::has_lists) {
        return Ok(SkeletonOutcome::NoSkeleton);
    }
    skeleton(reader, range)
}

/// Reads the record of a long line.
fn parsed(
    looked: &SkeletonOutcome,
    reader: &SourceReader,
    options: &ReadOptions,
    fields: &[FieldPath],
) -> Result<Parsed> {
    match looked {
        SkeletonOutcome::Skeleton(skeleton) => parse_skeleton(skeleton, reader, options, fields),
        SkeletonOutcome::NotUtf8 { at } => {
            Ok(Parsed::Record(Err(Reject::new(RejectReason::InvalidUtf8 { at: *at }))))
        }
        SkeletonOutcome::NoSkeleton => Ok(Parsed::NeedsAll),
    }
}
