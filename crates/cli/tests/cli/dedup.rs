//! Tests which documents `dedup` keeps, and that it copies their bytes.

use serde_json::{Value, json};

use crate::support::{Desk, ids, prose, record, records, with_word};

/// Spacing, escapes, line ends, a byte order mark and unknown members are copied unchanged.
#[test]
fn kept_lines_come_out_byte_for_byte_and_in_order() {
    let (a, b, c) = (prose(1, 12), prose(2, 12), prose(3, 12));
    let lines = [
        format!("\u{feff}{{\"text\" :  \"{a}\",\"id\":\"a\"  }}\r\n"),
        format!("  {{\"id\":\"b\",\"te\\u0078t\":\"{b} \\u00e9\\ud83d\\ude00 \\/\",\"n\":1e400}}   \n"),
        "\n \t \r\n".to_owned(),
        format!("{{\"text\":\"{}\",\"id\":\"again\"}}\n", a.to_uppercase()),
        format!("{{\"id\":\"c\",\"x\":{{\"text\":[]}},\"text\":\"{c}\"}}"),
    ];
    let desk = Desk::with("in.jsonl", lines.concat());
    let run = desk.run("dedup in.jsonl -o out.jsonl --removed gone.jsonl").exit(0);
    assert_eq!(desk.text("out.jsonl"), [&*lines[0], &*lines[1], &*lines[4]].concat());
    assert_eq!(desk.text("gone.jsonl"), lines[3]);
    assert!(run.out.is_empty());
    assert!(run.summary("read").starts_with("4 documents"), "{run}");
}

#[test]
fn a_line_end_is_put_between_files_that_lack_one_and_nowhere_else() {
    let desk = Desk::new();
    for (name, seed) in [("a.jsonl", 1), ("b.jsonl", 2), ("c.jsonl", 3)] {
        desk.write(name, record(name, &prose(seed, 9)).trim_end());
    }
    desk.write("b.jsonl", format!("{}\n", desk.text("b.jsonl")));
    desk.run("dedup a.jsonl b.jsonl c.jsonl -o out.jsonl").exit(0);
    let expected = format!("{}\n{}{}", desk.text("a.jsonl"), desk.text("b.jsonl"), desk.text("c.jsonl"));
    assert_eq!(desk.text("out.jsonl"), expected);

    desk.run("dedup a.jsonl b.jsonl c.jsonl -o all.jsonl --annotate").exit(0);
    assert_eq!(desk.ids("all.jsonl"), ["a.jsonl", "b.jsonl", "c.jsonl"]);
    assert!(!desk.text("all.jsonl").ends_with('\n'));
}

#[test]
fn kept_and_removed_lines_are_the_input() {
    let text = prose(1, 60);
    let near = with_word(&text, 30, "other");
    let documents =
        records(&[("a", &text), ("b", &prose(2, 60)), ("c", &near), ("d", &text), ("e", "short")]);
    let desk = Desk::with("in.jsonl", &documents);
    let run = desk.run("dedup in.jsonl -o out.jsonl --removed gone.jsonl").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["a", "b", "e"]);
    assert_eq!(desk.ids("gone.jsonl"), ["c", "d"]);
    let both = desk.text("out.jsonl") + &desk.text("gone.jsonl");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(&both), sorted(&documents));
    assert_eq!(run.count("kept"), 3);
    assert_eq!(
        run.summary("removed"),
        "2 documents (40.0 %) in 1 cluster; 1 of them equal after normalisation"
    );
}

