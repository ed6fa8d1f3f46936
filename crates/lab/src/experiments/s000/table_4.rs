//! Table 4 and figures 6 and 7: precision, recall and F of near-duplicates.

use std::collections::BTreeMap;

use anyhow::Result;
use minwise::sketch::Method;
use serde::Deserialize;

use super::{SHINGLE, WORDS, sectional};
use crate::check::{Check, Printed};
use crate::experiment::{Context, Findings};
use crate::experiments::{chart, line, points};
use crate::measure::sketch;
use crate::parallel;
use crate::plot::{Axis, Series};
use crate::simulate::documents::shingles;
use crate::simulate::{Edit, Random, Vocabulary};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    families: u64,
    words: usize,
    registers: usize,
    thresholds: Vec<f64>,
    sections: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    thresholds: Vec<f64>,
    recall: BTreeMap<String, Vec<Printed>>,
    precision: BTreeMap<String, Vec<Printed>>,
    f: BTreeMap<String, Printed>,
}

/// The estimates of one method: of near-duplicates and of others.
struct Estimates {
    label: String,
    near: Vec<f64>,
    other: Vec<f64>,
}

impl Estimates {
    fn found(values: &[f64], threshold: f64) -> usize {
        values.iter().filter(|&&value| value >= threshold).count()
    }

    fn recall(&self, threshold: f64) -> f64 {
        Self::found(&self.near, threshold) as f64 / self.near.len() as f64
    }

    fn precision(&self, threshold: f64) -> f64 {
        let right = Self::found(&self.near, threshold) as f64;
        right / (right + Self::found(&self.other, threshold) as f64)
    }

    fn f(&self, threshold: f64) -> f64 {
        harmonic(self.precision(threshold), self.recall(threshold))
    }
}

fn harmonic(a: f64, b: f64) -> f64 {
    2.0 * a * b / (a + b)
}

pub(crate) fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let estimates = measure(context, &settings)?;
    let mut table = Table::new(
        "found",
        "Precision, recall and F, in per cent, ours and as printed",
        &["method", "τ", "precision", "recall", "F", "precision as printed", "recall as printed"],
    );
    for method in &estimates {
        for &threshold in &settings.thresholds {
            let at = published.thresholds.iter().position(|&other| other == threshold);
            let printed = |of: &BTreeMap<String, Vec<Printed>>| {
                at.and_then(|at| of.get(&method.label).map(|row| row[at].value))
            };
            table.push(vec![
                method.label.as_str().into(),
                threshold.into(),
                (100.0 * method.precision(threshold)).into(),
                (100.0 * method.recall(threshold)).into(),
                (100.0 * method.f(threshold)).into(),
                printed(&published.precision).into(),
                printed(&published.recall).into(),
            ]);
        }
    }
    let curves = |value: fn(&Estimates, f64) -> f64| -> Vec<Series> {
        estimates
            .iter()
            .map(|method| {
                let at = settings
                    .thresholds
                    .iter()
                    .map(|&threshold| (threshold, 100.0 * value(method, threshold)));
                line(&method.label, at.collect())
            })
            .collect()
    };
    let mut recall = curves(Estimates::recall);
    recall.push(points("s = 2 as printed", &printed_points(&published, "s = 2")));
    let axes = |name: &str| (Axis::linear("threshold τ"), Axis::linear(name));
    let mut findings = Findings::default().table(table);
    for (name, what, series) in [
        ("recall", "recall, %", recall),
        ("precision", "precision, %", curves(Estimates::precision)),
        ("f", "F, %", curves(Estimates::f)),
    ] {
        let (x, y) = axes(what);
        let description =
            "Sections raise the precision and lower the recall; the tolerant form gives up the least of it.";
        findings =
            findings.chart(name, chart(&format!("Near-duplicates: {what}"), description, x, y, series));
    }
    Ok(findings.checks(laws(&settings, &estimates)).checks(possible(&published)))
}

fn printed_points(published: &Published, label: &str) -> Vec<(f64, f64)> {
    let row = published.recall.get(label).map_or(&[][..], |row| row);
    published.thresholds.iter().copied().zip(row.iter().map(|value| value.value)).collect()
}

