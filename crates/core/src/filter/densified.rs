//! The exact probability distribution of the matches of densified one-permutation sketches.
//!
//! The union has u shingles, of which a are common. The u shingles fall into K bins, of which o are not empty. The
//! smallest value of each such bin is one of the u shingles, drawn without replacement, so the number h of common
//! shingles among these o is hypergeometric. The K − o other bins are copies:
//!
//! - By optimal densification, each empty bin copies a bin of its own choice: h + Bin(K−o, h/o) matches.
//! - By rotation, each empty bin copies the next bin that is not empty: the runs of equal bins are a random division of
//!   K into o parts. Of these, h parts have j bins together with probability C(j−1, h−1)·C(K−j−1, o−h−1)/C(K−1, o−1).
//!
//! A binomial distribution widened to the same variance is not enough. For 10 shingles at J = ½ in 128 bins by optimal
//! densification, its thresholds for an error of 10⁻⁷ err a hundred times too often. The reason is that few shingles
//! make a coarse distribution with a long tail. A test in this file shows this.
//!
//! The size of the union differs from pair to pair, but the filter is made once, so it must hold for the distributions
//! of all sizes. The sizes are divided into ranges. J is a fraction of whole numbers, so each range is represented by
//! the size with the smallest J that reaches the threshold.

use super::law::{Law, LawMixture};
use crate::estimate::one_permutation::empty_bins_law;
use crate::sketch::one_permutation::Densification;

/// Maximum number of registers for which these distributions are computed, because the cost grows with its cube.
pub(super) const MOST_REGISTERS: usize = 1024;

/// Probability mass that is neglected, relative to the error of a look. There are some ten thousand pairs of o and h.
pub(super) const FLOOR: f64 = 1.0 / (1u64 << 40) as f64;

/// Number of shingles per bin from which on the number of matches varies less than a binomial number, because drawing
/// bins without replacement has more effect than the few copies.
const FULL: usize = 4;

/// Returns distributions of pairs at the threshold or just above, with `shingles` or more shingles in their union.
/// Probabilities below `floor` are neglected.
pub(super) fn laws(
    densification: Densification,
    threshold: f64,
    shingles: usize,
    registers: usize,
    floor: f64,
) -> Vec<Law> {
    let mut laws = vec![Law::independent(threshold, registers)];
    let mut begin = shingles.max(1);
    while begin < FULL * registers {
        let end = begin + 1 + begin / 4;
        let similarity = |&(union, common): &(usize, usize)| common as f64 / union as f64;
        let nearest = (begin..end)
            .map(|union| (union, common(union, threshold)))
            .min_by(|a, b| similarity(a).total_cmp(&similarity(b)));
        laws.extend(nearest.map(|(union, common)| law(densification, union, common, registers, floor)));
        begin = end;
    }
    laws
}

/// Returns the smallest number of common shingles that reaches the threshold.
fn common(union: usize, threshold: f64) -> usize {
    let near = ((threshold * union as f64) as usize).saturating_sub(1);
    (near..union).find(|&common| common as f64 / union as f64 >= threshold).unwrap_or(union)
}

/// Returns the distribution for `common` of `union` shingles.
pub(super) fn law(
    densification: Densification,
    union: usize,
    common: usize,
    registers: usize,
    floor: f64,
) -> Law {
    let mut sum = LawMixture::new(registers, floor);
    let empty = empty_bins_law(union, registers);
    for occupied in 1..=registers.min(union) {
        let mut agreeing = LawMixture::new(occupied, floor);
        agreeing.add_hypergeometric(union, common, occupied, empty[registers - occupied]);
        for (agreeing, &weight) in agreeing.into_law().probabilities().iter().enumerate() {
            if weight == 0.0 {
                continue;
            }
            match densification {
                Densification::Rotation => add_runs(registers, occupied, agreeing, weight, &mut sum),
                // Without densification some bins have no value, so no caller asks for such a distribution.
                Densification::Optimal | Densification::None => {
                    let share = agreeing as f64 / occupied as f64;
                    sum.add_binomial(agreeing, registers - occupied, share, weight);
                }
            }
        }
    }
    sum.into_law()
}

