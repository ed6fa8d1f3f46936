//! Table 4: the results of queries for several numbers of bands.

use anyhow::Result;
use serde::Deserialize;

use super::copies::{Collection, MEMBERS};
use super::queries::{Queries, QueryRow};
use super::{COPIES, sketch_all};
use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, line, noted, points};
use crate::plot::{Axis, Chart, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    families: u64,
    registers: usize,
    bands: Vec<usize>,
    threshold: f64,
    queries: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    /// Approximate thresholds of the bandings, in the head of the table.
    thresholds: Vec<Printed>,
    found: Vec<Printed>,
    false_candidates: Vec<Printed>,
    false_positive_rate: Vec<Printed>,
    missed: Vec<Printed>,
    /// False negative rate in units of 10⁻⁵.
    false_negative_rate: Vec<Printed>,
    queries: f64,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let collection = match context.data_if_there(COPIES) {
        Some(folder) => Collection::read(&folder)?,
        None => Collection::generate(settings.families, context.seed()),
    };
    let sketches = sketch_all(settings.registers, context.seed(), &collection.sets)?;
    let queries = collection.queries(settings.queries, context.seed());
    let asked = Queries {
        collection: &collection,
        sketches: &sketches,
        asked: &queries,
        registers: settings.registers,
        threshold: settings.threshold,
        seed: context.seed(),
    };
    let rows = context.map(&settings.bands, |&bands| asked.with_bands(bands));
    let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;

    let mut table = Table::new(
        "queries",
        &format!("Averages of {} queries in {} documents", queries.len(), collection.sets.len()),
        &[
            "bands",
            "copies found",
            "found as printed",
            "copies among candidates",
            "false, p buckets",
            "expected",
            "false as printed",
            "false, 64-bit keys",
        ],
    );
    let mut deviations = Deviations::default();
    for ((row, found), wrong) in rows.iter().zip(&published.found).zip(&published.false_candidates) {
        // False candidates are rare, but up to eight occur together, because members of a family mostly share their
        // buckets.
        deviations.add(
            row.false_by_bucket,
            row.expected_by_bucket,
            (MEMBERS as f64 * row.expected_by_bucket / queries.len() as f64).sqrt(),
        );
        table.push(vec![
            row.bands.into(),
            row.found.into(),
            found.value.into(),
            row.copies_among_candidates.into(),
            row.false_by_bucket.into(),
            row.expected_by_bucket.into(),
            wrong.value.into(),
            row.false_by_key.into(),
        ]);
    }
    let rises =
        rows.windows(2).all(|pair| pair[0].copies_among_candidates <= pair[1].copies_among_candidates);
    let last = rows.last().map_or(0.0, |row| row.copies_among_candidates - row.found);
    let mut checks = vec![
        deviations.check("false candidates by buckets are those of chance, (N − 8)(1 − (1 − 1/p)ᵇ)"),
        Check::shape("copies among the candidates rise with the bands", rises, true, rises),
        Check::shape(
            "with the most bands, the estimate loses copies that the bands found",
            format!("{last:.2} a query"),
            "above 0",
            last > 0.0,
        ),
    ];
    checks.extend(rows.iter().zip(&published.false_candidates).map(|(row, printed)| {
        Check::published(
            &format!("false candidates that {} bands make", row.bands),
            row.false_by_key,
            printed,
        )
        .erratum("E-40")
    }));
    checks.extend(thresholds(&settings, &published));
    let is_theirs = context.data_if_there(COPIES).is_some();
    let (rates, rate_checks) = rates(&rows, &published, collection.sets.len(), is_theirs);
    let [copies, wrong] = pictures(&settings, &published, &rows, queries.len() as f64);
    Ok(ExperimentFindings::default()
        .table(table)
        .table(rates)
        .chart("copies", copies)
        .chart("false-candidates", wrong)
        .checks(checks)
        .checks(rate_checks))
}

/// Checks the printed thresholds (1/b)^(1/r) of the bandings, and the last statement of section 5: "when the threshold is
/// higher, it results in more false positives".
fn thresholds(settings: &Settings, published: &Published) -> Vec<Check> {
    let mut checks: Vec<Check> = settings
        .bands
        .iter()
        .zip(&published.thresholds)
        .map(|(&bands, printed)| {
            let threshold = (1.0 / bands as f64).powf(bands as f64 / settings.registers as f64);
            Check::published(&format!("the threshold (1/b)^(1/r) of {bands} bands"), threshold, printed)
        })
        .collect();
    let printed = || published.thresholds.iter().zip(&published.false_candidates);
    let mut by_threshold: Vec<(f64, f64)> = printed().map(|(at, wrong)| (at.value, wrong.value)).collect();
    by_threshold.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rises = by_threshold.is_sorted_by(|a, b| a.1 < b.1);
    let shown: Vec<String> = by_threshold.iter().map(|(at, wrong)| format!("{wrong} at {at}")).collect();
    checks.push(
        Check::stated(
            "as printed, a higher threshold results in more false positives",
            shown.join(", "),
            "growth",
            rises,
        )
        .erratum("E-40"),
    );
    checks
}

