//! Copies rows from one Parquet file to another.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::write::properties;
use super::{ParquetFile, place};
use crate::container::table::{Foreign, OpenTable, Selection, guarded, selections};
use crate::document::RecordPlace;
use crate::error::{Error, Result};
use crate::output::{Output, TableCompression};
use crate::source::SourceReader;
use crate::sources::Sources;

/// Number of bytes of one column that are decoded together.
const BATCH_BYTES: u64 = 1 << 20;
/// Maximum number of rows that are decoded together.
pub(super) const BATCH_ROWS: usize = 1024;

/// Writes the rows at `places` as one Parquet file, in the form of the first of `sources`.
pub(super) fn copy(
    sources: &Sources,
    numbers: Range<u32>,
    places: &mut dyn Iterator<Item = RecordPlace>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    let first = model(sources, numbers)?;
    let about = first.metadata.file_metadata();
    let properties = properties(&first.metadata, about.key_value_metadata().cloned(), compression);
    let schema = about.schema_descr().root_schema_ptr();
    let mut writer = SerializedFileWriter::new(out, schema, properties).map_err(writing)?;
    let part_of = |source, row| file(sources, source).map_or(0, |file| file.group_of(row));
    for selection in selections(places.map(|place| (place, ())), part_of) {
        let mut group = writer.next_row_group().map_err(writing)?;
        copy_columns(sources, &selection, &mut group)?;
        group.close().map_err(writing)?;
    }
    writer.close().map_err(writing)?;
    Ok(())
}

/// Converts an error of the writer. The error is our own, or is one that no input can cause.
pub(super) fn writing(error: ParquetError) -> Error {
    Foreign::from(error).while_writing("the row group being written")
}

/// Returns the open Parquet file of a source.
pub(super) fn file(sources: &Sources, source: u32) -> Result<&ParquetFile> {
    Ok(&sources.content_as::<OpenTable<ParquetFile>>(source)?.form)
}

/// Returns the file whose form the output takes: the first that has rows, because only row groups state compression
/// and encodings.
pub(super) fn model(sources: &Sources, numbers: Range<u32>) -> Result<&ParquetFile> {
    let has_rows = |source: &u32| file(sources, *source).is_ok_and(|file| file.metadata.num_row_groups() > 0);
    // A source that cannot be read has no form, so it is skipped.
    let is_table = |source: &u32| file(sources, *source).is_ok();
    let model = numbers.clone().find(has_rows).or_else(|| numbers.clone().find(is_table));
    file(sources, model.unwrap_or(numbers.start))
}

/// Copies the columns of the selected rows to the row group that is written.
pub(super) fn copy_columns<T>(
    sources: &Sources,
    selection: &Selection<T>,
    group: &mut SerializedRowGroupWriter<'_, &mut Output>,
) -> Result<()> {
    let file = file(sources, selection.source)?;
    let reader = sources.reader(selection.source)?;
    let schema = file.metadata.file_metadata().schema_descr();
    for number in 0..schema.num_columns() {
        let copied = guarded(|| copy_column(file, &reader, selection, number, group));
        copied.map_err(|error| {
            let place = place(selection.part, &schema.column(number).path().string());
            error.at(reader.name(), place)
        })?;
    }
    Ok(())
}

