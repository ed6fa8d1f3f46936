//! Sets that share most shingles, stored and compared by their differences.
//!
//! - **Idea.** Documents made from one form share most shingles. Let C be a fixed set. A set A is stored as the
//!   shingles A \ C that only A has, and the shingles C \ A that A lacks. These differences are enough to compare two
//!   sets: |A∩B| = |(A \ C) ∩ (B \ C)| + |C| − |C \ A| − |C \ B| + |(C \ A) ∩ (C \ B)|.
//! - **Cost.** Memory and time are those of the differences. If seven eighths of each document are the form, they are
//!   an eighth.
//! - **Error.** None, for any C. [`CommonShingles::of_most`] chooses the C that makes the differences of a sample
//!   smallest.
//! - **Use when** many sets of one crowd must be compared with one another.

use super::jaccard::{merge, shared_needed};
use super::parity::flip;
use super::{Measure, Overlap, ShingleSet};

/// The shingles that most sets of a crowd have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommonShingles(ShingleSet);

/// A set of shingles, stored as its difference from [`CommonShingles`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReducedSet {
    /// Shingles of the set that are not common shingles, then common shingles that the set lacks; each part is in
    /// ascending order.
    different: Box<[u64]>,
    /// Number of shingles of the set that are not common shingles.
    own: u32,
    /// Number of shingles of the set.
    size: u32,
}

impl ReducedSet {
    /// Returns the number of shingles of the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.size as usize
    }

    /// Reports whether the set has no shingles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Returns the number of bytes of memory that the set takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.different) + size_of::<Self>()
    }

    /// Returns the shingles of the set that are not common shingles, and the common shingles that the set lacks.
    fn parts(&self) -> (&[u64], &[u64]) {
        self.different.split_at(self.own as usize)
    }
}

impl CommonShingles {
    /// Returns the shingles that more than half of the sets have. Returns `None` if reduced sets would take more than
    /// half of the memory.
    #[must_use]
    pub fn of_most(sets: &[&ShingleSet]) -> Option<Self> {
        let mut all: Vec<u64> = sets.iter().flat_map(|set| set.as_slice()).copied().collect();
        all.sort_unstable();
        let (mut common, mut different) = (vec![], 0);
        for same in all.chunk_by(|a, b| a == b) {
            let is_common = 2 * same.len() > sets.len();
            different += if is_common { sets.len() - same.len() } else { same.len() };
            common.extend(same.first().filter(|_| is_common));
        }
        (2 * different <= all.len() && !common.is_empty()).then(|| Self(common.into_iter().collect()))
    }

    /// Converts a set to its difference from the common shingles.
    #[must_use]
    pub fn reduce(&self, set: &ShingleSet) -> ReducedSet {
        let (common, set) = (self.0.as_slice(), set.as_slice());
        let (mut different, mut lacking) = (vec![], vec![]);
        let mut rest = common.iter().peekable();
        for &shingle in set {
            while let Some(&less) = rest.next_if(|&&other| other < shingle) {
                lacking.push(less);
            }
            if rest.next_if_eq(&&shingle).is_none() {
                different.push(shingle);
            }
        }
        lacking.extend(rest);
        let own = different.len() as u32;
        different.append(&mut lacking);
        ReducedSet { different: different.into(), own, size: set.len() as u32 }
    }

    /// Counts the shingles that two sets share.
    #[must_use]
    pub fn overlap(&self, a: &ReducedSet, b: &ReducedSet) -> Overlap {
        let ((a_own, a_lacks), (b_own, b_lacks)) = (a.parts(), b.parts());
        let shared = Overlap::of_sorted(a_own, b_own).shared + self.shared_of_common(a_lacks, b_lacks);
        Overlap { shared, left: a.len(), right: b.len() }
    }

