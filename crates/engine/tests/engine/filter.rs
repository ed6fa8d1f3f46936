//! Tests that the filter rejects only pairs that are not near-duplicates, for all forms of stored sketches.

use minwise::cluster::Clustering;
use minwise_engine::{RunSettings, Search};

use crate::support::{Documents, Random, listed, with_registers};

/// Makes families with a wide range of similarities, so that some candidates are below the threshold.
fn corpus() -> Documents {
    let mut random = Random(3);
    let mut texts = vec![];
    for family in 0..150 {
        let words: Vec<String> = (0..80).map(|i| format!("f{family}w{i}")).collect();
        for _ in 0..4 {
            let mut words = words.clone();
            for _ in 0..random.below(40) {
                let at = random.below(words.len());
                words[at] = format!("n{}", random.below(1_000_000));
            }
            texts.push(words.join(" "));
        }
    }
    Documents::new(texts)
}

fn settings() -> RunSettings {
    // These bands find nearly all pairs, including many that are not similar enough.
    with_registers("words:1", 0.7, 30, 4, 128)
}

#[test]
fn the_filter_changes_nothing_but_the_work() {
    let documents = corpus();
    let unfiltered = documents.pairs(&settings().filter_error(None));
    assert_eq!(unfiltered.verification.screened.registers, 0);
    assert_eq!(unfiltered.verification.compared, unfiltered.verification.candidates);
    let filtered = documents.pairs(&settings());
    assert_eq!(listed(&filtered), listed(&unfiltered));

    let verification = &filtered.verification;
    assert_eq!(verification.candidates, unfiltered.verification.candidates);
    assert_eq!(verification.compared + verification.screened.pairs, verification.candidates);
    assert!(verification.screened.pairs > verification.candidates / 10, "{verification:?}");
    let screened = &verification.screened;
    assert_eq!(screened.registers, 128 * verification.candidates);
    assert!(screened.compared < screened.registers, "some pairs end at an early look");
    // The expected recall of a run includes the pairs that the filter may have lost.
    let (with, without) =
        (verification.expected_recall.value(), unfiltered.verification.expected_recall.value());
    assert!((with / without - (1.0 - 1e-6)).abs() < 1e-9, "{with} and {without}");
}

#[test]
fn a_large_error_loses_pairs_and_says_so() {
    let documents = corpus();
    let all = listed(&documents.pairs(&settings().filter_error(None)));
    let loose = documents.pairs(&settings().filter_error(0.5));
    let some = listed(&loose);
    assert!(some.len() < all.len() && some.iter().all(|pair| all.contains(pair)));
    // The bound of 0.5 holds for pairs at the threshold, and most pairs are more similar.
    assert!(loose.verification.expected_recall.value() <= 0.5);
    assert!(some.len() as f64 > 0.5 * all.len() as f64);
}

/// Band keys are computed before registers are reduced to bits, so the candidates are the same.
#[test]
fn bits_find_the_same_pairs() {
    let documents = corpus();
    let whole = documents.pairs(&settings());
    for bits in ["16", "8", "2", "1.5", "1", "0.5"] {
        let settings = settings().bits(Some(bits.parse().unwrap()));
        let found = documents.pairs(&settings);
        assert_eq!(listed(&found), listed(&whole), "{bits} bits");
        assert_eq!(found.verification.candidates, whole.verification.candidates, "{bits} bits");
        // The 30 band keys take 240 bytes, and 16 bits of 128 registers take 256. Whole registers take 512 bytes.
        assert!(
            settings.plan().unwrap().row_bytes().unwrap() < if bits == "16" { 600 } else { 512 },
            "{bits} bits"
        );
        if bits.parse::<f64>().unwrap() >= 1.0 {
            assert!(found.verification.screened.pairs > 0, "{bits} bits");
        }
    }
}

#[test]
fn bits_find_the_same_clusters() {
    let documents = corpus();
    for cluster in [Clustering::Star, Clustering::Components] {
        let whole = documents.dedup(&settings().cluster(cluster));
        let bits = documents.dedup(&settings().cluster(cluster).bits(Some("1".parse().unwrap())));
        assert_eq!(bits.removed, whole.removed);
    }
}

/// If 1,500 documents share a form, rows of bits give the decisions of whole registers.
#[test]
fn crowded_shelves_are_split_without_registers() {
    let boilerplate: Vec<String> = (0..40).map(|i| format!("b{i}")).collect();
    let texts: Vec<String> = (0..1500)
        .map(|i| {
            // Every third document repeats the document before it.
            let own = (0..60).map(|w| format!("d{}w{w}", i / 3 * 2 + (i % 3).min(1)));
            boilerplate.iter().cloned().chain(own).collect::<Vec<_>>().join(" ")
        })
        .enumerate()
        .map(|(i, text)| format!("{text} x{i}"))
        .collect();
    let documents = Documents::new(texts);
    let settings = with_registers("words:1", 0.8, 16, 6, 128);
    let whole = documents.dedup(&settings);
    let bits = documents.dedup(&settings.clone().bits(Some("1".parse().unwrap())));
    assert_eq!(whole.removed.len(), 500);
    assert_eq!(bits.removed, whole.removed);
    // Rows of bits must not make many more candidates than whole registers.
    assert!(bits.verification.candidates < 3 * whole.verification.candidates, "{:?}", bits.verification);
}

#[test]
fn looks_of_ones_own_find_the_same_pairs() {
    let documents = corpus();
    let whole = documents.pairs(&settings());
    let screened = whole.verification.screened;
    let all = || settings().search(Search::All);
    let whole_of_all = listed(&documents.pairs(&all()));
    for (looks, bits) in [
        (vec![16, 32, 64, 128], None),
        (vec![20, 50], None),
        (vec![128], None),
        (vec![20, 50, 128], Some("1")),
        (vec![20, 50, 128], Some("1.5")),
    ] {
        for error_per_look in [None, Some(1e-7)] {
            let with = |settings: RunSettings| {
                settings
                    .looks(looks.clone())
                    .error_per_look(error_per_look)
                    .bits(bits.map(|bits| bits.parse().unwrap()))
            };
            let found = documents.pairs(&with(settings()));
            assert_eq!(listed(&found), listed(&whole), "{looks:?} {bits:?}");
            assert_eq!(listed(&documents.pairs(&with(all()))), whole_of_all, "{looks:?} {bits:?}");
            if looks == [128] {
                let all_compared = found.verification.screened;
                assert_eq!(all_compared.compared, all_compared.registers, "there is no look before the last");
                assert!(screened.compared < all_compared.compared);
            }
        }
    }
    // A share of one half for each of eight looks loses more pairs than one half over all looks together.
    let per_look = documents.pairs(&settings().error_per_look(0.5));
    let together = documents.pairs(&settings().filter_error(0.5));
    assert!(listed(&per_look).len() < listed(&together).len());
    assert_eq!(per_look.verification.expected_recall.value(), 0.0);
}
