//! Where the pages of a column chunk lie.
//!
//! Newer files say so themselves in an index that many writers leave out. Their headers always say it: walking over them
//! takes a small read for each page, and nothing is decompressed.

use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::parquet::column::page::PageReader;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;

use crate::source::Reader;

/// Enough for the header of a page.
const HEADER_BYTES: usize = 1 << 10;

/// The pages of a column without repetition.
pub(super) fn locate(reader: &Reader, column: &ColumnChunkMetaData, rows: u64) -> Result<Vec<PageLocation>> {
    let recorder = Arc::new(Recorder { reader: reader.clone(), last: AtomicU64::new(0) });
    let mut pages = SerializedPageReader::new(Arc::clone(&recorder), column, rows as usize, None)?;
    let (start, len) = column.byte_range();
    let mut found: Vec<PageLocation> = Vec::new();
    let mut row = 0u64;
    while let Some(page) = pages.peek_next_page()? {
        if !page.is_dict {
            let offset = recorder.last.load(Ordering::Relaxed).cast_signed();
            found.push(PageLocation { offset, compressed_page_size: 0, first_row_index: row.cast_signed() });
            row += page.num_rows.or(page.num_levels).unwrap_or_default() as u64;
        }
        pages.skip_next_page()?;
    }
    if row != rows {
        return Err(ParquetError::General(format!("its pages have {row} values for {rows} rows")));
    }
    // A page ends where the next begins.
    let mut end = (start + len).cast_signed();
    for page in found.iter_mut().rev() {
        page.compressed_page_size = i32::try_from(end - page.offset)?;
        end = page.offset;
    }
    Ok(found)
}

/// Takes note of where the last header was looked for, which is where its page begins.
struct Recorder {
    reader: Reader,
    last: AtomicU64,
}

impl Length for Recorder {
    fn len(&self) -> u64 {
        self.reader.size_bytes()
    }
}

impl ChunkReader for Recorder {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.last.store(start, Ordering::Relaxed);
        self.reader.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.reader.get_bytes(start, length)
    }
}

impl Length for Reader {
    fn len(&self) -> u64 {
        self.size_bytes()
    }
}

impl ChunkReader for Reader {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER_BYTES, Cursor { reader: self.clone(), at: start }))
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

/// A source read forwards from some position.
pub(crate) struct Cursor {
    reader: Reader,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let left = self.reader.size_bytes().saturating_sub(self.at);
        let bytes = left.min(out.len() as u64) as usize;
        let (out, _) = out.split_at_mut(bytes);
        self.reader.read_exact_at(self.at, out).map_err(std::io::Error::other)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}
