//! Opens a file: reads its footer, finds its columns and cuts it into pieces.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::basic::{CompressionCodec, ConvertedType, LogicalType, Type};
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
    RowGroupMetaData,
};
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::leaves::{Leaf, leaves};
use super::pages::{ColumnPages, locate};
use super::{ParquetFile, RowGroup, place};
use crate::column::{self, ColumnNumbers, KnownColumn};
use crate::container::table::{Foreign, OpenTable, Piece, VALUES, guarded};
use crate::error::{Error, Result};
use crate::options::ReadOptions;
use crate::problem::FileProblem;
use crate::source::SourceReader;

/// Minimum decoded size of the texts of a piece in bytes, unless its row group ends.
const PIECE_BYTES: u64 = 64 << 10;
/// Maximum number of rows of a piece. The limit is needed because the decoded size of dictionary values is unknown,
/// and each row takes some memory beside its text.
const PIECE_ROWS: u64 = 32 << 10;
/// Minimum number of bytes that a row counts for, as in a file of lines.
const ROW_BYTES: u64 = 32;

impl ParquetFile {
    /// Reads the footer, finds the columns and locates their pages.
    pub(super) fn open(reader: &SourceReader, options: &ReadOptions) -> Result<OpenTable<Self>> {
        // Statistics are not read, because they take most of the memory. They are computed anew for the output.
        let lean = ParquetMetaDataOptions::new()
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
        let metadata = guarded(|| {
            ParquetMetaDataReader::new().with_metadata_options(Some(lean)).parse_and_finish(reader)
        });
        let metadata = Arc::new(metadata.map_err(|error| error.at(reader.name(), "its footer"))?);
        let schema = metadata.file_metadata().schema_descr();
        let leaves = leaves(schema.root_schema());
        let known: Vec<Option<KnownColumn>> = leaves
            .iter()
            .zip(schema.columns())
            .map(|(leaf, column)| {
                let path = leaf.as_ref()?.path.clone();
                Some(KnownColumn { path, is_null: is_null(column) })
            })
            .collect();
        let mut columns = column::find(reader.name(), &known, options)
            .map_err(|error| raw_path(reader, &leaves, schema, options).unwrap_or(error))?;
        // A column of type null is ignored, because it holds no ids.
        columns.id = columns.id.filter(|&id| !is_null(&schema.column(id)));
        let check = |number: usize, expected, fits: fn(&ColumnDescriptor) -> bool| {
            check(reader, &leaves, number, &schema.column(number), expected, fits)
        };
        for &text in &columns.text {
            check(text, "texts", |column| is_text(column) || is_null(column))?;
        }
        if let Some(id) = columns.id {
            check(id, "texts, whole numbers or booleans", is_id)?;
        }
        for &value in &columns.values {
            check(value, VALUES, is_value)?;
        }

        let (mut groups, mut pieces, mut rows) = (Vec::new(), Vec::new(), 0);
        for (number, group) in metadata.row_groups().iter().enumerate() {
            check_compression(reader, number, group)?;
            let count = u64::try_from(group.num_rows())
                .map_err(|_| reader.bad(format!("row group {number}"), "it has fewer than no rows"))?;
            let pages = located(reader, number, group, &columns)?;
            let texts: Vec<TextPages<'_>> =
                columns.text.iter().map(|text| group.column(*text)).zip(&pages).collect();
            cut(&mut pieces, rows..rows + count, &texts);
            groups.push(RowGroup { rows: rows..rows + count, pages });
            rows += count;
        }
        Ok(OpenTable { pieces, rows, form: Self { metadata, columns, leaves, groups } })
    }
}

/// Refuses a row group with a compression that cannot be written, before the work begins.
fn check_compression(reader: &SourceReader, number: usize, group: &RowGroupMetaData) -> Result<()> {
    for chunk in group.columns() {
        if matches!(chunk.compression_codec(), CompressionCodec::BROTLI | CompressionCodec::LZO) {
            let message =
                format!("it is compressed by {:?}, which is not supported", chunk.compression_codec());
            return Err(reader.bad(place(number, &chunk.column_path().string()), message));
        }
    }
    Ok(())
}

/// Finds the pages of the wanted columns of a row group.
fn located(
    reader: &SourceReader,
    number: usize,
    group: &RowGroupMetaData,
    columns: &ColumnNumbers,
) -> Result<Vec<ColumnPages>> {
    let locate = |column: usize| {
        let chunk = group.column(column);
        guarded(|| locate(reader, chunk, group.num_rows() as u64))
            .map_err(|error: Foreign| error.at(reader.name(), place(number, &chunk.column_path().string())))
    };
    columns.all().map(locate).collect()
}

/// A column chunk of texts, and its pages.
type TextPages<'g> = (&'g ColumnChunkMetaData, &'g ColumnPages);

