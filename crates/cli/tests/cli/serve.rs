//! Tests `minwise serve`: its start, its end, and the commands of its guide.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

#[cfg(unix)]
use serde_json::Value;

use crate::documents::docx;
use crate::support::{Desk, MINWISE, prose, with_word};

/// Server that runs until it is dropped.
pub struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    pub fn new(desk: &Desk, arguments: &str) -> Self {
        let mut child = Command::new(MINWISE)
            .current_dir(desk.root())
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim_end().to_owned() }
    }

    /// Sends a request, and returns the status and body of the answer.
    pub fn ask(&self, request: &str, body: &str) -> (u16, String) {
        let host = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").unwrap();
        write!(stream, "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // If a test has already waited for the end of the process, `kill` does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn it_says_where_it_listens_and_stops_when_it_is_asked_to() {
    let desk = Desk::new();
    desk.run("index create archive -q").exit(0);
    let mut serving = Serving::new(&desk, "serve --index archive --listen 127.0.0.1:0 --log json");
    assert!(serving.url.starts_with("http://127.0.0.1:"), "{}", serving.url);
    let document = r#"{"documents": [{"id": "a", "text": "some words"}]}"#;
    assert_eq!(serving.ask("POST /api/v1/documents", document).0, 201);
    assert!(serving.ask("GET /", "").1.contains("<!doctype html>"));
    // Only one process can use an archive at a time.
    let refused = desk.run("index list archive").exit(2);
    assert!(refused.err.contains("in use by"), "{refused}");
    let status = Command::new("kill").args(["-TERM", &serving.child.id().to_string()]).status().unwrap();
    assert!(status.success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let mut log = String::new();
    serving.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["listening", "request", "request", "stopped"], "{log}");
    assert_eq!((&events[1]["path"], &events[1]["status"]), (&"/api/v1/documents".into(), &201.into()));
    assert_eq!(desk.run("index show archive a").exit(0).text(), "some words\n");
}

#[cfg(unix)]
#[test]
fn an_archive_that_was_not_closed_is_opened_with_a_line_that_says_so() {
    let desk = Desk::new();
    desk.run("index create archive -q").exit(0);
    let serve = "serve --index archive --listen 127.0.0.1:0";
    let log = |arguments: &str| {
        let mut serving = Serving::new(&desk, arguments);
        let document = r#"{"documents": [{"id": "a", "text": "some words"}]}"#;
        assert!([200, 201].contains(&serving.ask("POST /api/v1/documents", document).0));
        // A kill simulates a crash: the server cannot close anything.
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        let mut log = String::new();
        serving.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    };
    let first = log(serve);
    assert!(!first.contains("opening"), "{first}");
    let second = log(serve);
    let line = second.lines().next().unwrap();
    assert!(line.starts_with("opening     `archive` was not closed by process "), "{second}");
    assert!(line.contains(", since 2") && line.ends_with("of recent changes are read again"), "{second}");
    let third = log(&format!("{serve} --log json"));
    let event: Value = serde_json::from_str(third.lines().next().unwrap()).unwrap();
    assert_eq!((&event["event"], &event["index"]), (&"opening".into(), &"archive".into()));
    assert!(event["journal_bytes"].as_u64().unwrap() > 0, "{event}");
    // After the archive was opened and closed once, there is nothing to report.
    desk.run("index stats archive").exit(0);
    let closed = log(serve);
    assert!(!closed.contains("opening"), "{closed}");
}

#[cfg(unix)]
#[test]
fn documents_that_there_was_no_time_to_add_are_told() {
    let desk = Desk::new();
    desk.run("index create archive -q").exit(0);
    let mut serving = Serving::new(&desk, "serve --index archive --listen 127.0.0.1:0 --grace 0");
    let documents: Vec<String> =
        (0..20_000).map(|at| format!(r#"{{"id": "d{at}", "text": "{}"}}"#, prose(at % 50, 60))).collect();
    let body = format!(r#"{{"documents": [{}]}}"#, documents.join(","));
    assert_eq!(serving.ask("POST /api/v1/documents", &body).0, 202);
    let status = Command::new("kill").args(["-TERM", &serving.child.id().to_string()]).status().unwrap();
    assert!(status.success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(2));
    let mut log = String::new();
    serving.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("documents of unfinished jobs were not added"), "{log}");
}

#[test]
fn it_refuses_what_would_not_be_safe_and_what_makes_no_sense() {
    let desk = Desk::new();
    desk.run("index create archive -q").exit(0);
    insta::assert_snapshot!(desk.run("serve --index archive --listen 0.0.0.0:0"), @"
    exit 2
    --- stderr
    error: others can reach 0.0.0.0:0, and without tokens everybody may change the archive

    hint: `--tokens FILE` lets in whoever has a token; without, listen on `127.0.0.1`
    ");
    let nonsense = "serve --index archive --listen here --rate often --timeout 0 --max-body much";
    insta::assert_snapshot!(desk.run(nonsense), @"
    exit 2
    --- stderr
    error: `--listen`: `here` is not an address such as `127.0.0.1:8080`
    error: `--timeout`: it must be at least 1
    error: `--rate`: `often` is not a whole number
    error: `--max-body`: `much` is not a size such as `64MiB`
    ");
    insta::assert_snapshot!(desk.run("serve --index nowhere"), @"
    exit 2
    --- stderr
    error: `nowhere` is not an archive

    hint: `minwise index create nowhere` makes one
    ");
}

#[cfg(unix)]
#[test]
fn tokens_let_in_whoever_has_one() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::with("tokens", "read 0123456789abcdef\n");
    desk.run("index create archive -q").exit(0);
    let close = |mode| {
        fs_err::set_permissions(desk.path("tokens"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    close(0o644);
    insta::assert_snapshot!(desk.run("serve --index archive --tokens tokens"), @"
    exit 2
    --- stderr
    error: others than its owner may read the tokens in `tokens`

    hint: `chmod 600 tokens`
    ");
    close(0o600);
    let serving = Serving::new(&desk, "serve --index archive --tokens tokens --listen 127.0.0.1:0 -q");
    assert_eq!(serving.ask("GET /api/v1/health", "").0, 401);
    let with_token = "GET /api/v1/health HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdef\r\nX:";
    assert_eq!(serving.ask(with_token, "").0, 200);
}

/// Returns the commands of a guide, in order.
pub fn commands(guide: &str) -> Vec<String> {
    let blocks = guide.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let joined: String = blocks.map(|block| block.replace("\\\n", " ")).collect();
    joined.lines().map(|line| line.strip_prefix("minwise ").unwrap().to_owned()).collect()
}

/// Every command of the guide has the effect that the guide states, on files like those of the guide.
#[test]
fn the_guide_leads_from_a_folder_of_word_files_to_the_page() {
    let desk = Desk::new();
    let form = prose(9, 60);
    for (name, seed) in [("2024/marsh", 1), ("2024/battery", 2), ("2025/ice", 3)] {
        desk.write(&format!("applications/{name}.docx"), docx(&format!("{} {form}", prose(seed, 150))));
    }
    desk.write("applicants.csv", "id,applicant,decision\n2024/marsh.docx,M. Lindqvist,financed\n");
    desk.write("form.txt", &form);
    let copied = format!("{} {form}", with_word(&prose(1, 150), 70, "elsewhere"));
    desk.write("new/carbon.docx", docx(&copied));
    let mut tokens = String::new();
    let mut served = 0;
    let guide = include_str!("../../../../docs/guides/check-submissions.md");
    for command in commands(guide) {
        let words = shell_words(&command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words[0] != "serve" {
            let expected = i32::from(words[0] == "check" && !words.contains(&"--exclude"));
            let run = desk.run_with(&words, b"").exit(expected);
            tokens.push_str(run.text());
            continue;
        }
        if words.contains(&"--tokens") {
            // With `--tokens`, the guide's server listens on all addresses, but a test must not open a port to other
            // machines. The test only checks that the guide restricts the permissions of the file of tokens.
            assert!(guide.contains("chmod 600 tokens"));
            continue;
        }
        served += 1;
        let serving = Serving::new(&desk, &format!("{command} --listen 127.0.0.1:0"));
        let (status, body) = serving.ask("GET /api/v1/documents?search=lindqvist", "");
        assert!(status == 200 && body.contains("2024/marsh.docx"), "{body}");
        let check = serde_json::json!({ "text": copied }).to_string();
        assert!(serving.ask("POST /api/v1/check", &check).1.contains("2024/marsh.docx"));
    }
    assert_eq!(served, 1);
    assert!(tokens.contains("new/carbon.docx"), "{tokens}");
    assert!(desk.text("carbon.html").contains("2024/marsh.docx"));
}

/// Splits a command into words. A word in quotation marks may have spaces.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![];
    for (at, part) in command.split('"').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
