//! Looking on while a run goes its way.

use std::fmt;

/// A part of a run that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Counting document frequencies, in bytes.
    Weigh,
    /// Hashing the inputs, in bytes.
    Hash,
    /// Reading and sketching, in bytes.
    Read,
    /// Finding candidates, in bands.
    Candidates,
    /// Verifying, in documents.
    Verify,
    /// Comparing a sample with all documents, in documents.
    Audit,
    /// Writing, in documents.
    Write,
    /// Comparing sketches, in documents.
    Estimate,
}

impl Stage {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Weigh => "weigh",
            Self::Hash => "hash",
            Self::Read => "read",
            Self::Candidates => "candidates",
            Self::Verify => "verify",
            Self::Audit => "audit",
            Self::Write => "write",
            Self::Estimate => "estimate",
        }
    }
}

/// Something the person should know though the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Several documents have one id.
    RepeatedIds {
        /// How many documents share their id with another.
        documents: u64,
        /// One such id.
        example: String,
        /// Where it stands.
        places: [String; 2],
    },
    /// Lone surrogates were replaced.
    Repaired {
        /// In how many documents.
        documents: u64,
    },
    /// A ranking of the keeper policy found no value in some documents, which come last.
    Unranked {
        /// The ranking.
        ranking: String,
        /// How many documents there are.
        documents: u64,
        /// Where the first of them stands.
        place: String,
        /// What is wrong with it, as the end of a sentence.
        reason: String,
    },
    /// Documents that share bands may give very many pairs.
    ManyPairs {
        /// Pairs that they may give.
        pairs: u64,
        /// One of them.
        example: String,
        /// How many there are.
        documents: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedIds { documents, example, places: [first, second] } => write!(
                f,
                "{documents} documents share their id with another (`{}` is at `{}` and at `{}`); \
                 they are told apart by file and line",
                minwise_corpus::escape_control(example),
                minwise_corpus::escape_control(first),
                minwise_corpus::escape_control(second),
            ),
            Self::Repaired { documents } => {
                write!(f, "lone surrogates were read as U+FFFD in {documents} documents")
            }
            Self::Unranked { ranking, documents, place, reason } => write!(
                f,
                "{documents} {} last by `{}`: `{}` {}",
                if *documents == 1 { "document comes" } else { "documents come" },
                minwise_corpus::escape_control(ranking),
                minwise_corpus::escape_control(place),
                minwise_corpus::escape_control(reason),
            ),
            Self::ManyPairs { pairs, example, documents } => write!(
                f,
                "{documents} documents that may be near-duplicates, `{}` among them, give up to {pairs} pairs",
                minwise_corpus::escape_control(example)
            ),
        }
    }
}

/// Is told how a run goes, and may stop it.
pub trait Observer: Sync {
    /// A stage begins, with this much to do.
    fn begin(&self, stage: Stage, total: u64) {
        let _ = (stage, total);
    }

    /// More of the stage is done.
    fn advance(&self, amount: u64) {
        let _ = amount;
    }

    /// There is something to know.
    fn warn(&self, warning: &Warning) {
        let _ = warning;
    }

    /// Whether to stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
