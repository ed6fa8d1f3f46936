//! Formats that a program may be built without.
//!
//! Each of these formats is a feature of this crate. Without the feature, files of the format are still recognised,
//! and refused with an error that names the feature. Otherwise, the same file would be read as another format by a
//! program that was built differently.

use std::ops::Range;

use arrow_schema::SchemaRef;

use super::{Container, Opening, OutputColumns, WriteBatch};
use crate::annotation::Annotation;
use crate::document::RecordPlace;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, Layout};
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::sources::{Content, Sources};

impl Format {
    /// A Parquet file. The format needs the feature `parquet`.
    pub const PARQUET: Self = Self::new("parquet", "Parquet", Layout::Records);
    /// An Arrow IPC file or stream. The format needs the feature `arrow`.
    pub const ARROW: Self = Self::new("arrow", "Arrow IPC", Layout::Records);
    /// Records of a web crawl: WARC, and WET with the texts of the pages. The format needs the feature `warc`.
    pub const WARC: Self = Self::new("warc", "WARC", Layout::Records);
}

/// Rules by which files of a format are recognised, and the container of the format if its feature is missing.
#[derive(Debug)]
pub(super) struct Optional {
    pub(super) format: Format,
    /// The file extensions, as in [`Container::extensions`].
    pub(super) extensions: &'static [&'static str],
    /// The test for the magic number, as in [`Container::has_magic`].
    pub(super) has_magic: fn(&[u8]) -> bool,
    feature: &'static str,
}

pub(super) static PARQUET: Optional = Optional {
    format: Format::PARQUET,
    extensions: &["parquet", "pq"],
    has_magic: |head| head.starts_with(b"PAR1"),
    feature: "parquet",
};

/// Arrow IPC.
pub(super) static ARROW: Optional = Optional {
    format: Format::ARROW,
    extensions: &["arrow", "arrows", "ipc", "feather"],
    // A stream has no magic number, but begins with a marker and the length of its schema.
    has_magic: |head| {
        matches!(head, [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..])
    },
    feature: "arrow",
};

/// The first bytes of every WARC record.
pub(super) const WARC_MAGIC: &[u8] = b"WARC/1.";

/// WARC and WET.
pub(super) static WARC: Optional = Optional {
    format: Format::WARC,
    extensions: &["warc", "wet", "wat"],
    has_magic: |head| head.starts_with(WARC_MAGIC),
    feature: "warc",
};

impl Optional {
    fn missing(&self, name: Option<&str>) -> Error {
        let (name, what) = (name.map(str::to_owned), self.format.title());
        Error::new(ErrorKind::MissingFeature { name, what, feature: self.feature })
    }
}

/// Container of a format whose Cargo feature is not enabled. It recognises files of the format and refuses to read
/// them.
impl Container for Optional {
    fn format(&self) -> Format {
        self.format
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        (self.has_magic)(head)
    }

    fn check(&self) -> Result<()> {
        Err(self.missing(None))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>> {
        Err(self.missing(Some(opening.source.name())))
    }

    fn has_compression(&self, _compression: TableCompression) -> bool {
        true
    }

    fn columns(&self) -> Option<OutputColumns> {
        // The format is reported to have typed columns, so that a conversion is refused only because of the missing
        // feature.
        Some(OutputColumns::Typed)
    }

    fn writer<'o>(
        &self,
        _schema: &SchemaRef,
        _out: &'o mut Output,
        _compression: TableCompression,
    ) -> Result<Box<dyn WriteBatch + 'o>> {
        Err(self.missing(None))
    }

    fn copy(
        &self,
        _sources: &Sources,
        _numbers: Range<u32>,
        _places: &mut dyn Iterator<Item = RecordPlace>,
        _verdict: OutputVerdict,
        _out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        Err(self.missing(None))
    }

    fn annotate(
        &self,
        _sources: &Sources,
        _numbers: Range<u32>,
        _annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        _out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        Err(self.missing(None))
    }
}
