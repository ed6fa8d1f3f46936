//! A server in this process with an archive of its own, and clients of the server.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use minwise_index::{Index, IndexSettings};
use minwise_server::{Server, ServerLimits, ServerOptions, ServerOutcome, Stopper, Tokens};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

/// Returns a paragraph of `words` words. Paragraphs with the same seed begin with the same words.
pub fn text(seed: u64, words: usize) -> String {
    let mut random = minwise::hash::SplitMix64::new(seed);
    (0..words).map(|_| format!("w{}", random.next_u64() % 5000)).collect::<Vec<_>>().join(" ")
}

/// Runs an asynchronous test.
pub fn wait<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test)
}

/// Maximum number of events that are kept, so that the memory of a server with very many requests does not
/// seem to grow.
const MOST_NOTES: usize = 10_000;

/// Events that a server has logged.
pub type Notes = Arc<Mutex<Vec<Value>>>;

/// Returns options without tokens, and the list to which the server logs its events.
pub fn options(limits: ServerLimits) -> (ServerOptions, Notes) {
    let notes = Notes::default();
    let log = Arc::clone(&notes);
    let log = Box::new(move |event: &Value| {
        let mut notes = log.lock().unwrap();
        if notes.len() < MOST_NOTES {
            notes.push(event.clone());
        }
    });
    (ServerOptions::default().limits(limits).log(log), notes)
}

/// Returns limits that no test reaches by accident.
pub fn wide() -> ServerLimits {
    ServerLimits::default().rate(None)
}

/// A server that is called directly, without connections.
pub struct Archive {
    app: Router,
    pub notes: Notes,
    _folder: Option<TempDir>,
}

impl Archive {
    pub fn new() -> Self {
        Self::with(wide(), None, &IndexSettings::default())
    }

    pub fn with(limits: ServerLimits, tokens: Option<Tokens>, settings: &IndexSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = Self::at(folder.path(), limits, tokens, settings);
        Self { _folder: Some(folder), ..archive }
    }

    /// Creates a server whose archive is in a folder of the caller.
    pub fn at(folder: &Path, limits: ServerLimits, tokens: Option<Tokens>, settings: &IndexSettings) -> Self {
        let index = Index::create(folder.join("archive"), settings).unwrap();
        let (options, notes) = options(limits);
        let app = minwise_server::app(index, options.tokens(tokens));
        Self { app, notes, _folder: None }
    }

    /// Sends a request from this machine.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        self.send_from("127.0.0.1:50000".parse().unwrap(), request).await
    }

    pub async fn send_from(&self, peer: SocketAddr, request: Request<Body>) -> Answer {
        let (parts, body) = self.begin(peer, request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Sends a request, but does not read the body of its answer yet.
    pub async fn begin(&self, peer: SocketAddr, mut request: Request<Body>) -> Response {
        request.extensions_mut().insert(peer);
        self.app.clone().oneshot(request).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path).body(Body::empty()).unwrap()).await
    }

    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let request = request(method, path).header("content-type", "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, body).await
    }

    /// Sends a form with files and options.
    pub async fn post_files(
        &self,
        method: &str,
        path: &str,
        files: &[(&str, Vec<u8>)],
        options: Option<&Value>,
    ) -> Answer {
        const BORDER: &str = "a-line-that-is-in-no-file";
        let mut body = vec![];
        for (name, bytes) in files {
            body.extend(
                format!(
                    "--{BORDER}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
                )
                .bytes(),
            );
            body.extend(bytes);
            body.extend(b"\r\n");
        }
        if let Some(options) = options {
            body.extend(
                format!(
                    "--{BORDER}\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n{options}\r\n"
                )
                .bytes(),
            );
        }
        body.extend(format!("--{BORDER}--\r\n").bytes());
        let request =
            request(method, path).header("content-type", format!("multipart/form-data; boundary={BORDER}"));
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Adds documents by id and text.
    pub async fn add(&self, documents: &[(&str, &str)]) {
        let documents: Vec<Value> =
            documents.iter().map(|(id, text)| json!({"id": id, "text": text})).collect();
        let answer = self.post("/api/v1/documents", &json!({ "documents": documents })).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    }

    /// Waits for a job to end, and returns its last state.
    pub async fn ended(&self, job: &Value) -> Value {
        let path = format!("/api/v1/jobs/{}", job.as_str().unwrap());
        let begun = Instant::now();
        loop {
            let job = self.get(&path).await.json();
            if job["state"] == "done" || job["state"] == "failed" {
                return job;
            }
            assert!(begun.elapsed() < Duration::from_mins(2), "{job}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Begins a request as a browser on this machine sends it.
pub fn request(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "127.0.0.1:8080")
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the status and the code of a problem, and asserts that the problem has all its fields.
    pub fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text());
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16());
        for words in ["title", "hint"] {
            assert!(problem[words].as_str().is_some_and(|words| words.len() > 5), "{problem}");
        }
        assert_eq!(problem.as_object().unwrap().len(), 5);
        (self.status.as_u16(), problem["code"].as_str().unwrap().to_owned())
    }
}

/// A server that listens, and that runs on a thread of its own.
pub struct Listening {
    pub address: SocketAddr,
    pub notes: Notes,
    stopper: Stopper,
    thread: JoinHandle<ServerOutcome>,
}

impl Listening {
    pub fn new(index: Index, limits: ServerLimits) -> Self {
        let (options, notes) = options(limits);
        let server = Server::listen("127.0.0.1:0".parse().unwrap(), options).unwrap();
        let address = server.address();
        let stopper = server.stopper();
        let thread = std::thread::spawn(move || server.run(index).unwrap());
        Self { address, notes, stopper, thread }
    }

    /// Stops the server, and waits for its end.
    pub fn stop(self) -> ServerOutcome {
        self.ask_to_stop().join().unwrap()
    }

    /// Asks the server to stop, and returns the handle of its thread.
    pub fn ask_to_stop(self) -> JoinHandle<ServerOutcome> {
        self.stopper.stop();
        self.thread
    }
}

/// Sends a request over a connection of its own, and returns the status and the body of the answer. Fails if
/// the connection was refused or cut.
pub fn call(address: SocketAddr, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    // The request is sent in pieces, as slow clients send it.
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let no_answer = || std::io::Error::other(format!("no answer: {answer:?}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(no_answer)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(no_answer)?;
    Ok((status, body.to_owned()))
}
