//! Sketches compared with sketches: similarities estimated, without reading a document.
//!
//! All pairs are compared, in tiles that stay in the cache. Where an estimate depends on one number, only that is counted,
//! and the least count that reaches the threshold is known beforehand. Registers are compared look by look, and a pair ends
//! at the look that rejects it ([`minwise::filter`]).

pub mod sketch_file;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use minwise::estimate::Estimate;
use minwise::filter::{Budget, Decision, Filter, default_looks};
use minwise::kernel::Kernel;
use minwise::sketch::{Sketcher, Statistic};
use minwise::{Observer, Stage};

use crate::candidate::screen::register_order;
use crate::candidate::tiles::Tiles;
use crate::error::{Error, ErrorKind};
use crate::estimate::sketch_file::{SketchFile, check_same};
use crate::parallel;

/// What is to be compared.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The first file.
    pub first: &'a SketchFile,
    /// The second; without one, the documents of the first are compared with one another.
    pub second: Option<&'a SketchFile>,
    /// Only pairs that have one of these documents.
    pub of: Option<&'a [String]>,
    /// The estimate from which on a pair is told.
    pub threshold: f64,
    /// The share of pairs at the threshold that may be rejected before all their registers are compared.
    pub filter: Option<f64>,
    /// Threads to work with.
    pub threads: usize,
}

/// A pair whose estimate reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimatedPair {
    /// The document of the first file.
    pub first: usize,
    /// The document of the second file, or of the first.
    pub second: usize,
    /// What the sketches say.
    pub estimate: Estimate,
}

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// Pairs.
    pub pairs: u64,
    /// Words of their sketches that were compared.
    pub words: u64,
    /// Words that they have.
    pub of_words: u64,
}

/// Compares all pairs and gives those at or above the threshold to `visit`, by the first document and then the second.
/// Documents without shingles are in no pair.
pub fn for_each_pair(
    request: &Request<'_>,
    observer: &dyn Observer,
    mut visit: impl FnMut(&EstimatedPair) -> Result<(), Error> + Send,
) -> Result<Compared, Error> {
    let pairs = Pairs::new(request)?;
    observer.begin(Stage::Estimate, pairs.first.len() as u64);
    let mut sum = Compared::default();
    let work = |counts: &mut Vec<u32>, tile: usize| {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let found = pairs.compare(tile, counts);
        observer.advance(pairs.tiles.rows(tile).len() as u64);
        Ok(found)
    };
    parallel::in_order(pairs.tiles.len(), request.threads, Vec::new, work, |(compared, found)| {
        sum.pairs += compared.pairs;
        sum.words += compared.words;
        sum.of_words += compared.of_words;
        found.iter().try_for_each(&mut visit)
    })?;
    Ok(sum)
}

/// How pairs are compared.
enum Way {
    /// At most so many bits may differ, if the threshold can be reached at all.
    Bits(Option<u32>),
    /// Look by look.
    Looks(Filter, Heads),
    /// In full.
    Full,
}

/// The registers of the first look, close together: most pairs end there, and the beginnings of whole rows would lie so
/// regularly in memory that they drive one another out of the cache.
struct Heads {
    words: usize,
    /// The order in which registers are compared, where they are not exchangeable.
    order: Option<Vec<usize>>,
    first: Vec<u32>,
    /// If there is a second file.
    second: Option<Vec<u32>>,
}

impl Heads {
    fn new(request: &Request<'_>, words: usize) -> Self {
        let order = register_order(request.first.spec().method);
        let heads = |file: &SketchFile| -> Vec<u32> {
            let mut heads = Vec::with_capacity(file.len() * words);
            for row in (0..file.len()).map(|document| file.row(document)) {
                match &order {
                    None => heads.extend_from_slice(&row[..words]),
                    Some(order) => heads.extend(order[..words].iter().map(|&at| row[at])),
                }
            }
            heads
        };
        Self { words, first: heads(request.first), second: request.second.map(heads), order }
    }

