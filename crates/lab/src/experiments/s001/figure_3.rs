//! Figure 3: hash families. Measures the time of a signature matrix against the length of shingles, and the bias of the
//! estimates.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::Result;
use minwise::hash::fmix64;
use minwise::hash::modular::Modular;
use minwise::hash::multiplicative::Multiplicative;
use minwise::hash::murmur3::Murmur3;
use serde::Deserialize;

use super::{sets, shuffles};
use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::clock::{BARS, Rounds};
use crate::experiments::{chart, noted, through};
use crate::plot::{Axis, Chart};
use crate::simulate::Random;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Number of functions for which the agreement of two documents is counted.
    functions: usize,
    documents: u64,
    lengths: Vec<usize>,
    /// Number of functions of the signature matrix that is timed.
    registers: usize,
    rounds: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    raw_modular: Printed,
}

/// Row numbers of two documents: 200 each, of which 100 are shared.
const FIRST: Range<u64> = 0..200;
const SECOND: Range<u64> = 100..300;
const SHARE: f64 = 1.0 / 3.0;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let functions = settings.functions;
    let (first, second): (Vec<u64>, Vec<u64>) = (FIRST.collect(), SECOND.collect());
    let error = (SHARE * (1.0 - SHARE) / functions as f64).sqrt();

    // The modulus is the smallest prime from 10,000 on, as if there were 10,000 terms.
    let raw = Modular::raw(functions, 10_000, context.seed())?;
    let raw = agreement(functions, |function, key| raw.hash(function, key), &first, &second);
    let mut random = Random::new(context.seed(), &[0]);
    let multipliers: Vec<u64> = (0..functions).map(|_| random.next() | 1).collect();
    // The documents have a similarity of 1/5: they share row 0, and each has two rows of its own.
    let product = |function: usize, key: u64| multipliers[function].wrapping_mul(key);
    let bare = agreement(functions, product, &[0, 1, 2], &[0, 3, 4]);
    let modular = Modular::new(functions, context.seed())?;
    let multiplicative = Multiplicative::new(functions, context.seed())?;
    // The seeds of Murmur have 32 bits and are numbered from the first.
    let murmur = Murmur3::new(functions, fmix64(context.seed()) as u32)?;
    let mixed = [
        ("modular, mixed keys", agreement(functions, |f, key| modular.hash(f, key), &first, &second)),
        (
            "multiplicative, mixed keys",
            agreement(functions, |f, key| multiplicative.hash(f, key), &first, &second),
        ),
        ("Murmur", agreement(functions, |f, key| u64::from(murmur.hash(f, key)), &first, &second)),
    ];

    let mut table = Table::new(
        "agreement",
        "Share of functions under which two documents agree",
        &["family", "share", "similarity"],
    );
    let mut deviations = Deviations::default();
    for (name, share) in mixed {
        deviations.add(share, SHARE, error);
        table.push(vec![name.into(), share.into(), SHARE.into()]);
    }
    table.push(vec!["modular, row numbers".into(), raw.into(), SHARE.into()]);
    table.push(vec!["multiplicative, row numbers, no offset".into(), bare.into(), 0.2.into()]);
    let is_share = |found: f64, share: f64| (found - share).abs() <= STANDARD_ERRORS * error;
    // The expected value is rounded. It comes from a simulation whose error is far below this one.
    let raw_error = (raw * (1.0 - raw) / functions as f64).sqrt() + 0.0005;
    let timed = time(context, &settings)?;
    let findings = ExperimentFindings::default().table(table).table(timed.table).chart("time", timed.chart);
    Ok(findings.checks(timed.checks).checks([
        deviations.check("families on mixed keys agree as often as the documents are similar"),
        Check::simulated("modular functions of row numbers", raw, expected.raw_modular.value, raw_error),
        Check::stated(
            "modular functions of row numbers agree as often as the documents are similar",
            significant(raw),
            significant(SHARE),
            is_share(raw, SHARE),
        )
        .erratum("E-35"),
        Check::stated(
            "products of row numbers agree as often as the documents are similar",
            significant(bare),
            "0.2",
            is_share(bare, 0.2),
        )
        .erratum("E-36"),
    ]))
}

