//! Collections of families, and queries for the documents of a family. A family is an original with seven edited
//! copies.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::path::Path;

use anyhow::Result;
use minwise::estimate::minhash::matches;
use minwise::sketch::Sketches;
use minwise::verify::{Overlap, ShingleSet};

use super::term_sets;
use crate::data;
use crate::simulate::{Random, Vocabulary};

/// Number of members per family: the original and its copies.
pub(super) const MEMBERS: usize = 8;

/// Documents, each with its family.
pub(super) struct Collection {
    pub sets: Vec<ShingleSet>,
    families: Vec<u64>,
}

impl Collection {
    /// Reads the files of a folder. The family of a file is its name up to `.txt`.
    pub fn read(folder: &Path) -> Result<Self> {
        let files = data::texts(folder)?;
        let mut numbers: HashMap<&str, u64> = HashMap::new();
        let families = files
            .iter()
            .map(|file| {
                let family = file.name.split(".txt").next().unwrap_or_default();
                let next = numbers.len() as u64;
                *numbers.entry(family).or_insert(next)
            })
            .collect();
        Ok(Self { sets: term_sets(&files), families })
    }

    /// Generates originals of about two hundred terms, and copies to which about 4.5 % other terms are added. The
    /// similarity of a copy is about 0.957 to its original and 0.917 to another copy
    /// (docs/sources/experiments.md#classes).
    pub fn generate(families: u64, seed: u64) -> Self {
        let vocabulary = Vocabulary::new(50_000);
        let (mut sets, mut family_of) = (vec![], vec![]);
        for family in 0..families {
            let mut random = Random::new(seed, &[family]);
            let words = 300 + random.below(200) as usize;
            let original: Vec<u64> = vocabulary.document(words, &mut random);
            let terms = original.iter().copied().collect::<ShingleSet>().len() as f64;
            for member in 0..MEMBERS {
                let share = if member == 0 { 0.0 } else { 0.045 + 0.012 * random.normal() };
                // Added words occur in no other document.
                let added = (0..(share * terms).round() as usize).map(|_| random.next());
                sets.push(original.iter().copied().chain(added).collect());
                family_of.push(family);
            }
        }
        Self { sets, families: family_of }
    }

    /// Returns random members of complete families, one per family, so that the results of queries are independent.
    pub fn queries(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut members: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (document, &family) in self.families.iter().enumerate() {
            members.entry(family).or_default().push(document);
        }
        let mut random = Random::new(seed, &[u64::MAX]);
        let mut families: Vec<Vec<usize>> =
            members.into_values().filter(|members| members.len() == MEMBERS).collect();
        random.shuffle(&mut families);
        families.iter().take(count).map(|members| members[random.below(MEMBERS as u64) as usize]).collect()
    }

    /// Returns the other members of a document's family.
    pub fn relatives(&self, document: usize) -> impl Iterator<Item = usize> {
        let family = self.families[document];
        (0..self.sets.len()).filter(move |&other| other != document && self.families[other] == family)
    }

    /// Reports whether two documents belong to one family.
    pub fn is_family(&self, a: usize, b: usize) -> bool {
        self.families[a] == self.families[b]
    }

    /// Returns the exact similarity of two documents.
    pub fn similarity(&self, a: usize, b: usize) -> f64 {
        Overlap::of(&self.sets[a], &self.sets[b]).jaccard()
    }
}

/// Reports whether the estimated similarity of two documents reaches a threshold.
pub(super) fn reaches(sketches: &Sketches, a: usize, b: usize, threshold: f64) -> bool {
    let registers = sketches.registers() as f64;
    matches(sketches.row(a), sketches.row(b)) as f64 / registers >= threshold
}

/// Returns, for each query, the documents that share one of its band keys. `key` computes the key of a band and a
/// document.
pub(super) fn candidates<K: Eq + Hash>(
    documents: usize,
    queries: &[usize],
    bands: usize,
    key: impl Fn(usize, usize) -> K,
) -> Vec<BTreeSet<usize>> {
    let mut found = vec![BTreeSet::new(); queries.len()];
    for band in 0..bands {
        let mut asked: HashMap<K, Vec<usize>> = HashMap::new();
        for (at, &query) in queries.iter().enumerate() {
            asked.entry(key(band, query)).or_default().push(at);
        }
        for document in 0..documents {
            for &at in asked.get(&key(band, document)).map_or(&[][..], |queries| queries) {
                if queries[at] != document {
                    found[at].insert(document);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_as_similar_as_they_should_be() {
        let collection = Collection::generate(40, 1);
        assert_eq!(collection.sets.len(), 40 * MEMBERS);
        let mean = |pairs: Vec<(usize, usize)>| {
            pairs.iter().map(|&(a, b)| collection.similarity(a, b)).sum::<f64>() / pairs.len() as f64
        };
        let originals = (0..40)
            .flat_map(|family| (1..MEMBERS).map(move |copy| (family * MEMBERS, family * MEMBERS + copy)));
        let (to_original, apart) = (
            mean(originals.collect()),
            mean((0..39).map(|family| (family * MEMBERS, (family + 1) * MEMBERS)).collect()),
        );
        // There are seven copies in each of 40 families, and the share of added terms has a standard deviation of
        // 0.012.
        assert!((to_original - 1.0 / 1.045).abs() < 5.0 * 0.012 / 280.0_f64.sqrt() + 0.001, "{to_original}");
        assert!(apart < 0.3, "{apart}");
        assert_eq!(collection.relatives(9).collect::<Vec<_>>(), [8, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn candidates_share_a_key_and_are_not_the_query() {
        // In band 0, documents 0 and 3 have one key and all others another. In band 1, documents 2 and 5 share a key,
        // and all others another.
        let found = candidates(6, &[0, 3], 2, |band, document| (document + band) % 3 == 0);
        assert_eq!((&found[0], &found[1]), (&BTreeSet::from([1, 3, 4]), &BTreeSet::from([0, 1, 4])));
        let found = candidates(6, &[0, 3], 1, |_, document| document % 3);
        assert_eq!((&found[0], &found[1]), (&BTreeSet::from([3]), &BTreeSet::from([0])));
    }
}
