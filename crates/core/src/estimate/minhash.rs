//! The estimator of [`MinHash`](crate::sketch::MinHash).
//!
//! Ĵ = m/k, where m of k registers agree. m is binomial with k trials and probability J, so Ĵ is unbiased with
//! variance J(1−J)/k (digest 02, 1). Registers are compared one by one: taking them as sets would give m/(2k−m)
//! (E-09).

use super::{Estimate, wilson_interval};
use crate::kernel::Kernel;

/// In how many registers two sketches agree.
///
/// # Panics
/// If they differ in length.
#[must_use]
pub fn matches(a: &[u32], b: &[u32]) -> usize {
    Kernel::detect().equal_words(a, b)
}

/// The variance of the estimate at similarity `similarity`.
#[must_use]
pub fn variance(similarity: f64, registers: usize) -> f64 {
    similarity * (1.0 - similarity) / registers as f64
}

/// Estimates the Jaccard similarity of two documents that both have shingles.
///
/// The standard error is taken at (m + ½)/(k + 1), so that agreement in all registers is not mistaken for certainty.
///
/// # Panics
/// If the sketches differ in length or have no registers.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_standard_deviations() {
        for (registers, similarity, expected) in
            [(400, 0.5, 0.025), (200, 0.6, 0.034_641), (10, 0.6, 0.154_919), (1000, 0.8, 0.012_649)]
        {
            assert!((variance(similarity, registers).sqrt() - expected).abs() < 5e-7);
        }
    }

    #[test]
    fn the_digest_variances() {
        // Digest 05, 3: the last column of its table.
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
