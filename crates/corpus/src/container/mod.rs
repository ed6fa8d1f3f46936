//! Containers: the formats that documents come in.
//!
//! Each format is one folder with two types. A [`Container`] is the format itself: how its sources are recognised,
//! opened and written. A [`Content`] is one open source: how the source is cut, scanned and read again. The rest of
//! this crate uses formats only through these two traits.
//!
//! To add a format, make a folder here, declare it, and add its container to [`CONTAINERS`]. In the folder:
//!
//! 1. `impl Format` with a constant for the name of the format.
//! 2. `impl Container`: write at least `format`, `open` and `annotate`. To recognise sources, add `extensions`,
//!    `has_magic`, or `may_be` with `is_content`.
//!    - Add `copy` if records cannot be copied byte for byte.
//!    - Add `reads_compressed` if compressed files are read in place.
//!    - Add `has_compression` with `compression_hint` if files are compressed internally.
//!    - Add `notes_members` if gzip members are to be copied.
//!    - Add `can_annotate` if records have no room for an annotation.
//!    - If a feature can leave the format out, describe in `optional` how its files are recognised.
//! 3. `impl Content`: write at least `cuts`, `scan` and `read`.
//!    - Add `read_long` if long texts can be read piece by piece.
//!    - Add `header_bytes`, `columns` and `difference` if there is a header.
//!    - Add `rows` if a place is not a range of bytes.
//!    - Add `field_names` if each record names its own fields.
//!
//! | folder | formats | a source is cut | a record is copied |
//! |---|---|---|---|
//! | [`jsonl`] | JSONL | at any byte | byte for byte |
//! | [`csv`] | CSV, TSV | between records, about 64 KiB apart | byte for byte, after the header |
//! | [`parquet`] | Parquet | between a few pages | column by column |
//! | [`arrow`] | Arrow IPC | between record batches | column by column |
//! | [`warc`] | WARC, WET | between records, about a mebibyte apart | byte for byte, with the records that follow it |
//! | [`document`] | documents, texts | nowhere | as a file |
//! | [`memory`] | texts and tables in memory | between rows, about a mebibyte apart | converted to JSONL or Arrow IPC |
//!
//! `optional` has the formats that a program may be built without: how their files are recognised, and the containers
//! that refuse them. `bytes` copies records that have bytes, and `batch` cuts such records into batches for
//! conversion. `table` holds the code that Parquet and Arrow share.

#[cfg(feature = "arrow")]
mod arrow;
mod batch;
mod bytes;
mod csv;
mod document;
mod jsonl;
mod memory;
mod optional;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod table;
mod turn;
#[cfg(feature = "warc")]
pub(crate) mod warc;

use std::fmt::Debug;
use std::ops::Range;
use std::str::FromStr;
use std::sync::LazyLock;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use minwise::Observer;

#[cfg(test)]
pub(crate) use self::jsonl::string_of;
pub(crate) use self::memory::format_of;
use crate::annotation::Annotation;
use crate::compression::Compression;
use crate::document::RecordPlace;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, InputFormat};
use crate::options::ReadOptions;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::source::{Source, SourceReader};
use crate::sources::{Content, Sources};

/// Every container, in the order in which formats are offered and content is recognised. `document::DOCUMENT`, the
/// last but one, takes every file that no other format claims.
static CONTAINERS: [&dyn Container; 8] = [
    &jsonl::Jsonl,
    &csv::CSV,
    &csv::TSV,
    #[cfg(feature = "parquet")]
    &parquet::Parquet,
    #[cfg(not(feature = "parquet"))]
    &optional::PARQUET,
    #[cfg(feature = "arrow")]
    &arrow::Arrow,
    #[cfg(not(feature = "arrow"))]
    &optional::ARROW,
    #[cfg(feature = "warc")]
    &warc::Warc,
    #[cfg(not(feature = "warc"))]
    &optional::WARC,
    &document::DOCUMENT,
    &document::TEXT,
];

