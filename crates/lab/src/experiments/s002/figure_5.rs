//! Figure 5: precision and recall of pairs above a similarity.
//!
//! The proposals of the source are not public. Their similarities are spread evenly here, and also by the law of the
//! stand-in for the proposals of Yuan 2019, FUNDS.

use anyhow::{Result, bail};
use minwise::estimate::fractional_bit::{Combination, similarity};
use serde::Deserialize;

use super::Fraction;
use crate::check::{Check, Deviations, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::s003::{SimilaritySpread, density_of_funds, share_of_funds_from};
use crate::experiments::{TWO_ERRORS, chart, noted, share_point, through};
use crate::plot::{Axis, Series};
use crate::simulate::Random;
use crate::simulate::binomial::Binomial;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: Vec<usize>,
    thresholds: Vec<f64>,
    fractions: Vec<f64>,
    spreads: Vec<SimilaritySpread>,
}

/// Counts of pairs that are found or should be found.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    right: u64,
    found: u64,
    wanted: u64,
}

impl Counts {
    fn precision(self) -> f64 {
        self.right as f64 / self.found as f64
    }

    fn recall(self) -> f64 {
        self.right as f64 / self.wanted as f64
    }
}

/// Precision or recall: from the counts of a simulation, and exactly.
struct PairShare {
    name: &'static str,
    all: fn(Counts) -> u64,
    exact: fn(ExactShares) -> f64,
}

const SHARES: [PairShare; 2] = [
    PairShare { name: "precision", all: |counts| counts.found, exact: |exact| exact.precision },
    PairShare { name: "recall", all: |counts| counts.wanted, exact: |exact| exact.recall },
];

/// Exact precision and recall.
#[derive(Debug, Clone, Copy)]
struct ExactShares {
    precision: f64,
    recall: f64,
}

/// Counts of the values for fractions of a bit, and of those outside the range between one bit and two bits.
#[derive(Default)]
struct Between {
    values: usize,
    outside: usize,
    /// Largest distance of a value from the range.
    worst: f64,
    /// Number of simulated values that lie outside the range by more than [`STANDARD_ERRORS`] standard errors of the
    /// difference.
    clearly_outside: usize,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let mut table = Table::new(
        "pairs",
        "Precision and recall",
        &[
            "pairs",
            "registers",
            "R0",
            "f",
            "precision",
            "standard error",
            "exact",
            "recall",
            "standard error ",
            "exact ",
            "between 1 and 2 bits",
        ],
    );
    let mut findings = ExperimentFindings::default();
    let mut deviations = Deviations::default();
    let mut between: Vec<Between> = settings.spreads.iter().map(|_| Between::default()).collect();
    let cells = (0..settings.spreads.len())
        .flat_map(|spread| settings.registers.iter().map(move |&registers| (spread, registers)));
    for (number, registers) in cells {
        let spread = settings.spreads[number];
        let parts = count(context, &settings, spread, registers);
        let exact = exact(context, &settings, spread, registers)?;
        let labels: Vec<String> =
            settings.fractions.iter().map(|f| format!("f = {f}")).chain(["32 bits".to_owned()]).collect();
        for (at, &threshold) in settings.thresholds.iter().enumerate() {
            for (of, label) in labels.iter().enumerate() {
                let counts = sum(parts.iter().map(|part| part[of][at]));
                let exact_here = exact[of][at];
                let mut errors = vec![];
                for share in &SHARES {
                    let error = standard_error(share, &parts, at, (of, None));
                    let found = counts.right as f64 / (share.all)(counts) as f64;
                    deviations.add(found, (share.exact)(exact_here), error);
                    errors.push(error);
                }
                let fraction = settings.fractions.get(of).copied().unwrap_or(0.0);
                let is_between = (1.0 < fraction && fraction < 2.0)
                    .then(|| settled(&settings, &mut between[number], &parts, &exact, (of, at)));
                table.push(vec![
                    spread.name().into(),
                    registers.into(),
                    threshold.into(),
                    label.trim_start_matches("f = ").into(),
                    counts.precision().into(),
                    errors[0].into(),
                    exact_here.precision.into(),
                    counts.recall().into(),
                    errors[1].into(),
                    exact_here.recall.into(),
                    is_between.map_or("", |both| if both { "both" } else { "not both" }).into(),
                ]);
            }
        }
        for share in &SHARES {
            let point = |of: usize, at: usize| {
                let counts = sum(parts.iter().map(|part| part[of][at]));
                share_point(settings.thresholds[at], counts.right as f64, (share.all)(counts) as f64)
            };
            let curve = |(of, label): (usize, &String)| -> Series {
                through(label, (0..settings.thresholds.len()).map(|at| point(of, at)).collect())
            };
            let picture = chart(
                &format!("{} pairs, {registers} registers: {}", spread.name(), share.name),
                "Curves of one bit, of two, of mixtures and of whole registers, by the least similarity R0.",
                Axis::linear("least similarity R0"),
                Axis::linear(share.name),
                labels.iter().enumerate().map(curve).collect(),
            );
            let name = format!("{}-{}-{registers}", spread.file_name(), share.name);
            findings = findings.chart(&name, noted(picture, TWO_ERRORS));
        }
    }
    Ok(findings
        .table(described(&settings))
        .table(table)
        .checks([deviations.check("simulated precision and recall are the exact ones")])
        .checks(statements(&settings, &between)))
}

