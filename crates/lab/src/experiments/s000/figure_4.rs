//! Figure 4: estimates against the exact similarity.

use anyhow::Result;
use serde::Deserialize;

use super::sectional;
use crate::check::{Check, Deviations, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, noted};
use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::plot::{Axis, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    trials: u64,
    sections: Vec<usize>,
    similarities: Vec<f64>,
    union: usize,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let points: Vec<(usize, f64)> =
        settings.sections.iter().flat_map(|&s| settings.similarities.iter().map(move |&x| (s, x))).collect();
    let measured = context.map(&points, |&(sections, x)| -> Result<TrialStatistics> {
        let pair = ShinglePair::of(settings.union, (x * settings.union as f64).round() as usize);
        Ok(spread(sectional(sections, settings.registers)?, &pair, settings.trials)?)
    });
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;

    let mut table = Table::new("estimates", "Estimates", &["s", "J", "mean", "standard deviation"]);
    let mut means = Deviations::default();
    for (&(s, x), spread) in points.iter().zip(&measured) {
        table.push(vec![s.into(), x.into(), spread.mean.into(), spread.variance.sqrt().into()]);
        means.add(spread.mean, x, (spread.variance / settings.trials as f64).sqrt());
    }
    let mut series = vec![Series::of("exact", (0.0, 1.0), 1, |x| x)];
    let mut checks = vec![means.check("estimates are unbiased")];
    for &s in &settings.sections {
        let here = || points.iter().zip(&measured).filter(move |((of, _), _)| *of == s);
        let label = if s == 1 { "MinHash".to_owned() } else { format!("s = {s}") };
        let marks = here()
            .map(|(&(_, x), spread)| {
                let two = 2.0 * spread.variance.sqrt();
                // The points are shifted sideways, because they would hide each other.
                Point {
                    x: x + (s as f64 - 3.0) * 0.008,
                    y: spread.mean,
                    error: Some((spread.mean - two, spread.mean + two)),
                }
            })
            .collect();
        series.push(Series { label: label.clone(), line: vec![], points: marks });
        let upper: Vec<f64> =
            here().filter(|((_, x), _)| *x >= 0.5).map(|(_, spread)| spread.variance).collect();
        let shrinks = upper.windows(2).all(|pair| pair[0] > pair[1]);
        checks.push(Check::shape(
            &format!("the spread shrinks from J = 0.5 to 1, {label}"),
            shrinks,
            true,
            shrinks,
        ));
        if s > 1 {
            let at_one = here().find(|((_, x), _)| *x == 1.0).map_or(f64::NAN, |(_, spread)| spread.variance);
            let printed = (1.0 / s as f64) * (1.0 - 1.0 / s as f64);
            checks.push(Check::exact("the variance at J = 1", &significant(at_one), &"0".to_owned()));
            checks.push(
                Check::stated(
                    "the variance at J = 1, by formula 17",
                    significant(at_one),
                    significant(printed),
                    at_one == printed,
                )
                .erratum("E-10"),
            );
        }
    }
    checks.push(lowest(&points, &measured));
    let picture = chart(
        "Estimates at 500 registers",
        "All kinds of estimates lie on the diagonal, and their bars of two standard deviations shrink to nothing at 1.",
        Axis::linear("similarity J").between(0.0, 1.0),
        Axis::linear("estimate").between(0.0, 1.0),
        series,
    );
    let note = "Bars: two standard deviations of one estimate on either side.";
    Ok(ExperimentFindings::default().table(table).chart("estimates", noted(picture, note)).checks(checks))
}

/// Checks the statement "The S-MinHash with s = 2 has the lowest variance": its variance must be below that of `MinHash`
/// and of every other number of sections, at every similarity below 1.
fn lowest(points: &[(usize, f64)], measured: &[TrialStatistics]) -> Check {
    let all = || points.iter().zip(measured).filter(|((_, x), _)| *x < 1.0);
    let (mut lower, mut compared) = (0, 0);
    for ((_, x), two) in all().filter(|((s, _), _)| *s == 2) {
        for (_, other) in all().filter(|((s, other), _)| *s != 2 && other == x) {
            let error = two.variance_error.hypot(other.variance_error);
            compared += 1;
            lower += usize::from(other.variance - two.variance > STANDARD_ERRORS * error);
        }
    }
    Check::stated(
        "the variance of s = 2 is clearly below those of other numbers of sections",
        format!("{lower} of {compared}"),
        "all",
        lower == compared,
    )
    .erratum("E-03")
}
