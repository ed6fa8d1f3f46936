//! Tests every kind of input.

use serde_json::Value;

use crate::support::{Desk, gzip, ids, prose, record, records, zstd};

#[test]
fn compression_is_told_by_content_not_by_name() {
    let desk = Desk::new();
    desk.write("plain.jsonl.gz", record("a", &prose(1, 9)));
    desk.write("gzip.jsonl", gzip(record("b", &prose(2, 9)).as_bytes()));
    desk.write("zstd.jsonl.gz", zstd(record("c", &prose(3, 9)).as_bytes()));
    desk.write("right.jsonl.zst", zstd(record("d", &prose(4, 9)).as_bytes()));
    desk.write("nameless", gzip(record("e", &prose(5, 9)).as_bytes()));
    let run = desk.run("dedup plain.jsonl.gz gzip.jsonl zstd.jsonl.gz right.jsonl.zst nameless -o -").exit(0);
    assert_eq!(ids(run.text()), ["a", "b", "c", "d", "e"]);
}

/// `cat a.gz b.gz > both.gz` makes a valid gzip file. Files of zstd can be joined in this way, too.
#[test]
fn files_that_were_joined_while_compressed_are_read_to_the_end() {
    let (a, b) = (record("a", &prose(1, 9)), record("b", &prose(2, 9)));
    let desk = Desk::with("g.jsonl.gz", [gzip(a.as_bytes()), gzip(b.as_bytes())].concat());
    desk.write("z.jsonl.zst", [zstd(a.as_bytes()), zstd(b.as_bytes())].concat());
    assert_eq!(desk.run("dedup g.jsonl.gz -o -").exit(0).text(), format!("{a}{b}"));
    assert_eq!(desk.run("dedup z.jsonl.zst -o -").exit(0).text(), format!("{a}{b}"));
}

#[test]
fn standard_input_is_read_plain_or_compressed() {
    let desk = Desk::new();
    let documents = records(&[("a", &prose(1, 9)), ("b", &prose(1, 9)), ("c", &prose(2, 9))]);
    for bytes in [documents.clone().into_bytes(), gzip(documents.as_bytes()), zstd(documents.as_bytes())] {
        let run = desk.run_with(&["dedup", "-", "-o", "-"], &bytes).exit(0);
        assert_eq!(ids(run.text()), ["a", "c"]);
    }
    let without_id = documents.replace("\"id\"", "\"name\"");
    let run = desk.run_with(&["pairs", "-"], without_id.as_bytes()).exit(0);
    assert_eq!(run.text(), "-:1\t-:2\t1.000000\n");
    assert_eq!(desk.names(), [""; 0]);
}

/// In tables and CSV files, a missing id field is an error on opening. JSONL records of which only some have the field
/// are accepted.
#[test]
fn an_id_field_that_no_record_has_is_refused() {
    let desk = Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(2, 9))]));
    for command in ["dedup in.jsonl -o out.jsonl", "pairs in.jsonl"] {
        let run = desk.run(&format!("{command} --id-field name")).exit(2);
        let hint = "hint: the fields of the first document are `id`, `text`";
        assert_eq!(run.err, format!("error: no document has the field `name`\n\n{hint}\n"));
    }
    assert_eq!(desk.names(), ["in.jsonl"]);
    let some =
        records(&[("a", &prose(1, 9))]) + &records(&[("b", &prose(1, 9))]).replace("\"id\"", "\"name\"");
    desk.write("some.jsonl", some);
    assert_eq!(desk.run("pairs some.jsonl --id-field name").exit(0).text(), "some.jsonl:1\tb\t1.000000\n");
}

#[test]
fn a_folder_of_jsonl_is_read_in_the_order_of_names() {
    let desk = Desk::new();
    for (seed, name) in
        ["b.jsonl", "a/z.jsonl", "a-b.jsonl.gz", "B.jsonl", "a/b/c.jsonl"].into_iter().enumerate()
    {
        let line = record(name, &prose(seed as u64, 9));
        desk.write(
            &format!("data/{name}"),
            if name.contains(".gz") { gzip(line.as_bytes()) } else { line.into() },
        );
    }
    let run = desk.run("dedup data -o -").exit(0);
    assert_eq!(ids(run.text()), ["B.jsonl", "a-b.jsonl.gz", "a/b/c.jsonl", "a/z.jsonl", "b.jsonl"]);
}

