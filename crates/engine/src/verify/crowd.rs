//! A crowd is 64 documents or more on one shelf. Their sketches lie side by side in memory, so that one document is
//! screened against all of them at once. A head has the first values of a sketch, with one to four bits per value.
//!
//! Filled-in copies of one form have a similarity of 0.5 or more, so their first registers do not separate them from
//! similar pairs. Parity bits do, because shingles that all documents share cancel. If a crowd is dense, its documents
//! are therefore screened by parity bits, folded to the width that [`Crowd::choose_fold`] finds cheapest on a sample.

use std::ops::Range;

use minwise::Observer;
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::{self, Heads};
use minwise::verify::parity::{Bound, allowance, fold_into};

use crate::candidate::head::{HeadRule, near_cost};
use crate::candidate::screen::Screen;
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::rows::RowLayout;

/// Maximum number of documents per task of a scan.
const TOGETHER: usize = 16;
/// Number of bytes of heads that are compared together and stay in the cache.
const STRETCH_BYTES: usize = 32 << 10;

/// Cost of comparing all parity bits, without folding, in instructions per eight pairs. Each word of the bits costs
/// `PARITY_WORD_COST` more. Most of the cost is cache misses.
const PARITY_COST: f64 = 200.0;
const PARITY_WORD_COST: f64 = 6.0;
/// Number of documents of the crowd with which each probe of a sample is compared.
const SAMPLED: usize = 16;

/// Documents of a crowd, with their heads and parity bits.
pub(super) struct Crowd<'a> {
    screen: &'a Screen,
    rows: &'a RowLayout,
    rule: HeadRule,
    heads: Heads,
    /// Number of each document in its neighbourhood, in ascending order.
    numbers: Vec<u32>,
    /// Parity bits of each document, if the crowd is dense.
    parities: Parities,
    /// Folded copy of the parity bits, if the scan compares parity bits before sketches.
    fold: Option<Fold>,
    /// Number of documents at which `fold` is chosen again.
    choose_at: usize,
    /// Buffer for the words of a row.
    words: Vec<u32>,
}

/// Folded parity bits of documents, each with its allowance. A pair of documents is not rejected if their bits differ
/// in at most the sum of their allowances.
#[derive(Debug)]
struct Fold {
    heads: Heads,
    /// Buffer for the words of one folded array.
    folded: Vec<u64>,
    threshold: f64,
}

impl Fold {
    fn new(words: usize, threshold: f64) -> Self {
        Self { heads: Heads::new(words, 1), folded: vec![0; words], threshold }
    }

    /// Adds a document. If the parity bits of the document are unknown, no scan rejects the document.
    fn push(&mut self, known: Option<(usize, &[u32])>) {
        self.folded.fill(0);
        let allowed = known.map_or(heads::ALL, |(size, array)| {
            fold_into(array, &mut self.folded);
            allowance(size, self.threshold)
        });
        self.heads.push_allowing(&self.folded, allowed);
    }

    /// Returns the number of bits of a folded array, in units of 32-bit registers.
    fn compared(&self) -> usize {
        2 * self.heads.words()
    }
}

/// Parity bits of documents, one array after the other.
#[derive(Debug, Default)]
struct Parities {
    /// Number of words per array.
    width: usize,
    /// Size of each set, or `None` if its parity bits are unknown.
    sizes: Vec<Option<u32>>,
    words: Vec<u32>,
}

impl Parities {
    fn of(&self, place: usize) -> Option<(usize, &[u32])> {
        let size = (*self.sizes.get(place)?)?;
        Some((size as usize, &self.words[place * self.width..][..self.width]))
    }
}

impl<'a> Crowd<'a> {
    /// Creates an empty crowd, or returns `None` if the filter rejects no pair.
    pub(super) fn new(screen: &'a Screen, rows: &'a RowLayout) -> Option<Self> {
        let rule = screen.crowd_rule()?;
        Some(Self {
            screen,
            rows,
            rule,
            heads: rule.heads(),
            numbers: vec![],
            parities: Parities::default(),
            fold: None,
            choose_at: 0,
            words: vec![],
        })
    }

    /// Returns the number of documents.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds a document, given its row.
    pub(super) fn put(&mut self, number: u32, row: &[u32]) {
        self.numbers.push(number);
        self.words.clear();
        self.screen.extend_compared(self.rows.compared(row), &mut self.words);
        self.rule.push(&self.words, &mut self.heads);
    }

    /// Returns the first document whose parity bits were not added, if there is one.
    pub(super) fn next_parity(&self) -> Option<u32> {
        self.numbers.get(self.parities.sizes.len()).copied()
    }

    /// Returns the number of words of parity bits per document, which is 0 until it is [chosen](Self::set_width).
    pub(super) fn width(&self) -> usize {
        self.parities.width
    }

    /// Sets the number of words of parity bits per document.
    pub(super) fn set_width(&mut self, width: usize) {
        self.parities.width = width;
    }

