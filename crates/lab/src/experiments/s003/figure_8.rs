//! Figure 8: accuracy and recall of the two thresholds of a look.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::{SimilaritySpread, agreements, per_look};
use crate::check::{Check, Deviations, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, share_point, through};
use crate::plot::{Axis, Chart, Series};
use crate::simulate::binomial::Binomial;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: usize,
    look: usize,
    thresholds: Vec<f64>,
    spreads: Vec<SimilaritySpread>,
    matches: Vec<usize>,
}

/// Number of pairs per data set of the source. An accuracy of 100 % means that no pair is wrong.
const THEIRS: f64 = 1000.0;
/// Small probability of the source, section 5.2.
const SMALL: f64 = 1e-5;
/// Our meaning of "high" and "low" in the source, which gives no number.
const HIGH: f64 = 0.9;

/// Side of a look on which a threshold takes pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookSide {
    /// The threshold `T_U` accepts pairs with more matches as similar.
    Upper,
    /// The threshold `T_L` rejects pairs with fewer matches as not similar.
    Lower,
}

impl LookSide {
    const ALL: [Self; 2] = [Self::Upper, Self::Lower];

    fn name(self) -> &'static str {
        match self {
            Self::Upper => "T_U",
            Self::Lower => "T_L",
        }
    }

    fn takes(self, matches: usize, threshold: usize) -> bool {
        match self {
            Self::Upper => matches > threshold,
            Self::Lower => matches < threshold,
        }
    }
}

/// Division of pairs by their matches at the look: counts of a simulation, or exact shares of all pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    /// Number of pairs that the threshold takes.
    pairs: f64,
    /// Taken pairs that are right according to all registers.
    right: f64,
    /// Taken pairs that are right according to the registers of the look, as the source prints it.
    right_as_printed: f64,
    /// Number of pairs that the threshold should take.
    all: f64,
}

impl Taken {
    fn accuracy(self) -> f64 {
        self.right / self.pairs
    }

    fn recall(self) -> f64 {
        self.right / self.all
    }

    fn wrong(self) -> f64 {
        self.pairs - self.right
    }
}

/// A panel of the figure: one distribution of similarities, with one threshold.
struct Panel {
    spread: SimilaritySpread,
    threshold: f64,
    /// Exact shares of all pairs, by matches at the look and by whether the pair is similar according to all registers.
    exact: Vec<[f64; 2]>,
    /// Counts of simulated pairs, in the order of `exact`.
    counted: Vec<[f64; 2]>,
}

impl Panel {
    fn divide(&self, shares: &[[f64; 2]], side: LookSide, at: usize) -> Taken {
        let mut taken = Taken::default();
        let look = shares.len() as f64 - 1.0;
        for (matches, of) in shares.iter().enumerate() {
            let similar_at_look = matches as f64 > self.threshold * look;
            let (right, by_look) = match side {
                LookSide::Upper => (of[1], similar_at_look),
                LookSide::Lower => (of[0], !similar_at_look),
            };
            taken.all += right;
            if side.takes(matches, at) {
                taken.pairs += of[0] + of[1];
                taken.right += right;
                taken.right_as_printed += if by_look { of[0] + of[1] } else { 0.0 };
            }
        }
        taken
    }

    fn exact(&self, side: LookSide, at: usize) -> Taken {
        self.divide(&self.exact, side, at)
    }

    fn counted(&self, side: LookSide, at: usize) -> Taken {
        self.divide(&self.counted, side, at)
    }

    /// Returns the threshold that takes the most pairs, with fewer than 0.5 wrong pairs expected among the 1000 pairs
    /// of the source.
    fn dividing_point(&self, side: LookSide) -> usize {
        let is_right = |at: &usize| THEIRS * self.exact(side, *at).wrong() < 0.5;
        let mut all = 0..self.exact.len();
        // A threshold that takes no pair is right, so there is always one.
        match side {
            LookSide::Upper => all.find(is_right),
            LookSide::Lower => all.rev().find(is_right),
        }
        .unwrap_or(0)
    }

