//! Draws kept documents with equal chances, by the seed of the spec.
//!
//! Each kept document has a rank: a hash of its equality key and of the seed. A sample is the documents with the lowest
//! ranks. The rank depends neither on the order of the input nor on the number of threads, so the command and a job on
//! several machines draw the same documents. To halve a draw, one more leading zero is required in the ranks. The half
//! is as fair a sample as the whole.

use std::ops::Range;

use minwise::cluster::Clustering;
use minwise::hash::{SplitMix64, fmix64};

use super::AuditedRun;
use crate::error::Error;
use crate::verify::Removed;

/// Constant that separates ranks from the values of hash functions with the same seed.
const PURPOSE: u64 = 0x61_7564_6974;
/// Cluster of a document that takes no part in the search.
pub(super) const NONE: u32 = u32::MAX;
/// Level of a document that is not drawn.
const LEFT_OUT: u8 = u8::MAX;
/// Number of levels. The level of a document is the number of leading zeros of its rank, from 0 to 64.
pub(super) const LEVELS: usize = 65;
/// Number of first bits of a rank by which ranks are counted.
const COUNTED_BITS: u32 = 16;

/// Returns the rank of a kept document, given its equality key. The documents with the lowest ranks are audited.
#[must_use]
pub fn audit_rank(seed: u64, equality_key: u128) -> u64 {
    let folded = (equality_key >> 64) as u64 ^ equality_key as u64;
    fmix64(folded ^ fmix64(seed ^ PURPOSE))
}

/// Documents among which near pairs are searched, and the drawn documents for which they are searched.
#[derive(Debug)]
pub(super) struct KeptDraw {
    /// Cluster of each document: the place in keeper order of the kept document of the cluster, or [`NONE`] if the
    /// document takes no part in the search.
    ///
    /// If clusters are stars, only kept documents take part, because two similar kept documents are a missed duplicate.
    /// If clusters are components, any two similar documents of different clusters are a missed duplicate.
    clusters: Vec<u32>,
    /// Level of the kept document at each place in keeper order: the number of leading zeros of its rank, or
    /// [`LEFT_OUT`] if it is not drawn.
    levels: Vec<u8>,
    /// Number of kept documents of the inputs that have a text.
    kept: u64,
}

impl KeptDraw {
    /// Draws `most` kept documents, or all kept documents, given the duplicates that the run found.
    pub(super) fn new(
        run: &AuditedRun<'_>,
        found: [&[Removed]; 2],
        most: Option<u64>,
    ) -> Result<Self, Error> {
        let AuditedRun { reading, equals, order, plan, .. } = *run;
        let documents = &reading.documents;
        let is_first = |document: u32| equals.is_first(document) && documents.has_text(document);
        let all = 0..documents.len() as u32;
        let mut is_kept: Vec<bool> =
            all.clone().map(|document| document >= reading.references && is_first(document)).collect();
        // Documents without shingles equal only documents with the same text, so none of them can be missed.
        let cluster = |document: u32| {
            if is_first(document) && documents.has_shingles(document) { order.place(document) } else { NONE }
        };
        let mut clusters: Vec<u32> = all.map(cluster).collect();
        for duplicate in found.into_iter().flatten() {
            is_kept[duplicate.document as usize] = false;
            let cluster = &mut clusters[duplicate.document as usize];
            if *cluster != NONE {
                let is_joined = plan.cluster == Clustering::Components;
                *cluster = if is_joined { order.place(duplicate.of) } else { NONE };
            }
        }
        let kept = is_kept.iter().filter(|&&is_kept| is_kept).count() as u64;
        let for_each_rank = |visit: &mut dyn FnMut(u32, u64)| {
            documents.for_each_equality_key(|document, key| {
                if is_kept[document as usize] {
                    visit(document, audit_rank(plan.spec.seed, key));
                }
            })
        };
        let highest = match most {
            Some(most) if most < kept => highest_rank(most, for_each_rank)?,
            _ => Some(u64::MAX),
        };
        let mut levels = vec![LEFT_OUT; order.len()];
        for_each_rank(&mut |document, rank| {
            if highest.is_some_and(|highest| rank <= highest) {
                levels[order.place(document) as usize] = rank.leading_zeros() as u8;
            }
        })?;
        Ok(Self { clusters, levels, kept })
    }

    /// Returns a draw in which the kept document at place i in keeper order has the level `levels[i]`. Each document is
    /// the only one of its cluster.
    #[cfg(test)]
    pub(super) fn of_levels(levels: &[u8]) -> Self {
        Self {
            clusters: (0..levels.len() as u32).collect(),
            levels: levels.to_vec(),
            kept: levels.len() as u64,
        }
    }

    /// Returns the cluster of a document, or [`NONE`].
    pub(super) fn cluster(&self, document: u32) -> u32 {
        self.clusters[document as usize]
    }

    /// Returns the documents that take part in the search, in ascending order.
    pub(super) fn documents(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.clusters).filter(|&(_, &cluster)| cluster != NONE).map(|(document, _)| document)
    }

    /// Returns the number of halvings after which the kept document of a cluster is still drawn, or `None` if it is not
    /// drawn at all.
    pub(super) fn level(&self, cluster: u32) -> Option<u32> {
        Some(self.levels[cluster as usize]).filter(|&level| level != LEFT_OUT).map(u32::from)
    }

    /// Reports whether the kept document of a cluster is drawn after `halvings` halvings.
    pub(super) fn has(&self, cluster: u32, halvings: u32) -> bool {
        self.level(cluster).is_some_and(|level| level >= halvings)
    }

    /// Returns the number of documents that are drawn after `halvings` halvings.
    pub(super) fn len(&self, halvings: u32) -> u64 {
        (0..self.levels.len() as u32).filter(|&cluster| self.has(cluster, halvings)).count() as u64
    }

    /// Returns the number of kept documents of the inputs that have a text.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }
}

