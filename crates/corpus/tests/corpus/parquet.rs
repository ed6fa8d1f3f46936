//! Tests of Parquet: rows are read, and written with the same types.

use std::sync::Arc;

use base64::Engine;
use minwise_corpus::{
    Annotation, Corpus, ErrorKind, FieldPath, FileProblem, Format, InputFormat, Output, OutputVerdict,
    Overwrite, ReadOptions, Scratch, TableCompression, annotate_records, copy_records, refuse_annotation,
    refuse_unlike,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;

use crate::support::{Folder, Record, assert_read_again, held, places, scan};

/// A schema with every physical type, with annotations that have no Arrow type, and with lists within groups in both
/// forms.
const EVERYTHING: &str = "message documents {
    required int64 id = 7;
    optional binary text (UTF8);
    optional int96 seen;
    required fixed_len_byte_array(16) key (UUID);
    optional binary price (DECIMAL(9, 2));
    optional boolean flag;
    required double score;
    optional binary raw (JSON);
    optional group meta {
        optional int32 year (INTEGER(16, false));
        required group tags (LIST) { repeated group list { optional binary element (UTF8); } }
        repeated binary old_list (UTF8);
    }
    optional int32 day (DATE);
    optional int64 moment (TIMESTAMP(MICROS,true));
    optional int64 hour (TIME(NANOS,false));
    required float weight;
    optional fixed_len_byte_array(9) cost (DECIMAL(20, 2));
    optional group scores (MAP) { repeated group key_value { required binary key (UTF8); optional int32 value; } }
}";

pub type GroupWriter<'w, 'o> = SerializedRowGroupWriter<'w, &'o mut Vec<u8>>;

