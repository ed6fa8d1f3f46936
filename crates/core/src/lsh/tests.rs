//! Compares the index with its definition: a plain loop over all documents that tests whether they
//! share a band.

use proptest::prelude::*;

use super::*;
use crate::estimate::minhash;
use crate::hash::SplitMix64;
use crate::sketch::Sketches;
use crate::verify::{Overlap, ShingleSet};
use crate::{Error, Sketch, Spec};

fn spec() -> Spec {
    "nfkc+casefold / words:1 / minhash:32 / seed:1".parse().unwrap()
}

/// Returns a text of one of seven families. Most of its words are those of the family, and some are
/// its own.
fn text(number: u64) -> String {
    let mut random = SplitMix64::new(number);
    let family = number % 7;
    let words: Vec<String> = (0..20)
        .map(|at| match random.next_u64() % 8 {
            0 => format!("own{}", random.next_u64() % 50),
            _ => format!("f{family}w{at}"),
        })
        .collect();
    words.join(" ")
}

fn index(documents: std::ops::Range<u64>) -> Lsh<u64> {
    let mut lsh = Lsh::with_bands(spec(), 0.5, 8, 4).unwrap();
    for number in documents {
        lsh.insert(number, &text(number)).unwrap();
    }
    lsh
}

/// Returns the keys and similarities that a query finds.
fn found(lsh: &Lsh<u64>, text: &str) -> Vec<(u64, f64)> {
    lsh.query(text).unwrap().iter().map(|similar| (*similar.key, similar.similarity())).collect()
}