    /// Reports whether at least one of the 1000 pairs of the source is expected beyond the dividing point.
    fn divides(&self, side: LookSide) -> bool {
        THEIRS * self.exact(side, self.dividing_point(side)).right >= 1.0
    }
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let cells: Vec<(SimilaritySpread, f64)> = settings
        .spreads
        .iter()
        .flat_map(|&spread| settings.thresholds.iter().map(move |&threshold| (spread, threshold)))
        .collect();
    let panels = context.map(&cells, |&(spread, threshold)| Panel {
        spread,
        threshold,
        exact: exact(&settings, spread, threshold),
        counted: simulated(context, &settings, spread, threshold),
    });
    let mut table = Table::new(
        "accuracy",
        "Accuracy and recall of a threshold of m of the first 100 matches",
        &["pairs", "T", "threshold", "m", "accuracy", "exact", "accuracy as printed", "recall", "exact "],
    );
    let mut deviations = Deviations::default();
    let mut findings = ExperimentFindings::default();
    for panel in &panels {
        for side in LookSide::ALL {
            for &at in &settings.matches {
                let (counted, exact) = (panel.counted(side, at), panel.exact(side, at));
                for (found, share, of) in [
                    (counted.accuracy(), exact.accuracy(), exact.pairs),
                    (counted.recall(), exact.recall(), exact.all),
                ] {
                    let pairs = of * settings.pairs as f64;
                    // With fewer than ten pairs, a share is not nearly normal.
                    if share * pairs >= 10.0 && (1.0 - share) * pairs >= 10.0 {
                        deviations.add(found, share, (share * (1.0 - share) / pairs).sqrt());
                    }
                }
                table.push(vec![
                    panel.spread.name().into(),
                    panel.threshold.into(),
                    side.name().into(),
                    at.into(),
                    counted.accuracy().into(),
                    exact.accuracy().into(),
                    (counted.right_as_printed / counted.pairs).into(),
                    counted.recall().into(),
                    exact.recall().into(),
                ]);
            }
        }
        let name = format!("{}-{}", panel.spread.file_name(), panel.threshold);
        findings = findings.chart(&name, picture(&settings, panel));
    }
    let mut points = Table::new(
        "dividing-points",
        "The least m of T_U and the greatest of T_L with which 1000 pairs are expected to have no wrong one",
        &["pairs", "T", "threshold", "m", "recall there"],
    );
    for panel in &panels {
        for side in LookSide::ALL {
            let at = panel.dividing_point(side);
            points.push(vec![
                panel.spread.name().into(),
                panel.threshold.into(),
                side.name().into(),
                at.into(),
                panel.exact(side, at).recall().into(),
            ]);
        }
    }
    Ok(findings
        .table(points)
        .table(table)
        .checks([deviations.check("simulated shares are the exact ones")])
        .checks(sentences(&settings, &panels)?))
}

/// Checks the statements of section 6.2, in its order. A statement without its panels is an error, because it would
/// otherwise go unchecked.
fn sentences(settings: &Settings, panels: &[Panel]) -> Result<Vec<Check>> {
    const ALL: [SimilaritySpread; 3] =
        [SimilaritySpread::Uniform, SimilaritySpread::Gaussian, SimilaritySpread::Funds];
    let panel = |spread: SimilaritySpread, threshold: f64| {
        panels
            .iter()
            .find(|panel| panel.spread == spread && panel.threshold == threshold)
            .with_context(|| format!("no panel of {} pairs at T = {threshold}", spread.name()))
    };
    ensure!(!settings.thresholds.is_empty(), "no threshold");
    let of = |spread: SimilaritySpread| -> Result<Vec<&Panel>> {
        settings.thresholds.iter().map(|&threshold| panel(spread, threshold)).collect()
    };
    let sides = LookSide::ALL.len() * panels.len();
    let divided: usize =
        panels.iter().map(|panel| LookSide::ALL.iter().filter(|side| panel.divides(**side)).count()).sum();
    let mut checks = vec![Check::shape(
        "data sets, thresholds and sides with a dividing point beyond which a pair of 1000 lies",
        format!("{divided} of {sides}"),
        "all",
        divided == sides,
    )];
    for spread in ALL {
        let (panel, name) = (panel(spread, 0.8)?, spread.name());
        let wrong = THEIRS * panel.exact(LookSide::Upper, 90).wrong();
        checks.push(Check::shape(
            &format!("{name}, T = 0.8: of 1000 pairs, wrong ones above 90 matches"),
            significant(wrong),
            "none, below 0.5",
            wrong < 0.5,
        ));
        let before = panel.exact(LookSide::Upper, 85).accuracy();
        checks.push(
            Check::shape(
                &format!("{name}, T = 0.8: the accuracy of T_U up to 90 is low, at 85"),
                significant(before),
                format!("below {HIGH}"),
                before < HIGH,
            )
            .because("a pair with 86 of 100 matches is rarely below T: the accuracy rises before 90"),
        );
    }
    checks.extend(of_small_probabilities(settings, panels)?);
    for spread in [SimilaritySpread::Uniform, SimilaritySpread::Gaussian] {
        for panel in of(spread)? {
            for side in LookSide::ALL {
                let at = panel.dividing_point(side);
                let recall = panel.exact(side, at).recall();
                checks.push(
                    Check::shape(
                        &format!(
                            "{}, T = {}: the recall of {} where it is accurate",
                            spread.name(),
                            panel.threshold,
                            side.name()
                        ),
                        format!("{} at {at}", significant(recall)),
                        format!("below {HIGH}, which is not high"),
                        recall < HIGH,
                    )
                    .because("few pairs lie between the threshold of the look and T"),
                );
            }
        }
    }
    let best = of(SimilaritySpread::Funds)?
        .iter()
        .map(|panel| panel.exact(LookSide::Lower, panel.dividing_point(LookSide::Lower)).recall())
        .fold(0.0, f64::max);
    checks.push(Check::shape(
        "stand-in for FUNDS: a T_L that is accurate has a high recall",
        significant(best),
        format!("{HIGH} at least"),
        best >= HIGH,
    ));
    for &threshold in &settings.thresholds {
        for side in LookSide::ALL {
            let points = dividing_points(panels, threshold, side);
            checks.push(
                Check::shape(
                    &format!("T = {threshold}: dividing points of {} in the data sets", side.name()),
                    listed(&points),
                    "the same",
                    points.windows(2).all(|pair| pair[0] == pair[1]),
                )
                .because("they depend on how many pairs lie near T"),
            );
        }
    }
    checks.push(without_fault(panels));
    checks.extend(between_80_and_88(settings, panel(SimilaritySpread::Uniform, 0.8)?)?);
    Ok(checks)
}

