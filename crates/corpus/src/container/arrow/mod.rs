//! Arrow IPC, as a file or as a stream.
//!
//! Files and streams are sequences of messages. The messages of a file are found by its footer, and the messages of a
//! stream by walking over it. After that, files and streams are read alike: any record batch can be read at its
//! place, with the dictionaries that came before it. A batch is the smallest unit that can be read, so memory is
//! bounded by the largest batch.

mod annotate;
mod blocks;
mod copy;
mod decode;
mod dictionaries;
mod lengths;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_ipc::{Block, CompressionType};
use arrow_schema::{DataType, Field, SchemaRef};

use self::copy::{ArrowFileWriter, Batches};
use self::decode::Decoder;
use self::dictionaries::Dictionaries;
use super::optional;
use super::table::{ColumnRoute, TableFormat, TableRows, column_difference, selections};
use super::{Container, Opening, OutputColumns, WriteBatch};
use crate::annotation::Annotation;
use crate::column::ColumnNumbers;
use crate::document::RecordPlace;
use crate::error::Result;
use crate::format::Format;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::source::SourceReader;
use crate::sources::{Content, Sources, TakeBatch};

/// Container of Arrow IPC.
#[derive(Debug)]
pub(super) struct Arrow;

impl Container for Arrow {
    fn format(&self) -> Format {
        Format::ARROW
    }

    fn extensions(&self) -> &'static [&'static str] {
        optional::ARROW.extensions
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        (optional::ARROW.has_magic)(head)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        Ok(Box::new(ArrowFile::open(&opening.reader()?, opening.options)?))
    }

    fn has_compression(&self, compression: TableCompression) -> bool {
        !matches!(compression, TableCompression::Snappy | TableCompression::Gzip)
    }

    fn compression_hint(&self) -> &'static str {
        "Arrow IPC has `none`, `lz4` and `zstd`"
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

    fn writer<'o>(
        &self,
        schema: &SchemaRef,
        out: &'o mut Output,
        compression: TableCompression,
    ) -> Result<Box<dyn WriteBatch + 'o>> {
        Ok(Box::new(ArrowFileWriter::of_schema(schema, compression, out)?))
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

/// State of an Arrow IPC file or stream after opening: its schema, and the places of its messages.
#[derive(Debug)]
pub(super) struct ArrowFile {
    schema: SchemaRef,
    shape: ArrowLayout,
    dictionaries: Dictionaries,
    /// The record batches that have rows.
    batches: Vec<BatchBlock>,
    /// The metadata in the footer, which is copied to the output.
    remarks: Vec<(String, String)>,
    columns: ColumnNumbers,
    /// The route to each column that can be named.
    ways: Vec<ColumnRoute>,
    /// Decoder of the wanted columns. All threads share the decoder, so that dictionaries are read once.
    decoder: Mutex<Arc<Decoder>>,
}

/// Layout of the messages: a file, with a footer, or a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrowLayout {
    File,
    Stream,
}

/// A record batch.
#[derive(Clone, Copy, Debug)]
struct BatchBlock {
    block: Block,
    first_row: u64,
    rows: u64,
    /// The number of dictionaries before the batch.
    dictionaries: usize,
    compression: Option<CompressionType>,
}

impl ArrowFile {
    /// If this is an Arrow file with dictionaries, returns the name of the first column with a dictionary. Such a
    /// file can have only one dictionary per column.
    fn of_one_dictionary(&self) -> Option<&str> {
        let has_one = |field: &&Field| matches!(field.data_type(), DataType::Dictionary(..));
        let column = self.schema.flattened_fields().into_iter().find(has_one)?;
        (self.shape == ArrowLayout::File && !self.dictionaries.blocks.is_empty()).then_some(column.name())
    }

    /// Returns the number of the record batch that a row lies in.
    fn batch_of(&self, row: u64) -> usize {
        self.batches.partition_point(|batch| batch.first_row + batch.rows <= row)
    }
}

impl TableFormat for ArrowFile {
    fn load(&self, reader: &SourceReader, piece: usize, rows: Range<u64>) -> Result<TableRows> {
        self.rows(reader, piece, rows.start)
    }

    fn columns(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn schema(&self, _reader: &SourceReader) -> Result<SchemaRef> {
        Ok(Arc::clone(&self.schema))
    }

    fn batches(
        &self,
        reader: &SourceReader,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        let mut batches = Batches::default();
        for selection in selections(places.map(|place| (place, ())), |_, row| self.batch_of(row)) {
            take(batches.selected(self, reader, &selection)?)?;
        }
        Ok(())
    }

    fn difference(&self, other: &Self) -> Option<String> {
        column_difference(self.schema.fields(), other.schema.fields(), |field| field.name())
            .or_else(|| dictionary(self, other))
    }
}

/// Returns the reason why two files cannot be written as one: a file has one dictionary per column, and dictionaries
/// of different files are seldom the same.
fn dictionary(first: &ArrowFile, second: &ArrowFile) -> Option<String> {
    let column = first.of_one_dictionary().filter(|_| second.of_one_dictionary().is_some())?;
    Some(format!("each has a dictionary for the column `{column}`, and one Arrow file cannot have two"))
}
