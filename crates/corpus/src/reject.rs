//! Records that are no documents.
//!
//! A reject is data, not a failure. A reject has a code, and names the rule that the record breaks. Rejects are
//! counted by code, and listed for the person who made the file.

use std::fmt;

use minwise::figure::{counted, grouped};
use minwise::{escape_control, visible};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// A record that is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reject {
    /// Rule that the record breaks.
    pub reason: RejectReason,
    /// Id of the record, if an id could be read.
    pub id: Option<String>,
}

impl Reject {
    pub(crate) fn new(reason: RejectReason) -> Self {
        Self { reason, id: None }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "record `{}`: {}", escape_control(id), self.reason),
            None => self.reason.fmt(f),
        }
    }
}

/// A rejected record or document. Every list of rejects has this form: `rejects.jsonl` of a report, the log of the
/// command, and the API of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Reject))]
#[non_exhaustive]
pub struct RejectLine {
    /// File of the record; null for a document that came in a JSON body.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub file: Option<String>,
    /// Number of the line or row of the record, counted from 1. It is 1 for a file that is one document, and null if the
    /// record came from no file.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub line: Option<u64>,
    /// Id of the record, or null if no id could be read.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: Option<String>,
    /// Stable code of the reason, in snake case.
    pub reason: String,
    /// Reason in words.
    pub message: String,
}

impl RejectLine {
    /// Makes a reject. `place` is the file and the line of the record; `None` for a document that has no file.
    #[must_use]
    pub fn new(
        place: Option<(String, u64)>,
        id: Option<String>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let (file, line) = place.unzip();
        Self { file, line, id, reason: reason.into(), message: message.into() }
    }
}

/// Reason why a record is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// Bytes that are not UTF-8.
    InvalidUtf8 {
        /// Offset of the first invalid byte, counted from 0 at the start of the record.
        at: u64,
    },
    /// Bytes that are UTF-16 without a byte-order mark.
    Utf16,
    /// A line that is not JSON.
    InvalidJson {
        /// Message of the parser.
        message: String,
        /// Position of the fault in the line in bytes, counted from 1.
        column: u64,
    },
    /// A line of JSON that is no object, but a list, a string, a number or another value.
    NotAnObject,
    /// An object without the field that holds the text.
    MissingField {
        /// Path of the field.
        field: String,
        /// Paths to texts in lists that may have been meant.
        in_lists: Vec<String>,
    },
    /// The field that holds the text is null. Of several fields, at least one is null and none has a text.
    Null {
        /// Path of the field, or paths of the fields.
        field: String,
    },
    /// A field that holds the wrong kind of value.
    WrongType {
        /// Path of the field.
        field: String,
        /// Kind of the value that was found: `a number`, `an object`.
        found: &'static str,
        /// Paths to texts in the list, if the value is a list.
        in_lists: Vec<String>,
    },
    /// A field that the record has twice. No rule decides which of the two counts.
    DuplicateField {
        /// Path of the field.
        field: String,
    },
    /// A CSV record with more or fewer fields than the header.
    FieldCount {
        /// Number of fields of the header.
        expected: usize,
        /// Number of fields of the record.
        found: usize,
    },
    /// A record with a quoted field that never ends.
    OpenQuote,
    /// A record over the limit. The record was not loaded.
    TooLarge {
        /// Size of the record. For a compressed text file, the number of decompressed bytes at which reading stopped.
        bytes: u64,
        /// Maximum size, in bytes.
        limit: u64,
    },
    /// A compressed text file that is cut off or damaged.
    Damaged {
        /// Number of bytes that were decompressed before the damage.
        at: u64,
        /// Message of the decoder.
        message: String,
    },
    /// A file of a kind that cannot be read, or a file that gives no text.
    NoText {
        /// Reason why the file gives no text.
        refusal: Refusal,
    },
    /// A record of a WARC file that violates the format.
    InvalidWarc {
        /// Rule that the record breaks.
        message: String,
    },
    /// A file that was found in a folder or by a pattern and cannot be read: the file may not be opened, or is a link
    /// that leads nowhere or in a circle.
    Unreadable {
        /// Reason in words.
        message: String,
    },
    /// A record of a crawl that holds no text, such as a picture or an empty body. The caller counts the record as
    /// skipped, not as rejected, and keeps it beside the documents.
    NotText {
        /// Content of the record, in words.
        message: String,
    },
    /// An HTTP response whose body has an encoding that is not supported.
    UnreadEncoding {
        /// Encoding, as `Content-Encoding` names it.
        encoding: String,
    },
}

