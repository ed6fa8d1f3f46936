//! Adds up the counts of all comparisons of a run, and finds the bands in which found pairs agree.

use minwise::candidate::{ExpectedRecall, FullShelves};
use minwise::cluster::{Clustering, SimilarDocuments};

use crate::candidate::screen::Screened;
use crate::error::Error;
use crate::read::documents::{Documents, RowChoice, RowReader};
use crate::rows::RowLayout;
use crate::settings::{Plan, Search};

/// Maximum number of reordered pairs that are listed. Further pairs are only counted.
const LISTED: usize = 1 << 20;

/// Pair that reaches the threshold but is no near-duplicate, because its shared shingles are at other positions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Reordered {
    /// Document of the pair that was read earlier.
    pub first: u32,
    /// Document of the pair that was read later.
    pub second: u32,
    /// Similarity of the two documents.
    pub similarity: f64,
    /// Standard error of the similarity; 0 if the similarity is exact.
    pub similarity_error: f64,
    /// Alignment share: the share of common shingles that are at about the same relative position in both documents.
    pub alignment: f64,
    /// Standard error of the alignment share; 0 if the share is exact.
    pub alignment_error: f64,
}

/// Counts of the judge of one neighbourhood.
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
    /// Lists a reordered pair, unless the list is full.
    pub(super) fn list(&mut self, pair: Reordered) {
        if self.reordered_pairs.len() < LISTED {
            self.reordered_pairs.push(pair);
        }
    }
}

/// Counts of the verification of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verification {
    /// Number of candidates: pairs that share a band, or that another search found or compared.
    pub candidates: u64,
    /// Counts of the filter for the candidates.
    pub screened: Screened,
    /// Number of pairs that were compared exactly.
    pub compared: u64,
    /// Number of compared pairs that reach the threshold.
    pub verified: u64,
    /// Number of pairs that reach the threshold by exact comparison, but are no near-duplicates because their exact
    /// alignment share is too low.
    pub reordered: u64,
    /// Number of pairs that were not compared exactly, because their sketches show that they are reordered. The
    /// similarity of these pairs may reach the threshold.
    pub reordered_estimated: u64,
    /// First million reordered pairs, of both exact and estimated ones.
    pub reordered_pairs: Vec<Reordered>,
    /// Expected recall: the share of similar pairs that was found, computed from the banding and the found pairs.
    pub expected_recall: ExpectedRecall,
    /// Full shelves, which left documents out.
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
            // For components, documents are connected by the first pairs that are found, and no other pairs are
            // compared.
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

    /// Returns the expected recall, or `None` if no pair was found although the search can miss pairs.
    #[must_use]
    pub fn known_recall(&self) -> Option<f64> {
        self.expected_recall.is_known().then(|| self.expected_recall.value())
    }

    /// Returns a lower bound of the recall, which holds in at least 98 of 100 runs. Returns `None` if a shelf was full,
    /// or if no pair was found although the search can miss pairs. A full shelf leaves out all later documents, and no
    /// found pair represents the pairs of two later documents.
    #[must_use]
    pub fn expected_recall_low(&self) -> Option<f64> {
        if self.full_shelves.shelves == 0 { self.expected_recall.low() } else { None }
    }

    /// Counts a pair that reaches the threshold. With the documents that equal its two documents, the pair counts as
    /// `pairs` pairs. If only one band found the pair, `alone` is that band. Returns the expected number of missed
    /// pairs per found pair of this kind.
    pub(crate) fn add(&mut self, found: &SimilarDocuments<'_>, alone: Option<usize>, pairs: u64) -> f64 {
        self.verified += 1;
        self.expected_recall.add(found.similarity, found.shares, alone, pairs)
    }

    /// Adds the counts of the judge of this neighbourhood. The pairs that reach the threshold were already counted by
    /// `add`.
    pub(super) fn take(&mut self, judged: Judged) {
        self.candidates += judged.candidates;
        self.screened.merge(&judged.screened);
        self.compared += judged.compared;
        self.reordered += judged.reordered;
        self.reordered_estimated += judged.reordered_estimated;
        self.reordered_pairs = judged.reordered_pairs;
        self.full_shelves.merge(judged.full_shelves);
    }

    /// Adds the counts of another neighbourhood.
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

/// Finds the bands in which found pairs agree. One `Agreement` serves many neighbourhoods, because its reader caches
/// rows that are on disk.
pub(crate) struct Agreement<'a> {
    /// Layout of the rows, or `None` if bands were not used to find candidates.
    rows: Option<&'a RowLayout>,
    reader: RowReader<'a>,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(documents: &'a Documents, rows: &'a RowLayout, plan: &Plan) -> Self {
        let rows = (plan.search == Search::Banding).then_some(rows);
        Self { rows, reader: RowReader::new(documents, RowChoice::Sketch) }
    }

    /// Returns the band that found a pair of these documents, if no other band found it.
    ///
    /// The earlier document may have been left out of each full shelf. A pair therefore counts as found by one band
    /// alone if it agrees in at most one band besides the bands of full shelves.
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
