//! Finds all pairs of documents that reach a threshold, exactly and without sketches.
//!
//! Two sets of similarity T or more share at least one of the ⌊(1−T)·n⌋ + 1 rarest shingles of each, where n is its
//! size. This is the prefix filter of Chaudhuri, Ganti and Kaushik, 2006. Only documents that share one of these
//! shingles are compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::Result;
use minwise::Spec;
use minwise::shingle::Shingles;
use minwise::verify::{Overlap, ShingleSet};
use minwise_corpus::{Corpus, Scratch};

/// Returns the shingle sets of all documents of a corpus, in input order.
pub(super) fn sets(corpus: &Corpus, spec: &Spec) -> Result<Vec<ShingleSet>> {
    /// Number of bytes of text that are read at once.
    const CHUNK_BYTES: u64 = 1 << 20;
    let shingler = spec.shingler();
    let mut shingles = Shingles::new();
    let mut sets = vec![];
    for chunk in corpus.chunks(CHUNK_BYTES) {
        corpus.scan(&chunk, &mut Scratch::new(), &mut |_, document| {
            if let Ok(document) = document {
                shingler.shingle_into(&document.text, &mut shingles);
                sets.push(shingles.hashes().iter().copied().collect());
            }
        })?;
    }
    Ok(sets)
}

/// Returns the pairs that reach the threshold with their similarities, the earlier document first. Documents without
/// shingles have no pairs.
pub(super) fn pairs(sets: &[ShingleSet], threshold: f64) -> BTreeMap<(u32, u32), f64> {
    let mut frequencies: HashMap<u64, u32> = HashMap::new();
    for shingle in sets.iter().flat_map(ShingleSet::as_slice) {
        *frequencies.entry(*shingle).or_default() += 1;
    }
    let mut by_shingle: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut found = BTreeMap::new();
    for (document, set) in (0_u32..).zip(sets) {
        let mut rarest: Vec<(u32, u64)> =
            set.as_slice().iter().map(|&shingle| (frequencies[&shingle], shingle)).collect();
        rarest.sort_unstable();
        // The prefix has one more shingle, because rounding could remove one.
        let prefix = ((1.0 - threshold) * set.len() as f64).floor() as usize + 2;
        rarest.truncate(prefix);
        let mut seen = HashSet::new();
        for &(frequency, shingle) in &rarest {
            if frequency == 1 {
                continue;
            }
            let others = by_shingle.entry(shingle).or_default();
            // The ratio of the sizes is an upper bound on the similarity.
            let is_near = |other: u32| {
                let (a, b) = (sets[other as usize].len(), set.len());
                a.min(b) as f64 / a.max(b) as f64 >= threshold
            };
            for &other in others.iter().filter(|&&other| is_near(other) && seen.insert(other)) {
                let similarity = Overlap::of(&sets[other as usize], set).jaccard();
                if similarity >= threshold {
                    found.insert((other, document), similarity);
                }
            }
            others.push(document);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::documents::shingles;
    use crate::simulate::{Edit, Random, Vocabulary};

    #[test]
    fn all_pairs_and_no_others() {
        let vocabulary = Vocabulary::new(500);
        let mut random = Random::new(1, &[]);
        let mut sets: Vec<ShingleSet> = vec![];
        for _ in 0..20 {
            let original = vocabulary.document(60, &mut random);
            for share in [0.0, 0.02, 0.1, 0.3] {
                let document = vocabulary.edit(&original, Edit::Substitute(share), &mut random);
                sets.push(shingles(&document, 2).into_iter().collect());
            }
        }
        sets.push(Vec::<u64>::new().into_iter().collect());
        for threshold in [0.1, 0.5, 0.8, 1.0] {
            let found = pairs(&sets, threshold);
            let mut expected = 0;
            for b in 0..sets.len() - 1 {
                for a in 0..b {
                    let similarity = Overlap::of(&sets[a], &sets[b]).jaccard();
                    expected += usize::from(similarity >= threshold);
                    let known = (similarity >= threshold).then_some(&similarity);
                    assert_eq!(found.get(&(a as u32, b as u32)), known);
                }
            }
            assert_eq!(found.len(), expected);
            assert!(expected > 0);
        }
    }
}