    fn first(&self, document: usize) -> &[u32] {
        &self.first[document * self.words..][..self.words]
    }

    fn second(&self, document: usize) -> &[u32] {
        &self.second.as_ref().unwrap_or(&self.first)[document * self.words..][..self.words]
    }
}

struct Pairs<'a> {
    first: &'a SketchFile,
    second: &'a SketchFile,
    tiles: Tiles,
    wanted: Option<[BTreeSet<usize>; 2]>,
    sketcher: Arc<dyn Sketcher>,
    kernel: Kernel,
    way: Way,
    threshold: f64,
    /// Whether some documents have no shingles and must be passed over.
    has_empty: bool,
}

impl<'a> Pairs<'a> {
    fn new(request: &Request<'a>) -> Result<Self, Error> {
        let first = request.first;
        let second = request.second.unwrap_or(first);
        check_same(first, second)?;
        let wanted = request.of.map(|ids| wanted(ids, first, second)).transpose()?;
        let sketcher = first.spec().sketcher()?;
        let words = sketcher.words();
        let tiles = match request.second {
            None => Tiles::within(first.len(), words),
            Some(second) => Tiles::between(first.len(), second.len(), words),
        };
        let is_empty = |file: &SketchFile| (0..file.len()).any(|document| !file.has_shingles(document));
        Ok(Self {
            first,
            second,
            tiles,
            wanted,
            way: way(request, &*sketcher)?,
            kernel: Kernel::detect(),
            sketcher,
            threshold: request.threshold,
            has_empty: is_empty(first) || is_empty(second),
        })
    }

    /// The pairs of one tile: what was compared, and those that reach the threshold.
    fn compare(&self, tile: usize, counts: &mut Vec<u32>) -> (Compared, Vec<EstimatedPair>) {
        let mut compared = Compared::default();
        let mut found = vec![];
        let words = self.sketcher.words() as u64;
        self.tiles.for_each_stretch(tile, |first, others| {
            if self.has_empty && !self.first.has_shingles(first) {
                return;
            }
            let row = self.first.row(first);
            if let (Way::Bits(limit), None, false) = (&self.way, &self.wanted, self.has_empty) {
                let pairs = others.len() as u64;
                compared.pairs += pairs;
                compared.words += pairs * words;
                compared.of_words += pairs * words;
                let Some(limit) = *limit else { return };
                counts.resize(others.len(), 0);
                self.kernel.different_bits_of_rows(row, self.second.rows_of(others.clone()), counts);
                if any_at_most(counts, limit) {
                    let near = counts.iter().zip(others).filter(|(count, _)| **count <= limit);
                    found.extend(near.map(|(_, second)| self.estimated(first, second)));
                }
                return;
            }
            for second in others.filter(|&second| self.is_wanted(first, second)) {
                compared.pairs += 1;
                compared.of_words += words;
                compared.words += match &self.way {
                    Way::Looks(filter, heads) => {
                        let count = |range: Range<usize>| {
                            let other = self.second.row(second);
                            match &heads.order {
                                _ if range == (0..heads.words) => {
                                    self.kernel.equal_words(heads.first(first), heads.second(second))
                                }
                                None => self.kernel.equal_words(&row[range.clone()], &other[range]),
                                Some(order) => {
                                    order[range].iter().filter(|&&at| row[at] == other[at]).count()
                                }
                            }
                        };
                        match filter.decide_by(count) {
                            Decision::Reject { compared } => compared as u64,
                            // Printed with the estimate of all registers.
                            Decision::Accept { .. } => {
                                found.push(self.estimated(first, second));
                                words
                            }
                        }
                    }
                    Way::Bits(_) | Way::Full => {
                        found.push(self.estimated(first, second));
                        words
                    }
                };
            }
        });
        found.retain(|pair| pair.estimate.value >= self.threshold);
        found.sort_unstable_by_key(|pair| (pair.first, pair.second));
        (compared, found)
    }