/// Writes row groups. Each function in `groups` writes one row group.
pub fn parquet(
    schema: &str,
    properties: WriterPropertiesBuilder,
    groups: &[&dyn Fn(&mut GroupWriter<'_, '_>)],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    for group in groups {
        let mut writer = writer.next_row_group().unwrap();
        group(&mut writer);
        writer.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

pub fn column<T: DataType>(
    group: &mut GroupWriter<'_, '_>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, definitions, repetitions).unwrap();
    column.close().unwrap();
}

/// Writes a column of texts that may be null.
pub fn texts(group: &mut GroupWriter<'_, '_>, texts: &[Option<&str>]) {
    let values: Vec<ByteArray> = texts.iter().flatten().map(|text| ByteArray::from(*text)).collect();
    let levels: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
    column::<ByteArrayType>(group, &values, Some(&levels), None);
}

fn bytes(values: &[&str]) -> Vec<ByteArray> {
    values.iter().map(|value| ByteArray::from(*value)).collect()
}

/// Writes three rows with the ids `first` to `first + 2`. All optional values of the second row are null.
fn three_rows(group: &mut GroupWriter<'_, '_>, first: i64) {
    column::<Int64Type>(group, &[first, first + 1, first + 2], None, None);
    texts(group, &[Some(&format!("text {first}")), None, Some("another")]);
    let mut seen = Int96::new();
    seen.set_data(1, 2, first as u32);
    column::<Int96Type>(group, &[seen, seen], Some(&[1, 0, 1]), None);
    let key = |byte: u8| FixedLenByteArray::from(ByteArray::from(vec![byte; 16]));
    column::<FixedLenByteArrayType>(group, &[key(1), key(2), key(3)], None, None);
    column::<ByteArrayType>(group, &bytes(&["\u{1}\u{2}", "\u{3}"]), Some(&[1, 0, 1]), None);
    column::<BoolType>(group, &[true, false], Some(&[1, 0, 1]), None);
    column::<DoubleType>(group, &[1.5, f64::MIN_POSITIVE, -0.0], None, None);
    column::<ByteArrayType>(group, &bytes(&["{}", "[1]"]), Some(&[1, 0, 1]), None);
    column::<Int32Type>(group, &[2001, 2003], Some(&[2, 0, 2]), None);
    // The first row has two tags, one of them null; the second has no `meta`; the third has an empty list.
    column::<ByteArrayType>(group, &bytes(&["a"]), Some(&[3, 2, 0, 1]), Some(&[0, 1, 0, 0]));
    column::<ByteArrayType>(group, &bytes(&["x", "y", "z"]), Some(&[2, 2, 0, 2]), Some(&[0, 1, 0, 0]));
    column::<Int32Type>(group, &[20_000, -1], Some(&[1, 0, 1]), None);
    column::<Int64Type>(group, &[1_700_000_000_000_000, -1], Some(&[1, 0, 1]), None);
    column::<Int64Type>(group, &[86_399_999_999_999, 0], Some(&[1, 0, 1]), None);
    column::<FloatType>(group, &[0.1, f32::MIN_POSITIVE, -0.0], None, None);
    let cost = |byte: u8| FixedLenByteArray::from(ByteArray::from(vec![byte; 9]));
    column::<FixedLenByteArrayType>(group, &[cost(1), cost(255)], Some(&[1, 0, 1]), None);
    // The first row has two scores, one of them null; the second has none; the third has an empty map.
    column::<ByteArrayType>(group, &bytes(&["a", "b"]), Some(&[2, 2, 0, 1]), Some(&[0, 1, 0, 0]));
    column::<Int32Type>(group, &[7], Some(&[3, 2, 0, 1]), Some(&[0, 1, 0, 0]));
}

fn everything(folder: &Folder) -> Corpus {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_column_compression(ColumnPath::from("text"), Compression::ZSTD(ZstdLevel::default()))
        .set_column_dictionary_enabled(ColumnPath::from("id"), false)
        .set_key_value_metadata(Some(vec![KeyValue::new("made by".to_owned(), "a test".to_owned())]));
    let group = |first| move |group: &mut GroupWriter<'_, '_>| three_rows(group, first);
    folder.write("a.parquet", parquet(EVERYTHING, properties, &[&group(1), &group(11), &group(21)]));
    folder.open(&["a.parquet"]).unwrap()
}

/// Returns all rows, each as a line.
pub fn rows(folder: &Folder, name: &str) -> Vec<String> {
    let file = SerializedFileReader::new(bytes::Bytes::from(folder.bytes(name))).unwrap();
    file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

fn metadata(folder: &Folder, name: &str) -> ParquetMetaData {
    SerializedFileReader::new(bytes::Bytes::from(folder.bytes(name))).unwrap().metadata().clone()
}

#[test]
fn rows_are_documents() {
    let folder = Folder::new();
    let corpus = everything(&folder);
    let records = scan(&corpus, 1);
    let seen: Vec<(&str, u64)> = records.iter().map(|record| (record.code(), record.line)).collect();
    assert_eq!(seen[..4], [("ok", 0), ("null", 1), ("ok", 2), ("ok", 3)]);
    assert_eq!((records.len(), records[3].id(), records[3].text()), (9, "11", "text 11"));
    assert_eq!(records[1].reject().to_string(), "record `2`: the field `text` holds null");
    assert_eq!(scan(&corpus, 1 << 20), records);
    assert_read_again(&corpus, &records);
    let error = corpus.read_raw(&records[0].place, &mut Scratch::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Inside { problem: FileProblem::NoBytes, .. }), "{error}");
}

#[test]
fn members_of_groups_are_columns() {
    let folder = Folder::new();
    everything(&folder);
    let options = ReadOptions::default()
        .text_fields(FieldPath::list("raw,text").unwrap())
        .id_field("meta.year".parse().unwrap());
    let records = scan(&folder.open_with(&["a.parquet"], &options).unwrap(), 1 << 20);
    assert_eq!(records[0].text(), "{}\ntext 1");
    assert_eq!(records[0].id(), "2001");
    assert_eq!(records[1].code(), "null");
}

#[test]
fn a_copy_has_the_types_values_and_metadata_of_the_input() {
    let folder = Folder::new();
    let corpus = everything(&folder);
    let all = places(&scan(&corpus, 1 << 20));
    let before = rows(&folder, "a.parquet");
    for (name, chosen) in
        [("all", vec![0, 1, 2, 3, 4, 5, 6, 7, 8]), ("some", vec![0, 2, 4, 7]), ("none", vec![])]
    {
        let name = format!("{name}.parquet");
        let kept: Vec<_> = chosen.iter().map(|row| all[*row]).collect();
        folder.copy(&corpus, &kept, &name, TableCompression::Keep);
        let expected: Vec<String> = chosen.iter().map(|row| before[*row].clone()).collect();
        assert_eq!(rows(&folder, &name), expected);
        let (old, new) = (metadata(&folder, "a.parquet"), metadata(&folder, &name));
        let (old_file, new_file) = (old.file_metadata(), new.file_metadata());
        assert_eq!(old_file.schema(), new_file.schema());
        assert_eq!(old_file.key_value_metadata(), new_file.key_value_metadata());
        assert!(new_file.created_by().unwrap().starts_with("minwise version "));
        for (old, new) in old.row_groups().iter().zip(new.row_groups()) {
            for (old, new) in old.columns().iter().zip(new.columns()) {
                assert_eq!(old.compression(), new.compression(), "{}", old.column_path());
                assert_eq!(old.dictionary_page_offset().is_some(), new.dictionary_page_offset().is_some());
            }
        }
    }
    assert_eq!(metadata(&folder, "some.parquet").num_row_groups(), 3, "row groups stay what they are");
}

#[test]
fn compression_can_be_chosen() {
    let folder = Folder::new();
    let corpus = everything(&folder);
    let all = places(&scan(&corpus, 1 << 20));
    for compression in [
        TableCompression::None,
        TableCompression::Snappy,
        TableCompression::Gzip,
        TableCompression::Lz4,
        TableCompression::Zstd,
    ] {
        let name = format!("{compression}.parquet");
        folder.copy(&corpus, &all, &name, compression);
        assert_eq!(rows(&folder, &name), rows(&folder, "a.parquet"), "{compression}");
        let codec = format!("{:?}", metadata(&folder, &name).row_group(0).column(0).compression());
        let expected =
            if compression == TableCompression::None { "UNCOMPRESSED".into() } else { name.to_uppercase() };
        assert!(codec.starts_with(expected.split('.').next().unwrap()), "{codec}");
    }
}

/// A file without rows has no compression that could be kept, so the compression of the next file is kept.
#[test]
fn an_empty_file_first_takes_no_compression_away() {
    let folder = Folder::new();
    everything(&folder);
    folder.write("empty.parquet", parquet(EVERYTHING, WriterProperties::builder(), &[]));
    let corpus = folder.open(&["empty.parquet", "a.parquet"]).unwrap();
    let all = places(&scan(&corpus, 1 << 20));
    folder.copy(&corpus, &all, "both.parquet", TableCompression::Keep);
    assert_eq!(rows(&folder, "both.parquet"), rows(&folder, "a.parquet"));
    let id = metadata(&folder, "both.parquet").row_group(0).column(0).compression();
    assert_eq!(id, Compression::SNAPPY);
}

#[test]
fn an_annotation_is_a_column() {
    let folder = Folder::new();
    let corpus = everything(&folder);
    let documents: Vec<Record> =
        scan(&corpus, 1 << 20).into_iter().filter(|record| record.code() == "ok").collect();
    refuse_annotation(&corpus).unwrap();
    folder.annotate(&corpus, &places(&documents), "out.parquet");
    let found = rows(&folder, "out.parquet");
    assert_eq!(found.len(), 6);
    assert!(
        found[0].ends_with("minwise: {cluster: \"first\", duplicate_of: null, similarity: null}}"),
        "{}",
        found[0]
    );
    assert!(
        found[5].ends_with("minwise: {cluster: \"first\", duplicate_of: \"first\", similarity: 0.75}}"),
        "{}",
        found[5]
    );
    let error = refuse_annotation(&folder.open(&["out.parquet"]).unwrap()).unwrap_err();
    assert!(error.to_string().ends_with("has a column `minwise` already"), "{error}");
}

/// There are enough annotations to be written in several batches.
#[test]
fn many_annotations_are_a_column() {
    let folder = Folder::new();
    folder.write("a.parquet", small(3001, 500));
    let corpus = folder.open(&["a.parquet"]).unwrap();
    folder.annotate(&corpus, &places(&scan(&corpus, 1 << 20)), "out.parquet");
    let found = rows(&folder, "out.parquet");
    assert_eq!((found.len(), metadata(&folder, "out.parquet").num_row_groups()), (3001, 1));
    let kept = "minwise: {cluster: \"first\", duplicate_of: null, similarity: null}}";
    let removed = "minwise: {cluster: \"first\", duplicate_of: \"first\", similarity: 0.75}}";
    assert!(found[0].ends_with(kept), "{}", found[0]);
    assert!(found[1..].iter().all(|row| row.ends_with(removed)));
}

/// Row groups and columns that threads copy to memory have the bytes of a copy with one thread, whether or not they fit into it.
#[test]
fn threads_copy_the_same_tables() {
    let folder = Folder::new();
    everything(&folder);
    let small = [small(3001, 500), small(2000, 300)];
    folder.write("b.parquet", &small[0]);
    folder.write("c.parquet", &small[1]);
    let chunk = 1 << 20;
    for (files, step) in [(&["a.parquet"][..], 1), (&["a.parquet"], 2), (&["b.parquet", "c.parquet"], 3)] {
        let corpus = folder.open(files).unwrap();
        let all = places(&scan(&corpus, chunk));
        let chosen: Vec<_> = all.iter().step_by(step).copied().collect();
        for compression in [TableCompression::Keep, TableCompression::Zstd] {
            let copy = |threads: usize, buffer_bytes: u64| {
                let names = ["copy.parquet", "annotated.parquet"];
                let [mut copy, mut annotated] = names.map(|name| {
                    let mut out = Output::create(&folder.path(name), Overwrite::Allow).unwrap();
                    out.set_threads(threads).unwrap();
                    out.set_buffer_bytes(buffer_bytes);
                    out
                });
                let (numbers, kept) = (0..files.len() as u32, OutputVerdict::Kept);
                let places = chosen.iter().copied();
                let with = places.clone().map(|place| (place, Annotation::new("first", None)));
                let format = Format::PARQUET;
                copy_records(&corpus, numbers.clone(), places, kept, format, &mut copy, compression).unwrap();
                annotate_records(&corpus, numbers, with, format, &mut annotated, compression).unwrap();
                copy.finish().unwrap();
                annotated.finish().unwrap();
                names.map(|name| folder.bytes(name))
            };
            let expected = copy(1, 0);
            for (threads, buffer_bytes) in [(2, 0), (2, 1500), (2, 1 << 20), (7, 1 << 20)] {
                let found = copy(threads, buffer_bytes);
                assert!(
                    found == expected,
                    "{files:?}, {compression}, {threads} threads, {buffer_bytes} bytes"
                );
            }
        }
    }
}

/// A page that cannot be read ends the copy with an error that names its place, and nothing hangs.
#[test]
fn damage_ends_a_copy_with_threads() {
    let folder = Folder::new();
    let corpus = everything(&folder);
    let mut all = places(&scan(&corpus, 1 << 20));
    all[4].offset = 1 << 40;
    let mut out = Output::create(&folder.path("out.parquet"), Overwrite::Refuse).unwrap();
    out.set_threads(3).unwrap();
    let (kept, keep) = (OutputVerdict::Kept, TableCompression::Keep);
    let places = all.iter().copied();
    let error = copy_records(&corpus, 0..1, places, kept, Format::PARQUET, &mut out, keep).unwrap_err();
    let mut with_one = Output::create(&folder.path("one.parquet"), Overwrite::Refuse).unwrap();
    let places = all.iter().copied();
    let expected =
        copy_records(&corpus, 0..1, places, kept, Format::PARQUET, &mut with_one, keep).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
    drop((out, with_one));
    assert_eq!(folder.names(), ["a.parquet"]);
}

const SMALL: &str = "message m { required int64 id (INTEGER(64, false)); optional binary text (UTF8); }";

/// Makes a file of one row group of `count` rows, in pages of about `page_rows` rows. Every seventh row has no text.
pub fn small(count: usize, page_rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows)
        .set_dictionary_enabled(count.is_multiple_of(2))
        .set_compression(Compression::SNAPPY);
    let values: Vec<String> = (0..count).map(|row| format!("text {}", row % 50)).collect();
    parquet(
        SMALL,
        properties,
        &[&|group| {
            column::<Int64Type>(
                group,
                &(0..count).map(|row| (u64::MAX - row as u64).cast_signed()).collect::<Vec<_>>(),
                None,
                None,
            );
            let values = values.iter().enumerate();
            texts(
                group,
                &values.map(|(row, text)| (row % 7 != 3).then_some(text.as_str())).collect::<Vec<_>>(),
            );
        }],
    )
}