    /// Adds the parity bits of the [next document](Self::next_parity). `read` writes them and returns the size of the
    /// set, or `None` if the set has no parity bits.
    pub(super) fn put_parity(
        &mut self,
        read: impl FnOnce(&mut [u32]) -> Result<Option<u32>, Error>,
    ) -> Result<(), Error> {
        let place = self.parities.sizes.len();
        let begin = place * self.parities.width;
        self.parities.words.resize(begin + self.parities.width, 0);
        self.parities.sizes.push(read(&mut self.parities.words[begin..])?);
        if let Some(fold) = &mut self.fold {
            fold.push(self.parities.of(place));
        }
        Ok(())
    }

    /// Chooses whether this crowd and `probes` are screened by their sketches or by their folded parity bits. `open` is
    /// the share of pairs that the sketches did not reject. The choice is repeated whenever the crowd has doubled, and
    /// depends only on the documents and on the width of their parity bits.
    pub(super) fn choose_fold(&mut self, probes: &mut Self, threshold: f64, open: f64) {
        if self.len() >= self.choose_at {
            self.choose_at = 2 * self.len();
            let whole = self.parities.width / 2;
            let whole_cost = PARITY_COST + PARITY_WORD_COST * self.parities.width as f64;
            let by_heads = (self.rule.cost() + whole_cost * open, None);
            let widths = (0..=whole.trailing_zeros()).map(|bits| 1_usize << bits);
            let by_parity = widths.map(|words| {
                // If the parity bits are screened without folding, the remaining pairs are not compared by parity bits
                // again.
                let open = if words == whole { 0.0 } else { self.share_open(probes, words, threshold) };
                (near_cost(words, 1) + whole_cost * open, Some(words))
            });
            let least = by_parity.fold(by_heads, |a, b| if b.0 < a.0 { b } else { a });
            if least.1 != self.fold.as_ref().map(|fold| fold.heads.words()) {
                self.fold_to(least.1, threshold);
            }
        }
        probes.fold_to(self.fold.as_ref().map(|fold| fold.heads.words()), threshold);
    }

    /// Returns the share of a sample of pairs that arrays folded to `words` words do not reject.
    fn share_open(&self, probes: &Self, words: usize, threshold: f64) -> f64 {
        let step = self.len().div_ceil(SAMPLED).max(1);
        let folded = |crowd: &Self, place: usize| {
            crowd.parities.of(place).map(|(size, array)| {
                let mut folded = vec![0; words];
                fold_into(array, &mut folded);
                (allowance(size, threshold), folded)
            })
        };
        let sample: Vec<_> = (0..self.len()).step_by(step).map(|place| folded(self, place)).collect();
        let (mut seen, mut open) = (0_u32, 0_u32);
        for probe in (0..probes.len()).map(|place| folded(probes, place)) {
            for document in &sample {
                seen += 1;
                open += u32::from(match (&probe, document) {
                    (Some((a, x)), Some((b, y))) => {
                        let different: u64 =
                            x.iter().zip(y).map(|(x, y)| u64::from((x ^ y).count_ones())).sum();
                        different <= a + b
                    }
                    _ => true,
                });
            }
        }
        f64::from(open) / f64::from(seen.max(1))
    }

    /// Folds the parity bits of all documents to `words` words. `None` removes the folded bits.
    fn fold_to(&mut self, words: Option<usize>, threshold: f64) {
        // The old arrays are freed first, so that at most two copies are in memory.
        self.fold = None;
        self.fold = words.map(|words| {
            let mut fold = Fold::new(words, threshold);
            (0..self.parities.sizes.len()).for_each(|place| fold.push(self.parities.of(place)));
            fold
        });
    }

    /// Returns the size and the parity bits of the set of a document, if they are known.
    pub(super) fn parity_of(&self, number: u32) -> Option<(usize, &[u32])> {
        self.parities.of(self.numbers.binary_search(&number).ok()?)
    }

    /// Removes from `others` the documents whose known parity bits show that their similarity to `document` is below
    /// the threshold. Returns the number of removed documents, or `None` if the parity bits of `document` are unknown.
    pub(super) fn bound(&self, document: u32, others: &mut Vec<u32>, threshold: f64) -> Option<u64> {
        let (size, words) = self.parity_of(document)?;
        let (kernel, mut bound) = (Kernel::detect(), Bound::new(size, threshold));
        let before = others.len();
        others.retain(|&other| {
            let known = self.parity_of(other);
            known.is_none_or(|(size, other)| bound.leaves_open(size, kernel.different_bits(words, other)))
        });
        Some((before - others.len()) as u64)
    }

