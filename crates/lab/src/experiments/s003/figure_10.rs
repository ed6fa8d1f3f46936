//! Figure 10: comparisons that the filter saves.

use anyhow::Result;
use minwise::filter::{Filter, FilterDecision, Use};
use serde::Deserialize;

use super::{SimilaritySpread, agreements, of_data, per_look};
use crate::check::{Check, Deviations, Printed, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::measure;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    pairs: u64,
    registers: usize,
    looks: Vec<usize>,
    error: f64,
    thresholds: Vec<f64>,
    spreads: Vec<SimilaritySpread>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    saved: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    comparisons: Vec<Printed>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let expected: Expected = context.expected()?;
    let similarities = of_data(context)?;
    let mut table = Table::new(
        "comparisons",
        "Registers compared on average, of 1000",
        &["pairs", "T", "compared", "by the library", "exact", "saved"],
    );
    let mut deviations = Deviations::default();
    let mut checks = vec![];
    let mut cheapest = vec![];
    for (at, &threshold) in settings.thresholds.iter().enumerate() {
        let filter = per_look(threshold, settings.registers, &settings.looks, settings.error)?;
        let mut means = vec![];
        for &spread in &settings.spreads {
            let pairs = agreements(spread, settings.pairs, settings.registers, context.seed());
            let compared = measure::TrialStatistics::of(
                &pairs.iter().map(|pair| compared(&filter, pair) as f64).collect::<Vec<_>>(),
            );
            let library: f64 =
                pairs.iter().map(|pair| by_library(&filter, pair) as f64).sum::<f64>() / pairs.len() as f64;
            let exact = (spread == SimilaritySpread::Uniform)
                .then(|| filter.outcome_of_even_spread(Use::Decide).comparisons);
            if let Some(exact) = exact {
                deviations.add(compared.mean, exact, (compared.variance / settings.pairs as f64).sqrt());
                checks.push(Check::known(
                    &format!("comparisons of evenly spread pairs, T = {threshold}"),
                    exact,
                    &expected.comparisons[at],
                ));
            }
            checks.push(Check::law(
                &format!("the library compares no more, {} pairs, T = {threshold}", spread.name()),
                significant(library),
                format!("at most {}", significant(compared.mean)),
                library <= compared.mean,
            ));
            means.push(compared.mean);
            let saved = 1.0 - compared.mean / settings.registers as f64;
            table.push(vec![
                spread.name().into(),
                threshold.into(),
                compared.mean.into(),
                library.into(),
                exact.into(),
                saved.into(),
            ]);
        }
        if let Some(similarities) = &similarities {
            let mean = of_similarities(&filter, similarities);
            means.push(mean);
            let saved = 1.0 - mean / settings.registers as f64;
            table.push(vec![
                "space".into(),
                threshold.into(),
                None.into(),
                None.into(),
                mean.into(),
                saved.into(),
            ]);
        }
        let of_funds = settings.spreads.iter().position(|&spread| spread == SimilaritySpread::Funds);
        let funds = of_funds.map_or(f64::NAN, |at| means[at]);
        if means[..settings.spreads.len()].iter().all(|&mean| funds <= mean) {
            cheapest.push(threshold.to_string());
        }
        if at == 0 {
            let saved = 1.0 - funds / settings.registers as f64;
            checks.push(Check::shape(
                "saved on the stand-in for FUNDS at T = 0.8",
                significant(saved),
                format!("{} at least", published.saved),
                saved >= published.saved.value,
            ));
        }
    }
    checks.push(deviations.check("simulated averages are the exact ones"));
    checks.push(Check::shape(
        "thresholds at which the stand-in for FUNDS is cheapest",
        if cheapest.is_empty() { "none".to_owned() } else { cheapest.join(", ") },
        "all",
        cheapest.len() == settings.thresholds.len(),
    ));
    Ok(ExperimentFindings::default().table(table).checks(checks))
}

/// Returns the number of registers that are compared until a look decides.
fn compared(filter: &Filter, pair: &[bool]) -> usize {
    let decides = |look: &&minwise::filter::Look| {
        let matches = pair[..look.registers].iter().filter(|&&agrees| agrees).count();
        look.lower.is_some_and(|lower| matches <= lower) || look.upper.is_some_and(|upper| matches >= upper)
    };
    filter.looks().iter().find(decides).map_or(pair.len(), |look| look.registers)
}

/// Returns the number of registers that the library compares. The library also stops if the remaining registers cannot
/// change the result.
fn by_library(filter: &Filter, pair: &[bool]) -> usize {
    match filter.decide_by(|range| pair[range].iter().filter(|&&agrees| agrees).count()) {
        FilterDecision::Reject { compared } | FilterDecision::Accept { compared, .. } => compared,
    }
}

/// Returns the exact average over pairs of known similarities, rounded to hundredths.
fn of_similarities(filter: &Filter, similarities: &[f64]) -> f64 {
    let mut counts = [0_u64; 101];
    for similarity in similarities {
        counts[(similarity * 100.0).round() as usize] += 1;
    }
    let sum: f64 = (0_u32..)
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(at, count)| count as f64 * filter.expected_comparisons(f64::from(at) / 100.0, Use::Decide))
        .sum();
    sum / similarities.len() as f64
}
