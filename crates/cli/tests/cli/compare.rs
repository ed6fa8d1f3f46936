//! Tests `minwise compare`.

use serde_json::Value;

use crate::support::{Desk, prose, record, records, with_word};

const LEFT: &str = "The river rose in the night and the lower meadow was under water by six.\n\
    Nobody was hurt. The bridge at the mill was closed to lorries until further notice.\n";
const RIGHT: &str = "Nobody was hurt.\n\nBy then THE BRIDGE at the mill was closed to lorries until further notice.\n\
    The river rose in the night, and the lower meadow stood dry.\n";

fn desk() -> Desk {
    let desk = Desk::with("left.txt", LEFT);
    desk.write("right.txt", RIGHT);
    desk
}

/// Returns the JSON line that the command prints for programs.
fn compared(desk: &Desk, arguments: &str) -> Value {
    let run = desk.run(&format!("compare {arguments} --format jsonl"));
    assert_eq!(run.lines().len(), 1, "{run}");
    serde_json::from_str(run.text()).unwrap()
}

#[test]
fn two_texts_for_people() {
    insta::assert_snapshot!(desk().run("compare left.txt right.txt"), @"
    exit 1
    --- stdout
    A            left.txt
    B            right.txt
    similarity   37.8 % (Jaccard 0.378378, exact)
    A in B       53.8 % of A appears in B (0.538462, exact)
    B in A       56.0 % of B appears in A (0.560000, exact)
    estimate     0.414 ± 0.044 by minhash:128
    spec         nfkc+casefold / words:5 / minhash:128 / seed:1

    shared passages, longest first

    12 words; A: line 2, column 18; B: line 3, column 9
        The bridge at the mill was closed to lorries until further notice

    10 words; A: line 1, column 1; B: line 4, column 1
        The river rose in the night and the lower meadow
    ");
}

#[test]
fn two_texts_for_programs() {
    insta::assert_snapshot!(desk().run("compare left.txt right.txt --format jsonl"), @r#"
    exit 1
    --- stdout
    {"containment_of_left":0.5384615384615384,"containment_of_right":0.56,"passages":[{"left":[90,155],"left_place":{"column":18,"line":2},"right":[26,91],"right_place":{"column":9,"line":3},"text":"The bridge at the mill was closed to lorries until further notice","tokens":12},{"left":[0,48],"left_place":{"column":1,"line":1},"right":[93,142],"right_place":{"column":1,"line":4},"text":"The river rose in the night and the lower meadow","tokens":10}],"similarity":0.3783783783783784,"sketches":[{"bias":0.0,"estimate":0.4140625,"exact":0.3783783783783784,"sketch":"minhash:128","standard_error":0.04354674233973583}],"spec":"nfkc+casefold / words:5 / minhash:128 / seed:1"}
    "#);
}

/// The places of a passage are byte offsets in the original texts, not in their normalised forms.
#[test]
fn passages_can_be_cut_out_of_the_texts() {
    let comparison = compared(&desk(), "left.txt right.txt --threshold 0.1");
    let cut = |text: &'static str, range: &Value| {
        let at = |end: usize| usize::try_from(range[end].as_u64().unwrap()).unwrap();
        &text[at(0)..at(1)]
    };
    let plain = |text: &str| text.to_lowercase().replace(',', "");
    let passages = comparison["passages"].as_array().unwrap();
    assert_eq!(passages.len(), 2);
    for passage in passages {
        assert_eq!(passage["text"], cut(LEFT, &passage["left"]));
        assert_eq!(plain(cut(LEFT, &passage["left"])), plain(cut(RIGHT, &passage["right"])));
    }
}

#[test]
fn the_exit_code_says_whether_the_threshold_is_reached() {
    let text = prose(1, 100);
    let desk = Desk::with("a", &text);
    desk.write("b", with_word(&text, 50, "other"));
    // The similarity is 91/101 = 0.900990….
    for (threshold, code) in
        [("0.5", 0), ("0.8", 0), ("0.9009900990099009", 0), ("0.9009900990099011", 1), ("1", 1)]
    {
        desk.run(&format!("compare a b --threshold {threshold}")).exit(code);
    }
    desk.run("compare a a --threshold 1").exit(0);
}

#[test]
fn only_as_many_passages_as_asked_for() {
    let desk = desk();
    let passages = |option: &str| {
        compared(&desk, &format!("left.txt right.txt {option}"))["passages"].as_array().unwrap().len()
    };
    assert_eq!((passages("--passages 0"), passages("--passages 1"), passages("")), (0, 1, 2));
}

#[test]
fn records_are_named_by_id_or_by_line() {
    let documents = records(&[("x", &prose(1, 20)), ("y#1", &prose(2, 20))]);
    let desk = Desk::with("in.jsonl", documents + &format!("{{\"text\":\"{}\"}}\n", prose(1, 20)));
    desk.write("y.txt", prose(2, 20));
    desk.run("compare in.jsonl#x in.jsonl#3 --threshold 1").exit(0);
    desk.run("compare in.jsonl#1 in.jsonl#2").exit(1);
    desk.run("compare in.jsonl#2 y.txt --threshold 1").exit(0);
    insta::assert_snapshot!(desk.run("compare in.jsonl#z y.txt"), @"
    exit 2
    --- stderr
    error: `in.jsonl#z`: there is no such document

    hint: `FILE#ID` takes the value of the id field, or the number of a line or row
    ");
    insta::assert_snapshot!(desk.run("compare missing.jsonl#1 y.txt"), @"
    exit 2
    --- stderr
    error: no such file or folder: `missing.jsonl`

    hint: check the spelling; a relative path starts at the current folder
    ");
}

/// If a number is both an id and a line number, the record with the id is taken.
#[test]
fn an_id_comes_before_a_line_number() {
    let desk = Desk::with("in.jsonl", records(&[("2", &prose(2, 20)), ("1", &prose(1, 20))]));
    desk.write("one.txt", prose(1, 20));
    desk.run("compare in.jsonl#1 one.txt --threshold 1").exit(0);
}

/// Standard input can be read only once.
#[test]
fn standard_input_cannot_be_both_documents() {
    let run = Desk::new().run_with(&["compare", "-", "-"], b"the same text here and there").exit(2);
    assert!(run.err.contains('-'), "{run}");
}

#[test]
fn one_document_may_come_from_standard_input() {
    let desk = Desk::with("a.txt", prose(1, 20));
    desk.run_with(&["compare", "-", "a.txt", "--threshold", "1"], prose(1, 20).as_bytes()).exit(0);
}

#[test]
fn texts_without_shingles_are_equal_or_not() {
    let desk = Desk::with("empty", "");
    desk.write("blank", " \n");
    desk.write("dots", "...");
    desk.write("text", prose(1, 9));
    insta::assert_snapshot!(desk.run("compare empty blank"), @"
    exit 0
    --- stdout
    A            empty
    B            blank
    similarity   100 % (Jaccard 1.000000, exact)
    A in B       100 % of A appears in B (1.000000, exact)
    B in A       100 % of B appears in A (1.000000, exact)
    estimate     none, because a document has no shingles
    spec         nfkc+casefold / words:5 / minhash:128 / seed:1
    ");
    desk.run("compare empty dots").exit(1);
    desk.run("compare empty text").exit(1);
    insta::assert_snapshot!(desk.run("compare dots empty --format jsonl"), @r#"
    exit 1
    --- stdout
    {"containment_of_left":0.0,"containment_of_right":0.0,"passages":[],"similarity":0.0,"sketches":[{"bias":0.0,"estimate":0.0,"exact":0.0,"sketch":"minhash:128","standard_error":0.0}],"spec":"nfkc+casefold / words:5 / minhash:128 / seed:1"}
    "#);
}

#[test]
fn a_folder_is_not_a_document() {
    let desk = Desk::with("letters/a", "a");
    insta::assert_snapshot!(desk.run("compare letters letters/a"), @"
    exit 2
    --- stderr
    error: `letters` is a folder, but a comparison takes one document

    hint: `minwise pairs letters` compares all documents of a folder
    ");
}

/// As one text, a file of records would be compared with its field names and all its records.
#[test]
fn a_file_of_records_is_not_a_document() {
    let desk = Desk::with("in.jsonl", record("a", "one two three four five six"));
    desk.write("in.csv", "id,text\na,one two three four five six\n");
    desk.write("a.txt", "one two three four five six");
    insta::assert_snapshot!(desk.run("compare in.jsonl a.txt"), @"
    exit 2
    --- stderr
    error: `in.jsonl` has records, but a comparison takes one document

    hint: `in.jsonl#ID` is a record by its id or line; `--input-format text` compares the whole file as one text
    ");
    for arguments in ["a.txt in.csv", "a.txt a.txt --input-format jsonl"] {
        let run = desk.run(&format!("compare {arguments}")).exit(2);
        assert!(run.err.contains("has records, but a comparison takes one document"), "{run}");
    }
    desk.run("compare in.jsonl#a a.txt").exit(0);
    desk.run("compare in.jsonl in.csv --input-format text").exit(1);
}

#[test]
fn a_text_that_is_not_utf_8_can_be_read_when_its_encoding_is_said() {
    let desk = Desk::with("latin", b"caf\xe9 caf\xe9 one two three");
    desk.write("utf8", "café café one two three");
    insta::assert_snapshot!(desk.run("compare latin utf8"), @"
    exit 2
    --- stderr
    error: `latin`: not UTF-8: byte 3 is invalid

    hint: `--encoding auto` or `--encoding latin-1` reads texts that are not UTF-8
    ");
    desk.write("ascii", record("a", "cafe"));
    desk.run("compare latin latin --encoding latin-1 --threshold 1").exit(0);
}

/// For unlike documents, an odd sketch with few bits estimates a similarity far above 0.
#[test]
fn a_sketch_that_is_biased_at_the_similarity_is_said_to_be() {
    let desk = Desk::with("a.txt", prose(1, 300));
    desk.write("b.txt", prose(2, 300));
    let run = desk.run("compare a.txt b.txt --sketch odd:64/minhash:256 --passages 0").exit(1);
    assert!(run.text().contains("\nbias         at similarity "), "{run}");
    let comparison = compared(&desk, "a.txt b.txt --sketch odd:64/minhash:256 --passages 0");
    let sketch = &comparison["sketches"][0];
    let number = |field: &str| sketch[field].as_f64().unwrap();
    // The standard error of 256 registers is at most 1/32.
    assert!(number("bias") > 0.3, "{sketch}");
    let all = desk.run("compare a.txt b.txt --all --passages 0").exit(1);
    assert!(all.text().contains("\nsketches that are biased at this similarity\n"), "{all}");
    assert!(!desk.run("compare a.txt b.txt --passages 0").exit(1).text().contains("bias"));
}

/// The command prints the estimate of every kind of sketch beside the exact similarity, always as a number.
#[test]
fn all_sketches_can_be_asked_for() {
    let desk = Desk::with("a.txt", prose(1, 300));
    desk.write("b.txt", format!("{} and a little more", prose(1, 300)));
    let comparison = compared(&desk, "a.txt b.txt --all --passages 0");
    let lines = comparison["sketches"].as_array().unwrap();
    assert!(lines.len() > 30, "{}", lines.len());
    for line in lines {
        let number = |field: &str| line[field].as_f64().unwrap_or_else(|| panic!("{field} of {line}"));
        assert!(
            (number("estimate") - number("exact")).abs() <= 5.0 * number("standard_error") + 1e-9,
            "{line}"
        );
    }
    let run = desk.run("compare a.txt b.txt --all --passages 0").exit(0);
    assert!(run.text().contains("sectional:s=2,tolerant/minhash:1024"), "{run}");
    let run = desk.run_with(&["compare", "a.txt", "-", "--all", "--format", "jsonl"], b"").exit(1);
    let comparison: Value = serde_json::from_str(run.text()).unwrap();
    let sketches = comparison["sketches"].as_array().unwrap();
    assert!(sketches.len() > 30 && sketches.iter().all(|line| line["estimate"] == 0.0), "{run}");
}
