//! Figure 7: the similarities of the three data sets, and the stand-in for FUNDS.

use anyhow::Result;
use minwise::filter::Look;
use serde::Deserialize;

use super::{SimilaritySpread, of_data, per_look};
use crate::check::{Check, Deviations, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::experiments::{TWO_ERRORS, chart, line, noted, share_point};
use crate::plot::{Axis, Series};
use crate::simulate::Random;
use crate::simulate::binomial::Binomial;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    spreads: Vec<SimilaritySpread>,
    look: usize,
    registers: usize,
    error: f64,
}

/// Number of parts of equal width in which pairs are counted.
const BINS: usize = 10;

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let space = of_data(context)?;
    let counts = context.map(&settings.spreads, |&spread| {
        let draw = |pair| spread.draw(&mut Random::new(context.seed(), &[spread as u64, pair]));
        histogram((0..settings.pairs).map(draw))
    });
    let mut columns = vec!["similarity from".to_owned(), "to".to_owned()];
    for spread in &settings.spreads {
        columns.extend([spread.name().to_owned(), format!("{}, exact", spread.name())]);
    }
    columns.push("all pairs of `space`".to_owned());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("similarities", "Share of pairs by similarity", &columns);
    let exact: Vec<[f64; BINS]> = settings.spreads.iter().map(|spread| shares(*spread)).collect();
    let of_space = space.as_ref().map(|similarities| histogram(similarities.iter().copied()));
    let n = settings.pairs as f64;
    let mut deviations = Deviations::default();
    for bin in 0..BINS {
        let mut row = vec![(bin as f64 / BINS as f64).into(), ((bin + 1) as f64 / BINS as f64).into()];
        for (counts, exact) in counts.iter().zip(&exact) {
            let share = counts[bin] as f64 / n;
            // A step of the exact distribution may cross the bound of a part.
            let error = (exact[bin] * (1.0 - exact[bin]) / n).sqrt() + 1e-4;
            deviations.add(share, exact[bin], error);
            row.extend([share.into(), exact[bin].into()]);
        }
        let share = of_space.map(|counts| counts[bin] as f64 / counts.iter().sum::<u64>() as f64);
        row.push(share.into());
        table.push(row);
    }
    let middle = |bin: usize| (bin as f64 + 0.5) / BINS as f64;
    let mut series: Vec<Series> = settings
        .spreads
        .iter()
        .zip(counts.iter().zip(&exact))
        .map(|(spread, (counts, exact))| {
            line(spread.name(), (0..BINS).map(|bin| (middle(bin), exact[bin])).collect())
                .with_points((0..BINS).map(|bin| share_point(middle(bin), counts[bin] as f64, n)).collect())
        })
        .collect();
    if let Some(counts) = of_space {
        let all = counts.iter().sum::<u64>() as f64;
        series.push(line("space", (0..BINS).map(|bin| (middle(bin), counts[bin] as f64 / all)).collect()));
    }
    let picture = chart(
        "Similarities of pairs, in tenths",
        "Evenly spread pairs, pairs around one half, and the stand-in for FUNDS, which falls from the left.",
        Axis::linear("similarity").between(0.0, 1.0),
        Axis::linear("share of pairs in a tenth").between(0.0, 1.0),
        series,
    );
    let rate = |threshold: f64| -> Result<f64> {
        let filter = per_look(threshold, settings.registers, &[settings.look], settings.error)?;
        Ok(filter.looks().first().map_or(f64::NAN, rejected))
    };
    let (high, low) = (rate(0.8)?, rate(0.3)?);
    let below: f64 =
        SimilaritySpread::Funds.nodes().iter().filter(|node| node.0 < 0.3).map(|node| node.1).sum();
    Ok(ExperimentFindings::default()
        .table(described(&settings, high, low, below))
        .table(table)
        .chart("similarities", noted(picture, TWO_ERRORS))
        .checks([
            deviations.check("drawn similarities have the law that is stated"),
            Check::stand_in(
                "the stand-in for FUNDS is rejected at T = 0.8, k = 100",
                significant(high),
                "more than 0.9",
                high > 0.9,
            ),
            Check::stand_in(
                "the stand-in for FUNDS is rejected at T = 0.3, k = 100",
                significant(low),
                "about 0.5, from 0.45 to 0.55",
                (0.45..=0.55).contains(&low),
            ),
            Check::stand_in(
                "pairs of the stand-in for FUNDS below 0.3",
                significant(below),
                "most of them",
                below > 0.5,
            ),
        ]))
}

/// Returns the source's description of its data sets, beside the values of the stand-ins.
fn described(settings: &Settings, high: f64, low: f64, below: f64) -> Table {
    let mut table = Table::new(
        "data",
        "The data sets of the source, and what stands in for them",
        &["", "the source says", "here"],
    );
    let pairs = format!("{}, drawn from the law of their similarities", settings.pairs);
    let rows: [[String; 3]; 8] = [
        [
            "FUNDS: documents".into(),
            "about 100 000 applications for funds".into(),
            "none: pairs are drawn".into(),
        ],
        ["pairs of each data set".into(), "1000".into(), pairs],
        [
            "length of documents".into(),
            "not said".into(),
            "none: a pair is a similarity R, and each register agrees with this probability".into(),
        ],
        [
            "UNIFORM".into(),
            "a uniform distribution, synthesised from FUNDS".into(),
            "R even from 0 to 1".into(),
        ],
        [
            "GAUSSIAN".into(),
            "a Gaussian distribution, synthesised from FUNDS; no parameters".into(),
            "mean 0.5, standard deviation 0.15, cut at 0 and 1".into(),
        ],
        [
            "FUNDS: similarities".into(),
            "mostly low".into(),
            format!("P(R ≤ x) = x/(0.13 + 0.87x): {} below 0.3", significant(below)),
        ],
        [
            "FUNDS: rejected at T = 0.8, k = 100".into(),
            "more than 90 %".into(),
            format!("{} %", significant(100.0 * high)),
        ],
        [
            "FUNDS: rejected at T = 0.3, k = 100".into(),
            "about 50 %".into(),
            format!("{} %", significant(100.0 * low)),
        ],
    ];
    for row in rows {
        table.push(row.map(Into::into).to_vec());
    }
    table
}

fn histogram(similarities: impl Iterator<Item = f64>) -> [u64; BINS] {
    let mut counts = [0; BINS];
    for similarity in similarities {
        counts[((similarity * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    counts
}

fn shares(spread: SimilaritySpread) -> [f64; BINS] {
    let mut shares = [0.0; BINS];
    for (similarity, weight) in spread.nodes() {
        shares[((similarity * BINS as f64) as usize).min(BINS - 1)] += weight;
    }
    shares
}

/// Returns the share of the stand-in for FUNDS that a look rejects.
fn rejected(look: &Look) -> f64 {
    let of = |&(similarity, weight): &(f64, f64)| {
        let law = Binomial::new(look.registers, similarity);
        weight * look.lower.map_or(0.0, |lower| law.at_most(lower))
    };
    SimilaritySpread::Funds.nodes().iter().map(of).sum()
}
