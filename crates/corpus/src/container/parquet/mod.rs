//! Reads and writes Parquet files.
//!
//! Parquet files are read and written column by column, with Parquet's own levels and physical types, and not through
//! Arrow. A 96-bit timestamp, a decimal in a byte array, a list in the old two-level form and a JSON annotation have
//! no Arrow type from which the same column could be written again. A copy therefore has the same schema as the
//! input, including the field ids, the same key-value metadata and sorting columns and, unless another is chosen, the
//! same compression.
//!
//! Memory is bounded by pages, not by row groups. The pages of the text and id columns are located once, by their
//! headers, and a scan decodes a few pages at a time, wherever they lie in their row group. Values stay where they
//! were decoded, so a dictionary value that many rows share is in memory once.

mod annotate;
mod convert;
mod copy;
mod error;
mod gate;
mod header;
mod leaves;
mod levels;
mod load;
mod meaning;
mod open;
mod pages;
mod parts;
mod target;
mod transfer;
mod write;

use std::ops::Range;
use std::sync::Arc;

use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::schema::types::TypePtr;
use arrow_schema::{Schema, SchemaRef};

use self::leaves::Leaf;
use self::pages::ColumnPages;
use super::optional;
use super::table::{TableFormat, TableRows, column_difference};
use super::{Container, Opening, OutputColumns, WriteBatch};
use crate::annotation::Annotation;
use crate::column::ColumnNumbers;
use crate::document::RecordPlace;
use crate::error::Result;
use crate::format::Format;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::source::SourceReader;
use crate::sources::{Content, Sources, TakeBatch};

/// Container of Parquet.
#[derive(Debug)]
pub(super) struct Parquet;

impl Container for Parquet {
    fn format(&self) -> Format {
        Format::PARQUET
    }

    fn extensions(&self) -> &'static [&'static str] {
        optional::PARQUET.extensions
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        (optional::PARQUET.has_magic)(head)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        Ok(Box::new(ParquetFile::open(&opening.reader()?, opening.options)?))
    }

    fn has_compression(&self, _compression: TableCompression) -> bool {
        true
    }

    fn compression_hint(&self) -> &'static str {
        "Parquet has `none`, `snappy`, `gzip`, `lz4` and `zstd`"
    }

    fn copy(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        places: &mut dyn Iterator<Item = RecordPlace>,
        _verdict: OutputVerdict,
        out: &mut Output,
        compression: TableCompression,
    ) -> Result<()> {
        copy::copy(sources, numbers, places, out, compression)
    }

    fn columns(&self) -> Option<OutputColumns> {
        Some(OutputColumns::Typed)
    }

    fn refuses(&self, schema: &Schema) -> Option<String> {
        convert::not_parquet(schema)
    }

    fn writer<'o>(
        &self,
        schema: &SchemaRef,
        out: &'o mut Output,
        compression: TableCompression,
    ) -> Result<Box<dyn WriteBatch + 'o>> {
        Ok(Box::new(convert::ParquetWriter::new(schema, out, compression)?))
    }

    fn annotate(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        out: &mut Output,
        compression: TableCompression,
    ) -> Result<()> {
        annotate::annotate(sources, numbers, annotated, out, compression)
    }
}

/// State of a Parquet file after opening: its metadata, its columns, and the places of the wanted pages.
#[derive(Debug)]
pub(super) struct ParquetFile {
    metadata: Arc<ParquetMetaData>,
    columns: ColumnNumbers,
    /// All columns of the file; `None` for columns that cannot be named.
    leaves: Vec<Option<Leaf>>,
    groups: Vec<RowGroup>,
}

/// A row group.
#[derive(Debug)]
struct RowGroup {
    rows: Range<u64>,
    /// Places of the pages of the wanted columns, in the order of [`ColumnNumbers::all`].
    pages: Vec<ColumnPages>,
}

impl ParquetFile {
    /// Returns the top-level columns.
    fn fields(&self) -> &[TypePtr] {
        self.metadata.file_metadata().schema_descr().root_schema().get_fields()
    }

    /// Returns the number of the row group that a row lies in.
    fn group_of(&self, row: u64) -> usize {
        self.groups.partition_point(|group| group.rows.end <= row)
    }
}

impl TableFormat for ParquetFile {
    fn load(&self, reader: &SourceReader, _piece: usize, rows: Range<u64>) -> Result<TableRows> {
        self.rows(reader, rows)
    }

    fn columns(&self) -> Vec<&str> {
        self.fields().iter().map(|field| field.name()).collect()
    }

    fn schema(&self, reader: &SourceReader) -> Result<SchemaRef> {
        self.arrow_schema(reader)
    }

    fn batches(
        &self,
        reader: &SourceReader,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        self.arrow_batches(reader, places, take)
    }

    fn difference(&self, other: &Self) -> Option<String> {
        column_difference(self.fields(), other.fields(), |field| field.name())
    }
}

/// Makes the name of a column for a message.
fn place(group: usize, column: &str) -> String {
    format!("row group {group}, column `{}`", minwise::escape_control(column))
}
