//! Finds the pages of a column chunk.
//!
//! Newer files have an index of pages, but many writers leave it out. Page headers always exist. Walking over them
//! takes one small read per page and decompresses nothing, except some pages of lists (see [`locate`]).

use std::io::{BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;

use super::header::{PageHeader, PageKind};
use super::levels::{PageLevels, begun};
use crate::source::SourceReader;

/// Buffer size of a read. A buffer of this size holds the header of a page.
const HEADER_BYTES: usize = 1 << 10;

/// A page as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredPage {
    /// Offset of the header in the file.
    pub(super) offset: u64,
    pub(super) header: PageHeader,
}

impl StoredPage {
    /// Returns the place of header and content in the file.
    pub(super) fn bytes(&self) -> Range<u64> {
        self.offset..self.offset + self.header.page_bytes()
    }

    /// Returns the place of the page, of which `first_row` is the first row.
    pub(super) fn location(&self, first_row: u64) -> Result<PageLocation> {
        Ok(PageLocation {
            offset: self.offset.cast_signed(),
            compressed_page_size: i32::try_from(self.header.page_bytes())?,
            first_row_index: first_row.cast_signed(),
        })
    }

    /// Returns the number of rows of a data page of a column without lists.
    pub(super) fn rows(&self) -> u64 {
        self.header.rows.unwrap_or(self.header.values)
    }

    /// Reports whether the values are numbers of values in the dictionary page.
    pub(super) fn uses_dictionary(&self) -> bool {
        // A page with an unknown encoding is refused when it is decoded, so it does not matter what it counts as.
        matches!(self.header.encoding, Some(Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY))
    }
}

/// Reads the headers of all pages of a column chunk, in order.
pub(super) fn stored_pages(reader: &SourceReader, column: &ColumnChunkMetaData) -> Result<Vec<StoredPage>> {
    let (start, len) = column.byte_range();
    let end = start.saturating_add(len);
    let (mut pages, mut offset) = (Vec::new(), start);
    while offset < end {
        let header = PageHeader::read(reader.get_read(offset)?)?;
        if header.page_bytes() > end - offset {
            return Err(ParquetError::EOF("a page ends behind its column".to_owned()));
        }
        pages.push(StoredPage { offset, header });
        offset += header.page_bytes();
    }
    Ok(pages)
}

/// Pages of a column chunk.
#[derive(Debug, Default)]
pub(super) struct ColumnPages {
    /// Places of the pages. The first row of a page is the first row that begins in the page or behind it.
    pub(super) locations: Vec<PageLocation>,
    /// Whether each page begins within a row; empty if each row has one value.
    is_continued: Vec<bool>,
    /// Whether each page uses the dictionary.
    uses_dictionary: Vec<bool>,
}

/// Finds the pages of a column chunk.
///
/// If rows have lists, a page of the first version does not state its number of rows, and may begin within a row,
/// because pyarrow ends a page after a fixed number of values. To count the rows of such pages, `locate` decompresses
/// the pages, and reading decompresses them again. Without the counts, every piece would have to be decoded from the
/// beginning of its row group.
pub(super) fn locate(reader: &SourceReader, column: &ColumnChunkMetaData, rows: u64) -> Result<ColumnPages> {
    let max_level = column.column_descr().max_rep_level();
    let mut found = ColumnPages::default();
    let mut row = 0u64;
    for page in stored_pages(reader, column)? {
        if page.header.kind != PageKind::Data {
            continue;
        }
        let begun = match page.header.rows {
            None if max_level > 0 => begun_in(opened(reader, column, page.location(row)?)?, max_level)?,
            _ => PageLevels { rows: page.rows(), is_continued: false },
        };
        found.push(&page, row)?;
        if max_level > 0 {
            found.is_continued.push(begun.is_continued);
        }
        row += begun.rows;
    }
    if row != rows {
        return Err(ParquetError::General(format!("its pages have {row} values for {rows} rows")));
    }
    Ok(found)
}

/// Decompresses a data page.
fn opened(reader: &SourceReader, column: &ColumnChunkMetaData, page: PageLocation) -> Result<Option<Page>> {
    let is_first = page.offset.cast_unsigned() == column.byte_range().0;
    let mut pages = SerializedPageReader::new(Arc::new(reader.clone()), column, 0, Some(vec![page]))?;
    if !is_first {
        // The library takes the bytes before the first page for a dictionary.
        pages.skip_next_page()?;
    }
    pages.get_next_page()
}

/// Counts the rows that begin in a page.
fn begun_in(page: Option<Page>, max_level: i16) -> Result<PageLevels> {
    match page {
        Some(Page::DataPage { buf, num_values, rep_level_encoding, .. }) => {
            begun(&buf, rep_level_encoding, num_values, max_level)
        }
        _ => Err(ParquetError::General("a page is not what its header says".to_owned())),
    }
}

