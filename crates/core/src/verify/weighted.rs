//! Exact weighted Jaccard similarity by merging two sorted weighted sets.
//!
//! Jw(A, B) = Σ min(A(x), B(x)) / Σ max(A(x), B(x)). Both sums are added in the order of the shingles, so that they are
//! rounded alike on every machine. If all weights are 1, Jw is the Jaccard similarity.
//!
//! With a threshold, the merge can stop early: the shared weight can grow by at most the lesser of the two weights that
//! are left. This bound has a margin for all rounding errors, so that it never rejects a pair that the sums accept.

use crate::weight::{WeightedSet, merged};

/// The overlap of two weighted sets, exact up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct WeightedOverlap {
    /// Σ min: the shared weight.
    pub shared: f64,
    /// Σ max: the weight of the union.
    pub all: f64,
}

impl WeightedOverlap {
    /// Sums the weights that two sets share, and the weights of their union.
    #[must_use]
    pub fn of(a: &WeightedSet, b: &WeightedSet) -> Self {
        let mut overlap = Self { shared: 0.0, all: 0.0 };
        for (left, right) in merged(a, b) {
            overlap.add(left, right);
        }
        overlap
    }

    /// Sums the weights that two sets share, and the weights of their union. Returns `None` if the weighted Jaccard
    /// similarity of the sets is below `threshold`.
    #[must_use]
    pub fn at_least(a: &WeightedSet, b: &WeightedSet, threshold: f64) -> Option<Self> {
        /// Number of shingles between two checks of the bound. With so many shingles, the time of the checks does not
        /// matter.
        const STRIDE: usize = 64;
        let totals = (a.total(), b.total());
        let weight = totals.0 + totals.1;
        // The relative error of each sum is at most half a unit of rounding per term. The constant 16 covers the few
        // operations that use the sums.
        let room = (a.len() + b.len() + 16) as f64 * f64::EPSILON * weight;
        let reachable = |most_shared: f64| most_shared + room >= threshold * (weight - most_shared - room);
        let mut overlap = Self { shared: 0.0, all: 0.0 };
        let mut rest = totals;
        let mut pairs = merged(a, b);
        while reachable(overlap.shared + rest.0.min(rest.1)) {
            for _ in 0..STRIDE {
                let Some((left, right)) = pairs.next() else {
                    return (overlap.jaccard() >= threshold).then_some(overlap);
                };
                overlap.add(left, right);
                rest = (rest.0 - left, rest.1 - right);
            }
        }
        None
    }

    /// Returns the weighted Jaccard similarity. For two empty sets it is 1, because they are equal.
    #[must_use]
    pub fn jaccard(&self) -> f64 {
        if self.all == 0.0 { 1.0 } else { self.shared / self.all }
    }

    fn add(&mut self, left: f64, right: f64) {
        self.shared += left.min(right);
        self.all += left.max(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use crate::verify::{Overlap, ShingleSet};
    use crate::weight::WeightedSet;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn set(members: &[(u64, f64)]) -> WeightedSet {
        WeightedSet::new(members.iter().copied()).unwrap()
    }

    fn jaccard(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
        WeightedOverlap::of(&set(a), &set(b)).jaccard()
    }

    #[test]
    fn documented_similarities() {
        let (d0, d2) = ([(3, 0.071_920_518_1)], [(3, 0.143_841_036_2), (5, 0.173_286_795_1)]);
        assert!((jaccard(&d0, &d2) - 0.226_787_153_3).abs() <= 1e-10);
        assert_eq!(jaccard(&[(1, 5.0)], &[(1, 4.0)]), 0.8);
        assert_eq!(jaccard(&[(1, 10.0), (2, 1.0)], &[(1, 1.0), (2, 10.0)]), 0.1);
        assert_eq!(jaccard(&[], &[]), 1.0);
        assert_eq!(jaccard(&[], &[(1, 1.0)]), 0.0);
    }

    #[test]
    fn a_pair_exactly_at_the_threshold_reaches_it() {
        for (part, whole) in [(4.0, 5.0), (0.9, 1.0), (7e-20, 1e-19), (3e200, 1e201)] {
            let overlap = WeightedOverlap::at_least(&set(&[(1, part)]), &set(&[(1, whole)]), part / whole);
            assert_eq!(overlap, Some(WeightedOverlap { shared: part, all: whole }));
        }
        let (a, b) = (set(&[(1, 1.0)]), set(&[(1, 0.799_999_999)]));
        assert_eq!(WeightedOverlap::at_least(&a, &b, 0.8), None);
    }

    proptest! {
        #[test]
        fn stopping_early_says_the_same(
            members in vec((-20i32..20, -20i32..20, 0u8..8), 0..400),
            threshold in 0.01..=1.0f64,
            at: bool,
        ) {
            // Three in eight shingles are in one set only, one in eight has two different weights, and the others have
            // the same weight in both sets.
            let sides = |side: u8| {
                let weigh = |(i, &(x, y, kind)): (usize, &(i32, i32, u8))| {
                    let exponent = if side == 1 && kind == 0 { y } else { x };
                    (kind < 5 || kind % 2 == side).then(|| (fmix64(i as u64), 1.7f64.powi(exponent)))
                };
                set(&members.iter().enumerate().filter_map(weigh).collect::<Vec<_>>())
            };
            let (a, b) = (sides(0), sides(1));
            let exact = WeightedOverlap::of(&a, &b);
            let threshold = if at { exact.jaccard() } else { threshold };
            let reached = WeightedOverlap::at_least(&a, &b, threshold);
            prop_assert_eq!(reached, (exact.jaccard() >= threshold).then_some(exact));
        }

        #[test]
        fn unit_weights_are_sets(a in vec(0u64..60, 0..50), b in vec(0u64..60, 0..50)) {
            let plain = |items: &[u64]| items.iter().copied().collect::<ShingleSet>();
            let (a, b) = (plain(&a), plain(&b));
            let weighted = |set: &ShingleSet| {
                WeightedSet::new(set.as_slice().iter().map(|&shingle| (shingle, 1.0))).unwrap()
            };
            let found = WeightedOverlap::of(&weighted(&a), &weighted(&b)).jaccard();
            prop_assert_eq!(found, Overlap::of(&a, &b).jaccard());
        }
    }
}
