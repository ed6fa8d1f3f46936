//! Table 4 and figures 6 and 7: precision, recall and F of near-duplicates.

use std::collections::BTreeMap;

use anyhow::Result;
use minwise::sketch::Method;
use serde::Deserialize;

use super::goldset::{GROUPS, GoldSet};
use super::{SHINGLE, WORDS, sectional};
use crate::check::{Check, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{chart, line, noted, points, through};
use crate::measure::sketch;
use crate::plot::{Axis, Chart, Point, Series};
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
    gold_set_words: usize,
    gold_set_registers: usize,
    /// Number of pairs of documents of different groups that are drawn from the stand-in for `GoldSet`.
    gold_set_other_pairs: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    thresholds: Vec<f64>,
    recall: BTreeMap<String, Vec<Printed>>,
    precision: BTreeMap<String, Vec<Printed>>,
    f: BTreeMap<String, Printed>,
    /// Mean precision of `MinHash`.
    mean_precision: Printed,
}

/// Method that is not drawn, because its curve lies between two others.
const BETWEEN: &str = "s = 4";

/// Estimates of one method. Each family gives one estimate for a pair of near-duplicates, and one for another pair.
struct Estimates {
    label: String,
    near: Vec<f64>,
    other: Vec<f64>,
}

/// Numbers of pairs that reach a threshold.
#[derive(Clone, Copy)]
struct FoundCounts {
    families: usize,
    near: usize,
    other: usize,
}

impl FoundCounts {
    fn recall(self) -> f64 {
        self.near as f64 / self.families as f64
    }

    fn precision(self) -> f64 {
        self.near as f64 / (self.near + self.other) as f64
    }

    fn f(self) -> f64 {
        harmonic(self.precision(), self.recall())
    }
}

/// Precision, recall or F, computed from our counts, and from precision and recall.
struct FoundShare {
    name: &'static str,
    what: &'static str,
    ours: fn(FoundCounts) -> f64,
    of: fn(f64, f64) -> f64,
}

const SHARES: [FoundShare; 3] = [
    FoundShare { name: "recall", what: "recall, %", ours: FoundCounts::recall, of: |_, recall| recall },
    FoundShare {
        name: "precision",
        what: "precision, %",
        ours: FoundCounts::precision,
        of: |precision, _| precision,
    },
    FoundShare { name: "f", what: "F, %", ours: FoundCounts::f, of: harmonic },
];
const RECALL: usize = 0;
const PRECISION: usize = 1;
const F: usize = 2;

/// Precision and recall of one method on one corpus.
struct MethodCurve {
    label: String,
    /// Precision and recall at the thresholds of the table.
    at_thresholds: Vec<(f64, f64)>,
    /// Recall and precision at all thresholds. The recall falls.
    curve: Vec<(f64, f64)>,
}

impl MethodCurve {
    fn of(method: &Estimates, thresholds: &[f64]) -> Self {
        let at = |&threshold: &f64| {
            let found = method.found(threshold);
            (found.precision(), found.recall())
        };
        Self {
            label: method.label.clone(),
            at_thresholds: thresholds.iter().map(at).collect(),
            curve: curve_of(method),
        }
    }

    fn is_of_source(&self) -> bool {
        !self.label.starts_with("tolerant")
    }
}

impl Estimates {
    fn found(&self, threshold: f64) -> FoundCounts {
        let count = |values: &[f64]| values.iter().filter(|&&value| value >= threshold).count();
        FoundCounts { families: self.near.len(), near: count(&self.near), other: count(&self.other) }
    }

    /// Returns the standard error of a share, by leaving out one family after the other (the jackknife).
    fn standard_error(&self, threshold: f64, share: fn(FoundCounts) -> f64) -> f64 {
        let all = self.found(threshold);
        let without = |(near, other): (&f64, &f64)| {
            share(FoundCounts {
                families: all.families - 1,
                near: all.near - usize::from(*near >= threshold),
                other: all.other - usize::from(*other >= threshold),
            })
        };
        let shares: Vec<f64> = self.near.iter().zip(&self.other).map(without).collect();
        let n = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / n;
        let squares = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>();
        (squares * (n - 1.0) / n).sqrt()
    }
}