/// Computes the result of a query without an index: compares the query with every document that
/// shares a band. Documents of equal similarity keep the order of `documents`.
fn expected(documents: &[u64], query: &str, threshold: f64) -> Vec<(u64, f64)> {
    let query = Sketch::of(spec(), query).unwrap();
    let shares_a_band =
        |row: &[u32]| (0..8).any(|band| row[band * 4..band * 4 + 4] == query.words()[band * 4..band * 4 + 4]);
    let mut all: Vec<(u64, f64)> = documents
        .iter()
        .map(|&number| (number, Sketch::of(spec(), &text(number)).unwrap()))
        .filter(|(_, sketch)| !sketch.is_empty() && !query.is_empty() && shares_a_band(sketch.words()))
        .map(|(number, sketch)| (number, query.estimate(&sketch).unwrap().value))
        .filter(|&(_, similarity)| similarity >= threshold)
        .collect();
    // The sort is stable, so that equally similar documents stay in the order of insertion.
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

#[test]
fn a_query_finds_what_its_definition_says() {
    let documents: Vec<u64> = (0..300).collect();
    let lsh = index(0..300);
    let mut sum = 0;
    for query in 280..340 {
        let expected = expected(&documents, &text(query), 0.5);
        sum += expected.len();
        assert_eq!(found(&lsh, &text(query)), expected, "{query}");
    }
    assert!(sum > 500, "{sum} found");
    assert!(found(&lsh, "nothing of this is there").is_empty());
}

#[test]
fn estimates_come_with_their_errors() {
    let lsh = index(0..50);
    let query = Sketch::of(spec(), &text(60)).unwrap();
    let similar = lsh.query(&query).unwrap();
    assert!(similar.len() > 3);
    for one in similar {
        let row = lsh.get(one.key).unwrap();
        assert_eq!(one.estimate, minhash::estimate(query.words(), row));
        assert_eq!((one.exact, one.similarity()), (None, one.estimate.value));
    }
}

#[test]
fn the_most_similar_ones_come_first_and_a_searcher_chooses() {
    let lsh = index(0..300);
    let all = found(&lsh, &text(301));
    assert!(all.len() > 10 && all.is_sorted_by(|a, b| a.1 >= b.1));
    let mut searcher = lsh.searcher().at_most(5);
    for query in 290..310 {
        let best: Vec<u64> = searcher.query(&text(query)).unwrap().iter().map(|one| *one.key).collect();
        let all: Vec<u64> = found(&lsh, &text(query)).iter().map(|one| one.0).collect();
        assert_eq!(best, all[..5]);
    }
    let documents: Vec<u64> = (0..300).collect();
    let mut low = lsh.searcher().at_least(0.1).unwrap();
    let found: Vec<(u64, f64)> =
        low.query(&text(301)).unwrap().iter().map(|one| (*one.key, one.similarity())).collect();
    assert_eq!(found, expected(&documents, &text(301), 0.1));
    for wrong in [-0.1, 1.1, f64::NAN] {
        assert!(lsh.searcher().at_least(wrong).is_err());
    }
}

#[test]
fn exact_similarities_are_those_of_the_shingle_sets() {
    let mut lsh = Lsh::builder(spec()).threshold(0.6).bands(16, 2).keep_shingles().build().unwrap();
    let mut one_by_one = lsh.clone();
    lsh.insert_many((0..200u64).map(|number| (number, text(number))), 2).unwrap();
    for number in 0..200 {
        one_by_one.insert(number, &text(number)).unwrap();
    }
    let set = |number: u64| -> ShingleSet {
        let mut shingles = crate::shingle::Shingles::new();
        spec().shingler().shingle_into(&text(number), &mut shingles);
        shingles.hashes().iter().copied().collect()
    };
    let mut sum = 0;
    for query in 200..230 {
        let similar = lsh.query(&text(query)).unwrap();
        assert!(similar.is_sorted_by(|a, b| a.similarity() >= b.similarity()));
        for one in &similar {
            let exact = Overlap::of(&set(query), &set(*one.key)).jaccard();
            assert_eq!(one.exact, Some(exact));
            assert!(exact >= 0.6);
        }
        assert_eq!(similar, one_by_one.query(&text(query)).unwrap());
        // A sketch has no shingles to compare, so its similarities are estimates.
        let sketch = Sketch::of(spec(), &text(query)).unwrap();
        assert!(lsh.query(&sketch).unwrap().iter().all(|one| one.exact.is_none()));
        sum += similar.len();
    }
    assert!(sum > 50, "{sum} found");
    let error = lsh.insert(999, &Sketch::of(spec(), "a b").unwrap()).unwrap_err();
    assert!(error.to_string().contains("the index keeps shingles"), "{error}");
    assert!(lsh.insert_sketches([999], Sketches::from_vec(32, vec![1; 32]).unwrap(), 1).is_err());
    assert_eq!(lsh.len(), 200);
}

#[test]
fn many_are_inserted_as_one_by_one_for_any_number_of_threads() {
    let one_by_one = index(0..500);
    for threads in [1, 2, 3, 16] {
        let mut many = index(0..100);
        many.insert_many((100..500).map(|number| (number, text(number))), threads).unwrap();
        assert!(many.iter().eq(one_by_one.iter()));
        let mut rows = index(0..100);
        let sketches: Vec<u32> =
            (100..500).flat_map(|number| one_by_one.get(&number).unwrap().to_vec()).collect();
        rows.insert_sketches(100..500, Sketches::from_vec(32, sketches).unwrap(), threads).unwrap();
        for query in 490..530 {
            let expected = found(&one_by_one, &text(query));
            assert_eq!(found(&many, &text(query)), expected);
            assert_eq!(found(&rows, &text(query)), expected);
        }
    }
}

#[test]
fn texts_shingles_and_sketches_are_one() {
    let mut lsh = Lsh::with_bands(spec(), 0.5, 8, 4).unwrap();
    let mut shingles = crate::shingle::Shingles::new();
    spec().shingler().shingle_into(&text(1), &mut shingles);
    let sketch = Sketch::of(spec(), &text(1)).unwrap();
    lsh.insert("text", text(1).as_str()).unwrap();
    lsh.insert("shingles", shingles.hashes()).unwrap();
    lsh.insert("sketch", &sketch).unwrap();
    for similar in [lsh.query(&text(1)), lsh.query(shingles.hashes()), lsh.query(&sketch)] {
        let keys: Vec<&str> = similar.unwrap().iter().map(|one| *one.key).collect();
        assert_eq!(keys, ["text", "shingles", "sketch"]);
    }
}

#[test]
fn keys_are_unique() {
    let mut lsh = index(0..10);
    let before = lsh.clone();
    let error = lsh.insert(3, "other words").unwrap_err();
    assert_eq!(error.code(), "duplicate_key");
    assert_eq!(error.to_string(), "the index has a document with this key: remove or replace it");
    let position = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert_eq!(error.code(), "duplicate_key");
        error.to_string()
    };
    let there = position(lsh.insert_many([(10, "a"), (11, "b"), (4, "c")], 2));
    assert!(there.contains("document 2 "), "{there}");
    let twice = position(lsh.insert_many([(10, "a"), (11, "b"), (10, "c")], 2));
    assert!(twice.contains("document 2 "), "{twice}");
    position(lsh.insert_sketches([12, 12], Sketches::from_vec(32, vec![1; 64]).unwrap(), 1));
    position(lsh.merge(index(9..12)));
    assert_eq!(lsh.len(), 10);
    assert!(lsh.iter().eq(before.iter()));
    assert!(!lsh.contains_key(&11) && lsh.contains_key(&4));
    // A key that was removed can be used again.
    assert!(lsh.remove(&3));
    lsh.insert(3, "other words").unwrap();
    assert_eq!(found(&lsh, "other words"), [(3, 1.0)]);
    assert_eq!(*lsh.keys().last().unwrap(), 3);
}

