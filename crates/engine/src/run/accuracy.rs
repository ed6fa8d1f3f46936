//! The run that measures the error of sketches on the pairs of a corpus, by comparison with exact similarities.

use minwise::sketch::Method;
use minwise::{Observer, Spec};
use minwise_corpus::Skipped;

use super::inputs::Inputs;
use super::refuse;
use crate::accuracy::{Accuracy, AccuracyRequest, PairSample, measure};
use crate::error::{Error, SettingProblem};
use crate::memory::MemoryLimit;
use crate::read::read;
use crate::read::rejected::RejectedRecords;
use crate::setters::setters;
use crate::settings::{ReadPlan, ResourceLimits, check_spec};

/// The options of an [`AccuracyRun`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccuracyOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    pub inputs: Inputs,
    /// The spec by which texts become shingles, and the seed of the sketches and of the sample. The sketch of the spec
    /// is ignored. Default: `nfkc+casefold / words:5 / minhash:128 / seed:1`.
    pub spec: Spec,
    /// The kinds of sketches that are measured. Default: `minhash:128`.
    pub methods: Vec<Method>,
    /// The error, from 0 to 1, above which an estimate is counted as wrong. Default: 0.05.
    pub error: f64,
    /// The pairs that are compared. Default: 100,000 pairs, drawn at random.
    pub pairs: PairSample,
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for one per core.
    pub threads: Option<usize>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    pub memory: Option<MemoryLimit>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    pub max_rejects: Option<u64>,
}

impl Default for AccuracyOptions {
    fn default() -> Self {
        Self {
            inputs: Inputs::default(),
            spec: Spec::default(),
            methods: vec![Method::default()],
            error: 0.05,
            pairs: PairSample::default(),
            threads: None,
            memory: None,
            max_rejects: None,
        }
    }
}

setters!(AccuracyOptions {
    /// The inputs, with the options for reading them. Default: no inputs; a run without inputs fails.
    inputs: Inputs,
    /// The spec by which texts become shingles, and the seed of the sketches and of the sample. The sketch of the spec
    /// is ignored. Default: `nfkc+casefold / words:5 / minhash:128 / seed:1`.
    spec: Spec,
    /// The kinds of sketches that are measured. Default: `minhash:128`.
    methods: Vec<Method>,
    /// The error, from 0 to 1, above which an estimate is counted as wrong. Default: 0.05.
    error: f64,
    /// The pairs that are compared. Default: 100,000 pairs, drawn at random.
    pairs: PairSample,
    ;
    /// Number of threads. Default: one per core, or fewer if `memory` is too small for one per core.
    threads: Option<usize>,
    /// Memory limit, at least 128 MiB. Default: half of the machine's memory.
    memory: Option<MemoryLimit>,
    /// The maximum number of rejected records; one more stops the run. Default: no limit.
    max_rejects: Option<u64>,
});

/// Run that measures the error of sketches, with checked settings.
#[derive(Debug)]
pub struct AccuracyRun {
    options: AccuracyOptions,
    plan: ReadPlan,
}

/// Result of an [`AccuracyRun`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccuracyOutcome {
    /// The errors of the estimates, by kind of sketch.
    pub accuracy: Accuracy,
    /// The spec by which the documents became shingles, with the first kind of sketch.
    pub spec: Spec,
    /// Number of records that were read, including rejected ones.
    pub read: u64,
    /// Number of documents whose text is null. These documents are in no pair.
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

impl AccuracyRun {
    /// Checks all settings.
    ///
    /// # Errors
    /// If any setting is invalid, fails with [`ErrorKind::Settings`](crate::ErrorKind::Settings), which lists all
    /// problems.
    pub fn new(mut options: AccuracyOptions) -> Result<Self, Error> {
        let mut problems = vec![];
        options.inputs.check(&mut problems);
        options.inputs.refuse_references(&mut problems);
        match options.methods.first() {
            Some(&first) => options.spec.method = first,
            None => problems.push(SettingProblem::new("sketch", "", "it names no sketch")),
        }
        for &method in &options.methods {
            let before = problems.len();
            let mut spec = options.spec;
            spec.method = method;
            check_spec(&spec, &mut problems);
            // The loop ends at the first problem, because a problem of the shared parts would be repeated for every
            // sketch.
            if problems.len() > before {
                break;
            }
        }
        if !(0.0..=1.0).contains(&options.error) {
            problems.push(SettingProblem::new("error", options.error, "it must be from 0 to 1"));
        }
        match options.pairs {
            PairSample::Random(0) => {
                problems.push(SettingProblem::new("pairs", 0, "it must be at least 1, or `all`"));
            }
            PairSample::Random(pairs) if pairs > PairSample::MOST => {
                let reason = "at most 100,000,000 pairs can be drawn; `all` compares all pairs";
                problems.push(SettingProblem::new("pairs", pairs, reason));
            }
            _ => {}
        }
        let limits = ResourceLimits::new(options.threads, options.memory, &mut problems);
        refuse(problems)?;
        let mut plan = ReadPlan::for_sketches(options.spec, limits);
        plan.max_rejects = options.max_rejects;
        plan.temporary.clone_from(&options.inputs.options.spool_dir);
        Ok(Self { options, plan })
    }

    /// Reads the corpus, and compares the estimates of its pairs with their exact similarities.
    ///
    /// # Errors
    /// Fails with:
    /// - [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) if an input cannot be opened or read;
    /// - any other error of [`read`](fn@crate::stages::read);
    /// - [`ErrorKind::Settings`](crate::ErrorKind::Settings) if the documents of the pairs do not fit into memory;
    /// - [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the observer cancels.
    pub fn execute(self, observer: &dyn Observer) -> Result<AccuracyOutcome, Error> {
        let Self { options, mut plan } = self;
        let corpus = options.inputs.open(vec![], plan.temporary.as_deref(), plan.threads, observer)?;
        let mut spec = plan.key.spec;
        plan.weighing = options.inputs.weigh(&mut spec, Some(&corpus), plan.threads, observer)?;
        plan.key.spec = spec;
        let reading = read(&corpus, &plan, observer)?;
        let request = AccuracyRequest {
            corpus: &corpus,
            reading: &reading,
            plan: &plan,
            methods: &options.methods,
            weighing: &plan.weighing,
            sample: options.pairs,
            error: options.error,
        };
        let accuracy = measure(&request, observer)?;
        let (nulls, skipped_records) = (reading.documents.nulls(0), reading.documents.skipped(0));
        Ok(AccuracyOutcome {
            accuracy,
            spec,
            read: reading.documents.len() as u64 - skipped_records + reading.rejected.len(),
            nulls,
            bytes: corpus.size_bytes(),
            rejected: RejectedRecords::new(&reading.documents, &reading.rejected, &corpus),
            skipped_records,
            skipped_files: corpus.skipped().to_vec(),
        })
    }
}
