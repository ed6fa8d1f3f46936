//! Figure 2: similarities of shuffled texts against the length of shingles.

use anyhow::Result;
use minwise::verify::Overlap;
use serde::Deserialize;

use super::{sets, shuffles};
use crate::check::{Check, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::chart;
use crate::plot::{Axis, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: u64,
    sizes: Vec<usize>,
}

/// Similarities of all pairs at one length.
struct Row {
    size: usize,
    least: f64,
    mean: f64,
    most: f64,
    /// The share of pairs that have nothing in common.
    apart: f64,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let documents = shuffles(settings.documents, context.seed());
    let mut rows = vec![];
    for &size in &settings.sizes {
        let sets = sets(&documents, size)?;
        let similarities: Vec<f64> = (0..sets.len())
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard())
            .collect();
        let n = similarities.len() as f64;
        rows.push(Row {
            size,
            least: similarities.iter().copied().fold(f64::INFINITY, f64::min),
            mean: similarities.iter().sum::<f64>() / n,
            most: similarities.iter().copied().fold(0.0, f64::max),
            apart: similarities.iter().filter(|&&similarity| similarity == 0.0).count() as f64 / n,
        });
    }
    let mut table = Table::new(
        "similarities",
        "Similarities of all pairs",
        &["characters", "least", "mean", "greatest", "share of pairs with nothing in common"],
    );
    for row in &rows {
        table.push(vec![
            row.size.into(),
            row.least.into(),
            row.mean.into(),
            row.most.into(),
            row.apart.into(),
        ]);
    }
    let marks =
        rows.iter().map(|row| Point { x: row.size as f64, y: row.mean, error: Some((row.least, row.most)) });
    let series = Series {
        label: "mean, least and greatest of 190 pairs".to_owned(),
        line: rows.iter().map(|row| (row.size as f64, row.mean)).collect(),
        points: marks.collect(),
    };
    let picture = chart(
        "Shuffles of one text",
        "The similarity falls from nearly 1 at two characters to nearly 0 at twelve.",
        Axis::linear("characters of a shingle"),
        Axis::linear("similarity").between(0.0, 1.0),
        vec![series],
    );
    let falls = rows.windows(2).all(|pair| pair[0].mean > pair[1].mean);
    let nine = rows.iter().find(|row| row.size == 9).map_or(f64::NAN, |row| row.mean);
    let apart = rows.iter().filter(|row| row.size > 12).map(|row| row.apart).collect::<Vec<_>>();
    let rises =
        apart.windows(2).all(|pair| pair[0] <= pair[1]) && apart.last().is_some_and(|&share| share > 0.5);
    Ok(ExperimentFindings::default().table(table).chart("similarities", picture).checks([
        Check::shape("the mean falls with the length", falls, true, falls),
        Check::shape("the mean at nine characters", significant(nine), "below 0.1", nine < 0.1),
        Check::shape(
            "beyond twelve characters more and more pairs share nothing, at last most",
            rises,
            true,
            rises,
        ),
    ]))
}