/// What must hold of our own numbers.
fn laws(settings: &Settings, estimates: &[Estimates]) -> Vec<Check> {
    let minhash = &estimates[0];
    let above = |method: &Estimates| {
        let pairs = |of: &[f64], than: &[f64]| of.iter().zip(than).filter(|(a, b)| a > b).count();
        pairs(&method.near, &minhash.near) + pairs(&method.other, &minhash.other)
    };
    let rises = |method: &Estimates| {
        settings.thresholds.windows(2).filter(|pair| method.recall(pair[1]) > method.recall(pair[0])).count()
    };
    let less_precise = |method: &Estimates| {
        settings.thresholds.iter().filter(|&&t| method.precision(t) < minhash.precision(t)).count()
    };
    let of_sections = || estimates.iter().filter(|method| method.label.starts_with("s ="));
    let sum = |count: &dyn Fn(&Estimates) -> usize| of_sections().map(count).sum::<usize>();
    let (above, less_precise) = (sum(&above), sum(&less_precise));
    let rises: usize = estimates.iter().map(rises).sum();
    vec![
        Check::law("estimates of sections above those of MinHash", above, 0, above == 0),
        Check::law("thresholds at which a recall rises", rises, 0, rises == 0),
        Check::shape(
            "thresholds at which sections are less precise than MinHash",
            less_precise,
            0,
            less_precise == 0,
        ),
    ]
}

/// What would have to hold of the printed table, whatever the data were.
fn possible(published: &Published) -> Vec<Check> {
    let mut checks = vec![];
    let minhash = &published.recall["MinHash"];
    for (label, row) in &published.recall {
        for (at, value) in row.iter().enumerate() {
            let threshold = published.thresholds[at];
            if label.starts_with("s =") && value.value > minhash[at].value {
                let claim = format!("the recall of {label} at τ = {threshold}");
                let bound = format!("at most that of MinHash, {}", minhash[at]);
                checks.push(Check::possible(&claim, value, bound, false).erratum("E-07"));
            }
            if at > 0 && value.value > row[at - 1].value {
                let claim = format!("the recall of {label} at τ = {threshold}");
                let bound = format!("at most that at a lower threshold, {}", row[at - 1]);
                checks.push(Check::possible(&claim, value, bound, false).erratum("E-07"));
            }
        }
    }
    for (label, value) in &published.f {
        let (precision, recall) = (&published.precision[label][0], &published.recall[label][0]);
        let f = harmonic(precision.value, recall.value);
        checks.push(Check::published(&format!("F of {label} at τ = 0.5, from the table"), f, value));
    }
    checks
}

fn measure(context: &Context<'_>, settings: &Settings) -> Result<Vec<Estimates>> {
    let k = settings.registers;
    let mut methods: Vec<(String, Method)> = vec![
        ("MinHash".to_owned(), sectional(1, k)?),
        ("BitHash".to_owned(), format!("bit-hash/minhash:{k}").parse()?),
    ];
    for &s in &settings.sections {
        methods.push((format!("s = {s}"), sectional(s, k)?));
    }
    methods.push(("tolerant, s = 2".to_owned(), format!("sectional:s=2,tolerant/minhash:{k}").parse()?));
    let families: Vec<u64> = (0..settings.families).collect();
    let estimates = parallel::map(context.threads(), &methods, |(label, method)| -> Result<Estimates> {
        let sketcher = method.build(context.seed())?;
        let (mut near, mut other) = (vec![], vec![]);
        for &family in &families {
            let [original, edited, shuffled] = documents(context.seed(), family, settings.words);
            let of = |document: &[u64]| sketch(&*sketcher, &shingles(document, SHINGLE));
            let original = of(&original);
            near.push(sketcher.estimate(&original, &of(&edited)).value);
            other.push(sketcher.estimate(&original, &of(&shuffled)).value);
        }
        Ok(Estimates { label: label.clone(), near, other })
    });
    estimates.into_iter().collect()
}

/// An original, a near-duplicate of it, and the same paragraphs in another order.
fn documents(seed: u64, family: u64, words: usize) -> [Vec<u64>; 3] {
    let vocabulary = Vocabulary::new(WORDS);
    let mut random = Random::new(seed, &[family]);
    let original = vocabulary.document(words, &mut random);
    let (share, front) = (random.unit() * 0.06, random.below(words as u64 / 10) as usize);
    let edited = vocabulary.edit(&original, Edit::Substitute(share), &mut random);
    let edited = vocabulary.edit(&edited, Edit::Prepend(front), &mut random);
    let shuffled = vocabulary.edit(&original, Edit::ShuffleParagraphs(words / 12), &mut random);
    [original, edited, shuffled]
}
