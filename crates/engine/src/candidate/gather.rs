//! Documents gathered by keys, and those that are equal by theirs, by all threads, in bounded memory however many of them have the
//! same key.
//!
//! If all keys fit into memory, threads distribute the keys of stretches of documents to buckets by their first bits, and then
//! sort buckets ([`gather_in_buckets`]). Otherwise one part of the range of keys follows the other ([`GatheredKeys`]).
//!
//! Keys are well mixed, so that a part of their range holds its share of them. One key that very many documents have would
//! undo that: all of them lie in one part. Such a key is *frequent*; it is noted once, and then only the documents are.

use std::collections::BTreeMap;

use minwise::sort::{Mixed, sort_mixed, sort_mixed_bucket};

use crate::candidate::order::KeeperOrder;
use crate::error::Error;
use crate::memory::{Parts, WorkingMemory};
use crate::parallel;
use crate::read::documents::{Documents, Stretch};

/// What a frequent key has of all entries, at least, when it is noticed: one in this many.
const FREQUENT: usize = 32;
/// Entries that are not worth a look for frequent keys.
const FEW: usize = 1 << 12;

/// Entries of a bucket, about: they fit into the second cache of a core, with the room to sort them.
const BUCKET: usize = 1 << 13;
/// Documents whose keys one thread takes at a time.
const STRETCH: usize = 1 << 15;

/// Stretches of documents for [`gather_in_buckets`], of which each thread has several.
pub(crate) fn stretches(documents: &Documents, threads: usize) -> Vec<Stretch> {
    let share = documents.len().div_ceil(4 * threads);
    documents.stretches(share.clamp(FEW, STRETCH))
}

/// Gathers the documents that share a key in one of several columns, with several threads, and hands groups of two and more to
/// `receive`, in the order of columns and keys.
///
/// `collect` puts the keys of a stretch of documents, with their places in keeper order, into a list per column. `find` is given
/// the places of each group, in order, by the number of its column, and puts together what it finds in a bucket.
pub(crate) fn gather_in_buckets<K, F: Default + Send>(
    columns: usize,
    documents: usize,
    stretches: &[Stretch],
    threads: usize,
    collect: impl Fn(&Stretch, &mut [Vec<(K, u32)>]) -> Result<(), Error> + Sync,
    find: impl Fn(&mut F, usize, &[u32]) + Sync,
    mut receive: impl FnMut(F) -> Result<(), Error> + Send,
) -> Result<(), Error>
where
    K: Copy + Ord + Send + Sync,
    (K, u32): Mixed,
{
    let bits = (documents / BUCKET).max(1).ilog2();
    let mut spread: Vec<Vec<BucketList<K>>> = Vec::with_capacity(stretches.len());
    let work = |entries: &mut Vec<Vec<(K, u32)>>, number: usize| -> Result<_, Error> {
        entries.resize_with(columns, Vec::new);
        entries.iter_mut().for_each(Vec::clear);
        collect(&stretches[number], entries)?;
        Ok(entries.iter().map(|entries| BucketList::new(entries, bits)).collect())
    };
    parallel::in_order(stretches.len(), threads, Vec::new, work, |lists| {
        spread.push(lists);
        Ok::<(), Error>(())
    })?;
    let work = |keys: &mut GatheredKeys<K>, item: usize| -> Result<F, Error> {
        let (column, bucket) = (item >> bits, item & ((1 << bits) - 1));
        keys.same_bits = bits;
        keys.entries.clear();
        for lists in &spread {
            keys.entries.extend_from_slice(lists[column].bucket(bucket));
        }
        let mut found = F::default();
        keys.for_each_group(|places| find(&mut found, column, places));
        Ok(found)
    };
    parallel::in_order(columns << bits, threads, GatheredKeys::default, work, &mut receive)
}

/// Entries in the order of their buckets, and within a bucket in the order in which they came.
struct BucketList<K> {
    entries: Vec<(K, u32)>,
    /// Where each bucket ends.
    ends: Vec<u32>,
}

impl<K: Copy> BucketList<K>
where
    (K, u32): Mixed,
{
    fn new(entries: &[(K, u32)], bits: u32) -> Self {
        let bucket_of = |entry: &(K, u32)| entry.mixed().checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
        let mut ends = vec![0; 1 << bits];
        for entry in entries {
            ends[bucket_of(entry)] += 1;
        }
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut sorted = vec![<(K, u32)>::default(); entries.len()];
        for entry in entries {
            let end = &mut ends[bucket_of(entry)];
            sorted[*end as usize] = *entry;
            *end += 1;
        }
        Self { entries: sorted, ends }
    }

    fn bucket(&self, number: usize) -> &[(K, u32)] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[begin as usize..self.ends[number] as usize]
    }
}

