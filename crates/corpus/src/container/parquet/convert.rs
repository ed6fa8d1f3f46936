//! Converts rows of a Parquet file to record batches, and record batches to rows.
//!
//! Only conversion uses Arrow. A copy from Parquet to Parquet does not, because some columns have no Arrow type from
//! which the same column could be written again.

use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use ::parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, IntervalUnit, Schema, SchemaRef};

use super::ParquetFile;
use super::copy::writing;
use super::write::{CREATED_BY, of_column};
use crate::container::WriteBatch;
use crate::container::table::{Foreign, Selection, guarded, many_of, selections};
use crate::document::RecordPlace;
use crate::error::Result;
use crate::output::{Output, TableCompression};
use crate::source::SourceReader;
use crate::sources::TakeBatch;

/// Approximate decoded size of a batch, in bytes. A batch has at most [`BATCH_ROWS`] rows.
const BATCH_BYTES: u64 = 8 << 20;
const BATCH_ROWS: u64 = 8 << 10;
/// Approximate encoded size of a row group, in bytes. A row group is held in memory until it is written.
const GROUP_BYTES: usize = 64 << 20;

impl ParquetFile {
    /// Returns the columns as an Arrow schema.
    pub(super) fn arrow_schema(&self, reader: &SourceReader) -> Result<SchemaRef> {
        Ok(Arc::clone(self.described(reader)?.schema()))
    }

    fn described(&self, reader: &SourceReader) -> Result<ArrowReaderMetadata> {
        guarded(|| ArrowReaderMetadata::try_new(Arc::clone(&self.metadata), ArrowReaderOptions::new()))
            .map_err(|error| error.at(reader.name(), "its schema"))
    }

    /// Describes the columns with texts as string views, because a batch of views stores a dictionary value once for
    /// many rows.
    fn described_with_views(&self, reader: &SourceReader) -> Result<ArrowReaderMetadata> {
        let schema = self.arrow_schema(reader)?;
        let viewed = |field: &FieldRef| match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => {
                Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View))
            }
            _ => Arc::clone(field),
        };
        let fields: Fields = schema.fields().iter().map(viewed).collect();
        let viewed = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let options = ArrowReaderOptions::new().with_schema(viewed);
        guarded(|| ArrowReaderMetadata::try_new(Arc::clone(&self.metadata), options))
            .map_err(|error| error.at(reader.name(), "its schema"))
    }

    /// Passes rows to `take` as record batches with all columns.
    pub(super) fn arrow_batches(
        &self,
        reader: &SourceReader,
        places: &mut dyn Iterator<Item = RecordPlace>,
        take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        let described = self.described_with_views(reader)?;
        for selection in selections(places.map(|place| (place, ())), |_, row| self.group_of(row)) {
            let bad = |error: Foreign| error.at(reader.name(), format!("row group {}", selection.part));
            let mut batches = guarded(|| self.selected(reader, &described, &selection)).map_err(bad)?;
            while let Some(batch) = guarded(|| batches.next().transpose()).map_err(bad)? {
                take(batch)?;
            }
        }
        Ok(())
    }

    fn selected(
        &self,
        reader: &SourceReader,
        described: &ArrowReaderMetadata,
        selection: &Selection<()>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, ArrowError>> + use<>, ::parquet::errors::ParquetError>
    {
        let group = self.metadata.row_group(selection.part);
        let rows = group.num_rows().max(1).cast_unsigned();
        let row_bytes = (group.total_byte_size().max(1).cast_unsigned() / rows).max(1);
        let first_row = self.groups.get(selection.part).map_or(0, |group| group.rows.start);
        let chosen = selection
            .rows
            .iter()
            .map(|rows| (rows.start - first_row) as usize..(rows.end - first_row) as usize);
        let chosen = RowSelection::from_consecutive_ranges(chosen, rows as usize);
        ParquetRecordBatchReaderBuilder::new_with_metadata(reader.clone(), described.clone())
            .with_row_groups(vec![selection.part])
            .with_row_selection(chosen)
            .with_batch_size((BATCH_BYTES / row_bytes).clamp(1, BATCH_ROWS) as usize)
            .build()
    }
}

