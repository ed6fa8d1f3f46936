//! The estimator of [`BBit`](crate::sketch::b_bit::BBit) and of [`BitHash`](crate::sketch::bit_hash::BitHash), and the
//! functions that all estimators of bit sketches share.
//!
//! Two registers agree in b bits if they are equal, or by accident. In these formulas, fⱼ is the size of set j, D the
//! size of the range of the permutation, and rⱼ = fⱼ/D:
//! ```text
//! Aⱼ  = rⱼ(1−rⱼ)^(2ᵇ−1) / (1 − (1−rⱼ)^(2ᵇ))
//! C₁  = A₁·r₂/(r₁+r₂) + A₂·r₁/(r₁+r₂)        C₂ = A₁·r₁/(r₁+r₂) + A₂·r₂/(r₁+r₂)
//! E_b = C₁ + (1−C₂)·R                        R̂  = (Ê_b − C₁)/(1 − C₂)
//! Var = E_b(1−E_b) / (k(1−C₂)²)              B  = b·k·Var
//! ```
//!
//! R̂ is unbiased until it is clamped. As r → 0, and for every mixed register, C₁ = C₂ = 2⁻ᵇ and Var = (1−R)(R +
//! 1/(2ᵇ−1))/k. As printed in Yuan 2012, (8), A is 0/0 at r = 0 and loses its digits by cancellation below r = 10⁻¹²,
//! so it is computed by `ln_1p` and `exp_m1` (E-27).

use std::f64::consts::FRAC_1_SQRT_2;

use super::{Estimate, Z_95, wilson_interval};

/// Probabilities C₁ and C₂, which describe agreement by accident.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct Chance {
    /// C₁: probability of agreement at similarity 0.
    pub c1: f64,
    /// C₂: 1 − C₂ is the growth of the probability of agreement between similarity 0 and 1.
    pub c2: f64,
}

impl Chance {
    /// Returns C₁ = C₂ = 2⁻ᵇ, which holds for small sets in a large range, and for mixed bits.
    #[must_use]
    pub fn sparse(bits: u32) -> Self {
        let accident = accidental_agreement(0.0, bits);
        Self { c1: accident, c2: accident }
    }

    /// Returns C₁ and C₂ for minima that are ranks in a range. `r1` and `r2` are the sizes of the two sets as shares of
    /// the range.
    #[must_use]
    pub fn known(bits: u32, r1: f64, r2: f64) -> Self {
        let (a1, a2) = (accidental_agreement(r1, bits), accidental_agreement(r2, bits));
        let total = r1 + r2;
        if total <= 0.0 {
            return Self::sparse(bits);
        }
        let (w1, w2) = (r1 / total, r2 / total);
        Self { c1: a1 * w2 + a2 * w1, c2: a1 * w1 + a2 * w2 }
    }

    /// Returns E: the probability that two registers agree in all their bits.
    #[must_use]
    pub fn match_probability(self, similarity: f64) -> f64 {
        self.c1 + (1.0 - self.c2) * similarity
    }

    /// Returns R̂: the similarity at which `share` of the registers is expected to agree. The result is not clamped.
    #[must_use]
    pub fn similarity(self, share: f64) -> f64 {
        (share - self.c1) / (1.0 - self.c2)
    }
}

/// Returns A: the probability that the minimum of a set agrees in its b lowest bits with an earlier rank. `r` is the
/// size of the set as a share of the range.
#[must_use]
pub fn accidental_agreement(r: f64, bits: u32) -> f64 {
    let values = f64::from(bits).exp2();
    if r <= 0.0 {
        return values.recip();
    }
    let log = (-r.min(1.0)).ln_1p();
    r * ((values - 1.0) * log).exp() / -(values * log).exp_m1()
}

/// Returns the variance of R̂ over k registers at similarity `similarity`.
#[must_use]
pub fn variance(similarity: f64, registers: usize, chance: Chance) -> f64 {
    let probability = chance.match_probability(similarity);
    probability * (1.0 - probability) / (registers as f64 * (1.0 - chance.c2).powi(2))
}

/// Returns B: the variance of R̂ times the stored bits. A sketch with a smaller B uses its bits better.
#[must_use]
pub fn storage_factor(similarity: f64, bits: u32, chance: Chance) -> f64 {
    f64::from(bits) * variance(similarity, 1, chance)
}

/// Returns the b from 1 to 16 with the smallest storage factor for mixed registers: 1 if R is above 1/3, 2 above 5/21,
/// 3 above 17/105 and so on. [Yuan 2012](crate#sources), §3, puts the first bound at "about 0.4" (E-26).
#[must_use]
pub fn best_bits(similarity: f64) -> u32 {
    let factor = |bits| storage_factor(similarity, bits, Chance::sparse(bits));
    (2..=16).fold(1, |best, bits| if factor(bits) < factor(best) { bits } else { best })
}

