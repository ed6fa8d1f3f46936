//! Algorithm 1: samplers that are consistent, and some that are not.

use anyhow::Result;
use minwise::sketch::WeightedMethod;
use minwise::weight::WeightedSet;
use serde::Deserialize;

use super::sampling::Variant;
use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS};
use crate::experiment::{Context, ExperimentFindings};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    samples: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    a: Vec<(u64, f64)>,
    b: Vec<(u64, f64)>,
    similarity: Printed,
}

/// Number of samples per sketch that `minwise` makes.
const REGISTERS: usize = 1000;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let Settings { samples } = context.settings()?;
    let expected: Expected = context.expected()?;
    let mut table =
        Table::new("samples", "Share of equal samples", &["sampler", "J_w", "share", "standard error"]);
    let mut checks = vec![];
    let mut right = Deviations::default();
    let mut broken = [Deviations::default(); Variant::ALL.len()];
    for row in &expected.rows {
        let similarity = similarity(&row.a, &row.b);
        let error = (similarity * (1.0 - similarity) / samples as f64).sqrt();
        checks.push(Check::known("J_w", similarity, &row.similarity));
        let shares = context.map(&Variant::ALL, |variant| {
            let agrees = |number: &u64| {
                let seed = context.seed() ^ (number << 8);
                variant.sample(&row.a, seed) == variant.sample(&row.b, seed)
            };
            (0..samples).filter(agrees).count() as f64 / samples as f64
        });
        for ((variant, deviations), share) in Variant::ALL.iter().zip(&mut broken).zip(shares) {
            deviations.add(share, similarity, error);
            table.push(vec![variant.name().into(), similarity.into(), share.into(), error.into()]);
        }
        for method in WeightedMethod::all(REGISTERS) {
            let share = by_library(context, method, row, samples)?;
            // Methods that cannot be banded are left out: their samples without steps agree more often than J_w.
            if method.bandable().is_some() {
                right.add(share, similarity, error);
            }
            let name = method.to_string().replace(&format!(":{REGISTERS}"), "");
            table.push(vec![
                format!("the library's {name}").into(),
                similarity.into(),
                share.into(),
                error.into(),
            ]);
        }
    }
    checks.push(right.check("the library's samples agree with probability J_w"));
    for (variant, deviations) in Variant::ALL.iter().zip(broken) {
        let check = deviations.check(&format!("samples agree with probability J_w: {}", variant.name()));
        checks.push(if *variant == Variant::Repaired {
            check
        } else {
            Check::stated(&check.claim, check.found, format!("at most {STANDARD_ERRORS}"), check.holds)
                .erratum("E-53")
        });
    }
    Ok(ExperimentFindings::default().table(table).checks(checks))
}

fn similarity(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
    let weight =
        |set: &[(u64, f64)], x: u64| set.iter().find(|member| member.0 == x).map_or(0.0, |member| member.1);
    let mut all: Vec<u64> = a.iter().chain(b).map(|member| member.0).collect();
    all.sort_unstable();
    all.dedup();
    let sum = |of: fn(f64, f64) -> f64| all.iter().map(|&x| of(weight(a, x), weight(b, x))).sum::<f64>();
    sum(f64::min) / sum(f64::max)
}

/// Returns the share of equal registers, over as many sketches as give `samples` samples.
fn by_library(context: &Context<'_>, method: WeightedMethod, row: &Row, samples: u64) -> Result<f64> {
    let [a, b] = [&row.a, &row.b].map(|set| WeightedSet::new(set.iter().copied()));
    let (a, b) = (a?, b?);
    let seeds: Vec<u64> = (0..samples / REGISTERS as u64).map(|number| context.seed() + number).collect();
    let agreeing = context.map(&seeds, |&seed| -> Result<usize> {
        let sketcher = method.build(seed)?;
        let [mut left, mut right] = [vec![0; REGISTERS], vec![0; REGISTERS]];
        sketcher.sketch_into(&a, &mut left);
        sketcher.sketch_into(&b, &mut right);
        Ok(left.iter().zip(&right).filter(|(left, right)| left == right).count())
    });
    let agreeing: usize = agreeing.into_iter().collect::<Result<Vec<_>>>()?.iter().sum();
    Ok(agreeing as f64 / (seeds.len() * REGISTERS) as f64)
}