    fn estimated(&self, first: usize, second: usize) -> EstimatedPair {
        let estimate = self.sketcher.estimate(self.first.row(first), self.second.row(second));
        EstimatedPair { first, second, estimate }
    }

    fn is_wanted(&self, first: usize, second: usize) -> bool {
        (!self.has_empty || self.second.has_shingles(second))
            && self.wanted.as_ref().is_none_or(|[a, b]| a.contains(&first) || b.contains(&second))
    }
}

fn way(request: &Request<'_>, sketcher: &dyn Sketcher) -> Result<Way, Error> {
    let (threshold, method) = (request.threshold, request.first.spec().method);
    Ok(match sketcher.statistic() {
        Statistic::EqualBits => Way::Bits(most_different_bits(sketcher, threshold)),
        Statistic::EqualWords => {
            let Some(error) = request.filter.filter(|_| threshold > 0.0 && threshold < 1.0) else {
                return Ok(Way::Full);
            };
            let looks = default_looks(method.registers());
            let filter = Filter::of(method, threshold, 1, &looks, Budget::Exact(error))?;
            filter.map_or(Way::Full, |filter| {
                let words = filter.looks().first().map_or(0, |look| look.registers);
                Way::Looks(filter, Heads::new(request, words))
            })
        }
        Statistic::Other => Way::Full,
    })
}

/// Whether any count is at most the limit. Written so that every machine does it with vectors.
fn any_at_most(counts: &[u32], limit: u32) -> bool {
    counts.iter().fold(0, |seen, count| seen | (count.wrapping_sub(limit + 1) >> 31)) != 0
}

/// The most bits in which two rows may differ for the estimate to reach the threshold.
fn most_different_bits(sketcher: &dyn Sketcher, threshold: f64) -> Option<u32> {
    let zeros = vec![0u32; sketcher.words()];
    let reaches = |bits: u32| {
        let mut row = zeros.clone();
        for bit in 0..bits {
            row[bit as usize / 32] |= 1 << (bit % 32);
        }
        sketcher.estimate(&zeros, &row).value >= threshold
    };
    if !reaches(0) {
        return None;
    }
    let (mut low, mut high) = (0, zeros.len() as u32 * 32 + 1);
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if reaches(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// The documents of both files that have one of the ids.
fn wanted(ids: &[String], first: &SketchFile, second: &SketchFile) -> Result<[BTreeSet<usize>; 2], Error> {
    let mut missing: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let all = missing.clone();
    let found = [first, second].map(|file| {
        let wanted = |&document: &usize| {
            let id = file.id(document);
            missing.remove(id);
            all.contains(id)
        };
        (0..file.len()).filter(wanted).collect()
    });
    match ids.iter().find(|id| missing.contains(id.as_str())) {
        Some(id) => {
            let hint = "ids are those that the documents had when they were sketched";
            Err(ErrorKind::NoSuchId { id: id.clone(), hint: hint.into() }.into())
        }
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_at_the_limit_are_seen() {
        assert!(!any_at_most(&[], 5));
        assert!(!any_at_most(&[6, 1024, 7], 5));
        assert!(any_at_most(&[6, 5, 7], 5));
        assert!(any_at_most(&[0], 0));
    }

    #[test]
    fn the_limit_is_the_last_count_that_reaches_the_threshold() {
        let sketcher = "b-bit:1/minhash:1024".parse::<minwise::sketch::Method>().unwrap().build(1).unwrap();
        // Ĵ = 2·Ê − 1 ≥ 0.8 as long as at most a tenth of the bits differ.
        assert_eq!(most_different_bits(&*sketcher, 0.8), Some(102));
        assert_eq!(most_different_bits(&*sketcher, 1.0), Some(0));
        assert_eq!(most_different_bits(&*sketcher, 0.0), Some(1024));
    }
}
