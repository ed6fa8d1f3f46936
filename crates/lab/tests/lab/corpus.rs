//! Tests generated corpora.

use minwise_lab::corpus::{DocumentMaker, Made};

use crate::support::Desk;

/// The command writes the corpus and the truth of the library, with every option passed on.
#[test]
fn every_option_reaches_the_corpus() {
    let made = Made {
        documents: 2500,
        words: 30,
        copies: 0.5,
        edits: 2,
        families: Some(7),
        form: 0,
        revisions: None,
        seed: 9,
    };
    let (mut documents, mut truths) = (vec![], vec![]);
    DocumentMaker::new(made).write(0..made.documents, &mut documents, Some(&mut truths)).unwrap();
    let desk = Desk::new();
    let options = "--documents 2500 --words 30 --copies 0.5 --edits 2 --families 7 --seed 9";
    desk.run(&format!("corpus -o made.jsonl --truth truth.tsv {options}")).exit(0);
    assert!(desk.bytes("made.jsonl") == documents);
    assert!(desk.bytes("truth.tsv") == truths);
    let run = desk.run(&format!("corpus -o - {options}")).exit(0);
    assert!(run.out == documents && run.err.is_empty());

    // The output is compressed because of its name. An existing file is replaced only with `--force`.
    desk.run("corpus -o made.jsonl.gz --documents 10").exit(0);
    assert!(desk.bytes("made.jsonl.gz").starts_with(&[0x1f, 0x8b]));
    let refused = desk.run("corpus -o made.jsonl --documents 10").exit(2);
    assert!(refused.err.starts_with("minwise-lab: ") && refused.err.contains("\n\nhint: "), "{refused}");
    assert!(desk.bytes("made.jsonl") == documents);
    desk.run("corpus -o made.jsonl --documents 10 --force").exit(0);
    assert_eq!(desk.text("made.jsonl").lines().count(), 10);
}

#[test]
fn all_wrong_numbers_are_reported_at_once() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.run("corpus -o out --documents many --words 3.5 --copies 1.5"), @"
    exit 2
    --- stderr
    minwise-lab: `--documents`: `many` is not a whole number
    minwise-lab: `--words`: `3.5` is not a whole number
    minwise-lab: `--copies`: a share cannot be 1.5: it must be at least 0 and at most 1
    ");
    assert!(desk.names().is_empty());
}
