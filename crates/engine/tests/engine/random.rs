//! Tests of random small corpora against brute force. A failing corpus is small enough to be read.

use minwise::cluster::Clustering;
use minwise::keep::KeepPolicy;
use proptest::prelude::*;

use crate::oracle::Oracle;
use crate::support::{Documents, listed, settings};

/// Generates texts over so few words that ties, equal sets in another order and documents without words are frequent.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec!["a", "b", "c", "d", "e", "A", ".", "中", "文", "dd"]);
    let text = prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn small_corpora_are_decided_by_the_definition(
        texts in texts(),
        size in 1usize..4,
        threshold in prop::sample::select(vec![0.4, 0.5, 2.0 / 3.0, 0.75, 1.0]),
        keep in prop::sample::select(vec!["first", "last", "longest", "shortest"]),
        cluster in prop::sample::select(vec![Clustering::Star, Clustering::Components]),
    ) {
        let oracle = Oracle::new(&texts, size);
        let documents = Documents::new(&texts);
        // A pair at 0.4 is missed with probability 10⁻¹³.
        let mut settings = settings(&format!("words:{size}"), threshold, 60, 1);
        let keep: KeepPolicy = keep.parse().unwrap();
        (settings.keep, settings.cluster) = (Some(keep.clone()), cluster);
        prop_assert_eq!(documents.dedup(&settings).removed, oracle.decide(threshold, &keep, cluster));
        let found: Vec<_> = listed(&documents.pairs(&settings)).iter().map(|p| (p.first, p.second, p.similarity)).collect();
        prop_assert_eq!(found, oracle.pairs(threshold));
    }
}