fn harmonic(a: f64, b: f64) -> f64 {
    2.0 * a * b / (a + b)
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
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
                (100.0 * method.found(threshold).precision()).into(),
                (100.0 * method.found(threshold).recall()).into(),
                (100.0 * method.found(threshold).f()).into(),
                printed(&published.precision).into(),
                printed(&published.recall).into(),
            ]);
        }
    }
    let printed = printed_points(&published, "s = 2");
    let mut findings = ExperimentFindings::default().table(table);
    for share in &SHARES {
        // Only as many methods are drawn as there are line styles.
        let drawn = estimates.iter().filter(|method| method.label != BETWEEN);
        let mut series: Vec<Series> =
            drawn.map(|method| curve(method, &settings.thresholds, share.ours)).collect();
        let printed = printed.iter().map(|&(at, precision, recall)| (at, (share.of)(precision, recall)));
        let printed: Vec<(f64, f64)> = printed.collect();
        series.push(points("s = 2 as printed", &printed));
        let description =
            "Sections raise the precision and lower the recall; the tolerant form gives up the least of it.";
        let (x, y) = (Axis::linear("threshold τ"), Axis::linear(share.what));
        let note =
            format!("Bars: two standard errors. {BETWEEN} lies between its neighbours, see the table.");
        let picture = chart(&format!("Near-duplicates: {}", share.what), description, x, y, series);
        findings = findings.chart(share.name, Chart { note, ..picture });
    }
    let ours: Vec<MethodCurve> =
        estimates.iter().map(|method| MethodCurve::of(method, &settings.thresholds)).collect();
    let stand_in = on_gold_set(context, &settings)?;
    for share in &SHARES {
        let picture = stand_in_picture(&settings, &published, &stand_in, share);
        findings = findings.chart(&format!("gold-set-{}", share.name), picture);
    }
    let note = format!("{} families of documents.", settings.families);
    let [here, there] = ["our documents", "the stand-in for GoldSet"];
    Ok(findings
        .chart("precision-recall", precision_recall(here, &published, &ours, &note))
        .chart("gold-set-precision-recall", precision_recall(there, &published, &stand_in, ALL_PAIRS))
        .table(gold_set_table(&settings, &published, &stand_in))
        .checks(laws(&settings, &estimates))
        .checks([never_above(&stand_in), advantage(here, &ours)])
        .checks(greatest(here, &ours, &[("s = 3", PRECISION), ("s = 2", RECALL), ("s = 2", F)]))
        .checks([advantage(there, &stand_in)])
        // The precision on the stand-in is 1 for every method, because its stories have no words in common but by chance.
        .checks(greatest(there, &stand_in, &[("s = 2", RECALL), ("s = 2", F)]))
        .checks(printed_sentences(&published))
        .checks(possible(&published)))
}

/// Returns precision and recall at all thresholds. The recall falls as the threshold rises.
fn curve_of(method: &Estimates) -> Vec<(f64, f64)> {
    let mut thresholds: Vec<f64> = method.near.iter().chain(&method.other).copied().collect();
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let at = |&threshold: &f64| {
        let found = method.found(threshold);
        (found.recall(), found.precision())
    };
    thresholds.iter().map(at).filter(|(recall, _)| *recall > 0.0).collect()
}

/// Returns the area below the curve of precision against recall, as a step function.
fn area(method: &MethodCurve) -> f64 {
    let mut before = 0.0;
    method
        .curve
        .iter()
        .rev()
        .map(|&(recall, precision)| {
            let step = (recall - before) * precision;
            before = recall;
            step
        })
        .sum()
}

