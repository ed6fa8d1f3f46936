//! The page and its files, and the headers that everything has.

use axum::body::Body;
use serde_json::json;

use crate::support::{Archive, request, wait};

#[test]
fn every_address_of_the_page_is_the_page() {
    wait(async {
        let archive = Archive::new();
        let expected = fs_err::read("web/index.html").unwrap();
        for path in
            ["/", "/check", "/archive", "/document/a%2Fb", "/pair?left=a&right=b", "/clusters", "/overview"]
        {
            let answer = archive.get(path).await;
            assert_eq!(
                (answer.status.as_u16(), answer.header("content-type")),
                (200, "text/html; charset=utf-8")
            );
            assert!(answer.body == expected, "{path}");
        }
    });
}

#[test]
fn files_of_the_page_are_in_the_program_and_nothing_else_is() {
    wait(async {
        let archive = Archive::new();
        for (path, kind) in [
            ("app.js", "text/javascript; charset=utf-8"),
            ("routes/pair.js", "text/javascript; charset=utf-8"),
            ("style/base.css", "text/css; charset=utf-8"),
            ("icon.svg", "image/svg+xml"),
        ] {
            let answer = archive.get(&format!("/assets/{path}")).await;
            assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, kind), "{path}");
            assert!(answer.body == fs_err::read(format!("web/{path}")).unwrap(), "{path}");
            let known =
                request("GET", &format!("/assets/{path}")).header("if-none-match", answer.header("etag"));
            let again = archive.send(known.body(Body::empty()).unwrap()).await;
            assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
            assert_eq!(again.header("cache-control"), "no-cache");
        }
        for path in [
            "API.md",
            "jsconfig.json",
            "../Cargo.toml",
            "..%2FCargo.toml",
            "%2e%2e/Cargo.toml",
            "/etc/passwd",
            "style",
            "%FF",
            "",
        ] {
            let answer = archive.get(&format!("/assets/{path}")).await;
            assert_eq!(answer.problem(), (404, "no_such_address".to_owned()), "{path}");
        }
    });
}

#[test]
fn every_answer_has_the_headers_that_keep_it_safe() {
    wait(async {
        let archive = Archive::new();
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
        for path in ["/", "/assets/app.js", "/api/v1/health", "/api/v1/nothing", "/metrics"] {
            let answer = archive.get(path).await;
            assert_eq!(answer.header("content-security-policy"), policy, "{path}");
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            assert_eq!(answer.header("referrer-policy"), "no-referrer");
        }
        assert_eq!(archive.get("/api/v1/documents").await.header("cache-control"), "no-store");
    });
}

#[test]
fn requests_are_counted_and_noted() {
    wait(async {
        let archive = Archive::new();
        archive.add(&[("a secret id", "a")]).await;
        archive.get("/api/v1/documents/a%20secret%20id?x=1").await;
        archive.get("/api/v1/documents/b").await;
        archive.ask("BREW", "/api/v1/documents/b", &json!({})).await;
        let metrics = archive.get("/metrics").await;
        let counts = metrics.text();
        for line in [
            r#"minwise_requests_total{route="/api/v1/documents/{id}",method="GET",status="200"} 1"#,
            r#"minwise_requests_total{route="/api/v1/documents/{id}",method="GET",status="404"} 1"#,
            r#"minwise_requests_total{route="/api/v1/documents/{id}",method="other",status="405"} 1"#,
            "minwise_documents_added_total 1",
            "minwise_documents 1",
            r#"minwise_request_seconds_count{route="/api/v1/documents"} 1"#,
        ] {
            assert!(counts.lines().any(|found| found == line), "{line} in\n{counts}");
        }
        let notes = archive.notes.lock().unwrap();
        let requests: Vec<_> = notes.iter().filter(|note| note["event"] == "request").collect();
        assert_eq!(requests.len(), 5);
        assert_eq!(
            (&requests[1]["path"], &requests[1]["status"]),
            (&json!("/api/v1/documents/a%20secret%20id"), &json!(200))
        );
    });
}
