//! Tests of CSV and TSV.

use minwise_corpus::{FieldPath, Format, InputFormat, ReadOptions, TableCompression, refuse_unlike};
use proptest::prelude::*;

use crate::support::{Folder, Record, assert_read_again, gzip, places, scan};

const NOTES: &str =
    "\u{feff}id,title,text\r\n1,A,\"one, two\nthree\"\r\n2,\"B \"\"b\"\"\",four\r\n\r\n3,,five";

#[test]
fn records_are_documents() {
    let folder = Folder::new();
    folder.write("a.csv", NOTES);
    folder.write("a.tsv", NOTES.replace(',', "\t"));
    folder.write("a.csv.gz", gzip(NOTES.as_bytes()));
    folder.write("unnamed", NOTES);
    for name in ["a.csv", "a.tsv", "a.csv.gz", "unnamed"] {
        let format = if name == "unnamed" { InputFormat::Only(Format::CSV) } else { InputFormat::Auto };
        let corpus = folder.open_with(&[name], &ReadOptions::default().format(format)).unwrap();
        let records = scan(&corpus, 1 << 20);
        let texts: Vec<String> = records.iter().map(|record| record.text().replace('\t', ",")).collect();
        assert_eq!(texts, ["one, two\nthree", "four", "five"], "{name}");
        assert_eq!(records.iter().map(Record::id).collect::<Vec<_>>(), ["1", "2", "3"]);
        // The line of a record is the line on which it begins, counted from 0.
        assert_eq!(records.iter().map(|record| record.line).collect::<Vec<_>>(), [1, 3, 5]);
        assert_read_again(&corpus, &records);
    }
}

