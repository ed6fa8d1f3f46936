//! One-permutation hashing.
//!
//! - **Paper.** Li, Owen and Zhang, *One permutation hashing*, NIPS 2012; rotation: Shrivastava and Li, *Densifying one
//!   permutation hashing via rotation for fast near neighbor search*, ICML 2014; optimal: Shrivastava, *Optimal
//!   densification for fast and accurate minwise hashing*, ICML 2017; [Hassanian-esfahani 2018](crate#sources), Table
//!   1.
//! - **Idea.** One hash function throws the shingles into k bins and each bin keeps its least value, so that k
//!   registers cost one hash per shingle. Short documents leave bins empty. Densification fills an empty bin with the
//!   value of another bin. The other bin is chosen in the same way for every document.
//! - **Symbols.** k → `bins`; u = |A∪B|; e → the number of bins that are empty in both documents.
//! - **Formula.** h(x) = fmix64(x ⊕ s), where s is the first number of the `SplitMix64` of the seed. The bin is
//!   ⌊h·k/2⁶⁴⌋. The value is the upper 32 of the 64 bits of h·k mod 2⁶⁴, at most 2³² − 2. Rotation: an empty bin looks
//!   to its right, circularly, for the first bin that is not empty, and takes value + 0x9e3779b1·distance mod 2³².
//!   Optimal densification: empty bin j tries the bins ⌊fmix32(c + 32j + i)·k/2³²⌋ for i = 0…31, and takes the value of
//!   the first that was not empty. If all 32 bins were empty, it takes the non-empty bin with the least fmix32(fmix32(c
//!   ⊕ j) + bin). c is the upper half of the second number of the `SplitMix64`.
//! - **Cost.** One hash per shingle and O(k); 4k bytes per sketch.
//! - **Error.** The estimate is unbiased in all three forms. With Q of [`estimate::one_permutation`], its variance is
//!   J(1−J)·(u·E(Q)/k² − 1)/(u−1). For u ≫ k this is about (1−k/u)·J(1−J)/k. For u ≪ k it is 1.5 to 2·J(1−J)/k with
//!   optimal densification, and J(1−J)/(u+1) with rotation. The tests in this file check it.
//! - **Differs.** If 32 tries find only empty bins, the paper tries further. Here all non-empty bins are ranked
//!   instead. The distribution is the same, and the time for documents with one shingle is bounded. Rotation folds the
//!   distance into the value.
//! - **Vectors.** Another program computed the worked examples and the table.
//!
//! - **Use when** documents are long and speed matters. Of the three forms, the raw one compares short documents best,
//!   and it merges by minimum.
//! - **Do not** band the raw form, use rotation for documents with fewer shingles than bins, or merge densified
//!   sketches.

use crate::error::Error;
use crate::estimate::{self, Estimate};
use crate::hash::{SplitMix64, fmix32, fmix64};

use super::minhash::EMPTY;
use super::{Registers, Sketcher, Statistic, merge_minima};

/// The treatment of empty bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Densification {
    /// Empty bins stay empty; bins that are empty in both documents do not count.
    None,
    /// An empty bin takes the value of the next non-empty bin to its right, plus 0x9e3779b1 times the distance to that
    /// bin.
    Rotation,
    /// An empty bin takes the value of a random non-empty bin. Each empty bin draws a bin of its own.
    #[default]
    Optimal,
}

/// Number of bins that an empty bin tries before it ranks all non-empty bins.
const TRIES: u32 = 32;

/// Number that rotation adds to a value per step of distance.
const STEP: u32 = 0x9e37_79b1;

/// Makes sketches of the least values in k bins of one hash function.
#[derive(Debug, Clone)]
pub struct OnePermutation {
    seed: u64,
    choice: u32,
    bins: usize,
    densification: Densification,
}

/// A [`OnePermutation`] that fills its empty bins, so that all bins are registers.
#[derive(Debug, Clone)]
pub struct Densified(OnePermutation);

