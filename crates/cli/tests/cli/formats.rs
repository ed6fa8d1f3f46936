//! Tests tables and delimited records as inputs and outputs.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::{Desk, prose, record, records, with_word};

/// Returns a Parquet file of rows with an id, a text and a number, in row groups of 10 rows.
pub fn parquet(rows: &[(i64, Option<&str>)]) -> Vec<u8> {
    let schema = "message m { required int64 id; optional binary text (UTF8); required double weight; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(vec![], schema, Arc::new(WriterProperties::builder().build())).unwrap();
    for rows in rows.chunks(10) {
        let mut group = writer.next_row_group().unwrap();
        let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let texts: Vec<ByteArray> = rows.iter().filter_map(|(_, text)| *text).map(ByteArray::from).collect();
        let there: Vec<i16> = rows.iter().map(|(_, text)| i16::from(text.is_some())).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&there), None).unwrap();
        column.close().unwrap();
        let weights: Vec<f64> = rows.iter().map(|(id, _)| *id as f64 / 2.0).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&weights, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Returns the rows of a Parquet file, each as a line.
fn rows(desk: &Desk, name: &str) -> Vec<String> {
    let file = SerializedFileReader::new(bytes::Bytes::from(desk.bytes(name))).unwrap();
    file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

/// Returns thirty rows with ten texts. Each text occurs three times, the third time with one word changed.
fn thirty() -> Vec<u8> {
    let texts: Vec<String> = (0..30)
        .map(|row| {
            let text = prose(row % 10, 60);
            if row >= 20 { with_word(&text, 30, "changed") } else { text }
        })
        .collect();
    parquet(&(0..).zip(texts.iter().map(|text| Some(text.as_str()))).collect::<Vec<_>>())
}

#[test]
fn a_parquet_file_without_its_duplicates() {
    let desk = Desk::with("in.parquet", thirty());
    let run = desk.run("dedup in.parquet -o out.parquet --removed gone.parquet --report report").exit(0);
    assert_eq!((run.count("kept"), run.count("removed")), (10, 20), "{run}");
    let all = rows(&desk, "in.parquet");
    assert_eq!(rows(&desk, "out.parquet"), all[..10]);
    assert_eq!(rows(&desk, "gone.parquet"), all[10..]);
    assert!(desk.text("report/pairs.tsv").contains("10\t"), "ids are those of the column");
}

#[test]
fn threads_do_not_show() {
    let desk = Desk::with("in.parquet", thirty());
    let written = |threads: u32| {
        desk.run(&format!("dedup in.parquet -o out.parquet --force -q --threads {threads}")).exit(0);
        desk.bytes("out.parquet")
    };
    let one = written(1);
    assert_eq!(written(2), one);
    assert_eq!(written(7), one);
}

#[test]
fn rows_are_annotated_and_compared() {
    let desk = Desk::with("in.parquet", thirty());
    desk.run("dedup in.parquet -o out.parquet --annotate --compression zstd").exit(0);
    let found = rows(&desk, "out.parquet");
    assert_eq!(found.len(), 30);
    assert!(
        found[12].contains("minwise: {cluster: \"2\", duplicate_of: \"2\", similarity: 1"),
        "{}",
        found[12]
    );
    let run = desk.run("dedup out.parquet -o again.parquet --annotate").exit(2);
    assert!(run.err.starts_with("error: `out.parquet` has a column `minwise` already"), "{run}");
    let run = desk.run("compare in.parquet#3 in.parquet#13").exit(0);
    assert!(run.text().contains("1.0000"), "{run}");
}

#[test]
fn a_row_without_a_text_is_kept_or_rejected_with_its_place() {
    let desk = Desk::with("in.parquet", parquet(&[(1, Some("one")), (2, None), (3, Some("two")), (4, None)]));
    let run = desk.run("dedup in.parquet -o kept.parquet.gz").exit(2);
    assert!(
        run.err.contains("Parquet is compressed inside and cannot be compressed as a file, too"),
        "{run}"
    );
    desk.run("dedup in.parquet -o kept.parquet").exit(0);
    assert_eq!(rows(&desk, "kept.parquet").len(), 4);
    let run = desk.run("dedup in.parquet -o out.parquet --null reject").exit(2);
    assert!(run.err.contains("\n    in.parquet:2: the field `text` holds null\n"), "{run}");
    assert_eq!(rows(&desk, "out.parquet").len(), 2);
}

#[test]
fn what_is_wrong_with_a_table_is_said() {
    let desk = Desk::with("in.parquet", thirty());
    desk.write("cut.parquet", &thirty()[..500]);
    desk.write("in.csv", "id,text\n1,a\n");
    insta::assert_snapshot!(desk.run("dedup in.parquet -o out.parquet --text-field body"), @"
    exit 2
    --- stderr
    error: `in.parquet` has no column `body`

    hint: its columns are `id`, `text` and `weight`
    ");
    insta::assert_snapshot!(desk.run("dedup in.parquet -o out.parquet --text-field weight"), @"
    exit 2
    --- stderr
    error: the column `weight` of `in.parquet` holds DOUBLE, not texts

    hint: `--text-field` names the column of the texts, `--id-field` that of the ids, `--keep` others
    ");
    insta::assert_snapshot!(desk.run("dedup cut.parquet -o out.parquet"), @"
    exit 2
    --- stderr
    error: `cut.parquet` cannot be read: its footer: Invalid Parquet file. Corrupt footer

    hint: it may be cut short, or of another format than its name says
    ");
    insta::assert_snapshot!(desk.run("dedup in.csv -o out.csv --compression zstd"), @"
    exit 2
    --- stderr
    error: CSV cannot be written with the compression `zstd`

    hint: the name of the output decides: `.gz`, `.zst`, `.bz2` or `.xz`
    ");
    insta::assert_snapshot!(desk.run("dedup in.parquet in.csv -o out"), @"
    exit 2
    --- stderr
    error: the inputs have several formats (`in.parquet` is Parquet, `in.csv` is CSV), and the name of the output `out` decides none

    hint: name a file with the extension of a format, such as `kept.parquet`, or a folder, such as `kept/`; or set `--output-format`
    ");
    assert_eq!(desk.names(), ["cut.parquet", "in.csv", "in.parquet"]);
}

#[test]
fn delimited_records_pass_through_byte_for_byte() {
    let (one, two) = (prose(1, 20), prose(2, 20));
    let rows = [
        format!("a,\"{one}\nand a \"\"second\"\" line\"\r\n"),
        format!("b,\"{one}\nand a \"\"second\"\" line\"\n"),
        format!("c,{two}\r\n"),
    ];
    let desk = Desk::with("in.csv", format!("id,text\r\n{}", rows.concat()));
    desk.run("dedup in.csv -o out.csv --removed gone.csv.bz2").exit(0);
    assert_eq!(desk.text("out.csv"), format!("id,text\r\n{}{}", rows[0], rows[2]));
    let run = desk.run("dedup gone.csv.bz2 -o -").exit(0);
    assert_eq!(run.text(), format!("id,text\r\n{}", rows[1]));
    desk.run("dedup in.csv -o marked.csv --annotate").exit(0);
    assert!(desk.text("marked.csv").starts_with("id,text,minwise\r\n"));
    let run = desk.run("pairs in.csv --id-field text --text-field id").exit(0);
    assert_eq!(run.text(), "");
}

#[test]
fn an_empty_file_first_takes_no_header_away() {
    let desk = Desk::with("full.csv", format!("id,text\na,{}\n", prose(1, 20)));
    desk.write("empty.csv", "");
    desk.run("dedup empty.csv full.csv -o out.csv").exit(0);
    assert_eq!(desk.text("out.csv"), desk.text("full.csv"));
    desk.run("dedup empty.csv full.csv -o marked.csv --annotate").exit(0);
    assert!(desk.text("marked.csv").starts_with("id,text,minwise\na,"), "{}", desk.text("marked.csv"));
    desk.run("dedup empty.csv full.csv -o each/ --annotate").exit(0);
    assert_eq!(desk.text("each/empty.csv"), "");
}

#[test]
fn each_input_has_its_own_output() {
    let desk = Desk::with("data/a.jsonl", records(&[("a", &prose(1, 20)), ("b", &prose(2, 20))]));
    desk.write("data/deep/b.jsonl", records(&[("c", &prose(1, 20)), ("d", &prose(3, 20))]));
    desk.write("data/deep/c.jsonl", record("e", &prose(1, 20)));
    desk.run("dedup data -o out/ --removed gone/").exit(0);
    assert_eq!(desk.ids("out/a.jsonl"), ["a", "b"]);
    assert_eq!(desk.ids("out/deep/b.jsonl"), ["d"]);
    assert_eq!(desk.text("out/deep/c.jsonl"), "");
    assert_eq!(desk.ids("gone/deep/c.jsonl"), ["e"]);
    // An existing folder is recognised without a slash after its name.
    fs_err::create_dir_all(desk.path("there")).unwrap();
    desk.run("dedup data/a.jsonl data/deep/b.jsonl -o there --annotate").exit(0);
    assert!(desk.text("there/data/deep/b.jsonl").contains("\"duplicate_of\":\"a\""));
    let run = desk.run("dedup data -o out/").exit(2);
    assert!(run.err.contains("exists already"), "{run}");
}

#[test]
fn inputs_without_a_name_of_their_own_are_refused() {
    let desk = Desk::with("a/x.jsonl", record("a", "one"));
    desk.write("b/x.jsonl", record("b", "two"));
    insta::assert_snapshot!(desk.run("dedup a b -o out/"), @"
    exit 2
    --- stderr
    error: `a/x.jsonl` and `b/x.jsonl` would both be written as `x.jsonl`

    hint: give the folder that holds both, rename one of them, or write to one file
    ");
    insta::assert_snapshot!(desk.run_with(&["dedup", "-", "-o", "out/"], record("a", "one").as_bytes()), @"
    exit 2
    --- stderr
    error: standard input has no file name, so it cannot be written to a folder

    hint: write to one file, such as `kept.jsonl`, or to standard output, `-`
    ");
    assert_eq!(desk.names(), ["a", "a/x.jsonl", "b", "b/x.jsonl"]);
}

#[test]
fn a_text_may_be_several_fields() {
    let line = |id: &str, title: &str, body: &str| {
        format!("{}\n", serde_json::json!({"id": id, "title": title, "body": body}))
    };
    let (one, two) = (prose(1, 30), prose(2, 30));
    let desk = Desk::with(
        "in.jsonl",
        [line("a", &one, &two), line("b", &one, &prose(3, 30)), line("c", &one, &two)].concat(),
    );
    let pairs = |fields: &str| {
        desk.run(&format!("pairs in.jsonl --text-field {fields} -q")).exit(0).text().to_owned()
    };
    assert_eq!(pairs("title").lines().count(), 3);
    assert_eq!(pairs("title,body"), "a\tc\t1.000000\n");
    let run = desk.run("dedup in.jsonl -o out.jsonl --text-field subject,heading").exit(2);
    assert!(run.err.contains("none of the first 3 records has the field `subject,heading`"), "{run}");
}

/// Returns a Parquet file whose columns are texts.
fn columns<const N: usize>(names: [&str; N], rows: &[[&str; N]]) -> Vec<u8> {
    let fields = names.map(|name| format!("required binary {name} (UTF8);"));
    let schema = Arc::new(parse_message_type(&format!("message m {{ {} }}", fields.concat())).unwrap());
    let mut writer =
        SerializedFileWriter::new(vec![], schema, Arc::new(WriterProperties::builder().build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for at in 0..N {
        let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(row[at])).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Every command of the guide has the effect that the guide states, on files like those of the guide.
#[test]
fn the_guide_leads_from_a_folder_of_parquet_files_to_a_cleaned_copy() {
    let (body, changed) = (prose(1, 150), with_word(&prose(1, 150), 75, "elsewhere"));
    let other = prose(2, 150);
    let crawled = |rows: &[[&str; 5]]| columns(["id", "title", "body", "source", "published"], rows);
    let desk = Desk::with(
        "crawl/a.parquet",
        crawled(&[
            ["old", "T", &body, "preprint", "2024-01-01"],
            ["printed", "T", &changed, "journal", "2023-06-01"],
        ]),
    );
    desk.write("crawl/b.parquet", crawled(&[["other", "U", &other, "web", "2020-05-05"]]));
    desk.write("crawl/_SUCCESS", "");
    desk.write("new/n.parquet", columns(["id", "text"], &[["n1", &body], ["n2", &other]]));
    desk.write("archive/x.parquet", columns(["id", "text"], &[["x", &changed]]));
    let guide = include_str!("../../../../docs/guides/deduplicate-a-corpus.md");
    let commands = crate::serve::commands(guide);
    assert_eq!(commands.len(), 4);
    for command in commands {
        desk.run(&command).exit(0);
    }
    let ids = |name: &str| -> Vec<String> {
        let id = |row: &String| row.split('"').nth(1).unwrap().to_owned();
        rows(&desk, name).iter().map(id).collect()
    };
    // The text printed in a journal is kept, although the other text is newer and comes first.
    assert_eq!(
        (ids("clean/a.parquet"), ids("clean/b.parquet")),
        (vec!["printed".to_owned()], vec!["other".to_owned()])
    );
    assert_eq!(ids("gone/a.parquet"), ["old"]);
    assert_eq!(ids("fresh/n.parquet"), ["n2"]);
    for page in ["look", "stays", "report"] {
        assert!(desk.text(&format!("{page}/index.html")).contains("1 removed as near-duplicate"), "{page}");
    }
    assert!(!desk.names().contains(&"run".to_owned()), "when the run is done the folder goes");
    // The guide names two documents by their ids, which differ from corpus to corpus.
    let inline = guide.split('`').skip(1).step_by(2);
    let compare: Vec<&str> = inline.filter_map(|code| code.strip_prefix("minwise compare ")).collect();
    let [compare] = compare.as_slice() else { panic!("{compare:?}") };
    assert!(compare.contains("#KEPT") && compare.contains("#REMOVED"), "{compare}");
    let named = compare.replace("#KEPT", "#printed").replace("#REMOVED", "#old");
    let run = desk.run(&format!("compare {named} --format jsonl")).exit(0);
    let similarity = serde_json::from_str::<serde_json::Value>(run.text()).unwrap()["similarity"].as_f64();
    assert!(similarity.is_some_and(|similarity| similarity > 0.8 && similarity < 1.0), "{run}");
}