/// Returns the number of halvings after which a draw costs at most `most`, given the cost of the documents of each
/// level.
pub(super) fn halvings(costs: &[u64; LEVELS], most: u64) -> u32 {
    let mut left: u64 = costs.iter().sum();
    let mut halvings = 0;
    while left > most && halvings < LEVELS {
        left -= costs[halvings];
        halvings += 1;
    }
    halvings as u32
}

/// Returns the highest of the `most` lowest ranks, or `None` if `most` is 0. Ranks are counted by their first bits, and
/// only ranks with the same first bits are in memory.
fn highest_rank(
    most: u64,
    for_each_rank: impl Fn(&mut dyn FnMut(u32, u64)) -> Result<(), Error>,
) -> Result<Option<u64>, Error> {
    let Some(last) = most.checked_sub(1) else { return Ok(None) };
    let part = |rank: u64| (rank >> (u64::BITS - COUNTED_BITS)) as usize;
    let mut counts = vec![0u64; 1 << COUNTED_BITS];
    for_each_rank(&mut |_, rank| counts[part(rank)] += 1)?;
    let (mut before, mut at) = (0, 0);
    while before + counts[at] <= last {
        before += counts[at];
        at += 1;
    }
    let mut ranks = vec![];
    for_each_rank(&mut |_, rank| {
        if part(rank) == at {
            ranks.push(rank);
        }
    })?;
    Ok(Some(*ranks.select_nth_unstable((last - before) as usize).1))
}

/// Returns `size` random numbers of a range, in ascending order. If the range has fewer numbers, returns all numbers of
/// the range.
///
/// Floyd's algorithm gives every subset the same probability, in one step per number.
pub(super) fn subset(range: Range<u32>, size: usize, random: &mut SplitMix64) -> Vec<u32> {
    let all = range.len();
    let mut drawn = std::collections::BTreeSet::new();
    for last in all.saturating_sub(size)..all {
        if !drawn.insert(range.start + below(last as u64 + 1, random) as u32) {
            drawn.insert(range.start + last as u32);
        }
    }
    drawn.into_iter().collect()
}

/// Returns a random number below `end`: the upper half of a product. The distribution is even except for one part in
/// 2³².
pub(super) fn below(end: u64, random: &mut SplitMix64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(size: usize, seed: u64) -> Vec<u32> {
        subset(100..150, size, &mut SplitMix64::new(fmix64(seed)))
    }

    #[test]
    fn as_many_as_asked_for_and_none_twice() {
        for size in [0, 1, 7, 49, 50, 51, 1000] {
            let drawn = drawn(size, 3);
            assert_eq!(drawn.len(), size.min(50));
            assert!(drawn.is_sorted_by(|a, b| a < b));
            assert!(drawn.iter().all(|number| (100..150).contains(number)));
        }
    }

    #[test]
    fn every_number_and_every_pair_of_them_is_as_likely() {
        let (mut single, mut both) = ([0u32; 50], [[0u32; 50]; 50]);
        for seed in 0..30_000 {
            let drawn = drawn(15, seed);
            for &a in &drawn {
                single[a as usize - 100] += 1;
                for &b in &drawn {
                    both[a as usize - 100][b as usize - 100] += 1;
                }
            }
        }
        // Five standard deviations of a binomial count are allowed.
        let near = |count: u32, p: f64| {
            (f64::from(count) - 30_000.0 * p).abs() < 5.0 * (30_000.0 * p * (1.0 - p)).sqrt()
        };
        assert!(single.iter().all(|&count| near(count, 0.3)), "{single:?}");
        for (a, row) in both.iter().enumerate() {
            let is_near = |(b, &count)| a == b || near(count, 0.3 * 14.0 / 49.0);
            assert!(row.iter().enumerate().all(is_near), "{row:?}");
        }
    }

    #[test]
    fn the_lowest_ranks_are_drawn() {
        let ranks: Vec<u64> = (0..5000).map(|n| audit_rank(7, n)).collect();
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        for most in [1, 2, 100, 4999, 5000] {
            let highest = highest_rank(most, |visit| {
                (0..).zip(&ranks).for_each(|(document, &rank)| visit(document, rank));
                Ok(())
            });
            assert_eq!(highest.unwrap(), Some(sorted[most as usize - 1]));
        }
        assert_eq!(highest_rank(0, |_| Ok(())).unwrap(), None);
    }

    #[test]
    fn a_draw_is_halved_until_it_costs_little_enough() {
        let mut costs = [0; LEVELS];
        (costs[0], costs[1], costs[5]) = (100, 40, 7);
        for (most, expected) in [(147, 0), (146, 1), (47, 1), (46, 2), (7, 2), (6, 6), (0, 6)] {
            assert_eq!(halvings(&costs, most), expected, "{most}");
        }
    }

    /// Half of all ranks begin with a zero for any seed, and another seed draws other documents.
    #[test]
    fn ranks_are_even_and_differ_by_seed() {
        let low =
            |seed: u64| (0..10_000).filter(|&key| audit_rank(seed, key) >> 63 == 0).collect::<Vec<u128>>();
        let (one, two) = (low(1), low(2));
        assert!((4750..5250).contains(&one.len()) && (4750..5250).contains(&two.len()));
        let both = one.iter().filter(|key| two.contains(key)).count();
        assert!((2250..2750).contains(&both), "{both}");
    }
}
