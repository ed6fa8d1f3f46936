//! Tests `minwise accuracy`, and `minwise pairs` with options that list all pairs or all candidates, as other programs
//! do.

use serde_json::Value;

use crate::support::{Desk, prose, records, with_word};

/// Returns a desk with three near-copies, a document unlike the near-copies, and a document without shingles.
fn desk() -> Desk {
    let text = prose(1, 200);
    let near = with_word(&text, 100, "other");
    let third = with_word(&near, 20, "more");
    let other = prose(2, 200);
    let documents = [("a", &*text), ("far", &*other), ("b", &*near), ("c", &*third), ("none", "!")];
    Desk::with("in.jsonl", records(&documents))
}

#[test]
fn errors_and_times_of_several_sketches() {
    let desk = desk();
    let run = desk
        .run("accuracy in.jsonl --sketch minhash:1024 b-bit:2/minhash:256 --pairs all --error 0.1")
        .exit(0);
    let lines = run.lines();
    let names: Vec<&str> = lines.iter().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(names, ["sketch", "exact", "minhash:1024", "b-bit:2/minhash:256"]);
    assert!(lines[0].ends_with("per document  per comparison"));
    assert!(lines[2].contains("4,096") && lines[2].contains("0 (0 %)"), "{}", lines[2]);
    assert!(lines[2].ends_with("ns") || lines[2].ends_with("µs") || lines[2].ends_with("ms"), "{}", lines[2]);
    assert!(run.err.contains("compared    all 6 pairs of 4 documents with shingles"), "{}", run.err);

    let details = desk.run("accuracy in.jsonl --pairs all --details -q").exit(0);
    let lines = details.lines();
    assert_eq!(lines[3], "");
    assert_eq!(lines[4], "minhash:128 by exact similarity");
    assert!(lines[6].starts_with("0.0 to 0.1      3 "), "{}", lines[6]);
    assert!(lines[7].starts_with("0.9 to 1.0      3 "), "{}", lines[7]);
}

#[test]
fn json_has_every_number() {
    let desk = desk();
    let run = desk.run("accuracy in.jsonl --sketch all --registers 64 --format json -q").exit(0);
    let all: Value = serde_json::from_str(&run.lines().join("")).unwrap();
    assert_eq!(
        (all["documents"].as_u64(), all["pairs"].as_u64(), all["all_pairs"].as_u64()),
        (Some(4), Some(6), Some(6))
    );
    assert_eq!(all["error"], 0.05);
    assert!(all["exact"]["seconds_per_comparison"].as_f64().unwrap() > 0.0);
    let sketches = all["sketches"].as_array().unwrap();
    assert!(sketches.len() > 30, "every kind");
    for sketch in sketches {
        assert_eq!(sketch["all"]["pairs"], 6, "{sketch}");
        assert!(sketch["seconds_per_document"].as_f64().unwrap() > 0.0, "{sketch}");
        let ranges = sketch["by_similarity"].as_array().unwrap();
        assert_eq!(ranges.len(), 10);
        assert_eq!(ranges[0]["mean_error"].is_null(), ranges[0]["pairs"] == 0, "nothing to take the mean of");
    }
}