#[test]
fn a_pattern_names_files() {
    let desk = Desk::new();
    for (seed, name) in ["x1.jsonl", "x2.jsonl", "y1.jsonl", "deep/x3.jsonl"].into_iter().enumerate() {
        desk.write(&format!("data/{name}"), record(name, &prose(seed as u64, 9)));
    }
    let kept = |pattern: &str| ids(desk.run(&format!("dedup {pattern} -o -")).exit(0).text());
    assert_eq!(kept("data/x*.jsonl"), ["x1.jsonl", "x2.jsonl"]);
    assert_eq!(kept("data/[xy]1.jsonl"), ["x1.jsonl", "y1.jsonl"]);
    assert_eq!(kept("data/**/x*.jsonl"), ["deep/x3.jsonl", "x1.jsonl", "x2.jsonl"]);
    assert_eq!(kept("data/{y1,x2}.jsonl"), ["x2.jsonl", "y1.jsonl"]);
}

/// Files of a pattern outside the current folder are named like files of a folder: by the path after the fixed
/// beginning.
#[test]
fn a_pattern_that_leads_elsewhere_has_outputs_inside_the_folder() {
    let desk = Desk::with("data/deep/a.jsonl", record("a", &prose(1, 9)));
    desk.write("texts/b.txt", prose(2, 9));
    desk.write("here/nothing", "");
    let root = desk.root().display();
    desk.run(&format!("dedup {root}/data/**/*.jsonl -o {root}/out/")).exit(0);
    assert_eq!(desk.ids("out/deep/a.jsonl"), ["a"]);
    desk.run(&format!("dedup {root}/here/../texts/*.txt -o kept")).exit(0);
    assert_eq!(desk.text("kept/b.txt"), prose(2, 9));
}

/// Files that Spark and other programs write beside their data are skipped.
#[test]
fn what_a_writer_left_beside_its_files_is_passed_over() {
    let desk = Desk::with("data/part-0.jsonl", record("a", &prose(1, 9)));
    for left in ["_SUCCESS", ".part-0.jsonl.crc", "deep/._metadata", "_logs/x.txt"] {
        desk.write(&format!("data/{left}"), [0, 1, 2]);
    }
    desk.write("data/_more.jsonl", record("b", &prose(2, 9)));
    desk.write("data/_logs/x.txt", "a text");
    let run = desk.run("dedup data -o -");
    // A folder whose name begins with `_` is read like any other.
    assert!(run.err.contains("_logs/x.txt"), "{run}");
    fs_err::remove_dir_all(desk.path("data/_logs")).unwrap();
    let run = desk.run("dedup data -o -").exit(0);
    assert_eq!(ids(run.text()), ["b", "a"]);
    assert!(run.summary("skipped").starts_with("3 files"), "{run}");
}

/// If a file exists whose name looks like a pattern, this file is read.
#[test]
fn a_name_with_brackets_is_a_name_first() {
    let desk = Desk::with("a[1].jsonl", record("brackets", &prose(1, 9)));
    desk.write("a1.jsonl", record("match", &prose(2, 9)));
    assert_eq!(ids(desk.run("dedup a[1].jsonl -o -").exit(0).text()), ["brackets"]);
}

#[test]
fn a_folder_of_texts_becomes_a_folder_of_the_kept_ones() {
    let desk = Desk::new();
    desk.write("letters/a.txt", format!("{}\r\n", prose(1, 20)));
    desk.write("letters/deep/copy", prose(1, 20).to_uppercase());
    desk.write("letters/deep/other.md", prose(2, 20));
    desk.write("letters/.hidden", "");
    desk.run("dedup letters -o kept --removed gone --report report").exit(0);
    assert_eq!(
        desk.names()
            .into_iter()
            .filter(|name| name.starts_with("kept") || name.starts_with("gone"))
            .collect::<Vec<_>>(),
        ["gone", "gone/deep", "gone/deep/copy", "kept", "kept/a.txt", "kept/deep", "kept/deep/other.md"]
    );
    assert_eq!(desk.bytes("kept/a.txt"), desk.bytes("letters/a.txt"));
    assert_eq!(desk.bytes("gone/deep/copy"), desk.bytes("letters/deep/copy"));
    assert_eq!(desk.text("report/pairs.tsv"), "deep/copy\ta.txt\t1.000000\n");
}

