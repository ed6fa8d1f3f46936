//! JSONL: one JSON object per line. Each object is a document.
//!
//! Each line is a record of its own, so a source is cut at any byte: a part owns the lines that start in it.

mod build;
mod convert;
mod json;
mod lines;
mod lists;
mod member;
mod quick;
mod scan;
mod skeleton;
mod sniff;
mod string;
mod types;
mod values;
mod walk;

use std::ops::Range;

use arrow_schema::SchemaRef;

use self::convert::JsonlWriter;
use self::scan::LineSource;
#[cfg(test)]
pub(crate) use self::string::string_of;
use super::{Container, Opening, OutputColumns, WriteBatch, bytes};
use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::Result;
use crate::format::{Format, Layout};
use crate::output::{Output, TableCompression};
use crate::sources::{Content, Sources};

impl Format {
    /// One JSON object per line. Each object is a document.
    pub const JSONL: Self = Self::new("jsonl", "JSONL", Layout::Records);
}

/// Files with one JSON object per line.
#[derive(Debug)]
pub(super) struct Jsonl;

impl Container for Jsonl {
    fn format(&self) -> Format {
        Format::JSONL
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson", "json"]
    }

    fn may_be(&self, head: &[u8]) -> bool {
        !sniff::cannot_be_jsonl(head)
    }

    fn is_content(&self, look: &[u8]) -> bool {
        sniff::is_jsonl(look)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        Ok(Box::new(LineSource { fields: opening.options.value_fields.clone() }))
    }

    fn columns(&self) -> Option<OutputColumns> {
        Some(OutputColumns::Own)
    }

    fn writer<'o>(
        &self,
        _schema: &SchemaRef,
        out: &'o mut Output,
        _compression: TableCompression,
    ) -> Result<Box<dyn WriteBatch + 'o>> {
        Ok(Box::new(JsonlWriter::new(out)))
    }

    fn annotate(
        &self,
        sources: &Sources,
        _numbers: Range<u32>,
        annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        bytes::annotate(sources, annotated, out, |line, annotation, out| {
            member::annotate_line(line, &annotation.to_json()?, out)
        })
    }
}