/// Draws figure 6.
fn precision_recall(corpus: &str, published: &Published, methods: &[MethodCurve], note: &str) -> Chart {
    let percent = |&(x, y): &(f64, f64)| (100.0 * x, 100.0 * y);
    let drawn = methods.iter().filter(|method| method.label != BETWEEN);
    let mut series: Vec<Series> =
        drawn.map(|method| line(&method.label, method.curve.iter().map(percent).collect())).collect();
    let printed: Vec<(f64, f64)> = printed_points(published, "s = 2")
        .iter()
        .map(|&(_, precision, recall)| (recall, precision))
        .collect();
    series.push(points("s = 2 as printed", &printed));
    let picture = chart(
        &format!("Precision against recall at all thresholds, {corpus}"),
        "One curve per method. A precision falls where the threshold is so low that other pairs reach it.",
        Axis::linear("recall, %").between(0.0, 100.0),
        Axis::linear("precision, %").between(0.0, 100.0),
        series,
    );
    noted(picture, &format!("{note} {BETWEEN} lies between its neighbours."))
}

/// Checks the statement "The S-MinHash (s = 2) has a clear advantage over other algorithms."
fn advantage(corpus: &str, methods: &[MethodCurve]) -> Check {
    let of_source = || methods.iter().filter(|method| method.is_of_source());
    let areas: Vec<String> =
        of_source().map(|method| format!("{} {}", method.label, significant(area(method)))).collect();
    let two = of_source().find(|method| method.label == "s = 2").map_or(f64::NAN, area);
    let best = of_source().map(area).fold(0.0, f64::max);
    Check::shape(
        &format!("{corpus}: the area below precision against recall is greatest for s = 2"),
        areas.join(", "),
        "s = 2 first",
        two >= best,
    )
    .because(FEWER)
}

/// Reason why sections have less recall on any documents.
const FEWER: &str =
    "a sectional sketch finds a part of what MinHash finds: each section more takes pairs away and adds none";

/// Checks the statements of section 5-2 that a method has the greatest precision, recall or F.
fn greatest(corpus: &str, methods: &[MethodCurve], claims: &[(&str, usize)]) -> Vec<Check> {
    let of_source = || methods.iter().filter(|method| method.is_of_source());
    let all = methods.first().map_or(0, |method| method.at_thresholds.len());
    let check = |&(label, share): &(&str, usize)| {
        let FoundShare { what, of, .. } = &SHARES[share];
        let value = |method: &MethodCurve, at: usize| {
            let (precision, recall) = method.at_thresholds[at];
            of(precision, recall)
        };
        let holds = |&at: &usize| {
            let own = of_source().find(|method| method.label == label);
            let own = own.map_or(f64::NAN, |method| value(method, at));
            of_source().all(|method| value(method, at) <= own)
        };
        let count = (0..all).filter(holds).count();
        Check::shape(
            &format!(
                "{corpus}: thresholds at which {label} has the greatest {}",
                what.trim_end_matches(", %")
            ),
            format!("{count} of {all}"),
            "all",
            count == all,
        )
        .because(FEWER)
    };
    claims.iter().map(check).collect()
}

