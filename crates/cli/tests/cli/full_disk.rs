//! Tests a full disk: a run names the file that it could not write, leaves nothing half-written, and continues once
//! there is room.
//!
//! The disk is a file system in memory, mounted in a separate mount namespace. Some machines do not allow such
//! namespaces; on these, `cargo x test` skips the tests.

#![cfg(target_os = "linux")]

use std::process::Command;

use crate::support::{Desk, MINWISE, prose, record, with_word};

/// Returns a desk with 2 MB of documents. Every third document has a near-copy. Their sketches take another 2 MB.
fn desk() -> Desk {
    let lines: String = (0..3000u64)
        .map(|i| match i % 3 {
            0 => record(&i.to_string(), &prose(i, 90)),
            1 => record(&i.to_string(), &with_word(&prose(i - 1, 90), (i % 80) as usize, "changed")),
            _ => record(&i.to_string(), &prose(i, 30)),
        })
        .collect();
    let desk = Desk::with("in.jsonl", lines);
    fs_err::create_dir(desk.path("small")).unwrap();
    desk.run("dedup in.jsonl -o plain.jsonl --report plain -q").exit(0);
    desk
}

/// Runs a script in which the folder `small` is a disk of `kib` KiB.
fn with_disk(desk: &Desk, kib: u64, script: &str) -> String {
    let script = format!("mount -t tmpfs -o size={kib}k tmpfs small && {script}");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]).current_dir(desk.root());
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// Runs the command on a disk that is too small, then with `--resume` on a larger disk. Returns the messages, and the
/// files that the first run left.
fn full_then_roomy(desk: &Desk, kib: u64, arguments: &str) -> String {
    let run = format!("{MINWISE} dedup in.jsonl {arguments} -q --threads 2");
    let script = format!(
        "{{ {run} 2>&1; echo exit $?; find small out.jsonl report 2>/dev/null; \
         mount -o remount,size=64m tmpfs small; {run} --resume 2>&1; echo then $?; \
         cp small/out.jsonl . 2>/dev/null; cp -r small/report . 2>/dev/null; true; }}"
    );
    with_disk(desk, kib, &script)
}

#[track_caller]
fn check(desk: &Desk, kib: u64, arguments: &str, file: &str) {
    let said = full_then_roomy(desk, kib, arguments);
    let (before, after) = said.split_once("exit 2\n").unwrap_or_else(|| panic!("{kib} KiB: {said}"));
    assert!(before.contains(&format!("cannot write `{file}")), "{kib} KiB: {said}");
    assert!(before.contains("No space left on device") && before.contains("hint: free some space"), "{said}");
    let (left, then) = after.split_once("then ").unwrap();
    for finished in ["out.jsonl", "report/summary.json", "report/index.html"] {
        assert!(!left.contains(finished), "{kib} KiB: {said}");
    }
    assert_eq!(then, "0\n", "{kib} KiB: {said}");
    for [found, expected] in [["out.jsonl", "plain.jsonl"], ["report/pairs.tsv", "plain/pairs.tsv"]] {
        assert_eq!(desk.text(found), desk.text(expected), "{kib} KiB");
    }
    for made in ["out.jsonl", "report"] {
        let path = desk.path(made);
        if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) }.unwrap();
    }
}

#[test]
#[ignore = "needs a mount namespace"]
fn the_folder_of_a_run_on_a_full_disk() {
    let desk = desk();
    // The first two disks are full while documents are read, the third while neighbourhoods are verified.
    for (kib, file) in [(64, "small/run/segment-"), (1000, "small/run/segment-"), (1700, "small/run/")] {
        let arguments = "-o out.jsonl --report report --work small/run";
        check(&desk, kib, arguments, file);
    }
}

#[test]
#[ignore = "needs a mount namespace"]
fn an_output_on_a_full_disk() {
    let desk = desk();
    for kib in [16, 500] {
        let arguments = "-o small/out.jsonl --report small/report --work run";
        check(&desk, kib, arguments, "small/");
    }
}

/// If an archive cannot be created, no file is left.
#[test]
#[ignore = "needs a mount namespace"]
fn a_new_archive_on_a_full_disk() {
    let desk = Desk::new();
    fs_err::create_dir(desk.path("small")).unwrap();
    let script = format!(
        "{{ dd if=/dev/zero of=small/full bs=4k; {MINWISE} index create small/archive; echo exit $?; find small; }} 2>&1"
    );
    let said = with_disk(&desk, 16, &script);
    assert!(said.contains("there is no room left on the disk of `small/archive"), "{said}");
    assert!(said.ends_with("exit 2\nsmall\nsmall/full\n"), "{said}");
}

/// An archive keeps the changes that it acknowledged, and continues when there is room.
#[test]
#[ignore = "needs a mount namespace"]
fn an_archive_on_a_full_disk() {
    let desk = Desk::new();
    fs_err::create_dir(desk.path("small")).unwrap();
    for part in 0..60u64 {
        let lines: String =
            (0..40).map(|n| record(&format!("d{part}-{n}"), &prose(part * 100 + n, 200))).collect();
        desk.write(&format!("in/{part:02}.jsonl"), lines);
    }
    let script = format!(
        "{{ {MINWISE} index create small/archive -q; \
         for part in in/*; do timeout 60 {MINWISE} index add small/archive $part -q || {{ echo failed $?; break; }}; echo added; done; \
         mount -o remount,size=256m tmpfs small; {MINWISE} index check small/archive; echo checked $?; \
         {MINWISE} index stats small/archive --format jsonl; \
         {MINWISE} index add small/archive in -q; echo then $?; {MINWISE} index stats small/archive --format jsonl; }} 2>&1"
    );
    let said = with_disk(&desk, 1500, &script);
    let added = said.matches("added\n").count();
    assert!((1..60).contains(&added) && said.contains("failed 2"), "{said}");
    assert!(said.contains("there is no room left on the disk of `small/archive`"), "{said}");
    assert!(said.contains("hint: acknowledged changes are kept"), "{said}");
    assert!(said.contains("checked 0") && said.contains("then 0"), "{said}");
    let documents: Vec<u64> = said
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["documents"].as_u64())
        .collect();
    assert_eq!(documents, [40 * added as u64, 2400], "{said}");
}

/// The message of the operating system does not name what was written, so each command adds that.
#[test]
fn a_standard_output_that_takes_nothing_is_named() {
    let desk = Desk::with("in.jsonl", record("a", &prose(1, 60)) + &record("b", &prose(1, 60)));
    desk.write("in/a.txt", prose(1, 60));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in -q").exit(0);
    for command in [
        "plan",
        "pairs in.jsonl",
        "dedup in.jsonl -o -",
        "compare in/a.txt in/a.txt",
        "accuracy in.jsonl --pairs all",
        "check in/a.txt --index archive",
        "check in/a.txt --index archive --format jsonl",
        "index list archive",
        "index show archive a.txt",
        "index stats archive",
        "generate man",
    ] {
        let shell = format!("exec {MINWISE} {command} > /dev/full");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(desk.root()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {message}");
        let named = message.contains("error: cannot write standard output: No space left on device");
        assert!(named, "{command}: {message}");
    }
}
