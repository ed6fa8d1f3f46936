//! Table 4: bands against what queries find.

use anyhow::Result;
use minwise::candidate::Banding;
use minwise::hash::vector::ModularSum;
use minwise::sketch::Sketches;
use serde::Deserialize;

use super::copies::{Collection, MEMBERS, candidates, reaches};
use super::{COPIES, sketch_all};
use crate::check::{Check, Deviations, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, line, points};
use crate::plot::{Axis, Chart};
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
    found: Vec<Printed>,
    false_candidates: Vec<Printed>,
    false_positive_rate: Vec<Printed>,
}

/// What queries find with one number of bands, on average.
struct Row {
    bands: usize,
    found: f64,
    copies_among_candidates: f64,
    false_by_bucket: f64,
    expected_by_bucket: f64,
    false_by_key: f64,
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
    let rows = context.map(&settings.bands, |&bands| {
        row(context.seed(), &settings, &collection, &sketches, &queries, bands)
    });
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
        // Rare events, of which up to eight happen at once: members of a family mostly share their buckets.
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
    let (rates, rate_checks) = rates(&rows, &published, collection.sets.len());
    let [copies, wrong] = pictures(&settings, &published, &rows);
    Ok(ExperimentFindings::default()
        .table(table)
        .table(rates)
        .chart("copies", copies)
        .chart("false-candidates", wrong)
        .checks(checks)
        .checks(rate_checks))
}

/// The rates of the source under their usual names, and those whose names it gives them (E-44).
fn rates(rows: &[Row], published: &Published, documents: usize) -> (Table, Vec<Check>) {
    let mut table = Table::new(
        "rates",
        "Rates, with p buckets",
        &[
            "bands",
            "false discovery",
            "\"fpr\" as printed",
            "false omission",
            "false positive",
            "false negative",
        ],
    );
    let mut checks = vec![];
    let relatives = (MEMBERS - 1) as f64;
    for (row, printed) in rows.iter().zip(&published.false_positive_rate) {
        let returned = row.found + row.false_by_bucket;
        let missed = relatives - row.found;
        let others = (documents - MEMBERS) as f64;
        let false_positive = row.false_by_bucket / others;
        table.push(vec![
            row.bands.into(),
            (row.false_by_bucket / returned).into(),
            printed.value.into(),
            (missed / (documents as f64 - 1.0 - returned)).into(),
            false_positive.into(),
            (missed / relatives).into(),
        ]);
        let claim = format!("the false positive rate of {} bands", row.bands);
        checks.push(Check::published(&claim, false_positive, printed).erratum("E-44"));
    }
    (table, checks)
}

fn pictures(settings: &Settings, published: &Published, rows: &[Row]) -> [Chart; 2] {
    let curve = |label: &str, of: fn(&Row) -> f64| {
        line(label, rows.iter().map(|row| (row.bands as f64, of(row))).collect())
    };
    let printed = |values: &[Printed]| -> Vec<(f64, f64)> {
        settings.bands.iter().map(|&bands| bands as f64).zip(values.iter().map(|value| value.value)).collect()
    };
    let copies = chart(
        "Copies that a query finds",
        "They rise with the bands and stay below seven, where the threshold on the estimate keeps them.",
        Axis::linear("bands"),
        Axis::linear("copies of 7"),
        vec![
            curve("found", |row| row.found),
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
    [copies, wrong]
}

fn row(
    seed: u64,
    settings: &Settings,
    collection: &Collection,
    sketches: &Sketches,
    queries: &[usize],
    bands: usize,
) -> Result<Row> {
    let rows = settings.registers / bands;
    let banding = Banding::new(bands, rows, settings.registers)?;
    let documents = collection.sets.len();
    let buckets: Vec<ModularSum> = (0..bands as u64)
        .map(|band| ModularSum::new(rows, documents as u64, seed.wrapping_add(band << 32)))
        .collect::<Result<_, _>>()?;
    let by_bucket = candidates(documents, queries, bands, |band, document| {
        let rows: Vec<u64> =
            sketches.row(document)[band * rows..][..rows].iter().map(|&value| u64::from(value)).collect();
        buckets[band].hash(&rows)
    });
    let by_key =
        candidates(documents, queries, bands, |band, document| banding.key(band, sketches.row(document)));
    let (mut found, mut copies, mut false_by_bucket, mut false_by_key) = (0, 0, 0, 0);
    for ((&query, by_bucket), by_key) in queries.iter().zip(&by_bucket).zip(&by_key) {
        // Some posts are near-duplicates of another family's.
        let is_false = |other: &&usize| {
            !collection.is_family(query, **other)
                && collection.similarity(query, **other) < settings.threshold
        };
        let of_family = || by_key.iter().filter(|&&other| collection.is_family(query, other));
        copies += of_family().count();
        found += of_family().filter(|&&other| reaches(sketches, query, other, settings.threshold)).count();
        false_by_bucket += by_bucket.iter().filter(is_false).count();
        false_by_key += by_key.iter().filter(is_false).count();
    }
    let mean = |count: usize| count as f64 / queries.len() as f64;
    let prime = buckets.first().map_or(1, ModularSum::prime) as f64;
    Ok(Row {
        bands,
        found: mean(found),
        copies_among_candidates: mean(copies),
        false_by_bucket: mean(false_by_bucket),
        expected_by_bucket: (documents - MEMBERS) as f64 * -(bands as f64 * (-1.0 / prime).ln_1p()).exp_m1(),
        false_by_key: mean(false_by_key),
    })
}