#[test]
fn annotated_lines_say_which_document_was_kept() {
    let text = prose(1, 100);
    // Each document has 96 shingles, of which 91 are shared.
    let near = with_word(&text, 50, "other");
    let line = format!("{{ \"minwise\" : \"mine\", \"id\":\"near\", \"text\":\"{near}\" }}\r\n");
    let desk = Desk::with("in.jsonl", record("first", &text) + &line + &record("alone", &prose(2, 9)));
    desk.run("dedup in.jsonl -o out.jsonl --annotate").exit(0);
    let out = desk.text("out.jsonl");
    let lines: Vec<&str> = out.split_inclusive('\n').collect();
    let annotation = r#"{"cluster":"first","duplicate_of":"first","similarity":0.900990099009901}"#;
    assert_eq!(lines[1], line.replace("\"mine\"", annotation));
    let members: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["minwise"].clone()).collect();
    assert_eq!(members[0], json!({"cluster": "first", "duplicate_of": null, "similarity": null}));
    assert_eq!(members[2], json!({"cluster": "alone", "duplicate_of": null, "similarity": null}));
    assert_eq!(members[1]["similarity"], json!(91.0 / 101.0));
}

#[test]
fn a_dry_run_writes_no_documents() {
    let desk = Desk::with(
        "in.jsonl",
        records(&[("a", "one two three four five"), ("b", "one two three four five")]),
    );
    let run = desk.run("dedup in.jsonl --dry-run").exit(0);
    assert_eq!(desk.names(), ["in.jsonl"]);
    assert_eq!((run.count("kept"), run.out.len()), (1, 0));
    desk.run("dedup in.jsonl --dry-run --report report").exit(0);
    assert_eq!(desk.names().len(), 9, "only the report's folder and its files are new");
}

/// The threshold is compared with the exact similarity, so a pair at exactly the threshold is a near-duplicate.
#[test]
fn a_pair_exactly_at_the_threshold_is_a_duplicate() {
    // Each text has 50 shingles of one word. Of 55 distinct shingles, 45 are shared: 45/55 = 9/11.
    let text = prose(1, 50);
    let near: Vec<String> = text
        .split(' ')
        .enumerate()
        .map(|(i, word)| if i < 5 { format!("new{i}") } else { word.into() })
        .collect();
    let desk = Desk::with("in.jsonl", records(&[("a", &text), ("b", &near.join(" "))]));
    let kept = |threshold: &str| {
        let spec = "--shingle words:1 --registers 256 --recall 0.9999";
        let run = desk.run(&format!("dedup in.jsonl -o - {spec} --threshold {threshold}")).exit(0);
        ids(run.text()).len()
    };
    assert_eq!(kept("0.8181818181818181"), 1);
    assert_eq!(kept("0.8181818181818182"), 1);
    assert_eq!(kept("0.8181818181818183"), 2);
}

/// A document is removed only if it is a near-duplicate of a kept one: B is near A, C is near B, C is not near A.
#[test]
fn a_chain_is_cut_by_star_and_followed_by_components() {
    let a = prose(1, 60);
    let b = (0..3).fold(a.clone(), |text, i| with_word(&text, i, &format!("b{i}")));
    let c = (0..3).fold(b.clone(), |text, i| with_word(&text, 59 - i, &format!("c{i}")));
    let desk = Desk::with("in.jsonl", records(&[("a", &a), ("b", &b), ("c", &c)]));
    let spec = "--shingle words:1 --threshold 0.87 --recall 0.9999 --registers 256";
    let pairs = desk.run(&format!("pairs in.jsonl -q {spec}")).exit(0);
    assert_eq!(pairs.text(), "a\tb\t0.904762\nb\tc\t0.904762\n");
    let kept = |cluster: &str| {
        ids(desk.run(&format!("dedup in.jsonl -o - -q {spec} --cluster {cluster}")).exit(0).text())
    };
    assert_eq!(kept("star"), ["a", "c"]);
    assert_eq!(kept("components"), ["a"]);
    desk.run(&format!("dedup in.jsonl -o all.jsonl {spec} --cluster components --annotate")).exit(0);
    let last: Value = serde_json::from_str(desk.text("all.jsonl").lines().last().unwrap()).unwrap();
    // The similarity to the keeper is reported although it lies below the threshold: 54 of 66 shingles are shared.
    assert_eq!(last["minwise"], json!({"cluster": "a", "duplicate_of": "a", "similarity": 54.0 / 66.0}));
}

