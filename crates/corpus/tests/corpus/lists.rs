//! Tests of texts in lists, which must be the same from JSONL, Arrow and Parquet.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, LargeListArray, ListArray, NullArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field};
use minwise_corpus::{Corpus, Error, FieldPath, ReadOptions, Scratch};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Folder, Record, assert_read_again, gzip, places, scan};

fn options(text_fields: &str) -> ReadOptions {
    ReadOptions::default().text_fields(FieldPath::list(text_fields).unwrap())
}

/// Returns the outcome of each record: its text, or the code of its reject.
fn outcomes(corpus: &Corpus) -> Vec<Result<String, &'static str>> {
    let records = scan(corpus, 1 << 20);
    assert_read_again(corpus, &records);
    let outcome = |record: &Record| match record.code() {
        "ok" => Ok(record.text().to_owned()),
        code => Err(code),
    };
    records.iter().map(outcome).collect()
}

fn open(folder: &Folder, name: &str, text_fields: &str) -> Result<Corpus, Error> {
    folder.open_with(&[name], &options(text_fields))
}

/// A conversation. Every value in it may be null.
type Chat = Option<Vec<Option<Message>>>;

#[derive(Clone, Debug)]
struct Message {
    content: Option<String>,
    parts: Option<Vec<Option<String>>>,
}

fn jsonl(chats: &[Chat]) -> String {
    let message = |message: &Option<Message>| {
        message
            .as_ref()
            .map_or(Value::Null, |Message { content, parts }| json!({ "content": content, "parts": parts }))
    };
    let line = |chat: &Chat| {
        let messages = chat.as_ref().map(|chat| chat.iter().map(message).collect::<Vec<_>>());
        json!({ "messages": messages }).to_string()
    };
    chats.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the offsets and nulls of lists of these lengths; `None` stands for null.
fn offsets(lengths: &[Option<usize>]) -> (OffsetBuffer<i32>, NullBuffer) {
    let nulls = lengths.iter().map(Option::is_some).collect::<Vec<_>>().into();
    (OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or(0))), nulls)
}

fn arrow(chats: &[Chat]) -> Vec<u8> {
    let messages: Vec<&Option<Message>> = chats.iter().flatten().flatten().collect();
    let contents = messages.iter().map(|message| message.as_ref()?.content.as_deref());
    let contents: ArrayRef = Arc::new(contents.collect::<StringArray>());
    let lists = messages.iter().map(|message| message.as_ref()?.parts.as_ref());
    let lists: Vec<Option<&Vec<Option<String>>>> = lists.collect();
    let parts: StringArray = lists.iter().flatten().flat_map(|parts| parts.iter()).collect();
    let (ends, nulls) = offsets(&lists.iter().map(|parts| parts.map(Vec::len)).collect::<Vec<_>>());
    let element = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let ends = OffsetBuffer::<i64>::from_lengths(ends.lengths());
    let parts: ArrayRef =
        Arc::new(LargeListArray::try_new(element, ends, Arc::new(parts), Some(nulls)).unwrap());
    let fields = vec![
        Field::new("content", DataType::Utf8, true),
        Field::new("parts", parts.data_type().clone(), true),
    ];
    let is_there: NullBuffer = messages.iter().map(|message| message.is_some()).collect::<Vec<_>>().into();
    let messages = StructArray::try_new(fields.into(), vec![contents, parts], Some(is_there)).unwrap();
    let (ends, nulls) = offsets(&chats.iter().map(|chat| chat.as_ref().map(Vec::len)).collect::<Vec<_>>());
    let element = Arc::new(Field::new_list_field(messages.data_type().clone(), true));
    let chats = ListArray::try_new(element, ends, Arc::new(messages), Some(nulls)).unwrap();
    arrow_file([("messages", Arc::new(chats) as ArrayRef)])
}

fn arrow_file<const N: usize>(columns: [(&str, ArrayRef); N]) -> Vec<u8> {
    let columns = columns.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

const CHATS: &str =
    "message chats { optional group messages (LIST) { repeated group list { optional group element {
    optional binary content (UTF8);
    optional group parts (LIST) { repeated group list { optional binary element (UTF8); } } } } } }";