#[test]
fn a_large_row_group_is_read_in_pieces() {
    let folder = Folder::new();
    let long = "x".repeat(1000);
    let values: Vec<String> = (0..20_000).map(|row| format!("{row} {long}")).collect();
    let properties = WriterProperties::builder()
        .set_data_page_size_limit(64 << 10)
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false);
    folder.write(
        "a.parquet",
        parquet(
            SMALL,
            properties,
            &[&|group| {
                column::<Int64Type>(group, &(0..20_000).collect::<Vec<_>>(), None, None);
                texts(group, &values.iter().map(|text| Some(text.as_str())).collect::<Vec<_>>());
            }],
        ),
    );
    let corpus = folder.open(&["a.parquet"]).unwrap();
    let chunks = corpus.chunks(1 << 20);
    assert!((15..=20).contains(&chunks.len()), "{} chunks for 20 MB in one row group", chunks.len());
    assert_eq!(chunks.iter().map(minwise_corpus::Chunk::size_bytes).sum::<u64>(), corpus.size_bytes());
    let records = scan(&corpus, 1 << 20);
    assert!(records.iter().zip(&values).all(|(record, value)| record.text() == value));
    assert_read_again(&corpus, &records[19_000..]);
}

const TWO_TEXTS: &str = "message m { optional binary title (UTF8); optional binary text (UTF8); }";