#[test]
fn the_keeper_is_the_first_the_longest_or_the_shortest_and_ties_go_by_input_order() {
    let text = prose(1, 60);
    let longer = with_word(&text, 30, "longestword");
    let shorter = with_word(&text, 30, "x");
    let documents =
        [("same", &*text), ("short", &shorter), ("long", &longer), ("long2", &longer), ("same2", &text)];
    let desk = Desk::with("in.jsonl", records(&documents));
    let kept = |keep: &str| ids(desk.run(&format!("dedup in.jsonl -o - -q {keep}")).exit(0).text());
    assert_eq!(kept(""), ["same"]);
    assert_eq!(kept("--keep first"), ["same"]);
    assert_eq!(kept("--keep longest"), ["long"]);
    assert_eq!(kept("--keep shortest"), ["short"]);
    // The keeper of a connected component follows the same ranking.
    assert_eq!(kept("--keep longest --cluster components"), ["long"]);
}

/// The kept document comes after a document with equal shingles, and both have a near-duplicate.
#[test]
fn a_document_that_goes_for_a_later_equal_one_is_not_written() {
    let text = prose(1, 60);
    let longer = format!("{text} !!!!!");
    let documents = [("a", &*text), ("longer", &longer), ("near", &with_word(&text, 30, "x"))];
    let desk = Desk::with("in.jsonl", records(&documents));
    let run = desk.run("dedup in.jsonl -o out.jsonl --removed gone.jsonl --keep longest").exit(0);
    assert_eq!(run.count("kept"), 1);
    assert_eq!(
        (desk.ids("out.jsonl"), desk.ids("gone.jsonl")),
        (vec!["longer".to_owned()], vec!["a".to_owned(), "near".to_owned()])
    );
}

/// Length is counted in characters, not in bytes.
#[test]
fn the_longest_has_the_most_characters() {
    let text = prose(1, 30);
    let bytes = format!("{text} ééé");
    let characters = format!("{text} eeee");
    let desk = Desk::with("in.jsonl", records(&[("bytes", &bytes), ("characters", &characters)]));
    assert!(bytes.len() > characters.len());
    let run = desk.run("dedup in.jsonl -o - -q --keep longest").exit(0);
    assert_eq!(ids(run.text()), ["characters"]);
}

/// The similarity of `first` and `second` is 88/112, so they are not near-duplicates. `near` is near both, at 91/109
/// and 97/103. `between` is equally near both, at 94/106.
#[test]
fn a_duplicate_is_of_the_most_similar_kept_document_and_ties_go_by_keeper_order() {
    let base = prose(1, 100);
    let changed = |count: usize, from_end: bool, mark: &str| {
        (0..count).fold(base.clone(), |text, i| {
            with_word(&text, if from_end { 99 - i } else { i }, &format!("{mark}{i}"))
        })
    };
    let (first, second, near) = (changed(6, false, "f"), changed(6, true, "s"), changed(3, true, "s"));
    let documents = [("first", &*first), ("second", &second), ("near", &near), ("between", &base)];
    let spec = "--shingle words:1 --threshold 0.8 --recall 0.99999 --registers 512";
    let duplicates = |documents: &[(&str, &str)]| {
        let desk = Desk::with("in.jsonl", records(documents));
        desk.run(&format!("dedup in.jsonl --dry-run -q --report report {spec}")).exit(0);
        desk.text("report/pairs.tsv")
    };
    assert_eq!(duplicates(&documents), "near\tsecond\t0.941748\nbetween\tfirst\t0.886792\n");
    let swapped = [documents[1], documents[0], documents[2], documents[3]];
    assert_eq!(duplicates(&swapped), "near\tsecond\t0.941748\nbetween\tsecond\t0.886792\n");
}