/// Checks the statements of section 5-2 on the printed table.
fn printed_sentences(published: &Published) -> Vec<Check> {
    let values = |of: &BTreeMap<String, Vec<Printed>>| -> BTreeMap<String, Vec<f64>> {
        of.iter().map(|(label, row)| (label.clone(), row.iter().map(|value| value.value).collect())).collect()
    };
    let (precision, recall) = (values(&published.precision), values(&published.recall));
    let f: BTreeMap<String, Vec<f64>> = precision
        .iter()
        .map(|(label, row)| {
            (label.clone(), row.iter().zip(&recall[label]).map(|(&p, &r)| harmonic(p, r)).collect())
        })
        .collect();
    let all = published.thresholds.len();
    // Counts the thresholds at which the first method is above all others.
    let above = |of: &BTreeMap<String, Vec<f64>>, label: &str, others: &[&str]| {
        let is_above = |&at: &usize| {
            let others = of.iter().filter(|(other, _)| {
                *other != label && (others.is_empty() || others.contains(&other.as_str()))
            });
            others.map(|(_, row)| row[at]).all(|other| other < of[label][at])
        };
        (0..all).filter(is_above).count()
    };
    let stated = |claim: &str, count: usize, least: usize, wanted: &str| {
        Check::stated(claim, format!("{count} of {all} thresholds"), wanted, count >= least)
    };
    let rises = f.values().flat_map(|row| row.windows(2)).filter(|pair| pair[1] > pair[0]).count();
    let mean = precision["MinHash"].iter().sum::<f64>() / all as f64;
    vec![
        stated("as printed, s = 3 has the most precision", above(&precision, "s = 3", &[]), all, "all"),
        stated("as printed, s = 2 has the most recall", above(&recall, "s = 2", &[]), all, "all"),
        stated("as printed, s = 2 has the most F", above(&f, "s = 2", &[]), all, "all"),
        stated(
            "as printed, s = 3 has more F than MinHash and BitHash",
            above(&f, "s = 3", &["MinHash", "BitHash"]),
            all / 2 + 1,
            "most",
        ),
        Check::stated(
            "printed values of F that rise with the threshold",
            rises,
            "none, as all performances decrease",
            rises == 0,
        )
        .erratum("E-07"),
        Check::published("the printed precision of MinHash, on average", mean, &published.mean_precision),
    ]
}

/// Explanation of the points of the stand-in for `GoldSet`.
const ALL_PAIRS: &str = "All near-duplicate pairs of one stand-in, and drawn pairs of other documents.";
/// Number of steps between two estimates at which the curve of the stand-in for `GoldSet` is computed.
const STEPS: usize = 500;

/// Returns precision and recall of all methods on the stand-in for `GoldSet`. Near-duplicates are the pairs of a group.
/// Pairs of documents of different groups are drawn, and count for as many as there are.
fn on_gold_set(context: &Context<'_>, settings: &Settings) -> Result<Vec<MethodCurve>> {
    let gold_set = GoldSet { words: settings.gold_set_words };
    let methods = methods(settings, settings.gold_set_registers)?;
    let numbers: Vec<usize> = (0..GROUPS.len()).collect();
    let groups = context.map(&numbers, |&number| gold_set.group(number, context.seed()));
    let curves = context.map(&methods, |(label, method)| -> Result<MethodCurve> {
        let sketcher = method.build(context.seed())?;
        let rows: Vec<Vec<Vec<u32>>> = groups
            .iter()
            .map(|group| group.iter().map(|shingles| sketch(&*sketcher, shingles)).collect())
            .collect();
        let (mut near, mut other) = (vec![], vec![]);
        for group in &rows {
            for (a, b) in (0..group.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                near.push(sketcher.estimate(&group[a], &group[b]).value);
            }
        }
        let of_group: Vec<(usize, usize)> = GROUPS
            .iter()
            .enumerate()
            .flat_map(|(group, &size)| (0..size).map(move |at| (group, at)))
            .collect();
        let mut random = Random::new(context.seed(), &[u64::MAX]);
        let documents = of_group.len() as u64;
        while (other.len() as u64) < settings.gold_set_other_pairs {
            let mut draw = || of_group[random.below(documents) as usize];
            let (a, b) = (draw(), draw());
            if a.0 != b.0 {
                other.push(sketcher.estimate(&rows[a.0][a.1], &rows[b.0][b.1]).value);
            }
        }
        let all_others = documents * (documents - 1) / 2 - near.len() as u64;
        let weight = all_others as f64 / other.len() as f64;
        // Both lists are sorted, so that a search gives the number of estimates that reach a threshold.
        near.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        let reach =
            |of: &[f64], threshold: f64| (of.len() - of.partition_point(|&one| one < threshold)) as f64;
        let at = |threshold: f64| {
            let (found, wrong) = (reach(&near, threshold), weight * reach(&other, threshold));
            (found / (found + wrong), found / near.len() as f64)
        };
        let steps = (0..=STEPS).map(|step| at(step as f64 / STEPS as f64));
        Ok(MethodCurve {
            label: label.clone(),
            at_thresholds: settings.thresholds.iter().map(|&threshold| at(threshold)).collect(),
            curve: steps
                .map(|(precision, recall)| (recall, precision))
                .filter(|(recall, _)| *recall > 0.0)
                .collect(),
        })
    });
    curves.into_iter().collect()
}

