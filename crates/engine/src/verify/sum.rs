//! The counts of all comparisons of a run, and in which bands the pairs that were found agree.

use minwise::candidate::{ExpectedRecall, FullShelves};
use minwise::cluster::{Clustering, SimilarDocuments};

use crate::candidate::screen::Screened;
use crate::error::Error;
use crate::read::documents::{Documents, RowChoice, RowReader};
use crate::rows::RowLayout;
use crate::settings::{Plan, Search};

/// Reordered pairs that are listed one by one; any more are only counted.
const LISTED: usize = 1 << 20;

/// A pair that reaches the threshold and is no near-duplicate, because what it shares stands in other places.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Reordered {
    /// One document.
    pub first: u32,
    /// The other, which was read later.
    pub second: u32,
    /// Their similarity.
    pub similarity: f64,
    /// The standard error of their similarity; 0 if it is exact.
    pub similarity_error: f64,
    /// The share of their common shingles that stand in about the same places.
    pub alignment: f64,
    /// The standard error of their alignment share; 0 if it is exact.
    pub alignment_error: f64,
}

/// What the judge of one neighbourhood counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    pub(super) candidates: u64,
    pub(super) screened: Screened,
    pub(super) compared: u64,
    pub(super) reordered: u64,
    pub(super) reordered_estimated: u64,
    pub(super) reordered_pairs: Vec<Reordered>,
    pub(super) full_shelves: FullShelves,
}

impl Judged {
    /// Lists a reordered pair, while there are not too many.
    pub(super) fn list(&mut self, pair: Reordered) {
        if self.reordered_pairs.len() < LISTED {
            self.reordered_pairs.push(pair);
        }
    }
}

/// What verification adds up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verification {
    /// Pairs that were looked at: those that share a band, or were found or compared in another way.
    pub candidates: u64,
    /// What the filter made of them.
    pub screened: Screened,
    /// Pairs that were compared exactly.
    pub compared: u64,
    /// Pairs of them that reach the threshold.
    pub verified: u64,
    /// Pairs that exactly reach the threshold, and are no near-duplicates because they are exactly reordered.
    pub reordered: u64,
    /// Pairs that were not compared exactly, because their sketches say that they are reordered; their similarity may
    /// reach the threshold.
    pub reordered_estimated: u64,
    /// The first million of both.
    pub reordered_pairs: Vec<Reordered>,
    /// The share of similar pairs that was found, as the banding implies it.
    pub expected_recall: ExpectedRecall,
    /// Shelves that left documents out because they were full.
    pub full_shelves: FullShelves,
}

impl Verification {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut expected_recall = ExpectedRecall::new(plan.curve());
        let order = plan.filter.filter(|_| plan.asks_places());
        for error in [plan.filter_error(), order].into_iter().flatten() {
            expected_recall = expected_recall.with_loss(error);
        }
        if plan.cluster == Clustering::Components {
            // They connect documents by the first pairs that are found, and look at no others.
            expected_recall = expected_recall.with_least(plan.threshold);
        }
        Self {
            candidates: 0,
            screened: Screened::default(),
            compared: 0,
            verified: 0,
            reordered: 0,
            reordered_estimated: 0,
            reordered_pairs: vec![],
            expected_recall,
            full_shelves: FullShelves::default(),
        }
    }

    /// The share of the similar pairs that was found; `None` if nothing is known of it, because nothing was found.
    #[must_use]
    pub fn known_recall(&self) -> Option<f64> {
        self.expected_recall.is_known().then(|| self.expected_recall.value())
    }

    /// A share of the similar pairs that the true one is not below, in 98 of 100 runs at least. `None` if nothing was found, and if
    /// shelves were full: a full shelf leaves out both documents of a pair that comes late, and no found pair stands for it.
    #[must_use]
    pub fn expected_recall_low(&self) -> Option<f64> {
        if self.full_shelves.shelves == 0 { self.expected_recall.low() } else { None }
    }

    /// Counts a pair that reaches the threshold and stands for `pairs` pairs of documents, of which `alone` is the only band
    /// that found it. Returns how many such pairs are missed for each one that is found.
    pub(crate) fn add(&mut self, found: &SimilarDocuments<'_>, alone: Option<usize>, pairs: u64) -> f64 {
        self.verified += 1;
        self.expected_recall.add(found.similarity, found.shares, alone, pairs)
    }

    /// Adds what the judge of the neighbourhood counted, of which this has the pairs that reach the threshold.
    pub(super) fn take(&mut self, judged: Judged) {
        self.candidates += judged.candidates;
        self.screened.merge(&judged.screened);
        self.compared += judged.compared;
        self.reordered += judged.reordered;
        self.reordered_estimated += judged.reordered_estimated;
        self.reordered_pairs = judged.reordered_pairs;
        self.full_shelves.merge(judged.full_shelves);
    }

    /// Adds what was counted in another neighbourhood.
    pub(super) fn merge(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.screened.merge(&other.screened);
        self.compared += other.compared;
        self.verified += other.verified;
        self.reordered += other.reordered;
        self.reordered_estimated += other.reordered_estimated;
        let room = LISTED - self.reordered_pairs.len();
        self.reordered_pairs.extend(other.reordered_pairs.iter().take(room));
        self.expected_recall.merge(&other.expected_recall);
        self.full_shelves.merge(other.full_shelves);
    }
}

/// Looks up the bands of found pairs. It serves one neighbourhood after the other, because it keeps rows that are on disk.
pub(crate) struct Agreement<'a> {
    /// None if candidates were found otherwise than by bands.
    rows: Option<&'a RowLayout>,
    reader: RowReader<'a>,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(documents: &'a Documents, rows: &'a RowLayout, plan: &Plan) -> Self {
        let rows = (plan.search == Search::Banding).then_some(rows);
        Self { rows, reader: RowReader::new(documents, RowChoice::Sketch) }
    }

    /// The band that found a pair of these documents, if no other band did.
    ///
    /// The earlier document may have been left out of each full shelf, so a pair counts as found by one band alone if it
    /// agrees in no more than one besides the full ones.
    pub(crate) fn alone(
        &mut self,
        found: &SimilarDocuments<'_>,
        [a, b]: [u32; 2],
    ) -> Result<Option<usize>, Error> {
        let Some(rows) = &self.rows else { return Ok(None) };
        let (a, b) = self.reader.pair(a, b)?;
        let mut agrees = (0..rows.bands()).filter(|&band| rows.key(band, a) == rows.key(band, b));
        let first = agrees.next();
        let is_alone = agrees.nth(found.shares.len()).is_none();
        Ok(first.filter(|_| is_alone))
    }
}
