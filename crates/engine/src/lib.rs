//! Batch runs: a corpus in, decisions about its documents out.
//!
//! ```text
//! read ─→ equal ─→ candidates ─→ neighbourhoods, verified ─→ dedup or pairs ─→ output, report
//! ```
//!
//! * [`read`](fn@read) scans the corpus in parallel and keeps, for every document, its place, its id, a sketch and a
//!   key that says which documents are equal.
//! * `equal` collapses documents with equal shingles into one, so that copies cost nothing further.
//! * `candidates` sorts band keys and finds the documents that share bands, directly or through others.
//! * `verify` takes one such neighbourhood at a time, reads its documents again by position, and compares their
//!   shingle sets exactly.
//! * [`sketch_file`] keeps sketches in a file, and [`estimate`](mod@estimate) compares what is in such files.
//! * [`audit`] compares a sample without bands, to measure what they found.
//! * [`dedup`](mod@dedup) and [`pairs`](mod@pairs) are the two runs; [`output`] and [`report`] write what they decide.
//!
//! The result does not depend on the number of threads: work is handed out by number and taken in by number.

pub mod audit;
mod candidates;
mod checkpoint;
pub mod compare;
pub mod dedup;
mod documents;
mod edges;
mod equal;
mod error;
pub mod estimate;
pub mod frequencies;
mod gather;
mod groups;
mod hoods;
mod huge;
mod join;
mod large;
mod memory;
mod observe;
mod order;
pub mod output;
pub mod pairs;
pub mod parallel;
mod partners;
mod prepare;
mod ranks;
mod read;
mod rejects;
pub mod report;
mod rows;
mod runs;
mod screen;
mod sets;
mod settings;
pub mod sketch_file;
mod store;
mod tiles;
mod turn;
mod verify;
pub mod work;

pub use documents::Documents;
pub use error::{Error, ErrorKind};
pub use memory::Memory;
pub use observe::{Observer, Stage, Unobserved, Warning};
pub use prepare::Weighing;
pub use ranks::UnrankedCount;
pub use read::{Reading, read};
pub use rejects::{Rejected, Rejects};
pub use screen::Screened;
pub use settings::{AuditSize, FILTER_ERROR, ReadSettings, Search, Settings};
#[doc(hidden)]
pub use store::seal;
pub use verify::{Reordered, Verification};
