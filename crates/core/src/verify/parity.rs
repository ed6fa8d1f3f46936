//! An upper bound on the similarity of two sets, from at least 1024 bits of each.
//!
//! - **Idea.** Every shingle flips one bit of a small array. Shingles that two sets share cancel in the exclusive or of
//!   their arrays. Each different bit is therefore caused by a shingle that only one of the two sets has. Two similar
//!   sets differ in few shingles, so sets whose arrays differ in too many bits are not similar.
//! - **Cost.** 128 to 1024 bytes per set, and one count of different bits per pair, which takes a hundredth of a merge
//!   of large sets. Larger sets need larger arrays: an array of [`words_for`] words distinguishes most of them.
//! - **Folding.** The exclusive or of the two halves of an array is the array with half as many bits. A folded array is
//!   compared faster and rejects fewer pairs. For two similar sets, the sum of their two [`allowance`]s bounds the
//!   number of different bits.
//! - **Error.** None: the bound never rejects a similar pair. The bound may fail to reject pairs that are not similar.
//! - **Use when** many pairs whose similarity is just below the threshold must be ruled out. The array is the [odd
//!   sketch](crate::sketch::odd) of a whole set, used for a proof and not for an estimate.

use super::ShingleSet;
use super::jaccard::shared_needed;
use crate::hash::fmix64;

/// Number of words of the smallest array.
pub const WORDS: usize = 32;
/// Number of words of the largest array.
pub const MOST_WORDS: usize = 256;

/// Number of set sizes for which the bound is cached.
const REMEMBERED: usize = 4096;

/// Returns the number of words of an array that distinguishes sets of `size` shingles: at least eight bits per shingle,
/// up to [`MOST_WORDS`].
///
/// Shingles that flip the same bit cancel and are not counted, which matters near the threshold. For example, take sets
/// with 796 shingles and a similarity of 0.776. At a threshold of 0.8, 1024 bits reject almost none of these pairs, and
/// wider arrays reject nearly all of them.
#[must_use]
pub fn words_for(size: usize) -> usize {
    size.div_ceil(4).min(MOST_WORDS).next_power_of_two().clamp(WORDS, MOST_WORDS)
}

/// Writes the array of a set into `out`.
///
/// # Panics
/// Panics if the number of words of `out` is not a power of two.
pub fn parity_into(set: &ShingleSet, out: &mut [u32]) {
    out.fill(0);
    flip(set.as_slice(), out);
}

/// Flips one bit of `out` per shingle.
pub(super) fn flip(shingles: &[u64], out: &mut [u32]) {
    assert!(out.len().is_power_of_two(), "a power of two of words");
    let mask = 32 * out.len() - 1;
    for &shingle in shingles {
        // Shingles are mixed again, because not every source of shingles mixes all bits evenly.
        let place = fmix64(shingle) as usize & mask;
        out[place / 32] ^= 1 << (place % 32);
    }
}

/// Writes an array, folded to `out.len()` words of 64 bits, into `out`.
///
/// # Panics
/// Panics if the number of words of `out` is not a power of two, or if `out` has more bits than the array.
pub fn fold_into(array: &[u32], out: &mut [u64]) {
    assert!(out.len().is_power_of_two() && 2 * out.len() <= array.len(), "no wider than the array");
    out.fill(0);
    for (at, halves) in array.as_chunks::<2>().0.iter().enumerate() {
        out[at % out.len()] ^= u64::from(halves[0]) | u64::from(halves[1]) << 32;
    }
}

/// Returns the allowance of a set. The arrays of two similar sets, folded or not, differ in at most as many bits as the
/// sum of their allowances.
///
/// Sets A and B reach the threshold T if at most (|A| + |B|)·(1 − T)/(1 + T) shingles are in only one of them. Each
/// allowance is rounded up, because the sum of two numbers rounded down may be too small by one.
#[must_use]
pub fn allowance(size: usize, threshold: f64) -> u64 {
    (size as f64 * (1.0 - threshold) / (1.0 + threshold)) as u64 + 1
}

/// Upper bounds on the bits in which the arrays of two similar sets differ, if one of the sets has a fixed size.
#[derive(Debug, Clone)]
pub struct Bound {
    size: usize,
    threshold: f64,
    /// Cached bound plus two, by the size of the other set. An entry is 1 if no set of that size is similar, and 0 if
    /// the bound is not computed yet.
    remembered: Vec<u32>,
}

