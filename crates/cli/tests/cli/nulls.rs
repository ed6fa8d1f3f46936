//! Tests records whose text is null, records without a text, and the exit codes that they cause.

use crate::support::Desk;

const NULLS: &str = "{\"id\":\"a\",\"text\":\"the quick brown fox jumps over the lazy dog\"}\n\
    {\"id\":\"n1\", \"text\": null, \"more\": 1}\n\
    {\"id\":\"b\",\"text\":\"The quick brown fox jumps over the lazy dog!\"}\n\
    {\"text\":null,\"id\":\"n2\"}\n\
    {\"id\":\"e\",\"text\":\"\"}\n";

#[test]
fn a_null_text_is_kept_and_compared_with_nothing() {
    let desk = Desk::with("in.jsonl", NULLS);
    let run = desk.run("dedup in.jsonl -o out.jsonl --report report --log json").exit(0);
    let lines: Vec<&str> = NULLS.lines().collect();
    let expected: Vec<&str> = [0, 1, 3, 4].map(|line| lines[line]).into();
    assert_eq!(desk.text("out.jsonl").lines().collect::<Vec<_>>(), expected);
    assert!(run.err.contains("\"nulls\":2"), "{run}");
    // The document with an empty text counts as one without shingles; records with a null text do not.
    assert!(run.err.contains("\"without_shingles\":1"), "{run}");
    let run = desk.run("dedup in.jsonl -o again.jsonl").exit(0);
    assert!(run.err.contains("; 2 with a null text; 1 without words"), "{run}");
    let run = desk.run("dedup in.jsonl -o annotated.jsonl --annotate").exit(0);
    assert!(run.err.contains("marked      1 document (20.0 %) in 1 cluster"), "{run}");
    assert!(desk.text("annotated.jsonl").contains("\"cluster\":\"n2\",\"duplicate_of\":null"));
}

#[test]
fn nulls_are_kept_however_the_run_goes() {
    let desk = Desk::with("in.jsonl", NULLS.repeat(40));
    desk.run("dedup in.jsonl -o plain.jsonl -q").exit(0);
    assert_eq!(desk.text("plain.jsonl").matches("null").count(), 80);
    let ways = [
        "--candidates all",
        "--candidates sort-merge",
        "--measure containment",
        "--weight tf-idf",
        "--keep longest",
        "--order 0.5",
        "--work work --keep-work",
        "--work work --resume",
    ];
    for way in ways {
        let run = desk.run(&format!("dedup in.jsonl -o out.jsonl --force -q {way}")).exit(0);
        let found = desk.text("out.jsonl").matches("null").count();
        assert_eq!(found, 80, "{way}: {run}");
    }
    assert_eq!(desk.text("out.jsonl"), desk.text("plain.jsonl"));
}

#[test]
fn nulls_can_be_rejected_or_end_the_run() {
    let desk = Desk::with("in.jsonl", NULLS);
    let run = desk.run("dedup in.jsonl -o out.jsonl --null reject").exit(2);
    assert!(
        run.err.contains("2 records were rejected\n    in.jsonl:2: the field `text` holds null"),
        "{run}"
    );
    assert_eq!(desk.ids("out.jsonl"), ["a", "e"]);
    desk.run("dedup in.jsonl -o allowed.jsonl --null reject --max-rejects 2").exit(0);
    let run = desk.run("dedup in.jsonl -o more.jsonl --null reject --max-rejects 1").exit(2);
    assert!(run.err.contains("more than 1 record"), "{run}");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o error.jsonl --null error"), @"
    exit 2
    --- stderr
    error: in.jsonl:2: the field `text` holds null

    hint: `--null keep` keeps such records, and `--null reject` leaves them out
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o error.jsonl --null drop"), @"
    exit 2
    --- stderr
    error: `--null`: `drop` is not a rule for null: expected `keep`, `reject` or `error`
    ");
    for command in ["pairs", "weights -o table", "sketch -o sketches"] {
        let run = desk.run(&format!("{command} in.jsonl --null error")).exit(2);
        assert!(run.err.starts_with("error: in.jsonl:2: the field `text` holds null\n"), "{command}: {run}");
    }
    assert!(
        !desk
            .names()
            .iter()
            .any(|name| ["error.jsonl", "more.jsonl", "table", "sketches"].contains(&name.as_str()))
    );
}

