//! Gathers documents by keys. All threads take part, and memory is bounded even if very many documents have the same
//! key.
//!
//! If all keys fit into memory, threads distribute the keys of stretches of documents to buckets by their first bits,
//! and then sort the buckets ([`gather_in_buckets`]). Otherwise each thread collects one part of the range of keys at a
//! time ([`gather_in_parts`]).
//!
//! Keys are well mixed, so a part of their range has about its share of the entries. A key of very many documents
//! breaks this rule, because all its entries are in one part. Such a key is called *frequent*: the key is stored once,
//! with a list of its documents.

use std::collections::BTreeMap;

use minwise::sort::{Mixed, sort_mixed, sort_mixed_bucket};

use crate::error::Error;
use crate::memory::{KeyPart, Parts};
use crate::parallel;

/// A key is frequent if at least one in `FREQUENT` entries has it.
const FREQUENT: usize = 32;
/// Minimum number of entries. Smaller lists are not searched for frequent keys.
const FEW: usize = 1 << 12;

/// Approximate number of entries per bucket. A bucket fits into the second-level cache of a core, together with the
/// buffer for sorting.
const BUCKET: usize = 1 << 13;
/// Gathers the documents that share a key in one of several columns, with several threads. `receive` gets the groups of
/// at least two documents, in the order of columns and keys.
///
/// `collect` gets the number of a stretch of documents, and appends the keys of these documents, with the places of the
/// documents, to one list per column. `find` gets the number of a column and the ascending places of a group, and adds
/// its findings to the result of the bucket.
pub(crate) fn gather_in_buckets<K, F: Default + Send>(
    columns: usize,
    documents: usize,
    stretches: usize,
    threads: usize,
    collect: impl Fn(usize, &mut [Vec<(K, u32)>]) -> Result<(), Error> + Sync,
    find: impl Fn(&mut F, usize, &[u32]) + Sync,
    mut receive: impl FnMut(F) -> Result<(), Error> + Send,
) -> Result<(), Error>
where
    K: Copy + Ord + Send + Sync,
    (K, u32): Mixed,
{
    let bits = (documents / BUCKET).max(1).ilog2();
    let mut spread: Vec<Vec<BucketList<K>>> = Vec::with_capacity(stretches);
    let work = |entries: &mut Vec<Vec<(K, u32)>>, number: usize| -> Result<_, Error> {
        entries.resize_with(columns, Vec::new);
        entries.iter_mut().for_each(Vec::clear);
        collect(number, entries)?;
        Ok(entries.iter().map(|entries| BucketList::new(entries, bits)).collect())
    };
    parallel::in_order(stretches, threads, Vec::new, work, |lists| {
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

/// Does the same as [`gather_in_buckets`] with less memory: each thread holds the entries of one part of one column.
///
/// `collect` gets a column and a part, and pushes the keys of the column that belong to the part, with the places of
/// their documents.
pub(crate) fn gather_in_parts<K, F: Default + Send>(
    columns: usize,
    documents: usize,
    parts: Parts,
    threads: usize,
    collect: impl Fn(usize, KeyPart, &mut GatheredKeys<K>) -> Result<(), Error> + Sync,
    find: impl Fn(&mut F, usize, &[u32]) + Sync,
    receive: impl FnMut(F) -> Result<(), Error> + Send,
) -> Result<(), Error>
where
    K: Copy + Ord + Send + Sync,
    (K, u32): Mixed,
{
    let work = |keys: &mut GatheredKeys<K>, item: usize| -> Result<F, Error> {
        let (column, part) = (item / parts.len(), parts.part(item % parts.len()));
        keys.clear(documents, parts);
        keys.same_bits = part.same_bits();
        collect(column, part, keys)?;
        let mut found = F::default();
        keys.for_each_group(|places| find(&mut found, column, places));
        Ok(found)
    };
    parallel::in_order(columns * parts.len(), threads, GatheredKeys::default, work, receive)
}

/// Entries in the order of their buckets. Within a bucket, they keep the order in which they were added.
struct BucketList<K> {
    entries: Vec<(K, u32)>,
    /// End of each bucket in `entries`.
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

/// Documents of one part of the range of keys, gathered by key.
#[derive(Debug)]
pub(crate) struct GatheredKeys<K> {
    /// Keys, with the places in keeper order of their documents.
    entries: Vec<(K, u32)>,
    scratch: Vec<(K, u32)>,
    frequent: BTreeMap<K, Vec<u32>>,
    /// Number of entries at which the next search for frequent keys begins.
    many: usize,
    /// Number of first bits that all keys have in common.
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
    /// Number of bytes per entry while the entries are sorted.
    pub(crate) const ENTRY_BYTES: u64 = 2 * size_of::<(K, u32)>() as u64;

    /// Removes all entries, and reserves memory for the expected number of entries of the next part: the average if
    /// `documents` documents are divided into `parts`.
    pub(crate) fn clear(&mut self, documents: usize, parts: Parts) {
        self.entries.clear();
        // Growing step by step would copy every entry once more. Memory that is reserved but never used costs nothing.
        let _ = self.entries.try_reserve(documents / parts.len());
        self.frequent.clear();
        // A part with more than twice the expected entries must contain a frequent key.
        self.many = (2 * documents / parts.len()).max(FEW);
    }

    /// Adds a document with its key.
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
            // Few entries had frequent keys, so the next search waits until there are twice as many entries.
            self.many = self.many.saturating_mul(2);
        }
    }

    /// Visits the groups of documents that share a key, in the order of keys. The places of a group are in ascending
    /// order.
    pub(crate) fn for_each_group(&mut self, mut visit: impl FnMut(&[u32])) {
        sort_mixed_bucket(&mut self.entries, &mut self.scratch, self.same_bits);
        let mut places = vec![];
        let mut frequent = std::mem::take(&mut self.frequent).into_iter().peekable();
        let visit_frequent = |(_, mut places): (K, Vec<u32>), visit: &mut dyn FnMut(&[u32])| {
            places.sort_unstable();
            visit(&places);
        };
        let mut rest = self.entries.as_slice();
        // Most keys belong to one document, so the loop searches for the next two equal keys.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLimit;
    use minwise::hash::fmix64;

    /// Splits the range of keys into parts whose entries fit into `room` bytes.
    fn parts(room: u64, documents: usize) -> Parts {
        MemoryLimit::with_room(room).room(1, 0).parts(documents as u64 * GatheredKeys::<u64>::ENTRY_BYTES)
    }

    /// Returns the groups of all parts, and the largest capacity of `entries`.
    fn groups(keys: &[u64], parts: Parts) -> (Vec<Vec<u32>>, usize) {
        let mut gathered = GatheredKeys::default();
        let (mut groups, mut most) = (vec![], 0);
        for part in parts.all() {
            gathered.clear(keys.len(), parts);
            for (place, &key) in (0..).zip(keys).filter(|(_, key)| part.has(**key)) {
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
        // Half of the documents share a key with 149 others each. A third share one key, a hundredth share
        // another, and the rest share a third key.
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

    /// Returns the groups that `gather_in_buckets` finds, with their columns.
    fn in_buckets(columns: &[Vec<u64>], documents_each: usize, threads: usize) -> Vec<(usize, Vec<u32>)> {
        let documents = columns[0].len();
        let stretches = documents.div_ceil(documents_each);
        let collect = |stretch: usize, lists: &mut [Vec<(u64, u32)>]| {
            let begin = stretch * documents_each;
            let range = begin..documents.min(begin + documents_each);
            for (keys, list) in columns.iter().zip(lists) {
                list.extend(range.clone().map(|at| (keys[at], at as u32)));
            }
            Ok(())
        };
        let find = |found: &mut Vec<(usize, Vec<u32>)>, column: usize, places: &[u32]| {
            found.push((column, places.to_vec()));
        };
        let mut all = vec![];
        gather_in_buckets(columns.len(), documents, stretches, threads, collect, find, |mut found| {
            all.append(&mut found);
            Ok(())
        })
        .unwrap();
        all
    }

    /// Returns the groups that `gather_in_parts` finds, with their columns.
    fn in_parts(columns: &[Vec<u64>], parts: Parts, threads: usize) -> Vec<(usize, Vec<u32>)> {
        let collect = |column: usize, part: KeyPart, gathered: &mut GatheredKeys<u64>| {
            for (place, &key) in (0..).zip(&columns[column]).filter(|(_, key)| part.has(**key)) {
                gathered.push(key, place);
            }
            Ok(())
        };
        let find = |found: &mut Vec<(usize, Vec<u32>)>, column: usize, places: &[u32]| {
            found.push((column, places.to_vec()));
        };
        let mut all = vec![];
        gather_in_parts(columns.len(), columns[0].len(), parts, threads, collect, find, |mut found| {
            all.append(&mut found);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn buckets_parts_and_threads_change_no_group() {
        for documents in [1, 5, 40_000, 100_000] {
            // In the second column, half of the documents have the same key.
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
            for (room, threads) in [(1 << 30, 1), (1 << 18, 3), (1 << 14, 2)] {
                let found = in_parts(&columns, parts(room, documents as usize), threads);
                assert!(found == expected, "{documents} documents, {threads} threads, {room} bytes");
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
