//! Figure 1: the variance of f-fractional bits against the similarity.

use std::collections::BTreeMap;

use anyhow::Result;
use minwise::estimate::fractional_bit::{Combination, variance};
use serde::Deserialize;

use super::{Fraction, Trials, printed};
use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, variance_point};
use crate::measure::TrialStatistics;
use crate::plot::{Axis, Series};
use crate::simulate::Universe;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    trials: u64,
    fractions: Vec<f64>,
    shares: Vec<f64>,
    similarities: Vec<f64>,
    range: u64,
}

struct Measured {
    fraction: Fraction,
    similarity: f64,
    spread: TrialStatistics,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: BTreeMap<String, Printed> = context.expected()?;
    let k = settings.registers as f64;
    let fractions: Vec<Fraction> = settings.fractions.iter().copied().map(Fraction).collect();
    let corrected = |fraction: Fraction, r: f64, similarity: f64| {
        k * variance(similarity, &fraction.groups(settings.registers, r), Combination::Pooled)
    };

    let mut table = Table::new(
        "variance",
        "Variance times registers",
        &["r", "R", "f", "simulated", "standard error", "corrected", "as printed"],
    );
    let mut deviations = Deviations::default();
    let mut misprinted = Deviations::default();
    let mut findings = ExperimentFindings::default();
    for &r in &settings.shares {
        let measured = measure(context, &settings, &fractions, r)?;
        for Measured { fraction, similarity, spread } in &measured {
            let formula = corrected(*fraction, r, *similarity);
            let print = printed::variance(*similarity, &fraction.groups(settings.registers, r));
            deviations.add(k * spread.variance, formula, k * spread.variance_error);
            misprinted.add(k * spread.variance, print, k * spread.variance_error);
            table.push(vec![
                r.into(),
                (*similarity).into(),
                fraction.0.into(),
                (k * spread.variance).into(),
                (k * spread.variance_error).into(),
                formula.into(),
                print.into(),
            ]);
        }
        let least = (2.0 * r - 1.0).max(0.0);
        let mut series: Vec<Series> = fractions
            .iter()
            .map(|&fraction| {
                let points = measured
                    .iter()
                    .filter(|measured| measured.fraction == fraction)
                    .map(|measured| variance_point(measured.similarity, &measured.spread, k))
                    .collect();
                let label = format!("f = {}", fraction.0);
                Series::of(&label, (least, 1.0), 100, |x| corrected(fraction, r, x)).with_points(points)
            })
            .collect();
        series.push(Series::of("f = 1.5 as printed", (least, 1.0), 100, |x| {
            printed::variance(x, &Fraction(1.5).groups(settings.registers, r))
        }));
        findings = findings.chart(
            &format!("variance-r{r}"),
            noted(
            chart(
                &if r == 0.0 { "Sets small in their range (r → 0)".to_owned() } else { format!("Sets that fill the share r = {r}") },
                "The more bits, the lower the curve; simulated points lie on the corrected curves, and the printed formula of f = 1.5 far below its points.",
                Axis::linear("similarity R").between(least, 1.0),
                Axis::linear("variance × registers"),
                series,
            ),
                TWO_ERRORS,
            ),
        );
    }

    let misprint = misprinted.check("");
    Ok(findings
        .table(table)
        .checks(expected.iter().map(|(f, value)| {
            let fraction = Fraction(f.parse().unwrap_or(f64::NAN));
            Check::known(&format!("k·Var of f = {f} at R = 0.5, r → 0"), corrected(fraction, 0.0, 0.5), value)
        }))
        .checks([
            deviations.check("simulated variances are those of the corrected formula"),
            Check::stated(
                "simulated variances are those of the printed formula",
                misprint.found,
                format!("at most {STANDARD_ERRORS}"),
                misprint.holds,
            )
            .erratum("E-16"),
        ])
        .checks(order(&settings, &fractions, corrected)))
}

/// Checks, by either formula, the source's statement that the variance grows as f falls.
fn order(
    settings: &Settings,
    fractions: &[Fraction],
    corrected: impl Fn(Fraction, f64, f64) -> f64,
) -> [Check; 2] {
    let grid: Vec<(f64, f64)> = settings
        .shares
        .iter()
        .flat_map(|&r| (1..20).map(move |step| (r, f64::from(step) / 20.0)))
        .filter(|&(r, similarity)| similarity >= 2.0 * r - 1.0)
        .collect();
    let falls = |variance: &dyn Fn(Fraction, f64, f64) -> f64| {
        let at = |&&(r, x): &&(f64, f64)| {
            fractions.windows(2).all(|pair| variance(pair[0], r, x) > variance(pair[1], r, x))
        };
        grid.iter().filter(at).count()
    };
    let as_printed =
        |fraction: Fraction, r: f64, x: f64| printed::variance(x, &fraction.groups(settings.registers, r));
    let (right, wrong) = (falls(&corrected), falls(&as_printed));
    let found = |count: usize| format!("at {count} of {} pairs of r and R", grid.len());
    [
        Check::shape("the variance grows as f falls", found(right), "all", right == grid.len()),
        Check::stated("by the printed formula, it does", found(wrong), "all", wrong == grid.len())
            .erratum("E-17"),
    ]
}

fn measure(
    context: &Context<'_>,
    settings: &Settings,
    fractions: &[Fraction],
    r: f64,
) -> Result<Vec<Measured>> {
    let trials = Trials { registers: settings.registers, count: settings.trials, seed: context.seed() };
    let points: Vec<(u64, f64)> = (0..).zip(settings.similarities.iter().copied()).collect();
    let results = context.map(&points, |&(point, similarity)| -> Result<Vec<Measured>> {
        let spreads = if r == 0.0 {
            fractions
                .iter()
                .map(|&fraction| trials.sparse(fraction, similarity))
                .collect::<Result<Vec<_>>>()?
        } else {
            let universe = Universe::new(settings.range, r, r, similarity);
            universe.map_or_else(Vec::new, |universe| {
                trials.dense(fractions, universe, point + ((r * 1e6) as u64) * 100)
            })
        };
        let of = |(&fraction, (similarity, spread))| Measured { fraction, similarity, spread };
        Ok(fractions.iter().zip(spreads).map(of).collect())
    });
    Ok(results.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}
