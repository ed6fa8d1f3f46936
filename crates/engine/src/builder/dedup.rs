//! Near-duplicates found, and the documents that stay.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use minwise::cluster::Clustering;
use minwise::keep::KeepPolicy;
use minwise::verify::Measure;
use minwise::{Observer, Spec, Unobserved};
use minwise_corpus::arrow_array::RecordBatch;
use minwise_corpus::arrow_schema::SchemaRef;
use minwise_corpus::{FieldPath, InMemory, Input, Nulls, ReadOptions, Scratch};

use super::positions::Positions;
use super::shared::shared_options;
use crate::error::{Error, SettingProblem};
use crate::memory::MemoryLimit;
use crate::output::Summary;
use crate::read::rejects::RunRejects;
use crate::run::{DedupOptions, DedupOutcome, DedupRun, Destination, Outputs, WorkOptions};
use crate::settings::{AuditSize, Bands, RunSettings, Search};
use crate::verify::compare::Comparison;

/// Finds near-duplicates and decides which documents stay.
///
/// A builder over [`DedupRun`]: it collects options, and [`run`](Self::run) checks all of them and does the work.
///
/// ```
/// use minwise_engine::Dedup;
///
/// let result = Dedup::new()
///     .threshold(0.9)
///     .documents([("first", "To be or not to be"), ("second", "to be, or not to be?"), ("third", "that is")])
///     .run()?;
/// let [removed] = result.removed() else { panic!("one document is a copy") };
/// assert_eq!((removed.index, removed.duplicate_of, removed.similarity), (1, 0, 1.0));
/// assert_eq!(result.id(removed.duplicate_of)?.as_deref(), Some("first"));
/// # Ok::<(), minwise_engine::Error>(())
/// ```
///
/// From files to a file, without the near-duplicates of another one:
///
/// ```no_run
/// use minwise_engine::Dedup;
///
/// let result = Dedup::new()
///     .files(["part-1.jsonl", "part-2.jsonl"])
///     .against_file("benchmark.jsonl")
///     .write_kept("clean.jsonl")
///     .report("report")
///     .run()?;
/// println!("{} of {} records stay", result.summary().kept, result.len());
/// # Ok::<(), minwise_engine::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "nothing happens before `run`"]
pub struct Dedup {
    options: DedupOptions,
    /// Problems of options that could not be parsed, which `build` reports.
    problems: Vec<SettingProblem>,
    /// The recall, if it was set. It is kept apart from the bands, because both together are refused.
    recall: Option<f64>,
}

/// Begins, checks and runs.
impl Dedup {
    /// A run with the default options, without inputs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks all options without reading anything.
    ///
    /// # Errors
    /// If any option is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all problems.
    pub fn build(self) -> Result<DedupRun, Error> {
        let (options, problems) = self.parts();
        DedupRun::checked(options, problems)
    }

    /// Reads, decides and writes.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings) if an option is invalid, and with
    /// [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if something cannot be read or
    /// written. [`read`](fn@crate::stages::read) lists the errors that come from documents. A bad record is no error: it is
    /// [rejected](Deduplicated::rejects).
    pub fn run(self) -> Result<Deduplicated, Error> {
        self.run_observed(&Unobserved)
    }

    /// Reads, decides and writes, and reports progress and warnings to `observer`, which may cancel the run.
    ///
    /// # Errors
    /// Fails where [`run`](Self::run) does, and if the observer cancels; [`Error::is_cancelled`] is true then.
    pub fn run_observed(self, observer: &dyn Observer) -> Result<Deduplicated, Error> {
        Deduplicated::new(self.build()?.execute(observer)?)
    }
}

shared_options!(Dedup, DedupOptions);

/// Which documents stay.
impl Dedup {
    /// Adds a reference: documents that the inputs are compared with. They always stay and are never written. Default: none.
    pub fn against(mut self, input: impl Into<Input>) -> Self {
        self.options.inputs.against.push(input.into());
        self
    }

    /// Adds a file or a folder as a reference.
    pub fn against_file(self, path: impl AsRef<Path>) -> Self {
        self.against(path.as_ref())
    }

    /// Sets which document of a cluster stays: a [`Ranking`](crate::Ranking) such as `Ranking::Longest`, a [`KeepPolicy`], or the text
    /// form of one, such as `longest` or `newest:date`. Default: the first; the longest for containment.
    pub fn keep(mut self, keep: impl fmt::Display) -> Self {
        let form = keep.to_string();
        match form.parse::<KeepPolicy>() {
            Ok(keep) => self.options.settings.keep = Some(keep),
            Err(error) => self.problems.push(SettingProblem::of("keep", form, &error)),
        }
        self
    }

