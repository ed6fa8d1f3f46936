//! Tests of limits: requests that are too large, too frequent or too slow are rejected, and all others are
//! answered.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::task::Poll;
use std::time::Duration;

use minwise_index::{Index, IndexSettings};
use serde_json::json;

use crate::support::{Archive, Listening, call, request, text, wait, wide};

#[test]
fn bodies_have_a_size() {
    wait(async {
        let archive = Archive::with(wide().body_bytes(10_000), None, &IndexSettings::default());
        let long = "long ".repeat(4000);
        let body = json!({ "text": long });
        assert_eq!(archive.post("/api/v1/check", &body).await.problem(), (413, "body_too_large".to_owned()));
        // A body without a stated length is measured as it arrives.
        let stream = request("POST", "/api/v1/check").header("content-type", "application/json");
        let answer = archive.send(stream.body(body.to_string().into()).unwrap()).await;
        assert_eq!(answer.problem(), (413, "body_too_large".to_owned()));
        let answer = archive.post_files("POST", "/api/v1/check", &[("a.txt", long.into_bytes())], None).await;
        assert_eq!(answer.problem(), (413, "body_too_large".to_owned()));
        assert_eq!(archive.post("/api/v1/check", &json!({"text": "short"})).await.status, 200);
    });
}

#[test]
fn a_client_that_asks_too_often_waits_and_others_do_not() {
    wait(async {
        let limits = wide().rate(NonZeroU32::new(5));
        let archive = Archive::with(limits, None, &IndexSettings::default());
        let from = async |peer: &str| {
            let request = request("GET", "/api/v1/health").body(axum::body::Body::empty()).unwrap();
            archive.send_from(peer.parse().unwrap(), request).await
        };
        let answers = [from("127.0.0.1:1").await, from("127.0.0.1:2").await];
        assert!(answers.iter().all(|answer| answer.status == 200));
        let mut refused = None;
        for _ in 0..20 {
            let answer = from("127.0.0.1:3").await;
            if answer.status != 200 {
                refused = Some(answer);
            }
        }
        let refused = refused.expect("twenty requests at once are more than five a second");
        assert_eq!(refused.problem(), (429, "too_many_requests".to_owned()));
        assert_eq!(refused.header("retry-after"), "1");
        assert_eq!(from("127.0.0.2:1").await.status, 200);
        // Requests for files of the page are not counted, because the page has many files.
        for _ in 0..20 {
            assert_eq!(archive.get("/assets/app.js").await.status, 200);
        }
    });
}

#[test]
fn only_so_many_requests_are_answered_at_once() {
    wait(async {
        let archive = Archive::with(wide().requests(1), None, &IndexSettings::default());
        // A body that never sends a byte keeps the only place.
        let endless = axum::body::Body::new(Endless);
        let waiting = request("POST", "/api/v1/check")
            .header("content-type", "application/json")
            .body(endless)
            .unwrap();
        let mut waiting = Box::pin(archive.send(waiting));
        let is_waiting =
            std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending())).await;
        assert!(is_waiting);
        let answer = archive.get("/api/v1/health").await;
        assert_eq!(answer.problem(), (503, "busy".to_owned()));
        assert_eq!(answer.header("retry-after"), "1");
        drop(waiting);
        assert_eq!(archive.get("/api/v1/health").await.status, 200);
    });
}

#[test]
fn an_answer_keeps_its_place_until_it_is_read() {
    wait(async {
        let archive = Archive::with(wide().requests(1), None, &IndexSettings::default());
        let get = || request("GET", "/api/v1/health").body(axum::body::Body::empty()).unwrap();
        let unread = archive.begin("127.0.0.1:1".parse().unwrap(), get()).await;
        assert_eq!(unread.status(), 200);
        assert_eq!(archive.send(get()).await.problem(), (503, "busy".to_owned()));
        drop(unread);
        assert_eq!(archive.send(get()).await.status, 200);
    });
}

