//! Compares an index with a map after random changes.

use std::collections::BTreeMap;

use minwise_index::{CheckOptions, ErrorKind, Query, Side, Unobserved};
use proptest::prelude::*;

use crate::support::{create, document, reopened, text};

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<(u8, u16)>),
    Remove(Vec<u8>),
    Reopen,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => proptest::collection::vec((0u8..30, 0u16..60), 0..8).prop_map(Step::Add),
        3 => proptest::collection::vec(0u8..30, 1..4).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
        1 => Just(Step::Compact),
    ]
}

/// Returns a text by its number: some texts are similar, some are short, and text 0 is empty.
fn text_of(number: u16) -> String {
    match number {
        0 => String::new(),
        1..5 => text(u64::from(number), usize::from(number)),
        _ => format!("{} {}", text(u64::from(number / 6), 60), text(u64::from(number), 12)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_is_a_map_that_finds(steps in proptest::collection::vec(step(), 1..14)) {
        let folder = tempfile::tempdir().unwrap();
        let mut index = create(folder.path());
        let mut model: BTreeMap<String, String> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Add(documents) => {
                    let new: Vec<_> = documents
                        .iter()
                        .map(|(id, number)| document(&format!("d{id}"), &text_of(*number)))
                        .collect();
                    let before = model.len();
                    model.extend(new.iter().map(|document| (document.id.clone(), document.text.clone())));
                    let added = index.add(&new, 5, 2).unwrap();
                    prop_assert_eq!(added.new as usize, model.len() - before);
                }
                Step::Remove(ids) => {
                    let ids: Vec<String> = ids.iter().map(|id| format!("d{id}")).collect();
                    let removed = index.remove(&ids.iter().map(String::as_str).collect::<Vec<_>>());
                    if ids.iter().all(|id| model.contains_key(id)) {
                        prop_assert!(removed.is_ok());
                        model.retain(|id, _| !ids.contains(id));
                    } else {
                        let kind = removed.unwrap_err().kind().clone();
                        let missing = matches!(kind, ErrorKind::NoSuchDocument { .. });
                        prop_assert!(missing);
                    }
                }
                Step::Reopen => index = reopened(index),
                Step::Compact => index.compact(&Unobserved).unwrap(),
            }
        }
        prop_assert_eq!(index.check_integrity(&Unobserved).unwrap().findings, vec![]);
        let mut ids = index.ids().unwrap();
        ids.sort_unstable();
        prop_assert_eq!(ids, model.keys().cloned().collect::<Vec<_>>());
        let options = CheckOptions::default().containment(1.0).passage(Some(usize::MAX)).top(99);
        for (id, text) in &model {
            let found = index.get(id).unwrap().unwrap();
            prop_assert_eq!(found.text.as_ref(), Some(text));
            let answer = index.check(&Query::new(text), &options).unwrap();
            let mut found: Vec<&str> = answer.matches.iter().map(|found| found.id.as_str()).collect();
            found.sort_unstable();
            let mut expected = vec![];
            for (other, its) in &model {
                if index.pair(Side::Text(text), Side::Text(its)).unwrap().similarity >= options.threshold {
                    expected.push(other.as_str());
                }
            }
            prop_assert_eq!(found, expected, "{}", id);
        }
    }
}

#[test]
fn ids_and_texts_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    for (id, why) in [("", "it is empty"), (&"x".repeat(1025), "1,024 bytes"), ("a\nb", "control character")]
    {
        let error = index.add(&[document("fine", "text"), document(id, "text")], 0, 1).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(index.statistics().unwrap().documents, 0, "all or none");
}

#[test]
fn frequencies_are_those_of_the_documents_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let same = text(1, 20);
    let documents: Vec<_> =
        (0..10).map(|n| document(&n.to_string(), &format!("{same} {}", text(100 + n, 20)))).collect();
    index.add(&documents, 0, 2).unwrap();
    let mut shingles = minwise::shingle::Shingles::new();
    minwise::Spec::default().shingler().shingle_into(&same, &mut shingles);
    let count = |index: &minwise_index::Index| {
        let table = index.frequencies().unwrap();
        (table.documents(), table.of(shingles.hashes()[3]))
    };
    assert_eq!(count(&index), (10, 10));
    index.remove(&["1", "2"]).unwrap();
    index.compact(&Unobserved).unwrap();
    assert_eq!(count(&index), (8, 8));
    assert_eq!(count(&reopened(index)), (8, 8));
}
