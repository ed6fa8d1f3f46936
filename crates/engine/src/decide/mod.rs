//! The fourth stage decides which documents stay, or lists similar pairs.

pub(crate) mod candidates;
mod checkpoint;
pub mod dedup;
mod edges;
mod large;
pub mod pairs;

use minwise::figure::probability;
use minwise::{Observer, Sentence, Warning};

use crate::audit::Audit;
use crate::settings::Plan;
pub use crate::verify::Removed;
use crate::verify::Verification;

/// Decisions of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decisions {
    /// Removed documents, in input order.
    pub removed: Vec<Removed>,
    /// Documents that would be removed if their clusters were not larger than `RunSettings::max_cluster`, in input
    /// order.
    pub spared: Vec<Removed>,
    /// Number of clusters larger than `RunSettings::max_cluster`.
    pub large_clusters: u64,
    /// Number of removed documents with the same shingles as the kept document.
    pub equal: u64,
    /// Number of clusters of more than one document.
    pub clusters: u64,
    /// Counts of compared pairs.
    pub verification: Verification,
    /// Recall of the decisions, measured by an audit; `None` without an audit.
    pub audit: Option<Audit>,
}

/// Decisions that are reported while the run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided {
    /// Number of the first document that may be undecided. All documents before it are decided.
    pub before: u32,
    /// Removed documents that were not reported before.
    pub removed: Vec<u32>,
}

/// Warns of full shelves. Also warns if the expected recall is below the wanted recall by more than its standard error.
fn warn_of_recall(verification: &Verification, plan: &Plan, observer: &dyn Observer) {
    let full = verification.full_shelves;
    if full.left_out > 0 {
        observer.warn(&Warning::FullShelves {
            shelves: full.shelves,
            documents: full.left_out,
            most: plan.shelf as u64,
            hint: Sentence::from("if these documents share a form, ")
                .setting_to("ignore-text", "FILE")
                .text(" leaves it out, and ")
                .setting_to("candidates", "all")
                .text(" compares every pair"),
        });
    }
    let Some(wanted) = plan.wanted_recall else { return };
    let recall = &verification.expected_recall;
    let expected = recall.value();
    if expected + recall.standard_error() >= wanted {
        return;
    }
    let hint = if full.left_out > 0 {
        Sentence::from("pairs may be missed because too many documents share a band value, and ")
            .setting_to("candidates", "all")
            .text(" finds every pair")
    } else if plan.filter_error().is_some_and(|error| error > 1.0 - wanted) {
        Sentence::from("a smaller ").setting("filter-error").text(" wrongly rules out fewer pairs")
    } else {
        Sentence::from("another ")
            .setting("seed")
            .text(" may find more pairs, a higher ")
            .setting("recall")
            .text(" with more ")
            .setting("registers")
            .text(" finds more pairs, and ")
            .setting_to("candidates", "all")
            .text(" finds every pair")
    };
    let [expected, wanted] = [expected, wanted].map(probability);
    observer.warn(&Warning::LowRecall { expected, wanted, hint });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use minwise::candidate::FullShelves;
    use minwise::cluster::SimilarDocuments;

    use super::*;
    use crate::settings::{Bands, RunSettings};

    #[derive(Default)]
    struct Warnings(Mutex<Vec<String>>);

    impl Observer for Warnings {
        fn warn(&self, warning: &Warning) {
            self.0.lock().unwrap().push(warning.message().as_flags("minwise"));
        }
    }

    /// Returns the warnings about a family. Each of its pairs was found by only one of the first `alone` bands, or by
    /// several bands if `alone` is `None`.
    fn said(bands: Bands, filter_error: f64, alone: Option<usize>) -> Vec<String> {
        let settings = RunSettings { bands, filter_error: Some(filter_error), ..RunSettings::default() };
        let plan = settings.plan().unwrap();
        let mut verification = Verification::new(&plan);
        let found = SimilarDocuments { document: 1, earlier: 0, similarity: 0.8, shares: &[] };
        for at in 0..1000 {
            verification.add(&found, alone.map(|bands| at % bands), 1);
        }
        let warnings = Warnings::default();
        warn_of_recall(&verification, &plan, &warnings);
        warnings.0.into_inner().unwrap()
    }

    #[test]
    fn full_shelves_are_named() {
        let plan = RunSettings::default().plan().unwrap();
        let mut verification = Verification::new(&plan);
        verification.full_shelves = FullShelves::new(2, 900);
        let warnings = Warnings::default();
        warn_of_recall(&verification, &plan, &warnings);
        assert_eq!(
            warnings.0.into_inner().unwrap(),
            [
                "2 band values are each shared by more than 131,072 documents, and 900 documents were not compared by them: \
              if these documents share a form, `--ignore-text FILE` leaves it out, and `--candidates all` compares every \
              pair"
            ]
        );
        verification.full_shelves = FullShelves::new(1, 1);
        let warnings = Warnings::default();
        warn_of_recall(&verification, &plan, &warnings);
        let one =
            "1 band value is shared by more than 131,072 documents, and 1 document was not compared by it: ";
        assert!(warnings.0.into_inner().unwrap()[0].starts_with(one));
    }

    #[test]
    fn an_unlucky_run_is_told_what_helps() {
        assert_eq!(
            said(Bands::default(), 1e-6, Some(14)),
            [
                "the expected recall is 86.34 %, below the 99.00 % that was asked for: another `--seed` may find more pairs, a \
              higher `--recall` with more `--registers` finds more pairs, and `--candidates all` finds every pair"
            ]
        );
        assert!(said(Bands::default(), 1e-6, None).is_empty());
        // If the bands are given, no recall is wanted.
        assert!(said(Bands::Given { bands: 16, rows: 6 }, 1e-6, Some(14)).is_empty());
        let [filtered] = &said(Bands::default(), 0.1, None)[..] else { panic!("no warning") };
        assert!(filtered.ends_with("a smaller `--filter-error` wrongly rules out fewer pairs"), "{filtered}");
    }
}
