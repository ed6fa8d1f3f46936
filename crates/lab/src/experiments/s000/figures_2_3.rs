//! Figures 2 and 3: the variance of sectional `MinHash`, and its ratio to that of `MinHash`.

use anyhow::Result;
use minwise::estimate::sectional::{independent_crossing, independent_mean, variance};
use serde::Deserialize;

use super::sectional;
use crate::check::{Check, Deviations, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, noted, root, variance_point};
use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::plot::{Axis, Series};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    trials: u64,
    sections: Vec<usize>,
    similarities: Vec<f64>,
    union: usize,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let k = settings.registers as f64;
    let points: Vec<(usize, f64)> =
        settings.sections.iter().flat_map(|&s| settings.similarities.iter().map(move |&x| (s, x))).collect();
    let measured = context.map(&points, |&(sections, x)| -> Result<TrialStatistics> {
        let pair = ShinglePair::of(settings.union, (x * settings.union as f64).round() as usize);
        Ok(spread(sectional(sections, settings.registers)?, &pair, settings.trials)?)
    });
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;

    let mut table = Table::new(
        "variance",
        "Mean, and variance times registers",
        &["s", "J", "mean", "J/s", "variance", "standard error", "qJ(1−qJ), q = 1", "as claimed"],
    );
    let [mut means, mut variances, mut claimed_means, mut claimed_variances] = [Deviations::default(); 4];
    for (&(s, x), spread) in points.iter().zip(&measured) {
        let claim = independent_mean(x, s);
        let of_mean = (spread.variance / settings.trials as f64).sqrt();
        means.add(spread.mean, x, of_mean);
        variances.add(spread.variance, variance(x, settings.registers), spread.variance_error);
        if s > 1 {
            claimed_means.add(spread.mean, claim, of_mean);
            claimed_variances.add(spread.variance, claimed(x, s) / k, spread.variance_error);
        }
        table.push(vec![
            s.into(),
            x.into(),
            spread.mean.into(),
            claim.into(),
            (k * spread.variance).into(),
            (k * spread.variance_error).into(),
            (k * variance(x, settings.registers)).into(),
            claimed(x, s).into(),
        ]);
    }
    let claim = |claim: &str, deviations: Deviations, erratum: &str| {
        let check = deviations.check("");
        Check::stated(claim, check.found, format!("at most {STANDARD_ERRORS}"), check.holds).erratum(erratum)
    };
    let mut checks = vec![
        means.check("the mean is J where all that is shared stands in the same places"),
        variances.check("the variance is J(1 − J)/k there"),
        claim("the mean is J/s", claimed_means, "E-02"),
        claim("the variance is (J/s)(1 − J/s)/k", claimed_variances, "E-03"),
    ];
    checks.extend(trends(&settings, &points, &measured));
    // The computation of the crossing is right, although the formula is wrong.
    for &s in settings.sections.iter().filter(|&&s| s > 1) {
        let crossing = root(0.01, 0.99, |x| claimed(x, s) - x * (1.0 - x));
        let expected = independent_crossing(s);
        let agrees = (crossing - expected).abs() <= 4.0 * f64::EPSILON;
        checks.push(Check::law(
            &format!("curves of figure 3 cross 1 at s/(s+1), s = {s}"),
            crossing,
            expected,
            agrees,
        ));
    }
    let mut series = vec![];
    for &s in &settings.sections {
        let marks = points.iter().zip(&measured).filter(|((of, _), _)| *of == s);
        let marks = marks.map(|(&(_, x), spread)| variance_point(x, spread, k)).collect();
        let label = if s == 1 { "MinHash, J(1 − J)".to_owned() } else { format!("s = {s}, as claimed") };
        series.push(Series::of(&label, (0.0, 1.0), 100, |x| claimed(x, s)).with_points(marks));
    }
    let ratios = settings.sections.iter().filter(|&&s| s > 1).map(|&s| {
        Series::of(&format!("s = {s}, as claimed"), (0.0, 0.99), 99, |x| claimed(x, s) / (x * (1.0 - x)))
    });
    let figure_3 = chart(
        "Figure 3: variance over that of MinHash, as claimed",
        "The claimed ratio is below 1 up to s/(s + 1). Measured, it is 1 throughout.",
        Axis::linear("similarity J").between(0.0, 1.0),
        Axis::linear("ratio of variances").between(0.0, 4.0),
        ratios.chain([Series::of("as it is", (0.0, 1.0), 1, |_| 1.0)]).collect(),
    );
    let figure_2 = chart(
        "Figure 2: variance of sectional MinHash",
        "Points of all numbers of sections lie on the curve of MinHash and on none of the claimed ones.",
        Axis::linear("similarity J").between(0.0, 1.0),
        Axis::linear("variance × registers"),
        series,
    );
    Ok(ExperimentFindings::default()
        .table(table)
        .chart("figure-2", noted(figure_2, TWO_ERRORS))
        .chart("figure-3", figure_3)
        .checks(checks))
}

