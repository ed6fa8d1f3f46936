//! Exact Jaccard similarity by merging two sorted sets.
//!
//! J(A, B) = |A∩B| / (|A| + |B| − |A∩B|), divided as floating-point numbers. (The pseudocode of [Bergillos
//! 2018](crate#sources), §2, divides integers, E-31.) With a threshold there are two ways to stop early. If the sizes
//! of the sets differ too much, the sets cannot reach it. If too few elements are left during the merge, the merge
//! stops.

use super::ShingleSet;

/// The exact overlap of two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Overlap {
    /// Number of shingles that are in both sets.
    pub shared: usize,
    /// Number of shingles in the left set.
    pub left: usize,
    /// Number of shingles in the right set.
    pub right: usize,
}

impl Overlap {
    /// Counts the shingles that two sets share.
    #[must_use]
    pub fn of(a: &ShingleSet, b: &ShingleSet) -> Self {
        Self::of_sorted(a.as_slice(), b.as_slice())
    }

    /// Counts the shingles that two parts of sets share. The shingles of each must be in ascending order without
    /// repeats.
    #[must_use]
    pub fn of_sorted(a: &[u64], b: &[u64]) -> Self {
        // With `needed` = 0, the merge never stops early.
        let shared = merge(a, b, 0).unwrap_or_default();
        Self { shared, left: a.len(), right: b.len() }
    }

    /// Counts the shingles that two sets share; `None` if their Jaccard similarity is below `threshold`.
    #[must_use]
    pub fn at_least(a: &ShingleSet, b: &ShingleSet, threshold: f64) -> Option<Self> {
        let (a, b) = (a.as_slice(), b.as_slice());
        let needed = shared_needed(a.len(), b.len(), threshold)?;
        let overlap = Self { shared: merge(a, b, needed)?, left: a.len(), right: b.len() };
        (overlap.jaccard() >= threshold).then_some(overlap)
    }

    /// Adds the counts of another part of the same two sets.
    pub fn add(&mut self, other: &Self) {
        self.shared += other.shared;
        self.left += other.left;
        self.right += other.right;
    }

    /// Returns the Jaccard similarity. For two empty sets it is 1, because they are equal.
    #[must_use]
    pub fn jaccard(&self) -> f64 {
        let all = self.left + self.right - self.shared;
        if all == 0 { 1.0 } else { self.shared as f64 / all as f64 }
    }
}

/// Returns the least number of shared shingles with which sets of the sizes `left` and `right` reach the threshold;
/// `None` if no number is enough.
pub(super) fn shared_needed(left: usize, right: usize, threshold: f64) -> Option<usize> {
    let most = left.min(right);
    let reaches = |shared: usize| Overlap { shared, left, right }.jaccard() >= threshold;
    if !reaches(most) {
        return None;
    }
    // c/(n−c) ≥ t gives c ≥ tn/(1+t), but rounding may change the result by one in either direction.
    let mut needed = ((left + right) as f64 * threshold / (1.0 + threshold)).ceil() as usize;
    needed = needed.min(most);
    while needed > 0 && reaches(needed - 1) {
        needed -= 1;
    }
    while !reaches(needed) {
        needed += 1;
    }
    Some(needed)
}

/// Counts the shared elements of two sorted sets. When `needed` can no longer be reached, `merge` stops and returns
/// `None`.
pub(super) fn merge(a: &[u64], b: &[u64], needed: usize) -> Option<usize> {
    /// Number of steps between two checks of this bound. With so many steps, the time of the checks does not matter.
    const STRIDE: usize = 64;
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        if shared + (a.len() - i).min(b.len() - j) < needed {
            return None;
        }
        for _ in 0..STRIDE {
            let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) else { break };
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    (shared >= needed).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(items: impl IntoIterator<Item = u64>) -> ShingleSet {
        items.into_iter().map(fmix64).collect()
    }

    #[test]
    fn documented_examples() {
        let example = Overlap::of(&set([0, 1, 2, 5, 6]), &set([0, 2, 3, 4, 5, 7, 9]));
        assert_eq!(example.jaccard(), 3.0 / 9.0);
        // E-01: Hassanian-esfahani 2018 prints 4/9 for this pair.
        assert_eq!(Overlap::of(&set([1, 2, 5, 7, 8, 9]), &set([1, 2, 5, 7])).jaccard(), 4.0 / 6.0);
        assert_eq!(Overlap::of(&set([1, 2]), &set([1, 2])).jaccard(), 1.0);
        assert_eq!(Overlap::of(&set([1, 2]), &set([3])).jaccard(), 0.0);
        assert_eq!(Overlap::of(&set([]), &set([])).jaccard(), 1.0);
        assert_eq!(Overlap::of(&set([]), &set([1])).jaccard(), 0.0);
    }

    #[test]
    fn a_pair_exactly_at_the_threshold_reaches_it() {
        for (shared, all, threshold) in
            [(4, 5, 0.8), (9, 10, 0.9), (7, 10, 0.7), (1, 3, 1.0 / 3.0), (3, 10, 0.3)]
        {
            let overlap = Overlap::at_least(&set(0..all), &set(0..shared), threshold);
            assert_eq!(overlap.map(|o| o.shared), Some(shared as usize), "{shared}/{all}");
        }
        assert!(Overlap::at_least(&set(0..1000), &set(0..799), 0.8).is_none());
    }

    proptest! {
        #[test]
        fn as_sets_have_it(a in proptest::collection::btree_set(0u64..300, 0..200), b in proptest::collection::btree_set(0u64..300, 0..200), threshold in 0.01f64..=1.0) {
            let shared = a.intersection(&b).count();
            let all = a.union(&b).count();
            let exact = if all == 0 { 1.0 } else { shared as f64 / all as f64 };
            let (x, y) = (set(a.clone()), set(b.clone()));
            prop_assert_eq!(Overlap::of(&x, &y).jaccard(), exact);
            let reached = Overlap::at_least(&x, &y, threshold);
            prop_assert_eq!(reached.is_some(), exact >= threshold);
            if let Some(overlap) = reached {
                prop_assert_eq!(overlap, Overlap { shared, left: a.len(), right: b.len() });
            }
        }

        #[test]
        fn parts_add_up(a in proptest::collection::vec(any::<u64>(), 0..60), b in proptest::collection::vec(any::<u64>(), 0..60), cut: u64) {
            let (x, y): (ShingleSet, ShingleSet) = (a.iter().chain(&b).copied().collect(), b.iter().copied().collect());
            let [(x1, x2), (y1, y2)] = [&x, &y].map(|set| set.as_slice().split_at(set.as_slice().partition_point(|&s| s < cut)));
            let mut sum = Overlap::of_sorted(x1, y1);
            sum.add(&Overlap::of_sorted(x2, y2));
            prop_assert_eq!(sum, Overlap::of(&x, &y));
        }

        #[test]
        fn the_fewest_shared_is_exact(left in 0usize..400, right in 0usize..400, threshold in 0.01f64..=1.0) {
            let reaches = |shared: usize| Overlap { shared, left, right }.jaccard() >= threshold;
            let expected = (0..=left.min(right)).find(|&shared| reaches(shared));
            prop_assert_eq!(shared_needed(left, right, threshold), expected);
        }
    }

    #[test]
    fn long_sets() {
        let (a, b): (BTreeSet<u64>, BTreeSet<u64>) = ((0..10_000).collect(), (500..10_500).collect());
        let overlap = Overlap::at_least(&set(a), &set(b), 0.9).unwrap();
        assert_eq!(overlap, Overlap { shared: 9_500, left: 10_000, right: 10_000 });
    }
}
