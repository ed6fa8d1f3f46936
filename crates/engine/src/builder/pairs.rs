//! Builder and result of runs that find near-duplicate pairs.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::slice;

use minwise::verify::Measure;
use minwise::{Observer, Spec, Unobserved};
use minwise_corpus::arrow_array::RecordBatch;
use minwise_corpus::arrow_schema::SchemaRef;
use minwise_corpus::{FieldPath, InMemory, Input, Nulls, ReadOptions};

use super::positions::Positions;
use super::shared::shared_options;
use crate::error::{Error, SettingProblem};
use crate::memory::MemoryLimit;
use crate::read::rejects::RunRejects;
use crate::run::{Destination, PairFormat, PairsOptions, PairsOutcome, PairsRun};
use crate::settings::{Bands, RunSettings, Search};

/// Finds near-duplicate pairs.
///
/// `Pairs` collects the options of a [`PairsRun`]. [`run`](Self::run) checks all options and does the work.
///
/// ```
/// use minwise_engine::Pairs;
///
/// let spec = "nfkc+casefold / words:2 / minhash:128 / seed:1";
/// let texts = ["the cat sat on the mat", "The cat sat on the mat today.", "a dog"];
/// let pairs = Pairs::new().spec(spec).threshold(0.7).texts(texts).run()?;
/// assert_eq!(pairs.len(), 1);
/// assert_eq!((pairs[0].first, pairs[0].second), (0, 1));
/// assert_eq!(pairs[0].similarity, 5.0 / 6.0);
/// # Ok::<(), minwise_engine::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "nothing happens before `run`"]
pub struct Pairs {
    options: PairsOptions,
    /// Problems of options that could not be parsed, which `build` reports.
    problems: Vec<SettingProblem>,
    /// Recall, if it was set. The recall is stored apart from the bands, because setting both is an error.
    recall: Option<f64>,
}

/// Methods that create, check and execute a run.
impl Pairs {
    /// Creates a builder with the default options and without inputs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks all options without reading anything.
    ///
    /// # Errors
    /// If any option is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all problems.
    pub fn build(self) -> Result<PairsRun, Error> {
        let (options, problems) = self.parts();
        PairsRun::checked(options, problems)
    }

    /// Reads the inputs, compares documents, and lists the pairs.
    ///
    /// The list takes 24 bytes per pair. If the pairs may not fit into memory, [`build`](Self::build) a run: its
    /// outcome [visits](PairsOutcome::for_each) the pairs one by one.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings) if an option is invalid. Fails with
    /// [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if a file cannot
    /// be read or written. [`read`](fn@crate::stages::read) lists the errors that come from documents. A bad record is
    /// not an error: it is [rejected](FoundPairs::rejects).
    pub fn run(self) -> Result<FoundPairs, Error> {
        self.run_observed(&Unobserved)
    }

    /// Does the same as [`run`](Self::run), and reports progress and warnings to `observer`, which may cancel the run.
    ///
    /// # Errors
    /// Fails for the same reasons as [`run`](Self::run), and if the observer cancels. [`Error::is_cancelled`] is true
    /// then.
    pub fn run_observed(self, observer: &dyn Observer) -> Result<FoundPairs, Error> {
        FoundPairs::new(self.build()?.execute(observer)?, observer)
    }
}

shared_options!(Pairs, PairsOptions);

/// Options for the pairs that are listed, and for the file to which they are written.
impl Pairs {
    /// Lists only the pairs of the documents with these ids, as [`FoundPairs::id`] returns them. Default: all pairs.
    pub fn of<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.options.of.get_or_insert_default().extend(ids.into_iter().map(Into::into));
        self
    }

    /// Writes the pairs to a file, one per line. Default: the pairs are only in the result.
    pub fn write(mut self, path: impl AsRef<Path>, format: PairFormat) -> Self {
        self.options.output = Some(Destination::from(path.as_ref()));
        self.options.format = format;
        self
    }

    /// Replaces an existing file. Default: an existing file is an error.
    pub fn overwrite(mut self) -> Self {
        self.options.overwrite = true;
        self
    }
}

