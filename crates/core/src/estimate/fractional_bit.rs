//! The estimators of the [fractional bit sketches](crate::sketch::fractional_bit).
//!
//! **Mixtures** of widths. Group i has kᵢ = wᵢ·k registers of bᵢ bits; f = Σwᵢbᵢ is the mean number of bits per
//! register.
//!
//! ```text
//! pooled             R̂ = (Ê − Σwᵢ·C₁ᵢ)/(1 − Σwᵢ·C₂ᵢ)       Var = (1/k)·Σwᵢ·Eᵢ(1−Eᵢ) / (1 − Σwᵢ·C₂ᵢ)²
//! inverse variance   R̂ = Σ(wᵢ/Vᵢ)·R̂ᵢ / Σ(wᵢ/Vᵢ)            Var = 1/(k·Σwᵢ/Vᵢ),  Vᵢ = Eᵢ(1−Eᵢ)/(1−C₂ᵢ)²
//! ```
//!
//! [Yuan 2012](crate#sources), (17), prints wᵢ² in the variance, which halves the variance at f = 1½ (E-16). The groups
//! use different registers, so their covariance is exactly 0 (E-19). No mixture has less variance per bit than the
//! better of its widths (E-17). The inverse variances are computed at the pooled estimate, which depends on the matches
//! of all groups, so the result is biased by O(1/k). With 1,000 registers, of which 200 have one bit, 500 three and 300
//! seven, the bias is +0.00035 at R = 0.07, which is 3 % of the standard error.
//!
//! **f = 1/2ⁿ**: k stored bits, each the exclusive or of 2ⁿ lowest bits, so a sketch has 2ⁿ·k registers (E-23).
//!
//! ```text
//! 2T − 1 = (2E₁−1)^(2ⁿ)            R̂ = (max(2T̂−1, 0)^(1/2ⁿ) + 1 − 2C₁)/(2 − 2C₂)
//! Var ≈ (1/k)·T(1−T) / (4ⁿ(1−C₂)²(2T−1)^((2ⁿ−1)/2ⁿ⁻¹))
//! ```
//!
//! Yuan 2012, (29), prints C₂ in the numerator, which causes a bias of (C₁−C₂)/(1−C₂) (E-21). R̂ is consistent, not
//! unbiased (E-22): its bias is of order 1/k, and the clamp dominates if R^(2ⁿ) is below about 2/√k.
//! [`Method::bias`](crate::sketch::Method::bias) computes the bias. The positive root is correct for E₁ ≥ ½.
//!
//! **¾ bit**: a share w of the stored bits are exclusive ors of two lowest bits, and the other stored bits are plain.
//!
//! ```text
//! T = w(E₁² + (1−E₁)²) + (1−w)E₁   E₁ = (3w − 1 + √max((1−3w)² + 8w(T̂−w), 0)) / 4w
//! Var ≈ (1/k)·(w·T_½(1−T_½) + (1−w)·E₁(1−E₁)) / ((4wE₁ + 1 − 3w)²(1−C₂)²)
//! ```
//!
//! Yuan 2012, (36), has w = ½, which is ⅔ bit per register; w = ⅓ is ¾ bit (E-24). Yuan 2012 has neither the maximum
//! with 0 nor a variance.

use super::Estimate;
use super::b_bit::{self, Chance, curved, inside, linear, score_interval};

/// Registers of one width in a mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the counts of a formula, which callers construct")]
pub struct WidthGroup {
    /// b: number of bits per register.
    pub bits: u32,
    /// Number of registers of this width.
    pub registers: usize,
    /// Probabilities that two registers of this width agree by accident.
    pub chance: Chance,
}

impl WidthGroup {
    /// Returns a group of mixed bits, or of small sets in a large range.
    #[must_use]
    pub fn sparse(bits: u32, registers: usize) -> Self {
        Self { bits, registers, chance: Chance::sparse(bits) }
    }

    /// Returns a group whose minima are ranks in a range. `r1` and `r2` are the sizes of the two sets as shares of the
    /// range.
    #[must_use]
    pub fn known(bits: u32, registers: usize, r1: f64, r2: f64) -> Self {
        Self { bits, registers, chance: Chance::known(bits, r1, r2) }
    }

