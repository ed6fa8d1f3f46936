//! The run that decides which documents of a corpus are kept.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use minwise::{Observer, Stage, Warning};
use minwise_corpus::{Corpus, Overwrite, TableCompression};

use super::inputs::Inputs;
use super::known::known_again;
use super::outputs::{NewFolder, Outputs, Targets};
use super::stopwatch::Stopwatch;
use crate::decide::Decisions;
use crate::decide::dedup::dedup;
use crate::error::{Error, ErrorKind, SettingProblem};
use crate::output::report::{Extras, MeasuredRecall, ThisRun};
use crate::output::{Findings, OutputTarget, Summary, write_kept_as_decided};
use crate::read::rejected::RejectedRecords;
use crate::read::rejects::Rejects;
use crate::read::{Reading, read};
use crate::setters::setters;
use crate::settings::{Plan, RunSettings};
use crate::storage::work::{self, Claim, Manifest, WorkFolder};

/// The options of a [`DedupRun`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DedupOptions {
    /// The inputs and references to read. Default: no inputs; a run without inputs fails.
    pub inputs: Inputs,
    /// The settings that define near-duplicates and choose the kept documents. Default: [`RunSettings::default`].
    pub settings: RunSettings,
    /// The files to write. Default: none.
    pub outputs: Outputs,
    /// The folder that keeps the progress of the run. Default: none, so that the run cannot be resumed.
    pub work: Option<WorkOptions>,
    /// The command, quoted for a shell, for the page of the report. Default: the page shows no command.
    pub command: Option<String>,
}

setters!(DedupOptions {
    /// The inputs and references to read. Default: no inputs; a run without inputs fails.
    inputs: Inputs,
    /// The settings that define near-duplicates and choose the kept documents. Default: [`RunSettings::default`].
    settings: RunSettings,
    /// The files to write. Default: none.
    outputs: Outputs,
    ;
    /// The folder that keeps the progress of the run. Default: none, so that the run cannot be resumed.
    work: Option<WorkOptions>,
    /// The command, quoted for a shell, for the page of the report. Default: the page shows no command.
    command: Option<String>,
});

/// Folder in which a run saves its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkOptions {
    /// The folder, which is created if it does not exist. The folder must be empty unless a run is resumed.
    pub folder: PathBuf,
    /// Whether a run that was begun in the folder is resumed. If no run was begun in the folder, a new run begins.
    /// Default: false.
    pub resume: bool,
    /// Whether the folder is kept when the run is done. Default: false.
    pub keep: bool,
}

impl WorkOptions {
    /// Selects a folder for a new run, which is removed when the run is done.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), resume: false, keep: false }
    }
}

setters!(WorkOptions {
    /// Whether a run that was begun in the folder is resumed. If no run was begun in the folder, a new run begins.
    /// Default: false.
    resume: bool,
    /// Whether the folder is kept when the run is done. Default: false.
    keep: bool,
    ;
    /// The folder, which is created if it does not exist. The folder must be empty unless a run is resumed.
    folder: PathBuf,
});

/// Deduplication run with checked settings.
///
/// ```
/// use minwise_engine::{DedupRun, DedupOptions, Unobserved};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.jsonl");
/// fs_err::write(&path, "{\"id\": 1, \"text\": \"a rose\"}\n{\"id\": 2, \"text\": \"A rose!\"}\n")?;
///
/// let mut options = DedupOptions::default();
/// options.inputs.inputs.push(path.into());
/// let outcome = DedupRun::new(options)?.execute(&Unobserved)?;
/// let decisions = outcome.columns();
/// assert_eq!(decisions.kept, [true, false]);
/// assert_eq!(decisions.duplicate_of, [None, Some(0)]);
/// assert_eq!(decisions.similarity, [None, Some(1.0)]);
/// assert_eq!(outcome.id(0)?, "1");
/// outcome.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DedupRun {
    options: DedupOptions,
    plan: Plan,
}

impl DedupRun {
    /// Checks all settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all
    /// problems.
    pub fn new(options: DedupOptions) -> Result<Self, Error> {
        Self::checked(options, vec![])
    }

