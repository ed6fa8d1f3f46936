//! Figure 9: the share of pairs that each look filters.

use anyhow::{Context as _, Result};
use minwise::filter::Look;
use serde::Deserialize;

use super::{SimilaritySpread, agreements, of_data, per_look};
use crate::check::{Check, Deviations, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, share_point};
use crate::plot::{Axis, Series};
use crate::simulate::binomial::Binomial;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: usize,
    error: f64,
    spreads: Vec<SimilaritySpread>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    threshold: f64,
    look: usize,
    lower: Printed,
    upper: Printed,
}

/// Shares of pairs that a look rejects and accepts.
type Rates = (f64, f64);

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let looks = expected
        .rows
        .iter()
        .map(|row| {
            let filter = per_look(row.threshold, settings.registers, &[row.look], settings.error)?;
            filter.looks().first().copied().context("a look that decides something")
        })
        .collect::<Result<Vec<Look>>>()?;
    let mut columns: Vec<(String, Vec<Rates>)> = context.map(&settings.spreads, |&spread| {
        (spread.name().to_owned(), simulated(context, &settings, spread, &looks))
    });
    if let Some(similarities) = of_data(context)? {
        columns.push((
            "space".to_owned(),
            looks.iter().map(|look| of_similarities(&similarities, look)).collect(),
        ));
    }
    let mut table = Table::new(
        "rates",
        "Share of pairs rejected and accepted by one look",
        &["pairs", "T", "k", "rejected", "accepted", "closed form, rejected", "accepted "],
    );
    let mut deviations = Deviations::default();
    let mut checks = vec![];
    for (name, rates) in &columns {
        let is_even = name == SimilaritySpread::Uniform.name();
        for ((row, look), &(rejected, accepted)) in expected.rows.iter().zip(&looks).zip(rates) {
            let closed = (look.rejection_rate(), look.acceptance_rate());
            let shown = |rate: f64| is_even.then_some(rate);
            table.push(vec![
                name.as_str().into(),
                row.threshold.into(),
                row.look.into(),
                rejected.into(),
                accepted.into(),
                shown(closed.0).into(),
                shown(closed.1).into(),
            ]);
            if is_even {
                let error = |rate: f64| (rate * (1.0 - rate) / settings.pairs as f64).sqrt();
                deviations.add(rejected, closed.0, error(closed.0));
                deviations.add(accepted, closed.1, error(closed.1));
                let claim =
                    |what: &str| format!("T = {}, k = {}: {what}, spread evenly", row.threshold, row.look);
                checks.push(Check::known(&claim("rejected"), closed.0, &row.lower));
                checks.push(Check::known(&claim("accepted"), closed.1, &row.upper));
            }
        }
    }
    checks.push(deviations.check("simulated rates are those of the closed form"));
    checks.extend(shapes(&expected, &columns)?);
    let picture = chart(
        "Evenly spread pairs: share that a look decides",
        "Rejected pairs are most at a threshold of 0.8, accepted ones at 0.3; both grow with the registers.",
        Axis::linear("registers compared"),
        Axis::linear("share of pairs").between(0.0, 1.0),
        series(&expected, &looks, &columns, settings.pairs as f64),
    );
    Ok(ExperimentFindings::default().table(table).chart("rates", noted(picture, TWO_ERRORS)).checks(checks))
}

/// Checks the source's statements about its own data and about the other data sets. A data set or a threshold without
/// a column is an error, because its statement would otherwise go unchecked.
fn shapes(expected: &Expected, columns: &[(String, Vec<Rates>)]) -> Result<Vec<Check>> {
    let first = |spread: SimilaritySpread, threshold: f64| -> Result<Rates> {
        let (_, rates) = columns
            .iter()
            .find(|column| column.0 == spread.name())
            .with_context(|| format!("no column of {} pairs", spread.name()))?;
        expected
            .rows
            .iter()
            .zip(rates)
            .find(|(row, _)| row.threshold == threshold)
            .map(|(_, rates)| *rates)
            .with_context(|| format!("no row of T = {threshold}"))
    };
    let mut checks = vec![];
    for spread in [SimilaritySpread::Uniform, SimilaritySpread::Gaussian] {
        for (threshold, what) in [(0.8, "rejected"), (0.3, "accepted")] {
            let (rejected, accepted) = first(spread, threshold)?;
            let holds = if what == "rejected" { rejected > accepted } else { accepted > rejected };
            let found = format!("{} rejected, {} accepted", significant(rejected), significant(accepted));
            checks.push(Check::shape(
                &format!("{} pairs at T = {threshold}", spread.name()),
                found,
                format!("mostly {what}"),
                holds,
            ));
        }
    }
    // The source says nothing about `space`.
    let (rejected, _) = first(SimilaritySpread::Funds, 0.8)?;
    checks.push(Check::stand_in(
        "pairs of the stand-in for FUNDS at T = 0.8, k = 100",
        format!("{} rejected", significant(rejected)),
        "above 0.9",
        rejected > 0.9,
    ));
    let (rejected, _) = first(SimilaritySpread::Funds, 0.3)?;
    checks.push(Check::stand_in(
        "pairs of the stand-in for FUNDS at T = 0.3, k = 100",
        format!("{} rejected", significant(rejected)),
        "about 0.5, from 0.45 to 0.55",
        (0.45..=0.55).contains(&rejected),
    ));
    Ok(checks)
}