/// Adds the distribution of the number of bins in `agreeing` of `runs` runs, which divide `all` bins.
fn add_runs(all: usize, runs: usize, agreeing: usize, weight: f64, sum: &mut LawMixture) {
    if agreeing == 0 || agreeing == runs {
        sum.add_certain(if agreeing == 0 { 0 } else { all }, weight);
        return;
    }
    let (least, most) = (agreeing, all - (runs - agreeing));
    let mode = ((agreeing - 1) * (all - 1)).checked_div(runs - 2).unwrap_or(least) + 1;
    let (k, o, h) = (all as f64, runs as f64, agreeing as f64);
    sum.add(0, least..=most, mode.clamp(least, most), weight, |j| {
        j / (j - h + 1.0) * ((k - j - o + h) / (k - j - 1.0))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::one_permutation::{share_optimal, share_rotation, variance};

    #[test]
    fn mean_and_variance_are_those_of_the_estimator() {
        for (union, shared, registers) in [(2, 1, 8), (5, 4, 64), (10, 6, 64), (40, 30, 64), (300, 150, 64)] {
            for (densification, share) in [
                (Densification::Optimal, share_optimal as fn(_, _) -> _),
                (Densification::Rotation, share_rotation),
            ] {
                let law = law(densification, union, shared, registers, 1e-40);
                let moment = |power| {
                    law.probabilities()
                        .iter()
                        .enumerate()
                        .map(|(x, p)| p * (x as f64 / registers as f64).powi(power))
                        .sum::<f64>()
                };
                let similarity = shared as f64 / union as f64;
                // Rounding error of sums of some hundred terms, each of a few hundred factors.
                let allowed = 1e5 * f64::EPSILON;
                assert!((moment(0) - 1.0).abs() < allowed && (moment(1) - similarity).abs() < allowed);
                let expected = variance(union, shared, registers, share);
                let found = moment(2) - similarity * similarity;
                assert!((found - expected).abs() < allowed, "{densification:?} {union}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_fewest_common_shingles_that_reach_a_threshold() {
        for (union, threshold, fewest) in
            [(5, 0.8, 4), (6, 0.8, 5), (1, 0.8, 1), (100, 0.55, 55), (100, 0.29, 29), (3, 0.99, 3)]
        {
            assert_eq!(common(union, threshold), fewest);
        }
    }

    /// Returns the exact probability P(X ≤ m). m is the largest count for which a beta-binomial distribution with the
    /// mean and variance of `law` has P(X ≤ m) ≤ `error`.
    fn tail_at_widened_threshold(law: &Law, p: f64, variance: f64, error: f64) -> f64 {
        let k = law.registers() as f64;
        let correlation = (variance * k / (p * (1.0 - p)) - 1.0) / (k - 1.0);
        let (a, b) = (p * (1.0 / correlation - 1.0), (1.0 - p) * (1.0 / correlation - 1.0));
        let mut widened = LawMixture::new(law.registers(), 1e-40);
        widened.add(0, 0..=law.registers(), (k * p) as usize, 1.0, |i| {
            (k - i) * (a + i) / ((i + 1.0) * (b + k - i - 1.0))
        });
        let mut sums = (0.0, 0.0);
        for (widened, exact) in widened.into_law().probabilities().iter().zip(law.probabilities()) {
            if sums.0 + widened > error {
                break;
            }
            sums = (sums.0 + widened, sums.1 + exact);
        }
        sums.1
    }

    #[test]
    fn a_law_of_the_same_variance_is_not_enough() {
        let law = law(Densification::Optimal, 10, 5, 128, 1e-40);
        let variance = variance(10, 5, 128, share_optimal);
        let found = tail_at_widened_threshold(&law, 0.5, variance, 1e-7);
        assert!(found > 1e-5, "{found}");
    }

    #[test]
    fn every_size_of_the_union_keeps_to_the_budget() {
        use crate::filter::thresholds::{ErrorBudget, SideThresholds};
        use crate::filter::walk::ever_at_most;
        const ALPHA: f64 = 1e-6;
        let looks = [16, 32, 48, 64];
        for densification in [Densification::Optimal, Densification::Rotation] {
            for (threshold, shingles) in [(0.8, 1), (0.8, 30), (0.5, 1), (0.5, 30), (0.7, 10)] {
                let floor = ALPHA / 4.0 * FLOOR;
                let laws = laws(densification, threshold, shingles, 64, floor);
                let side = SideThresholds::new(&laws, &looks, ErrorBudget::Exact(ALPHA));
                for union in shingles..6 * 64 {
                    let law = law(densification, union, common(union, threshold), 64, floor);
                    let spent = ever_at_most(&law, &looks, &side.thresholds, 1.0);
                    assert!(spent <= ALPHA, "{densification:?} {threshold} {shingles} {union}: {spent}");
                }
            }
        }
    }
}
