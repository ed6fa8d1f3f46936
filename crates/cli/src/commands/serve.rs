//! `minwise serve` serves an archive over HTTP, with its page.

use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use minwise::figure::{self, subject};
use minwise_index::{Index, Unclosed};
use minwise_server::{Server, ServerLimits, ServerOptions, Tokens};
use serde_json::{Value, json};

use crate::Exit;
use crate::args::ServeArgs;
use crate::interrupt;
use crate::printer::{CommandWarning, Failure, Printer};
use crate::settings::{self, FlagProblems};

pub fn run(args: &ServeArgs, printer: &Printer) -> Result<Exit, Failure> {
    let mut problems = FlagProblems::default();
    let address: SocketAddr = args.listen.parse().unwrap_or_else(|_| {
        let message = format!("`--listen`: `{}` is not an address such as `127.0.0.1:8080`", args.listen);
        problems.add(message, corrected(&args.listen).map(|address| format!("`--listen {address}`")));
        ([127, 0, 0, 1], 0).into()
    });
    let limits = limits(args, &mut problems);
    problems.finish()?;

    let tokens = args.tokens.as_deref().map(|path| Tokens::read(Path::new(path))).transpose()?;
    // The folder is checked before the server listens, because a folder that is no index is the more common mistake.
    let unclosed = Index::unclosed(Path::new(&args.index))?;
    let messages = *printer;
    let log = Box::new(move |event: &Value| note(&messages, event));
    let server = Server::listen(address, ServerOptions::default().tokens(tokens).limits(limits).log(log))?;
    let index = open(&server, &args.index, unclosed.as_ref(), printer)?;
    let url = format!("http://{}", server.address());
    printer.event(&json!({"event": "listening", "url": url}));
    writeln!(std::io::stdout(), "{url}")?;
    printer.note(&format!("serving     `{}` until Ctrl-C", args.index));
    let stopper = server.stopper();
    thread::spawn(move || {
        interrupt::wait();
        stopper.stop();
    });
    let ended = server.run(index)?;
    printer.event(&json!({"event": "stopped", "not_added": ended.not_added}));
    if ended.not_added > 0 {
        let verbs = ["of an unfinished job was", "of unfinished jobs were"];
        let message = format!("{} not added", subject(ended.not_added, "document", verbs));
        printer.warning(CommandWarning::NotAdded.code(), &message);
        return Ok(Exit::Error);
    }
    printer.note("stopped     all accepted changes are saved");
    Ok(Exit::Done)
}

/// Returns the address that was probably meant: without a scheme and a path, with the port 8080 if there is none, and
/// with the address of this machine if there is none.
fn corrected(typed: &str) -> Option<SocketAddr> {
    let after = typed.split_once("://").map_or(typed, |(_, after)| after);
    let place = after.split('/').next()?.replace("localhost", "127.0.0.1");
    let with_host = if place.starts_with(':') { format!("127.0.0.1{place}") } else { place.clone() };
    let with_port = format!("{place}:8080");
    let only_port = format!("127.0.0.1:{place}");
    [with_host, with_port, only_port].iter().find_map(|address| address.parse().ok())
}

/// Interval between messages that the archive is still being opened.
const STILL: Duration = Duration::from_secs(2);

/// Opens the archive. After a crash, opening takes seconds, so the command reports it, and the server answers that it
/// is not ready.
fn open(
    server: &Server,
    path: &str,
    unclosed: Option<&Unclosed>,
    printer: &Printer,
) -> Result<Index, Failure> {
    let mut detail = "This takes a few seconds.".to_owned();
    if let Some(unclosed) = unclosed {
        let size = figure::size(unclosed.journal_bytes);
        detail = format!("The archive was not closed properly, so {size} of recent changes are read again.");
        printer.event(&json!({
            "event": "opening", "index": path, "holder": unclosed.holder,
            "journal_bytes": unclosed.journal_bytes, "elapsed_ms": 0,
        }));
        printer.note(&format!(
            "opening     `{path}` was not closed by {}; {size} of recent changes are read again",
            unclosed.holder
        ));
    }
    let (done, waiting) = mpsc::channel::<()>();
    let begun = Instant::now();
    let index = thread::scope(|scope| {
        scope.spawn(move || {
            while waiting.recv_timeout(STILL) == Err(RecvTimeoutError::Timeout) {
                let elapsed = begun.elapsed();
                printer.event(&json!({
                    "event": "opening", "index": path, "elapsed_ms": elapsed.as_secs_f64() * 1e3,
                }));
                printer.note(&format!("opening     `{path}`: {} s so far", elapsed.as_secs()));
            }
        });
        // Opening an archive can be interrupted at any moment without damage, like every other operation of the
        // archive.
        let index = interrupt::at_once(|| server.while_opening(&detail, || Index::open(Path::new(path))));
        drop(done);
        index
    });
    Ok(index??)
}

/// Prints an event of the server. Errors are printed for everybody who runs a server, all other events only in the log.
fn note(printer: &Printer, event: &Value) {
    match event["message"].as_str() {
        Some(message) if event["event"] == "error" && !printer.is_json() => {
            printer.warning(event["code"].as_str().unwrap_or_default(), message);
        }
        _ => printer.event(event),
    }
}

fn limits(args: &ServeArgs, problems: &mut FlagProblems) -> ServerLimits {
    let mut count = |option: &str, text: &str| settings::count(problems, option, text);
    let requests = count("--max-requests", &args.max_requests);
    let connections = count("--max-connections", &args.max_connections);
    let jobs = count("--max-jobs", &args.max_jobs);
    let time = Duration::from_secs(count("--timeout", &args.timeout) as u64);
    let rate = match args.rate.as_str() {
        "off" => None,
        rate => NonZeroU32::new(count("--rate", rate).try_into().unwrap_or(u32::MAX)),
    };
    let grace = Duration::from_secs(problems.number("--grace", &args.grace, "a whole number"));
    let mut size = |option: &str, text: &str| {
        let bytes = minwise_engine::size_bytes(text).filter(|bytes| *bytes > 0);
        if bytes.is_none() {
            let reason = minwise_engine::wrong_size(text, "64MiB");
            problems.add(format!("`{option}`: {reason}"), None);
        }
        usize::try_from(bytes.unwrap_or(1)).unwrap_or(usize::MAX)
    };
    let body_bytes = size("--max-body", &args.max_body);
    let held_bytes = size("--body-memory", &args.body_memory);
    ServerLimits::default()
        .body_bytes(body_bytes)
        .held_bytes(held_bytes)
        .time(time)
        .requests(requests)
        .connections(connections)
        .rate(rate)
        .jobs(jobs)
        .grace(grace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_nearly_right_is_corrected() {
        for (typed, expected) in [
            ("127.0.0.1", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("9000", "127.0.0.1:9000"),
            ("localhost:9000", "127.0.0.1:9000"),
            ("localhost", "127.0.0.1:8080"),
            ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
            ("[::1]", "[::1]:8080"),
        ] {
            assert_eq!(
                corrected(typed).map(|address| address.to_string()).as_deref(),
                Some(expected),
                "{typed}"
            );
        }
        for typed in ["", "example.org:80", "127.0.0.1:99999"] {
            assert_eq!(corrected(typed), None, "{typed}");
        }
    }
}