impl OnePermutation {
    /// Makes a sketcher with `bins` bins (k); `seed` chooses the hash function and the bins that empty bins copy.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `bins` is from 1 to 65,536.
    pub fn new(bins: usize, densification: Densification, seed: u64) -> Result<Self, Error> {
        if !(1..=1 << 16).contains(&bins) {
            return Err(Error::out_of_range("the number of bins", bins, "from 1 to 65,536"));
        }
        let mut random = SplitMix64::new(seed);
        Ok(Self { seed: random.next_u64(), choice: random.next_u32(), bins, densification })
    }

    /// Returns the treatment of empty bins.
    #[must_use]
    pub fn densification(&self) -> Densification {
        self.densification
    }

    /// Converts this sketcher to a sketcher of registers; returns `None` if it leaves bins empty.
    #[must_use]
    pub fn densified(self) -> Option<Densified> {
        match self.densification {
            Densification::None => None,
            Densification::Rotation | Densification::Optimal => Some(Densified(self)),
        }
    }
}

/// Fills empty bins by rotation. If all bins are empty, it changes nothing.
fn rotate(bins: &mut [u32]) {
    // Filling from the right, from a non-empty bin on, adds one step per bin.
    let Some(start) = bins.iter().position(|&bin| bin != EMPTY) else { return };
    let mut next = bins[start];
    for place in (0..start).rev().chain((start + 1..bins.len()).rev()) {
        if bins[place] == EMPTY {
            bins[place] = next.wrapping_add(STEP);
        }
        next = bins[place];
    }
}

/// Returns the number of bins that were not empty before rotation. Rotation gives an empty bin the value of its right
/// neighbour plus `STEP`, so a bin with another value was not empty.
fn occupied_before_rotation(bins: &[u32]) -> usize {
    let is_own = |bin: u32, next: u32| bin != next.wrapping_add(STEP);
    let inner = bins.windows(2).filter(|pair| is_own(pair[0], pair[1])).count();
    let around = bins.last().zip(bins.first()).is_some_and(|(&last, &first)| is_own(last, first));
    (inner + usize::from(around)).max(1)
}

/// Fills empty bins by optimal densification.
fn scatter(bins: &mut [u32], choice: u32) {
    let k = bins.len() as u64;
    // A filled bin must not be copied further, so values are read from a copy.
    let before = bins.to_vec();
    let occupied: Vec<u32> = (0..k as u32).filter(|&bin| before[bin as usize] != EMPTY).collect();
    for place in 0..k as u32 {
        if before[place as usize] != EMPTY {
            continue;
        }
        let first = choice.wrapping_add(place.wrapping_mul(TRIES));
        let tried = (0..TRIES)
            .map(|i| before[((fmix32(first.wrapping_add(i)) as u64 * k) >> 32) as usize])
            .find(|&value| value != EMPTY);
        let rank = fmix32(choice ^ place);
        let ranked = || {
            let least = occupied.iter().min_by_key(|&&bin| fmix32(rank.wrapping_add(bin)));
            least.map_or(EMPTY, |&bin| before[bin as usize])
        };
        bins[place as usize] = tried.unwrap_or_else(ranked);
    }
}

/// Returns the number of bins that were not empty before optimal densification, which is the number of different
/// values.
fn occupied_before_scattering(bins: &[u32]) -> usize {
    // A hash table with open addressing; `EMPTY` marks a free place, because no bin has that value.
    let places = (2 * bins.len()).next_power_of_two();
    let mut table = vec![EMPTY; places];
    let mut occupied = 0;
    for &value in bins {
        let mut place = fmix32(value) as usize & (places - 1);
        while table[place] != value && table[place] != EMPTY {
            place = (place + 1) & (places - 1);
        }
        occupied += usize::from(table[place] != value);
        table[place] = value;
    }
    occupied
}

impl super::sealed::Sealed for OnePermutation {}

