//! Tests `--report`: the counts of its files agree.

use serde_json::{Value, json};

use crate::support::{Desk, prose, record, records, with_word};

fn desk() -> Desk {
    let text = prose(1, 60);
    let near = with_word(&text, 30, "other");
    let documents = [
        ("a", &*text),
        ("b", &prose(2, 60)),
        ("near", &near),
        ("same", &text),
        ("b again", &prose(2, 60)),
        ("...", "..."),
    ];
    Desk::with("in.jsonl", records(&documents) + "bad\n" + &record("alone", "alone"))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_files_say_what_was_removed_and_why() {
    let desk = desk();
    desk.run("dedup in.jsonl -o out.jsonl --report made/for/this").exit(2);
    let folder = "made/for/this";
    assert_eq!(
        desk.text(&format!("{folder}/pairs.tsv")),
        "near\ta\t0.836066\nsame\ta\t1.000000\nb again\tb\t1.000000\n"
    );
    assert_eq!(
        lines(&desk.text(&format!("{folder}/clusters.jsonl"))),
        [
            json!({"cluster": "a", "size": 3, "members": [
                {"id": "near", "similarity": 51.0 / 61.0}, {"id": "same", "similarity": 1.0}]}),
            json!({"cluster": "b", "size": 2, "members": [{"id": "b again", "similarity": 1.0}]}),
        ]
    );
    assert_eq!(
        lines(&desk.text(&format!("{folder}/rejects.jsonl"))),
        [json!({"file": "in.jsonl", "line": 7, "id": null, "reason": "invalid_json",
            "message": "not JSON: expected value at column 1"})]
    );
}

#[test]
fn the_summary_adds_up_and_names_every_setting() {
    let desk = desk();
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report --seed 9").exit(2);
    let summary = desk.json("report/summary.json");
    let count = |name: &str| summary[name].as_u64().unwrap_or_else(|| panic!("{name} in {summary}"));
    assert_eq!(count("read"), 8);
    assert_eq!(count("read"), count("kept") + count("removed") + count("rejected"));
    assert_eq!(count("removed"), desk.text("report/pairs.tsv").lines().count() as u64);
    assert_eq!(count("clusters"), desk.text("report/clusters.jsonl").lines().count() as u64);
    assert_eq!(count("rejected"), desk.text("report/rejects.jsonl").lines().count() as u64);
    assert_eq!(count("kept"), desk.text("out.jsonl").lines().count() as u64);
    assert_eq!((count("removed_equal"), count("without_shingles"), count("clusters")), (2, 1, 2));
    assert_eq!(count("bytes"), desk.bytes("in.jsonl").len() as u64);
    assert!(count("verified") >= 1 && count("verified") <= count("candidates"));
    assert_eq!(summary["spec"], "nfkc+casefold / words:5 / minhash:128 / seed:9");
    assert_eq!((&summary["keep"], &summary["cluster"]), (&json!("first"), &json!("star")));
    assert_eq!(
        (&summary["bands"], &summary["rows"], &summary["threshold"]),
        (&json!(16), &json!(6), &json!(0.8))
    );
    let recall = summary["expected_recall"].as_f64().unwrap();
    assert!(recall > 0.99 && recall < 1.0, "{recall}");
    assert_eq!(run.count("kept"), count("kept"));
}

#[test]
fn the_page_says_what_was_done_and_how_to_do_it_again() {
    let desk = desk();
    desk.run("dedup in.jsonl -o out.jsonl --report report --seed 9 --keep first").exit(2);
    let page = desk.text("report/index.html");
    for part in [
        "<h1>8 records read, 3 removed as near-duplicates</h1>",
        "<th scope=\"row\"><bdi>in.jsonl</bdi></th><td class=\"number\" data-name=\"read\">8</td>\
         <td class=\"number\" data-name=\"kept\">4</td><td class=\"number\" data-name=\"removed\">3</td>\
         <td class=\"number\" data-name=\"rejected\">1</td>",
        "<h3>Similarity 0.8361</h3>",
        "<h4>kept <b><bdi>a</bdi></b></h4>",
        "<h4>removed <b><bdi>near</bdi></b></h4>",
        "nfkc+casefold / words:5 / minhash:128 / seed:9",
        "<pre><code>minwise dedup in.jsonl -o out.jsonl --report report --seed 9 --keep first</code></pre>",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    for stage in ["open", "read", "candidates", "verify", "write"] {
        let row = format!("<th scope=\"row\">{stage}</th><td class=\"number\" data-name=\"seconds\">");
        assert!(page.contains(&row), "{stage} is not in {page}");
    }
}

/// An annotated run removes nothing, so the page has the word "marked" and not "removed".
#[test]
fn the_page_of_an_annotated_run_says_marked() {
    let desk = desk();
    desk.run("dedup in.jsonl -o out.jsonl --annotate --report report").exit(2);
    let page = desk.text("report/index.html");
    for part in [
        "<h1>8 records read, 3 marked as near-duplicates</h1>",
        "<div><dt>unmarked</dt><dd>4</dd></div>\n<div><dt>marked</dt><dd>3</dd></div>",
        "<td class=\"number\" data-name=\"unmarked\">4</td><td class=\"number\" data-name=\"marked\">3</td>",
        "<h4>unmarked <b><bdi>a</bdi></b></h4>",
        "<h4>marked <b><bdi>near</bdi></b></h4>",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("removed"), "{page}");
    assert_eq!(desk.json("report/summary.json")["annotated"], true);
    desk.run("dedup in.jsonl -o plain.jsonl --report plain").exit(2);
    assert_eq!(desk.json("plain/summary.json")["annotated"], false);
}

/// Inputs are compared with references, but neither the documents nor the rejects of references are counted.
#[test]
fn the_page_counts_what_is_not_of_a_reference() {
    let desk = desk();
    desk.write("ref.jsonl", record("r", &prose(1, 60)) + "bad\n");
    desk.run("dedup in.jsonl --against ref.jsonl --dry-run --report report").exit(2);
    let page = desk.text("report/index.html");
    assert!(
        page.contains(
            "The inputs were also compared with 1 document of the references; references are never removed or written."
        ),
        "{page}"
    );
    assert!(page.contains(
        "<th scope=\"row\"><bdi>in.jsonl</bdi></th><td class=\"number\" data-name=\"read\">8</td>"
    ));
    assert!(!page.contains("<bdi>ref.jsonl</bdi>"), "{page}");
    assert!(page.contains("<h4>kept <b><bdi>r</bdi></b></h4>"), "{page}");
}

/// A report is never mixed with an older one.
#[test]
fn a_report_that_is_there_is_refused_without_force() {
    let desk = desk();
    desk.write("report/pairs.tsv", "old");
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report").exit(2);
    assert!(run.err.contains("`report/pairs.tsv` exists already"), "{run}");
    assert_eq!(desk.names(), ["in.jsonl", "report", "report/pairs.tsv"]);
    desk.run("dedup in.jsonl -o out.jsonl --report report --force").exit(2);
    assert!(desk.text("report/pairs.tsv").starts_with("near\t"));

    let desk = self::desk();
    desk.write("report/index.html", "old");
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report").exit(2);
    assert!(run.err.contains("`report/index.html` exists already"), "{run}");
    assert_eq!(desk.text("report/index.html"), "old");
}

/// A report in an input folder would be read by the next run over the folder.
#[test]
fn a_report_cannot_go_into_an_input_folder() {
    let desk = Desk::with("data/in.jsonl", record("a", "text"));
    let run = desk.run("dedup data -o out.jsonl --report data/report").exit(2);
    assert!(run.err.contains("lies in the input folder `data`"), "{run}");
    assert_eq!(desk.names(), ["data", "data/in.jsonl"]);
}

/// A family with similarities below 1 is found with a probability below 1, and the report states this.
#[test]
fn a_weak_banding_is_admitted() {
    let desk = desk();
    desk.run("dedup in.jsonl --dry-run --report report --bands 1 --rows 2").exit(2);
    let summary = desk.json("report/summary.json");
    // Two pairs are found with certainty. If the third pair, of similarity s, is found, it stands for 1/s² pairs.
    let third = (51.0f64 / 61.0).powi(2);
    let expected = if summary["verified"] == 0 { 1.0 } else { 3.0 / (2.0 + 1.0 / third) };
    let recall = summary["expected_recall"].as_f64().unwrap();
    assert!((recall - expected).abs() < 1e-9, "{recall} against {expected}");
}

/// There are so few documents that the audit searches all of them, and the measured recall is exact.
#[test]
fn the_audit_is_in_the_summary() {
    let desk = desk();
    let audited = |options: &str| {
        let run = desk.run(&format!("dedup in.jsonl --dry-run --report report --force {options}")).exit(2);
        (run, desk.json("report/summary.json")["audit"].clone())
    };
    let (run, audit) = audited("");
    let number = |name: &str| audit[name].as_f64().unwrap_or_else(|| panic!("{name} in {audit}"));
    assert!(number("removed") > 0.0 && number("documents") == number("kept"), "{audit}");
    for name in ["recall", "low", "high"] {
        let duplicates = number("removed") + number("missed");
        assert_eq!(number(name), number("removed") / duplicates, "{name} in {audit}");
    }
    let measured =
        format!("100 % measured: none of the {} kept documents repeats another one", audit["kept"]);
    assert!(run.summary("recall").ends_with(&measured), "{run}");
    // With a sample of three documents, the measured recall is an interval.
    let (run, some) = audited("--audit 3");
    assert_eq!(some["documents"], 3);
    assert!(some["low"].as_f64() < some["high"].as_f64(), "{some}");
    assert!(run.summary("recall").ends_with(" (`--audit N` compares more)"), "{run}");
    let few = "A sample of 3 documents is too small to measure the recall well; the setting <code>audit</code> sets the size of the sample.";
    assert!(desk.text("report/index.html").contains(few));
    // A given number of documents is audited even if the automatic sample would be smaller.
    let (_, all) = audited("--audit 1000000");
    assert_eq!(all, audit);
    for off in ["--audit 0", "--audit off", "--candidates all"] {
        let (run, audit) = audited(off);
        assert_eq!(audit, json!(null), "{off}");
        assert!(!run.summary("recall").contains("measured"), "{run}");
    }
}

/// If no duplicate was removed or missed, a recall would be a share of nothing: it is null, and no number.
#[test]
fn an_audit_without_duplicates_has_no_recall() {
    let unlike = record("a", &prose(1, 60)) + &record("b", &prose(2, 60));
    let desk = Desk::with("in.jsonl", unlike);
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report --log json").exit(0);
    let mut events = run.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let logged = events.rfind(|event| event["event"] == "summary").unwrap();
    for audit in [&desk.json("report/summary.json")["audit"], &logged["audit"]] {
        let expected = json!({
            "kept": 2, "documents": 2, "removed": 0, "missed": 0, "recall": null, "low": null, "high": null
        });
        assert_eq!(*audit, expected);
    }
    let run = desk.run("dedup in.jsonl -o again.jsonl").exit(0);
    assert!(!run.summary("recall").contains('%'), "{run}");
}

/// The audit looks up about 38,000 kept documents by bands. A comparison of each with all others gives the true recall.
#[test]
#[ignore = "needs `../shared/data`"]
fn the_audit_of_a_real_corpus_is_narrow_and_right() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/english.jsonl.zst");
    let desk = Desk::new();
    let audited = |options: &str| {
        desk.run(&format!("dedup {shared} --dry-run --report report --force -q {options}")).exit(0);
        let audit = desk.json("report/summary.json")["audit"].clone();
        ["removed", "kept", "documents", "missed", "recall", "low", "high"]
            .map(|name| audit[name].as_f64().unwrap_or_else(|| panic!("{name} in {audit}")))
    };
    for options in ["", "--recall 0.9"] {
        let [removed, kept, documents, missed, recall, low, high] = audited(options);
        assert!(
            removed > 4000.0 && documents > 5000.0 && documents <= kept,
            "{removed}, {documents} of {kept}"
        );
        assert!(high - low <= 0.02 && low <= recall && recall <= high, "{low} {recall} {high}");
        let truth = audited(&format!("{options} --audit 1000000"));
        assert_eq!((truth[0], truth[2], truth[5]), (removed, kept, truth[6]));
        assert!(
            missed <= truth[3] && low <= truth[4] && truth[4] <= high,
            "{missed} {low} {high} of {truth:?}"
        );
        let sample = audited(&format!("{options} --audit 1000"));
        assert!(
            sample[2] == 1000.0 && sample[5] < truth[4] && truth[4] <= sample[6],
            "{sample:?} of {truth:?}"
        );
        assert!(sample[6] - sample[5] < 0.1, "{sample:?}");
    }
}

/// Names of files and settings are on the page, too. Like texts, they are untrusted.
#[test]
fn names_and_settings_cannot_break_out() {
    let desk = Desk::new();
    for (name, id) in
        [("<img src=x onerror=alert(1)>.jsonl", "a"), ("\"><script>alert(2)<\u{202e}.jsonl", "b")]
    {
        desk.write(name, record(id, &prose(1, 60)));
    }
    let arguments = [
        "dedup",
        "*.jsonl",
        "--dry-run",
        "--report",
        "report",
        "--keep",
        "priority:id=<script>alert(3)</script>",
    ];
    assert_eq!(desk.run_with(&arguments, b"").code, Some(0));
    let page = desk.text("report/index.html");
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;.jsonl"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(2)&lt;\\u{202e}.jsonl"), "{page}");
    assert!(page.contains("id=&lt;script&gt;alert(3)"), "{page}");
    for open in ["<img", "<script", "\u{202e}"] {
        assert!(!page.contains(open), "{open}");
    }
}