impl RejectReason {
    /// Returns a stable name for programs and counts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidUtf8 { .. } | Self::Utf16 => "invalid_utf8",
            Self::InvalidJson { .. } => "invalid_json",
            Self::NotAnObject => "not_an_object",
            Self::MissingField { .. } => "missing_field",
            Self::Null { .. } => "null",
            Self::WrongType { .. } => "wrong_type",
            Self::DuplicateField { .. } => "duplicate_field",
            Self::FieldCount { .. } => "field_count",
            Self::OpenQuote => "open_quote",
            Self::TooLarge { .. } => "too_large",
            Self::Damaged { .. } => "damaged",
            Self::NoText { refusal } => refusal.code(),
            Self::InvalidWarc { .. } => "invalid_warc",
            Self::Unreadable { .. } => "unreadable",
            Self::NotText { .. } => "not_text",
            Self::UnreadEncoding { .. } => "unread_encoding",
        }
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUtf8 { at } => write!(f, "not UTF-8: byte {at} is invalid"),
            Self::Utf16 => f.write_str("not UTF-8: every second byte is NUL, as in UTF-16"),
            Self::InvalidJson { message, column } => {
                write!(f, "not JSON: {} at column {column}", visible(message))
            }
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::MissingField { field, in_lists } => {
                write!(f, "there is no field `{}`", escape_control(field))?;
                offer(in_lists, f)
            }
            Self::Null { field } => write!(f, "the field `{}` holds null", escape_control(field)),
            Self::WrongType { field, found, in_lists } => {
                write!(f, "the field `{}` holds {found}", escape_control(field))?;
                offer(in_lists, f)
            }
            Self::DuplicateField { field } => {
                write!(f, "the field `{}` is there twice", escape_control(field))
            }
            Self::FieldCount { expected, found } => {
                write!(
                    f,
                    "{}, but the header has {}",
                    counted(*found as u64, "field"),
                    grouped(*expected as u64)
                )
            }
            Self::OpenQuote => f.write_str("a quote in it is never closed"),
            Self::TooLarge { bytes, limit } => {
                let [bytes, limit] = [*bytes, *limit].map(|bytes| counted(bytes, "byte"));
                write!(f, "{bytes} is over the limit of {limit} per record (max-record)")
            }
            Self::Damaged { at, message } => {
                write!(f, "damaged after {} decompressed bytes: {}", grouped(*at), visible(message))
            }
            Self::NoText { refusal } => refusal.fmt(f),
            Self::InvalidWarc { message } => write!(f, "not a WARC record: {}", visible(message)),
            Self::Unreadable { message } => write!(f, "cannot be read: {}", visible(message)),
            Self::NotText { message } => visible(message).fmt(f),
            Self::UnreadEncoding { encoding } => {
                write!(f, "its body has the encoding `{}`, which is not read", escape_control(encoding))
            }
        }
    }
}

/// Appends to a message the field paths that lead to texts inside lists.
fn offer(in_lists: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if in_lists.is_empty() {
        return Ok(());
    }
    let paths: Vec<String> = in_lists.iter().map(|path| format!("`{}`", escape_control(path))).collect();
    write!(f, "; paths to its texts: {}", paths.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reject_reads_as_a_sentence() {
        let reason = RejectReason::WrongType { field: "text".into(), found: "a number", in_lists: vec![] };
        assert_eq!(reason.code(), "wrong_type");
        assert_eq!(Reject::new(reason.clone()).to_string(), "the field `text` holds a number");
        assert_eq!(
            Reject { reason, id: Some("a\t1".into()) }.to_string(),
            r"record `a\t1`: the field `text` holds a number"
        );
    }

    #[test]
    fn paths_into_lists_are_offered() {
        let in_lists = vec!["m[].role".to_owned(), "m[].text".to_owned()];
        let missing = RejectReason::MissingField { field: "m.text".into(), in_lists: in_lists[1..].to_vec() };
        assert_eq!(missing.to_string(), "there is no field `m.text`; paths to its texts: `m[].text`");
        let wrong = RejectReason::WrongType { field: "m".into(), found: "a list", in_lists };
        assert_eq!(
            wrong.to_string(),
            "the field `m` holds a list; paths to its texts: `m[].role`, `m[].text`"
        );
    }
}
