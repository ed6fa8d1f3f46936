//! Table 3: the mean squared error against the exact similarity.

use std::collections::HashSet;

use anyhow::Result;
use serde::Deserialize;

use super::{PairKind, pair, sectional};
use crate::check::{Check, Deviations, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, points};
use crate::measure::sketch;
use crate::plot::{Axis, Point, Series};
use crate::simulate::Random;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    words: usize,
    registers: Vec<usize>,
    sections: Vec<usize>,
    kinds: Vec<PairKind>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    registers: Vec<usize>,
    rows: Vec<PrintedRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintedRow {
    sections: usize,
    errors: Vec<Printed>,
}

impl Published {
    /// Returns the published errors for this number of sections, each with the number of registers.
    fn of(&self, sections: usize) -> impl Iterator<Item = (usize, &Printed)> {
        let row = self.rows.iter().filter(move |row| row.sections == sections);
        row.flat_map(|row| self.registers.iter().copied().zip(&row.errors))
    }
}

/// Errors of one sketch on pairs of one kind.
struct Errors {
    kind: PairKind,
    sections: usize,
    registers: usize,
    /// Mean squared error that was measured; `standard_error` is its error, and `expected` the value of theory.
    mean: f64,
    standard_error: f64,
    expected: f64,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let mut cells = vec![];
    for &kind in &settings.kinds {
        for &registers in &settings.registers {
            cells.extend(settings.sections.iter().map(|&sections| (kind, sections, registers)));
        }
    }
    let errors = context.map(&cells, |&(kind, sections, registers)| {
        errors(context.seed(), &settings, kind, sections, registers)
    });
    let errors = errors.into_iter().collect::<Result<Vec<_>>>()?;

    let mut table = Table::new(
        "errors",
        "Mean squared error",
        &["pairs", "k", "s", "measured", "standard error", "expected", "the source says"],
    );
    let mut deviations = Deviations::default();
    for cell in &errors {
        deviations.add(cell.mean, cell.expected, cell.standard_error);
        let mut printed = published.of(cell.sections);
        let says = printed.find(|(registers, _)| *registers == cell.registers).map(|(_, error)| error.value);
        table.push(vec![
            cell.kind.name().into(),
            cell.registers.into(),
            cell.sections.into(),
            cell.mean.into(),
            cell.standard_error.into(),
            cell.expected.into(),
            says.into(),
        ]);
    }
    let series_of = |kind: PairKind, sections: usize, label: &str| {
        let here = errors.iter().filter(|cell| cell.kind == kind && cell.sections == sections);
        let line = here.clone().map(|cell| (cell.registers as f64, cell.expected)).collect();
        let bar =
            |cell: &Errors| (cell.mean - 2.0 * cell.standard_error, cell.mean + 2.0 * cell.standard_error);
        let points =
            here.map(|cell| Point { x: cell.registers as f64, y: cell.mean, error: Some(bar(cell)) });
        Series { label: label.to_owned(), line, points: points.collect() }
    };
    let printed = |sections: usize| -> Vec<(f64, f64)> {
        published.of(sections).map(|(registers, error)| (registers as f64, error.value)).collect()
    };
    let picture = chart(
        "Mean squared error against registers",
        "Measured errors of aligned pairs fall as one over the registers, those of edited and shuffled pairs stay where they are; the printed ones run through neither.",
        Axis::linear("registers k"),
        Axis::log("mean squared error"),
        vec![
            series_of(PairKind::Aligned, 1, "MinHash"),
            series_of(PairKind::Aligned, 2, "s = 2, aligned"),
            series_of(PairKind::Edited, 2, "s = 2, edited"),
            series_of(PairKind::Shuffled, 2, "s = 2, shuffled"),
            points("MinHash, as printed", &printed(1)),
            points("s = 2, as printed", &printed(2)),
        ],
    );
    let possible = published.of(1).map(|(k, value)| {
        let bound = 0.25 / k as f64;
        let claim = format!("the error of MinHash at k = {k}");
        Check::possible(&claim, value, format!("at most {bound:.2e}"), value.value <= bound).erratum("E-06")
    });
    Ok(ExperimentFindings::default()
        .table(table)
        .chart("errors", noted(picture, TWO_ERRORS))
        .checks([deviations.check("errors are qJ(1 − qJ)/k + ((1 − q)J)², averaged over the pairs")])
        .checks(possible))
}

fn errors(
    seed: u64,
    settings: &Settings,
    kind: PairKind,
    sections: usize,
    registers: usize,
) -> Result<Errors> {
    let method = sectional(sections, registers)?;
    let (mut squares, mut expected) = (vec![], 0.0);
    for number in 0..settings.pairs {
        let mut random = Random::new(seed, &[kind as u64, number]);
        let [a, b] = pair(kind, settings.words, &mut random);
        // Every pair and cell has its own hash functions, so that errors are independent.
        let sketcher = method.build(random.next() ^ (registers * 10 + sections) as u64)?;
        let aligned = sketcher.exact(&a, &b);
        let similarity = jaccard(&a, &b);
        let estimate = sketcher.estimate(&sketch(&*sketcher, &a), &sketch(&*sketcher, &b)).value;
        squares.push((estimate - similarity).powi(2));
        expected += aligned * (1.0 - aligned) / registers as f64 + (similarity - aligned).powi(2);
    }
    let n = settings.pairs as f64;
    let mean = squares.iter().sum::<f64>() / n;
    let spread = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Ok(Errors {
        kind,
        sections,
        registers,
        mean,
        standard_error: (spread / n).sqrt(),
        expected: expected / n,
    })
}

fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let [a, b] = [a, b].map(|shingles| shingles.iter().copied().collect::<HashSet<u64>>());
    let common = a.intersection(&b).count();
    common as f64 / (a.len() + b.len() - common) as f64
}
