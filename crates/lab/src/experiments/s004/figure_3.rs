//! Figure 3: the chance of becoming a candidate.

use anyhow::Result;
use minwise::candidate::{Banding, Curve};
use minwise::sketch::Method;
use serde::Deserialize;

use crate::check::{Check, Deviations, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::chart;
use crate::measure::{ShinglePair, sketch};
use crate::plot::{Axis, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    bands: Vec<usize>,
    trials: u64,
    similarities: Vec<f64>,
    union: usize,
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
    Ok(ExperimentFindings::default().table(table).chart("candidates", picture).checks([
        deviations.check("shares are those of the S-curve"),
        Check::known("found at 0.94 with 20 bands of 50 rows", example, &expected.found),
        Check::known("missed there", 1.0 - example, &expected.missed),
        Check::published("found there", example, &published.found).erratum("E-41"),
        Check::published("missed there", 1.0 - example, &published.missed).erratum("E-41"),
        Check::published("one pair in so many is missed", 1.0 / (1.0 - example), &published.one_in)
            .erratum("E-41"),
    ]))
}

/// For each banding, the share of trials in which the pair shares a band.
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
