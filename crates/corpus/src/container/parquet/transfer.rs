//! Reads the rows and pages of a column chunk that are copied.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::file::reader::ChunkReader;
use ::parquet::file::serialized_reader::SerializedPageReader;
use flate2::Crc;

use super::pages::StoredPage;
use super::parts::ChunkPlan;
use super::target::WrittenPages;
use crate::container::table::Selection;
use crate::source::SourceReader;

/// Number of bytes of one column that are decoded together.
const BATCH_BYTES: u64 = 1 << 20;
/// Maximum number of rows that are decoded together.
pub(super) const BATCH_ROWS: usize = 1024;

/// Column chunk that rows are copied from.
pub(super) struct SourceColumn<'f> {
    pub(super) reader: SourceReader,
    pub(super) chunk: &'f ColumnChunkMetaData,
    /// Number of the first row of the row group in its file.
    pub(super) first_row: u64,
    pub(super) group_rows: u64,
}

impl SourceColumn<'_> {
    /// Returns the rows of a selection as ranges of rows of the row group.
    pub(super) fn rows<T>(&self, selection: &Selection<T>) -> Vec<Range<u64>> {
        let rows = selection.rows.iter();
        rows.map(|rows| rows.start - self.first_row..rows.end - self.first_row).collect()
    }

    /// Returns adjacent pages as they are stored.
    pub(super) fn stored(&self, pages: &[StoredPage]) -> ParquetResult<WrittenPages> {
        let begin = pages.first().map_or(0, |page| page.offset);
        let end = pages.last().map_or(0, |page| page.bytes().end);
        let mut bytes = vec![0; usize::try_from(end - begin)?];
        self.reader
            .read_exact_at(begin, &mut bytes)
            .map_err(|error| ParquetError::External(Box::new(error)))?;
        let mut written = WrittenPages {
            bytes: vec![],
            locations: Vec::with_capacity(pages.len()),
            rows: 0,
            unfolded_bytes: 0,
        };
        for page in pages {
            let location = page.location(written.rows.cast_unsigned())?;
            let offset = location.offset - begin.cast_signed();
            let header_bytes = page.header.header_bytes as usize;
            let content = bytes.get(offset as usize..).and_then(|bytes| bytes.get(header_bytes..));
            let content = content.and_then(|content| content.get(..page.header.stored_bytes as usize));
            if let (Some(checksum), Some(content)) = (page.header.checksum, content) {
                let mut crc = Crc::new();
                crc.update(content);
                if crc.sum() != checksum {
                    return Err(ParquetError::General("a page does not fit its checksum".to_owned()));
                }
            }
            written.locations.push(PageLocation { offset, ..location });
            written.rows += page.rows().cast_signed();
            written.unfolded_bytes += (page.header.header_bytes + page.header.unfolded_bytes).cast_signed();
        }
        written.bytes = bytes;
        Ok(written)
    }

    /// Copies rows of a part.
    pub(super) fn copy_part(
        &self,
        plan: &ChunkPlan,
        rows: &[Range<u64>],
        to: &mut ColumnWriter<'_>,
    ) -> ParquetResult<()> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
        let all = usize::try_from(first.start)?..usize::try_from(last.end)?;
        let source = Arc::new(self.reader.clone());
        let (pages, skipped) = plan.pages.open(source, self.chunk, all, usize::try_from(self.group_rows)?)?;
        self.transfer(pages, first.start - skipped as u64, rows, to)
    }

    /// Copies rows, given as ranges of rows of the row group.
    pub(super) fn copy(&self, rows: &[Range<u64>], to: &mut ColumnWriter<'_>) -> ParquetResult<()> {
        let source = Arc::new(self.reader.clone());
        let group_rows = usize::try_from(self.group_rows)?;
        let pages = SerializedPageReader::new(source, self.chunk, group_rows, None)?;
        self.transfer(pages, 0, rows, to)
    }

    /// Copies rows from `pages`, which begin with the row `begin` of the row group.
    fn transfer<R: ChunkReader + 'static>(
        &self,
        pages: SerializedPageReader<R>,
        begin: u64,
        rows: &[Range<u64>],
        column: &mut ColumnWriter<'_>,
    ) -> ParquetResult<()> {
        let chunk = self.chunk;
        let row_bytes = chunk.uncompressed_size().max(1) as u64 / self.group_rows.max(1);
        let transfer = Transfer {
            begin,
            rows,
            batch: usize::try_from(BATCH_BYTES / row_bytes.max(1))?.clamp(1, BATCH_ROWS),
            definition: chunk.column_descr().max_def_level() > 0,
            repetition: chunk.column_descr().max_rep_level() > 0,
        };
        match (get_column_reader(chunk.column_descr_ptr(), Box::new(pages)), column) {
            (ColumnReader::BoolColumnReader(from), ColumnWriter::BoolColumnWriter(to)) => {
                transfer.run(from, to)
            }
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
        }
    }
}

/// Settings for copying some rows of a column.
struct Transfer<'a> {
    /// Row of the row group that the reader begins with.
    begin: u64,
    /// Rows to copy, as ranges of rows of the row group.
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
        let mut at = self.begin;
        for rows in self.rows {
            let skipped = from.skip_records((rows.start - at) as usize)? as u64;
            if skipped != rows.start - at {
                return Err(cut_short(at + skipped));
            }
            at = rows.start;
            while at < rows.end {
                let wanted = ((rows.end - at) as usize).min(self.batch - held.rows);
                let HeldRows { values, definitions, repetitions, .. } = &mut held;
                let (read, ..) = from.read_records(wanted, Some(definitions), Some(repetitions), values)?;
                if read == 0 {
                    return Err(cut_short(at));
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
