//! `SetSketch` sketches: each register is the logarithm of a minimum.
//!
//! - **Paper.** Ertl, *`SetSketch`: Filling the Gap between `MinHash` and `HyperLogLog`*, PVLDB 2021, arXiv:2101.00314,
//!   `SetSketch1`, sections 2 and 3.
//! - **Idea.** A register keeps the logarithm of a minimum, to a base b: with b near 1 the register is nearly the
//!   minimum itself; with b = 2 it is a register of `HyperLogLog`. The order of two registers also depends on the
//!   similarity, so few bits lose little.
//! - **Symbols.** m → `registers`; a, b, q → [`RATE`], `base`, `limit`; Kᵢ → a word; D⁺, D⁻, D₀ → registers that are larger,
//!   smaller and equal.
//! - **Formula.** `Kᵢ = max ⌊1 − log_b hᵢ(d)⌋` over the members d, from 0 to q + 1. The m numbers hᵢ(d) are exponential
//!   of rate a. They are generated in ascending order by their spacings, at places of a random permutation.
//! - **Cost.** about n + m ln m numbers for n members; m·log₂(q + 2)/8 bytes.
//! - **Error.** n̂ = m(1 − 1/b)/(a·ln b·Σb^(−Kᵢ)). Ĵ maximises D⁺·ln p(u − vJ) + D⁻·ln p(v − uJ) + D₀·ln(1 − p(u − vJ)
//!   − p(v − uJ)) with `p(x) = −log_b(1 − x(b − 1)/b)` and `u = n̂_A/(n̂_A + n̂_B) = 1 − v`; its variance tends to the
//!   inverse of the Fisher information, [`SetSketch::variance`], if the sizes are known. If the sizes are estimated, Ĵ
//!   is at most their ratio: at J = 0.95 and 256 registers the mean is 0.0035 too low, a quarter of the standard error.
//! - **Differs.** The paper recommends 16 bits, b = 1.001 and q = 65,534 for a similarity near that of `MinHash`, and b
//!   = 2 to count. [`SetSketch::of_16_bits`] follows the first recommendation; [`SetSketch::of_8_bits`] has b = 1.08
//!   and q = 254, for up to 10⁷ members, and [`SetSketch::of_6_bits`] has b = 1.3 and q = 62, for up to 10⁵.

use super::{BeyondSketch, below, exponential, sequence};

/// Rate a of the exponential numbers. The rate is large, so that small sets give registers above 0.
pub const RATE: f64 = 20.0;

/// Makes `SetSketch` sketches.
#[derive(Debug, Clone)]
pub struct SetSketch {
    registers: usize,
    bits: usize,
    /// Base b of the logarithms.
    base: f64,
    /// Limit q: registers are from 0 to q + 1.
    limit: u32,
    seed: u64,
}

impl SetSketch {
    /// Returns a maker of sketches with this many registers of 6 bits.
    #[must_use]
    pub fn of_6_bits(registers: usize, seed: u64) -> Self {
        Self { registers, bits: 6, base: 1.3, limit: 62, seed }
    }

    /// Returns a maker of sketches with this many registers of 8 bits.
    #[must_use]
    pub fn of_8_bits(registers: usize, seed: u64) -> Self {
        Self { registers, bits: 8, base: 1.08, limit: 254, seed }
    }

    /// Returns a maker of sketches with this many registers of 16 bits.
    #[must_use]
    pub fn of_16_bits(registers: usize, seed: u64) -> Self {
        Self { registers, bits: 16, base: 1.001, limit: 65_534, seed }
    }

    /// Estimates the number of members of a sketched set.
    #[must_use]
    pub fn count(&self, sketch: &[u32]) -> f64 {
        let base = self.base;
        let sum: f64 = sketch.iter().map(|&value| base.powi(-value.cast_signed())).sum();
        self.registers as f64 * (1.0 - 1.0 / base) / (RATE * base.ln() * sum)
    }