    /// Returns the measure of two sets; `None` if it is below `threshold`.
    #[must_use]
    pub fn at_least(&self, a: &ReducedSet, b: &ReducedSet, measure: Measure, threshold: f64) -> Option<f64> {
        if measure != Measure::Jaccard {
            return Some(measure.of_overlap(&self.overlap(a, b))).filter(|&share| share >= threshold);
        }
        let needed = shared_needed(a.len(), b.len(), threshold)?;
        let ((a_own, a_lacks), (b_own, b_lacks)) = (a.parts(), b.parts());
        let of_common = self.shared_of_common(a_lacks, b_lacks);
        let shared = of_common + merge(a_own, b_own, needed.saturating_sub(of_common))?;
        let similarity = Overlap { shared, left: a.len(), right: b.len() }.jaccard();
        (similarity >= threshold).then_some(similarity)
    }

    /// Returns the number of common shingles that two sets share, given the common shingles that each set lacks.
    fn shared_of_common(&self, a_lacks: &[u64], b_lacks: &[u64]) -> usize {
        let both_lack = Overlap::of_sorted(a_lacks, b_lacks).shared;
        self.0.len() + both_lack - a_lacks.len() - b_lacks.len()
    }

    /// Writes the [parity bits](super::parity) of a set.
    ///
    /// # Panics
    /// Panics if the number of words of `out` is not a power of two.
    pub fn parity_into(&self, set: &ReducedSet, out: &mut [u32]) {
        out.fill(0);
        // The bit of a common shingle that the set lacks is flipped twice, and thus unchanged.
        flip(self.0.as_slice(), out);
        flip(&set.different, out);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash::fmix64;
    use crate::verify::parity::{WORDS, parity_into};

    fn set(shingles: impl IntoIterator<Item = u64>) -> ShingleSet {
        shingles.into_iter().map(fmix64).collect()
    }

    fn some() -> impl Strategy<Value = ShingleSet> {
        proptest::collection::btree_set(0u64..120, 0..100).prop_map(set)
    }

    proptest! {
        /// Reduced sets have the same overlap as whole sets, for any common shingles.
        #[test]
        fn reduced_sets_are_compared_as_whole_ones(
            common in some(), a in some(), b in some(), threshold in 0.01f64..=1.0,
        ) {
            let common = CommonShingles(common);
            let [x, y] = [&a, &b].map(|set| common.reduce(set));
            let overlap = Overlap::of(&a, &b);
            prop_assert_eq!(common.overlap(&x, &y), overlap);
            for measure in [Measure::Jaccard, Measure::Containment] {
                for threshold in [threshold, measure.of_overlap(&overlap)] {
                    let whole = measure.at_least(&a, &b, threshold);
                    prop_assert_eq!(common.at_least(&x, &y, measure, threshold), whole);
                }
            }
            let (mut of_whole, mut of_reduced) = ([0; WORDS], [0; WORDS]);
            parity_into(&a, &mut of_whole);
            common.parity_into(&x, &mut of_reduced);
            prop_assert_eq!(of_whole, of_reduced);
            prop_assert_eq!((x.len(), x.is_empty()), (a.len(), a.is_empty()));
        }
    }

    #[test]
    fn a_form_is_common() {
        let filled: Vec<ShingleSet> =
            (1..=9).map(|n| set((0..70).chain(1000 * n..1000 * n + 10).filter(|at| at % 9 != n))).collect();
        let sets: Vec<&ShingleSet> = filled.iter().collect();
        let common = CommonShingles::of_most(&sets).unwrap();
        assert_eq!(common.0, set(0..70));
        let reduced = common.reduce(sets[0]);
        assert!(reduced.size_bytes() < sets[0].size_bytes() / 2, "{}", reduced.size_bytes());
    }

    #[test]
    fn nothing_is_common_if_it_would_not_help() {
        let filled: Vec<ShingleSet> = (1..=9).map(|n| set((0..40).chain(1000 * n..1000 * n + 60))).collect();
        assert_eq!(CommonShingles::of_most(&filled.iter().collect::<Vec<_>>()), None);
        assert_eq!(CommonShingles::of_most(&[]), None);
        assert_eq!(CommonShingles::of_most(&[&set(0..0)]), None);
    }
}
