//! Table 2: what exact and estimated similarities of all pairs cost.

use anyhow::Result;
use serde::Deserialize;

use super::{SPACE, pairs, term_sets};
use crate::check::{Check, Printed};
use crate::data;
use crate::experiment::{Context, ExperimentFindings};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: usize,
    registers: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    registers: Vec<Printed>,
    comparisons: Vec<Printed>,
    exact: Printed,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let all = pairs(settings.documents).count();
    let mut table = Table::new(
        "comparisons",
        "Comparisons of all pairs",
        &["registers", "comparisons", "as printed", "printed for K"],
    );
    let mut checks = vec![];
    for (at, &registers) in settings.registers.iter().enumerate() {
        let comparisons = (all * registers) as f64;
        let (printed, head) = (&published.comparisons[at], &published.registers[at]);
        table.push(vec![registers.into(), (all * registers).into(), printed.value.into(), head.value.into()]);
        checks.push(Check::published(
            &format!("comparisons with {registers} registers"),
            comparisons,
            printed,
        ));
        let implied = printed.value / all as f64;
        checks.push(
            Check::published("the registers that a printed count implies", implied, head).erratum("E-43"),
        );
    }
    let mut findings = ExperimentFindings::default().table(table).checks(checks);
    if let Some(folder) = context.data_if_there(SPACE) {
        let sets = term_sets(&data::texts(&folder)?);
        let probes: usize = pairs(sets.len()).map(|(a, b)| sets[a].len().min(sets[b].len())).sum();
        let mut table = Table::new(
            "exact",
            "Exact comparison of `space`",
            &["documents", "probes", "a pair", "as printed"],
        );
        let of = pairs(sets.len()).count();
        table.push(vec![
            sets.len().into(),
            probes.into(),
            (probes as f64 / of as f64).into(),
            published.exact.value.into(),
        ]);
        findings = findings.table(table);
    }
    Ok(findings)
}
