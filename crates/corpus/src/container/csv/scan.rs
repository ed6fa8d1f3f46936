//! Scans the records of a chunk, and reads a record as a document.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

use super::open::{CUT_BYTES, Delimited, HEADER_BYTES};
use super::split::{Splitter, fields, unquoted, without_line_end};
use crate::document::{Document, RecordPlace};
use crate::error::Result;
use crate::field::join;
use crate::options::ReadOptions;
use crate::reject::{Reject, RejectReason};
use crate::scratch::grown;
use crate::source::SourceReader;

/// Visits the records of some pieces, in order, and returns the number of lines in them.
///
/// The line of a record is the line on which it begins, counted from 0 at the first line of the chunk.
pub(crate) fn scan(
    delimited: &Delimited,
    reader: &SourceReader,
    source: u32,
    pieces: Range<usize>,
    options: &ReadOptions,
    bytes: &mut Vec<u8>,
    visit: &mut dyn FnMut(RecordPlace, Result<Document<'_>, Reject>),
) -> Result<u64> {
    let mut line = 0;
    let limit = options.record_limit();
    let cuts = delimited.cuts.iter().copied();
    for (from, to) in cuts.clone().zip(cuts.skip(1)).skip(pieces.start).take(pieces.len()) {
        // A piece is several records, a large header, or one large record. Only a record within the limit is loaded.
        if to - from > (HEADER_BYTES + CUT_BYTES).max(limit.saturating_add(2)) {
            let place =
                RecordPlace { source, line, offset: from, len: u32::try_from(to - from).unwrap_or(u32::MAX) };
            visit(place, Err(Reject::new(RejectReason::TooLarge { bytes: to - from, limit })));
            line += count_lines(reader, from, to, bytes)?;
            continue;
        }
        let span = grown(bytes, (to - from) as usize);
        reader.read_exact_at(from, span)?;
        let header = delimited.header_bytes.saturating_sub(from).min(to - from) as usize;
        let (header, mut rest) = span.split_at(header);
        line += memchr_iter(b'\n', header).count() as u64;
        let mut offset = from + header.len() as u64;
        while !rest.is_empty() {
            let mut splitter = Splitter::new(delimited.delimiter);
            let (record, after) = rest.split_at(splitter.record_end(rest).unwrap_or(rest.len()));
            let place = RecordPlace { source, line, offset, len: record.len() as u32 };
            if without_line_end(record).len() as u64 > limit {
                let reason = RejectReason::TooLarge { bytes: record.len() as u64, limit };
                visit(place, Err(Reject::new(reason)));
            } else if let Some(document) = document(delimited, record, options) {
                visit(place, document);
            }
            line += memchr_iter(b'\n', record).count() as u64;
            offset += record.len() as u64;
            rest = after;
        }
    }
    Ok(line)
}

/// Counts the lines of a piece that is not loaded as a whole.
fn count_lines(reader: &SourceReader, mut from: u64, to: u64, bytes: &mut Vec<u8>) -> Result<u64> {
    let mut lines = 0;
    while from < to {
        let block = grown(bytes, (to - from).min(CUT_BYTES) as usize);
        reader.read_exact_at(from, block)?;
        lines += memchr_iter(b'\n', block).count() as u64;
        from += block.len() as u64;
    }
    Ok(lines)
}

/// Reads a record as a document; `None` for a blank line.
pub(crate) fn document<'a>(
    delimited: &Delimited,
    record: &'a [u8],
    options: &ReadOptions,
) -> Option<Result<Document<'a>, Reject>> {
    let body = without_line_end(record);
    if body.is_empty() {
        return None;
    }
    Some(fields_of(delimited, body, options))
}

fn fields_of<'a>(
    delimited: &Delimited,
    body: &'a [u8],
    options: &ReadOptions,
) -> Result<Document<'a>, Reject> {
    let mut splitter = Splitter::new(delimited.delimiter);
    splitter.record_end(body);
    if splitter.is_quoted() {
        return Err(Reject::new(RejectReason::OpenQuote));
    }
    let columns = &delimited.columns;
    let mut texts: Vec<Option<Cow<'a, [u8]>>> = vec![None; columns.text.len()];
    let mut values: Vec<Option<Cow<'a, str>>> = vec![None; columns.values.len()];
    let (mut id, mut found) = (None, 0);
    for (number, field) in fields(body, delimited.delimiter).enumerate() {
        found += 1;
        for (text, column) in texts.iter_mut().zip(&columns.text) {
            if *column == number {
                *text = Some(unquoted(field));
            }
        }
        for (value, column) in values.iter_mut().zip(&columns.values) {
            if *column == number {
                *value = Some(utf8(unquoted(field)).unwrap_or_default());
            }
        }
        if columns.id == Some(number) {
            id = Some(unquoted(field));
        }
    }
    let id = id.filter(|id| !id.is_empty()).map(utf8).transpose()?;
    let reject = |reason| Reject { reason, id: id.as_deref().map(str::to_owned) };
    if found != delimited.names.len() {
        return Err(reject(RejectReason::FieldCount { expected: delimited.names.len(), found }));
    }
    let texts: Vec<Option<Cow<'a, str>>> = texts
        .into_iter()
        .map(|text| text.map(utf8).transpose())
        .collect::<Result<_, _>>()
        .map_err(|error| reject(error.reason))?;
    match join(texts.into_iter()) {
        Some(text) => Ok(Document { id, text, repaired: false, values, about: None }),
        None => Err(reject(RejectReason::MissingField { field: options.text_names(), in_lists: vec![] })),
    }
}

fn utf8(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, Reject> {
    let invalid = |at: usize| Reject::new(RejectReason::InvalidUtf8 { at: at as u64 });
    match bytes {
        Cow::Borrowed(bytes) => simdutf8::compat::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|error| invalid(error.valid_up_to())),
        Cow::Owned(bytes) => String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|error| invalid(error.utf8_error().valid_up_to())),
    }
}
