//! Tests of keeper policies that use fields. The expected order is computed from the numbers that the fields were
//! written from.

use std::cmp::Reverse;

use minwise::cluster::Clustering;
use minwise_corpus::{FieldPath, ReadOptions};
use minwise_engine::stages::read;
use minwise_engine::{ErrorKind, Unobserved};
use serde_json::json;

use crate::oracle::{Oracle, corpus};
use crate::support::{Documents, Random, settings};

/// Numbers from which the fields of a document were written.
#[derive(Clone, Copy)]
struct Fields {
    /// The date in seconds since 1970, at midnight; `None` for documents without a date.
    date: Option<i64>,
    score: i64,
    source: Option<&'static str>,
}

/// Dates of documents, in days since 1970.
const DAYS: [i64; 12] = [0, 1, 2, 3, 5, 8, 9, 11, 13, 17, 21, 30];

fn fields(random: &mut Random) -> Fields {
    Fields {
        date: (random.below(10) > 0).then(|| 86_400 * *random.pick(&DAYS)),
        // Neighbouring scores are equal as doubles, so a comparison of doubles would fail.
        score: (1 << 60) - random.pick(&DAYS) % 5,
        source: *random.pick(&[Some("wiki"), Some("news"), Some("blog"), None]),
    }
}

/// Writes a date in one of its forms, chosen at random.
fn written(date: i64, random: &mut Random) -> serde_json::Value {
    let day = date / 86_400 + 1;
    match random.below(4) {
        0 => json!(date),
        1 => json!(format!("1970-01-{day:02}")),
        2 => json!(format!("1970-01-{day:02}T00:00:00.000Z")),
        _ => json!(format!("1970-01-{day:02} 05:30:00+05:30")),
    }
}

#[test]
fn documents_are_considered_in_the_order_of_their_fields() {
    let texts = corpus(7);
    let mut random = Random(8);
    let fields: Vec<Fields> = texts.iter().map(|_| fields(&mut random)).collect();
    let records: Vec<serde_json::Value> = texts
        .iter()
        .zip(&fields)
        .map(|(text, fields)| {
            let mut record = json!({ "text": text, "meta": { "score": fields.score } });
            if let Some(date) = fields.date {
                record["date"] = written(date, &mut random);
            }
            if let Some(source) = fields.source {
                record["source"] = json!(source);
            }
            record
        })
        .collect();
    let length = |document: usize| Reverse(texts[document].chars().count());
    let source = |document: usize| match fields[document].source {
        Some("news") => 0,
        Some("wiki") => 1,
        Some(_) => 2,
        None => 3,
    };
    let no_date = |document: usize| fields[document].date.is_none();
    let oracle = Oracle::new(&texts, 3);
    let sorted = |key: &dyn Fn(usize) -> (i64, i64, Reverse<usize>)| {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&document| key(document));
        order
    };
    let none = Reverse(0);
    let orders = [
        ("oldest:date", sorted(&|d| (no_date(d).into(), fields[d].date.unwrap_or(0), none))),
        ("newest:date", sorted(&|d| (no_date(d).into(), -fields[d].date.unwrap_or(0), none))),
        ("min:meta.score", sorted(&|d| (fields[d].score, 0, none))),
        ("max:meta.score;longest", sorted(&|d| (-fields[d].score, 0, length(d)))),
        (
            "priority:source=news,wiki;max:meta.score;longest",
            sorted(&|d| (source(d), -fields[d].score, length(d))),
        ),
    ];
    for (keep, order) in orders {
        let mut settings = settings("words:3", 0.5, 160, 3);
        settings.keep = Some(keep.parse().unwrap());
        let value_fields =
            settings.plan().unwrap().keep().fields().map(|field| field.parse().unwrap()).collect();
        let options = ReadOptions::default().value_fields(value_fields);
        let documents = Documents::of_records(records.iter().cloned(), &options);
        for cluster in [Clustering::Star, Clustering::Components] {
            settings.cluster = cluster;
            let expected = oracle.decide_in(0.5, &order, cluster);
            for threads in [1, 3] {
                settings.threads = Some(threads);
                assert_eq!(documents.dedup(&settings).removed, expected, "{keep} {cluster}");
            }
        }
    }
}

#[test]
fn a_field_that_no_document_has_is_refused_with_those_there_are() {
    let options = ReadOptions::default().value_fields(FieldPath::list("day").unwrap());
    let records = [json!({ "text": "a", "date": 1 }), json!({ "text": "b", "meta": { "x": 2 } })];
    let documents = Documents::of_records(records.into_iter(), &options);
    let mut settings = settings("words:3", 0.5, 1, 1);
    settings.keep = Some("newest:day".parse().unwrap());
    let error = read(&documents.corpus, &settings.plan().unwrap().reading(), &Unobserved).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoSuchField { .. }), "{error}");
    assert_eq!(error.to_string(), "no document has the field `day`");
    assert_eq!(error.hint().unwrap().to_string(), "the fields of the first document are `date`, `text`");
}
