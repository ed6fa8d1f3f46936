//! The estimator of [`MinHash`](crate::sketch::MinHash).
//!
//! Ĵ = m/k if m of k registers agree. m is binomial with k trials and probability J, so Ĵ is unbiased with variance
//! J(1−J)/k. Registers are compared by position; comparing sketches as sets would give m/(2k−m) (E-09).

use super::{CountEstimate, Estimate, wilson_interval};
use crate::kernel::Kernel;

/// Returns the number of registers in which two sketches agree.
///
/// # Panics
/// Panics if the sketches differ in length.
#[must_use]
pub fn matches(a: &[u32], b: &[u32]) -> usize {
    Kernel::detect().equal_words(a, b)
}

/// Returns the variance of the estimate at similarity `similarity`.
#[must_use]
pub fn variance(similarity: f64, registers: usize) -> f64 {
    similarity * (1.0 - similarity) / registers as f64
}

/// Estimates the Jaccard similarity of two documents that both have shingles.
///
/// The standard error is computed at the share (m + ½)/(k + 1), because at m/k it would be 0 if all registers agree.
///
/// # Panics
/// Panics if the sketches differ in length or have no registers.
#[must_use]
pub fn estimate(a: &[u32], b: &[u32]) -> Estimate {
    let (agreeing, registers) = (matches(a, b), a.len());
    assert!(registers > 0, "a sketch has at least one register");
    let inside = (agreeing as f64 + 0.5) / (registers as f64 + 1.0);
    Estimate {
        value: agreeing as f64 / registers as f64,
        standard_error: variance(inside, registers).sqrt(),
        interval: wilson_interval(agreeing as f64, registers as f64),
    }
}

/// Smallest number of registers from which the number of shingles can be estimated.
pub const LEAST_TO_COUNT: usize = 3;

/// Estimates the number of distinct shingles of the document of a sketch.
///
/// A register is the smallest of n values that are spread evenly over 2³². If v is the register as a share of 2³²,
/// −ln(1 − v) is an exponential time of rate n. With k registers, (k − 1)/Σ −ln(1 − v) is unbiased with variance n²/(k
/// − 2). Shingles are folded to 32 bits first, so about n²/2³³ of n shingles are lost: 0.1 % of ten million.
///
/// # Panics
/// Panics if there are fewer than [`LEAST_TO_COUNT`] registers.
#[must_use]
pub fn count(sketch: &[u32]) -> CountEstimate {
    assert!(sketch.len() >= LEAST_TO_COUNT, "enough registers to estimate from");
    if sketch.iter().all(|&register| register == u32::MAX) {
        return CountEstimate::exact(0);
    }
    // Half a step keeps the logarithm away from 0, and is right on average.
    let time = |register: u32| -(-(f64::from(register) + 0.5) / 2f64.powi(32)).ln_1p();
    CountEstimate::of_exponential_sum(sketch.iter().map(|&register| time(register)).sum(), sketch.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use crate::sketch::MinHash;

    /// The mean, the variance and the coverage must agree with the formulas within four standard errors.
    #[test]
    fn counts_are_unbiased_with_the_variance_of_the_formula() {
        let trials = 2000;
        for (shingles, registers) in [(1u32, 64), (30, 64), (1000, 128), (20_000, 32)] {
            let n = f64::from(shingles);
            let mut random = SplitMix64::new(u64::from(shingles));
            let (mut sum, mut squares, mut covered) = (0.0, 0.0, 0.0);
            for seed in 0..trials {
                let document: Vec<u64> = (0..shingles).map(|_| random.next_u64()).collect();
                let mut sketch = vec![0; registers];
                MinHash::new(registers, seed).unwrap().sketch_into(&document, &mut sketch);
                let count = count(&sketch);
                sum += count.value;
                squares += (count.value - n).powi(2);
                covered += f64::from(u8::from(count.interval.0 <= n && n <= count.interval.1));
            }
            let trials = trials as f64;
            let k = registers as f64;
            let variance = n * n / (k - 2.0);
            let mean = sum / trials;
            assert!((mean - n).abs() <= 4.0 * (variance / trials).sqrt(), "{shingles}: mean {mean}");
            // The fourth central moment of an inverse gamma estimate is near 3σ⁴·(1 + 10/k); the test allows 1.5 times
            // this value.
            let spread = variance * ((2.0 + 30.0 / k) * 1.5 / trials).sqrt();
            let found = squares / trials;
            assert!((found - variance).abs() <= 4.0 * spread, "{shingles}: variance {found}, not {variance}");
            let share = covered / trials;
            assert!((share - 0.95).abs() <= 4.0 * (0.95f64 * 0.05 / trials).sqrt(), "{shingles}: {share}");
        }
    }

    #[test]
    fn nothing_is_counted_exactly() {
        assert_eq!(count(&[u32::MAX; 8]), CountEstimate::exact(0));
        assert_eq!(count(&[u32::MAX; 8]).to_string(), "0");
    }

    #[test]
    fn documented_standard_deviations() {
        for (registers, similarity, expected) in
            [(400, 0.5, 0.025), (200, 0.6, 0.034_641), (10, 0.6, 0.154_919), (1000, 0.8, 0.012_649)]
        {
            assert!((variance(similarity, registers).sqrt() - expected).abs() < 5e-7);
        }
    }

    #[test]
    fn documented_variances() {
        // docs/sources/sketches.md#densification: last column of the table.
        for (union, common, registers, expected) in [
            (40, 30, 64, 2.929_687_5e-3),
            (200, 100, 64, 3.906_25e-3),
            (200, 160, 64, 2.5e-3),
            (1000, 500, 128, 1.953_125e-3),
            (7, 3, 10, 2.448_979_6e-2),
        ] {
            let variance = variance(f64::from(common) / f64::from(union), registers);
            assert!((variance - expected).abs() < 5.1e-10, "{union} {common}: {variance}");
        }
    }

    #[test]
    fn registers_are_compared_one_by_one() {
        let estimate = estimate(&[1, 2, 3, 4], &[2, 1, 3, 4]);
        assert_eq!(estimate.value, 0.5);
        assert!(estimate.interval.0 < 0.5 && estimate.interval.1 > 0.5);
    }

    #[test]
    fn full_agreement_is_not_certainty() {
        let estimate = estimate(&[7; 128], &[7; 128]);
        assert_eq!(estimate.value, 1.0);
        assert!(estimate.standard_error > 0.004 && estimate.interval.0 < 0.98);
        assert_eq!(estimate.to_string(), "1.000 ± 0.005");
    }
}
