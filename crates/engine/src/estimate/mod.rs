//! Estimates similarities from sketches, without reading documents.
//!
//! All pairs are screened by the first values of their sketches, the heads, in tiles that stay in the cache. A head
//! rejects a pair only if its estimate cannot reach the threshold, or if a look of the filter rejects it
//! ([`minwise::filter`]). The registers of the remaining pairs are compared look by look. Pairs that no look rejects
//! are estimated.

pub mod sketch_file;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use minwise::estimate::Estimate;
use minwise::filter::{ErrorBudget, Filter, FilterDecision, bit_looks, default_looks};
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;
use minwise::sketch::{DifferenceBound, Sketcher, Statistic, ValueLayout};
use minwise::{Observer, Stage};

use crate::candidate::head::{Condition, HeadRule, UNLIKE};
use crate::candidate::screen::register_order;
use crate::candidate::tiles::Tiles;
use crate::error::{Error, ErrorKind};
use crate::estimate::sketch_file::{SketchFile, check_same};
use crate::parallel;

/// Request to compare sketches. [`new`](Self::new) creates a request, and its fields can be changed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EstimateRequest<'a> {
    /// First file.
    pub first: &'a SketchFile,
    /// Second file. Without it, the documents of the first file are compared with one another.
    pub second: Option<&'a SketchFile>,
    /// Ids of documents. With ids, only pairs with at least one of these documents are compared.
    pub of: Option<&'a [String]>,
    /// Minimum estimate of the pairs that are reported.
    pub threshold: f64,
    /// Share of the pairs at the threshold that may be rejected before all their registers are compared.
    pub filter: Option<ErrorBudget>,
    /// Looks, as numbers of registers. Without them, [`default_looks`] are used.
    pub looks: Option<&'a [usize]>,
    /// Number of threads.
    pub threads: usize,
}

impl<'a> EstimateRequest<'a> {
    /// Creates a request for all pairs of one file whose estimates reach `threshold`, with one thread and without a
    /// filter.
    #[must_use]
    pub fn new(first: &'a SketchFile, threshold: f64) -> Self {
        Self { first, second: None, of: None, threshold, filter: None, looks: None, threads: 1 }
    }
}

/// Pair whose estimate reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EstimatedPair {
    /// Document of the first file.
    pub first: usize,
    /// Document of the second file, or of the first file if there is no second.
    pub second: usize,
    /// Similarity that the sketches estimate.
    pub estimate: Estimate,
}

/// Counts of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// Number of compared pairs.
    pub pairs: u64,
    /// Number of words of sketches that were compared, over all pairs.
    pub words: u64,
    /// Number of words that would be compared without a filter, over all pairs.
    pub of_words: u64,
    /// Share of the pairs at the threshold that the filter may reject by mistake, summed over all looks. The share is 0
    /// without a filter.
    pub filter_error: f64,
}

