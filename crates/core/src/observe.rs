//! Progress, warnings and cancellation of long operations.
//!
//! One trait serves reading a corpus, a run of the engine, and work on an archive. A program with a progress bar, or
//! with cancellation by Ctrl-C, therefore implements it only once.

use std::fmt;

use crate::escape::{escape_control, shortened_id};
use crate::figure::{counted, grouped, subject};
use crate::sentence::Sentence;

/// A part of a long operation, with progress of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Finding and opening the inputs. The total is unknown, because the run may have to wait for standard input.
    Open,
    /// Decompressing inputs to a temporary file.
    Unpack,
    /// Counting document frequencies.
    Weigh,
    /// Hashing the inputs.
    Hash,
    /// Reading and sketching documents.
    Read,
    /// Finding ids that several documents share.
    Ids,
    /// Sorting documents into keeper order.
    Order,
    /// Finding equal documents.
    Equal,
    /// Finding candidates.
    Candidates,
    /// Verifying candidates exactly.
    Verify,
    /// Comparing a sample with all documents.
    Audit,
    /// Writing outputs.
    Write,
    /// Writing the report.
    Report,
    /// Comparing sketches, to estimate similarities.
    Estimate,
    /// Examining an archive.
    Check,
    /// Saving the readable data of a damaged archive.
    Repair,
    /// Compacting an archive.
    Compact,
    /// Finding the clusters of an archive.
    Clusters,
    /// Writing the documents of an archive as lines.
    Export,
    /// Adding the lines of an exported archive.
    Import,
    /// Adding the documents of another archive.
    Merge,
    /// Adding documents to an archive, with progress per document.
    Add,
}

/// Unit of the amounts of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgressUnit {
    /// Bytes of input.
    Bytes,
    /// Documents, bands or other steps.
    Steps,
}

impl ProgressUnit {
    /// Returns the name of the unit in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Steps => "steps",
        }
    }
}

impl Stage {
    /// Returns the name of the stage in messages and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Unpack => "unpack",
            Self::Weigh => "weigh",
            Self::Hash => "hash",
            Self::Read => "read",
            Self::Ids => "ids",
            Self::Order => "order",
            Self::Equal => "equal",
            Self::Candidates => "candidates",
            Self::Verify => "verify",
            Self::Audit => "audit",
            Self::Write => "write",
            Self::Report => "report",
            Self::Estimate => "estimate",
            Self::Check => "check",
            Self::Repair => "repair",
            Self::Compact => "compact",
            Self::Clusters => "clusters",
            Self::Export => "export",
            Self::Import => "import",
            Self::Merge => "merge",
            Self::Add => "add",
        }
    }

    /// Returns the unit of the amounts of the stage.
    #[must_use]
    pub fn unit(self) -> ProgressUnit {
        match self {
            Self::Open | Self::Unpack | Self::Weigh | Self::Hash | Self::Read => ProgressUnit::Bytes,
            Self::Ids
            | Self::Order
            | Self::Equal
            | Self::Candidates
            | Self::Verify
            | Self::Audit
            | Self::Write
            | Self::Report
            | Self::Estimate
            | Self::Check
            | Self::Repair
            | Self::Compact
            | Self::Clusters
            | Self::Export
            | Self::Import
            | Self::Merge
            | Self::Add => ProgressUnit::Steps,
        }
    }
}

/// A condition that is reported to the user while the work continues.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Several documents have the same id.
    RepeatedIds {
        /// Number of documents that share their id with another document.
        documents: u64,
        /// Example of an id that several documents have.
        example: String,
        /// Places of two documents with the example id.
        places: [String; 2],
    },
    /// Lone surrogates in texts were replaced.
    Repaired {
        /// Number of documents with replaced surrogates.
        documents: u64,
    },
    /// Some documents have no value for a ranking of the keeper policy. Documents without a value come last in this
    /// ranking.
    Unranked {
        /// Text form of the ranking.
        ranking: String,
        /// Number of documents without a value.
        documents: u64,
        /// Place of the first document without a value.
        place: String,
        /// Problem with the value of that document, as the end of a sentence.
        reason: String,
    },
    /// A crawl has revisit records, each of which notes a repeated visit to a page. Revisit records have no text, and
    /// all are kept.
    Revisits {
        /// Number of revisit records.
        records: u64,
    },
    /// Groups of documents that share bands may give very many pairs.
    ManyPairs {
        /// Number of groups of documents that may give very many pairs.
        groups: u64,
        /// Number of pairs that all groups may give together.
        pairs: u64,
        /// Number of documents of the largest group.
        documents: u64,
        /// Id of a document of the largest group.
        example: String,
    },
    /// Some shelves were full, so documents were not compared with all others that share a band key with them.
    FullShelves {
        /// Number of full shelves.
        shelves: u64,
        /// Number of documents that the full shelves left out.
        documents: u64,
        /// Greatest number of documents on a shelf.
        most: u64,
        /// Settings that avoid full shelves.
        hint: Sentence,
    },
    /// The expected recall is below the wanted one.
    LowRecall {
        /// Expected recall, in percent.
        expected: String,
        /// Wanted recall, in percent.
        wanted: String,
        /// Settings that raise the recall.
        hint: Sentence,
    },
}