    /// Checks all settings, and fails with the problems found and the problems that the caller has already found.
    pub(crate) fn checked(options: DedupOptions, mut problems: Vec<SettingProblem>) -> Result<Self, Error> {
        options.inputs.check(&mut problems);
        Inputs::check_tables(&options.settings, &mut problems);
        let plan = options.settings.outline(&mut problems);
        options.outputs.check(&mut problems);
        match plan {
            Some(plan) if problems.is_empty() => Ok(Self { options, plan }),
            _ => Err(ErrorKind::Settings(problems).into()),
        }
    }

    /// Reads the corpus, decides which documents are kept, and writes all outputs.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Corpus`] or [`ErrorKind::File`] if a file cannot be read or written;
    /// - [`ErrorKind::Output`] if outputs cannot be written as requested;
    /// - [`ErrorKind::Changed`] if a resumed run had other options or inputs;
    /// - any other error of [`read`](fn@crate::stages::read);
    /// - [`ErrorKind::Cancelled`] if the observer cancels.
    ///
    /// Outputs are put in place only at the end. A run that fails before then leaves no partial output, and existing
    /// outputs stay as they were.
    pub fn execute(self, observer: &dyn Observer) -> Result<DedupOutcome, Error> {
        let stopwatch = Stopwatch::new(observer);
        let Self { options, mut plan } = self;
        let DedupOptions { inputs, settings: _, outputs, work, command } = options;
        // `made_for_run` is declared first, so that it is dropped last: other values may hold files in the folder.
        let mut made_for_run = None;
        let mut spool_dir = plan.temporary.take().or_else(|| inputs.options.spool_dir.clone());
        if let Some(WorkOptions { folder, resume, .. }) = &work {
            work::refuse(folder, *resume)?;
            made_for_run = Some(NewFolder::create(folder)?);
            // The spool goes to the work folder by default, because the user chose a disk with enough space for it.
            spool_dir.get_or_insert_with(|| folder.clone());
        }
        plan.temporary.clone_from(&spool_dir);
        let corpus = inputs.open(plan.value_fields(), spool_dir.as_deref(), plan.threads, &stopwatch)?;
        let claim = work.as_ref().map(|work| Claim::new(&work.folder)).transpose()?;
        // All refusals come before the long work begins.
        let folder = work.as_ref().map(|work| work.folder.as_path());
        let were_folders = were_folders(&outputs, work.as_ref())?;
        let may_overwrite = may_overwrite(&outputs, &corpus, work.as_ref(), were_folders.is_some());
        let tag = claim.as_ref().map(Claim::tag);
        let were_folders = were_folders.unwrap_or_default();
        let mut targets = Targets::open(&outputs, &corpus, folder.zip(tag), may_overwrite, &were_folders)?;
        targets.set_resources(plan.threads, plan.memory.room(plan.threads, 0).writing())?;
        let are_folders = targets.are_folders();
        if let (Some(_), records @ 1..) = (&outputs.kept, corpus.revisits()) {
            stopwatch.warn(&Warning::Revisits { records });
        }
        plan.weighing = inputs.weigh(&mut plan.spec, Some(&corpus), plan.threads, &stopwatch)?;
        if let Some(claim) = claim {
            let known = known_again(&plan, &corpus);
            let manifest = Manifest::new(known, &corpus, plan.threads, &stopwatch)?;
            plan.work = Some(Arc::new(claim.begin(&manifest)?));
        }
        if let Some(folder) = made_for_run {
            folder.keep();
        }

        let reading = read(&corpus, &plan.reading(), &stopwatch)?;
        plan.fit_threads(reading.documents.len());
        targets.check(&corpus)?;
        let compression = targets.compression();
        let decisions = decide(&corpus, &reading, &plan, &stopwatch, targets.written_early(), compression)?;
        stopwatch.begin(Stage::Write, 0);
        let mut summary = Summary::new(&corpus, &reading, &decisions, &plan);
        summary.annotated = outputs.annotate;
        let findings = Findings {
            corpus: &corpus,
            reading: &reading,
            decisions: &decisions,
            plan: &plan,
            summary: &summary,
        };
        let written = targets.write(
            &findings,
            || extras(&decisions, command, outputs.annotate, &stopwatch),
            &stopwatch,
        )?;
        let complete = written.complete()?;
        // This check comes before the list of outputs is written, because a resumed run replaces the outputs in that
        // list.
        complete.check()?;
        if let Some(work) = &plan.work {
            let noted: Vec<(String, bool)> = outputs.names().into_iter().zip(are_folders).collect();
            work.note_outputs(&noted)?;
        }
        complete.put_in_place()?;
        if let Some(tag) = tag {
            outputs.remove_leftovers(tag, false)?;
        }
        let keep = work.is_some_and(|work| work.keep);
        let work = plan.work.take();
        if let Some(work) = work.as_ref().filter(|_| keep) {
            work.forget_outputs()?;
        }
        let stages = stopwatch.times();
        let annotates = outputs.annotate;
        let work = work.filter(|_| !keep);
        Ok(DedupOutcome { corpus, reading, decisions, plan, summary, stages, annotates, work })
    }
}