/// Cuts a row group into pieces at the pages of its texts.
fn cut(pieces: &mut Vec<Piece>, rows: Range<u64>, texts: &[TextPages<'_>]) {
    let mut starts: Vec<(u64, u64)> = vec![];
    for (chunk, pages) in texts {
        let unfolds = chunk.uncompressed_size().max(1) as f64 / chunk.compressed_size().max(1) as f64;
        let size = |page: &PageLocation| (f64::from(page.compressed_page_size) * unfolds) as u64;
        // If no row begins in the last pages, these pages are a part of the last row.
        let first_row =
            |page: &PageLocation| (rows.start + page.first_row_index as u64).min(rows.end.saturating_sub(1));
        starts.extend(pages.locations.iter().map(|page| (first_row(page), size(page))));
    }
    starts.sort_by_key(|(row, _)| *row);

    let least = least(texts);
    let mut begun: Vec<Piece> = vec![];
    let mut last_row = None;
    for (row, size) in starts {
        // Two pages begin with the same row if no row begins in the first of them.
        match begun.last_mut() {
            Some(piece) if piece.size_bytes < least || last_row == Some(row) => piece.size_bytes += size,
            _ => begun.push(Piece { first_row: row, size_bytes: size }),
        }
        last_row = Some(row);
    }

    let ends = begun.iter().skip(1).map(|piece| piece.first_row).chain([rows.end]);
    for (piece, end) in begun.iter().zip(ends) {
        let parts = (end - piece.first_row).div_ceil(PIECE_ROWS);
        pieces.extend((0..parts).map(|part| {
            let first_row = piece.first_row + part * PIECE_ROWS;
            let rows = PIECE_ROWS.min(end - first_row);
            Piece { first_row, size_bytes: (piece.size_bytes / parts).max(rows * ROW_BYTES) }
        }));
    }
}

/// Returns the minimum decoded size of the texts of a piece, in bytes. The pages of several columns do not end at the
/// same rows. A piece therefore has about the size of the largest page, because smaller pieces would cut large pages
/// and decode them repeatedly.
fn least(texts: &[TextPages<'_>]) -> u64 {
    let page = |(chunk, pages): &TextPages<'_>| {
        u64::try_from(chunk.uncompressed_size()).unwrap_or(0) / pages.locations.len().max(1) as u64
    };
    let largest = texts.iter().map(page).max().filter(|_| texts.len() > 1);
    largest.unwrap_or(0).max(PIECE_BYTES)
}

/// Makes the error that a list was named by its path in the file, such as `tags.list.element`; `None` if no list was
/// named in this way.
fn raw_path(
    reader: &SourceReader,
    leaves: &[Option<Leaf>],
    schema: &SchemaDescriptor,
    options: &ReadOptions,
) -> Option<Error> {
    let names = options.text_fields.iter().map(ToString::to_string);
    let (name, leaf) = names
        .filter_map(|name| {
            let number = schema.columns().iter().position(|column| column.path().string() == name)?;
            Some((name, leaves.get(number)?.as_ref()?))
        })
        .find(|(_, leaf)| leaf.path.has_lists())?;
    let (found, in_lists) = ("lists".to_owned(), vec![leaf.path.to_string()]);
    let problem = FileProblem::ColumnType { column: name, found, expected: "texts", in_lists };
    Some(Error::inside(reader.name(), problem))
}

fn check(
    reader: &SourceReader,
    leaves: &[Option<Leaf>],
    number: usize,
    column: &ColumnDescriptor,
    expected: &'static str,
    fits: fn(&ColumnDescriptor) -> bool,
) -> Result<()> {
    if fits(column) {
        return Ok(());
    }
    let found = match column.logical_type_ref() {
        Some(logical) => format!("{:?} ({logical:?})", column.physical_type()),
        None => format!("{:?}", column.physical_type()),
    };
    let leaf = leaves.get(number).and_then(Option::as_ref);
    let column = leaf.map_or_else(|| column.path().string(), |leaf| leaf.path.to_string());
    Err(Error::inside(reader.name(), FileProblem::ColumnType { column, found, expected, in_lists: vec![] }))
}

/// Reports whether the type of a column is null, so that all its values are null.
fn is_null(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Unknown))
}

/// Reports whether a column may hold texts. Old writers do not annotate texts, so only columns that are annotated as
/// something else are refused.
fn is_text(column: &ColumnDescriptor) -> bool {
    column.physical_type() == Type::BYTE_ARRAY
        && column.converted_type() != ConvertedType::DECIMAL
        && column.converted_type() != ConvertedType::BSON
}

/// Reports whether a column holds values that can be read. Decimal numbers that are stored as bytes cannot be read.
fn is_value(column: &ColumnDescriptor) -> bool {
    column.physical_type() != Type::FIXED_LEN_BYTE_ARRAY
        && (column.physical_type() != Type::BYTE_ARRAY || is_text(column))
}

/// Reports whether a column may hold ids.
fn is_id(column: &ColumnDescriptor) -> bool {
    match column.physical_type() {
        Type::BOOLEAN => true,
        Type::INT32 | Type::INT64 => {
            matches!(column.logical_type_ref(), None | Some(LogicalType::Integer { .. }))
        }
        _ => is_text(column),
    }
}
