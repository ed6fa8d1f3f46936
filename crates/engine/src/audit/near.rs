//! Finds documents whose sketches are near that of a drawn document, by comparing it with all others.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::AuditedRun;
use super::draw::{KeptDraw, LEVELS, NONE, halvings};
use super::sieve::{Probe, RowBlock, Sieve};
use crate::error::Error;
use crate::parallel;
use crate::read::documents::{RowChoice, RowReader};

/// Number of documents whose rows are compared together.
const BLOCK: usize = 1024;
/// Maximum number of near pairs per kept document that are read.
pub(super) const MOST: usize = 1024;

/// Pair of documents of different clusters whose sketches are near each other.
///
/// Pairs are sorted in the order of their exact comparison. Pairs that agree in more values come first, because they
/// are more likely to be similar and one similar pair is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NearPair {
    /// Number of values in which the rows agree.
    pub agreeing: Reverse<u32>,
    /// Document of the later cluster.
    pub document: u32,
    /// Document of the earlier cluster.
    pub other: u32,
}

/// Near pairs of one kept document.
#[derive(Debug, Default)]
pub(super) struct NearList {
    /// Number of near pairs.
    pub all: u64,
    /// First near pairs, in the order of their exact comparison.
    pub pairs: Vec<NearPair>,
}

impl NearList {
    fn add(&mut self, pair: NearPair) {
        self.all += 1;
        self.pairs.push(pair);
        if self.pairs.len() >= 2 * MOST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.pairs.len() > MOST {
            self.pairs.select_nth_unstable(MOST);
            self.pairs.truncate(MOST);
        }
    }
}

/// Near pairs of all drawn documents. The key is the place of the kept document of the later cluster.
#[derive(Debug, Default)]
pub(super) struct NearLists(pub(super) BTreeMap<u32, NearList>);

impl NearLists {
    pub(super) fn add(&mut self, cluster: u32, pair: NearPair) {
        self.0.entry(cluster).or_default().add(pair);
    }

    /// Sorts the pairs in the order of their exact comparison, and keeps at most [`MOST`] pairs per document.
    pub(super) fn sort(&mut self) {
        for list in self.0.values_mut() {
            list.cut();
            list.pairs.sort_unstable();
        }
    }
}

/// Near pairs of a search, and the number of halvings of the draw because there were too many.
#[derive(Debug)]
pub(super) struct Searched {
    pub near: NearLists,
    pub halvings: u32,
    /// Number of pairs, by the level of the kept document of the later cluster.
    counts: [u64; LEVELS],
    /// Maximum number of pairs that are kept.
    most: u64,
}

impl Searched {
    /// Creates an empty search that keeps at most `most` pairs.
    pub(super) fn new(most: u64) -> Self {
        Self { near: NearLists::default(), halvings: 0, counts: [0; LEVELS], most }
    }

    /// Adds near pairs that were not found before, and halves the draw if there are too many pairs.
    ///
    /// The number of halvings depends only on the set of all pairs and not on the order in which they are added. A sum
    /// that is too large at any time is too large at the end, too.
    pub(super) fn add(&mut self, near: NearLists, draw: &KeptDraw) {
        for (cluster, list) in near.0 {
            let Some(level) = draw.level(cluster) else { continue };
            self.counts[level as usize] += list.all;
            if level >= self.halvings {
                let own = self.near.0.entry(cluster).or_default();
                own.all += list.all;
                own.pairs.extend(list.pairs);
                own.cut();
            }
        }
        self.halve(halvings(&self.counts, self.most), draw);
    }

    /// Halves the draw until it has been halved `halvings` times in total.
    pub(super) fn halve(&mut self, halvings: u32, draw: &KeptDraw) {
        if halvings > self.halvings {
            self.halvings = halvings;
            self.near.0.retain(|&cluster, _| draw.has(cluster, halvings));
        }
    }
}