/// Returns, for each output, whether it is a folder, if the resumed run ended while it put its outputs in place.
fn were_folders(outputs: &Outputs, work: Option<&WorkOptions>) -> Result<Option<Vec<bool>>, Error> {
    match work {
        Some(work) if work.resume => work::was_finishing(&work.folder, &outputs.names()),
        _ => Ok(None),
    }
}

/// Decides whether existing outputs may be replaced: if the options allow it, or if the resumed run ended while it put
/// its outputs in place.
///
/// A run that was killed after it had removed its work folder leaves only its outputs. If the run is started again with
/// `resume`, existing outputs are therefore accepted as long as the run produces the same bytes.
fn may_overwrite(
    outputs: &Outputs,
    corpus: &Corpus,
    work: Option<&WorkOptions>,
    was_finishing: bool,
) -> Overwrite {
    match work {
        _ if outputs.overwrite || was_finishing => Overwrite::Allow,
        Some(work) if work.resume && outputs.may_be_done(corpus) => Overwrite::Same,
        _ => Overwrite::Refuse,
    }
}

/// Returns the parts of the report that are not findings.
fn extras(
    decisions: &Decisions,
    command: Option<String>,
    annotates: bool,
    stopwatch: &Stopwatch<'_>,
) -> Extras {
    let this_run = command.map(|command| ThisRun { command, stages: stopwatch.times() });
    let audit = decisions.audit.filter(|audit| audit.is_known() && audit.documents >= audit.kept.min(1));
    let measured_recall =
        audit.map(|audit| MeasuredRecall { value: audit.recall, low: audit.low, high: audit.high });
    Extras { measured_recall, this_run, annotates }
}

/// Decides about all documents, and meanwhile writes each kept record to `early` as soon as its decision is known.
fn decide(
    corpus: &Corpus,
    reading: &Reading,
    plan: &Plan,
    stopwatch: &Stopwatch<'_>,
    early: Option<OutputTarget<'_>>,
    compression: TableCompression,
) -> Result<Decisions, Error> {
    let Some(target) = early else { return dedup(corpus, reading, plan, stopwatch, |_| {}) };
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let writer = scope.spawn(move || {
            // A failed writer stops the decisions, because their results could not be written.
            write_kept_as_decided(corpus, reading, told, target, compression, stopwatch)
                .inspect_err(|_| stopwatch.give_up())
        });
        // The result of `send` is ignored, because a writer that has failed no longer receives.
        let decisions = dedup(corpus, reading, plan, stopwatch, move |decided| drop(tell.send(decided)));
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (decisions, written) {
            // The writer's error is returned, because it was the reason for the cancellation.
            (Err(stopped), Err(error)) if stopped.is_cancelled() => Err(error),
            (decisions, written) => {
                let decisions = decisions?;
                written?;
                Ok(decisions)
            }
        }
    })
}

/// Result of a finished run whose outputs have been written.
///
/// [`close`](Self::close) deletes the work folder of the run unless the options keep it. Dropping the outcome deletes
/// the folder too, but cannot report a failure.
#[derive(Debug)]
#[non_exhaustive]
pub struct DedupOutcome {
    corpus: Corpus,
    reading: Reading,
    decisions: Decisions,
    plan: Plan,
    summary: Summary,
    stages: Vec<(&'static str, Duration)>,
    /// Whether near-duplicates were marked instead of removed.
    annotates: bool,
    /// The work folder of the run, if it is to be deleted.
    work: Option<Arc<WorkFolder>>,
}

/// Decisions about the documents of the inputs, in input order. Documents of references have no rows. Skipped records
/// have rows, because they are written with the kept documents.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DecisionColumns {
    /// Whether each document is kept.
    pub kept: Vec<bool>,
    /// The number of the kept document that a removed document duplicates; [`DedupOutcome::id`] returns its id.
    pub duplicate_of: Vec<Option<u32>>,
    /// The exact similarity of a removed document to its kept document.
    pub similarity: Vec<Option<f64>>,
}

