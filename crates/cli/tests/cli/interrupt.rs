//! Tests runs that are stopped by Ctrl-C, or by a reader that closes the pipe.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Desk, MINWISE, prose, record};

fn start(desk: &Desk, arguments: &str) -> Child {
    Command::new(MINWISE)
        .current_dir(desk.root())
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends a signal to the process. The exit code shows the effect: 130 after an orderly end, no code after a kill.
fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn ended(child: &mut Child, within: Duration) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < within {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("still running after {within:?}");
}

/// Returns a desk with a corpus whose run takes seconds: many documents that share bands and are compared with one
/// another.
fn slow_corpus() -> Desk {
    let desk = Desk::new();
    let path = desk.path("in.jsonl");
    let mut file = std::io::BufWriter::new(fs_err::File::create(path).unwrap());
    let padding = prose(1, 3000);
    for i in 0..4000 {
        file.write_all(record(&format!("d{i}"), &format!("n{i} m{i} {padding}")).as_bytes()).unwrap();
    }
    desk
}

/// Waits until the log reports the start of a stage.
fn wait_for(child: &mut Child, stage: &str) {
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "the run ended before `{stage}`");
        if line.contains("\"stage\"") && line.contains(stage) {
            break;
        }
    }
    // The rest of the log is read, because a full pipe would block the child.
    std::thread::spawn(move || drop(log.read_to_end(&mut vec![])));
}

#[test]
fn ctrl_c_removes_what_is_temporary_and_exits_130() {
    let desk = slow_corpus();
    for name in ["-INT", "-TERM"] {
        let mut child = start(
            &desk,
            "dedup in.jsonl -o out.jsonl --removed gone.jsonl --report report --log json --threads 1",
        );
        wait_for(&mut child, "read");
        let there = desk.names();
        assert!(there.iter().any(|name| name.starts_with(".minwise-")), "outputs are open by now: {there:?}");
        signal(&child, name);
        assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130));
        assert_eq!(desk.names(), ["in.jsonl"], "after {name}");
    }
}

/// The last line explains how to continue the run.
#[test]
fn ctrl_c_says_how_to_go_on() {
    let desk = slow_corpus();
    for (options, hint) in [
        ("", "a run with `--work DIR` can be continued with `--resume`"),
        ("--work work", "the same command with `--resume` continues the run"),
        ("--work work --resume", "the same command continues the run"),
    ] {
        let arguments = format!("dedup in.jsonl -o out.jsonl --threads 1 {options}");
        let mut child = start(&desk, &arguments);
        let begun = Instant::now();
        while !desk.names().iter().any(|name| name.starts_with(".minwise-")) {
            assert!(begun.elapsed() < Duration::from_secs(20), "no output was opened");
            sleep(Duration::from_millis(5));
        }
        signal(&child, "-INT");
        assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130));
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert_eq!(message, format!("error: interrupted: no output was written\n\nhint: {hint}\n"));
    }
    // With `--log json`, the line is an event.
    let mut child = start(&desk, "dedup in.jsonl -o out.jsonl --log json --threads 1");
    wait_for(&mut child, "read");
    signal(&child, "-INT");
    assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130));
}

