//! Errors of this crate: in settings, in stored bytes, and in documents for an index.
//!
//! Constructors validate, and most other functions of this crate cannot fail. Most errors are therefore about a value
//! that a person wrote, and [`Error::hint`] suggests another value.

use std::fmt;

use crate::figure::{counted, grouped, grouped_product, share_of_percent};
use crate::sentence::Sentence;

/// The error type of this crate: an invalid setting, invalid bytes, or an invalid document.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    kind: ErrorKind,
}

/// The kinds of errors, each with the values that explain it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text form could not be read.
    Parse {
        /// Type that was parsed, such as `shingling`.
        what: &'static str,
        /// Text that was given.
        given: String,
        /// Accepted form, in words.
        expected: String,
    },
    /// A number is out of its range.
    OutOfRange {
        /// Name of the setting.
        setting: &'static str,
        /// Value that was given.
        given: String,
        /// Accepted range, in words.
        expected: String,
    },
    /// Bands and rows need more registers than a sketch has.
    TooFewRegisters {
        /// Requested number of bands.
        bands: usize,
        /// Requested number of rows per band.
        rows: usize,
        /// Number of registers of the sketch.
        registers: usize,
    },
    /// No banding of the sketch reaches the wanted recall.
    Unreachable {
        /// Similarity at which the recall is wanted.
        threshold: f64,
        /// Wanted recall.
        recall: f64,
        /// Greatest recall that the registers allow.
        best: f64,
        /// Number of registers of the sketch.
        registers: usize,
        /// Number of registers that reaches the recall, if any number does.
        needed: Option<usize>,
    },
    /// Two specs differ, so their sketches cannot be compared.
    SpecMismatch {
        /// Name of the first field that differs.
        field: &'static str,
        /// Value of the field in the first spec.
        left: String,
        /// Value of the field in the second spec.
        right: String,
    },
    /// A spec has weights, but its sketches were to be made from plain shingles.
    Weighted {
        /// Weights of the spec, as text.
        weights: String,
    },
    /// A sketch of this kind does not support the action.
    Unsupported {
        /// Kind of the sketch.
        method: String,
        /// Action, such as `be merged`.
        action: &'static str,
        /// Kinds of sketches that support the action, in words.
        expected: String,
    },
    /// Stored bytes do not have the expected form.
    Decode {
        /// Type that was decoded.
        what: &'static str,
        /// Expected content, in words.
        expected: String,
        /// Content that was found, in words.
        found: String,
    },
    /// A key is in the index already, or is repeated among the documents to be inserted.
    DuplicateKey {
        /// Position of the document among the given documents, counted from 0; `None` if a single document was given.
        position: Option<usize>,
    },
    /// A document has fewer units than a shingle needs, and the spec rejects such documents.
    ShortDocument {
        /// Position of the document among the given documents, counted from 0; `None` if a single document was given.
        position: Option<usize>,
        /// Number of units of the document.
        units: usize,
    },
}

impl Error {
    /// Returns the kind of the error, for code that reacts to it.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the stable name of the error, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns a hint with settings to try instead, if there are any.
    #[must_use]
    pub fn hint(&self) -> Option<Sentence> {
        match &self.kind {
            ErrorKind::TooFewRegisters { bands, rows, .. } => bands.checked_mul(*rows).map(|needed| {
                Sentence::new().setting_to("registers", needed.to_string()).text(" would be enough")
            }),
            ErrorKind::Unreachable { best, needed, .. } => {
                // The value is rounded down, because the suggested recall must be possible.
                let best = ((best * 1000.0).floor() / 1000.0).to_string();
                Some(match needed {
                    Some(needed) => Sentence::new()
                        .setting_to("registers", needed.to_string())
                        .text(" would be enough; so would ")
                        .setting_to("recall", best),
                    None => Sentence::new().setting_to("recall", best).text(" can be reached"),
                })
            }
            ErrorKind::OutOfRange { setting, given, .. } if is_full_recall(setting, given) => Some(
                Sentence::new()
                    .setting_to("candidates", "sort-merge")
                    .text(" of `dedup` and `pairs` finds every pair"),
            ),
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

    /// Makes an error for a text that cannot be parsed, from the type, the given text and the accepted form.
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

/// Puts commas into the whole numbers of a message.
fn with_commas(text: &str) -> String {
    let word = |word: &str| match word.parse::<u64>() {
        Ok(number) if !word.starts_with(['0', '+']) => grouped(number),
        _ => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Reports whether a recall of 100 % was given. No number of bands reaches it.
fn is_full_recall(setting: &str, given: &str) -> bool {
    setting.ends_with("recall") && matches!(given, "1" | "100")
}

/// Returns a hint if a share is expected and a percentage was given.
fn share_for_percent(setting: &str, given: &str) -> Option<Sentence> {
    let setting = ["threshold", "recall"].into_iter().find(|name| setting.ends_with(name))?;
    let share = share_of_percent(given).filter(|share| (0.1..=1.0).contains(share))?;
    Some(Sentence::new().setting_to(setting, share.to_string()).text(format!(" is {given} %")))
}

impl ErrorKind {
    /// Returns the stable name of the kind, for programs and logs.
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
                let (given, expected) = (with_commas(given), with_commas(expected));
                write!(f, "{setting} cannot be {given}: it must be {expected}")
            }
            ErrorKind::TooFewRegisters { bands, rows, registers } => write!(
                f,
                "{} of {} need {} registers, but a sketch has {}",
                counted(*bands as u64, "band"),
                counted(*rows as u64, "row"),
                grouped_product(*bands, *rows),
                grouped(*registers as u64)
            ),
            ErrorKind::Unreachable { threshold, recall, best, registers, .. } => {
                // The best recall is printed with enough decimals to show that it is below the wanted recall.
                let reaches = |decimals: usize| {
                    format!("{best:.decimals$}").parse().is_ok_and(|best: f64| best >= *recall)
                };
                let decimals = (4..=17).find(|&decimals| !reaches(decimals)).unwrap_or(17);
                write!(
                    f,
                    "no banding of {} finds a pair at similarity {threshold} with probability {recall}: the best is \
                     {best:.decimals$}",
                    counted(*registers as u64, "register"),
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
                let units = counted(*units as u64, "unit");
                write!(f, " has {units}, fewer than a shingle, and the spec rejects such documents")
            }
        }
    }
}

impl std::error::Error for Error {}
