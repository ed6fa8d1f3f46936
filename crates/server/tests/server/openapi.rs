//! Tests that the description of the API is complete, and that the description in the repository is current.

use serde_json::Value;

use crate::support::{Archive, wait};

const FILE: &str = "../../docs/reference/openapi.json";

/// With `MINWISE_WRITE_OPENAPI=1`, this test writes the description anew, as `cargo x docs` does.
#[test]
fn the_description_in_the_repository_is_current() {
    let description = minwise_server::openapi();
    if std::env::var_os("MINWISE_WRITE_OPENAPI").is_some() {
        fs_err::write(FILE, &description).unwrap();
    }
    let stored = fs_err::read_to_string(FILE).unwrap_or_default();
    assert!(stored == description, "`cargo x docs` writes docs/reference/openapi.json anew");
}

#[test]
fn the_description_is_served_and_has_every_call() {
    let served = wait(async { Archive::new().get("/api/v1/openapi.json").await.json() });
    assert_eq!(served, serde_json::from_str::<Value>(&minwise_server::openapi()).unwrap());
    let (mut calls, mut ids) = (vec![], std::collections::BTreeSet::new());
    let described = |part: &Value| part["description"].as_str().is_some_and(|words| !words.is_empty());
    for (path, methods) in served["paths"].as_object().unwrap() {
        calls.extend(methods.as_object().unwrap().keys().map(|method| format!("{method} {path}")));
        for call in methods.as_object().unwrap().values() {
            assert!(call["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{call}");
            assert!(call["responses"]["default"].is_object(), "{call}");
            assert!(call["responses"].as_object().unwrap().values().all(described), "{call}");
            assert!(call["parameters"].as_array().is_none_or(|all| all.iter().all(described)), "{call}");
            assert!(ids.insert(call["operationId"].as_str().unwrap().to_owned()), "{call}");
        }
    }
    calls.sort_unstable();
    assert_eq!(
        calls,
        [
            "delete /documents/{id}",
            "get /documents",
            "get /documents/{id}",
            "get /documents/{id}/similar",
            "get /health",
            "get /jobs/{id}",
            "get /stats",
            "post /check",
            "post /clusters",
            "post /documents",
            "post /pair",
            "put /documents/{id}",
        ]
    );
    assert_eq!(served["components"]["securitySchemes"]["token"]["scheme"], "bearer");
    assert!(served["security"].as_array().unwrap().contains(&serde_json::json!({"token": []})));
    // The results of jobs and the options of files have schemas, too.
    for name in ["Clusters", "Added", "AboutFile", "AboutNamed", "Reject", "SubmissionOptions"] {
        assert!(served["components"]["schemas"][name].is_object(), "{name}");
    }
    for (name, schema) in served["components"]["schemas"].as_object().unwrap() {
        assert!(described(schema), "{name}");
    }
    // Every schema that another schema or a route names exists.
    let text = served.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(served["components"]["schemas"][name].is_object(), "{name}");
    }
}