    /// Estimates the similarity of sets of these sizes, by maximum likelihood.
    #[must_use]
    pub fn estimate_of(&self, a: &[u32], b: &[u32], [size_a, size_b]: [f64; 2]) -> f64 {
        let count = |of: fn(u32, u32) -> bool| a.iter().zip(b).filter(|(a, b)| of(**a, **b)).count() as f64;
        let (larger, smaller) = (count(|a, b| a > b), count(|a, b| a < b));
        let equal = a.len() as f64 - larger - smaller;
        let u = size_a / (size_a + size_b);
        let term = |count: f64, p: f64| if count == 0.0 { 0.0 } else { count * p.ln() };
        let likelihood = |j: f64| {
            let (above, under) = self.probabilities(u, j);
            term(larger, above) + term(smaller, under) + term(equal, 1.0 - above - under)
        };
        // The likelihood has one maximum, so a ternary search finds it. No similarity exceeds the ratio of the sizes.
        let (mut low, mut high) = (0.0, (u / (1.0 - u)).min((1.0 - u) / u));
        for _ in 0..80 {
            let third = (high - low) / 3.0;
            if likelihood(low + third) < likelihood(high - third) {
                low += third;
            } else {
                high -= third;
            }
        }
        f64::midpoint(low, high)
    }

    /// Returns the inverse of the Fisher information of sets of equal size.
    #[must_use]
    pub fn variance(&self, similarity: f64) -> f64 {
        let (above, _) = self.probabilities(0.5, similarity);
        let (x, base) = (0.5 - 0.5 * similarity, self.base);
        let slope = 0.5 * (base - 1.0) / base / (base.ln() * (1.0 - x * (base - 1.0) / base));
        let information = 2.0 * slope * slope / above + 4.0 * slope * slope / (1.0 - 2.0 * above);
        1.0 / (self.registers as f64 * information)
    }

    /// Returns the probability that a register of the first set is larger, and the probability that it is smaller. `u`
    /// is the share of the first set in the sum of both sizes.
    fn probabilities(&self, u: f64, similarity: f64) -> (f64, f64) {
        let (v, base) = (1.0 - u, self.base);
        let p = |x: f64| -(-x.max(0.0) * (base - 1.0) / base).ln_1p() / base.ln();
        (p(u - v * similarity), p(v - u * similarity))
    }
}

impl BeyondSketch for SetSketch {
    fn bytes(&self) -> usize {
        (self.registers * self.bits).div_ceil(8)
    }