/// Returns the rates of the source under their usual names and under the names of the source (E-44).
///
/// Misses are compared with the printed misses only if the copies are the copies of the source (`is_theirs`), because
/// the similarities of generated copies are chosen.
fn rates(rows: &[QueryRow], published: &Published, documents: usize, is_theirs: bool) -> (Table, Vec<Check>) {
    let mut table = Table::new(
        "rates",
        "Misses and rates, with p buckets",
        &[
            "bands",
            "copies missed",
            "\"fns\" as printed",
            "false discovery",
            "\"fpr\" as printed",
            "false omission, 10⁻⁵",
            "\"fnr\" as printed",
            "false positive",
            "false negative",
        ],
    );
    let mut checks = vec![];
    let relatives = (MEMBERS - 1) as f64;
    let (mut near, mut off) = (vec![], vec![]);
    let mut near_rates = vec![];
    for (at, row) in rows.iter().enumerate() {
        let returned = row.found + row.false_by_bucket;
        let missed = relatives - row.found;
        let others = (documents - MEMBERS) as f64;
        let false_positive = row.false_by_bucket / others;
        let omission = 1e5 * missed / (missed + row.left_out);
        let [fns, fnr, fpr] =
            [&published.missed[at], &published.false_negative_rate[at], &published.false_positive_rate[at]];
        table.push(vec![
            row.bands.into(),
            missed.into(),
            fns.value.into(),
            (row.false_by_bucket / returned).into(),
            fpr.value.into(),
            omission.into(),
            fnr.value.into(),
            false_positive.into(),
            (missed / relatives).into(),
        ]);
        let claim = format!("the false positive rate of {} bands", row.bands);
        checks.push(Check::published(&claim, false_positive, fpr).erratum("E-44"));
        // The source's mean over `queries` queries scatters, like ours over more queries.
        let error = row.found_deviation / published.queries.sqrt();
        let is_near = (missed - fns.value).abs() <= STANDARD_ERRORS * error;
        // The rate is proportional to the number of missed copies.
        if (omission - fnr.value).abs() <= STANDARD_ERRORS * error * omission / missed {
            near_rates.push(format!("{} for {fnr}", significant(omission)));
        }
        let shown = format!("{} for {fns}", significant(missed));
        if is_near {
            near.push(shown);
        } else {
            off.push(shown);
        }
        // The printed numbers must agree with each other: found and missed copies are seven together.
        let both = published.found[at].value + fns.value;
        let claim = format!("copies found and missed with {} bands, as printed", row.bands);
        checks.push(Check::law(&claim, significant(both), relatives, (both - relatives).abs() < 0.0051));
    }
    if is_theirs {
        checks.push(Check::shape(
            "copies missed that are as many as the source's, within the scatter of its queries",
            format!("{} of {} ({})", near.len(), rows.len(), near.join(", ")),
            "all",
            off.is_empty(),
        ));
        checks.push(Check::shape(
            "false omission rates that are the source's, in 10⁻⁵, within the scatter of its queries",
            format!("{} of {} ({})", near_rates.len(), rows.len(), near_rates.join(", ")),
            "all",
            near_rates.len() == rows.len(),
        ));
    }
    (table, checks)
}

fn pictures(settings: &Settings, published: &Published, rows: &[QueryRow], queries: f64) -> [Chart; 2] {
    let curve = |label: &str, of: fn(&QueryRow) -> f64| {
        line(label, rows.iter().map(|row| (row.bands as f64, of(row))).collect())
    };
    let printed = |values: &[Printed]| -> Vec<(f64, f64)> {
        settings.bands.iter().map(|&bands| bands as f64).zip(values.iter().map(|value| value.value)).collect()
    };
    let with_bar = |row: &QueryRow| {
        let reach = 2.0 * row.found_deviation / queries.sqrt();
        Point { x: row.bands as f64, y: row.found, error: Some((row.found - reach, row.found + reach)) }
    };
    let found: Series = curve("found", |row| row.found).with_points(rows.iter().map(with_bar).collect());
    let copies = chart(
        "Copies that a query finds",
        "They rise with the bands and stay below seven, where the threshold on the estimate keeps them.",
        Axis::linear("bands"),
        Axis::linear("copies of 7"),
        vec![
            found,
            curve("among candidates", |row| row.copies_among_candidates),
            points("as printed", &printed(&published.found)),
        ],
    );
    let wrong = chart(
        "False candidates of a query",
        "With as many buckets as documents there are as many as bands; with 64-bit keys there are none.",
        Axis::linear("bands"),
        Axis::linear("false candidates"),
        vec![
            curve("p buckets", |row| row.false_by_bucket),
            curve("64-bit keys", |row| row.false_by_key),
            points("as printed", &printed(&published.false_candidates)),
        ],
    );
    [noted(copies, "Bars: two standard errors of the mean over queries on either side."), wrong]
}
