//! The distinct shingles of a document, sorted.

use crate::sort::sort_mixed;

/// A set of shingles, sorted and without repeats.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShingleSet(Box<[u64]>);

impl ShingleSet {
    /// Makes the set of `shingles`. `work` are two buffers, which can be reused for the next set.
    #[must_use]
    pub fn build(shingles: &[u64], work: &mut (Vec<u64>, Vec<u64>)) -> Self {
        work.0.clear();
        work.0.extend_from_slice(shingles);
        Self::of_gathered(work)
    }

    /// Makes the set of the shingles in the first buffer, which the caller may have collected part by part. The second
    /// buffer is scratch memory.
    #[must_use]
    pub fn of_gathered((items, scratch): &mut (Vec<u64>, Vec<u64>)) -> Self {
        sort_mixed(items, scratch);
        items.dedup();
        Self(items.as_slice().into())
    }

    /// Returns the shingles in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// Returns the number of shingles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Reports whether the set has no shingles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of bytes of memory that the set takes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.0) + size_of::<Self>()
    }
}

impl FromIterator<u64> for ShingleSet {
    fn from_iter<I: IntoIterator<Item = u64>>(shingles: I) -> Self {
        let shingles: Vec<u64> = shingles.into_iter().collect();
        Self::build(&shingles, &mut Default::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_is_sorted_and_has_no_repeats(shingles in proptest::collection::vec(0u64..400, 0..300)) {
            let mixed: Vec<u64> = shingles.iter().map(|&x| crate::hash::fmix64(x)).collect();
            let expected: Vec<u64> = mixed.iter().copied().collect::<BTreeSet<u64>>().into_iter().collect();
            let set: ShingleSet = mixed.into_iter().collect();
            prop_assert_eq!(set.as_slice(), &expected[..]);
        }
    }
}
