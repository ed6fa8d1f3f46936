//! Table 3: the mean squared error against the exact similarity.

use std::collections::HashSet;

use anyhow::Result;
use serde::Deserialize;

use super::{PairKind, pair, sectional};
use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS, significant};
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
        .checks([advantage(&errors)])
        .checks(sentences(&published))
        .checks(possible))
}

/// Checks the statement "for any k, the accuracy of the proposed method is more than the accuracy of the baseline
/// method" on measured errors.
fn advantage(errors: &[Errors]) -> Check {
    let (mut less, mut compared) = (0, 0);
    for cell in errors.iter().filter(|cell| cell.sections > 1) {
        let same = |other: &&Errors| {
            other.sections == 1 && other.kind == cell.kind && other.registers == cell.registers
        };
        for minhash in errors.iter().filter(same) {
            let error = cell.standard_error.hypot(minhash.standard_error);
            compared += 1;
            less += usize::from(minhash.mean - cell.mean > STANDARD_ERRORS * error);
        }
    }
    Check::stated(
        "measured errors of sections that are clearly below that of MinHash, for the same pairs and k",
        format!("{less} of {compared}"),
        "all",
        less == compared,
    )
    .erratum("E-06")
}

/// Checks the statements of section 5-1 on the printed errors.
fn sentences(published: &Published) -> [Check; 4] {
    let with_sections: Vec<(usize, usize, f64)> = published
        .rows
        .iter()
        .filter(|row| row.sections > 1)
        .flat_map(|row| published.of(row.sections).map(|(k, error)| (row.sections, k, error.value)))
        .collect();
    let minhash: Vec<(usize, f64)> = published.of(1).map(|(k, error)| (k, error.value)).collect();
    let at = |k: usize| minhash.iter().find(|(other, _)| *other == k).map_or(f64::NAN, |(_, error)| *error);
    let above = with_sections.iter().filter(|(_, k, error)| *error > at(*k)).count();
    let all = with_sections.len();
    let (s, k, least) =
        with_sections.iter().copied().min_by(|a, b| a.2.total_cmp(&b.2)).unwrap_or((0, 0, f64::NAN));
    let best = minhash.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    let by_two_or_three = minhash
        .iter()
        .filter(|(k, _)| {
            let here = with_sections.iter().filter(|(_, other, _)| other == k);
            here.min_by(|a, b| a.2.total_cmp(&b.2)).is_some_and(|(s, _, _)| [2, 3].contains(s))
        })
        .count();
    [
        Check::stated(
            "printed errors of sections above that of MinHash at the same k",
            format!("{above} of {all}"),
            0,
            above == 0,
        )
        .erratum("E-06"),
        Check::stated(
            "the least printed error, and how many times less than that of MinHash at the same k",
            format!("s = {s}, k = {k}, {} times", significant(at(k) / least)),
            "s = 2, k = 200, about 8 times",
            (s, k) == (2, 200) && (at(k) / least).round() == 8.0,
        ),
        Check::stated(
            "it is less than every printed error of MinHash, also with more permutations",
            significant(least),
            format!("below {}", significant(best)),
            least < best,
        ),
        Check::stated(
            "numbers of permutations at which two or three sections have the least printed error",
            format!("{by_two_or_three} of {}", minhash.len()),
            "all",
            by_two_or_three == minhash.len(),
        ),
    ]
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
