//! Table 1: tails of the binomial distribution, and their shift by one.

use anyhow::Result;
use serde::Deserialize;

use crate::check::{Check, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::simulate::binomial::Binomial;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    threshold: f64,
    registers: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    m: Vec<usize>,
    at_most: Vec<Printed>,
    above: Vec<Printed>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let law = Binomial::new(settings.registers, settings.threshold);
    let mut table = Table::new(
        "tails",
        "Tails, and what is printed",
        &["m", "P(X ≤ m)", "P(X < m)", "printed for ≤", "P(X > m)", "P(X ≥ m)", "printed for >"],
    );
    // Counts of rows that agree with the printed heading, and of rows that agree after a shift by one row.
    let mut agree = [[0; 2]; 2];
    for ((&m, at_most), above) in published.m.iter().zip(&published.at_most).zip(&published.above) {
        let [lower, lower_off] = [law.at_most(m), law.at_most(m - 1)];
        let [upper, upper_off] = [law.at_least(m + 1), law.at_least(m)];
        let values = [lower, lower_off, at_most.value, upper, upper_off, above.value];
        table.push(std::iter::once(m.into()).chain(values.map(Into::into)).collect());
        for (count, value) in agree[0].iter_mut().zip([lower, lower_off]) {
            *count += usize::from(at_most.agrees(value));
        }
        for (count, value) in agree[1].iter_mut().zip([upper, upper_off]) {
            *count += usize::from(above.agrees(value));
        }
    }
    let rows = published.m.len();
    let of = |count: usize| format!("{count} of {rows} rows");
    let all = |claim: &str, count: usize| Check::law(claim, of(count), of(rows), count == rows);
    let headed =
        |claim: &str, count: usize| Check::stated(claim, of(count), of(rows), count == rows).erratum("E-47");
    Ok(ExperimentFindings::default().table(table).checks([
        all("the first column is P(X < m)", agree[0][1]),
        all("the second column is P(X ≥ m)", agree[1][1]),
        headed("the first column is P(X ≤ m)", agree[0][0]),
        headed("the second column is P(X > m)", agree[1][0]),
    ]))
}
