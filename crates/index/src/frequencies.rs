//! Document frequencies of common shingles, by lossy counting.
//!
//! - **Paper.** Manku and Motwani, *Approximate frequency counts over data streams*, VLDB 2002: lossy counting.
//! - **Idea.** Documents are counted window by window. After each window, the table drops every shingle whose
//!   count plus Δ is at most the number of windows so far, so that only common shingles remain.
//! - **Symbols.** b → `windows`, Δ → `missed`.
//! - **Cost.** Per window, one sort of its shingles and one pass over the table.
//! - **Error.** A count is never too high, and too low by at most the number of windows. Within the first
//!   window, counts are exact. Removed and replaced documents count until the index is compacted.

use std::panic::resume_unwind;
use std::thread;

use minwise::sort::{sort_mixed, sort_mixed_bucket};
use minwise::weight::FrequencyLookup as Look;

/// Number of shingles per window.
// Unit tests fill small windows, because a window of 4 Mi shingles needs 14,000 documents.
pub(crate) const WINDOW: usize = if cfg!(test) { 1 << 10 } else { 4 << 20 };
/// Logarithm of the greatest number of ranges of shingles that are counted side by side.
const RANGE_BITS: u32 = 6;
/// Number of entries per part of the stored table.
const PART: usize = 1 << 16;

/// A shingle with its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShingleCount {
    shingle: u64,
    count: u32,
    /// Δ: upper bound on the documents that `count` misses, because they came before the shingle was last
    /// dropped.
    missed: u32,
}

/// Document frequencies of common shingles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommonFrequencies {
    documents: u64,
    windows: u32,
    entries: Vec<ShingleCount>,
}

impl CommonFrequencies {
    /// Returns the number of documents that were counted.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the maximum number of documents by which a count may be too low.
    #[must_use]
    pub fn short_by(&self) -> u64 {
        u64::from(self.windows)
    }

    /// Returns the number of shingles that have a count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Reports whether no shingle has a count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns a lower bound on the number of counted documents that have a shingle. Removed documents count until the
    /// index is compacted.
    #[must_use]
    pub fn of(&self, shingle: u64) -> u64 {
        self.entries
            .binary_search_by_key(&shingle, |entry| entry.shingle)
            .map_or(0, |at| u64::from(self.entries[at].count))
    }

    /// Counts a full window of `documents` documents. Each of `sets` has the distinct shingles of one or more
    /// documents. Each thread counts a range of shingles, so the table does not depend on the number of threads.
    /// With several threads, each set must be sorted.
    pub(crate) fn count_window(&mut self, documents: u64, sets: &[&[u64]], threads: usize) {
        let bits = threads.clamp(1, 1 << RANGE_BITS).next_power_of_two().ilog2();
        let (before, missed) = (self.entries.as_slice(), self.windows);
        let count = |range: u64| {
            // The shingles of a range have the same first `bits` bits.
            let is_below = |end: u64, shingle: u64| (u128::from(shingle) << bits >> 64) < u128::from(end);
            let mut shingles: Vec<u64> = vec![];
            for set in sets {
                let start = set.partition_point(|&shingle| is_below(range, shingle));
                let rest = &set[start..];
                let len = rest.partition_point(|&shingle| is_below(range + 1, shingle));
                shingles.extend_from_slice(&rest[..len]);
            }
            sort_mixed_bucket(&mut shingles, &mut vec![], bits);
            let end = |range: u64| before.partition_point(|entry| is_below(range, entry.shingle));
            let mut counted = counted(&before[end(range)..end(range + 1)], &shingles, missed);
            counted.retain(|entry| entry.count + entry.missed > missed + 1);
            counted
        };
        let entries: Vec<Vec<ShingleCount>> = if bits == 0 {
            vec![count(0)]
        } else {
            let count = &count;
            thread::scope(|scope| {
                let workers: Vec<_> = (0..1 << bits).map(|range| scope.spawn(move || count(range))).collect();
                let joined = |worker: thread::ScopedJoinHandle<'_, _>| {
                    worker.join().unwrap_or_else(|panic| resume_unwind(panic))
                };
                workers.into_iter().map(joined).collect()
            })
        };
        self.entries = entries.concat();
        self.documents += documents;
        self.windows += 1;
    }

    /// Returns the table with the documents of a window that is not full yet.
    pub(crate) fn with(&self, documents: u64, mut shingles: Vec<u64>) -> Self {
        sort_mixed(&mut shingles, &mut vec![]);
        Self {
            documents: self.documents + documents,
            windows: self.windows,
            entries: counted(&self.entries, &shingles, self.windows),
        }
    }

    /// Encodes the table in parts.
    pub(crate) fn to_parts(&self) -> Vec<Vec<u8>> {
        let mut about = self.documents.to_le_bytes().to_vec();
        about.extend(self.windows.to_le_bytes());
        let mut parts = vec![about];
        for part in self.entries.chunks(PART) {
            let entry = |entry: &ShingleCount| {
                let mut bytes = [0; 16];
                bytes[..8].copy_from_slice(&entry.shingle.to_le_bytes());
                bytes[8..12].copy_from_slice(&entry.count.to_le_bytes());
                bytes[12..].copy_from_slice(&entry.missed.to_le_bytes());
                bytes
            };
            parts.push(part.iter().flat_map(entry).collect());
        }
        parts
    }

    /// Decodes a table from its parts. Returns `None` if the parts are damaged.
    pub(crate) fn from_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let Some(about) = parts.next() else { return Some(Self::default()) };
        let (documents, rest) = about.split_first_chunk()?;
        let windows = u32::from_le_bytes(rest.try_into().ok()?);
        let mut entries = vec![];
        for part in parts {
            let (chunks, []) = part.as_chunks::<16>() else { return None };
            entries.extend(chunks.iter().map(|bytes| {
                let (shingle, rest) = bytes.split_at(8);
                let number = |at: usize| {
                    rest[at..at + 4].iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
                };
                let shingle = shingle.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
                ShingleCount { shingle, count: number(0), missed: number(4) }
            }));
        }
        let sorted = entries.is_sorted_by(|a, b| a.shingle < b.shingle);
        sorted.then_some(Self { documents: u64::from_le_bytes(*documents), windows, entries })
    }
}