impl DedupOutcome {
    /// Returns the counts of the run.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns the plan that the run followed.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the name and duration of each stage, in order.
    #[must_use]
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// Returns the removed documents with their kept documents, in input order, and the counts of the decisions.
    #[must_use]
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Returns the range of document numbers that belong to the inputs. Lower numbers belong to references.
    #[must_use]
    pub fn documents(&self) -> Range<u32> {
        self.reading.references..self.reading.documents.len() as u32
    }

    /// Returns the decisions, one row per document of the inputs.
    ///
    /// The columns take 25 bytes per document, so each call makes them anew.
    #[must_use]
    pub fn columns(&self) -> DecisionColumns {
        let Range { start, end } = self.documents();
        let documents = (end - start) as usize;
        let mut columns = DecisionColumns {
            kept: vec![true; documents],
            duplicate_of: vec![None; documents],
            similarity: vec![None; documents],
        };
        for removed in &self.decisions.removed {
            let at = (removed.document - start) as usize;
            columns.kept[at] = false;
            columns.duplicate_of[at] = Some(removed.of);
            columns.similarity[at] = Some(removed.similarity);
        }
        columns
    }

    /// Returns the id of a document.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] or [`ErrorKind::File`] if ids were moved to disk to save memory, and cannot be
    /// read.
    ///
    /// # Panics
    /// Panics if no document has this number.
    pub fn id(&self, document: u32) -> Result<Cow<'_, str>, Error> {
        self.reading.documents.id(document, &self.corpus)
    }

    /// Returns the number of the source of a document, and the document's line or row in that source, from 0.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] or [`ErrorKind::File`] if places were moved to disk to save memory, and cannot
    /// be read.
    ///
    /// # Panics
    /// Panics if no document has this number.
    pub fn place(&self, document: u32) -> Result<(u32, u64), Error> {
        let place = self.reading.documents.place(document)?;
        Ok((place.source, place.line))
    }

    /// Returns the rejected records.
    #[must_use]
    pub fn rejects(&self) -> &Rejects {
        &self.reading.rejected
    }

    /// Returns the number of rejected records, and the first rejected records in words, for messages.
    #[must_use]
    pub fn rejected_records(&self) -> RejectedRecords {
        RejectedRecords::new(&self.reading.documents, &self.reading.rejected, &self.corpus)
    }

    /// Returns the corpus that was read.
    #[must_use]
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Writes the report of the finished run to a folder. If a file of a report exists there, `overwrite` decides
    /// whether it is replaced or the call fails.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] or [`ErrorKind::Output`] if a file exists or cannot be written, and with
    /// [`ErrorKind::Cancelled`] if the observer cancels. After a failure, the folder has no new files.
    pub fn write_report(&self, folder: &Path, overwrite: bool, observer: &dyn Observer) -> Result<(), Error> {
        let outputs = Outputs::default().report(Some(folder.to_owned()));
        let targets = Targets::open(&outputs, &self.corpus, None, super::overwrite(overwrite), &[])?;
        let findings = Findings {
            corpus: &self.corpus,
            reading: &self.reading,
            decisions: &self.decisions,
            plan: &self.plan,
            summary: &self.summary,
        };
        let extras = || extras(&self.decisions, None, self.annotates, &Stopwatch::new(observer));
        targets.write(&findings, extras, observer)?.complete()?.put_in_place()
    }

    /// Removes the work folder of the run, unless the options keep it.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if the folder or a file in it cannot be removed.
    pub fn close(mut self) -> Result<(), Error> {
        let work = self.work.take();
        // Temporary files in the folder are closed first, because some systems cannot remove a folder with open files.
        drop(self);
        work.map_or(Ok(()), |work| work.remove())
    }
}

impl Drop for DedupOutcome {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            // The error is ignored, because `drop` cannot return it; `close` can.
            let _ = work.remove();
        }
    }
}
