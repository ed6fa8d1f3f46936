//! `HyperMinHash` sketches: buckets with the minimum as a short floating-point number.
//!
//! - **Paper.** Yu and Weber, *`HyperMinHash`: `MinHash` in `LogLog` space*, IEEE TKDE 2020, arXiv:1710.08436, algorithms 1, 4 and 5.
//! - **Idea.** One hash function puts a member into a bucket. A bucket keeps its least value as a floating-point number
//!   of few bits: the number of leading zeros, and some bits after the first one.
//! - **Symbols.** 2ᵖ → `buckets`; q → `exponent_bits`; r → `mantissa_bits`.
//! - **Formula.** A member has two numbers of its sequence: the first gives the bucket by its upper bits, the second is
//!   the value y. The exponent is one more than the leading zeros of y, at most 2^q; the mantissa is the r bits after
//!   the first one bit, or after 2^q − 1 zeros. A word has the exponent in its upper bits, in descending order, and the
//!   mantissa in its lower bits, so that a smaller word is a smaller value; a bucket without members has the word
//!   [`EMPTY`].
//! - **Cost.** one value per member; 2ᵖ(q + r)/8 bytes.
//! - **Error.** Ĵ = (C − E)/(N − E): C buckets agree, N have a member of either set, and E is the expected number of
//!   buckets in which disjoint sets agree by accident, `accidents`. Unbiased except for the error of E, with a variance
//!   of about J(1−J)/N while accidents are few.
//! - **Differs.** the paper divides by N, although a bucket whose least value is common cannot agree by accident. The
//!   sizes that E needs are estimated from empty buckets if there are many, and otherwise from the mean of the least
//!   values; the paper takes them from `HyperLogLog`.

use super::{BeyondSketch, sequence};

/// Word of a bucket without members.
const EMPTY: u32 = u32::MAX;

/// Makes `HyperMinHash` sketches.
#[derive(Debug, Clone)]
pub struct HyperMinHash {
    buckets: usize,
    exponent_bits: u32,
    mantissa_bits: u32,
    seed: u64,
}

impl HyperMinHash {
    /// Returns a maker of sketches with this many buckets, exponent bits (at most 6) and mantissa bits (at most 20).
    ///
    /// # Panics
    /// Panics if `buckets` is not a power of two above 1.
    #[must_use]
    pub fn new(buckets: usize, exponent_bits: u32, mantissa_bits: u32, seed: u64) -> Self {
        assert!(buckets.is_power_of_two() && buckets > 1, "buckets are the values of some bits");
        Self { buckets, exponent_bits, mantissa_bits, seed }
    }

    /// Returns the largest exponent. Values with this exponent have no leading one bit.
    fn last(&self) -> u32 {
        1 << self.exponent_bits
    }

    fn word(&self, value: u64) -> u32 {
        let zeros = value.leading_zeros().min(self.last() - 1);
        // The first one bit is implied, so it is not stored. At the largest exponent it may be missing, so all bits are
        // stored.
        let behind = if zeros + 1 < self.last() { zeros + 1 } else { zeros };
        let mantissa = (value << behind.min(63)) >> (64 - self.mantissa_bits);
        ((self.last() - 1 - zeros) << self.mantissa_bits) | mantissa as u32
    }

    /// Returns the bounds of the values that a word stands for, as fractions of the range of values.
    fn ends(&self, word: u32) -> (f64, f64) {
        let zeros = self.last() - 1 - (word >> self.mantissa_bits);
        let steps = f64::from(1_u32 << self.mantissa_bits);
        let mantissa = f64::from(word & ((1 << self.mantissa_bits) - 1));
        let scale = 0.5_f64.powi(zeros.cast_signed());
        if zeros + 1 < self.last() {
            let at = |mantissa: f64| scale / 2.0 * (1.0 + mantissa / steps);
            (at(mantissa), at(mantissa + 1.0))
        } else {
            (scale * mantissa / steps, scale * (mantissa + 1.0) / steps)
        }
    }

    /// Estimates the number of members of a sketched set.
    #[must_use]
    pub fn count(&self, sketch: &[u32]) -> f64 {
        let m = self.buckets as f64;
        let empty = sketch.iter().filter(|&&word| word == EMPTY).count() as f64;
        if empty > 0.3 * m {
            // A bucket stays empty with probability e^(−n/m).
            return -m * (empty / m).ln();
        }
        let middle = |&word: &u32| {
            if word == EMPTY {
                return 1.0;
            }
            let (low, high) = self.ends(word);
            f64::midpoint(low, high)
        };
        let mean = sketch.iter().map(middle).sum::<f64>() / m;
        // The value of a bucket is the least of its uniform numbers, or 1 if there are none. With λ numbers on average,
        // its mean is (1 − e^(−λ))/λ.
        let expected = |load: f64| -(-load).exp_m1() / load;
        let (mut low, mut high) = (1e-3, 1e15);
        for _ in 0..200 {
            let load = f64::midpoint(low, high);
            if expected(load) > mean {
                low = load;
            } else {
                high = load;
            }
        }
        m * low
    }

    /// Returns the expected number of buckets in which disjoint sets of these sizes agree.
    ///
    /// A word stands for the values from b₁ to b₂. A bucket of a set with n members has this word with probability
    /// (1 − b₁/2ᵖ)ⁿ − (1 − b₂/2ᵖ)ⁿ.
    #[must_use]
    pub fn accidents(&self, sizes: [f64; 2]) -> f64 {
        let m = self.buckets as f64;
        let beyond = |size: f64, end: f64| (size * (-end / m).ln_1p()).exp();
        let words = self.last() << self.mantissa_bits;
        let of = |word: u32| {
            let (low, high) = self.ends(word);
            sizes.map(|size| beyond(size, low) - beyond(size, high)).iter().product::<f64>()
        };
        m * (0..words).map(of).sum::<f64>()
    }

