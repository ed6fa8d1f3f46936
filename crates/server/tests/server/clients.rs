//! Tests with many clients at once, over connections.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use minwise_index::{Index, IndexSettings, NewDocument};
#[cfg(target_os = "linux")]
use minwise_server::Server;
use minwise_server::ServerLimits;
use serde_json::json;

#[cfg(target_os = "linux")]
use crate::support::options;
use crate::support::{Listening, call, text, wide};

/// Number of answers by status. Status 0 stands for a connection that was cut.
type Counts = BTreeMap<u16, u64>;

/// Requests that clients send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Everything,
    Reading,
}

/// Lets clients send requests until the time is over, and prints every answer that is neither a success nor a
/// limit.
#[allow(clippy::print_stdout, reason = "whoever runs the test is to see what went wrong")]
fn storm(address: SocketAddr, clients: u64, doing: Doing, time: Duration) -> Counts {
    let end = Instant::now() + time;
    let threads: Vec<_> = (0..clients)
        .map(|client| {
            std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
                let mut counts = Counts::new();
                let mut number = client;
                while Instant::now() < end {
                    let (method, path, body) = match number % 8 {
                        0 if doing == Doing::Everything => (
                            "PUT",
                            format!("/api/v1/documents/{client}"),
                            json!({"text": text(number % 50, 80)}).to_string(),
                        ),
                        1 => ("GET", "/api/v1/documents?limit=20".to_owned(), String::new()),
                        2 => ("GET", "/".to_owned(), String::new()),
                        3 => ("GET", "/api/v1/health".to_owned(), String::new()),
                        _ => (
                            "POST",
                            "/api/v1/check".to_owned(),
                            json!({"text": text(number % 50, 80)}).to_string(),
                        ),
                    };
                    number += 1;
                    let status = match call(address, method, &path, &body) {
                        Ok((status, answer)) => {
                            if ![200, 201, 429, 503].contains(&status) {
                                println!("{method} {path}: {status} {answer}");
                            }
                            status
                        }
                        Err(error) => {
                            println!("{method} {path}: {error}");
                            0
                        }
                    };
                    *counts.entry(status).or_default() += 1;
                }
                counts
            })
        })
        .collect();
    let mut total = Counts::new();
    for thread in threads {
        for (status, count) in thread.unwrap().join().unwrap() {
            *total.entry(status).or_default() += count;
        }
    }
    total
}

fn filled(path: &std::path::Path, documents: u64) -> Index {
    let index = Index::create(path, &IndexSettings::default()).unwrap();
    let documents: Vec<NewDocument> =
        (0..documents).map(|at| NewDocument::new(format!("d{at}"), text(at, 80))).collect();
    index.add(&documents, 0, 2).unwrap();
    index
}

#[test]
fn clients_at_once_all_get_answers() {
    let folder = tempfile::tempdir().unwrap();
    let server = Listening::new(filled(&folder.path().join("archive"), 200), wide());
    let counts = storm(server.address, 40, Doing::Everything, Duration::from_secs(2));
    server.stop();
    assert!(counts.keys().all(|status| [200, 201].contains(status)), "{counts:?}");
}

#[test]
fn clients_beyond_the_limits_are_told_so_and_the_server_stands() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ServerLimits::default().requests(4).rate(std::num::NonZeroU32::new(200));
    let server = Listening::new(filled(&folder.path().join("archive"), 200), limits);
    let counts = storm(server.address, 40, Doing::Everything, Duration::from_secs(2));
    assert!(counts.keys().all(|status| [200, 201, 429, 503].contains(status)), "{counts:?}");
    assert!(counts.contains_key(&429), "{counts:?}");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(call(server.address, "GET", "/api/v1/health", "").unwrap().0, 200);
    server.stop();
}

/// The clients exceed the queue of 128 connections that a server has by default. If the queue is full, a
/// request loses its beginning. Other systems than Linux have queues of other lengths, and no SYN cookies.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a queue of 400 connections"]
fn clients_that_come_before_they_are_taken_keep_their_requests_whole() {
    const CLIENTS: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    // The moment at which the server accepts the first connections matters: the kernel must be about to
    // retransmit something.
    for wait in [30, 60, 90] {
        let index = filled(&folder.path().join(wait.to_string()), 10);
        let server = Server::listen("127.0.0.1:0".parse().unwrap(), options(wide()).0).unwrap();
        let (address, stopper) = (server.address(), server.stopper());
        let ask = move || call(address, "GET", "/api/v1/health", "").map(|answer| answer.0);
        let clients: Vec<_> = (0..CLIENTS).map(|_| std::thread::spawn(ask)).collect();
        std::thread::sleep(Duration::from_millis(wait));
        let running = std::thread::spawn(move || server.run(index).unwrap());
        let mut counts = Counts::new();
        for client in clients {
            *counts.entry(client.join().unwrap().unwrap_or_default()).or_default() += 1;
        }
        stopper.stop();
        running.join().unwrap();
        assert_eq!(counts, Counts::from([(200, CLIENTS as u64)]));
    }
}

/// Returns the resident memory of this process, in kilobytes.
fn resident() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// `cargo x bench serve` runs this test and shows its figures.
#[test]
#[ignore = "long: two minutes of requests"]
#[allow(clippy::print_stdout, reason = "its figures are what it is for")]
fn five_hundred_clients_for_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let server = Listening::new(filled(&folder.path().join("archive"), 20_000), wide());
    let begun = Instant::now();
    let counts = storm(server.address, 500, Doing::Everything, Duration::from_mins(1));
    let time = begun.elapsed().as_secs_f64();
    println!(
        "everything: {} answers in {time:.1} s: {counts:?}; {} MB",
        counts.values().sum::<u64>(),
        resident() / 1000
    );
    assert!(counts.keys().all(|status| [200, 201, 429, 503].contains(status)), "{counts:?}");
    // An archive holds recent writes in memory, so growth of the server is measured with reads only.
    storm(server.address, 500, Doing::Reading, Duration::from_secs(30));
    let before = resident();
    let counts = storm(server.address, 500, Doing::Reading, Duration::from_secs(30));
    let (after, answers) = (resident(), counts.values().sum::<u64>());
    server.stop();
    println!(
        "reading: {answers} answers: {counts:?}; {} MB before, {} MB after",
        before / 1000,
        after / 1000
    );
    assert!(counts.keys().all(|status| [200, 429, 503].contains(status)), "{counts:?}");
    // The memory that the allocator keeps does not depend on the number of answers.
    assert!(after < before + 16_000, "{} kB more are held after {answers} answers", after - before);
}