/// Returns the table of the stand-in for `GoldSet`, with the printed values.
fn gold_set_table(settings: &Settings, published: &Published, methods: &[MethodCurve]) -> Table {
    let mut table = Table::new(
        "gold-set",
        "Precision, recall and F on the stand-in for GoldSet, in per cent, and as printed",
        &["method", "τ", "precision", "recall", "F", "precision as printed", "recall as printed"],
    );
    for method in methods {
        for (&threshold, &(precision, recall)) in settings.thresholds.iter().zip(&method.at_thresholds) {
            let place = published.thresholds.iter().position(|&other| other == threshold);
            let printed = |of: &BTreeMap<String, Vec<Printed>>| {
                place.and_then(|place| of.get(&method.label).map(|row| row[place].value))
            };
            table.push(vec![
                method.label.as_str().into(),
                threshold.into(),
                (100.0 * precision).into(),
                (100.0 * recall).into(),
                (100.0 * harmonic(precision, recall)).into(),
                printed(&published.precision).into(),
                printed(&published.recall).into(),
            ]);
        }
    }
    table
}

/// Checks that no sectional sketch finds more pairs of the stand-in for `GoldSet` than `MinHash`.
fn never_above(methods: &[MethodCurve]) -> Check {
    let of_sections = methods.iter().filter(|method| method.label.starts_with("s ="));
    let pairs = of_sections.flat_map(|method| method.at_thresholds.iter().zip(&methods[0].at_thresholds));
    let (above, cells) =
        pairs.fold((0, 0), |(above, cells), (of, than)| (above + usize::from(of.1 > than.1), cells + 1));
    let claim = "recalls of sections on the stand-in for GoldSet above those of MinHash";
    Check::law(claim, format!("{above} of {cells}"), 0, above == 0)
}

/// Draws recall, precision or F on the stand-in for `GoldSet` by threshold: a panel of figure 7.
fn stand_in_picture(
    settings: &Settings,
    published: &Published,
    methods: &[MethodCurve],
    share: &FoundShare,
) -> Chart {
    let drawn = methods.iter().filter(|method| method.label != BETWEEN);
    let mut series: Vec<Series> = drawn
        .map(|method| {
            let values =
                method.at_thresholds.iter().map(|&(precision, recall)| (share.of)(precision, recall));
            let at: Vec<(f64, f64)> =
                settings.thresholds.iter().zip(values).map(|(&at, value)| (at, 100.0 * value)).collect();
            line(&method.label, at)
        })
        .collect();
    let printed = printed_points(published, "s = 2");
    let printed: Vec<(f64, f64)> =
        printed.iter().map(|&(at, precision, recall)| (at, (share.of)(precision, recall))).collect();
    series.push(points("s = 2 as printed", &printed));
    let picture = chart(
        &format!("Stand-in for GoldSet: {}", share.what),
        "Sections lower the recall, and the more the more sections there are; the precision is that of MinHash.",
        Axis::linear("threshold τ"),
        Axis::linear(share.what).between(0.0, 100.0),
        series,
    );
    noted(picture, &format!("{ALL_PAIRS} {BETWEEN} lies between its neighbours."))
}

