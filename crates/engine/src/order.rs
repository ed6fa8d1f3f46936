//! Keeper order, and back.

use minwise::keep::Keep;

use crate::documents::Documents;
use crate::error::Error;

/// Documents have a place in keeper order: the one that comes first stays.
#[derive(Debug)]
pub(crate) struct Order {
    len: u32,
    /// The documents by place, and their places; nothing where that is the same.
    sorted: Option<Sorted>,
}

#[derive(Debug)]
struct Sorted {
    documents: Vec<u32>,
    places: Vec<u32>,
}

impl Order {
    /// The order that a policy gives.
    pub(crate) fn new(documents: &Documents, keep: Keep) -> Result<Self, Error> {
        let sorted = match documents.order(keep)? {
            None => None,
            Some(documents) => {
                let mut places = vec![0; documents.len()];
                for (place, &document) in (0..).zip(&documents) {
                    places[document as usize] = place;
                }
                Some(Sorted { documents, places })
            }
        };
        Ok(Self { len: documents.len() as u32, sorted })
    }

    /// The order in which documents were read.
    pub(crate) fn of_input(documents: usize) -> Self {
        Self { len: documents as u32, sorted: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The document at a place.
    pub(crate) fn document(&self, place: u32) -> u32 {
        self.sorted.as_ref().map_or(place, |sorted| sorted.documents[place as usize])
    }

    /// The place of a document.
    pub(crate) fn place(&self, document: u32) -> u32 {
        self.sorted.as_ref().map_or(document, |sorted| sorted.places[document as usize])
    }
}
