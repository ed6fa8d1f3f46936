//! Table 1: pairs whose estimate is off by more than ε.

use std::collections::BTreeMap;

use anyhow::Result;
use minwise::estimate::minhash::matches;
use minwise::verify::{Overlap, ShingleSet};
use serde::Deserialize;

use super::{SPACE, pairs, sketch_all, term_sets};
use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS, significant};
use crate::data;
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, points};
use crate::measure::TrialStatistics;
use crate::plot::{Axis, Chart, Point, Series};
use crate::simulate::binomial::Binomial;
use crate::simulate::{Random, Vocabulary};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: u64,
    registers: Vec<usize>,
    errors: Vec<f64>,
    runs: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    rows: Vec<Row>,
    error_rate: Printed,
    pairs: u64,
    bound: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    error: f64,
    counts: Vec<Printed>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let sets = match context.data_if_there(SPACE) {
        Some(folder) => term_sets(&data::texts(&folder)?),
        None => made_up(settings.documents, context.seed()),
    };
    let similarities: Vec<f64> =
        pairs(sets.len()).map(|(a, b)| Overlap::of(&sets[a], &sets[b]).jaccard()).collect();
    let by_similarity = counted(&similarities);
    let mut table = Table::new(
        "pairs-off",
        "Pairs off by more than ε",
        &["ε", "K", "measured", "standard error", "expected", "deviation of one run", "the source says"],
    );
    let mut deviations = Deviations::default();
    let mut scatter = vec![];
    let mut curves: Vec<ErrorCurve> = settings.errors.iter().map(|_| ErrorCurve::default()).collect();
    let mut by_registers = vec![];
    for (column, &registers) in settings.registers.iter().enumerate() {
        let counts = measure(context, &settings, &sets, &similarities, registers)?;
        let expected = expected(context, &settings, &by_similarity, registers);
        by_registers.push(expected.clone());
        for (row, &error) in settings.errors.iter().enumerate() {
            let spread =
                TrialStatistics::of(&counts.iter().map(|counts| counts[row] as f64).collect::<Vec<_>>());
            // If hardly any pair is off, all runs may have equal counts by chance. The variance of a rare count is its
            // mean, so the variance is at least the expected count.
            let variance = spread.variance.max(expected[row]);
            let standard_error = (variance / settings.runs as f64).sqrt();
            deviations.add(spread.mean, expected[row], standard_error);
            let of_error = published.rows.iter().find(|row| row.error == error);
            let printed = of_error.and_then(|row| row.counts.get(column)).map(|printed| printed.value);
            table.push(vec![
                error.into(),
                registers.into(),
                spread.mean.into(),
                standard_error.into(),
                expected[row].into(),
                variance.sqrt().into(),
                printed.into(),
            ]);
            let x = registers as f64;
            let bar = 2.0 * standard_error;
            let curve = &mut curves[row];
            curve.theory.push((x, expected[row]));
            curve.measured.push(Point {
                x,
                y: spread.mean,
                error: Some((spread.mean - bar, spread.mean + bar)),
            });
            curve.theirs.extend(printed.map(|printed| (x, printed)));
            if row == 0 {
                scatter.push((variance / expected[row]).sqrt());
            }
        }
    }
    let ErrorCurve { theory, theirs, .. } = &curves[0];
    let falls = theory.windows(2).all(|pair| pair[0].1 > 3.0 * pair[1].1);
    let rises = (0..settings.errors.len())
        .filter(|&row| by_registers.windows(2).any(|pair| pair[1][row] >= pair[0][row]))
        .count();
    let tenths = tenths(theory, theirs);
    let shown = scatter.iter().map(|ratio| format!("{ratio:.1}")).collect::<Vec<_>>().join(", ");
    // The count of one run scatters by about its mean.
    let error_of_ten = published.bound.value / 10.0_f64.sqrt();
    let last = theirs.last().map_or(f64::NAN, |last| last.1);
    let rate = theirs.last().map_or(f64::NAN, |last| last.1 / published.pairs as f64);
    let picture = picture(&settings, &curves);
    Ok(ExperimentFindings::default()
        .table(table)
        .chart("pairs-off", noted(picture, TWO_ERRORS))
        .checks([
            deviations.check("measured counts are those of the binomial law"),
            Check::shape("200 more registers leave less than a third of the pairs", falls, true, falls),
            Check::shape(
                "the count of one run scatters more than that of independent pairs would, so many times",
                shown,
                "above 1",
                scatter.iter().all(|&ratio| ratio > 1.0),
            ),
            Check::shape(
                "errors ε for which more registers leave no fewer pairs, as expected",
                rises,
                0,
                rises == 0,
            ),
            Check::published("the error rate at the last K and ε = 0.04", rate, &published.error_rate)
                .erratum("E-42"),
            Check::possible(
                "the printed count at K = 800 and ε = 0.04, less the scatter of a mean of ten runs",
                significant(last),
                format!("{} + {STANDARD_ERRORS} × {}", published.bound, significant(error_of_ten)),
                last <= published.bound.value + STANDARD_ERRORS * error_of_ten,
            ),
        ])
        .checks(tenths))
}

