//! Sorting of well-mixed keys.
//!
//! Shingles and band keys are spread evenly over all 64-bit numbers, so their first bits nearly determine their places.
//! One pass distributes the keys by these bits into runs of about one key, and each run is sorted by itself. Keys that
//! are not spread evenly are also sorted correctly, in O(n log n). The benchmark `verify` compares this sort with a
//! comparison sort.

/// Logarithm of the greatest number of runs whose counters are on the stack, in the first-level cache. Up to 2⁹ runs
/// ([`FEW_BITS`]) have an array of their own, so that fewer counters are cleared.
const NEAR_BITS: u32 = 12;
const FEW_BITS: u32 = 9;
/// Logarithm of the greatest number of runs. Counters for more runs would not fit into the second-level cache.
const MOST_BITS: u32 = 16;
/// Number of items below which distribution costs more than it saves.
const FEW: usize = 32;
/// Greatest length of runs that are sorted by insertion.
const SHORT: u32 = 16;

/// Item that is ordered first by a well-mixed 64-bit key.
///
/// The trait is sealed, because [`sort_mixed`] requires that keys have the same order as their items.
pub trait Mixed: sealed::MixedSeal + Copy + Ord + Default {
    /// Returns the key of the item: the first 64 bits of its order.
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

/// Sorts `items`, of which there must be fewer than 2³². `scratch` is a buffer.
pub fn sort_mixed<T: Mixed>(items: &mut Vec<T>, scratch: &mut Vec<T>) {
    sort_mixed_bucket(items, scratch, 0);
}

/// Sorts items whose keys have the same first `same_bits` bits, because the items were distributed by these bits
/// before. Otherwise it does the same as [`sort_mixed`]. `same_bits` must be less than 64.
pub fn sort_mixed_bucket<T: Mixed>(items: &mut Vec<T>, scratch: &mut Vec<T>, same_bits: u32) {
    if items.len() < FEW {
        items.sort_unstable();
        return;
    }
    // A run has about one item, as long as there are enough counters.
    let bits = items.len().ilog2().min(MOST_BITS);
    if bits <= FEW_BITS {
        distribute(items, scratch, (same_bits, bits), &mut [0; 1 << FEW_BITS][..1 << bits]);
    } else if bits <= NEAR_BITS {
        distribute(items, scratch, (same_bits, bits), &mut [0; 1 << NEAR_BITS][..1 << bits]);
    } else {
        distribute(items, scratch, (same_bits, bits), &mut vec![0; 1 << bits]);
    }
}

/// Distributes the items by the `bits` bits that follow the first `same_bits` bits of their keys, and then sorts every
/// run by itself. `ends` has one counter per run.
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
    // Existing items of the buffer are overwritten, so only missing items are filled in.
    scratch.resize(items.len(), T::default());
    // Each counter is the next free place of its run, and at the end of the loop the end of the run.
    for item in items.iter() {
        let end = &mut ends[run_of(item)];
        scratch[*end as usize] = *item;
        *end += 1;
    }
    if longest <= SHORT {
        // Insertion is fast here, because no item is further from its place than the length of its run.
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