/// A page of titles has as many rows as a hundred pages of texts.
#[test]
fn a_piece_is_no_larger_for_short_texts_before_long_ones() {
    let folder = Folder::new();
    let titles: Vec<String> = (0..20_000).map(|row| format!("title {row}")).collect();
    let long = "x".repeat(2000);
    let texts_of: Vec<String> = (0..20_000).map(|row| format!("{row} {long}")).collect();
    let properties = || {
        WriterProperties::builder()
            .set_data_page_size_limit(64 << 10)
            .set_write_batch_size(16)
            .set_column_data_page_size_limit(ColumnPath::from("title"), 1 << 20)
            .set_dictionary_enabled(false)
            .set_compression(Compression::SNAPPY)
    };
    let group = |half: bool| {
        let (titles, texts_of) = (&titles, &texts_of);
        move |group: &mut GroupWriter<'_, '_>| {
            // With `half`, only the first half of the rows has long texts, and the titles of the second half are
            // long.
            let in_half = |row: usize| !half || row < 10_000;
            let long_title = |row: usize| if in_half(row) { &*titles[row] } else { &*texts_of[row] };
            texts(group, &(0..20_000).map(|row| Some(long_title(row))).collect::<Vec<_>>());
            texts(group, &(0..20_000).map(|row| in_half(row).then_some(&*texts_of[row])).collect::<Vec<_>>());
        }
    };
    for half in [false, true] {
        folder.write("a.parquet", parquet(TWO_TEXTS, properties(), &[&group(half)]));
        let options = ReadOptions::default().text_fields(FieldPath::list("title,text").unwrap());
        let corpus = folder.open_with(&["a.parquet"], &options).unwrap();
        let held = held(&corpus);
        assert_eq!(held.iter().map(|piece| piece.0).sum::<usize>(), 20_000);
        let most = held.iter().map(|piece| piece.1).max().unwrap();
        assert!(most < 3 << 20, "{most} bytes at one time");
        // Many pieces would be slow, because each piece decodes the page of titles anew.
        assert!(held.len() < 200, "{} pieces of 40 MB", held.len());
        let records = scan(&corpus, 1 << 20);
        assert_eq!(records[19].text(), format!("title 19\n19 {long}"));
        assert_read_again(&corpus, &records[9_990..10_010]);
    }
}

