//! Makes the generated files of `docs/concepts`: one chart per sketch, and a table of all sketches.
//!
//! `cargo x docs` writes these files. Lines show the formulas by which the library reports errors; points show sketches
//! that were made and compared. If points and line disagree in a chart, the formula is wrong.

mod charts;
mod table;

use std::thread::available_parallelism;

use minwise::Error;
use minwise_engine::parallel;

use crate::plot::Chart;
use charts::{banding, bits, registers, sections};

/// Generated file of `docs/concepts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path of the file in `docs/concepts`.
    pub path: String,
    /// Content of the file.
    pub content: String,
}

/// Returns all files, in the order of their paths.
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

/// Draws every chart, with its name.
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
