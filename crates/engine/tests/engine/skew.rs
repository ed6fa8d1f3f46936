//! Corpora made to be slow: one family, one band, one text. What is counted is work, not time.

use minwise::cluster::Cluster;
use minwise_engine::pairs::pairs;
use minwise_engine::{Settings, Unobserved};

use crate::support::{Documents, listed, settings, with_registers};

/// A text of `length` words with one of them changed: no two documents are equal, all are near-duplicates.
fn near_copy(i: usize, length: usize) -> String {
    let mut words: Vec<String> = (0..length).map(|at| format!("w{at}")).collect();
    words[i % length] = format!("changed{i}");
    words.join(" ")
}

/// A hundred thousand near-copies make five thousand million pairs; a document is compared with kept ones only.
#[test]
fn one_family_is_linear_work() {
    let count = 100_000;
    let documents = Documents::new((0..count).map(|i| near_copy(i, 60)));
    let decisions = documents.dedup(&settings("words:5", 0.8, 16, 6));
    let kept = count - decisions.removed.len();
    // At 51/61 one in 600 shares no band with the first; few share one with none of those that are kept.
    assert!(kept <= 60, "{kept} of one family are kept");
    let candidates = decisions.verification.candidates as usize;
    assert!(candidates <= 8 * count, "{candidates} comparisons for {count} documents");
    assert!(candidates >= count - kept, "each is compared once at least");
}

#[test]
fn one_family_is_linear_work_for_components_too() {
    let count = 5000;
    let documents = Documents::new((0..count).map(|i| near_copy(i, 60)));
    let mut settings = settings("words:5", 0.8, 16, 6);
    settings.cluster = Cluster::Components;
    let decisions = documents.dedup(&settings);
    let candidates = decisions.verification.candidates as usize;
    assert!(candidates <= 8 * count, "{candidates} comparisons for {count} documents");
    assert!(decisions.removed.len() >= count - 3);
}

#[test]
fn equal_documents_are_no_work() {
    let count = 200_000;
    let documents =
        Documents::new((0..count).map(|i| {
            if i % 2 == 0 { "One two THREE four five six." } else { "one two three four five six" }
        }));
    let mut settings = settings("words:5", 0.8, 16, 6);
    for cluster in [Cluster::Star, Cluster::Components] {
        settings.cluster = cluster;
        let decisions = documents.dedup(&settings);
        assert_eq!(decisions.removed.len(), count - 1);
        assert_eq!((decisions.equal, decisions.clusters), (count as u64 - 1, 1));
        assert!(decisions.removed.iter().all(|removed| removed.of == 0 && removed.similarity == 1.0));
        assert_eq!(
            (decisions.verification.candidates, decisions.verification.expected_recall.value()),
            (0, 1.0)
        );
    }
}

/// Half of every document is boilerplate, so that with bands of one row nearly all share a band with nearly all (a pair
/// is at 20/60), and none is a near-duplicate but those planted: every tenth repeats the one before it with a fifth of
/// its words changed, which is at 32/48.
fn boilerplate(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|i| {
        let own = if i % 10 == 9 { i - 1 } else { i };
        let mut words: Vec<String> = (0..20).map(|at| format!("all{at}")).collect();
        words.extend((0..20).map(|at| format!("d{own}w{at}")));
        if own != i {
            for (at, word) in words.iter_mut().skip(20).take(8).enumerate() {
                *word = format!("d{i}n{at}");
            }
        }
        words.join(" ")
    })
}

/// Bands of one row, 64 registers. Unsplit, the planted pairs are found with probability 0.99985.
fn one_row() -> Settings {
    with_registers("words:1", 0.6, 8, 1, 64)
}

#[test]
fn one_band_shared_by_every_document_is_split_and_the_cost_is_counted() {
    let settings = one_row();
    let runs = [5_000, 10_000].map(|count| {
        let decisions = Documents::new(boilerplate(count)).dedup(&settings);
        let candidates = decisions.verification.candidates as usize;
        assert!(candidates <= 64 * count, "{candidates} comparisons for {count} documents");
        (candidates, decisions)
    });
    let growth = runs[1].0 as f64 / runs[0].0 as f64;
    assert!(growth < 2.6, "twice the documents, {growth} times the work");
    let measured = runs[1].1.removed.len() as f64 / 1000.0;
    let expected = runs[1].1.verification.expected_recall.value();
    let unsplit = settings.plan().unwrap().curve().probability(32.0 / 48.0);
    assert!(measured > 0.5 && measured < 0.999, "{measured}");
    assert!(unsplit > 0.9998 && expected < 0.999, "{expected} expected: what the split costs is not counted");
}

/// What splits cost is counted as if bands were split apart from one another, which their further registers see to.
#[test]
fn the_recall_of_a_split_band_is_the_measured_one() {
    let decisions = Documents::new(boilerplate(10_000)).dedup(&one_row());
    let measured = decisions.removed.len() as f64 / 1000.0;
    let expected = decisions.verification.expected_recall.value();
    let spread = (measured * (1.0 - measured) / 1000.0).sqrt();
    assert!(
        (measured - expected).abs() < 4.0 * spread,
        "{measured} measured, {expected} expected, ± {spread}"
    );
}

#[test]
fn a_band_that_is_not_split_loses_nothing() {
    // For pairs the limit is higher, so that nothing is split here and nothing lost.
    let documents = Documents::new(boilerplate(2000));
    let settings = Settings { filter_error: None, ..with_registers("words:1", 0.6, 24, 1, 64) };
    let found = documents.pairs(&settings);
    assert_eq!(listed(&found).len(), 200);
    assert!(found.verification.expected_recall.value() > 0.999_999);
}

/// Templates: documents that share all but a word and are no near-duplicates because the threshold is higher still.
/// Their sketches agree in nearly all registers, so that no split parts them.
#[test]
fn documents_just_below_the_threshold_are_linear_work() {
    let candidates = [1000, 2000].map(|count| {
        let documents = Documents::new((0..count).map(|i| near_copy(i, 1000)));
        documents.dedup(&settings("words:5", 1.0, 1, 128)).verification.candidates as f64
    });
    assert!(candidates[1] < 3.0 * candidates[0], "{candidates:?}");
}

#[test]
fn one_band_shared_by_every_document_is_linear_work_for_components_too() {
    let settings = Settings { cluster: Cluster::Components, ..one_row() };
    let candidates = [2_500, 5_000].map(|count| {
        let decisions = Documents::new(boilerplate(count)).dedup(&settings);
        // Not all of the planted pairs are found, and what is missed is counted.
        assert!(decisions.verification.expected_recall.value() < 1.0);
        decisions.verification.candidates as f64
    });
    assert!(candidates[1] < 3.0 * candidates[0], "{candidates:?}");
    assert!(candidates[1] < 1024.0 * 5_000.0, "{candidates:?}");
}

/// A large family of copies costs nothing when others are asked for.
#[test]
fn asking_for_one_document_passes_the_others_over() {
    let mut texts = vec!["one two three four".to_owned(); 100_000];
    texts.push("five six seven eight".to_owned());
    let documents = Documents::new(&texts);
    let settings = settings("words:2", 0.8, 4, 4);
    let reading = documents.read(&settings);
    for (id, expected) in [("d100000", 0), ("d7", 99_999)] {
        let wanted = [id.to_owned()];
        let found = pairs(&documents.corpus, &reading, Some(&wanted), &settings.plan().unwrap(), &Unobserved)
            .unwrap();
        assert_eq!(listed(&found).len(), expected);
    }
}
