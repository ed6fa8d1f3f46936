//! Tests `--max-cluster`, which spares clusters that are too large.

use serde_json::{Value, json};

use crate::support::{Desk, prose, record, records, with_word};

/// Returns a desk with a cluster of five documents, a cluster of two, and a single document.
fn desk() -> Desk {
    let (large, small) = (prose(1, 60), prose(2, 60));
    let near = |word: &str| with_word(&large, 30, word);
    Desk::with(
        "in.jsonl",
        records(&[
            ("a", &large),
            ("b", &near("b")),
            ("x", &small),
            ("c", &near("c")),
            ("d", &large),
            ("y", &with_word(&small, 20, "y")),
            ("e", &near("e")),
            ("alone", &prose(3, 9)),
        ]),
    )
}

#[test]
fn nothing_of_them_is_removed_and_they_are_listed() {
    let desk = desk();
    let run = desk.run("dedup in.jsonl -o out.jsonl --max-cluster 4 --report report").exit(0);
    insta::assert_snapshot!(run, @"
    exit 0
    --- stderr
    read        8 documents, 2.6 kB
    kept        7 documents (87.5 %)
    removed     1 document (12.5 %) in 1 cluster
    spared      4 documents, because 1 cluster has more than 4 documents (`--max-cluster`)
    rejected    0 records
    compared    4 candidate pairs: 4 compared exactly, 4 reach 0.8
    recall      99.90 % expected; 100 % measured: none of the 3 kept documents repeats another one
    wrote       7 kept documents to `out.jsonl`
                the report to `report/index.html`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep first, cluster star
    candidates  16 bands of 6 rows
    sketches    the filter compared 100 % of the registers of the candidate pairs
    stages      [time]
    ");
    assert_eq!(desk.ids("out.jsonl"), ["a", "b", "x", "c", "d", "e", "alone"]);
    assert_eq!(desk.text("report/pairs.tsv").lines().count(), 1);
    let line: Value = serde_json::from_str(desk.text("report/large-clusters.jsonl").trim_end()).unwrap();
    let near = 51.0 / 61.0;
    assert_eq!(
        line["members"],
        json!([{"id": "b", "similarity": near}, {"id": "c", "similarity": near}, {"id": "d", "similarity": 1.0},
            {"id": "e", "similarity": near}])
    );
    assert_eq!((&line["cluster"], &line["size"]), (&json!("a"), &json!(5)));
    // The thirty words before the changed word are a longer passage than the twenty-nine words after it.
    let shared = prose(1, 30);
    assert_eq!(line["passages"], json!([{"member": "b", "text": shared}]));
    let summary = desk.json("report/summary.json");
    let counts = ["read", "kept", "removed", "clusters", "large_clusters", "spared", "max_cluster"];
    assert_eq!(counts.map(|name| summary[name].as_u64().unwrap()), [8, 7, 1, 1, 1, 4, 4]);
}

/// Clusters without passages state the reason.
#[test]
fn not_all_of_them_have_passages() {
    let pairs = (2..1003).flat_map(|family| {
        let text = prose(family, 20);
        [(format!("{family}a"), text.clone()), (format!("{family}b"), text)]
    });
    let huge = prose(1, 160_000);
    let huge = (0..3).map(|copy| (format!("huge{copy}"), huge.clone()));
    let lines: String = huge.chain(pairs).map(|(id, text)| record(&id, &text)).collect();
    let desk = Desk::with("in.jsonl", lines);
    desk.run("dedup in.jsonl --dry-run --max-cluster 1 --report report -q").exit(0);
    let lines = desk.text("report/large-clusters.jsonl");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1002);
    let reason = |at: usize| (&lines[at]["passages"], lines[at]["no_passages"].as_str());
    let none = json!([]);
    assert_eq!(reason(0), (&none, Some("passages are not looked for in documents of more than 1 MiB")));
    assert!(lines[1..1000].iter().all(|line| line["passages"][0]["text"].is_string()));
    assert!(lines[1..1000].iter().all(|line| line.get("no_passages").is_none()));
    for at in [1000, 1001] {
        assert_eq!(reason(at), (&none, Some("passages are looked for in the 1000 largest clusters only")));
    }
}

#[test]
fn a_cluster_of_just_so_many_is_removed() {
    let desk = desk();
    let run = desk.run("dedup in.jsonl -o out.jsonl --max-cluster 5 --report report").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["a", "x", "alone"]);
    assert!(!run.err.contains("spared"), "{run}");
    assert_eq!(desk.text("report/large-clusters.jsonl"), "");
}

#[test]
fn annotations_name_the_cluster_and_no_duplicate() {
    let desk = desk();
    desk.run("dedup in.jsonl -o out.jsonl --max-cluster 2 --annotate --cluster components").exit(0);
    let annotation = |at: usize| -> Value {
        let text = desk.text("out.jsonl");
        serde_json::from_str::<Value>(text.lines().nth(at).unwrap()).unwrap()["minwise"].clone()
    };
    assert_eq!(annotation(1), json!({"cluster": "a", "duplicate_of": null, "similarity": null}));
    assert_eq!(annotation(5)["duplicate_of"], "x");
}

#[test]
fn what_is_no_size_is_refused() {
    let run = desk().run("dedup in.jsonl --dry-run --max-cluster 0").exit(2);
    assert_eq!(run.err, "error: `--max-cluster`: it must be at least 1\n");
}
