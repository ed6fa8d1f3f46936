//! Tests that ids, names and messages cannot change the terminal: their control characters are escaped.

use crate::support::{Desk, Run, prose, record};

/// Characters that move the cursor, ring the bell, change the reading direction, or begin an escape sequence.
const BAD: [char; 9] =
    ['\u{1b}', '\u{7}', '\u{7f}', '\u{9b}', '\u{85}', '\u{202e}', '\u{2066}', '\u{2028}', '\0'];

#[track_caller]
fn assert_harmless(run: &Run) {
    for (name, text) in [("stdout", &*String::from_utf8_lossy(&run.out)), ("stderr", &*run.err)] {
        let bad = text.chars().find(|&c| c != '\n' && c != '\t' && (c.is_control() || BAD.contains(&c)));
        assert_eq!(bad, None, "on {name}: {}", text.escape_debug());
    }
}

fn bad_text() -> String {
    BAD.iter().filter(|&&c| c != '\0').collect()
}

#[test]
fn ids_on_standard_output_are_escaped() {
    let text = prose(1, 9);
    let bad = BAD.iter().collect::<String>();
    let desk = Desk::with("in.jsonl", record("plain", &text) + &record(&format!("a\tb\nc\\{bad}"), &text));
    let run = desk.run("pairs in.jsonl").exit(0);
    assert_harmless(&run);
    let shown = r"a\tb\nc\\\u{1b}\u{7}\u{7f}\u{9b}\u{85}\u{202e}\u{2066}\u{2028}\u{0}";
    assert_eq!(run.text(), format!("plain\t{shown}\t1.000000\n"));
    desk.run("dedup in.jsonl --dry-run --report report").exit(0);
    assert_eq!(desk.text("report/pairs.tsv"), format!("{shown}\tplain\t1.000000\n"));
}

#[test]
fn ids_in_warnings_and_rejects_are_escaped() {
    let id = bad_text();
    let text = prose(1, 9);
    let lines =
        record(&id, &text) + &record(&id, &text) + &format!("{{\"id\":\"{}\",\"text\":1}}\n", "\\u001b[31m");
    let desk = Desk::with("in.jsonl", lines);
    let run = desk.run("dedup in.jsonl -o out.jsonl").exit(2);
    assert!(run.err.contains("warning") && run.err.contains("rejected"), "{run}");
    assert_harmless(&run);
    let field = "te\u{1b}xt";
    let run = desk
        .run_with(&["dedup", "in.jsonl", "--dry-run", "--max-rejects", "0", "--text-field", field], b"")
        .exit(2);
    assert!(run.err.contains("u{1b}"), "{run}");
    assert_harmless(&run);
    let run = desk.run_with(&["pairs", "in.jsonl", "--of", &id, "nobody\u{1b}"], b"").exit(2);
    assert_harmless(&run);
}

#[cfg(unix)]
#[test]
fn file_names_are_escaped() {
    let name = format!("data/{}.jsonl", bad_text());
    let desk = Desk::with(&name, format!("{{\"text\":\"{0}\"}}\n{{\"text\":\"{0}\"}}\nbad\n", prose(1, 9)));
    let run = desk.run_with(&["pairs", &name], b"").exit(2);
    assert!(run.text().contains(r"\u{1b}"), "{run}");
    assert_harmless(&run);
    assert_harmless(&desk.run_with(&["pairs", "data"], b"").exit(2));
    assert_harmless(&desk.run_with(&["dedup", "data", "-o", &format!("{name}.out")], b"").exit(2));
    assert_harmless(&desk.run_with(&["dedup", &name, "-o", &name], b"").exit(2));
}

#[test]
fn options_are_escaped() {
    let bad = bad_text();
    let desk = Desk::with("in.jsonl", record("a", "a"));
    for option in [
        "--threshold",
        "--recall",
        "--keep",
        "--cluster",
        "--shingle",
        "--normalize",
        "--whitespace",
        "--short",
        "--registers",
        "--seed",
        "--threads",
        "--max-rejects",
        "--max-record",
        "--encoding",
        "--input-format",
        "--text-field",
        "--id-field",
        "--output",
        "--removed",
        "--report",
    ] {
        let value = if option.starts_with("--text") || option.starts_with("--id") {
            format!("{bad}..")
        } else {
            format!("no/such/{bad}")
        };
        let mut arguments = vec!["dedup", "in.jsonl", option, &value];
        if option != "--output" {
            arguments.extend(["-o", "-"]);
        }
        let run = desk.run_with(&arguments, b"");
        assert_harmless(&run);
        if option != "--report" {
            assert_eq!(run.code, Some(2), "{option}: {run}");
        }
    }
    for missing in [format!("{bad}.jsonl"), format!("{bad}*"), format!("{bad}[")] {
        assert_harmless(&desk.run_with(&["dedup", &missing, "-o", "-"], b"").exit(2));
    }
    assert_harmless(&desk.run_with(&["compare", &format!("in.jsonl#{bad}"), "in.jsonl"], b"").exit(2));
    assert_harmless(&desk.run_with(&["compare", &bad, "in.jsonl"], b"").exit(2));
    assert_harmless(&desk.run_with(&["generate", "man", &bad], b"").exit(2));
}

