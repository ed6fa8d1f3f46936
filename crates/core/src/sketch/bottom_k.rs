//! Bottom-k.
//!
//! - **Paper.** Broder, *On the resemblance and containment of documents*, 1997; Cohen and Kaplan, *Summarizing data
//!   using bottom-k sketches*, PODC 2007; also KMV, and [Hassanian-esfahani 2018](crate#sources), Table 1, row
//!   "k-mins", which describes bottom-k (E-11).
//! - **Idea.** The k shingles with the least values of one hash function are a sample of the document without
//!   replacement. The k least values of the union of two documents follow from their sketches.
//! - **Symbols.** k → `values`; h(x) = fmix64(x ⊕ s), at most 2⁶⁴ − 2; s is the first number of the `SplitMix64` of the
//!   seed.
//! - **Formula.** The sketch holds the k least distinct h(x) in ascending order. Each value takes two words, the upper
//!   half first. Missing values are `EMPTY`.
//! - **Cost.** One hash and one comparison per shingle, and O(k log k·log(n/k)) for the values that are kept on the
//!   way; 8k bytes per sketch.
//! - **Error.** The estimate is unbiased. Its variance is J(1−J)/k·(u−k)/(u−1) for u = |A∪B| > k. If u ≤ k and both
//!   sets have fewer than k shingles, the estimate is exact. The tests in this file check the variance.
//! - **Differs.** Values have 64 bits, so that accidental agreement does not happen. Whole values are compared, not the
//!   "first log₂ k bits" (E-11).
//! - **Vectors.** Another program computed the worked example and the variances.
//!
//! - **Use when** pairs are compared one by one. Bottom-k has the lowest variance for a given number of values. It
//!   counts distinct shingles, and two sketches merge into the sketch of the union.
//! - **Do not** band it or take bits from it, because values at the same index of two sketches are not comparable.

use crate::error::Error;
use crate::estimate::{self, CountEstimate, Estimate};
use crate::hash::{SplitMix64, fmix64};

use super::Sketcher;
use super::minhash::EMPTY;

/// Value that marks a missing value of a sketch. Hash values are limited to less than it.
const MISSING: u64 = u64::MAX;

/// Makes sketches of the k least values of one hash function.
#[derive(Debug, Clone)]
pub struct BottomK {
    seed: u64,
    values: usize,
}

impl BottomK {
    /// Makes a sketcher that keeps `values` values (k); `seed` chooses the hash function.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) unless `values` is from 1 to 65,536.
    pub fn new(values: usize, seed: u64) -> Result<Self, Error> {
        if !(1..=1 << 16).contains(&values) {
            return Err(Error::out_of_range("the number of bottom-k values", values, "from 1 to 65,536"));
        }
        Ok(Self { seed: SplitMix64::new(seed).next_u64(), values })
    }

    /// Returns the values of a sketch in ascending order.
    pub fn values(sketch: &[u32]) -> impl Iterator<Item = u64> {
        let (pairs, _) = sketch.as_chunks::<2>();
        pairs
            .iter()
            .map(|&[upper, lower]| (upper as u64) << 32 | lower as u64)
            .take_while(|&value| value != MISSING)
    }

    /// Returns the number of distinct shingles of the sketched document: exact if it is less than k, otherwise
    /// estimated.
    #[must_use]
    pub fn cardinality(&self, sketch: &[u32]) -> f64 {
        let (held, greatest) = Self::values(sketch).fold((0, 0), |(held, _), value| (held + 1, value));
        if held < self.values || held == 1 {
            return held as f64;
        }
        estimate::bottom_k::cardinality(held, greatest)
    }

    /// Returns the number of distinct shingles with its error. If there are fewer than k shingles, the error is 0. The
    /// value of k must be at least 3.
    pub(crate) fn count(&self, sketch: &[u32]) -> CountEstimate {
        let (held, greatest) = Self::values(sketch).fold((0, 0), |(held, _), value| (held + 1, value));
        if held < self.values {
            return CountEstimate::exact(held);
        }
        // The k-th least of n uniform values in 0 to 1 is nearly a sum of k exponential times of rate n.
        CountEstimate::of_exponential_sum((greatest as f64 + 1.0) / 2f64.powi(64), held)
    }

    fn store(&self, values: &[u64], out: &mut [u32]) {
        assert_eq!(out.len(), self.words(), "two words per value");
        out.fill(EMPTY);
        let (pairs, _) = out.as_chunks_mut::<2>();
        for (pair, &value) in pairs.iter_mut().zip(values) {
            *pair = [(value >> 32) as u32, value as u32];
        }
    }
}

