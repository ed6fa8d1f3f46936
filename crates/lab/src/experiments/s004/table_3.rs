//! Table 3: the documents that queries for copies return.

use anyhow::Result;
use minwise::candidate::Banding;
use serde::Deserialize;

use super::copies::{Collection, MEMBERS, candidates, reaches};
use super::{COPIES, sketch_all};
use crate::check::{Check, Printed, STANDARD_ERRORS, significant};
use crate::experiment::{Context, ExperimentFindings};
use crate::measure::TrialStatistics;
use crate::simulate::binomial::Binomial;
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    bands: usize,
    threshold: f64,
    queries: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    average: Printed,
    queries: usize,
    returned: Vec<String>,
    listed_as_missing: Vec<String>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<ExperimentFindings> {
    let settings: Settings = context.settings()?;
    let published: Published = context.published()?;
    let collection = Collection::read(&context.data(COPIES)?)?;
    let sketches = sketch_all(settings.registers, context.seed(), &collection.sets)?;
    let banding = Banding::new(settings.bands, settings.registers / settings.bands, settings.registers)?;
    let queries = collection.queries(settings.queries, context.seed());
    let found = candidates(collection.sets.len(), &queries, settings.bands, |band, document| {
        banding.key(band, sketches.row(document))
    });
    let least = (0..settings.registers).find(|&x| x as f64 / settings.registers as f64 >= settings.threshold);
    let mut counts = [0_usize; MEMBERS];
    let (mut returned, mut among, mut expected) = (vec![], 0, 0.0);
    for (&query, found) in queries.iter().zip(&found) {
        let of_family: Vec<usize> =
            found.iter().copied().filter(|&other| collection.is_family(query, other)).collect();
        let kept =
            of_family.iter().filter(|&&other| reaches(&sketches, query, other, settings.threshold)).count();
        counts[kept.min(MEMBERS - 1)] += 1;
        returned.push(kept as f64);
        among += of_family.len();
        for other in collection.relatives(query) {
            let law = Binomial::new(
                settings.registers,
                collection.similarity(query, other).min(1.0 - f64::EPSILON),
            );
            expected += law.at_least(least.unwrap_or(settings.registers));
        }
    }
    let n = queries.len() as f64;
    let spread = TrialStatistics::of(&returned);
    let mut table = Table::new(
        "returned",
        "Queries by the number of copies they return",
        &["copies", "queries", "the source's queries"],
    );
    for (copies, &queries) in counts.iter().enumerate() {
        let theirs = match copies {
            4 => 1,
            7 => 9,
            _ => 0_usize,
        };
        table.push(vec![copies.into(), queries.into(), theirs.into()]);
    }
    let near = (published.average.value - spread.mean).abs()
        <= STANDARD_ERRORS * (spread.variance / published.queries as f64).sqrt();
    let missed = 1.0 - among as f64 / (n * (MEMBERS - 1) as f64);
    let both = published.listed_as_missing.iter().filter(|name| published.returned.contains(name)).count();
    Ok(ExperimentFindings::default().table(table).checks([
        Check::stated("files listed as missing that were returned", both, 0, both == 0).erratum("E-45"),
        Check::simulated(
            "copies returned on average",
            spread.mean,
            expected / n,
            (spread.variance / n).sqrt(),
        ),
        Check::shape(
            "the source's average is one of ten such queries",
            &published.average,
            significant(spread.mean),
            near,
        ),
        Check::shape(
            "the share of copies that no band finds",
            significant(missed),
            "below one in a thousand",
            missed < 1e-3,
        ),
    ]))
}
