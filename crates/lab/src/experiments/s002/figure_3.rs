//! Figure 3: the variance of less than one bit per register.

use anyhow::Result;
use minwise::estimate::b_bit::{self, Chance};
use minwise::estimate::fractional_bit::{xor_match_probability, xor_variance};
use minwise::sketch::Method;
use serde::Deserialize;

use super::UNION;
use crate::check::{Check, Deviations, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, root, variance_point};
use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::plot::{Axis, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    stored_bits: usize,
    trials: u64,
    similarities: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    accurate_from: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    crossings: Vec<Printed>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let published: Published = context.published()?;
    let k = settings.stored_bits;
    let points: Vec<(u32, f64)> =
        (1..=3).flat_map(|halvings| settings.similarities.iter().map(move |&x| (halvings, x))).collect();
    let measured = context.map(&points, |&(halvings, x)| -> Result<TrialStatistics> {
        let method: Method = format!("xor:{halvings}/minhash:{}", k << halvings).parse()?;
        Ok(spread(method, &ShinglePair::of(UNION, (x * UNION as f64).round() as usize), settings.trials)?)
    });
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;

    let mut table = Table::new(
        "variance",
        "Variance times stored bits",
        &["bits per register", "R", "simulated", "standard error", "delta method", "one bit per register"],
    );
    let mut deviations = Deviations::default();
    for (&(halvings, x), spread) in points.iter().zip(&measured) {
        let formula = xor_variance(x, 1, halvings, Chance::sparse(1));
        let scale = k as f64;
        table.push(vec![
            (1.0 / f64::from(1 << halvings)).into(),
            x.into(),
            (spread.variance * scale).into(),
            (spread.variance_error * scale).into(),
            formula.into(),
            one_bit(x).into(),
        ]);
        if let Some(curvature) = second_order(x, halvings, k) {
            deviations.add(
                spread.variance * scale,
                formula * (1.0 + curvature),
                spread.variance_error * scale,
            );
        }
    }
    let mut series = vec![Series::of("one bit", (0.4, 1.0), 120, one_bit)];
    for (halvings, label) in (1..=3).zip(["half a bit", "a quarter", "an eighth"]) {
        let marks = points
            .iter()
            .zip(&measured)
            .filter(|((of, _), _)| *of == halvings)
            .map(|(&(_, x), spread)| variance_point(x, spread, k as f64))
            .collect();
        let line = Series::of(label, (0.4, 1.0), 120, |x| xor_variance(x, 1, halvings, Chance::sparse(1)));
        series.push(line.with_points(marks));
    }
    let picture = chart(
        "Less than a bit per register, at equal storage",
        "The curves of half, quarter and eighth bits cross that of one bit at 0.58, 0.70 and 0.80 and lie below it from there on.",
        Axis::linear("similarity R").between(0.4, 1.0),
        Axis::log("variance × stored bits").between(0.005, 20.0),
        series,
    );

    let crossings = (1..).zip(&expected.crossings).map(|(halvings, expected)| {
        let crossing = root(0.3, 0.95, |x| one_bit(x) - xor_variance(x, 1, halvings, Chance::sparse(1)));
        (halvings, crossing, expected)
    });
    let mut checks =
        vec![deviations.check("simulated variances are those of the delta method, to the second order")];
    for (halvings, crossing, expected) in crossings {
        let bits = 1 << halvings;
        checks.push(Check::known(&format!("1/{bits} bit beats one bit from R on"), crossing, expected));
        checks.push(
            Check::published(
                &format!("1/{bits} bit is accurate from R on"),
                crossing,
                &published.accurate_from,
            )
            .erratum("E-26"),
        );
    }
    Ok(ExperimentFindings::default()
        .table(table)
        .chart("variance", noted(picture, TWO_ERRORS))
        .checks(checks))
}

fn one_bit(similarity: f64) -> f64 {
    b_bit::variance(similarity, 1, Chance::sparse(1))
}

/// Returns the share by which the variance of R̂ exceeds that of the delta method, to the second order. Returns `None`
/// if g is less than eight standard errors above 0, where R̂ is clamped.
///
/// R̂ = gᵃ with g = 2T̂ − 1 and a = 2⁻ⁿ. With the relative standard error c of g, curvature adds ((a−1)²/2 +
/// (a−1)(a−2))·c², and the skewness of a binomial count adds 2(1−a)/k.
fn second_order(similarity: f64, halvings: u32, stored_bits: usize) -> Option<f64> {
    let t = xor_match_probability(similarity, halvings, Chance::sparse(1));
    let k = stored_bits as f64;
    let relative = 2.0 * (t * (1.0 - t) / k).sqrt() / (2.0 * t - 1.0);
    let a = 1.0 / f64::from(1 << halvings);
    let bent = ((a - 1.0).powi(2) / 2.0 + (a - 1.0) * (a - 2.0)) * relative * relative;
    (relative <= 1.0 / 8.0).then_some(bent + 2.0 * (1.0 - a) / k)
}