    /// Returns V: the variance of a sketch with one register of this group.
    fn unit_variance(&self, similarity: f64) -> f64 {
        b_bit::variance(similarity, 1, self.chance)
    }
}

/// Method by which the groups of a mixture are combined into one estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Combination {
    /// Divides all matches by all registers, as in [Yuan 2012](crate#sources), (15); unbiased.
    Pooled,
    /// Weights the estimate of each group by its inverse variance at the pooled estimate; never less exact than
    /// `Pooled`. The pooled estimate is computed at the share (m + ½)/(k + 1), and is at least 0, so that no variance
    /// is 0.
    #[default]
    InverseVariance,
}

fn registers(groups: &[WidthGroup]) -> f64 {
    groups.iter().map(|group| group.registers as f64).sum()
}

/// Returns the mean of a quantity over all registers, Σwᵢ·xᵢ, where `of` returns xᵢ.
fn weighted(groups: &[WidthGroup], of: impl Fn(&WidthGroup) -> f64) -> f64 {
    groups.iter().map(|group| group.registers as f64 * of(group)).sum::<f64>() / registers(groups)
}

/// Returns f: the mean number of bits per register.
#[must_use]
pub fn bits_per_register(groups: &[WidthGroup]) -> f64 {
    weighted(groups, |group| f64::from(group.bits))
}

/// Returns the means of C₁ and C₂ over all registers: Σwᵢ·C₁ᵢ and Σwᵢ·C₂ᵢ.
#[must_use]
pub fn pooled_chance(groups: &[WidthGroup]) -> Chance {
    Chance { c1: weighted(groups, |group| group.chance.c1), c2: weighted(groups, |group| group.chance.c2) }
}

/// Returns the variance of R̂ at this similarity.
#[must_use]
pub fn variance(similarity: f64, groups: &[WidthGroup], combination: Combination) -> f64 {
    match combination {
        Combination::Pooled => {
            let spread = weighted(groups, |group| {
                let probability = group.chance.match_probability(similarity);
                probability * (1.0 - probability)
            });
            spread / (registers(groups) * (1.0 - pooled_chance(groups).c2).powi(2))
        }
        Combination::InverseVariance => groups
            .iter()
            .map(|group| group.registers as f64 / group.unit_variance(similarity))
            .sum::<f64>()
            .recip(),
    }
}

/// Returns F: the variance times the number of stored bits.
#[must_use]
pub fn storage_factor(similarity: f64, groups: &[WidthGroup], combination: Combination) -> f64 {
    bits_per_register(groups) * registers(groups) * variance(similarity, groups, combination)
}

/// Returns R̂ from the matches of each group, not clamped.
///
/// # Panics
/// Panics if there is not exactly one count per group.
#[must_use]
pub fn similarity(matches: &[usize], groups: &[WidthGroup], combination: Combination) -> f64 {
    assert_eq!(matches.len(), groups.len(), "one count for each group");
    let total = matches.iter().sum::<usize>() as f64;
    let chance = pooled_chance(groups);
    match combination {
        Combination::Pooled => chance.similarity(total / registers(groups)),
        Combination::InverseVariance => {
            let own = |group: &WidthGroup, count: usize| {
                group.chance.similarity(count as f64 / group.registers as f64)
            };
            let weighted = groups.iter().zip(matches).zip(weights(matches.iter().sum(), groups));
            weighted.map(|((group, &count), weight)| weight * own(group, count)).sum()
        }
    }
}

/// Returns the weight of each group in [`Combination::InverseVariance`]. `total` is the sum of all matches.
pub(crate) fn weights(total: usize, groups: &[WidthGroup]) -> impl Iterator<Item = f64> {
    let at = pooled_for_weights(total as f64, groups);
    let weight = move |group: &WidthGroup| group.registers as f64 / group.unit_variance(at);
    let sum: f64 = groups.iter().map(weight).sum();
    groups.iter().map(move |group| weight(group) / sum)
}