impl From<PairsOptions> for Pairs {
    fn from(options: PairsOptions) -> Self {
        Self { options, problems: vec![], recall: None }
    }
}

/// Pair of near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FoundPair {
    /// Index of the document that comes first.
    pub first: usize,
    /// Index of the document that comes later.
    pub second: usize,
    /// Exact similarity of the two documents.
    pub similarity: f64,
}

/// Result of [`Pairs`]: a list of pairs, ordered by the index of the first document, then of the second.
///
/// A document is identified by its index: the position of its record among all records of the inputs, from 0. Rejected
/// records have a position too, so for a list of texts the index is always the position in the list.
#[derive(Debug)]
pub struct FoundPairs {
    outcome: PairsOutcome,
    positions: Positions,
    pairs: Vec<FoundPair>,
}

impl FoundPairs {
    fn new(outcome: PairsOutcome, observer: &dyn Observer) -> Result<Self, Error> {
        let positions = Positions::new(outcome.reading(), outcome.corpus())?;
        let mut pairs = vec![];
        outcome.found().for_each(observer, |pair| {
            let [first, second] = [pair.first, pair.second].map(|document| positions.index(document));
            pairs.push(FoundPair { first, second, similarity: pair.similarity });
            Ok(())
        })?;
        Ok(Self { outcome, positions, pairs })
    }

    /// Returns the pairs as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[FoundPair] {
        &self.pairs
    }

    /// Returns the pairs as a vector, without the other results.
    #[must_use]
    pub fn into_vec(self) -> Vec<FoundPair> {
        self.pairs
    }

    /// Returns the unique id of a document. If the id of the record is unique, that id is returned. If the id is
    /// repeated or missing, the path of the file as it was given and the line are returned, such as
    /// `data/part.jsonl:7`. For documents in memory, a missing id is `memory:7`, and repeated ids are `rose`, `rose#2`
    /// and so on, in keeper order. Returns `None` if the record was rejected or does not exist.
    /// [`record_id`](Self::record_id) returns the id that the record has.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if ids are in a temporary file that cannot be read.
    pub fn id(&self, index: usize) -> Result<Option<Cow<'_, str>>, Error> {
        let id = |document| self.outcome.reading().documents.id(document, self.outcome.corpus());
        self.positions.document(index).map(id).transpose()
    }

    /// Returns the id that the record has, even if other documents have the same id. Returns `None` if the record has
    /// no id, was rejected, or does not exist.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if ids are in a temporary file that cannot be read.
    pub fn record_id(&self, index: usize) -> Result<Option<Cow<'_, str>>, Error> {
        let Some(document) = self.positions.document(index) else { return Ok(None) };
        let id = self.outcome.reading().documents.raw_id(document)?;
        Ok((!id.is_empty()).then_some(id))
    }

    /// Returns the number of records of the inputs, including rejected ones.
    #[must_use]
    pub fn records(&self) -> usize {
        self.positions.len()
    }

    /// Returns the indices of the rejected records, in ascending order. [`rejects`](Self::rejects) has the reasons, in
    /// the same order.
    pub fn rejected(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.rejected()
    }

    /// Returns the rejected records, each with its file, line, id and reason.
    #[must_use]
    pub fn rejects(&self) -> RunRejects<'_> {
        RunRejects::new(self.outcome.rejects(), self.outcome.corpus())
    }

    /// Returns the outcome of the [`PairsRun`], which has the counts of the run.
    #[must_use]
    pub fn outcome(&self) -> &PairsOutcome {
        &self.outcome
    }
}

impl std::ops::Deref for FoundPairs {
    type Target = [FoundPair];

    fn deref(&self) -> &[FoundPair] {
        &self.pairs
    }
}

impl<'a> IntoIterator for &'a FoundPairs {
    type Item = &'a FoundPair;
    type IntoIter = slice::Iter<'a, FoundPair>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.iter()
    }
}

impl IntoIterator for FoundPairs {
    type Item = FoundPair;
    type IntoIter = std::vec::IntoIter<FoundPair>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter()
    }
}
