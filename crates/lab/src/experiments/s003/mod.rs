//! The consistent weighted sampling of Yuan 2019 and its filter.

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

/// How the similarities of pairs are spread. The source's FUNDS are not public; its UNIFORM and GAUSSIAN are made of them,
/// and the parameters of the latter are not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SimilaritySpread {
    /// Evenly from 0 to 1.
    Uniform,
    /// Around ½ with a standard deviation of 0.15, cut at 0 and 1.
    Gaussian,
    /// The stand-in for FUNDS: a share x/(a + (1 − a)x) of the pairs has a similarity of x or less, a = [`FUNDS`]. It has the two
    /// filtering rates that the source states of FUNDS, more than 90 % at T = 0.8 and about 50 % at T = 0.3, and is simple.
    Funds,
}

/// a of the stand-in for FUNDS: half of its pairs are below a/(1 + a) = 0.115, which 11 of 100 matches divide.
const FUNDS: f64 = 0.13;
/// The standard deviation of GAUSSIAN.
const DEVIATION: f64 = 0.15;

impl SimilaritySpread {
    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Funds => "stand-in for FUNDS",
        }
    }

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Uniform => random.unit(),
            Self::Gaussian => (0.5 + DEVIATION * random.normal()).clamp(0.0, 1.0),
            Self::Funds => of_funds(random.unit()),
        }
    }

    /// Similarities with their weights, which sum to 1: the law of [`draw`](Self::draw) in small steps.
    fn nodes(self) -> Vec<(f64, f64)> {
        const STEPS: u32 = 4000;
        let middle = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
        let even = 1.0 / f64::from(STEPS);
        match self {
            Self::Uniform => (0..STEPS).map(|step| (middle(step), even)).collect(),
            Self::Funds => (0..STEPS).map(|step| (of_funds(middle(step)), even)).collect(),
            // The sum of twelve even numbers lies between 0 and 12.
            Self::Gaussian => (0..STEPS)
                .map(|step| {
                    let sum = 12.0 * middle(step);
                    ((0.5 + DEVIATION * (sum - 6.0)).clamp(0.0, 1.0), 12.0 * even * density_of_twelve(sum))
                })
                .collect(),
        }
    }
}

/// The similarity below which this share of the stand-in for FUNDS lies.
fn of_funds(share: f64) -> f64 {
    FUNDS * share / (1.0 - (1.0 - FUNDS) * share)
}

/// The density of the sum of twelve even numbers from 0 to 1 (Irwin and Hall).
fn density_of_twelve(sum: f64) -> f64 {
    // The terms of the lower half cancel less.
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

/// Which of a pair's registers agree, for each of many pairs of one spread.
fn agreements(spread: SimilaritySpread, count: u64, registers: usize, seed: u64) -> Vec<Vec<bool>> {
    let draw = |pair| {
        let mut random = Random::new(seed, &[spread as u64, pair]);
        let similarity = spread.draw(&mut random);
        (0..registers).map(|_| random.happens(similarity)).collect()
    };
    (0..count).map(draw).collect()
}

/// The similarities of all pairs of the data, if they are there.
fn of_data(context: &Context<'_>) -> Result<Option<Vec<f64>>> {
    let Some(folder) = context.data_if_there(SPACE) else { return Ok(None) };
    let sets = term_sets(&data::texts(&folder)?);
    Ok(Some(pairs(sets.len()).map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard()).collect()))
}

/// The source's filter: e at each look.
fn per_look(threshold: f64, registers: usize, looks: &[usize], error: f64) -> Result<Filter> {
    Ok(Filter::new(threshold, registers, looks, ErrorBudget::PerLook(error))?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
                // A node stands for its step, which the bound may cut.
                assert!((share - p).abs() < 5.0 * error + 0.001, "{spread:?} {bound}: {share} {p}");
            }
        }
    }
}