impl Bound {
    /// Makes the bounds for a set of `size` shingles.
    #[must_use]
    pub fn new(size: usize, threshold: f64) -> Self {
        Self { size, threshold, remembered: vec![] }
    }

    /// Reports whether a set of `other` shingles may be similar although the arrays differ in `different` bits.
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
        // If the sizes alone rule a pair out, the pair is rejected even if the arrays are equal.
        let most = self.most_different(other).map_or(1, |most| most + 2);
        if other < REMEMBERED {
            self.remembered.resize(self.remembered.len().max(other + 1), 0);
            self.remembered[other] = most as u32;
        }
        different + 2 <= most
    }

    /// Returns the greatest number of shingles that are in only one of two similar sets; `None` if sets of these sizes
    /// cannot be similar.
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
        /// The bound rejects no similar pair, even exactly at the threshold, for sets of any size.
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

    proptest! {
        /// Folded arrays differ in no more bits than whole arrays, and the arrays of similar sets stay within their
        /// allowances.
        #[test]
        fn folding_leaves_similar_sets_open(
            shared in 0u64..3000, left in 0u64..300, right in 0u64..300, threshold in 0.01..=1.0,
        ) {
            let a = set(0..shared + left);
            let b = set((0..shared).chain(1 << 40..(1 << 40) + right));
            let (mut x, mut y) = ([0; MOST_WORDS], [0; MOST_WORDS]);
            parity_into(&a, &mut x);
            parity_into(&b, &mut y);
            let exact = Overlap::of(&a, &b).jaccard();
            let mut wider = left + right;
            for words in [128, 64, 32, 16, 8, 4, 2, 1] {
                let (mut folded_x, mut folded_y) = (vec![0; words], vec![0; words]);
                fold_into(&x, &mut folded_x);
                fold_into(&y, &mut folded_y);
                let different: u64 =
                    folded_x.iter().zip(&folded_y).map(|(x, y)| u64::from((x ^ y).count_ones())).sum();
                prop_assert!(different <= wider, "{} words", words);
                wider = different;
                // Folding an array gives the smaller array that is made directly from the set.
                if words > 1 {
                    let mut narrow = vec![0; 2 * words];
                    parity_into(&a, &mut narrow);
                    let halves = narrow.as_chunks::<2>().0;
                    let narrow: Vec<u64> =
                        halves.iter().map(|[low, high]| u64::from(*low) | u64::from(*high) << 32).collect();
                    prop_assert_eq!(&narrow, &folded_x);
                }
                for threshold in [threshold, exact] {
                    let allowed = [&a, &b].map(|set| allowance(set.as_slice().len(), threshold));
                    prop_assert!(different <= allowed[0] + allowed[1] || exact < threshold);
                }
            }
        }
    }

    #[test]
    fn what_is_nearly_similar_is_ruled_out() {
        for size in [26, 100, 400, 1000] {
            // The similarity is 0.7, and the threshold is 0.8.
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
    fn larger_sets_need_wider_arrays() {
        assert_eq!([0, 100, 256, 257, 1024, 5000].map(words_for), [32, 32, 64, 128, 256, 256]);
        // The similarity is 0.777, and the threshold is 0.8: 1024 bits rule out at most 5 of the 50 pairs.
        let ruled_out = |words: usize| {
            let open = |n: u64| {
                let (a, b) = (
                    set(n << 30..(n << 30) + 796),
                    (n << 30..(n << 30) + 696).chain(n << 40..(n << 40) + 100),
                );
                let b = set(b);
                let (mut x, mut y) = (vec![0; words], vec![0; words]);
                parity_into(&a, &mut x);
                parity_into(&b, &mut y);
                let different = Kernel::detect().different_bits(&x, &y);
                Bound::new(796, 0.8).leaves_open(796, different)
            };
            (1..=50).filter(|&n| !open(n)).count()
        };
        assert!(ruled_out(WORDS) <= 5, "{}", ruled_out(WORDS));
        assert!(ruled_out(words_for(796)) >= 45, "{}", ruled_out(words_for(796)));
    }

    #[test]
    fn sizes_alone_rule_out() {
        let (a, b) = (set(0..100), set(0..10));
        assert!(!is_open(&a, &b, 0.8));
        assert!(!is_open(&a, &set(0..0), 0.8));
        assert!(is_open(&a, &a, 1.0));
    }
}