#[test]
fn encodings_of_text_files() {
    let desk = Desk::new();
    let text = "Sehr geehrte Damen und Herren, hiermit kündige ich fristgemäß die Wohnung in der Mühlgasse";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    desk.write("letters/latin", &latin);
    desk.write("letters/utf8", text);
    let run = desk.run("dedup letters -o strict").exit(2);
    assert!(run.err.contains("    letters/latin: not UTF-8: byte 40 is invalid\n"), "{run}");
    assert_eq!(fs_err::read_dir(desk.path("strict")).unwrap().count(), 1);
    // Read as Latin-1, each ü of the UTF-8 file becomes two other characters.
    let run = desk.run("dedup letters --dry-run --encoding latin-1").exit(0);
    assert_eq!(run.count("kept"), 2);
    let run = desk.run("dedup letters -o auto --encoding auto").exit(0);
    assert_eq!(run.count("kept"), 1);
    assert_eq!(desk.bytes("auto/latin"), latin, "the file is written as it was stored");
}

#[test]
fn compressed_text_files_are_compared_by_what_is_in_them() {
    let desk = Desk::with("letters/a.txt", prose(1, 20));
    desk.write("letters/b.txt.gz", gzip(prose(1, 20).as_bytes()));
    desk.write("letters/c.txt.zst", zstd(prose(2, 20).as_bytes()));
    desk.run("dedup letters -o kept").exit(0);
    assert_eq!(desk.bytes("kept/c.txt.zst"), desk.bytes("letters/c.txt.zst"));
    assert!(desk.path("kept/a.txt").exists() && !desk.path("kept/b.txt.gz").exists());
}

#[test]
fn fields_are_found_by_name_and_by_path() {
    let desk = Desk::new();
    let line =
        |id: u32, text: &str| format!("{{\"meta\":{{\"key\":{id}}},\"body\":{{\"main\":\"{text}\"}}}}\n");
    desk.write("in.jsonl", [line(7, &prose(1, 9)), line(8, &prose(1, 9))].concat());
    let run = desk.run("pairs in.jsonl --text-field body.main --id-field meta.key").exit(0);
    assert_eq!(run.text(), "7\t8\t1.000000\n");
}

#[test]
fn a_document_without_an_id_is_called_by_file_and_line() {
    let text = prose(1, 9);
    let desk = Desk::with(
        "data/in.jsonl",
        format!(
            "\n{{\"text\":\"{text}\"}}\n\n{{\"id\":null,\"text\":\"{text}\"}}\n{{\"id\":\"\",\"text\":\"{text}\"}}\n"
        ),
    );
    let run = desk.run("pairs data/in.jsonl").exit(0);
    assert_eq!(
        run.lines(),
        [
            "data/in.jsonl:2\tdata/in.jsonl:4\t1.000000",
            "data/in.jsonl:2\tdata/in.jsonl:5\t1.000000",
            "data/in.jsonl:4\tdata/in.jsonl:5\t1.000000"
        ]
    );
}

/// Line numbers count from the beginning of the file, although threads read chunks of it independently.
#[test]
fn line_numbers_are_right_far_into_a_file() {
    let padding = "x ".repeat(600);
    let mut lines: Vec<String> = (0..6000).map(|i| format!("{{\"text\":\"n{i} {padding}\"}}\n")).collect();
    lines[5990] = "{\"text\":\"the very same words here\"}\n".to_owned();
    lines[12] = lines[5990].clone();
    lines[3000] = "\n".to_owned();
    let desk = Desk::with("in.jsonl", lines.concat());
    let run = desk.run("pairs in.jsonl --threshold 1 -q --threads 3").exit(0);
    assert!(run.lines().contains(&"in.jsonl:13\tin.jsonl:5991\t1.000000"), "{:?}", run.lines().first());
}

