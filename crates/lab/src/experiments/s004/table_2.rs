//! Figure 2 and table 2: the cost of exact and estimated similarities of all pairs, by counts and by time.

use std::collections::HashSet;

use anyhow::Result;
use minwise::estimate::minhash::matches;
use minwise::sketch::Sketches;
use minwise::verify::ShingleSet;
use serde::Deserialize;

use super::table_1::made_up;
use super::{SPACE, pairs, sketch_all, term_sets};
use crate::check::{Check, Printed, significant};
use crate::data;
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::clock::{BARS, Median, Rounds};
use crate::experiments::{chart, noted, points, through};
use crate::plot::{Axis, Chart};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    documents: usize,
    registers: Vec<usize>,
    /// Number of documents that are timed.
    timed: usize,
    rounds: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    registers: Vec<Printed>,
    comparisons: Vec<Printed>,
    exact: Printed,
    seconds: PrintedTimes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrintedTimes {
    exact: Vec<Printed>,
    estimated: Vec<Printed>,
    matrix: Vec<Printed>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let all = pairs(settings.documents).count();
    let sets = match context.data_if_there(SPACE) {
        Some(folder) => term_sets(&data::texts(&folder)?),
        None => made_up(settings.documents as u64, context.seed()),
    };
    let mut table = Table::new(
        "comparisons",
        "Comparisons of all pairs",
        &["registers", "comparisons", "as printed", "printed for K"],
    );
    let mut checks = vec![];
    for (at, &registers) in settings.registers.iter().enumerate() {
        let comparisons = (all * registers) as f64;
        let (printed, head) = (&published.comparisons[at], &published.registers[at]);
        table.push(vec![registers.into(), (all * registers).into(), printed.value.into(), head.value.into()]);
        checks.push(Check::published(
            &format!("comparisons with {registers} registers"),
            comparisons,
            printed,
        ));
        let implied = printed.value / all as f64;
        checks.push(
            Check::published("the registers that a printed count implies", implied, head).erratum("E-43"),
        );
    }
    let probes: usize = pairs(sets.len()).map(|(a, b)| sets[a].len().min(sets[b].len())).sum();
    let of = pairs(sets.len()).count();
    let name = if context.data_if_there(SPACE).is_some() { "`space`" } else { "made-up posts" };
    let mut exact = Table::new(
        "exact",
        &format!("Exact comparison of {name}, probing the terms of the smaller set"),
        &["documents", "probes", "a pair", "as printed"],
    );
    exact.push(vec![
        sets.len().into(),
        probes.into(),
        (probes as f64 / of as f64).into(),
        published.exact.value.into(),
    ]);
    let timed = time(context, &settings, &sets[..settings.timed.min(sets.len())])?;
    let growth = per_permutation(&settings, &published.seconds.matrix);
    checks.push(
        Check::stated(
            "printed time for the matrix per register, with the most over that with the fewest",
            significant(growth),
            "1, as the work per register is the same",
            (growth - 1.0).abs() < 0.5,
        )
        .erratum("E-43"),
    );
    let findings = ExperimentFindings::default().table(table).table(exact);
    Ok(findings
        .table(timed.table(&settings, &published.seconds))
        .chart("time", timed.chart(&settings, &published.seconds))
        .checks(checks)
        .checks(timed.checks(&settings)))
}

/// Returns the ratio of the last time per register to the first.
fn per_permutation(settings: &Settings, times: &[Printed]) -> f64 {
    let each: Vec<f64> = settings
        .registers
        .iter()
        .zip(times)
        .map(|(&registers, time)| time.value / registers as f64)
        .collect();
    each.last().copied().unwrap_or(f64::NAN) / each[0]
}

/// Times of this run.
struct Timed {
    rounds: Rounds,
    sizes: usize,
}

/// Times all exact similarities, and for each number of registers all estimates and the sketches.
fn time(context: &Context<'_>, settings: &Settings, sets: &[ShingleSet]) -> Result<Timed> {
    // Like the source, the exact comparison uses hash tables, and looks up the elements of the smaller one in the
    // larger one.
    let tables: Vec<HashSet<u64>> = sets.iter().map(|set| set.as_slice().iter().copied().collect()).collect();
    let exact = || {
        let common = |(a, b): (usize, usize)| {
            let (small, large) = if tables[a].len() <= tables[b].len() { (a, b) } else { (b, a) };
            tables[small].iter().filter(|term| tables[large].contains(term)).count()
        };
        pairs(tables.len()).map(common).sum::<usize>()
    };
    let matrices = settings
        .registers
        .iter()
        .map(|&registers| sketch_all(registers, context.seed(), sets))
        .collect::<Result<Vec<Sketches>>>()?;
    let estimates: Vec<_> = matrices
        .iter()
        .map(|matrix| {
            move || pairs(sets.len()).map(|(a, b)| matches(matrix.row(a), matrix.row(b))).sum::<usize>()
        })
        .collect();
    let fills: Vec<_> = settings
        .registers
        .iter()
        .map(|&registers| {
            move || sketch_all(registers, context.seed(), sets).map_or(0, |sketches| sketches.len())
        })
        .collect();
    let mut ways: Vec<&dyn Fn() -> usize> = vec![&exact];
    ways.extend(estimates.iter().map(|way| way as &dyn Fn() -> usize));
    ways.extend(fills.iter().map(|way| way as &dyn Fn() -> usize));
    Ok(Timed { rounds: Rounds::take(settings.rounds, &ways), sizes: settings.registers.len() })
}