/// A thousand pairs share half of their words, and other documents share nothing, so the errors of the pairs are
/// independent. Mean, variance and the share of intervals that cover the similarity are those of the formula within 4
/// standard errors, and those of the library exactly.
#[test]
fn errors_and_intervals_are_those_of_the_formula() {
    const PAIRS: usize = 1000;
    const REGISTERS: usize = 256;
    const SIMILARITY: f64 = 0.5;
    let text = |pair: usize, second: bool| {
        let own = if second { 60..80 } else { 40..60 };
        (0..40).chain(own).map(|at| format!("p{pair}w{at}")).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<(String, String)> = (0..2 * PAIRS)
        .map(|document| (document.to_string(), text(document / 2, document % 2 == 1)))
        .collect();
    let documents: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (&**id, &**text)).collect();
    let desk = Desk::with("in.jsonl", records(&documents));
    let sketches = format!("minhash:{REGISTERS} b-bit:1/minhash:{REGISTERS}");
    let run = desk
        .run(&format!(
            "accuracy in.jsonl --shingle words:1 --sketch {sketches} --pairs all --error 0.06 --format json -q"
        ))
        .exit(0);
    let all: Value = serde_json::from_str(&run.lines().join("")).unwrap();
    let n = PAIRS as f64;
    let variances = [SIMILARITY * (1.0 - SIMILARITY), (1.0 - SIMILARITY) * (SIMILARITY + 1.0)];
    for (sketch, variance) in all["sketches"].as_array().unwrap().iter().zip(variances) {
        let variance = variance / REGISTERS as f64;
        let half = &sketch["by_similarity"][5];
        let number = |name: &str| half[name].as_f64().unwrap();
        assert_eq!(half["pairs"], PAIRS, "{half}");
        assert!((number("expected_variance") - variance).abs() < 1e-12, "{half}");
        assert!(number("mean_error").abs() < 4.0 * (variance / n).sqrt(), "{half}");
        // The squares of normal errors have the variance 2σ⁴.
        let scatter = (2.0 / n).sqrt();
        assert!((number("variance") / variance - 1.0).abs() < 4.0 * scatter, "{half}");
        // The number of agreeing registers is whole, so the probability that an interval covers the similarity is not
        // exactly 95 %: it is 94.75 % for 256 registers at similarity 0.5.
        let covered = number("covered") / n;
        assert!((covered - 0.95).abs() < 0.01 + 4.0 * (0.95 * 0.05 / n).sqrt(), "{half}");
        assert_eq!(sketch["all"]["pairs"], PAIRS * (2 * PAIRS - 1));
    }
    // Registers of two documents without a common word agree by chance only, once in 2³² comparisons.
    assert!(all["sketches"][0]["by_similarity"][0]["mean_square_error"].as_f64().unwrap() < 1e-9);

    let spec: minwise::Spec =
        format!("nfkc+casefold / words:1 / minhash:{REGISTERS} / seed:1").parse().unwrap();
    let sketcher = spec.sketcher().unwrap();
    let sketch = |text: &str| {
        let mut shingles = minwise::shingle::Shingles::new();
        spec.shingler().shingle_into(text, &mut shingles);
        let mut sketch = vec![0; REGISTERS];
        sketcher.sketch_into(shingles.hashes(), &mut sketch);
        sketch
    };
    let (mut error, mut square, mut off, mut covered) = (0.0, 0.0, 0, 0);
    for pair in 0..PAIRS {
        let [a, b] = [false, true].map(|second| sketch(&text(pair, second)));
        let estimate = minwise::estimate::minhash::estimate(&a, &b);
        let difference = estimate.value - SIMILARITY;
        error += difference;
        square += difference * difference;
        off += usize::from(difference.abs() > 0.06);
        covered += usize::from((estimate.interval.0..=estimate.interval.1).contains(&SIMILARITY));
    }
    let half = &all["sketches"][0]["by_similarity"][5];
    assert_eq!((&half["off"], &half["covered"]), (&Value::from(off), &Value::from(covered)));
    assert!((half["mean_error"].as_f64().unwrap() - error / n).abs() < 1e-12, "{half}");
    assert!((half["mean_square_error"].as_f64().unwrap() - square / n).abs() < 1e-12, "{half}");
}

#[test]
fn a_picture_is_never_replaced_by_chance() {
    let desk = desk();
    desk.run("accuracy in.jsonl --plot errors.svg -q").exit(0);
    assert!(desk.text("errors.svg").contains("6 pairs of 4 documents"));
    let before = desk.text("errors.svg");
    let again = desk.run("accuracy in.jsonl --plot errors.svg --error 0.3").exit(2);
    assert!(again.err.contains("errors.svg") && again.lines().is_empty(), "{}", again.err);
    assert_eq!(desk.text("errors.svg"), before);
    desk.run("accuracy in.jsonl --plot errors.svg --error 0.3 --force -q").exit(0);
    assert!(desk.text("errors.svg").contains("allowed error of 0.3"));
}

