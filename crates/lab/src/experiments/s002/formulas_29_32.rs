//! Formulas 29 to 32: the estimator of half bits, as printed and corrected.

use anyhow::{Context as _, Result};
use minwise::estimate::b_bit::Chance;
use minwise::estimate::fractional_bit::{xor_similarity, xor_variance};
use serde::Deserialize;

use super::printed;
use crate::check::{Check, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::measure::TrialStatistics;
use crate::simulate::{Random, Universe};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    stored_bits: usize,
    trials: u64,
    range: u64,
    shares: [f64; 2],
    similarity: f64,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let Settings { stored_bits, trials, range, shares: [a, b], similarity } = context.settings()?;
    let universe = Universe::new(range, a, b, similarity).context("there is room for both sets")?;
    let (r1, r2) = universe.shares();
    let chance = Chance::known(1, r1, r2);
    let numbers: Vec<u64> = (0..trials).collect();
    let shares = context.map(&numbers, |&trial| {
        let mut random = Random::new(context.seed(), &[trial]);
        let mut bit = || {
            let (a, b) = universe.minima(&mut random);
            (a ^ b) & 1
        };
        let agreeing = (0..stored_bits).filter(|_| bit() ^ bit() == 0).count();
        agreeing as f64 / stored_bits as f64
    });
    let spread_of = |estimator: fn(f64, u32, Chance) -> f64| {
        TrialStatistics::of(&shares.iter().map(|&share| estimator(share, 1, chance)).collect::<Vec<_>>())
    };
    let (right, wrong) = (spread_of(xor_similarity), spread_of(printed::xor_similarity));
    let truth = universe.similarity();
    let error = |spread: &TrialStatistics| (spread.variance / trials as f64).sqrt();
    // The square root is not linear: E[R̂] − R is −Var·(1−C₂)/(2T−1)^½, to the second order in the spread of T̂. (R̂ =
    // (√g + …)/(2−2C₂), and the second derivative of √g over twice the square of the first is −1/√g.)
    let g = 2.0 * minwise::estimate::fractional_bit::xor_match_probability(truth, 1, chance) - 1.0;
    let bend = -xor_variance(truth, stored_bits, 1, chance) * (1.0 - chance.c2) / g.sqrt();
    let shift = (chance.c1 - chance.c2) / (1.0 - chance.c2);

    let mut table = Table::new(
        "means",
        "Means of the estimates",
        &["estimator", "mean", "standard error", "expected", "R"],
    );
    for (name, spread, shift) in [("with C₁", &right, 0.0), ("with C₂, as printed", &wrong, shift)] {
        let expected = truth + bend + shift;
        table.push(vec![
            name.into(),
            spread.mean.into(),
            error(spread).into(),
            expected.into(),
            truth.into(),
        ]);
    }
    let is_right = (wrong.mean - truth - bend).abs() <= STANDARD_ERRORS * error(&wrong);
    Ok(ExperimentFindings::default().table(table).checks([
        Check::simulated("the mean with C₁ is the similarity", right.mean, truth + bend, error(&right)),
        Check::simulated(
            "the printed form is off by (C₁ − C₂)/(1 − C₂)",
            wrong.mean,
            truth + bend + shift,
            error(&wrong),
        ),
        Check::stated(
            "the mean as printed is the similarity",
            significant(wrong.mean),
            significant(truth),
            is_right,
        )
        .erratum("E-21"),
    ]))
}
