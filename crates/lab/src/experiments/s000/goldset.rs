//! Generates a stand-in for `GoldSet`, the labelled news articles of the source, which are not public.
//!
//! A group is a story, and each of its documents is the story with a share of its words replaced. These shares are
//! chosen so that, at each threshold, the fraction of labelled pairs that reach the threshold equals the recall of the
//! source's `MinHash`. With 500 registers, this recall is nearly that fraction.

use super::{SHINGLE, WORDS};
use crate::simulate::documents::shingles;
use crate::simulate::{Edit, Random, Vocabulary};

/// Bounds of seven ranges of the share of replaced words. Within a range, shares are evenly spread.
const SHARES: [f64; 8] = [0.0, 0.003, 0.018, 0.04, 0.063, 0.091, 0.126, 0.6];
/// Share of the documents per range of [`SHARES`].
const PARTS: [f64; 7] = [0.535, 0.01, 0.08, 0.05, 0.04, 0.045, 0.24];

/// Number of documents per group: 68 groups, 2168 documents and 82 934 pairs, as in the source.
pub(super) const GROUPS: [usize; 68] = [
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 7, 7, 8, 9, 10,
    16, 19, 20, 22, 28, 31, 32, 34, 41, 43, 45, 46, 48, 51, 53, 54, 58, 60, 62, 63, 69, 71, 71, 73, 77, 82,
    85, 90, 92, 108, 113, 137, 171,
];

/// Stand-in for `GoldSet`.
pub(super) struct GoldSet {
    /// Mean number of words per document. Lengths of stories are spread evenly, the longest being three times as long as
    /// the shortest, and are scaled to this mean over all documents.
    pub words: usize,
}

impl GoldSet {
    /// Returns the documents of a group, as shingles in their order.
    pub fn group(&self, number: usize, seed: u64) -> Vec<Vec<u64>> {
        self.texts(number, seed).iter().map(|text| shingles(text, SHINGLE)).collect()
    }

    /// Returns the documents of a group, as words.
    pub fn texts(&self, number: usize, seed: u64) -> Vec<Vec<u64>> {
        let vocabulary = Vocabulary::new(WORDS);
        let mut random = Random::new(seed, &[number as u64]);
        let length = length(&mut random);
        let mean = (0..GROUPS.len()).map(|group| GROUPS[group] as f64 * length_of(group, seed)).sum::<f64>()
            / GROUPS.iter().sum::<usize>() as f64;
        let words = (self.words as f64 * length / mean).round() as usize;
        let story = vocabulary.document(words, &mut random);
        let documents = GROUPS[number];
        (0..documents)
            .map(|document| {
                // The share of each document comes from its own range of quantiles, so that the shares of a large group
                // are distributed as `SHARES` and `PARTS` state.
                let share = replaced((document as f64 + random.unit()) / documents as f64);
                vocabulary.edit(&story, Edit::Substitute(share), &mut random)
            })
            .collect()
    }
}

/// Draws the length of a story, before all lengths are scaled to the mean.
fn length(random: &mut Random) -> f64 {
    0.5 + random.unit()
}

/// Returns the length of the story of a group, before it is scaled.
fn length_of(number: usize, seed: u64) -> f64 {
    length(&mut Random::new(seed, &[number as u64]))
}

/// Returns the share of replaced words at the quantile `part` of the documents.
fn replaced(part: f64) -> f64 {
    let mut before = 0.0;
    for (bounds, part_of_all) in SHARES.windows(2).zip(PARTS) {
        if part <= before + part_of_all {
            return bounds[0] + (bounds[1] - bounds[0]) * (part - before) / part_of_all;
        }
        before += part_of_all;
    }
    SHARES[SHARES.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_documents_and_shares_rise() {
        assert!((PARTS.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (part, share) in [(0.0, 0.0), (0.535, 0.003), (0.545, 0.018), (0.88, 0.363), (1.0, 0.6)] {
            assert!((replaced(part) - share).abs() < 1e-9, "{part}: {}", replaced(part));
        }
    }

    #[test]
    fn groups_are_those_of_the_source() {
        let pairs: usize = GROUPS.iter().map(|size| size * (size - 1) / 2).sum();
        assert_eq!((GROUPS.iter().sum::<usize>(), pairs), (2168, 82_934));
        let set = GoldSet { words: 100 };
        assert_eq!((set.group(29, 1).len(), set.group(0, 1).len()), (4, 2));
        assert_ne!(set.group(0, 1), set.group(0, 2));
    }

    #[test]
    fn documents_have_the_mean_length_on_average() {
        for seed in [1, 2] {
            let set = GoldSet { words: 100 };
            let lengths = |number: usize| set.texts(number, seed).iter().map(Vec::len).sum::<usize>();
            let mean = (0..GROUPS.len()).map(lengths).sum::<usize>() as f64 / 2168.0;
            assert!((mean - 100.0).abs() < 0.5, "{mean}");
        }
    }
}
