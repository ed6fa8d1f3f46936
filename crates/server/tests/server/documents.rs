//! Tests that add, read, list, replace and remove documents.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::{Archive, text, wait};

#[test]
fn a_document_is_added_read_replaced_and_removed() {
    wait(async {
        let archive = Archive::new();
        let first = json!({"id": "2024/7 é", "text": "One page.\u{c}Another one.", "title": "A title", "metadata": {"year": 2024}});
        let answer = archive.post("/api/v1/documents", &json!({"documents": [first]})).await;
        assert_eq!(answer.status, StatusCode::CREATED);
        assert_eq!(
            answer.json(),
            json!({"added": ["2024/7 é"], "replaced": [], "rejected": [], "counts": {"added": 1, "replaced": 0, "rejected": 0}})
        );

        let path = "/api/v1/documents/2024%2F7%20%C3%A9";
        let whole = archive.get(path).await.json();
        assert_eq!(whole["text"], "One page.\u{c}Another one.");
        assert_eq!(whole["metadata"], json!({"year": 2024}));
        assert_eq!(
            whole["marks"],
            json!([{"offset": 0, "place": {"page": 1}}, {"offset": 10, "place": {"page": 2}}])
        );
        assert_eq!((&whole["characters"], &whole["title"]), (&json!(22), &json!("A title")));
        assert_eq!(whole["added"].as_str().unwrap().len(), "2026-03-01T09:30:00Z".len());

        let answer = archive.ask("PUT", path, &json!({"text": "Something else."})).await;
        assert_eq!((answer.status, &answer.json()["title"]), (StatusCode::OK, &json!(null)));
        let answer = archive.ask("PUT", "/api/v1/documents/new", &json!({"text": "It was not there."})).await;
        assert_eq!((answer.status, &answer.json()["id"]), (StatusCode::CREATED, &json!("new")));

        let removed = archive.ask("DELETE", path, &json!({})).await;
        assert_eq!((removed.status, &removed.json()["text"]), (StatusCode::OK, &json!("Something else.")));
        for method in ["GET", "DELETE"] {
            assert_eq!(
                archive.ask(method, path, &json!({})).await.problem(),
                (404, "no_such_document".to_owned())
            );
        }
        assert_eq!(archive.get("/api/v1/health").await.json()["documents"], 1);
    });
}

