//! Tests outputs whose format differs from that of the inputs.

use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::formats::parquet;
use crate::support::{Desk, gunzip, prose, records};

/// Returns the rows of a Parquet file, each as a line.
fn rows(desk: &Desk, name: &str) -> Vec<String> {
    let file = SerializedFileReader::new(bytes::Bytes::from(desk.bytes(name))).unwrap();
    file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

const CHAT: &str = r#"{"id":1,"text":"one fine day","tags":["a",null],"meta":{"n":1}}
{"id":2,"text":"quite another story","meta":{"n":2.5,"who":null},"ok":true}
{"id":3,"text":null,"tags":[]}
"#;

#[test]
fn the_name_of_the_output_decides() {
    let desk = Desk::with("in.jsonl", CHAT);
    desk.run("dedup in.jsonl -o out.parquet -q").exit(0);
    assert_eq!(
        rows(&desk, "out.parquet"),
        [
            r#"{id: 1, text: "one fine day", tags: ["a", null], meta: {n: 1.0, who: null}, ok: null}"#,
            r#"{id: 2, text: "quite another story", tags: null, meta: {n: 2.5, who: null}, ok: true}"#,
            "{id: 3, text: null, tags: [], meta: null, ok: null}",
        ]
    );
    desk.run("dedup out.parquet -o out.arrow -q").exit(0);
    desk.run("dedup out.arrow -o again.jsonl.gz -q").exit(0);
    let again = String::from_utf8(gunzip(&desk.bytes("again.jsonl.gz"))).unwrap();
    assert_eq!(
        again.lines().next().unwrap(),
        r#"{"id":1,"text":"one fine day","tags":["a",null],"meta":{"n":1.0,"who":null},"ok":null}"#
    );
    // If the name implies no format, or that of the input, every byte is copied unchanged.
    for name in ["out", "out.2024", "out.ndjson", "-"] {
        let run = desk.run(&format!("dedup in.jsonl -o {name} -q")).exit(0);
        let written = if name == "-" { run.out } else { desk.bytes(name) };
        assert_eq!(written, CHAT.as_bytes(), "{name}");
    }
}

#[test]
fn an_output_format_outweighs_the_name() {
    let desk = Desk::with("in.parquet", parquet(&[(1, Some("one")), (2, Some("two")), (3, None)]));
    let run = desk.run("dedup in.parquet -o - --output-format jsonl -q").exit(0);
    assert_eq!(
        run.lines(),
        [
            r#"{"id":1,"text":"one","weight":0.5}"#,
            r#"{"id":2,"text":"two","weight":1.0}"#,
            r#"{"id":3,"text":null,"weight":1.5}"#
        ]
    );
    desk.run("dedup in.parquet -o out.jsonl --output-format csv -q").exit(0);
    assert_eq!(desk.text("out.jsonl"), "id,text,weight\n1,one,0.5\n2,two,1.0\n3,,1.5\n");
    let run = desk.run("dedup in.parquet -o x --output-format text").exit(2);
    assert!(run.err.contains("`text` is not an output format: expected `jsonl`, `csv`"), "{run}");
}

#[test]
fn each_file_of_a_folder_is_converted() {
    let desk = Desk::with("in/a.jsonl.gz", crate::support::gzip(b"{\"text\":\"one\",\"n\":1}\n"));
    desk.write("in/deep/b.csv", "text,n\ntwo,2\n");
    desk.run("dedup in -o out/ --output-format tsv -q").exit(0);
    assert_eq!(desk.text("out/a.tsv"), "text\tn\none\t1\n");
    assert_eq!(desk.text("out/deep/b.tsv"), "text\tn\ntwo\t2\n");
    // Without `--output-format`, each file has the format of its input.
    desk.run("dedup in -o same/ -q").exit(0);
    assert_eq!(desk.text("same/deep/b.csv"), "text,n\ntwo,2\n");
    desk.write("in/deep/b.jsonl", "{\"text\":\"three\"}\n");
    let run = desk.run("dedup in -o two/ --output-format parquet").exit(2);
    assert!(run.err.contains("`deep/b.parquet`"), "{run}");
}

#[test]
fn inputs_of_several_formats_need_a_name_that_decides() {
    let desk = Desk::with("a.jsonl", "{\"id\": \"1\", \"text\": \"one\"}");
    desk.write("b.csv", "id,text,note\n2,two,x\n3,one,y\n");
    for output in ["out", "-"] {
        let run = desk.run(&format!("dedup a.jsonl b.csv -o {output}")).exit(2);
        assert!(
            run.err.starts_with(
                "error: the inputs have several formats (`a.jsonl` is JSONL, `b.csv` is CSV), and "
            ),
            "{run}"
        );
    }
    desk.run("dedup a.jsonl b.csv -o out.jsonl --removed gone.csv -q").exit(0);
    // A line that is not converted is copied unchanged, except that a missing line end is added.
    assert_eq!(
        desk.text("out.jsonl"),
        "{\"id\": \"1\", \"text\": \"one\"}\n{\"id\":\"2\",\"text\":\"two\",\"note\":\"x\"}\n"
    );
    assert_eq!(desk.text("gone.csv"), "id,text,note\n3,one,y\n");
    desk.run("pairs a.jsonl b.csv -o pairs.tsv -q").exit(0);
    assert_eq!(desk.text("pairs.tsv"), "1\t3\t1.000000\n");
    desk.write("b.txt", "a text");
    let run = desk.run("dedup a.jsonl b.txt -o out2.jsonl").exit(2);
    assert!(run.err.contains("the inputs are of two kinds"), "{run}");
}

#[test]
fn a_mixture_of_types_is_refused_with_both_lines() {
    let lines = "{\"text\":\"one\",\"meta\":{\"year\":1999}}\n\n{\"text\":\"two\"}\n{\"text\":\"three\",\"meta\":{\"year\":\"MM\"}}\n";
    let desk = Desk::with("in.jsonl", lines);
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.parquet"), @"
    exit 2
    --- stderr
    error: `meta.year` is a number in `in.jsonl:1` and a string in `in.jsonl:4`, and a column of Parquet has one type

    hint: give every record the same type in this field, or write JSONL, which allows mixed types: `--output kept.jsonl`
    ");
    insta::assert_snapshot!(desk.run("dedup in.jsonl -o out.csv"), @"
    exit 2
    --- stderr
    error: `meta` is an object in `in.jsonl:1`, which no column of CSV holds

    hint: write JSONL, which can hold this value: `--output kept.jsonl`
    ");
    desk.write("big.jsonl", "{\"text\":\"a\",\"n\":0.5}\n{\"text\":\"b\",\"n\":9007199254740993}\n");
    let run = desk.run("dedup big.jsonl -o out.arrow").exit(2);
    assert!(run.err.contains("a number with a fraction in `big.jsonl:1` and an integer that no float holds exactly in `big.jsonl:2`"), "{run}");
    let deep = format!("{{\"text\":\"a\",\"x\":{}1{}}}\n", "[".repeat(200), "]".repeat(200));
    desk.write("deep.jsonl", &deep);
    let run = desk.run("dedup deep.jsonl -o out.parquet").exit(2);
    assert!(
        run.err.contains("is nested too deep in `deep.jsonl:1`, which no column of Parquet holds"),
        "{run}"
    );
    desk.run("dedup deep.jsonl -o same.jsonl -q").exit(0);
    assert_eq!(desk.text("same.jsonl"), deep);
    let keys: Vec<String> = (0..10_100).map(|key| format!("\"k{key}\":1,")).collect();
    let keys = keys.concat();
    desk.write("keys.jsonl", format!("{{\"text\":\"a\",\"m\":{{{keys}\"z\":1}}}}\n"));
    let run = desk.run("dedup keys.jsonl -o out.parquet").exit(2);
    assert!(run.err.contains("`m` is more than 10,000 different members in `keys.jsonl:1`"), "{run}");
    for name in ["deep.jsonl", "same.jsonl", "keys.jsonl"] {
        fs_err::remove_file(desk.path(name)).unwrap();
    }
    desk.write("none.jsonl", "{\"text\":\"a\",\"o\":{}}\n");
    let run = desk.run("dedup none.jsonl -o out.parquet").exit(2);
    let refused = "the records cannot be written as Parquet: it has no type for objects without members, which the column `o` holds";
    assert!(run.err.contains(refused), "{run}");
    assert_eq!(desk.names(), ["big.jsonl", "in.jsonl", "none.jsonl"]);
    // A rejected record is not written, so its types do not count.
    desk.write("bad.jsonl", "{\"text\":\"a\",\"n\":1}\n{\"text\":5,\"n\":\"x\"}\n");
    desk.run("dedup bad.jsonl -o out.parquet --max-rejects 1 -q").exit(0);
    assert_eq!(rows(&desk, "out.parquet"), [r#"{text: "a", n: 1}"#]);
    desk.write("null.jsonl", "{\"text\":\"a\",\"n\":1}\n{\"text\":null,\"n\":\"x\"}\n");
    desk.run("dedup null.jsonl -o null.parquet --null reject --max-rejects 1 -q").exit(0);
    desk.run("dedup null.jsonl -o kept.parquet -q").exit(2);
}

#[test]
fn types_of_columns_are_named_in_words() {
    let desk = Desk::with("in.jsonl", CHAT);
    desk.run("dedup in.jsonl -o a.parquet -q").exit(0);
    desk.write("other.jsonl", "{\"text\":\"and so on\",\"tags\":7}\n");
    desk.run("dedup other.jsonl -o b.parquet -q").exit(0);
    let run = desk.run("dedup a.parquet b.parquet -o both.arrow").exit(2);
    let expected = "`tags` is a list of strings in `a.parquet` and a 64-bit integer in `b.parquet`, and a column of Arrow IPC has one type";
    assert!(run.err.contains(expected), "{run}");
    let run = desk.run("dedup a.parquet -o out.csv").exit(2);
    let expected = "the column `tags` of `a.parquet` holds lists of strings, which cannot be written as CSV";
    assert!(run.err.contains(expected), "{run}");
}

/// A column `minwise` in the input is copied like any other column, unless the run adds one.
#[test]
fn an_annotated_output_is_converted_like_any_other() {
    let desk = Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(2, 9))]));
    let formats = ["jsonl", "parquet", "arrow"];
    for from in formats {
        desk.run(&format!("dedup in.jsonl -o {from}.{from} --annotate -q")).exit(0);
        for to in formats {
            desk.run(&format!("dedup {from}.{from} -o {from}-{to}.{to} -q")).exit(0);
            desk.run(&format!("dedup {from}-{to}.{to} -o {from}-{to}-again.jsonl -q")).exit(0);
            assert_eq!(
                desk.text(&format!("{from}-{to}-again.jsonl")),
                desk.text("jsonl.jsonl"),
                "{from} {to}"
            );
        }
    }
    desk.write("in.csv", "id,text,minwise\n1,hello,2\n");
    desk.run("dedup in.csv -o out.tsv -q").exit(0);
    assert_eq!(desk.text("out.tsv"), "id\ttext\tminwise\n1\thello\t2\n");
}

