//! Writes a Parquet file column by column.
//!
//! The writer of the library takes values, or a whole encoded column whose size is known beforehand. [`TableFile`] also
//! takes the pages of a column one after the other, so that a column need not fit into the memory. Everything else is
//! as in a file of the library: the same fields, the same page indexes and the same order of bytes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::basic::{CompressionCodec, Encoding};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use ::parquet::file::page_index::column_index::ColumnIndexMetaData;
use ::parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use ::parquet::file::properties::WriterPropertiesPtr;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::{ColumnDescPtr, SchemaDescPtr, SchemaDescriptor, TypePtr};

use crate::output::Output;

const MAGIC: &[u8; 4] = b"PAR1";

/// Parquet file that is being written.
pub(super) struct TableFile<'o> {
    sink: TrackedWrite<FileSink<'o>>,
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
    groups: Vec<RowGroupMetaData>,
    column_indexes: Vec<Vec<ColumnIndexMetaData>>,
    offset_indexes: Vec<Vec<OffsetIndexMetaData>>,
    group: GroupInProgress,
}

/// Row group that is being written.
#[derive(Default)]
struct GroupInProgress {
    /// Offset of the row group in the file.
    begin: i64,
    rows: i64,
    columns: Vec<ColumnChunkMetaData>,
    column_indexes: Vec<ColumnIndexMetaData>,
    offset_indexes: Vec<OffsetIndexMetaData>,
}

/// Encoded pages of a column, without the dictionary.
#[derive(Debug)]
pub(super) struct WrittenPages {
    pub(super) bytes: Vec<u8>,
    /// Places of the pages: offsets in `bytes`, and rows counted from the first row of `bytes`.
    pub(super) locations: Vec<PageLocation>,
    pub(super) rows: i64,
    /// Size of the pages before compression, with their headers.
    pub(super) unfolded_bytes: i64,
}

/// Column of which pages are written one after the other.
pub(super) struct PagedColumn {
    column: ColumnDescPtr,
    codec: CompressionCodec,
    encodings: Vec<Encoding>,
    begin: i64,
    dictionary_bytes: Option<i64>,
    locations: Vec<PageLocation>,
    rows: i64,
    unfolded_bytes: i64,
}

impl<'o> TableFile<'o> {
    /// Begins a file.
    pub(super) fn new(out: &'o mut Output, schema: TypePtr, properties: WriterPropertiesPtr) -> Result<Self> {
        let mut sink = TrackedWrite::new(FileSink { out, is_last: false, failed: Arc::default() });
        sink.write_all(MAGIC)?;
        let group =
            GroupInProgress { begin: (MAGIC.len() as u64).cast_signed(), ..GroupInProgress::default() };
        let schema = Arc::new(SchemaDescriptor::new(schema));
        let (groups, column_indexes, offset_indexes) = (vec![], vec![], vec![]);
        Ok(Self { sink, schema, properties, groups, column_indexes, offset_indexes, group })
    }

    /// Returns the columns and the properties for writers of columns in memory.
    pub(super) fn form(&self) -> (SchemaDescPtr, WriterPropertiesPtr) {
        (Arc::clone(&self.schema), Arc::clone(&self.properties))
    }

    fn at(&self) -> i64 {
        (self.sink.bytes_written() as u64).cast_signed()
    }

    /// Returns the next column of the row group.
    fn next_column(&self) -> Result<ColumnDescPtr> {
        let missing = || ParquetError::General("the output has no such column".to_owned());
        self.schema.columns().get(self.group.columns.len()).cloned().ok_or_else(missing)
    }

