//! Tests `minwise pairs`.

use serde_json::{Value, json};

use crate::support::{Desk, prose, record, records, with_word};

fn desk() -> Desk {
    let text = prose(1, 100);
    let near = with_word(&text, 50, "other");
    let far = (0..30).fold(text.clone(), |text, i| with_word(&text, i * 3, &format!("f{i}")));
    Desk::with("in.jsonl", records(&[("b", &text), ("far", &far), ("a", &near), ("c", &text), ("a2", &near)]))
}

#[test]
fn pairs_come_in_input_order_with_exact_similarities() {
    let run = desk().run("pairs in.jsonl").exit(0);
    insta::assert_snapshot!(run, @"
    exit 0
    --- stdout
    b	a	0.900990
    b	c	1.000000
    b	a2	0.900990
    a	c	0.900990
    a	a2	1.000000
    c	a2	0.900990
    --- stderr
    read        5 documents, 3.0 kB
    rejected    0 records
    compared    1 candidate pair: 1 compared exactly, 1 reaches 0.8; 5 further pairs come from documents that are equal after normalisation
    recall      above 99.99 % expected
    wrote       6 near-duplicate pairs to standard output
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    candidates  16 bands of 6 rows
    sketches    the filter compared 100 % of the registers of the candidate pairs
    stages      [time]
    ");
}

#[test]
fn pairs_as_json() {
    let run = desk().run("pairs in.jsonl --format jsonl -q").exit(0);
    let lines: Vec<Value> = run.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0], json!({"first": "b", "second": "a", "similarity": 91.0 / 101.0}));
    assert_eq!(lines[1], json!({"first": "b", "second": "c", "similarity": 1.0}));
}

#[test]
fn pairs_of_some_documents_only() {
    let desk = desk();
    let run = desk.run("pairs in.jsonl -q --of a").exit(0);
    assert_eq!(run.text(), "b\ta\t0.900990\na\tc\t0.900990\na\ta2\t1.000000\n");
    let run = desk.run("pairs in.jsonl -q --of c far").exit(0);
    assert_eq!(run.text(), "b\tc\t1.000000\na\tc\t0.900990\nc\ta2\t0.900990\n");
    assert_eq!(desk.run("pairs in.jsonl -q --of far").exit(0).text(), "");
}

#[test]
fn pairs_of_a_document_without_an_id_or_with_a_repeated_one() {
    let text = prose(1, 20);
    let desk = Desk::with(
        "in.jsonl",
        record("x", &text) + &format!("{{\"text\":\"{text}\"}}\n") + &record("x", &text),
    );
    let run = desk.run("pairs in.jsonl -q --of in.jsonl:2").exit(0);
    assert_eq!(run.text(), "in.jsonl:1\tin.jsonl:2\t1.000000\nin.jsonl:2\tin.jsonl:3\t1.000000\n");
    assert_eq!(desk.run("pairs in.jsonl -q --of in.jsonl:1").exit(0).lines().len(), 2);
    assert_eq!(desk.run("pairs in.jsonl -q --of x").exit(0).lines().len(), 3, "both documents called x");
}

#[test]
fn an_id_that_no_document_has_is_an_error() {
    insta::assert_snapshot!(desk().run("pairs in.jsonl -q --of nobody"), @"
    exit 2
    --- stderr
    error: no document has the id `nobody`

    hint: ids are read from `--id-field`; without one, the id of a record is `file:line`, and that of a file its path below the folder that was given
    ");
}

#[test]
fn documents_without_shingles_are_pairs_only_of_equal_texts() {
    let desk = Desk::with("in.jsonl", records(&[("a", ""), ("b", "…"), ("c", ""), ("d", "…"), ("e", "!?")]));
    // NFKC turns an ellipsis into three dots.
    assert_eq!(desk.run("pairs in.jsonl -q").exit(0).text(), "a\tc\t1.000000\nb\td\t1.000000\n");
}

#[test]
fn a_rejected_record_is_told_of_and_the_pairs_written() {
    let desk =
        Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(1, 9))]) + "{\"text\":1}\n");
    let run = desk.run("pairs in.jsonl -q").exit(2);
    assert_eq!(run.text(), "a\tb\t1.000000\n");
    assert!(run.err.contains("in.jsonl:3: the field `text` holds a number"), "{run}");
}

/// A cluster of 1,500 equal documents gives 1,124,250 lines. The command announces this before it writes them.
#[test]
fn a_family_with_a_million_pairs_is_announced() {
    let desk = Desk::with(
        "in.jsonl",
        (0..1500).map(|i| record(&format!("d{i}"), "a b c d e f")).collect::<String>(),
    );
    let run = desk.run("pairs in.jsonl -q -o pairs.tsv").exit(0);
    insta::assert_snapshot!(run, @"
    exit 0
    --- stderr
    warning: 1 group of similar documents may give up to 1,124,250 pairs: it has 1,500 documents, `d0` among them
    ");
    assert_eq!(desk.text("pairs.tsv").lines().count(), 1_124_250);
    // Three such clusters are announced in one line, with the largest.
    let family = |seed: u64, count: usize| {
        (0..count).map(|i| record(&format!("f{seed}-{i}"), &prose(seed, 6))).collect::<String>()
    };
    desk.write("three.jsonl", family(1, 1500) + &family(2, 1600) + &family(3, 1500));
    let run = desk.run("pairs three.jsonl -q -o three.tsv").exit(0);
    assert_eq!(
        run.err,
        "warning: 3 groups of similar documents may give up to 3,527,700 pairs: the largest has 1,600 documents, \
         `f2-0` among them\n"
    );
    // With `--of`, few pairs are written, so nothing is announced.
    let run = desk.run("pairs in.jsonl -q --of d0").exit(0);
    assert_eq!((run.lines().len(), &*run.err), (1499, ""));
}