fn copy_column<T>(
    file: &ParquetFile,
    reader: &SourceReader,
    selection: &Selection<T>,
    number: usize,
    group: &mut SerializedRowGroupWriter<'_, &mut Output>,
) -> ParquetResult<()> {
    let from = file.metadata.row_group(selection.part);
    let chunk = from.column(number);
    let rows = usize::try_from(from.num_rows())?;
    let pages = SerializedPageReader::new(Arc::new(reader.clone()), chunk, rows, None)?;
    let no_group = || ParquetError::General("there is no such row group".to_owned());
    let first_row = file.groups.get(selection.part).ok_or_else(no_group)?.rows.start;
    let row_bytes = chunk.uncompressed_size().max(1) as u64 / from.num_rows().max(1) as u64;
    let transfer = Transfer {
        first_row,
        rows: &selection.rows,
        batch: usize::try_from(BATCH_BYTES / row_bytes.max(1))?.clamp(1, BATCH_ROWS),
        definition: chunk.column_descr().max_def_level() > 0,
        repetition: chunk.column_descr().max_rep_level() > 0,
    };
    let missing = || ParquetError::General("the output has no such column".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    match (get_column_reader(chunk.column_descr_ptr(), Box::new(pages)), column.untyped()) {
        (ColumnReader::BoolColumnReader(from), ColumnWriter::BoolColumnWriter(to)) => transfer.run(from, to),
        (ColumnReader::Int32ColumnReader(from), ColumnWriter::Int32ColumnWriter(to)) => {
            transfer.run(from, to)
        }
        (ColumnReader::Int64ColumnReader(from), ColumnWriter::Int64ColumnWriter(to)) => {
            transfer.run(from, to)
        }
        (ColumnReader::Int96ColumnReader(from), ColumnWriter::Int96ColumnWriter(to)) => {
            transfer.run(from, to)
        }
        (ColumnReader::FloatColumnReader(from), ColumnWriter::FloatColumnWriter(to)) => {
            transfer.run(from, to)
        }
        (ColumnReader::DoubleColumnReader(from), ColumnWriter::DoubleColumnWriter(to)) => {
            transfer.run(from, to)
        }
        (ColumnReader::ByteArrayColumnReader(from), ColumnWriter::ByteArrayColumnWriter(to)) => {
            transfer.run(from, to)
        }
        (
            ColumnReader::FixedLenByteArrayColumnReader(from),
            ColumnWriter::FixedLenByteArrayColumnWriter(to),
        ) => transfer.run(from, to),
        _ => Err(ParquetError::General("the output has another type there".to_owned())),
    }?;
    column.close()
}

/// Settings for copying some rows of a column.
struct Transfer<'a> {
    /// Number of the first row of the row group in its file.
    first_row: u64,
    rows: &'a [Range<u64>],
    /// Number of rows that are decoded together.
    batch: usize,
    /// Whether the column has definition levels.
    definition: bool,
    /// Whether the column has repetition levels.
    repetition: bool,
}

impl Transfer<'_> {
    fn run<T: DataType>(
        &self,
        mut from: ColumnReaderImpl<T>,
        to: &mut ColumnWriterImpl<'_, T>,
    ) -> ParquetResult<()> {
        let mut held =
            HeldRows { values: Vec::new(), definitions: Vec::new(), repetitions: Vec::new(), rows: 0 };
        let mut at = self.first_row;
        for rows in self.rows {
            let skipped = from.skip_records((rows.start - at) as usize)? as u64;
            if skipped != rows.start - at {
                return Err(cut_short(at + skipped - self.first_row));
            }
            at = rows.start;
            while at < rows.end {
                let wanted = ((rows.end - at) as usize).min(self.batch - held.rows);
                let HeldRows { values, definitions, repetitions, .. } = &mut held;
                let (read, ..) = from.read_records(wanted, Some(definitions), Some(repetitions), values)?;
                if read == 0 {
                    return Err(cut_short(at - self.first_row));
                }
                at += read as u64;
                held.rows += read;
                if held.rows >= self.batch {
                    self.write(&mut held, to)?;
                }
            }
        }
        self.write(&mut held, to)
    }

    fn write<T: DataType>(
        &self,
        held: &mut HeldRows<T::T>,
        to: &mut ColumnWriterImpl<'_, T>,
    ) -> ParquetResult<()> {
        let definitions = self.definition.then_some(held.definitions.as_slice());
        let repetitions = self.repetition.then_some(held.repetitions.as_slice());
        to.write_batch(&held.values, definitions, repetitions)?;
        held.values.clear();
        held.definitions.clear();
        held.repetitions.clear();
        held.rows = 0;
        Ok(())
    }
}

fn cut_short(row: u64) -> ParquetError {
    ParquetError::EOF(format!("it ends before row {row} of its row group"))
}

/// Rows that were read and are not yet written.
struct HeldRows<V> {
    values: Vec<V>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    rows: usize,
}
