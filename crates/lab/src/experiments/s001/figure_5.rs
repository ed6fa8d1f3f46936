//! Figure 5: the error of an estimate against the number of hash functions.

use anyhow::Result;
use minwise::estimate::minhash::variance;
use minwise::sketch::Method;
use serde::Deserialize;

use crate::check::{Check, Deviations, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted};
use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::plot::{Axis, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    union: usize,
    common: usize,
    trials: u64,
    functions: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    deviations: Vec<Printed>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let similarity = settings.common as f64 / settings.union as f64;
    let pair = ShinglePair::of(settings.union, settings.common);
    let measured = context.map(&settings.functions, |&functions| -> Result<TrialStatistics> {
        Ok(spread(Method::minhash(functions), &pair, settings.trials)?)
    });
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;
    let mut table =
        Table::new("errors", "Standard deviation of the estimate", &["functions", "measured", "√(J(1−J)/h)"]);
    let mut deviations = Deviations::default();
    let mut checks = vec![];
    let mut points = vec![];
    for ((&functions, spread), stated) in settings.functions.iter().zip(&measured).zip(&expected.deviations) {
        let formula = variance(similarity, functions);
        deviations.add(spread.variance, formula, spread.variance_error);
        table.push(vec![functions.into(), spread.variance.sqrt().into(), formula.sqrt().into()]);
        checks.push(Check::known(
            &format!("standard deviation of {functions} functions"),
            formula.sqrt(),
            stated,
        ));
        let bar = [-2.0, 2.0].map(|n| (spread.variance + n * spread.variance_error).max(0.0).sqrt());
        points.push(Point { x: functions as f64, y: spread.variance.sqrt(), error: Some((bar[0], bar[1])) });
    }
    let shrinks = measured.windows(2).all(|pair| pair[0].variance > pair[1].variance);
    checks.push(deviations.check("measured variances are J(1 − J)/h"));
    checks.push(Check::shape("the error shrinks with every step", shrinks, true, shrinks));
    let formula = settings.functions.iter().map(|&h| (h as f64, variance(similarity, h).sqrt())).collect();
    let picture = chart(
        "Error of an estimate at similarity 0.6",
        "The standard deviation falls with the root of the number of functions, from 0.49 at one to 0.015 at a thousand.",
        Axis::log("hash functions"),
        Axis::log("standard deviation"),
        vec![Series { label: "measured, and √(J(1−J)/h)".to_owned(), line: formula, points }],
    );
    Ok(ExperimentFindings::default().table(table).chart("errors", noted(picture, TWO_ERRORS)).checks(checks))
}
