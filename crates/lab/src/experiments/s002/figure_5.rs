//! Figure 5: precision and recall of pairs above a similarity.

use anyhow::Result;
use minwise::estimate::fractional_bit::{Combination, similarity};
use serde::Deserialize;

use super::Fraction;
use crate::check::Check;
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, share_point, through};
use crate::plot::{Axis, Series};
use crate::simulate::Random;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: Vec<usize>,
    thresholds: Vec<f64>,
    fractions: Vec<f64>,
}

/// Pairs that are found or should be.
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

    fn errors(self) -> u64 {
        self.found + self.wanted - 2 * self.right
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let mut table = Table::new(
        "pairs",
        "Precision and recall",
        &["registers", "R0", "f", "precision", "recall", "errors"],
    );
    let mut findings = ExperimentFindings::default();
    let mut steps = 0;
    let mut falling = 0;
    for &registers in &settings.registers {
        let counts = count(context, &settings, registers);
        let labels: Vec<String> =
            settings.fractions.iter().map(|f| format!("f = {f}")).chain(["32 bits".to_owned()]).collect();
        for (at, &threshold) in settings.thresholds.iter().enumerate() {
            for (of, label) in labels.iter().enumerate() {
                let counts = counts[of][at];
                let (precision, recall) = (counts.precision(), counts.recall());
                let name = label.trim_start_matches("f = ");
                table.push(vec![
                    registers.into(),
                    threshold.into(),
                    name.into(),
                    precision.into(),
                    recall.into(),
                    counts.errors().into(),
                ]);
            }
        }
        // Over all thresholds together, more bits make fewer errors.
        let errors: Vec<u64> =
            counts.iter().map(|counts| counts.iter().map(|counts| counts.errors()).sum()).collect();
        steps += errors.len() - 1;
        falling += errors.windows(2).filter(|pair| pair[0] > pair[1]).count();
        let curves = |all: fn(Counts) -> u64| -> Vec<Series> {
            let point = |(&threshold, &counts): (&f64, &Counts)| {
                share_point(threshold, counts.right as f64, all(counts) as f64)
            };
            let of = |counts: &[Counts]| settings.thresholds.iter().zip(counts).map(point).collect();
            labels.iter().zip(&counts).map(|(label, counts)| through(label, of(counts))).collect()
        };
        let found: fn(Counts) -> u64 = |counts| counts.found;
        for (name, all) in [("precision", found), ("recall", |counts| counts.wanted)] {
            findings = findings.chart(
                &format!("{name}-{registers}"),
                chart(
                    &format!("{registers} registers: {name}"),
                    "Curves of mixtures lie between those of one bit and of two, and all of them below that of whole registers.",
                    Axis::linear("least similarity R0"),
                    Axis::linear(name),
                    curves(all),
                ),
            );
        }
    }
    Ok(findings.table(table).checks([Check::shape(
        "each f makes fewer errors than the one before it, up to two bits, and whole registers the fewest",
        format!("{falling} of {steps} steps"),
        "all",
        falling == steps,
    )]))
}

/// For each fraction, and whole registers last, the counts by threshold.
fn count(context: &Context<'_>, settings: &Settings, registers: usize) -> Vec<Vec<Counts>> {
    /// Pairs that one thread takes at a time.
    const CHUNK: u64 = 1000;
    let chunks: Vec<u64> = (0..settings.pairs.div_ceil(CHUNK)).collect();
    let zero = || vec![vec![Counts::default(); settings.thresholds.len()]; settings.fractions.len() + 1];
    let parts = context.map(&chunks, |&chunk| {
        let mut counts = zero();
        for pair in chunk * CHUNK..((chunk + 1) * CHUNK).min(settings.pairs) {
            let mut random = Random::new(context.seed(), &[registers as u64, pair]);
            let truth = random.unit();
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
    });
    parts.into_iter().fold(zero(), |mut sum, part| {
        for (sum, part) in sum.iter_mut().flatten().zip(part.into_iter().flatten()) {
            sum.right += part.right;
            sum.found += part.found;
            sum.wanted += part.wanted;
        }
        sum
    })
}

/// Estimates of one pair, all from the same registers: equal ones agree in all bits, others in each bit by chance.
fn estimates(random: &mut Random, truth: f64, settings: &Settings, registers: usize) -> Vec<f64> {
    // Bits in which the registers differ; none where they are equal, at least one else.
    let differences: Vec<u64> = (0..registers)
        .map(|_| if random.happens(truth) { 0 } else { 1 << 63 | random.next() >> 1 })
        .collect();
    let agree = |part: &[u64], mask: u64| part.iter().filter(|&&bits| bits & mask == 0).count();
    let mut estimates: Vec<f64> = settings
        .fractions
        .iter()
        .map(|&f| {
            let [one, _] = Fraction(f).split(registers);
            let groups = Fraction(f).groups(registers, 0.0);
            let counts = [agree(&differences[..one], 1), agree(&differences[one..], 3)];
            let of_groups: Vec<usize> = groups.iter().map(|group| counts[group.bits as usize - 1]).collect();
            similarity(&of_groups, &groups, Combination::Pooled)
        })
        .collect();
    estimates.push(agree(&differences, u64::MAX) as f64 / registers as f64);
    estimates
}