/// A repeated text is decoded once, however many rows have it, and the number of rows of a piece is limited.
#[test]
fn a_dictionary_does_not_unfold_in_memory() {
    let folder = Folder::new();
    let kinds: Vec<String> = (0..3).map(|kind| format!("{kind} {}", "x".repeat(1000))).collect();
    let all: Vec<Option<&str>> = (0..100_000).map(|row| Some(&*kinds[row % 3])).collect();
    let group = |group: &mut GroupWriter<'_, '_>| {
        column::<Int64Type>(group, &(0..100_000).collect::<Vec<_>>(), None, None);
        texts(group, &all);
    };
    let properties = WriterProperties::builder().set_data_page_row_count_limit(usize::MAX);
    folder.write("a.parquet", parquet(SMALL, properties, &[&group]));
    let corpus = folder.open(&["a.parquet"]).unwrap();
    let held = held(&corpus);
    assert_eq!(held.iter().map(|piece| piece.0).sum::<usize>(), 100_000);
    for (rows, bytes) in held {
        assert!(rows <= 32 << 10, "{rows} rows at one time");
        assert_eq!(bytes, 3 * 1002, "for {rows} rows");
    }
    let records = scan(&corpus, 1 << 20);
    assert!(records.iter().zip(&all).all(|(record, text)| Some(record.text()) == *text));
    assert_read_again(&corpus, &records[32_700..32_800]);
}

