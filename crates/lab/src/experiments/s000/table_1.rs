//! Table 1: variances of earlier sketches, as the survey of the source prints them.

use anyhow::Result;
use minwise::estimate::b_bit::Chance;
use minwise::estimate::{connected_bit, odd, super_minhash};
use minwise::sketch::Method;
use serde::Deserialize;

use crate::check::{Check, Deviations, STANDARD_ERRORS};
use crate::experiment::{Context, ExperimentFindings};
use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    union: usize,
    trials: u64,
    similarities: Vec<f64>,
}

/// Number of registers that are connected, and number of bits of each.
const CONNECTED: usize = 4;

/// Row of the table that has a variance.
struct SurveyRow {
    name: &'static str,
    form: String,
    /// Printed variance, as a function of the similarity.
    printed: Box<dyn Fn(f64) -> f64 + Sync>,
    /// Correct variance, if the printed one is wrong.
    corrected: Option<Box<dyn Fn(f64) -> f64 + Sync>>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let rows = rows(&settings);
    let cells: Vec<(usize, f64)> =
        (0..rows.len()).flat_map(|row| settings.similarities.iter().map(move |&x| (row, x))).collect();
    let measured = context.map(&cells, |&(row, x)| -> Result<TrialStatistics> {
        let pair = ShinglePair::of(settings.union, (x * settings.union as f64).round() as usize);
        let method: Method = rows[row].form.parse()?;
        Ok(spread(method, &pair, settings.trials)?)
    });
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;
    let mut table = Table::new(
        "variances",
        "Variances of estimates",
        &["sketch of the survey", "made as", "J", "measured", "standard error", "as printed", "corrected"],
    );
    let mut right = Deviations::default();
    let mut printed = vec![Deviations::default(); rows.len()];
    for (&(at, x), spread) in cells.iter().zip(&measured) {
        let row = &rows[at];
        let corrected = row.corrected.as_ref().map(|variance| variance(x));
        let as_printed = (row.printed)(x);
        right.add(spread.variance, corrected.unwrap_or(as_printed), spread.variance_error);
        printed[at].add(spread.variance, as_printed, spread.variance_error);
        table.push(vec![
            row.name.into(),
            row.form.as_str().into(),
            x.into(),
            spread.variance.into(),
            spread.variance_error.into(),
            as_printed.into(),
            corrected.into(),
        ]);
    }
    let of_rows = rows.iter().zip(&printed).map(|(row, deviations)| {
        let check = deviations.check("");
        let claim = format!("the printed variance of {}", row.name);
        let check = Check::stated(&claim, check.found, format!("at most {STANDARD_ERRORS}"), check.holds);
        if row.corrected.is_some() { check.erratum("E-11") } else { check }
    });
    Ok(ExperimentFindings::default()
        .table(table)
        .checks([right.check("measured variances are those of the corrected formulas")])
        .checks(of_rows))
}

/// Returns the seven of eleven rows that have a variance. The others have "NA".
fn rows(settings: &Settings) -> Vec<SurveyRow> {
    let (size, union) = (settings.registers, settings.union);
    let k = size as f64;
    let one = Chance::sparse(1);
    let connected = move |x: f64| connected_bit::variance(x, size, CONNECTED, one);
    vec![
        SurveyRow {
            name: "min-wise sketch",
            form: format!("minhash:{size}"),
            printed: Box::new(move |x| x * (1.0 - x) / k),
            corrected: None,
        },
        SurveyRow {
            name: "b-bit sketch",
            form: format!("b-bit:1/minhash:{size}"),
            printed: Box::new(move |x| (1.0 - x) / k * (x + 1.0)),
            corrected: None,
        },
        SurveyRow {
            name: "min-max sketch",
            form: format!("min-max:{size}"),
            printed: Box::new(move |x| {
                let (union, common) = (union as f64, (x * union as f64).round());
                x / k * (union + common - 2.0) / (union - 1.0) - 2.0 * x * x / k
            }),
            corrected: None,
        },
        SurveyRow {
            name: "BitHash sketch",
            form: format!("bit-hash/minhash:{size}"),
            printed: Box::new(move |x| (1.0 - x) * (1.0 + x) / k),
            corrected: None,
        },
        SurveyRow {
            name: "odd sketch",
            form: format!("odd:{size}/minhash:{size}"),
            // The source prints the variance of the number of ones as that of the estimate.
            printed: Box::new(move |x| odd::ones(2.0 * k * (1.0 - x), size).1),
            corrected: Some(Box::new(move |x| odd::variance(x, size, size))),
        },
        SurveyRow {
            name: "connected bit sketch",
            form: format!("connected:{CONNECTED}x1/minhash:{size}"),
            // The source prints the exponent 2(n − 1) in place of 2(n − 1)/n.
            printed: Box::new(move |x| {
                let n = CONNECTED as f64;
                let together = (0.5 + 0.5 * x).powf(n);
                connected(x) * together.powf(2.0 * (n - 1.0) / n - 2.0 * (n - 1.0))
            }),
            corrected: Some(Box::new(connected)),
        },
        SurveyRow {
            name: "SuperMinHash sketch",
            form: format!("super-minhash:{size}"),
            printed: Box::new(move |x| x * (1.0 - x) / k),
            corrected: Some(Box::new(move |x| super_minhash::variance(x, union, size))),
        },
    ]
}