/// Writer of a Parquet file, from record batches.
pub(super) struct ParquetWriter<'o>(Option<ArrowWriter<&'o mut Output>>);

impl<'o> ParquetWriter<'o> {
    /// Begins a file with these columns. The default compression is Zstandard.
    pub(super) fn new(
        schema: &SchemaRef,
        out: &'o mut Output,
        compression: TableCompression,
    ) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_created_by(CREATED_BY.to_owned())
            .set_compression(of_column(compression, Compression::ZSTD(ZstdLevel::default())))
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties)).map_err(writing)?;
        Ok(Self(Some(writer)))
    }
}

impl WriteBatch for ParquetWriter<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(writer) = &mut self.0 else { return Ok(()) };
        writer.write(batch).map_err(writing)?;
        if writer.in_progress_size() > GROUP_BYTES {
            writer.flush().map_err(writing)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if let Some(writer) = self.0.take() {
            writer.close().map_err(writing)?;
        }
        Ok(())
    }
}

/// Returns the reason why Parquet cannot hold these columns; `None` if it can.
pub(super) fn not_parquet(schema: &Schema) -> Option<String> {
    if let Some((column, kind)) = schema.fields().iter().find_map(without_type) {
        return Some(format!("it has no type for {}, which the column `{column}` holds", many_of(kind)));
    }
    // The conversion is guarded, because the library panics at some types.
    match guarded(|| ArrowSchemaConverter::new().convert(schema)).err()? {
        Foreign::Ours(error) => Some(error.to_string()),
        Foreign::Words(words) => Some(words),
    }
}

/// Returns the path of the first column or member for which Parquet has no type, and the type of that column or
/// member.
fn without_type(field: &FieldRef) -> Option<(String, &DataType)> {
    let inside = |way: &str, field| {
        let (path, kind) = without_type(field)?;
        // The name of the list items is left out, because paths write `[]` instead.
        let rest = path.strip_prefix(field.name().as_str()).unwrap_or_default();
        Some((format!("{way}{rest}"), kind))
    };
    let name = field.name();
    match field.data_type() {
        // The library accepts a schema with nanosecond intervals, but fails when it writes the rows.
        kind @ (DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano)) => {
            Some((name.clone(), kind))
        }
        kind @ DataType::Struct(members) if members.is_empty() => Some((name.clone(), kind)),
        DataType::Struct(members) => members.iter().find_map(|member| {
            let (path, kind) = without_type(member)?;
            Some((format!("{name}.{path}"), kind))
        }),
        DataType::List(items)
        | DataType::LargeList(items)
        | DataType::FixedSizeList(items, _)
        | DataType::ListView(items)
        | DataType::LargeListView(items) => inside(&format!("{name}[]"), items),
        DataType::Map(entries, _) => inside(name, entries),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::{Field, UnionFields, UnionMode};

    use super::*;

    #[test]
    fn a_type_that_parquet_lacks_is_named_with_its_column() {
        let field = |name: &str, kind| Field::new(name, kind, true);
        let list = |kind| DataType::List(Arc::new(field("element", kind)));
        let refused = |kind| not_parquet(&Schema::new(vec![field("a", DataType::Utf8), field("b", kind)]));
        let empty = DataType::Struct(Fields::empty());
        let nano = DataType::Interval(IntervalUnit::MonthDayNano);
        let union = DataType::Union(UnionFields::empty(), UnionMode::Dense);
        let object = DataType::Struct(vec![field("x", list(empty.clone()))].into());
        for (kind, expected) in [
            (empty, "objects without members, which the column `b` holds"),
            (nano.clone(), "intervals of months, days and nanoseconds, which the column `b` holds"),
            (list(union), "unions, which the column `b[]` holds"),
            (list(object), "objects without members, which the column `b[].x[]` holds"),
        ] {
            assert_eq!(refused(kind).unwrap(), format!("it has no type for {expected}"));
        }
        for kind in [DataType::Int8, list(DataType::Utf8), DataType::Interval(IntervalUnit::DayTime)] {
            assert_eq!(refused(kind), None);
        }
        // The library itself accepts the type in a schema, and would fail only when it writes rows.
        assert!(ArrowSchemaConverter::new().convert(&Schema::new(vec![field("a", nano)])).is_ok());
    }
}
