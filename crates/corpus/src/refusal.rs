//! Reasons why a file gives no text.

use std::fmt;

use minwise::figure::counted;
use minwise::visible;

/// Reason why a file gives no text. A refusal is a fact about the file, not a failure of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The file is encrypted, and no password was given.
    Encrypted,
    /// The file has pictures or drawings but no characters: a scan, or a picture.
    OnlyPictures,
    /// The file has letters, but its fonts do not state which characters they are.
    UnknownLetters,
    /// The file exceeds a limit, as it is stored or when it is decompressed.
    TooLarge {
        /// Size of the file, or number of decompressed bytes at which extraction stopped.
        bytes: u64,
        /// Maximum number of bytes.
        limit: u64,
    },
    /// The elements or objects of the file are nested deeper than the limit allows.
    TooDeep {
        /// Maximum depth.
        limit: usize,
    },
    /// The file has more pages than the limit allows.
    TooManyPages {
        /// Number of pages of the file.
        pages: usize,
        /// Maximum number of pages.
        limit: usize,
    },
    /// Extraction took longer than the limit allows.
    TooSlow {
        /// Maximum time, in milliseconds.
        limit_ms: u64,
    },
    /// Too many other files are being read at the same time.
    Busy,
    /// The file is damaged, or violates its format.
    Broken {
        /// Fault in the file.
        why: String,
    },
    /// The program was built without the code that reads files of this kind.
    MissingFeature {
        /// Kind of the file, in words.
        what: &'static str,
        /// Feature of this crate that reads files of this kind.
        feature: &'static str,
    },
    /// Files of this kind cannot be read.
    Unsupported {
        /// Kind of the file, and how it can be made readable, in words.
        what: &'static str,
    },
}

impl Refusal {
    /// Returns a stable name for programs and counts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::OnlyPictures => "only_pictures",
            Self::UnknownLetters => "unknown_letters",
            Self::TooLarge { .. } => "too_large",
            Self::TooDeep { .. } => "too_deep",
            Self::TooManyPages { .. } => "too_many_pages",
            Self::TooSlow { .. } => "too_slow",
            Self::Busy => "busy",
            Self::Broken { .. } => "damaged",
            Self::MissingFeature { .. } => "missing_feature",
            Self::Unsupported { .. } => "unsupported",
        }
    }

    /// Makes the refusal of a file with a fault.
    pub(super) fn broken(why: impl fmt::Display) -> Self {
        Self::Broken { why: why.to_string() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encrypted => f.write_str("it is encrypted; save it without a password"),
            Self::OnlyPictures => f.write_str("it holds only pictures, and no text"),
            Self::UnknownLetters => f.write_str(
                "its fonts do not state which characters its letters are; save it as text, or scan it",
            ),
            Self::TooLarge { bytes, limit } => {
                let limit = counted(*limit, "byte");
                write!(f, "{} is over the limit of {limit}", counted(*bytes, "byte"))
            }
            Self::TooDeep { limit } => write!(f, "its parts lie more than {limit} deep in one another"),
            Self::TooManyPages { pages, limit } => {
                let (pages, limit) = (counted(*pages as u64, "page"), counted(*limit as u64, "page"));
                write!(f, "{pages} is over the limit of {limit}")
            }
            Self::TooSlow { limit_ms } => {
                write!(f, "it took more than {} seconds to read", *limit_ms as f64 / 1000.0)
            }
            Self::Busy => f.write_str("too many others are being read; send it again later"),
            Self::Broken { why } => write!(f, "it is broken: {}", visible(why)),
            Self::MissingFeature { what, feature } => {
                write!(
                    f,
                    "it is {what}, and needs the feature `{feature}`, which this program was built without"
                )
            }
            Self::Unsupported { what } => write!(f, "it is {what}"),
        }
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_reads_as_a_sentence_about_the_file() {
        assert_eq!(Refusal::TooSlow { limit_ms: 1500 }.to_string(), "it took more than 1.5 seconds to read");
        assert_eq!(Refusal::broken("\u{1b}[2J").to_string(), r"it is broken: \u{1b}[2J");
        assert_eq!(
            Refusal::TooDeep { limit: 2 }.to_string(),
            "its parts lie more than 2 deep in one another"
        );
    }
}
