//! Writes rows with their annotations in one more column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::copy::{ArrowFileWriter, Batches, file, model};
use crate::annotation::Annotation;
use crate::container::WriteBatch;
use crate::container::table::{Foreign, annotation_column, annotation_field, selections};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::output::{Output, TableCompression};
use crate::sources::Sources;

/// Writes the rows with their annotations as one file or stream, in the form of the first of `sources`.
pub(super) fn annotate(
    sources: &Sources,
    numbers: Range<u32>,
    annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let first = model(sources, numbers)?;
    let mut fields = first.schema.fields().to_vec();
    fields.push(Arc::new(annotation_field()));
    let schema = Arc::new(Schema::new_with_metadata(fields, first.schema.metadata().clone()));
    let mut writer = ArrowFileWriter::new(first, &schema, compression, out)?;
    let mut batches = Batches::default();
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.batch_of(row));
    for selection in selections(annotated, part_of) {
        let batch = batches.of_source(sources, &selection)?;
        let mut columns = batch.columns().to_vec();
        columns.push(annotation_column(&selection.with));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns)
            .map_err(|error| Foreign::from(error).while_writing("the record batch being written"))?;
        writer.write(&batch)?;
    }
    writer.finish()
}
