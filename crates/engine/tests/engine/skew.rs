//! Tests of corpora that are made to be slow: one family, one band key, one text.

use std::sync::Mutex;

use minwise::WeightSpec;
use minwise::cluster::Clustering;
use minwise::weight::Weighting;
use minwise_engine::stages::{dedup, pairs};
use minwise_engine::{Bands, MemoryLimit, Observer, Plan, RunSettings, Search, Unobserved, Warning};

use crate::support::{Documents, Random, listed, settings, with_registers};

/// Makes a text of `length` words with one word changed. No two of these texts are equal, and all are near-duplicates.
fn near_copy(i: usize, length: usize) -> String {
    let mut words: Vec<String> = (0..length).map(|at| format!("w{at}")).collect();
    words[i % length] = format!("changed{i}");
    words.join(" ")
}

/// A hundred thousand near-copies make 5 × 10⁹ pairs, but each document is compared only with kept ones.
#[test]
fn one_family_is_linear_work() {
    let count = 100_000;
    let documents = Documents::new((0..count).map(|i| near_copy(i, 60)));
    let decisions = documents.dedup(&settings("words:5", 0.8, 16, 6));
    let kept = count - decisions.removed.len();
    // Of the documents at similarity 51/61, one in 600 shares no band with the first document. Most such documents
    // share a band with another kept document.
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
    settings.cluster = Clustering::Components;
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
    for cluster in [Clustering::Star, Clustering::Components] {
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

/// Makes documents of which half is boilerplate: two of them have the similarity 20/60, and nearly all pairs share a
/// band of one row. Only planted pairs are near-duplicates: every tenth document repeats the one before it with eight
/// of 40 words changed, similarity 32/48.
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

/// Returns settings with bands of one row and 64 registers. Planted pairs are found with probability 0.99985.
fn one_row() -> RunSettings {
    with_registers("words:1", 0.6, 8, 1, 64)
}

/// Nearly all documents crowd one shelf, and only the planted pairs are near-duplicates.
#[test]
fn a_crowd_loses_nothing() {
    for cluster in [Clustering::Star, Clustering::Components] {
        let settings = one_row().cluster(cluster);
        let decisions = Documents::new(boilerplate(4_000)).dedup(&settings);
        assert!(decisions.removed.len() >= 398, "{} of 400 found", decisions.removed.len());
        let expected = decisions.verification.expected_recall.value();
        assert!((0.999..1.0).contains(&expected), "{expected}");
        // Most of the eight million pairs share a band.
        let candidates = decisions.verification.candidates;
        assert!(candidates > 4_000_000, "{candidates} pairs");
    }
}

/// Makes documents of which two thirds are a form: two of them have the similarity 30/60, which 64 registers cannot
/// distinguish from the threshold. Every tenth document repeats the one before it with four words changed, similarity
/// 41/49.
fn fillings(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|i| {
        let own = if i % 10 == 9 { i - 1 } else { i };
        let mut words: Vec<String> = (0..30).map(|at| format!("form{at}")).collect();
        words.extend((0..15).map(|at| if at < 4 { format!("d{i}n{at}") } else { format!("d{own}w{at}") }));
        words.join(" ")
    })
}

/// Sketches cannot decide most pairs of such a crowd, so it is screened by parity bits.
#[test]
fn a_dense_crowd_is_decided_as_an_exact_search_decides() {
    let documents = Documents::new(fillings(3000));
    for cluster in [Clustering::Star, Clustering::Components] {
        let banded = with_registers("words:1", 0.6, 24, 1, 64).cluster(cluster);
        let by_bands = documents.dedup(&banded);
        let exact = banded.search(Search::SortMerge).bands(Bands::default());
        let by_counting = documents.dedup(&exact);
        assert_eq!(by_bands.removed, by_counting.removed);
        assert_eq!(by_bands.removed.len(), 300);
        // All pairs are candidates. Documents in the same block of up to 256 do not scan one another, so about 400,000
        // pairs (12 blocks of 256²/2) are compared. Nearly all other pairs end in a scan.
        let verification = by_bands.verification;
        assert!(verification.candidates > 3_500_000, "{} candidates", verification.candidates);
        assert!(verification.compared < 500_000, "{} compared", verification.compared);
    }
}

/// Asserts that decisions equal those of an exact search, for several numbers of threads and with little memory.
/// Returns the number of removed documents.
fn is_decided_exactly(documents: &Documents, settings: &RunSettings) -> usize {
    let exact = documents.dedup(&settings.clone().search(Search::SortMerge).bands(Bands::default()));
    for (threads, memory) in [(1, 1 << 30), (2, 1 << 30), (1, 128 << 20)] {
        let by_bands =
            documents.dedup(&settings.clone().threads(threads).memory(MemoryLimit::new(memory).unwrap()));
        assert_eq!(by_bands.removed, exact.removed, "{threads} threads, {memory} bytes");
    }
    exact.removed.len()
}

/// Long documents have 8,192 parity bits each. Two fillings have the similarity 700/900, which is close to the
/// threshold. A document that repeats another one has the similarity 790/810 to it.
#[test]
fn long_fillings_are_decided_as_an_exact_search_decides() {
    let texts = (0..1200).map(|i| {
        let own = if i % 10 == 9 { i - 1 } else { i };
        let mut words: Vec<String> = (0..700).map(|at| format!("form{at}")).collect();
        words.extend((0..100).map(|at| if at < 10 { format!("d{i}n{at}") } else { format!("d{own}w{at}") }));
        words.join(" ")
    });
    let documents = Documents::new(texts);
    assert_eq!(is_decided_exactly(&documents, &with_registers("words:1", 0.8, 24, 1, 64)), 120);
}

/// Words outside of the form come from a small vocabulary, so each document is similar to hundreds of kept ones and
/// nearly similar to hundreds more.
#[test]
fn documents_near_many_are_decided_as_an_exact_search_decides() {
    let mut random = Random(7);
    let texts: Vec<String> = (0..1500)
        .map(|_| {
            let mut words: Vec<String> = (0..40).map(|at| format!("form{at}")).collect();
            words.extend((0..20).map(|_| format!("own{}", random.below(100))));
            words.join(" ")
        })
        .collect();
    let documents = Documents::new(&texts);
    let removed = is_decided_exactly(&documents, &with_registers("words:1", 0.68, 24, 1, 64));
    assert!((500..1450).contains(&removed), "{removed} removed");
}

/// Makes fillings at and near the threshold. Each has 700 shared words and 40 to 130 words of its own; a pair with at
/// most 175 own words in total is similar. The texts exceed 8 MiB, so all threads work on their one neighbourhood.
fn near_fillings(count: usize) -> Vec<String> {
    let mut random = Random(11);
    let own: Vec<usize> = (0..count).map(|_| 40 + random.below(91)).collect();
    let text = |(i, own): (usize, &usize)| {
        let mut words: Vec<String> = (0..700).map(|at| format!("wordoftheform{at}")).collect();
        words.extend((0..*own).map(|at| format!("d{i}w{at}")));
        words.join(" ")
    };
    own.iter().enumerate().map(text).collect()
}

/// Threads compare the pairs of one neighbourhood together, which changes neither decisions nor counts.
#[test]
fn fillings_near_the_threshold_do_not_depend_on_threads() {
    let texts = near_fillings(800);
    assert!(texts.iter().map(String::len).sum::<usize>() > 8 << 20, "all threads work on 8 MiB of text");
    let documents = Documents::new(&texts);
    for cluster in [Clustering::Star, Clustering::Components] {
        let settings = with_registers("words:1", 0.8, 24, 1, 64).cluster(cluster);
        let exact = documents.dedup(&settings.clone().search(Search::SortMerge).bands(Bands::default()));
        let runs = [1, 2, 3].map(|threads| {
            let decisions = documents.dedup(&settings.clone().threads(threads));
            assert_eq!(decisions.removed, exact.removed, "{threads} threads, {cluster}");
            let verification = decisions.verification;
            let recall = verification.expected_recall.sums();
            (
                verification.candidates,
                verification.compared,
                verification.verified,
                verification.screened,
                recall,
            )
        });
        assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
        assert!((400..800).contains(&exact.removed.len()), "{} removed", exact.removed.len());
        assert!(cluster == Clustering::Components || runs[0].1 > 10_000, "{} compared", runs[0].1);
    }
    let settings = with_registers("words:1", 0.8, 24, 1, 64);
    let found = [1, 2].map(|threads| listed(&documents.pairs(&settings.clone().threads(threads))));
    assert_eq!(found[0], found[1]);
    assert!(found[0].len() > 100_000, "{} pairs", found[0].len());
}

/// Weighted sets have no parity bits, so crowds are compared without them.
#[test]
fn a_crowd_with_weights_is_decided_as_an_exact_search_decides() {
    let documents = Documents::new(fillings(600));
    let mut settings = with_registers("words:1", 0.6, 24, 1, 64);
    settings.spec.method = "icws:64".parse().unwrap();
    settings.spec.weights = WeightSpec::new(Weighting::Count);
    assert_eq!(is_decided_exactly(&documents, &settings), 60);
}

/// Threads share the work of a scan, which changes neither decisions nor counts.
#[test]
fn a_dense_crowd_does_not_depend_on_threads() {
    let documents = Documents::new(fillings(2000));
    let [one, three] = [1, 3].map(|threads| {
        let decisions = documents.dedup(&with_registers("words:1", 0.6, 24, 1, 64).threads(threads));
        let verification = decisions.verification;
        (decisions.removed, verification.candidates, verification.compared, verification.screened)
    });
    assert_eq!(one, three);
}

/// Makes documents of which three quarters are a form, so most documents stand on the shelf of the form in each of two
/// bands. Two of them have the similarity 30/50. Every tenth document repeats the document that `of` returns, with one
/// word changed, similarity 39/41.
fn crowding(count: usize, of: impl Fn(&mut Random, usize) -> usize) -> impl Iterator<Item = String> {
    let mut random = Random(5);
    (0..count).map(move |i| {
        let own = if i % 10 == 9 { of(&mut random, i) } else { i };
        let mut words: Vec<String> = (0..30).map(|at| format!("form{at}")).collect();
        words.extend((0..10).map(|at| if at == 0 { format!("d{i}n") } else { format!("d{own}w{at}") }));
        words.join(" ")
    })
}

/// Returns a random document before `i` that is not a copy itself.
fn any_before(random: &mut Random, i: usize) -> usize {
    random.below(i) / 10 * 10
}

/// Observer that collects the warnings of a run.
#[derive(Default)]
struct Warnings(Mutex<Vec<Warning>>);

impl Observer for Warnings {
    fn warn(&self, warning: &Warning) {
        self.0.lock().unwrap().push(warning.clone());
    }
}

/// Asserts that shelves leave documents out, that the run warns of it, and that it states no lower bound of the recall.
/// Returns the expected recall, and the true recall of the planted pairs.
fn full_shelves_are_stated(documents: &Documents, count: usize, plan: &Plan, most: u64) -> [f64; 2] {
    let warnings = Warnings::default();
    let decisions = dedup(&documents.corpus, &documents.read_by(plan), plan, &warnings, |_| {}).unwrap();
    let full = decisions.verification.full_shelves;
    assert!(full.shelves > 0 && full.left_out >= full.shelves, "{full:?}");
    let warned = warnings.0.into_inner().unwrap();
    let [Warning::FullShelves { shelves, documents, most: stated, .. }, ..] = &warned[..] else {
        panic!("{warned:?}")
    };
    assert_eq!((*shelves, *documents, *stated), (full.shelves, full.left_out, most));
    let measured = decisions.removed.len() as f64 / (count / 10) as f64;
    assert_eq!(decisions.verification.expected_recall_low(), None);
    [decisions.verification.expected_recall.value(), measured]
}

/// Asserts that full shelves lower the recall, and that the expected recall shows this.
fn the_loss_is_known([expected, measured]: [f64; 2], without: f64) {
    assert!(expected < without, "{expected}: full shelves cost nothing");
    assert!((expected - measured).abs() <= 0.05, "{expected} expected, {measured} measured");
}

/// Makes a plan with two bands of one row, and with shelves of the given size or the usual one.
fn two_bands(shelf: Option<usize>) -> Plan {
    let plan = with_registers("words:1", 0.8, 2, 1, 64).threads(2).plan().unwrap();
    match shelf {
        Some(shelf) => plan.with_shelf(shelf),
        None => plan,
    }
}

/// Each shelf takes 1,000 of 2,000 documents.
#[test]
fn the_loss_of_small_full_shelves_is_stated() {
    let documents = Documents::new(crowding(2000, any_before));
    let all = documents.dedup_by(&two_bands(None)).verification;
    assert_eq!(all.full_shelves.shelves, 0);
    let low = all.expected_recall_low().unwrap();
    let recall = full_shelves_are_stated(&documents, 2000, &two_bands(Some(1000)), 1000);
    the_loss_is_known(recall, low);
}

/// If copies follow their originals, full shelves leave out both documents of a pair. The pairs that are found cannot
/// show this loss, so the run states no lower bound.
#[test]
fn full_shelves_leave_out_both_of_a_late_pair() {
    let documents = Documents::new(crowding(2000, |_, i| i - 1));
    let [expected, measured] = full_shelves_are_stated(&documents, 2000, &two_bands(Some(1000)), 1000);
    assert!(measured < expected - 0.1, "{expected} expected, {measured} measured");
}

/// Shelves of the usual size are full with 131,072 kept documents.
#[test]
#[ignore = "long: minutes of comparing 200,000 documents of one form"]
fn the_loss_of_full_shelves_is_stated() {
    let count = 200_000;
    let documents = Documents::new(crowding(count, any_before));
    // Without full shelves, a pair of similarity 39/41 is found with probability 0.9976.
    the_loss_is_known(full_shelves_are_stated(&documents, count, &two_bands(None), 1 << 17), 0.99);
}

#[test]
fn documents_that_are_asked_for_in_a_crowd_have_all_their_pairs() {
    let documents = Documents::new(fillings(1500));
    let settings = with_registers("words:1", 0.6, 24, 1, 64);
    let all = listed(&documents.pairs(&settings));
    let wanted: Vec<String> = [8, 9, 700, 808, 1499].map(|number| format!("d{number}")).to_vec();
    let is_wanted = |number: u32| wanted.contains(&format!("d{number}"));
    let expected: Vec<_> =
        all.iter().filter(|pair| is_wanted(pair.first) || is_wanted(pair.second)).copied().collect();
    let plan = settings.plan().unwrap();
    let found =
        pairs(&documents.corpus, &documents.read_by(&plan), Some(&wanted), &plan, &Unobserved).unwrap();
    assert_eq!(listed(&found), expected);
    assert_eq!(expected.len(), 3);
}

#[test]
fn a_crowd_loses_no_pair() {
    let documents = Documents::new(boilerplate(2000));
    let settings = with_registers("words:1", 0.6, 24, 1, 64).filter_error(None);
    let found = documents.pairs(&settings);
    assert_eq!(listed(&found).len(), 200);
    assert!(found.verification.expected_recall.value() > 0.999_999);
}

/// A large family of copies costs little if `of` names other documents.
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
