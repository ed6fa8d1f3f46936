//! Rows with what was decided about them as one more column.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Fields, Schema};

use super::copy::{Batches, Writer, file, model};
use crate::annotation::Annotation;
use crate::container::table::{Foreign, annotation_field, selections};
use crate::document::Place;
use crate::error::Result;
use crate::output::{Output, TableCompression};
use crate::sources::Sources;

/// Writes the rows with their annotations as one file or stream like the first of `sources`.
pub(super) fn annotate(
    sources: &Sources,
    numbers: Range<u32>,
    annotated: &mut dyn Iterator<Item = (Place, Annotation<'_>)>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let first = model(sources, numbers)?;
    let schema = Arc::new(annotated_schema(&first.schema));
    let mut writer = Writer::new(first, &schema, compression, out)?;
    let mut batches = Batches::default();
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.batch_of(row));
    for selection in selections(annotated, part_of) {
        let batch = batches.selected(sources, &selection)?;
        writer.write(&annotated_batch(&batch, &schema, &selection.with)?)?;
    }
    writer.finish()
}

/// A schema with the column of annotations.
pub(in crate::container) fn annotated_schema(schema: &Schema) -> Schema {
    let mut fields = schema.fields().to_vec();
    fields.push(Arc::new(annotation_field()));
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

/// Rows with their annotations; `schema` is the annotated one.
pub(in crate::container) fn annotated_batch(
    batch: &RecordBatch,
    schema: &Arc<Schema>,
    annotations: &[Annotation<'_>],
) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    columns.push(column(annotations));
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|error| Foreign::from(error).at("the output", "the record batch being written"))
}

fn column(annotations: &[Annotation<'_>]) -> ArrayRef {
    let clusters: StringArray = annotations.iter().map(|annotation| Some(&*annotation.cluster)).collect();
    let keepers: StringArray =
        annotations.iter().map(|annotation| annotation.similarity.map(|_| &*annotation.cluster)).collect();
    let similarities: Float64Array = annotations.iter().map(|annotation| annotation.similarity).collect();
    let field = annotation_field();
    let members = match field.data_type() {
        DataType::Struct(members) => members.clone(),
        _ => Fields::empty(),
    };
    Arc::new(StructArray::new(
        members,
        vec![Arc::new(clusters), Arc::new(keepers), Arc::new(similarities)],
        None,
    ))
}
