//! Tests of access control: tokens, and servers without tokens, which serve this machine only.

use std::num::NonZeroU32;

use axum::body::Body;
use minwise_index::IndexSettings;
use minwise_server::{Error, Server, Tokens};
use serde_json::json;

use crate::support::{Archive, options, request, wait, wide};

const READ: &str = "reader-0123456789abcdef";
const WRITE: &str = "writer-0123456789abcdef";

fn tokens() -> Tokens {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    fs_err::write(&path, format!("# for the tests\nread {READ}\nwrite {WRITE}\n")).unwrap();
    close(&path, 0o600);
    Tokens::read(&path).unwrap()
}

#[cfg(unix)]
fn close(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn close(_path: &std::path::Path, _mode: u32) {}

#[test]
fn a_token_allows_what_it_says() {
    wait(async {
        let archive = Archive::with(wide(), Some(tokens()), &IndexSettings::default());
        let document = json!({"documents": [{"id": "a", "text": "a"}]});
        let (text, two) = (json!({"text": "a"}), json!({"left": {"text": "a"}, "right": {"text": "b"}}));
        let nothing = json!({});
        let send = async |token: Option<&str>, method: &str, path: &str, body: &serde_json::Value| {
            let mut request = request(method, path).header("content-type", "application/json");
            if let Some(token) = token {
                request = request.header("authorization", token);
            }
            archive.send(request.body(body.to_string().into()).unwrap()).await
        };
        let [reader, writer] = [READ, WRITE].map(|token| format!("Bearer {token}"));
        assert_eq!(send(Some(&writer), "POST", "/api/v1/documents", &document).await.status, 201);
        let reading = [
            ("GET", "/api/v1/health", &nothing),
            ("GET", "/api/v1/stats", &nothing),
            ("GET", "/api/v1/documents", &nothing),
            ("GET", "/api/v1/documents/a", &nothing),
            ("GET", "/api/v1/documents/a/similar", &nothing),
            ("POST", "/api/v1/check", &text),
            ("POST", "/api/v1/pair", &two),
            ("POST", "/api/v1/clusters", &json!({"threshold": 0.5})),
            ("GET", "/api/v1/openapi.json", &nothing),
            ("GET", "/metrics", &nothing),
        ];
        let writing = [
            ("POST", "/api/v1/documents", &document),
            ("PUT", "/api/v1/documents/a", &text),
            ("DELETE", "/api/v1/documents/a", &nothing),
            // An unknown address needs the right to write, because only known routes change nothing.
            ("POST", "/api/v1/nothing", &nothing),
        ];
        for (method, path, body) in reading.into_iter().chain(writing) {
            let refused = send(None, method, path, body).await;
            assert_eq!(refused.problem(), (401, "token_required".to_owned()), "{method} {path}");
            assert_eq!(refused.header("www-authenticate"), "Bearer");
            for wrong in ["Bearer x", "Basic abc", &reader.replace('r', "s"), &format!("{writer}x")] {
                let (status, code) = send(Some(wrong), method, path, body).await.problem();
                assert!(status == 401 && code.starts_with("token_"), "{method} {path} {wrong}: {code}");
            }
        }
        for (method, path, body) in reading {
            for token in [&reader, &writer, &reader.replace("Bearer", "bearer")] {
                assert!(send(Some(token), method, path, body).await.status.is_success(), "{method} {path}");
            }
        }
        for (method, path, body) in writing {
            let refused = send(Some(&reader), method, path, body).await;
            assert_eq!(refused.problem(), (403, "write_token_required".to_owned()), "{method} {path}");
        }
        assert_eq!(send(Some(&reader), "GET", "/api/v1/documents/a", &nothing).await.json()["text"], "a");
        // The page itself is public.
        assert_eq!(archive.get("/").await.status, 200);
    });
}

#[test]
fn without_tokens_only_names_of_this_machine_are_answered() {
    wait(async {
        let archive = Archive::new();
        let get = async |host: Option<&str>, path: &str| {
            let request = host
                .into_iter()
                .fold(axum::http::Request::builder(), |request, host| request.header("host", host));
            archive.send(request.uri(path).body(Body::empty()).unwrap()).await
        };
        for host in ["localhost:8080", "127.0.0.1", "[::1]:8080"] {
            assert_eq!(get(Some(host), "/api/v1/health").await.status, 200, "{host}");
        }
        for path in ["/api/v1/health", "/", "/metrics", "/assets/app.js"] {
            for host in
                [Some("evil.example:8080"), Some("localhost.evil.example"), Some("192.168.0.7:8080"), None]
            {
                let refused = get(host, path).await;
                assert_eq!(refused.problem(), (403, "foreign_host".to_owned()), "{host:?} {path}");
            }
        }
        let with_tokens = Archive::with(wide(), Some(tokens()), &IndexSettings::default());
        let request = axum::http::Request::builder().uri("/").header("host", "archive.example");
        assert_eq!(with_tokens.send(request.body(Body::empty()).unwrap()).await.status, 200);
    });
}

#[test]
fn without_tokens_another_site_asks_for_nothing() {
    wait(async {
        let archive = Archive::new();
        let post = async |origin: &str| {
            let request = request("POST", "/api/v1/documents")
                .header("content-type", "application/json")
                .header("origin", origin);
            let body = json!({"documents": [{"id": "a", "text": "a"}]}).to_string();
            archive.send(request.body(body.into()).unwrap()).await
        };
        for origin in ["http://evil.example", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8080"] {
            assert_eq!(post(origin).await.problem(), (403, "foreign_origin".to_owned()), "{origin}");
        }
        assert_eq!(archive.get("/api/v1/health").await.json()["documents"], 0);
        assert_eq!(post("http://127.0.0.1:8080").await.status, 201);
        // A browser sends the requests of pages of another site, and only hides the answers. The server must
        // reject such requests without counting them.
        let limits = wide().rate(NonZeroU32::new(1));
        let archive = Archive::with(limits, None, &IndexSettings::default());
        for path in ["/api/v1/documents?search=a", "/metrics"] {
            let get = async |header: &str, value: &str| {
                let request = request("GET", path).header(header, value);
                archive.send(request.body(Body::empty()).unwrap()).await
            };
            for (header, value) in [
                ("origin", "http://evil.example"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-site", "same-site"),
            ] {
                let refused = get(header, value).await.problem();
                assert_eq!(refused, (403, "foreign_origin".to_owned()), "{path} {value}");
            }
            // The rejected requests were not counted, so this request is within the rate.
            let ours = if path == "/metrics" { "none" } else { "same-origin" };
            assert_eq!(get("sec-fetch-site", ours).await.status, 200, "{path}");
        }
    });
}

#[test]
fn what_others_can_reach_needs_tokens() {
    for address in ["0.0.0.0:0", "[::]:0", "10.1.2.3:0"] {
        let error = Server::listen(address.parse().unwrap(), options(wide()).0).err().unwrap();
        assert!(matches!(error, Error::Unprotected { .. }), "{error}");
        assert!(error.hint().unwrap().to_string().contains("`tokens = FILE`"));
    }
    let with_tokens = options(wide()).0.tokens(Some(tokens()));
    let server = Server::listen("0.0.0.0:0".parse().unwrap(), with_tokens).unwrap();
    let taken =
        Server::listen(([127, 0, 0, 1], server.address().port()).into(), options(wide()).0).err().unwrap();
    assert!(matches!(taken, Error::Listen { .. }) && taken.hint().is_some(), "{taken}");
}

#[cfg(unix)]
#[test]
fn tokens_that_others_may_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    fs_err::write(&path, format!("read {READ}\n")).unwrap();
    for mode in [0o644, 0o640, 0o604] {
        close(&path, mode);
        let error = Tokens::read(&path).unwrap_err();
        assert!(matches!(error, Error::OpenTokens { .. }), "{error}");
        assert!(error.hint().unwrap().to_string().contains("chmod 600"));
    }
    close(&path, 0o400);
    assert!(Tokens::read(&path).is_ok());
    fs_err::write(folder.path().join("bad"), "secret-that-is-not-shown\n").unwrap();
    close(&folder.path().join("bad"), 0o600);
    let error = Tokens::read(&folder.path().join("bad")).unwrap_err();
    assert!(
        error.to_string().contains("line 1") && !format!("{error} {error:?}").contains("secret-that"),
        "{error}"
    );
    assert!(Tokens::read(&folder.path().join("nowhere")).unwrap_err().to_string().contains("cannot read"));
}