const EXACT: usize = 0;

/// Returns the index of the timed function that estimates with the number of registers at index `size`.
fn estimated(size: usize) -> usize {
    1 + size
}

impl Timed {
    fn matrix(&self, size: usize) -> usize {
        1 + self.sizes + size
    }

    fn table(&self, settings: &Settings, printed: &PrintedTimes) -> Table {
        let mut table = Table::new(
            "time",
            "Time over that of all exact similarities, in this run and as printed",
            &["registers", "what", "time", "from", "to", "as printed"],
        );
        for (size, &registers) in settings.registers.iter().enumerate() {
            let rows = [
                ("estimates", estimated(size), &printed.estimated[size]),
                ("matrix", self.matrix(size), &printed.matrix[size]),
            ];
            for (what, way, says) in rows {
                let time = self.rounds.ratio(way, EXACT);
                table.push(vec![
                    registers.into(),
                    what.into(),
                    time.value.into(),
                    time.low.into(),
                    time.high.into(),
                    (says.value / printed.exact[size].value).into(),
                ]);
            }
        }
        table
    }

    fn chart(&self, settings: &Settings, printed: &PrintedTimes) -> Chart {
        let at = |size: usize| settings.registers[size] as f64;
        let curve = |label: &str, time: &dyn Fn(usize) -> Median| {
            through(label, (0..self.sizes).map(|size| time(size).point(at(size))).collect())
        };
        let theirs = |label: &str, times: &[Printed]| {
            let marks: Vec<(f64, f64)> = (0..self.sizes)
                .map(|size| (at(size), times[size].value / printed.exact[size].value))
                .collect();
            points(label, &marks)
        };
        let picture = chart(
            "Time over that of all exact similarities",
            "Estimates and matrix by the number of registers, in this run and as printed.",
            Axis::linear("registers K"),
            Axis::log("time over that of exact similarities"),
            vec![
                curve("estimates", &|size| self.rounds.ratio(estimated(size), EXACT)),
                curve("matrix", &|size| self.rounds.ratio(self.matrix(size), EXACT)),
                theirs("estimates, as printed", &printed.estimated),
                theirs("matrix, as printed", &printed.matrix),
            ],
        );
        noted(picture, BARS)
    }

    /// Checks the statements of section 3 about times.
    fn checks(&self, settings: &Settings) -> Vec<Check> {
        let last = self.sizes - 1;
        let times = settings.registers[last] as f64 / settings.registers[0] as f64;
        // A ratio is linear if, on a logarithmic scale, it is nearer to the ratio of the registers than to 1 or to its
        // square.
        let is_linear = |ratio: Median| ratio.is_within(times.sqrt(), times.powf(1.5));
        let growth = |what: &str, ways: [usize; 2]| {
            let ratio = self.rounds.ratio(ways[1], ways[0]);
            Check::clock(
                &format!("with {times} times the registers, {what} takes so many times as long"),
                ratio.to_string(),
                format!("nearer to {times} than to 1 or {}, the whole interval", times * times),
                is_linear(ratio),
            )
            .because("the interval of this run is not on one side")
        };
        let few = self.rounds.ratio(estimated(0), EXACT);
        let many = self.rounds.ratio(estimated(last), EXACT);
        vec![
            growth("estimating all pairs", [estimated(0), estimated(last)]),
            growth("the matrix", [self.matrix(0), self.matrix(last)]),
            Check::clock(
                &format!("estimating with {} registers over exact comparison", settings.registers[0]),
                few.to_string(),
                "below 1",
                few.high < 1.0,
            ),
            Check::clock(
                &format!("estimating with {} registers over exact comparison", settings.registers[last]),
                many.to_string(),
                "above 1",
                many.low > 1.0,
            )
            .because("the library compares many registers at once"),
        ]
    }
}
