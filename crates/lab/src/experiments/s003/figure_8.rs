//! Figure 8: accuracy and recall of the thresholds of a look.

use anyhow::Result;
use serde::Deserialize;

use super::{SimilaritySpread, agreements};
use crate::check::Check;
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, share_point, through};
use crate::plot::Axis;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: usize,
    look: usize,
    threshold: f64,
    spreads: Vec<SimilaritySpread>,
    matches: Vec<usize>,
}

/// Pairs above a number of matches at the look.
struct Row {
    spread: SimilaritySpread,
    matches: usize,
    /// Pairs that are similar by all registers, whatever their matches.
    similar: usize,
    above: usize,
    /// Of those above, the ones that are similar by all registers.
    right: usize,
    /// Of those above, the ones that are similar by the registers of the look.
    by_look: usize,
}

impl Row {
    fn accuracy(&self) -> f64 {
        self.right as f64 / self.above as f64
    }

    fn accuracy_as_printed(&self) -> f64 {
        self.by_look as f64 / self.above as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.similar as f64
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let rows: Vec<Row> = context
        .map(&settings.spreads, |&spread| measure(context, &settings, spread))
        .into_iter()
        .flatten()
        .collect();
    let mut table = Table::new(
        "accuracy",
        "Pairs with more than m of the first 100 matches",
        &["pairs", "m", "accuracy", "accuracy as printed", "recall"],
    );
    for row in &rows {
        table.push(vec![
            row.spread.name().into(),
            row.matches.into(),
            row.accuracy().into(),
            row.accuracy_as_printed().into(),
            row.recall().into(),
        ]);
    }
    let uniform = || rows.iter().filter(|row| row.spread == SimilaritySpread::Uniform);
    let curve = |label: &str, of: fn(&Row) -> (usize, usize)| {
        let point = |row: &Row| {
            let (right, all) = of(row);
            share_point(row.matches as f64, right as f64, all as f64)
        };
        through(label, uniform().map(point).collect())
    };
    let picture = chart(
        "Deciding after 100 of 1000 registers, T = 0.8",
        "The accuracy rises from a half to one between 75 and 90 matches, while the recall falls from one; as printed, the accuracy is one from 80 on.",
        Axis::linear("matches of the first 100"),
        Axis::linear("share").between(0.0, 1.0),
        vec![
            curve("accuracy", |row| (row.right, row.above)),
            curve("recall", |row| (row.right, row.similar)),
            curve("accuracy as printed", |row| (row.by_look, row.above)),
        ],
    );
    let needed = settings.threshold * settings.look as f64;
    let middle = || uniform().filter(|row| row.matches as f64 >= needed && row.matches < 88);
    let low = middle().filter(|row| row.accuracy() < 1.0).count();
    let low_as_printed = middle().filter(|row| row.accuracy_as_printed() < 1.0).count();
    let of = middle().count();
    let high = uniform().filter(|row| row.matches >= 96).all(|row| row.accuracy() == 1.0);
    Ok(ExperimentFindings::default().table(table).chart("accuracy", picture).checks([
        Check::shape(
            "thresholds from 80 to 88 with an accuracy below 1",
            format!("{low} of {of}"),
            "all",
            low == of,
        ),
        Check::shape("the accuracy is 1 from 96 matches on", high, true, high),
        Check::stated(
            "by the printed formula, thresholds from 80 to 88 with an accuracy below 1",
            format!("{low_as_printed} of {of}"),
            "all",
            low_as_printed == of,
        )
        .erratum("E-52"),
    ]))
}

fn measure(context: &Context<'_>, settings: &Settings, spread: SimilaritySpread) -> Vec<Row> {
    let pairs = agreements(spread, settings.pairs, settings.registers, context.seed());
    let count = |registers: &[bool]| registers.iter().filter(|&&agrees| agrees).count();
    // Whether a pair is similar by all registers, and its matches at the look.
    let pairs: Vec<(bool, usize)> = pairs
        .iter()
        .map(|pair| {
            let share = count(pair) as f64 / settings.registers as f64;
            (share > settings.threshold, count(&pair[..settings.look]))
        })
        .collect();
    let similar = pairs.iter().filter(|(similar, _)| *similar).count();
    let row = |&matches: &usize| {
        let above = || pairs.iter().filter(|(_, at_look)| *at_look > matches);
        let by_look =
            above().filter(|(_, at)| *at as f64 > settings.threshold * settings.look as f64).count();
        let right = above().filter(|(similar, _)| *similar).count();
        Row { spread, matches, similar, above: above().count(), right, by_look }
    };
    settings.matches.iter().map(row).collect()
}
