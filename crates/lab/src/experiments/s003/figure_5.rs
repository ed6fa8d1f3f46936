//! Figure 5: the thresholds of a look.

use anyhow::Result;
use serde::Deserialize;

use super::per_look;
use crate::check::{Check, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, line, points};
use crate::plot::Axis;
use crate::simulate::binomial::Binomial;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    threshold: f64,
    registers: usize,
    error: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    lower: Printed,
    upper: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    lower: Printed,
    upper: Printed,
    at_most_lower: Printed,
    at_least_upper: Printed,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let Settings { threshold, registers, error } = context.settings()?;
    let published: Published = context.published()?;
    let expected: Expected = context.expected()?;
    let filter = per_look(threshold, registers, &[registers], error)?;
    let look = filter.looks().first();
    let (lower, upper) =
        (look.and_then(|look| look.lower).unwrap_or(0), look.and_then(|look| look.upper).unwrap_or(0));
    let law = Binomial::new(registers, threshold);
    let at = |tail: &dyn Fn(usize) -> f64| (0..=registers).map(|m| (m as f64, tail(m))).collect::<Vec<_>>();
    let picture = chart(
        "Tails of the matches at T = 0.8",
        "The lower tail crosses the error between 61 and 62 matches, the upper one between 95 and 96.",
        Axis::linear("matches of 100").between(40.0, 100.0),
        Axis::log("probability").between(1e-12, 1.0),
        vec![
            line("P(X ≤ m)", at(&|m| law.at_most(m))),
            line("P(X ≥ m)", at(&|m| law.at_least(m))),
            line("the error", vec![(0.0, error), (100.0, error)]),
            points("thresholds", &[(lower as f64, law.at_most(lower)), (upper as f64, law.at_least(upper))]),
            points(
                "as printed",
                &[
                    (published.lower.value, law.at_most(published.lower.value as usize)),
                    (published.upper.value, law.at_least(published.upper.value as usize)),
                ],
            ),
        ],
    );
    Ok(ExperimentFindings::default().chart("tails", picture).checks([
        Check::known("the most matches that are too few", lower as f64, &expected.lower),
        Check::known("the fewest matches that are enough", upper as f64, &expected.upper),
        Check::known("P(X ≤ 61)", law.at_most(lower), &expected.at_most_lower),
        Check::known("P(X ≥ 96)", law.at_least(upper), &expected.at_least_upper),
        Check::published("the most matches that are too few", lower as f64, &published.lower).erratum("E-48"),
        Check::published("the fewest matches that are enough", upper as f64, &published.upper)
            .erratum("E-48"),
    ]))
}
