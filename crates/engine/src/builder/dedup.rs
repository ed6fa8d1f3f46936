//! Builder and result of runs that find near-duplicates and decide which documents stay.

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
/// `Dedup` collects the options of a [`DedupRun`]. [`run`](Self::run) checks all options and does the work.
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
/// The next example reads and writes files, and removes near-duplicates of the documents in another file:
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
    /// Recall, if it was set. The recall is stored apart from the bands, because setting both is an error.
    recall: Option<f64>,
}

/// Methods that create, check and execute a run.
impl Dedup {
    /// Creates a builder with the default options and without inputs.
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

    /// Reads the inputs, decides which documents stay, and writes the outputs.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings) if an option is invalid. Fails with
    /// [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if a file cannot
    /// be read or written. [`read`](fn@crate::stages::read) lists the errors that come from documents. A bad record is
    /// not an error: it is [rejected](Deduplicated::rejects).
    pub fn run(self) -> Result<Deduplicated, Error> {
        self.run_observed(&Unobserved)
    }

    /// Does the same as [`run`](Self::run), and reports progress and warnings to `observer`, which may cancel the run.
    ///
    /// # Errors
    /// Fails for the same reasons as [`run`](Self::run), and if the observer cancels. [`Error::is_cancelled`] is true
    /// then.
    pub fn run_observed(self, observer: &dyn Observer) -> Result<Deduplicated, Error> {
        Deduplicated::new(self.build()?.execute(observer)?)
    }
}

shared_options!(Dedup, DedupOptions);

/// Options that decide which documents stay.
impl Dedup {
    /// Adds a reference: documents with which the inputs are compared. Documents of references always stay and are
    /// never written. Default: no references.
    pub fn against(mut self, input: impl Into<Input>) -> Self {
        self.options.inputs.against.push(input.into());
        self
    }

    /// Adds a file or a folder as a reference.
    pub fn against_file(self, path: impl AsRef<Path>) -> Self {
        self.against(path.as_ref())
    }

    /// Sets which document of a cluster stays: a [`Ranking`](crate::Ranking) such as `Ranking::Longest`, a
    /// [`KeepPolicy`], or a text form such as `longest` or `newest:date`. Default: the first document, or the longest
    /// if the measure is containment.
    pub fn keep(mut self, keep: impl fmt::Display) -> Self {
        let form = keep.to_string();
        match form.parse::<KeepPolicy>() {
            Ok(keep) => self.options.settings.keep = Some(keep),
            Err(error) => self.problems.push(SettingProblem::of("keep", form, &error)),
        }
        self
    }

    /// Sets the kind of clusters. Default: stars.
    pub fn cluster(mut self, cluster: Clustering) -> Self {
        self.options.settings.cluster = cluster;
        self
    }

    /// Sets the maximum number of documents in a cluster from which documents are removed. Larger clusters are kept
    /// whole. Default: no limit.
    pub fn max_cluster(mut self, documents: u64) -> Self {
        self.options.settings.max_cluster = Some(documents);
        self
    }

    /// Sets the number of kept documents that are compared with all others to measure the recall, or `None` for no
    /// measurement. The number changes only the [summary](Deduplicated::summary). Default: as many documents as an
    /// audit can compare in 5 % of the run time, and at least for 0.2 s. In a small corpus, an audit compares all
    /// documents.
    pub fn audit(mut self, documents: impl Into<Option<u64>>) -> Self {
        self.options.settings.audit = documents.into().map(AuditSize::Documents);
        self
    }
}

/// Outputs. Without these calls, a run writes nothing.
impl Dedup {
    /// Writes the kept documents to a file, or to a folder if the path ends with a separator. The name determines the
    /// format. Default: kept documents are not written.
    pub fn write_kept(mut self, path: impl AsRef<Path>) -> Self {
        self.options.outputs.kept = Some(Destination::from(path.as_ref()));
        self
    }

    /// Writes the removed documents to a file, or to a folder if the path ends with a separator. The name determines
    /// the format. Default: removed documents are not written.
    pub fn write_removed(mut self, path: impl AsRef<Path>) -> Self {
        self.options.outputs.removed = Some(Destination::from(path.as_ref()));
        self
    }

    /// Writes a report to a folder: a page for people, pairs, clusters and rejected records. Default: no report is written.
    pub fn report(mut self, folder: impl AsRef<Path>) -> Self {
        self.options.outputs.report = Some(folder.as_ref().to_owned());
        self
    }

    /// Replaces existing outputs. Default: an existing output is an error.
    pub fn overwrite(mut self) -> Self {
        self.options.outputs.overwrite = true;
        self
    }

    /// Changes options of the outputs that have no method of their own.
    pub fn outputs(mut self, change: impl FnOnce(&mut Outputs)) -> Self {
        change(&mut self.options.outputs);
        self
    }

