//! What a source is made of, and how that is told.

use std::fmt;
use std::str::FromStr;

use crate::compression::Compression;
use crate::error::{Error, ErrorKind};

/// What a source is made of. All sources of a corpus are of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line, each a document.
    Jsonl,
    /// Records of fields separated by commas, the first of which names the fields.
    Csv,
    /// The same, separated by tabs.
    Tsv,
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC file or stream.
    Arrow,
    /// One document per file, of any kind that [`extract`](crate::extract) reads.
    Document,
    /// One document per file, whose characters are the text, whatever they mean.
    Text,
}

/// Whether a source holds many documents or is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each record of a source is a document.
    Records,
    /// Each source is a document.
    Texts,
}

impl Format {
    /// Every format, in the order in which they are offered.
    pub const ALL: [Self; 7] =
        [Self::Jsonl, Self::Csv, Self::Tsv, Self::Parquet, Self::Arrow, Self::Document, Self::Text];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Document => "document",
            Self::Text => "text",
        }
    }

    /// Whether a source of this format holds many documents or is one.
    pub fn layout(self) -> Layout {
        if matches!(self, Self::Document | Self::Text) { Layout::Texts } else { Layout::Records }
    }

    /// Whether rows have no bytes of their own: they are stored by column.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// What separates the fields of a record, where something does.
    pub(crate) fn delimiter(self) -> Option<u8> {
        match self {
            Self::Csv => Some(b','),
            Self::Tsv => Some(b'\t'),
            _ => None,
        }
    }

    /// Tells a format by the end of a name, compressed or not.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = Compression::strip(name).rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" | "json" => Some(Self::Jsonl),
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "ipc" | "feather" => Some(Self::Arrow),
            _ => None,
        }
    }

    /// Tells a format by its magic number, which no name outweighs.
    pub(crate) fn of_magic(head: &[u8]) -> Option<Self> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            // A stream has no magic number, but begins with a marker and the length of its schema.
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..] => {
                Some(Self::Arrow)
            }
            // A PDF and a zip archive: which kind of document, if any, is seen when it is read.
            [b'%', b'P', b'D', b'F', b'-', ..] | [b'P', b'K', 3, 4, ..] => Some(Self::Document),
            _ => None,
        }
    }
}

/// The format as it is written in a sentence.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Jsonl => "JSONL",
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow IPC",
            Self::Document => "a document",
            Self::Text => "text",
        })
    }
}

/// What the inputs are said to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputFormat {
    /// Told by magic number, by name, or by content: JSONL if the first line is a JSON object, else a document.
    #[default]
    Auto,
    /// This, whatever they are called.
    Only(Format),
}

impl FromStr for InputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if name == "auto" {
            return Ok(Self::Auto);
        }
        Format::ALL.into_iter().find(|format| format.name() == name).map(Self::Only).ok_or_else(|| {
            let expected = "`auto`, `jsonl`, `csv`, `tsv`, `parquet`, `arrow`, `document` or `text`";
            Error::new(ErrorKind::BadOption { option: "an input format", given: name.to_owned(), expected })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<InputFormat>().unwrap(), InputFormat::Only(format));
        }
        assert_eq!("auto".parse::<InputFormat>().unwrap(), InputFormat::Auto);
        let error = "xml".parse::<InputFormat>().unwrap_err().to_string();
        assert!(error.starts_with("`xml` is not an input format: expected `auto`, `jsonl`"), "{error}");
    }

    #[test]
    fn names_of_files() {
        for (name, format) in [
            ("a.jsonl", Format::Jsonl),
            ("a.ndjson.zst", Format::Jsonl),
            ("a.JSON", Format::Jsonl),
            ("x/a.jsonl.gz", Format::Jsonl),
            ("a.json.bz2", Format::Jsonl),
            ("a.csv.xz", Format::Csv),
            ("a.TSV", Format::Tsv),
            ("part-0.snappy.parquet", Format::Parquet),
            ("a.feather", Format::Arrow),
        ] {
            assert_eq!(Format::of_name(name), Some(format), "{name}");
        }
        for name in ["a.txt", "jsonl", "a.jsonl.txt", "a.gz", "a.jsonl.zip", "a.jsonl.gz.gz"] {
            assert_eq!(Format::of_name(name), None, "{name}");
        }
    }

    #[test]
    fn magic_numbers() {
        assert_eq!(Format::of_magic(b"PAR1rest"), Some(Format::Parquet));
        assert_eq!(Format::of_magic(b"ARROW1\0\0"), Some(Format::Arrow));
        assert_eq!(Format::of_magic(b"\xff\xff\xff\xff\x10\x01\0\0"), Some(Format::Arrow));
        assert_eq!(Format::of_magic(b"%PDF-1.7"), Some(Format::Document));
        assert_eq!(Format::of_magic(b"PK\x03\x04"), Some(Format::Document));
        for head in [&b""[..], b"PAR", b"{\"a\": 1}", b"\xff\xfeh\0"] {
            assert_eq!(Format::of_magic(head), None);
        }
    }
}
