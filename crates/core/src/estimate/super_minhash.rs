//! The estimator of [`SuperMinHash`](crate::sketch::super_minhash::SuperMinHash).
//!
//! Ĵ = matches/m is unbiased. With u = |A∪B|, Var = α(m, u)·J(1−J)/m. Hassanian-esfahani 2018, Table 1, prints "∝(m,
//! n)" without a definition of n (E-11). The factor is:
//!
//! α(m, u) = 1 − Σ_{l=1}^{m−1} lᵘ·((l+1)ᵘ + (l−1)ᵘ − 2lᵘ) / ((m−1)ᵘ⁻¹·mᵘ·(u−1)).
//!
//! The factor is about ½ for u ≪ m and 1 for u ≫ m. Two sketches do not show the size u of the union, so [`estimate`]
//! uses 1 for α. For documents with fewer shingles than registers the true error is up to √2 times smaller than the
//! reported error.

use super::{Estimate, minhash};

/// Returns α(m, u): the variance divided by the variance of independent registers; 1 for one register or a union of one
/// shingle.
///
/// Powers of ratios are used, such as lᵘ/(m−1)ᵘ and (l+1)ᵘ/mᵘ, because they cannot overflow.
#[must_use]
pub fn alpha(registers: usize, union: usize) -> f64 {
    if registers < 2 || union < 2 {
        return 1.0;
    }
    let (m, u) = (registers as f64, union as f64);
    let power = |l: f64| (u * (l / m).ln()).exp();
    let sum: f64 = (1..registers)
        .map(|l| {
            let l = l as f64;
            let outer = (u * (l / (m - 1.0)).ln()).exp();
            outer * (power(l + 1.0) + power(l - 1.0) - 2.0 * power(l))
        })
        .sum();
    1.0 - sum * (m - 1.0) / (u - 1.0)
}

/// Returns the variance of the estimate at `similarity`, for a union of `union` shingles and `registers` registers (m).
#[must_use]
pub fn variance(similarity: f64, union: usize, registers: usize) -> f64 {
    alpha(registers, union) * minhash::variance(similarity, registers)
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
    fn documented_alphas() {
        for (registers, union, expected) in [
            (2, 2, 0.5),
            (16, 10, 0.504_163),
            (64, 40, 0.512_873),
            (64, 200, 0.709_496),
            (64, 1000, 0.936_937),
            (128, 500, 0.755_384),
            (256, 2000, 0.872_538),
            (1024, 100, 0.498_124),
        ] {
            let alpha = alpha(registers, union);
            assert!((alpha - expected).abs() < 1e-6, "{registers} {union}: {alpha}");
        }
    }

    #[test]
    fn alpha_stays_finite_and_tends_to_one() {
        assert_eq!(alpha(1, 50), 1.0);
        assert_eq!(alpha(64, 1), 1.0);
        let far = alpha(1024, 100_000_000);
        assert!(far > 0.9999 && far <= 1.0, "{far}");
        assert!(variance(0.5, 40, 64) < minhash::variance(0.5, 64));
    }
}