#[test]
fn a_format_without_a_conversion_is_refused_before_reading() {
    let body = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nsome text";
    let warc = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
        body.len()
    );
    let desk = Desk::with("in.warc", warc);
    let run = desk.run("dedup in.warc -o out.jsonl").exit(2);
    assert!(run.err.starts_with("error: `in.warc` is WARC, and WARC cannot be converted to JSONL"), "{run}");
    desk.write("in.jsonl", CHAT);
    let run = desk.run("dedup in.jsonl -o out.warc.gz").exit(2);
    assert!(
        run.err.starts_with("error: `in.jsonl` is JSONL, and JSONL cannot be converted to WARC"),
        "{run}"
    );
    // The message names the input that cannot be converted.
    let run = desk.run("dedup in.warc in.jsonl -o out.warc").exit(2);
    assert!(
        run.err.starts_with("error: `in.jsonl` is JSONL, and JSONL cannot be converted to WARC"),
        "{run}"
    );
    for name in ["out.arrow.zst", "out.arrow.GZ", "out.arrow.zstd"] {
        let run = desk.run(&format!("dedup in.jsonl -o {name}")).exit(2);
        assert!(
            run.err.contains("Arrow IPC is compressed inside and cannot be compressed as a file, too"),
            "{run}"
        );
    }
    let run = desk.run("dedup in.jsonl -o out.arrow --compression gzip").exit(2);
    assert!(run.err.contains("Arrow IPC cannot be written with the compression `gzip`"), "{run}");
    assert_eq!(desk.names(), ["in.jsonl", "in.warc"]);
}

