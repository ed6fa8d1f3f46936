//! Figure 4: the cost of three ways to compare many documents, against the number of documents.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use minwise::candidate::{Banding, Curve};
use minwise::estimate::minhash::matches;
use minwise::sketch::{Method, Sketcher, Sketches};
use minwise::verify::{Overlap, ShingleSet};
use serde::Deserialize;

use super::{sets, shuffles};
use crate::check::Check;
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::clock::{BARS, Median, Rounds};
use crate::experiments::{chart, line, noted, through};
use crate::measure::TrialStatistics;
use crate::plot::Axis;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: Vec<u64>,
    shingle: usize,
    bands: usize,
    rows: usize,
    seeds: u64,
    rounds: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    pairs: u64,
}

/// Cost of comparing one number of documents.
struct Cost {
    documents: u64,
    pairs: u64,
    merged: u64,
    compared: u64,
    candidates: u64,
    /// Times of exact comparison and of sketches, each divided by the time of bands.
    over_bands: [Median; 2],
    /// Time of sketches, divided by the time of exact comparison.
    sketches_over_exact: Median,
}

/// Largest number of documents in the report.
const REPORTED: u64 = 410;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let most = settings.documents.iter().copied().max().unwrap_or(0);
    let sets = sets(&shuffles(most, context.seed()), settings.shingle)?;
    let costs: Vec<Cost> = settings
        .documents
        .iter()
        .map(|&n| cost(context.seed(), &settings, &sets[..n as usize]))
        .collect::<Result<_>>()?;
    let mut table = Table::new(
        "work",
        "What is counted",
        &["documents", "pairs", "shingles merged", "registers compared", "candidates"],
    );
    let mut times = Table::new(
        "time",
        "Time over that of bands, in this run, sketching included",
        &["documents", "exact", "from", "to", "sketches", "from ", "to "],
    );
    for cost in &costs {
        let [exact, sketches] = cost.over_bands;
        table.push(
            [cost.documents, cost.pairs, cost.merged, cost.compared, cost.candidates]
                .map(Into::into)
                .to_vec(),
        );
        times.push(vec![
            cost.documents.into(),
            exact.value.into(),
            exact.low.into(),
            exact.high.into(),
            sketches.value.into(),
            sketches.low.into(),
            sketches.high.into(),
        ]);
    }
    let timed = |label: &str, at: usize| {
        through(label, costs.iter().map(|cost| cost.over_bands[at].point(cost.documents as f64)).collect())
    };
    let time_picture = chart(
        "Time against documents, over that of bands",
        "Exact comparison and sketches take ever more times as long as bands.",
        Axis::log("documents"),
        Axis::log("time, over bands"),
        vec![timed("exact", 0), timed("sketches", 1)],
    );
    let curve = |label: &str, of: fn(&Cost) -> u64| {
        line(label, costs.iter().map(|cost| (cost.documents as f64, of(cost) as f64)).collect())
    };
    let picture = chart(
        "Work against documents",
        "Shingles merged and registers compared grow with the square of the documents; candidates stay far below.",
        Axis::log("documents"),
        Axis::log("steps"),
        vec![
            curve("exact: shingles merged", |cost| cost.merged),
            curve("sketches: registers compared", |cost| cost.compared),
            curve("bands: candidates", |cost| cost.candidates.max(1)),
        ],
    );
    let mut checks = vec![];
    for cost in costs.iter().filter(|cost| cost.documents == REPORTED) {
        checks.push(Check::exact("pairs of 410 documents", &cost.pairs, &expected.pairs));
        checks.push(candidates(context, &settings, &sets[..REPORTED as usize])?);
    }
    // If the work is quadratic, twice the documents take four times the work. If it is exponential, the work is
    // squared.
    let doubled: Vec<f64> = costs
        .windows(2)
        .filter(|pair| pair[1].documents == 2 * pair[0].documents && pair[0].documents > 100)
        .map(|pair| pair[1].merged as f64 / pair[0].merged as f64)
        .collect();
    let shown = doubled.iter().map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join(", ");
    // Linear work would double, and cubic work would grow eightfold.
    let is_quadratic = !doubled.is_empty() && doubled.iter().all(|ratio| ratio.log2().round() == 2.0);
    let squares = doubled.windows(2).all(|pair| pair[1] >= pair[0] * pair[0]);
    let bands_win = costs.iter().all(|cost| cost.candidates < cost.pairs / 10);
    checks.extend([
        Check::law(
            "with twice the documents, so many times the exact work",
            &shown,
            "nearest to 4 of 2, 4 and 8",
            is_quadratic,
        ),
        Check::stated("exact comparison is exponential", shown, "growing without bound", squares)
            .erratum("E-28"),
        Check::shape("bands leave less than a tenth of the pairs", bands_win, true, bands_win),
    ]);
    checks.extend(clocked(&costs));
    Ok(ExperimentFindings::default()
        .table(table)
        .table(times)
        .chart("work", picture)
        .chart("time", noted(time_picture, BARS))
        .checks(checks))
}

