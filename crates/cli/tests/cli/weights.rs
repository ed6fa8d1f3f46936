//! Tests weights, boilerplate, containment, and other searches for candidates.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Desk, prose, record, records, unzstd, with_word, words};

/// Returns a desk with filled-in forms: a long text that all share, and twenty words of each form alone.
fn forms() -> Desk {
    let form = prose(1, 120);
    let filled = |seed: u64| format!("{form} {}", prose(seed, 20));
    let desk = Desk::new();
    desk.write("form.txt", form.as_bytes());
    let mut lines = String::new();
    for seed in 10..40 {
        lines += &record(&format!("{seed}"), &filled(seed));
    }
    // Two of the forms are filled in nearly alike.
    lines += &record("10 again", &with_word(&filled(10), 125, "other"));
    desk.write("forms.jsonl", lines);
    desk
}

#[test]
fn filled_in_forms_are_not_merged_without_their_boilerplate() {
    let desk = forms();
    let kept = |options: &str| -> u64 {
        let run = desk.run(&format!("dedup forms.jsonl --dry-run --threshold 0.5 {options}")).exit(0);
        run.count("kept")
    };
    assert_eq!(kept(""), 1, "plain similarity takes them all for one");
    assert_eq!(kept("--max-df 0.5"), 30);
    assert_eq!(kept("--max-df 10"), 30);
    assert_eq!(kept("--ignore-text form.txt"), 30);
    assert_eq!(kept("--weight tf-idf"), 30);
}

#[test]
fn the_spec_names_what_was_weighed_and_left_out() {
    let desk = forms();
    let run = desk
        .run("pairs forms.jsonl --weight tf-idf --max-df 0.5 --ignore-text form.txt --threshold 0.4")
        .exit(0);
    assert_eq!(run.lines().len(), 1, "{run}");
    let spec = run.summary("spec");
    assert!(
        spec.starts_with("nfkc+casefold / words:5 / dart:128 / seed:1 / weight:tf-idf / table:"),
        "{run}"
    );
    assert!(spec.contains(" / max-df:0.5 / ignore:"), "{run}");
}

