//! Documents in memory: a list of texts, or a table of record batches.
//!
//! A source is cut into pieces of rows when it is opened. The place of a record is its row. All readings borrow the
//! text in place, so nothing is decoded and no temporary file is made. Only texts in lists are copied, because they
//! are joined.

mod columns;
mod content;

use std::ops::Range;

use self::content::MemoryRows;
use super::{Container, Opening};
use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, Layout};
use crate::memory::{HeldDocuments, InMemory};
use crate::output::{Output, TableCompression};
use crate::sources::{Content, Sources};

impl Format {
    /// A list of texts in memory. Outputs are JSONL.
    pub const TEXTS_IN_MEMORY: Self =
        Self::in_memory("texts-in-memory", "a list of texts in memory", Layout::Records);
    /// A table in memory. Outputs are Arrow IPC.
    pub const TABLE_IN_MEMORY: Self =
        Self::in_memory("table-in-memory", "a table in memory", Layout::Records);
}

/// Returns the format of documents in memory.
pub(crate) fn format_of(memory: &InMemory) -> Format {
    match memory.held() {
        HeldDocuments::Texts(_) => Format::TEXTS_IN_MEMORY,
        HeldDocuments::Batches { .. } => Format::TABLE_IN_MEMORY,
    }
}

/// Container of a list of texts.
pub(super) static TEXTS: MemoryContainer =
    MemoryContainer { format: Format::TEXTS_IN_MEMORY, output_format: Format::JSONL };
pub(super) static TABLE: MemoryContainer =
    MemoryContainer { format: Format::TABLE_IN_MEMORY, output_format: Format::ARROW };

/// Container of documents in memory. An output has the format of a file, so writing is always a conversion.
#[derive(Debug)]
pub(super) struct MemoryContainer {
    format: Format,
    output_format: Format,
}

impl Container for MemoryContainer {
    fn format(&self) -> Format {
        self.format
    }

    fn output_format(&self) -> Format {
        self.output_format
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        Ok(Box::new(MemoryRows::open(opening)?))
    }

    fn is_converted(&self) -> bool {
        true
    }

    fn annotate(
        &self,
        _sources: &Sources,
        _numbers: Range<u32>,
        _annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        _out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        Err(Error::new(ErrorKind::NoAnnotation { format: self.format }))
    }
}
