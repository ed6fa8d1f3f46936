//! Test of the time before the archive is open: the server answers programs and browsers that the archive is
//! being opened.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;

use minwise_server::{Server, ServerOptions};
use serde_json::Value;

/// Sends a request over a connection of its own, and returns the headers, in lower case, and the body of the
/// answer.
fn get(address: SocketAddr, path: &str, accept: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    // The request has no `Connection: close`, because the server itself must end the connection.
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

#[test]
fn until_the_archive_is_open_the_server_answers_that_it_is_being_opened() {
    let server = Server::listen("127.0.0.1:0".parse().unwrap(), ServerOptions::default()).unwrap();
    let address = server.address();
    let (open, opened) = mpsc::channel::<()>();
    let clients = std::thread::spawn(move || {
        let (head, body) = get(address, "/api/v1/health", "application/json");
        assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: 2"), "{head}");
        assert!(head.contains("content-type: application/problem+json"), "{head}");
        let problem: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (&problem["code"], &problem["detail"]),
            (&"opening".into(), &"8 MB are read again.".into())
        );
        let (head, body) = get(address, "/archive", "text/html");
        assert!(
            head.starts_with("http/1.1 503") && head.contains("content-security-policy: default-src"),
            "{head}"
        );
        for part in ["<h1>The archive is being opened</h1>", "8 MB are read again.", "http-equiv=\"refresh\""]
        {
            assert!(body.contains(part), "{part} in {body}");
        }
        // The files of the page are served even before the archive is open.
        let (head, body) = get(address, "/assets/style/base.css", "*/*");
        assert!(head.starts_with("http/1.1 200") && body.contains("body {"), "{head}");
        open.send(()).unwrap();
    });
    let outcome = server.while_opening("8 MB are read again.", move || {
        opened.recv().unwrap();
        "open"
    });
    assert_eq!(outcome.unwrap(), "open");
    clients.join().unwrap();
}