/// A document with fewer tokens than a shingle has one shingle of all its tokens. Documents without tokens are
/// near-duplicates only if their texts are equal.
#[test]
fn short_and_empty_documents_follow_the_stated_rule() {
    let documents = [
        ("two", "Two words"),
        ("two again", "two, WORDS!"),
        ("three", "two words more"),
        ("nothing", ""),
        ("nothing again", ""),
        ("spaces", "  \u{a0} "),
        ("dots", "..."),
        ("dots again", "..."),
        ("dashes", "---"),
        ("one", "two"),
    ];
    let desk = Desk::with("in.jsonl", records(&documents));
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["two", "three", "nothing", "dots", "dashes", "one"]);
    assert_eq!(
        desk.text("report/pairs.tsv"),
        "two again\ttwo\t1.000000\nnothing again\tnothing\t1.000000\nspaces\tnothing\t1.000000\n\
         dots again\tdots\t1.000000\n"
    );
    assert!(run.summary("read").ends_with("; 6 without words"), "{run}");
}

#[test]
fn short_documents_can_be_rejected() {
    let desk = Desk::with(
        "in.jsonl",
        records(&[("a", "one two three four"), ("b", "one two three four five"), ("c", "")]),
    );
    desk.run("dedup in.jsonl -o out.jsonl --short reject --report report").exit(2);
    assert_eq!(desk.ids("out.jsonl"), ["b"]);
    let rejects = desk.text("report/rejects.jsonl");
    let reasons: Vec<Value> = rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        reasons.iter().map(|line| (&line["id"], &line["reason"], &line["line"])).collect::<Vec<_>>(),
        [(&json!("a"), &json!("too_short"), &json!(1)), (&json!("c"), &json!("too_short"), &json!(3))]
    );
}

#[test]
fn rejected_records_make_the_exit_code_2_and_the_output_is_written_all_the_same() {
    let good = record("good", &prose(1, 9));
    let desk = Desk::with("in.jsonl", format!("not json\n{good}[1]\n{{}}\n{{\"id\":\"n\",\"text\":7}}\n"));
    let run = desk.run("dedup in.jsonl -o out.jsonl").exit(2);
    assert_eq!(desk.text("out.jsonl"), good);
    assert!(run.summary("read").starts_with("5 records"), "{run}");
    assert_eq!((run.count("kept"), run.count("removed"), run.count("rejected")), (1, 0, 4));
}

#[test]
fn too_many_rejects_stop_the_run() {
    let desk = Desk::with("in.jsonl", format!("{}bad\nbad\nbad\n", record("a", &prose(1, 9))));
    let run = desk.run("dedup in.jsonl -o out.jsonl --max-rejects 2").exit(2);
    assert!(run.err.contains("more than 2 records were rejected"), "{run}");
    assert!(run.err.contains("in.jsonl:4"), "{run}");
    assert_eq!(desk.names(), ["in.jsonl"]);
    desk.run("dedup in.jsonl -o out.jsonl --max-rejects 3").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["a"]);
}

#[test]
fn a_record_over_the_limit_is_rejected_and_the_next_one_read() {
    let small = record("small", &prose(1, 9));
    let large = record("large", &prose(2, 4000));
    let desk = Desk::with("in.jsonl", format!("{large}{small}{large}"));
    let limit = large.len() - 2;
    desk.run(&format!("dedup in.jsonl -o out.jsonl --report report --max-record {limit}")).exit(2);
    assert_eq!(desk.ids("out.jsonl"), ["small"]);
    assert_eq!(desk.text("report/rejects.jsonl").matches("\"reason\":\"too_large\"").count(), 2);
    desk.run("dedup in.jsonl -o all.jsonl --max-record 1MiB").exit(0);
    assert_eq!(desk.ids("all.jsonl"), ["large", "small"]);
}

