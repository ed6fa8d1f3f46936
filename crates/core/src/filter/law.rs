//! Probability distributions of the number of registers in which two documents at the threshold agree.
//!
//! The filter needs only one property of a sketch: the distribution of X, the number of agreements among all K
//! registers. If registers are compared in an order in which no register is special, the agreements among the first k
//! are a random part of X, whatever the dependence between registers ([`walk`](super::walk)).
//!
//! The computation consists of + − × ÷ in a fixed order, so every machine gets the same numbers. Terms are computed
//! from the largest outwards and divided by their sum, so nothing overflows. The neglected terms are far below the
//! smallest error that a budget may have.

use std::iter::successors;
use std::ops::RangeInclusive;

/// Smallest ratio of a term to the largest term. Smaller terms change no result, and are slow to compute with.
const SMALLEST: f64 = 1e-290;

/// Probabilities of 0, 1, … K agreements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Law(Vec<f64>);

impl Law {
    /// Returns the distribution of K registers that agree with probability `p` each, independently of each other.
    pub(super) fn independent(p: f64, registers: usize) -> Self {
        let mut sum = LawMixture::new(registers, SMALLEST);
        sum.add_binomial(0, registers, p, 1.0);
        sum.into_law()
    }

    /// Returns K, the number of registers.
    pub(super) fn registers(&self) -> usize {
        self.0.len() - 1
    }

    pub(super) fn probabilities(&self) -> &[f64] {
        &self.0
    }

    /// Returns the distribution of the number of registers that do not agree.
    pub(super) fn mirrored(&self) -> Self {
        Self(self.0.iter().rev().copied().collect())
    }

    /// Returns the distribution if registers that differ also count as agreeing with probability `chance`,
    /// independently of each other, because only a few bits of each register are compared.
    pub(super) fn with_chance(&self, chance: f64, floor: f64) -> Self {
        let registers = self.registers();
        let mut sum = LawMixture::new(registers, floor);
        for (matches, &weight) in self.0.iter().enumerate() {
            sum.add_binomial(matches, registers - matches, chance, weight);
        }
        sum.into_law()
    }
}

/// Sum of simple distributions, each with its weight.
#[derive(Debug)]
pub(super) struct LawMixture {
    law: Vec<f64>,
    /// Upper bound of negligible probabilities. [`add`](Self::add) leaves out a term if its ratio to the term at the
    /// mode, times the weight of the added distribution, is at most `floor`, and scales the other terms up. If the
    /// weight itself is below `floor`, `add` replaces the distribution by its smallest number.
    floor: f64,
}

impl LawMixture {
    /// Creates an empty mixture for numbers from 0 to `most`.
    pub(super) fn new(most: usize, floor: f64) -> Self {
        Self { law: vec![0.0; most + 1], floor }
    }

    pub(super) fn into_law(self) -> Law {
        Law(self.law)
    }

    /// Adds the distribution in which `matches` has probability 1.
    pub(super) fn add_certain(&mut self, matches: usize, weight: f64) {
        self.law[matches] += weight;
    }

    /// Adds the distribution of `offset` plus a binomial number of `trials` trials.
    pub(super) fn add_binomial(&mut self, offset: usize, trials: usize, p: f64, weight: f64) {
        if p <= 0.0 || trials == 0 {
            self.add_certain(offset, weight);
        } else if p >= 1.0 {
            self.add_certain(offset + trials, weight);
        } else {
            let n = trials as f64;
            let odds = p / (1.0 - p);
            let mode = (((n + 1.0) * p) as usize).min(trials);
            self.add(offset, 0..=trials, mode, weight, |i| (n - i) / (i + 1.0) * odds);
        }
    }

    /// Adds the distribution of the number of marked items in a sample of `drawn` items. The sample is drawn without
    /// replacement from `all` items, and `marked` of all items are marked.
    pub(super) fn add_hypergeometric(&mut self, all: usize, marked: usize, drawn: usize, weight: f64) {
        let (least, most) = ((marked + drawn).saturating_sub(all), marked.min(drawn));
        let (n, a, d) = (all as f64, marked as f64, drawn as f64);
        let mode = (((a + 1.0) * (d + 1.0) / (n + 2.0)) as usize).clamp(least, most);
        let ratio = |i: f64| (a - i) * (d - i) / ((i + 1.0) * (n - a - d + i + 1.0));
        self.add(0, least..=most, mode, weight, ratio);
    }

    /// Adds the distribution of `offset` plus a number in `range`. This number has one mode, at or near `mode`, and
    /// `ratio(i)` is the probability of i + 1 divided by the probability of i.
    pub(super) fn add(
        &mut self,
        offset: usize,
        range: RangeInclusive<usize>,
        mode: usize,
        weight: f64,
        ratio: impl Fn(f64) -> f64,
    ) {
        if weight < self.floor {
            self.add_certain(offset + range.start(), weight);
            return;
        }
        let least = self.floor / weight;
        let down = successors(Some((mode, 1.0)), |&(i, term)| {
            (i > *range.start()).then(|| (i - 1, term / ratio((i - 1) as f64)))
        });
        let up = successors(Some((mode, 1.0)), |&(i, term)| {
            (i < *range.end()).then(|| (i + 1, term * ratio(i as f64)))
        });
        // If `mode` is off by one, a neighbouring term is above 1; the terms fall after it, so only the tails are cut.
        let terms: Vec<(usize, f64)> = down
            .take_while(|&(_, term)| term > least)
            .chain(up.skip(1).take_while(|&(_, term)| term > least))
            .collect();
        let scale = weight / terms.iter().map(|(_, term)| term).sum::<f64>();
        for (i, term) in terms {
            self.law[offset + i] += term * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a sum of positive terms with its expected value, up to the rounding of products of at most `factors`
    /// factors.
    fn near(found: f64, expected: f64, factors: usize) {
        let allowed = 4.0 * factors as f64 * f64::EPSILON * expected;
        assert!((found - expected).abs() <= allowed, "{found} is not {expected}");
    }

    #[test]
    fn small_laws_by_hand() {
        let law = Law::independent(0.25, 3);
        for (found, expected) in law.probabilities().iter().zip([27.0, 27.0, 9.0, 1.0]) {
            near(*found, expected / 64.0, 4);
        }
        let hypergeometric = |all, marked, drawn| {
            let mut sum = LawMixture::new(drawn, SMALLEST);
            sum.add_hypergeometric(all, marked, drawn, 1.0);
            sum.into_law()
        };
        // Two of five items are marked and two are drawn: none marked 3/10, one marked 6/10, both marked 1/10.
        for (found, expected) in hypergeometric(5, 2, 2).probabilities().iter().zip([0.3, 0.6, 0.1]) {
            near(*found, expected, 4);
        }
        // More items are drawn than are unmarked.
        for (found, expected) in hypergeometric(5, 4, 3).probabilities().iter().zip([0.0, 0.0, 0.6, 0.4]) {
            near(*found, expected, 4);
        }
    }

    #[test]
    fn every_law_has_mass_one() {
        for registers in [1, 2, 100, 1024, 65_536] {
            for p in [1e-9, 0.003, 0.5, 0.8, 0.999_999] {
                near(Law::independent(p, registers).probabilities().iter().sum(), 1.0, registers + 1);
            }
        }
    }

    #[test]
    fn chance_on_top_of_independent_registers_is_a_greater_probability() {
        let with_chance = Law::independent(0.6, 40).with_chance(0.25, SMALLEST);
        for (found, expected) in
            with_chance.probabilities().iter().zip(Law::independent(0.7, 40).probabilities())
        {
            near(*found, *expected, 200);
        }
    }
}
