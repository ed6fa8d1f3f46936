//! Parquet files.
//!
//! They are read and written column by column, with Parquet's own levels and physical types and without a detour
//! through Arrow: a 96-bit timestamp, a decimal in a byte array, a list in the old two-level form or a JSON annotation
//! has no Arrow type that becomes the same column again. So a copy has the schema of the input to the last field id,
//! its key-value metadata, sorting columns and, unless another is chosen, its compression.
//!
//! Memory is bounded by pages, not by row groups: the pages of the text and id columns are located once, by their
//! headers, and a scan decodes a few of them at a time, wherever they lie in their row group. Values stay where they were
//! decoded, so that one of a dictionary takes no more room for many rows than for one.

mod annotate;
mod copy;
mod load;
mod meaning;
mod open;
mod pages;
mod write;

use std::ops::Range;
use std::sync::Arc;

use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::page_index::offset_index::PageLocation;
use ::parquet::schema::types::Type;

pub(crate) use self::annotate::annotate as annotate_parquet;
pub(crate) use self::copy::copy as copy_parquet;
use crate::column::Columns;

/// A Parquet file, as far as it is remembered.
#[derive(Debug)]
pub(in crate::table) struct File {
    metadata: Arc<ParquetMetaData>,
    columns: Columns,
    groups: Vec<Group>,
}

/// A row group.
#[derive(Debug)]
struct Group {
    rows: Range<u64>,
    /// Where the pages of the wanted columns lie, in the order of [`Columns::all`].
    pages: Vec<Vec<PageLocation>>,
}

impl File {
    /// The columns at the top.
    pub(in crate::table) fn schema(&self) -> &Type {
        self.metadata.file_metadata().schema_descr().root_schema()
    }

    /// The row group that a row lies in.
    fn group_of(&self, row: u64) -> usize {
        self.groups.partition_point(|group| group.rows.end <= row)
    }
}

/// A column in a message.
fn place(group: usize, column: &str) -> String {
    format!("row group {group}, column `{}`", minwise::escape_control(column))
}
