//! Figure 3: the number of documents that queries find by bands, and the probability of becoming a candidate.

use anyhow::Result;
use minwise::candidate::{Banding, Curve};
use minwise::sketch::Method;
use serde::Deserialize;

use super::copies::{Collection, MEMBERS};
use super::queries::{Queries, QueryRow};
use super::{COPIES, sketch_all};
use crate::check::{Check, Deviations, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, line, noted};
use crate::measure::{ShinglePair, sketch};
use crate::plot::{Axis, Chart, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    bands: Vec<usize>,
    trials: u64,
    similarities: Vec<f64>,
    union: usize,
    families: u64,
    queries: usize,
    threshold: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    found: Printed,
    missed: Printed,
    one_in: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    found: Printed,
    missed: Printed,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let expected: Expected = context.expected()?;
    let bandings: Vec<Banding> = settings
        .bands
        .iter()
        .map(|&bands| Banding::new(bands, settings.registers / bands, settings.registers))
        .collect::<Result<_, _>>()?;
    let measured =
        context.map(&settings.similarities, |&similarity| shares(&settings, &bandings, similarity));
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;
    let mut table = Table::new(
        "candidates",
        "Share of pairs that share a band",
        &["bands", "rows", "similarity", "measured", "S-curve"],
    );
    let mut deviations = Deviations::default();
    let mut series = vec![];
    for (at, &banding) in bandings.iter().enumerate() {
        let curve = Curve::from(banding);
        let mut marks = vec![];
        for (&similarity, shares) in settings.similarities.iter().zip(&measured) {
            let p = curve.probability(similarity);
            let error = (p * (1.0 - p) / settings.trials as f64).sqrt();
            deviations.add(shares[at], p, error);
            table.push(vec![
                banding.bands().into(),
                banding.rows().into(),
                similarity.into(),
                shares[at].into(),
                p.into(),
            ]);
            let bar = (shares[at] - 2.0 * error, shares[at] + 2.0 * error);
            marks.push(Point { x: similarity, y: shares[at], error: Some(bar) });
        }
        let label = format!("{} bands of {}", banding.bands(), banding.rows());
        series.push(Series::of(&label, (0.7, 1.0), 150, |x| curve.probability(x)).with_points(marks));
    }
    let picture = chart(
        "Becoming a candidate, with 1000 registers",
        "The more bands, the further left the curve rises; measured shares lie on the curves.",
        Axis::linear("similarity").between(0.7, 1.0),
        Axis::linear("probability").between(0.0, 1.0),
        series,
    );
    let example = Curve::from(Banding::new(20, 50, 1000)?).probability(0.94);
    let rows = queries(context, &settings)?;
    let findings = ExperimentFindings::default()
        .table(found(&settings, &rows))
        .chart("queries", drawn(&rows))
        .table(table)
        .chart("candidates", noted(picture, TWO_ERRORS));
    Ok(findings.checks(sentences(&rows)).checks([
        deviations.check("shares are those of the S-curve"),
        Check::known("found at 0.94 with 20 bands of 50 rows", example, &expected.found),
        Check::known("missed there", 1.0 - example, &expected.missed),
        Check::published("found there", example, &published.found).erratum("E-41"),
        Check::published("missed there", 1.0 - example, &published.missed).erratum("E-41"),
        Check::published("one pair in so many is missed", 1.0 / (1.0 - example), &published.one_in)
            .erratum("E-41"),
    ]))
}

/// Returns, for each banding, the share of trials in which the pair shares a band.
fn shares(settings: &Settings, bandings: &[Banding], similarity: f64) -> Result<Vec<f64>> {
    let pair = ShinglePair::of(settings.union, (similarity * settings.union as f64).round() as usize);
    let mut counts = vec![0_u64; bandings.len()];
    for seed in 0..settings.trials {
        let sketcher = Method::minhash(settings.registers).build(seed)?;
        let [a, b] = [&pair.a, &pair.b].map(|shingles| sketch(&*sketcher, shingles));
        for (count, banding) in counts.iter_mut().zip(bandings) {
            let shares = |band: usize| banding.key(band, &a) == banding.key(band, &b);
            *count += u64::from((0..banding.bands()).any(shares));
        }
    }
    Ok(counts.iter().map(|&count| count as f64 / settings.trials as f64).collect())
}

/// Returns the results of the source's queries, by the number of bands.
fn queries(context: &Context<'_>, settings: &Settings) -> Result<Vec<QueryRow>> {
    let collection = match context.data_if_there(COPIES) {
        Some(folder) => Collection::read(&folder)?,
        None => Collection::generate(settings.families, context.seed()),
    };
    let sketches = sketch_all(settings.registers, context.seed(), &collection.sets)?;
    let asked = collection.queries(settings.queries, context.seed());
    let queries = Queries {
        collection: &collection,
        sketches: &sketches,
        asked: &asked,
        registers: settings.registers,
        threshold: settings.threshold,
        seed: context.seed(),
    };
    context.map(&settings.bands, |&bands| queries.with_bands(bands)).into_iter().collect()
}

fn missed(row: &QueryRow) -> f64 {
    (MEMBERS - 1) as f64 - row.found
}

fn found(settings: &Settings, rows: &[QueryRow]) -> Table {
    let mut table = Table::new(
        "queries",
        "Averages of the queries",
        &["bands", "threshold (1/b)^(1/r)", "dup.", "fps., p buckets", "fps., 64-bit keys", "fns."],
    );
    for row in rows {
        let approximate = (1.0 / row.bands as f64).powf(row.bands as f64 / settings.registers as f64);
        table.push(vec![
            row.bands.into(),
            approximate.into(),
            row.found.into(),
            row.false_by_bucket.into(),
            row.false_by_key.into(),
            missed(row).into(),
        ]);
    }
    table
}

fn drawn(rows: &[QueryRow]) -> Chart {
    let curve = |label: &str, of: fn(&QueryRow) -> f64| {
        line(label, rows.iter().map(|row| (row.bands as f64, of(row))).collect())
    };
    chart(
        "Near-duplicates, false positives and false negatives of a query",
        "Copies found and false positives by buckets rise with the bands, copies missed fall.",
        Axis::linear("bands"),
        Axis::linear("documents per query"),
        vec![
            curve("near-duplicates", |row| row.found),
            curve("false positives, p buckets", |row| row.false_by_bucket),
            curve("false negatives", missed),
        ],
    )
}

/// Checks the statements "The false negatives become less … the false positives also go up along with the near
/// duplicates."
fn sentences(rows: &[QueryRow]) -> [Check; 3] {
    let check = |claim: &str, of: fn(&QueryRow) -> f64, rises: bool| {
        let values: Vec<f64> = rows.iter().map(of).collect();
        let holds = values.windows(2).all(|pair| if rises { pair[0] < pair[1] } else { pair[0] > pair[1] });
        let shown = values.iter().map(|&value| significant(value)).collect::<Vec<_>>().join(", ");
        Check::shape(claim, shown, if rises { "growth" } else { "a fall" }, holds)
    };
    [
        check("false negatives become less with the bands", missed, false),
        check("near-duplicates go up with the bands", |row| row.found, true),
        check("false positives go up with the bands, with p buckets", |row| row.false_by_bucket, true),
    ]
}
