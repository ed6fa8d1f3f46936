//! Tests of the other methods that find candidates, sort-merge and all pairs, against brute force.

use minwise::cluster::Clustering;
use minwise::sketch::Method;
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise_engine::{MemoryLimit, RunSettings, Search};

use crate::oracle::Oracle;
use crate::support::{Documents, Random, listed, triples, with_registers};

/// Makes documents with boilerplate, families, parts of other documents, copies and an empty document.
fn texts() -> Vec<String> {
    let mut random = Random(8);
    let boilerplate: Vec<String> = (0..30).map(|i| format!("b{i}")).collect();
    let mut texts: Vec<Vec<String>> = vec![];
    for family in 0..60 {
        let own: Vec<String> = (0..20 + random.below(60)).map(|i| format!("f{family}w{i}")).collect();
        let base: Vec<String> = if family % 2 == 0 { own } else { [boilerplate.clone(), own].concat() };
        texts.push(base.clone());
        for _ in 0..random.below(5) {
            let mut copy = base.clone();
            for _ in 0..random.below(12) {
                let at = random.below(copy.len());
                copy[at] = format!("n{}", random.below(100_000));
            }
            texts.push(copy);
        }
        // Half of the document stands alone, and as a part of another document.
        let part = base[..base.len() / 2].to_vec();
        let other: Vec<String> = (0..40).map(|i| format!("o{family}w{i}")).collect();
        texts.push([part.clone(), other].concat());
        texts.push(part);
    }
    texts.push(vec![]);
    texts.push(texts[5].clone());
    texts.into_iter().map(|words| words.join(" ")).collect()
}

fn settings(search: Search, threshold: f64) -> RunSettings {
    with_registers("words:2", threshold, 1, 1, 128).search(search)
}

#[test]
fn every_similar_pair_is_found() {
    let texts = texts();
    let documents = Documents::new(&texts);
    let oracle = Oracle::new(&texts, 2);
    for threshold in [0.2, 0.5, 0.8, 1.0] {
        let expected = oracle.pairs(threshold);
        assert!(expected.len() > 5, "{threshold}");
        for search in [Search::SortMerge, Search::SortMergeSketch, Search::All] {
            let found = documents.pairs(&settings(search, threshold));
            assert_eq!(triples(&found), expected, "{search} at {threshold}");
        }
        // Counting shingles cannot lose a pair. Other searches lose at most the error of the filter.
        let recall =
            |search| documents.pairs(&settings(search, threshold)).verification.expected_recall.value();
        assert_eq!(recall(Search::SortMerge), 1.0);
        assert!(recall(Search::All) > 1.0 - 1.1e-6);
    }
}

#[test]
fn clusters_are_those_of_brute_force() {
    let texts = texts();
    let documents = Documents::new(&texts);
    let oracle = Oracle::new(&texts, 2);
    for search in [Search::SortMerge, Search::SortMergeSketch, Search::All] {
        let settings = settings(search, 0.6);
        let decisions = documents.dedup(&settings);
        assert_eq!(
            decisions.removed,
            oracle.decide(0.6, &minwise::keep::KeepPolicy::default(), settings.cluster),
            "{search}"
        );
        let components = documents.dedup(&settings.clone().cluster(Clustering::Components));
        assert!(components.removed.len() >= decisions.removed.len());
    }
}

#[test]
fn parts_are_found_by_containment() {
    let texts = texts();
    let documents = Documents::new(&texts);
    let oracle = Oracle::new(&texts, 2);
    for threshold in [0.4, 0.9, 1.0] {
        let expected = oracle.contained(threshold);
        for search in [Search::SortMerge, Search::All] {
            let settings = settings(search, threshold).measure(Measure::Containment);
            let found = documents.pairs(&settings);
            assert_eq!(triples(&found), expected, "{search} at {threshold}");
            assert_eq!(found.verification.expected_recall.value(), 1.0);
        }
        assert!(expected.len() > oracle.pairs(threshold).len());
    }
}

/// Sort-merge leaves shingles out of its counts, which must lose no pair, for any measure and weighting. The corpus has
/// families of more than a hundred documents with templates of all sizes; a comparison of all pairs gives the expected
/// result.
#[test]
fn nothing_is_lost_by_any_measure() {
    for seed in 0..6 {
        let mut random = Random(100 + seed);
        let texts = forms(&mut random);
        let documents = Documents::new(&texts);
        for weighting in [Weighting::None, Weighting::Count, Weighting::Tf] {
            for measure in [Measure::Jaccard, Measure::Containment] {
                let threshold = (5 + random.below(96)) as f64 / 100.0;
                let with = |search| {
                    let mut settings =
                        with_registers("words:1", threshold, 1, 1, 16).measure(measure).filter_error(None);
                    settings.search = Some(search);
                    settings.spec.weights.weighting = weighting;
                    if weighting != Weighting::None {
                        settings.spec.method = "icws:16".parse().unwrap();
                    }
                    documents.pairs(&settings)
                };
                let (found, all) = (with(Search::SortMerge), with(Search::All));
                let context = format!("{weighting} {measure} at {threshold}, seed {seed}");
                assert_eq!(triples(&found), triples(&all), "{context}");
                assert!(found.verification.candidates <= all.verification.candidates, "{context}");
            }
        }
    }
}

