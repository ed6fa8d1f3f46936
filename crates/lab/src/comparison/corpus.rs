//! Chooses pairs of real documents with all similarities.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use minwise::Spec;
use minwise::candidate::Banding;
use minwise::shingle::Shingles;
use minwise::sketch::Method;
use minwise::verify::{Overlap, ShingleSet};
use serde::Deserialize;

use crate::measure::sketch;
use crate::simulate::Random;

/// Names of the files in the data folder.
pub(super) const NAMES: [&str; 3] = ["licences.jsonl", "chinese-manuals.jsonl", "english.jsonl"];
/// Number of records that are read per file.
const RECORDS: usize = 10_000;
/// Range of shingles per document. Every sketch is exact for smaller documents, and larger ones would take most of the
/// time.
const SHINGLES: std::ops::RangeInclusive<usize> = 50..=2000;
/// Number of ranges of similarity, each 0.1 wide.
const BINS: usize = 10;

/// Documents of a file, and pairs of them.
pub(super) struct RealCorpus {
    pub name: &'static str,
    /// Distinct shingles per document.
    pub documents: Vec<Vec<u64>>,
    pub pairs: Vec<RealPair>,
}

/// Pair of documents of a corpus.
pub(super) struct RealPair {
    pub a: usize,
    pub b: usize,
    /// Exact similarity.
    pub similarity: f64,
}

#[derive(Deserialize)]
struct Record {
    text: String,
}

/// Reads the corpora of a folder, with at most `pairs` pairs per tenth of similarity.
pub(super) fn read_all(data: &Path, pairs: usize) -> Result<Vec<RealCorpus>> {
    NAMES.into_iter().map(|name| read(&data.join(name), name, pairs)).collect()
}

fn read(path: &Path, name: &'static str, pairs: usize) -> Result<RealCorpus> {
    let shingler = Spec::default().shingler();
    let mut shingles = Shingles::new();
    let mut sets: Vec<ShingleSet> = vec![];
    let file = std::io::BufReader::new(fs_err::File::open(path)?);
    for line in file.lines().take(RECORDS) {
        let record: Record =
            serde_json::from_str(&line?).with_context(|| format!("a record of `{}`", path.display()))?;
        shingler.shingle_into(&record.text, &mut shingles);
        let set: ShingleSet = shingles.hashes().iter().copied().collect();
        if SHINGLES.contains(&set.len()) {
            sets.push(set);
        }
    }
    let chosen = choose(&sets, pairs)?;
    let used: BTreeSet<usize> = chosen.keys().flat_map(|&(a, b)| [a, b]).collect();
    let places: HashMap<usize, usize> = used.iter().enumerate().map(|(place, &set)| (set, place)).collect();
    Ok(RealCorpus {
        name,
        documents: used.iter().map(|&set| sets[set].as_slice().to_vec()).collect(),
        pairs: chosen
            .into_iter()
            .map(|((a, b), similarity)| RealPair { a: places[&a], b: places[&b], similarity })
            .collect(),
    })
}

/// Chooses pairs that share a band of two registers, and random pairs, at most `most` per tenth of similarity.
fn choose(sets: &[ShingleSet], most: usize) -> Result<BTreeMap<(usize, usize), f64>> {
    const BANDS: usize = 32;
    /// Number of preceding documents of a shelf with which a document is paired.
    const BEFORE: usize = 4;
    let sketcher = Method::minhash(2 * BANDS).build(1)?;
    let banding = Banding::new(BANDS, 2, 2 * BANDS)?;
    let rows: Vec<Vec<u32>> = sets.iter().map(|set| sketch(&*sketcher, set.as_slice())).collect();
    let mut candidates: Vec<(usize, usize)> = vec![];
    for band in 0..BANDS {
        let mut shelves: HashMap<u64, Vec<usize>> = HashMap::new();
        for (document, row) in rows.iter().enumerate() {
            let shelf = shelves.entry(banding.key(band, row)).or_default();
            candidates.extend(shelf.iter().rev().take(BEFORE).map(|&before| (before, document)));
            shelf.push(document);
        }
    }
    let mut random = Random::new(1, &[sets.len() as u64]);
    let any = sets.len() as u64;
    for _ in 0..4 * most {
        let (a, b) = (random.below(any) as usize, random.below(any) as usize);
        if a != b {
            candidates.push((a.min(b), a.max(b)));
        }
    }
    candidates.sort_unstable();
    candidates.dedup();
    // The order is random, because otherwise most chosen pairs would be neighbours in the file.
    random.shuffle(&mut candidates);
    let mut bins = [0; BINS];
    let mut chosen = BTreeMap::new();
    for (a, b) in candidates {
        if bins.iter().all(|&count| count == most) {
            break;
        }
        let similarity = Overlap::of(&sets[a], &sets[b]).jaccard();
        let bin = ((similarity * BINS as f64) as usize).min(BINS - 1);
        // Equal documents are left out, because every sketch is exact for them.
        if similarity < 1.0 && bins[bin] < most {
            bins[bin] += 1;
            chosen.insert((a, b), similarity);
        }
    }
    Ok(chosen)
}
