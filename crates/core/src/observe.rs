//! Progress, warnings and cancellation of long operations.
//!
//! One trait serves reading a corpus, a run of the engine and work on an archive, so that a program with a
//! progress bar, or with cancellation by Ctrl-C, implements it once.

use std::fmt;

use crate::escape::escape_control;
use crate::figure::{counted, grouped, subject};
use crate::sentence::Sentence;

/// A part of long work that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Finding and opening the inputs. The total is unknown, because standard input may be waited for.
    Open,
    /// Decompressing inputs to a temporary file.
    Unpack,
    /// Counting document frequencies.
    Weigh,
    /// Hashing the inputs.
    Hash,
    /// Reading and sketching.
    Read,
    /// Finding candidates.
    Candidates,
    /// Verifying candidates exactly.
    Verify,
    /// Comparing a sample with all documents.
    Audit,
    /// Writing outputs.
    Write,
    /// Comparing sketches.
    Estimate,
    /// Examining an archive.
    Check,
    /// Saving what can be read of a damaged archive.
    Repair,
    /// Compacting an archive.
    Compact,
    /// Finding the clusters of an archive.
    Clusters,
    /// Writing an archive as lines.
    Export,
    /// Adding lines of an exported archive.
    Import,
    /// Adding the documents of another archive.
    Merge,
    /// Adding documents to an archive, counted one by one.
    Add,
}

/// The unit of the amounts of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgressUnit {
    /// Bytes of the input.
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
            Self::Candidates => "candidates",
            Self::Verify => "verify",
            Self::Audit => "audit",
            Self::Write => "write",
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

    /// Returns the unit of the stage's amounts.
    #[must_use]
    pub fn unit(self) -> ProgressUnit {
        match self {
            Self::Open | Self::Unpack | Self::Weigh | Self::Hash | Self::Read => ProgressUnit::Bytes,
            Self::Candidates
            | Self::Verify
            | Self::Audit
            | Self::Write
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

/// A condition to report to the user; the work continues.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Several documents have one id.
    RepeatedIds {
        /// The number of documents that share their id with another.
        documents: u64,
        /// One such id.
        example: String,
        /// The places of two documents with this id.
        places: [String; 2],
    },
    /// Lone surrogates were replaced.
    Repaired {
        /// The number of documents with replaced surrogates.
        documents: u64,
    },
    /// A ranking of the keeper policy has no value for some documents, which come last.
    Unranked {
        /// The ranking.
        ranking: String,
        /// The number of such documents.
        documents: u64,
        /// The place of the first of them.
        place: String,
        /// The problem with its value, as the end of a sentence.
        reason: String,
    },
    /// Some records of a crawl note an earlier visit of a page. They have no text and are all kept.
    Revisits {
        /// The number of such records.
        records: u64,
    },
    /// Groups of documents that share bands may give very many pairs.
    ManyPairs {
        /// The number of such groups.
        groups: u64,
        /// The number of pairs that these groups may give together.
        pairs: u64,
        /// The number of documents of the largest group.
        documents: u64,
        /// The id of one of these documents.
        example: String,
    },
    /// Shelves were full, so documents were not compared with all others that share a band key with them.
    FullShelves {
        /// The number of full shelves.
        shelves: u64,
        /// The number of documents that they left out.
        documents: u64,
        /// The most documents of a shelf.
        most: u64,
        /// Settings that help.
        hint: Sentence,
    },
    /// The expected recall is below the wanted one.
    LowRecall {
        /// The expected recall, in percent.
        expected: String,
        /// The wanted recall, in percent.
        wanted: String,
        /// Settings that help.
        hint: Sentence,
    },
}

impl Warning {
    /// Returns a stable name, for programs.
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
                escape_control(example),
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

/// Follows long work, and may stop it.
///
/// Every method has a default, so an implementation needs only some of them. Methods are called from several
/// threads and should return at once.
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
    /// A stage begins. `total` is its work, in the [unit](Stage::unit) of the stage; 0 if it is unknown.
    fn begin(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }

    /// `amount` more of the present stage is done, in addition to earlier reports.
    fn advance(&self, amount: u64) {
        let _ = amount;
    }

    /// A stage has ended, and no other begins yet.
    fn end(&self, stage: Stage) {
        let _ = stage;
    }

    /// A warning about the data or the settings; the work continues. `Display` of the warning is a sentence.
    fn warn(&self, warning: &Warning) {
        let _ = warning;
    }

    /// Returns `true` to cancel. The present operation then fails with an error that states this.
    fn cancelled(&self) -> bool {
        false
    }
}

/// An observer that ignores all events and never cancels.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state, and callers write its name")]
pub struct Unobserved;

impl Observer for Unobserved {}
