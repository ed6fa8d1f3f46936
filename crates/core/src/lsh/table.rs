//! Hash tables of an index: one per band, and one for the keys of documents.
//!
//! A bucket has 8 bytes: 32 bits of a hash and the number of a slot. The entry itself is not here: if 32 bits agree, the caller
//! compares the rows of the band, or the keys, of the slot. So a bucket costs half of one with a whole band key, tables stay in
//! the cache for twice as many documents, and a lookup is still exact. Buckets are found by linear probing, eight to a cache
//! line. Entries are never taken out: a removed document stays as a slot that nobody matches until the index is compacted.

use super::hashes::NONE;

/// A bucket without an entry. No slot has the number `u32::MAX`.
const VACANT: u64 = u64::MAX;
/// Nothing follows.
const END: u32 = u32::MAX;
/// The least number of buckets.
const FEWEST: usize = 16;

/// Slots by hash.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    buckets: Vec<u64>,
    used: usize,
}

impl Table {
    /// Makes room for this many more entries.
    pub(super) fn reserve(&mut self, more: usize) {
        let needed = self.used + more;
        // Five eighths: an entry that is not there costs four buckets on average, and eight lie in one cache line.
        if needed * 8 <= self.buckets.len() * 5 {
            return;
        }
        let len = (needed * 8).div_ceil(5).next_power_of_two().max(FEWEST);
        let before = std::mem::replace(&mut self.buckets, vec![VACANT; len]);
        for bucket in before.into_iter().filter(|&bucket| bucket != VACANT) {
            let mut at = self.home((bucket >> 32) as u32);
            while self.buckets[at] != VACANT {
                at = self.after(at);
            }
            self.buckets[at] = bucket;
        }
    }

    /// Where the search for a hash begins: its upper bits.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.buckets.len() - 1)
    }

    /// The bucket where the search for a hash begins.
    #[inline]
    fn begin(&self, hash: u32) -> u64 {
        self.buckets.get(self.home(hash)).copied().unwrap_or(VACANT)
    }

    /// The slot with this hash that is the same, if there is one.
    #[inline]
    pub(super) fn find(&self, hash: u32, mut is_same: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.buckets.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            match self.buckets[at] {
                VACANT => return None,
                bucket if (bucket >> 32) as u32 == hash && is_same(bucket as u32) => {
                    return Some(bucket as u32);
                }
                _ => at = self.after(at),
            }
        }
    }

    /// Puts a slot in the place of the one that is the same, and returns that one; without one, adds an entry. There is room:
    /// [`reserve`](Self::reserve) was called.
    #[inline]
    pub(super) fn put(&mut self, hash: u32, slot: u32, mut is_same: impl FnMut(u32) -> bool) -> Option<u32> {
        let new = u64::from(hash) << 32 | u64::from(slot);
        let mut at = self.home(hash);
        loop {
            match self.buckets[at] {
                VACANT => {
                    self.buckets[at] = new;
                    self.used += 1;
                    return None;
                }
                bucket if (bucket >> 32) as u32 == hash && is_same(bucket as u32) => {
                    self.buckets[at] = new;
                    return Some(bucket as u32);
                }
                _ => at = self.after(at),
            }
        }
    }
}

/// One band of an index: for each band key, the slots that have it, the last one first.
#[derive(Debug, Clone, Default)]
pub(super) struct Band {
    heads: Table,
    /// For each slot, the one before it that has the same band key.
    before: Vec<u32>,
}

impl Band {
    /// Makes room for this many more slots.
    pub(super) fn reserve(&mut self, more: usize) {
        self.heads.reserve(more);
        self.before.reserve(more);
    }

    /// The bucket where the search for a hash begins, for it to be in the cache.
    #[inline]
    pub(super) fn begin(&self, hash: u32) -> u64 {
        self.heads.begin(hash)
    }

    /// Adds the next slot under the hash of its band key. Nobody finds a slot with the hash [`NONE`].
    #[inline]
    pub(super) fn push(&mut self, hash: u32, is_same: impl FnMut(u32) -> bool) {
        let slot = self.before.len() as u32;
        let mut before = None;
        if hash != NONE {
            self.heads.reserve(1);
            before = self.heads.put(hash, slot, is_same);
        }
        self.before.push(before.unwrap_or(END));
    }

    /// Appends to `out` the slots with this hash of a band key.
    #[inline]
    pub(super) fn gather(&self, hash: u32, is_same: impl FnMut(u32) -> bool, out: &mut Vec<u32>) {
        let mut next = self.heads.find(hash, is_same);
        while let Some(slot) = next {
            out.push(slot);
            let before = self.before[slot as usize];
            next = (before != END).then_some(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use std::collections::BTreeMap;

    #[test]
    fn a_table_is_a_map_whatever_the_hashes() {
        // Hashes of 1, 4 and 32 bits: all in one place, crowded, and spread.
        for bits in [1, 4, 32] {
            let mut random = SplitMix64::new(bits);
            let mut keys: Vec<u64> = vec![];
            let mut table = Table::default();
            let mut expected = BTreeMap::new();
            for slot in 0..2000 {
                let key = random.next_u64() % 700;
                keys.push(key);
                let hash = (crate::hash::fmix64(key) >> 32 << (32 - bits)) as u32;
                table.reserve(1);
                let before = table.put(hash, slot, |other| keys[other as usize] == key);
                assert_eq!(before, expected.insert(key, slot));
            }
            for key in 0..1000 {
                let hash = (crate::hash::fmix64(key) >> 32 << (32 - bits)) as u32;
                let found = table.find(hash, |other| keys[other as usize] == key);
                assert_eq!(found, expected.get(&key).copied());
            }
            assert_eq!(table.used, expected.len());
        }
        assert_eq!(Table::default().find(3, |_| true), None);
    }

    #[test]
    fn a_band_gathers_what_shares_a_key() {
        let keys = [5u32, 7, 5, 9, 5, 7];
        let mut band = Band::default();
        band.push(NONE, |_| unreachable!());
        for (at, &key) in keys.iter().enumerate() {
            let own = keys[at];
            band.push(key, |other| keys[other as usize - 1] == own);
        }
        let gathered = |key: u32| {
            let mut out = vec![];
            band.gather(key, |other| keys[other as usize - 1] == key, &mut out);
            out
        };
        assert_eq!([5, 7, 9, 6].map(gathered), [vec![5, 3, 1], vec![6, 2], vec![4], vec![]]);
    }
}
