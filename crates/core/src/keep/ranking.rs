//! A ranking of a policy, and its text form.

use std::fmt;
use std::str::FromStr;

use super::written;
use super::{date, number};
use crate::error::Error;

/// Properties of a document that a ranking may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct RankingInput<'a> {
    /// Length of the text in characters, as it was read.
    pub characters: u64,
    /// Value of the ranking's field; `None` if the document does not have it.
    pub value: Option<&'a str>,
}

/// A ranking of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ranking {
    /// The document with the most characters comes first.
    Longest,
    /// The document with the fewest characters comes first.
    Shortest,
    /// The document with the latest date in a field comes first.
    Newest(String),
    /// The document with the earliest date in a field comes first.
    Oldest(String),
    /// The document with the largest number in a field comes first.
    Max(String),
    /// The document with the smallest number in a field comes first.
    Min(String),
    /// The document whose field has the first value of a list comes first; values that are not in the list come last.
    Priority {
        /// Name of the field.
        field: String,
        /// Values of the list, best value first.
        values: Vec<String>,
    },
}

/// The rankings of a policy, for error messages.
const EXPECTED: &str = "`first`, `last`, `longest`, `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`, \
                        `min:FIELD` or `priority:FIELD=A,B,C`";

impl Ranking {
    /// Returns the field of the ranking, if it has one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Longest | Self::Shortest => None,
            Self::Newest(field)
            | Self::Oldest(field)
            | Self::Max(field)
            | Self::Min(field)
            | Self::Priority { field, .. } => Some(field),
        }
    }

    /// Returns the kind of value that the ranking needs, for messages; `None` if every value is accepted.
    #[must_use]
    pub fn wants(&self) -> Option<&'static str> {
        match self {
            Self::Newest(_) | Self::Oldest(_) => Some("a date"),
            Self::Max(_) | Self::Min(_) => Some("a number"),
            Self::Longest | Self::Shortest | Self::Priority { .. } => None,
        }
    }

    /// Returns the number of words of a rank that are used.
    #[must_use]
    pub fn words(&self) -> usize {
        match self {
            Self::Max(_) | Self::Min(_) => 2,
            Self::Longest | Self::Shortest | Self::Newest(_) | Self::Oldest(_) | Self::Priority { .. } => 1,
        }
    }

    /// Reports whether the ranking needs the length of a document.
    #[must_use]
    pub fn needs_length(&self) -> bool {
        match self {
            Self::Longest | Self::Shortest => true,
            Self::Newest(_) | Self::Oldest(_) | Self::Max(_) | Self::Min(_) | Self::Priority { .. } => false,
        }
    }

    /// Returns the rank of a document; the document with the smallest rank comes first. Returns `None` if the document
    /// has no value, or a value that cannot be read.
    ///
    /// Ranks are compared word by word, up to the number of [`words`](Self::words). No rank by a field is `u64::MAX`,
    /// so this word can stand for documents without a rank.
    #[must_use]
    pub fn rank(&self, member: RankingInput<'_>) -> Option<[u64; 2]> {
        let reversed = |words: [u64; 2]| words.map(|word| !word);
        let word = |word| [word, 0];
        match self {
            Self::Longest => Some(word(u64::MAX - member.characters)),
            Self::Shortest => Some(word(member.characters)),
            Self::Newest(_) => date::word(member.value?).map(|date| word(!date)),
            Self::Oldest(_) => date::word(member.value?).map(word),
            Self::Max(_) => number::words(member.value?).map(reversed),
            Self::Min(_) => number::words(member.value?),
            Self::Priority { values, .. } => {
                let value = member.value.filter(|value| !value.is_empty())?;
                let place = values.iter().position(|listed| listed == value);
                Some(word(place.unwrap_or(values.len()) as u64))
            }
        }
    }
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longest => f.write_str("longest"),
            Self::Shortest => f.write_str("shortest"),
            Self::Newest(field) => write!(f, "newest:{}", written::write(field)),
            Self::Oldest(field) => write!(f, "oldest:{}", written::write(field)),
            Self::Max(field) => write!(f, "max:{}", written::write(field)),
            Self::Min(field) => write!(f, "min:{}", written::write(field)),
            Self::Priority { field, values } => {
                let values: Vec<String> = values.iter().map(|value| written::write(value)).collect();
                write!(f, "priority:{}={}", written::write(field), values.join(","))
            }
        }
    }
}

impl FromStr for Ranking {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| Error::parse("keeper policy", text, EXPECTED))
    }
}

fn parse(text: &str) -> Option<Ranking> {
    let Some((name, rest)) = text.split_once(':') else {
        return match text.to_ascii_lowercase().as_str() {
            "longest" => Some(Ranking::Longest),
            "shortest" => Some(Ranking::Shortest),
            _ => None,
        };
    };
    let named = |part: &str| Some(written::read(part)).filter(|name| !name.is_empty());
    match name.to_ascii_lowercase().as_str() {
        "newest" => named(rest).map(Ranking::Newest),
        "oldest" => named(rest).map(Ranking::Oldest),
        "max" => named(rest).map(Ranking::Max),
        "min" => named(rest).map(Ranking::Min),
        "priority" => {
            let field = written::split(rest, '=').first().copied().unwrap_or_default();
            let values = rest.get(field.len() + 1..)?;
            let values = written::split(values, ',').into_iter().map(named).collect::<Option<_>>()?;
            Some(Ranking::Priority { field: named(field)?, values })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(ranking: &str, values: &[Option<&str>]) -> Vec<usize> {
        let ranking: Ranking = ranking.parse().unwrap();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&i| {
            ranking.rank(RankingInput { characters: 0, value: values[i] }).unwrap_or([u64::MAX; 2])
        });
        order
    }

    #[test]
    fn lengths() {
        for (ranking, expected) in [("longest", [0, 3, 2, 1]), ("shortest", [1, 2, 0, 3])] {
            let ranking: Ranking = ranking.parse().unwrap();
            let mut order = [0, 1, 2, 3];
            order.sort_by_key(|&i| ranking.rank(RankingInput { characters: [3, 1, 2, 3][i], value: None }));
            assert_eq!(order, expected);
        }
    }

    #[test]
    fn what_has_no_value_comes_last() {
        let dates = [None, Some("2020"), Some("yesterday"), Some("2021-01-01"), Some("")];
        assert_eq!(order("newest:d", &dates), [3, 1, 0, 2, 4]);
        assert_eq!(order("oldest:d", &dates), [1, 3, 0, 2, 4]);
        let numbers = [None, Some("-3"), Some("many"), Some("2.5"), Some("1e9")];
        assert_eq!(order("max:n", &numbers), [4, 3, 1, 0, 2]);
        assert_eq!(order("min:n", &numbers), [1, 3, 4, 0, 2]);
    }

    #[test]
    fn priorities_go_by_place_and_others_stand_between_them_and_nothing() {
        let values = [None, Some("blog"), Some("news"), Some("wiki"), Some(""), Some("Wiki")];
        assert_eq!(order("priority:s=wiki,news", &values), [3, 2, 1, 5, 0, 4]);
    }
}