/// Containers of documents in memory. They are not among [`CONTAINERS`], because no file has one of their formats.
static IN_MEMORY: [&dyn Container; 2] = [&memory::TEXTS, &memory::TABLE];

/// Number of bytes that [`Container::may_be`] sees: enough for the magic number, and nearly always for the first
/// visible character.
pub(crate) const HEAD_BYTES: usize = 512;

/// Maximum number of bytes that [`Container::is_content`] sees.
pub(crate) const LOOK_BYTES: usize = 1 << 20;

/// A format: how its sources are recognised, opened and written.
pub(crate) trait Container: Debug + Sync {
    fn format(&self) -> Format;

    /// Returns the default format of an output.
    fn output_format(&self) -> Format {
        self.format()
    }

    /// Returns the file extensions of the format, in lower case and without a dot.
    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reports whether a source begins with the magic number of the format. The magic number overrules any file
    /// extension.
    fn has_magic(&self, _head: &[u8]) -> bool {
        false
    }

    /// Reports whether a source without a known name may be of this format, judged by its first [`HEAD_BYTES`]. If
    /// only one format is possible, no more bytes are read.
    fn may_be(&self, _head: &[u8]) -> bool {
        false
    }

    /// Reports whether a source without a known name is of this format, judged by its first [`LOOK_BYTES`].
    fn is_content(&self, _look: &[u8]) -> bool {
        false
    }

    /// Reports whether `open` takes compressed files as they are stored. Compressed files of other formats are first
    /// decompressed to the spool.
    fn reads_compressed(&self) -> bool {
        false
    }

    /// Reports whether `open` needs the members of a gzip file that was decompressed to the spool
    /// ([`Source::packed`]).
    fn notes_members(&self) -> bool {
        false
    }

    /// Refuses the format if the program was built without it.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Opens a source: reads its header or schema, if the format has one, and finds the places at which the source
    /// can be cut.
    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Content>>;

    /// Reports whether files of the format can use `compression` for the data inside them.
    fn has_compression(&self, compression: TableCompression) -> bool {
        compression == TableCompression::Keep
    }

    /// Returns a hint about the compressions that the format has, for an error about any other compression.
    fn compression_hint(&self) -> &'static str {
        "the name of the output decides: `.gz`, `.zst`, `.bz2` or `.xz`"
    }

    /// Writes records of the sources with these numbers as one file, in the order given. All records have the same
    /// `verdict`, which decides whether companions (records that are no documents) are written with them.
    fn copy(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        places: &mut dyn Iterator<Item = RecordPlace>,
        _verdict: OutputVerdict,
        out: &mut Output,
        _compression: TableCompression,
    ) -> Result<()> {
        bytes::copy(sources, numbers, places, out)
    }

    /// Returns the facts about columns that a file needs before records of other formats are written to it; `None` if
    /// the format takes no records of other formats.
    fn columns(&self) -> Option<OutputColumns> {
        None
    }

    /// Reports whether records can be written to files of other formats.
    fn is_converted(&self) -> bool {
        self.columns().is_some()
    }

    /// Returns the reason why a file of the format cannot have these columns; `None` if it can.
    fn refuses(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// Begins a file of the format with these columns, for records of other formats.
    fn writer<'o>(
        &self,
        _schema: &SchemaRef,
        _out: &'o mut Output,
        _compression: TableCompression,
    ) -> Result<Box<dyn WriteBatch + 'o>> {
        Err(no_such_format(self.format().name()))
    }

    /// Reports whether records have room for an annotation. If they have no room, `annotate` fails.
    fn can_annotate(&self) -> bool {
        true
    }

    /// Writes records as `copy` does, each with its annotation.
    fn annotate(
        &self,
        sources: &Sources,
        numbers: Range<u32>,
        annotated: &mut dyn Iterator<Item = (RecordPlace, Annotation<'_>)>,
        out: &mut Output,
        compression: TableCompression,
    ) -> Result<()>;
}

