//! Documents gathered by keys, and those that are equal by theirs, in bounded memory however many of them have the same key.
//!
//! Keys are well mixed, so that a part of their range holds its share of them. One key that very many documents have would
//! undo that: all of them lie in one part. Such a key is *frequent*; it is noted once, and then only the documents are.

use std::collections::BTreeMap;

use minwise::sort::{Mixed, sort_mixed};

use crate::candidate::order::KeeperOrder;
use crate::error::Error;
use crate::memory::{Parts, WorkingMemory};
use crate::read::documents::Documents;

/// What a frequent key has of all entries, at least, when it is noticed: one in this many.
const FREQUENT: usize = 32;
/// Entries that are not worth a look for frequent keys.
const FEW: usize = 1 << 12;

/// Documents by key.
#[derive(Debug)]
pub(crate) struct GatheredKeys<K> {
    /// Keys, and the places in keeper order of the documents that have them.
    entries: Vec<(K, u32)>,
    scratch: Vec<(K, u32)>,
    frequent: BTreeMap<K, Vec<u32>>,
    /// Entries from which on frequent keys are looked for.
    many: usize,
}

impl<K> Default for GatheredKeys<K> {
    fn default() -> Self {
        Self { entries: vec![], scratch: vec![], frequent: BTreeMap::new(), many: usize::MAX }
    }
}

impl<K: Copy + Ord> GatheredKeys<K>
where
    (K, u32): Mixed,
{
    /// Bytes of an entry while it is sorted.
    pub(crate) const ENTRY_BYTES: u64 = 2 * size_of::<(K, u32)>() as u64;

    /// Begins anew, with the share that a part has of this many documents.
    pub(crate) fn clear(&mut self, documents: usize, parts: Parts) {
        self.entries.clear();
        // Growing step by step would copy every entry once more. Memory that is reserved and never used costs nothing.
        let _ = self.entries.try_reserve(documents / parts.len());
        self.frequent.clear();
        // Twice its share is what a part does not have by chance.
        self.many = (2 * documents / parts.len()).max(FEW);
    }

    /// Exchanges the buffer that entries are sorted in.
    pub(crate) fn swap_scratch(&mut self, scratch: &mut Vec<(K, u32)>) {
        std::mem::swap(&mut self.scratch, scratch);
    }

    /// Adds a document.
    #[inline]
    pub(crate) fn push(&mut self, key: K, place: u32) {
        if self.entries.len() < self.many && self.frequent.is_empty() {
            self.entries.push((key, place));
        } else {
            self.push_carefully(key, place);
        }
    }

    #[cold]
    fn push_carefully(&mut self, key: K, place: u32) {
        if self.entries.len() >= self.many {
            self.note_frequent();
        }
        match self.frequent.get_mut(&key) {
            Some(places) => places.push(place),
            None => self.entries.push((key, place)),
        }
    }

    fn note_frequent(&mut self) {
        sort_mixed(&mut self.entries, &mut self.scratch);
        let least = self.entries.len() / FREQUENT;
        for group in self.entries.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() >= least) {
            self.frequent.insert(group[0].0, group.iter().map(|entry| entry.1).collect());
        }
        self.entries.retain(|entry| !self.frequent.contains_key(&entry.0));
        if self.entries.len() > self.many / 2 {
            // There is no such key among them: looking again soon would be in vain.
            self.many = self.many.saturating_mul(2);
        }
    }

    /// Visits the places of documents that share a key, in order, by the order of the keys.
    pub(crate) fn for_each_group(&mut self, mut visit: impl FnMut(&[u32])) {
        sort_mixed(&mut self.entries, &mut self.scratch);
        let mut places = vec![];
        let mut frequent = std::mem::take(&mut self.frequent).into_iter().peekable();
        let visit_frequent = |(_, mut places): (K, Vec<u32>), visit: &mut dyn FnMut(&[u32])| {
            places.sort_unstable();
            visit(&places);
        };
        let mut rest = self.entries.as_slice();
        // Most keys are those of one document.
        while let Some(at) = rest.windows(2).position(|two| two[0].0 == two[1].0) {
            rest = &rest[at..];
            let key = rest[0].0;
            while let Some(before) = frequent.next_if(|(other, _)| *other < key) {
                visit_frequent(before, &mut visit);
            }
            let (group, behind) = rest.split_at(rest.iter().take_while(|entry| entry.0 == key).count());
            places.clear();
            places.extend(group.iter().map(|entry| entry.1));
            visit(&places);
            rest = behind;
        }
        frequent.for_each(|rest| visit_frequent(rest, &mut visit));
    }
}

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
    pub(crate) fn find(
        documents: &Documents,
        order: &KeeperOrder,
        room: WorkingMemory,
    ) -> Result<Self, Error> {
        let mut first: Vec<u32> = (0..order.len() as u32).collect();
        let mut groups = vec![];
        let mut members = vec![];
        let mut keyed = GatheredKeys::<u128>::default();
        let parts = room.parts(order.len() as u64 * GatheredKeys::<u128>::ENTRY_BYTES);
        for part in parts.all() {
            keyed.clear(order.len(), parts);
            documents.for_each_equality_key(|document, key| {
                if parts.has(part, (key >> 64) as u64) && documents.has_text(document) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLimit;
    use minwise::hash::fmix64;

    /// As many parts as entries of so many documents need in so much room.
    fn parts(room: u64, documents: usize) -> Parts {
        MemoryLimit::with_room(room).room(1, 0).parts(documents as u64 * GatheredKeys::<u64>::ENTRY_BYTES)
    }

    /// The groups of all parts, and the most entries that there were room for.
    fn groups(keys: &[u64], parts: Parts) -> (Vec<Vec<u32>>, usize) {
        let mut gathered = GatheredKeys::default();
        let (mut groups, mut most) = (vec![], 0);
        for part in parts.all() {
            gathered.clear(keys.len(), parts);
            for (place, &key) in (0..).zip(keys).filter(|(_, key)| parts.has(part, **key)) {
                gathered.push(key, place);
            }
            gathered.for_each_group(|group| groups.push(group.to_vec()));
            most = most.max(gathered.entries.capacity());
        }
        (groups, most)
    }

    #[test]
    fn frequent_keys_take_no_more_and_change_nothing() {
        let documents = 1 << 20;
        // Keys of some, a key of a third of all, one of a hundredth, and one of all the rest.
        let key = |n: u64| match n % 100 {
            0..50 => fmix64(n / 300),
            50..83 => fmix64(1 << 40),
            83 => fmix64(1 << 41),
            _ => fmix64(1 << 42),
        };
        let keys: Vec<u64> = (0..documents).map(key).collect();
        let (expected, all) = groups(&keys, parts(1 << 30, keys.len()));
        assert!(all >= keys.len());
        assert!(expected.len() > 1000);
        let parts = parts(1 << 20, keys.len());
        assert_eq!(parts.len(), 128);
        let (found, most) = groups(&keys, parts);
        assert!(found == expected, "the same groups, in the same order");
        assert!(most <= 4 * keys.len() / parts.len(), "{most} entries in one of {} parts", parts.len());
    }

    #[test]
    fn a_part_with_more_than_its_share_is_looked_through_seldom() {
        let mut gathered = GatheredKeys::default();
        gathered.clear(0, parts(1 << 30, 1));
        for n in 0..=1 << 16 {
            gathered.push(fmix64(n), n as u32);
        }
        assert_eq!((gathered.many, gathered.frequent.len()), (1 << 17, 0));
    }
}
