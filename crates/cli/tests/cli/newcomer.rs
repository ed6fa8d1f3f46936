//! Runs the commands that a newcomer tries in the first hour, right and wrong: the scripts in `tests/newcomer`, with
//! all output.
//!
//! A line `$ …` of a script is typed into a shell. The lines below it are the exit code, then standard output and
//! standard error. A line `# …` is a remark. Each script begins in a folder with the examples, plain and compressed.
//!
//! `MINWISE_WRITE_NEWCOMER=1 cargo x test newcomer` replaces the output in the scripts by the present output of the
//! commands. Read all of it before you commit it, as a newcomer would.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Desk, MINWISE, Run, gzip, zstd};

/// Scripts. Each is run by one of the tests below.
const SCRIPTS: [&str; 9] =
    ["archive", "first-steps", "habits", "inputs", "looking", "mistakes", "numbers", "outputs", "work"];

#[test]
fn newcomer_first_steps() {
    follow("first-steps");
}

#[test]
fn newcomer_habits() {
    follow("habits");
}

#[test]
fn newcomer_inputs() {
    follow("inputs");
}

#[test]
fn newcomer_outputs() {
    follow("outputs");
}

#[test]
fn newcomer_numbers() {
    follow("numbers");
}

#[test]
fn newcomer_looking() {
    follow("looking");
}

#[test]
fn newcomer_mistakes() {
    follow("mistakes");
}

#[test]
fn newcomer_archive() {
    follow("archive");
}

#[test]
fn newcomer_work() {
    follow("work");
}

#[test]
fn newcomer_scripts_are_all_followed_and_try_enough() {
    let mut names: Vec<String> = fs_err::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(names, SCRIPTS);
    let scripts = SCRIPTS.map(|name| fs_err::read_to_string(script(name)).unwrap());
    let calls = scripts.iter().flat_map(|script| script.lines());
    let calls = calls.filter(|line| line.starts_with("$ ") && is_call(line)).count();
    assert!(calls >= 330, "{calls}");
    let failures = scripts.iter().map(|script| script.matches("\nexit 2\n").count()).sum::<usize>();
    assert!(failures >= 200, "{failures}");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/newcomer")
}

fn script(name: &str) -> PathBuf {
    folder().join(format!("{name}.txt"))
}

/// Reports whether a line of a script calls the command. Other lines prepare files or print them.
fn is_call(line: &str) -> bool {
    line.contains("minwise ") || line.ends_with("minwise")
}

/// Types the commands of a script one after the other, and asserts that they print the output in the script.
fn follow(name: &str) {
    let desk = desk();
    let path = script(name);
    let expected = fs_err::read_to_string(&path).unwrap();
    let mut printed = String::new();
    for line in expected.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            printed.push_str(&format!("{line}\n{}\n", answer(&typed(&desk, command), is_call(line))));
        } else if line.starts_with("# ") {
            printed.push_str(&format!("{line}\n\n"));
        }
    }
    let printed = format!("{}\n", printed.trim_end());
    if std::env::var_os("MINWISE_WRITE_NEWCOMER").is_some() {
        fs_err::write(&path, printed).unwrap();
        return;
    }
    let blocks = |text: &str| text.split("\n$ ").map(str::to_owned).collect::<Vec<_>>();
    for (expected, printed) in blocks(&expected).iter().zip(&blocks(&printed)) {
        assert!(expected == printed, "{name}.txt has\n$ {expected}\n\nand this was printed:\n$ {printed}");
    }
    assert!(expected == printed, "{name}.txt has other commands than were typed");
}

/// Returns a folder with the examples, plain and compressed.
fn desk() -> Desk {
    fn copy(desk: &Desk, from: &Path, to: &str) {
        for entry in fs_err::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let to = format!("{to}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                copy(desk, &path, &to);
            } else {
                desk.write(&to, fs_err::read(&path).unwrap());
            }
        }
    }
    let articles = include_bytes!("../../../../examples/articles.jsonl");
    let desk = Desk::with("articles.jsonl", articles);
    desk.write("articles.jsonl.gz", gzip(articles));
    desk.write("articles.jsonl.zst", zstd(articles));
    copy(&desk, &folder().join("../../examples/letters"), "letters");
    desk
}

/// Types a command into a shell.
pub fn typed(desk: &Desk, command: &str) -> Run {
    let programs = Path::new(MINWISE).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(desk.root()).stdin(Stdio::null());
    shell.env("PATH", path).env("HOME", desk.root()).env("LC_ALL", "C");
    shell.env_remove("COLUMNS").env_remove("NO_COLOR");
    let output = shell.output().unwrap();
    Run {
        code: output.status.code(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

/// Returns the exit code and the output of a command in the form of a script.
fn answer(run: &Run, is_call: bool) -> String {
    let mut out = String::new();
    let code = run.code.expect("the command was not killed");
    if is_call || code != 0 {
        out.push_str(&format!("exit {code}\n"));
    }
    for (name, text) in [("stdout", run.text()), ("stderr", &run.err)] {
        if text.is_empty() {
            continue;
        }
        out.push_str(&format!("{name}:\n"));
        for line in text.lines() {
            out.push_str(format!("    {}", masked(line)).trim_end());
            out.push('\n');
        }
    }
    out
}

/// Masks the parts of a line that differ from run to run or from machine to machine. Escape characters are made
/// visible.
fn masked(line: &str) -> String {
    for name in ["time        ", "stages      ", "on disk     ", "compacted   "] {
        if line.starts_with(name) {
            return format!("{name}[…]");
        }
    }
    let mut line = line.replace('\u{1b}', "\\e");
    if let Some((before, rest)) = line.split_once("(kernel ") {
        let after = rest.split_once(',').map_or("", |(_, after)| after);
        line = format!("{before}(kernel […],{after}");
    }
    if let Some((before, after)) = line.split_once(" on disk in ") {
        let kept = before.rsplit_once(", ").map_or("", |(kept, _)| kept);
        line = format!("{kept}, […] on disk in {after}");
    }
    if let Some((before, after)) = line.split_once("\"elapsed_ms\":") {
        let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        line = format!("{before}\"elapsed_ms\":[…]{after}");
    }
    line
}

#[test]
fn newcomer_masks_hide_times_sizes_and_kernels_only() {
    for (line, expected) in [
        ("time        0.03 s (1,771 documents/s)", "time        […]"),
        ("minwise 0.1.0 (kernel avx2, spec version 1)", "minwise 0.1.0 (kernel […], spec version 1)"),
        (
            "archive     5 documents, 5.1 kB of text, 1.2 MB on disk in `a`",
            "archive     5 documents, 5.1 kB of text, […] on disk in `a`",
        ),
        ("\u{1b}[1;31merror:\u{1b}[0m no", "\\e[1;31merror:\\e[0m no"),
        ("kept        30 documents (62.5 %)", "kept        30 documents (62.5 %)"),
        ("{\"elapsed_ms\":12,\"event\":\"stage\"}", "{\"elapsed_ms\":[…],\"event\":\"stage\"}"),
    ] {
        assert_eq!(masked(line), expected);
    }
}
