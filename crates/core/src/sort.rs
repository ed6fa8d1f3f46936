//! Sorting of well-mixed keys.
//!
//! Shingles and band keys are spread evenly over all 64 bits, so their first bits nearly determine their
//! places: one pass distributes them into runs of about one, and each run is sorted by itself. Keys that are
//! not spread evenly are sorted correctly too, in O(n log n). The benchmark `verify` compares this with a
//! comparison sort.

/// Up to 2 to this power runs, the counters are on the stack and in the first-level cache. Small inputs clear
/// only the counters that they use.
const NEAR_BITS: u32 = 12;
const FEW_BITS: u32 = 9;
/// Counters for more runs would not fit into the second-level cache.
const MOST_BITS: u32 = 16;
/// Below this number of items, distribution costs more than it saves.
const FEW: usize = 32;
/// Runs up to this length are sorted by insertion.
const SHORT: u32 = 16;

/// An item whose order begins with a well-mixed 64-bit key.
///
/// Sealed, because [`sort_mixed`] relies on keys in the order of the items.
pub trait Mixed: sealed::MixedSeal + Copy + Ord + Default {
    /// Returns the first 64 bits of the order of the item.
    fn mixed(&self) -> u64;
}

impl Mixed for u64 {
    #[inline(always)]
    fn mixed(&self) -> u64 {
        *self
    }
}

impl Mixed for (u64, u32) {
    #[inline(always)]
    fn mixed(&self) -> u64 {
        self.0
    }
}

impl Mixed for (u128, u32) {
    #[inline(always)]
    fn mixed(&self) -> u64 {
        (self.0 >> 64) as u64
    }
}

impl Mixed for (u64, u64) {
    #[inline(always)]
    fn mixed(&self) -> u64 {
        self.0
    }
}

mod sealed {
    pub trait MixedSeal {}
    impl MixedSeal for u64 {}
    impl MixedSeal for (u64, u32) {}
    impl MixedSeal for (u128, u32) {}
    impl MixedSeal for (u64, u64) {}
}

/// Sorts `items`, fewer than 2³², with `scratch` as a buffer.
pub fn sort_mixed<T: Mixed>(items: &mut Vec<T>, scratch: &mut Vec<T>) {
    sort_mixed_bucket(items, scratch, 0);
}

/// Does what [`sort_mixed`] does for items that have the first `same_bits` bits of their keys in common, fewer than 64,
/// because they were distributed by them before.
pub fn sort_mixed_bucket<T: Mixed>(items: &mut Vec<T>, scratch: &mut Vec<T>, same_bits: u32) {
    if items.len() < FEW {
        items.sort_unstable();
        return;
    }
    // About one item per run, while there are enough counters.
    let bits = items.len().ilog2().min(MOST_BITS);
    if bits <= FEW_BITS {
        distribute(items, scratch, (same_bits, bits), &mut [0; 1 << FEW_BITS][..1 << bits]);
    } else if bits <= NEAR_BITS {
        distribute(items, scratch, (same_bits, bits), &mut [0; 1 << NEAR_BITS][..1 << bits]);
    } else {
        distribute(items, scratch, (same_bits, bits), &mut vec![0; 1 << bits]);
    }
}

/// Sorts by the first `bits` bits after the `same_bits` that all have in common, with a counter for each of their
/// values, then every run by itself.
fn distribute<T: Mixed>(
    items: &mut Vec<T>,
    scratch: &mut Vec<T>,
    (same_bits, bits): (u32, u32),
    ends: &mut [u32],
) {
    let run_of = |item: &T| (item.mixed() << same_bits >> (64 - bits)) as usize;
    for item in items.iter() {
        ends[run_of(item)] += 1;
    }
    let (mut begin, mut longest) = (0, 0);
    for end in ends.iter_mut() {
        let count = *end;
        *end = begin;
        begin += count;
        longest = longest.max(count);
    }
    // Existing items are overwritten, so only missing ones are filled.
    scratch.resize(items.len(), T::default());
    // Each counter is the next place of its run, and in the end the end of the run.
    for item in items.iter() {
        let end = &mut ends[run_of(item)];
        scratch[*end as usize] = *item;
        *end += 1;
    }
    if longest <= SHORT {
        // No item is further from its place than its run is long.
        insertion_sort(scratch);
    } else {
        let mut begin = 0;
        for &end in ends.iter() {
            scratch[begin..end as usize].sort_unstable();
            begin = end as usize;
        }
    }
    std::mem::swap(items, scratch);
}

#[inline]
fn insertion_sort<T: Mixed>(items: &mut [T]) {
    for i in 1..items.len() {
        let item = items[i];
        let mut hole = i;
        while hole > 0 && item < items[hole - 1] {
            items[hole] = items[hole - 1];
            hole -= 1;
        }
        items[hole] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{SplitMix64, fmix64};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_mixed_keys(seed: u64, len in 0usize..3000, repeats in 1u64..40) {
            let mut random = SplitMix64::new(seed);
            let mut items: Vec<u64> = (0..len).map(|_| fmix64(random.next_u64() % (len as u64 / repeats + 1))).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_mixed(&mut items, &mut vec![]);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn sorts_keys_of_one_bucket(seed: u64, len in 0usize..3000, same_bits in 0u32..20, bucket: u64) {
            let mut random = SplitMix64::new(seed);
            let bucket = bucket & !(u64::MAX >> same_bits);
            let mut items: Vec<(u64, u32)> =
                (0..len).map(|at| (bucket | random.next_u64() >> same_bits, at as u32)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_mixed_bucket(&mut items, &mut vec![], same_bits);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn sorts_keys_that_are_not(mut items in proptest::collection::vec((0u64..50, any::<u32>()), 0..300)) {
            let mut expected = items.clone();
            expected.sort_unstable();
            sort_mixed(&mut items, &mut vec![(1, 1); 7]);
            prop_assert_eq!(items, expected);
        }
    }

    #[test]
    fn sorts_more_than_the_counters_hold() {
        let mut random = SplitMix64::new(3);
        let mut items: Vec<u64> = (0..100_000).map(|_| random.next_u64()).collect();
        sort_mixed(&mut items, &mut vec![]);
        assert!(items.is_sorted());
    }
}