/// Compares all pairs, and calls `visit` for the pairs at or above the threshold, ordered by the first document and
/// then by the second. Documents without shingles are in no pair.
///
/// # Errors
/// Returns the first error of `visit`. Fails with [`ErrorKind::File`] if the two files have different specs, and with
/// [`ErrorKind::NoSuchId`] if an id in [`of`](EstimateRequest::of) belongs to no document. Fails with
/// [`ErrorKind::Spec`] if the threshold, the looks or the error of the filter is out of range, and with
/// [`ErrorKind::Cancelled`] if the observer cancels.
pub fn for_each_pair(
    request: &EstimateRequest<'_>,
    observer: &dyn Observer,
    mut visit: impl FnMut(&EstimatedPair) -> Result<(), Error> + Send,
) -> Result<Compared, Error> {
    let pairs = SketchPairs::new(request)?;
    observer.begin(Stage::Estimate, pairs.first.len() as u64);
    let mut sum = Compared { filter_error: pairs.filter_error(request), ..Compared::default() };
    let work = |open: &mut Vec<u32>, tile: usize| {
        if observer.cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        let found = pairs.compare(tile, open);
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

/// Heads of all sketches, and the further checks of the pairs that heads do not reject.
struct HeadScreening {
    rule: HeadRule,
    first: Heads,
    /// Heads of the second file, if there is one.
    second: Option<Heads>,
    /// Bounds of the number of differing values. Bounds are checked before the estimate is computed, because counting
    /// differences takes some nanoseconds and an estimate with its interval takes hundreds.
    bounds: Vec<DifferenceBound>,
    filter: Option<Filter>,
    /// Order in which registers are compared, if they are not exchangeable.
    order: Option<Vec<usize>>,
    /// Number of words that are compared if heads reject a pair.
    words: u64,
}

impl HeadScreening {
    fn new(
        request: &EstimateRequest<'_>,
        rule: HeadRule,
        bounds: Vec<DifferenceBound>,
        filter: Option<Filter>,
        statistic: Statistic,
    ) -> Self {
        let order =
            register_order(request.first.spec().method).filter(|_| statistic == Statistic::EqualWords);
        let heads = |file: &SketchFile| {
            let mut heads = rule.heads();
            let mut ordered = vec![];
            for row in (0..file.len()).map(|document| file.row(document)) {
                let row = match &order {
                    None => row,
                    Some(order) => {
                        ordered.clear();
                        ordered.extend(order.iter().map(|&at| row[at]));
                        &ordered
                    }
                };
                rule.push(row, &mut heads);
            }
            heads
        };
        let (first, second) = (heads(request.first), request.second.map(heads));
        let words = first.words() * size_of::<u64>() / size_of::<u32>();
        Self { rule, first, second, bounds, filter, order, words: words as u64 }
    }

    /// Reports whether the estimate of two rows can reach the threshold.
    fn may_reach(&self, a: &[u32], b: &[u32]) -> bool {
        self.bounds.iter().all(|&DifferenceBound { values, most }| {
            most.is_some_and(|most| values.different_within(a, b, 0..values.count()) <= most)
        })
    }

    fn second(&self) -> &Heads {
        self.second.as_ref().unwrap_or(&self.first)
    }
}

/// Method by which pairs are compared.
enum CompareBy {
    /// Nothing is compared, because no pair reaches the threshold.
    Nothing,
    /// Pairs are compared by their heads, and open pairs in full.
    Heads(Box<HeadScreening>),
    /// All pairs are compared in full.
    Full,
}

struct SketchPairs<'a> {
    first: &'a SketchFile,
    second: &'a SketchFile,
    tiles: Tiles,
    wanted: Option<[BTreeSet<usize>; 2]>,
    sketcher: Arc<dyn Sketcher>,
    kernel: Kernel,
    way: CompareBy,
    threshold: f64,
    /// Number of documents without shingles before each document of the second side, and in total. Documents without
    /// shingles are skipped. The list is empty if all documents have shingles.
    empty_before: Vec<u32>,
}

impl<'a> SketchPairs<'a> {
    fn new(request: &EstimateRequest<'a>) -> Result<Self, Error> {
        let first = request.first;
        let second = request.second.unwrap_or(first);
        check_same(first, second)?;
        let wanted = request.of.map(|ids| wanted(ids, first, second)).transpose()?;
        let sketcher = first.spec().method.build(first.spec().seed)?;
        let words = sketcher.words();
        let way = way(request, &*sketcher)?;
        // The tiles are made for heads, because few pairs remain to be compared by their rows.
        let words = if let CompareBy::Heads(screening) = &way { 2 * screening.first.words() } else { words };
        let tiles = match request.second {
            None => Tiles::within(first.len(), words),
            Some(second) => Tiles::between(first.len(), second.len(), words),
        };
        Ok(Self {
            first,
            second,
            tiles,
            wanted,
            way,
            kernel: Kernel::detect(),
            sketcher,
            threshold: request.threshold,
            empty_before: empty_before(second),
        })
    }

    /// Compares the pairs of one tile. Returns the counts, and the pairs that reach the threshold.
    fn compare(&self, tile: usize, open: &mut Vec<u32>) -> (Compared, Vec<EstimatedPair>) {
        let mut compared = Compared::default();
        let mut found = vec![];
        self.tiles.for_each_stretch(tile, |first, others| {
            if !self.first.has_shingles(first) {
                return;
            }
            match &self.wanted {
                Some([firsts, seconds]) if !firsts.contains(&first) => {
                    for &second in seconds.range(others) {
                        self.compare_with(first, second..second + 1, open, &mut compared, &mut found);
                    }
                }
                _ => self.compare_with(first, others, open, &mut compared, &mut found),
            }
        });
        found.sort_unstable_by_key(|pair| (pair.first, pair.second));
        (compared, found)
    }

    /// Compares a document with a stretch of other documents.
    fn compare_with(
        &self,
        first: usize,
        others: Range<usize>,
        open: &mut Vec<u32>,
        compared: &mut Compared,
        found: &mut Vec<EstimatedPair>,
    ) {
        let words = self.sketcher.words() as u64;
        let pairs = (others.len() - self.empty_within(&others)) as u64;
        compared.pairs += pairs;
        compared.of_words += pairs * words;
        open.clear();
        let mut accepts = |second: usize| {
            let estimate = self.sketcher.estimate(self.first.row(first), self.second.row(second));
            if estimate.value >= self.threshold {
                found.push(EstimatedPair { first, second, estimate });
            }
        };
        match &self.way {
            CompareBy::Nothing => {}
            CompareBy::Full => {
                compared.words += pairs * words;
                others.filter(|&second| self.second.has_shingles(second)).for_each(accepts);
            }
            CompareBy::Heads(screening) => {
                let HeadScreening { rule, first: heads, .. } = &**screening;
                rule.screen(heads, first, screening.second(), others, self.kernel, open);
                open.retain(|&second| self.second.has_shingles(second as usize));
                compared.words += (pairs - open.len() as u64) * screening.words;
                for second in open.iter().map(|&second| second as usize) {
                    let registers = screening.filter.as_ref().map_or(Some(words), |filter| {
                        self.decide(first, second, filter, screening.order.as_deref(), compared)
                    });
                    // If the filter accepts a pair early, the pair is still reported with the estimate of all
                    // registers.
                    if let Some(registers) = registers {
                        compared.words += registers;
                        if screening.may_reach(self.first.row(first), self.second.row(second)) {
                            accepts(second);
                        }
                    }
                }
            }
        }
    }

    /// Compares the registers of a pair look by look. If the pair is accepted, returns the number of words of a row,
    /// because the estimate then compares all of them. If it is rejected, adds the compared words to `compared` and
    /// returns `None`.
    fn decide(
        &self,
        first: usize,
        second: usize,
        filter: &Filter,
        order: Option<&[usize]>,
        compared: &mut Compared,
    ) -> Option<u64> {
        let (row, other) = (self.first.row(first), self.second.row(second));
        let decision = filter.decide_by(|range| match order {
            None => self.kernel.equal_words(&row[range.clone()], &other[range]),
            Some(order) => order[range].iter().filter(|&&at| row[at] == other[at]).count(),
        });
        match decision {
            FilterDecision::Accept { .. } => Some(row.len() as u64),
            FilterDecision::Reject { compared: registers } => {
                compared.words += registers as u64;
                None
            }
        }
    }

    /// Returns the error of the filter over all its looks.
    fn filter_error(&self, request: &EstimateRequest<'_>) -> f64 {
        let CompareBy::Heads(screening) = &self.way else { return 0.0 };
        match (&screening.filter, request.filter) {
            (Some(filter), Some(budget)) => budget.total(filter.looks().len()),
            (None, _) | (_, None) => 0.0,
        }
    }

    /// Returns the number of documents of a stretch that have no shingles.
    fn empty_within(&self, others: &Range<usize>) -> usize {
        if self.empty_before.is_empty() {
            return 0;
        }
        (self.empty_before[others.end] - self.empty_before[others.start]) as usize
    }
}

/// Returns, for each document, the number of documents before it that have no shingles. The last entry is the total.
/// The list is empty if all documents have shingles.
fn empty_before(file: &SketchFile) -> Vec<u32> {
    if (0..file.len()).all(|document| file.has_shingles(document)) {
        return vec![];
    }
    let mut before = vec![0; file.len() + 1];
    for document in 0..file.len() {
        before[document + 1] = before[document] + u32::from(!file.has_shingles(document));
    }
    before
}

fn way(request: &EstimateRequest<'_>, sketcher: &dyn Sketcher) -> Result<CompareBy, Error> {
    let (threshold, method) = (request.threshold, request.first.spec().method);
    let statistic = sketcher.statistic();
    // A sketch whose estimate is another function of the rows provides its own bounds.
    let bounds = if matches!(statistic, Statistic::EqualBits) {
        let values = ValueLayout::single_bits(sketcher.words());
        let most = most_different(sketcher, threshold, values.count(), |row, bit| {
            row[bit / 32] |= 1 << (bit % 32);
        });
        vec![DifferenceBound { values, most }]
    } else if matches!(statistic, Statistic::EqualWords) {
        let values = ValueLayout::registers(sketcher.words());
        let most = most_different(sketcher, threshold, values.count(), |row, word| row[word] = 1);
        vec![DifferenceBound { values, most }]
    } else {
        sketcher.bounds(threshold)
    };
    if bounds.iter().any(|bound| bound.most.is_none()) {
        return Ok(CompareBy::Nothing);
    }
    let filter = match (statistic, request.filter) {
        (Statistic::EqualWords, Some(budget)) if threshold > 0.0 && threshold < 1.0 => {
            let looks = request.looks.map_or_else(|| default_looks(method.registers()), <[usize]>::to_vec);
            Filter::of(method, threshold, 1, &looks, budget)?
        }
        _ => None,
    };
    // If too many of the first values of a pair differ, then too many of all values differ, so each bound is also a
    // condition for the first values.
    let of_bounds = bounds.iter().flat_map(|&DifferenceBound { values, most }| {
        let most = most.unwrap_or(0);
        bit_looks(values.count()).into_iter().map(move |first| Condition { values, first, most })
    });
    let of_filter =
        filter.iter().flat_map(|filter| rejecting(ValueLayout::registers(filter.registers()), filter));
    let rule = HeadRule::best(of_bounds.chain(of_filter), UNLIKE);
    Ok(rule.map_or(CompareBy::Full, |rule| {
        CompareBy::Heads(Box::new(HeadScreening::new(request, rule, bounds, filter, statistic)))
    }))
}

/// Returns the looks of a filter at which a pair can be rejected without checking earlier looks.
///
/// The number of matches only grows from look to look. If all earlier looks require more matches than the pair has now,
/// no earlier look can have accepted the pair.
fn rejecting(values: ValueLayout, filter: &Filter) -> impl Iterator<Item = Condition> {
    let mut accepting = usize::MAX;
    filter.looks().iter().filter_map(move |look| {
        let rejects = look.lower.filter(|&lower| lower < accepting && look.registers < filter.registers());
        accepting = accepting.min(look.upper.unwrap_or(usize::MAX));
        Some(Condition { values, first: look.registers, most: look.registers - rejects? - 1 })
    })
}

/// Returns the maximum number of differing values with which the estimate of two rows reaches the threshold, or `None`
/// if not even equal rows reach the threshold. The estimate must depend only on the number of differing values.
/// `change` makes one value differ from 0.
fn most_different(
    sketcher: &dyn Sketcher,
    threshold: f64,
    values: usize,
    change: impl Fn(&mut [u32], usize),
) -> Option<usize> {
    let zeros = vec![0u32; sketcher.words()];
    let reaches = |different: usize| {
        let mut row = zeros.clone();
        (0..different).for_each(|value| change(&mut row, value));
        sketcher.estimate(&zeros, &row).value >= threshold
    };
    if !reaches(0) {
        return None;
    }
    let (mut low, mut high) = (0, values + 1);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if reaches(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Returns, for each of the two files, the documents whose id is in `ids`. Fails if an id is in neither file.
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
    fn the_limit_is_the_last_count_that_reaches_the_threshold() {
        let sketcher = |method: &str| method.parse::<minwise::sketch::Method>().unwrap().build(1).unwrap();
        let bits = |threshold: f64| {
            let change = |row: &mut [u32], bit: usize| row[bit / 32] |= 1 << (bit % 32);
            most_different(&*sketcher("b-bit:1/minhash:1024"), threshold, 1024, change)
        };
        // Ĵ = 2·Ê − 1 is at least 0.8 as long as at most a tenth of the bits differ.
        assert_eq!(bits(0.8), Some(102));
        assert_eq!(bits(1.0), Some(0));
        assert_eq!(bits(0.0), Some(1024));
        let words = most_different(&*sketcher("minhash:128"), 0.8, 128, |row, word| row[word] = 1);
        assert_eq!(words, Some(25));
    }

    #[test]
    fn looks_after_an_early_acceptance_do_not_reject() {
        let looks = [64, 128, 256, 512, 1024];
        let filter = Filter::new(0.3, 1024, &looks, ErrorBudget::Exact(1e-2)).unwrap();
        let values = ValueLayout::registers(1024);
        let kept: Vec<usize> = rejecting(values, &filter).map(|condition| condition.first).collect();
        assert!(kept.contains(&64) && !kept.contains(&1024), "{kept:?}");
        for (at, look) in filter.looks().iter().enumerate() {
            let accepting = filter.looks()[..at].iter().filter_map(|look| look.upper).min();
            let safe = look.lower.is_some_and(|lower| accepting.is_none_or(|upper| lower < upper));
            assert_eq!(kept.contains(&look.registers), safe && look.registers < 1024);
        }
        assert!(kept.len() < looks.len() - 1, "some looks come too late: {kept:?}");
    }
}