/// Returns the entries of a table after counting sorted shingles. New entries may have missed `missed` documents.
fn counted(before: &[ShingleCount], shingles: &[u64], missed: u32) -> Vec<ShingleCount> {
    let mut before = before.iter().copied().peekable();
    let mut entries = vec![];
    for same in shingles.chunk_by(|a, b| a == b) {
        while let Some(entry) = before.next_if(|entry| entry.shingle < same[0]) {
            entries.push(entry);
        }
        let known = before.next_if(|entry| entry.shingle == same[0]);
        let mut entry = known.unwrap_or(ShingleCount { shingle: same[0], count: 0, missed });
        entry.count = entry.count.saturating_add(same.len() as u32);
        entries.push(entry);
    }
    entries.extend(before);
    entries
}

impl minwise::weight::sealed::FrequencySeal for CommonFrequencies {}

impl Look for CommonFrequencies {
    fn documents(&self) -> u64 {
        self.documents
    }

    fn look_up(&self, shingles: &[u64], out: &mut Vec<u64>) {
        out.clear();
        out.extend(shingles.iter().map(|&shingle| self.of(shingle)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise::hash::fmix64;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_are_never_too_high_and_short_by_the_windows_at_most(
            windows in proptest::collection::vec(
                proptest::collection::vec(proptest::collection::btree_set(0u64..40, 0..8), 1..20), 0..6),
            rest in proptest::collection::vec(proptest::collection::btree_set(0u64..40, 0..8), 0..20),
            threads in 2usize..80,
        ) {
            let mut truth: BTreeMap<u64, u64> = BTreeMap::new();
            let mut shingles = |documents: &[std::collections::BTreeSet<u64>]| -> Vec<u64> {
                let all: Vec<u64> = documents.iter().flatten().map(|&shingle| fmix64(shingle)).collect();
                for shingle in &all {
                    *truth.entry(*shingle).or_default() += 1;
                }
                all
            };
            let mut table = CommonFrequencies::default();
            for window in &windows {
                let mut shingles = shingles(window);
                shingles.sort_unstable();
                let mut parallel = table.clone();
                table.count_window(window.len() as u64, &[&shingles], 1);
                let (first, second) = shingles.split_at(shingles.len() / 3);
                parallel.count_window(window.len() as u64, &[second, first], threads);
                prop_assert_eq!(&parallel, &table);
            }
            let whole = table.with(rest.len() as u64, shingles(&rest));
            prop_assert_eq!(whole.short_by(), windows.len() as u64);
            for (&shingle, &count) in &truth {
                prop_assert!(whole.of(shingle) <= count);
                prop_assert!(whole.of(shingle) + whole.short_by() >= count);
            }
            prop_assert_eq!(whole.of(fmix64(99)), 0);
            let parts = whole.to_parts();
            prop_assert_eq!(CommonFrequencies::from_parts(parts.iter().map(Vec::as_slice)), Some(whole));
        }

        #[test]
        fn no_bytes_make_it_panic(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..4)) {
            if let Some(table) = CommonFrequencies::from_parts(parts.iter().map(Vec::as_slice)) {
                let parts = table.to_parts();
                prop_assert_eq!(CommonFrequencies::from_parts(parts.iter().map(Vec::as_slice)), Some(table));
            }
        }
    }

    #[test]
    fn what_is_rare_is_forgotten_and_what_is_common_is_not() {
        let mut table = CommonFrequencies::default();
        for window in 0..100u64 {
            let rare = (0..50).map(|n| fmix64(1_000_000 + 50 * window + n));
            let shingles: Vec<u64> = rare.chain((0..10).map(|_| fmix64(1))).collect();
            table.count_window(10, &[&shingles], 1);
        }
        assert_eq!((table.of(fmix64(1)), table.len(), table.documents()), (1000, 1, 1000));
    }
}
