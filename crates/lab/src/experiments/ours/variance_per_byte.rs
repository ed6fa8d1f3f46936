//! Measures the variance of every sketch in relation to its bytes.

use anyhow::Result;
use minwise::sketch::Method;
use serde::Deserialize;

use crate::check::Deviations;
use crate::experiment::{Context, ExperimentFindings};
use crate::measure::{ShinglePair, TrialStatistics, spread};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    size: usize,
    union: usize,
    trials: u64,
    similarities: Vec<f64>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let points: Vec<(Method, f64)> = Method::all(settings.size)
        .into_iter()
        .flat_map(|method| settings.similarities.iter().map(move |&similarity| (method, similarity)))
        .collect();
    let measured = context.map(&points, |&(method, similarity)| -> Result<TrialStatistics> {
        let pair = ShinglePair::of(settings.union, (similarity * settings.union as f64).round() as usize);
        Ok(spread(method, &pair, settings.trials)?)
    });
    let measured = measured.into_iter().collect::<Result<Vec<_>>>()?;
    let mut deviations = Deviations::default();
    let mut rows = vec![];
    for (&(method, similarity), spread) in points.iter().zip(&measured) {
        let formula = method.variance(similarity);
        // Drawing without replacement lowers the variance by at most the share k/u.
        let without_replacement = formula * method.registers() as f64 / settings.union as f64;
        deviations.add(spread.variance, formula, spread.variance_error + without_replacement);
        rows.push((method, similarity, method.size_bytes() as f64, formula, spread));
    }
    rows.sort_by(|a, b| a.1.total_cmp(&b.1).then((a.2 * a.3).total_cmp(&(b.2 * b.3))));
    let mut table = Table::new(
        "sketches",
        "Variance times bytes, the least first",
        &["J", "sketch", "bytes", "formula", "measured", "standard error", "bands"],
    );
    for (method, similarity, bytes, formula, spread) in rows {
        table.push(vec![
            similarity.into(),
            method.to_string().into(),
            (bytes as u64).into(),
            (bytes * formula).into(),
            (bytes * spread.variance).into(),
            (bytes * spread.variance_error).into(),
            if method.bandable().is_some() { "yes" } else { "no" }.into(),
        ]);
    }
    Ok(ExperimentFindings::default()
        .table(table)
        .checks([deviations.check("measured variances are those of the formulas for long documents")]))
}