/// Returns the share of functions whose least value is the same in both documents.
fn agreement(functions: usize, hash: impl Fn(usize, u64) -> u64, a: &[u64], b: &[u64]) -> f64 {
    let least = |function: usize, keys: &[u64]| keys.iter().map(|&key| hash(function, key)).min();
    let agrees = |&function: &usize| least(function, a) == least(function, b);
    (0..functions).filter(agrees).count() as f64 / functions as f64
}

/// Returns the rows of the characteristic matrix: for each distinct shingle, the documents that have it.
fn rows(documents: &[String], length: usize) -> Result<Vec<Vec<usize>>> {
    let mut rows: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (document, set) in sets(documents, length)?.iter().enumerate() {
        for &shingle in set.as_slice() {
            rows.entry(shingle).or_default().push(document);
        }
    }
    Ok(rows.into_values().collect())
}

/// Fills the signature matrix like the report's listing: row by row, and every function for each document that has the
/// row.
fn fill(
    rows: &[Vec<usize>],
    documents: usize,
    registers: usize,
    hash: impl Fn(usize, u64) -> u64,
) -> Vec<u64> {
    let mut matrix = vec![u64::MAX; documents * registers];
    for (row, having) in (0_u64..).zip(rows) {
        for &document in having {
            let least = &mut matrix[document * registers..][..registers];
            for (function, least) in least.iter_mut().enumerate() {
                *least = (*least).min(hash(function, row));
            }
        }
    }
    matrix
}

/// Results about times.
struct Timed {
    table: Table,
    chart: Chart,
    checks: Vec<Check>,
}

const FAMILIES: [&str; 3] = ["modular", "multiplicative", "Murmur"];
const MODULAR: usize = 0;
const MULTIPLICATIVE: usize = 1;
const MURMUR: usize = 2;

/// Returns the index of the timed function of a family at a length of shingles.
fn way(length: usize, family: usize) -> usize {
    length * FAMILIES.len() + family
}

/// Measures the time to fill a signature matrix, by family and length. Times are divided by that of multiplicative
/// functions at the first length.
fn time(context: &Context<'_>, settings: &Settings) -> Result<Timed> {
    let documents = shuffles(settings.documents, context.seed());
    let registers = settings.registers;
    let mut ways: Vec<Box<dyn Fn() -> Vec<u64>>> = vec![];
    let (mut distinct, mut hashes) = (vec![], vec![]);
    for &length in &settings.lengths {
        let rows = rows(&documents, length)?;
        distinct.push(rows.len());
        hashes.push(registers * rows.iter().map(Vec::len).sum::<usize>());
        let n = documents.len();
        let modular = Modular::raw(registers, rows.len() as u64, context.seed())?;
        let multiplicative = Multiplicative::new(registers, context.seed())?;
        let murmur = Murmur3::new(registers, fmix64(context.seed()) as u32)?;
        let [a, b, c] = [rows.clone(), rows.clone(), rows];
        ways.push(Box::new(move || fill(&a, n, registers, |f, key| modular.hash(f, key))));
        ways.push(Box::new(move || fill(&b, n, registers, |f, key| multiplicative.hash(f, key))));
        ways.push(Box::new(move || fill(&c, n, registers, |f, key| u64::from(murmur.hash(f, key)))));
    }
    let ways: Vec<&dyn Fn() -> Vec<u64>> = ways.iter().map(|way| &**way).collect();
    let rounds = Rounds::take(settings.rounds, &ways);
    let first = way(0, MULTIPLICATIVE);

    let mut table = Table::new(
        "time",
        "Time to fill the signature matrix, over that of multiplicative functions at the first length",
        &["characters", "distinct shingles", "hash values", "family", "time", "from", "to"],
    );
    for (at, ((&length, &distinct), &hashes)) in
        settings.lengths.iter().zip(&distinct).zip(&hashes).enumerate()
    {
        for (family, name) in FAMILIES.iter().enumerate() {
            let time = rounds.ratio(way(at, family), first);
            table.push(vec![
                length.into(),
                distinct.into(),
                hashes.into(),
                (*name).into(),
                time.value.into(),
                time.low.into(),
                time.high.into(),
            ]);
        }
    }
    let curve = |(family, name): (usize, &&str)| {
        let at = settings.lengths.iter().enumerate();
        through(
            name,
            at.map(|(at, &length)| rounds.ratio(way(at, family), first).point(length as f64)).collect(),
        )
    };
    let picture = chart(
        "Time of a signature matrix",
        "One curve a family, by the characters of a shingle.",
        Axis::linear("characters of a shingle"),
        Axis::linear("time, over multiplicative at the first length"),
        FAMILIES.iter().enumerate().map(curve).collect(),
    );
    let checks = checks(&rounds, &distinct);
    Ok(Timed { table, chart: noted(picture, BARS), checks })
}