/// Checks the statement of the source, per law of the similarities.
fn statements(settings: &Settings, between: &[Between]) -> Vec<Check> {
    let steps =
        "estimates move in steps, and whether a step falls on R0 weighs more than a fraction of a bit";
    let checks = settings.spreads.iter().zip(between).flat_map(|(spread, between)| {
        let Between { values, outside, worst, clearly_outside } = between;
        let name = spread.name();
        [
            Check::stated(
                &format!(
                    "{name} pairs: exact values of fractions that are not between those of one bit and of two"
                ),
                format!("{outside} of {values}, by {} at most", significant(*worst)),
                0,
                *outside == 0,
            )
            .because(steps),
            Check::stated(
                &format!("{name} pairs: simulated values that are not, by {STANDARD_ERRORS} standard errors"),
                format!("{clearly_outside} of {values}"),
                0,
                *clearly_outside == 0,
            )
            .because(steps),
        ]
    });
    checks.collect()
}

/// Returns the source's description of its proposals, beside the stand-in.
fn described(settings: &Settings) -> Table {
    let mut table = Table::new(
        "data",
        "The proposals of the source, and what stands in for them",
        &["", "the source says", "here"],
    );
    let names = settings.spreads.iter().map(|spread| spread.name()).collect::<Vec<_>>().join("; ");
    let rows: [[String; 3]; 4] = [
        [
            "documents".into(),
            "36 889 proposals for funds, as Word files".into(),
            format!("none: {} pairs are drawn per law", settings.pairs),
        ],
        [
            "length of documents".into(),
            "not said".into(),
            "none: a pair is a similarity R, and each register agrees with this probability".into(),
        ],
        ["pairs".into(), "not said".into(), settings.pairs.to_string()],
        ["similarities".into(), "not said".into(), names],
    ];
    for row in rows {
        table.push(row.map(Into::into).to_vec());
    }
    table
}

fn sum(counts: impl Iterator<Item = Counts>) -> Counts {
    counts.fold(Counts::default(), |sum, part| Counts {
        right: sum.right + part.right,
        found: sum.found + part.found,
        wanted: sum.wanted + part.wanted,
    })
}

/// Counts of one part of the pairs, by fraction (whole registers last) and threshold.
type Part = Vec<Vec<Counts>>;

