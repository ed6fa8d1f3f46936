//! Types the commands of the README and the guides into a shell. [`ELSEWHERE`] names the guides with a test of their
//! own.

// The commands are those of a POSIX shell.
#![cfg(unix)]

use std::path::Path;

use crate::newcomer::typed;
use crate::support::{Desk, gzip, prose, records, with_word};

/// Pages whose commands run in this file.
const HERE: [&str; 3] = ["README.md", "docs/guides/formats.md", "docs/guides/web-archives.md"];
/// Pages whose commands run in other tests, beside the feature that the page describes. The commands of the Spark job
/// run in `python/tests/spark/test_guide.py`, those of the lab in its own tests and in `concepts`.
const ELSEWHERE: [&str; 6] = [
    "docs/guides/check-submissions.md",
    "docs/guides/choose-parameters.md",
    "docs/guides/deduplicate-a-corpus.md",
    "docs/guides/lab.md",
    "docs/guides/remove-benchmark-text.md",
    "docs/guides/spark.md",
];

fn page(name: &str) -> String {
    fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// Returns the lines of the shell blocks of a page.
fn shell_lines(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let joined: String = blocks.map(|block| block.replace("\\\n", " ")).collect();
    joined.lines().map(str::to_owned).collect()
}

/// Types every command of a page except builds and servers, and returns the number of commands typed.
fn follow(name: &str, desk: &Desk) -> usize {
    let lines = shell_lines(&page(name));
    let commands =
        lines.iter().filter(|line| line.starts_with("minwise ") && !line.starts_with("minwise serve "));
    let commands: Vec<&String> = commands.collect();
    for command in &commands {
        let run = typed(desk, command);
        assert_eq!(run.code, Some(0), "{name}: {command}\n{run}");
    }
    commands.len()
}

/// Returns two records with nearly equal texts, and a third with another text.
fn family(seed: u64) -> String {
    let text = prose(seed, 80);
    let [first, second, other] = ["a", "b", "c"].map(|letter| format!("{letter}{seed}"));
    records(&[(&first, &text), (&second, &with_word(&text, 40, "changed")), (&other, &prose(seed + 1, 80))])
}

#[test]
fn commands_of_the_readme_run() {
    let desk = Desk::with("crawl/one.jsonl", family(10));
    desk.write("crawl/two.jsonl", family(20));
    desk.write("new.jsonl", family(30));
    desk.write("train.jsonl", records(&[("t", &prose(31, 80))]));
    desk.write("rows.jsonl", family(40));
    desk.write("applications/first.txt", prose(50, 80));
    typed(&desk, "minwise dedup rows.jsonl -o corpus.parquet --threshold 1 -q");
    assert_eq!(follow("README.md", &desk), 5);
    assert_eq!((desk.ids("clean/one.jsonl").len(), desk.ids("fresh.jsonl")), (2, vec!["a30".to_owned()]));
    assert_eq!(desk.text("pairs.tsv").lines().count(), 1);
}

#[test]
fn commands_of_the_guide_to_formats_run() {
    let desk = Desk::with("crawl/one.jsonl.gz", gzip(family(10).as_bytes()));
    desk.write("crawl/two.jsonl.gz", gzip(family(20).as_bytes()));
    desk.write("c.jsonl", family(30));
    desk.write("b.csv", format!("id,text\nb,{}\n", prose(40, 80)));
    for name in ["a", "table"] {
        typed(&desk, &format!("minwise dedup c.jsonl -o {name}.parquet --threshold 1 -q"));
    }
    assert_eq!(follow("docs/guides/formats.md", &desk), 3);
    for name in ["kept.parquet", "gone.jsonl", "all.jsonl.zst"] {
        assert!(!desk.bytes(name).is_empty(), "{name}");
    }
}

#[test]
fn commands_of_the_guide_to_web_archives_run() {
    let record = |id: &str, date: &str, text: &str| {
        let length = text.len();
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Date: {date}\r\n\
             Content-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{text}\r\n\r\n"
        )
    };
    let text = prose(10, 80);
    let (old, new) =
        (record("old", "2024-01-01T00:00:00Z", &text), record("new", "2024-02-01T00:00:00Z", &text));
    let desk = Desk::with("crawl/one.warc.wet", format!("{old}{new}"));
    assert_eq!(follow("docs/guides/web-archives.md", &desk), 1);
    assert_eq!((desk.text("clean/one.warc.wet"), desk.text("gone/one.warc.wet")), (new, old));
}

#[test]
fn every_page_with_commands_has_a_test_that_runs_them() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides");
    let names = fs_err::read_dir(guides).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| format!("docs/guides/{}", name.to_string_lossy()));
    let has_commands = |name: &String| {
        let page = page(name);
        !shell_lines(&page).is_empty() || page.contains("```console\n")
    };
    let mut pages: Vec<String> = names.filter(has_commands).collect();
    pages.sort_unstable();
    let mut tested: Vec<&str> = HERE[1..].iter().chain(&ELSEWHERE).copied().collect();
    tested.sort_unstable();
    assert_eq!(pages, tested);
}