/// Estimates the similarity of two documents, given that `matches` of their k registers agree in all their bits.
///
/// The standard error is computed at the share (m + ½)/(k + 1), and the interval is Wilson's for m, transformed by R̂.
/// If there are fewer matches than accident alone would give on average, error and interval are computed at this
/// average.
///
/// # Panics
/// Panics if there are no registers or more matches than registers.
#[must_use]
pub fn estimate(matches: usize, registers: usize, chance: Chance) -> Estimate {
    let spread = |similarity| variance(similarity, registers, chance);
    linear(matches, registers, chance.c1, |share| chance.similarity(share), spread)
}

/// Returns R̂ = 1 − 2d/k from the Hamming distance d of two sketches with one bit per register, not clamped.
#[must_use]
pub fn hamming_similarity(distance: usize, registers: usize) -> f64 {
    1.0 - 2.0 * distance as f64 / registers as f64
}

/// Returns the variance of [`hamming_similarity`]: (1−J)(1+J)/k.
#[must_use]
pub fn hamming_variance(similarity: f64, registers: usize) -> f64 {
    (1.0 - similarity) * (1.0 + similarity) / registers as f64
}

/// Estimates the similarity from a Hamming distance d, as [`estimate`] does with one bit and k − d matches.
///
/// # Panics
/// Panics if there are no registers or if the distance exceeds the number of registers.
#[must_use]
pub fn hamming_estimate(distance: usize, registers: usize) -> Estimate {
    assert!(distance <= registers, "at most every register differs");
    let similarity = |share: f64| 2.0 * share - 1.0;
    let spread = |similarity| hamming_variance(similarity, registers);
    Estimate {
        value: hamming_similarity(distance, registers).clamp(0.0, 1.0),
        ..linear(registers - distance, registers, 0.5, similarity, spread)
    }
}

/// Returns the share (m + ½)/(k + 1) for m of k trials. This share is neither 0 nor 1.
pub(super) fn inside(matches: f64, trials: f64) -> f64 {
    (matches + 0.5) / (trials + 1.0)
}

/// Estimates the similarity from m of k trials, by an estimator that is linear in m. `variance` is a function of the
/// similarity.
///
/// `floor` is the share at similarity 0. A smaller share gives no more information than the floor itself, so error and
/// interval are computed at the floor, and the interval never becomes a single point at 0.
pub(super) fn linear(
    matches: usize,
    trials: usize,
    floor: f64,
    similarity: impl Fn(f64) -> f64,
    variance: impl Fn(f64) -> f64,
) -> Estimate {
    assert!(0 < trials && matches <= trials, "{matches} of {trials} registers cannot agree");
    let k = trials as f64;
    let m = (matches as f64).max(floor * k);
    let (low, high) = wilson_interval(m, k);
    Estimate {
        value: similarity(matches as f64 / k).clamp(0.0, 1.0),
        standard_error: variance(similarity(inside(m, k))).sqrt(),
        interval: (similarity(low).clamp(0.0, 1.0), similarity(high).clamp(0.0, 1.0)),
    }
}

/// Estimates the similarity from m of k trials, by a curved estimator, whose slope grows without bound as the share
/// falls.
///
/// `floor` is the share at similarity 0, as in [`linear`].
pub(super) fn curved(
    matches: usize,
    trials: usize,
    floor: f64,
    similarity: impl Fn(f64) -> f64,
    variance: impl Fn(f64) -> f64,
) -> Estimate {
    assert!(0 < trials && matches <= trials, "{matches} of {trials} bits cannot agree");
    let k = trials as f64;
    let m = (matches as f64).max(floor * k);
    let (low, high) = wilson_interval(m, k);
    let interval = (similarity(low).clamp(0.0, 1.0), similarity(high).clamp(0.0, 1.0));
    let above_floor = floor + (floor * (1.0 - floor) / k).sqrt();
    Estimate {
        value: similarity(matches as f64 / k).clamp(0.0, 1.0),
        standard_error: bounded(variance(similarity(inside(m, k))), interval, similarity(above_floor)),
        interval,
    }
}

/// Returns the standard error of a curved estimator, from its variance (by the delta method) and its interval.
///
/// Where the slope of the estimator is steep, the delta method gives too large an error. The standard error is
/// therefore at most (high − low)/(2·1.96), half the width of the 95 % interval in standard errors. An interval that
/// begins at 0 is cut off at 0: only its upper side is left, so the divisor is 1.96. Its documents may share nothing.
/// Half of the estimates of documents that share nothing are clamped to 0, and half lie above 0. A count that is one
/// standard deviation above its mean gives the estimate `above_zero`. For a linear estimator the root mean square is
/// then `above_zero`/√2. For a curved estimator the root mean square is smaller (Jensen). The reported error is
/// therefore at least `above_zero`/√2, which is never too small.
pub(super) fn bounded(variance: f64, (low, high): (f64, f64), above_zero: f64) -> f64 {
    let sides = if low > 0.0 { 2.0 } else { 1.0 };
    // If the slope is infinite, the variance is NaN, which `min` ignores.
    let error = ((high - low) / (sides * Z_95)).min(variance.sqrt());
    if low > 0.0 { error } else { error.max(above_zero.clamp(0.0, 1.0) * FRAC_1_SQRT_2) }
}

