//! The fourth stage: what follows for each document, or which pairs there are.

mod checkpoint;
pub mod dedup;
mod edges;
mod large;
pub mod pairs;

use minwise::{Observer, Sentence, Warning};

use crate::audit::Audit;
use crate::settings::Plan;
use crate::verify::Verification;

/// A document that does not stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removed {
    /// The document.
    pub document: u32,
    /// The document that is kept in its stead.
    pub of: u32,
    /// Their exact similarity.
    pub similarity: f64,
}

/// What a run decided.
#[derive(Debug)]
pub struct Decisions {
    /// The documents that do not stay, in input order.
    pub removed: Vec<Removed>,
    /// The documents that would not, but for `Settings::max_cluster`: those of larger clusters, in input order.
    pub spared: Vec<Removed>,
    /// Clusters that they are of.
    pub large_clusters: u64,
    /// Removed documents whose shingles equal the kept one's.
    pub equal: u64,
    /// Clusters of more than one document.
    pub clusters: u64,
    /// What was compared.
    pub verification: Verification,
    /// What a sample says of the recall, if it was asked.
    pub audit: Option<Audit>,
}

/// Decisions that have fallen while the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// All documents before this one are decided.
    pub before: u32,
    /// Documents that do not stay and were not told of yet.
    pub removed: Vec<u32>,
}

/// Warns if the expected recall is below the wanted one by more than its standard error.
fn warn_of_recall(verification: &Verification, plan: &Plan, observer: &dyn Observer) {
    let Some(wanted) = plan.wanted_recall else { return };
    let recall = &verification.expected_recall;
    let expected = recall.value();
    if expected + recall.standard_error() >= wanted {
        return;
    }
    let hint = if verification.full_shelves {
        Sentence::from("more documents share a band than are compared there; if a form is what they share, ")
            .setting_to("ignore-text", "FILE")
            .text(" leaves it out, and ")
            .setting_to("candidates", "all")
            .text(" compares every pair")
    } else {
        Sentence::from("another ")
            .setting("seed")
            .text(" may do better, a higher ")
            .setting("recall")
            .text(" with more ")
            .setting("registers")
            .text(" does, and ")
            .setting_to("candidates", "all")
            .text(" misses nothing")
    };
    let [expected, wanted] = [expected, wanted].map(|share| format!("{share:.4}"));
    observer.warn(&Warning::LowRecall { expected, wanted, hint });
}