/// Facts about columns that an output needs before its first record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputColumns {
    /// No facts: each record names its own fields.
    Own,
    /// The names of the columns, because every value is written as a text.
    Texts,
    /// The names and types of the columns.
    Typed,
}

/// A file that is being written by record batches.
pub(crate) trait WriteBatch {
    /// Writes the rows of a batch.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Writes the end of the file, after the last row.
    fn finish(&mut self) -> Result<()>;
}

/// A source that is being opened.
pub(crate) struct Opening<'a> {
    pub(crate) source: &'a Source,
    pub(crate) options: &'a ReadOptions,
    pub(crate) observer: &'a dyn Observer,
}

impl Opening<'_> {
    /// Opens the bytes of the source. A source that is one document does not call `reader` before it is scanned,
    /// because there may be hundreds of thousands of such sources.
    pub(crate) fn reader(&self) -> Result<SourceReader> {
        self.source.open()
    }
}

pub(crate) fn of(format: Format) -> Result<&'static dyn Container> {
    let container = CONTAINERS.into_iter().chain(IN_MEMORY).find(|container| container.format() == format);
    container.ok_or_else(|| no_such_format(format.name()))
}

/// Returns the format of a source without a known name, judged by its first [`HEAD_BYTES`]; `None` if several formats
/// are possible.
pub(crate) fn of_head(head: &[u8]) -> Option<Format> {
    let mut possible = CONTAINERS.into_iter().filter(|container| container.may_be(head));
    let first = possible.next()?;
    possible.next().is_none().then(|| first.format())
}

/// Returns the format of a source without a known name, judged by its first [`LOOK_BYTES`].
pub(crate) fn of_content(look: &[u8]) -> Format {
    let by_content = || CONTAINERS.into_iter().find(|container| container.is_content(look));
    // The default is never taken, because the container of documents accepts every content.
    Format::of_magic(look).unwrap_or_else(|| by_content().map_or(Format::DOCUMENT, <dyn Container>::format))
}

impl Format {
    /// Iterates over all formats, in the order in which they are offered.
    pub fn all() -> impl Iterator<Item = Self> {
        CONTAINERS.into_iter().map(<dyn Container>::format)
    }

    /// Recognises a format by the extension of a name, compressed or not.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = Compression::strip(name).rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let container =
            CONTAINERS.into_iter().find(|container| container.extensions().contains(&extension.as_str()))?;
        Some(container.format())
    }

    /// Recognises a format by its magic number, which overrules any file extension.
    pub(crate) fn of_magic(head: &[u8]) -> Option<Self> {
        let container = CONTAINERS.into_iter().find(|container| container.has_magic(head))?;
        Some(container.format())
    }
}

impl FromStr for InputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = known_name(name);
        if known == "auto" {
            return Ok(Self::Auto);
        }
        let format = Format::all().find(|format| format.name() == known);
        format.map(Self::Only).ok_or_else(|| no_such_format(name))
    }
}

/// Parses the name of a format of records. An output can have no other format.
impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        static EXPECTED: LazyLock<String> = LazyLock::new(|| listed(of_records().map(Format::name)));
        let known = known_name(name);
        let format = of_records().find(|format| format.name() == known);
        format.ok_or_else(|| {
            Error::new(ErrorKind::BadOption {
                option: "an output format",
                given: name.to_owned(),
                expected: &EXPECTED,
            })
        })
    }
}

/// Returns the name of a format in lower case. Other programs call JSONL `ndjson` or `jsonlines`.
fn known_name(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "ndjson" | "jsonlines" => Format::JSONL.name().to_owned(),
        known => known.to_owned(),
    }
}

fn of_records() -> impl Iterator<Item = Format> {
    Format::all().filter(|format| format.is_of_records())
}

/// Enumerates names for a sentence: `a`, `b` or `c`.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