/// Checks the report's statements about times. At its largest number of documents, sketches are faster than exact
/// comparison, bands are faster than sketches, and the difference between sketches and bands grows.
fn clocked(costs: &[Cost]) -> Vec<Check> {
    let mut checks = vec![];
    for cost in costs.iter().filter(|cost| cost.documents == REPORTED) {
        let (sketches, bands) = (cost.sketches_over_exact, cost.over_bands[1]);
        checks.push(Check::clock(
            "with 410 documents, sketches over exact comparison",
            sketches,
            "below 1",
            sketches.high < 1.0,
        ));
        checks.push(Check::clock(
            "with 410 documents, sketches over bands",
            bands,
            "above 1",
            bands.low > 1.0,
        ));
    }
    if let [first, .., last] = costs {
        let (few, many) = (first.over_bands[1], last.over_bands[1]);
        checks.push(Check::clock(
            "sketches over bands, from the fewest documents to the most",
            format!("{few} to {many}"),
            "growing",
            many.low > few.high,
        ));
    }
    checks
}

fn sketch_all(sketcher: &dyn Sketcher, sets: &[ShingleSet]) -> Sketches {
    let mut sketches = Sketches::new(sketcher.words());
    for set in sets {
        sketcher.sketch_into(set.as_slice(), sketches.push());
    }
    sketches
}

/// Returns the pairs that share a band.
fn banded(banding: Banding, sketches: &Sketches) -> HashSet<(usize, usize)> {
    let mut found = HashSet::new();
    for band in 0..banding.bands() {
        let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
        for document in 0..sketches.len() {
            let others = by_key.entry(banding.key(band, sketches.row(document))).or_default();
            found.extend(others.iter().map(|&other| (other, document)));
            others.push(document);
        }
    }
    found
}

fn cost(seed: u64, settings: &Settings, sets: &[ShingleSet]) -> Result<Cost> {
    let registers = settings.bands * settings.rows;
    let banding = Banding::new(settings.bands, settings.rows, registers)?;
    let pairs = || (0..sets.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let sketcher = Method::minhash(registers).build(seed)?;
    let exact =
        || pairs().map(|(a, b)| usize::from(Overlap::of(&sets[a], &sets[b]).jaccard() >= 0.8)).sum::<usize>();
    let by_sketches = || {
        let sketches = sketch_all(&*sketcher, sets);
        pairs().map(|(a, b)| matches(sketches.row(a), sketches.row(b))).sum::<usize>()
    };
    let by_bands = || banded(banding, &sketch_all(&*sketcher, sets)).len();
    let rounds = Rounds::take(settings.rounds, &[&exact, &by_sketches, &by_bands]);
    let candidates = by_bands() as u64;
    let (documents, shingles) = (sets.len() as u64, sets.iter().map(|set| set.len() as u64).sum::<u64>());
    let pairs = documents * (documents - 1) / 2;
    Ok(Cost {
        documents,
        pairs,
        // Every set is merged with every other set.
        merged: shingles * (documents - 1),
        compared: pairs * registers as u64,
        candidates,
        over_bands: [rounds.ratio(0, 2), rounds.ratio(1, 2)],
        sketches_over_exact: rounds.ratio(1, 0),
    })
}

/// Checks that the mean number of candidates over many seeds is the sum of the S-curve over all pairs.
fn candidates(context: &Context<'_>, settings: &Settings, sets: &[ShingleSet]) -> Result<Check> {
    let registers = settings.bands * settings.rows;
    let banding = Banding::new(settings.bands, settings.rows, registers)?;
    let curve = Curve::from(banding);
    let expected: f64 = (0..sets.len())
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| curve.probability(Overlap::of(&sets[a], &sets[b]).jaccard()))
        .sum();
    let seeds: Vec<u64> = (1..=settings.seeds).map(|seed| context.seed() + seed).collect();
    let counts = context.map(&seeds, |&seed| -> Result<f64> {
        let sketcher = Method::minhash(registers).build(seed)?;
        Ok(banded(banding, &sketch_all(&*sketcher, sets)).len() as f64)
    });
    let spread = TrialStatistics::of(&counts.into_iter().collect::<Result<Vec<_>>>()?);
    let error = (spread.variance / settings.seeds as f64).sqrt();
    Ok(Check::simulated("candidates of 410 documents, on average over seeds", spread.mean, expected, error))
}
