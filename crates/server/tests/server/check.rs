//! Tests of checks and pairs: the matches, and the form of the answers.

use minwise_index::{IndexSettings, Texts};
use serde_json::{Value, json};

use crate::support::{Archive, text, wait, wide};

/// Returns the part of a text that a range of bytes selects.
fn cut<'t>(text: &'t str, range: &Value) -> &'t str {
    let [start, end] = [0, 1].map(|at| range[at].as_u64().unwrap() as usize);
    &text[start..end]
}

#[test]
fn a_check_finds_what_is_repeated_with_the_passages() {
    wait(async {
        let archive = Archive::new();
        let [shared, moved, own, other] =
            [(1, 60), (2, 50), (3, 40), (4, 70)].map(|(seed, words)| text(seed, words));
        let stored = format!("{shared}. {moved}. {other}");
        let query = format!("{own} — {moved}。 {shared}");
        archive.add(&[("stored", &stored), ("unlike", &text(9, 300))]).await;
        let answer = archive.post("/api/v1/check", &json!({"text": query, "title": "Mine"})).await.json();
        assert_eq!(answer["query"]["title"], "Mine");
        assert_eq!(answer["query"]["text"], query);
        let matches = answer["matches"].as_array().unwrap();
        assert_eq!(matches.len(), 1);
        let found = &matches[0];
        assert_eq!((&found["id"], &found["weighted"]), (&json!("stored"), &json!(null)));
        let passages = found["passages"].as_array().unwrap();
        assert_eq!(passages.len(), 2);
        for (passage, text) in passages.iter().zip([&moved, &shared]) {
            assert_eq!(cut(&query, &passage["query"]), text);
            assert_eq!(cut(&stored, &passage["document"]), text);
        }
        assert_eq!((&passages[0]["tokens"], &passages[1]["tokens"]), (&json!(50), &json!(60)));
        assert_eq!(passages.iter().filter(|passage| passage["moved"] == true).count(), 1);
        assert_eq!((&found["longest_passage"], &found["shared_tokens"]), (&json!(60), &json!(110)));

        let pair = json!({"left": {"text": query, "title": "Mine"}, "right": {"id": "stored"}});
        let pair = archive.post("/api/v1/pair", &pair).await.json();
        assert_eq!(pair["similarity"], found["similarity"]);
        assert_eq!(pair["containment_of_left"], found["containment_of_query"]);
        assert_eq!(pair["containment_of_right"], found["containment_of_document"]);
        assert_eq!((&pair["left"]["id"], &pair["right"]["id"]), (&json!(null), &json!("stored")));
        let both: Vec<_> = passages.iter().map(|passage| [&passage["query"], &passage["document"]]).collect();
        let pairs = pair["passages"].as_array().unwrap();
        assert_eq!(
            pairs.iter().map(|passage| [&passage["left"], &passage["right"]]).collect::<Vec<_>>(),
            both
        );
    });
}

#[test]
fn a_pair_has_all_passages_that_a_check_with_its_options_found() {
    wait(async {
        let archive = Archive::new();
        // There are 250 passages, each after a word that only one of the two texts has. Every fifth passage
        // of the query is a quotation.
        let passages: Vec<String> = (0..250).map(|at| text(at, 10)).collect();
        let stored: Vec<String> = (0..250).map(|at| format!("theirs{at} {}\n", passages[at])).collect();
        let stored = stored.concat();
        let quoted = |at: usize| {
            if at.is_multiple_of(5) { format!("“{}”", passages[at]) } else { passages[at].clone() }
        };
        let query: Vec<String> = (0..250).map(|at| format!("ours{at} {}\n", quoted(at))).collect();
        let query = query.concat();
        archive.add(&[("stored", &stored)]).await;
        let two = json!({"left": {"text": query}, "right": {"id": "stored"}});
        for (options, expected) in
            [(json!({}), 250), (json!({"ignore_quotations": true, "title": "Mine"}), 200)]
        {
            let (mut asked, mut pair) = (options.clone(), two.clone());
            asked["text"] = json!(query);
            pair["options"] = options;
            let found = archive.post("/api/v1/check", &asked).await.json()["matches"][0].clone();
            assert_eq!(found["further_passages"], expected - 50);
            let pair = archive.post("/api/v1/pair", &pair).await.json();
            assert_eq!(pair["passages"].as_array().unwrap().len(), expected);
            assert_eq!(pair["similarity"], found["similarity"]);
            assert_eq!(pair["containment_of_left"], found["containment_of_query"]);
            assert_eq!(pair["containment_of_right"], found["containment_of_document"]);
            let tokens = |passage: &Value| passage["tokens"].as_u64().unwrap();
            assert_eq!(
                pair["passages"].as_array().unwrap().iter().map(tokens).sum::<u64>(),
                found["shared_tokens"]
            );
            assert!(pair["spec"].as_str().unwrap().contains("words:5"), "{}", pair["spec"]);
        }
        for (options, status, code) in [
            (json!({"text": "more"}), 400, "bad_body"),
            (json!({"treshold": 0.1}), 400, "bad_body"),
            (json!({"threshold": 7}), 422, "bad_setting"),
        ] {
            let mut pair = two.clone();
            pair["options"] = options;
            let answer = archive.post("/api/v1/pair", &pair).await;
            assert_eq!(answer.problem(), (status, code.to_owned()));
        }
    });
}