/// Returns the smallest number of matches of group `group` with which the estimate reaches the threshold for at least
/// one combination of matches of the other groups; `None` if no number is enough.
///
/// The weights of [`Combination::InverseVariance`] depend on the sum of all matches, so more matches may give a lower
/// estimate. For a given sum the weights are fixed. The estimate is then largest if the group with the highest weight
/// per match has as many of the remaining matches as possible, then the next group, and so on. The function tries all
/// sums. With more than 4096 registers this would take too long, so the result is 0.
#[must_use]
pub fn least_matches(
    group: usize,
    groups: &[WidthGroup],
    combination: Combination,
    threshold: f64,
) -> Option<usize> {
    let all = registers(groups) as usize;
    let own = groups[group].registers;
    // Estimates are clamped, so every estimate reaches a threshold of 0 or less.
    if all > MOST_TRIED || threshold <= 0.0 {
        return Some(0);
    }
    let mut matches = vec![0; groups.len()];
    let mut order: Vec<usize> = (0..groups.len()).filter(|&other| other != group).collect();
    let mut reaches = |count: usize| {
        (0..=all - own).any(|rest| {
            let at = pooled_for_weights((count + rest) as f64, groups);
            let per_match = |group: &WidthGroup| 1.0 / (group.unit_variance(at) * (1.0 - group.chance.c2));
            order.sort_by(|&a, &b| per_match(&groups[b]).total_cmp(&per_match(&groups[a])));
            matches[group] = count;
            let mut left = rest;
            for &other in &order {
                matches[other] = left.min(groups[other].registers);
                left -= matches[other];
            }
            // The margin allows for the last digits, because the sum may be added in another order.
            similarity(&matches, groups, combination) >= threshold - 1e-9
        })
    };
    (0..=own).find(|&count| reaches(count))
}

/// Largest number of registers for which [`least_matches`] tries all sums.
const MOST_TRIED: usize = 4096;

/// Returns the similarity at which the variances for the weights are computed.
fn pooled_for_weights(total: f64, groups: &[WidthGroup]) -> f64 {
    pooled_chance(groups).similarity(inside(total, registers(groups))).max(0.0)
}

/// Estimates the similarity of two documents from the matches of each group.
///
/// The interval of `Pooled` is Wilson's for all matches together. It is a little too wide, because the groups differ.
/// The interval of `InverseVariance` contains the similarities at which R̂ is at most 1.96 standard deviations from its
/// mean.
///
/// # Panics
/// Panics if there is not exactly one count per group, or if a count exceeds the registers of its group.
#[must_use]
pub fn estimate(matches: &[usize], groups: &[WidthGroup], combination: Combination) -> Estimate {
    let (count, total) = (matches.iter().sum(), registers(groups) as usize);
    let chance = pooled_chance(groups);
    let spread = |similarity| variance(similarity, groups, combination);
    let pooled = linear(count, total, chance.c1, |share| chance.similarity(share), spread);
    let raw = similarity(matches, groups, combination);
    match combination {
        Combination::Pooled => pooled,
        Combination::InverseVariance => Estimate {
            value: raw.clamp(0.0, 1.0),
            standard_error: pooled.standard_error,
            interval: score_interval(raw.clamp(0.0, 1.0), |j| j, |j| spread(j).sqrt()),
        },
    }
}

/// Returns T: the probability that the exclusive ors of 2ⁿ lowest bits agree, where n = `halvings`.
#[must_use]
pub fn xor_match_probability(similarity: f64, halvings: u32, chance: Chance) -> f64 {
    let one = chance.match_probability(similarity);
    f64::midpoint(1.0, (2.0 * one - 1.0).powi(1 << halvings))
}

/// Returns R̂ from the share of stored bits that agree, not clamped above; a share below ½ counts as ½.
#[must_use]
pub fn xor_similarity(share: f64, halvings: u32, chance: Chance) -> f64 {
    let mut root = (2.0 * share - 1.0).max(0.0);
    for _ in 0..halvings {
        root = root.sqrt();
    }
    (root + 1.0 - 2.0 * chance.c1) / (2.0 - 2.0 * chance.c2)
}

