//! Tests `--keep`, which decides the kept document of a cluster.

use serde_json::{Value, json};

use crate::support::{Desk, prose, with_word};

/// Returns a desk with five near-duplicates whose fields rank them differently.
fn desk() -> Desk {
    let text = prose(1, 60);
    let fields = [
        json!({"id": "a", "date": "2024-05-06T10:00:00+02:00", "score": 9_007_199_254_740_993_u64, "source": "blog"}),
        json!({"id": "b", "date": "2024-05-06 08:30", "score": 9_007_199_254_740_992_u64, "source": "news"}),
        json!({"id": "c", "date": 1_700_000_000, "score": -0.5, "source": "news"}),
        json!({"id": "d", "date": "soon", "score": "none"}),
        json!({"id": "e", "date": null, "meta": {"n": 1}}),
    ];
    let lines = fields.into_iter().enumerate().map(|(number, mut record)| {
        record["text"] = with_word(&text, 30, ["same", "same", "x", "y", "longestword"][number]).into();
        format!("{record}\n")
    });
    Desk::with("in.jsonl", lines.collect::<String>())
}

fn kept(desk: &Desk, policies: &[&str]) -> String {
    let mut arguments = vec!["dedup", "in.jsonl", "-o", "-", "-q"];
    arguments.extend(policies.iter().flat_map(|policy| ["--keep", policy]));
    let run = desk.run_with(&arguments, b"").exit(0);
    let ids = crate::support::ids(run.text());
    assert_eq!(ids.len(), 1, "{run}");
    ids[0].clone()
}

#[test]
fn fields_decide() {
    let desk = desk();
    for (policies, expected) in [
        (&["last"][..], "e"),
        (&["newest:date"], "b"),
        (&["oldest:date"], "c"),
        (&["max:score"], "a"),
        (&["min:score"], "c"),
        (&["min:meta.n"], "e"),
        (&["priority:source=news,blog"], "b"),
        (&["priority:source=wiki,blog"], "a"),
        (&["priority:source=news", "oldest:date"], "c"),
        (&["priority:source=news", "last"], "c"),
        (&["priority:source=nobody;longest"], "a"),
        (&["min:meta.n", "shortest"], "e"),
    ] {
        assert_eq!(kept(&desk, policies), expected, "{policies:?}");
    }
}

#[test]
fn what_cannot_be_ranked_is_told_and_counted() {
    let desk = desk();
    let run =
        desk.run("dedup in.jsonl -o out.jsonl --report report --keep newest:date --keep max:score").exit(0);
    insta::assert_snapshot!(run, @"
    exit 0
    --- stderr
    warning: 2 documents rank last by `newest:date`, because they have no usable value: `in.jsonl:4` has `soon` in `date`, which is not a date
    warning: 2 documents rank last by `max:score`, because they have no usable value: `in.jsonl:4` has `none` in `score`, which is not a number
    read        5 documents, 2.1 kB
    kept        1 document (20.0 %)
    removed     4 documents (80.0 %) in 1 cluster; 1 of them equal after normalisation
    rejected    0 records
    compared    3 candidate pairs: 3 compared exactly, 3 reach 0.8
    recall      99.91 % expected; 100 % measured: the only kept document is not a missed duplicate
    wrote       1 kept document to `out.jsonl`
                the report to `report/index.html`
    time        [time]

    Details
    spec        nfkc+casefold / words:5 / minhash:128 / seed:1
    settings    keep newest:date;max:score, cluster star
    candidates  16 bands of 6 rows
    sketches    the filter compared 100 % of the registers of the candidate pairs
    stages      [time]
    ");
    let summary = desk.json("report/summary.json");
    assert_eq!(summary["keep"], "newest:date;max:score");
    let counts: Value =
        json!([{"keep": "newest:date", "documents": 2}, {"keep": "max:score", "documents": 2}]);
    assert_eq!(summary["unranked"], counts);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let desk = desk();
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --keep best").exit(2), @"
    exit 2
    --- stderr
    error: `--keep`: `best` is not a keeper policy: expected `first`, `last`, `longest`, `shortest`, `newest:FIELD`, `oldest:FIELD`, `max:FIELD`, `min:FIELD` or `priority:FIELD=A,B,C`
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --keep last --keep longest").exit(2), @"
    exit 2
    --- stderr
    error: `--keep`: `last;longest` is not a keeper policy: expected nothing after `last`, which leaves no ties
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --keep newest:meta..date").exit(2), @"
    exit 2
    --- stderr
    error: `--keep`: `meta..date` is not a field: expected names separated by single dots, such as `text` or `meta.id`
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl --dry-run --keep newest:day").exit(2), @"
    exit 2
    --- stderr
    error: no document has the field `day`

    hint: the fields of the first document are `date`, `id`, `score`, `source`, `text`
    ");
    desk.write("texts/a.txt", "one text");
    insta::assert_snapshot!(desk.run("dedup texts --dry-run --keep newest:mtime").exit(2), @"
    exit 2
    --- stderr
    error: the inputs are texts, which have no field `mtime`

    hint: texts can be told apart by `first`, `last`, `longest` and `shortest`
    ");
    desk.write("in.csv", "text,year\na,2024\n");
    insta::assert_snapshot!(desk.run("dedup in.csv --dry-run --keep max:score").exit(2), @"
    exit 2
    --- stderr
    error: `in.csv` has no column `score`

    hint: its columns are `text` and `year`
    ");
}
