//! Figure 9: the share of pairs that each look filters.

use anyhow::{Context as _, Result, ensure};
use minwise::filter::{FilterDecision, Look};
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

/// Permitted difference between the closed form and the sum over a distribution in 4000 steps.
const SUMMED: f64 = 1e-5;

/// Shares of pairs that a look rejects and accepts.
type Rates = (f64, f64);

/// Rates of one data set, in the order of the looks.
struct SpreadColumn {
    name: String,
    /// Rates of simulated pairs; `None` for pairs of the data, whose similarities are known.
    simulated: Option<Vec<Rates>>,
    exact: Vec<Rates>,
}

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
    let mut columns: Vec<SpreadColumn> = context.map(&settings.spreads, |&spread| SpreadColumn {
        name: spread.name().to_owned(),
        simulated: Some(simulated(context, &settings, spread, &looks)),
        exact: looks.iter().map(|look| exact(spread, look)).collect(),
    });
    if let Some(similarities) = of_data(context)? {
        columns.push(SpreadColumn {
            name: "space".to_owned(),
            simulated: None,
            exact: looks.iter().map(|look| of_similarities(&similarities, look)).collect(),
        });
    }
    let mut table = Table::new(
        "rates",
        "Share of pairs rejected and accepted by one look",
        &["pairs", "T", "k", "rejected", "exact", "accepted", "exact "],
    );
    let mut deviations = Deviations::default();
    let mut checks = vec![];
    let n = settings.pairs as f64;
    for column in &columns {
        for (at, (row, look)) in expected.rows.iter().zip(&looks).enumerate() {
            let found = column.simulated.as_ref().map(|rates| rates[at]);
            let exact = column.exact[at];
            table.push(vec![
                column.name.as_str().into(),
                row.threshold.into(),
                row.look.into(),
                found.map(|rates| rates.0).into(),
                exact.0.into(),
                found.map(|rates| rates.1).into(),
                exact.1.into(),
            ]);
            for (found, rate) in found.into_iter().flat_map(|found| [(found.0, exact.0), (found.1, exact.1)])
            {
                // With fewer than ten pairs, a share is not nearly normal.
                if rate.min(1.0 - rate) * n >= 10.0 {
                    deviations.add(found, rate, (rate * (1.0 - rate) / n).sqrt());
                }
            }
            if column.name == SimilaritySpread::Uniform.name() {
                let claim =
                    |what: &str| format!("T = {}, k = {}: {what}, spread evenly", row.threshold, row.look);
                for (what, rate, closed, known) in [
                    ("rejected", exact.0, look.rejection_rate(), &row.lower),
                    ("accepted", exact.1, look.acceptance_rate(), &row.upper),
                ] {
                    checks.push(Check::known(&claim(what), closed, known));
                    let summed = (rate - closed).abs() < SUMMED;
                    checks.push(Check::law(
                        &claim(&format!("the sum of binomial laws for the {what}")),
                        significant(rate),
                        significant(closed),
                        summed,
                    ));
                }
            }
        }
    }
    checks.push(deviations.check("simulated rates are the exact ones"));
    checks.extend(shapes(&expected, &columns)?);
    checks.extend(overall_recall(context, &settings, &expected)?);
    let mut findings = ExperimentFindings::default().table(table);
    for (spread, column) in settings.spreads.iter().zip(&columns) {
        let picture = chart(
            &format!("Share that a look decides, {} pairs", spread.name()),
            "The share of rejected pairs grows with the threshold, that of accepted ones falls; both grow with the registers.",
            Axis::linear("registers compared"),
            Axis::linear("share of pairs").between(0.0, 1.0),
            series(&expected, &looks, column, n),
        );
        findings = findings.chart(
            &format!("rates-{}", spread.file_name()),
            noted(picture, &format!("Lines: exact. Points: simulated pairs. {TWO_ERRORS}")),
        );
    }
    Ok(findings.checks(checks))
}