#[test]
fn what_cannot_be_added_is_rejected_and_the_others_are_not() {
    wait(async {
        let archive = Archive::new();
        let document = |id: &str, text: &str| json!({"id": id, "text": text});
        let documents = [
            document("", "a"),
            document(".", "a"),
            document("..", "a"),
            document("bell\u{7}", "a"),
            document("twice", "the first"),
            document("twice", "the second"),
            document("good", "a"),
        ];
        let told = archive.post("/api/v1/documents", &json!({ "documents": documents })).await.json();
        assert_eq!(told["added"], json!(["twice", "good"]));
        let rejected = told["rejected"].as_array().unwrap();
        let listed =
            |field: &str| rejected.iter().map(|one| one[field].as_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(listed("id"), ["", ".", "..", "bell\u{7}", "twice"]);
        assert_eq!(listed("reason"), ["bad_id", "bad_id", "bad_id", "bad_id", "repeated_ids"]);
        assert_eq!(
            rejected[4],
            json!({"file": null, "line": null, "id": "twice", "reason": "repeated_ids",
                "message": "a later document of this request has the same id"})
        );
        assert_eq!(archive.get("/api/v1/documents/twice").await.json()["text"], "the second");
        let answer = archive.ask("PUT", "/api/v1/documents/%07", &json!({"text": "a"})).await;
        assert_eq!(answer.problem(), (422, "rejected_document".to_owned()));
    });
}

#[test]
fn all_documents_are_paged_through_and_searched() {
    wait(async {
        let archive = Archive::new();
        let documents: Vec<_> = (0..45)
            .map(|at| json!({"id": format!("d{at}"), "text": "a", "title": format!("Title {}", at % 3), "metadata": {"who": if at < 2 { "Žofie" } else { "nobody" }}}))
            .collect();
        archive.post("/api/v1/documents", &json!({ "documents": documents })).await;
        let (mut seen, mut after) = (vec![], String::new());
        loop {
            let page = archive.get(&format!("/api/v1/documents?limit=20&after={after}")).await.json();
            seen.extend(
                page["documents"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| one["id"].as_str().unwrap().to_owned()),
            );
            let Some(next) = page["next"].as_str() else { break };
            after = next.to_owned();
        }
        let expected: Vec<String> = (0..45).rev().map(|at| format!("d{at}")).collect();
        assert_eq!(seen, expected);
        let found = archive.get("/api/v1/documents?search=%C5%BDOFIE").await.json();
        assert_eq!(found["documents"].as_array().unwrap().len(), 2);
        let found = archive.get("/api/v1/documents?search=title+1&limit=500").await.json();
        assert_eq!((found["documents"].as_array().unwrap().len(), &found["next"]), (15, &json!(null)));
        for wrong in ["after=x", "limit=x", "limit=-1", "limit=0", "limit=501"] {
            let answer = archive.get(&format!("/api/v1/documents?{wrong}")).await;
            assert_eq!(answer.problem(), (400, "bad_parameter".to_owned()), "{wrong}");
        }
    });
}

#[test]
fn bodies_that_cannot_be_read_are_told_so() {
    wait(async {
        let archive = Archive::new();
        for (path, body) in [
            ("/api/v1/documents", json!({})),
            ("/api/v1/documents", json!({"documents": [{"id": "a"}]})),
            ("/api/v1/documents", json!({"documents": [{"id": "a", "text": "a", "titel": "typo"}]})),
            ("/api/v1/check", json!({"threshold": 0.5})),
            ("/api/v1/check", json!({"text": "a", "treshold": 0.5})),
            ("/api/v1/pair", json!({"left": {"id": "a"}})),
            ("/api/v1/pair", json!({"left": {"id": "a", "text": "b"}, "right": {"text": "c"}})),
            ("/api/v1/clusters", json!([])),
        ] {
            assert_eq!(
                archive.post(path, &body).await.problem(),
                (400, "bad_body".to_owned()),
                "{path} {body}"
            );
        }
        let request = crate::support::request("POST", "/api/v1/check").header("content-type", "text/plain");
        let answer = archive.send(request.body("text".into()).unwrap()).await;
        assert_eq!(answer.problem(), (415, "unsupported_type".to_owned()));
        let answer = archive.post_files("POST", "/api/v1/pair", &[("a.txt", b"a".to_vec())], None).await;
        assert_eq!(answer.problem(), (415, "unsupported_type".to_owned()));
        for (method, path, expected) in [
            ("GET", "/api/v1/nothing", (404, "no_such_address")),
            ("GET", "/nothing", (404, "no_such_address")),
            ("GET", "/api/v1/jobs/1", (404, "no_such_job")),
            ("PATCH", "/api/v1/documents/a", (405, "method_not_allowed")),
            ("GET", "/api/v1/documents/%ff", (400, "bad_parameter")),
        ] {
            let (status, code) = archive.ask(method, path, &json!({})).await.problem();
            assert_eq!((status, code.as_str()), expected, "{method} {path}");
        }
    });
}

#[test]
fn the_archive_is_told_in_numbers() {
    wait(async {
        let empty = Archive::new().get("/api/v1/stats").await.json();
        assert_eq!(empty["similarities"]["documents_sampled"], 0);
        let archive = Archive::new();
        // Two documents are equal, one document is half of each of them, and one document is similar to no
        // other document.
        let (whole, half, alone) = (text(1, 200), text(1, 100), text(2, 200));
        archive.add(&[("a", &whole), ("b", &whole), ("half", &half), ("alone", &alone)]).await;
        let stats = archive.get("/api/v1/stats").await.json();
        let bytes = 2 * whole.len() + half.len() + alone.len();
        assert_eq!((&stats["documents"], &stats["text_bytes"]), (&json!(4), &json!(bytes)));
        assert_eq!((&stats["text_kept"], &stats["passage"]), (&json!(true), &json!(25)));
        let buckets = stats["similarities"]["buckets"].as_array().unwrap();
        let pairs: Vec<u64> = buckets.iter().map(|bucket| bucket["documents"].as_u64().unwrap()).collect();
        // `half` shares 96 of 196 shingles with each of the equal documents: similarity 0.4898.
        let mut expected = [0; 20];
        (expected[19], expected[9]) = (2, 1);
        assert_eq!(pairs, expected);
        assert_eq!(buckets[19]["to"], 1.0);
        assert_eq!(stats["similarities"]["documents_sampled"], 4);
        let months = stats["added_by_month"].as_array().unwrap();
        assert_eq!((months.len(), &months[0]["documents"]), (1, &json!(4)));
    });
}
