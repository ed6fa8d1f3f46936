//! The estimators of [`OnePermutation`](crate::sketch::one_permutation::OnePermutation).
//!
//! Of k bins, e are empty in both documents. E(e) = k(1−1/k)ᵘ with u = |A∪B|. Without densification Ĵ = matches/(k −
//! e); with densification Ĵ = matches/k. Both are unbiased; matches/k without densification is not.
//!
//! All variances have one form. Each bin that is filled in at least one document shows one shingle, drawn without
//! replacement, so two registers agree independently of each other unless they copy the same bin. Q is the number of
//! ordered pairs of registers that show the same bin. Then:
//!
//! Var = J(1−J)·(u·E(Q)/k² − 1)/(u−1). The value of Q depends on densification:
//!
//! - without densification, Q/k² is 1/(k−e);
//! - by optimal densification, Q = k + 2e + e(e−1)/(k−e);
//! - by rotation, Q = 2k(k+1)/(k−e+1) − k, because the runs of copies are a random division of k into k−e parts.
//!
//! For u ≪ k optimal densification has the variance (1 + u/(2(u−1)))·J(1−J)/k. This is 2 to 1.5 times the variance of
//! independent minima, because shingles that share a bin are lost. Rotation has the variance J(1−J)/(u+1), for any k.

use super::{Estimate, wilson_interval};

/// Returns the distribution of the number of empty bins after `shingles` distinct shingles fell into `bins` bins.
/// Element e is the probability of e empty bins.
#[must_use]
pub fn empty_bins_law(shingles: usize, bins: usize) -> Vec<f64> {
    let k = bins as f64;
    let mut law = vec![0.0; bins + 1];
    law[bins] = 1.0;
    for _ in 0..shingles {
        for empty in 0..=bins {
            let from_above = law.get(empty + 1).map_or(0.0, |above| above * (empty as f64 + 1.0) / k);
            law[empty] = law[empty] * (k - empty as f64) / k + from_above;
        }
    }
    law
}

/// Returns the expected number of empty bins, E(e) = k(1−1/k)ᵘ.
#[must_use]
pub fn expected_empty_bins(shingles: usize, bins: usize) -> f64 {
    let k = bins as f64;
    k * (1.0 - 1.0 / k).powf(shingles as f64)
}

/// Returns Q/k² without densification, 1/(k − e), for `bins` bins of which `empty` are empty in both documents.
#[must_use]
pub fn share_raw(bins: usize, empty: usize) -> f64 {
    1.0 / (bins as f64 - empty as f64)
}

/// Returns Q/k² for optimal densification.
#[must_use]
pub fn share_optimal(bins: usize, empty: usize) -> f64 {
    let (k, e) = (bins as f64, empty as f64);
    (k + 2.0 * e + e * (e - 1.0) / (k - e)) / (k * k)
}

/// Returns Q/k² for rotation.
#[must_use]
pub fn share_rotation(bins: usize, empty: usize) -> f64 {
    let (k, e) = (bins as f64, empty as f64);
    (2.0 * (k + 1.0) / (k - e + 1.0) - 1.0) / k
}

/// Returns the variance of the estimate for `common` of `union` shingles in `bins` bins. `share` is [`share_raw`],
/// [`share_optimal`] or [`share_rotation`].
#[must_use]
pub fn variance(union: usize, common: usize, bins: usize, share: fn(usize, usize) -> f64) -> f64 {
    if union < 2 {
        return 0.0;
    }
    let (u, similarity) = (union as f64, common as f64 / union as f64);
    // At least one bin is filled, so element `bins` of the distribution is 0 and is left out.
    let law = empty_bins_law(union, bins);
    let mean: f64 = law[..bins].iter().enumerate().map(|(empty, p)| p * share(bins, empty)).sum();
    similarity * (1.0 - similarity) * (u * mean - 1.0) / (u - 1.0)
}

/// Returns Ĵ = matches/(k − e) without densification; `None` if all bins are empty in both documents.
#[must_use]
pub fn raw(matches: usize, empty: usize, bins: usize) -> Option<f64> {
    (empty < bins).then(|| matches as f64 / (bins - empty) as f64)
}

/// Estimates the similarity without densification, from `matches` of `bins` bins, of which `empty` are empty in both
/// documents.
///
/// The variance is J(1−J)/(k−e). It holds for a union of many more shingles than bins, and is too large otherwise.
///
/// # Panics
/// Panics if all bins are empty in both documents.
#[must_use]
pub fn estimate_raw(matches: usize, empty: usize, bins: usize) -> Estimate {
    assert!(empty < bins, "the documents have shingles");
    let occupied = (bins - empty) as f64;
    from_share(matches as f64 / occupied, occupied)
}

