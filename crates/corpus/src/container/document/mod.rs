//! Whole files that are one document each: documents of any kind that can be read, and plain texts.

mod content;
mod find;

use std::ops::Range;

use self::content::WholeFile;
use self::find::ReadingMode;
use super::jsonl::Jsonl;
use super::{Container, Opening};
use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::Result;
use crate::format::{Format, Layout};
use crate::output::{Output, TableCompression};
use crate::sources::{Content, Sources};

impl Format {
    /// Files that are one document each, of any kind that [`extract`](crate::extract) reads.
    pub const DOCUMENT: Self = Self::new("document", "a document", Layout::Texts);
    /// Files that are one document each, and are read as plain text, whatever kind of document they are.
    pub const TEXT: Self = Self::new("text", "text", Layout::Texts);
}

/// Container of files that are read as the kind of document they are.
pub(super) static DOCUMENT: Files = Files { format: Format::DOCUMENT, reading: ReadingMode::Extracted };
/// Container of files that are read as plain text.
pub(super) static TEXT: Files = Files { format: Format::TEXT, reading: ReadingMode::Plain };

/// Container of files that are one document each.
#[derive(Debug)]
pub(super) struct Files {
    format: Format,
    reading: ReadingMode,
}

impl Files {
    /// Reports whether files that no other format claims are read by this container.
    fn is_last_resort(&self) -> bool {
        self.reading == ReadingMode::Extracted
    }
}

impl Container for Files {
    fn format(&self) -> Format {
        self.format
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        // These are the magic numbers of PDF and of zip archives. Whether a zip archive is a document is known only
        // when it is read.
        self.is_last_resort() && (head.starts_with(b"%PDF-") || head.starts_with(b"PK\x03\x04"))
    }

    fn may_be(&self, _head: &[u8]) -> bool {
        self.is_last_resort()
    }

    fn is_content(&self, _look: &[u8]) -> bool {
        self.is_last_resort()
    }

    fn reads_compressed(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        Ok(Box::new(WholeFile { reading: self.reading, compression: opening.source.compression }))
    }

    fn compression_hint(&self) -> &'static str {
        "documents are written as they are stored"
    }

    fn annotate(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        out: &mut Output,
        compression: TableCompression,
    ) -> Result<()> {
        // Runs refuse to annotate whole files. Other callers can annotate a file that is a JSON object.
        Jsonl.annotate(sources, numbers, annotated, out, compression)
    }
}