/// Lines on standard output cannot be taken back, so the message does not deny them. The reader takes one line, then
/// waits until the run was interrupted.
#[test]
fn ctrl_c_after_a_line_on_standard_output_says_that_it_is_incomplete() {
    // Each run prints far more than a pipe holds, so that none of them ends before it is interrupted.
    let text = prose(1, 60);
    let copies: String = (0..3000).map(|i| record(&format!("d{i}"), &format!("{text} x{i}"))).collect();
    let desk = Desk::with("copies.jsonl", copies);
    let long: String = (0..6000).map(|i| record(&format!("document-{i}"), &prose(i, 100))).collect();
    desk.write("long.jsonl", long);
    desk.run("sketch copies.jsonl -o copies.sketches -q").exit(0);
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive long.jsonl -q").exit(0);
    let incomplete = "standard output is incomplete";
    let no_file = "standard output is incomplete, and no file was written";
    let resume = "\nhint: a run with `--work DIR` can be continued with `--resume`\n";
    // The engine of an archive removes old versions of its own files when the archive is opened.
    let names = |desk: &Desk| -> Vec<String> {
        desk.names().into_iter().filter(|name| !name.starts_with("archive/store/")).collect()
    };
    for (arguments, message, hint) in [
        ("pairs copies.jsonl", incomplete, ""),
        ("pairs copies.jsonl -o -", incomplete, ""),
        ("pairs copies.jsonl --candidates-only", incomplete, ""),
        ("estimate copies.sketches", incomplete, ""),
        ("dedup long.jsonl -o -", incomplete, resume),
        ("dedup long.jsonl -o - --removed gone.jsonl", no_file, resume),
        ("index list archive", incomplete, ""),
        ("index export archive", incomplete, ""),
    ] {
        let before = names(&desk);
        let mut child = start(&desk, arguments);
        drop(child.stdin.take());
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "{arguments}: {line}");
        signal(&child, "-INT");
        // A pipe that is full would keep the run from its end, so the reader goes on when the signal has arrived.
        sleep(Duration::from_millis(300));
        let reader = std::thread::spawn(move || lines.read_to_end(&mut vec![]).unwrap());
        assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130), "{arguments}");
        reader.join().unwrap();
        let mut printed = String::new();
        child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
        // A warning about many pairs may come first.
        let expected = format!("error: interrupted: {message}\n{hint}");
        assert!(printed.ends_with(&expected), "{arguments}: {printed}");
        assert_eq!(names(&desk), before, "{arguments}");
    }
}

#[test]
fn ctrl_c_leaves_an_older_output_as_it_was() {
    let desk = slow_corpus();
    desk.write("out.jsonl", "precious");
    let mut child = start(&desk, "dedup in.jsonl -o out.jsonl --force --log json --threads 1");
    wait_for(&mut child, "read");
    signal(&child, "-INT");
    assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130));
    assert_eq!(desk.names(), ["in.jsonl", "out.jsonl"]);
    assert_eq!(desk.text("out.jsonl"), "precious");
}

/// One family is one unit of work, and its pairs may take hours to compare and to write. The pairs of this family take
/// minutes, so a run that ends within seconds did not finish them, even on a busy machine.
#[test]
fn ctrl_c_is_heeded_inside_a_neighbourhood() {
    let text = prose(1, 200);
    let lines: String = (0..16_000).map(|i| record(&format!("d{i}"), &format!("{text} x{i}"))).collect();
    let desk = Desk::with("in.jsonl", lines);
    let mut child = start(&desk, "pairs in.jsonl -o pairs.tsv --log json");
    wait_for(&mut child, "verify");
    sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130));
    assert_eq!(desk.names(), ["in.jsonl"]);
}

/// Standard input may never end. At this moment, there is nothing to clean up yet.
#[test]
fn ctrl_c_while_waiting_for_standard_input() {
    let desk = Desk::new();
    let mut child = start(&desk, "dedup - -o out.jsonl");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(record("a", "a").as_bytes()).unwrap();
    // The command sets the handler before it reads. After this time, it waits for more input.
    sleep(Duration::from_millis(300));
    signal(&child, "-INT");
    assert_eq!(ended(&mut child, Duration::from_secs(20)), Some(130));
    assert_eq!(desk.names(), [""; 0]);
}

/// Covers `minwise pairs … | head`.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let lines: String = (0..900).map(|i| record(&format!("document-{i}"), "a b c d e f g")).collect();
    let desk = Desk::with("in.jsonl", lines);
    let broad: String = (0..30_000).map(|i| record(&format!("document-{i}"), &prose(i, 6))).collect();
    desk.write("broad.jsonl", broad);
    for arguments in [
        "pairs in.jsonl -q",
        "dedup broad.jsonl -o - -q",
        "dedup broad.jsonl -o - -q --annotate",
        "generate completions bash",
        "compare in.jsonl broad.jsonl --input-format text",
        "plan",
    ] {
        let mut child = start(&desk, arguments);
        drop(child.stdin.take());
        drop(child.stdout.take());
        let code = ended(&mut child, Duration::from_secs(30));
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        let expected = if arguments.starts_with("compare") { vec![Some(0), Some(1)] } else { vec![Some(0)] };
        assert!(expected.contains(&code), "{arguments}: {code:?} {message}");
        assert_eq!(message, "", "{arguments}");
    }
}
