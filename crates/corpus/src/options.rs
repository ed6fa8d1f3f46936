//! Options for reading inputs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};
use crate::field::FieldPath;
use crate::format::InputFormat;
use crate::setters::setters;

/// Default of [`ReadOptions::max_record_bytes`]. A document of 1 GiB is almost always a broken file.
const DEFAULT_MAX_RECORD_BYTES: u64 = 1 << 30;

/// Options for reading inputs.
///
/// ```
/// use minwise_corpus::{Encoding, ReadOptions};
///
/// let options = ReadOptions::default().text_fields(vec!["body".parse()?]).encoding(Encoding::Auto).strict(true);
/// assert!(options.strict);
/// # Ok::<(), minwise_corpus::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Fields that hold the text of a record. Default: `text`.
    ///
    /// The texts of several fields are joined by line breaks. If one of several fields is missing or null, it counts
    /// as empty, unless all of them are missing or null.
    ///
    /// A field in a list, such as `messages[].content`, has the texts of all elements, joined by blank lines. An
    /// element that is null, or whose member is missing or null, adds nothing. An empty list gives an empty text, and
    /// a null list is a null text. If at least one element lacks the member and no element has it, the field is
    /// missing.
    pub text_fields: Vec<FieldPath>,
    /// Field that holds the id of a record. Default: `id`. A record without an id is still a document.
    pub id_field: FieldPath,
    /// Fields whose values are read beside the text while a document is scanned. Default: none.
    pub value_fields: Vec<FieldPath>,
    /// Encoding of text files. JSONL is always UTF-8, and other formats state their encoding themselves. Default:
    /// UTF-8.
    pub encoding: Encoding,
    /// Byte between the fields of CSV and TSV. Default: a tab in TSV; in CSV, the first of comma, semicolon and tab
    /// with which the header has the wanted columns.
    pub delimiter: Option<Delimiter>,
    /// Format of the inputs. Default: each file is recognised by its first bytes, its name and its content.
    pub format: InputFormat,
    /// Maximum size of a record, in bytes, at most 4 GiB. A longer record is rejected without being loaded. Default:
    /// 1 GiB.
    pub max_record_bytes: u64,
    /// Rule for a record whose text is null. The corpus returns each such record as a [`Reject`](crate::Reject), and
    /// the caller applies this rule. Default: the record is kept.
    pub nulls: Nulls,
    /// Whether a file that cannot be read is an error if it was found in a folder or by a pattern. A file that was
    /// named and cannot be read is always an error. Default: false, and the file is a [`Reject`](crate::Reject).
    pub strict: bool,
    /// Folder for temporary files with decompressed and piped inputs. Default: the system's folder for temporary
    /// files.
    pub spool_dir: Option<PathBuf>,
    /// Number of threads that decompress a Zstandard file of several frames while it is opened. Default: 1.
    pub threads: usize,
}

setters!(ReadOptions {
    /// Fields that hold the text of a record. Default: `text`.
    ///
    /// The texts of several fields are joined by line breaks. If one of several fields is missing or null, it counts
    /// as empty, unless all of them are missing or null.
    ///
    /// A field in a list, such as `messages[].content`, has the texts of all elements, joined by blank lines. An
    /// element that is null, or whose member is missing or null, adds nothing. An empty list gives an empty text, and
    /// a null list is a null text. If at least one element lacks the member and no element has it, the field is
    /// missing.
    text_fields: Vec<FieldPath>,
    /// Field that holds the id of a record. Default: `id`. A record without an id is still a document.
    id_field: FieldPath,
    /// Fields whose values are read beside the text while a document is scanned. Default: none.
    value_fields: Vec<FieldPath>,
    /// Encoding of text files. JSONL is always UTF-8, and other formats state their encoding themselves. Default:
    /// UTF-8.
    encoding: Encoding,
    /// Format of the inputs. Default: each file is recognised by its first bytes, its name and its content.
    format: InputFormat,
    /// Maximum size of a record, in bytes, at most 4 GiB. A longer record is rejected without being loaded. Default:
    /// 1 GiB.
    max_record_bytes: u64,
    /// Rule for a record whose text is null. The corpus returns each such record as a [`Reject`](crate::Reject), and
    /// the caller applies this rule. Default: the record is kept.
    nulls: Nulls,
    /// Whether a file that cannot be read is an error if it was found in a folder or by a pattern. A file that was
    /// named and cannot be read is always an error. Default: false, and the file is a [`Reject`](crate::Reject).
    strict: bool,
    /// Number of threads that decompress a Zstandard file of several frames while it is opened. Default: 1.
    threads: usize,
    ;
    /// Byte between the fields of CSV and TSV. Default: a tab in TSV; in CSV, the first of comma, semicolon and tab
    /// with which the header has the wanted columns.
    delimiter: Option<Delimiter>,
    /// Folder for temporary files with decompressed and piped inputs. Default: the system's folder for temporary
    /// files.
    spool_dir: Option<PathBuf>,
});

