//! Converts lines to record batches, and record batches to lines.

use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;

use super::build::{BatchBuilder, built};
use crate::container::WriteBatch;
use crate::container::batch::in_batches;
use crate::container::table::{Foreign, push_json, push_string};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::output::Output;
use crate::sources::{SourceHandle, TakeBatch};

/// Passes lines to `take` as record batches with these columns. Texts and lists may be stored in another form than
/// the schema has.
pub(super) fn batches(
    handle: &SourceHandle<'_>,
    schema: &SchemaRef,
    places: &mut dyn Iterator<Item = RecordPlace>,
    take: &mut TakeBatch<'_>,
) -> Result<()> {
    let schema = &built(schema);
    let mut line = Vec::new();
    for batch in in_batches(places) {
        let mut rows = BatchBuilder::new(schema);
        for place in batch {
            let bad = |message: String| handle.bad(format!("the record at byte {}", place.offset), message);
            let text = simdutf8::compat::from_utf8(handle.load(&place, &mut line)?);
            let text = text.map_err(|_| bad("it is not UTF-8".to_owned()))?;
            rows.push(text).map_err(|field| bad(format!("`{field}` does not fit its column")))?;
        }
        take(rows.finish().map_err(|error| Foreign::from(error).at(handle.source.name(), "its records"))?)?;
    }
    Ok(())
}

/// Writer of a file of lines, from record batches.
pub(super) struct JsonlWriter<'o> {
    out: &'o mut Output,
    line: Vec<u8>,
}

impl<'o> JsonlWriter<'o> {
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self { out, line: Vec::new() }
    }
}

impl WriteBatch for JsonlWriter<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let names: Vec<Vec<u8>> =
            batch.schema_ref().fields().iter().map(|field| member(field.name())).collect();
        for row in 0..batch.num_rows() {
            self.line.clear();
            self.line.push(b'{');
            for (number, (name, column)) in names.iter().zip(batch.columns()).enumerate() {
                if number > 0 {
                    self.line.push(b',');
                }
                self.line.extend_from_slice(name);
                push_json(column as &dyn Array, row, &mut self.line);
            }
            self.line.extend_from_slice(b"}\n");
            self.out.write_bytes(&self.line)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Returns the beginning of a member: its name in quotes, and a colon.
fn member(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    push_string(name, &mut out);
    out.push(b':');
    out
}
