//! Clusters: from similar pairs to a decision about every document.
//!
//! | clustering | a document is removed when | use when |
//! |---|---|---|
//! | [`star`] | it is similar to a document *that is kept* | always; every removed document has a kept near-duplicate |
//! | [`components`] | a chain of similar pairs leads from it to the kept one | a whole family is to go, however its ends differ |
//! | [`pairs`] | – | every similar pair is wanted, and nothing is decided |
//!
//! On many machines, stars are found in rounds: [`decide_round`] decides about all documents of which enough
//! pairs are compared.
//!
//! The three work on one [`Neighbourhood`] at a time: documents that meet, directly or through others.
//! Whether two documents are similar is asked of a [`Judge`], and only if the answer matters, because an
//! answer means reading two documents.

mod asks;
mod components;
mod neighbourhood;
mod pairs;
mod rounds;
mod shelf;
mod star;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::candidate::FullShelves;
use crate::error::Error;

pub use asks::{Asks, Block, ComponentAsks, ShelvedDocuments, StarAsks};
pub use components::{Forest, components};
pub use neighbourhood::Neighbourhood;
pub use pairs::pairs;
pub use rounds::{Edge, PriorState, Ranked, Standing, Visit, decide_round, name_keepers};
pub use shelf::{
    BlockLimits, BlockRow, JoinMember, JoinShelf, MemberState, MemberWait, ShelfMember, StarShelf,
};
pub use star::{Verdict, star};

/// A clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Clustering {
    /// Duplicates around kept documents.
    #[default]
    Star,
    /// Connected components of similar documents.
    Components,
}

impl fmt::Display for Clustering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Star => "star",
            Self::Components => "components",
        })
    }
}

impl FromStr for Clustering {
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
///
/// A clustering asks in three steps, each of which costs more per pair than the one before: sketches
/// ([`screen`](Self::screen), or [`scan`](Self::scan) for many pairs at once), bounds that need no comparison
/// ([`bound`](Self::bound)), and the exact comparison ([`similarity`](Self::similarity), or
/// [`similarities`](Self::similarities) for many pairs at once).
pub trait Judge {
    /// The error of reading a document.
    type Error;

    /// Appends to `open` those of `others` that may be similar to a document by their sketches, in the order
    /// of `others`.
    ///
    /// This default, for judges without sketches, appends all of them.
    ///
    /// # Errors
    /// Fails if the sketch of a document cannot be read, which ends the clustering. This default never fails.
    fn screen(&mut self, _document: u32, others: &[u32], open: &mut Vec<u32>) -> Result<(), Self::Error> {
        open.extend_from_slice(others);
        Ok(())
    }

    /// Adds a document to those that [`scan`](Self::scan) goes through. Returns `false` if neither it nor any
    /// later document can be added. Documents come in ascending order.
    ///
    /// This default, for judges without sketches, adds none.
    ///
    /// # Errors
    /// Fails if the sketch of the document cannot be read, which ends the clustering. This default never fails.
    fn put(&mut self, _document: u32) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Screens each of `documents` against all that were [put](Self::put). `open[i]` gets the documents that
    /// may be similar to `documents[i]`, ascending, which are those that [`screen`](Self::screen) would leave
    /// open.
    ///
    /// # Errors
    /// Fails if the sketch of a document cannot be read, which ends the clustering. This default never fails.
    fn scan(&mut self, documents: &[u32], open: &mut Vec<Vec<u32>>) -> Result<(), Self::Error> {
        open.clear();
        open.resize(documents.len(), vec![]);
        Ok(())
    }

    /// Removes from `open` documents that are certainly not similar to `document`, if this is cheaper to find
    /// out than their similarity.
    ///
    /// # Errors
    /// Fails if the bounds cannot be read, which ends the clustering. This default never fails.
    fn bound(&mut self, _document: u32, _open: &mut Vec<u32>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Returns the exact similarity of two documents, if it reaches the threshold.
    ///
    /// # Errors
    /// Fails if a document cannot be read, which ends the clustering.
    fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Self::Error>;

    /// Returns the number of pairs that one call of [`similarities`](Self::similarities) should have. A call has at
    /// most this many, and those of one document besides.
    fn together(&self) -> usize {
        0
    }

    /// Compares many pairs at once. Appends to `similar[i]` those of `others[i]` whose
    /// [similarity](Self::similarity) to `documents[i]` reaches the threshold, with this similarity, in the
    /// order of `others[i]`.
    ///
    /// This default compares one pair after the other.
    ///
    /// # Errors
    /// Fails if a document cannot be read, which ends the clustering. This default returns the first error of
    /// [`similarity`](Self::similarity).
    fn similarities(
        &mut self,
        documents: &[u32],
        others: &[Vec<u32>],
        similar: &mut [Vec<(u32, f64)>],
    ) -> Result<(), Self::Error> {
        for ((&document, others), similar) in documents.iter().zip(others).zip(similar) {
            for &other in others {
                similar.extend(self.similarity(document, other)?.map(|similarity| (other, similarity)));
            }
        }
        Ok(())
    }

    /// In a neighbourhood [of pairs](Neighbourhood::of_pairs), fills `out` with the candidates of a document,
    /// in ascending order. Candidates after the document matter only if it is visited again.
    ///
    /// # Errors
    /// Fails if the candidates cannot be read, which ends the clustering.
    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Self::Error>;

    /// In a neighbourhood [of shelves](Neighbourhood::of_shelves), fills `out` with the shelves of a
    /// document, in ascending order.
    ///
    /// # Errors
    /// Fails if the shelves cannot be read, which ends the clustering.
    fn shelves(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Self::Error>;

    /// Receives the number of shelves that left documents out. A clustering calls it once, at its end.
    fn note_full(&mut self, _full: FullShelves) {}
}

/// Two documents that reach the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct SimilarDocuments<'a> {
    /// The document later in keeper order.
    pub document: u32,
    /// The document earlier in keeper order.
    pub earlier: u32,
    /// Their exact similarity.
    pub similarity: f64,
    /// For each full shelf of the later document, the share of its documents that it took.
    pub shares: &'a [f64],
}
