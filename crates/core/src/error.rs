//! Errors of this crate: in settings, in stored bytes, and in documents for an index.
//!
//! Constructors validate, and other functions of this crate mostly cannot fail, so most errors are about a
//! value that a person wrote. [`Error::hint`] suggests another value.

use std::fmt;

use crate::figure::share_of_percent;
use crate::sentence::Sentence;

/// The error type of this crate: an invalid setting, invalid bytes, or an invalid document.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    kind: ErrorKind,
}

/// The kinds of errors, each with the values that show it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text form could not be read.
    Parse {
        /// The type that was parsed, such as `shingling`.
        what: &'static str,
        /// The text that was given.
        given: String,
        /// The accepted form, in words.
        expected: String,
    },
    /// A number lies outside the range in which it makes sense.
    OutOfRange {
        /// The name of the setting.
        setting: &'static str,
        /// The value that was given.
        given: String,
        /// The accepted range, in words.
        expected: String,
    },
    /// Bands and rows need more registers than a sketch has.
    TooFewRegisters {
        /// The number of bands asked for.
        bands: usize,
        /// The number of rows per band asked for.
        rows: usize,
        /// The number of registers of the sketch.
        registers: usize,
    },
    /// No banding of the sketch reaches the wanted recall.
    Unreachable {
        /// The similarity at which the recall is wanted.
        threshold: f64,
        /// The wanted recall.
        recall: f64,
        /// The greatest recall that the registers allow.
        best: f64,
        /// The number of registers of the sketch.
        registers: usize,
        /// The number of registers that reaches the recall, if any number does.
        needed: Option<usize>,
    },
    /// Two specifications differ, so their sketches cannot be compared.
    SpecMismatch {
        /// The first field that differs.
        field: &'static str,
        /// The value of the field on the left.
        left: String,
        /// The value of the field on the right.
        right: String,
    },
    /// A spec has weights, so plain shingles do not give its sketches.
    Weighted {
        /// The weights of the spec.
        weights: String,
    },
    /// A sketch of this kind does not support the action.
    Unsupported {
        /// The kind of the sketch.
        method: String,
        /// The action, such as `be merged`.
        action: &'static str,
        /// The kinds of sketches that support the action, in words.
        expected: String,
    },
    /// Stored bytes are not of the form that was expected.
    Decode {
        /// The type that was decoded.
        what: &'static str,
        /// The expected content, in words.
        expected: String,
        /// The content that was found, in words.
        found: String,
    },
    /// A key is in the index already, or twice among those that are to be inserted.
    DuplicateKey {
        /// The place of the document among those that were given, counted from 0. `None` if one document was given.
        position: Option<usize>,
    },
    /// A document has fewer units than a shingle needs, and the spec rejects such documents.
    ShortDocument {
        /// The place of the document among those that were given, counted from 0. `None` if one document was given.
        position: Option<usize>,
        /// The number of units of the document.
        units: usize,
    },
}

impl Error {
    /// Returns the kind of the error, for code that reacts to it.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns a stable name of the error, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns a hint: settings to try instead, if there are any.
    #[must_use]
    pub fn hint(&self) -> Option<Sentence> {
        match &self.kind {
            ErrorKind::TooFewRegisters { bands, rows, .. } => bands.checked_mul(*rows).map(|needed| {
                Sentence::new().setting_to("registers", needed.to_string()).text(" would be enough")
            }),
            ErrorKind::Unreachable { best, needed, .. } => {
                // The value is rounded down, because the suggested setting must be possible.
                let best = ((best * 1000.0).floor() / 1000.0).to_string();
                Some(match needed {
                    Some(needed) => Sentence::new()
                        .setting_to("registers", needed.to_string())
                        .text(" would be enough; so would ")
                        .setting_to("recall", best),
                    None => Sentence::new().setting_to("recall", best).text(" can be reached"),
                })
            }
            ErrorKind::OutOfRange { setting, given, .. } => share_for_percent(setting, given),
            ErrorKind::Parse { .. }
            | ErrorKind::SpecMismatch { .. }
            | ErrorKind::Weighted { .. }
            | ErrorKind::Unsupported { .. }
            | ErrorKind::Decode { .. }
            | ErrorKind::DuplicateKey { .. }
            | ErrorKind::ShortDocument { .. } => None,
        }
    }