/// Counts of one ε, by registers.
#[derive(Default)]
struct ErrorCurve {
    theory: Vec<(f64, f64)>,
    measured: Vec<Point>,
    theirs: Vec<(f64, f64)>,
}

/// Draws figure 1, with one curve per ε.
fn picture(settings: &Settings, curves: &[ErrorCurve]) -> Chart {
    let mut series = vec![];
    for (&error, curve) in settings.errors.iter().zip(curves) {
        series.push(Series {
            label: format!("ε = {error}"),
            line: curve.theory.clone(),
            points: curve.measured.clone(),
        });
        series.push(points(&format!("ε = {error}, as printed"), &curve.theirs));
    }
    let picture = chart(
        "Pairs off by more than ε",
        "The counts fall with the registers, and the faster the larger ε is.",
        Axis::linear("registers K"),
        Axis::log("pairs").between(0.001, 10_000.0),
        series,
    );
    let note = format!(
        "Lines: expected. Points with bars: measured. {TWO_ERRORS} Counts of 0 have no place on the axis."
    );
    noted(picture, &note)
}

/// Counts pairs per similarity, because many pairs have exactly the same similarity.
fn counted(similarities: &[f64]) -> Vec<(f64, u64)> {
    let mut pairs: BTreeMap<u64, u64> = BTreeMap::new();
    for similarity in similarities {
        *pairs.entry(similarity.to_bits()).or_default() += 1;
    }
    pairs.into_iter().map(|(bits, n)| (f64::from_bits(bits), n)).collect()
}

/// Checks the text "800 permutations give … [a] tenth [of] the error rate when [the] permutation number is 400", for the
/// expected counts and for the printed ones.
fn tenths(theory: &[(f64, f64)], theirs: &[(f64, f64)]) -> [Check; 2] {
    let of_last = |counts: &[(f64, f64)]| match counts {
        [first, .., last] => last.1 / first.1,
        _ => f64::NAN,
    };
    let (tenth, printed_tenth) = (of_last(theory), of_last(theirs));
    let is_tenth = |ratio: f64| (0.05..=0.15).contains(&ratio);
    [
        Check::stated(
            "as printed, the error rate at 800 over that at 400, ε = 0.04",
            significant(printed_tenth),
            "about a tenth, from 0.05 to 0.15",
            is_tenth(printed_tenth),
        ),
        Check::stated(
            "as expected here, the error rate at 800 over that at 400, ε = 0.04",
            significant(tenth),
            "about a tenth, from 0.05 to 0.15",
            is_tenth(tenth),
        )
        .erratum("E-42"),
    ]
}

/// Returns posts of about two hundred words, as sets of their words.
pub(super) fn made_up(documents: u64, seed: u64) -> Vec<ShingleSet> {
    let vocabulary = Vocabulary::new(50_000);
    (0..documents)
        .map(|document| {
            let mut random = Random::new(seed, &[document]);
            let words = 150 + random.below(150) as usize;
            vocabulary.document(words, &mut random).into_iter().collect()
        })
        .collect()
}

/// Counts, per run and per ε, the pairs whose estimate is off by more than ε.
fn measure(
    context: &Context<'_>,
    settings: &Settings,
    sets: &[ShingleSet],
    similarities: &[f64],
    registers: usize,
) -> Result<Vec<Vec<u64>>> {
    let runs: Vec<u64> = (0..settings.runs).collect();
    let counts = context.map(&runs, |run| -> Result<Vec<u64>> {
        let sketches = sketch_all(registers, context.seed() + run, sets)?;
        let mut counts = vec![0; settings.errors.len()];
        for ((a, b), similarity) in pairs(sets.len()).zip(similarities) {
            let estimate = matches(sketches.row(a), sketches.row(b)) as f64 / registers as f64;
            for (count, &error) in counts.iter_mut().zip(&settings.errors) {
                *count += u64::from((estimate - similarity).abs() > error);
            }
        }
        Ok(counts)
    });
    counts.into_iter().collect()
}

/// Returns the number of pairs that the binomial distribution expects to be off by more than each ε.
fn expected(
    context: &Context<'_>,
    settings: &Settings,
    by_similarity: &[(f64, u64)],
    registers: usize,
) -> Vec<f64> {
    let off = context.map(by_similarity, |&(similarity, pairs)| {
        let law = Binomial::new(registers, similarity);
        let of = |&error: &f64| {
            let is_off = |x: usize| (x as f64 / registers as f64 - similarity).abs() > error;
            pairs as f64 * law.probability(is_off)
        };
        settings.errors.iter().map(of).collect::<Vec<f64>>()
    });
    let sum = |at: usize| off.iter().map(|row| row[at]).sum();
    (0..settings.errors.len()).map(sum).collect()
}
