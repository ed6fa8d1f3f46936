//! Records with what was decided about them.
//!
//! A JSON line gets a member and a table or a header a column, called `minwise`; nothing else of a record changes.

use std::borrow::Cow;
use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::copy::header_of;
use super::member::annotate_line;
use super::{MEMBER, Output};
use crate::corpus::Corpus;
use crate::csv::{push_quoted, without_line_end};
use crate::document::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::scratch::Scratch;
use crate::table::{TableCompression, annotate_arrow, annotate_parquet};

/// What was decided about a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation<'a> {
    /// The id of the document that is kept of its cluster.
    pub cluster: Cow<'a, str>,
    /// The similarity to that document, where this is another one.
    pub similarity: Option<f64>,
}

impl Serialize for Annotation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Annotation", 3)?;
        members.serialize_field("cluster", &self.cluster)?;
        members.serialize_field("duplicate_of", &self.similarity.map(|_| &self.cluster))?;
        members.serialize_field("similarity", &self.similarity)?;
        members.end()
    }
}

impl Annotation<'_> {
    fn to_json(&self) -> Result<Box<RawValue>> {
        to_raw_value(self).map_err(|error| Error::new(ErrorKind::NotAnObject { message: error.to_string() }))
    }
}

/// Writes records of the sources with these numbers, in the order given, each with its annotation. What is written is
/// one file of the corpus's format, even if there are no records.
pub fn annotate_records<'a>(
    corpus: &Corpus,
    sources: Range<u32>,
    annotated: impl Iterator<Item = (Place, Annotation<'a>)>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    match corpus.format() {
        Format::Parquet => annotate_parquet(corpus, sources, annotated, out, compression),
        Format::Arrow => annotate_arrow(corpus, sources, annotated, out, compression),
        Format::Jsonl | Format::Document | Format::Text => {
            annotate_lines(corpus, annotated, out, |line, annotation, out| {
                annotate_line(line, &annotation.to_json()?, out)
            })
        }
        Format::Csv | Format::Tsv => {
            let delimiter = corpus.format().delimiter().unwrap_or(b',');
            let Some((source, header_bytes)) = header_of(corpus, sources) else { return Ok(()) };
            let mut header = vec![0; header_bytes as usize];
            corpus.read_span(source, 0, &mut header)?;
            let mut line = Vec::new();
            add_field(&header, delimiter, |out| out.extend_from_slice(MEMBER.as_bytes()), &mut line);
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            out.write_bytes(&line)?;
            annotate_lines(corpus, annotated, out, |line, annotation, out| {
                let json = annotation.to_json()?;
                add_field(line, delimiter, |out| push_quoted(json.get(), out), out);
                Ok(())
            })
        }
    }
}

fn annotate_lines<'a>(
    corpus: &Corpus,
    annotated: impl Iterator<Item = (Place, Annotation<'a>)>,
    out: &mut Output,
    annotate: impl Fn(&[u8], &Annotation<'a>, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut scratch = Scratch::new();
    let mut line = Vec::new();
    for (place, annotation) in annotated {
        // The line before had no line end because it ended its file.
        if line.last().is_some_and(|&byte| byte != b'\n') {
            out.write_bytes(b"\n")?;
        }
        annotate(corpus.read_raw(&place, &mut scratch)?, &annotation, &mut line)?;
        out.write_bytes(&line)?;
    }
    Ok(())
}

/// Writes a record to `out`, which is cleared first, with one more field before its line end.
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
    fn an_annotation_is_an_object() {
        let kept = Annotation { cluster: "a".into(), similarity: None };
        assert_eq!(kept.to_json().unwrap().get(), r#"{"cluster":"a","duplicate_of":null,"similarity":null}"#);
        let removed = Annotation { cluster: "a".into(), similarity: Some(0.5) };
        assert_eq!(
            removed.to_json().unwrap().get(),
            r#"{"cluster":"a","duplicate_of":"a","similarity":0.5}"#
        );
    }

    #[test]
    fn a_field_goes_before_the_line_end() {
        let mut out = Vec::new();
        for (record, expected) in [("a,b\r\n", "a,b,x\r\n"), ("a\n", "a,x\n"), ("a", "a,x")] {
            add_field(record.as_bytes(), b',', |out| out.push(b'x'), &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