    /// Returns an error for a text that cannot be parsed: the type, the given text and the accepted form.
    #[must_use]
    pub fn parse(what: &'static str, given: &str, expected: impl Into<String>) -> Self {
        ErrorKind::Parse { what, given: given.to_owned(), expected: expected.into() }.into()
    }

    pub(crate) fn out_of_range(setting: &'static str, given: impl fmt::Display, expected: &str) -> Self {
        ErrorKind::OutOfRange { setting, given: given.to_string(), expected: expected.to_owned() }.into()
    }

    pub(crate) fn decode(what: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ErrorKind::Decode { what, expected: expected.into(), found: found.into() }.into()
    }
}

/// Returns a hint for a percentage where a share is expected.
fn share_for_percent(setting: &str, given: &str) -> Option<Sentence> {
    let setting = ["threshold", "recall"].into_iter().find(|name| setting.ends_with(name))?;
    let share = share_of_percent(given).filter(|share| (0.1..=1.0).contains(share))?;
    Some(Sentence::new().setting_to(setting, share.to_string()).text(format!(" is {given} %")))
}

impl ErrorKind {
    /// Returns a stable name, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Parse { .. } => "parse",
            Self::OutOfRange { .. } => "out_of_range",
            Self::TooFewRegisters { .. } => "too_few_registers",
            Self::Unreachable { .. } => "unreachable_recall",
            Self::SpecMismatch { .. } => "spec_mismatch",
            Self::Weighted { .. } => "weighted_spec",
            Self::Unsupported { .. } => "unsupported_sketch",
            Self::Decode { .. } => "decode",
            Self::DuplicateKey { .. } => "duplicate_key",
            Self::ShortDocument { .. } => "short_document",
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Parse { what, given, expected } => {
                write!(f, "`{given}` is not a {what}: expected {expected}")
            }
            ErrorKind::OutOfRange { setting, given, expected } => {
                write!(f, "{setting} cannot be {given}: it must be {expected}")
            }
            ErrorKind::TooFewRegisters { bands, rows, registers } => write!(
                f,
                "{bands} bands of {rows} rows need {} registers, but a sketch has {registers}",
                *bands as u128 * *rows as u128
            ),
            ErrorKind::Unreachable { threshold, recall, best, registers, .. } => {
                // The best recall is printed with enough decimals to show that it is below the wanted one.
                let reaches = |decimals: usize| {
                    format!("{best:.decimals$}").parse().is_ok_and(|best: f64| best >= *recall)
                };
                let decimals = (4..=17).find(|&decimals| !reaches(decimals)).unwrap_or(17);
                write!(
                    f,
                    "no banding of {registers} registers finds a pair at similarity {threshold} with probability \
                     {recall}: the best is {best:.decimals$}"
                )
            }
            ErrorKind::SpecMismatch { field, left, right } => {
                write!(f, "the settings differ: {field} is `{left}` in the first and `{right}` in the second")
            }
            ErrorKind::Weighted { weights } => write!(
                f,
                "the spec has weights (`{weights}`): sketches of plain shingles are not its sketches, and shingles must be \
                 weighed first"
            ),
            ErrorKind::Unsupported { method, action, expected } => {
                write!(f, "a sketch of the kind `{method}` cannot {action}: {expected}")
            }
            ErrorKind::Decode { what, expected, found } => {
                write!(f, "these bytes are not {what}: expected {expected}, found {found}")
            }
            ErrorKind::DuplicateKey { position: None } => {
                f.write_str("the index has a document with this key: remove or replace it")
            }
            ErrorKind::DuplicateKey { position: Some(position) } => write!(
                f,
                "the key of document {position} (counted from 0) is in the index or among the documents before it: keys are \
                 unique"
            ),
            ErrorKind::ShortDocument { position, units } => {
                match position {
                    None => f.write_str("the document")?,
                    Some(position) => write!(f, "document {position} (counted from 0)")?,
                }
                write!(f, " has {units} units, fewer than a shingle, and the spec rejects such documents")
            }
        }
    }
}

impl std::error::Error for Error {}
