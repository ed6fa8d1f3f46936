//! The run that counts the document frequency of each shingle.

use std::path::PathBuf;

use minwise::weight::FrequencyLookup;
use minwise::{Observer, Spec};
use minwise_corpus::{Skipped, refuse_overlap};

use super::inputs::Inputs;
use super::{overwrite, refuse};
use crate::error::Error;
use crate::read::rejected::RejectedRecords;
use crate::setters::setters;
use crate::settings::all_cores;
use crate::weigh::{self, FrequencyTable};

/// The options of a [`WeightsRun`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WeightsOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    pub inputs: Inputs,
    /// The spec, of which only normalisation and shingling are used. Default: `nfkc+casefold / words:5`.
    pub spec: Spec,
    /// Number of threads. Default: one per core.
    pub threads: Option<usize>,
    /// The file that is written. This option has no default and must be set.
    pub output: PathBuf,
    /// Whether an existing file is replaced. Default: false.
    pub overwrite: bool,
}

setters!(WeightsOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    inputs: Inputs,
    /// The spec, of which only normalisation and shingling are used. Default: `nfkc+casefold / words:5`.
    spec: Spec,
    /// Whether an existing file is replaced. Default: false.
    overwrite: bool,
    ;
    /// Number of threads. Default: one per core.
    threads: Option<usize>,
    /// The file that is written. This option has no default and must be set.
    output: PathBuf,
});

/// Run that counts document frequencies, with checked settings.
#[derive(Debug)]
pub struct WeightsRun {
    options: WeightsOptions,
    threads: usize,
}

/// Result of a run that counts document frequencies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WeightsOutcome {
    /// Number of documents that were counted.
    pub documents: u64,
    /// Number of records whose text is null. These records were not counted.
    pub nulls: u64,
    /// The number of rejected records, and the first rejected records.
    pub rejected: RejectedRecords,
    /// Number of records that were skipped because they are no documents.
    pub skipped_records: u64,
    /// Files that were skipped because they are no documents.
    pub skipped_files: Vec<Skipped>,
    /// Number of distinct shingles.
    pub shingles: u64,
    /// The fingerprint of the table.
    pub fingerprint: u64,
    /// Number of decompressed bytes of the inputs.
    pub bytes: u64,
}

impl WeightsRun {
    /// Checks all settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all
    /// problems.
    pub fn new(options: WeightsOptions) -> Result<Self, Error> {
        let mut problems = vec![];
        options.inputs.check(&mut problems);
        options.inputs.refuse_references(&mut problems);
        options.inputs.refuse_tables(&mut problems);
        let threads = all_cores(options.threads, &mut problems);
        refuse(problems)?;
        Ok(Self { options, threads })
    }

    /// Reads the corpus, counts the documents that have each shingle, and writes the table.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if an input cannot be opened or read, or if the output exists
    ///   or cannot be written;
    /// - [`ErrorKind::AllRejected`](crate::ErrorKind::AllRejected) if no record is a document;
    /// - [`ErrorKind::NullText`](crate::ErrorKind::NullText) if a text is null and the options treat nulls as errors;
    /// - [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    pub fn execute(self, observer: &dyn Observer) -> Result<WeightsOutcome, Error> {
        let WeightsOptions { inputs, spec, output, overwrite: replace, .. } = self.options;
        let temporary = inputs.options.spool_dir.clone();
        let corpus = inputs.open(vec![], temporary.as_deref(), self.threads, observer)?;
        refuse_overlap(&corpus, &output)?;
        let file = weigh::create(&output, overwrite(replace))?;
        let counted = weigh::count(&corpus, &spec, self.threads, temporary.as_deref(), file, observer)?;
        let table = FrequencyTable::open(&output)?;
        Ok(WeightsOutcome {
            documents: table.documents(),
            nulls: counted.nulls,
            skipped_records: counted.skipped,
            skipped_files: corpus.skipped().to_vec(),
            rejected: RejectedRecords::of_counted(&counted, &corpus),
            shingles: table.shingles().len() as u64,
            fingerprint: table.fingerprint(),
            bytes: corpus.size_bytes(),
        })
    }
}