impl ColumnPages {
    /// Adds a data page, of which `first_row` is the first row.
    pub(super) fn push(&mut self, page: &StoredPage, first_row: u64) -> Result<()> {
        self.locations.push(page.location(first_row)?);
        self.uses_dictionary.push(page.uses_dictionary());
        Ok(())
    }

    /// Opens the pages of some rows of a column without lists. Also returns the number of rows to skip before the first
    /// of these rows.
    ///
    /// If none of the pages uses the dictionary, it is left out. Otherwise, it would be decompressed again for every
    /// piece of a column, and in columns of long texts, only the first pages use it.
    pub(super) fn open<R: ChunkReader>(
        &self,
        reader: Arc<R>,
        column: &ColumnChunkMetaData,
        rows: Range<usize>,
        group_rows: usize,
    ) -> Result<(SerializedPageReader<R>, usize)> {
        let first_row = |page: &PageLocation| usize::try_from(page.first_row_index).unwrap_or(0);
        let first = self.locations.partition_point(|page| first_row(page) <= rows.start).saturating_sub(1);
        let last = self.locations.partition_point(|page| first_row(page) < rows.end);
        let pages = self.locations.get(first..last).unwrap_or(&[]);
        let Some(begin) = pages.first() else {
            let all = Some(self.locations.clone());
            return Ok((SerializedPageReader::new(reader, column, group_rows, all)?, rows.start));
        };
        if self.uses_dictionary.get(first..last).is_some_and(|uses| uses.contains(&true)) {
            let all = Some(self.locations.clone());
            return Ok((SerializedPageReader::new(reader, column, group_rows, all)?, rows.start));
        }
        let has_more = begin.offset.cast_unsigned() != column.byte_range().0;
        let skipped = rows.start - first_row(begin);
        let end = self.locations.get(last).map_or(group_rows, first_row);
        let mut section = SerializedPageReader::new(reader, column, end, Some(pages.to_vec()))?;
        if has_more {
            // The library takes the bytes before the first page for a dictionary.
            section.skip_next_page()?;
        }
        Ok((section, skipped))
    }
}

/// Reader of the pages of a column with lists, from a page on.
///
/// The library assumes that a page with a known place begins with a row. `PageSection` states for each page whether
/// it begins with a row.
pub(super) struct PageSection<P> {
    pages: P,
    /// Number of pages to skip before the next page.
    passed_over: usize,
    is_continued: std::vec::IntoIter<bool>,
}

impl<P: PageReader> PageSection<P> {
    /// Makes a reader that begins with the page in which `row` begins. Also returns the number of rows to skip before
    /// `row`. If the page begins within a row, that incomplete row counts as one row.
    pub(super) fn from_row(pages: P, located: &ColumnPages, row: usize) -> (Self, usize) {
        let first_row = |page: &PageLocation| usize::try_from(page.first_row_index).unwrap_or(0);
        let first = located.locations.partition_point(|page| first_row(page) <= row).saturating_sub(1);
        let before = located.locations.get(first).map_or(0, first_row);
        let is_continued = located.is_continued.get(first).copied().unwrap_or(false);
        let behind: Vec<bool> = located.is_continued.iter().skip(first).copied().collect();
        let section = Self { pages, passed_over: first, is_continued: behind.into_iter() };
        (section, row - before + usize::from(is_continued))
    }
}

impl<P: PageReader> Iterator for PageSection<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for PageSection<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.peek_next_page()?;
        let page = self.pages.get_next_page()?;
        if page.as_ref().is_some_and(Page::is_data_page) {
            self.is_continued.next();
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        loop {
            let Some(page) = self.pages.peek_next_page()? else { return Ok(None) };
            if page.is_dict {
                return Ok(Some(page));
            }
            if self.passed_over == 0 {
                // The number of rows is left out, because the library could use it to skip the whole page.
                return Ok(Some(PageMetadata { num_rows: None, num_levels: None, is_dict: false }));
            }
            self.pages.skip_next_page()?;
            self.passed_over -= 1;
        }
    }

    fn skip_next_page(&mut self) -> Result<()> {
        if self.peek_next_page()?.is_some_and(|page| !page.is_dict) {
            self.is_continued.next();
        }
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        Ok(self.is_continued.as_slice().first().is_none_or(|is_continued| !is_continued))
    }
}

impl Length for SourceReader {
    fn len(&self) -> u64 {
        self.size_bytes()
    }
}

impl ChunkReader for SourceReader {
    type T = BufReader<SourceCursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER_BYTES, SourceCursor { reader: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.size_bytes()) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} lie past the end of the file")));
        }
        let mut bytes = vec![0; length];
        self.read_exact_at(start, &mut bytes).map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(bytes.into())
    }
}

/// Reader of a source, forwards from some position.
pub(crate) struct SourceCursor {
    reader: SourceReader,
    at: u64,
}

impl Read for SourceCursor {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let left = self.reader.size_bytes().saturating_sub(self.at);
        let bytes = left.min(out.len() as u64) as usize;
        let (out, _) = out.split_at_mut(bytes);
        self.reader.read_exact_at(self.at, out).map_err(std::io::Error::other)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}
