//! Experiments of Yuan 2019 with consistent weighted sampling and its filter.

pub(crate) mod algorithm_1;
pub(crate) mod figure_10;
pub(crate) mod figure_5;
pub(crate) mod figure_7;
pub(crate) mod figure_8;
pub(crate) mod figure_9;
pub(crate) mod looks;
mod sampling;
pub(crate) mod section_6_5;
pub(crate) mod table_1;

use anyhow::Result;
use minwise::filter::{ErrorBudget, Filter};
use minwise::verify::Overlap;
use serde::Deserialize;

use crate::data;
use crate::experiment::Context;
use crate::experiments::s004::{SPACE, pairs, term_sets};
use crate::simulate::Random;

/// Distribution of the similarities of pairs. The source's FUNDS are not public. Its UNIFORM and GAUSSIAN are made from
/// FUNDS, and the source does not state the parameters of GAUSSIAN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SimilaritySpread {
    /// The similarities are spread evenly from 0 to 1.
    Uniform,
    /// Normal distribution with mean ½ and standard deviation 0.15. Values below 0 count as 0, values above 1 as 1.
    Gaussian,
    /// Stand-in for FUNDS: a share x/(a + (1 − a)x) of the pairs has a similarity of at most x, with a = [`FUNDS`].
    /// This simple distribution has the two filtering rates that the source states for FUNDS: more than 90 % at T = 0.8
    /// and about 50 % at T = 0.3.
    Funds,
}

/// Parameter a of the stand-in for FUNDS. Half of its pairs are below a/(1 + a) = 0.115, which a look of 100 registers
/// divides at 11 matches.
const FUNDS: f64 = 0.13;
/// Standard deviation of GAUSSIAN.
const DEVIATION: f64 = 0.15;

impl SimilaritySpread {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Funds => "stand-in for FUNDS",
        }
    }

    /// Returns the name in file names.
    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Funds => "funds",
        }
    }

    pub(super) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Uniform => random.unit(),
            Self::Gaussian => (0.5 + DEVIATION * random.normal()).clamp(0.0, 1.0),
            Self::Funds => of_funds(random.unit()),
        }
    }

    /// Returns similarities with their weights, which sum to 1: the distribution of [`draw`](Self::draw) in 4000 small
    /// steps.
    fn nodes(self) -> Vec<(f64, f64)> {
        self.nodes_in(4000)
    }

    /// Returns the distribution of [`draw`](Self::draw) in this number of steps.
    fn nodes_in(self, steps: u32) -> Vec<(f64, f64)> {
        let middle = |step: u32| (f64::from(step) + 0.5) / f64::from(steps);
        let even = 1.0 / f64::from(steps);
        match self {
            Self::Uniform => (0..steps).map(|step| (middle(step), even)).collect(),
            Self::Funds => (0..steps).map(|step| (of_funds(middle(step)), even)).collect(),
            // GAUSSIAN is drawn as the sum of twelve uniform numbers, which lies between 0 and 12.
            Self::Gaussian => (0..steps)
                .map(|step| {
                    let sum = 12.0 * middle(step);
                    ((0.5 + DEVIATION * (sum - 6.0)).clamp(0.0, 1.0), 12.0 * even * density_of_twelve(sum))
                })
                .collect(),
        }
    }
}

/// Returns the density of the stand-in for FUNDS at a similarity.
pub(super) fn density_of_funds(similarity: f64) -> f64 {
    FUNDS / (FUNDS + (1.0 - FUNDS) * similarity).powi(2)
}

/// Returns the share of pairs of the stand-in for FUNDS that have at least a similarity.
pub(super) fn share_of_funds_from(similarity: f64) -> f64 {
    1.0 - similarity / (FUNDS + (1.0 - FUNDS) * similarity)
}

/// Returns the similarity at a quantile of the stand-in for FUNDS.
fn of_funds(share: f64) -> f64 {
    FUNDS * share / (1.0 - (1.0 - FUNDS) * share)
}

/// Returns the density of the sum of twelve uniform numbers from 0 to 1 (Irwin and Hall).
fn density_of_twelve(sum: f64) -> f64 {
    // The density is symmetric, and in the lower half its terms cancel less.
    let sum = sum.min(12.0 - sum);
    let (mut total, mut binomial) = (0.0, 1.0);
    for k in 0..12 {
        let k = f64::from(k);
        if sum > k {
            total += binomial * (sum - k).powi(11);
        }
        binomial *= -(12.0 - k) / (k + 1.0);
    }
    total / 39_916_800.0
}

/// Returns, for each of `count` pairs of one distribution, which registers agree.
fn agreements(spread: SimilaritySpread, count: u64, registers: usize, seed: u64) -> Vec<Vec<bool>> {
    let draw = |pair| {
        let mut random = Random::new(seed, &[spread as u64, pair]);
        let similarity = spread.draw(&mut random);
        (0..registers).map(|_| random.happens(similarity)).collect()
    };
    (0..count).map(draw).collect()
}

/// Returns the similarities of all pairs of the data, if the data exist.
fn of_data(context: &Context<'_>) -> Result<Option<Vec<f64>>> {
    let Some(folder) = context.data_if_there(SPACE) else { return Ok(None) };
    let sets = term_sets(&data::texts(&folder)?);
    Ok(Some(pairs(sets.len()).map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard()).collect()))
}

/// Returns the source's filter, with the error e at each look.
fn per_look(threshold: f64, registers: usize, looks: &[usize], error: f64) -> Result<Filter> {
    Ok(Filter::new(threshold, registers, looks, ErrorBudget::PerLook(error))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_and_shares_of_funds_are_those_of_its_quantiles() {
        for share in [0.1, 0.5, 0.9, 0.99] {
            let at = of_funds(share);
            assert!((share_of_funds_from(at) - (1.0 - share)).abs() < 1e-12);
            let slope = (of_funds(share + 1e-6) - of_funds(share - 1e-6)) / 2e-6;
            assert!((density_of_funds(at) * slope - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn nodes_are_the_law_that_is_drawn() {
        for spread in [SimilaritySpread::Uniform, SimilaritySpread::Gaussian, SimilaritySpread::Funds] {
            let nodes = spread.nodes();
            let total: f64 = nodes.iter().map(|node| node.1).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
            let mut random = Random::new(1, &[]);
            let n = 100_000;
            let drawn: Vec<f64> = (0..n).map(|_| spread.draw(&mut random)).collect();
            for bound in [0.05, 0.115, 0.3, 0.5, 0.62, 0.8, 0.95] {
                let share = drawn.iter().filter(|&&x| x < bound).count() as f64 / f64::from(n);
                let p: f64 = nodes.iter().filter(|node| node.0 < bound).map(|node| node.1).sum();
                let error = (p * (1.0 - p) / f64::from(n)).sqrt();
                // A node stands for its step, and the bound may cut this step.
                assert!((share - p).abs() < 5.0 * error + 0.001, "{spread:?} {bound}: {share} {p}");
            }
        }
    }
}
