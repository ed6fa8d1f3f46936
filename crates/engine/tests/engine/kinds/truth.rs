//! The true recall of a run, computed by comparing all documents with each other.

use std::collections::{BTreeSet, HashMap};

use minwise::Spec;
use minwise::candidate::Banding;
use minwise::cluster::Clustering;
use minwise::shingle::Shingles;
use minwise::verify::{Overlap, ShingleSet};

/// Pair of distinct documents that reaches the threshold.
struct TruePair {
    earlier: u32,
    later: u32,
}

/// Results of brute force on a corpus.
pub struct Truth {
    /// For each document, the first document with the same shingles in the same order.
    first: Vec<u32>,
    /// For each document that is the first of its equals, the number of equals including itself; 0 for all other
    /// documents.
    copies: Vec<u32>,
    /// For each document that is the first of its equals, the last of its equals.
    last: Vec<u32>,
    hashes: Vec<Vec<u64>>,
    /// Similar pairs among the documents that are the first of their equals.
    pairs: Vec<TruePair>,
}

impl Truth {
    pub fn new(texts: &[String], spec: &Spec, threshold: f64) -> Self {
        let shingler = spec.shingler();
        let mut shingles = Shingles::new();
        let mut seen: HashMap<Vec<u64>, u32> = HashMap::new();
        let (mut first, mut hashes) = (vec![], vec![]);
        let (mut copies, mut last) = (vec![0; texts.len()], vec![0; texts.len()]);
        for (number, text) in (0..).zip(texts) {
            shingler.shingle_into(text, &mut shingles);
            let stands = *seen.entry(shingles.hashes().to_vec()).or_insert(number);
            first.push(stands);
            copies[stands as usize] += 1;
            last[stands as usize] = number;
            hashes.push(shingles.hashes().to_vec());
        }
        let sets: Vec<ShingleSet> = hashes.iter().map(|hashes| hashes.iter().copied().collect()).collect();
        let firsts: Vec<usize> = (0..texts.len()).filter(|&number| copies[number] > 0).collect();
        let mut pairs = vec![];
        for (at, &later) in firsts.iter().enumerate() {
            for &earlier in &firsts[..at] {
                if Overlap::at_least(&sets[earlier], &sets[later], threshold).is_some() {
                    pairs.push(TruePair { earlier: earlier as u32, later: later as u32 });
                }
            }
        }
        Self { first, copies, last, hashes, pairs }
    }

    fn copies(&self, first: u32) -> f64 {
        f64::from(self.copies[first as usize])
    }

    /// Returns the number of pairs that `pairs` can find, including pairs of equal documents.
    pub fn pairs(&self) -> f64 {
        let equal: f64 =
            self.copies.iter().map(|&n| f64::from(n) * (f64::from(n) - 1.0).max(0.0) / 2.0).sum();
        let similar: f64 =
            self.pairs.iter().map(|pair| self.copies(pair.earlier) * self.copies(pair.later)).sum();
        equal + similar
    }

    /// Returns the number of documents that equal an earlier kept document.
    fn repeats(&self, is_removed: impl Fn(u32) -> bool) -> f64 {
        let numbers = (0..).zip(&self.first);
        numbers.filter(|&(number, &first)| number != first && !is_removed(first)).count() as f64
    }

    /// Returns the number of pairs that stars can find: pairs of a document and a kept one before it, once per copy of
    /// the later document. Documents that equal a kept one are added.
    pub fn star_pairs(&self, is_removed: impl Fn(u32) -> bool) -> f64 {
        let count = |&TruePair { earlier, later }: &TruePair| {
            if !is_removed(earlier) {
                self.copies(later)
            } else if !is_removed(later) && later < self.last[earlier as usize] {
                // The removed document has a copy after the kept document, so the copies of the earlier document are
                // counted.
                self.copies(earlier)
            } else {
                0.0
            }
        };
        self.pairs.iter().map(count).sum::<f64>() + self.repeats(&is_removed)
    }

    /// Returns the number of kept documents that repeat an earlier kept document. For components, these are the
    /// keepers whose cluster has a document similar to one of an earlier cluster. `keeper` returns the kept document
    /// of a removed one.
    pub fn missed(&self, cluster: Clustering, keeper: impl Fn(u32) -> Option<u32>) -> u64 {
        let missed: BTreeSet<u32> = self
            .pairs
            .iter()
            .filter_map(|&TruePair { earlier, later }| match (keeper(earlier), keeper(later)) {
                (None, None) => Some(later),
                (one, other) if cluster == Clustering::Components => {
                    let (one, other) = (one.unwrap_or(earlier), other.unwrap_or(later));
                    (one != other).then_some(one.max(other))
                }
                _ => None,
            })
            .collect();
        missed.len() as u64
    }

    /// Returns the share of similar pairs that stand on a common shelf, each weighted by the copies of its later
    /// document. A shelf takes its first `most` documents, and a pair counts if the shelf took the earlier document.
    pub fn sharing_a_band(
        &self,
        spec: &Spec,
        banding: Banding,
        most: usize,
        is_removed: impl Fn(u32) -> bool,
    ) -> f64 {
        let sketcher = spec.sketcher().unwrap();
        let mut shelves: HashMap<(usize, u64), usize> = HashMap::new();
        // For each document and band: the key, and whether the shelf took the document.
        let mut stands = vec![vec![]; self.hashes.len()];
        for (number, hashes) in self.hashes.iter().enumerate().filter(|&(number, _)| self.copies[number] > 0)
        {
            let mut sketch = vec![0; spec.method.registers()];
            sketcher.sketch_into(hashes, &mut sketch);
            stands[number] = (0..banding.bands())
                .map(|band| {
                    let key = banding.key(band, &sketch);
                    let shelf = shelves.entry((band, key)).or_default();
                    *shelf += 1;
                    (key, *shelf <= most)
                })
                .collect();
        }
        let share = |pair: &&TruePair| {
            let (earlier, later) = (&stands[pair.earlier as usize], &stands[pair.later as usize]);
            earlier.iter().zip(later).any(|(earlier, later)| earlier.0 == later.0 && earlier.1)
        };
        let repeats = self.repeats(is_removed);
        let count = |pair: &TruePair| self.copies(pair.later);
        let there = repeats + self.pairs.iter().map(count).sum::<f64>();
        let found = repeats + self.pairs.iter().filter(share).map(count).sum::<f64>();
        if there > 0.0 { found / there } else { 1.0 }
    }
}