#[test]
fn a_document_takes_the_place_of_the_one_with_its_key() {
    let short: Spec = "none / words:1,short=reject / minhash:32 / seed:1".parse().unwrap();
    let mut lsh = Lsh::builder(short).bands(8, 4).threshold(0.5).keep_shingles().build().unwrap();
    for key in 0..5 {
        assert!(!lsh.replace(key, &text(key)).unwrap());
    }
    let before = lsh.clone();
    assert_eq!(lsh.replace(2, "").unwrap_err().code(), "short_document");
    assert!(lsh.iter().eq(before.iter()));
    assert_eq!(lsh.query(&text(2)).unwrap().len(), 1);
    for version in 0..1000 {
        assert!(lsh.replace(2, &text(100 + version)).unwrap());
    }
    assert_eq!(lsh.len(), 5);
    assert!(lsh.keys().eq(&[0, 1, 3, 4, 2]));
    assert!(lsh.query(&text(2)).unwrap().is_empty());
    assert_eq!(*lsh.query(&text(1099)).unwrap()[0].key, 2);
    assert!(lsh.sketches.len() < 2 * index::MANY_REMOVED, "{} rows", lsh.sketches.len());
}

#[test]
fn what_is_removed_is_not_found() {
    let mut lsh = index(0..300);
    let mut left: Vec<u64> = (0..300).collect();
    let mut random = SplitMix64::new(5);
    while left.len() > 3 {
        let at = random.next_u64() as usize % left.len();
        let number = left.remove(at);
        assert!(lsh.remove(&number));
        assert!(!lsh.remove(&number) && !lsh.contains_key(&number) && lsh.get(&number).is_none());
        assert_eq!((lsh.len(), lsh.iter().len()), (left.len(), left.len()));
        if left.len().is_multiple_of(20) {
            for query in [number, number + 7, 1000] {
                assert_eq!(found(&lsh, &text(query)), expected(&left, &text(query), 0.5));
            }
        }
    }
    assert!(lsh.keys().eq(&left));
    // Slots of removed documents are compacted, so there are few rows.
    assert!(lsh.sketches.len() < 2 * index::MANY_REMOVED, "{} rows", lsh.sketches.len());
}

#[test]
fn keys_that_come_and_go_do_not_pile_up() {
    let mut lsh = index(0..5);
    for _ in 0..10_000 {
        assert!(lsh.remove(&2));
        lsh.insert(2, &text(2)).unwrap();
    }
    assert!(lsh.sketches.len() < 2 * index::MANY_REMOVED);
    assert_eq!(lsh.len(), 5);
    lsh.clear();
    assert!(lsh.is_empty() && found(&lsh, &text(2)).is_empty());
    lsh.insert(2, &text(2)).unwrap();
    assert_eq!(found(&lsh, &text(2)), [(2, 1.0)]);
}

#[test]
fn merging_is_inserting() {
    let mut left = index(0..120);
    let mut right = index(120..260);
    assert!(left.remove(&7) && right.remove(&130));
    left.merge(right).unwrap();
    let numbers: Vec<u64> = (0..260).filter(|number| ![7, 130].contains(number)).collect();
    assert!(left.keys().eq(&numbers));
    for query in 250..280 {
        assert_eq!(found(&left, &text(query)), expected(&numbers, &text(query), 0.5));
    }
    let other_bands = {
        let mut other = Lsh::with_bands(spec(), 0.9, 4, 8).unwrap();
        other.insert(1000, &text(1)).unwrap();
        other
    };
    left.merge(other_bands).unwrap();
    assert!(found(&left, &text(1)).iter().any(|one| one.0 == 1000));
    let error = |other: Lsh<u64>| left.clone().merge(other).unwrap_err().to_string();
    let other = Lsh::with_bands("none / words:1 / minhash:32 / seed:1".parse().unwrap(), 0.5, 8, 4).unwrap();
    assert!(error(other).contains("normalize is `nfkc+casefold` in the first and `none` in the second"));
    let other = Lsh::builder(spec()).bands(8, 4).keep_shingles().build().unwrap();
    assert!(error(other).contains("keep-shingles is `false` in the first and `true` in the second"));
}

