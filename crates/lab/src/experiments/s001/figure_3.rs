//! Figure 3: hash families.

use std::ops::Range;

use anyhow::Result;
use minwise::hash::fmix64;
use minwise::hash::modular::Modular;
use minwise::hash::multiplicative::Multiplicative;
use minwise::hash::murmur3::Murmur3;
use minwise::sketch::Method;
use serde::Deserialize;

use crate::check::{Check, Deviations, Printed, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::best_seconds;
use crate::measure::{ShinglePair, sketch};
use crate::simulate::Random;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    functions: usize,
    repeats: u32,
    registers: usize,
    shingles: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    raw_modular: Printed,
}

/// Row numbers as they come: 200 each, of which 100 are shared.
const FIRST: Range<u64> = 0..200;
const SECOND: Range<u64> = 100..300;
const SHARE: f64 = 1.0 / 3.0;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let expected: Expected = context.expected()?;
    let functions = settings.functions;
    let (first, second): (Vec<u64>, Vec<u64>) = (FIRST.collect(), SECOND.collect());
    let error = (SHARE * (1.0 - SHARE) / functions as f64).sqrt();

    // The smallest prime from 10 000 on, as where there are so many terms.
    let raw = Modular::raw(functions, 10_000, context.seed())?;
    let raw = agreement(functions, |function, key| raw.hash(function, key), &first, &second);
    let mut random = Random::new(context.seed(), &[0]);
    let multipliers: Vec<u64> = (0..functions).map(|_| random.next() | 1).collect();
    // Both have row 0, and one of four other rows each: a similarity of 1/5.
    let product = |function: usize, key: u64| multipliers[function].wrapping_mul(key);
    let bare = agreement(functions, product, &[0, 1, 2], &[0, 3, 4]);
    let modular = Modular::new(functions, context.seed())?;
    let multiplicative = Multiplicative::new(functions, context.seed())?;
    // Murmur hashes to 32 bits, and seeds are numbered from the first.
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
    // The digest's value is rounded, and its simulation had an error of its own, far below this one.
    let raw_error = (raw * (1.0 - raw) / functions as f64).sqrt() + 0.0005;
    Ok(ExperimentFindings::default().table(table).table(times(context, &settings)?).checks([
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

/// The share of functions whose least value is the same in both documents.
fn agreement(functions: usize, hash: impl Fn(usize, u64) -> u64, a: &[u64], b: &[u64]) -> f64 {
    let least = |function: usize, keys: &[u64]| keys.iter().map(|&key| hash(function, key)).min();
    let agrees = |&function: &usize| least(function, a) == least(function, b);
    (0..functions).filter(agrees).count() as f64 / functions as f64
}

/// The time of a sketch by each family, over the shortest of them.
fn times(context: &Context<'_>, settings: &Settings) -> Result<Table> {
    let document = ShinglePair::of(settings.shingles, settings.shingles).a;
    let mut rows = vec![];
    for family in ["minhash,modular", "minhash,multiplicative", "minhash,murmur3", "minhash"] {
        let method: Method = format!("{family}:{}", settings.registers).parse()?;
        let sketcher = method.build(context.seed())?;
        rows.push((family, best_seconds(settings.repeats, || sketch(&*sketcher, &document))));
    }
    let least = rows.iter().map(|row| row.1).fold(f64::INFINITY, f64::min);
    let mut table =
        Table::new("time", "Time of a sketch over that of the fastest, in this run", &["sketch", "time"]);
    for (family, seconds) in rows {
        table.push(vec![family.into(), (seconds / least).into()]);
    }
    Ok(table)
}
