//! Clusters: from similar pairs to a decision about every document.
//!
//! | clustering | a document is removed when | use when |
//! |---|---|---|
//! | [`star`] | it is similar to a document *that is kept* | always; nothing is removed that has no kept near-duplicate |
//! | [`components`] | a chain of similar pairs leads from it to the kept one | a whole family is to go, however its ends differ |
//! | [`pairs`] | – | every similar pair is wanted, and nothing is decided |
//!
//! All three work on one [`Neighbourhood`] at a time: documents that meet, directly or through others. What is
//! similar is asked of a [`Judge`], and only when the answer matters, because an answer means reading two documents.

mod components;
mod neighbourhood;
mod pairs;
mod star;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::candidate::shelf::Narrowing;
use crate::error::Error;

pub use components::{Forest, components};
pub use neighbourhood::Neighbourhood;
pub use pairs::pairs;
pub use star::{Verdict, star};

/// A clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cluster {
    /// Around kept documents.
    #[default]
    Star,
    /// By transitive closure.
    Components,
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Star => "star",
            Self::Components => "components",
        })
    }
}

impl FromStr for Cluster {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "star" => Ok(Self::Star),
            "components" => Ok(Self::Components),
            _ => Err(Error::parse("clustering", text, "`star` or `components`")),
        }
    }
}

/// Decides about pairs of documents, which are numbered within their neighbourhood.
pub trait Judge {
    /// What can go wrong when documents are read.
    type Error;

    /// The exact similarity of two documents, if it reaches the threshold.
    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Self::Error>;

    /// In a neighbourhood [of pairs](Neighbourhood::of_pairs): fills `out` with the candidates of a document, in ascending
    /// order. Those after it matter only if it is visited again.
    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Self::Error>;

    /// The key of a document's further registers for the n-th split of a shelf of this band.
    fn split_key(&mut self, document: u32, band: u32, split: usize) -> Result<u64, Self::Error>;

    /// In a neighbourhood [of shelves](Neighbourhood::of_shelves): fills `out` with the shelves of a document, in ascending
    /// order.
    fn shelves(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Self::Error>;
}

/// Two documents that reach the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found<'a> {
    /// The one later in keeper order.
    pub document: u32,
    /// The one earlier in keeper order.
    pub earlier: u32,
    /// Their exact similarity.
    pub similarity: f64,
    /// For each band of the later one that is crowded: what was asked for besides its rows.
    pub narrowed: &'a [Narrowing],
}
