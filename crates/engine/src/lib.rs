//! Batch runs: a corpus in, decisions about its documents out.
//!
//! ```text
//! settings ─→ read ─→ candidate ─→ verify ─→ decide ─→ output ─→ run
//!               └ weigh, rows        └ audit ┘           └ report
//!          storage: files of a run that does not fit into memory, or that can be resumed
//! ```
//!
//! * `run` has the calls that do everything: [`Run`], [`PairsRun`], [`SketchRun`], [`WeightsRun`] and [`EstimateRun`]. The
//!   other folders are the stages of these calls.
//! * `settings` checks what a run is asked to do and makes a [`Plan`] of it, which every stage takes.
//! * [`read`](fn@read) scans the corpus in parallel and keeps, for every document, its place, its id, a sketch and a
//!   key that says which documents are equal.
//! * `candidate` collapses documents with equal shingles into one, sorts band keys, and gathers the documents that share
//!   bands, directly or through others, into neighbourhoods.
//! * `verify` walks through the neighbourhoods. It reads the documents of each again by position and compares their shingle
//!   sets exactly.
//! * `decide` has the two sorts of decisions: [`dedup`](mod@dedup) keeps and removes documents, [`pairs`](mod@pairs) lists
//!   similar ones.
//! * [`audit`] compares a sample without bands, to measure what they found.
//! * [`output`] and [`report`] write what was decided.
//! * [`sketch_file`] keeps sketches in a file, and [`estimate`](mod@estimate) compares what is in such files.
//!
//! A list of texts without its near-duplicates:
//!
//! ```
//! use minwise_engine::{Inputs, Run, RunOptions, Unobserved};
//!
//! let texts = ["a rose is a rose", "A rose is a rose!", "a lily"].map(str::to_owned).to_vec();
//! let options = RunOptions::default().inputs(Inputs::new([texts.clone()]));
//! let outcome = Run::new(options)?.execute(&Unobserved)?;
//! let decisions = outcome.columns();
//! assert_eq!(decisions.kept, [true, false, true]);
//! assert_eq!(decisions.duplicate_of, [None, Some(0), None]);
//! let kept: Vec<&String> = texts.iter().zip(&decisions.kept).filter(|(_, kept)| **kept).map(|(text, _)| text).collect();
//! assert_eq!(kept, ["a rose is a rose", "a lily"]);
//! # Ok::<(), minwise_engine::Error>(())
//! ```
//!
//! # Features
//!
//! Each format of [`minwise_corpus`] that brings dependencies is a feature of the same name, passed on to that crate: `arrow`, `bzip2`,
//! `html`, `office`, `parquet`, `warc`, `xz` and `zstd`, which are on by default, and `pdf`, which is not. Texts and record batches
//! in memory, JSONL, CSV and plain text need none of them.
//!
//! The result does not depend on the number of threads: work is handed out by number and taken in by number.

// In the order of the flow: a module uses only those above it, which `cargo x lint` checks.
mod setters;
mod memory;
mod error;
pub mod parallel;
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
pub mod output;
mod run;

pub use candidate::screen::Screened;
pub use decide::{Decided, Decisions, Removed, dedup, pairs};
pub use error::{Error, ErrorKind, Problem};
pub use estimate::sketch_file;
pub use memory::Memory;
pub use minwise::{Observer, Stage, Unobserved, Warning};
pub use minwise_corpus::{InMemory, Input};
pub use output::report;
pub use read::documents::Documents;
pub use read::prepare::{DocumentSet, Preparation, Prepared, PreparedDocument};
pub use read::ranks::UnrankedCount;
pub use read::rejected::RejectedRecords;
pub use read::rejects::{Rejected, Rejects};
pub use read::{Reading, read};
pub use run::{
    DecisionColumns, Destination, EstimateOptions, EstimateOutcome, EstimateRun, Inputs, Outcome, Outputs,
    PairFormat, PairsOptions, PairsOutcome, PairsRun, Run, RunOptions, SketchOptions, SketchOutcome,
    SketchRun, WeightsOptions, WeightsOutcome, WeightsRun, WorkOptions,
};
pub use settings::{AuditSize, Bands, FILTER_ERROR, Plan, RECALL, ReadPlan, Search, Settings, SpecOptions};
#[doc(hidden)]
pub use storage::store::seal;
pub use storage::work;
pub use verify::{Reordered, Verification, compare};
pub use weigh::Weighing;
