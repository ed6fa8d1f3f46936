//! Experiments of Anonymous: accuracy, comparisons, near-duplicate queries and bands.

mod copies;
pub(crate) mod figure_3;
mod queries;
pub(crate) mod table_1;
pub(crate) mod table_2;
pub(crate) mod table_3;
pub(crate) mod table_4;

use anyhow::Result;
use minwise::shingle::terms;
use minwise::sketch::{Method, Sketches};
use minwise::verify::ShingleSet;

use crate::data::TextFile;

/// Folder with the 1001 files of the accuracy experiments.
pub(super) const SPACE: &str = "newsgroup-copies/space";
/// Folder with originals and their edited copies.
const COPIES: &str = "newsgroup-copies/LSH_Data";

pub(super) fn term_sets(files: &[TextFile]) -> Vec<ShingleSet> {
    let mut hashes = vec![];
    files
        .iter()
        .map(|file| {
            terms::hash_into(&file.text, &mut hashes);
            hashes.iter().copied().collect()
        })
        .collect()
}

/// Returns the `MinHash` sketches of sets.
fn sketch_all(registers: usize, seed: u64, sets: &[ShingleSet]) -> Result<Sketches> {
    let sketcher = Method::minhash(registers).build(seed)?;
    let mut sketches = Sketches::new(registers);
    for set in sets {
        sketcher.sketch_into(set.as_slice(), sketches.push());
    }
    Ok(sketches)
}

/// Returns all pairs of `documents` documents.
pub(super) fn pairs(documents: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..documents).flat_map(|a| (0..a).map(move |b| (a, b)))
}