    /// Returns, per document of `probes`, the documents whose similarity to it may reach the threshold, in ascending
    /// order. Heads and known parity bits rule out all others.
    pub(super) fn scan(
        &self,
        probes: &Crowd<'_>,
        threshold: f64,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Scanned, Error> {
        let words = self.fold.as_ref().map_or(self.heads.words(), |fold| fold.heads.words());
        let stretch = (STRETCH_BYTES / (words * size_of::<u64>())).max(64);
        // Every thread gets the same number of tasks, because a block has few tasks and a waiting thread is lost time.
        let tasks = probes.len().div_ceil(TOGETHER).next_multiple_of(threads.max(1));
        let together = probes.len().div_ceil(tasks).max(1);
        let work = |(): &mut (), task: usize| -> Result<Scanned, Error> {
            if observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let probed: Range<usize> = task * together..((task + 1) * together).min(probes.len());
            let mut scans: Vec<Scan<'_>> =
                probed.clone().map(|place| Scan::new(self, probes, place, threshold)).collect();
            for begin in (0..self.len()).step_by(stretch) {
                let range = begin..(begin + stretch).min(self.len());
                for scan in &mut scans {
                    scan.take(range.clone());
                }
            }
            let mut all = Scanned::default();
            for scan in scans {
                let rejected = self.len() as u64 - scan.left_by_heads;
                all.rejected += rejected;
                all.compared += rejected * scan.compared() as u64;
                all.left_by_heads += scan.left_by_heads;
                all.open.push(scan.open.into_iter().map(|place| self.numbers[place as usize]).collect());
            }
            Ok(all)
        };
        let mut all = Scanned::default();
        parallel::in_order(
            probes.len().div_ceil(together),
            threads,
            || (),
            work,
            |mut some| {
                all.open.append(&mut some.open);
                all.rejected += some.rejected;
                all.compared += some.compared;
                all.left_by_heads += some.left_by_heads;
                Ok(())
            },
        )?;
        Ok(all)
    }
}

/// Pairs that a scan did not reject, with the counts of the scan.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// For each scanning document, the documents that the scan did not reject.
    pub(super) open: Vec<Vec<u32>>,
    /// Number of pairs that heads or folded parity bits rejected.
    pub(super) rejected: u64,
    /// Number of bits that were compared for the rejected pairs, in units of registers.
    pub(super) compared: u64,
    /// Number of pairs that remained before all parity bits were compared without folding.
    pub(super) left_by_heads: u64,
}

/// Scan of a crowd by one document.
struct Scan<'a> {
    crowd: &'a Crowd<'a>,
    probes: &'a Crowd<'a>,
    place: usize,
    kernel: Kernel,
    /// Parity bits of the scanning document, with the bound for its set size.
    parity: Option<(&'a [u32], Bound)>,
    /// Folded arrays of the crowd, folded arrays of the probes, and the allowance of the scanning document.
    folds: Option<(&'a Fold, &'a Fold, u64)>,
    open: Vec<u32>,
    left_by_heads: u64,
    /// Number of bits in which the array of each open document differs from the array of the scanning document.
    different: Vec<u32>,
}

impl<'a> Scan<'a> {
    fn new(crowd: &'a Crowd<'a>, probes: &'a Crowd<'a>, place: usize, threshold: f64) -> Self {
        let known = probes.parities.of(place);
        let parity = known.map(|(size, words)| (words, Bound::new(size, threshold)));
        let folds = match (&crowd.fold, &probes.fold, known) {
            (Some(fold), Some(own), Some((size, _))) => Some((fold, own, allowance(size, threshold))),
            _ => None,
        };
        Self {
            crowd,
            probes,
            place,
            kernel: Kernel::detect(),
            parity,
            folds,
            open: vec![],
            left_by_heads: 0,
            different: vec![],
        }
    }

    /// Returns the number of bits that are compared first per pair, in units of registers: the bits of a folded array,
    /// or of a head if arrays are not folded.
    fn compared(&self) -> usize {
        self.folds.map_or(self.crowd.rule.compared(), |(fold, ..)| fold.compared())
    }

    /// Scans the documents at some places of the crowd.
    fn take(&mut self, range: Range<usize>) {
        let (crowd, begin) = (self.crowd, self.open.len());
        if let Some((fold, own, allowed)) = self.folds {
            let allowed = allowed as usize;
            self.kernel.near(&own.heads, self.place, &fold.heads, range, allowed, &mut self.open);
        } else {
            let heads = &self.probes.heads;
            crowd.rule.screen(heads, self.place, &crowd.heads, range, self.kernel, &mut self.open);
        }
        self.left_by_heads += (self.open.len() - begin) as u64;
        let Some((words, bound)) = &mut self.parity else { return };
        let Parities { width, sizes, words: all } = &crowd.parities;
        if self.folds.is_some_and(|(fold, ..)| 2 * fold.heads.words() == *width) {
            return;
        }
        self.different.clear();
        self.kernel.different_bits_at(words, all, &self.open[begin..], &mut self.different);
        let mut left = begin;
        for (at, &different) in (begin..).zip(&self.different) {
            let place = self.open[at];
            let is_open =
                sizes[place as usize].is_none_or(|size| bound.leaves_open(size as usize, different as usize));
            self.open[left] = place;
            left += usize::from(is_open);
        }
        self.open.truncate(left);
    }
}