#[test]
fn files_without_rows() {
    let folder = Folder::new();
    folder.write("none.parquet", parquet(SMALL, WriterProperties::builder(), &[]));
    folder.write(
        "group.parquet",
        parquet(
            SMALL,
            WriterProperties::builder(),
            &[&|group| {
                column::<Int64Type>(group, &[], None, None);
                texts(group, &[]);
            }],
        ),
    );
    for name in ["none.parquet", "group.parquet"] {
        let corpus = folder.open(&[name]).unwrap();
        assert_eq!((corpus.format(), scan(&corpus, 9).len()), (Some(Format::PARQUET), 0), "{name}");
        folder.copy(&corpus, &[], &format!("copy-of-{name}"), TableCompression::Keep);
        assert_eq!(rows(&folder, &format!("copy-of-{name}")), [""; 0]);
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let folder = Folder::new();
    everything(&folder);
    let message = |text: &str, id: &str| {
        let options =
            ReadOptions::default().text_fields(FieldPath::list(text).unwrap()).id_field(id.parse().unwrap());
        folder.open_with(&["a.parquet"], &options).unwrap_err()
    };
    let error = message("body", "id");
    assert!(error.to_string().ends_with("a.parquet` has no column `body`"), "{error}");
    assert!(error.hint().unwrap().to_string().starts_with("its columns are `id`, `text`, `seen`"), "{error}");
    let error = message("score", "id").to_string();
    assert!(
        error.contains("the column `score` of `") && error.ends_with("holds DOUBLE, not texts"),
        "{error}"
    );
    let error = message("meta.tags.list.element", "id").to_string();
    assert!(error.ends_with("holds lists, not texts"), "{error}");
    let error = message("text", "price").to_string();
    assert!(error.ends_with("not texts, whole numbers or booleans"), "{error}");
}

#[test]
fn tables_that_differ_are_not_one_file() {
    let folder = Folder::new();
    everything(&folder);
    folder.write("b.parquet", small(3, 9));
    let error = refuse_unlike(&folder.open(&["a.parquet", "b.parquet"]).unwrap()).unwrap_err();
    assert!(error.to_string().ends_with("cannot become one file: they have 15 and 2 columns"), "{error}");
    assert_eq!(error.hint().unwrap().to_string(), "`output = DIR/` writes one file for each input");
    folder.write("c.parquet", small(5, 9));
    let corpus = folder.open(&["b.parquet", "c.parquet"]).unwrap();
    refuse_unlike(&corpus).unwrap();
    folder.copy(&corpus, &places(&scan(&corpus, 9)), "both.parquet", TableCompression::Keep);
    assert_eq!(
        rows(&folder, "both.parquet"),
        [rows(&folder, "b.parquet"), rows(&folder, "c.parquet")].concat()
    );
}

#[test]
fn a_file_that_is_cut_short_says_where() {
    let folder = Folder::new();
    let whole = small(100, 10);
    folder.write("empty.parquet", "");
    folder.write("cut.parquet", &whole[..whole.len() / 2]);
    folder.write("text.parquet", "not a table, but much longer than a footer");
    for name in ["empty.parquet", "cut.parquet", "text.parquet"] {
        let error = folder.open(&[name]).unwrap_err();
        assert!(error.to_string().contains(&format!("{name}` cannot be read: its footer: ")), "{error}");
    }
    let mut broken = whole.clone();
    broken[4..60].fill(0xff);
    folder.write("broken.parquet", &broken);
    let error = folder.open(&["broken.parquet"]).unwrap_err();
    assert!(error.to_string().contains("row group 0, column `id`: "), "{error}");
    // The content of a file overrules its name, and the format that the user chooses overrules the content.
    folder.write("table.jsonl", &whole);
    assert_eq!(folder.open(&["table.jsonl"]).unwrap().format(), Some(Format::PARQUET));
    let options = ReadOptions::default().format(InputFormat::Only(Format::ARROW));
    assert!(folder.open_with(&["table.jsonl"], &options).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// However a file is cut into pages and chunks, its rows are the same.
    #[test]
    fn pages_and_chunks_do_not_matter(count in 0usize..300, page_rows in 1usize..50, target in 1u64..9000) {
        let folder = Folder::new();
        folder.write("a.parquet", small(count, page_rows));
        let corpus = folder.open(&["a.parquet"]).unwrap();
        let records = scan(&corpus, target);
        prop_assert_eq!(records.len(), count);
        for (row, record) in records.iter().enumerate() {
            prop_assert_eq!((record.line, record.place.offset), (row as u64, row as u64));
            prop_assert_eq!(record.code(), if row % 7 == 3 { "null" } else { "ok" });
            // Unsigned numbers are not read as negative numbers.
            prop_assert_eq!(record.id(), (u64::MAX - row as u64).to_string());
        }
        assert_read_again(&corpus, &records);
        let kept: Vec<_> = places(&records).into_iter().step_by(3).collect();
        folder.copy(&corpus, &kept, "copy.parquet", TableCompression::Keep);
        let expected: Vec<String> = rows(&folder, "a.parquet").into_iter().step_by(3).collect();
        prop_assert_eq!(rows(&folder, "copy.parquet"), expected);
    }

    /// Damage is an error or is not noticed, but never ends the process.
    #[test]
    fn damage_does_no_harm(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let folder = Folder::new();
        let mut bytes = small(60, 10);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        folder.write("a.parquet", bytes);
        let options = ReadOptions::default().format(InputFormat::Only(Format::PARQUET));
        if let Ok(corpus) = folder.open_with(&["a.parquet"], &options) {
            let mut scratch = Scratch::new();
            for chunk in corpus.chunks(100) {
                let _ = corpus.scan(&chunk, &mut scratch, &mut |_, _| ());
            }
        }
    }
}

/// Two rows that pyarrow has written, in Base64: a column `id` of type null, and the texts `one` and `two`.
const NULL_IDS: &str = "UEFSMRUAFQwVDCwVBBUAFQYVBhwAAAACAAAABAAVABUoFSgsFQQVABUGFQYcAAAAAgAAAAQBAwAAAG9uZQMAAAB0d28VBBk8NQAY\
    BnNjaGVtYRUEABUCJQIYAmlkbLwAAAAVDCUCGAR0ZXh0JQBMHAAAABYEGRwZLCYAHBUCGSUGABkYAmlkFQAWBBYyFjImCEkcFQAV\
    ABUCADwpBhkmBAAAAAAmABwVDBklBgAZGAR0ZXh0FQAWBBZOFk4mOkkcFQAVABUCADwWDBkGGSYABAAAABaAARYEJggWgAEAKCBw\
    YXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAAMUAAABQQVIx";

/// A row that pyarrow has written with `write_page_checksum`, in Base64: the text `the quick brown fox`.
const CHECKSUM: &str = "UEFSMRUAFToVOhX//M37AxwVAhUAFQYVBhwAAAACAAAAAgETAAAAdGhlIHF1aWNrIGJyb3duIGZveBUEGSw1ABgGc2NoZW1hFQIA\
    FQwlAhgEdGV4dCUATBwAAAAWAhkcGRwmABwVDBklBgAZGAR0ZXh0FQAWAhZsFmwmCEkcFQAVABUCADwWJhkGGSYAAgAAABZsFgIm\
    CBZsACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAACIAAAAUEFSMQ==";

fn decoded(base64: &str) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(base64).unwrap()
}

#[test]
fn an_id_column_of_type_null_is_none() {
    let folder = Folder::new();
    folder.write("a.parquet", decoded(NULL_IDS));
    let corpus = folder.open(&["a.parquet"]).unwrap();
    let records = scan(&corpus, 1 << 20);
    assert_eq!(records.iter().map(Record::text).collect::<Vec<_>>(), ["one", "two"]);
    assert_read_again(&corpus, &records);
    folder.copy(&corpus, &places(&records), "out.parquet", TableCompression::Keep);
    assert_eq!(rows(&folder, "out.parquet"), rows(&folder, "a.parquet"));
}

#[test]
fn a_page_with_another_checksum_is_damaged() {
    let folder = Folder::new();
    let mut bytes = decoded(CHECKSUM);
    folder.write("a.parquet", &bytes);
    assert_eq!(scan(&folder.open(&["a.parquet"]).unwrap(), 9)[0].text(), "the quick brown fox");
    let at = bytes.windows(5).position(|window| window == b"quick").unwrap();
    bytes[at] = b'Q';
    folder.write("a.parquet", &bytes);
    let corpus = folder.open(&["a.parquet"]).unwrap();
    let chunk = &corpus.chunks(9)[0];
    let error = corpus.scan(chunk, &mut Scratch::new(), &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("row group 0, column `text`"), "{error}");
}
