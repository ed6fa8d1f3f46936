//! Finds equal documents by their equality keys.

use crate::candidate::order::KeeperOrder;
use crate::error::Error;
use crate::gather::{GatheredKeys, gather_in_buckets, gather_in_parts};
use crate::memory::{KeyPart, WorkingMemory};
use crate::read::documents::{Documents, Stretch};

/// Groups of equal documents. The first document of a group in keeper order represents the group.
#[derive(Debug)]
pub(crate) struct Equals {
    /// For each document, the first document of its group. This document represents the group.
    first: Vec<u32>,
    /// Groups of more than one document, as `(first, begin, end)`: `members[begin..end]` are the documents of the group
    /// in keeper order. The list is sorted by the first documents.
    groups: Vec<(u32, usize, usize)>,
    members: Vec<u32>,
    /// One bit per document: whether it is the first of a group of more than one document. Most documents are not, and
    /// searching `groups` for each of them took 2 % of a run over short documents.
    represents: Vec<u64>,
}

impl Equals {
    /// Finds the groups with several threads.
    pub(crate) fn find(
        documents: &Documents,
        order: &KeeperOrder,
        threads: usize,
        room: WorkingMemory,
    ) -> Result<Self, Error> {
        let mut equals = Self {
            first: (0..order.len() as u32).collect(),
            groups: vec![],
            members: vec![],
            represents: vec![0; order.len().div_ceil(64)],
        };
        let documents_in = |stretch: &Stretch, part: KeyPart, push: &mut dyn FnMut(u128, u32)| {
            documents.equality_keys(stretch, part, |document, key| {
                if documents.has_text(document) {
                    push(key, order.place(document));
                }
            })
        };
        let find = |found: &mut Vec<Vec<u32>>, _: usize, places: &[u32]| found.push(places.to_vec());
        let receive = |groups: Vec<Vec<u32>>| {
            for places in &groups {
                equals.add(places, order);
            }
            Ok(())
        };
        let bytes = order.len() as u64 * GatheredKeys::<u128>::ENTRY_BYTES;
        if room.parts(bytes).len() == 1 {
            let stretches = documents.stretches_for(threads);
            let collect = |stretch: usize, keys: &mut [Vec<(u128, u32)>]| {
                documents_in(&stretches[stretch], KeyPart::ALL, &mut |key, place| keys[0].push((key, place)))
            };
            gather_in_buckets(1, order.len(), stretches.len(), threads, collect, find, receive)?;
        } else {
            let stretches = documents.stretches(usize::MAX);
            let collect = |_: usize, part: KeyPart, keys: &mut GatheredKeys<u128>| {
                let mut push = |key, place| keys.push(key, place);
                stretches.iter().try_for_each(|stretch| documents_in(stretch, part, &mut push))
            };
            let parts = room.parts(threads as u64 * bytes);
            gather_in_parts(1, order.len(), parts, threads, collect, find, receive)?;
        }
        equals.groups.sort_unstable();
        Ok(equals)
    }

    /// Adds a group, given the places of its documents in keeper order.
    fn add(&mut self, places: &[u32], order: &KeeperOrder) {
        let begin = self.members.len();
        self.members.extend(places.iter().map(|&place| order.document(place)));
        let stands = self.members[begin];
        for &member in &self.members[begin..] {
            self.first[member as usize] = stands;
        }
        self.groups.push((stands, begin, self.members.len()));
        self.represents[stands as usize / 64] |= 1 << (stands % 64);
    }

    /// Returns the first document of the group of `document`, which represents it.
    pub(crate) fn first(&self, document: u32) -> u32 {
        self.first[document as usize]
    }

    /// Reports whether the document is the first of its group, and so represents itself and all documents that equal
    /// it.
    pub(crate) fn is_first(&self, document: u32) -> bool {
        self.first(document) == document
    }

    /// Returns the documents that `first` represents, itself included. The list is empty if no document equals `first`.
    pub(crate) fn members(&self, first: u32) -> &[u32] {
        if self.represents[first as usize / 64] >> (first % 64) & 1 == 0 {
            return &[];
        }
        match self.groups.binary_search_by_key(&first, |group| group.0) {
            Ok(at) => &self.members[self.groups[at].1..self.groups[at].2],
            Err(_) => &[],
        }
    }

    /// Returns the number of documents that `first` represents, itself included.
    pub(crate) fn copies(&self, first: u32) -> u64 {
        self.members(first).len().max(1) as u64
    }

    /// Returns all groups of more than one document, sorted by their first documents.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.groups.iter().map(|&(_, begin, end)| &self.members[begin..end])
    }
}