/// Chinese, Japanese and Thai have no spaces between words, so each character is a token.
#[test]
fn scripts_without_spaces_work_by_default() {
    let chinese = "国家统计局昨天公布了今年第三季度的经济数据显示消费继续回升但是房地产投资仍然下降";
    let near_chinese = chinese.replace('昨', "今");
    let thai = "สวัสดีครับวันนี้อากาศดีมากเราไปเดินเล่นที่สวนสาธารณะกันเถอะหลังจากนั้นไปกินข้าว";
    let near_thai = thai.replacen('ด', "ต", 1);
    let desk = Desk::with(
        "in.jsonl",
        records(&[
            ("zh", chinese),
            ("zh near", &near_chinese),
            ("th", thai),
            ("th near", &near_thai),
            ("ja", "これはまったく別の文章であり似たものはどこにもない"),
        ]),
    );
    desk.run("dedup in.jsonl -o out.jsonl --threshold 0.7 --recall 0.9999").exit(0);
    assert_eq!(desk.ids("out.jsonl"), ["zh", "th", "ja"]);
}

#[test]
fn the_default_normalisation_folds_case_and_compatibility_forms() {
    let plain = "the office affirmed that strasse and uber are fine words to use here";
    let fancy = "THE oﬃce aﬃrmed that straße and uber are ﬁne words to use here";
    let desk = Desk::with("in.jsonl", records(&[("plain", plain), ("fancy", fancy)]));
    let kept =
        |options: &str| ids(desk.run(&format!("dedup in.jsonl -o - -q {options}")).exit(0).text()).len();
    assert_eq!(kept(""), 1);
    assert_eq!(kept("--normalize casefold"), 1, "full case folding takes ligatures and sharp s apart too");
    assert_eq!(kept("--normalize none"), 2);
}

#[test]
fn markup_and_white_space_are_treated_as_asked() {
    let desk = Desk::with(
        "in.jsonl",
        records(&[
            ("plain", "one two three four five six seven"),
            ("markup", "<p>one two <b>three</b> four five six seven</p>"),
            ("spaced", "one  two three\n\nfour five six  seven"),
            ("joined", "onetwothreefourfivesixseven"),
        ]),
    );
    let kept = |options: &str| ids(desk.run(&format!("dedup in.jsonl -o - -q {options}")).exit(0).text());
    assert_eq!(kept(""), ["plain", "markup", "joined"]);
    assert_eq!(kept("--strip-markup"), ["plain", "joined"]);
    assert_eq!(kept("--shingle chars:5"), ["plain", "markup", "joined"]);
    assert_eq!(kept("--shingle chars:5 --whitespace keep"), ["plain", "markup", "spaced", "joined"]);
    assert_eq!(kept("--shingle chars:5 --whitespace remove"), ["plain", "markup"]);
}

#[test]
fn a_quiet_run_says_nothing() {
    let desk = Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(1, 9))]));
    let run = desk.run("dedup in.jsonl -o out.jsonl --quiet").exit(0);
    assert_eq!((run.text(), &*run.err), ("", ""));
}

