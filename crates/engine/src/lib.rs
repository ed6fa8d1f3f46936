//! Finds near-duplicate documents fast and verifies them exactly. Inputs are lists of texts, files, or Arrow record
//! batches. Results are the documents that stay, or the similar pairs.
//!
//! ```
//! let texts = vec![
//!     "The quick brown fox jumps over the lazy dog near the river bank.".to_owned(),
//!     "the quick brown fox jumps over the lazy dog near the river bank!".to_owned(),
//!     "An entirely different sentence about the weather of last week.".to_owned(),
//! ];
//! let result = minwise_engine::dedup(&texts)?;
//! for index in result.kept() {
//!     println!("stays: {}", texts[index]);
//! }
//! for removed in result.removed() {
//!     println!("{} repeats {} with similarity {}", removed.index, removed.duplicate_of, removed.similarity);
//! }
//! for pair in minwise_engine::pairs(&texts)? {
//!     println!("{} and {}: {}", pair.first, pair.second, pair.similarity);
//! }
//! # assert_eq!(result.kept().collect::<Vec<_>>(), [0, 2]);
//! # Ok::<(), minwise_engine::Error>(())
//! ```
//!
//! Similarities are exact: sketches find candidates, and every candidate is verified on the shingles of both texts. The
//! result does not depend on the number of threads.
//!
//! # Options
//!
//! [`Dedup`] and [`Pairs`] are builders. This example reads a file, takes ids from the records, and writes a file:
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let [input, output] = ["in.jsonl", "out.jsonl"].map(|name| folder.path().join(name));
//! # fs_err::write(&input, "{\"key\": \"a\", \"body\": \"a rose\"}\n{\"key\": \"b\", \"body\": \"A rose!\"}\n")?;
//! use minwise_engine::Dedup;
//!
//! let result = Dedup::new()
//!     .file(&input)
//!     .text_field("body")
//!     .id_field("key")
//!     .threshold(0.9)
//!     .threads(2)
//!     .write_kept(&output)
//!     .run()?;
//! for removed in result.removed() {
//!     let (id, keeper) = (result.id(removed.index)?, result.id(removed.duplicate_of)?);
//!     assert_eq!((id.as_deref(), keeper.as_deref()), (Some("b"), Some("a")));
//! }
//! # assert_eq!(result.removed().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This example reads Arrow record batches, whose buffers are not copied:
//!
//! ```
//! # use std::sync::Arc;
//! use minwise_engine::Dedup;
//! use minwise_engine::arrow_array::{ArrayRef, RecordBatch, StringArray};
//!
//! let bodies: ArrayRef = Arc::new(StringArray::from(vec![Some("a rose"), None, Some("A rose!")]));
//! let batch = RecordBatch::try_from_iter([("body", bodies)])?;
//! let result = Dedup::new().input(batch).text_field("body").run()?;
//! // A null text stays, and is compared with nothing.
//! assert_eq!(result.kept_mask(), [true, true, false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | wanted | call |
//! |---|---|
//! | the documents that stay | [`dedup`](fn@dedup), [`Dedup`] |
//! | near-duplicate pairs | [`pairs`](fn@pairs), [`Pairs`] |
//! | one corpus compared with another | [`Dedup::against`] |
//! | progress, warnings, cancellation | [`Dedup::run_observed`] with an [`Observer`] |
//! | two texts compared, with the passages they share | [`Preparation::compare`], [`Deduplicated::explain`] |
//! | shingles and sketches as a run makes them | [`Preparation`] |
//! | sketches in a file, and estimates from them | [`SketchRun`], [`EstimateRun`] |
//! | document frequencies in a file | [`WeightsRun`] |
//! | the errors of sketches on one's own documents | [`AccuracyRun`] |
//! | options as people type them, by name and text | [`Arguments`] |
//! | the stages of a run one by one | [`stages`] |
//!
//! # How a run works
//!
//! The builders above fill in the options of a run: [`DedupRun`], [`PairsRun`], [`SketchRun`], [`WeightsRun`],
//! [`EstimateRun`] or [`AccuracyRun`]. A run that finds near-duplicates has these stages:
//!
//! 1. **Plan.** [`RunSettings::plan`] checks the settings and makes a [`Plan`] of them. Every other stage takes the
//!    plan.
//! 2. **Read.** [`read`](fn@stages::read) scans the corpus in parallel. For every document it keeps the place, the id,
//!    a sketch and an equality key, which equal documents share.
//! 3. **Candidates.** Documents with equal shingles count as one. Band keys are sorted, and documents that share bands,
//!    directly or through others, form neighbourhoods.
//! 4. **Verification.** The documents of each neighbourhood are read again by position, and their shingle sets are
//!    compared exactly.
//! 5. **Decisions.** [`dedup`](fn@stages::dedup) keeps and removes documents, or [`pairs`](fn@stages::pairs) lists similar ones.
//! 6. **Audit.** [`audit`] searches the kept documents for near-duplicates, to measure how many were missed.
//! 7. **Output.** [`output`] and [`report`] write the decisions.
//!
//! If the documents do not fit into [memory](RunSettings::memory), their sketches, ids and band keys go to temporary
//! files. If a run has a [work folder](WorkOptions), it can be resumed. [`sketch_file`] keeps sketches in a file, and
//! [`estimate`](mod@estimate) estimates similarities from sketch files.
//!
//! # Features
//!
//! Each format of [`minwise_corpus`] that has dependencies is a feature of this crate too, with the same name. The
//! features `arrow`, `bzip2`, `html`, `office`, `parquet`, `warc`, `xz` and `zstd` are on by default; `pdf` is off.
//! Texts and record batches in memory, JSONL, CSV and plain text need no feature.

