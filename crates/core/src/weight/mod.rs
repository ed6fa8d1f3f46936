//! Weights: the importance of each shingle of a document.
//!
//! Plain similarity counts every distinct shingle once. A [`Weigher`] turns a document's shingles into a
//! [`WeightedSet`]. The weight of a shingle grows with its occurrences in the document, or with the rarity of the
//! shingle among all documents. A weigher leaves out ignored shingles: those of too many documents, and those of a
//! template.
//!
//! | [`Weighting`] | weight of a shingle that occurs n times among N | use when |
//! |---|---|---|
//! | `none` | 1 | sets are compared; this is the default |
//! | `count` | n | repetition matters: bags of shingles |
//! | `tf` | n / N | repetition matters and length does not: ten copies of a text in a row are like one |
//! | `tf-idf` | n / N · ln(D / (d + 1)), if positive | shingles of many documents should count little |
//! | `tf-idf,smooth` | n / N · ln(1 + D / (d + 1)) | collections are small: as `tf-idf`, but no shingle is dropped |
//!
//! D is the number of documents, and d the number of documents with the shingle, both from [`DocumentFrequencies`]. As
//! published, `tf-idf` is zero for a shingle of all documents except one, and negative for a shingle of all documents
//! (E-54). Weights must be positive, so these shingles are dropped, and a document may have no shingles left.
//!
//! The logarithm is [`kernel::ln`](crate::kernel::ln), so a weight has the same bits on every machine.

mod frequency;
mod set;
mod weigher;

#[doc(hidden)]
pub use frequency::sealed;
pub use frequency::{DocumentFrequencies, FrequencyLookup, MostDocuments};
pub use set::{WeightedSet, merged};
pub use weigher::{Weigher, WeigherBuffers};

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The formula of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Weighting {
    /// The weight of every shingle is 1.
    #[default]
    None,
    /// The weight of a shingle is the number of its occurrences.
    Count,
    /// The weight of a shingle is its share of the document's shingles (term frequency).
    Tf,
    /// The weight of a shingle is its term frequency times ln(D / (d + 1)), as published.
    TfIdf,
    /// The weight of a shingle is its term frequency times ln(1 + D / (d + 1)), which is always positive.
    TfIdfSmooth,
}

impl Weighting {
    /// All weightings.
    pub const ALL: [Self; 5] = [Self::None, Self::Count, Self::Tf, Self::TfIdf, Self::TfIdfSmooth];

    /// Reports whether all weights are whole numbers.
    #[must_use]
    pub fn is_whole(self) -> bool {
        matches!(self, Self::None | Self::Count)
    }

    /// Reports whether the weighting is `tf-idf` or `tf-idf,smooth`, which need document frequencies.
    #[must_use]
    pub fn needs_frequencies(self) -> bool {
        matches!(self, Self::TfIdf | Self::TfIdfSmooth)
    }
}

impl fmt::Display for Weighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Count => "count",
            Self::Tf => "tf",
            Self::TfIdf => "tf-idf",
            Self::TfIdfSmooth => "tf-idf,smooth",
        })
    }
}

impl FromStr for Weighting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|weighting| weighting.to_string() == text).ok_or_else(|| {
            Error::parse("weighting", text, "`none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        for weighting in Weighting::ALL {
            assert_eq!(weighting.to_string().parse::<Weighting>().unwrap(), weighting);
        }
        for wrong in ["", "TF", "idf", "tf-idf,", "tf-idf, smooth"] {
            let message = wrong.parse::<Weighting>().unwrap_err().to_string();
            assert!(message.contains("`tf-idf,smooth`"), "{message}");
        }
    }
}
