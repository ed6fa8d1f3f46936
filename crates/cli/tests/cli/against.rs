//! Tests `--against`, which removes from the inputs the documents that repeat a reference.

use serde_json::{Value, json};

use crate::support::{Desk, gzip, ids, prose, record, records, with_word};

/// Returns a desk with two references that are near-duplicates, and inputs that repeat the references and one another.
fn desk() -> Desk {
    let (known, new) = (prose(1, 60), prose(2, 60));
    let desk = Desk::with("ref.jsonl", records(&[("r1", &known), ("r2", &with_word(&known, 30, "near"))]));
    let documents = [
        ("equal", &*known),
        ("new", &new),
        ("near", &with_word(&with_word(&known, 30, "near"), 10, "x")),
        ("again", &with_word(&new, 30, "y")),
        ("alone", &prose(3, 60)),
    ];
    desk.write("in.jsonl", records(&documents));
    desk
}

#[test]
fn what_repeats_a_reference_or_an_earlier_input_goes() {
    let desk = desk();
    let run = desk
        .run("dedup in.jsonl --against ref.jsonl -o out.jsonl --removed gone.jsonl --report report --keep longest")
        .exit(0);
    insta::assert_snapshot!(run, @"
    exit 0
    --- stderr
    read        5 documents, 1.9 kB
    reference   2 documents, 741 B
    kept        2 documents (40.0 %)
    removed     3 documents (60.0 %) in 3 clusters; 1 of them equal after normalisation
    rejected    0 records
    compared    3 candidate pairs: 3 compared exactly, 2 reach 0.8
    recall      99.92 % expected; 100 % measured: none of the 2 kept documents repeats another one
    wrote       2 kept documents to `out.jsonl`
                3 removed documents to `gone.jsonl`
                the report to `report/index.html`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep longest, cluster star
    candidates  16 bands of 6 rows
    sketches    the filter compared 100 % of the registers of the candidate pairs
    stages      [time]
    ");
    assert_eq!(desk.ids("out.jsonl"), ["new", "alone"]);
    assert_eq!(desk.ids("gone.jsonl"), ["equal", "near", "again"]);
    assert_eq!(
        desk.text("report/pairs.tsv"),
        "equal\tr1\t1.000000\nnear\tr2\t0.836066\nagain\tnew\t0.836066\n"
    );
    let summary = desk.json("report/summary.json");
    let counts = ["read", "kept", "removed", "rejected", "reference", "reference_rejected", "clusters"];
    assert_eq!(counts.map(|name| summary[name].as_u64().unwrap()), [5, 2, 3, 0, 2, 0, 3]);
}

#[test]
fn annotations_name_the_reference() {
    let desk = desk();
    desk.run("dedup in.jsonl --against ref.jsonl -o out.jsonl --annotate --cluster components").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["equal", "new", "near", "again", "alone"]);
    let text = desk.text("out.jsonl");
    let of: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["minwise"]["duplicate_of"].clone())
        .collect();
    // `near` is near both references, so it joins them to one connected component.
    assert_eq!(of[..2], [json!("r1"), Value::Null]);
    assert_eq!(of[3..], [json!("new"), Value::Null]);
}

/// A reference may have any format, and its bad records are not counted as records of the inputs.
#[test]
fn references_are_of_any_format() {
    let desk = desk();
    let known = prose(1, 60);
    let near = with_word(&known, 30, "near");
    desk.write("ref.csv", format!("id,text\nr1,{known}\nr2,{near}\nbad\n"));
    desk.write("ref.jsonl.gz", gzip(&desk.bytes("ref.jsonl")));
    desk.write("texts/one.txt", &known);
    desk.write("texts/two.txt", &near);
    for (reference, code) in [("ref.csv", 2), ("ref.jsonl.gz", 0), ("texts", 0), ("texts/*.txt", 0)] {
        let run = desk.run(&format!("dedup in.jsonl --against {reference} -o -")).exit(code);
        assert_eq!(ids(run.text()), ["new", "alone"], "{reference}");
        let stated = run.summary("reference");
        assert!(
            stated.starts_with("2 documents, ")
                && stated.ends_with(if code == 2 { "; 1 rejected" } else { "B" }),
            "{run}"
        );
        assert_eq!(run.count("rejected"), 0);
    }
    // The reference has records, the input is a folder of texts.
    desk.write("in/a.txt", &near);
    desk.write("in/b.txt", prose(9, 60));
    desk.run("dedup in --against ref.jsonl -o cleaned").exit(0);
    assert!(desk.path("cleaned/b.txt").exists() && !desk.path("cleaned/a.txt").exists());
}

