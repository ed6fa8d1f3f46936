//! Why a file gives no text.

use std::fmt;

use minwise::visible;

/// Why a file gives no text. It is a fact about the file, not a failure of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is encrypted, and nobody gave a password.
    Encrypted,
    /// It has pictures or drawings but no characters: a scan, or a picture.
    OnlyPictures,
    /// It has letters, but its fonts do not state which characters they are.
    UnknownLetters,
    /// It is over a limit, as it is or unfolded.
    TooLarge {
        /// Its bytes, or where unfolding it was given up.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Its parts lie deeper in one another than the limit allows.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// It has more pages than the limit allows.
    TooManyPages {
        /// How many it has.
        pages: usize,
        /// The limit.
        limit: usize,
    },
    /// It took more time than the limit allows.
    TooSlow {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// Too many others are being read.
    Busy,
    /// It is not what it should be.
    Broken {
        /// What is wrong with it.
        why: String,
    },
    /// It is of a kind that the program was built without.
    MissingFeature {
        /// Its kind.
        what: &'static str,
        /// The feature of this crate that reads the kind.
        feature: &'static str,
    },
    /// It is something that is not read.
    Unsupported {
        /// What it is, with what can be done about it.
        what: &'static str,
    },
}

impl Refusal {
    /// A stable name for programs and counts.
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

    /// Something is wrong with the file.
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
            Self::TooLarge { bytes, limit } => write!(f, "{bytes} bytes is over the limit of {limit}"),
            Self::TooDeep { limit } => write!(f, "its parts lie more than {limit} deep in one another"),
            Self::TooManyPages { pages, limit } => write!(f, "{pages} pages is over the limit of {limit}"),
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
