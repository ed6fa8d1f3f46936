//! Figure 5: the time to sketch a document.

use anyhow::Result;
use serde::Deserialize;

use super::sectional;
use crate::experiment::{Context, Findings};
use crate::experiments::best_seconds;
use crate::measure::{Pair, sketch};
use crate::table::Table;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    registers: usize,
    shingles: usize,
    repeats: u32,
    sections: Vec<usize>,
}

pub(crate) fn run(context: &Context<'_>) -> Result<Findings> {
    let settings: Settings = context.settings()?;
    let document = Pair::of(settings.shingles, settings.shingles).a;
    let mut table =
        Table::new("time", "Time over that of MinHash, in this run", &["s", "time", "hash values a shingle"]);
    let mut of_minhash = None;
    for &s in &settings.sections {
        let method = sectional(s, settings.registers)?;
        let sketcher = method.build(context.seed())?;
        let seconds = best_seconds(settings.repeats, || sketch(&*sketcher, &document));
        let ratio = seconds / *of_minhash.get_or_insert(seconds);
        table.push(vec![s.into(), ratio.into(), method.hashes_per_shingle().into()]);
    }
    Ok(Findings::default().table(table))
}
