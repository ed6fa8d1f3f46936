//! Chooses the properties of a Parquet file that is written in the form of another.

use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use ::parquet::file::metadata::{KeyValue, ParquetMetaData};
use ::parquet::file::properties::{WriterProperties, WriterPropertiesPtr};

use crate::output::TableCompression;

/// Name and version of the program that writes the file, in the form that readers parse.
pub(super) const CREATED_BY: &str = concat!("minwise version ", env!("CARGO_PKG_VERSION"));

/// Returns the properties for a file in the form of the file with this metadata: the same compression and encoding
/// for each column, the same order of rows, and `key_values`.
pub(super) fn properties(
    metadata: &ParquetMetaData,
    key_values: Option<Vec<KeyValue>>,
    compression: TableCompression,
) -> WriterPropertiesPtr {
    let mut properties =
        WriterProperties::builder().set_created_by(CREATED_BY.to_owned()).set_key_value_metadata(key_values);
    if let Some(group) = metadata.row_groups().first() {
        properties = properties.set_sorting_columns(group.sorting_columns().cloned());
        for chunk in group.columns() {
            let column = chunk.column_path().clone();
            properties = properties
                .set_column_compression(column.clone(), of_column(compression, chunk.compression()))
                .set_column_dictionary_enabled(column.clone(), chunk.dictionary_page_offset().is_some());
            if let Some(encoding) = chunk.encodings().find(is_chosen) {
                properties = properties.set_column_encoding(column, encoding);
            }
        }
    }
    // The format version stays the default, because every reader knows it.
    Arc::new(properties.build())
}

/// Returns the compression of a column of an output. `before` is the compression of the column in the input.
pub(super) fn of_column(compression: TableCompression, before: Compression) -> Compression {
    match compression {
        TableCompression::Keep => before,
        TableCompression::None => Compression::UNCOMPRESSED,
        TableCompression::Snappy => Compression::SNAPPY,
        TableCompression::Gzip => Compression::GZIP(GzipLevel::default()),
        TableCompression::Lz4 => Compression::LZ4_RAW,
        TableCompression::Zstd => Compression::ZSTD(ZstdLevel::default()),
    }
}

/// Reports whether a writer chose an encoding. `PLAIN`, dictionary encodings and the encodings of levels do not count
/// as chosen, because writers use them by default.
pub(super) fn is_chosen(encoding: &Encoding) -> bool {
    matches!(
        encoding,
        Encoding::DELTA_BINARY_PACKED
            | Encoding::DELTA_LENGTH_BYTE_ARRAY
            | Encoding::DELTA_BYTE_ARRAY
            | Encoding::BYTE_STREAM_SPLIT
    )
}