/// Values of a column, with definition and repetition levels.
#[derive(Default)]
struct Levels {
    values: Vec<ByteArray>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl Levels {
    fn push(&mut self, repetition: i16, definition: i16, value: Option<&str>) {
        self.repetitions.push(repetition);
        self.definitions.push(definition);
        self.values.extend(value.map(ByteArray::from));
    }
}

/// Returns the columns of the contents and of the parts.
fn levels(chats: &[Chat]) -> [Levels; 2] {
    let [mut contents, mut parts] = <[Levels; 2]>::default();
    for chat in chats {
        let missing = match chat.as_deref() {
            None => Some(0),
            Some([]) => Some(1),
            Some(_) => None,
        };
        if let Some(level) = missing {
            contents.push(0, level, None);
            parts.push(0, level, None);
        }
        for (number, message) in chat.iter().flatten().enumerate() {
            let again = i16::from(number > 0);
            let Some(message) = message else {
                contents.push(again, 2, None);
                parts.push(again, 2, None);
                continue;
            };
            let content = message.content.as_deref();
            contents.push(again, if content.is_some() { 4 } else { 3 }, content);
            match message.parts.as_deref() {
                None => parts.push(again, 3, None),
                Some([]) => parts.push(again, 4, None),
                Some(texts) => {
                    for (number, text) in texts.iter().enumerate() {
                        let level = if text.is_some() { 6 } else { 5 };
                        parts.push(if number > 0 { 2 } else { again }, level, text.as_deref());
                    }
                }
            }
        }
    }
    [contents, parts]
}

fn parquet(chats: &[Chat], version: WriterVersion, group_rows: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(CHATS).unwrap());
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_data_page_row_count_limit(2)
        .set_write_batch_size(3)
        .set_compression(Compression::SNAPPY);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    for chats in chats.chunks(group_rows) {
        let mut group = writer.next_row_group().unwrap();
        for Levels { values, definitions, repetitions } in levels(chats) {
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, Some(&definitions), Some(&repetitions))
                .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Writes the conversations in all formats, and returns the names of the files.
fn write_all(folder: &Folder, chats: &[Chat]) -> [&'static str; 4] {
    folder.write("a.jsonl", jsonl(chats));
    folder.write("a.arrow", arrow(chats));
    folder.write("a.parquet", parquet(chats, WriterVersion::PARQUET_1_0, 5));
    folder.write("b.parquet", parquet(chats, WriterVersion::PARQUET_2_0, 1000));
    ["a.jsonl", "a.arrow", "a.parquet", "b.parquet"]
}

fn message(content: Option<&str>, parts: Option<&[Option<&str>]>) -> Message {
    let parts = parts.map(|parts| parts.iter().map(|part| part.map(str::to_owned)).collect());
    Message { content: content.map(str::to_owned), parts }
}

#[test]
fn every_format_has_the_same_texts() {
    let folder = Folder::new();
    let chats: Vec<Chat> = vec![
        Some(vec![
            Some(message(Some("question"), None)),
            Some(message(Some("answer\nof two lines"), Some(&[Some("x")]))),
        ]),
        None,
        Some(vec![]),
        Some(vec![None]),
        Some(vec![
            Some(message(None, Some(&[]))),
            None,
            Some(message(Some("你好，世界"), Some(&[None, Some("部分"), Some("")]))),
        ]),
        Some(vec![Some(message(Some(""), None)), Some(message(Some("b"), Some(&[Some("y"), Some("z")])))]),
    ];
    let null = || Err("null");
    let text = |text: &str| Ok(text.to_owned());
    let contents = [
        text("question\n\nanswer\nof two lines"),
        null(),
        text(""),
        text(""),
        text("你好，世界"),
        text("\n\nb"),
    ];
    let parts = [text("x"), null(), text(""), text(""), text("部分\n\n"), text("y\n\nz")];
    for name in write_all(&folder, &chats) {
        assert_eq!(outcomes(&open(&folder, name, "messages[].content").unwrap()), contents, "{name}");
        assert_eq!(outcomes(&open(&folder, name, "messages[].parts[]").unwrap()), parts, "{name}");
        let both = outcomes(&open(&folder, name, "messages[].parts[],messages[].content").unwrap());
        assert_eq!(
            (both[0].clone(), both[1].clone()),
            (text("x\nquestion\n\nanswer\nof two lines"), null()),
            "{name}"
        );
        // A copy has the same texts.
        let corpus = open(&folder, name, "messages[].content").unwrap();
        let kept = places(&scan(&corpus, 1))[1..].to_vec();
        let out = format!("out-{name}");
        folder.copy(&corpus, &kept, &out, minwise_corpus::TableCompression::Keep);
        assert_eq!(outcomes(&open(&folder, &out, "messages[].content").unwrap()), contents[1..], "{name}");
    }
}

#[test]
fn texts_have_a_limit_in_lists_too() {
    let folder = Folder::new();
    let chats: Vec<Chat> = vec![
        Some(vec![Some(message(Some("12345"), None)), Some(message(Some("6789"), None))]),
        Some(vec![Some(message(Some("12345"), None)), Some(message(Some("67890"), None))]),
    ];
    for name in &write_all(&folder, &chats)[1..] {
        let options = options("messages[].content").max_record_bytes(11);
        let records = scan(&folder.open_with(&[name], &options).unwrap(), 1);
        assert_eq!((records[0].text(), records[1].code()), ("12345\n\n6789", "too_large"), "{name}");
        let reject = records[1].reject().to_string();
        assert_eq!(reject, "12 bytes is over the limit of 11 bytes per record (max-record)", "{name}");
    }
}

#[test]
fn wrong_paths_are_refused_with_right_ones() {
    let folder = Folder::new();
    let chats = vec![Some(vec![Some(message(Some("a"), Some(&[Some("b")])))])];
    for name in &write_all(&folder, &chats)[1..] {
        for (field, offered) in [
            ("messages", "`messages[].content` and `messages[].parts[]`"),
            ("messages.content", "`messages[].content`"),
            ("messages[].parts", "`messages[].parts[]`"),
        ] {
            let error = open(&folder, name, field).unwrap_err();
            let message = format!("the column `{field}` of `");
            assert!(error.to_string().starts_with(&message), "{error}");
            assert!(error.to_string().ends_with(" holds lists, not texts"), "{error}");
            assert_eq!(
                error.hint().unwrap().to_string(),
                format!("to read the texts of a list, write `[]` behind its name: {offered}")
            );
        }
        for field in ["messages[].contents", "messages[][].content", "messages[].content[]"] {
            let error = open(&folder, name, field).unwrap_err();
            assert!(error.to_string().ends_with(&format!("` has no column `{field}`")), "{error}");
            let columns = "its columns are `messages[].content` and `messages[].parts[]`";
            assert_eq!(error.hint().unwrap().to_string(), columns);
        }
    }
    let error = open(&folder, "a.parquet", "messages.list.element.content").unwrap_err();
    assert!(error.to_string().ends_with(" holds lists, not texts"), "{error}");
    assert_eq!(
        error.hint().unwrap().to_string(),
        "to read the texts of a list, write `[]` behind its name: `messages[].content`"
    );

    folder.write("a.csv", "id,text\n1,one\n");
    let error = open(&folder, "a.csv", "text[]").unwrap_err();
    assert!(error.to_string().ends_with("a.csv` has no lists"), "{error}");
    folder.write("b.csv", "id,tags[]\n1,one\n");
    assert_eq!(outcomes(&open(&folder, "b.csv", "tags[]").unwrap()), [Ok("one".to_owned())]);
    let warc =
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <a>\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
    folder.write("a.warc", warc);
    let error = open(&folder, "a.warc", "messages[].content").unwrap_err();
    assert!(error.to_string().ends_with("a.warc` has no lists"), "{error}");
    assert!(error.hint().unwrap().to_string().contains("leave out `text_field`"), "{error}");
}

#[test]
fn an_id_and_a_value_are_in_no_list() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{}");
    let field: FieldPath = "tags[]".parse().unwrap();
    for options in [
        ReadOptions::default().id_field(field.clone()),
        ReadOptions::default().value_fields(vec![field.clone()]),
    ] {
        let error = folder.open_with(&["a.jsonl"], &options).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`tags[]` is not the path of one value: expected a path without `[]`, which leads into a list"
        );
    }
}