/// The name of the picture must not state a format that the picture does not have.
#[test]
fn a_picture_is_svg_and_named_so() {
    let desk = desk();
    insta::assert_snapshot!(desk.run("accuracy in.jsonl --plot errors.png"), @"
    exit 2
    --- stderr
    error: `--plot`: the picture is SVG, and `errors.png` names another format

    hint: `--plot errors.svg` writes it
    ");
    assert!(!desk.path("errors.png").exists());
    desk.run("accuracy in.jsonl --plot ERRORS.SVG -q").exit(0);
    desk.run("accuracy in.jsonl --plot errors -q").exit(0);
}

#[test]
fn wrong_options_are_reported_together() {
    insta::assert_snapshot!(desk().run("accuracy in.jsonl --sketch nosuch minhash:0 --error 5 --pairs x -j 0"), @"
    exit 2
    --- stderr
    error: `--sketch`: `nosuch` is not a sketch: expected a form such as `minhash:128` or `b-bit:2/minhash:256`
    error: `--sketch`: the number of registers cannot be 0: it must be from 1 to 65,536
    error: `--threads`: it must be at least 1
    error: `--pairs`: it must be `all` or a whole number
    error: `--error`: it must be from 0 to 1
    ");
    let weighted = desk().run("accuracy in.jsonl --weight count --sketch minhash").exit(2);
    assert!(weighted.err.contains("is not for weighted shingles"), "{}", weighted.err);
    desk().run("accuracy in.jsonl --weight count -q").exit(0);
}

#[test]
fn no_documents_give_an_empty_table() {
    let desk = Desk::with("in.jsonl", "");
    let run = desk.run("accuracy in.jsonl --details").exit(0);
    assert_eq!(run.lines().len(), 3);
    assert!(run.err.contains("all 0 pairs of 0 documents"), "{}", run.err);
}

/// A threshold of 0 lists pairs of any similarity: all pairs, or all pairs that share a band.
#[test]
fn a_threshold_of_0_lists_all_pairs() {
    let desk = desk();
    let all = desk.run("pairs in.jsonl --threshold 0 --candidates all -q").exit(0);
    let lines = all.lines();
    let pairs: Vec<&str> = lines.iter().map(|line| line.rsplit_once('\t').unwrap().0).collect();
    assert_eq!(pairs, ["a\tfar", "a\tb", "a\tc", "far\tb", "far\tc", "b\tc"]);
    assert_eq!(lines[0], "a\tfar\t0.000000");
    assert!(lines[1].ends_with("\t0.950249"), "{}", lines[1]);
    let banded = desk.run("pairs in.jsonl --threshold 0 --bands 32 --rows 2 -q").exit(0);
    assert_eq!(banded.lines(), [lines[1], lines[2], lines[5]]);
    insta::assert_snapshot!(desk.run("pairs in.jsonl --threshold 0"), @"
    exit 2
    --- stderr
    error: `--threshold`: no choice of bands finds pairs that share nothing

    hint: `--candidates all` lists all pairs; `--bands` and `--rows` list the pairs that share a band
    ");
    desk.run("pairs in.jsonl --threshold 0 --candidates sort-merge").exit(2);
    desk.run("dedup in.jsonl --threshold 0 --dry-run").exit(2);
    let summary = desk.run("pairs in.jsonl --threshold 0 --bands 32 --rows 2 -o out.tsv").exit(0);
    assert!(summary.err.contains("wrote       3 pairs to `out.tsv`"), "{}", summary.err);
    assert!(!summary.err.contains("recall"), "{}", summary.err);
}

/// Candidates are the pairs that agree in all rows of a band. The sketches show which pairs these are.
#[test]
fn candidates_come_with_their_bands() {
    let desk = desk();
    let run = desk
        .run("pairs in.jsonl --candidates-only --bands 16 --rows 4 --registers 64 --format jsonl -q")
        .exit(0);
    let found: Vec<(String, String, Vec<u64>)> = run
        .lines()
        .iter()
        .map(|line| {
            let pair: Value = serde_json::from_str(line).unwrap();
            let id = |name: &str| pair[name].as_str().unwrap().to_owned();
            let bands = pair["bands"].as_array().unwrap().iter().map(|band| band.as_u64().unwrap()).collect();
            (id("first"), id("second"), bands)
        })
        .collect();
    let spec: minwise::Spec = "nfkc+casefold / words:5 / minhash:64 / seed:1".parse().unwrap();
    let text = prose(1, 200);
    let near = with_word(&text, 100, "other");
    let texts = [("a", text.clone()), ("b", near.clone()), ("c", with_word(&near, 20, "more"))];
    let sketches: Vec<(&str, Vec<u32>)> = texts
        .iter()
        .map(|(id, text)| {
            let mut shingles = minwise::shingle::Shingles::new();
            spec.shingler().shingle_into(text, &mut shingles);
            let mut sketch = vec![0; 64];
            spec.sketcher().unwrap().sketch_into(shingles.hashes(), &mut sketch);
            (*id, sketch)
        })
        .collect();
    let mut expected = vec![];
    for (at, (second, b)) in sketches.iter().enumerate() {
        for (first, a) in &sketches[..at] {
            let agree = |band: &usize| a[band * 4..band * 4 + 4] == b[band * 4..band * 4 + 4];
            let bands: Vec<u64> = (0..16).filter(agree).map(|band| band as u64 + 1).collect();
            expected.push(((*first).to_owned(), (*second).to_owned(), bands));
        }
    }
    let mut sorted = found.clone();
    sorted.sort();
    expected.sort();
    assert_eq!(sorted, expected);
    assert!(found.windows(2).all(|two| two[0].2[0] <= two[1].2[0]), "in the order of the first band");

    let of =
        desk.run("pairs in.jsonl --candidates-only --bands 16 --rows 4 --registers 64 --of c -q").exit(0);
    assert_eq!(of.lines().len(), 2);
    assert!(of.lines().iter().all(|line| line.contains("\tc\t")));
    let refused = desk.run("pairs in.jsonl --candidates-only --candidates all").exit(2);
    assert!(refused.err.contains("only bands give pairs"), "{}", refused.err);
    desk.run("pairs in.jsonl --candidates-only --of nobody").exit(2);
}