/// With `--log json`, every line of standard error is a JSON object, also the summary and the rejects.
#[test]
fn a_json_log_is_json_throughout() {
    let desk = Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("a", &prose(1, 9))]) + "bad\n");
    let run = desk.run("dedup in.jsonl -o out.jsonl --log json").exit(2);
    let events: Vec<Value> = run.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    for name in ["stage", "warning", "summary", "rejects"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let summary = events.iter().find(|event| event["event"] == "summary").unwrap();
    assert_eq!(
        (&summary["read"], &summary["kept"], &summary["removed"], &summary["rejected"]),
        (&json!(3), &json!(1), &json!(1), &json!(1))
    );
    let named = |name: &str| events.iter().find(|event| event["event"] == name).unwrap();
    let is_stage = |event: &&Value, name: &str| event["event"] == "stage" && event["stage"] == name;
    let stage = events.iter().find(|event| is_stage(event, "read")).unwrap();
    assert_eq!(
        (&stage["stage"], &stage["unit"], &stage["done"]),
        (&json!("read"), &json!("bytes"), &json!(0))
    );
    assert_eq!(stage["total"], fs_err::metadata(desk.path("in.jsonl")).unwrap().len());
    // Every stage of the summary has an event, also opening, and writing if the kept records were written before.
    for name in ["open", "ids", "order", "equal", "write"] {
        assert!(events.iter().any(|event| is_stage(&event, name)), "{name}");
    }
    // The stages begin one after the other, and the summary has the time of each stage.
    let began = events.iter().filter(|event| event["event"] == "stage");
    let began: Vec<u64> = began.map(|event| event["elapsed_ms"].as_u64().unwrap()).collect();
    assert!(began.len() >= 3 && began.is_sorted(), "{began:?}");
    let stages = summary["stages"].as_array().unwrap();
    let names: Vec<&str> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(names, ["open", "read", "ids", "order", "equal", "candidates", "verify", "audit", "write"]);
    let sum: u64 = stages.iter().map(|stage| stage["elapsed_ms"].as_u64().unwrap()).sum();
    assert!(sum <= summary["elapsed_ms"].as_u64().unwrap(), "{summary}");
    assert_eq!(named("warning")["code"], "repeated_ids");
    assert_eq!(
        named("rejects")["first"],
        json!([{"file": "in.jsonl", "line": 3, "id": null, "reason": "invalid_json",
            "message": "not JSON: expected value at column 1"}])
    );
    let error = desk.run("dedup missing.jsonl -o x.jsonl --log json").exit(2);
    let events: Vec<Value> = error.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [stage, event] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&stage["event"], &stage["stage"]), (&json!("stage"), &json!("open")));
    assert_eq!((&event["event"], &event["code"]), (&json!("error"), &json!("not_found")));
    assert_eq!(event["message"], "no such file or folder: `missing.jsonl`");
    let errors = desk.run("dedup in.jsonl -o x.jsonl --log json --threshold 2 --threads 0").exit(2);
    let codes: Vec<Value> =
        errors.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["code"].clone()).collect();
    assert_eq!(codes, [json!("bad_setting"), json!("bad_setting")], "one event per option");
}

/// For every sketch that finds candidates, each decision follows from the exact similarity.
#[test]
fn every_sketch_that_can_be_banded_gives_the_same_corpus() {
    let desk = Desk::new();
    desk.write("in.jsonl", include_bytes!("../../../../examples/articles.jsonl"));
    let kept = |sketch: &str| {
        let options = ["dedup", "in.jsonl", "-o", "-", "-q", "--recall", "0.9999", "--sketch", sketch];
        desk.run_with(&options, b"").exit(0).text().to_owned()
    };
    let expected = kept("minhash");
    assert_eq!(expected.lines().count(), 30);
    for sketch in
        ["min-max", "one-permutation", "one-permutation,rotation", "super-minhash:256", "fast-similarity"]
    {
        assert_eq!(kept(sketch), expected, "{sketch}");
    }
    let run = desk.run("dedup in.jsonl -o - --sketch b-bit:2/minhash:128").exit(2);
    assert!(run.err.contains("`b-bit:2/minhash:128` has no registers that candidates could share"), "{run}");
    let run = desk.run("dedup in.jsonl -o - --sketch simhash").exit(2);
    assert!(run.err.contains("`--sketch`: `simhash` is not a sketch"), "{run}");
}

