//! Arrow IPC, as a file or as a stream.
//!
//! Both are a sequence of messages; a file has a footer that says where they lie, a stream is walked from its start.
//! After that there is no difference: any record batch can be read at its place, with the dictionaries that came before
//! it. A batch is the least that can be read, so that memory is bounded by the largest of them.

mod annotate;
mod blocks;
mod copy;
mod decode;
mod dictionaries;
mod lengths;
mod values;

use std::sync::{Arc, Mutex};

use arrow_ipc::{Block, CompressionType};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

pub(crate) use self::annotate::annotate as annotate_arrow;
pub(crate) use self::copy::copy as copy_arrow;
use self::decode::Decoder;
use self::dictionaries::Dictionaries;
use crate::column::Columns;

/// An Arrow IPC file or stream, as far as it is remembered.
#[derive(Debug)]
pub(in crate::table) struct File {
    schema: SchemaRef,
    shape: Shape,
    dictionaries: Dictionaries,
    /// Those that have rows.
    batches: Vec<Batch>,
    /// Remarks in the footer, which are passed on.
    remarks: Vec<(String, String)>,
    columns: Columns,
    /// For each column that can be named, the way to it: a column, and members of structs from there on.
    paths: Vec<Vec<usize>>,
    /// Decodes the wanted columns. Dictionaries are read once for all threads.
    decoder: Mutex<Arc<Decoder>>,
}

/// Whether there is a footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    File,
    Stream,
}

/// A record batch.
#[derive(Clone, Copy, Debug)]
struct Batch {
    block: Block,
    first_row: u64,
    rows: u64,
    /// How many dictionaries came before it.
    dictionaries: usize,
    compression: Option<CompressionType>,
}

impl File {
    /// The columns at the top.
    pub(in crate::table) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A column that has a dictionary, and cannot have another one in a file like this.
    pub(in crate::table) fn of_one_dictionary(&self) -> Option<&str> {
        let has_one = |field: &&Field| matches!(field.data_type(), DataType::Dictionary(..));
        let column = self.schema.flattened_fields().into_iter().find(has_one)?;
        (self.shape == Shape::File && !self.dictionaries.blocks.is_empty()).then_some(column.name())
    }

    /// The record batch that a row lies in.
    fn batch_of(&self, row: u64) -> usize {
        self.batches.partition_point(|batch| batch.first_row + batch.rows <= row)
    }

    /// A file of no columns.
    #[cfg(test)]
    pub(in crate::table) fn empty(columns: Columns) -> Self {
        Self {
            schema: SchemaRef::new(Schema::empty()),
            shape: Shape::File,
            dictionaries: Dictionaries::default(),
            batches: vec![],
            remarks: vec![],
            columns,
            paths: vec![],
            decoder: Mutex::default(),
        }
    }
}
