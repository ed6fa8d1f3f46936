//! Clusters: decisions about documents, made from similar pairs.
//!
//! | clustering | a document is removed if | use when |
//! |---|---|---|
//! | [`star`] | it is similar to a document *that is kept* | always; every removed document has a kept near-duplicate |
//! | [`components`] | a chain of similar pairs leads to a kept document | a family (a group of near-duplicates) becomes one document |
//! | [`pairs`] | never | every similar pair is wanted, and no decision |
//!
//! On many machines, stars are found in rounds: [`decide_round`] decides about all documents of which enough pairs are
//! compared.
//!
//! Each of the three functions works on one [`Neighbourhood`] at a time: documents that are connected by candidate
//! pairs. A function asks a [`Judge`] whether two documents are similar. It asks only if the answer matters, because
//! the judge has to read two documents.

mod asks;
mod components;
mod forest;
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
pub use forest::SharedForest;
pub use neighbourhood::Neighbourhood;
pub use pairs::pairs;
pub use rounds::{Edge, PriorState, Ranked, Standing, Visit, decide_round, name_keepers};
pub use shelf::{
    BlockLimits, BlockRow, JoinMember, JoinShelf, MemberState, MemberWait, ShelfMember, StarShelf,
};
pub use star::{Verdict, star};

/// Method by which similar pairs become decisions about documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Clustering {
    /// Each kept document with the documents that are removed because they are similar to it.
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

/// Code that answers how similar two documents are. Documents are numbered within their neighbourhood.
///
/// A clustering asks in three steps, each of which costs more per pair than the step before. First, it compares
/// sketches ([`screen`](Self::screen), or [`scan`](Self::scan) for many pairs at once). Second, it uses bounds that
/// need no comparison ([`bound`](Self::bound)). Third, it compares exactly ([`similarity`](Self::similarity), or
/// [`similarities`](Self::similarities) for many pairs at once).
pub trait Judge {
    /// Error of reading a document.
    type Error;

    /// Appends to `open` the elements of `others` whose sketches do not rule out that they are similar to `document`,
    /// in the order of `others`.
    ///
    /// This default is for judges without sketches and appends all elements.
    ///
    /// # Errors
    /// Fails if the sketch of a document cannot be read, which ends the clustering. This default never fails.
    fn screen(&mut self, _document: u32, others: &[u32], open: &mut Vec<u32>) -> Result<(), Self::Error> {
        open.extend_from_slice(others);
        Ok(())
    }

    /// Adds `document` to the documents that [`scan`](Self::scan) compares with. Returns `false` if neither `document`
    /// nor any later document can be added. Documents are added in ascending order.
    ///
    /// This default is for judges without sketches and adds nothing.
    ///
    /// # Errors
    /// Fails if the sketch of the document cannot be read, which ends the clustering. This default never fails.
    fn put(&mut self, _document: u32) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Screens each element of `documents` against all documents that [`put`](Self::put) added. Sets `open[i]` to the
    /// documents that may be similar to `documents[i]`, in ascending order: the ones that [`screen`](Self::screen)
    /// would append.
    ///
    /// # Errors
    /// Fails if the sketch of a document cannot be read, which ends the clustering. This default never fails.
    fn scan(&mut self, documents: &[u32], open: &mut Vec<Vec<u32>>) -> Result<(), Self::Error> {
        open.clear();
        open.resize(documents.len(), vec![]);
        Ok(())
    }

    /// Removes documents from `open` that a cheap bound shows to be dissimilar to `document`.
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

    /// Returns the number of pairs per call of [`similarities`](Self::similarities). A call has fewer pairs than this
    /// number before the pairs of its last document are added.
    fn together(&self) -> usize {
        0
    }

    /// Compares many pairs at once. Appends to `similar[i]` the elements of `others[i]` whose
    /// [similarity](Self::similarity) to `documents[i]` reaches the threshold, each with this similarity, in the order
    /// of `others[i]`.
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

    /// Fills `out` with the candidates of `document`, in ascending order. Clusterings call this method only for
    /// neighbourhoods [of pairs](Neighbourhood::of_pairs). Candidates after `document` matter only if it is visited
    /// again.
    ///
    /// # Errors
    /// Fails if the candidates cannot be read, which ends the clustering.
    fn partners(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Self::Error>;

    /// Fills `out` with the shelves of `document`, in ascending order. Clusterings call this method only for
    /// neighbourhoods [of shelves](Neighbourhood::of_shelves).
    ///
    /// # Errors
    /// Fails if the shelves cannot be read, which ends the clustering.
    fn shelves(&mut self, document: u32, out: &mut Vec<u32>) -> Result<(), Self::Error>;

    /// Receives the counts of full shelves and of the documents that they left out. A clustering calls this method
    /// once, at its end.
    fn note_full(&mut self, _full: FullShelves) {}
}

/// Two documents whose similarity reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct SimilarDocuments<'a> {
    /// Document that is later in keeper order.
    pub document: u32,
    /// Document that is earlier in keeper order.
    pub earlier: u32,
    /// Exact similarity of the two documents.
    pub similarity: f64,
    /// For each full shelf of the later document, the share of the documents put on the shelf that the shelf took.
    pub shares: &'a [f64],
}