#[test]
fn lines_with_lists_are_documents_or_say_why_not() {
    let folder = Folder::new();
    let lines = [
        r#"{"id": 1, "messages": [{"role": "user", "content": "\u4f60\u597d"}, {"role": "tool"}]}"#,
        r#"{"id": 2, "messages": null}"#,
        r#"{"id": 3}"#,
        r#"{"id": 4, "messages": [{"role": "user"}]}"#,
        r#"{"id": 5, "messages": [{"content": 7}]}"#,
        r#"{"id": 6, "messages": {"content": "a"}}"#,
        r#"{"id": 7, "messages": [], "messages": []}"#,
        r#"{"id": 8, "messages": [{"content": "a", "content": "a"}]}"#,
        r#"{"id": 9, "messages": [{"content": "a"}] x}"#,
        r#"{"id": [1], "messages": []}"#,
    ];
    folder.write("a.jsonl", lines.join("\n"));
    let records = scan(&open(&folder, "a.jsonl", "messages[].content").unwrap(), 1 << 20);
    assert_eq!((records[0].id(), records[0].text()), ("1", "你好"));
    let rejects: Vec<String> = records[1..].iter().map(|record| record.reject().to_string()).collect();
    assert_eq!(
        rejects,
        [
            "record `2`: the field `messages[].content` holds null",
            "record `3`: there is no field `messages[].content`",
            "record `4`: there is no field `messages[].content`",
            "record `5`: the field `messages[].content` holds a number",
            "record `6`: the field `messages` holds an object, not a list",
            "record `7`: the field `messages` is there twice",
            "record `8`: the field `messages[].content` is there twice",
            "not JSON: expected `,` or `}` at column 42",
            "the field `id` holds a list",
        ]
    );
    // A path without brackets is refused if it leads through a list.
    for (field, code, offered) in [
        (
            "messages",
            "wrong_type",
            "the field `messages` holds a list; paths to its texts: `messages[].role`, `messages[].content`",
        ),
        (
            "messages.content",
            "missing_field",
            "there is no field `messages.content`; paths to its texts: `messages[].content`",
        ),
    ] {
        let records = scan(&open(&folder, "a.jsonl", field).unwrap(), 1 << 20);
        assert_eq!(records[0].reject().to_string(), format!("record `1`: {offered}"));
        assert_eq!(records[0].code(), code);
    }
}