#[test]
fn what_is_not_shown_is_counted() {
    wait(async {
        let archive = Archive::new();
        // There are sixty passages, each after a word that only one of the two texts has.
        let passages: Vec<String> = (0..60).map(|at| text(at, 10)).collect();
        let [stored, query] = ["ours", "yours"].map(|own| {
            let parts: Vec<String> = passages.iter().map(|passage| format!("{own} {passage}")).collect();
            parts.join(" ")
        });
        archive.add(&[("stored", &stored)]).await;
        let found = &archive.post("/api/v1/check", &json!({ "text": query })).await.json()["matches"][0];
        assert_eq!(
            (found["passages"].as_array().unwrap().len(), &found["further_passages"]),
            (50, &json!(10))
        );
    });
}

#[test]
fn options_leave_out_what_they_say() {
    wait(async {
        let archive = Archive::new();
        let shared = text(1, 80);
        let document =
            |id: &str, who: &str| json!({"id": id, "text": shared, "metadata": {"applicant": who}});
        archive
            .post("/api/v1/documents", &json!({"documents": [document("a", "Li"), document("b", "Wu")]}))
            .await;
        let ids = async |options: Value| {
            let mut body = json!({ "text": shared });
            body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            let answer = archive.post("/api/v1/check", &body).await.json();
            let matches = answer["matches"].as_array().unwrap_or_else(|| panic!("{answer}"));
            matches.iter().map(|found| found["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(json!({})).await, ["a", "b"]);
        assert_eq!(ids(json!({"top": 1})).await, ["a"]);
        assert_eq!(ids(json!({"exclude": ["applicant"], "metadata": {"applicant": "Li"}})).await, ["b"]);
        assert_eq!(ids(json!({"max_df": 1})).await, [""; 0]);
        assert_eq!(ids(json!({"ignore_text": [shared]})).await, [""; 0]);
        assert_eq!(ids(json!({"until": "2020-01-01"})).await, [""; 0]);
        assert_eq!(ids(json!({"since": "2020-01-01", "until": "2999-12-31"})).await, ["a", "b"]);
        let quoted = json!({"text": format!("\"{shared}\""), "ignore_quotations": true});
        assert_eq!(archive.post("/api/v1/check", &quoted).await.json()["matches"], json!([]));
        let weighed = json!({"text": shared, "weight": "tf-idf,smooth"});
        assert_eq!(archive.post("/api/v1/check", &weighed).await.json()["matches"][0]["weighted"], 1.0);
        let limited =
            archive.post("/api/v1/check", &json!({"text": shared, "top": 1, "candidates": 1})).await.json();
        assert_eq!((&limited["compared"], &limited["not_compared"]), (&json!(1), &json!(1)));
        let cut = archive.post("/api/v1/check", &json!({"text": shared, "top": 1})).await.json();
        assert_eq!((&cut["further"], &cut["passed_over"]), (&json!(1), &json!(0)));
        let filed = json!({"text": shared, "metadata": {"filed": "2024-05-01"}});
        archive.ask("PUT", "/api/v1/documents/a", &filed).await;
        let window = json!({"date_field": "filed", "since": "2024-05-01", "until": "2024-05-01"});
        assert_eq!(ids(window).await, ["a"]);
        let part = text(1, 40);
        archive.add(&[("part", &format!("{part} {}", text(7, 300)))]).await;
        let strict = json!({"threshold": 1, "containment": 1, "passage": 41});
        assert_eq!(ids(strict).await, ["a", "b"]);
        assert_eq!(ids(json!({"threshold": 1, "containment": 1, "passage": 40})).await, ["a", "b", "part"]);
        let wrong = archive.post("/api/v1/check", &json!({"text": shared, "threshold": 2})).await;
        assert_eq!(wrong.problem(), (422, "bad_setting".to_owned()));
    });
}

#[test]
fn a_file_is_known_by_what_it_says_of_itself() {
    wait(async {
        let archive = Archive::new();
        let shared = text(1, 80);
        let document = |id: &str, who: &str| json!({"id": id, "text": shared, "metadata": {"author": who}});
        archive
            .post("/api/v1/documents", &json!({"documents": [document("a", "Li"), document("b", "Wu")]}))
            .await;
        let file = format!("<!doctype html><meta name=author content=Li><p>{shared}").into_bytes();
        let ids = async |options: Value| {
            let file = [("a.html", file.clone())];
            let answer = archive.post_files("POST", "/api/v1/check", &file, Some(&options)).await.json();
            let matches = answer["matches"].as_array().unwrap_or_else(|| panic!("{answer}"));
            matches.iter().map(|found| found["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(json!({})).await, ["a", "b"]);
        assert_eq!(ids(json!({"exclude": ["author"]})).await, ["b"]);
        assert_eq!(ids(json!({"exclude": ["author"], "metadata": {"author": "Wu"}})).await, ["a"]);
    });
}

#[test]
fn a_document_has_what_resembles_it_and_not_itself() {
    wait(async {
        let archive = Archive::new();
        let (whole, half) = (text(1, 200), text(1, 120));
        archive.add(&[("whole", &whole), ("half", &half), ("other", &text(2, 200))]).await;
        let answer = archive.get("/api/v1/documents/whole/similar").await.json();
        assert_eq!(
            (&answer["query"]["id"], answer["matches"].as_array().unwrap().len()),
            (&json!("whole"), 1)
        );
        assert_eq!(answer["matches"][0]["id"], "half");
        let strict = "/api/v1/documents/whole/similar?threshold=0.9&containment=1&top=5";
        // `half` is a match because of the shared passage, and because all of `half` is in `whole`.
        assert_eq!(archive.get(strict).await.json()["matches"].as_array().unwrap().len(), 1);
        let answer = archive.get("/api/v1/documents/nowhere/similar").await;
        assert_eq!(answer.problem(), (404, "no_such_document".to_owned()));
        let answer = archive.get("/api/v1/documents/whole/similar?threshold=many").await;
        assert_eq!(answer.problem(), (400, "bad_parameter".to_owned()));
        let answer = archive.get("/api/v1/documents/whole/similar?threshold=7").await;
        assert_eq!(answer.problem(), (422, "bad_setting".to_owned()));
        let answer =
            archive.post("/api/v1/pair", &json!({"left": {"id": "no"}, "right": {"id": "whole"}})).await;
        assert_eq!(answer.problem(), (404, "no_such_document".to_owned()));
    });
}

#[test]
fn an_archive_without_texts_says_so() {
    wait(async {
        let archive = Archive::with(wide(), None, &IndexSettings::default().texts(Texts::LeftOut));
        let text = text(1, 80);
        archive.add(&[("a", &text), ("b", &text)]).await;
        assert_eq!(archive.get("/api/v1/documents/a").await.json()["text"], json!(null));
        let found = &archive.post("/api/v1/check", &json!({ "text": text })).await.json()["matches"][0];
        // The place of the passage in the checked text is known, but not its place in the document.
        let passage = json!({"query": [0, text.len()], "document": null, "tokens": 80, "moved": false});
        assert_eq!((&found["similarity"], &found["passages"]), (&json!(1.0), &json!([passage])));
        let answer = archive.get("/api/v1/documents/a/similar").await.json();
        assert_eq!(
            (&answer["query"]["text"], answer["query"]["characters"].as_u64()),
            (&json!(null), Some(text.chars().count() as u64))
        );
        let found = &answer["matches"];
        assert_eq!(
            (&found[0]["id"], &found[0]["similarity"], &found[1]),
            (&json!("b"), &json!(1.0), &json!(null))
        );
        assert_eq!(found[0]["passages"], json!([]));
        let why = answer["no_passages"].as_str().unwrap();
        assert!(why.contains("keeps no texts"), "{why}");
        for right in [json!({"id": "b"}), json!({ "text": text })] {
            let pair =
                archive.post("/api/v1/pair", &json!({"left": {"id": "a"}, "right": right})).await.json();
            assert_eq!((&pair["similarity"], &pair["passages"]), (&json!(1.0), &json!([])));
            assert_eq!(pair["no_passages"], why);
        }
        let both = json!({"left": {"text": text}, "right": {"text": text}});
        let pair = archive.post("/api/v1/pair", &both).await.json();
        assert_eq!((pair["passages"].as_array().unwrap().len(), &pair["no_passages"]), (1, &json!(null)));
        let stats = archive.get("/api/v1/stats").await.json();
        let buckets = stats["similarities"]["buckets"].as_array().unwrap();
        assert_eq!(
            (&buckets[buckets.len() - 1]["documents"], &stats["text_kept"]),
            (&json!(2), &json!(false))
        );
    });
}
