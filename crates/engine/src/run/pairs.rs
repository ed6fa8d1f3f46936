//! The run that lists the near-duplicate pairs of a corpus.

use minwise::keep::KeepPolicy;
use minwise::{Observer, Sentence, Stage, escape_field, visible_json};
use minwise_corpus::{Corpus, Output, refuse_overlap};
use serde_json::json;

use super::inputs::Inputs;
use super::{Destination, PairFormat, overwrite};
use crate::decide::candidates::for_each_candidate;
use crate::decide::pairs::{SimilarPair, SimilarPairs, pairs};
use crate::error::{Error, ErrorKind, SettingProblem};
use crate::read::rejected::RejectedRecords;
use crate::read::rejects::Rejects;
use crate::read::{Reading, read};
use crate::setters::setters;
use crate::settings::{Plan, RunSettings, Search};
use crate::verify::Verification;

/// The options of a [`PairsRun`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PairsOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    pub inputs: Inputs,
    /// The settings that define near-duplicates. A keeper policy is refused, because nothing is removed. Default:
    /// [`RunSettings::default`].
    pub settings: RunSettings,
    /// Ids of documents whose near-duplicates are listed. Default: all pairs are listed.
    pub of: Option<Vec<String>>,
    /// The destination of the pairs. Default: they are not written; [`PairsOutcome::for_each`] visits them.
    pub output: Option<Destination>,
    /// The format in which pairs are written. Default: separated by tabs.
    pub format: PairFormat,
    /// Whether an existing output is replaced. Default: false.
    pub overwrite: bool,
}

setters!(PairsOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    inputs: Inputs,
    /// The settings that define near-duplicates. A keeper policy is refused, because nothing is removed. Default:
    /// [`RunSettings::default`].
    settings: RunSettings,
    /// The format in which pairs are written. Default: separated by tabs.
    format: PairFormat,
    /// Whether an existing output is replaced. Default: false.
    overwrite: bool,
    ;
    /// Ids of documents whose near-duplicates are listed. Default: all pairs are listed.
    of: Option<Vec<String>>,
    /// The destination of the pairs. Default: they are not written; [`PairsOutcome::for_each`] visits them.
    output: Option<Destination>,
});

/// Run that lists pairs, with checked settings.
#[derive(Debug)]
pub struct PairsRun {
    options: PairsOptions,
    plan: Plan,
}

impl PairsRun {
    /// Checks all settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`], which lists all problems.
    pub fn new(options: PairsOptions) -> Result<Self, Error> {
        Self::checked(options, vec![])
    }

    /// Checks all settings, and fails with the problems found and the problems that the caller has already found.
    pub(crate) fn checked(
        mut options: PairsOptions,
        mut problems: Vec<SettingProblem>,
    ) -> Result<Self, Error> {
        options.inputs.check(&mut problems);
        options.inputs.refuse_references(&mut problems);
        Inputs::check_tables(&options.settings, &mut problems);
        if let Some(keep) = options.settings.keep.replace(KeepPolicy::default()) {
            problems.push(SettingProblem::new("keep", keep, "a list of pairs removes nothing"));
        }
        match options.settings.outline_of_pairs(&mut problems) {
            Some(plan) if problems.is_empty() => Ok(Self { options, plan }),
            _ => Err(ErrorKind::Settings(problems).into()),
        }
    }

    /// Reads the corpus, compares its documents, and writes the pairs.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Corpus`] if an input cannot be opened or read, or if the output cannot be written;
    /// - [`ErrorKind::NoSuchId`] if an id in [`of`](PairsOptions::of) belongs to no document;
    /// - any other error of [`read`](fn@crate::stages::read);
    /// - [`ErrorKind::Cancelled`] if the observer cancels.
    pub fn execute(self, observer: &dyn Observer) -> Result<PairsOutcome, Error> {
        let OpenedPairs { corpus, reading, plan, of, out, format } = self.open(observer)?;
        let found = pairs(&corpus, &reading, of.as_deref(), &plan, observer)?;
        let mut outcome = PairsOutcome { corpus, reading, found, plan, written: 0 };
        // The stage ends before pairs are written, because they may go to the terminal that shows its progress.
        observer.end(Stage::Verify);
        if let Some(mut out) = out {
            let mut written = 0;
            outcome.for_each(observer, |pair, first, second| {
                out.write_bytes(line(format, &pair, first, second).as_bytes())?;
                written += 1;
                Ok(())
            })?;
            out.finish()?;
            outcome.written = written;
        }
        Ok(outcome)
    }
}

impl PairsRun {
    /// Reads the corpus and writes the pairs that share a band, without comparing them. Each pair is written once, with
    /// the numbers of all its bands, counted from 1. Pairs are sorted by their first band.
    ///
    /// # Errors
    /// Fails under the same conditions as [`execute`](Self::execute), and with [`ErrorKind::Settings`] if the plan has
    /// no bands.
    pub fn list_candidates(self, observer: &dyn Observer) -> Result<CandidatesOutcome, Error> {
        if self.plan.search != Search::Banding {
            let reason = Sentence::from("only bands give pairs without comparing them; leave ")
                .setting("candidates")
                .text(" away");
            return Err(SettingProblem::new("candidates-only", self.plan.search, reason).into());
        }
        let OpenedPairs { corpus, reading, plan, of, mut out, format } = self.open(observer)?;
        let documents = &reading.documents;
        let mut written = 0;
        for_each_candidate(&corpus, &reading, of.as_deref(), &plan, observer, |pair, bands| {
            if let Some(out) = &mut out {
                let [first, second] = [documents.id(pair[0], &corpus)?, documents.id(pair[1], &corpus)?];
                out.write_bytes(candidate_line(format, &first, &second, bands).as_bytes())?;
                written += 1;
            }
            Ok(())
        })?;
        if let Some(out) = out {
            out.finish()?;
        }
        Ok(CandidatesOutcome { corpus, reading, plan, written })
    }