#[test]
fn a_repeated_id_is_a_warning_and_both_documents_stay() {
    let desk =
        Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(3, 9)), ("a", &prose(2, 9))]));
    desk.write("more.jsonl", records(&[("c", &prose(1, 9)), ("a", &prose(2, 9))]));
    let run = desk.run("dedup in.jsonl more.jsonl -o out.jsonl --report report").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["a", "b", "a"]);
    assert_eq!(
        desk.text("report/pairs.tsv"),
        "c\tin.jsonl:1\t1.000000\nmore.jsonl:2\tin.jsonl:3\t1.000000\n"
    );
    insta::assert_snapshot!(run.err.lines().next().unwrap(), @"warning: 3 documents share their id with another document (`a` is the id of `in.jsonl:1` and of `in.jsonl:3`); outputs name them by file and line");
    assert_eq!(desk.json("report/summary.json")["repeated_ids"], 3);
}

/// An id may be a number or a boolean. It is used as it is written.
#[test]
fn an_id_that_is_not_a_string_is_kept_as_written() {
    let text = prose(1, 9);
    let desk = Desk::with(
        "in.jsonl",
        format!("{{\"id\":1.50,\"text\":\"{text}\"}}\n{{\"id\":true,\"text\":\"{text}\"}}\n"),
    );
    assert_eq!(desk.run("pairs in.jsonl").exit(0).text(), "1.50\ttrue\t1.000000\n");
}

#[test]
fn what_is_not_told_by_content_can_be_said() {
    // Each file is one document that holds one JSON object. `auto` reads such files as JSONL.
    let desk = Desk::with("notes/a", record("a", &prose(1, 9)));
    desk.write("notes/b", record("a", &prose(1, 9)));
    assert_eq!(desk.run("pairs notes --input-format text -q").exit(0).text(), "a\tb\t1.000000\n");
    assert_eq!(
        desk.run("pairs notes --input-format jsonl -q").exit(0).text(),
        "notes/a:1\tnotes/b:1\t1.000000\n"
    );
}

/// Crawled text has lone surrogates. They are read as U+FFFD, counted, and written unchanged.
#[test]
fn a_lone_surrogate_is_read_and_passed_through() {
    let line = "{\"id\":\"a\",\"text\":\"one \\ud83d two three four five\"}\n";
    let desk = Desk::with("in.jsonl", line);
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report").exit(0);
    assert_eq!(desk.text("out.jsonl"), line);
    assert!(
        run.err.contains("warning: lone surrogates (halves of characters) were replaced by U+FFFD"),
        "{run}"
    );
    assert_eq!(desk.json("report/summary.json")["repaired"], 1);
}

/// A recursive parser would overflow its stack on this input.
#[test]
fn deep_nesting_is_read_past() {
    let (open, close) = ("[".repeat(300_000), "]".repeat(300_000));
    let line = |inner: &str| {
        format!("{{\"id\":\"deep\",\"x\":{open}{inner},\"text\":\"one two three four five\"}}\n")
    };
    let desk = Desk::with("in.jsonl", line(&close) + &line(""));
    desk.run("dedup in.jsonl -o out.jsonl --annotate").exit(2);
    let out: String = desk.text("out.jsonl");
    assert_eq!(out.lines().count(), 1);
    assert!(out.ends_with("\"minwise\":{\"cluster\":\"deep\",\"duplicate_of\":null,\"similarity\":null}}\n"));
}

#[test]
fn the_same_file_twice_is_refused() {
    let desk = Desk::with("data/in.jsonl", record("a", "text"));
    for inputs in ["data/in.jsonl data/in.jsonl", "data/in.jsonl data/../data/in.jsonl"] {
        let run = desk.run(&format!("dedup {inputs} -o out.jsonl")).exit(2);
        assert!(run.err.contains("is given twice") || run.err.contains("are the same file"), "{run}");
    }
    // A folder and one of its files may be named together: each file is read once.
    let run = desk.run("dedup data data/in.jsonl -o out.jsonl").exit(0);
    assert!(run.summary("read").starts_with("1 document,"), "{run}");
}

#[test]
fn an_empty_jsonl_file_is_an_empty_corpus() {
    let desk = Desk::with("in.jsonl", "");
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report").exit(0);
    assert_eq!(desk.text("out.jsonl"), "");
    assert_eq!((run.count("kept"), run.count("removed")), (0, 0));
    let summary: Value = desk.json("report/summary.json");
    for recall in ["expected_recall", "expected_recall_low", "audit"] {
        assert_eq!(summary[recall], Value::Null, "{recall}: nothing was compared");
    }
    assert_eq!(run.summary("recall"), "unknown, because nothing was compared");
}