/// Returns the dividing points of all data sets.
fn dividing_points(panels: &[Panel], threshold: f64, side: LookSide) -> Vec<usize> {
    let of = panels.iter().filter(|panel| panel.threshold == threshold);
    of.map(|panel| panel.dividing_point(side)).collect()
}

fn listed(points: &[usize]) -> String {
    points.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Checks section 6.2, 1): the dividing point "is also the dividing point between non-small probability and small
/// probability".
fn of_small_probabilities(settings: &Settings, panels: &[Panel]) -> Result<Vec<Check>> {
    let mut checks = vec![];
    for &threshold in &settings.thresholds {
        for side in LookSide::ALL {
            let small = of_small_probability(settings, threshold, side)?;
            let points = dividing_points(panels, threshold, side);
            checks.push(
                Check::shape(
                    &format!("T = {threshold}: dividing points of {}, of small probability", side.name()),
                    listed(&points),
                    format!("{small}, by a probability of {SMALL}"),
                    points.iter().all(|&point| point == small),
                )
                .because("a dividing point also depends on how many pairs lie near T"),
            );
        }
    }
    Ok(checks)
}

/// Returns the threshold beyond which a pair at T lies with a probability of at most [`SMALL`].
fn of_small_probability(settings: &Settings, threshold: f64, side: LookSide) -> Result<usize> {
    let filter = per_look(threshold, settings.registers, &[settings.look], SMALL)?;
    let look = filter.looks().first().context("no look")?;
    // A look rejects at `lower` and accepts at `upper`; the thresholds of the figure are exclusive.
    match side {
        LookSide::Upper => look.upper.map(|upper| upper - 1),
        LookSide::Lower => look.lower.map(|lower| lower + 1),
    }
    .with_context(|| format!("no {} at T = {threshold}", side.name()))
}

/// Checks section 6.3: "for different data distributions, there is no threshold to ensure 100% accuracy and recall".
fn without_fault(panels: &[Panel]) -> Check {
    let mut both = 0;
    for panel in panels {
        for side in LookSide::ALL {
            let is_free = |at: usize| {
                let taken = panel.exact(side, at);
                THEIRS * taken.wrong() < 0.5 && THEIRS * (taken.all - taken.right) < 0.5
            };
            both += usize::from((0..panel.exact.len()).any(is_free));
        }
    }
    Check::shape(
        "data sets, thresholds and sides with a dividing point that neither errs nor misses, of 1000 pairs",
        format!("{both} of {}", LookSide::ALL.len() * panels.len()),
        "0",
        both == 0,
    )
}

/// Checks the accuracy of the thresholds from 80 to 87, by the corrected formula and by the printed one.
fn between_80_and_88(settings: &Settings, panel: &Panel) -> Result<[Check; 2]> {
    let needed = panel.threshold * settings.look as f64;
    let middle = || settings.matches.iter().filter(|&&at| at as f64 >= needed && at < 88);
    let all = middle().count();
    ensure!(all > 0, "no threshold from 80 to 87 matches");
    let below_one = |accuracy: &dyn Fn(usize) -> f64| middle().filter(|&&at| accuracy(at) < 1.0).count();
    let low = below_one(&|at| panel.counted(LookSide::Upper, at).accuracy());
    let printed = below_one(&|at| {
        let counted = panel.counted(LookSide::Upper, at);
        counted.right_as_printed / counted.pairs
    });
    Ok([
        Check::shape(
            "thresholds from 80 to 87 with an accuracy below 1",
            format!("{low} of {all}"),
            "all",
            low == all,
        ),
        Check::stated(
            "by the printed formula, thresholds from 80 to 87 with an accuracy below 1",
            format!("{printed} of {all}"),
            "all",
            printed == all,
        )
        .erratum("E-52"),
    ])
}