// Modules are in the order of the data flow: each uses only modules above it. `cargo x lint` checks this.
mod setters;
mod memory;
mod error;
pub mod parallel;
mod gather;
mod turn;
mod storage;
pub mod weigh;
mod rows;
mod settings;
mod read;
mod candidate;
mod verify;
pub mod audit;
mod decide;
pub mod estimate;
pub mod accuracy;
pub mod output;
mod run;
mod arguments;
mod builder;

pub use arguments::{Arguments, SETTING_ORDER, size_bytes, tiny_percentage, wrong_number, wrong_size};
pub use builder::{
    Dedup, Deduplicated, Duplicate, DuplicateCluster, FoundPair, FoundPairs, Pairs, dedup, pairs,
};
pub use candidate::screen::Screened;
pub use decide::pairs::{SimilarPair, SimilarPairs};
pub use decide::{Decided, Decisions, Removed};
pub use error::{Error, ErrorKind, SettingProblem};
pub use estimate::sketch_file;
pub use memory::MemoryLimit;
// Options use these types of other crates. The types are exported again, so that a program need not depend on the other
// crates.
pub use minwise::cluster::Clustering;
pub use minwise::keep::{KeepPolicy, Ranking};
pub use minwise::verify::Measure;
pub use minwise::{Observer, Spec, Stage, Unobserved, Warning};
pub use minwise_corpus::{
    Delimiter, Encoding, FieldPath, Format, InMemory, Input, InputFormat, Nulls, ReadOptions, RejectLine,
    arrow_array, arrow_schema,
};
pub use output::report;
pub use read::Reading;
pub use read::documents::Documents;
pub use read::prepare::{DocumentSet, Preparation, Prepared, PreparedDocument, SketchedText};
pub use read::ranks::UnrankedCount;
pub use read::rejected::RejectedRecords;
pub use read::rejects::{Rejected, Rejects, RunRejects};
pub use rows::SHELF;
pub use run::{
    AccuracyOptions, AccuracyOutcome, AccuracyRun, CandidatesOutcome, DecisionColumns, DedupOptions,
    DedupOutcome, DedupRun, Destination, EstimateOptions, EstimateOutcome, EstimateRun, Inputs, Outputs,
    PairFormat, PairsOptions, PairsOutcome, PairsRun, SketchOptions, SketchOutcome, SketchRun,
    WeightsOptions, WeightsOutcome, WeightsRun, WorkOptions,
};
pub use settings::{
    AuditSize, Bands, FILTER_ERROR, Plan, RECALL, ReadPlan, RunSettings, Search, SpecOptions,
};
#[doc(hidden)]
pub use storage::store::seal;
pub use storage::work;
pub use verify::{Reordered, Verification, compare};
pub use weigh::WeightTables;

/// Stages of a run, for programs that call them one by one: [`read`](stages::read) reads a corpus, and then
/// [`dedup`](stages::dedup) decides which documents stay or [`pairs`](stages::pairs) lists similar pairs.
///
/// All stages take the same [`Plan`], and identify a document by its number. The documents of references have the first
/// numbers, and the documents of the inputs have the next ones. Rejected records have no number.
pub mod stages {
    pub use crate::decide::dedup::dedup;
    pub use crate::decide::pairs::pairs;
    pub use crate::read::read;
}

/// Runs the example of this crate's README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
