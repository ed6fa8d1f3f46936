//! Near-duplicate pairs found.

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
/// A builder over [`PairsRun`]: it collects options, and [`run`](Self::run) checks all of them and does the work.
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
    /// The recall, if it was set. It is kept apart from the bands, because both together are refused.
    recall: Option<f64>,
}

/// Begins, checks and runs.
impl Pairs {
    /// A run with the default options, without inputs.
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

    /// Reads, compares and lists.
    ///
    /// The list has 24 bytes per pair. If there may be more pairs than memory for them, [`build`](Self::build) a run, whose
    /// outcome [visits](PairsOutcome::for_each) them one by one.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings) if an option is invalid, and with
    /// [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if something cannot be read or
    /// written. [`read`](fn@crate::stages::read) lists the errors that come from documents. A bad record is no error: it is
    /// [rejected](FoundPairs::rejects).
    pub fn run(self) -> Result<FoundPairs, Error> {
        self.run_observed(&Unobserved)
    }

    /// Reads, compares and lists, and reports progress and warnings to `observer`, which may cancel the run.
    ///
    /// # Errors
    /// Fails where [`run`](Self::run) does, and if the observer cancels; [`Error::is_cancelled`] is true then.
    pub fn run_observed(self, observer: &dyn Observer) -> Result<FoundPairs, Error> {
        FoundPairs::new(self.build()?.execute(observer)?, observer)
    }
}

shared_options!(Pairs, PairsOptions);

/// Which pairs are listed, and where they are written.
impl Pairs {
    /// Lists only the pairs of the documents with these ids. An id is the one that [`FoundPairs::id`] gives. Default: all
    /// pairs.
    pub fn of<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.options.of.get_or_insert_default().extend(ids.into_iter().map(Into::into));
        self
    }

    /// Writes the pairs to a file, one per line. Default: they are in the result only.
    pub fn write(mut self, path: impl AsRef<Path>, format: PairFormat) -> Self {
        self.options.output = Some(Destination::from(path.as_ref()));
        self.options.format = format;
        self
    }

    /// Replaces a file that exists. Default: the run refuses to.
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

/// Two near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FoundPair {
    /// The index of the document that comes first.
    pub first: usize,
    /// The index of the other one.
    pub second: usize,
    /// Their exact similarity.
    pub similarity: f64,
}

/// The result of [`Pairs`]: a list of pairs in ascending order.
///
/// Documents go by their index: the position of their record among all records of the inputs, from 0. Rejected records take
/// up a position too, so for a list of texts the index is always the position in the list.
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

    /// The pairs as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[FoundPair] {
        &self.pairs
    }

    /// The pairs as a list of their own.
    #[must_use]
    pub fn into_vec(self) -> Vec<FoundPair> {
        self.pairs
    }

    /// The id of a document, which no other document has: its own if it is unique. If it is repeated or missing, it is the path
    /// of its file as it was given, and its line, such as `data/part.jsonl:7`, or `memory:7`; in memory, repeated ids are `rose`, `rose#2` and so on, in the
    /// order in which the policy for keepers prefers them. `None` if the record was rejected or is not there.
    /// [`record_id`](Self::record_id) is the id as the record has it.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if ids lie in a temporary file that cannot be read.
    pub fn id(&self, index: usize) -> Result<Option<Cow<'_, str>>, Error> {
        let id = |document| self.outcome.reading().documents.id(document, self.outcome.corpus());
        self.positions.document(index).map(id).transpose()
    }

    /// The id as the record has it, whether or not other documents have the same one. `None` if the record has no id, was
    /// rejected, or is not there.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if ids lie in a temporary file that cannot be read.
    pub fn record_id(&self, index: usize) -> Result<Option<Cow<'_, str>>, Error> {
        let Some(document) = self.positions.document(index) else { return Ok(None) };
        let id = self.outcome.reading().documents.raw_id(document)?;
        Ok((!id.is_empty()).then_some(id))
    }

    /// The number of records of the inputs, rejected ones among them.
    #[must_use]
    pub fn records(&self) -> usize {
        self.positions.len()
    }

    /// The indices of the rejected records, ascending. [`rejects`](Self::rejects) has the reasons, in the same order.
    pub fn rejected(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.rejected()
    }

    /// The rejected records: file, line, id and reason of each.
    #[must_use]
    pub fn rejects(&self) -> RunRejects<'_> {
        RunRejects::new(self.outcome.rejects(), self.outcome.corpus())
    }

    /// The outcome of the [`PairsRun`], with the counts of the run.
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
