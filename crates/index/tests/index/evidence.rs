//! Tests of shingles that are no evidence.

use minwise::weight::Weighting;
use minwise_index::{CheckOptions, Index, Match, NewDocument, Query};
use serde_json::{Map, Value, json};

use crate::support::{create, document, text};

fn metadata(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

fn matches(index: &Index, text: &str, options: &CheckOptions) -> Vec<Match> {
    index.check(&Query::new(text), options).unwrap().matches
}

#[test]
fn the_text_of_a_form_is_no_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let form = text(1, 120);
    index.add(&[document("a", &format!("{form} {}", text(2, 100)))], 0, 1).unwrap();
    let asked = format!("{form} {}", text(3, 100));
    assert_eq!(matches(&index, &asked, &CheckOptions::default()).len(), 1);
    let options = CheckOptions::default().ignore_text(vec![form]);
    assert!(matches(&index, &asked, &options).is_empty());
}

#[test]
fn what_everybody_writes_is_no_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let everybody = text(1, 60);
    let documents: Vec<NewDocument> =
        (0..20).map(|n| document(&n.to_string(), &format!("{everybody} {}", text(100 + n, 60)))).collect();
    index.add(&documents, 0, 2).unwrap();
    let asked = format!("{everybody} {}", text(105, 60));
    assert_eq!(matches(&index, &asked, &CheckOptions::default().top(99)).len(), 20);
    let options = CheckOptions::default().max_df(Some("0.5".parse().unwrap()));
    let found = matches(&index, &asked, &options);
    assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["5"]);
    // The last shingles of the common text also contain words of the document itself.
    assert_eq!(found[0].longest_passage, 60 + 4);
}

// Postings of replaced documents stay until the index is compacted, but do not count for `max_df`.
#[test]
fn what_was_replaced_often_is_not_what_everybody_writes() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let shared = text(1, 30);
    for night in 0..20 {
        let documents: Vec<NewDocument> = (0..6)
            .map(|n| document(&n.to_string(), &format!("{} w{night}", text(100 + n, 400))))
            .chain([document("it", &format!("{} {shared} {} w{night}", text(2, 400), text(3, 400)))])
            .collect();
        index.add(&documents, night, 1).unwrap();
    }
    let asked = format!("{} {shared} {}", text(4, 400), text(5, 400));
    let options = CheckOptions::default().max_df(Some("0.5".parse().unwrap()));
    let answer = index.check(&Query::new(&asked), &options).unwrap();
    assert_eq!((answer.passed_over, answer.matches.len()), (0, 1));
    // Text that most documents have now is common.
    let everybody: Vec<NewDocument> =
        (0..6).map(|n| document(&n.to_string(), &format!("{} {shared}", text(100 + n, 400)))).collect();
    index.add(&everybody, 20, 1).unwrap();
    let answer = index.check(&Query::new(&asked), &options).unwrap();
    assert_eq!(answer.matches, []);
}

#[test]
fn quotations_and_references_are_no_evidence_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let (quoted, listed) = (text(1, 40), text(2, 40));
    let with =
        |own: u64| format!("{} “{quoted}” {}\n\nReferences\n{listed}\n", text(own, 90), text(own + 1, 90));
    index.add(&[document("a", &with(10))], 0, 1).unwrap();
    let longest = |quotations, references| {
        let options = CheckOptions::default().ignore_quotations(quotations).ignore_references(references);
        matches(&index, &with(20), &options).first().map(|found| found.passages.len())
    };
    assert_eq!(longest(false, false), Some(2));
    assert_eq!(longest(true, false), Some(1));
    assert_eq!(longest(false, true), Some(1));
    assert_eq!(longest(true, true), None);
}

#[test]
fn documents_of_the_same_applicant_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let same = text(1, 100);
    let of = |id: &str, applicant: Value| {
        document(id, &same).metadata(metadata(json!({ "applicant": applicant })))
    };
    index.add(&[of("a", json!("Ada")), of("b", json!("Bob")), of("c", json!(null))], 0, 1).unwrap();
    let ids = |metadata: &Map<String, Value>| {
        let query = Query::new(&same).metadata(metadata);
        let options = CheckOptions::default().exclude(["applicant"]);
        let answer = index.check(&query, &options).unwrap();
        answer.matches.iter().map(|found| found.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&metadata(json!({ "applicant": "Ada" }))), ["b", "c"]);
    assert_eq!(ids(&metadata(json!({ "applicant": null }))), ["a", "b", "c"]);
    assert_eq!(ids(&Map::new()), ["a", "b", "c"]);
}

#[test]
fn documents_outside_a_window_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let same = text(1, 100);
    let filed = |id: &str, date: &str| document(id, &same).metadata(metadata(json!({ "filed": date })));
    index.add(&[filed("old", "2009-03-01"), filed("new", "2021-03-01")], 1_700_000_000, 1).unwrap();
    let ids = |field: Option<&str>, since: &str| {
        let mut options = CheckOptions::default().since(since);
        options.date_field = field.map(str::to_owned);
        let found = matches(&index, &same, &options);
        found.iter().map(|found| found.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(Some("filed"), "2015"), ["new"]);
    assert_eq!(ids(None, "2015"), ["new", "old"]);
    assert!(ids(None, "2024").is_empty());
}

#[test]
fn rare_shingles_weigh_more() {
    let folder = tempfile::tempdir().unwrap();
    let index = create(folder.path());
    let (common, rare) = (text(1, 60), text(2, 60));
    let mut documents: Vec<NewDocument> =
        (0..20).map(|n| document(&n.to_string(), &format!("{common} {}", text(100 + n, 60)))).collect();
    documents.push(document("rare", &format!("{rare} {}", text(50, 60))));
    index.add(&documents, 0, 2).unwrap();
    let options = CheckOptions::default().weight(Some(Weighting::TfIdfSmooth)).top(99);
    let found = matches(&index, &format!("{common} {rare}"), &options);
    let of = |id: &str| found.iter().find(|found| found.id == id).unwrap();
    assert!((of("rare").similarity - of("3").similarity).abs() < 0.05);
    assert!(of("rare").weighted.unwrap() > 1.5 * of("3").weighted.unwrap());
}