#[test]
fn documents_without_shingles_are_there_and_not_found() {
    let mut lsh = Lsh::with_bands(spec(), 0.1, 8, 4).unwrap();
    lsh.insert_many([(1, ""), (2, "..."), (3, "a b c")], 2).unwrap();
    lsh.insert(4, "").unwrap();
    assert_eq!(lsh.len(), 4);
    assert!(lsh.query("").unwrap().is_empty());
    assert_eq!(found(&lsh, "a b c"), [(3, 1.0)]);
}

#[test]
fn short_texts_are_refused_if_the_spec_says_so() {
    let spec: Spec = "none / words:3,short=reject / minhash:8 / seed:1".parse().unwrap();
    let mut lsh = Lsh::builder(spec).bands(4, 2).keep_shingles().build().unwrap();
    assert_eq!(lsh.insert(1, "one two").unwrap_err().code(), "short_document");
    let texts = (0..300).map(|number| (number, if number % 100 == 70 { "one" } else { "one two three" }));
    let error = lsh.insert_many(texts, 3).unwrap_err();
    assert!(error.to_string().starts_with("document 70 (counted from 0) has 1 unit, "), "{error}");
    assert!(lsh.is_empty() && lsh.sketches.is_empty());
    assert!(lsh.query("one two").is_err());
    lsh.insert_many([(1, "one two three")], 1).unwrap();
    assert_eq!(lsh.query("one two three").unwrap().len(), 1);
}

#[test]
fn settings_are_checked() {
    let error = |builder: LshBuilder<u64>| builder.build().unwrap_err().to_string();
    let of =
        |method: &str| Lsh::<u64>::builder(format!("none / words:1 / {method} / seed:1").parse().unwrap());
    assert!(error(of("b-bit:1/minhash:64")).contains("cannot be banded"));
    assert!(error(of("minhash:64").threshold(0.0)).contains("the threshold cannot be 0"));
    assert!(error(of("minhash:64").threshold(f64::NAN)).contains("the threshold"));
    assert!(error(of("minhash:64").recall(1.0)).contains("the recall"));
    assert!(error(of("minhash:64").bands(9, 8)).contains("9 bands of 8 rows need 72 registers"));
    assert!(
        error(of("minhash:64").bands(8, 8).recall(0.9)).contains("left out if 8 bands of 8 rows are set")
    );
    assert!(error(of("minhash:4").threshold(0.3).recall(0.999)).contains("no banding of 4 registers"));
    assert!(error(of("dart:64").keep_shingles()).contains("cannot be verified by shingle sets"));
    let weighted = Lsh::<u64>::builder("none / words:1 / dart:64 / seed:1 / weight:tf".parse().unwrap());
    assert!(error(weighted).contains("the spec has weights"));
    let chosen = Lsh::<u64>::new(Spec::default(), 0.8, 0.99).unwrap();
    assert_eq!(chosen.banding(), crate::candidate::tune::choose(0.8, 0.99, 128, |s| s).unwrap());
    let mut lsh = index(0..2);
    assert!(lsh.insert_many([(7, "a")], 0).unwrap_err().to_string().contains("the number of threads"));
    assert!(lsh.insert_sketches([7], Sketches::from_vec(31, vec![1; 31]).unwrap(), 1).is_err());
    assert!(lsh.insert_sketches([7, 8], Sketches::from_vec(32, vec![1; 32]).unwrap(), 1).is_err());
    let other = Sketch::of("none / words:1 / minhash:32 / seed:2".parse().unwrap(), "a").unwrap();
    assert!(lsh.query(&other).unwrap_err().to_string().contains("normalize is"));
    assert_eq!(lsh.len(), 2);
}

#[test]
fn it_is_described_briefly() {
    let debug = format!("{:?}", index(0..100));
    assert!(debug.contains("len: 100") && debug.len() < 300, "{debug}");
}

proptest! {
    /// Any sequence of insertions, removals and queries gives the results of the definition.
    #[test]
    fn any_sequence_of_changes_is_what_its_definition_says(changes in proptest::collection::vec((0u64..40, any::<bool>()), 1..300)) {
        let mut lsh = Lsh::with_bands(spec(), 0.5, 8, 4).unwrap();
        let mut there: Vec<u64> = vec![];
        for (number, inserts) in changes {
            if inserts {
                let is_new = !there.contains(&number);
                prop_assert_eq!(lsh.insert(number, &text(number)).is_ok(), is_new);
                if is_new {
                    there.push(number);
                }
            } else {
                let is_there = there.contains(&number);
                prop_assert_eq!(lsh.remove(&number), is_there);
                there.retain(|&other| other != number);
            }
            prop_assert_eq!(lsh.len(), there.len());
        }
        prop_assert!(lsh.keys().eq(&there));
        prop_assert_eq!(found(&lsh, &text(5)), expected(&there, &text(5), 0.5));
    }
}