#[test]
fn annotations_are_converted_too() {
    let desk = Desk::with("in.jsonl", records(&[("a", &prose(1, 9)), ("b", &prose(1, 9))]));
    desk.run("dedup in.jsonl -o out.parquet --annotate -q").exit(0);
    let found = rows(&desk, "out.parquet");
    assert!(
        found[1].ends_with("minwise: {cluster: \"a\", duplicate_of: \"a\", similarity: 1.0}}"),
        "{}",
        found[1]
    );
    desk.run("dedup in.jsonl -o out.csv --annotate -q").exit(0);
    assert!(desk.text("out.csv").starts_with("id,text,minwise\na,"));
    assert!(desk.text("out.csv").ends_with(
        ",\"{\"\"cluster\"\":\"\"a\"\",\"\"duplicate_of\"\":\"\"a\"\",\"\"similarity\"\":1.0}\"\n"
    ));
    desk.write("in.csv", "id,text\nc,one\n");
    desk.run("dedup in.jsonl in.csv -o out.jsonl --annotate -q").exit(0);
    let last = r#"{"id":"c","text":"one","minwise":{"cluster":"c","duplicate_of":null,"similarity":null}}"#;
    assert_eq!(desk.text("out.jsonl").lines().last().unwrap(), last);
    // A second input of another format does not change the first two lines.
    desk.run("dedup in.jsonl -o only.jsonl --annotate -q").exit(0);
    assert!(desk.text("out.jsonl").starts_with(&desk.text("only.jsonl")));
    desk.write("has.jsonl", "{\"text\":\"one\",\"minwise\":1}\n");
    let run = desk.run("dedup has.jsonl -o has.parquet --annotate").exit(2);
    assert!(run.err.contains("has a column `minwise` already"), "{run}");
}

