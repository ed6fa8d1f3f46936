//! The estimator of [`ConnectedBit`](crate::sketch::connected_bit::ConnectedBit).
//!
//! ```text
//! G   = E_bⁿ                                 R̂ = (Ĝ^(1/n) − C₁)/(1 − C₂)
//! Var ≈ (1/k)·G(1−G) / ((1−C₂)²·n·G^(2(n−1)/n))
//! ```
//!
//! k counts registers, so there are k/n groups. Ĝ is the share of groups that agree completely. Hassanian-esfahani
//! 2018, Table 1, prints the exponent as 2(n−1), which makes the variance almost seven times too large at J = 0.8 and n
//! = 4 (E-11). R̂ is consistent, with a bias of order 1/k. With n = 1 the estimator is that of [`b_bit`].

use super::Estimate;
use super::b_bit::{self, Chance, curved};

/// Returns G: the probability that all of n connected registers agree.
#[must_use]
pub fn match_probability(similarity: f64, connected: usize, chance: Chance) -> f64 {
    chance.match_probability(similarity).powf(connected as f64)
}

/// Returns R̂ from the share of groups that agree, not clamped.
#[must_use]
pub fn similarity(share: f64, connected: usize, chance: Chance) -> f64 {
    chance.similarity(share.powf((connected as f64).recip()))
}

/// Returns the variance of R̂ over k registers, n of them connected, at this similarity, by the delta method.
#[must_use]
pub fn variance(similarity: f64, registers: usize, connected: usize, chance: Chance) -> f64 {
    let (g, n) = (match_probability(similarity, connected, chance), connected as f64);
    let slope = (1.0 - chance.c2).powi(2) * n * g.powf(2.0 * (n - 1.0) / n);
    g * (1.0 - g) / (registers as f64 * slope)
}

/// Estimates the similarity of two documents, given that `matches` of their groups agree completely.
///
/// # Panics
/// Panics if there are no groups or more matches than groups.
#[must_use]
pub fn estimate(matches: usize, groups: usize, connected: usize, chance: Chance) -> Estimate {
    if connected == 1 {
        return b_bit::estimate(matches, groups, chance);
    }
    let floor = match_probability(0.0, connected, chance);
    let similarity = |share| similarity(share, connected, chance);
    curved(matches, groups, floor, similarity, |j| variance(j, groups * connected, connected, chance))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use super::*;

    #[test]
    fn documented_variances() {
        for (j, n, bits, expected) in
            [(0.8, 2, 1, 1.9e-4), (0.8, 4, 1, 2.1228e-4), (0.9, 4, 1, 1.0277e-4), (0.8, 2, 2, 1.2333e-4)]
        {
            let found = variance(j, 2000, n, Chance::sparse(bits));
            assert!((found - expected).abs() < 5.1e-9, "{found} is not {expected}");
            // Connecting registers increases the variance.
            assert!(found > b_bit::variance(j, 2000, Chance::sparse(bits)));
        }
        // The source prints the exponent 2(n−1) (E-11).
        let g = match_probability(0.8, 4, Chance::sparse(1));
        let printed = g * (1.0 - g) / (2000.0 * 0.25 * 4.0 * g.powi(6));
        assert!((printed - 1.414e-3).abs() < 5.1e-7, "{printed}");
    }

    #[test]
    fn one_register_a_group_is_b_bit() {
        let chance = Chance::known(2, 0.1, 0.05);
        assert_eq!(variance(0.4, 50, 1, chance), b_bit::variance(0.4, 50, chance));
        assert_eq!(estimate(20, 50, 1, chance), b_bit::estimate(20, 50, chance));
        assert_eq!(similarity(0.4, 1, chance), chance.similarity(0.4));
    }

    #[test]
    fn the_estimator_inverts_the_probability() {
        for (r1, r2) in [(0.0, 0.0), (0.5, 0.3)] {
            let chance = Chance::known(1, r1, r2);
            for n in 1..6 {
                let share = match_probability(0.6, n, chance);
                assert!((similarity(share, n, chance) - 0.6).abs() < 1e-12);
            }
            let none = similarity(0.0, 3, chance);
            assert!((none + chance.c1 / (1.0 - chance.c2)).abs() < 1e-12);
        }
    }

    #[test]
    fn estimates_stay_inside_and_are_never_certain() {
        for n in 1..=8 {
            for matches in 0..=64 {
                let found = estimate(matches, 64, n, Chance::sparse(1));
                let (low, high) = found.interval;
                assert!(0.0 <= low && low <= found.value && found.value <= high && high <= 1.0, "{found:?}");
                assert!(found.standard_error > 0.0 && found.standard_error <= FRAC_1_SQRT_2, "{found:?}");
            }
        }
    }
}
