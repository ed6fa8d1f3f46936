//! CSV and TSV: records of fields. The first record names the fields.
//!
//! A record may span lines, so whether a line feed ends a record depends on all bytes before it. When a source is
//! opened, one pass over it therefore notes a place about every 64 KiB at which a record begins. The pieces between
//! these places are scanned in parallel, and every record is copied byte for byte.

mod annotate;
mod content;
mod convert;
mod open;
mod scan;
mod split;

use std::ops::Range;

use arrow_schema::SchemaRef;

use self::convert::CsvWriter;
use self::open::Delimited;
use super::{Container, Opening, OutputColumns, WriteBatch};
use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::Result;
use crate::format::{Format, Layout};
use crate::options::Delimiter;
use crate::output::{Output, TableCompression};
use crate::sources::{Content, Sources};

impl Format {
    /// Records of fields separated by commas. The first record names the fields.
    pub const CSV: Self = Self::new("csv", "CSV", Layout::Records);
    /// Records of fields separated by tabs. The first record names the fields.
    pub const TSV: Self = Self::new("tsv", "TSV", Layout::Records);
}

/// Container of CSV.
pub(super) static CSV: Csv = Csv {
    format: Format::CSV,
    extensions: &["csv"],
    delimiters: &[Delimiter::COMMA, Delimiter::SEMICOLON, Delimiter::TAB],
};
/// Container of TSV.
pub(super) static TSV: Csv =
    Csv { format: Format::TSV, extensions: &["tsv", "tab"], delimiters: &[Delimiter::TAB] };

/// Container of a format whose records are fields with a delimiter between them.
#[derive(Debug)]
pub(super) struct Csv {
    format: Format,
    extensions: &'static [&'static str],
    /// The delimiters that are tried, in this order.
    delimiters: &'static [Delimiter],
}

impl Container for Csv {
    fn format(&self) -> Format {
        self.format
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        let reader = opening.reader()?;
        let given = opening.options.delimiter.as_slice();
        let tried = if given.is_empty() { self.delimiters } else { given };
        Ok(Box::new(Delimited::open(&reader, tried, opening.options, opening.observer)?))
    }

    fn columns(&self) -> Option<OutputColumns> {
        Some(OutputColumns::Texts)
    }

    fn writer<'o>(
        &self,
        schema: &SchemaRef,
        out: &'o mut Output,
        _compression: TableCompression,
    ) -> Result<Box<dyn WriteBatch + 'o>> {
        Ok(Box::new(CsvWriter::new(schema, self.delimiters, out)?))
    }

    fn annotate(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        annotate::annotate(sources, numbers, annotated, out)
    }
}
