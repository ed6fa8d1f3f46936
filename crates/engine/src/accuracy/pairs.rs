//! Lists the pairs that are compared: all pairs, or a random sample of them.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use minwise::hash::SplitMix64;

/// Number of pairs that a thread compares per chunk.
const CHUNK: usize = 1 << 13;
/// If at least one in `DENSE` pairs is drawn, the draw iterates over all pairs. Otherwise it draws pairs one by one.
const DENSE: u64 = 4;

/// Choice of the pairs of documents that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairSample {
    /// All pairs.
    All,
    /// A random sample of this many distinct pairs, or all pairs if there are no more.
    Random(u64),
}

impl PairSample {
    /// Largest number of pairs that can be drawn. Each pair needs 8 bytes of memory.
    pub const MOST: u64 = 100_000_000;
}

impl Default for PairSample {
    fn default() -> Self {
        Self::Random(100_000)
    }
}

impl fmt::Display for PairSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Random(pairs) => pairs.fmt(f),
        }
    }
}

/// Error of a text that is neither `all` nor a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownPairSample;

impl fmt::Display for UnknownPairSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it must be `all` or a whole number")
    }
}

impl std::error::Error for UnknownPairSample {}

impl FromStr for PairSample {
    type Err = UnknownPairSample;

    fn from_str(text: &str) -> Result<Self, UnknownPairSample> {
        match text {
            "all" => Ok(Self::All),
            number => number.parse().map(Self::Random).map_err(|_| UnknownPairSample),
        }
    }
}

/// List of pairs. The pair (i, j) of documents with i < j has the number j(j−1)/2 + i.
#[derive(Debug)]
pub(super) enum PairList {
    All(u64),
    /// Numbers of the drawn pairs, in ascending order.
    Drawn(Vec<u64>),
}

pub(super) fn all_pairs(documents: usize) -> u64 {
    let documents = documents as u64;
    documents * documents.saturating_sub(1) / 2
}

impl PairList {
    /// Lists the pairs of `documents` documents. The seed decides which pairs are drawn.
    pub(super) fn new(documents: usize, sample: PairSample, seed: u64) -> Self {
        let all = all_pairs(documents);
        match sample {
            PairSample::Random(pairs) if pairs < all => Self::Drawn(draw(all, pairs, seed)),
            _ => Self::All(all),
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::All(pairs) => *pairs,
            Self::Drawn(numbers) => numbers.len() as u64,
        }
    }

    pub(super) fn chunks(&self) -> usize {
        self.len().div_ceil(CHUNK as u64) as usize
    }

    /// Fills `out` with the pairs of a chunk.
    pub(super) fn chunk(&self, chunk: usize, out: &mut Vec<(u32, u32)>) {
        out.clear();
        let begin = chunk as u64 * CHUNK as u64;
        let end = (begin + CHUNK as u64).min(self.len());
        match self {
            Self::All(_) => out.extend((begin..end).map(pair)),
            Self::Drawn(numbers) => {
                out.extend(numbers[begin as usize..end as usize].iter().copied().map(pair));
            }
        }
    }

    /// Reports for each of `documents` documents whether it is in a pair.
    pub(super) fn documents(&self, documents: usize) -> Vec<bool> {
        match self {
            Self::All(_) => vec![true; documents],
            Self::Drawn(numbers) => {
                let mut occurs = vec![false; documents];
                for &number in numbers {
                    let (first, second) = pair(number);
                    occurs[first as usize] = true;
                    occurs[second as usize] = true;
                }
                occurs
            }
        }
    }
}

fn pair(number: u64) -> (u32, u32) {
    // The square root of a large number is rounded, so `second` may be too high or too low by one.
    let mut second = f64::midpoint(1.0, (1.0 + 8.0 * number as f64).sqrt()) as u64;
    while second * (second - 1) / 2 > number {
        second -= 1;
    }
    while second * (second + 1) / 2 <= number {
        second += 1;
    }
    ((number - second * (second - 1) / 2) as u32, second as u32)
}

/// Draws `count` distinct numbers below `all`, each with the same probability, and sorts them.
fn draw(all: u64, count: u64, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    let mut below = |bound: u64| ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64;
    if count.saturating_mul(DENSE) >= all {
        let mut left = count;
        // A number is taken with the probability `left` / (`all` − `number`), so all choices of `count` numbers are
        // equally likely.
        let taken = |number: &u64| {
            let is_taken = below(all - number) < left;
            left -= u64::from(is_taken);
            is_taken
        };
        return (0..all).filter(taken).collect();
    }
    let mut drawn = HashSet::with_capacity(count as usize);
    while (drawn.len() as u64) < count {
        drawn.insert(below(all));
    }
    let mut drawn: Vec<u64> = drawn.into_iter().collect();
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &PairList) -> Vec<(u32, u32)> {
        let (mut all, mut chunk) = (vec![], vec![]);
        for number in 0..list.chunks() {
            list.chunk(number, &mut chunk);
            all.extend_from_slice(&chunk);
        }
        all
    }

    #[test]
    fn every_pair_has_one_number() {
        let found = pairs(&PairList::new(200, PairSample::All, 1));
        let expected: Vec<(u32, u32)> = (0..200).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
        assert_eq!(found, expected);
        assert!(found.len() > CHUNK, "more than one chunk");
    }

    #[test]
    fn large_numbers_are_decoded() {
        for second in [2, 3, 65_536, 4_294_967_294_u64, 4_294_967_295] {
            let first = second * (second - 1) / 2;
            assert_eq!(pair(first), (0, second as u32));
            assert_eq!(pair(first + second - 1), (second as u32 - 1, second as u32));
        }
    }

    /// Both methods of drawing return the requested number of distinct pairs, and every pair has the same chance.
    #[test]
    fn draws_are_uniform() {
        for count in [12_u64, 60] {
            let mut hits = vec![0_u64; 105];
            let rounds = 4000;
            for seed in 0..rounds {
                let drawn = draw(105, count, seed);
                assert_eq!(drawn.len() as u64, count);
                assert!(drawn.windows(2).all(|two| two[0] < two[1]));
                for number in drawn {
                    hits[number as usize] += 1;
                }
            }
            let share = count as f64 / 105.0;
            let mean = rounds as f64 * share;
            let deviation = (rounds as f64 * share * (1.0 - share)).sqrt();
            for (number, &hits) in hits.iter().enumerate() {
                assert!((hits as f64 - mean).abs() < 5.0 * deviation, "{number}: {hits} of {mean}");
            }
        }
    }

    #[test]
    fn a_sample_of_more_than_all_is_all() {
        let list = PairList::new(5, PairSample::Random(11), 1);
        assert_eq!((list.len(), list.documents(5)), (10, vec![true; 5]));
        let one = PairList::new(100, PairSample::Random(1), 1);
        assert_eq!(one.documents(100).iter().filter(|occurs| **occurs).count(), 2);
        assert_eq!(PairList::new(1, PairSample::All, 1).chunks(), 0);
    }
}
