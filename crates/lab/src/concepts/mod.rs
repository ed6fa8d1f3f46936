//! What `docs/concepts` shows: a picture a sketch, and the table of all of them.
//!
//! `cargo x docs` writes them. Lines are formulas, the ones that the library itself reports errors by; points are sketches
//! that were made and compared, so a picture in which they part shows a formula that does not hold.

mod charts;
mod table;

use std::thread::available_parallelism;

use minwise::Error;
use minwise_engine::parallel;

use crate::plot::Chart;
use charts::{banding, bits, registers, sections};

/// A file of `docs/concepts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path there.
    pub path: String,
    /// What it holds.
    pub content: String,
}

/// All files, in the order of their paths.
pub fn files() -> Result<Vec<File>, Error> {
    let mut files: Vec<File> = draw()?
        .into_iter()
        .map(|(name, chart)| File { path: format!("plots/{name}.svg"), content: chart.svg() })
        .collect();
    files.push(File { path: "sketches.md".to_owned(), content: table::page() });
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

type Drawing = fn() -> Result<Chart, Error>;

/// Every picture with its name.
fn draw() -> Result<Vec<(&'static str, Chart)>, Error> {
    let drawings: [(&str, Drawing); 14] = [
        ("minhash", registers::minhash),
        ("min-max", registers::min_max),
        ("one-permutation", registers::one_permutation),
        ("super-minhash", registers::super_minhash),
        ("fast-similarity", registers::fast_similarity),
        ("bottom-k", registers::bottom_k),
        ("b-bit", bits::b_bit),
        ("fractional-bit", bits::fractional_bit),
        ("xor", bits::xor),
        ("connected-bit", bits::connected_bit),
        ("odd", bits::odd),
        ("sectional", sections::sectional),
        ("sectional-insertion", sections::insertion),
        ("banding", banding::banding),
    ];
    let threads = available_parallelism().map_or(1, usize::from);
    let mut charts = Vec::with_capacity(drawings.len());
    let draw = |(): &mut (), at: usize| {
        let (name, drawing) = drawings[at];
        drawing().map(|chart| (name, chart))
    };
    let receive = |chart| {
        charts.push(chart);
        Ok(())
    };
    parallel::in_order(drawings.len(), threads, || (), draw, receive)?;
    Ok(charts)
}