/// Checks the source's statements about its own data and about the other data sets. A data set or a threshold without
/// a column is an error, because its statement would otherwise go unchecked.
fn shapes(expected: &Expected, columns: &[SpreadColumn]) -> Result<Vec<Check>> {
    let at_looks = |spread: SimilaritySpread, threshold: f64| -> Result<Vec<Rates>> {
        let column = columns
            .iter()
            .find(|column| column.name == spread.name())
            .with_context(|| format!("no column of {} pairs", spread.name()))?;
        let rows = expected.rows.iter().zip(&column.exact).filter(|(row, _)| row.threshold == threshold);
        let rates: Vec<Rates> = rows.map(|(_, rates)| *rates).collect();
        ensure!(!rates.is_empty(), "no row of T = {threshold}");
        Ok(rates)
    };
    let mut checks = vec![];
    for spread in [SimilaritySpread::Uniform, SimilaritySpread::Gaussian] {
        for (threshold, what) in [(0.8, "rejected"), (0.3, "accepted")] {
            let rates = at_looks(spread, threshold)?;
            let is_most = |&&(rejected, accepted): &&Rates| {
                if what == "rejected" { rejected > accepted } else { accepted > rejected }
            };
            let count = rates.iter().filter(is_most).count();
            checks.push(Check::shape(
                &format!(
                    "looks at which decided {} pairs at T = {threshold} are mostly {what}",
                    spread.name()
                ),
                format!("{count} of {}", rates.len()),
                "all",
                count == rates.len(),
            ));
        }
    }
    // The column `space` has no check, because Yuan 2019 has no such data set.
    // The rows of a threshold are in the order of the looks, and the first is at k = 100.
    let (rejected, _) = at_looks(SimilaritySpread::Funds, 0.8)?[0];
    checks.push(Check::stand_in(
        "pairs of the stand-in for FUNDS at T = 0.8, k = 100",
        format!("{} rejected", significant(rejected)),
        "above 0.9",
        rejected > 0.9,
    ));
    let (rejected, _) = at_looks(SimilaritySpread::Funds, 0.3)?[0];
    checks.push(Check::stand_in(
        "pairs of the stand-in for FUNDS at T = 0.3, k = 100",
        format!("{} rejected", significant(rejected)),
        "about 0.5, from 0.45 to 0.55",
        (0.45..=0.55).contains(&rejected),
    ));
    Ok(checks)
}

/// Checks section 6.3: with the later looks, "the overall recall rate will be 100%". The statement is tested against the
/// full comparison, and against the similarity.
fn overall_recall(context: &Context<'_>, settings: &Settings, expected: &Expected) -> Result<[Check; 2]> {
    let mut thresholds: Vec<f64> = expected.rows.iter().map(|row| row.threshold).collect();
    thresholds.dedup();
    let cells: Vec<(SimilaritySpread, f64)> = settings
        .spreads
        .iter()
        .flat_map(|&spread| thresholds.iter().map(move |&threshold| (spread, threshold)))
        .collect();
    let counts = context.map(&cells, |&(spread, threshold)| -> Result<[u64; 2]> {
        let looks = expected.rows.iter().filter(|row| row.threshold == threshold).map(|row| row.look);
        let looks: Vec<usize> = looks.collect();
        let filter = per_look(threshold, settings.registers, &looks, settings.error)?;
        let [mut missed, mut all] = [0, 0];
        for pair in agreements(spread, settings.pairs, settings.registers, context.seed()) {
            let count = |part: &[bool]| part.iter().filter(|&&agrees| agrees).count();
            if count(&pair) as f64 > threshold * settings.registers as f64 {
                let decision = filter.decide_by(|part| count(&pair[part]));
                all += 1;
                missed += u64::from(!matches!(decision, FilterDecision::Accept { .. }));
            }
        }
        Ok([missed, all])
    });
    let counts = counts.into_iter().collect::<Result<Vec<_>>>()?;
    let sum = |at: usize| counts.iter().map(|counts| counts[at]).sum::<u64>();
    let of_similarity = context.map(&cells, |&(spread, threshold)| {
        let needed = (threshold * settings.registers as f64).floor() as usize + 1;
        let above = spread.nodes().into_iter().filter(|&(similarity, _)| similarity > threshold);
        let (found, all) = above.fold((0.0, 0.0), |(found, all), (similarity, weight)| {
            let law = Binomial::new(settings.registers, similarity.min(1.0 - f64::EPSILON));
            (found + weight * law.at_least(needed), all + weight)
        });
        found / all
    });
    let least = of_similarity.into_iter().fold(1.0, f64::min);
    Ok([
        Check::shape(
            "pairs above T by all registers that the looks and the full comparison do not find",
            format!("{} of {}", sum(0), sum(1)),
            "none, a recall of 100 %",
            sum(0) == 0 && sum(1) > 0,
        ),
        Check::stated(
            "share of pairs with a similarity above T that all registers find, in the worst data set",
            significant(least),
            "1, a recall of 100 %",
            least >= 1.0 - settings.error,
        )
        .erratum("E-57"),
    ])
}