/// Returns the variance of R̂ over k stored bits at this similarity, by the delta method; infinite or NaN where T = ½.
#[must_use]
pub fn xor_variance(similarity: f64, stored_bits: usize, halvings: u32, chance: Chance) -> f64 {
    let t = xor_match_probability(similarity, halvings, chance);
    let permutations = f64::from(halvings).exp2();
    // dR/dT = (2T−1)^(1/2ⁿ−1) / (2ⁿ(1−C₂)).
    let slope = (2.0 * t - 1.0).powf(permutations.recip() - 1.0) / (permutations * (1.0 - chance.c2));
    t * (1.0 - t) / stored_bits as f64 * slope * slope
}

/// Returns Var(R̂ with n − 1)/Var(R̂ with n) at equal stored bits: 2(2t−1)²/(2t²−2t+1), where t is
/// [`xor_match_probability`] with n − 1 (E-25).
#[must_use]
pub fn xor_step_ratio(t: f64) -> f64 {
    2.0 * (2.0 * t - 1.0).powi(2) / (2.0 * t * t - 2.0 * t + 1.0)
}

/// Estimates the similarity from the number of stored bits that agree.
///
/// # Panics
/// Panics if there are no stored bits or more matches than bits.
#[must_use]
pub fn xor_estimate(matches: usize, stored_bits: usize, halvings: u32, chance: Chance) -> Estimate {
    if halvings == 0 {
        return b_bit::estimate(matches, stored_bits, chance);
    }
    let similarity = |share| xor_similarity(share, halvings, chance);
    curved(matches, stored_bits, 0.5, similarity, |j| xor_variance(j, stored_bits, halvings, chance))
}

/// Share of stored bits that are exclusive ors of two lowest bits, in Yuan 2012, (36): ½.
pub const THREE_QUARTER_PAPER: f64 = 0.5;
/// Share of stored bits that must be exclusive ors for a sketch of exactly ¾ bit per register: ⅓.
pub const THREE_QUARTER_EXACT: f64 = 1.0 / 3.0;

/// Returns T, the probability that two stored bits agree. A share `w` of the stored bits are exclusive ors of two bits,
/// and the others are plain bits.
#[must_use]
pub fn three_quarter_match_probability(similarity: f64, w: f64, chance: Chance) -> f64 {
    let one = chance.match_probability(similarity);
    w * xor_match_probability(similarity, 1, chance) + (1.0 - w) * one
}

/// Returns R̂ from the share of stored bits that agree, not clamped.
#[must_use]
pub fn three_quarter_similarity(share: f64, w: f64, chance: Chance) -> f64 {
    if w <= 0.0 {
        return chance.similarity(share);
    }
    let linear = 1.0 - 3.0 * w;
    let root = (linear * linear + 8.0 * w * (share - w)).max(0.0).sqrt();
    chance.similarity((root - linear) / (4.0 * w))
}

/// Returns the variance of R̂ over k stored bits at this similarity, by the delta method.
#[must_use]
pub fn three_quarter_variance(similarity: f64, stored_bits: usize, w: f64, chance: Chance) -> f64 {
    let one = chance.match_probability(similarity);
    let pair = xor_match_probability(similarity, 1, chance);
    let spread = w * pair * (1.0 - pair) + (1.0 - w) * one * (1.0 - one);
    let slope = (4.0 * w * one + 1.0 - 3.0 * w) * (1.0 - chance.c2);
    spread / (stored_bits as f64 * slope * slope)
}

/// Returns the variance if pairs and plain bits were estimated separately and weighted by inverse variance. This
/// variance is at most that of the common estimate.
#[must_use]
pub fn three_quarter_best_variance(similarity: f64, stored_bits: usize, w: f64, chance: Chance) -> f64 {
    let pairs = w / xor_variance(similarity, 1, 1, chance);
    let plain = (1.0 - w) / b_bit::variance(similarity, 1, chance);
    (stored_bits as f64 * (pairs + plain)).recip()
}