/// Compares the documents of drawn clusters with all documents of earlier clusters. Rows of `portion` drawn documents
/// are in memory together, with about `most` pairs at most.
pub(super) fn compare_all(
    run: &AuditedRun<'_>,
    sieve: &Sieve,
    draw: &KeptDraw,
    portion: usize,
    most: u64,
) -> Result<Searched, Error> {
    let mut searched = Searched::new(most);
    let drawn: Vec<u32> = draw.documents().filter(|&document| draw.has(draw.cluster(document), 0)).collect();
    run.begin(drawn.len().div_ceil(portion) * run.reading.documents.len());
    for portion in drawn.chunks(portion) {
        compare_some(run, sieve, draw, portion, &mut searched)?;
    }
    Ok(searched)
}

fn compare_some(
    run: &AuditedRun<'_>,
    sieve: &Sieve,
    draw: &KeptDraw,
    drawn: &[u32],
    searched: &mut Searched,
) -> Result<(), Error> {
    let documents = &run.reading.documents;
    let mut reader = RowReader::new(documents, RowChoice::Sketch);
    let mut probes: Vec<(u32, Probe)> = vec![];
    for &document in drawn {
        probes.push((document, sieve.probe(reader.row(document)?)));
    }
    let work = |block: &mut RowBlock, item: usize| -> Result<_, Error> {
        run.check()?;
        let begin = item * BLOCK;
        let range = begin as u32..(begin + BLOCK).min(documents.len()) as u32;
        sieve.take_in(block, |rows| documents.rows_into(range.clone(), rows))?;
        let mut found = NearLists::default();
        for (document, probe) in &probes {
            let (document, cluster) = (*document, draw.cluster(*document));
            let wanted = |place: usize| {
                let other = range.start + place as u32;
                let other_cluster = draw.cluster(other);
                (other_cluster != NONE && other_cluster < cluster).then_some(other)
            };
            sieve.for_each_near(probe, block, wanted, |other, agreeing| {
                found.add(cluster, NearPair { agreeing: Reverse(agreeing), document, other });
            });
        }
        run.observer.advance(range.len() as u64);
        Ok(found)
    };
    parallel::in_order(documents.len().div_ceil(BLOCK), run.plan.threads, RowBlock::default, work, |found| {
        searched.add(found, draw);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(n: u32) -> NearPair {
        NearPair { agreeing: Reverse(n * 7919 % 1009), document: n, other: n + 1 }
    }

    /// Returns the search after five thousand pairs of 20 kept documents were added in `parts` parts.
    fn searched(draw: &KeptDraw, most: u64, parts: u32, backwards: bool) -> Searched {
        let mut all = Searched::new(most);
        for part in 0..parts {
            let mut some = NearLists::default();
            let mut pairs: Vec<u32> = (0..5000).filter(|n| n % parts == part).collect();
            if backwards {
                pairs.reverse();
            }
            for n in pairs {
                some.add(if n < 4000 { 0 } else { n % 20 }, pair(n));
            }
            all.add(some, draw);
        }
        all.near.sort();
        all
    }

    /// The kept pairs do not depend on the order or on the parts in which pairs were added.
    #[test]
    fn the_first_pairs_are_kept_whatever_came_first() {
        let draw = KeptDraw::of_levels(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 4, 4]);
        for most in [5000, 4600, 4400, 100, 0] {
            let one = searched(&draw, most, 1, false);
            for (parts, backwards) in [(1, true), (3, false), (7, true), (1000, false)] {
                let other = searched(&draw, most, parts, backwards);
                assert_eq!(other.halvings, one.halvings);
                assert!(other.near.0.keys().eq(one.near.0.keys()));
                for (list, one) in other.near.0.values().zip(one.near.0.values()) {
                    assert_eq!((list.all, &list.pairs), (one.all, &one.pairs));
                }
            }
        }
        let one = searched(&draw, 5000, 1, false);
        let first = &one.near.0[&0];
        assert_eq!((one.halvings, first.all, first.pairs.len()), (0, 4050, MOST));
        assert!(first.pairs.is_sorted_by(|a, b| a.agreeing.0 >= b.agreeing.0));
        // Levels 0 to 4 have 450, 250, 150, 4,050 and 100 pairs.
        let halvings = |most| searched(&draw, most, 1, false).halvings;
        assert_eq!([5000, 4550, 4300, 4150, 100, 99].map(halvings), [0, 1, 2, 3, 4, 5]);
    }
}
