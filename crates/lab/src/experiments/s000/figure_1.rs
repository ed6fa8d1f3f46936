//! Figure 1: the worked example.

use anyhow::{Context as _, Result};
use minwise::hash::cantor;
use serde::Deserialize;

use crate::check::{Check, Printed};
use crate::experiment::{Context, ExperimentFindings};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    attributes: usize,
    first: Vec<(u64, u64)>,
    second: Vec<(u64, u64)>,
    permutations: Vec<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    minhash: Printed,
    sectional: Printed,
    jaccard: Printed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    jaccard: Printed,
    aligned: Printed,
    cantor: [Vec<u64>; 2],
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let expected: Expected = context.expected()?;
    // A value of the sketch is the least rank, with the section of its shingle.
    let sketch = |document: &[(u64, u64)]| -> Result<Vec<(u64, u64)>> {
        settings
            .permutations
            .iter()
            .map(|order| {
                let rank = |x: u64| order.iter().position(|&other| other == x).map(|at| at as u64 + 1);
                let ranked = document.iter().filter_map(|&(x, section)| Some((rank(x)?, section)));
                ranked.min().context("a document has attributes")
            })
            .collect()
    };
    let sketches = [sketch(&settings.first)?, sketch(&settings.second)?];
    let registers = || sketches[0].iter().zip(&sketches[1]);
    let share = |agreeing: usize| agreeing as f64 / settings.permutations.len() as f64;
    let minhash = share(registers().filter(|(a, b)| a.0 == b.0).count());
    let sectional = share(registers().filter(|(a, b)| a == b).count());
    let common = settings.first.iter().filter(|(x, _)| settings.second.iter().any(|(y, _)| x == y)).count();
    let aligned = settings.first.iter().filter(|pair| settings.second.contains(pair)).count();
    let union = settings.first.len() + settings.second.len() - common;
    let jaccard = common as f64 / union as f64;
    let by_attributes = common as f64 / settings.attributes as f64;

    let mut table = Table::new("example", "The example", &["what", "value", "the source says"]);
    for (what, value, says) in [
        ("MinHash estimate", minhash, Some(published.minhash.value)),
        ("sectional estimate", sectional, Some(published.sectional.value)),
        ("shared over all attributes (Russell and Rao)", by_attributes, Some(published.jaccard.value)),
        ("Jaccard similarity", jaccard, Some(published.jaccard.value)),
        ("what the sectional sketch estimates", aligned as f64 / union as f64, None),
    ] {
        table.push(vec![what.into(), value.into(), says.into()]);
    }
    let mut checks = vec![
        Check::published("the MinHash estimate", minhash, &published.minhash),
        Check::published("the sectional estimate", sectional, &published.sectional),
        Check::published("the Jaccard similarity", jaccard, &published.jaccard).erratum("E-01"),
        Check::known("the Jaccard similarity", jaccard, &expected.jaccard),
        Check::known("what the sectional sketch estimates", aligned as f64 / union as f64, &expected.aligned),
    ];
    for (sketch, expected) in sketches.iter().zip(&expected.cantor) {
        let packed: Option<Vec<u128>> =
            sketch.iter().map(|&(rank, section)| cantor::pair(rank, section)).collect();
        checks.push(Check::exact(
            "the sketch as Cantor numbers",
            &format!("{:?}", packed.unwrap_or_default()),
            &format!("{expected:?}"),
        ));
    }
    Ok(ExperimentFindings::default().table(table).checks(checks))
}