impl ReadOptions {
    /// Returns the options that decide which documents a corpus has, each with the name of its setting and its value
    /// in words. A run that resumes an earlier run compares its options with those of the earlier run.
    pub fn deciding(&self) -> [(&'static str, String); 6] {
        let Self {
            text_fields: _,
            id_field,
            // Values are read beside the documents, and do not decide which documents there are.
            value_fields: _,
            encoding,
            delimiter,
            // The formats that were recognised decide, not the option; `Corpus::formats` returns them.
            format: _,
            max_record_bytes,
            nulls,
            // `strict` decides only whether an unreadable file is an error, not which documents there are.
            strict: _,
            spool_dir: _,
            threads: _,
        } = self;
        let delimiter = delimiter.map_or_else(|| "none".to_owned(), |delimiter| delimiter.to_string());
        [
            ("text-field", self.text_names()),
            ("id-field", id_field.to_string()),
            ("encoding", encoding.to_string()),
            ("delimiter", delimiter),
            ("max-record", max_record_bytes.to_string()),
            ("null", nulls.to_string()),
        ]
    }

    /// Returns the text fields as they were typed, for messages.
    pub(crate) fn text_names(&self) -> String {
        self.text_fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// Returns the record limit, which is at most the largest length that
    /// [`RecordPlace::len`](crate::RecordPlace::len) can hold.
    pub(crate) fn record_limit(&self) -> u64 {
        self.max_record_bytes.min(u64::from(u32::MAX - 1))
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            text_fields: vec![FieldPath::field("text")],
            id_field: FieldPath::field("id"),
            value_fields: vec![],
            encoding: Encoding::default(),
            delimiter: None,
            format: InputFormat::default(),
            max_record_bytes: DEFAULT_MAX_RECORD_BYTES,
            nulls: Nulls::default(),
            strict: false,
            spool_dir: None,
            threads: 1,
        }
    }
}

/// Byte that separates the fields of CSV and TSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// A comma.
    pub const COMMA: Self = Self(b',');
    /// A semicolon, which spreadsheets write in countries with a decimal comma.
    pub const SEMICOLON: Self = Self(b';');
    /// A tab.
    pub const TAB: Self = Self(b'\t');

    /// Returns the byte.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::TAB { f.pad("tab") } else { char::from(self.0).fmt(f) }
    }
}

impl FromStr for Delimiter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Self::TAB),
            // A quote or a line end cannot be the delimiter, because the splitter could not distinguish the two.
            [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(Self(*byte)),
            _ => {
                let expected = "`tab`, or one ASCII character that is no quote and no line end";
                Err(Error::new(ErrorKind::BadOption {
                    option: "a delimiter",
                    given: text.to_owned(),
                    expected,
                }))
            }
        }
    }
}

/// Rule for a record whose text is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nulls {
    /// Keeps and counts a record whose text is null. The record is compared with nothing.
    #[default]
    Keep,
    /// Rejects a record whose text is null.
    Reject,
    /// Ends the run at the first record whose text is null.
    Error,
}

impl Nulls {
    /// All rules, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Keep, Self::Reject, Self::Error];

    /// Returns the name in options and messages, which `FromStr` parses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Reject => "reject",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Nulls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Nulls {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let expected = "`keep`, `reject` or `error`";
            Error::new(ErrorKind::BadOption { option: "a rule for null", given: name.to_owned(), expected })
        })
    }
}

/// Encoding of text files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8. A file that is not UTF-8 is rejected.
    #[default]
    Utf8,
    /// Latin-1, read as Windows-1252 like in every browser, so that no byte is invalid.
    Latin1,
    /// The encoding that a byte-order mark names, else UTF-8 if the bytes are valid UTF-8, else a guess from the
    /// bytes.
    Auto,
}

impl Encoding {
    /// All encodings, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Utf8, Self::Latin1, Self::Auto];

    /// Returns the name in options and messages, which `FromStr` parses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Latin1 => "latin-1",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        // Many programs write these names without a hyphen or in capitals.
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
        Self::ALL.into_iter().find(|encoding| plain(encoding.name()) == plain(name)).ok_or_else(|| {
            let expected = "`utf-8`, `latin-1` or `auto`";
            Error::new(ErrorKind::BadOption { option: "an encoding", given: name.to_owned(), expected })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.to_string().parse::<Encoding>().unwrap(), encoding);
        }
        for delimiter in [Delimiter::COMMA, Delimiter::SEMICOLON, Delimiter::TAB] {
            assert_eq!(delimiter.to_string().parse::<Delimiter>().unwrap(), delimiter);
        }
        assert_eq!("\\t".parse::<Delimiter>().unwrap(), Delimiter::TAB);
        for bad in ["", "\"", "\n", ";;", "é"] {
            assert!(bad.parse::<Delimiter>().is_err(), "{bad}");
        }
        for rule in Nulls::ALL {
            assert_eq!(rule.to_string().parse::<Nulls>().unwrap(), rule);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = "gbk".parse::<Encoding>().unwrap_err();
        assert_eq!(error.to_string(), "`gbk` is not an encoding: expected `utf-8`, `latin-1` or `auto`");
        assert!(error.hint().unwrap().to_string().contains("iconv -f gbk"));
        for (name, encoding) in
            [("utf8", Encoding::Utf8), ("UTF-8", Encoding::Utf8), ("Latin1", Encoding::Latin1)]
        {
            assert_eq!(name.parse::<Encoding>().unwrap(), encoding, "{name}");
        }
    }

    #[test]
    fn the_record_limit_fits_a_place() {
        let options = ReadOptions { max_record_bytes: u64::MAX, ..ReadOptions::default() };
        assert!(options.record_limit() < u64::from(u32::MAX));
        assert_eq!(ReadOptions::default().record_limit(), 1 << 30);
    }
}
