//! The archive: an index that keeps documents and finds the text that a new document shares with them.
//!
//! ```
//! use minwise_index::{CheckOptions, Index, IndexSettings, NewDocument, Query};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("archive");
//! let index = Index::create(&path, &IndexSettings::default())?;
//! let text = "The applicants ask for a grant to study the song of the reed warbler along the lower Danube.";
//! index.add_now(&[NewDocument::new("2019-17", text)])?;
//!
//! let query = Query::new("We ask for a grant to study the song of the reed warbler along the lower Danube.");
//! let answer = index.check(&query, &CheckOptions::default())?;
//! let found = &answer.matches[0];
//! assert_eq!(found.id, "2019-17");
//! assert_eq!(found.similarity, 12.0 / 15.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | wanted | call |
//! |---|---|
//! | create or open an archive | [`Index::create`], [`Index::open`] |
//! | add, replace or remove documents | [`Index::add_now`], [`Index::remove`] |
//! | add many documents, prepared on several threads | [`Index::prepare`], [`Index::commit`] |
//! | find the documents that share text with a text, and the passages (`minwise check`) | [`Index::check`] |
//! | find the documents that are similar to a document of the archive | [`Index::resembling`] |
//! | compare two documents | [`Index::pair`] |
//! | read one document, or list all documents page by page | [`Index::get`], [`Index::list`] |
//! | find clusters of near-duplicates | [`Index::clusters`] |
//! | verify the stored data, and repair it | [`Index::check_integrity`], [`Index::examine`], [`Index::repair`] |
//! | export all documents as lines of JSON, and import such lines | [`Index::export`], [`Index::import`] |
//!
//! A change is acknowledged when it is on disk. After a crash, a change is either complete or absent. A
//! reader sees the index as it was when the read began. Only one process at a time can open a folder; the
//! threads of this process share the [`Index`].

mod acknowledge;
mod add;
mod check;
mod clusters;
mod compact;
mod counting;
mod error;
mod fault;
mod folder;
mod frequencies;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod fuzzing;
mod in_place;
mod index;
mod postings;
mod prepare;
mod query;
mod record;
mod remove;
mod repair;
mod rewrite;
mod sets;
mod setters;
mod settings;
mod store;
mod survey;
mod text;
mod transfer;
mod progress;

pub use add::{Added, DocumentBatch};
pub use check::{Finding, FindingKind, IntegrityReport};
pub use clusters::{Cluster, ClusterMember, Clusters};
pub use error::{Error, ErrorKind, OptionProblem, Result};
pub use fault::Fault;
pub use folder::FORMAT;
pub use frequencies::CommonFrequencies;
pub use index::{DocumentPage, Index, Listing, Statistics, StoredDocument, Unclosed};
pub use minwise::{Observer, Unobserved};
pub use progress::Progress;
pub use query::{Answer, CheckOptions, DocumentPair, Match, Queried, Query, Reasons, SharedPassage, Side};
pub use record::{Entry, Mark, MarkedPlace, NewDocument};
/// The crate that defines the JSON values of metadata.
pub use serde_json;
pub use settings::{IndexSettings, PASSAGE, Texts};
pub use survey::Survey;
pub use transfer::{Imported, Merged};

/// Tests the example of this crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