/// A line of more than 8 MiB would not be loaded if its text were one string.
#[test]
fn a_long_line_with_lists_is_loaded() {
    let folder = Folder::new();
    let long = "naïve \"quoted\" 中文\n".repeat(150_000);
    let line = |id: &str, texts: &[&str]| {
        let messages: Vec<Value> = texts.iter().map(|text| json!({ "content": text })).collect();
        json!({ "id": id, "messages": messages }).to_string()
    };
    let lines =
        [line("a", &["x", "y"]), line("b", &[&long, "z", &long, &long]), line("c", &["end"])].join("\n");
    assert!(lines.len() > 9 << 20);
    folder.write("a.jsonl", &lines);
    folder.write("a.jsonl.gz", gzip(lines.as_bytes()));
    for name in ["a.jsonl", "a.jsonl.gz"] {
        let corpus = open(&folder, name, "messages[].content").unwrap();
        let records = scan(&corpus, 1 << 20);
        let texts: Vec<&str> = records.iter().map(Record::text).collect();
        assert!(texts == ["x\n\ny", &[&long, "z", &long, &long].join("\n\n"), "end"], "{name}");
        assert_read_again(&corpus, &records);
        let mut scratch = Scratch::new();
        let again = corpus.read_long(&records[1].place, &mut scratch).unwrap();
        assert!(again.into_whole().unwrap().text == texts[1]);
    }
}