    /// Sets what a cluster is. Default: a star.
    pub fn cluster(mut self, cluster: Clustering) -> Self {
        self.options.settings.cluster = cluster;
        self
    }

    /// Sets the largest cluster, in documents, from which documents are removed. Larger clusters are kept whole. Default: no
    /// limit.
    pub fn max_cluster(mut self, documents: u64) -> Self {
        self.options.settings.max_cluster = Some(documents);
        self
    }

    /// Sets how many kept documents are compared with all others to measure the recall, or `None` for no measurement. It changes
    /// nothing but the [summary](Deduplicated::summary). Default: as many as 5 % of the run time or 0.2 s allow, usually all.
    pub fn audit(mut self, documents: impl Into<Option<u64>>) -> Self {
        self.options.settings.audit = documents.into().map(AuditSize::Documents);
        self
    }
}

/// Outputs. A run writes nothing unless one of these is called.
impl Dedup {
    /// Writes the kept documents to a file, or to a folder if the path ends with a separator. The name decides the format. Default:
    /// they are not written.
    pub fn write_kept(mut self, path: impl AsRef<Path>) -> Self {
        self.options.outputs.kept = Some(Destination::from(path.as_ref()));
        self
    }

    /// Writes the removed documents to a file, or to a folder if the path ends with a separator. The name decides the format.
    /// Default: they are not written.
    pub fn write_removed(mut self, path: impl AsRef<Path>) -> Self {
        self.options.outputs.removed = Some(Destination::from(path.as_ref()));
        self
    }

    /// Writes a report to a folder: a page for people, pairs, clusters and rejected records. Default: no report is written.
    pub fn report(mut self, folder: impl AsRef<Path>) -> Self {
        self.options.outputs.report = Some(folder.as_ref().to_owned());
        self
    }

    /// Replaces outputs that exist. Default: the run refuses to.
    pub fn overwrite(mut self) -> Self {
        self.options.outputs.overwrite = true;
        self
    }

    /// Changes what is written, for the options without a method of their own.
    pub fn outputs(mut self, change: impl FnOnce(&mut Outputs)) -> Self {
        change(&mut self.options.outputs);
        self
    }

    /// Keeps the progress of the run in a folder, and goes on with a run that was begun there with the same options and inputs. The
    /// folder is removed when the run is done. Default: the run cannot be resumed.
    pub fn resume_in(mut self, folder: impl AsRef<Path>) -> Self {
        self.options.work = Some(WorkOptions { resume: true, ..WorkOptions::new(folder.as_ref()) });
        self
    }
}

impl From<DedupOptions> for Dedup {
    fn from(options: DedupOptions) -> Self {
        Self { options, problems: vec![], recall: None }
    }
}

/// A document that does not stay.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Duplicate {
    /// The index of the document.
    pub index: usize,
    /// The index of the document that is kept in its stead. If it is [`Deduplicated::len`] or more, that document is of a
    /// reference.
    pub duplicate_of: usize,
    /// Their exact similarity.
    pub similarity: f64,
}

/// A cluster of more than one document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicateCluster {
    /// The index of the document that stays.
    pub keeper: usize,
    /// The indices of the documents that do not, ascending.
    pub removed: Vec<usize>,
}

/// The result of [`Dedup`].
///
/// Documents go by their index: the position of their record among all records of the inputs, from 0. Rejected records take
/// up a position too, so for a list of texts the index is always the position in the list. Documents of references come
/// behind: their indices begin at [`len`](Self::len).
#[derive(Debug)]
pub struct Deduplicated {
    outcome: DedupOutcome,
    positions: Positions,
    /// In ascending order of their indices.
    removed: Vec<Duplicate>,
}

impl Deduplicated {
    fn new(outcome: DedupOutcome) -> Result<Self, Error> {
        let positions = Positions::new(outcome.reading(), outcome.corpus())?;
        let duplicate = |removed: &crate::decide::Removed| Duplicate {
            index: positions.index(removed.document),
            duplicate_of: positions.index(removed.of),
            similarity: removed.similarity,
        };
        let removed = outcome.decisions().removed.iter().map(duplicate).collect();
        Ok(Self { outcome, positions, removed })
    }