#[test]
fn a_semicolon_or_a_tab_is_found_out() {
    let folder = Folder::new();
    let semicolons = "id;title;text\r\n1;\"A; a\";\"1,5; two\"\r\n2;B;three, four\r\n";
    folder.write("a.csv", semicolons);
    folder.write("tabs.csv", "id\ttext\n1\tone; two\n");
    folder.write("pipes.csv", "id|text\n1|one, two\n");
    folder.write("commas.csv", "id,title,text\n1,a;b,one\n");
    let texts = |name: &str, options: &ReadOptions| -> Vec<String> {
        let corpus = folder.open_with(&[name], options).unwrap();
        let records = scan(&corpus, 1 << 20);
        assert_read_again(&corpus, &records);
        records.iter().map(|record| record.text().to_owned()).collect()
    };
    let default = ReadOptions::default();
    assert_eq!(texts("a.csv", &default), ["1,5; two", "three, four"]);
    assert_eq!(texts("tabs.csv", &default), ["one; two"]);
    assert_eq!(texts("commas.csv", &default), ["one"]);
    let error = folder.open(&["pipes.csv"]).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` has no column `text`", folder.path("pipes.csv").display()));
    let given = ReadOptions::default().delimiter(Some("|".parse().unwrap()));
    assert_eq!(texts("pipes.csv", &given), ["one, two"]);
    let corpus = folder.open(&["a.csv"]).unwrap();
    let kept = places(&scan(&corpus, 1 << 20));
    folder.copy(&corpus, &kept[..1], "out.csv", TableCompression::Keep);
    assert_eq!(folder.text("out.csv"), "id;title;text\r\n1;\"A; a\";\"1,5; two\"\r\n");
    // If no delimiter gives the wanted columns, the hint lists the columns by the delimiter that gives the most
    // columns.
    folder.write("other.csv", "id;name;body\n1;a;b\n");
    let hint = folder.open(&["other.csv"]).unwrap_err().hint().unwrap().to_string();
    assert_eq!(hint, "its columns are `id`, `name` and `body`");
    let both = folder.open(&["a.csv", "commas.csv"]).unwrap();
    let error = refuse_unlike(&both).unwrap_err().to_string();
    assert!(error.ends_with("their fields are separated by ';' and by ','"), "{error}");
}

#[test]
fn several_columns_are_joined() {
    let folder = Folder::new();
    folder.write("a.csv", NOTES);
    let options = ReadOptions::default().text_fields(FieldPath::list("title,text").unwrap());
    let records = scan(&folder.open_with(&["a.csv"], &options).unwrap(), 1 << 20);
    assert_eq!(records.iter().map(Record::text).collect::<Vec<_>>()[1..], ["B \"b\"\nfour", "\nfive"]);
}

#[test]
fn kept_records_pass_through_byte_for_byte() {
    let folder = Folder::new();
    folder.write("a.csv", NOTES);
    folder.write("b.csv", "id,title,text\n4,D,\"six\"\n");
    let corpus = folder.open(&["a.csv", "b.csv"]).unwrap();
    let kept = places(&scan(&corpus, 1 << 20));
    folder.copy(&corpus, &kept, "all.csv", TableCompression::Keep);
    assert_eq!(folder.text("all.csv"), format!("{}\n4,D,\"six\"\n", NOTES.replace("\r\n\r\n", "\r\n")));
    folder.copy(&corpus, &kept[1..2], "one.csv", TableCompression::Keep);
    assert_eq!(folder.text("one.csv"), "\u{feff}id,title,text\r\n2,\"B \"\"b\"\"\",four\r\n");
    folder.copy(&corpus, &[], "none.csv", TableCompression::Keep);
    assert_eq!(folder.text("none.csv"), "\u{feff}id,title,text\r\n");
}

#[test]
fn an_annotation_is_a_column() {
    let folder = Folder::new();
    folder.write("a.csv", "id,text\r\n1,\"a\"\r\n2,b");
    let corpus = folder.open(&["a.csv"]).unwrap();
    folder.annotate(&corpus, &places(&scan(&corpus, 9)), "out.csv");
    let expected = "id,text,minwise\r\n\
        1,\"a\",\"{\"\"cluster\"\":\"\"first\"\",\"\"duplicate_of\"\":null,\"\"similarity\"\":null}\"\r\n\
        2,b,\"{\"\"cluster\"\":\"\"first\"\",\"\"duplicate_of\"\":\"\"first\"\",\"\"similarity\"\":0.75}\"";
    assert_eq!(folder.text("out.csv"), expected);
    let again = folder.open(&["out.csv"]).unwrap();
    let error = minwise_corpus::refuse_annotation(&again).unwrap_err();
    assert!(error.to_string().ends_with("has a column `minwise` already"), "{error}");
}

#[test]
fn a_bad_record_does_not_stop_the_others() {
    let folder = Folder::new();
    folder.write("a.csv", b"id,text\n1,a,b\n2\n3,\"\xff\"\n4,fine\n5,\"open\n6,swallowed\n");
    let records = scan(&folder.open(&["a.csv"]).unwrap(), 1 << 20);
    let seen: Vec<(&str, u64)> = records.iter().map(|record| (record.code(), record.line)).collect();
    assert_eq!(
        seen,
        [("field_count", 1), ("field_count", 2), ("invalid_utf8", 3), ("ok", 4), ("open_quote", 5)]
    );
    assert_eq!(records[0].reject().to_string(), "record `1`: 3 fields, but the header has 2");
}

#[test]
fn a_large_record_is_skipped_and_not_loaded() {
    let folder = Folder::new();
    let large = "x\n".repeat(2_000_000);
    folder.write("a.csv", format!("id,text\n1,a\n2,\"{large}\"\n3,b\n"));
    let options = ReadOptions::default().max_record_bytes(1000);
    for target in [1, 1 << 20, 1 << 30] {
        let records = scan(&folder.open_with(&["a.csv"], &options).unwrap(), target);
        let seen: Vec<(&str, u64)> = records.iter().map(|record| (record.code(), record.line)).collect();
        assert_eq!(seen, [("ok", 1), ("too_large", 2), ("ok", 2_000_003)]);
    }
    let records = scan(&folder.open(&["a.csv"]).unwrap(), 1);
    assert_eq!(records[1].text(), large);
}

/// A long header and a long record each lie alone between two cuts. A header may be longer than the record limit.
#[test]
fn a_long_header_is_no_record() {
    let folder = Folder::new();
    let (name, long) = ("n".repeat(300 << 10), "x".repeat(400 << 10));
    folder.write("a.csv", format!("id,text,{name}\n1,one,\n2,{long},\n3,three,\n"));
    for (most, second) in [(1 << 30, "ok"), (1 << 10, "too_large")] {
        let options = ReadOptions::default().max_record_bytes(most);
        for target in [1, 64 << 10, 1 << 20] {
            let records = scan(&folder.open_with(&["a.csv"], &options).unwrap(), target);
            let seen: Vec<(&str, u64)> = records.iter().map(|record| (record.code(), record.line)).collect();
            assert_eq!(seen, [("ok", 1), (second, 2), ("ok", 3)], "chunks of {target} bytes");
        }
    }
}

#[test]
fn headers_are_looked_at_first() {
    let folder = Folder::new();
    folder.write("empty.csv", "");
    folder.write("header.csv", "id,text");
    folder.write("other.csv", "id,body\n1,a\n");
    folder.write("twice.csv", "text,text\n");
    folder.write("open.csv", "id,\"text\n1,a\n");
    folder.write("binary.csv", "\u{3}\u{4}\0\0\n");
    for name in ["empty.csv", "header.csv"] {
        let corpus = folder.open(&[name]).unwrap();
        assert_eq!(scan(&corpus, 9).len(), 0, "{name}");
        folder.copy(&corpus, &[], &format!("copy-of-{name}"), TableCompression::Keep);
        assert_eq!(folder.bytes(&format!("copy-of-{name}")), folder.bytes(name));
    }
    let message = |name: &str| folder.open(&[name]).unwrap_err();
    let error = message("other.csv");
    assert!(error.to_string().ends_with("other.csv` has no column `text`"), "{error}");
    assert_eq!(error.hint().unwrap().to_string(), "its columns are `id` and `body`");
    assert!(message("twice.csv").to_string().ends_with("has two columns `text`"));
    assert!(message("open.csv").to_string().ends_with("its header: a quote in it is never closed"));
    let utf16: Vec<u8> = "id\ttext\r\n1\ta\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, name) in [([b"\xff\xfe", &*utf16].concat(), "UTF-16"), (utf16, "UTF-16LE")] {
        folder.write("excel.tsv", bytes);
        let error = message("excel.tsv");
        assert!(
            error.to_string().ends_with(&format!("excel.tsv` is not UTF-8, but seems to be {name}")),
            "{error}"
        );
        let command = format!("`iconv -f {} -t utf-8 FILE > NEW` converts it", name.to_ascii_lowercase());
        assert_eq!(error.hint().unwrap().to_string(), command);
    }
    assert!(message("binary.csv").to_string().ends_with("its header: it holds bytes that are not text"));

    let options = ReadOptions::default().text_fields(FieldPath::list("id").unwrap());
    let corpus = folder.open_with(&["header.csv", "other.csv"], &options).unwrap();
    let error = refuse_unlike(&corpus).unwrap_err();
    assert!(error.to_string().ends_with("cannot become one file: their headers are different"), "{error}");
}

