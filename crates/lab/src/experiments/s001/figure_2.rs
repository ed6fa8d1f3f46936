//! Figure 2: similarities of shuffled texts against the length of shingles.

use anyhow::Result;
use minwise::verify::Overlap;
use serde::Deserialize;

use super::{sets, shuffles};
use crate::check::{Check, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, noted};
use crate::plot::{Axis, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: u64,
    sizes: Vec<usize>,
    sets: u64,
}

/// The length at which the report has all pairs below [`BELOW`].
const LENGTH: usize = 9;
const BELOW: f64 = 0.1;
/// The length above which the report has similarities of mostly 0.
const MOSTLY_ZERO: usize = 12;

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
        let similarities = similarities(&documents, size)?;
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
    let note = "Bars: from the least to the greatest similarity of a pair.";
    let falls = rows.windows(2).all(|pair| pair[0].mean > pair[1].mean);
    let nine = rows.iter().find(|row| row.size == LENGTH).map_or(f64::NAN, |row| row.most);
    let all_below = context.map(&(0..settings.sets).collect::<Vec<u64>>(), |&set| -> Result<bool> {
        let documents = shuffles(settings.documents, context.seed() + 1 + set);
        Ok(similarities(&documents, LENGTH)?.iter().all(|&similarity| similarity < BELOW))
    });
    let all_below = all_below.into_iter().collect::<Result<Vec<_>>>()?.iter().filter(|&&all| all).count();
    let long = || rows.iter().filter(|row| row.size > MOSTLY_ZERO);
    let mostly_zero = long().filter(|row| row.apart > 0.5).count();
    let shares: Vec<String> = long().map(|row| format!("{} %", significant(100.0 * row.apart))).collect();
    let other_text = "which text it was is not said; this is the usual placeholder text";
    Ok(ExperimentFindings::default().table(table).chart("similarities", noted(picture, note)).checks([
        Check::shape("the mean falls with the length", falls, true, falls),
        Check::shape(
            &format!("the greatest similarity of a pair at {LENGTH} characters"),
            significant(nine),
            format!("below {BELOW}"),
            nine < BELOW,
        )
        .because(other_text),
        Check::shape(
            &format!("sets of shuffles whose pairs are all below {BELOW} at {LENGTH} characters"),
            format!("{all_below} of {}", settings.sets),
            "all",
            all_below as u64 == settings.sets,
        )
        .because(other_text),
        Check::shape(
            &format!("lengths above {MOSTLY_ZERO} at which most pairs share nothing"),
            format!("{mostly_zero} of {} (shares {})", long().count(), shares.join(", ")),
            "all",
            mostly_zero == long().count(),
        )
        .because(other_text),
    ]))
}

/// The exact similarities of all pairs.
fn similarities(documents: &[String], size: usize) -> Result<Vec<f64>> {
    let sets = sets(documents, size)?;
    let pairs = (0..sets.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    Ok(pairs.map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard()).collect())
}