#[test]
fn other_commands_count_nulls_and_leave_them_out() {
    let desk = Desk::with("in.jsonl", NULLS);
    let run = desk.run("pairs in.jsonl --threshold 0.5").exit(0);
    assert_eq!(run.text().lines().count(), 1, "{run}");
    assert!(run.err.contains("; 2 with a null text\nrejected    0 records\n"), "{run}");
    let run = desk.run("sketch in.jsonl -o sketches").exit(0);
    assert!(run.err.contains("wrote       3 sketches of 512 bytes each to `sketches`"), "{run}");
    assert!(run.err.contains("; 2 with a null text\nrejected    0 records\n"), "{run}");
    let run = desk.run("weights in.jsonl -o table").exit(0);
    assert!(run.err.contains("read        5 documents"), "{run}");
    assert!(run.err.contains("; 2 with a null text\nrejected    0 records\n"), "{run}");
    desk.run("index create archive").exit(0);
    let run = desk.run("index add archive in.jsonl").exit(0);
    assert!(run.err.contains("documents   3 added, 0 replaced, 0 unchanged"), "{run}");
    assert!(run.err.contains("; 2 with a null text\ndocuments   "), "{run}");
    let run = desk.run("check in.jsonl --index archive").exit(2);
    assert!(run.err.contains("2 records were rejected"), "{run}");
}

#[test]
fn a_field_that_no_record_has_stops_the_run_at_once() {
    let line = |number: u64| format!("{{\"id\":{number},\"body\":\"text {number}\",\"meta\":{{}}}}\n");
    let desk = Desk::with("in.jsonl", (0..1000).map(line).collect::<String>());
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.jsonl"), @"
    exit 2
    --- stderr
    error: none of the first 1,000 records has the field `text`

    hint: `--text-field NAME` names the field that holds the text; the fields of the first record are `id`, `body`
    ");
    assert_eq!(desk.names(), ["in.jsonl"]);
    let with = |before: u64, after: &str| {
        desk.write("in.jsonl", (0..before).map(line).collect::<String>() + after);
        desk.run("dedup in.jsonl -o out.jsonl --force -q")
    };
    let run = with(7, "");
    assert!(run.exit(2).err.contains("none of the first 7 records has the field `text`"));
    // A null text counts as a present field.
    let run = with(999, "{\"text\":null}\n").exit(2);
    assert!(run.err.contains("999 records were rejected"), "{run}");
    let run = with(1000, "{\"text\":\"late\"}\n").exit(2);
    assert!(run.err.contains("none of the first 1,000 records has the field `text`"), "{run}");
    let run = with(999, "{\"text\":\"in time\"}\n").exit(2);
    assert!(run.err.contains("999 records were rejected"), "{run}");
}

#[test]
fn nothing_is_written_if_every_record_was_rejected() {
    let desk = Desk::with("in.jsonl", "[1, 2]\n{\"id\": 3}\n{\"text\": 4}\n");
    for command in
        ["dedup in.jsonl -o out --report report", "sketch in.jsonl -o out", "weights in.jsonl -o out"]
    {
        let run = desk.run(command).exit(2);
        let message = "error: all 3 records were rejected; the first one: in.jsonl:1: not a JSON object\n";
        assert!(run.err.starts_with(message), "{command}: {run}");
        assert_eq!(desk.names(), ["in.jsonl"], "{command}");
    }
    desk.write("list.json", "[{\"text\": \"a\"}, {\"text\": \"b\"}]\n");
    let run = desk.run("dedup list.json --input-format jsonl -o out").exit(2);
    assert!(run.err.contains("`jq -c '.[]' FILE`"), "{run}");
    desk.write("empty.jsonl", "");
    desk.run("dedup empty.jsonl -o nothing.jsonl").exit(0);
    assert_eq!(desk.text("nothing.jsonl"), "");
}
