//! Keeper order: converts the number of a document to its place in that order, and back. The place is the document's
//! index in the order.

use minwise::keep::{KeepPolicy, Ties};

use crate::error::Error;
use crate::read::documents::Documents;

/// Places of documents in keeper order. Of two near-duplicates, the document with the lower place stays.
#[derive(Debug)]
pub(crate) struct KeeperOrder {
    len: u32,
    /// Documents by place, and places by document. `None` if both numbers are always equal.
    sorted: Option<SortedDocuments>,
}

#[derive(Debug)]
struct SortedDocuments {
    documents: Vec<u32>,
    places: Vec<u32>,
}

impl KeeperOrder {
    /// Returns the order by a policy. The first `references` documents are references, and keep their places.
    pub(crate) fn new(documents: &Documents, keep: &KeepPolicy, references: u32) -> Result<Self, Error> {
        Ok(Self::of_ranks(&documents.ranks()?, keep, references, documents.len() as u32))
    }

    /// Returns the order by a policy, given the ranks of the documents.
    pub(crate) fn of_ranks(ranks: &[u64], keep: &KeepPolicy, references: u32, documents: u32) -> Self {
        let words = keep.words();
        if words == 0 && keep.ties() == Ties::First {
            return Self { len: documents, sorted: None };
        }
        let mut order: Vec<u32> = (0..documents).collect();
        let ranked = &mut order[references as usize..];
        if keep.ties() == Ties::Last {
            ranked.reverse();
        }
        if words > 0 {
            let rank = |document: u32| &ranks[document as usize * words..][..words];
            ranked.sort_by(|&a, &b| rank(a).cmp(rank(b)));
        }
        let mut places = vec![0; order.len()];
        for (place, &document) in (0..).zip(&order) {
            places[document as usize] = place;
        }
        Self { len: documents, sorted: Some(SortedDocuments { documents: order, places }) }
    }

    /// Returns the order in which documents were read.
    pub(crate) fn of_input(documents: usize) -> Self {
        Self { len: documents as u32, sorted: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Reports whether the order is that in which documents were read.
    pub(crate) fn is_input(&self) -> bool {
        self.sorted.is_none()
    }

    /// Returns the document at a place.
    pub(crate) fn document(&self, place: u32) -> u32 {
        self.sorted.as_ref().map_or(place, |sorted| sorted.documents[place as usize])
    }

    pub(crate) fn place(&self, document: u32) -> u32 {
        self.sorted.as_ref().map_or(document, |sorted| sorted.places[document as usize])
    }
}
