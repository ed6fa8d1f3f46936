//! Tests of the page and its files, and of the headers that all answers have.

use std::io::Read;

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

/// Header `Accept` that browsers send when a person opens an address.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn a_browser_gets_a_page_where_a_program_gets_a_problem() {
    wait(async {
        let archive = Archive::new();
        let open = |method: &str, path: &str, host: &str| {
            let request = axum::http::Request::builder().method(method).uri(path).header("host", host);
            archive.send(request.header("accept", BROWSER).body(Body::empty()).unwrap())
        };
        for path in ["/nosuch", "/archive/nosuch", "/assets/nosuch.js"] {
            let answer = open("GET", path, "127.0.0.1:8080").await;
            assert_eq!(
                (answer.status.as_u16(), answer.header("content-type")),
                (404, "text/html; charset=utf-8")
            );
            assert!(answer.body == fs_err::read("web/index.html").unwrap(), "{path}");
            assert_eq!(archive.get(path).await.problem(), (404, "no_such_address".to_owned()));
        }
        // At addresses of the API, and for requests that no person makes, a browser gets the problem as JSON.
        for (method, path) in
            [("GET", "/api/v1/nosuch"), ("GET", "/api/v1/documents/nosuch"), ("POST", "/nosuch")]
        {
            open(method, path, "127.0.0.1:8080").await.problem();
        }
        // The server rejects the files of the page, too, so the problem is a complete HTML page without links
        // to files.
        let foreign = open("GET", "/", "archive.example<script>").await;
        assert_eq!(
            (foreign.status.as_u16(), foreign.header("content-type")),
            (403, "text/html; charset=utf-8")
        );
        assert!(
            foreign.text().contains("<h1>This server is not known by that name</h1>"),
            "{}",
            foreign.text()
        );
        assert!(!foreign.text().contains("<script"), "{}", foreign.text());
        assert!(foreign.header("content-security-policy").starts_with("default-src 'none'"));
    });
}

#[test]
fn answers_are_compressed_for_those_who_take_it() {
    wait(async {
        let archive = Archive::new();
        archive.add(&[("long", &crate::support::text(1, 5000)), ("short", "a")]).await;
        let ask = |path: &str, encoding: &str| {
            let request = request("GET", path).header("accept-encoding", encoding);
            archive.send(request.body(Body::empty()).unwrap())
        };
        for path in ["/api/v1/documents/long", "/assets/text-view.js", "/api/v1/openapi.json", "/"] {
            let plain = archive.get(path).await;
            assert_eq!(plain.header("content-encoding"), "", "{path}");
            let small = ask(path, "gzip, deflate, br, zstd").await;
            assert_eq!((small.status.as_u16(), small.header("content-encoding")), (200, "gzip"), "{path}");
            assert!(small.header("vary").contains("accept-encoding"), "{path}");
            assert_eq!(small.header("etag"), plain.header("etag"), "{path}");
            assert!(small.body.len() < plain.body.len(), "{path}");
            let mut unpacked = vec![];
            flate2::read::GzDecoder::new(&small.body[..]).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked == plain.body, "{path}");
        }
        // An answer that fits into one packet is not compressed, and a file that the browser has is not sent
        // again.
        assert_eq!(ask("/api/v1/documents/short", "gzip").await.header("content-encoding"), "");
        let tag = ask("/assets/text-view.js", "gzip").await.header("etag").to_owned();
        let known = request("GET", "/assets/text-view.js")
            .header("accept-encoding", "gzip")
            .header("if-none-match", tag);
        let known = archive.send(known.body(Body::empty()).unwrap()).await;
        assert_eq!((known.status.as_u16(), known.body.len(), known.header("content-encoding")), (304, 0, ""));
    });
}

#[test]
fn counts_come_in_the_format_that_is_asked_for() {
    wait(async {
        let archive = Archive::new();
        archive.add(&[("a", "a")]).await;
        let prometheus =
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, kind) in [
            (prometheus, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
            ("text/plain", "text/plain; version=0.0.4; charset=utf-8"),
            (BROWSER, "text/plain; version=0.0.4; charset=utf-8"),
        ] {
            let ask = request("GET", "/metrics").header("accept", accept);
            let answer = archive.send(ask.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.header("content-type"), kind, "{accept}");
            assert_eq!(answer.header("vary"), "accept");
            let lines: Vec<&str> = answer.text().lines().collect();
            let is_open = accept == prometheus;
            assert_eq!(lines.last() == Some(&"# EOF"), is_open, "{accept}");
            assert_eq!(lines.contains(&"# TYPE minwise_documents_added counter"), is_open, "{accept}");
            assert_eq!(lines.contains(&"# TYPE minwise_documents_added_total counter"), !is_open, "{accept}");
            assert!(lines.contains(&"# TYPE minwise_documents gauge"), "{accept}");
            assert!(lines.contains(&"minwise_documents_added_total 1"), "{accept}");
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