#[test]
fn several_inputs_have_their_outputs_and_references_none() {
    let desk = desk();
    desk.write("data/a.jsonl", records(&[("a", &prose(1, 60)), ("b", &prose(5, 60))]));
    desk.write("data/b.jsonl", record("c", &prose(5, 60)));
    desk.run("dedup data --against ref.jsonl in.jsonl -o out/").exit(0);
    assert_eq!(desk.ids("out/a.jsonl"), ["b"]);
    assert_eq!(desk.text("out/b.jsonl"), "");
    assert!(!desk.path("out/ref.jsonl").exists());
}

#[test]
fn a_field_that_only_inputs_have_decides_among_them() {
    let desk = desk();
    let text = prose(4, 60);
    let line = |id: &str, date: u32| format!("{}\n", json!({"id": id, "text": text, "date": date}));
    desk.write("dated.jsonl", line("old", 2001) + &line("late", 2002));
    let run = desk.run("dedup dated.jsonl --against ref.jsonl -o - --keep newest:date").exit(0);
    assert_eq!(ids(run.text()), ["late"]);
    assert!(!run.err.contains("warning"), "{run}");
}

/// References are often an earlier state of the inputs, so they have the same ids.
#[test]
fn ids_that_inputs_share_with_references_are_no_reason_for_a_warning() {
    let desk = desk();
    desk.write("earlier.jsonl", desk.text("in.jsonl"));
    let run = desk.run("dedup in.jsonl --against earlier.jsonl -o - --report report").exit(0);
    assert!(!run.err.contains("warning"), "{run}");
    // The report distinguishes two documents with one id by file and line.
    assert_eq!(
        desk.text("report/pairs.tsv").lines().next().unwrap(),
        "in.jsonl:1\tearlier.jsonl:1\t1.000000"
    );
    // Ids that repeat within the inputs, or within the references, are reported.
    desk.write("twice.jsonl", desk.text("in.jsonl").repeat(2));
    for command in ["dedup twice.jsonl --against earlier.jsonl", "dedup in.jsonl --against twice.jsonl"] {
        let run = desk.run(&format!("{command} --dry-run")).exit(0);
        let warning = "warning: 10 documents share their id with another document (`equal` is the id of `twice.jsonl:1` and of `twice.jsonl:6`)";
        assert!(run.err.starts_with(warning), "{run}");
    }
}

#[test]
fn a_file_is_not_both() {
    let desk = desk();
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --against in.jsonl").exit(2), @"
    exit 2
    --- stderr
    error: `in.jsonl` is both a reference and an input

    hint: nothing would be left of it; without `--against`, what repeats within the inputs is removed
    ");
    desk.write("data/in.jsonl", desk.text("in.jsonl"));
    insta::assert_snapshot!(desk.run("dedup data --dry-run --against data/in.jsonl").exit(2), @"
    exit 2
    --- stderr
    error: `data/in.jsonl` is both a reference and an input

    hint: nothing would be left of it; without `--against`, what repeats within the inputs is removed
    ");
    let run = desk.run("dedup in.jsonl --against ref.jsonl -o ref.jsonl --force").exit(2);
    assert!(run.err.contains("would overwrite"), "{run}");
}

/// Every command of the guide has the effect that the guide states, on files like those of the guide.
#[test]
fn the_guide_removes_benchmark_text_from_training_data() {
    let desk = Desk::new();
    let question = prose(1, 40);
    let leaked = format!("{} {question} {}", prose(2, 100), prose(3, 150));
    desk.write("benchmark.jsonl", records(&[("q1", &prose(9, 40)), ("q2", &question)]));
    desk.write("train.jsonl", records(&[("clean", &prose(4, 300)), ("leaked", &leaked)]));
    let commands = crate::serve::commands(include_str!("../../../../docs/guides/remove-benchmark-text.md"));
    assert_eq!(commands.len(), 3);
    let runs: Vec<_> = commands.iter().map(|command| desk.run(command).exit(0)).collect();
    assert_eq!(desk.ids("clean.jsonl"), ["clean"]);
    assert_eq!(desk.ids("leaked.jsonl"), ["leaked"]);
    assert_eq!(desk.text("look/pairs.tsv"), "leaked\tq2\t1.000000\n");
    assert!(runs[2].summary("removed").starts_with("0 documents"), "{}", runs[2]);
}

/// Every command of the guide runs on the examples.
#[test]
fn the_guide_to_parameters_runs() {
    let desk = Desk::with("examples/articles.jsonl", include_bytes!("../../../../examples/articles.jsonl"));
    let commands = crate::serve::commands(include_str!("../../../../docs/guides/choose-parameters.md"));
    assert_eq!(commands.len(), 5);
    for command in commands {
        desk.run(&command).exit(0);
    }
    assert!(desk.text("look/index.html").contains("near the threshold"));
}