impl Sketcher for OnePermutation {
    fn words(&self) -> usize {
        self.bins
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.bins, "one word a bin");
        out.fill(EMPTY);
        if shingles.is_empty() {
            return;
        }
        for &shingle in shingles {
            let product = fmix64(shingle ^ self.seed) as u128 * self.bins as u128;
            let bin = &mut out[(product >> 64) as usize];
            *bin = (*bin).min(((product as u64 >> 32) as u32).min(EMPTY - 1));
        }
        if !out.contains(&EMPTY) {
            return;
        }
        match self.densification {
            Densification::None => {}
            Densification::Rotation => rotate(out),
            Densification::Optimal => scatter(out, self.choice),
        }
    }

    /// Merges sketches with empty bins. Densified sketches cannot be merged, because a copied value is not marked as a
    /// copy.
    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        match self.densification {
            Densification::None => merge_minima(a, b, out),
            Densification::Rotation | Densification::Optimal => false,
        }
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        use estimate::one_permutation::{estimate_densified, estimate_raw, share_optimal, share_rotation};
        let matches = estimate::minhash::matches(a, b);
        // The union occupies at least as many bins as either document.
        let occupied = |count: fn(&[u32]) -> usize| count(a).max(count(b));
        match self.densification {
            Densification::None => {
                let empty = a.iter().zip(b).filter(|&(&a, &b)| a == EMPTY && b == EMPTY).count();
                estimate_raw(matches - empty, empty, a.len())
            }
            Densification::Rotation => {
                estimate_densified(matches, a.len(), occupied(occupied_before_rotation), share_rotation)
            }
            Densification::Optimal => {
                estimate_densified(matches, a.len(), occupied(occupied_before_scattering), share_optimal)
            }
        }
    }
}

impl super::sealed::Sealed for Densified {}

impl Sketcher for Densified {
    fn words(&self) -> usize {
        self.0.words()
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        self.0.sketch_into(shingles, out);
    }

    fn statistic(&self) -> Statistic {
        Statistic::EqualWords
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        self.0.estimate(a, b)
    }
}

impl Registers for Densified {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::one_permutation::{share_optimal, share_raw, share_rotation, variance};
    use crate::sketch::trials::{check, check_merge, moments, sets, sketch};

    const ALL: [Densification; 3] = [Densification::None, Densification::Rotation, Densification::Optimal];

    fn toy(values: &[u32], bins: u32) -> Vec<u32> {
        let mut out = vec![EMPTY; bins as usize];
        for &value in values {
            let bin = &mut out[(value * bins / 100) as usize];
            *bin = value.min(*bin);
        }
        out
    }

    const A: [u32; 5] = [23, 5, 87, 42, 61];
    const B: [u32; 5] = [5, 87, 42, 14, 99];

    #[test]
    fn documented_examples() {
        let estimate = |bins: u32| {
            let sketcher = OnePermutation::new(bins as usize, Densification::None, 1).unwrap();
            sketcher.estimate(&toy(&A, bins), &toy(&B, bins)).value
        };
        assert_eq!(toy(&A, 4), [5, 42, 61, 87]);
        assert_eq!(toy(&B, 4), [5, 42, EMPTY, 87]);
        assert_eq!(estimate(4), 0.75);
        assert_eq!(estimate(10), 3.0 / 7.0);
    }

    #[test]
    fn documented_example_of_rotation() {
        let rotated = |values: &[u32]| {
            let mut bins = toy(values, 10);
            rotate(&mut bins);
            bins
        };
        let at = |pairs: [(u32, u32); 10]| {
            pairs.map(|(value, distance)| value.wrapping_add(distance.wrapping_mul(STEP)))
        };
        let (a, b) = (rotated(&A), rotated(&B));
        assert_eq!(
            a,
            at([(5, 0), (23, 1), (23, 0), (42, 1), (42, 0), (61, 1), (61, 0), (87, 1), (87, 0), (5, 1)])
        );
        assert_eq!(
            b,
            at([(5, 0), (14, 0), (42, 2), (42, 1), (42, 0), (87, 3), (87, 2), (87, 1), (87, 0), (99, 0)])
        );
        assert_eq!(estimate::minhash::matches(&a, &b), 5);
        assert_eq!((occupied_before_rotation(&a), occupied_before_rotation(&b)), (5, 5));
    }