/// Makes documents of two templates. Each has most words of its template, some common words and some words of its own.
fn forms(random: &mut Random) -> Vec<String> {
    let sizes = [20 + random.below(60), 5 + random.below(100)];
    let mut texts: Vec<String> = vec![];
    for i in 0..260 {
        // Every third document is made from the second template.
        let kind = usize::from(i % 3 == 0);
        let missing = random.below(4);
        let template = (0..sizes[kind]).skip(missing).map(|word| format!("t{kind}w{word}"));
        let common = (0..random.below(6)).map(|_| format!("c{}", random.below(40))).collect::<Vec<_>>();
        let own = (0..random.below(30)).map(|word| format!("d{i}w{word}"));
        let words: Vec<String> = template.chain(common).chain(own).collect();
        texts.push(words.join(" "));
    }
    texts.push(texts[7].clone());
    texts
}

/// If documents share a template that is just too small to make them near-duplicates, sort-merge finds no candidates.
#[test]
fn a_template_just_below_the_threshold_makes_no_candidates() {
    // The template gives 92 of 104 shingles, which is a Jaccard similarity of 0.79.
    let template = (0..93).map(|i| format!("b{i}")).collect::<Vec<_>>().join(" ");
    let texts = (0..3000).map(|i| {
        let own: Vec<String> = (0..12).map(|word| format!("d{i}w{word}")).collect();
        format!("{template} {}", own.join(" "))
    });
    let found = Documents::new(texts).pairs(&settings(Search::SortMerge, 0.8));
    assert_eq!(found.verification.candidates, 0);
}

/// Sort-merge leaves frequent shingles out of its counts. Sort-merge must still find all pairs, with few candidates.
#[test]
fn boilerplate_is_not_counted() {
    let boilerplate: Vec<String> = (0..50).map(|i| format!("b{i}")).collect();
    let texts: Vec<String> = (0..1200)
        .map(|i| {
            // Every tenth document repeats the document before it with one word changed.
            let number = if i % 10 == 9 { i - 1 } else { i };
            let own = (0..100).map(|w| if w == 50 { format!("x{i}") } else { format!("d{number}w{w}") });
            boilerplate.iter().cloned().chain(own).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let documents = Documents::new(texts);
    let found = documents.pairs(&settings(Search::SortMerge, 0.8));
    assert_eq!(listed(&found).len(), 120);
    assert_eq!(found.verification.candidates, 120, "the boilerplate made no candidate");
}

/// Pairs that share some registers, but not enough, are counted as rejected by the filter.
#[test]
fn counted_registers_say_what_they_put_aside() {
    let documents = Documents::new(texts());
    let found = documents.pairs(&settings(Search::SortMergeSketch, 0.5)).verification;
    assert!(found.screened.pairs > 100, "{:?}", found.screened);
    assert_eq!(found.candidates, found.screened.pairs + found.compared);
    assert_eq!(found.screened.registers, 128 * found.candidates);
    let unfiltered = settings(Search::SortMergeSketch, 0.5).filter_error(None);
    let all = documents.pairs(&unfiltered).verification;
    // Without a filter no register is left out of the counts, so every pair that shares a register is compared exactly.
    assert_eq!((all.screened.pairs, all.compared), (0, all.candidates));
    assert!(all.candidates >= found.candidates);
}

/// With few registers, many pairs share none, and the expected recall is lower.
#[test]
fn counted_registers_miss_pairs_that_share_none() {
    let documents = Documents::new(texts());
    let with = |registers: usize| {
        let mut settings = settings(Search::SortMergeSketch, 0.5);
        settings.spec.method = Method::minhash(registers);
        documents.pairs(&settings.filter_error(None))
    };
    let (few, many) = (with(1), with(128));
    assert_eq!(many.verification.expected_recall.value(), 1.0);
    let expected = few.verification.expected_recall.value();
    assert!((0.5..0.99).contains(&expected), "{expected}");
    assert!(listed(&few).len() < listed(&many).len());
}

#[test]
fn threads_and_memory_do_not_change_what_is_found() {
    let documents = Documents::new(texts());
    for search in [Search::SortMerge, Search::SortMergeSketch, Search::All] {
        let one = documents.pairs(&settings(search, 0.5).threads(1));
        let many = documents.pairs(&settings(search, 0.5).threads(7));
        assert_eq!(listed(&one), listed(&many));
        assert_eq!(one.verification.candidates, many.verification.candidates);
        assert_eq!(one.verification.screened, many.verification.screened);
    }
}

/// The sketches of all documents do not fit into memory, so pairs are searched in portions.
#[test]
fn portions_do_not_change_what_is_found() {
    let texts = (0..2500).map(|document| {
        let words = (0..25).map(|word| format!("d{}w{word}", document % 1250));
        let changed = if document % 3 == 0 { format!("changed{document}") } else { String::new() };
        words.chain([changed]).collect::<Vec<_>>().join(" ")
    });
    let documents = Documents::new(texts);
    for bits in [None, Some("1"), Some("2.5")] {
        let settings =
            |memory| settings(Search::All, 0.7).memory(memory).bits(bits.map(|bits| bits.parse().unwrap()));
        let whole = documents.pairs(&settings(None));
        assert!(listed(&whole).len() >= 1250);
        for threads in [1, 3] {
            let little = settings(Some(MemoryLimit::with_room(500))).threads(threads);
            let found = documents.pairs(&little);
            assert_eq!(listed(&found), listed(&whole));
            assert_eq!(found.verification.screened, whole.verification.screened);
            assert_eq!(found.verification.candidates, whole.verification.candidates);
        }
    }
}
