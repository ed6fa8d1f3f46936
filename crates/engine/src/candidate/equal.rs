//! Documents with equal shingles, collapsed into one.

use crate::candidate::gather::Gathered;
use crate::candidate::order::Order;
use crate::error::Error;
use crate::memory::Room;
use crate::read::documents::Documents;

/// Documents that are equal stand for one another: the one first in keeper order for all of them.
#[derive(Debug)]
pub(crate) struct Equals {
    /// For each document, the one that stands for it.
    first: Vec<u32>,
    /// Groups of more than one: `members[begin..end]` in keeper order, by the document that stands for them.
    groups: Vec<(u32, usize, usize)>,
    members: Vec<u32>,
}

impl Equals {
    /// Groups the documents.
    pub(crate) fn find(documents: &Documents, order: &Order, room: Room) -> Result<Self, Error> {
        let mut first: Vec<u32> = (0..order.len() as u32).collect();
        let mut groups = vec![];
        let mut members = vec![];
        let mut keyed = Gathered::<u128>::default();
        let parts = room.parts(order.len() as u64 * Gathered::<u128>::ENTRY_BYTES);
        for part in parts.all() {
            keyed.clear(order.len(), parts);
            documents.for_each_equality_key(|document, key| {
                if parts.has(part, (key >> 64) as u64) && !documents.is_null(document) {
                    keyed.push(key, order.place(document));
                }
            })?;
            keyed.for_each_group(|places| {
                let begin = members.len();
                members.extend(places.iter().map(|&place| order.document(place)));
                let stands = members[begin];
                for &member in &members[begin..] {
                    first[member as usize] = stands;
                }
                groups.push((stands, begin, members.len()));
            });
        }
        groups.sort_unstable();
        Ok(Self { first, groups, members })
    }

    /// The document that stands for this one.
    pub(crate) fn first(&self, document: u32) -> u32 {
        self.first[document as usize]
    }

    /// Whether the document stands for itself, and for its equals if it has any.
    pub(crate) fn is_first(&self, document: u32) -> bool {
        self.first(document) == document
    }

    /// The equals of a document that stands for them, itself first; empty if it has none.
    pub(crate) fn members(&self, first: u32) -> &[u32] {
        match self.groups.binary_search_by_key(&first, |group| group.0) {
            Ok(at) => &self.members[self.groups[at].1..self.groups[at].2],
            Err(_) => &[],
        }
    }

    /// How many documents this one stands for, itself included.
    pub(crate) fn copies(&self, first: u32) -> u64 {
        self.members(first).len().max(1) as u64
    }

    /// All groups of more than one, by the document that stands for them.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.groups.iter().map(|&(_, begin, end)| &self.members[begin..end])
    }
}