/// Paragraphs in another order have nearly all shingles in common, but few of them at the same places.
#[test]
fn reordered_documents_stay_when_order_matters() {
    let paragraphs: Vec<String> = (0..20).map(|i| prose(100 + i, 60)).collect();
    let text = paragraphs.join("\n\n");
    let mut order: Vec<usize> = (0..20).collect();
    order.rotate_left(9);
    order.swap(2, 15);
    let shuffled = order.iter().map(|&i| &*paragraphs[i]).collect::<Vec<_>>().join("\n\n");
    let inserted = format!("{}\n\n{text}", prose(7, 120));
    let desk =
        Desk::with("in.jsonl", records(&[("a", &text), ("shuffled", &shuffled), ("inserted", &inserted)]));
    let kept = |options: &str| -> Vec<String> {
        let run = desk.run(&format!("dedup in.jsonl -o - -q {options}")).exit(0);
        run.text().lines().map(|line| line.split('"').nth(3).unwrap().to_owned()).collect()
    };
    assert_eq!(kept(""), ["a"]);
    assert_eq!(kept("--order 0.5"), ["a", "shuffled"], "an insertion in front does not hurt");
    let run = desk.run("dedup in.jsonl --dry-run --order 0.5").exit(0);
    // The shuffled document is compared with each of the two others.
    assert!(
        run.err.contains(": 2 reordered, by their sketches, 1 compared exactly, 0 reordered, 1 reaches 0.8"),
        "{run}"
    );
    let run = desk.run("dedup in.jsonl --dry-run --order 0.5 --filter-error off").exit(0);
    assert!(run.err.contains(" 3 compared exactly, 2 reordered, "), "{run}");
    let pairs = desk.run("pairs in.jsonl -q --order 0.5").exit(0);
    assert_eq!(pairs.lines().len(), 1, "{pairs}");
    for wrong in ["0", "1.5", "high"] {
        desk.run(&format!("dedup in.jsonl -o - --order {wrong}")).exit(2);
    }
}

/// In this corpus, every document occurs a second time with its paragraphs shuffled. About 0.19 of the common shingles
/// are at the same places, as expected by chance.
#[test]
fn a_corpus_of_shuffled_paragraphs() {
    const DOCUMENTS: u64 = 40;
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % bound as u64) as usize
    };
    let mut lines = String::new();
    for document in 0..DOCUMENTS {
        let mut paragraphs: Vec<String> = (0..30).map(|i| prose(1000 * document + i, 40)).collect();
        lines += &record(&format!("{document}"), &paragraphs.join("\n"));
        for left in (1..paragraphs.len()).rev() {
            paragraphs.swap(left, below(left + 1));
        }
        lines += &record(&format!("{document} shuffled"), &paragraphs.join("\n"));
    }
    let desk = Desk::with("in.jsonl", lines);
    let run = desk.run("dedup in.jsonl --dry-run").exit(0);
    assert_eq!(run.count("kept"), 40);
    let run = desk.run("dedup in.jsonl --dry-run --order 0.5 --report estimated").exit(0);
    assert_eq!(run.count("kept"), 80);
    // The sketches show most reordered pairs, so few pairs are compared exactly.
    let parts: Vec<&str> = run.summary("compared").split([':', ',']).collect();
    let exactly = parts.iter().find_map(|part| part.trim().strip_suffix(" compared exactly")).unwrap();
    assert!(exactly.parse::<u64>().unwrap() < 20, "{run}");
    let estimated = desk.text("estimated/reordered.tsv");
    assert_eq!(estimated.lines().count(), 40);
    let fields: Vec<&str> = estimated.lines().next().unwrap().split('\t').collect();
    assert!(
        fields[3].parse::<f64>().unwrap() > 0.0 && fields[5].parse::<f64>().unwrap() > 0.0,
        "{estimated}"
    );

    let run = desk.run("dedup in.jsonl --dry-run --order 0.5 --filter-error off --report report").exit(0);
    assert_eq!(run.count("kept"), 80);
    assert!(run.summary("compared").contains(", 40 reordered, "), "{run}");
    let reordered = desk.text("report/reordered.tsv");
    let shares: Vec<f64> = reordered
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(format!("{} shuffled", fields[0]), fields[1]);
            assert!(fields[2].parse::<f64>().unwrap() >= 0.8, "{line}");
            assert_eq!((fields[3], fields[5]), ("0.000000", "0.000000"), "what is exact says so");
            fields[4].parse().unwrap()
        })
        .collect();
    assert_eq!(shares.len() as u64, DOCUMENTS);
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (shares.len() - 1) as f64;
    let error = (variance / shares.len() as f64).sqrt();
    assert!((mean - 0.19).abs() < 4.0 * error, "{mean} ± {error}");
}