/// Returns the standard error of the share of width `of`, or, with `over`, of its difference from the share of width
/// `over`. The standard error follows from the deviations of each part from the ratio of the sums, because the parts
/// are independent and the widths of one part are not.
fn standard_error(share: &PairShare, parts: &[Part], at: usize, (of, over): (usize, Option<usize>)) -> f64 {
    let deviation = |width: usize| {
        let total = sum(parts.iter().map(|part| part[width][at]));
        let (right, all) = (total.right as f64, (share.all)(total) as f64);
        move |part: &Part| {
            let counts = part[width][at];
            (counts.right as f64 - right / all * (share.all)(counts) as f64) / all
        }
    };
    let (own, other) = (deviation(of), over.map(deviation));
    let n = parts.len() as f64;
    let squares: f64 =
        parts.iter().map(|part| (own(part) - other.as_ref().map_or(0.0, |other| other(part))).powi(2)).sum();
    (squares * n / (n - 1.0)).sqrt()
}

/// Reports whether precision and recall of the width number `of`, computed exactly, both lie between those of one bit
/// and of two bits per register. Adds both to `between`.
fn settled(
    settings: &Settings,
    between: &mut Between,
    parts: &[Part],
    exact: &[Vec<ExactShares>],
    (of, at): (usize, usize),
) -> bool {
    let width = |bits: f64| settings.fractions.iter().position(|&f| f == bits);
    let (Some(one), Some(two)) = (width(1.0), width(2.0)) else { return false };
    let mut both = true;
    for share in &SHARES {
        let value = |of: usize| (share.exact)(exact[of][at]);
        let outside =
            (value(one).min(value(two)) - value(of)).max(value(of) - value(one).max(value(two))).max(0.0);
        // Smaller differences come from the rounding of sums.
        let is_outside = outside > 1e-12;
        both &= !is_outside;
        between.values += 1;
        between.outside += usize::from(is_outside);
        between.worst = between.worst.max(outside);
        let simulated = |of: usize| {
            let counts = sum(parts.iter().map(|part| part[of][at]));
            counts.right as f64 / (share.all)(counts) as f64
        };
        let differs = |sign: f64| {
            [one, two].iter().all(|&end| {
                let error = standard_error(share, parts, at, (of, Some(end)));
                sign * (simulated(of) - simulated(end)) > STANDARD_ERRORS * error
            })
        };
        between.clearly_outside += usize::from(differs(1.0) || differs(-1.0));
    }
    both
}

/// Returns the counts in parts, by fraction (whole registers last) and threshold.
fn count(
    context: &Context<'_>,
    settings: &Settings,
    spread: SimilaritySpread,
    registers: usize,
) -> Vec<Part> {
    /// Number of pairs per part.
    const CHUNK: u64 = 1000;
    let chunks: Vec<u64> = (0..settings.pairs.div_ceil(CHUNK)).collect();
    context.map(&chunks, |&chunk| {
        let mut counts =
            vec![vec![Counts::default(); settings.thresholds.len()]; settings.fractions.len() + 1];
        for pair in chunk * CHUNK..((chunk + 1) * CHUNK).min(settings.pairs) {
            let mut random = Random::new(context.seed(), &[registers as u64, pair]);
            let truth = spread.draw(&mut random);
            for (counts, estimate) in
                counts.iter_mut().zip(estimates(&mut random, truth, settings, registers))
            {
                for (&threshold, counts) in settings.thresholds.iter().zip(counts) {
                    let (found, wanted) = (estimate >= threshold, truth >= threshold);
                    counts.right += u64::from(found && wanted);
                    counts.found += u64::from(found);
                    counts.wanted += u64::from(wanted);
                }
            }
        }
        counts
    })
}

/// Estimates the similarity of one pair for every fraction, always from the same registers. Equal registers agree in
/// all bits; others agree in each bit by chance.
fn estimates(random: &mut Random, truth: f64, settings: &Settings, registers: usize) -> Vec<f64> {
    // Each number has a 1 at every bit in which two registers differ: 0 if they are equal, otherwise at least one bit.
    let differences: Vec<u64> = (0..registers)
        .map(|_| if random.happens(truth) { 0 } else { 1 << 63 | random.next() >> 1 })
        .collect();
    let agree = |part: &[u64], mask: u64| part.iter().filter(|&&bits| bits & mask == 0).count();
    let mut estimates: Vec<f64> = settings
        .fractions
        .iter()
        .map(|&f| {
            let [one, _] = Fraction(f).split(registers);
            pooled(f, registers, [agree(&differences[..one], 1), agree(&differences[one..], 3)])
        })
        .collect();
    estimates.push(agree(&differences, u64::MAX) as f64 / registers as f64);
    estimates
}

