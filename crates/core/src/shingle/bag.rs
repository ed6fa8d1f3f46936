//! Bags, in which repeats of a shingle become shingles of their own.

use crate::hash::fmix64;
use crate::hash::multiplicative::FIBONACCI_64;
use crate::sort::sort_mixed;

/// Shingles and their positions.
pub(super) type PlacedShingles = Vec<(u64, u32)>;

/// Replaces the second and each later occurrence of a shingle by a shingle of its own. The Jaccard similarity of two
/// such sets is that of the bags. Occurrences are counted from the front of the document, and the first one is not
/// changed.
pub(super) fn number_repeats(shingles: &mut [u64], sorted: &mut (PlacedShingles, PlacedShingles)) {
    let (sorted, scratch) = sorted;
    sorted.clear();
    sorted.extend(shingles.iter().copied().zip(0..));
    // The sort leaves equal shingles in document order.
    sort_mixed(sorted, scratch);
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        for (occurrence, &(shingle, position)) in (0..).zip(run).skip(1) {
            shingles[position as usize] = repeat(shingle, occurrence);
        }
    }
}

/// Returns the shingle that stands for occurrence n, counted from 0: fmix64(x + n·F mod 2⁶⁴), where F is
/// [`FIBONACCI_64`].
fn repeat(shingle: u64, occurrence: u64) -> u64 {
    fmix64(shingle.wrapping_add(occurrence.wrapping_mul(FIBONACCI_64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    fn numbered(shingles: &[u64]) -> Vec<u64> {
        let mut out = shingles.to_vec();
        number_repeats(&mut out, &mut Default::default());
        out
    }

    proptest! {
        /// The Jaccard similarity of the sets after numbering is Σ min / Σ max of the counts.
        #[test]
        fn sets_relate_as_bags_do(a in prop::collection::vec(0u64..9, 0..40), b in prop::collection::vec(0u64..9, 0..40)) {
            let [x, y] = [&a, &b].map(|bag| numbered(&bag.iter().copied().map(fmix64).collect::<Vec<_>>()));
            let [x, y] = [x, y].map(|shingles| shingles.into_iter().collect::<HashSet<u64>>());
            prop_assert_eq!((x.len(), y.len()), (a.len(), b.len()));
            let counts = |bag: &[u64]| bag.iter().fold(HashMap::new(), |mut counts, x| {
                *counts.entry(*x).or_insert(0usize) += 1;
                counts
            });
            let (a, b) = (counts(&a), counts(&b));
            let shared: usize = a.iter().map(|(x, &n)| n.min(b.get(x).copied().unwrap_or(0))).sum();
            prop_assert_eq!(x.intersection(&y).count(), shared);
        }
    }

    #[test]
    fn occurrences_are_counted_from_the_front() {
        let out = numbered(&[5, 7, 5, 5]);
        assert_eq!(out[..2], [5, 7]);
        assert_eq!(out[2..], [repeat(5, 1), repeat(5, 2)]);
    }
}