/// Returns the shares of a method by threshold, in per cent.
fn curve(method: &Estimates, thresholds: &[f64], share: fn(FoundCounts) -> f64) -> Series {
    let point = |&threshold: &f64| {
        let (value, error) = (share(method.found(threshold)), method.standard_error(threshold, share));
        let (low, high) = ((value - 2.0 * error).max(0.0), (value + 2.0 * error).min(1.0));
        Point { x: threshold, y: 100.0 * value, error: Some((100.0 * low, 100.0 * high)) }
    };
    through(&method.label, thresholds.iter().map(point).collect())
}

/// Returns threshold, precision and recall as printed.
fn printed_points(published: &Published, label: &str) -> Vec<(f64, f64, f64)> {
    let row = |of: &BTreeMap<String, Vec<Printed>>| of.get(label).cloned().unwrap_or_default();
    let values = row(&published.precision).into_iter().zip(row(&published.recall));
    let at = published.thresholds.iter().zip(values);
    at.map(|(&threshold, (precision, recall))| (threshold, precision.value, recall.value)).collect()
}

/// Returns the laws that our own numbers must obey.
fn laws(settings: &Settings, estimates: &[Estimates]) -> Vec<Check> {
    let minhash = &estimates[0];
    let above = |method: &Estimates| {
        let pairs = |of: &[f64], than: &[f64]| of.iter().zip(than).filter(|(a, b)| a > b).count();
        pairs(&method.near, &minhash.near) + pairs(&method.other, &minhash.other)
    };
    let rises = |method: &Estimates| {
        settings
            .thresholds
            .windows(2)
            .filter(|pair| method.found(pair[1]).recall() > method.found(pair[0]).recall())
            .count()
    };
    let less_precise = |method: &Estimates| {
        settings
            .thresholds
            .iter()
            .filter(|&&t| method.found(t).precision() < minhash.found(t).precision())
            .count()
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

/// Returns the checks that need only the printed table: one for each printed recall that no data can give, one of
/// the precisions, and one for each printed F.
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
    let minhash = &published.precision["MinHash"];
    let of_sections = || published.precision.iter().filter(|(label, _)| label.starts_with("s ="));
    let not_above =
        |row: &Vec<Printed>| row.iter().zip(minhash).filter(|(of, than)| of.value <= than.value).count();
    let lower: usize = of_sections().map(|(_, row)| not_above(row)).sum();
    let all: usize = of_sections().map(|(_, row)| row.len()).sum();
    checks.push(
        Check::stated(
            "printed precisions of sections that are not above that of MinHash",
            format!("{lower} of {all}"),
            0,
            lower == 0,
        )
        .erratum("E-07"),
    );
    for (label, value) in &published.f {
        let (precision, recall) = (&published.precision[label][0], &published.recall[label][0]);
        let f = harmonic(precision.value, recall.value);
        checks.push(Check::published(&format!("F of {label} at τ = 0.5, from the table"), f, value));
    }
    checks
}

/// Returns all sketches that are compared, with their names in the source.
fn methods(settings: &Settings, k: usize) -> Result<Vec<(String, Method)>> {
    let mut methods: Vec<(String, Method)> = vec![
        ("MinHash".to_owned(), sectional(1, k)?),
        ("BitHash".to_owned(), format!("bit-hash/minhash:{k}").parse()?),
    ];
    for &s in &settings.sections {
        methods.push((format!("s = {s}"), sectional(s, k)?));
    }
    methods.push(("tolerant, s = 2".to_owned(), format!("sectional:s=2,tolerant/minhash:{k}").parse()?));
    Ok(methods)
}

fn measure(context: &Context<'_>, settings: &Settings) -> Result<Vec<Estimates>> {
    let methods = methods(settings, settings.registers)?;
    let families: Vec<u64> = (0..settings.families).collect();
    let estimates = context.map(&methods, |(label, method)| -> Result<Estimates> {
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

/// Returns an original, a near-duplicate of it, and the same paragraphs in another order.
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
