//! The fourth source's consistent weighted sampling and its filter.

pub(crate) mod algorithm_1;
pub(crate) mod figure_10;
pub(crate) mod figure_5;
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
    /// Mostly unlike, as the pairs of a collection are: the eighth power of an even number.
    Unlike,
}

impl SimilaritySpread {
    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Unlike => "mostly unlike",
        }
    }

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Uniform => random.unit(),
            Self::Gaussian => (0.5 + 0.15 * random.normal()).clamp(0.0, 1.0),
            Self::Unlike => random.unit().powi(8),
        }
    }
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
