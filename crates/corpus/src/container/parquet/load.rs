//! Decodes the wanted columns of some rows.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::serialized_reader::SerializedPageReader;

use super::meaning::Meaning;
use super::pages::PageSection;
use super::{ParquetFile, place};
use crate::container::table::{Cells, Level, TableRows, decimal, guarded};
use crate::error::Result;
use crate::source::SourceReader;

impl ParquetFile {
    /// Decodes the wanted columns of some rows. All these rows lie in one row group.
    pub(super) fn rows(&self, reader: &SourceReader, rows: Range<u64>) -> Result<TableRows> {
        let mut cells = Vec::new();
        for (wanted, column) in self.columns.all().enumerate() {
            cells.push(self.cells(reader, &rows, wanted, column)?);
        }
        let values = cells.split_off(cells.len() - self.columns.values.len());
        let id = self.columns.id.and_then(|_| cells.pop());
        Ok(TableRows { first_row: rows.start, texts: cells, id, values })
    }

    fn cells(&self, reader: &SourceReader, rows: &Range<u64>, wanted: usize, column: usize) -> Result<Cells> {
        let number = self.group_of(rows.start);
        let decode = || {
            let missing = || ParquetError::General("there is no such row group".to_owned());
            let group = self.groups.get(number).ok_or_else(missing)?;
            let located = group.pages.get(wanted).ok_or_else(missing)?;
            let count = (group.rows.end - group.rows.start) as usize;
            let chunk = self.metadata.row_group(number).column(column);
            let source = Arc::new(reader.clone());
            let skipped = (rows.start - group.rows.start) as usize;
            let rows = (rows.end - rows.start) as usize;
            let leaf = self.leaves.get(column).and_then(Option::as_ref);
            let column = chunk.column_descr_ptr();
            let max_level = column.max_def_level();
            let meaning = Meaning::of(&column);
            if let Some(listed_from) = leaf.and_then(|leaf| leaf.listed_from) {
                let pages = Some(located.locations.clone());
                let pages = SerializedPageReader::new(source, chunk, count, pages)?;
                let (pages, skipped) = PageSection::from_row(pages, located, skipped);
                let stretch = ColumnRows { skipped, rows, max_level };
                return lists(get_column_reader(column, Box::new(pages)), &stretch, listed_from);
            }
            let (pages, skipped) = located.open(source, chunk, skipped..skipped + rows, count)?;
            let stretch = ColumnRows { skipped, rows, max_level };
            Ok(match get_column_reader(column, Box::new(pages)) {
                ColumnReader::ByteArrayColumnReader(column) => stretch.decode(column)?.collect(),
                ColumnReader::Int32ColumnReader(column) => {
                    stretch.decode(column)?.map(|value| Some(meaning.write_32(value?))).collect()
                }
                ColumnReader::Int64ColumnReader(column) => {
                    stretch.decode(column)?.map(|value| Some(meaning.write_64(value?))).collect()
                }
                ColumnReader::BoolColumnReader(column) => {
                    stretch.decode(column)?.map(|value| Some(value?.to_string())).collect()
                }
                ColumnReader::Int96ColumnReader(column) => {
                    stretch.decode(column)?.map(|value| Some(decimal(value?.to_micros(), 6))).collect()
                }
                ColumnReader::FloatColumnReader(column) => {
                    stretch.decode(column)?.map(|value| Some(value?.to_string())).collect()
                }
                ColumnReader::DoubleColumnReader(column) => {
                    stretch.decode(column)?.map(|value| Some(value?.to_string())).collect()
                }
                ColumnReader::FixedLenByteArrayColumnReader(_) => {
                    return Err(ParquetError::General("its type changed".to_owned()));
                }
            })
        };
        guarded(decode).map_err(|error| {
            let column = self.metadata.file_metadata().schema_descr().column(column);
            error.at(reader.name(), place(number, &column.path().string()))
        })
    }
}

/// Returns the texts in the lists of some rows. Elements of a type that is no text can only be nulls, because other
/// columns were refused.
fn lists(column: ColumnReader, stretch: &ColumnRows, listed_from: i16) -> ParquetResult<Cells> {
    match column {
        ColumnReader::ByteArrayColumnReader(column) => {
            let (values, level) = stretch.decode_lists(column, listed_from)?;
            Ok(values.into_iter().map(Some).collect::<Cells>().in_lists(vec![level]))
        }
        ColumnReader::BoolColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
        ColumnReader::Int32ColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
        ColumnReader::Int64ColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
        ColumnReader::Int96ColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
        ColumnReader::FloatColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
        ColumnReader::DoubleColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
        ColumnReader::FixedLenByteArrayColumnReader(column) => lists_of_nulls(column, stretch, listed_from),
    }
}

fn lists_of_nulls<T: DataType>(
    column: ColumnReaderImpl<T>,
    stretch: &ColumnRows,
    listed_from: i16,
) -> ParquetResult<Cells> {
    let (_, level) = stretch.decode_lists(column, listed_from)?;
    Ok(Cells::default().in_lists(vec![level]))
}

/// Rows of a column to be decoded.
struct ColumnRows {
    skipped: usize,
    rows: usize,
    /// Definition level of a value that is not null.
    max_level: i16,
}

impl ColumnRows {
    fn decode<T: DataType>(
        &self,
        mut column: ColumnReaderImpl<T>,
    ) -> ParquetResult<impl Iterator<Item = Option<T::T>>> {
        let Self { skipped, rows, max_level } = *self;
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        column.skip_records(skipped)?;
        let (read, ..) = column.read_records(rows, Some(&mut levels), None, &mut values)?;
        if read != rows {
            return Err(ParquetError::EOF(format!("{read} of {rows} rows could be read")));
        }
        let mut values = values.into_iter();
        Ok((0..rows).map(move |row| {
            // A column that cannot be null has no levels.
            let there = max_level == 0 || levels.get(row) == Some(&max_level);
            if there { values.next() } else { None }
        }))
    }

    /// Returns the values of rows with lists, without nulls, and the range of values per row.
    fn decode_lists<T: DataType>(
        &self,
        mut column: ColumnReaderImpl<T>,
        listed_from: i16,
    ) -> ParquetResult<(Vec<T::T>, Level)> {
        let Self { skipped, rows, max_level } = *self;
        let (mut levels, mut begins, mut values) = (Vec::new(), Vec::new(), Vec::new());
        column.skip_records(skipped)?;
        let (read, ..) = column.read_records(rows, Some(&mut levels), Some(&mut begins), &mut values)?;
        let (mut lists, mut value): (Level, usize) = (Vec::with_capacity(rows), 0);
        for (definition, repetition) in levels.into_iter().zip(begins) {
            if repetition == 0 {
                lists.push((definition >= listed_from).then_some(value..value));
            }
            if definition == max_level {
                value += 1;
                if let Some(Some(list)) = lists.last_mut() {
                    list.end = value;
                }
            }
        }
        if read != rows || lists.len() != rows {
            return Err(ParquetError::EOF(format!("{read} of {rows} rows could be read")));
        }
        Ok((values, lists))
    }
}