fn picture(settings: &Settings, panel: &Panel) -> Chart {
    let curve = |label: &str, side: LookSide, of: fn(Taken) -> (f64, f64)| -> Series {
        let point = |&at: &usize| {
            let (right, all) = of(panel.counted(side, at));
            share_point(at as f64, right, all)
        };
        through(label, settings.matches.iter().map(point).collect())
    };
    let picture = chart(
        &format!(
            "{}: deciding after {} of {} registers, T = {}",
            panel.spread.name(),
            settings.look,
            settings.registers,
            panel.threshold
        ),
        "As the threshold rises, T_U becomes more accurate and finds less; T_L finds more and becomes less accurate.",
        Axis::linear("threshold, in matches of the first 100"),
        Axis::linear("share").between(0.0, 1.0),
        vec![
            curve("accuracy of T_U", LookSide::Upper, |taken| (taken.right, taken.pairs)),
            curve("recall of T_U", LookSide::Upper, |taken| (taken.right, taken.all)),
            curve("accuracy of T_L", LookSide::Lower, |taken| (taken.right, taken.pairs)),
            curve("recall of T_L", LookSide::Lower, |taken| (taken.right, taken.all)),
        ],
    );
    noted(picture, TWO_ERRORS)
}

/// Reports whether `matches`, as a share of all registers, is above the threshold.
fn is_similar(matches: usize, settings: &Settings, threshold: f64) -> bool {
    matches as f64 / settings.registers as f64 > threshold
}

/// Returns the shares of pairs that are not similar and that are similar, by matches at the look. They are sums of
/// binomial distributions over the similarities.
fn exact(settings: &Settings, spread: SimilaritySpread, threshold: f64) -> Vec<[f64; 2]> {
    let behind = settings.registers - settings.look;
    let needed =
        (0..=settings.registers).find(|&matches| is_similar(matches, settings, threshold)).unwrap_or(0);
    let mut shares = vec![[0.0; 2]; settings.look + 1];
    for (similarity, weight) in spread.nodes() {
        let similarity = similarity.min(1.0 - 1e-15);
        let tails = Binomial::new(behind, similarity).tails();
        let at_look = Binomial::new(settings.look, similarity);
        for (matches, p) in at_look.probabilities().iter().enumerate() {
            let similar = tails.get(needed.saturating_sub(matches)).copied().unwrap_or(0.0);
            shares[matches][0] += weight * p * (1.0 - similar);
            shares[matches][1] += weight * p * similar;
        }
    }
    shares
}

/// Returns the counts of simulated pairs, in the order of `exact`.
fn simulated(
    context: &Context<'_>,
    settings: &Settings,
    spread: SimilaritySpread,
    threshold: f64,
) -> Vec<[f64; 2]> {
    let mut counts = vec![[0.0; 2]; settings.look + 1];
    let count = |registers: &[bool]| registers.iter().filter(|&&agrees| agrees).count();
    for pair in agreements(spread, settings.pairs, settings.registers, context.seed()) {
        let similar = is_similar(count(&pair), settings, threshold);
        counts[count(&pair[..settings.look])][usize::from(similar)] += 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let spreads = vec![SimilaritySpread::Uniform, SimilaritySpread::Gaussian, SimilaritySpread::Funds];
        Settings {
            pairs: 20,
            registers: 200,
            look: 100,
            thresholds: vec![0.8, 0.3],
            spreads,
            matches: vec![30, 84],
        }
    }

    fn panels(settings: &Settings) -> Vec<Panel> {
        let panel = |spread, threshold| {
            let exact = exact(settings, spread, threshold);
            Panel { spread, threshold, counted: exact.clone(), exact }
        };
        let of = |&spread| settings.thresholds.iter().map(move |&threshold| panel(spread, threshold));
        settings.spreads.iter().flat_map(of).collect()
    }

    /// A statement whose data set or threshold is missing is an error, and not one check less.
    #[test]
    fn a_missing_panel_is_an_error() {
        let all = settings();
        assert_eq!(sentences(&all, &panels(&all)).unwrap().len(), 1 + 6 + 4 + 8 + 1 + 4 + 1 + 2);
        for missing in 0..6 {
            let mut panels = panels(&all);
            let left_out = panels.remove(missing);
            let error = sentences(&all, &panels).unwrap_err().to_string();
            let name = left_out.spread.name();
            assert_eq!(error, format!("no panel of {name} pairs at T = {}", left_out.threshold));
        }
        assert!(sentences(&Settings { matches: vec![30], ..settings() }, &panels(&all)).is_err());
        assert!(sentences(&Settings { thresholds: vec![], ..settings() }, &panels(&all)).is_err());
    }
}
