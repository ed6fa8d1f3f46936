//! Finds the pages of a column chunk.
//!
//! Newer files have an index of pages, but many writers leave it out. Page headers always exist. Walking over them
//! takes one small read per page and decompresses nothing, except some pages of lists (see [`locate`]).

use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;

use super::levels::{PageLevels, begun};
use crate::source::SourceReader;

/// Buffer size of a read. A buffer of this size holds the header of a page.
const HEADER_BYTES: usize = 1 << 10;

/// Pages of a column chunk.
#[derive(Debug, Default)]
pub(super) struct ColumnPages {
    /// Places of the pages. The first row of a page is the first row that begins in the page or behind it.
    pub(super) locations: Vec<PageLocation>,
    /// Whether each page begins within a row; empty if each row has one value.
    is_continued: Vec<bool>,
}

/// Finds the pages of a column chunk.
///
/// If rows have lists, a page of the first version does not state its number of rows, and may begin within a row,
/// because pyarrow ends a page after a fixed number of values. To count the rows of such pages, `locate` decompresses
/// the pages, and reading decompresses them again. Without the counts, every piece would have to be decoded from the
/// beginning of its row group.
pub(super) fn locate(reader: &SourceReader, column: &ColumnChunkMetaData, rows: u64) -> Result<ColumnPages> {
    let recorder = Arc::new(Recorder { reader: reader.clone(), last: AtomicU64::new(0) });
    let mut pages = SerializedPageReader::new(Arc::clone(&recorder), column, rows as usize, None)?;
    let (start, len) = column.byte_range();
    let max_level = column.column_descr().max_rep_level();
    let mut found = ColumnPages::default();
    let mut row = 0u64;
    while let Some(page) = pages.peek_next_page()? {
        if page.is_dict {
            pages.skip_next_page()?;
            continue;
        }
        let offset = recorder.last.load(Ordering::Relaxed).cast_signed();
        let location = PageLocation { offset, compressed_page_size: 0, first_row_index: row.cast_signed() };
        found.locations.push(location);
        let begun = match page.num_rows {
            None if max_level > 0 => begun_in(pages.get_next_page()?, max_level)?,
            rows => {
                pages.skip_next_page()?;
                let rows = rows.or(page.num_levels).unwrap_or_default() as u64;
                PageLevels { rows, is_continued: false }
            }
        };
        if max_level > 0 {
            found.is_continued.push(begun.is_continued);
        }
        row += begun.rows;
    }
    if row != rows {
        return Err(ParquetError::General(format!("its pages have {row} values for {rows} rows")));
    }
    // A page ends where the next begins.
    let mut end = (start + len).cast_signed();
    for page in found.locations.iter_mut().rev() {
        page.compressed_page_size = i32::try_from(end - page.offset)?;
        end = page.offset;
    }
    Ok(found)
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

/// Reader that records the offset of the last header that was read, which is the offset of its page.
struct Recorder {
    reader: SourceReader,
    last: AtomicU64,
}

impl Length for Recorder {
    fn len(&self) -> u64 {
        self.reader.size_bytes()
    }
}

impl ChunkReader for Recorder {
    type T = BufReader<SourceCursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.last.store(start, Ordering::Relaxed);
        self.reader.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.reader.get_bytes(start, length)
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