/// `grep … | minwise dedup - -o -` must not fail if nothing matched.
#[test]
fn an_empty_standard_input_is_an_empty_corpus() {
    let desk = Desk::new();
    let run = desk.run_with(&["dedup", "-", "-o", "-"], b"").exit(0);
    assert_eq!(run.text(), "");
    desk.run_with(&["dedup", "-", "-o", "out.jsonl"], b"").exit(0);
    assert!(desk.path("out.jsonl").is_file(), "{:?}", desk.names());
}

/// The ids of texts are relative paths, so files in two folders may have the same id. They are distinguished by file
/// and line.
#[test]
fn two_folders_of_texts_with_the_same_names() {
    let desk = Desk::with("a/x.txt", prose(1, 20));
    desk.write("b/x.txt", prose(1, 20));
    desk.write("b/y.txt", prose(2, 20));
    let run = desk.run("pairs a b").exit(0);
    assert_eq!(run.text(), "a/x.txt\tb/x.txt\t1.000000\n");
    desk.write("b/x.txt", prose(3, 20));
    desk.run("dedup a b -o out").exit(0);
}

/// An id of the user may equal `file:line`, the default id of a document without an id.
#[test]
fn an_id_that_is_the_place_of_another_document_is_told_apart() {
    let text = prose(1, 20);
    let desk = Desk::with("in.jsonl", format!("{}{{\"text\": {text:?}}}\n", record("in.jsonl:2", &text)));
    let run = desk.run("pairs in.jsonl").exit(0);
    assert_eq!(run.text(), "in.jsonl:1\tin.jsonl:2\t1.000000\n");
    assert!(run.err.contains("outputs name them by file and line"), "{run}");
}

#[test]
fn no_document_has_the_empty_id() {
    let desk = Desk::with("in.jsonl", format!("{{\"text\": {:?}}}\n", prose(1, 20)));
    let run = desk.run_with(&["pairs", "in.jsonl", "--of", ""], b"").exit(2);
    assert!(run.err.contains("no document has the id ``"), "{run}");
}

/// The shell expands `/data/*.txt` to absolute paths. The kept files are still written into the output folder.
#[test]
fn texts_named_by_absolute_paths_can_be_written() {
    let desk = Desk::with("a/p.txt", prose(1, 20));
    desk.write("a/q.txt", prose(1, 20));
    desk.write("b/p.txt", prose(2, 20));
    let names: Vec<String> = ["a/p.txt", "a/q.txt", "b/p.txt"]
        .iter()
        .map(|name| desk.path(name).to_string_lossy().into_owned())
        .collect();
    desk.run_with(&["dedup", &names[0], &names[1], "-o", "out"], b"").exit(0);
    assert!(desk.path("out/p.txt").is_file() && !desk.path("out/q.txt").exists(), "{:?}", desk.names());
    desk.run_with(&["dedup", &names[0], &names[2], "-o", "both"], b"").exit(0);
    assert!(desk.path("both/a/p.txt").is_file() && desk.path("both/b/p.txt").is_file(), "{:?}", desk.names());
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf_8_is_a_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let desk = Desk::new();
    let (name, missing) = (OsStr::from_bytes(b"a\xff.jsonl"), OsStr::from_bytes(b"b\xff.jsonl"));
    let (one, two) = (record("a", &prose(1, 9)), record("b", &prose(1, 9)));
    fs_err::write(desk.root().join(name), format!("{one}{two}")).unwrap();
    let words = |words: &[&str], last: &'static OsStr| {
        words.iter().map(OsStr::new).chain([last]).map(OsStr::to_owned).collect::<Vec<_>>()
    };
    let run = desk.run_with(&words(&["dedup", "-o", "-", "--"], name), b"").exit(0);
    assert_eq!(run.text(), one);
    let run = desk.run_with(&words(&["dedup", "-", "-o", "-", "--against"], name), two.as_bytes()).exit(0);
    assert_eq!(run.text(), "");
    let run = desk.run_with(&words(&["pairs", "--"], missing), b"").exit(2);
    assert!(run.err.contains("no such file or folder: `b\u{fffd}.jsonl`"), "{run}");
}