/// Estimates the similarity from `matches` of `bins` densified bins. Before densification, at least `occupied` bins
/// were filled in at least one document.
///
/// The size of the union is estimated from `occupied`. The variance is that of this size, but at least J(1−J)/k.
///
/// # Panics
/// Panics if `occupied` is zero or more than `bins`.
#[must_use]
pub fn estimate_densified(
    matches: usize,
    bins: usize,
    occupied: usize,
    share: fn(usize, usize) -> f64,
) -> Estimate {
    assert!((1..=bins).contains(&occupied), "the documents have shingles");
    let k = bins as f64;
    let share = share(bins, bins - occupied);
    let trials = if occupied == bins {
        k
    } else {
        // Size of the union with this number of empty bins on average.
        let u = ((1.0 - occupied as f64 / k).ln() / (1.0 - 1.0 / k).ln()).max(2.0);
        ((u - 1.0) / (u * share - 1.0)).clamp(1.0, k)
    };
    from_share(matches as f64 / k, trials)
}

/// Returns the estimate with the error of a share of `trials` independent trials.
fn from_share(value: f64, trials: f64) -> Estimate {
    let inside = (value * trials + 0.5) / (trials + 1.0);
    Estimate {
        value,
        standard_error: (inside * (1.0 - inside) / trials).sqrt(),
        interval: wilson_interval(value * trials, trials),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_table() {
        for (union, common, bins, empty, raw, optimal) in [
            (40, 30, 64, 34.088_115_51, 1.654_125_1e-3, 3.200_550_5e-3),
            (200, 100, 64, 2.743_437_48, 2.847_926_6e-3, 3.013_427_8e-3),
            (200, 160, 64, 2.743_437_48, 1.822_673_0e-3, 1.928_593_8e-3),
            (1000, 500, 128, 0.050_229_78, 1.705_603_4e-3, 1.706_364_5e-3),
            (7, 3, 10, 4.782_969_00, 1.570_953_1e-2, 2.657_971_3e-2),
        ] {
            assert!((expected_empty_bins(union, bins) - empty).abs() < 1e-8);
            let mean: f64 = empty_bins_law(union, bins).iter().enumerate().map(|(e, p)| e as f64 * p).sum();
            assert!((mean - empty).abs() < 1e-8, "{mean}");
            assert!((variance(union, common, bins, share_raw) - raw).abs() < 1e-9);
            assert!((variance(union, common, bins, share_optimal) - optimal).abs() < 1e-9);
        }
    }

    #[test]
    fn rotation_as_simulated() {
        // docs/sources/sketches.md#densification: a simulation of 4000 runs printed 5.0e-3, with two digits.
        let rotation = variance(40, 30, 64, share_rotation);
        assert!((rotation - 5.0e-3).abs() < 4.0 * 5.0e-3 * (2.0_f64 / 4000.0).sqrt() + 5e-5, "{rotation}");
        // With few shingles in many bins, the variance does not depend on the number of bins.
        let sparse = variance(10, 6, 4000, share_rotation);
        assert!((sparse / (0.24 / 11.0) - 1.0).abs() < 0.01, "{sparse}");
    }

    #[test]
    fn optimal_densification_of_few_shingles() {
        for (union, common) in [(2, 1), (5, 3), (100, 50)] {
            let (u, similarity) = (union as f64, common as f64 / union as f64);
            let factor =
                variance(union, common, 30_000, share_optimal) * 30_000.0 / (similarity * (1.0 - similarity));
            let expected = 1.0 + u / (2.0 * (u - 1.0));
            assert!((factor / expected - 1.0).abs() < 0.003, "{factor} {expected}");
        }
    }

    #[test]
    fn degenerate_cases() {
        assert_eq!(variance(1, 1, 8, share_optimal), 0.0);
        assert_eq!(raw(0, 8, 8), None);
        assert_eq!(raw(3, 3, 10), Some(3.0 / 7.0));
        for occupied in 1..=64 {
            for share in [share_optimal, share_rotation] {
                for matches in [0, 32, 64] {
                    let estimate = estimate_densified(matches, 64, occupied, share);
                    assert!(estimate.standard_error > 0.0 && estimate.standard_error <= 0.5);
                    let (low, high) = estimate.interval;
                    assert!(low <= estimate.value + 1e-12 && estimate.value <= high + 1e-12);
                }
            }
        }
    }
}