#[test]
fn bodies_that_do_not_come_keep_no_memory() {
    wait(async {
        let limits = wide().body_bytes(200_000).held_bytes(400_000);
        let archive = Archive::with(limits, None, &IndexSettings::default());
        let waiting = request("POST", "/api/v1/check").header("content-type", "application/json");
        let waiting =
            waiting.header("content-length", "200000").body(axum::body::Body::new(Endless)).unwrap();
        let mut waiting = Box::pin(archive.send(waiting));
        let is_waiting =
            std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending())).await;
        assert!(is_waiting);
        let body = json!({"text": text(1, 30_000)});
        let check = archive.post("/api/v1/check", &body);
        let check = tokio::time::timeout(Duration::from_secs(30), check).await;
        assert_eq!(check.unwrap().status, 200);
        drop(waiting);
        let counts = archive.get("/metrics").await.text().to_owned();
        assert!(counts.contains("minwise_requests_in_flight 1"), "who went away is not counted: {counts}");
    });
}

#[test]
fn texts_titles_and_metadata_have_a_size() {
    wait(async {
        let archive = Archive::with(wide().text_bytes(1000), None, &IndexSettings::default());
        let (long, short) = (text(1, 1000), text(1, 50));
        archive.add(&[("long", &long), ("short", &short)]).await;
        let too_large = (413, "text_too_long".to_owned());
        let by_id = json!({"left": {"id": "long"}, "right": {"text": "a"}});
        let by_text = json!({"left": {"id": "short"}, "right": {"text": long}});
        assert_eq!(archive.post("/api/v1/pair", &by_id).await.problem(), too_large);
        assert_eq!(archive.post("/api/v1/pair", &by_text).await.problem(), too_large);
        assert_eq!(archive.post("/api/v1/check", &json!({"text": long})).await.problem(), too_large);
        let file = [("a.txt", long.clone().into_bytes())];
        assert_eq!(archive.post_files("POST", "/api/v1/check", &file, None).await.problem(), too_large);
        assert_eq!(archive.get("/api/v1/documents/long/similar").await.problem(), too_large);
        assert_eq!(archive.get("/api/v1/documents/short/similar").await.status, 200);

        let lists = vec![json!([]); 30_000];
        for (path, body) in [
            ("/api/v1/check", json!({"text": "a", "metadata": {"a": lists}})),
            ("/api/v1/check", json!({"text": "a", "title": "a".repeat(70_000)})),
            ("/api/v1/documents", json!({"documents": [{"id": "a", "text": "a", "metadata": {"a": lists}}]})),
        ] {
            let answer = archive.post(path, &body).await;
            assert_eq!(answer.problem(), (400, "bad_body".to_owned()));
            assert!(answer.text().contains("65536"), "{}", answer.text());
        }
    });
}

#[test]
fn whoever_sends_too_much_comes_to_read_why() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
    let server = Listening::new(index, wide().body_bytes(10_000));
    let body = json!({ "text": "long ".repeat(4 << 20) }).to_string();
    let (status, answer) = call(server.address, "POST", "/api/v1/check", &body).expect("an answer");
    assert!(status == 413 && answer.contains("body_too_large"), "{status} {answer}");
    // A client that asks first (`Expect: 100-continue`) gets the problem before it sends the body.
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(stream, "POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let (_, health) = call(server.address, "GET", "/api/v1/health", "").unwrap();
    assert!(health.contains("\"body_bytes\":10000"), "{health}");
    server.stop();
}

/// A body that never sends a byte.
struct Endless;

impl hyper::body::Body for Endless {
    type Data = axum::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _context: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        Poll::Pending
    }
}

#[test]
fn a_request_has_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
    let server = Listening::new(index, wide().time(Duration::from_millis(300)));
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(
        stream,
        "POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("too_slow"), "{answer}");
    assert_eq!(call(server.address, "GET", "/api/v1/health", "").unwrap().0, 200);
    server.stop();
}

#[test]
fn bodies_wait_for_memory() {
    wait(async {
        let limits = wide().body_bytes(300_000).held_bytes(600_000).time(Duration::from_mins(1));
        let archive = std::sync::Arc::new(Archive::with(limits, None, &IndexSettings::default()));
        let texts: Vec<_> = (0..20).map(|at| text(at, 30_000)).collect();
        let checks: Vec<_> = texts
            .into_iter()
            .map(|text| {
                let archive = std::sync::Arc::clone(&archive);
                tokio::spawn(
                    async move { archive.post("/api/v1/check", &json!({ "text": text })).await.status },
                )
            })
            .collect();
        for check in checks {
            assert_eq!(check.await.unwrap(), 200);
        }
    });
}
