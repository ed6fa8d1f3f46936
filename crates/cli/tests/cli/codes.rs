//! Tests that one table documents the codes of errors, rejects, warnings and skipped files of all crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::{Desk, record};

/// Returns the text of a function body up to its closing brace. `text` begins after the opening brace.
fn body(text: &str) -> &str {
    let mut depth = 1;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth == 0
    });
    &text[..end.unwrap().0]
}

/// Returns the codes of all functions that return codes: the first string of each match arm.
fn codes_of(source: &str) -> Vec<&str> {
    let mut codes = vec![];
    for head in ["fn code(&self) -> &'static str {", "fn code(self) -> &'static str {", "fn facts(self) -> "]
    {
        for function in source.split(head).skip(1) {
            let function = if head.ends_with('{') { function } else { function.split_once('{').unwrap().1 };
            for arm in body(function).split("=>").skip(1) {
                // An arm that returns the code of another error has no string.
                let arm = arm.split("Self::").next().unwrap();
                codes.extend(arm.split('"').nth(1));
            }
        }
    }
    codes
}

/// Returns every code in the sources of the crates, with the files that have it.
fn codes() -> BTreeMap<String, BTreeSet<String>> {
    let mut codes = BTreeMap::<String, BTreeSet<String>>::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = |entry: std::io::Result<fs_err::DirEntry>| entry.unwrap().path().join("src");
    let mut folders: Vec<_> = fs_err::read_dir(crates).unwrap().map(sources).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                for code in codes_of(&fs_err::read_to_string(&path).unwrap()) {
                    codes.entry(code.to_owned()).or_default().insert(path.display().to_string());
                }
            }
        }
    }
    codes
}

fn documented() -> Vec<(String, String)> {
    let table = include_str!("../../../../docs/reference/codes.md");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (code, rest) = row.split_once("` | ").unwrap();
        (code.to_owned(), rest.split_once(" | ").unwrap().1.trim_end_matches(" |").to_owned())
    })
    .collect()
}

#[test]
fn every_code_is_in_the_table_and_has_one_meaning() {
    let (codes, documented) = (codes(), documented());
    assert!(codes.len() > 100, "the sources were not read: {codes:?}");
    // The list of files shows that every crate with errors was read.
    let files: BTreeSet<&String> = codes.values().flatten().collect();
    for file in [
        "core/src/error.rs",
        "corpus/src/error.rs",
        "engine/src/error.rs",
        "index/src/fault.rs",
        "server/src/problem.rs",
        "server/src/error.rs",
        "cli/src/printer.rs",
    ] {
        assert!(files.iter().any(|found| found.replace('\\', "/").ends_with(file)), "{file}");
    }
    let is_snake_case = |code: &str| {
        let parts: Vec<&str> = code.split('_').collect();
        let is_word = |part: &&str| {
            part.starts_with(|c: char| c.is_ascii_lowercase())
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        parts.iter().all(is_word)
    };
    for (code, files) in &codes {
        assert!(is_snake_case(code), "`{code}` of {files:?}");
        let rows = documented.iter().filter(|(documented, _)| documented == code).count();
        assert_eq!(rows, 1, "`{code}` of {files:?} has {rows} rows in docs/reference/codes.md");
    }
    for (code, _) in &documented {
        assert!(codes.contains_key(code), "docs/reference/codes.md has `{code}`, which nothing gives");
    }
    // Two codes with one meaning would be two names for one error.
    let meanings: BTreeSet<&String> = documented.iter().map(|(_, meaning)| meaning).collect();
    assert_eq!(meanings.len(), documented.len());
    assert!(documented.is_sorted(), "the table is in alphabetical order");
}

#[test]
fn codes_are_found_in_every_form_of_an_arm() {
    let source = r#"
        fn code(&self) -> &'static str {
            match self {
                Self::A { .. } => "a",
                Self::B(error) => error.code(),
                Self::C | Self::D => "c_d",
            }
        }
        fn facts(self) -> (u16, &'static str) {
            match self {
                Self::E => (404, "e", "Words"),
                Self::F => {
                    (500, "f", "Words")
                }
            }
        }
        fn other(&self) -> &'static str { match self { Self::A => "no code" } }
    "#;
    assert_eq!(codes_of(source), ["a", "c_d", "e", "f"]);
}

#[test]
fn errors_and_warnings_of_the_command_itself_have_codes() {
    let desk = Desk::with("in.jsonl", record("a", "one two three four five six"));
    desk.write("null.jsonl", "{\"id\": \"n\", \"text\": null}\n");
    desk.write("no-ids.csv", "name,year\na,2020\n");
    desk.write("sheet.csv", "id,year\nnobody,2020\n");
    desk.write("letters/a.txt", "seven eight nine ten eleven twelve");
    desk.write("others/a.txt", "thirteen fourteen fifteen");
    desk.write("locked.pdf", "%PDF-1.7\nno more of it");
    desk.run("index create archive -q").exit(0);
    for (command, stdin, event, code) in [
        ("compare - -", "", "error", "bad_setting"),
        ("compare letters in.jsonl#a", "", "error", "bad_setting"),
        ("compare in.jsonl#b in.jsonl#a", "", "error", "no_such_document"),
        ("compare locked.pdf letters/a.txt", "", "error", "damaged"),
        ("index add archive letters others", "", "error", "same_ids"),
        ("index add archive ./archive", "", "error", "archive"),
        ("index add archive letters archive/", "", "error", "archive"),
        ("pairs archive", "", "error", "archive"),
        ("index add archive null.jsonl --null error", "", "error", "null"),
        ("index add archive in.jsonl --meta no-ids.csv", "", "error", "bad_sheet"),
        ("index add archive in.jsonl --meta missing.csv", "", "error", "bad_sheet"),
        ("index add archive in.jsonl --meta sheet.csv", "", "warning", "unused_metadata"),
        (
            "check - --index archive --exclude year",
            "{\"id\": \"x\", \"text\": \"one two\", \"year\": 1}\n",
            "error",
            "bad_setting",
        ),
        ("check letters --index archive --ignore-text locked.pdf", "", "error", "damaged"),
        ("check letters --index archive --passage 3", "", "warning", "short_passages"),
    ] {
        let arguments: Vec<&str> = command.split(' ').chain(["--log", "json"]).collect();
        let run = desk.run_with(&arguments, stdin.as_bytes());
        let events = run.err.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let codes: Vec<Value> =
            events.filter(|found| found["event"] == event).map(|found| found["code"].clone()).collect();
        assert_eq!(codes, [code], "{command}: {run}");
    }
}