/// Checks what the source reads from its figures: the variance decreases with the sections, and its ratio to that of
/// `MinHash` grows with the similarity.
fn trends(settings: &Settings, points: &[(usize, f64)], measured: &[TrialStatistics]) -> [Check; 3] {
    let of = |s: usize| points.iter().zip(measured).filter(move |((of, _), _)| *of == s);
    let fewest = settings.sections.iter().copied().min().unwrap_or(1);
    let most = settings.sections.iter().copied().max().unwrap_or(1);
    let is_below = |(few, many): &(&TrialStatistics, &TrialStatistics)| {
        few.variance - many.variance > STANDARD_ERRORS * few.variance_error.hypot(many.variance_error)
    };
    let pairs = of(fewest).map(|(_, spread)| spread).zip(of(most).map(|(_, spread)| spread));
    let below = pairs.filter(is_below).count();
    let all = settings.similarities.len();
    // The ratio of variances is 1 at every similarity. If the ratio grew, it would be clearly larger at the last
    // similarity than at the first.
    let ratio = |at: usize| {
        let (few, many) = (of(fewest).nth(at)?.1, of(most).nth(at)?.1);
        let ratio = many.variance / few.variance;
        let relative = (many.variance_error / many.variance).hypot(few.variance_error / few.variance);
        Some((ratio, ratio * relative))
    };
    let (first, last) = (ratio(0).unwrap_or((f64::NAN, 0.0)), ratio(all - 1).unwrap_or((f64::NAN, 0.0)));
    let grows = last.0 - first.0 > STANDARD_ERRORS * first.1.hypot(last.1);
    let claimed_ratio = |s: usize, x: f64| claimed(x, s) / (x * (1.0 - x));
    let claimed_grows = settings.sections.iter().filter(|&&s| s > 1).all(|&s| {
        settings.similarities.windows(2).all(|pair| claimed_ratio(s, pair[0]) < claimed_ratio(s, pair[1]))
    });
    [
        Check::stated(
            &format!(
                "similarities at which the variance of s = {most} is clearly below that of s = {fewest}"
            ),
            format!("{below} of {all}"),
            "some",
            below > 0,
        )
        .erratum("E-03"),
        Check::stated(
            &format!("the ratio of the variances of s = {most} and s = {fewest} grows with J"),
            format!("{} at the least J, {} at the greatest", significant(first.0), significant(last.0)),
            "growth",
            grows,
        )
        .erratum("E-03"),
        Check::law("by the printed formula, it does", claimed_grows, true, claimed_grows),
    ]
}

/// Returns the variance (17) as printed, which lacks the factor 1/k.
fn claimed(similarity: f64, sections: usize) -> f64 {
    let mean = independent_mean(similarity, sections);
    mean * (1.0 - mean)
}
