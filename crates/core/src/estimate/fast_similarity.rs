//! The estimator of [`FastSimilarity`](crate::sketch::fast_similarity::FastSimilarity).
//!
//! Ĵ = matches/t is unbiased. With u = |A∪B|, Var = α(t, u)·J(1−J)/t, where:
//!
//! ```text
//! α(t, u) = 1 − (t−1)·p/(u−1)
//! p       = s·(1 − nᵗ)/(1 − n)        n = (1 − 2/t)ᵘ        s = 1 − 2(1 − 1/t)ᵘ + n
//! ```
//!
//! Hassanian-esfahani 2018, Table 1, has no variance, and simulations come near the variance of `SuperMinHash`; this
//! formula is exact. A register shows the shingle of the union that filled it. By symmetry, the covariance of two
//! registers depends only on the probability that they show the same shingle. If both are filled in the same one of the
//! first t rounds, they never do, because a shingle goes to one register per round. n is the probability that a round
//! fills neither register, s that it fills both, and p that one of the t rounds fills both. Otherwise a fresh function
//! fills the later register, and both show the same shingle with probability 1/u. So the covariance of the registers is
//! −J(1−J)·p/(u−1).
//!
//! α is about ½ for u ≪ t and 1 for u ≫ t, and differs by a few per cent from the α of
//! [`super_minhash`](super::super_minhash). Two sketches do not show the size u of the union, so [`estimate`] uses 1
//! for α.

use super::{Estimate, minhash};

/// Returns α(t, u): the variance divided by the variance of independent registers; 1 for one register or a union of one
/// shingle.
#[must_use]
pub fn alpha(registers: usize, union: usize) -> f64 {
    if registers < 2 || union < 2 {
        return 1.0;
    }
    let (t, u) = (registers as f64, union as f64);
    let misses_both = (1.0 - 2.0 / t).powf(u);
    let fills_both = 1.0 - 2.0 * (1.0 - 1.0 / t).powf(u) + misses_both;
    let together = fills_both * (1.0 - misses_both.powf(t)) / (1.0 - misses_both);
    1.0 - (t - 1.0) * together / (u - 1.0)
}

/// Returns the variance of the estimate at `similarity`, for a union of `union` shingles and `registers` registers (t).
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

    /// Enumerates all cases of two shingles and two registers: in each of two rounds each shingle chooses one of the
    /// registers; then the registers that are still empty are filled evenly.
    #[test]
    fn two_shingles_and_two_registers_by_enumeration() {
        // Each shingle chooses register 0 or 1, each with probability ½ per round.
        let mut same = 0.0;
        for first in 0..4_u32 {
            let (x, y) = (first & 1, first >> 1);
            if x != y {
                continue; // Different shingles fill the registers in one round.
            }
            // One shingle has filled one register, and both shingles are equally likely to fill the other register in a
            // later round.
            same += 0.25 * 0.5;
        }
        let p = 1.0 - 2.0 * same;
        assert!((alpha(2, 2) - (1.0 - p)).abs() < 1e-15, "{}", alpha(2, 2));
    }

    /// Simulated shares with two or three digits, from 3000 trials, or 1500 for the last.
    #[test]
    fn documented_simulations() {
        for (union, registers, simulated, half_a_digit, trials) in [
            (40, 64, 0.512, 0.0005, 3000.0),
            (200, 64, 0.726, 0.0005, 3000.0),
            (10, 16, 0.53, 0.005, 3000.0),
            (1000, 64, 0.96, 0.005, 1500.0),
        ] {
            let alpha = alpha(registers, union);
            let error = alpha * (2.0_f64 / trials).sqrt();
            assert!((alpha - simulated).abs() < 4.0 * error + half_a_digit, "{union} {registers}: {alpha}");
        }
    }

    #[test]
    fn alpha_stays_finite_and_tends_to_one() {
        assert_eq!((alpha(1, 50), alpha(64, 1)), (1.0, 1.0));
        let far = alpha(1024, 100_000_000);
        assert!(far > 0.9999 && far <= 1.0, "{far}");
        let near = alpha(65_536, 2);
        assert!(near > 0.0 && near < 1.0, "{near}");
        assert!(variance(0.5, 40, 64) < minhash::variance(0.5, 64));
    }
}
