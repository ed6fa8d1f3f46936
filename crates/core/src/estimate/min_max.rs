//! The estimator of [`MinMax`](crate::sketch::min_max::MinMax).
//!
//! Ĵ = (agreeing minima + agreeing maxima)/k is unbiased. With u = |A∪B| and a = |A∩B|: Var = (J/k)·(u+a−2)/(u−1) −
//! 2J²/k. The variance is below J(1−J)/k, because the smallest and the largest shingle of one function differ if u > 1;
//! for large u the variances are equal. Two sketches do not show the size u of the union, so [`estimate`] reports the
//! slightly larger J(1−J)/k.

use super::{Estimate, minhash};

/// Returns the variance of the estimate for `common` of `union` shingles and `registers` registers (k).
#[must_use]
pub fn variance(union: usize, common: usize, registers: usize) -> f64 {
    if union < 2 {
        return 0.0;
    }
    let (u, a, k) = (union as f64, common as f64, registers as f64);
    let similarity = a / u;
    (similarity / k * (u + a - 2.0) / (u - 1.0) - 2.0 * similarity * similarity / k).max(0.0)
}

/// Estimates the Jaccard similarity of two documents that both have shingles. The size of the union is not known, so
/// the error is the error for a large union.
///
/// # Panics
/// Panics if the sketches differ in length or have no registers.
#[must_use]
pub fn estimate(a: &[u32], b: &[u32]) -> Estimate {
    minhash::estimate(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_variances() {
        for (union, common, registers, expected) in [
            (200, 100, 64, 3.886_620_6e-3),
            (40, 30, 64, 2.854_567_3e-3),
            (7, 3, 2, 0.102_040_816_3),
            (100, 100, 64, 0.0),
            (100, 0, 64, 0.0),
            (1, 1, 2, 0.0),
        ] {
            let variance = variance(union, common, registers);
            assert!((variance - expected).abs() < 1e-10, "{union} {common}: {variance}");
        }
    }

    #[test]
    fn never_above_that_of_independent_minima() {
        for (union, common) in [(2, 1), (7, 3), (40, 30), (200, 160), (100_000, 50_000)] {
            let similarity = common as f64 / union as f64;
            assert!(variance(union, common, 64) <= minhash::variance(similarity, 64));
        }
    }
}
