//! The error of a filter over several looks.

use anyhow::Result;
use minwise::filter::{ErrorBudget, Filter, Use};
use serde::Deserialize;

use super::per_look;
use crate::check::{Check, Deviations, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::simulate::Random;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    threshold: f64,
    registers: usize,
    pairs: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    error: f64,
    step: usize,
    only: Vec<usize>,
    rejected: Printed,
}

/// Smallest error at which a simulation has enough rejections.
const SEEN: f64 = 1e-3;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let mut table = Table::new(
        "errors",
        "The probability that a pair at the threshold is rejected",
        &["e", "looks", "e at each look", "simulated, without accepting", "with a budget of e for all"],
    );
    let mut deviations = Deviations::default();
    let mut checks = vec![];
    let (mut most, mut within) = (0.0_f64, true);
    for row in &expected.rows {
        let looks: Vec<usize> = if row.only.is_empty() {
            (row.step..settings.registers).step_by(row.step).collect()
        } else {
            row.only.clone()
        };
        let filter = per_look(settings.threshold, settings.registers, &looks, row.error)?;
        let rejected = filter.outcome(settings.threshold, Use::Decide).rejected;
        let exact =
            Filter::new(settings.threshold, settings.registers, &looks, ErrorBudget::Exact(row.error))?;
        let bounded = exact.outcome(settings.threshold, Use::Screen).rejected;
        let simulated = (row.error >= SEEN).then(|| simulate(context, &settings, &filter));
        if let Some(simulated) = simulated {
            // The simulation only rejects pairs. Without early acceptance, slightly more pairs are rejected, as with
            // `Use::Screen`.
            let screened = filter.outcome(settings.threshold, Use::Screen).rejected;
            deviations.add(simulated, screened, (screened * (1.0 - screened) / settings.pairs as f64).sqrt());
        }
        let name = format!("e = {}, {} looks", significant(row.error), looks.len());
        checks.push(Check::known(&format!("ever rejected, {name}"), rejected, &row.rejected));
        most = most.max(rejected / row.error);
        within &= bounded <= row.error;
        table.push(vec![
            row.error.into(),
            looks.len().into(),
            rejected.into(),
            simulated.into(),
            bounded.into(),
        ]);
    }
    checks.extend([
        deviations.check("simulated rejections are as many"),
        Check::law("with a budget for all looks, the error is within it", within, true, within),
        Check::stated(
            "the error over all looks, in parts of e",
            format!("up to {most:.1}"),
            "1",
            most <= 1.0,
        )
        .erratum("E-51"),
    ]);
    Ok(ExperimentFindings::default().table(table).checks(checks))
}

/// Returns the share of pairs at the threshold that are rejected.
fn simulate(context: &Context<'_>, settings: &Settings, filter: &Filter) -> f64 {
    /// Number of pairs that a thread simulates at a time.
    const CHUNK: u64 = 1000;
    let chunks: Vec<u64> = (0..settings.pairs.div_ceil(CHUNK)).collect();
    let rejected = context.map(&chunks, |&chunk| {
        let screens = |&pair: &u64| {
            let mut random = Random::new(context.seed(), &[filter.looks().len() as u64, pair]);
            let count =
                |range: std::ops::Range<usize>| range.filter(|_| random.happens(settings.threshold)).count();
            filter.screen_by(count).rejected
        };
        (chunk * CHUNK..((chunk + 1) * CHUNK).min(settings.pairs)).filter(screens).count()
    });
    rejected.iter().sum::<usize>() as f64 / settings.pairs as f64
}