    /// Saves the progress of the run in a folder, and resumes a run that was begun in this folder with the same options
    /// and inputs. The folder is removed when the run is complete. Default: the run cannot be resumed.
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

/// Removed document.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Duplicate {
    /// Index of the removed document.
    pub index: usize,
    /// Index of the document that is kept in its stead. If this index is [`Deduplicated::len`] or more, the kept
    /// document belongs to a reference.
    pub duplicate_of: usize,
    /// Exact similarity of the two documents.
    pub similarity: f64,
}

/// Cluster of more than one document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicateCluster {
    /// Index of the document that stays.
    pub keeper: usize,
    /// Indices of the removed documents, in ascending order.
    pub removed: Vec<usize>,
}

/// Result of [`Dedup`].
///
/// A document is identified by its index: the position of its record among all records of the inputs, from 0. Rejected
/// records have a position too, so for a list of texts the index is always the position in the list. Documents of
/// references have the indices from [`len`](Self::len) on.
#[derive(Debug)]
pub struct Deduplicated {
    outcome: DedupOutcome,
    positions: Positions,
    /// Removed documents, in ascending order of their indices.
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

    /// Returns the number of records of the inputs: kept, removed and rejected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Reports whether the inputs have no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the indices of the documents that stay, in ascending order.
    pub fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        let mut gone = self.gone().peekable();
        (0..self.len()).filter(move |index| gone.next_if_eq(index).is_none())
    }

    /// Returns, for each record of the inputs, whether it stays.
    #[must_use]
    pub fn kept_mask(&self) -> Vec<bool> {
        let mut mask = vec![true; self.len()];
        self.gone().for_each(|index| mask[index] = false);
        mask
    }

    /// Returns the removed documents, in ascending order of their indices.
    #[must_use]
    pub fn removed(&self) -> &[Duplicate] {
        &self.removed
    }

    /// Returns the removed document at an index, or `None` if the document at this index was not removed.
    #[must_use]
    pub fn duplicate(&self, index: usize) -> Option<&Duplicate> {
        let at = self.removed.binary_search_by_key(&index, |duplicate| duplicate.index).ok()?;
        self.removed.get(at)
    }

    /// Returns the clusters of more than one document, in ascending order of their keepers.
    #[must_use]
    pub fn clusters(&self) -> Vec<DuplicateCluster> {
        let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for duplicate in &self.removed {
            clusters.entry(duplicate.duplicate_of).or_default().push(duplicate.index);
        }
        clusters.into_iter().map(|(keeper, removed)| DuplicateCluster { keeper, removed }).collect()
    }

    /// Returns the indices of the rejected records, in ascending order. [`rejects`](Self::rejects) has the reasons, in
    /// the same order.
    pub fn rejected(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions.rejected()
    }

    /// Returns the rejected records of inputs and references, each with its file, line, id and reason.
    #[must_use]
    pub fn rejects(&self) -> RunRejects<'_> {
        RunRejects::new(self.outcome.rejects(), self.outcome.corpus())
    }

    /// Returns the unique id of a document. If the id of the record is unique, that id is returned. If the id is
    /// repeated or missing, the path of the file as it was given and the line are returned, such as
    /// `data/part.jsonl:7`. For documents in memory, a missing id is `memory:7`, and repeated ids are `rose`, `rose#2`
    /// and so on, in keeper order. Returns `None` if the record was rejected or does not exist.
    /// [`record_id`](Self::record_id) returns the id of the record unchanged.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if ids are in a temporary file that cannot be read.
    pub fn id(&self, index: usize) -> Result<Option<Cow<'_, str>>, Error> {
        self.positions.document(index).map(|document| self.outcome.id(document)).transpose()
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

    /// Returns the text of a document, which is read again from its source. Returns `None` if the text is null, or if
    /// the record was rejected or does not exist.
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

    /// Compares a removed document (left) with the document that is kept in its stead (right): exact similarity, the
    /// estimate of their sketches, and the passages that both share. Returns `None` if the document was not removed.
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

    /// Restores removed documents whose similarity to their keeper is below a value, without reading any text.
    ///
    /// The result differs from that of a run at a higher threshold: the restored documents were never compared with one
    /// another, and a new run may remove some of them. The summary and the files keep the counts of the run.
    #[must_use]
    pub fn restore(mut self, below: f64) -> Self {
        self.removed.retain(|duplicate| duplicate.similarity.partial_cmp(&below) != Some(Ordering::Less));
        self
    }

    /// Returns the counts of the run, with its settings.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        self.outcome.summary()
    }

    /// Returns the outcome of the [`DedupRun`], which identifies documents by their numbers.
    #[must_use]
    pub fn outcome(&self) -> &DedupOutcome {
        &self.outcome
    }

    /// Converts the result into the outcome of the [`DedupRun`].
    #[must_use]
    pub fn into_outcome(self) -> DedupOutcome {
        self.outcome
    }

    /// Returns the indices of removed and rejected records, in ascending order.
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