/// Checks the sentences about times. `distinct` has the number of distinct shingles at each length.
fn checks(rounds: &Rounds, distinct: &[usize]) -> Vec<Check> {
    let lengths = distinct.len();
    let count = |holds: &dyn Fn(usize) -> bool| (0..lengths).filter(|&at| holds(at)).count();
    let half = count(&|at| {
        [MULTIPLICATIVE, MURMUR]
            .iter()
            .all(|&other| rounds.ratio(way(at, MODULAR), way(at, other)).high < 0.5)
    });
    let best = count(&|at| {
        [MULTIPLICATIVE, MURMUR]
            .iter()
            .all(|&other| rounds.ratio(way(at, MODULAR), way(at, other)).high < 1.0)
    });
    let same = count(&|at| rounds.ratio(way(at, MURMUR), way(at, MULTIPLICATIVE)).is_within(0.9, 1.1));
    let growth: Vec<_> =
        (0..FAMILIES.len()).map(|family| rounds.ratio(way(lengths - 1, family), way(0, family))).collect();
    let grown = growth.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let steps = (1..lengths).flat_map(|at| (0..FAMILIES.len()).map(move |family| (at, family)));
    let longer = steps.filter(|&(at, family)| rounds.ratio(way(at, family), way(at - 1, family)).low > 1.0);
    let longer = longer.count();
    let all_steps = (lengths - 1) * FAMILIES.len();
    let grows = distinct.windows(2).all(|pair| pair[0] < pair[1]);
    let shown = distinct.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let other_code = "the functions are this library's, on another machine";
    vec![
        Check::shape("there are more distinct shingles with each length", shown, "growth", grows)
            .because("each character more takes one shingle from every document"),
        Check::clock(
            "the time grows with the length",
            format!("from the first length to the last {grown} times, family by family"),
            "above 1",
            growth.iter().all(|ratio| ratio.low > 1.0),
        ),
        Check::clock(
            "steps from one length to the next at which the time of a family grows",
            format!("{longer} of {all_steps}"),
            "all",
            longer == all_steps,
        )
        .because(
            "a text has one shingle less with each character more, so that soon there are no more hash values",
        ),
        Check::clock(
            "lengths at which modular functions take less than half the time of each other family",
            format!("{half} of {lengths}"),
            "almost all",
            half * 10 >= lengths * 9,
        )
        .because(other_code),
        Check::clock(
            "lengths at which modular functions take the least time",
            format!("{best} of {lengths}"),
            "all",
            best == lengths,
        )
        .because(other_code),
        Check::clock(
            "lengths at which Murmur takes as long as multiplicative functions, give or take a tenth",
            format!("{same} of {lengths}"),
            "almost all",
            same * 10 >= lengths * 9,
        )
        .because(other_code),
    ]
}
