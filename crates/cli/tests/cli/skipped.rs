//! Tests files that are no documents, and files that cannot be read.

use serde_json::Value;

use crate::support::{Desk, Run, prose, record};

/// Returns a desk with a typical folder: two equal documents, and files that are no documents.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/a.txt", prose(1, 30));
    desk.write("in/b.txt", prose(1, 30));
    desk.write("in/.DS_Store", b"\0\0\0\x01Bud1\0");
    desk.write("in/Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    desk.write("in/empty.txt", "");
    desk.write("in/~$a.docx", "\u{7}Jane");
    desk.write("in/dump.bin", [0, 1, 2, 255].repeat(99));
    desk
}

/// Returns the event of this name from a log.
fn event(run: &Run, name: &str) -> Value {
    let events = run.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.into_iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("no {name} in {run}"))
}

const COMMANDS: [&str; 6] = [
    "dedup in -o out --force",
    "pairs in",
    "sketch in -o sketches --force",
    "weights in -o table --force",
    "index add archive in",
    "check in --index archive",
];

#[test]
fn a_folder_with_files_that_are_no_documents_is_read_without_complaint() {
    let desk = desk();
    insta::assert_snapshot!(desk.run("dedup in -o out --audit off"), @"
    exit 0
    --- stderr
    read        2 documents, 338 B
    kept        1 document (50.0 %)
    removed     1 document (50.0 %) in 1 cluster; equal after normalisation
    rejected    0 records
    skipped     5 files that are not documents (`--verbose` lists them)
    compared    0 candidate pairs
    recall      100 % expected
    wrote       1 kept document to `out`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep first, cluster star
    candidates  16 bands of 6 rows
    stages      [time]
    ");
    let names: Vec<String> = desk.names().into_iter().filter(|name| name.starts_with("out")).collect();
    assert_eq!(names, ["out", "out/a.txt"]);
}

#[test]
fn every_command_counts_them_and_names_them_on_request() {
    let desk = desk();
    desk.run("index create archive -q").exit(0);
    for command in COMMANDS {
        // `check` finds the documents that `index add` has added before.
        let code = i32::from(command.starts_with("check"));
        let run = desk.run(command).exit(code);
        assert_eq!(
            run.summary("skipped"),
            "5 files that are not documents (`--verbose` lists them)",
            "{command}"
        );
        let run = desk.run(&format!("{command} --verbose")).exit(code);
        let list = "note: 5 files were skipped
    in/.DS_Store: it is a system file of a file manager
    in/Thumbs.db: it is a system file of a file manager
    in/dump.bin: it is binary, and of no known format
    in/empty.txt: it is empty
    in/~$a.docx: it is a lock file of Office
";
        assert!(run.err.contains(list), "{command}: {run}");
        let run = desk.run(&format!("{command} --log json -v")).exit(code);
        let (summary, skipped) = (event(&run, "summary"), event(&run, "skipped"));
        assert_eq!(
            (&summary["skipped_files"], &summary["skipped_records"]),
            (&5.into(), &0.into()),
            "{command}"
        );
        assert_eq!(skipped["files"][1]["file"], "in/Thumbs.db");
        assert_eq!(skipped["files"][1]["reason"], "system");
        assert!(!desk.run(&format!("{command} --log json")).err.contains("Thumbs.db"));
    }
    let listed = desk.run("index list archive").exit(0);
    assert_eq!(listed.lines().len(), 2, "{listed}");
    let run = desk.run("dedup in -o out --force -q -v").exit(2);
    assert!(run.err.contains("cannot be used with"), "{run}");
}

#[test]
fn what_is_named_is_read_whatever_it_is() {
    let desk = desk();
    let run = desk.run("dedup in/a.txt in/empty.txt in/~$a.docx -o out").exit(0);
    assert_eq!(run.count("kept"), 3);
    assert!(desk.path("out/in/empty.txt").exists());
    insta::assert_snapshot!(desk.run("pairs in/*.bin"), @"
    exit 2
    --- stderr
    error: `in/*.bin` has no documents: its only file, `in/dump.bin`, was skipped

    hint: to read a skipped file, name it as an input
    ");
}

#[test]
fn files_of_records_may_have_files_beside_them() {
    let desk = Desk::with("in/a.jsonl", record("a", &prose(1, 9)));
    desk.write("in/empty.jsonl", "");
    for beside in ["_SUCCESS", ".a.jsonl.crc", "Thumbs.db"] {
        desk.write(&format!("in/{beside}"), [0, 1]);
    }
    let run = desk.run("dedup in -o out/").exit(0);
    assert!(run.summary("skipped").starts_with("3 files"), "{run}");
    let names: Vec<String> = desk.names().into_iter().filter(|name| name.starts_with("out/")).collect();
    assert_eq!(names, ["out/a.jsonl", "out/empty.jsonl"]);
}

#[test]
fn one_skipped_file_stands_in_references_and_templates_too() {
    let desk = desk();
    desk.write("form/form.txt", prose(7, 20));
    desk.write("form/.DS_Store", b"\0");
    let run = desk.run("dedup in/a.txt -o out --against form --ignore-text form").exit(0);
    assert_eq!(run.summary("skipped"), "1 file that is not a document (`--verbose` lists it)");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::support::MINWISE;

    /// Returns a desk with two documents, a symbolic link to a missing file, and a link to the folder that contains it.
    fn broken() -> Desk {
        let desk = Desk::new();
        desk.write("in/a.txt", prose(1, 30));
        desk.write("in/z.txt", prose(2, 30));
        symlink("nowhere.txt", desk.path("in/gone.txt")).unwrap();
        symlink(".", desk.path("in/up")).unwrap();
        desk.run("index create archive -q").exit(0);
        desk
    }

    #[test]
    fn what_cannot_be_read_is_a_reject_of_every_command() {
        let desk = broken();
        fs_err::remove_file(desk.path("in/up")).unwrap();
        for command in COMMANDS {
            let run = desk.run(command).exit(2);
            let list = "error: 1 record was rejected\n    in/gone.txt: cannot be read: it is a link to `nowhere.txt`, which does not exist\n";
            assert!(run.err.contains(list), "{command}: {run}");
            let run = desk.run(&format!("{command} --log json")).exit(2);
            assert_eq!(event(&run, "rejects")["count"], 1, "{command}");
            assert_eq!(event(&run, "summary")["rejected"], 1, "{command}");
        }
        assert_eq!(desk.run("index list archive").exit(0).lines().len(), 2);
        let out = desk.names().into_iter().filter(|name| name.starts_with("out/")).count();
        assert_eq!(out, 2, "what can be read is written");
    }

    #[test]
    fn rejects_of_files_are_counted_allowed_and_reported() {
        let desk = broken();
        let run = desk.run("dedup in -o out --report report").exit(2);
        assert_eq!(
            (run.summary("read"), run.summary("rejected")),
            ("4 records, 338 B", "2 records"),
            "{run}"
        );
        let rejects: Vec<Value> = desk
            .text("report/rejects.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(rejects[0]["file"], "in/gone.txt");
        assert_eq!(
            (&rejects[0]["reason"], &rejects[1]["reason"]),
            (&"unreadable".into(), &"unreadable".into())
        );
        assert_eq!(
            rejects[1]["message"].as_str().unwrap(),
            "cannot be read: it is a link that leads back to `in`, which holds it"
        );
        desk.run("dedup in -o allowed --max-rejects 2").exit(0);
        let run = desk.run("dedup in -o more --max-rejects 1").exit(2);
        assert!(run.err.contains("more than 1 record"), "{run}");
        assert!(!desk.path("more").exists());
    }

    #[test]
    fn strict_stops_before_anything_is_written() {
        let desk = broken();
        insta::assert_snapshot!(desk.run("dedup in -o out --report report --strict"), @"
        exit 2
        --- stderr
        error: `in/gone.txt` cannot be read: it is a link to `nowhere.txt`, which does not exist; another file cannot be read either

        hint: without `--strict`, files that cannot be read are rejected and the others are read
        ");
        for command in COMMANDS {
            let run = desk.run(&format!("{command} --strict --log json")).exit(2);
            assert!(run.err.contains("in/gone.txt"), "{command}: {run}");
        }
        for output in ["out", "report", "sketches", "table"] {
            assert!(!desk.path(output).exists(), "{output}");
        }
        assert_eq!(desk.run("index list archive").exit(0).text(), "");
        desk.run("dedup in/*.txt -o out --strict").exit(2);
        desk.run("dedup in/z.txt -o out --strict").exit(0);
        // A path that is given explicitly must exist, with `--strict` or without.
        let run = desk.run("dedup in/gone.txt -o more").exit(2);
        assert!(run.err.starts_with("error: no such file or folder: `in/gone.txt`"), "{run}");
    }

    #[test]
    fn a_folder_of_records_is_read_around_a_broken_link() {
        let desk = Desk::with("in/a.jsonl", record("a", &prose(1, 9)));
        desk.write("in/c.jsonl", record("c", &prose(2, 9)));
        symlink("nowhere", desk.path("in/0.jsonl")).unwrap();
        symlink("nowhere", desk.path("in/b.jsonl")).unwrap();
        desk.run("dedup in -o out/").exit(2);
        let names: Vec<String> = desk.names().into_iter().filter(|name| name.starts_with("out/")).collect();
        assert_eq!(names, ["out/a.jsonl", "out/c.jsonl"]);
        // A file that cannot be read gives no information about the fields of records.
        let run = desk.run("dedup in -o more/ --text-field body").exit(2);
        assert!(run.err.contains("`body`") && run.err.contains("`text`"), "{run}");
        // A resumed run still knows the file that could not be read.
        desk.run("dedup in -o first.jsonl -q --work work --keep-work").exit(2);
        desk.run("dedup in -o second.jsonl -q --work work --resume --keep-work").exit(2);
        assert_eq!(desk.text("first.jsonl"), desk.text("second.jsonl"));
        desk.write("nowhere", "");
        fs_err::rename(desk.path("nowhere"), desk.path("in/nowhere")).unwrap();
        let run = desk.run("dedup in -o third.jsonl --work work --resume").exit(2);
        assert!(run.err.contains("in/0.jsonl"), "{run}");
    }

    #[test]
    #[ignore = "needs permissions that bind the user"]
    fn a_file_and_a_folder_that_may_not_be_opened() {
        use std::os::unix::fs::PermissionsExt;
        let desk = Desk::with("in/a.txt", prose(1, 30));
        desk.write("in/locked.txt", "secret");
        desk.write("in/vault/b.txt", "secret");
        for name in ["in/locked.txt", "in/vault"] {
            fs_err::set_permissions(desk.path(name), std::fs::Permissions::from_mode(0o000)).unwrap();
        }
        let run = |arguments: &[&str]| {
            let mut command = if fs_err::read(desk.path("in/locked.txt")).is_ok() {
                // The tests run as root, who may read every file unless these capabilities are dropped.
                let mut command = std::process::Command::new("setpriv");
                command.args(["--bounding-set", "-all", "--inh-caps", "-all", MINWISE]);
                command
            } else {
                std::process::Command::new(MINWISE)
            };
            let output = command.current_dir(desk.root()).args(arguments).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, said) = run(&["dedup", "in", "-o", "out"]);
        assert_eq!(code, Some(2), "{said}");
        let list = "error: 2 records were rejected\n    \
                    in/locked.txt: cannot be read: Permission denied (os error 13)\n    \
                    in/vault: cannot be read: Permission denied (os error 13)\n";
        assert!(said.contains(list), "{said}");
        assert_eq!(desk.text("out/a.txt"), prose(1, 30));
        let (code, said) = run(&["dedup", "in", "-o", "more", "--strict"]);
        assert_eq!((code, desk.path("more").exists()), (Some(2), false), "{said}");
        let (_, said) = run(&["dedup", "in/vault", "-o", "more"]);
        assert!(said.starts_with("error: cannot read `in/vault`: Permission denied"), "{said}");
    }
}

/// A message about files of the archive would name files that nobody put there.
#[test]
fn an_archive_is_named_as_such_and_is_not_read() {
    let desk = Desk::with("letters/a.txt", prose(1, 60));
    desk.run("index create archive -q").exit(0);
    insta::assert_snapshot!(desk.run("index add archive archive"), @"
    exit 2
    --- stderr
    error: `archive` is the archive itself, and has no documents to add

    hint: name the files or folders of the documents
    ");
    insta::assert_snapshot!(desk.run("dedup archive -o out"), @"
    exit 2
    --- stderr
    error: `archive` is an archive of Minwise, and has no documents to read

    hint: name the files or folders of the documents
    ");
}