    fn sketch(&self, shingles: &[u64]) -> Vec<u32> {
        let (m, scale, most) = (self.registers, self.base.ln(), f64::from(self.limit + 1));
        let mut registers = vec![0; m];
        let mut order: Vec<usize> = (0..m).collect();
        let mut swaps = vec![];
        // `least` is a lower bound on all registers. The levels of a shingle descend, so if one is at most `least`, no
        // later one changes a register.
        let mut least = 0;
        for (number, &shingle) in shingles.iter().enumerate() {
            let mut sequence = sequence(self.seed, shingle);
            let mut value = 0.0;
            for step in 0..m {
                value += exponential(&mut sequence) / (RATE * (m - step) as f64);
                let level = (1.0 - value.ln() / scale).floor().clamp(0.0, most) as u32;
                if level <= least {
                    break;
                }
                let other = step + below(&mut sequence, m - step);
                order.swap(step, other);
                swaps.push((step, other));
                let register = &mut registers[order[step]];
                *register = level.max(*register);
            }
            // The swaps are undone, because every shingle begins with the same order.
            for (step, other) in swaps.drain(..).rev() {
                order.swap(step, other);
            }
            // Updating `least` costs m steps. The updates become rarer, because the least register rises more slowly.
            if (number + 1).is_power_of_two() || (number + 1) % (4 * m) == 0 {
                least = registers.iter().copied().min().unwrap_or(0);
            }
        }
        registers
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

    /// Sketch whose estimate uses the known sizes of the two sets.
    struct OfKnownSizes(SetSketch, [f64; 2]);

    impl BeyondSketch for OfKnownSizes {
        fn bytes(&self) -> usize {
            self.0.bytes()
        }

        fn sketch(&self, shingles: &[u64]) -> Vec<u32> {
            self.0.sketch(shingles)
        }

        fn estimate(&self, a: &[u32], b: &[u32]) -> f64 {
            self.0.estimate_of(a, b, self.1)
        }
    }

    /// All kinds, as functions of the number of registers and the seed.
    const KINDS: [fn(usize, u64) -> SetSketch; 3] =
        [SetSketch::of_6_bits, SetSketch::of_8_bits, SetSketch::of_16_bits];

    /// As m grows, the variance tends to the inverse of the Fisher information. At 256 registers, they differ by some
    /// per cent.
    #[test]
    fn mean_and_variance_are_those_of_the_likelihood() {
        for kind in KINDS {
            for (union, common) in [(1000, 800), (1000, 400), (2000, 1900)] {
                let j = f64::from(common) / f64::from(union);
                let size = f64::from(common) + f64::from(union - common) / 2.0;
                let make = |seed| OfKnownSizes(kind(256, seed), [size, size]);
                let found = trials(make, union as usize, common as usize, 1000);
                follows(found, 1000, j, kind(256, 0).variance(j), 0.05);
            }
        }
    }

    /// Estimated sizes lower the mean near similarity 1 and add little to the error.
    #[test]
    fn estimated_sizes_cost_little() {
        for kind in KINDS {
            for (union, common) in [(1000, 400), (2000, 1900)] {
                let j = f64::from(common) / f64::from(union);
                let found = trials(|seed| kind(256, seed), union as usize, common as usize, 1000);
                let variance = kind(256, 0).variance(j);
                let square = found.variance + (found.mean - j).powi(2);
                assert!(square <= 1.2 * variance + 5.0 * found.variance_error, "{j}: {found:?}, {variance}");
                assert!((found.mean - j).abs() <= 0.35 * variance.sqrt(), "{j}: {found:?}");
            }
        }
    }

    /// As b tends to 1, the variance tends to that of `MinHash`. With 16 bits, it is within a thousandth.
    #[test]
    fn registers_of_16_bits_estimate_as_whole_ones() {
        for j in [0.5, 0.8, 0.95] {
            let [six, eight, sixteen] = KINDS.map(|kind| kind(256, 0).variance(j) / (j * (1.0 - j) / 256.0));
            assert!((sixteen - 1.0).abs() < 1e-3, "{j}: {sixteen}");
            assert!(six > eight && eight > 1.03, "{j}: {six} {eight}");
        }
        assert_eq!(KINDS.map(|kind| kind(64, 0).bytes()), [48, 64, 128]);
    }

    #[test]
    fn sizes_are_counted() {
        for kind in KINDS {
            for size in [10_u64, 1000, 20_000] {
                let counts: Vec<f64> = (0..200)
                    .map(|seed| {
                        let sketch = kind(256, seed);
                        sketch.count(&sketch.sketch(&(0..size).collect::<Vec<u64>>())) / size as f64
                    })
                    .collect();
                let found = TrialStatistics::of(&counts);
                // The relative error is √(((b + 1)/(b − 1)·ln b − 1)/m), and its square is the bias.
                let base = kind(256, 0).base;
                let variance = ((base + 1.0) / (base - 1.0) * base.ln() - 1.0) / 256.0;
                let error = (variance / 200.0).sqrt();
                assert!((found.mean - 1.0 - variance).abs() <= 5.0 * error, "{size}: {found:?}");
                assert!((found.variance - variance).abs() <= 5.0 * found.variance_error, "{size}: {found:?}");
            }
        }
    }
}
