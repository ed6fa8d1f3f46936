//! Rows of a table as an Arrow IPC file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::content::Rows;
use crate::annotation::Annotation;
use crate::container::arrow::{Writer, annotated_batch, annotated_schema, chosen_rows};
use crate::container::table::{Selection, guarded, selections};
use crate::document::Place;
use crate::error::Result;
use crate::output::{Output, TableCompression};
use crate::sources::Sources;

/// Writes the rows at `places` with all their columns.
pub(super) fn copy(
    sources: &Sources,
    numbers: Range<u32>,
    places: &mut dyn Iterator<Item = Place>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let mut writer = Writer::file(schema(sources, numbers)?, compression, out)?;
    for selection in selections(places.map(|place| (place, ())), part_of(sources)) {
        writer.write(&selected(sources, &selection)?)?;
    }
    writer.finish()
}

/// Writes rows with their annotations as one more column.
pub(super) fn annotate(
    sources: &Sources,
    numbers: Range<u32>,
    annotated: &mut dyn Iterator<Item = (Place, Annotation<'_>)>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let schema = Arc::new(annotated_schema(schema(sources, numbers)?));
    let mut writer = Writer::file(&schema, compression, out)?;
    for selection in selections(annotated, part_of(sources)) {
        let batch = selected(sources, &selection)?;
        writer.write(&annotated_batch(&batch, &schema, &selection.with)?)?;
    }
    writer.finish()
}

/// The schema of the first source, which is that of all.
fn schema(sources: &Sources, numbers: Range<u32>) -> Result<&SchemaRef> {
    let (handle, _) = sources.get(numbers.start)?;
    let schema = sources.content_as::<Rows>(numbers.start)?.schema();
    schema.ok_or_else(|| handle.no_such_place(0))
}

/// The batch that a row lies in.
fn part_of(sources: &Sources) -> impl Fn(u32, u64) -> usize + '_ {
    |source, row| sources.content_as::<Rows>(source).map_or(0, |rows| rows.batch_of(row))
}

/// The selected rows of a batch, with all columns.
fn selected<T>(sources: &Sources, selection: &Selection<T>) -> Result<RecordBatch> {
    let (handle, _) = sources.get(selection.source)?;
    let whole = sources.content_as::<Rows>(selection.source)?.whole(selection.part);
    let (batch, first_row) = whole.ok_or_else(|| handle.no_such_place(0))?;
    guarded(|| chosen_rows(batch, first_row, &selection.rows))
        .map_err(|error| error.at(handle.source.name(), format!("record batch {}", selection.part)))
}
