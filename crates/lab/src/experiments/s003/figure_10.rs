//! Figure 10: comparisons and time that the filter saves.

use anyhow::Result;
use minwise::estimate::minhash::matches;
use minwise::filter::{Filter, FilterDecision, Use};
use serde::Deserialize;

use super::{SimilaritySpread, agreements, of_data, per_look};
use crate::check::{Check, Deviations, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::clock::{BARS, Median, Rounds};
use crate::experiments::{TWO_ERRORS, chart, line, noted, through};
use crate::measure::TrialStatistics;
use crate::plot::{Axis, Chart, Point, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: usize,
    looks: Vec<usize>,
    error: f64,
    thresholds: Vec<f64>,
    spreads: Vec<SimilaritySpread>,
    /// Number of pairs per data set that are timed.
    timed: usize,
    rounds: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    saved: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    comparisons: Vec<Printed>,
}

/// Registers compared on average for one threshold, and for the pairs of one data set.
struct ComparedRegisters {
    threshold: f64,
    pairs: String,
    /// Statistics of simulated pairs, and the average by the library; `None` for pairs of the data.
    simulated: Option<(TrialStatistics, f64)>,
    exact: f64,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let expected: Expected = context.expected()?;
    let filters = settings
        .thresholds
        .iter()
        .map(|&threshold| per_look(threshold, settings.registers, &settings.looks, settings.error))
        .collect::<Result<Vec<Filter>>>()?;
    let pairs: Vec<Vec<Vec<bool>>> = settings
        .spreads
        .iter()
        .map(|&spread| agreements(spread, settings.pairs, settings.registers, context.seed()))
        .collect();
    let rows = compared(context, &settings, &filters, &pairs)?;

    let mut table = Table::new(
        "comparisons",
        "Registers compared on average, of 1000",
        &["pairs", "T", "compared", "exact", "by the library", "saved"],
    );
    let mut deviations = Deviations::default();
    let mut checks = vec![];
    for row in &rows {
        let saved = 1.0 - row.exact / settings.registers as f64;
        table.push(vec![
            row.pairs.as_str().into(),
            row.threshold.into(),
            row.simulated.map(|(compared, _)| compared.mean).into(),
            row.exact.into(),
            row.simulated.map(|(_, library)| library).into(),
            saved.into(),
        ]);
        let Some((compared, library)) = row.simulated else { continue };
        deviations.add(compared.mean, row.exact, (compared.variance / settings.pairs as f64).sqrt());
        checks.push(Check::law(
            &format!("the library compares no more, {} pairs, T = {}", row.pairs, row.threshold),
            significant(library),
            format!("at most {}", significant(compared.mean)),
            library <= compared.mean,
        ));
    }
    checks.push(deviations.check("simulated averages are the exact ones"));
    for ((filter, &threshold), known) in filters.iter().zip(&settings.thresholds).zip(&expected.comparisons) {
        let closed = filter.outcome_of_even_spread(Use::Decide).comparisons;
        let claim = format!("comparisons of evenly spread pairs, T = {threshold}");
        checks.push(Check::known(&claim, closed, known));
        let summed = exact(filter, SimilaritySpread::Uniform);
        let claim = format!("the average over {STEPS} similarities of evenly spread pairs, T = {threshold}");
        let is_near = (summed - closed).abs() < SUMMED;
        checks.push(Check::law(&claim, significant(summed), significant(closed), is_near));
    }
    checks.extend(sentences(&settings, &published, &rows));
    let timed = Timed::take(&settings, filters, &pairs);
    checks.extend(timed.checks(&settings));
    Ok(ExperimentFindings::default()
        .table(table)
        .chart("comparisons", picture(&settings, &rows))
        .table(timed.table(&settings))
        .chart("time", timed.chart(&settings))
        .checks(checks))
}

/// Name of the pairs of the data.
const SPACE_NAME: &str = "space";
/// Number of similarities over which an exact average is summed. A walk over all looks is computed for each of them.
const STEPS: u32 = 400;
/// Permitted difference between the average over [`STEPS`] similarities and the average over all.
const SUMMED: f64 = 0.05;

fn compared(
    context: &Context<'_>,
    settings: &Settings,
    filters: &[Filter],
    pairs: &[Vec<Vec<bool>>],
) -> Result<Vec<ComparedRegisters>> {
    let similarities = of_data(context)?;
    let cells: Vec<(usize, usize)> = (0..filters.len())
        .flat_map(|filter| (0..settings.spreads.len()).map(move |spread| (filter, spread)))
        .collect();
    let simulated = context.map(&cells, |&(filter, spread)| {
        let (filter, threshold) = (&filters[filter], settings.thresholds[filter]);
        let counts: Vec<f64> = pairs[spread].iter().map(|pair| until_decided(filter, pair) as f64).collect();
        let library = pairs[spread].iter().map(|pair| by_library(filter, pair) as f64).sum::<f64>();
        ComparedRegisters {
            threshold,
            pairs: settings.spreads[spread].name().to_owned(),
            simulated: Some((TrialStatistics::of(&counts), library / counts.len() as f64)),
            exact: match settings.spreads[spread] {
                SimilaritySpread::Uniform => filter.outcome_of_even_spread(Use::Decide).comparisons,
                other => exact(filter, other),
            },
        }
    });
    let of_space = similarities.iter().flat_map(|similarities| {
        filters.iter().zip(&settings.thresholds).map(|(filter, &threshold)| ComparedRegisters {
            threshold,
            pairs: SPACE_NAME.to_owned(),
            simulated: None,
            exact: of_similarities(filter, similarities),
        })
    });
    Ok(simulated.into_iter().chain(of_space).collect())
}

/// Checks the statements of section 6.4 by counted registers.
fn sentences(settings: &Settings, published: &Published, rows: &[ComparedRegisters]) -> [Check; 2] {
    let at = |threshold: f64, spread: SimilaritySpread| {
        let row = rows.iter().find(|row| row.threshold == threshold && row.pairs == spread.name());
        row.map_or(f64::NAN, |row| row.exact)
    };
    let funds = |threshold: f64| at(threshold, SimilaritySpread::Funds);
    let is_cheapest = |&&threshold: &&f64| {
        let others = settings.spreads.iter().filter(|spread| **spread != SimilaritySpread::Funds);
        others.map(|&spread| at(threshold, spread)).all(|other| funds(threshold) < other)
    };
    let cheapest: Vec<String> =
        settings.thresholds.iter().filter(is_cheapest).map(ToString::to_string).collect();
    let highest = settings.thresholds.iter().copied().fold(0.0, f64::max);
    let saved = 1.0 - funds(highest) / settings.registers as f64;
    [
        Check::shape(
            &format!("saved on the stand-in for FUNDS at T = {highest}"),
            significant(saved),
            format!("{} at least", published.saved),
            saved >= published.saved.value,
        ),
        Check::shape(
            "thresholds at which the stand-in for FUNDS is cheapest",
            if cheapest.is_empty() { "none".to_owned() } else { cheapest.join(", ") },
            "all",
            cheapest.len() == settings.thresholds.len(),
        ),
    ]
}

fn picture(settings: &Settings, rows: &[ComparedRegisters]) -> Chart {
    let mut names: Vec<&str> = settings.spreads.iter().map(|spread| spread.name()).collect();
    names.extend(rows.iter().any(|row| row.pairs == SPACE_NAME).then_some(SPACE_NAME));
    let series = names.into_iter().map(|name| {
        let here = || rows.iter().filter(move |row| row.pairs == name);
        let point = |row: &ComparedRegisters| {
            let (compared, _) = row.simulated?;
            let bar = 2.0 * (compared.variance / settings.pairs as f64).sqrt();
            let error = Some((compared.mean - bar, compared.mean + bar));
            Some(Point { x: row.threshold, y: compared.mean, error })
        };
        line(name, here().map(|row| (row.threshold, row.exact)).collect())
            .with_points(here().filter_map(point).collect())
    });
    let picture = chart(
        "Registers compared before a pair is decided",
        "At each threshold, the stand-in for FUNDS needs the fewest comparisons of the three data sets.",
        Axis::linear("threshold T"),
        Axis::linear("registers compared, of 1000").between(0.0, 1000.0),
        series.collect(),
    );
    noted(picture, &format!("Lines: exact. Points: simulated pairs. {TWO_ERRORS}"))
}

/// Times of this run: of all filters on all data sets, and of comparing all registers.
struct Timed {
    rounds: Rounds,
    spreads: usize,
}

impl Timed {
    fn take(settings: &Settings, filters: Vec<Filter>, pairs: &[Vec<Vec<bool>>]) -> Self {
        type Rows = Vec<[Vec<u32>; 2]>;
        // Two rows agree where the simulated registers agree.
        let rows = |pair: &Vec<bool>| {
            let first: Vec<u32> = (0..pair.len() as u32).collect();
            let second = pair.iter().zip(&first).map(|(&agrees, &word)| word ^ u32::from(!agrees)).collect();
            [first, second]
        };
        let sets: Vec<Rows> =
            pairs.iter().map(|pairs| pairs.iter().take(settings.timed).map(rows).collect()).collect();
        let mut ways: Vec<Box<dyn Fn() -> usize + '_>> = vec![];
        for filter in filters {
            for set in &sets {
                let filter = filter.clone();
                let accepts = move |[a, b]: &[Vec<u32>; 2]| {
                    usize::from(matches!(filter.decide(a, b), FilterDecision::Accept { .. }))
                };
                ways.push(Box::new(move || set.iter().map(&accepts).sum()));
            }
        }
        for set in &sets {
            ways.push(Box::new(move || set.iter().map(|[a, b]| matches(a, b)).sum()));
        }
        let ways: Vec<&dyn Fn() -> usize> = ways.iter().map(|way| &**way).collect();
        Self { rounds: Rounds::take(settings.rounds, &ways), spreads: sets.len() }
    }

    /// Returns the time of the filter at one threshold on one data set, over that of another data set.
    fn over_set(&self, threshold: usize, spread: usize, other: usize) -> Median {
        self.rounds.ratio(threshold * self.spreads + spread, threshold * self.spreads + other)
    }

    /// Returns the time of the filter at one threshold on one data set, over that of comparing all registers.
    fn over_all(&self, settings: &Settings, threshold: usize, spread: usize) -> Median {
        let whole = settings.thresholds.len() * self.spreads + spread;
        self.rounds.ratio(threshold * self.spreads + spread, whole)
    }

    fn table(&self, settings: &Settings) -> Table {
        let mut table = Table::new(
            "time",
            "Time of the filter over that of comparing all registers, in this run",
            &["pairs", "T", "time", "from", "to"],
        );
        for (at, &threshold) in settings.thresholds.iter().enumerate() {
            for (of, spread) in settings.spreads.iter().enumerate() {
                let time = self.over_all(settings, at, of);
                table.push(vec![
                    spread.name().into(),
                    threshold.into(),
                    time.value.into(),
                    time.low.into(),
                    time.high.into(),
                ]);
            }
        }
        table
    }

    fn chart(&self, settings: &Settings) -> Chart {
        let series = settings.spreads.iter().enumerate().map(|(of, spread)| -> Series {
            let at = settings.thresholds.iter().enumerate();
            let point = |(at, &threshold): (usize, &f64)| self.over_all(settings, at, of).point(threshold);
            through(spread.name(), at.map(point).collect())
        });
        let picture = chart(
            "Time of the filter over that of comparing all registers",
            "One curve per data set, by the threshold of similarity.",
            Axis::linear("threshold T"),
            Axis::linear("time, over all registers"),
            series.collect(),
        );
        noted(picture, BARS)
    }

    /// Checks the statement of section 6.4 about times. Its 85 % are a share of comparisons, which are counted.
    fn checks(&self, settings: &Settings) -> Vec<Check> {
        let funds = settings.spreads.iter().position(|&spread| spread == SimilaritySpread::Funds);
        let Some(funds) = funds else { return vec![] };
        let mut checks = vec![];
        for (at, threshold) in settings.thresholds.iter().enumerate() {
            let ratios: Vec<Median> = (0..self.spreads)
                .filter(|&other| other != funds)
                .map(|other| self.over_set(at, funds, other))
                .collect();
            let shown = ratios.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            checks.push(
                Check::clock(
                    &format!("T = {threshold}: the stand-in for FUNDS takes the least time"),
                    format!("over the other data sets {shown}"),
                    "below 1",
                    ratios.iter().all(|ratio| ratio.high < 1.0),
                )
                .because("the fewer registers it compares, the more the cost of deciding weighs"),
            );
        }
        checks
    }
}

/// Returns the number of registers that are compared until a look decides.
fn until_decided(filter: &Filter, pair: &[bool]) -> usize {
    let decides = |look: &&minwise::filter::Look| {
        let matches = pair[..look.registers].iter().filter(|&&agrees| agrees).count();
        look.lower.is_some_and(|lower| matches <= lower) || look.upper.is_some_and(|upper| matches >= upper)
    };
    filter.looks().iter().find(decides).map_or(pair.len(), |look| look.registers)
}

/// Returns the number of registers that the library compares. The library also stops if the remaining registers cannot
/// change the result.
fn by_library(filter: &Filter, pair: &[bool]) -> usize {
    match filter.decide_by(|range| pair[range].iter().filter(|&&agrees| agrees).count()) {
        FilterDecision::Reject { compared } | FilterDecision::Accept { compared, .. } => compared,
    }
}

/// Returns the exact average over the similarities of a distribution.
fn exact(filter: &Filter, spread: SimilaritySpread) -> f64 {
    let nodes = spread.nodes_in(STEPS);
    nodes
        .into_iter()
        .map(|(similarity, weight)| weight * filter.expected_comparisons(similarity, Use::Decide))
        .sum()
}

/// Returns the exact average over pairs of known similarities, rounded to hundredths.
fn of_similarities(filter: &Filter, similarities: &[f64]) -> f64 {
    let mut counts = [0_u64; 101];
    for similarity in similarities {
        counts[(similarity * 100.0).round() as usize] += 1;
    }
    let sum: f64 = (0_u32..)
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(at, count)| count as f64 * filter.expected_comparisons(f64::from(at) / 100.0, Use::Decide))
        .sum();
    sum / similarities.len() as f64
}
