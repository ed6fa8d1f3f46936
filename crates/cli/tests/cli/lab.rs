//! Tests runs over corpora that the lab generates, and the error for `minwise lab`, a former command.

use minwise_lab::corpus::{DocumentMaker, Made};

use crate::support::Desk;

/// A run finds exactly the duplicates that the generator of a corpus reports.
#[test]
fn the_truth_of_a_corpus_is_what_is_found_in_it() {
    let made = Made {
        documents: 500,
        words: 160,
        copies: 0.2,
        edits: 3,
        families: Some(20),
        form: 0,
        revisions: None,
        seed: 1,
    };
    let (mut documents, mut known) = (vec![], vec![]);
    DocumentMaker::new(made).write(0..made.documents, &mut documents, Some(&mut known)).unwrap();
    let desk = Desk::with("made.jsonl", documents);
    let found = desk.run("pairs made.jsonl --candidates all --threshold 0.6 -q").exit(0);
    let known = String::from_utf8(known).unwrap();
    let pair = |line: &str| {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let similarity: f64 = fields[2].parse().unwrap();
        ([fields[0].clone().min(fields[1].clone()), fields[0].clone().max(fields[1].clone())], similarity)
    };
    let found: std::collections::BTreeMap<_, _> = found.lines().into_iter().map(pair).collect();
    let similar: Vec<_> = known.lines().map(pair).filter(|(_, similarity)| *similarity >= 0.6).collect();
    assert!(similar.len() > 50, "{}", similar.len());
    for (pair, similarity) in similar {
        assert!((found[&pair] - similarity).abs() < 1e-6, "{pair:?}");
    }
}

#[test]
fn minwise_lab_is_a_command_of_its_own() {
    let desk = Desk::new();
    let run = desk.run("lab run 002/figure-4 --output out");
    insta::assert_snapshot!(run, @"
    exit 2
    --- stderr
    error: the lab is a command of its own: `minwise-lab`

    hint: type `minwise-lab` for `minwise lab`; `cargo install --path crates/lab` installs it
    ");
    for arguments in ["lab", "lab --help", "help lab"] {
        assert_eq!(desk.run(arguments).exit(2).err, run.err, "{arguments}");
    }
    let other = desk.run("labour").exit(2);
    assert!(other.err.contains("unrecognized subcommand") && !other.err.contains("minwise-lab"), "{other}");
    assert!(!desk.run("--help").exit(0).text().contains("lab"));
}