/// A passage is shown on one line, even if it has line breaks.
#[test]
fn shared_passages_are_escaped() {
    let desk = Desk::with("a.txt", format!("one two{}three\r\nfour\tfive six seven", bad_text()));
    let run = desk.run("compare a.txt a.txt").exit(0);
    assert!(run.text().contains("u{1b}") && run.text().contains("four five six seven"), "{run}");
    assert_harmless(&run);
}

#[test]
fn the_folder_of_the_report_is_escaped() {
    let desk = Desk::with("in.jsonl", "bad\n");
    assert_harmless(
        &desk.run_with(&["dedup", "in.jsonl", "--dry-run", "--report", "r\u{1b}[31m"], b"").exit(2),
    );
}

/// JSON escapes characters below U+0020. It does not escape U+009B, which begins escape sequences, or U+202E.
#[test]
fn json_is_escaped() {
    let text = prose(1, 9);
    let desk = Desk::with("in.jsonl", record("plain", &text) + &record(&bad_text(), &text));
    assert_harmless(&desk.run("pairs in.jsonl --format jsonl").exit(0));
    let run = desk.run_with(&["dedup", &bad_text(), "-o", "-", "--log", "json"], b"").exit(2);
    assert_harmless(&run);
    desk.run("dedup in.jsonl --dry-run -q --report report").exit(0);
    for name in ["report/clusters.jsonl", "report/pairs.tsv"] {
        let text = desk.text(name);
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']) && text.contains("plain"), "{name}: {text}");
    }
}

/// Characters are escaped once: `\u{1b}`, not `\\u{1b}`.
#[test]
fn names_are_escaped_once() {
    let desk = Desk::new();
    let run = desk.run_with(&["dedup", "a\u{1b}", "-o", "-"], b"").exit(2);
    assert!(run.err.starts_with("error: no such file or folder: `a\\u{1b}`\n"), "{run}");
    let run = desk.run_with(&["dedup", "a\\b", "-o", "-"], b"").exit(2);
    assert!(run.err.starts_with("error: no such file or folder: `a\\\\b`\n"), "{run}");
    desk.write("in.jsonl", "{\"text\":\"a\tb\"}\n");
    let run = desk.run("dedup in.jsonl -o - -q").exit(2);
    assert!(run.err.contains(r"control character (\u0000-\u001F) found"), "{run}");
}

/// An id that begins like a formula is not a formula in a table that a spreadsheet opens.
#[test]
fn ids_are_no_formulas() {
    let ids =
        ["=cmd|' /C calc'!A0", "@SUM(1)", "+1+cmd|' /C calc'!A0", "-SUM(1)", "-17", "+4.5", "-:3", "plain"];
    let lines: String = ids.iter().map(|id| record(id, &prose(1, 30))).collect();
    let desk = Desk::with("in.jsonl", lines);
    desk.run("pairs in.jsonl -q -o pairs.tsv").exit(0);
    desk.run("dedup in.jsonl --dry-run -q --report report").exit(0);
    desk.run("sketch in.jsonl -q -o in.sketches").exit(0);
    desk.run("estimate in.sketches -q -o estimates.tsv").exit(0);
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive in.jsonl -q").exit(0);
    desk.write("list.tsv", desk.run("index list archive").exit(0).out);
    for name in ["pairs.tsv", "report/pairs.tsv", "estimates.tsv", "list.tsv"] {
        let text = desk.text(name);
        for field in text.lines().flat_map(|line| line.split('\t').take(2)) {
            let is_harmless = ["-17", "+4.5", "-:3"].contains(&field);
            assert!(is_harmless || !field.starts_with(['=', '@', '+', '-']), "{name}: {field}");
        }
        assert!(text.contains("\\u{3d}cmd|' /C calc'!A0") && text.contains("-17\t"), "{text}");
    }
}

/// The page of a check isolates ids from its own text, so that ids cannot change its reading direction.
#[test]
fn a_page_of_a_check_cannot_be_turned_round() {
    let desk = Desk::with("old.jsonl", record("old\u{202e}fdp.exe", &prose(1, 60)));
    desk.run("index create archive -q").exit(0);
    desk.run("index add archive old.jsonl -q").exit(0);
    desk.write("new.jsonl", record("new\u{202e}cod", &format!("{} \u{202e}turned", prose(1, 60))));
    desk.run("check new.jsonl --index archive --report page.html -q").exit(1);
    let page = desk.text("page.html");
    assert!(!page.contains('\u{202e}'), "the page has U+202E");
    assert!(
        page.contains("<bdi>new\\u{202e}cod</bdi>") && page.contains("<bdi>old\\u{202e}fdp.exe</bdi>"),
        "{page}"
    );
}

/// An id may have millions of characters; a message shows only the first of them.
#[test]
fn long_ids_are_shortened_where_they_are_shown() {
    let long = "x".repeat(3_000_000);
    let desk = Desk::with("in.jsonl", record(&long, &prose(1, 30)) + &record(&long, &prose(2, 30)));
    let run = desk.run("dedup in.jsonl --dry-run").exit(0);
    assert!(run.err.len() < 1_000 && run.err.contains("xxx…xxx"), "{} bytes", run.err.len());
    desk.run("index create archive -q").exit(0);
    desk.write("old.jsonl", record("old", &prose(1, 30)));
    desk.run("index add archive old.jsonl -q").exit(0);
    let run = desk.run("check in.jsonl --index archive --report page.html");
    assert!(run.out.len() < 20_000 && run.err.len() < 20_000, "{} {}", run.out.len(), run.err.len());
    assert!(desk.bytes("page.html").len() < 100_000);
}
