//! Plans the copy of a column chunk with long values, in parts that threads copy independently.
//!
//! Pages of which all rows are copied keep their stored bytes: they are neither decompressed nor encoded again. Rows of
//! other pages are decoded, and encoded as new pages without a dictionary. Only columns with long texts are copied in
//! this way, for two reasons. Their pages are nearly all bytes of most files, and their statistics (the smallest and the
//! largest value) are of no use, so that a copy may leave them out.
//!
//! The parts depend on the input and the selected rows alone, so the number of threads does not change the output.

use std::ops::Range;

use ::parquet::basic::{Compression, CompressionCodec, Encoding, Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;

use super::header::PageKind;
use super::pages::{ColumnPages, StoredPage, stored_pages};
use super::write::is_chosen;
use crate::source::SourceReader;

/// Minimum mean size of the values of a column that is copied in parts, in bytes.
const LONG_BYTES: i64 = 128;
/// Decompressed size of the pages of a part, in bytes. A part ends with the page that reaches this size.
const PART_BYTES: u64 = 4 << 20;

/// Copy of a column chunk in parts.
#[derive(Debug)]
pub(super) struct ChunkPlan {
    /// Dictionary page, if it is copied.
    pub(super) dictionary: Option<StoredPage>,
    /// All data pages.
    pub(super) pages: ColumnPages,
    pub(super) parts: Vec<Part>,
    /// Encodings of the column in the output.
    pub(super) encodings: Vec<Encoding>,
    /// Encoding of the pages of decoded rows.
    pub(super) encoding: Encoding,
}

/// Part of the copy of a column chunk.
#[derive(Debug)]
pub(super) enum Part {
    /// Adjacent pages that keep their bytes.
    Stored { pages: Vec<StoredPage> },
    /// Rows that are decoded, as ranges of rows of the row group.
    Decoded { rows: Vec<Range<u64>>, stored_bytes: u64 },
}

impl Part {
    /// Estimates the bytes of the part in the output. Decoded rows take at most about this many bytes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Stored { pages } => pages.iter().map(|page| page.header.page_bytes()).sum(),
            Self::Decoded { stored_bytes, .. } => *stored_bytes,
        }
    }
}

/// A data page, with the rows of it that are copied.
struct ChosenPage {
    page: StoredPage,
    /// Ranges of rows of the row group.
    chosen: Vec<Range<u64>>,
}

impl ChosenPage {
    fn is_whole(&self) -> bool {
        self.chosen.iter().map(|rows| rows.end - rows.start).sum::<u64>() == self.page.rows()
    }
}

/// Plans the copy of a column chunk; `None` if its values have to be decoded and encoded as a whole.
///
/// `rows` are the copied rows as ranges of rows of the row group, which has `group_rows` rows. `compression` is that of
/// the column in the output.
pub(super) fn plan(
    reader: &SourceReader,
    chunk: &ColumnChunkMetaData,
    group_rows: u64,
    rows: &[Range<u64>],
    compression: Compression,
) -> Result<Option<ChunkPlan>> {
    let column = chunk.column_descr();
    if column.physical_type() != Type::BYTE_ARRAY
        || column.max_rep_level() > 0
        || chunk.uncompressed_size() / LONG_BYTES < chunk.num_values()
        || chunk.compression_codec() != CompressionCodec::from(compression)
    {
        return Ok(None);
    }
    let mut dictionary = None;
    let (mut pages, mut chosen, mut row) = (ColumnPages::default(), vec![], 0);
    let mut ranges = rows.iter().peekable();
    for page in stored_pages(reader, chunk)? {
        match page.header.kind {
            PageKind::Data if page.header.encoding.is_some() => {}
            // A page that readers do not know is refused when it is decoded.
            PageKind::Data => return Ok(None),
            PageKind::Dictionary => {
                dictionary = Some(page);
                continue;
            }
            PageKind::Other => continue,
        }
        pages.push(&page, row)?;
        let end = row + page.rows();
        let mut inside = vec![];
        while let Some(range) = ranges.peek().filter(|range| range.start < end) {
            inside.push(range.start.max(row)..range.end.min(end));
            if range.end > end {
                break;
            }
            ranges.next();
        }
        row = end;
        if !inside.is_empty() {
            chosen.push(ChosenPage { page, chosen: inside });
        }
    }
    if row != group_rows || ranges.peek().is_some() {
        return Err(ParquetError::General(format!("its pages have {row} values for {group_rows} rows")));
    }

    let is_whole = rows.iter().map(|rows| rows.end - rows.start).sum::<u64>() == group_rows;
    if let Some(page) = dictionary.filter(|_| !is_whole) {
        // A copied dictionary would keep values that no copied row has, so the dictionary is left out, and all rows
        // that use it are decoded. If many rows share its values, the decoded rows would take much more space, so there
        // is no plan.
        let users = chosen.iter().filter(|chosen| chosen.page.uses_dictionary());
        let used: u64 = users.map(|chosen| chosen.page.rows()).sum();
        if used > 2 * page.header.values {
            return Ok(None);
        }
        dictionary = None;
    }
    let has_dictionary = dictionary.is_some();
    let encoding = chunk.encodings().find(is_chosen).unwrap_or(Encoding::PLAIN);
    let encodings = chunk
        .encodings()
        .filter(|encoding| {
            has_dictionary || !matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY)
        })
        .chain([encoding, Encoding::RLE])
        .collect();
    let parts = parts(chosen, has_dictionary);
    Ok(Some(ChunkPlan { dictionary, pages, parts, encodings, encoding }))
}

/// Groups pages into parts.
fn parts(chosen: Vec<ChosenPage>, has_dictionary: bool) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![];
    // Decompressed size of the pages of the last part.
    let mut size = 0;
    for chosen in chosen {
        let stays = chosen.is_whole() && (has_dictionary || !chosen.page.uses_dictionary());
        let ChosenPage { page, chosen } = chosen;
        let is_full = size >= PART_BYTES;
        match parts.last_mut().filter(|_| !is_full) {
            Some(Part::Stored { pages })
                if stays && pages.last().is_some_and(|last| last.bytes().end == page.offset) =>
            {
                pages.push(page);
            }
            Some(Part::Decoded { rows, stored_bytes }) if !stays => {
                rows.extend(chosen);
                *stored_bytes += page.header.page_bytes();
            }
            _ => {
                size = 0;
                parts.push(if stays {
                    Part::Stored { pages: vec![page] }
                } else {
                    Part::Decoded { rows: chosen, stored_bytes: page.header.page_bytes() }
                });
            }
        }
        size += page.header.unfolded_bytes;
    }
    parts
}