/// Documents by key.
#[derive(Debug)]
pub(crate) struct GatheredKeys<K> {
    /// Keys, and the places in keeper order of the documents that have them.
    entries: Vec<(K, u32)>,
    scratch: Vec<(K, u32)>,
    frequent: BTreeMap<K, Vec<u32>>,
    /// Entries from which on frequent keys are looked for.
    many: usize,
    /// First bits that all keys have in common.
    same_bits: u32,
}

impl<K> Default for GatheredKeys<K> {
    fn default() -> Self {
        Self { entries: vec![], scratch: vec![], frequent: BTreeMap::new(), many: usize::MAX, same_bits: 0 }
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
        sort_mixed_bucket(&mut self.entries, &mut self.scratch, self.same_bits);
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
    /// Groups the documents with several threads.
    pub(crate) fn find(
        documents: &Documents,
        order: &KeeperOrder,
        threads: usize,
        room: WorkingMemory,
    ) -> Result<Self, Error> {
        let mut equals = Self { first: (0..order.len() as u32).collect(), groups: vec![], members: vec![] };
        let parts = room.parts(order.len() as u64 * GatheredKeys::<u128>::ENTRY_BYTES);
        if parts.len() == 1 {
            let collect = |stretch: &Stretch, keys: &mut [Vec<(u128, u32)>]| {
                documents.equality_keys(stretch, |document, key| {
                    if documents.has_text(document) {
                        keys[0].push((key, order.place(document)));
                    }
                })
            };
            let find = |found: &mut Vec<Vec<u32>>, _: usize, places: &[u32]| found.push(places.to_vec());
            let stretches = stretches(documents, threads);
            gather_in_buckets(1, order.len(), &stretches, threads, collect, find, |groups| {
                for places in &groups {
                    equals.add(places, order);
                }
                Ok(())
            })?;
        } else {
            let mut keyed = GatheredKeys::<u128>::default();
            for part in parts.all() {
                keyed.clear(order.len(), parts);
                documents.for_each_equality_key(|document, key| {
                    if parts.has(part, (key >> 64) as u64) && documents.has_text(document) {
                        keyed.push(key, order.place(document));
                    }
                })?;
                keyed.for_each_group(|places| equals.add(places, order));
            }
        }
        equals.groups.sort_unstable();
        Ok(equals)
    }

    /// Adds a group, by places in keeper order.
    fn add(&mut self, places: &[u32], order: &KeeperOrder) {
        let begin = self.members.len();
        self.members.extend(places.iter().map(|&place| order.document(place)));
        let stands = self.members[begin];
        for &member in &self.members[begin..] {
            self.first[member as usize] = stands;
        }
        self.groups.push((stands, begin, self.members.len()));
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

    /// Groups by columns, found in buckets.
    fn in_buckets(columns: &[Vec<u64>], documents_each: usize, threads: usize) -> Vec<(usize, Vec<u32>)> {
        let documents = columns[0].len();
        let stretches: Vec<Stretch> = (0..documents)
            .step_by(documents_each)
            .map(|begin| Stretch::Held(begin..documents.min(begin + documents_each)))
            .collect();
        let collect = |stretch: &Stretch, lists: &mut [Vec<(u64, u32)>]| {
            let Stretch::Held(range) = stretch else { panic!("nothing is on disk") };
            for (keys, list) in columns.iter().zip(lists) {
                list.extend(range.clone().map(|at| (keys[at], at as u32)));
            }
            Ok(())
        };
        let find = |found: &mut Vec<(usize, Vec<u32>)>, column: usize, places: &[u32]| {
            found.push((column, places.to_vec()));
        };
        let mut all = vec![];
        gather_in_buckets(columns.len(), documents, &stretches, threads, collect, find, |mut found| {
            all.append(&mut found);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn buckets_and_threads_change_no_group() {
        for documents in [1, 5, 40_000, 100_000] {
            // In the second column, half of the documents have one key.
            let columns: Vec<Vec<u64>> = [3, documents]
                .map(|same| {
                    (0..documents)
                        .map(|n| fmix64(if n % 2 == 0 && same > 3 { 0 } else { n / same }))
                        .collect()
                })
                .into();
            let expected: Vec<(usize, Vec<u32>)> = (0..2)
                .flat_map(|column| {
                    let keys = &columns[column];
                    groups(keys, parts(1 << 30, keys.len())).0.into_iter().map(move |group| (column, group))
                })
                .collect();
            for (documents_each, threads) in [(usize::MAX, 1), (1000, 1), (777, 3), (20_000, 8)] {
                let found = in_buckets(&columns, documents_each.min(1 << 20), threads);
                assert!(found == expected, "{documents} documents, {threads} threads");
            }
        }
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
