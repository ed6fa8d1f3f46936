//! Tests that weighted runs find the similarities that are computed directly from the words of the texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use minwise::weight::Weighting;
use minwise::{Spec, WeightSpec};
use minwise_engine::weigh::{FrequencyTable, count, count_for_a_run, create};
use minwise_engine::{RunSettings, Search, Unobserved};

use crate::support::{Documents, Random, triples, with_registers};

/// A threshold that is the similarity of no pair.
const THRESHOLD: f64 = 0.6123;

/// Makes families of texts over few words, so that words repeat.
fn texts() -> Vec<String> {
    let mut random = Random(21);
    let mut texts = vec![];
    for family in 0..80 {
        let words: Vec<String> = (0..40)
            .map(|_| {
                if random.below(3) == 0 {
                    format!("common{}", random.below(6))
                } else {
                    format!("f{family}w{}", random.below(25))
                }
            })
            .collect();
        for _ in 0..=random.below(4) {
            let mut words = words.clone();
            for _ in 0..random.below(8) {
                let at = random.below(words.len());
                words[at] = format!("n{}", random.below(5000));
            }
            texts.push(words.join(" "));
        }
    }
    texts.push(texts[3].clone());
    texts.push("common1 common2".to_owned());
    texts
}

/// Returns the words of each text with their weights; words without weight are left out.
fn weighted(texts: &[String], weighting: Weighting) -> Vec<BTreeMap<String, f64>> {
    let counts: Vec<BTreeMap<String, f64>> = texts
        .iter()
        .map(|text| {
            let mut counts = BTreeMap::new();
            for word in text.split(' ') {
                *counts.entry(word.to_owned()).or_insert(0.0) += 1.0;
            }
            counts
        })
        .collect();
    let documents = texts.len() as f64;
    let frequency = |word: &str| counts.iter().filter(|counts| counts.contains_key(word)).count() as f64;
    counts
        .iter()
        .map(|document| {
            let all: f64 = document.values().sum();
            let weigh = |(word, &count): (&String, &f64)| {
                let rarity = || documents / (frequency(word) + 1.0);
                let weight = match weighting {
                    Weighting::None => 1.0,
                    Weighting::Count => count,
                    Weighting::Tf => count / all,
                    Weighting::TfIdf => count / all * rarity().ln(),
                    Weighting::TfIdfSmooth => count / all * (1.0 + rarity()).ln(),
                    other => panic!("there is no formula for {other}"),
                };
                (weight > 0.0).then(|| (word.clone(), weight))
            };
            document.iter().filter_map(weigh).collect()
        })
        .collect()
}

fn jaccard(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    let weight = |set: &BTreeMap<String, f64>, word: &String| set.get(word).copied().unwrap_or(0.0);
    let words: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let shared: f64 = words.iter().map(|word| weight(a, word).min(weight(b, word))).sum();
    let all: f64 = words.iter().map(|word| weight(a, word).max(weight(b, word))).sum();
    shared / all
}

fn settings(documents: &Documents, weighting: Weighting, search: Search) -> RunSettings {
    let mut settings = with_registers("words:1", THRESHOLD, 30, 4, 128);
    settings.spec.method = "icws:128".parse().unwrap();
    settings.spec.weights = WeightSpec::new(weighting);
    settings.search = Some(search);
    if weighting.needs_frequencies() {
        let table = count_for_a_run(&documents.corpus, &settings.spec, 2, None, &Unobserved).unwrap();
        settings.spec.weights.table = Some(table.fingerprint());
        settings.weighing.frequencies = Some(Arc::new(table));
    }
    settings
}

