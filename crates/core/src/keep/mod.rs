//! Keepers: the document of a cluster that stays.
//!
//! A policy ranks documents, and the best-ranked document of a cluster stays. Star clustering needs a ranking of all
//! documents, not a choice within a finished cluster: it visits documents in this order and removes each document that
//! is similar to an earlier kept one. If a ranking leaves a tie, the next ranking decides. The input order, or its
//! reverse, decides last.
//!
//! | ranking | document that stays | use when |
//! |---|---|---|
//! | `first`, `last` | the first or last one read | the order of the input means something, or nothing else does |
//! | `longest` | the one with the most characters | some copies are cut or abridged |
//! | `shortest` | the one with the fewest characters | some copies have other text pasted around them |
//! | `newest:FIELD`, `oldest:FIELD` | the one with the latest or earliest date | a crawl has several versions of a page |
//! | `max:FIELD`, `min:FIELD` | the one with the largest or smallest number | documents have a score |
//! | `priority:FIELD=A,B,C` | the one whose field is A, else B, else C, else anything | some sources are better than others |
//!
//! A document without the field, or with a value that the ranking cannot read, comes after all documents with a
//! readable value.

mod date;
mod number;
mod ranking;
mod written;

use std::fmt;
use std::str::FromStr;

pub use date::word as date_word;
pub use ranking::{Ranking, RankingInput};

use crate::error::Error;

/// A policy: rankings in the order in which they decide, and the order of documents that all rankings leave tied.
///
/// The text form has a `;` between rankings: `priority:source=wiki,news;newest:date`. A `\` before a separator in a
/// field or value makes the separator a plain character.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeepPolicy {
    rankings: Vec<Ranking>,
    ties: Ties,
}

/// Order of documents that all rankings leave tied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ties {
    /// The document that was read first comes first.
    #[default]
    First,
    /// The document that was read last comes first.
    Last,
}

impl KeepPolicy {
    /// Creates a policy with these rankings.
    #[must_use]
    pub fn new(rankings: Vec<Ranking>, ties: Ties) -> Self {
        Self { rankings, ties }
    }

    /// Returns the rankings, in the order in which they decide.
    #[must_use]
    pub fn rankings(&self) -> &[Ranking] {
        &self.rankings
    }

    /// Returns the order of documents that all rankings leave tied.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// Returns the number of words that the ranks of one document take.
    #[must_use]
    pub fn words(&self) -> usize {
        self.rankings.iter().map(Ranking::words).sum()
    }

    /// Returns the fields of the rankings, in the order of the rankings; rankings without a field are skipped.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.rankings.iter().filter_map(Ranking::field)
    }

    /// Reports whether a ranking needs the length of a document.
    #[must_use]
    pub fn needs_lengths(&self) -> bool {
        self.rankings.iter().any(Ranking::needs_length)
    }
}

impl From<Ranking> for KeepPolicy {
    fn from(ranking: Ranking) -> Self {
        Self::new(vec![ranking], Ties::First)
    }
}

impl fmt::Display for KeepPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, ranking) in self.rankings.iter().enumerate() {
            write!(f, "{}{ranking}", if number > 0 { ";" } else { "" })?;
        }
        match (self.ties, self.rankings.is_empty()) {
            (Ties::First, true) => f.write_str("first"),
            (Ties::First, false) => Ok(()),
            (Ties::Last, true) => f.write_str("last"),
            (Ties::Last, false) => f.write_str(";last"),
        }
    }
}

impl FromStr for KeepPolicy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut keep = Self::default();
        let mut decided = None;
        for part in written::split(text, ';').into_iter().map(str::trim) {
            if let Some(by) = decided {
                let expected = format!("nothing after `{by}`, which leaves no ties");
                return Err(Error::parse("keeper policy", text, expected));
            }
            match part.to_ascii_lowercase().as_str() {
                "first" => decided = Some("first"),
                "last" => (decided, keep.ties) = (Some("last"), Ties::Last),
                _ => keep.rankings.push(part.parse()?),
            }
        }
        Ok(keep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms_round_trip() {
        for form in [
            "first",
            "last",
            "longest",
            "shortest;last",
            "newest:meta.date",
            "oldest:date;longest",
            "max:score",
            "min:score;max:votes",
            "priority:source=wiki,news;newest:date;longest",
            r"priority:a\=b=x\,y,z\;w,\\",
        ] {
            assert_eq!(form.parse::<KeepPolicy>().unwrap().to_string(), form);
        }
        assert_eq!("longest; first".parse::<KeepPolicy>().unwrap(), Ranking::Longest.into());
    }

    #[test]
    fn what_is_no_policy_is_refused_with_those_there_are() {
        for form in [
            "",
            "newest",
            "newest:",
            "best:date",
            "longest:date",
            "priority:a",
            "priority:=a",
            "priority:a=,b",
        ] {
            let error = form.parse::<KeepPolicy>().unwrap_err().to_string();
            assert!(error.contains("`priority:FIELD=A,B,C`"), "{form}: {error}");
        }
        let error = "first;longest".parse::<KeepPolicy>().unwrap_err().to_string();
        assert!(error.ends_with("expected nothing after `first`, which leaves no ties"), "{error}");
    }

    #[test]
    fn a_policy_says_what_it_looks_at() {
        let keep: KeepPolicy = "priority:source=a,b;longest;max:score".parse().unwrap();
        assert_eq!(keep.fields().collect::<Vec<_>>(), ["source", "score"]);
        assert_eq!((keep.words(), keep.needs_lengths()), (4, true));
        assert_eq!((KeepPolicy::default().words(), KeepPolicy::default().needs_lengths()), (0, false));
    }
}