/// The types are inferred while records are read. A run that is resumed later reads the records again to infer the
/// types.
#[test]
fn a_run_that_is_resumed_infers_the_types_again() {
    let desk = Desk::with("in.jsonl", CHAT);
    desk.run("dedup in.jsonl -o out.parquet --work work --keep-work -q").exit(0);
    desk.run("dedup in.jsonl -o again.parquet --work work --resume -q").exit(0);
    assert_eq!(desk.bytes("again.parquet"), desk.bytes("out.parquet"));
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let mut lines = String::new();
    for number in 0..3000 {
        let (text, field) = (prose(number, 40), number % 7);
        lines += &format!("{{\"id\":{number},\"text\":\"{text}\",\"f{field}\":{number}}}\n");
    }
    let desk = Desk::with("in.jsonl", lines);
    for (threads, name) in [(1, "one"), (5, "five")] {
        for format in ["parquet", "arrow", "csv"] {
            desk.run(&format!("dedup in.jsonl -o {name}.{format} --threads {threads} -q")).exit(0);
        }
    }
    for format in ["parquet", "arrow", "csv"] {
        assert_eq!(desk.bytes(&format!("one.{format}")), desk.bytes(&format!("five.{format}")), "{format}");
    }
}

#[test]
fn odd_records_keep_their_values() {
    let long = "long words ".repeat(1 << 20);
    let odd = format!(
        "\u{feff}{{\"text\":\"{long}\",\"k\\ud800\":\"v\\ud83d\",\"twice\":1,\"twice\":2}}\r\n{{\"text\":\"漢字\"}}\n"
    );
    let desk = Desk::with("in.jsonl", odd);
    desk.run("dedup in.jsonl -o out.parquet -q").exit(0);
    desk.run("dedup out.parquet -o out.jsonl -q").exit(0);
    let expected = format!(
        "{{\"text\":\"{long}\",\"k\u{fffd}\":\"v\u{fffd}\",\"twice\":2}}\n{{\"text\":\"漢字\",\"k\u{fffd}\":null,\"twice\":null}}\n"
    );
    assert!(desk.text("out.jsonl") == expected);
    desk.write("empty.jsonl", "");
    for name in ["empty.parquet", "empty.arrow", "empty.csv"] {
        desk.run(&format!("dedup empty.jsonl -o {name} -q")).exit(0);
    }
    assert_eq!(rows(&desk, "empty.parquet").len(), 0);
    // A file without rows still has a column, because some readers do not accept a file without columns.
    assert_eq!(desk.text("empty.csv"), "text\n");
}

/// A conversion replaces lone surrogates in every field. A copy does not replace them.
#[test]
fn lone_surrogates_that_a_conversion_replaces_are_counted() {
    let long = "long words ".repeat(1 << 20);
    let lines = [
        r#"{"id":"a","text":"one fine day","note":"x\ud800"}"#.to_owned(),
        r#"{"id":"b","text":"quite another story","k\udc00":1}"#.to_owned(),
        r#"{"id":"c","text":"a third one","note":"\ud83d\ude00 \\ud800"}"#.to_owned(),
        format!(r#"{{"id":"d","text":"{long}","note":"{long}\ud800"}}"#),
        format!(r#"{{"id":"e","text":"{long} at last","note":"{long}"}}"#),
        r#"{"id":"f","text":"\ud800 the sixth","note":"\ud800"}"#.to_owned(),
    ];
    let desk = Desk::with("in.jsonl", lines.join("\n") + "\n");
    for (name, count) in [("out.parquet", 4), ("out.csv", 4), ("out.jsonl", 1)] {
        let run = desk.run(&format!("dedup in.jsonl -o {name} --report {name}.report")).exit(0);
        let documents = if count == 1 { "1 document".to_owned() } else { format!("{count} documents") };
        let warning =
            format!("lone surrogates (halves of characters) were replaced by U+FFFD in {documents}\n");
        assert!(run.err.contains(&warning), "{name}: {run}");
        assert_eq!(desk.json(&format!("{name}.report/summary.json"))["repaired"], count, "{name}");
    }
}