/// Every pair and its exact similarity agree with the sums, whatever method finds the candidates.
#[test]
fn weighted_pairs_are_those_of_brute_force() {
    let texts = texts();
    let documents = Documents::new(&texts);
    for weighting in [Weighting::Count, Weighting::Tf, Weighting::TfIdf, Weighting::TfIdfSmooth] {
        let sets = weighted(&texts, weighting);
        let mut expected = vec![];
        for a in 0..sets.len() {
            for b in a + 1..sets.len() {
                let equal = texts[a] == texts[b];
                let similarity = if equal { 1.0 } else { jaccard(&sets[a], &sets[b]) };
                // No pair may lie exactly at the threshold, because rounding would decide about the pair.
                assert!((similarity - THRESHOLD).abs() > 1e-9);
                if similarity > THRESHOLD {
                    expected.push((a as u32, b as u32, similarity));
                }
            }
        }
        assert!(expected.len() > 20, "{weighting}");
        for search in [Search::SortMerge, Search::All, Search::SortMergeSketch, Search::Banding] {
            let found = triples(&documents.pairs(&settings(&documents, weighting, search)));
            let pairs =
                |pairs: &[(u32, u32, f64)]| pairs.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>();
            assert_eq!(pairs(&found), pairs(&expected), "{weighting} by {search}");
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found.2 - expected.2).abs() < 1e-12, "{weighting} by {search}");
            }
        }
    }
}

/// If all words of a document are too common to have a weight, only an equal document is its duplicate.
#[test]
fn documents_without_weight_stay() {
    let mut texts: Vec<String> = (0..20).map(|i| format!("all own{i}")).collect();
    texts.push("all".to_owned());
    texts.push("all all".to_owned());
    texts.push("all".to_owned());
    let documents = Documents::new(&texts);
    let decisions = documents.dedup(&settings(&documents, Weighting::TfIdf, Search::Banding));
    assert_eq!(
        decisions.removed.iter().map(|removed| (removed.document, removed.of)).collect::<Vec<_>>(),
        [(22, 20)]
    );
}

#[test]
fn shingles_of_templates_and_of_many_documents_are_left_out() {
    // Each document is a form of 60 words, filled with 20 words of its own.
    let form: Vec<String> = (0..60).map(|i| format!("form{i}")).collect();
    let texts: Vec<String> = (0..30)
        .map(|i| {
            let own = (0..20).map(|w| format!("own{i}w{w}"));
            form.iter().cloned().chain(own).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let documents = Documents::new(&texts);
    let plain = with_registers("words:1", 0.5, 60, 2, 128);
    assert_eq!(documents.dedup(&plain).removed.len(), 29, "plain similarity takes all forms for one");

    let mut without_frequent = plain.clone();
    without_frequent.spec.weights.most_documents = Some("0.5".parse().unwrap());
    let table = count_for_a_run(&documents.corpus, &plain.spec, 2, None, &Unobserved).unwrap();
    without_frequent.spec.weights.table = Some(table.fingerprint());
    without_frequent.weighing.frequencies = Some(Arc::new(table));
    assert_eq!(documents.dedup(&without_frequent).removed.len(), 0);

    let mut without_form = plain.clone();
    let mut shingles = minwise::shingle::Shingles::new();
    plain.spec.shingler().shingle_into(&form.join(" "), &mut shingles);
    without_form.spec.weights.ignored = Some(WeightSpec::fingerprint_of_ignored(shingles.hashes()));
    without_form.weighing.ignored = shingles.hashes().into();
    assert_eq!(documents.dedup(&without_form).removed.len(), 0);
}

#[test]
fn a_saved_table_is_the_same_whatever_the_threads_and_knows_its_spec() {
    let documents = Documents::new(texts());
    let folder = tempfile::tempdir().unwrap();
    let spec: Spec = "nfkc+casefold / words:2 / minhash:8 / seed:1".parse().unwrap();
    let made = |name: &str, threads: usize| {
        let path = folder.path().join(name);
        let new = create(&path, minwise_corpus::Overwrite::Refuse).unwrap();
        count(&documents.corpus, &spec, threads, Some(folder.path()), new, &Unobserved).unwrap();
        path
    };
    let (one, many) = (made("one", 1), made("many", 5));
    assert_eq!(fs_err::read(&one).unwrap(), fs_err::read(&many).unwrap());
    let table = FrequencyTable::open(&one).unwrap();
    assert!(table.check(&spec).is_ok());
    let other: Spec = "nfkc+casefold / words:3 / minhash:8 / seed:1".parse().unwrap();
    let message = table.check(&other).unwrap_err().to_string();
    assert!(message.contains("shingle is `words:3` in the first and `words:2` in the second"), "{message}");
    assert!(table.shingles().is_sorted_by(|a, b| a < b));
    assert_eq!(table.shingles().len(), table.frequencies().len());
}