    /// The number of records of the inputs: kept, removed and rejected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether the inputs have no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices of the documents that stay, ascending.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        let mut gone = self.gone().peekable();
        (0..self.len()).filter(move |index| gone.next_if_eq(index).is_none())
    }

    /// For each record of the inputs, whether it stays.
    #[must_use]
    pub fn kept_mask(&self) -> Vec<bool> {
        let mut mask = vec![true; self.len()];
        self.gone().for_each(|index| mask[index] = false);
        mask
    }

    /// The documents that do not stay, in ascending order of their indices.
    #[must_use]
    pub fn removed(&self) -> &[Duplicate] {
        &self.removed
    }

    /// The duplicate at an index, if the document there was removed.
    #[must_use]
    pub fn duplicate(&self, index: usize) -> Option<&Duplicate> {
        let at = self.removed.binary_search_by_key(&index, |duplicate| duplicate.index).ok()?;
        self.removed.get(at)
    }

    /// The clusters of more than one document, in ascending order of their keepers.
    #[must_use]
    pub fn clusters(&self) -> Vec<DuplicateCluster> {
        let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for duplicate in &self.removed {
            clusters.entry(duplicate.duplicate_of).or_default().push(duplicate.index);
        }
        clusters.into_iter().map(|(keeper, removed)| DuplicateCluster { keeper, removed }).collect()
    }

    /// The indices of the rejected records, ascending. [`rejects`](Self::rejects) has the reasons, in the same order.
    pub fn rejected(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.rejected()
    }

    /// The rejected records, of references too: file, line, id and reason of each.
    #[must_use]
    pub fn rejects(&self) -> RunRejects<'_> {
        RunRejects::new(self.outcome.rejects(), self.outcome.corpus())
    }

    /// The id of a document, which no other document has: its own if it is unique. If it is repeated or missing, it is the path
    /// of its file as it was given, and its line, such as `data/part.jsonl:7`, or `memory:7`; in memory, repeated ids are `rose`, `rose#2` and so on, in the
    /// order in which the policy for keepers prefers them. `None` if the record was rejected or is not there.
    /// [`record_id`](Self::record_id) is the id as the record has it.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if ids lie in a temporary file that cannot be read.
    pub fn id(&self, index: usize) -> Result<Option<Cow<'_, str>>, Error> {
        self.positions.document(index).map(|document| self.outcome.id(document)).transpose()
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

    /// The text of a document, read again from its source. `None` if it is null, or if the record was rejected or is not there.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if the source cannot be read.
    pub fn text(&self, index: usize) -> Result<Option<String>, Error> {
        let Some(document) = self.positions.document(index) else { return Ok(None) };
        let documents = &self.outcome.reading().documents;
        if !documents.has_text(document) {
            return Ok(None);
        }
        let mut scratch = Scratch::new();
        let read = self.outcome.corpus().read(&documents.place(document)?, &mut scratch)?;
        Ok(Some(read.text.into_owned()))
    }

    /// Compares a removed document, on the left, with the one that is kept in its stead: exact similarity, the sketches'
    /// estimate, and the passages that both share. `None` if the document was not removed.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if a source cannot be read.
    pub fn explain(&self, index: usize) -> Result<Option<Comparison>, Error> {
        let Some(&Duplicate { index, duplicate_of, .. }) = self.duplicate(index) else { return Ok(None) };
        let (Some(left), Some(right)) = (self.text(index)?, self.text(duplicate_of)?) else {
            return Ok(None);
        };
        Ok(Some(self.outcome.plan().preparation()?.compare(&left, &right)))
    }

    /// Puts back the documents whose similarity to their keeper is below a value, without reading any text.
    ///
    /// This is not a run at a higher threshold: documents that come back were never compared with one another, and a new
    /// run may remove more of them. The summary and files keep the counts of the run.
    #[must_use]
    pub fn restore(mut self, below: f64) -> Self {
        self.removed.retain(|duplicate| duplicate.similarity.partial_cmp(&below) != Some(Ordering::Less));
        self
    }

    /// The counts of the run, with the settings that it followed.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        self.outcome.summary()
    }

    /// The outcome of the [`DedupRun`], which names documents by their number.
    #[must_use]
    pub fn outcome(&self) -> &DedupOutcome {
        &self.outcome
    }

    /// Turns the result into the outcome of the [`DedupRun`].
    #[must_use]
    pub fn into_outcome(self) -> DedupOutcome {
        self.outcome
    }

    /// The indices of removed and rejected records, ascending.
    fn gone(&self) -> impl Iterator<Item = usize> + '_ {
        let mut removed = self.removed.iter().map(|duplicate| duplicate.index).peekable();
        let mut rejected = self.rejected().peekable();
        std::iter::from_fn(move || match (removed.peek(), rejected.peek()) {
            (Some(a), Some(b)) if a < b => removed.next(),
            (_, Some(_)) => rejected.next(),
            (_, None) => removed.next(),
        })
    }
}