/// Returns the range of similarities at which `seen` lies within `Z_95` standard deviations of the mean of a statistic
/// that grows with the similarity: Wilson's interval, for any mean and standard deviation.
pub(super) fn score_interval(
    seen: f64,
    mean: impl Fn(f64) -> f64,
    deviation: impl Fn(f64) -> f64,
) -> (f64, f64) {
    // Returns by bisection the similarity from which on a predicate holds.
    let turn = |holds: &dyn Fn(f64) -> bool| {
        if !holds(1.0) {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if holds(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    };
    let low = turn(&|j| mean(j) + Z_95 * deviation(j) >= seen);
    let high = turn(&|j| mean(j) - Z_95 * deviation(j) > seen);
    // The bisection ends 2⁻⁵⁰ above 0, so a low end this small stands for 0.
    (if low < 1e-14 { 0.0 } else { low }, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 6e-11, "{found} is not {expected}");
    }

    #[test]
    fn documented_table() {
        let third = 1.0 / 3.0;
        for (r1, r2, r, bits, c1, c2, e, k_var, b) in [
            (0.0, 0.0, 0.5, 1, 0.5, 0.5, 0.75, 0.75, 0.75),
            (0.0, 0.0, 0.8, 1, 0.5, 0.5, 0.9, 0.36, 0.36),
            (0.0, 0.0, 0.5, 2, 0.25, 0.25, 0.625, 0.416_666_666_7, 0.833_333_333_3),
            (0.0, 0.0, 0.9, 8, 0.003_906_25, 0.003_906_25, 0.900_390_625, 0.090_392_156_9, 0.723_137_254_9),
            (
                0.1,
                0.05,
                0.25,
                1,
                0.482_681_061_6,
                0.478_182_636_1,
                0.613_135_402_6,
                0.871_120_689_7,
                0.871_120_689_7,
            ),
            (
                0.1,
                0.05,
                0.25,
                2,
                0.224_730_855_2,
                0.218_355_541_0,
                0.420_141_969_9,
                0.398_748_659_5,
                0.797_497_319_0,
            ),
            (
                0.1,
                0.05,
                0.25,
                4,
                0.036_007_125_0,
                0.030_639_602_9,
                0.278_347_224_3,
                0.213_768_955_7,
                0.855_075_822_8,
            ),
            (
                0.5,
                0.3,
                third,
                1,
                0.382_352_941_2,
                0.362_745_098_0,
                0.594_771_241_8,
                0.593_504_273_5,
                0.593_504_273_5,
            ),
            (
                0.5,
                0.3,
                third,
                2,
                0.109_632_846_4,
                0.092_446_374_5,
                0.412_150_721_6,
                0.294_155_831_1,
                0.588_311_662_2,
            ),
            (0.5, 0.5, 0.5, 1, 0.333_333_333_3, 0.333_333_333_3, 0.666_666_666_7, 0.5, 0.5),
        ] {
            let chance = Chance::known(bits, r1, r2);
            near(chance.c1, c1);
            near(chance.c2, c2);
            near(chance.match_probability(r), e);
            near(chance.similarity(e), r);
            near(variance(r, 1, chance), k_var);
            near(storage_factor(r, bits, chance), b);
        }
    }

    #[test]
    fn the_edges_of_the_shares() {
        assert_eq!(accidental_agreement(0.0, 3), 0.125);
        assert_eq!(accidental_agreement(1.0, 3), 0.0);
        // At these r the printed form loses its digits by cancellation (E-27).
        for r in [1e-300, 1e-17, 1e-13] {
            near(accidental_agreement(r, 4), 0.0625);
        }
        near(accidental_agreement(0.5, 1), 1.0 / 3.0);
        assert!(accidental_agreement(1e-9, 64).is_finite() && accidental_agreement(0.0, 64) > 0.0);
        assert_eq!(Chance::known(2, 0.0, 0.0), Chance::sparse(2));
        assert_eq!(Chance::known(2, 1.0, 1.0), Chance { c1: 0.0, c2: 0.0 });
        let equal = Chance::known(5, 0.3, 0.3);
        assert_eq!(equal.c1, equal.c2);
        near(equal.c1, accidental_agreement(0.3, 5));
    }

    #[test]
    fn sparse_variance_in_the_form_of_the_survey() {
        for bits in 1..=16 {
            for r in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let short = (1.0 - r) * (r + (f64::from(bits).exp2() - 1.0).recip()) / 100.0;
                near(variance(r, 100, Chance::sparse(bits)), short);
            }
        }
    }

    #[test]
    fn ranks_in_a_small_range_need_the_set_sizes() {
        let seen = Chance::known(1, 0.5, 0.3).match_probability(1.0 / 3.0);
        assert!((Chance::sparse(1).similarity(seen) - 0.189).abs() < 1e-3);
        near(Chance::known(1, 0.5, 0.3).similarity(seen), 1.0 / 3.0);
    }

    #[test]
    fn the_worked_minima() {
        let (a, b) = ([13_u32, 6, 22, 9], [13_u32, 4, 22, 12]);
        for (bits, matching, expected) in [(1, 3, 0.5), (2, 2, 1.0 / 3.0)] {
            let mask = (1 << bits) - 1;
            let matches = a.iter().zip(&b).filter(|(a, b)| **a & mask == **b & mask).count();
            assert_eq!(matches, matching);
            near(estimate(matches, 4, Chance::sparse(bits)).value, expected);
        }
    }

    #[test]
    fn which_number_of_bits() {
        let little = 1e-9;
        for (bound, above, below) in [(1.0 / 3.0, 1, 2), (5.0 / 21.0, 2, 3), (17.0 / 105.0, 3, 4)] {
            assert_eq!((best_bits(bound + little), best_bits(bound - little)), (above, below));
        }
        assert_eq!(best_bits(0.4), 1);
        assert_eq!(best_bits(1.0), 1);
        assert!(best_bits(0.01) > 4);
    }

    #[test]
    fn bits_at_equal_storage() {
        // docs/sources/bits.md#variance-times-stored-bits: columns 64-bit, 32-bit, b = 8, 4, 2 and 1.
        for (j, row) in [
            (0.3, [13.44, 6.72, 1.702, 1.027, 0.887, 0.910]),
            (0.5, [16.00, 8.00, 2.016, 1.133, 0.833, 0.750]),
            (0.7, [13.44, 6.72, 1.689, 0.920, 0.620, 0.510]),
            (0.8, [10.24, 5.12, 1.286, 0.693, 0.453, 0.360]),
            (0.9, [5.760, 2.880, 0.723, 0.387, 0.247, 0.190]),
            (0.95, [3.040, 1.520, 0.382, 0.203, 0.128, 0.0975]),
            (0.99, [0.634, 0.317, 0.0795, 0.0423, 0.0265, 0.0199]),
        ] {
            for (bits, expected) in [64, 32, 8, 4, 2, 1].into_iter().zip(row) {
                let found = storage_factor(j, bits, Chance::sparse(bits));
                assert!((found - expected).abs() < 5.1e-4 * expected.max(1.0), "{j} {bits}: {found}");
            }
        }
    }

    #[test]
    fn hamming_distances() {
        for (distance, raw, clamped) in [(50, 0.8, 0.8), (0, 1.0, 1.0), (250, 0.0, 0.0), (300, -0.2, 0.0)] {
            near(hamming_similarity(distance, 500), raw);
            let found = hamming_estimate(distance, 500);
            near(found.value, clamped);
            let as_b_bit = estimate(500 - distance, 500, Chance::sparse(1));
            near(found.standard_error, as_b_bit.standard_error);
            near(found.interval.0, as_b_bit.interval.0);
            near(found.interval.1, as_b_bit.interval.1);
        }
        near(hamming_variance(0.8, 500), 7.2e-4);
        near(hamming_variance(0.8, 500), variance(0.8, 500, Chance::sparse(1)));
    }

    #[test]
    fn estimates_stay_inside_and_are_never_certain() {
        for bits in [1, 4, 16] {
            for matches in 0..=100 {
                let found = estimate(matches, 100, Chance::sparse(bits));
                let (low, high) = found.interval;
                assert!(0.0 <= low && low <= found.value && found.value <= high && high <= 1.0, "{found:?}");
                assert!(high > low && found.standard_error > 0.0 && found.standard_error < 0.2, "{found:?}");
            }
        }
        assert!(estimate(100, 100, Chance::sparse(1)).interval.0 < 0.97);
    }

    #[test]
    fn the_score_interval_of_a_share_is_wilsons() {
        for (matches, trials) in [(10.0_f64, 20.0_f64), (0.0, 20.0), (20.0, 20.0), (3.0, 200.0)] {
            let (low, high) = score_interval(matches / trials, |p| p, |p| (p * (1.0 - p) / trials).sqrt());
            let (wilson_low, wilson_high) = wilson_interval(matches, trials);
            assert!((low - wilson_low).abs() < 1e-12 && (high - wilson_high).abs() < 1e-12);
        }
    }
}
