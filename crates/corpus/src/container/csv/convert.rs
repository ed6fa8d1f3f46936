//! Converts delimited records to record batches, and record batches to delimited records.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::open::Delimited;
use super::split::{fields, push_quoted, unquoted, without_line_end};
use crate::container::WriteBatch;
use crate::container::batch::in_batches;
use crate::container::table::{Foreign, plain};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::options::Delimiter;
use crate::output::Output;
use crate::sources::{SourceHandle, TakeBatch};

impl Delimited {
    /// Returns the columns as an Arrow schema, in which every field is a text.
    pub(super) fn arrow_schema(&self) -> SchemaRef {
        let fields: Vec<Field> =
            self.names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        Arc::new(Schema::new(fields))
    }

    /// Passes records to `take` as record batches.
    pub(super) fn arrow_batches(
        &self,
        handle: &SourceHandle<'_>,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        let schema = self.arrow_schema();
        let mut record = Vec::new();
        for batch in in_batches(places) {
            let mut columns: Vec<StringBuilder> = self.names.iter().map(|_| StringBuilder::new()).collect();
            for place in &batch {
                let body = without_line_end(handle.load(place, &mut record)?);
                for (field, column) in fields(body, self.delimiter).zip(&mut columns) {
                    let field = unquoted(field);
                    let text = simdutf8::compat::from_utf8(&field).map_err(|_| {
                        handle
                            .bad(format!("the record at byte {}", place.offset), "a field of it is not UTF-8")
                    })?;
                    column.append_value(text);
                }
            }
            let columns =
                columns.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.len()));
            take(
                RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
                    .map_err(|error| Foreign::from(error).at(handle.source.name(), "its fields"))?,
            )?;
        }
        Ok(())
    }
}

/// Writer of a file of delimited records, from record batches.
pub(super) struct CsvWriter<'o> {
    out: &'o mut Output,
    delimiter: u8,
    line: Vec<u8>,
}

impl<'o> CsvWriter<'o> {
    /// Begins a file with a header of the column names.
    pub(super) fn new(schema: &SchemaRef, delimiters: &[Delimiter], out: &'o mut Output) -> Result<Self> {
        let delimiter = delimiters.first().copied().unwrap_or(Delimiter::COMMA).byte();
        let mut writer = Self { out, delimiter, line: Vec::new() };
        for (number, field) in schema.fields().iter().enumerate() {
            writer.push(number, Some(field.name()));
        }
        // A file without columns has no header.
        if !schema.fields().is_empty() {
            writer.end_line()?;
        }
        Ok(writer)
    }

    fn push(&mut self, number: usize, text: Option<&str>) {
        if number > 0 {
            self.line.push(self.delimiter);
        }
        match text {
            // A null has no quotes, because readers have to distinguish it from an empty text.
            None => {}
            Some(text) if self.is_plain(text) => self.line.extend_from_slice(text.as_bytes()),
            Some(text) => push_quoted(text, &mut self.line),
        }
    }

    fn is_plain(&self, text: &str) -> bool {
        let is_plain = |byte: &u8| *byte != self.delimiter && !matches!(byte, b'"' | b'\r' | b'\n');
        !text.is_empty()
            && !text.starts_with([' ', '\u{feff}'])
            && !text.ends_with(' ')
            && text.as_bytes().iter().all(is_plain)
    }

    fn end_line(&mut self) -> Result<()> {
        if self.line.is_empty() {
            // An empty line would be no record, so an empty field is written in quotes.
            self.line.extend_from_slice(b"\"\"");
        }
        self.line.push(b'\n');
        self.out.write_bytes(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

impl WriteBatch for CsvWriter<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            for (number, column) in batch.columns().iter().enumerate() {
                self.push(number, plain(&**column, row).as_deref());
            }
            self.end_line()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
