//! Figure 2: the variance times the stored bits, against the similarity.

use anyhow::Result;
use minwise::estimate::b_bit::{self, Chance};
use minwise::estimate::fractional_bit::{Combination, storage_factor};
use serde::Deserialize;

use super::{Fraction, printed};
use crate::check::{Check, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, root};
use crate::plot::{Axis, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    shares: Vec<f64>,
    fractions: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    best_from: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    crossing: Printed,
    factors: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    r: f64,
    similarity: f64,
    factors: Vec<Printed>,
}

/// Number of registers that is divided into the groups of a mixture. The factor does not depend on it.
const REGISTERS: usize = 1000;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let published: Published = context.published()?;
    let mut findings = ExperimentFindings::default();
    for &r in &settings.shares {
        let least = (2.0 * r - 1.0).max(0.0);
        let series = settings
            .fractions
            .iter()
            .map(|&f| Series::of(&format!("f = {f}"), (least, 1.0), 100, |x| factor(f, r, x)))
            .collect();
        let title = if r == 0.0 {
            "Sets small in their range (r → 0)".to_owned()
        } else {
            format!("Sets that fill the share r = {r}")
        };
        let description = "The curve of one bit is lowest from one third on; those of mixtures lie between it and that of two bits.";
        let x = Axis::linear("similarity R").between(least, 1.0);
        findings = findings.chart(
            &format!("factor-r{r}"),
            chart(&title, description, x, Axis::linear("variance × stored bits"), series),
        );
    }

    let mut table =
        Table::new("factors", "Storage factors of whole bits", &["r", "R", "bits", "factor", "expected"]);
    let mut checks = vec![];
    for row in &expected.factors {
        for (bits, value) in (1..).zip(&row.factors) {
            let found = b_bit::storage_factor(row.similarity, bits, Chance::known(bits, row.r, row.r));
            table.push(vec![
                row.r.into(),
                row.similarity.into(),
                bits.into(),
                found.into(),
                value.value.into(),
            ]);
            checks.push(Check::known(
                &format!("b = {bits}, r = {}, R = {}", row.r, row.similarity),
                found,
                value,
            ));
        }
    }
    let crossing = root(0.2, 0.5, |x| factor(1.0, 0.0, x) - factor(2.0, 0.0, x));
    let dense = (80..100)
        .all(|step| factor(1.0, 0.9, f64::from(step) / 100.0) < factor(2.0, 0.9, f64::from(step) / 100.0));
    let between = mixtures(&settings, |f, r, x| {
        storage_factor(x, &Fraction(f).groups(REGISTERS, r), Combination::InverseVariance)
    });
    let misprinted =
        mixtures(&settings, |f, r, x| f * printed::variance(x, &Fraction(f).groups(REGISTERS, r)));
    Ok(findings.table(table).checks(checks).checks([
        Check::known("one bit and two cross at R, r → 0", crossing, &expected.crossing),
        Check::published("one bit is best from R on, r → 0", crossing, &published.best_from).erratum("E-26"),
        Check::shape("one bit is best throughout at r = 0.9", dense, true, dense),
        Check::law("mixtures that beat both of their widths", between, 0, between == 0),
        Check::stated(
            "by the printed formula, mixtures that beat both of their widths",
            misprinted,
            0,
            misprinted == 0,
        )
        .erratum("E-17"),
    ]))
}

/// Returns the factor of the pooled estimator.
fn factor(f: f64, r: f64, similarity: f64) -> f64 {
    storage_factor(similarity, &Fraction(f).groups(REGISTERS, r), Combination::Pooled)
}

/// Counts, over a grid of similarities, the mixtures whose factor is lower than the factors of one bit and of two bits.
fn mixtures(settings: &Settings, factor_of: impl Fn(f64, f64, f64) -> f64) -> usize {
    let mut beaten = 0;
    for &r in &settings.shares {
        for step in 1..100 {
            let x = f64::from(step) / 100.0;
            let better = factor(1.0, r, x).min(factor(2.0, r, x));
            // If one and two bits have equal factors, a mixture with the same factor could be lower by rounding. It is
            // not counted.
            let is_better = |&&f: &&f64| f > 1.0 && f < 2.0 && factor_of(f, r, x) < better * (1.0 - 1e-12);
            beaten += settings.fractions.iter().filter(is_better).count();
        }
    }
    beaten
}
