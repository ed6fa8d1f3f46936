//! What `docs/concepts` shows: a picture a sketch, and the table of all of them.
//!
//! `cargo x docs` writes them. Lines are formulas, the ones that the library itself reports errors by; points are sketches
//! that were made and compared, so a picture in which they part shows a formula that does not hold.

mod charts;
mod table;

use minwise::Error;

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
    let mut files: Vec<File> = charts::draw()?
        .into_iter()
        .map(|(name, chart)| File { path: format!("plots/{name}.svg"), content: chart.svg() })
        .collect();
    files.push(File { path: "sketches.md".to_owned(), content: table::page() });
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