/// Sorts the values, removes repeats, and keeps the `k` least ones.
fn keep_least(values: &mut Vec<u64>, k: usize) {
    values.sort_unstable();
    values.dedup();
    values.truncate(k);
}

impl super::sealed::Sealed for BottomK {}

impl Sketcher for BottomK {
    fn words(&self) -> usize {
        2 * self.values
    }

    fn sketch_into(&self, shingles: &[u64], out: &mut [u32]) {
        // Values below `limit` are collected until there are 2k. The k least values then stay, and `limit` falls to the
        // greatest of them, so that fewer and fewer values are collected.
        let k = self.values;
        let room = (2 * k).max(64);
        let mut least: Vec<u64> = Vec::with_capacity(room.min(shingles.len()));
        let mut limit = MISSING;
        for &shingle in shingles {
            let value = fmix64(shingle ^ self.seed).min(MISSING - 1);
            if value < limit {
                if least.len() == room {
                    keep_least(&mut least, k);
                    limit = least.get(k - 1).copied().unwrap_or(MISSING);
                }
                least.push(value);
            }
        }
        keep_least(&mut least, k);
        self.store(&least, out);
    }

    fn merge_into(&self, a: &[u32], b: &[u32], out: &mut [u32]) -> bool {
        let mut all: Vec<u64> = Self::values(a).chain(Self::values(b)).collect();
        keep_least(&mut all, self.values);
        self.store(&all, out);
        true
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> Estimate {
        assert!(a.len() == self.words() && b.len() == self.words(), "sketches of this sketcher");
        estimate::bottom_k::estimate(estimate::bottom_k::count(Self::values(a), Self::values(b), self.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::trials::{check, check_laws, check_merge, sets, sketch};

    #[test]
    fn laws_of_sketches() {
        for values in [1, 2, 64, 100] {
            let sketcher = BottomK::new(values, 1).unwrap();
            check_laws(&sketcher);
            check_merge(&sketcher);
        }
    }

    #[test]
    fn the_least_values_in_order() {
        let sketcher = BottomK::new(10, 3).unwrap();
        let shingles: Vec<u64> = (0..5000).flat_map(|id| [id, id / 3]).collect();
        let mut expected: Vec<u64> = (0..5000).map(|id: u64| fmix64(id ^ sketcher.seed)).collect();
        expected.sort_unstable();
        assert!(BottomK::values(&sketch(&sketcher, &shingles)).eq(expected[..10].iter().copied()));
    }

    #[test]
    fn small_sets_are_compared_exactly() {
        let sketcher = BottomK::new(64, 1).unwrap();
        let (a, b) = sets(40, 30);
        let estimate = sketcher.estimate(&sketch(&sketcher, &a), &sketch(&sketcher, &b));
        assert_eq!((estimate.value, estimate.standard_error, estimate.interval), (0.75, 0.0, (0.75, 0.75)));
        assert_eq!(sketcher.cardinality(&sketch(&sketcher, &a)), 35.0);
        assert_eq!(sketcher.cardinality(&sketch(&sketcher, &[])), 0.0);
    }

    #[test]
    fn distinct_shingles_are_counted() {
        let shingles: Vec<u64> = (0..1000).collect();
        let (trials, k) = (2000, 100);
        let sum: f64 = (0..trials)
            .map(|seed| {
                let sketcher = BottomK::new(k, seed).unwrap();
                sketcher.cardinality(&sketch(&sketcher, &shingles))
            })
            .sum();
        let mean = sum / trials as f64;
        // The estimate is unbiased with a variance of at most n²/(k−2).
        assert!((mean - 1000.0).abs() <= 4.0 * 1000.0 / ((k as f64 - 2.0) * trials as f64).sqrt(), "{mean}");
    }

    #[test]
    fn unbiased_with_the_variance_of_the_formula() {
        for (union, common, k) in [(200, 100, 64), (200, 160, 64), (1000, 500, 128), (80, 40, 64)] {
            let variance = estimate::bottom_k::variance(union as usize, common as usize, k);
            check(4000, (union, common), variance, |seed| BottomK::new(k, seed).unwrap());
        }
    }

    #[test]
    fn the_number_of_values_is_checked() {
        for wrong in [0, 65537] {
            assert!(BottomK::new(wrong, 1).unwrap_err().to_string().contains("from 1 to 65,536"));
        }
    }
}
