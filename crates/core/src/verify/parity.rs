//! A bound on the similarity of two sets, from 1024 bits of each.
//!
//! Idea       Every shingle flips one bit of a small array. Shingles that two sets share cancel in the exclusive or of their
//!            arrays, so each bit in which these differ is due to a shingle that only one of the two sets has. Sets of so
//!            many shingles that are similar have few such shingles; if more bits differ, the sets are not similar.
//! Cost       128 bytes per set, and one count of different bits per pair: a hundredth of a merge of large sets.
//! Error      none. The bound never rejects a similar pair; it leaves open pairs that are not.
//! Use when   many pairs that are nearly similar are to be compared. It is the [odd sketch](crate::sketch::odd) of whole
//!            sets, used as a proof and not as an estimate.

use super::ShingleSet;
use super::jaccard::shared_needed;
use crate::hash::fmix64;

/// Words of an array.
pub const WORDS: usize = 32;

/// Sizes of sets for which the bound is remembered.
const REMEMBERED: usize = 4096;

/// Writes the array of a set.
///
/// # Panics
/// If `out` does not have [`WORDS`] words.
pub fn parity_into(set: &ShingleSet, out: &mut [u32]) {
    assert_eq!(out.len(), WORDS, "as many words as an array has");
    out.fill(0);
    for &shingle in set.as_slice() {
        // Shingles are not mixed evenly in every bit, whatever they were made by.
        let place = fmix64(shingle) as usize % (32 * WORDS);
        out[place / 32] ^= 1 << (place % 32);
    }
}

/// How many bits the arrays of two similar sets differ in at most, if one of the sets has this size.
#[derive(Debug, Clone)]
pub struct Bound {
    size: usize,
    threshold: f64,
    /// By the size of the other set, plus two; 1 if no set of that size is similar, and 0 if none was asked for.
    remembered: Vec<u32>,
}

impl Bound {
    /// For a set of so many shingles.
    #[must_use]
    pub fn new(size: usize, threshold: f64) -> Self {
        Self { size, threshold, remembered: vec![] }
    }

    /// Whether a set of `other` shingles may be similar if the arrays differ in so many bits.
    #[inline]
    #[must_use]
    pub fn leaves_open(&mut self, other: usize, different: usize) -> bool {
        match self.remembered.get(other) {
            Some(&most) if most > 0 => different + 2 <= most as usize,
            _ => self.find(other, different),
        }
    }

    #[cold]
    fn find(&mut self, other: usize, different: usize) -> bool {
        // Sets whose sizes alone rule them out do not even agree if their arrays do.
        let most = self.most_different(other).map_or(1, |most| most + 2);
        if other < REMEMBERED {
            self.remembered.resize(self.remembered.len().max(other + 1), 0);
            self.remembered[other] = most as u32;
        }
        different + 2 <= most
    }

    /// Shingles that only one of two similar sets has, at most; none if sets of these sizes cannot be similar.
    fn most_different(&self, other: usize) -> Option<usize> {
        let shared = shared_needed(self.size, other, self.threshold)?;
        Some(self.size + other - 2 * shared)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::Kernel;
    use crate::verify::Overlap;

    fn set(shingles: impl Iterator<Item = u64>) -> ShingleSet {
        shingles.map(fmix64).collect()
    }

    fn is_open(a: &ShingleSet, b: &ShingleSet, threshold: f64) -> bool {
        let (mut x, mut y) = ([0; WORDS], [0; WORDS]);
        parity_into(a, &mut x);
        parity_into(b, &mut y);
        let different = Kernel::detect().different_bits(&x, &y);
        Bound::new(a.as_slice().len(), threshold).leaves_open(b.as_slice().len(), different)
    }

    proptest! {
        /// Whatever is similar is left open: also at the threshold itself, and for sets of any size.
        #[test]
        fn what_is_similar_is_left_open(
            shared in 0u64..6000, left in 0u64..300, right in 0u64..300, threshold in 0.01..=1.0,
        ) {
            let a = set(0..shared + left);
            let b = set((0..shared).chain(1 << 40..(1 << 40) + right));
            let exact = Overlap::of(&a, &b).jaccard();
            for threshold in [threshold, exact] {
                prop_assert!(is_open(&a, &b, threshold) || exact < threshold);
            }
        }
    }

    #[test]
    fn what_is_nearly_similar_is_ruled_out() {
        for size in [26, 100, 400, 1000] {
            // 0.7 of both together is shared, and 0.8 is asked for.
            let shared = size * 14 / 17;
            let ruled_out = (0..50).filter(|&n| {
                let at = n << 30;
                let a = set(at..at + size);
                let b = set((at..at + shared).chain(at + (1 << 20)..at + (1 << 20) + size - shared));
                !is_open(&a, &b, 0.8)
            });
            assert!(ruled_out.count() >= 45, "{size}");
        }
    }

    #[test]
    fn sizes_alone_rule_out() {
        let (a, b) = (set(0..100), set(0..10));
        assert!(!is_open(&a, &b, 0.8));
        assert!(!is_open(&a, &set(0..0), 0.8));
        assert!(is_open(&a, &a, 1.0));
    }
}