    /// Estimates the similarity of sets of these sizes.
    #[must_use]
    pub fn estimate_of(&self, a: &[u32], b: &[u32], sizes: [f64; 2]) -> f64 {
        let (mut equal, mut filled) = (0.0, 0.0);
        for (&a, &b) in a.iter().zip(b) {
            filled += f64::from(u8::from(a != EMPTY || b != EMPTY));
            equal += f64::from(u8::from(a == b && a != EMPTY));
        }
        if equal == filled {
            return 1.0;
        }
        // If the least value of a bucket is a common member, the bucket agrees anyway. Only the other buckets, a share
        // of 1 − J, can agree by accident, so C = NJ + E(1 − J).
        let accidents = self.accidents(sizes).min(0.99 * filled);
        ((equal - accidents) / (filled - accidents)).clamp(0.0, 1.0)
    }
}

impl BeyondSketch for HyperMinHash {
    fn bytes(&self) -> usize {
        self.buckets * (self.exponent_bits + self.mantissa_bits) as usize / 8
    }

    fn sketch(&self, shingles: &[u64]) -> Vec<u32> {
        let bits = self.buckets.trailing_zeros();
        let mut words = vec![EMPTY; self.buckets];
        for &shingle in shingles {
            let mut sequence = sequence(self.seed, shingle);
            let bucket = (sequence.next_u64() >> (64 - bits)) as usize;
            words[bucket] = words[bucket].min(self.word(sequence.next_u64()));
        }
        words
    }

    fn estimate(&self, a: &[u32], b: &[u32]) -> f64 {
        self.estimate_of(a, b, [self.count(a), self.count(b)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{follows, trials};
    use super::*;
    use crate::measure::TrialStatistics;

    #[test]
    fn words_are_in_the_order_of_values_and_cells_hold_them() {
        for (exponent, mantissa) in [(4, 4), (6, 10)] {
            let sketch = HyperMinHash::new(16, exponent, mantissa, 1);
            let mut before = 0;
            for step in 0..64 {
                for value in [1_u64 << step, (1 << step) | (1 << step >> 1), (1 << step) + ((1 << step) - 1)]
                {
                    let word = sketch.word(value);
                    assert!(word >= before, "{value:x}");
                    before = word;
                    let (low, high) = sketch.ends(word);
                    let share = value as f64 / 2_f64.powi(64);
                    assert!(low <= share && share <= high, "{value:x}: {low} {share} {high}");
                }
            }
            assert_eq!(sketch.word(0), 0);
        }
    }

    /// Disjoint sets agree as often as `accidents` expects, in buckets of eight bits, in which accidents are frequent.
    #[test]
    fn accidents_are_as_many_as_expected() {
        const TRIALS: u64 = 2000;
        for (n, m) in [(500_u64, 500_u64), (2000, 300)] {
            let agreeing: Vec<f64> = (0..TRIALS)
                .map(|seed| {
                    let sketch = HyperMinHash::new(64, 4, 4, seed);
                    let a = sketch.sketch(&(0..n).collect::<Vec<_>>());
                    let b = sketch.sketch(&(n..n + m).collect::<Vec<_>>());
                    a.iter().zip(&b).filter(|(a, b)| a == b && **a != EMPTY).count() as f64
                })
                .collect();
            let found = TrialStatistics::of(&agreeing);
            let expected = HyperMinHash::new(64, 4, 4, 0).accidents([n as f64, m as f64]);
            let error = (found.variance / TRIALS as f64).sqrt();
            assert!((found.mean - expected).abs() <= 5.0 * error, "{found:?}: {expected}");
            // With 0.1 accidents per trial, all trials together have hundreds.
            assert!(expected > 0.1, "{expected}");
        }
    }

    /// The expected variance is that of C over (N − E)², where C is a binomial count of probability J + (1 − J)·E/N.
    #[test]
    fn mean_and_variance_are_those_of_buckets_that_agree() {
        for (exponent, mantissa) in [(4, 4), (6, 10)] {
            for (union, common) in [(2000, 1600), (2000, 800), (4000, 3800)] {
                let j = f64::from(common) / f64::from(union);
                let make = |seed| HyperMinHash::new(128, exponent, mantissa, seed);
                let found = trials(make, union as usize, common as usize, 1500);
                let size = f64::from(common) + f64::from(union - common) / 2.0;
                let by_accident = make(0).accidents([size, size]) / 128.0;
                let p = j + (1.0 - j) * by_accident;
                // Members are drawn without replacement, which lowers the variance by at most the share 128/|A∪B|.
                let variance = p * (1.0 - p) / (128.0 * (1.0 - by_accident).powi(2));
                follows(found, 1500, j, variance, 128.0 / f64::from(union));
            }
        }
    }

    #[test]
    fn sizes_are_counted() {
        for size in [40_u64, 1000, 20_000] {
            let counts: Vec<f64> = (0..300)
                .map(|seed| {
                    let sketch = HyperMinHash::new(256, 6, 10, seed);
                    sketch.count(&sketch.sketch(&(0..size).collect::<Vec<u64>>())) / size as f64
                })
                .collect();
            let found = TrialStatistics::of(&counts);
            // The mean of 256 exponential numbers has a relative error of 1/16, and its inverse has a bias of 1/256.
            // With fewer members, the mean scatters less.
            assert!(
                (found.mean - 1.0).abs() <= 5.0 * (found.variance / 300.0).sqrt() + 1.0 / 256.0,
                "{size}: {found:?}"
            );
            assert!(found.variance <= 1.0 / 256.0 + 5.0 * found.variance_error, "{size}: {found:?}");
        }
    }
}