    #[test]
    fn laws_of_sketches() {
        for densification in ALL {
            for bins in [1, 2, 64, 100] {
                let sketcher = OnePermutation::new(bins, densification, 1).unwrap();
                assert_eq!(sketch(&sketcher, &[]), vec![EMPTY; bins]);
                for shingles in [1, 2, 10, 100, 3000] {
                    let mut set: Vec<u64> = (0..shingles).collect();
                    let expected = sketch(&sketcher, &set);
                    assert!(densification == Densification::None || !expected.contains(&EMPTY));
                    set.extend_from_within(..);
                    set.reverse();
                    assert_eq!(sketch(&sketcher, &set), expected);
                    assert_eq!(sketcher.estimate(&expected, &expected).value, 1.0);
                    assert_eq!(sketcher.estimate(&expected, &sketch(&sketcher, &[u64::MAX])).value, 0.0);
                }
            }
            let sketcher = OnePermutation::new(64, densification, 1).unwrap();
            assert_eq!(sketcher.densification(), densification);
            assert_eq!(sketcher.densified().is_some(), densification != Densification::None);
        }
        check_merge(&OnePermutation::new(64, Densification::None, 1).unwrap());
    }

    #[test]
    fn bins_that_were_occupied_can_be_counted() {
        for shingles in [1, 2, 30, 100, 1000] {
            let set: Vec<u64> = (0..shingles).collect();
            let of = |densification| sketch(&OnePermutation::new(64, densification, 3).unwrap(), &set);
            let occupied = of(Densification::None).iter().filter(|&&bin| bin != EMPTY).count();
            assert_eq!(occupied_before_rotation(&of(Densification::Rotation)), occupied);
            assert_eq!(occupied_before_scattering(&of(Densification::Optimal)), occupied);
        }
    }

    #[test]
    fn densified_values_are_copies() {
        let sketcher = |densification| OnePermutation::new(500, densification, 8).unwrap();
        for shingles in [1, 5, 50, 400] {
            let set: Vec<u64> = (0..shingles).collect();
            let raw = sketch(&sketcher(Densification::None), &set);
            let filled = sketch(&sketcher(Densification::Optimal), &set);
            for (raw_bin, bin) in raw.iter().zip(&filled) {
                assert!(raw_bin == bin || (*raw_bin == EMPTY && raw.contains(bin)));
            }
        }
    }

    #[test]
    fn unbiased_with_the_variance_of_the_formula() {
        for (densification, share) in
            ALL.into_iter().zip([share_raw as fn(_, _) -> _, share_rotation, share_optimal])
        {
            for (union, common, bins) in
                [(10, 6, 64), (40, 30, 64), (200, 100, 64), (200, 160, 64), (100, 40, 512)]
            {
                let variance = variance(union as usize, common as usize, bins, share);
                check(4000, (union, common), variance, |seed| {
                    OnePermutation::new(bins, densification, seed).unwrap()
                });
            }
        }
    }

    #[test]
    fn the_reported_error_is_not_too_small() {
        for densification in ALL {
            for (union, common) in [(12, 6), (40, 20), (200, 100), (2000, 1000)] {
                let make = |seed| OnePermutation::new(64, densification, seed).unwrap();
                let (_, variance) = moments(2000, (union, common), make);
                let (a, b) = sets(union, common);
                let reported: f64 = (0..100)
                    .map(|seed| {
                        let sketcher = make(seed);
                        sketcher
                            .estimate(&sketch(&sketcher, &a), &sketch(&sketcher, &b))
                            .standard_error
                            .powi(2)
                    })
                    .sum();
                let share = variance / (reported / 100.0);
                assert!(share < 1.0 + 4.0 * (2.0_f64 / 2000.0).sqrt(), "{densification:?} {union}: {share}");
            }
        }
    }

    #[test]
    fn the_number_of_bins_is_checked() {
        for wrong in [0, 65537] {
            let message = OnePermutation::new(wrong, Densification::Optimal, 1).unwrap_err().to_string();
            assert!(message.contains("from 1 to 65,536"), "{message}");
        }
    }
}