impl Warning {
    /// Returns the stable name of the warning, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::RepeatedIds { .. } => "repeated_ids",
            Self::Repaired { .. } => "repaired",
            Self::Unranked { .. } => "unranked",
            Self::Revisits { .. } => "revisits",
            Self::ManyPairs { .. } => "many_pairs",
            Self::FullShelves { .. } => "full_shelves",
            Self::LowRecall { .. } => "low_recall",
        }
    }

    /// Returns the warning, with its settings as data, so that each interface spells them in its own way.
    #[must_use]
    pub fn message(&self) -> Sentence {
        match self {
            Self::LowRecall { expected, wanted, hint } => Sentence::from(format!(
                "the expected recall is {expected}, below the {wanted} that was asked for: "
            ))
            .followed_by(hint),
            Self::FullShelves { shelves, documents, most, hint } => Sentence::from(format!(
                "{} more than {} documents, and {} not compared by {}: ",
                subject(*shelves, "band value", ["is shared by", "are each shared by"]),
                grouped(*most),
                subject(*documents, "document", ["was", "were"]),
                if *shelves == 1 { "it" } else { "them" },
            ))
            .followed_by(hint),
            _ => Sentence::from(self.to_string()),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedIds { documents, example, places: [first, second] } => write!(
                f,
                "{} share their id with another document (`{}` is the id of `{}` and of `{}`); \
                 outputs name them by file and line",
                counted(*documents, "document"),
                escape_control(&shortened_id(example)),
                escape_control(first),
                escape_control(second),
            ),
            Self::Repaired { documents } => {
                write!(
                    f,
                    "lone surrogates (halves of characters) were replaced by U+FFFD in {}",
                    counted(*documents, "document")
                )
            }
            Self::Unranked { ranking, documents, place, reason } => write!(
                f,
                "{} last by `{}`, because {} no usable value: `{}` {}",
                subject(*documents, "document", ["ranks", "rank"]),
                escape_control(ranking),
                if *documents == 1 { "it has" } else { "they have" },
                escape_control(place),
                escape_control(reason),
            ),
            Self::Revisits { records } => write!(
                f,
                "{} {} no text and {} kept",
                counted(*records, "revisit record"),
                if *records == 1 { "has" } else { "have" },
                if *records == 1 { "is" } else { "are" },
            ),
            Self::ManyPairs { groups, pairs, documents, example } => {
                let (pairs, documents) = (grouped(*pairs), grouped(*documents));
                let example = escape_control(example);
                match groups {
                    1 => write!(
                        f,
                        "1 group of similar documents may give up to {pairs} pairs: it has {documents} documents, \
                         `{example}` among them"
                    ),
                    _ => write!(
                        f,
                        "{} of similar documents may give up to {pairs} pairs: the largest has {documents} \
                         documents, `{example}` among them",
                        counted(*groups, "group"),
                    ),
                }
            }
            Self::FullShelves { .. } | Self::LowRecall { .. } => self.message().fmt(f),
        }
    }
}

/// Receives progress and warnings of a long operation, and can cancel it.
///
/// Every method has a default, so an implementation needs only some of them. Methods are called from several threads,
/// and should return quickly.
///
/// ```
/// use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
///
/// use minwise::{Observer, Stage, Warning};
///
/// /// Shows progress, and stops when somebody sets `stop`.
/// #[derive(Default)]
/// struct Progress {
///     done: AtomicU64,
///     stop: AtomicBool,
/// }
///
/// impl Observer for Progress {
///     fn begin(&self, stage: Stage, total: u64) {
///         self.done.store(0, Ordering::Relaxed);
///         eprintln!("{}: {total} {}", stage.name(), stage.unit().name());
///     }
///
///     fn advance(&self, amount: u64) {
///         self.done.fetch_add(amount, Ordering::Relaxed);
///     }
///
///     fn warn(&self, warning: &Warning) {
///         eprintln!("warning: {warning}");
///     }
///
///     fn cancelled(&self) -> bool {
///         self.stop.load(Ordering::Relaxed)
///     }
/// }
/// ```
pub trait Observer: Sync {
    /// Reports that a stage begins. `total` is its work in the [unit](Stage::unit) of the stage, or 0 if it is unknown.
    fn begin(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }

    /// Reports that `amount` more of the current stage is done, in addition to earlier reports.
    fn advance(&self, amount: u64) {
        let _ = amount;
    }

    /// Reports that a stage has ended. No other stage has begun yet.
    fn end(&self, stage: Stage) {
        let _ = stage;
    }

    /// Reports a warning about the data or the settings. The work continues. `Display` writes the warning as a
    /// sentence.
    fn warn(&self, warning: &Warning) {
        let _ = warning;
    }

    /// Returns `true` to cancel. The current operation then fails with an error that states this.
    fn cancelled(&self) -> bool {
        false
    }
}

/// An observer that ignores all events and never cancels.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state, and callers write its name")]
pub struct Unobserved;

impl Observer for Unobserved {}