#[test]
fn a_saved_table_gives_what_counting_gives() {
    let desk = forms();
    insta::assert_snapshot!(desk.run("weights forms.jsonl -o forms.weights"), @"
    exit 0
    --- stderr
    read        31 documents, 27.3 kB
    rejected    0 records
    wrote       the document frequencies of 721 shingles to `forms.weights`
    time        [time]

    Details
    table       f48810c0a91859ba
    stages      [time]
    ");
    let counted = desk.run("pairs forms.jsonl -q --weight tf-idf --threshold 0.3").exit(0);
    let saved =
        desk.run("pairs forms.jsonl -q --weight tf-idf --threshold 0.3 --weights forms.weights").exit(0);
    assert!(!counted.text().is_empty());
    assert_eq!(counted.text(), saved.text());
    insta::assert_snapshot!(desk.run("pairs forms.jsonl --weight tf-idf --weights forms.weights --shingle words:3"), @"
    exit 2
    --- stderr
    error: `--weights`: `forms.weights` has other settings: shingle is `words:5` there and `words:3` here

    hint: `minwise weights` takes the same `--shingle` and `--normalize`
    ");
    // A table made from no documents has no document frequencies, so it is refused.
    desk.write("none.jsonl", "");
    desk.run("weights none.jsonl -o none.weights").exit(0);
    insta::assert_snapshot!(desk.run("pairs forms.jsonl --weight tf-idf --weights none.weights"), @"
    exit 2
    --- stderr
    error: `--weights`: `none.weights` counts no documents

    hint: `minwise weights INPUT -o FILE` counts a corpus
    ");
    insta::assert_snapshot!(desk.run("pairs forms.jsonl --weights forms.weights"), @"
    exit 2
    --- stderr
    error: `--weights`: nothing asks for document frequencies

    hint: `--weight tf-idf` and `--max-df` do
    ");
    insta::assert_snapshot!(desk.run("pairs forms.jsonl --weight tf-idf --weights forms.jsonl"), @"
    exit 2
    --- stderr
    error: cannot read `forms.jsonl`: it is no frequency table

    hint: `minwise weights` makes a frequency table
    ");
}

#[test]
fn two_documents_are_compared_with_weights() {
    let desk = forms();
    desk.run("weights forms.jsonl -o forms.weights").exit(0);
    insta::assert_snapshot!(desk.run("compare forms.jsonl#10 forms.jsonl#11 --weight tf-idf"), @"
    exit 2
    --- stderr
    error: `--weight`: document frequencies are not known from two documents

    hint: `minwise weights INPUT -o FILE` counts a corpus, and `--weights FILE` uses it
    ");
    let plain = desk.run("compare forms.jsonl#10 forms.jsonl#11 --passages 0").exit(1);
    assert!(plain.text().contains("(Jaccard 0.743"), "{plain}");
    let weighted = desk
        .run("compare forms.jsonl#10 forms.jsonl#11 --passages 0 --weight tf-idf --weights forms.weights")
        .exit(1);
    assert!(weighted.text().contains("(weighted Jaccard 0.0"), "{weighted}");
    let count = desk.run("compare forms.jsonl#10 forms.jsonl#11 --passages 0 --weight count").exit(1);
    assert!(count.text().contains(" by dart:128"), "{count}");
}

/// A part of a longer text has a low Jaccard similarity to it.
#[test]
fn containment_is_a_relation_of_its_own() {
    let part = prose(1, 60);
    let whole = format!("{} {part} {}", prose(2, 200), prose(3, 200));
    let desk =
        Desk::with("in.jsonl", records(&[("part", &part), ("whole", &whole), ("other", &prose(4, 60))]));
    assert_eq!(desk.run("pairs in.jsonl -q").exit(0).text(), "");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --measure containment"), @"
    exit 0
    --- stdout
    part	whole	1.000000
    --- stderr
    read        3 documents, 3.7 kB
    rejected    0 records
    compared    1 candidate pair: 1 compared exactly, 1 reaches 0.8 by containment
    recall      100 % expected
    wrote       1 near-duplicate pair to standard output
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    candidates  sort-merge
    stages      [time]
    ");
    // The longer text contains the shorter one, so the longer text is kept.
    let run = desk.run("dedup in.jsonl -o - --measure containment -q").exit(0);
    assert_eq!(crate::support::ids(run.text()), ["whole", "other"]);
    let run = desk.run("dedup in.jsonl -o - --measure containment --keep first -q").exit(0);
    assert_eq!(crate::support::ids(run.text()), ["part", "other"]);
    desk.run("compare in.jsonl#part in.jsonl#whole").exit(1);
    desk.run("compare in.jsonl#part in.jsonl#whole --measure containment").exit(0);
    insta::assert_snapshot!(desk.run("pairs in.jsonl --measure containment --candidates banding"), @"
    exit 2
    --- stderr
    error: `--candidates`: `banding` does not see containment

    hint: `sort-merge` finds every pair, and so does `all`
    ");
}

#[test]
fn every_way_finds_the_same_pairs() {
    let mut lines = String::new();
    for family in 0..12 {
        let text = prose(family, 80);
        lines += &record(&format!("{family}"), &text);
        for at in [10, 40, 70] {
            lines += &record(&format!("{family}-{at}"), &with_word(&text, at, "changed"));
        }
    }
    let desk = Desk::with("in.jsonl", lines);
    let banding = desk.run("pairs in.jsonl -q").exit(0);
    for way in [
        "sort-merge",
        "sort-merge,sketch",
        "all",
        "all --bits 2",
        "all --filter-error off",
        "all --looks 20,64",
    ] {
        let run = desk.run(&format!("pairs in.jsonl -q --candidates {way}")).exit(0);
        assert_eq!(run.text(), banding.text(), "{way}");
    }
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --candidates sort-merge"), @"
    exit 0
    --- stderr
    read        48 documents, 24.3 kB
    kept        12 documents (25.0 %)
    removed     36 documents (75.0 %) in 12 clusters
    rejected    0 records
    compared    36 candidate pairs: 36 compared exactly, 36 reach 0.8
    recall      100 % expected
    wrote       no documents (`--dry-run`)
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep first, cluster star
    candidates  sort-merge
    stages      [time]
    ");
    let run = desk
        .run("pairs in.jsonl -o pairs.tsv --candidates all --looks 16,32,64,128 --error-per-look 2e-7")
        .exit(0);
    let error = "filter      all looks of the filter together wrongly rule out at most 8e-7 of the pairs at the threshold\n";
    assert!(run.err.contains(error), "{run}");
    let run = desk
        .run("dedup in.jsonl --dry-run --candidates all --looks 16,128 --error-per-look 1e-7 --report report")
        .exit(0);
    assert!(run.err.contains(&error.replace("8e-7", "2e-7")), "{run}");
    let report: Value = serde_json::from_str(&desk.text("report/summary.json")).unwrap();
    assert_eq!(
        (&report["looks"], &report["error_per_look"]),
        (&serde_json::json!([16, 128]), &Value::from(1e-7))
    );
    assert_eq!(report["filter_error"], Value::from(2e-7));
    let summary = desk.run("dedup in.jsonl --dry-run --candidates all --log json").exit(0);
    let line: Value = serde_json::from_str(summary.err.lines().last().unwrap()).unwrap();
    assert_eq!((&line["search"], &line["measure"]), (&Value::from("all"), &Value::from("jaccard")));
    // Every pair is compared once by its sketches, and then exactly unless the sketches rule it out.
    let of = |name: &str| line[name].as_u64().unwrap();
    assert_eq!(of("candidates"), of("filtered") + of("compared"));
    assert!(of("filtered") > 900 && of("filter_registers") == 128 * 48 * 47 / 2, "{line}");
    assert!(of("filter_compared") < of("filter_registers") / 4, "{line}");
}

#[test]
fn wrong_weights_are_refused() {
    let desk = Desk::with("in.jsonl", records(&[("a", &words(1, 20).join(" "))]));
    insta::assert_snapshot!(desk.run("pairs in.jsonl --weight heavy --max-df 0 --measure cosine --candidates some --filter-error 2"), @"
    exit 2
    --- stderr
    error: `--measure`: `cosine` is not a measure: expected `jaccard` or `containment`
    error: `--weight`: `heavy` is not a weighting: expected `none`, `count`, `tf`, `tf-idf` or `tf-idf,smooth`
    error: `--max-df`: `0` is not a limit on documents: expected a share such as `0.1` or `10%`, or a number such as `500`, from `1`
    error: `--candidates`: `some` is not a way to find candidates: expected `banding`, `sort-merge`, `sort-merge,sketch` or `all`
    error: `--filter-error`: the share cannot be 2: it must be from 1e-200 to 0.5, or `off`
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --threshold -0.5 --max-df -1 --filter-error -0.1"), @"
    exit 2
    --- stderr
    error: `--threshold`: the threshold cannot be -0.5: it must be above 0 and at most 1
    error: `--max-df`: `-1` is not a limit on documents: expected a share such as `0.1` or `10%`, or a number such as `500`, from `1`
    error: `--filter-error`: the share cannot be -0.1: it must be from 1e-200 to 0.5, or `off`
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --weight tf --sketch zero-bit"), @"
    exit 2
    --- stderr
    error: `--sketch`: `zero-bit:128` has no registers that candidates could share

    hint: candidates are found by `dart`, `icws` or `cws`, or otherwise than by bands with `--candidates`
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --weight tf --sketch minhash"), @"
    exit 2
    --- stderr
    error: `--sketch`: `minhash:128` is not for weighted shingles

    hint: `dart`, `icws` and `cws` are
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --sketch icws"), @"
    exit 2
    --- stderr
    error: `--sketch`: `icws:128` is for weighted shingles

    hint: `--weight` says how they are weighed
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --weight tf --shingle words:2,bag"), @"
    exit 2
    --- stderr
    error: `--weight`: weights count repeats themselves

    hint: leave `,bag` away from `--shingle`
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --sketch minhash:64 --registers 128"), @"
    exit 2
    --- stderr
    error: `--registers`: `--sketch minhash:64` says how many there are
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --candidates sort-merge,sketch --bits 1"), @"
    exit 2
    --- stderr
    error: `--bits`: `--candidates sort-merge,sketch` needs whole registers
    ");
    desk.write("blank.txt", "...\n");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --ignore-text blank.txt"), @"
    exit 2
    --- stderr
    error: `--ignore-text`: `blank.txt` has no shingles that could be left out
    ");
    insta::assert_snapshot!(desk.run("pairs in.jsonl --ignore-text nowhere.txt"), @"
    exit 2
    --- stderr
    error: no such file or folder: `nowhere.txt`

    hint: check the spelling; a relative path starts at the current folder
    ");
}

/// Short answers, some of them copied from longer originals. A copied part is contained in its original, but its
/// Jaccard similarity is low.
#[test]
#[ignore = "needs `../shared/data`"]
fn plagiarised_answers_are_contained_in_their_originals() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/plagiarised-answers.tar.zst");
    let packed = fs_err::read(shared).unwrap();
    let desk = Desk::new();
    tar::Archive::new(&*unzstd(&packed)).unpack(desk.root()).unwrap();
    let names = desk.names();
    let labels = names.iter().find(|name| name.ends_with("file_information.csv")).expect("labels are there");
    let folder = labels.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let labels = desk.text(labels);
    let originals = |measure: &str| -> BTreeSet<String> {
        let found = desk
            .run(&format!(
                "pairs {folder} -q --input-format text --encoding auto --shingle words:3 --threshold 0.5 --measure {measure}"
            ))
            .exit(0);
        // If a pair is an answer and the original of its task, returns the answer. The task is the part of a file
        // name after the first `_`.
        let answer = |line: &&str| {
            let (first, second) = line.split_once('\t')?;
            let (second, _) = second.split_once('\t')?;
            let task = |name: &str| name.split_once('_').map(|(_, task)| task.to_owned());
            (second.starts_with("orig") && task(first) == task(second)).then(|| first.to_owned())
        };
        found.lines().iter().filter_map(answer).collect()
    };
    let (jaccard, containment) = (originals("jaccard"), originals("containment"));
    assert!(jaccard.is_subset(&containment) && containment.len() > 2 * jaccard.len());
    let labelled = |label: &str| -> Vec<&str> {
        let lines = labels.lines().filter(|line| line.rsplit(',').next() == Some(label));
        lines.filter_map(|line| line.split(',').next()).collect()
    };
    assert!(
        labelled("cut").iter().filter(|name| containment.contains(**name)).count() * 2
            > labelled("cut").len()
    );
    assert!(!labelled("non").is_empty() && labelled("non").iter().all(|name| !containment.contains(*name)));
}
