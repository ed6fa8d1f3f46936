//! Figure 4: the variance of one bit over that of 1/2ⁿ bit.

use anyhow::Result;
use minwise::estimate::b_bit::{self, Chance};
use minwise::estimate::fractional_bit::xor_variance;
use serde::Deserialize;

use crate::check::{Check, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::chart;
use crate::plot::{Axis, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    near_one: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    limits: Vec<Printed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    similarity: f64,
    ratios: Vec<Printed>,
}

const LABELS: [&str; 3] = ["half a bit", "a quarter", "an eighth"];

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let expected: Expected = context.expected()?;
    let mut table = Table::new(
        "ratios",
        "Variance of one bit over that of less",
        &["R", "bits per register", "at equal storage", "expected", "at equal registers"],
    );
    let mut checks = vec![];
    for Row { similarity, ratios } in &expected.rows {
        for (halvings, value) in (1..).zip(ratios) {
            let ratio = at_equal_storage(*similarity, halvings);
            table.push(vec![
                (*similarity).into(),
                (1.0 / f64::from(1 << halvings)).into(),
                ratio.into(),
                value.value.into(),
                at_equal_registers(*similarity, halvings).into(),
            ]);
            checks.push(Check::known(
                &format!("ratio of 1/{} bit at R = {similarity}", 1 << halvings),
                ratio,
                value,
            ));
        }
    }
    for &x in &settings.near_one {
        for (halvings, limit) in (1..).zip(&published.limits) {
            let claim = format!("ratio of 1/{} bit at R = {x}", 1 << halvings);
            checks.push(Check::published(&claim, at_equal_storage(x, halvings), limit));
        }
    }
    let wins = (1..1000)
        .flat_map(|step| (1..=3).map(move |halvings| (f64::from(step) / 1000.0, halvings)))
        .filter(|&(x, halvings)| at_equal_registers(x, halvings) > 1.0)
        .count();
    checks.push(Check::law(
        "similarities at which less than a bit wins with as many registers",
        wins,
        0,
        wins == 0,
    ));
    checks.push(
        Check::stated(
            "less than a bit estimates better than one bit, with as many registers",
            wins,
            "most",
            wins > 0,
        )
        .erratum("E-23"),
    );
    let mut series: Vec<Series> = (1..)
        .zip(LABELS)
        .map(|(halvings, label)| Series::of(label, (0.0, 1.0), 200, |x| at_equal_storage(x, halvings)))
        .collect();
    series.push(Series::of("half a bit, equal registers", (0.0, 1.0), 200, |x| at_equal_registers(x, 1)));
    let picture = chart(
        "Variance of one bit over that of less",
        "At equal storage the curves end at 2, 4 and 8; with as many registers the curve of half a bit ends at 1 and never exceeds it.",
        Axis::linear("similarity R").between(0.0, 1.0),
        Axis::linear("ratio of variances"),
        series,
    );
    Ok(ExperimentFindings::default().table(table).chart("ratio", picture).checks(checks))
}

fn at_equal_storage(similarity: f64, halvings: u32) -> f64 {
    let one = Chance::sparse(1);
    b_bit::variance(similarity, 1, one) / xor_variance(similarity, 1, halvings, one)
}

/// Returns the ratio of variances for equal numbers of registers. A stored bit of 1/2ⁿ combines 2ⁿ registers, which
/// would store 2ⁿ bits with one bit per register.
fn at_equal_registers(similarity: f64, halvings: u32) -> f64 {
    at_equal_storage(similarity, halvings) / f64::from(1 << halvings)
}
