//! The run that writes the sketches of a corpus to a file.

use std::path::PathBuf;

use minwise::{Observer, Spec, WeightSpec};
use minwise_corpus::{Skipped, refuse_overlap};

use super::inputs::Inputs;
use super::{overwrite, refuse};
use crate::error::{Error, SettingProblem};
use crate::estimate::sketch_file;
use crate::memory::MemoryLimit;
use crate::read::read;
use crate::read::rejected::RejectedRecords;
use crate::setters::setters;
use crate::settings::{ReadPlan, ResourceLimits, check_spec};

/// The options of a [`SketchRun`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SketchOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    pub inputs: Inputs,
    /// The spec by which documents become sketches. Default: `nfkc+casefold / words:5 / minhash:128 / seed:1`.
    pub spec: Spec,
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for one per core.
    pub threads: Option<usize>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    pub memory: Option<MemoryLimit>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    pub max_rejects: Option<u64>,
    /// The file that is written. This option has no default and must be set.
    pub output: PathBuf,
    /// Whether an existing file is replaced. Default: false.
    pub overwrite: bool,
}

setters!(SketchOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    inputs: Inputs,
    /// The spec by which documents become sketches. Default: `nfkc+casefold / words:5 / minhash:128 / seed:1`.
    spec: Spec,
    /// Whether an existing file is replaced. Default: false.
    overwrite: bool,
    ;
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for one per core.
    threads: Option<usize>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    memory: Option<MemoryLimit>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    max_rejects: Option<u64>,
    /// The file that is written. This option has no default and must be set.
    output: PathBuf,
});

/// Sketching run with checked settings.
#[derive(Debug)]
pub struct SketchRun {
    options: SketchOptions,
    plan: ReadPlan,
}

/// Result of a run that sketches.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SketchOutcome {
    /// The spec by which the documents became sketches.
    pub spec: Spec,
    /// Number of documents that were sketched.
    pub documents: u64,
    /// Number of documents whose text is null. These documents have no sketch.
    pub nulls: u64,
    /// Number of decompressed bytes of the inputs.
    pub bytes: u64,
    /// The number of rejected records, and the first rejected records.
    pub rejected: RejectedRecords,
    /// Number of records that were skipped because they are no documents.
    pub skipped_records: u64,
    /// Files that were skipped because they are no documents.
    pub skipped_files: Vec<Skipped>,
}

impl SketchRun {
    /// Checks all settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all
    /// problems.
    pub fn new(options: SketchOptions) -> Result<Self, Error> {
        let mut problems = vec![];
        options.inputs.check(&mut problems);
        options.inputs.refuse_references(&mut problems);
        options.inputs.refuse_tables(&mut problems);
        check_spec(&options.spec, &mut problems);
        if options.spec.weights != WeightSpec::default() {
            let reason = "a file of sketches has no weights, and leaves no shingles out";
            problems.push(SettingProblem::new("weight", options.spec.weights.weighting, reason));
        }
        let limits = ResourceLimits::new(options.threads, options.memory, &mut problems);
        refuse(problems)?;
        let mut plan = ReadPlan::for_sketches(options.spec, limits);
        plan.max_rejects = options.max_rejects;
        plan.temporary.clone_from(&options.inputs.options.spool_dir);
        Ok(Self { options, plan })
    }

    /// Reads the corpus, sketches its documents, and writes the file of sketches.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if an input cannot be opened or read, or if the output exists
    ///   or cannot be written;
    /// - any other error of [`read`](fn@crate::stages::read);
    /// - [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    pub fn execute(self, observer: &dyn Observer) -> Result<SketchOutcome, Error> {
        let Self { options, plan } = self;
        let SketchOptions { inputs, spec, output, overwrite: replace, .. } = options;
        let corpus = inputs.open(vec![], plan.temporary.as_deref(), plan.threads, observer)?;
        refuse_overlap(&corpus, &output)?;
        // The output is created first, so that an existing file is refused before the long work begins.
        let file = sketch_file::create(&output, overwrite(replace))?;
        let reading = read(&corpus, &plan, observer)?;
        sketch_file::write(file, &corpus, &reading, &spec)?;
        let (nulls, skipped_records) = (reading.documents.nulls(0), reading.documents.skipped(0));
        Ok(SketchOutcome {
            spec,
            documents: reading.documents.len() as u64 - nulls - skipped_records,
            nulls,
            skipped_records,
            skipped_files: corpus.skipped().to_vec(),
            bytes: corpus.size_bytes(),
            rejected: RejectedRecords::new(&reading.documents, &reading.rejected, &corpus),
        })
    }
}
