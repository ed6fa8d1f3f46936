//! Hash tables of an index: one per band, and one for the keys of documents.
//!
//! A bucket has 8 bytes: 32 bits of a hash, and the number of a slot. If the 32 bits agree, the whole keys are
//! compared. The other 32 bits of a band key are stored with the slot's link. Comparing the rows of the two slots
//! instead would save 4 bytes per band and document, but it took a third of the time of a bulk insertion, because rows
//! lie far apart. Buckets are found by linear probing, eight per cache line. Entries are never removed: a removed
//! document stays as a slot that no query returns until the index is compacted.

use super::band_keys::{BLOCK, NONE};

/// A bucket without an entry. No slot has the number `u32::MAX`, so no entry has this value.
const VACANT: u64 = u64::MAX;
/// Value of [`SlotLink::before`] at the end of a chain.
const END: u32 = u32::MAX;
/// Least number of buckets of a table that is not empty.
const FEWEST: usize = 16;

/// A hash table from hashes to slots.
#[derive(Debug, Clone, Default)]
pub(super) struct BandTable {
    buckets: Vec<u64>,
    used: usize,
}

impl BandTable {
    /// Reserves memory for `more` entries.
    pub(super) fn reserve(&mut self, more: usize) {
        let needed = self.used + more;
        // The table is at most five eighths full. A search without success then reads four buckets on average, and
        // eight lie in one cache line.
        if needed * 8 <= self.buckets.len() * 5 {
            return;
        }
        // At least doubling keeps insertion one by one cheap. A bulk insertion into a small table gets exactly the
        // memory that it needs.
        let len = (needed * 8).div_ceil(5).max(2 * self.buckets.len()).max(FEWEST);
        let before = std::mem::replace(&mut self.buckets, vec![VACANT; len]);
        for bucket in before.into_iter().filter(|&bucket| bucket != VACANT) {
            let mut at = self.home((bucket >> 32) as u32);
            while self.buckets[at] != VACANT {
                at = self.after(at);
            }
            self.buckets[at] = bucket;
        }
    }

    /// Returns the bucket at which the search for a hash begins. The number of the bucket follows from the upper bits
    /// of the hash.
    #[inline]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    /// Returns the content of the bucket at which the search for a hash begins.
    #[inline]
    fn begin(&self, hash: u32) -> u64 {
        self.buckets.get(self.home(hash)).copied().unwrap_or(VACANT)
    }

    /// Returns the slot with this hash for which `is_same` returns `true`, or `None` if it returns `false` for all
    /// slots with this hash.
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

    /// Replaces the slot for which `is_same` returns `true` by `slot`, and returns the old slot. If there is no such
    /// slot, `put` adds an entry. The caller must have called [`reserve`](Self::reserve).
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

/// One band of an index: a chain of slots per band key, the latest slot first.
#[derive(Debug, Clone, Default)]
pub(super) struct Band {
    heads: BandTable,
    /// Links, one per slot.
    links: Vec<SlotLink>,
}

/// The data of a slot in one band.
#[derive(Debug, Clone, Copy)]
struct SlotLink {
    /// Lower half of the slot's band key. The upper half is in the bucket.
    lower: u32,
    /// The slot before this one that has the same band key.
    before: u32,
}

/// Returns the upper half of a band key. This half is the hash of the key.
#[inline]
fn upper(key: u64) -> u32 {
    (key >> 32) as u32
}

impl Band {
    /// Reserves memory for `more` slots.
    pub(super) fn reserve(&mut self, more: usize) {
        self.heads.reserve(more);
        self.links.reserve(more);
    }

    /// Prefetches the bucket at which the search for a key begins. The returned value depends on the bucket, so that
    /// the compiler keeps the read.
    #[inline]
    pub(super) fn begin(&self, key: u64) -> u64 {
        self.heads.begin(upper(key))
    }

    /// Appends up to [`BLOCK`] slots under their band keys. No query finds a slot with the key [`NONE`].
    pub(super) fn push_block(&mut self, keys: &[u64]) {
        // An insertion branches on the bucket that it reads, so insertions wait for memory one after the other. The
        // reads here depend on nothing, so they wait at the same time.
        let mut seen = 0;
        for &key in keys.iter().take(BLOCK) {
            seen ^= self.begin(key);
        }
        std::hint::black_box(seen);
        for &key in keys {
            self.push(key);
        }
    }

    /// Appends a slot under its band key. No query finds a slot with the key [`NONE`].
    #[inline]
    pub(super) fn push(&mut self, key: u64) {
        let (slot, lower) = (self.links.len() as u32, key as u32);
        let mut before = None;
        if key != NONE {
            self.heads.reserve(1);
            let Self { heads, links } = self;
            before = heads.put(upper(key), slot, |other| links[other as usize].lower == lower);
        }
        self.links.push(SlotLink { lower, before: before.unwrap_or(END) });
    }

    /// Appends to `out` the slots with this band key.
    #[inline]
    pub(super) fn gather(&self, key: u64, out: &mut Vec<u32>) {
        let mut next = self.heads.find(upper(key), |slot| self.links[slot as usize].lower == key as u32);
        while let Some(slot) = next {
            out.push(slot);
            let before = self.links[slot as usize].before;
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
        // Hashes of 1 bit put all keys into two places, hashes of 4 bits crowd the keys, and hashes of 32 bits spread
        // them.
        for bits in [1, 4, 32] {
            let mut random = SplitMix64::new(bits);
            let mut keys: Vec<u64> = vec![];
            let mut table = BandTable::default();
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
        assert_eq!(BandTable::default().find(3, |_| true), None);
    }

    #[test]
    fn a_band_gathers_what_shares_a_key() {
        // Some of the keys differ in one half only.
        let keys = [5 << 32 | 1, 7 << 32, 5 << 32 | 1, 5 << 32 | 2, 5 << 32 | 1, 7 << 32];
        for one_by_one in [false, true] {
            let mut band = Band::default();
            band.push(NONE);
            if one_by_one {
                for &key in &keys {
                    band.push(key);
                }
            } else {
                band.reserve(keys.len());
                band.push_block(&keys);
            }
            let gathered = |key: u64| {
                let mut out = vec![];
                band.gather(key, &mut out);
                out
            };
            assert_eq!(
                [5 << 32 | 1, 7 << 32, 5 << 32 | 2, 5 << 32 | 3].map(gathered),
                [vec![5, 3, 1], vec![6, 2], vec![4], vec![]]
            );
        }
    }
}
