//! Writes records with one more field.

use std::ops::Range;

use super::open::Delimited;
use super::split::{push_quoted, without_line_end};
use crate::annotation::{Annotation, MEMBER};
use crate::container::bytes::{self, header_of};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::output::Output;
use crate::sources::Sources;

/// Writes the header and the records, each with one more field.
pub(super) fn annotate(
    sources: &Sources,
    numbers: Range<u32>,
    annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
    out: &mut Output,
) -> Result<()> {
    let Some((source, header_bytes)) = header_of(sources, numbers) else { return Ok(()) };
    // Sources that are written as one file have the same delimiter.
    let delimiter = sources.content_as::<Delimited>(source)?.delimiter;
    let mut header = vec![0; header_bytes as usize];
    sources.read_span(source, 0, &mut header)?;
    let mut line = Vec::new();
    add_field(&header, delimiter, |out| out.extend_from_slice(MEMBER.as_bytes()), &mut line);
    if !line.ends_with(b"\n") {
        line.push(b'\n');
    }
    out.write_bytes(&line)?;
    bytes::annotate(sources, annotated, out, |line, annotation, out| {
        let json = annotation.to_json()?;
        add_field(line, delimiter, |out| push_quoted(json.get(), out), out);
        Ok(())
    })
}

/// Writes a record to `out` with one more field before its line end. Clears `out` first.
fn add_field(record: &[u8], delimiter: u8, field: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    let (body, line_end) = record.split_at(without_line_end(record).len());
    out.clear();
    out.extend_from_slice(body);
    out.push(delimiter);
    field(out);
    out.extend_from_slice(line_end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_goes_before_the_line_end() {
        let mut out = Vec::new();
        for (record, expected) in [("a,b\r\n", "a,b,x\r\n"), ("a\n", "a,x\n"), ("a", "a,x")] {
            add_field(record.as_bytes(), b',', |out| out.push(b'x'), &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