    /// Opens the inputs and the output, and reads the corpus.
    fn open(self, observer: &dyn Observer) -> Result<OpenedPairs, Error> {
        let Self { options, mut plan } = self;
        let PairsOptions { inputs, settings: _, of, output, format, overwrite: replace } = options;
        let spool_dir = plan.temporary.take().or_else(|| inputs.options.spool_dir.clone());
        plan.temporary.clone_from(&spool_dir);
        let corpus = inputs.open(vec![], spool_dir.as_deref(), plan.threads, observer)?;
        if let Some(Destination::Path(path)) = &output {
            refuse_overlap(&corpus, path)?;
        }
        let out = output.map(|output| output.open(overwrite(replace))).transpose()?;
        plan.weighing = inputs.weigh(&mut plan.spec, Some(&corpus), plan.threads, observer)?;
        let reading = read(&corpus, &plan.reading(), observer)?;
        plan.fit_threads(reading.documents.len());
        Ok(OpenedPairs { corpus, reading, plan, of, out, format })
    }
}

/// Run whose documents have been read.
struct OpenedPairs {
    corpus: Corpus,
    reading: Reading,
    plan: Plan,
    of: Option<Vec<String>>,
    out: Option<Output>,
    format: PairFormat,
}

fn candidate_line(format: PairFormat, first: &str, second: &str, bands: &[usize]) -> String {
    match format {
        PairFormat::Tsv => {
            let bands: Vec<String> = bands.iter().map(ToString::to_string).collect();
            format!("{}\t{}\t{}\n", escape_field(first), escape_field(second), bands.join(","))
        }
        PairFormat::Jsonl => {
            let pair = json!({"first": first, "second": second, "bands": bands}).to_string();
            format!("{}\n", visible_json(&pair))
        }
    }
}

/// Result of a run that lists candidate pairs.
#[derive(Debug)]
#[non_exhaustive]
pub struct CandidatesOutcome {
    corpus: Corpus,
    reading: Reading,
    plan: Plan,
    written: u64,
}

impl CandidatesOutcome {
    /// Returns the number of pairs that were written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the number of records that were read, including rejected ones.
    #[must_use]
    pub fn read(&self) -> u64 {
        let documents = self.reading.documents.len() as u64 - self.skipped_records();
        documents + self.reading.rejected.len()
    }

    /// Returns the plan that the run followed.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of documents whose text is null. These documents are in no pair.
    #[must_use]
    pub fn nulls(&self) -> u64 {
        self.reading.documents.nulls(0)
    }

    /// Returns the number of records that were skipped because they are no documents.
    #[must_use]
    pub fn skipped_records(&self) -> u64 {
        self.reading.documents.skipped(0)
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
}

/// Formats a near-duplicate pair.
fn line(format: PairFormat, pair: &SimilarPair, first: &str, second: &str) -> String {
    let similarity = pair.similarity;
    match format {
        PairFormat::Tsv => {
            format!("{}\t{}\t{similarity:.6}\n", escape_field(first), escape_field(second))
        }
        PairFormat::Jsonl => {
            let pair = json!({"first": first, "second": second, "similarity": similarity}).to_string();
            format!("{}\n", visible_json(&pair))
        }
    }
}

/// Result of a finished run that lists pairs.
#[derive(Debug)]
#[non_exhaustive]
pub struct PairsOutcome {
    corpus: Corpus,
    reading: Reading,
    found: SimilarPairs,
    plan: Plan,
    written: u64,
}

impl PairsOutcome {
    /// Visits every pair with the ids of its documents, in input order.
    ///
    /// # Errors
    /// Returns the first error of `visit`. Fails with [`ErrorKind::Corpus`] or [`ErrorKind::File`] if pairs or ids on
    /// disk cannot be read, and with [`ErrorKind::Cancelled`] if the observer cancels.
    pub fn for_each(
        &self,
        observer: &dyn Observer,
        mut visit: impl FnMut(SimilarPair, &str, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.found.for_each(observer, |pair| {
            let first = self.reading.documents.id(pair.first, &self.corpus)?;
            let second = self.reading.documents.id(pair.second, &self.corpus)?;
            visit(pair, &first, &second)
        })
    }

    /// Returns the number of pairs that were written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the number of records that were read, including rejected ones.
    #[must_use]
    pub fn read(&self) -> u64 {
        let documents = self.reading.documents.len() as u64 - self.skipped_records();
        documents + self.reading.rejected.len()
    }

    /// Returns the counts of compared pairs.
    #[must_use]
    pub fn verification(&self) -> &Verification {
        &self.found.verification
    }

    /// Returns the plan that the run followed.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of documents whose text is null. These documents are in no pair.
    #[must_use]
    pub fn nulls(&self) -> u64 {
        self.reading.documents.nulls(0)
    }

    /// Returns the number of records that were skipped because they are no documents. [`Corpus::skipped`] has the
    /// skipped files.
    #[must_use]
    pub fn skipped_records(&self) -> u64 {
        self.reading.documents.skipped(0)
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

    /// Returns the rejected records.
    #[must_use]
    pub fn rejects(&self) -> &Rejects {
        &self.reading.rejected
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    pub(crate) fn found(&self) -> &SimilarPairs {
        &self.found
    }
}