/// Makes a file of texts in lists, in pages of eight values. `patterns` has the repetition levels of each page, the
/// lowest bit first.
///
/// The writer of the library ends each page with a row, here after two rows of four texts each. Other writers end
/// pages anywhere, so the levels are replaced afterwards.
fn cut_anywhere(text: impl Fn(usize) -> String, patterns: &[u8], dictionary: bool) -> Vec<u8> {
    let schema = "message m { required group tags (LIST) { repeated group list { required binary element (UTF8); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(2)
        .set_data_page_size_limit(usize::MAX)
        .set_dictionary_enabled(dictionary)
        .set_dictionary_page_size_limit(usize::MAX)
        .build();
    let properties = Arc::new(properties);
    let column = SchemaDescriptor::new(Arc::clone(&schema)).column(0);
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut writer = ColumnWriterImpl::<ByteArrayType>::new(column, Arc::clone(&properties), pages);
    for page in 0..patterns.len() {
        let values: Vec<ByteArray> =
            (8 * page..8 * page + 8).map(|value| ByteArray::from(&*text(value))).collect();
        writer.write_batch(&values, Some(&[1; 8]), Some(&[0, 1, 1, 1, 0, 1, 1, 1])).unwrap();
    }
    let mut close = writer.close().unwrap();
    let mut bytes = sink.into_inner().unwrap();
    // These bytes are the levels that the library writes: their length, the header of one packed group, and the
    // levels themselves.
    let written = [2, 0, 0, 0, 3, 0b1110_1110];
    let mut at = 0;
    for pattern in patterns {
        at += bytes[at..].windows(6).position(|levels| levels == written).unwrap() + 5;
        bytes[at] = *pattern;
    }
    close.rows_written = patterns.iter().map(|pattern| u64::from(pattern.count_zeros())).sum();
    close.offset_index = None;
    close.column_index = None;
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    group.append_column(&bytes::Bytes::from(bytes), close).unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Returns the texts of the rows that these levels describe.
fn expected_rows(text: impl Fn(usize) -> String, patterns: &[u8]) -> Vec<String> {
    let mut rows: Vec<Vec<String>> = vec![];
    for value in 0..8 * patterns.len() {
        if patterns[value / 8] >> (value % 8) & 1 == 0 {
            rows.push(vec![]);
        }
        rows.last_mut().unwrap().push(text(value));
    }
    rows.into_iter().map(|row| row.join("\n\n")).collect()
}

#[test]
fn a_row_may_span_pages() {
    let folder = Folder::new();
    // Some pages begin with a row and some within a row. In some pages no row begins, and some pages end with a row.
    let patterns = [0b1110_1110, 0b1110_1111, 0xff, 0b1011_1101, 0, 0b1110_1110, 0b0111_1111, 0b1111_1111];
    for (length, dictionary) in [(1, false), (20_000, false), (20_000, true)] {
        let text = |value: usize| {
            format!("{value} {}", "中".repeat(if dictionary { length / 100 } else { length / 3 }))
        };
        let text = |value: usize| text(if dictionary { value % 5 } else { value });
        folder.write("a.parquet", cut_anywhere(text, &patterns, dictionary));
        let corpus = open(&folder, "a.parquet", "tags[]").unwrap();
        let pieces = corpus.chunks(1).len();
        assert!(if length > 1 && !dictionary { pieces >= 5 } else { pieces == 1 }, "{pieces} pieces");
        let found: Vec<String> = outcomes(&corpus).into_iter().map(Result::unwrap).collect();
        assert!(found == expected_rows(text, &patterns), "{length} {dictionary}");
        let records = scan(&corpus, 1);
        folder.copy(&corpus, &places(&records)[3..], "out.parquet", minwise_corpus::TableCompression::Keep);
        let copied = outcomes(&open(&folder, "out.parquet", "tags[]").unwrap());
        assert!(copied.into_iter().map(Result::unwrap).eq(found[3..].iter().cloned()));
        fs_err::remove_file(folder.path("out.parquet")).unwrap();
    }
}

/// The file has few bytes, but its joined texts would fill the memory.
#[test]
fn a_dictionary_does_not_unfold_in_lists() {
    let folder = Folder::new();
    let value = "x".repeat(1 << 16);
    let schema = "message m { required group tags (LIST) { repeated group list { required binary element (UTF8); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_dictionary_page_size_limit(usize::MAX).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // The first row has 2 GiB of text, which is over the limit, and the second row has little text.
    let mut begins = vec![1; (1 << 15) + 1];
    begins[0] = 0;
    begins[1 << 15] = 0;
    let values = vec![ByteArray::from(&*value); begins.len()];
    column
        .typed::<ByteArrayType>()
        .write_batch(&values, Some(&vec![1; begins.len()]), Some(&begins))
        .unwrap();
    column.close().unwrap();
    group.close().unwrap();
    folder.write("a.parquet", writer.into_inner().unwrap());
    assert!(folder.bytes("a.parquet").len() < 1 << 20);
    let corpus = open(&folder, "a.parquet", "tags[]").unwrap();
    let records = scan(&corpus, 1 << 20);
    assert_eq!((records[0].code(), records[1].text().len()), ("too_large", 1 << 16));
    assert_read_again(&corpus, &records[1..]);
}

/// pyarrow gives the type null to a column in which it has seen no value.
#[test]
fn a_column_of_type_null_holds_null_texts() {
    let folder = Folder::new();
    let nulls: ArrayRef = Arc::new(NullArray::new(2));
    let (ends, is_there) = offsets(&[Some(2), None]);
    let element = Arc::new(Field::new_list_field(DataType::Null, true));
    let lists = ListArray::try_new(element, ends, Arc::new(NullArray::new(2)), Some(is_there)).unwrap();
    folder.write("a.arrow", arrow_file([("text", nulls), ("tags", Arc::new(lists))]));

    let schema = "message m { optional int32 text (UNKNOWN);
        optional group tags (LIST) { repeated group list { optional int32 element (UNKNOWN); } } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let levels: [(&[i16], Option<&[i16]>); 2] = [(&[0, 0], None), (&[2, 2, 0], Some(&[0, 1, 0]))];
    for (definitions, repetitions) in levels {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[], Some(definitions), repetitions).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    folder.write("a.parquet", writer.into_inner().unwrap());

    for name in ["a.arrow", "a.parquet"] {
        for field in ["text", "text[].content", "text.content"] {
            assert_eq!(
                outcomes(&open(&folder, name, field).unwrap()),
                [Err("null"), Err("null")],
                "{name} {field}"
            );
        }
        for field in ["tags[]", "tags[].name", "tags[][]"] {
            let expected = [Ok(String::new()), Err("null")];
            assert_eq!(outcomes(&open(&folder, name, field).unwrap()), expected, "{name} {field}");
        }
        let error = open(&folder, name, "tags").unwrap_err();
        assert!(error.to_string().ends_with("holds lists, not texts"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Damage is an error or is not noticed, but never ends the process.
    #[test]
    fn damage_does_no_harm(
        format in 0..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        field in prop::sample::select(vec!["messages[].content", "messages[].parts[]"]),
    ) {
        let folder = Folder::new();
        let chat = |text: &str| Some(vec![Some(message(Some(text), Some(&[Some("a"), None, Some(text)])))]);
        let chats: Vec<Chat> = vec![chat("one"), None, chat("two"), Some(vec![]), chat("three")];
        let (name, mut bytes) = match format {
            0 => ("a.arrow", arrow(&chats)),
            1 => ("a.parquet", parquet(&chats, WriterVersion::PARQUET_1_0, 5)),
            _ => ("a.parquet", parquet(&chats, WriterVersion::PARQUET_2_0, 2)),
        };
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        folder.write(name, bytes);
        if let Ok(corpus) = open(&folder, name, field) {
            for chunk in corpus.chunks(1) {
                let _ = corpus.scan(&chunk, &mut Scratch::new(), &mut |_, _| ());
            }
        }
    }

    #[test]
    fn the_formats_agree(chats in prop::collection::vec(chat(), 1..20)) {
        let folder = Folder::new();
        let names = write_all(&folder, &chats);
        for (path, texts) in [("messages[].content", contents as fn(&Message) -> Vec<String>), ("messages[].parts[]", parts)] {
            let expected: Vec<Result<String, &str>> = chats
                .iter()
                .map(|chat| {
                    let messages = chat.as_ref().ok_or("null")?.iter().flatten();
                    Ok(messages.flat_map(texts).collect::<Vec<_>>().join("\n\n"))
                })
                .collect();
            for name in names {
                let found = outcomes(&open(&folder, name, path).unwrap());
                prop_assert_eq!(&found, &expected, "{} {}", name, path);
            }
        }
    }
}

fn contents(message: &Message) -> Vec<String> {
    message.content.iter().cloned().collect()
}

fn parts(message: &Message) -> Vec<String> {
    message.parts.iter().flatten().flatten().cloned().collect()
}

fn chat() -> impl Strategy<Value = Chat> {
    let text = || prop_oneof![4 => "[ab中\"\\n]{0,6}", 1 => any::<String>()];
    let parts = prop::option::of(prop::collection::vec(prop::option::of(text()), 0..4));
    let message = (prop::option::of(text()), parts).prop_map(|(content, parts)| Message { content, parts });
    prop::option::of(prop::collection::vec(prop::option::weighted(0.8, message), 0..5))
}
