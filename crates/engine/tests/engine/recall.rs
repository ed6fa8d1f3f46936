//! Tests of promise 2: a run states how many pairs it may have missed, and the statement is right.

use minwise::candidate::Curve;

use crate::support::{Documents, Random, listed, settings};

/// Makes pairs of documents that share words only with each other, with similarities spread over 0.5 to 1. Returns the
/// texts and the similarities.
fn planted(pairs: usize) -> (Vec<String>, Vec<f64>) {
    let mut random = Random(11);
    let (mut texts, mut similarities) = (vec![], vec![]);
    for pair in 0..pairs {
        let words: Vec<String> = (0..60).map(|i| format!("p{pair}w{i}")).collect();
        // If `differ` of 60 words differ, the similarity is (60 − `differ`) / (60 + `differ`).
        let differ = 1 + random.below(19);
        let mut other = words.clone();
        for (i, word) in other.iter_mut().take(differ).enumerate() {
            *word = format!("p{pair}x{i}");
        }
        texts.push(words.join(" "));
        texts.push(other.join(" "));
        similarities.push((60 - differ) as f64 / (60 + differ) as f64);
    }
    (texts, similarities)
}

#[test]
fn the_expected_recall_is_the_measured_one_at_weak_bandings() {
    let (texts, similarities) = planted(4000);
    let documents = Documents::new(&texts);
    for (bands, rows) in [(4, 4), (2, 6), (8, 8)] {
        let settings = settings("words:1", 0.5, bands, rows);
        let found = documents.pairs(&settings);
        let count = listed(&found).len() as f64;
        let there = similarities.len() as f64;
        let (measured, expected) = (count / there, found.verification.expected_recall.value());

        // Each pair is found with its own probability. The number of found pairs varies, and so does the estimate from
        // these pairs; the standard deviations are known.
        let curve = Curve::from(settings.plan().unwrap().banding());
        let sum =
            |term: fn(f64) -> f64| similarities.iter().map(|&s| term(curve.probability(s))).sum::<f64>();
        let mean = sum(|p| p) / there;
        let spread_of_found = sum(|p| p * (1.0 - p)).sqrt() / there;
        let spread_of_estimate = mean * sum(|p| (1.0 - p) / p).sqrt() / there;
        assert!(measured < 0.97, "{measured}: this banding is not weak");
        assert!((measured - mean).abs() < 4.0 * spread_of_found, "{measured} found, {mean} predicted");
        let spread = spread_of_found + spread_of_estimate;
        assert!(
            (expected - measured).abs() < 4.0 * spread,
            "{expected} expected, {measured} measured, ± {spread}"
        );
    }
}

#[test]
fn equal_documents_are_never_missed() {
    let texts: Vec<String> = (0..300).map(|i| format!("one{} two three", i % 100)).collect();
    let found = Documents::new(&texts).pairs(&settings("words:2", 0.9, 1, 16));
    assert_eq!(listed(&found).len(), 300);
    assert_eq!(found.verification.expected_recall.value(), 1.0);
    assert_eq!(found.verification.candidates, 0);
}

/// Copies have the same sketch, so pairs between two groups of copies are found or missed together.
#[test]
fn copies_of_missed_documents_are_missed_as_often() {
    let (texts, similarities) = planted(1000);
    let copies = 6;
    let texts: Vec<&String> = texts.iter().flat_map(|text| std::iter::repeat_n(text, copies)).collect();
    let settings = settings("words:1", 0.5, 2, 6);
    let found = Documents::new(&texts).pairs(&settings);
    let within = copies * (copies - 1) / 2;
    let there = similarities.len() * (2 * within + copies * copies);
    let measured = listed(&found).len() as f64 / there as f64;
    let expected = found.verification.expected_recall.value();
    assert!(measured < 0.8, "{measured}: this banding is not weak");
    // With a thousand pairs of groups, a difference of 0.03 is four standard errors.
    assert!((measured - expected).abs() < 0.03, "{measured} measured, {expected} expected");
}