fn series(expected: &Expected, looks: &[Look], columns: &[(String, Vec<Rates>)], pairs: f64) -> Vec<Series> {
    let rates = columns.first().map_or(&[][..], |column| &column.1);
    let mut series = vec![];
    for threshold in [0.8, 0.3] {
        let here = || (0..looks.len()).filter(|&at| expected.rows[at].threshold == threshold);
        for (what, of, closed) in [
            (
                "rejected",
                (|rates: Rates| rates.0) as fn(Rates) -> f64,
                Look::rejection_rate as fn(&Look) -> f64,
            ),
            ("accepted", |rates: Rates| rates.1, Look::acceptance_rate),
        ] {
            let x = |at: usize| looks[at].registers as f64;
            series.push(Series {
                label: format!("{what}, T = {threshold}"),
                line: here().map(|at| (x(at), closed(&looks[at]))).collect(),
                points: here().map(|at| share_point(x(at), of(rates[at]) * pairs, pairs)).collect(),
            });
        }
    }
    series
}

fn simulated(
    context: &Context<'_>,
    settings: &Settings,
    spread: SimilaritySpread,
    looks: &[Look],
) -> Vec<Rates> {
    let pairs = agreements(spread, settings.pairs, settings.registers, context.seed());
    looks
        .iter()
        .map(|look| {
            let (mut rejected, mut accepted) = (0, 0);
            for pair in &pairs {
                let matches = pair[..look.registers].iter().filter(|&&agrees| agrees).count();
                rejected += usize::from(look.lower.is_some_and(|lower| matches <= lower));
                accepted += usize::from(look.upper.is_some_and(|upper| matches >= upper));
            }
            (rejected as f64 / pairs.len() as f64, accepted as f64 / pairs.len() as f64)
        })
        .collect()
}

/// Returns the mean rates of a look over pairs of known similarities, rounded to hundredths.
fn of_similarities(similarities: &[f64], look: &Look) -> Rates {
    let mut counts = [0_u64; 101];
    for similarity in similarities {
        counts[(similarity * 100.0).round() as usize] += 1;
    }
    let n = similarities.len() as f64;
    (0_u32..).zip(counts).filter(|(_, count)| *count > 0).fold(
        (0.0, 0.0),
        |(rejected, accepted), (at, count)| {
            let law = Binomial::new(look.registers, (f64::from(at) / 100.0).min(1.0 - f64::EPSILON));
            let share = count as f64 / n;
            (
                rejected + share * look.lower.map_or(0.0, |lower| law.at_most(lower)),
                accepted + share * look.upper.map_or(0.0, |upper| law.at_least(upper)),
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement whose data set or threshold is missing is an error, and not one check less.
    #[test]
    fn a_missing_column_or_row_is_an_error() {
        let printed = || Printed::try_from("0.5".to_owned()).unwrap();
        let row = |threshold| Row { threshold, look: 100, lower: printed(), upper: printed() };
        let all = [SimilaritySpread::Uniform, SimilaritySpread::Gaussian, SimilaritySpread::Funds];
        let columns: Vec<(String, Vec<Rates>)> =
            all.iter().map(|spread| (spread.name().to_owned(), vec![(0.5, 0.5); 2])).collect();
        let expected = Expected { rows: vec![row(0.8), row(0.3)] };
        assert_eq!(shapes(&expected, &columns).unwrap().len(), 6);
        for missing in all.map(SimilaritySpread::name) {
            let mut columns = columns.clone();
            columns.retain(|(name, _)| name != missing);
            let error = shapes(&expected, &columns).unwrap_err().to_string();
            assert_eq!(error, format!("no column of {missing} pairs"));
        }
        for (kept, missing) in [(0.8, 0.3), (0.3, 0.8)] {
            let error = shapes(&Expected { rows: vec![row(kept)] }, &columns).unwrap_err().to_string();
            assert_eq!(error, format!("no row of T = {missing}"));
        }
    }
}