fn record() -> impl Strategy<Value = String> {
    let field = prop_oneof!["[a-z ]{0,8}", "\"([a-z,\n ]|\"\"){0,12}\"", "[a-z]\"[a-z]?"];
    (field.clone(), field, any::<bool>())
        .prop_map(|(id, text, crlf)| format!("{id},{text}{}", if crlf { "\r\n" } else { "\n" }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// However a file is cut, its records are those that the reference reads, and a copy of all records is equal to
    /// the file.
    #[test]
    fn chunks_do_not_matter(records in prop::collection::vec(record(), 0..20), target in 1u64..200) {
        let body = format!("id,text\n{}", records.concat());
        let folder = Folder::new();
        folder.write("a.csv", &body);
        let corpus = folder.open(&["a.csv"]).unwrap();
        let whole = scan(&corpus, u64::MAX);
        prop_assert_eq!(&scan(&corpus, target), &whole);
        assert_read_again(&corpus, &whole);

        let mut reference = csv::Reader::from_reader(body.as_bytes());
        let expected: Vec<String> = reference.records().map(|record| record.unwrap()[1].to_owned()).collect();
        let texts: Vec<&str> = whole.iter().map(Record::text).collect();
        prop_assert_eq!(texts, expected);
        folder.copy(&corpus, &places(&whole), "copy.csv", TableCompression::Keep);
        prop_assert_eq!(folder.text("copy.csv"), body);
    }
}