/// Estimates the similarity from the number of stored bits that agree.
///
/// # Panics
/// Panics if there are no stored bits or more matches than bits.
#[must_use]
pub fn three_quarter_estimate(matches: usize, stored_bits: usize, w: f64, chance: Chance) -> Estimate {
    let floor = three_quarter_match_probability(0.0, w, chance);
    let similarity = |share| three_quarter_similarity(share, w, chance);
    curved(matches, stored_bits, floor, similarity, |j| three_quarter_variance(j, stored_bits, w, chance))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use super::Combination::{InverseVariance, Pooled};
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 6e-11 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    fn pair(k1: usize, k2: usize) -> [WidthGroup; 2] {
        [WidthGroup::sparse(1, k1), WidthGroup::sparse(2, k2)]
    }

    #[test]
    fn documented_mixtures() {
        for (r, k1, e, k_var, f) in [
            (0.5, 2, 0.6875, 0.54, 0.81),
            (0.8, 3, 0.8875, 0.314_074_074_1, 0.392_592_592_6),
            (0.8, 2, 0.875, 0.2784, 0.4176),
            (0.8, 1, 0.8625, 0.249_917_355_4, 0.437_355_371_9),
        ] {
            let groups = pair(k1, 4 - k1);
            near(pooled_chance(&groups).match_probability(r), e);
            near(4.0 * variance(r, &groups, Pooled), k_var);
            near(storage_factor(r, &groups, Pooled), f);
        }
        near(2.0 * variance(0.5, &pair(1, 1), InverseVariance), 0.535_714_285_7);
        near(storage_factor(0.5, &pair(1, 1), InverseVariance), 1.5 * 0.535_714_285_714);

        let groups = [WidthGroup::known(1, 50, 0.1, 0.05), WidthGroup::known(2, 50, 0.1, 0.05)];
        let chance = pooled_chance(&groups);
        near(chance.c1, 0.353_705_958_4);
        near(chance.c2, 0.348_269_088_5);
        near(chance.match_probability(0.25), 0.516_638_686_3);
        near(100.0 * variance(0.25, &groups, Pooled), 0.566_002_913_3);
        near(storage_factor(0.25, &groups, Pooled), 0.849_004_369_9);

        let groups = [WidthGroup::known(1, 1, 0.5, 0.3), WidthGroup::known(4, 3, 0.5, 0.3)];
        let r = 1.0 / 3.0;
        near(pooled_chance(&groups).match_probability(r), 0.399_230_599_4);
        near(4.0 * variance(r, &groups, Pooled), 0.274_903_806_6);
        near(storage_factor(r, &groups, Pooled), 0.893_437_371_3);
    }

    #[test]
    fn the_least_matches_are_the_least() {
        for groups in [
            vec![WidthGroup::sparse(1, 12), WidthGroup::sparse(2, 12)],
            vec![WidthGroup::sparse(8, 3), WidthGroup::sparse(1, 20)],
            vec![WidthGroup::sparse(1, 7), WidthGroup::sparse(3, 6), WidthGroup::sparse(7, 5)],
        ] {
            let sizes: Vec<usize> = groups.iter().map(|group| group.registers).collect();
            let all = sizes.iter().map(|size| size + 1).product::<usize>();
            let counts = |mut number: usize| -> Vec<usize> {
                let digit = |size: &usize| {
                    let count = number % (size + 1);
                    number /= size + 1;
                    count
                };
                sizes.iter().map(digit).collect()
            };
            for combination in [Pooled, InverseVariance] {
                for threshold in [0.01, 0.5, 0.8, 0.95, 1.0] {
                    for group in 0..groups.len() {
                        let reaching = (0..all)
                            .map(counts)
                            .filter(|counts| similarity(counts, &groups, combination) >= threshold - 1e-9);
                        let expected = reaching.map(|counts| counts[group]).min();
                        assert_eq!(least_matches(group, &groups, combination, threshold), expected);
                    }
                }
            }
        }
    }

    /// The variance has the weight w, not w² as printed (E-16).
    #[test]
    fn the_weights_of_the_variance() {
        let printed = |r: f64, groups: &[WidthGroup]| {
            let spread: f64 = groups
                .iter()
                .map(|group| {
                    let (w, e) =
                        (group.registers as f64 / registers(groups), group.chance.match_probability(r));
                    w * w * e * (1.0 - e)
                })
                .sum();
            spread / (1.0 - pooled_chance(groups).c2).powi(2)
        };
        let sparse = (0.0, 0.0);
        for (r, (r1, r2), weights, right, wrong) in [
            (0.5, sparse, [3, 1, 0], 0.6296, 0.3796),
            (0.5, sparse, [2, 2, 0], 0.5400, 0.2700),
            (0.5, sparse, [1, 3, 0], 0.4711, 0.3037),
            (0.9, sparse, [2, 2, 0], 0.1496, 0.0748),
            (0.2, (0.3, 0.1), [2, 2, 0], 0.4730, 0.2365),
            (1.0 / 3.0, (0.5, 0.3), [2, 2, 0], 0.4050, 0.2025),
            (0.5, sparse, [2, 3, 5], 0.3971, 0.1550),
        ] {
            let groups: Vec<WidthGroup> = (1..)
                .zip(weights)
                .map(|(bits, registers)| WidthGroup::known(bits, registers, r1, r2))
                .collect();
            let found = registers(&groups) * variance(r, &groups, Pooled);
            assert!((found - right).abs() < 5.1e-5, "{found} is not {right}");
            assert!((printed(r, &groups) - wrong).abs() < 5.1e-5, "{} is not {wrong}", printed(r, &groups));
        }
    }

    /// f = 1½ in the table at equal storage: no mixture is better than the better of its widths (E-17).
    #[test]
    fn a_mixture_never_beats_its_widths() {
        for (j, expected) in [
            (0.3, 0.916),
            (0.5, 0.810),
            (0.7, 0.580),
            (0.8, 0.418),
            (0.9, 0.224),
            (0.95, 0.116),
            (0.99, 0.0238),
        ] {
            let found = storage_factor(j, &pair(1, 1), Pooled);
            assert!((found - expected).abs() < 5.1e-4, "{j}: {found}");
        }
        for step in 1..100 {
            let j = f64::from(step) / 100.0;
            for b2 in 2..=8 {
                for k1 in 1..8 {
                    let groups = [WidthGroup::sparse(1, k1), WidthGroup::sparse(b2, 8 - k1)];
                    let best = storage_factor(j, &groups, InverseVariance);
                    let alone = |bits| b_bit::storage_factor(j, bits, Chance::sparse(bits));
                    assert!(best <= storage_factor(j, &groups, Pooled) * (1.0 + 1e-12));
                    assert!(best >= alone(1).min(alone(b2)) * (1.0 - 1e-12));
                }
            }
        }
    }

    #[test]
    fn one_width_is_b_bit() {
        let groups = [WidthGroup::sparse(3, 100)];
        for combination in [Pooled, InverseVariance] {
            for matches in [0, 30, 80, 100] {
                let found = estimate(&[matches], &groups, combination);
                let plain = b_bit::estimate(matches, 100, Chance::sparse(3));
                near(found.value, plain.value);
                near(found.standard_error, plain.standard_error);
                assert!((found.interval.1 - plain.interval.1).abs() < 0.02, "{found:?} {plain:?}");
            }
            near(variance(0.7, &groups, combination), b_bit::variance(0.7, 100, Chance::sparse(3)));
        }
    }

    #[test]
    fn documented_exclusive_ors() {
        for (r, n, (r1, r2), e1, t, k_var, ratio) in [
            (0.9, 1, (0.0, 0.0), 0.95, 0.905, 0.106_141_975_3, 1.790_055_248_6),
            (0.9, 2, (0.0, 0.0), 0.95, 0.828_05, 0.066_979_776_4, 2.836_677_129_7),
            (0.9, 3, (0.0, 0.0), 0.95, 0.715_233_605_0, 0.055_644_409_0, 3.414_538_917_5),
            (0.5, 1, (0.0, 0.0), 0.75, 0.625, 0.9375, 0.8),
            (0.5, 1, (0.5, 0.3), 0.700_980_392_2, 0.580_786_236_1, 0.927_679_838_0, 0.556_392_221_8),
            (0.45, 2, (0.2, 0.1), 0.709_551_656_9, 0.515_426_037_5, 9.669_378_138_5, 0.071_543_971_5),
        ] {
            let chance = Chance::known(1, r1, r2);
            near(chance.match_probability(r), e1);
            near(xor_match_probability(r, n, chance), t);
            near(xor_variance(r, 1, n, chance), k_var);
            near(b_bit::variance(r, 1, chance) / xor_variance(r, 1, n, chance), ratio);
            near(xor_similarity(xor_match_probability(r, n, chance), n, chance), r);
        }
        for (n, ratio) in [(1, 1.979_900), (2, 3.880_216), (3, 7.448_620)] {
            let chance = Chance::sparse(1);
            let found = b_bit::variance(0.99, 1, chance) / xor_variance(0.99, 1, n, chance);
            assert!((found - ratio).abs() < 5.1e-7, "{found}");
        }
    }

    #[test]
    fn exclusive_ors_as_the_recursion_has_them() {
        for r in [0.3, 0.5, 0.9] {
            let chance = Chance::known(1, 0.2, 0.1);
            for n in 0..4 {
                let t = xor_match_probability(r, n, chance);
                near(xor_match_probability(r, n + 1, chance), t * t + (1.0 - t) * (1.0 - t));
                near(xor_variance(r, 7, n, chance) / xor_variance(r, 7, n + 1, chance), xor_step_ratio(t));
                let power = i32::pow(2, n + 1);
                let sparse = (1.0 - r.powi(power)) / (4_f64.powf(f64::from(n)) * r.powi(power - 2));
                near(xor_variance(r, 1, n, Chance::sparse(1)), sparse);
            }
            near(xor_variance(r, 9, 0, chance), b_bit::variance(r, 9, chance));
        }
    }

    #[test]
    fn where_exclusive_ors_pay() {
        let k_var = |r: f64, n: u32| xor_variance(r, 1, n, Chance::sparse(1));
        for (n, bound) in [(1, 0.577_350), (2, 0.759_836), (3, 0.871_686), (4, 0.933_641)] {
            assert!((3_f64.powf(-(0.5_f64.powf(f64::from(n)))) - bound).abs() < 5.1e-7);
            assert!(k_var(bound + 2e-6, n) < k_var(bound + 2e-6, n - 1));
            assert!(k_var(bound - 2e-6, n) > k_var(bound - 2e-6, n - 1));
        }
        // Similarities from which on a fraction has less variance than one bit. Yuan 2012, §4, has 0.8 for all of them
        // (E-26).
        for (n, bound) in [(1, 0.577_350), (2, 0.697_164), (3, 0.796_949)] {
            assert!(k_var(bound + 2e-6, n) < k_var(bound + 2e-6, 0));
            assert!(k_var(bound - 2e-6, n) > k_var(bound - 2e-6, 0));
        }
        // With equal numbers of registers, fractions are never better than one bit (E-23).
        for (r, row) in [(0.9, [0.190, 0.212, 0.268, 0.445]), (0.99, [0.0199, 0.0201, 0.0205, 0.0214])] {
            for (n, expected) in (0_u32..).zip(row) {
                let found = f64::from(n).exp2() * k_var(r, n);
                assert!((found - expected).abs() < 5.1e-4, "{r} {n}: {found}");
            }
        }
        // docs/sources/bits.md#variance-times-stored-bits.
        for (j, row) in [
            (0.3, [2.755, 85.7, f64::NAN]),
            (0.5, [0.938, 3.98, 256.0]),
            (0.7, [0.388, 0.501, 2.30]),
            (0.8, [0.231, 0.198, 0.345]),
            (0.9, [0.106, 0.0670, 0.0556]),
            (0.95, [0.0514, 0.0286, 0.0179]),
            (0.99, [0.0101, 0.0051, 0.0027]),
        ] {
            for (n, expected) in (1..).zip(row).filter(|(_, expected)| !expected.is_nan()) {
                assert!(
                    (k_var(j, n) - expected).abs() < 0.002 * expected + 5.1e-5,
                    "{j} {n}: {}",
                    k_var(j, n)
                );
            }
        }
    }

    /// C₂ in the numerator, as printed, causes a bias of (C₁−C₂)/(1−C₂) (E-21).
    #[test]
    fn the_numerator_has_c1() {
        let chance = Chance::known(1, 0.5, 0.3);
        let share = xor_match_probability(0.5, 1, chance);
        let printed = xor_similarity(share, 1, Chance { c1: chance.c2, c2: chance.c2 });
        near(xor_similarity(share, 1, chance), 0.5);
        assert!((printed - 0.5308).abs() < 5.1e-5, "{printed}");
    }

    /// Below E₁ = ½ the positive root is the mirror image (E-22).
    #[test]
    fn the_branch_of_the_root() {
        let chance = Chance::known(1, 0.5, 0.1);
        let limit = xor_similarity(xor_match_probability(0.05, 1, chance), 1, chance);
        assert!((limit - 0.1045).abs() < 5.1e-5, "{limit}");
        let equal = Chance::known(1, 0.3, 0.3);
        near((0.5 - equal.c1) / (1.0 - equal.c2), 0.15);
    }

    #[test]
    fn documented_three_quarters() {
        let chance = Chance::sparse(1);
        for (r, paper, paper_var, exact, exact_var) in [
            (0.2, 0.56, 1.998_367_346_9, 0.573_333_333_3, 1.52),
            (0.5, 0.6875, 0.843_75, 0.708_333_333_3, 0.8125),
            (0.9, 0.9275, 0.136_198_979_6, 0.935, 0.150_394_736_8),
        ] {
            for (w, t, k_var) in
                [(THREE_QUARTER_PAPER, paper, paper_var), (THREE_QUARTER_EXACT, exact, exact_var)]
            {
                near(three_quarter_match_probability(r, w, chance), t);
                near(three_quarter_variance(r, 1, w, chance), k_var);
                let exact_t = three_quarter_match_probability(r, w, chance);
                near(three_quarter_similarity(exact_t, w, chance), r);
                assert!(three_quarter_best_variance(r, 1, w, chance) <= k_var + 1e-12);
            }
        }
    }

    #[test]
    fn three_quarters_in_the_printed_form() {
        for (r1, r2, r) in [(0.0, 0.0, 0.4), (0.5, 0.3, 0.2), (0.5, 0.5, 0.0)] {
            let chance = Chance::known(1, r1, r2);
            let t = three_quarter_match_probability(r, 0.5, chance);
            let one = chance.match_probability(r);
            near(t, 0.5 * (2.0 * one * one - one + 1.0));
            let printed = ((16.0 * t - 7.0).sqrt() + 1.0 - 4.0 * chance.c1) / (4.0 - 4.0 * chance.c2);
            near(three_quarter_similarity(t, 0.5, chance), printed);
            near(printed, r);
            let exact = three_quarter_match_probability(r, THREE_QUARTER_EXACT, chance);
            near(exact, (2.0 * one * one + 1.0) / 3.0);
        }
        let sparse = Chance::sparse(1);
        // For a share below the range of T, the root is 0, not NaN.
        near(three_quarter_similarity(0.3, 0.5, sparse), -0.5);
        near(three_quarter_similarity(0.8, 0.0, sparse), 0.6);
        near(three_quarter_similarity(0.8, 1.0, sparse), xor_similarity(0.8, 1, sparse));
    }

    #[test]
    fn estimates_stay_inside_and_are_never_certain() {
        let check = |found: Estimate| {
            let (low, high) = found.interval;
            assert!(0.0 <= low && low <= found.value && found.value <= high && high <= 1.0, "{found:?}");
            assert!(found.standard_error > 0.0 && found.standard_error <= FRAC_1_SQRT_2, "{found:?}");
        };
        for matches in 0..=100 {
            for n in 0..=4 {
                check(xor_estimate(matches, 100, n, Chance::sparse(1)));
            }
            for w in [THREE_QUARTER_PAPER, THREE_QUARTER_EXACT] {
                check(three_quarter_estimate(matches, 100, w, Chance::sparse(1)));
            }
            for combination in [Pooled, InverseVariance] {
                let low = matches.saturating_sub(50);
                check(estimate(&[matches - low, low], &pair(50, 50), combination));
            }
        }
    }
}
