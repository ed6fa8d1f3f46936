//! Tests of jobs that add many documents or find clusters.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use minwise_index::IndexSettings;
use serde_json::{Value, json};

use crate::support::{Archive, text, wait, wide};

fn many(count: usize) -> Value {
    let documents: Vec<Value> =
        (0..count).map(|at| json!({"id": format!("d{at}"), "text": text(at as u64 / 2, 40)})).collect();
    json!({ "documents": documents })
}

#[test]
fn many_documents_become_a_job() {
    wait(async {
        let archive = Archive::new();
        let mut body = many(1200);
        body["documents"][7]["id"] = json!("..");
        let answer = archive.post("/api/v1/documents", &body).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED);
        let job = archive.ended(&answer.json()["job"]).await;
        assert_eq!(
            (&job["state"], &job["kind"], &job["error"]),
            (&json!("done"), &json!("add"), &json!(null))
        );
        assert_eq!((&job["done"], &job["total"]), (&json!(1200), &json!(1200)));
        assert_eq!(job["result"]["added"].as_array().unwrap().len(), 1199);
        assert_eq!(job["result"]["counts"], json!({"added": 1199, "replaced": 0, "rejected": 1}));
        assert_eq!(job["result"]["rejected"][0]["id"], "..");
        assert_eq!(archive.get("/api/v1/health").await.json()["documents"], 1199);
    });
}

#[test]
fn many_changes_are_merged() {
    wait(async {
        let archive = Archive::with(wide().unmerged_changes(30), None, &IndexSettings::default());
        let put = async |number: usize| {
            let path = format!("/api/v1/documents/d{}", number % 10);
            archive.ask("PUT", &path, &json!({"text": text(number as u64, 40)})).await
        };
        let merges = async || archive.get("/metrics").await.text().contains("minwise_archive_merges_total 1");
        for number in 0..30 {
            assert!(!merges().await);
            assert!(put(number).await.status.is_success());
        }
        let begun = Instant::now();
        while !merges().await {
            assert!(begun.elapsed() < Duration::from_mins(1));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let checked = archive.post("/api/v1/check", &json!({"text": text(25, 40)})).await.json();
        assert_eq!(checked["matches"][0]["id"], "d5");
    });
}

#[test]
fn clusters_come_with_their_keepers_first() {
    wait(async {
        let archive = Archive::new();
        archive.post("/api/v1/documents", &many(60)).await;
        let begun = archive.post("/api/v1/clusters", &json!({"threshold": 0.7})).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED);
        let job = archive.ended(&begun.json()["job"]).await;
        assert_eq!(job["result"]["threshold"], 0.7);
        let clusters = job["result"]["clusters"].as_array().unwrap();
        assert_eq!(clusters.len(), 30);
        assert_eq!((&job["result"]["further"], &job["result"]["documents"]), (&json!(0), &json!(60)));
        assert_eq!((&job["done"], &job["total"]), (&json!(60), &json!(60)), "documents");
        assert_eq!((&job["stage"], &job["unit"]), (&json!("clusters"), &json!("steps")));
        let recall = archive.post("/api/v1/check", &json!({"text": "a", "threshold": 0.7})).await.json();
        assert_eq!(job["result"]["recall_at_threshold"], recall["recall_at_threshold"]);
        assert_eq!(job["result"]["left_out"], 0);
        for cluster in clusters {
            let members = cluster["members"].as_array().unwrap();
            assert_eq!((&cluster["size"], members.len()), (&json!(2), 2));
            assert_eq!(cluster["keeper"], members[0]["id"]);
            assert!(members.iter().all(|member| member["similarity"] == 1.0));
        }
        for threshold in [json!(0), json!(1.5), json!(-1)] {
            let answer = archive.post("/api/v1/clusters", &json!({ "threshold": threshold })).await;
            assert_eq!(answer.problem(), (422, "bad_setting".to_owned()));
        }
    });
}

#[test]
fn there_are_only_so_many_jobs() {
    wait(async {
        let archive = Archive::with(wide().jobs(2), None, &IndexSettings::default());
        let mut answers = vec![];
        for _ in 0..20 {
            answers.push(archive.post("/api/v1/documents", &many(400)).await);
        }
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status != StatusCode::ACCEPTED).collect();
        assert!(!refused.is_empty(), "twenty jobs were done before the next was asked for");
        for answer in refused {
            assert_eq!(answer.problem(), (503, "too_many_jobs".to_owned()));
            assert_eq!(answer.header("retry-after"), "5");
        }
        for answer in answers.iter().filter(|answer| answer.status == StatusCode::ACCEPTED) {
            assert_eq!(archive.ended(&answer.json()["job"]).await["state"], "done");
        }
    });
}

#[test]
fn clusters_that_were_looked_for_are_not_looked_for_again() {
    wait(async {
        let archive = Archive::new();
        let begin = async |threshold: f64| {
            archive.post("/api/v1/clusters", &json!({ "threshold": threshold })).await.json()["job"].clone()
        };
        let first = begin(0.5).await;
        assert_eq!(begin(0.5).await, first);
        archive.ended(&first).await;
        assert_eq!(begin(0.5).await, first);
        let other = begin(0.6).await;
        assert_ne!(other, first);
        archive.ended(&other).await;
        archive.add(&[("a", "a")]).await;
        assert_ne!(begin(0.5).await, first, "the archive is another");
    });
}

#[test]
fn jobs_that_ended_long_ago_are_forgotten() {
    wait(async {
        let archive = Archive::new();
        let begin = async |at: u32| {
            let threshold = 0.5 + f64::from(at) / 1000.0;
            archive.post("/api/v1/clusters", &json!({ "threshold": threshold })).await.json()["job"].clone()
        };
        let first = begin(0).await;
        archive.ended(&first).await;
        for at in 1..=70 {
            archive.ended(&begin(at).await).await;
        }
        let answer = archive.get(&format!("/api/v1/jobs/{}", first.as_str().unwrap())).await;
        assert_eq!(answer.problem(), (404, "no_such_job".to_owned()));
    });
}
