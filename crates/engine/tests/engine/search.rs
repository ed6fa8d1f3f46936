//! Other ways to find candidates: sort-merge and all pairs, against brute force.

use minwise::cluster::Cluster;
use minwise::verify::Measure;
use minwise_engine::{Search, Settings};

use crate::oracle::Oracle;
use crate::support::{Documents, Random, listed, triples, with_registers};

/// Documents with boilerplate, families, parts of others, copies and empty ones.
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
        // A part of it, alone and inside of something else.
        let part = base[..base.len() / 2].to_vec();
        let other: Vec<String> = (0..40).map(|i| format!("o{family}w{i}")).collect();
        texts.push([part.clone(), other].concat());
        texts.push(part);
    }
    texts.push(vec![]);
    texts.push(texts[5].clone());
    texts.into_iter().map(|words| words.join(" ")).collect()
}

fn settings(search: Search, threshold: f64) -> Settings {
    Settings { search, ..with_registers("words:2", threshold, 1, 1, 128) }
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
        // Nothing can be lost by counting shingles, and the filter's error is all that can be lost otherwise.
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
        assert_eq!(decisions.removed, oracle.star(0.6, settings.keep), "{search}");
        let components = documents.dedup(&Settings { cluster: Cluster::Components, ..settings.clone() });
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
            let settings = Settings { measure: Measure::Containment, ..settings(search, threshold) };
            let found = documents.pairs(&settings);
            assert_eq!(triples(&found), expected, "{search} at {threshold}");
            assert_eq!(found.verification.expected_recall.value(), 1.0);
        }
        assert!(expected.len() > oracle.pairs(threshold).len());
    }
}

/// Frequent shingles are left out of the counting, and still nothing is lost; the work stays small.
#[test]
fn boilerplate_is_not_counted() {
    let boilerplate: Vec<String> = (0..50).map(|i| format!("b{i}")).collect();
    let texts: Vec<String> = (0..1200)
        .map(|i| {
            // Every tenth document repeats the one before with a word changed.
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

#[test]
fn threads_and_memory_do_not_change_what_is_found() {
    let documents = Documents::new(texts());
    for search in [Search::SortMerge, Search::SortMergeSketch, Search::All] {
        let one = documents.pairs(&Settings { threads: 1, ..settings(search, 0.5) });
        let many = documents.pairs(&Settings { threads: 7, ..settings(search, 0.5) });
        assert_eq!(listed(&one), listed(&many));
        assert_eq!(one.verification.candidates, many.verification.candidates);
    }
}
