//! Keepers: which document of a cluster stays.
//!
//! A policy ranks documents; the best-ranked stay. Because it is a ranking of all documents and not a choice within a
//! finished cluster, the star clustering can use it: it takes documents in this order and removes what repeats an
//! earlier one.
//!
//! | policy | stays | use when |
//! |---|---|---|
//! | `first` | the one read first | the order of the input means something, or nothing does |
//! | `longest` | the one with the most characters | cut or abridged copies are about |
//! | `shortest` | the one with the fewest | copies with something pasted around them are about |

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// What a policy may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Length of the text in characters, as it was read.
    pub characters: u64,
}

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Input order.
    #[default]
    First,
    /// Most characters first.
    Longest,
    /// Fewest characters first.
    Shortest,
}

impl Keep {
    /// Where the document stands: the least rank stays, and equal ranks go by input order.
    #[must_use]
    pub fn rank(self, member: Member) -> u64 {
        match self {
            Self::First => 0,
            Self::Longest => u64::MAX - member.characters,
            Self::Shortest => member.characters,
        }
    }

    /// Whether the policy looks at how long a document is.
    #[must_use]
    pub fn needs_lengths(self) -> bool {
        match self {
            Self::First => false,
            Self::Longest | Self::Shortest => true,
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Longest => "longest",
            Self::Shortest => "shortest",
        })
    }
}

impl FromStr for Keep {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "first" => Ok(Self::First),
            "longest" => Ok(Self::Longest),
            "shortest" => Ok(Self::Shortest),
            _ => Err(Error::parse("keeper policy", text, "`first`, `longest` or `shortest`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(keep: Keep, lengths: &[u64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&i| keep.rank(Member { characters: lengths[i] }));
        order
    }

    #[test]
    fn policies_rank() {
        assert_eq!(order(Keep::First, &[3, 1, 2]), [0, 1, 2]);
        assert_eq!(order(Keep::Longest, &[3, 1, 2, 3]), [0, 3, 2, 1]);
        assert_eq!(order(Keep::Shortest, &[3, 1, 2, 1]), [1, 3, 2, 0]);
    }

    #[test]
    fn text_forms_round_trip() {
        for form in ["first", "longest", "shortest"] {
            assert_eq!(form.parse::<Keep>().unwrap().to_string(), form);
        }
        assert!("newest".parse::<Keep>().is_err());
    }
}