fn no_such_format(name: &str) -> Error {
    static EXPECTED: LazyLock<String> =
        LazyLock::new(|| listed(["auto"].into_iter().chain(Format::all().map(Format::name))));
    Error::new(ErrorKind::BadOption {
        option: "an input format",
        given: name.to_owned(),
        expected: &EXPECTED,
    })
}

impl TableCompression {
    /// Refuses a compression that a format does not have, and a format that the program was built without.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchCompression`] if files of the format cannot use this compression, and with
    /// [`ErrorKind::MissingFeature`] if the program was built without the format.
    pub fn check(self, format: Format) -> Result<()> {
        let container = of(format)?;
        container.check()?;
        if container.has_compression(self) {
            return Ok(());
        }
        let (compression, hint) = (self.name(), container.compression_hint());
        Err(Error::new(ErrorKind::NoSuchCompression { compression, format, hint }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in Format::all() {
            assert_eq!(format.name().parse::<InputFormat>().unwrap(), InputFormat::Only(format));
        }
        assert_eq!("auto".parse::<InputFormat>().unwrap(), InputFormat::Auto);
        let error = "xml".parse::<InputFormat>().unwrap_err().to_string();
        assert!(error.starts_with("`xml` is not an input format: expected `auto`, `jsonl`"), "{error}");
        assert_eq!("parquet".parse::<Format>().unwrap(), Format::PARQUET);
        let error = "text".parse::<Format>().unwrap_err().to_string();
        assert!(error.ends_with("expected `jsonl`, `csv`, `tsv`, `parquet`, `arrow` or `warc`"), "{error}");
    }

    #[test]
    fn names_of_files() {
        for (name, format) in [
            ("a.jsonl", Format::JSONL),
            ("a.ndjson.zst", Format::JSONL),
            ("a.JSON", Format::JSONL),
            ("x/a.jsonl.gz", Format::JSONL),
            ("a.json.bz2", Format::JSONL),
            ("a.csv.xz", Format::CSV),
            ("a.TSV", Format::TSV),
            ("part-0.snappy.parquet", Format::PARQUET),
            ("a.feather", Format::ARROW),
            ("CC-MAIN-1.warc.gz", Format::WARC),
            ("a.wet.gz", Format::WARC),
            ("a.WAT", Format::WARC),
        ] {
            assert_eq!(Format::of_name(name), Some(format), "{name}");
        }
        for name in ["a.txt", "jsonl", "a.jsonl.txt", "a.gz", "a.jsonl.zip", "a.jsonl.gz.gz"] {
            assert_eq!(Format::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn magic_numbers() {
        assert_eq!(Format::of_magic(b"PAR1rest"), Some(Format::PARQUET));
        assert_eq!(Format::of_magic(b"ARROW1\0\0"), Some(Format::ARROW));
        assert_eq!(Format::of_magic(b"\xff\xff\xff\xff\x10\x01\0\0"), Some(Format::ARROW));
        assert_eq!(Format::of_magic(b"%PDF-1.7"), Some(Format::DOCUMENT));
        assert_eq!(Format::of_magic(b"WARC/1.1\r\n"), Some(Format::WARC));
        assert_eq!(Format::of_magic(b"PK\x03\x04"), Some(Format::DOCUMENT));
        for head in [&b""[..], b"PAR", b"{\"a\": 1}", b"\xff\xfeh\0"] {
            assert_eq!(Format::of_magic(head), None);
        }
    }

    #[test]
    fn a_format_has_its_own() {
        assert!(TableCompression::Snappy.check(Format::PARQUET).is_ok());
        let error = TableCompression::Snappy.check(Format::ARROW).unwrap_err();
        assert_eq!(error.to_string(), "Arrow IPC cannot be written with the compression `snappy`");
        assert!(TableCompression::Zstd.check(Format::ARROW).is_ok());
        assert!(
            TableCompression::Zstd
                .check(Format::JSONL)
                .unwrap_err()
                .hint()
                .unwrap()
                .to_string()
                .contains(".zst")
        );
        assert!(TableCompression::Keep.check(Format::TEXT).is_ok());
    }
}