/// Returns the curves of one data set: rejected and accepted pairs for each threshold.
fn series(expected: &Expected, looks: &[Look], column: &SpreadColumn, pairs: f64) -> Vec<Series> {
    let mut thresholds: Vec<f64> = expected.rows.iter().map(|row| row.threshold).collect();
    thresholds.dedup();
    let mut series = vec![];
    for threshold in thresholds {
        let here = || (0..looks.len()).filter(|&at| expected.rows[at].threshold == threshold);
        for (what, of) in
            [("rejected", (|rates: Rates| rates.0) as fn(Rates) -> f64), ("accepted", |rates: Rates| rates.1)]
        {
            let x = |at: usize| looks[at].registers as f64;
            let points = column.simulated.iter().flat_map(|rates| {
                here().map(|at| share_point(x(at), of(rates[at]) * pairs, pairs)).collect::<Vec<_>>()
            });
            series.push(Series {
                label: format!("{what}, T = {threshold}"),
                line: here().map(|at| (x(at), of(column.exact[at]))).collect(),
                points: points.collect(),
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

/// Returns the rates of a look: sums of binomial distributions over the similarities of a distribution.
fn exact(spread: SimilaritySpread, look: &Look) -> Rates {
    spread.nodes().into_iter().fold((0.0, 0.0), |(rejected, accepted), (similarity, weight)| {
        let law = Binomial::new(look.registers, similarity.min(1.0 - f64::EPSILON));
        (
            rejected + weight * look.lower.map_or(0.0, |lower| law.at_most(lower)),
            accepted + weight * look.upper.map_or(0.0, |upper| law.at_least(upper)),
        )
    })
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

    /// If the data set or the threshold of a statement is missing, the result is an error; the check is not silently
    /// left out.
    #[test]
    fn a_missing_column_or_row_is_an_error() {
        let printed = || Printed::try_from("0.5".to_owned()).unwrap();
        let row = |threshold| Row { threshold, look: 100, lower: printed(), upper: printed() };
        let all = [SimilaritySpread::Uniform, SimilaritySpread::Gaussian, SimilaritySpread::Funds];
        let column = |spread: &SimilaritySpread| SpreadColumn {
            name: spread.name().to_owned(),
            simulated: None,
            exact: vec![(0.5, 0.5); 2],
        };
        let expected = Expected { rows: vec![row(0.8), row(0.3)] };
        let columns = || all.iter().map(column).collect::<Vec<SpreadColumn>>();
        assert_eq!(shapes(&expected, &columns()).unwrap().len(), 6);
        for missing in all.map(SimilaritySpread::name) {
            let mut columns = columns();
            columns.retain(|column| column.name != missing);
            let error = shapes(&expected, &columns).unwrap_err().to_string();
            assert_eq!(error, format!("no column of {missing} pairs"));
        }
        for (kept, missing) in [(0.8, 0.3), (0.3, 0.8)] {
            let error = shapes(&Expected { rows: vec![row(kept)] }, &columns()).unwrap_err().to_string();
            assert_eq!(error, format!("no row of T = {missing}"));
        }
    }
}