/// Estimates the similarity from the matches of registers with one bit, and with two bits.
fn pooled(f: f64, registers: usize, counts: [usize; 2]) -> f64 {
    let groups = Fraction(f).groups(registers, 0.0);
    let of_groups: Vec<usize> = groups.iter().map(|group| counts[group.bits as usize - 1]).collect();
    similarity(&of_groups, &groups, Combination::Pooled)
}

/// Returns exact precision and recall by fraction (whole registers last) and threshold.
///
/// The pooled estimate follows from the matches m of all registers, so a pair is found if m reaches a bound. m is the
/// sum of two binomial counts; for whole registers it is one binomial count. The similarity is integrated by Simpson's
/// rule.
fn exact(
    context: &Context<'_>,
    settings: &Settings,
    spread: SimilaritySpread,
    registers: usize,
) -> Result<Vec<Vec<ExactShares>>> {
    type OfSimilarity = fn(f64) -> f64;
    /// Number of steps below the threshold, and also above it.
    const STEPS: u32 = 400;
    let (density, share_from): (OfSimilarity, OfSimilarity) = match spread {
        SimilaritySpread::Uniform => (|_| 1.0, |threshold| 1.0 - threshold),
        SimilaritySpread::Funds => (density_of_funds, share_of_funds_from),
        SimilaritySpread::Gaussian => bail!("there is no density of {} pairs", spread.name()),
    };
    let widths = settings.fractions.iter().map(|&f| Some(f)).chain([None]);
    let cells: Vec<(Option<f64>, f64)> =
        widths.flat_map(|f| settings.thresholds.iter().map(move |&threshold| (f, threshold))).collect();
    let shares = context.map(&cells, |&(f, threshold)| {
        let [one, two] = f.map_or([registers, 0], |f| Fraction(f).split(registers));
        let reaches = |matches: usize| {
            let ones = matches.min(one);
            match f {
                Some(f) => pooled(f, registers, [ones, matches - ones]) >= threshold,
                None => matches as f64 / registers as f64 >= threshold,
            }
        };
        let least = (0..=registers).find(|&matches| reaches(matches)).unwrap_or(registers + 1);
        let found = |similarity: f64| {
            let law = |count: usize, bits: i32| {
                // Whole registers do not agree by chance.
                let by_chance = if f.is_some() { 0.5_f64.powi(bits) } else { 0.0 };
                // At probability 1 the odds are infinite.
                Binomial::new(count, (by_chance + (1.0 - by_chance) * similarity).min(1.0 - 1e-15))
            };
            reaching(&law(one, 1), &law(two, 2), least)
        };
        let integral = |from: f64, to: f64| {
            let step = (to - from) / f64::from(STEPS);
            let weight = |at: u32| match at {
                0 | STEPS => 1.0,
                at if at % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let at = |at: u32| from + f64::from(at) * step;
            let values = (0..=STEPS).map(|step| weight(step) * density(at(step)) * found(at(step)));
            values.sum::<f64>() * step / 3.0
        };
        let (right, wrong) = (integral(threshold, 1.0), integral(0.0, threshold));
        ExactShares { precision: right / (right + wrong), recall: right / share_from(threshold) }
    });
    Ok(shares.chunks(settings.thresholds.len()).map(<[ExactShares]>::to_vec).collect())
}

/// Returns the probability that the sum of two counts is at least `least`.
fn reaching(first: &Binomial, second: &Binomial, least: usize) -> f64 {
    let tails = second.tails();
    let tail = |from: usize| tails.get(from).copied().unwrap_or(0.0);
    first.probabilities().iter().enumerate().map(|(count, p)| p * tail(least.saturating_sub(count))).sum()
}