    /// Writes the next column. `fill` writes its values.
    pub(super) fn write_column(
        &mut self,
        fill: impl FnOnce(&mut ColumnWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let (column, properties) = (self.next_column()?, Arc::clone(&self.properties));
        let pages = SerializedPageWriter::new(&mut self.sink);
        let mut writer = get_column_writer(column, properties, Box::new(pages));
        fill(&mut writer)?;
        let closed = writer.close()?;
        self.end_column(closed)
    }

    /// Writes the next column, which was encoded in memory.
    pub(super) fn append_column(&mut self, bytes: &[u8], mut closed: ColumnCloseResult) -> Result<()> {
        let begin = self.at();
        self.sink.write_all(bytes)?;
        let metadata = closed.metadata;
        let dictionary = metadata.dictionary_page_offset().map(|offset| offset + begin);
        let data = metadata.data_page_offset() + begin;
        closed.metadata = metadata
            .into_builder()
            .set_dictionary_page_offset(dictionary)
            .set_data_page_offset(data)
            .build()?;
        for page in closed.offset_index.iter_mut().flat_map(|index| &mut index.page_locations) {
            page.offset += begin;
        }
        self.end_column(closed)
    }

    fn end_column(&mut self, closed: ColumnCloseResult) -> Result<()> {
        let rows = i64::try_from(closed.rows_written)?;
        let index = closed.column_index.unwrap_or(ColumnIndexMetaData::NONE);
        let missing = || ParquetError::General("a column has no places of pages".to_owned());
        self.add_column(closed.metadata, rows, index, closed.offset_index.ok_or_else(missing)?)
    }

    fn add_column(
        &mut self,
        metadata: ColumnChunkMetaData,
        rows: i64,
        column_index: ColumnIndexMetaData,
        offset_index: OffsetIndexMetaData,
    ) -> Result<()> {
        let group = &mut self.group;
        if group.columns.is_empty() {
            group.rows = rows;
        }
        if group.rows != rows {
            let message = format!("its columns have {} and {rows} rows", group.rows);
            return Err(ParquetError::General(message));
        }
        group.columns.push(metadata);
        group.column_indexes.push(column_index);
        group.offset_indexes.push(offset_index);
        Ok(())
    }

    /// Begins the next column, whose pages are written one after the other. `dictionary` is the stored dictionary page
    /// and its size before compression.
    pub(super) fn begin_paged(
        &mut self,
        codec: CompressionCodec,
        encodings: Vec<Encoding>,
        dictionary: Option<(&[u8], i64)>,
    ) -> Result<PagedColumn> {
        let (column, begin) = (self.next_column()?, self.at());
        let mut unfolded_bytes = 0;
        if let Some((bytes, unfolded)) = dictionary {
            self.sink.write_all(bytes)?;
            unfolded_bytes = unfolded;
        }
        let dictionary_bytes = dictionary.map(|_| self.at() - begin);
        let (locations, rows) = (vec![], 0);
        Ok(PagedColumn { column, codec, encodings, begin, dictionary_bytes, locations, rows, unfolded_bytes })
    }

    /// Writes pages of a column.
    pub(super) fn write_pages(&mut self, column: &mut PagedColumn, pages: WrittenPages) -> Result<()> {
        let (offset, row) = (self.at(), column.rows);
        self.sink.write_all(&pages.bytes)?;
        column.locations.extend(pages.locations.into_iter().map(|page| PageLocation {
            offset: page.offset + offset,
            first_row_index: page.first_row_index + row,
            ..page
        }));
        column.rows += pages.rows;
        column.unfolded_bytes += pages.unfolded_bytes;
        Ok(())
    }

    /// Ends a column. It has neither statistics nor an index of values, because nobody decoded all its values.
    pub(super) fn end_paged(&mut self, column: PagedColumn) -> Result<()> {
        let PagedColumn {
            column,
            codec,
            encodings,
            begin,
            dictionary_bytes,
            locations,
            rows,
            unfolded_bytes,
        } = column;
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression_codec(codec)
            .set_encodings(encodings)
            .set_num_values(rows)
            .set_total_compressed_size(self.at() - begin)
            .set_total_uncompressed_size(unfolded_bytes)
            .set_dictionary_page_offset(dictionary_bytes.map(|_| begin))
            .set_data_page_offset(begin + dictionary_bytes.unwrap_or(0))
            .build()?;
        let index = OffsetIndexMetaData { page_locations: locations, unencoded_byte_array_data_bytes: None };
        self.add_column(metadata, rows, ColumnIndexMetaData::NONE, index)
    }

    /// Ends the row group. The next column begins the next row group.
    pub(super) fn end_group(&mut self) -> Result<()> {
        let most = || ParquetError::General(format!("a file has at most {} row groups", i16::MAX));
        let ordinal = i16::try_from(self.groups.len()).map_err(|_| most())?;
        let next = GroupInProgress { begin: self.at(), ..GroupInProgress::default() };
        let group = std::mem::replace(&mut self.group, next);
        let bytes = group.columns.iter().map(ColumnChunkMetaData::uncompressed_size).sum();
        let metadata = RowGroupMetaData::builder(Arc::clone(&self.schema))
            .set_column_metadata(group.columns)
            .set_total_byte_size(bytes)
            .set_num_rows(group.rows)
            .set_sorting_columns(self.properties.sorting_columns().cloned())
            .set_ordinal(ordinal)
            .set_file_offset(group.begin)
            .build()?;
        self.groups.push(metadata);
        self.column_indexes.push(group.column_indexes);
        self.offset_indexes.push(group.offset_indexes);
        Ok(())
    }

    /// Writes the end of the file.
    pub(super) fn finish(self) -> Result<()> {
        let Self { mut sink, schema, properties, groups, column_indexes, offset_indexes, group: _ } = self;
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let about = FileMetaData::new(
            properties.writer_version().as_num(),
            rows,
            Some(properties.created_by().to_owned()),
            properties.key_value_metadata().cloned(),
            schema,
            None,
        );
        let metadata = ParquetMetaDataBuilder::new(about)
            .set_row_groups(groups)
            .set_column_index(Some(column_indexes))
            .set_offset_index(Some(offset_indexes))
            .build();
        sink.inner_mut().is_last = true;
        let failed = Arc::clone(&sink.inner().failed);
        let path_in_schema = properties.write_path_in_schema();
        let written = ParquetMetaDataWriter::new_with_tracked(sink, &metadata)
            .with_write_path_in_schema(path_in_schema)
            .finish();
        let failed = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(written, |error| Err(error.into()))
    }
}

/// Output that remembers the first failure while the end of the file is written, because the library then drops a
/// buffer without reporting whether its bytes could be written.
struct FileSink<'o> {
    out: &'o mut Output,
    is_last: bool,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl FileSink<'_> {
    fn remember(&self, error: io::Error) -> io::Error {
        if !self.is_last {
            return error;
        }
        let kind = error.kind();
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        kind.into()
    }
}

impl Write for FileSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| self.remember(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| self.remember(error))
    }
}
