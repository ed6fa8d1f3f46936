//! Tests of the end of a server: acknowledged documents are in the archive, and running requests are
//! finished.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use minwise_index::{Index, IndexSettings, Unobserved};
use serde_json::{Value, json};

use crate::support::{Listening, call, text, wide};

#[test]
fn stopped_while_documents_are_added_it_has_every_one_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let server = Listening::new(Index::create(&path, &IndexSettings::default()).unwrap(), wide());
    let address = server.address;
    let acknowledged: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|client| {
            let (acknowledged, over) = (Arc::clone(&acknowledged), Arc::clone(&over));
            std::thread::spawn(move || {
                for number in 0.. {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let id = format!("{client}-{number}");
                    let body = json!({"documents": [{"id": id, "text": text(number, 50)}]}).to_string();
                    if let Ok((201, _)) = call(address, "POST", "/api/v1/documents", &body) {
                        acknowledged.lock().unwrap().insert(id);
                    }
                }
            })
        })
        .collect();
    let begun = Instant::now();
    while acknowledged.lock().unwrap().len() < 40 {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    server.stop();
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    let index = Index::open(&path).unwrap();
    let there: BTreeSet<String> = index.ids().unwrap().into_iter().collect();
    let acknowledged = acknowledged.lock().unwrap();
    assert_eq!(acknowledged.difference(&there).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(index.check_integrity(&Unobserved).unwrap().findings.is_empty());
}

#[test]
fn stopped_during_a_job_it_finishes_the_documents_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let server = Listening::new(Index::create(&path, &IndexSettings::default()).unwrap(), wide());
    let documents: Vec<Value> =
        (0..3000).map(|at| json!({"id": format!("d{at}"), "text": text(at, 60)})).collect();
    let body = json!({ "documents": documents }).to_string();
    let (status, answer) = call(server.address, "POST", "/api/v1/documents", &body).unwrap();
    assert_eq!(status, 202, "{answer}");
    assert_eq!(server.stop().not_added, 0);
    assert_eq!(Index::open(&path).unwrap().statistics().unwrap().documents, 3000);
}

#[test]
fn without_time_to_finish_a_job_ends_with_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let limits = wide().grace(Duration::ZERO);
    let server = Listening::new(Index::create(&path, &IndexSettings::default()).unwrap(), limits);
    let documents: Vec<Value> =
        (0..6000).map(|at| json!({"id": format!("d{at}"), "text": text(at, 60)})).collect();
    let (status, _) =
        call(server.address, "POST", "/api/v1/documents", &json!({ "documents": documents }).to_string())
            .unwrap();
    assert_eq!(status, 202);
    let notes = Arc::clone(&server.notes);
    let ended = server.stop();
    let index = Index::open(&path).unwrap();
    let added = index.statistics().unwrap().documents;
    assert_eq!((added % 500, added + ended.not_added), (0, 6000));
    let notes = notes.lock().unwrap();
    let unfinished: Vec<_> = notes.iter().filter(|note| note["event"] == "unfinished").collect();
    assert_eq!((unfinished.len(), &unfinished[0]["done"]), (1, &json!(added)));
    assert_eq!(unfinished[0]["total"], 6000);
    assert!(index.check_integrity(&Unobserved).unwrap().findings.is_empty());
}

#[test]
fn a_request_that_was_begun_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
    let server = Listening::new(index, wide());
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    let body = json!({"text": "some words to look for in an archive"}).to_string();
    write!(stream, "POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    // The server has read the headers when it counts the request as in flight.
    let begun = Instant::now();
    while !call(server.address, "GET", "/metrics", "").unwrap().1.contains("minwise_requests_in_flight 2") {
        assert!(begun.elapsed() < Duration::from_mins(1));
    }
    let address = server.address;
    let ended = server.ask_to_stop();
    while std::net::TcpStream::connect(address).is_ok() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    write!(stream, "{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    ended.join().unwrap();
}
