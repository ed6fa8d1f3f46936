//! Tests of documents that a program holds in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use minwise_corpus::{
    Annotation, Corpus, Error, FieldPath, Format, InMemory, Input, Output, OutputVerdict, Overwrite,
    ReadOptions, Scratch, TableCompression, Unobserved, annotate_records, convert_annotated, convert_records,
    copy_records, refuse_same_names, refuse_unlike,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Folder, Record, all, assert_read_again, places, scan};

const TEXTS: [Option<&str>; 6] =
    [Some("one"), None, Some(""), Some("近重复文本检测,一个较长的句子"), Some("four"), Some("one")];

fn open(input: impl Into<Input>, options: &ReadOptions) -> Result<Corpus, Error> {
    Corpus::open(&[input.into()], options, &Unobserved)
}

fn opened(input: impl Into<Input>) -> Corpus {
    open(input, &ReadOptions::default()).unwrap()
}

/// Returns the parts of records that do not depend on their source.
fn shown(records: &[Record]) -> Vec<(u64, &'static str, Option<&str>, &str)> {
    records
        .iter()
        .map(|record| match record.code() {
            "ok" => (record.line, "ok", record.maybe_id(), record.text()),
            code => (record.line, code, record.reject().id.as_deref(), ""),
        })
        .collect()
}

/// Makes tables with texts of every type. Each table has two batches, which are slices of a larger batch.
fn tables() -> Vec<(Arc<Schema>, Vec<RecordBatch>)> {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4), None, Some(6)]));
    let texts: [ArrayRef; 5] = [
        Arc::new(StringArray::from(TEXTS.to_vec())),
        Arc::new(LargeStringArray::from(TEXTS.to_vec())),
        Arc::new(StringViewArray::from(TEXTS.to_vec())),
        Arc::new(TEXTS.into_iter().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(TEXTS.into_iter().collect::<DictionaryArray<UInt32Type>>()),
    ];
    let table = |texts: ArrayRef| {
        let batch =
            RecordBatch::try_from_iter_with_nullable([("id", Arc::clone(&ids), true), ("text", texts, true)]);
        let batch = batch.unwrap();
        (batch.schema(), vec![batch.slice(0, 4), batch.slice(4, 2)])
    };
    texts.into_iter().map(table).collect()
}

fn file(schema: &Schema, batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), schema).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn texts_are_what_they_are_in_a_file() {
    let folder = Folder::new();
    let lines: Vec<String> = TEXTS.iter().map(|text| format!("{}\n", json!({ "text": text }))).collect();
    folder.write("in.jsonl", lines.concat());
    let file = scan(&folder.open(&["in.jsonl"]).unwrap(), 30);
    let texts: Vec<Option<String>> = TEXTS.iter().map(|text| text.map(str::to_owned)).collect();
    let corpus = opened(texts);
    let memory = scan(&corpus, 30);
    assert_eq!(shown(&memory), shown(&file));
    assert_eq!(memory[1].reject().reason, file[1].reject().reason);
    assert_read_again(&corpus, &memory);
    assert_eq!(corpus.format(), Some(Format::TEXTS_IN_MEMORY));
    assert_eq!(corpus.size_bytes(), TEXTS.iter().flatten().map(|text| text.len() as u64).sum::<u64>());
}

#[test]
fn ids_come_with_texts() {
    let corpus = opened(InMemory::documents([("a", "one"), ("", "two")]));
    let records = scan(&corpus, 1);
    assert_eq!(shown(&records), [(0, "ok", Some("a"), "one"), (1, "ok", None, "two")]);
    assert_read_again(&corpus, &records);
    let corpus = opened(InMemory::records([(None, Some("one")), (Some("b"), None)]));
    assert_eq!(shown(&scan(&corpus, 1)), [(0, "ok", None, "one"), (1, "null", Some("b"), "")]);
    // Field names in the options apply to files, and not to a list of texts.
    let options = ReadOptions::default()
        .text_fields(FieldPath::list("title,body").unwrap())
        .id_field("key".parse().unwrap());
    let corpus = open(vec![("a".to_owned(), "one".to_owned())], &options).unwrap();
    assert_eq!(shown(&scan(&corpus, 1)), [(0, "ok", Some("a"), "one")]);
}

#[test]
fn tables_are_what_they_are_in_a_file() {
    let folder = Folder::new();
    for (number, (schema, batches)) in tables().into_iter().enumerate() {
        let name = format!("{number}.arrow");
        folder.write(&name, file(&schema, &batches));
        let file = scan(&folder.open(&[&name]).unwrap(), 1);
        let corpus = opened(InMemory::batches(Arc::clone(&schema), batches));
        let memory = scan(&corpus, 1);
        assert_eq!(shown(&memory), shown(&file), "{schema}");
        assert_read_again(&corpus, &memory);
        assert_eq!(
            (corpus.format(), corpus.output_format()),
            (Some(Format::TABLE_IN_MEMORY), Some(Format::ARROW))
        );
    }
}

/// The table has members of structs, several text fields, values, and a column of nulls for the ids.
#[test]
fn columns_are_found_as_in_a_file() {
    let folder = Folder::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("one"), None, Some("three")]));
    let meta = vec![(Arc::new(Field::new("body", DataType::Utf8, true)), Arc::clone(&texts))];
    let meta = StructArray::try_new(
        meta.iter().map(|(field, _)| Arc::clone(field)).collect(),
        meta.into_iter().map(|(_, array)| array).collect(),
        Some(vec![true, true, false].into()),
    );
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("id", arrow_array::new_null_array(&DataType::Null, 3), true),
        ("title", texts, true),
        ("meta", Arc::new(meta.unwrap()) as ArrayRef, true),
        ("date", Arc::new(Int64Array::from(vec![Some(5), None, Some(7)])), true),
    ])
    .unwrap();
    let options = ReadOptions::default()
        .text_fields(FieldPath::list("title,meta.body").unwrap())
        .value_fields(FieldPath::list("date").unwrap());
    let values = |corpus: &Corpus| {
        let mut values = vec![];
        for chunk in corpus.chunks(1) {
            let mut note = |_, document: Result<minwise_corpus::Document<'_>, _>| {
                values.push(document.map(|document| {
                    let owned = |value: Option<Cow<'_, str>>| value.map(Cow::into_owned);
                    document.values.into_iter().map(owned).collect::<Vec<_>>()
                }));
            };
            corpus.scan(&chunk, &mut Scratch::new(), &mut note).unwrap();
        }
        values
    };
    folder.write("a.arrow", file(&batch.schema(), std::slice::from_ref(&batch)));
    let from_file = folder.open_with(&["a.arrow"], &options).unwrap();
    let from_memory = open(batch, &options).unwrap();
    let records = scan(&from_memory, 1);
    assert_eq!(shown(&records), shown(&scan(&from_file, 1)));
    assert_eq!(records[2].text(), "three\n");
    assert_eq!(values(&from_memory), values(&from_file));
    assert_eq!(values(&from_memory)[0], Ok(vec![Some("5".to_owned())]));
    // A list of texts has no fields except its text and its id.
    let options = ReadOptions::default().value_fields(FieldPath::list("date,text,id").unwrap());
    let corpus = open(InMemory::documents([("a", "one")]), &options).unwrap();
    assert_eq!(values(&corpus), [Ok(vec![None, Some("one".to_owned()), Some("a".to_owned())])]);
}

#[test]
fn texts_are_not_copied() {
    for (schema, batches) in tables() {
        let lies_in = |text: &str| {
            let within = |array: &ArrayRef| {
                let data = array.to_data();
                let children: Vec<_> =
                    data.child_data().iter().map(|child| child.buffers().to_vec()).collect();
                data.buffers()
                    .iter()
                    .chain(children.iter().flatten())
                    .any(|buffer| buffer.as_ptr_range().contains(&text.as_ptr()))
            };
            batches.iter().any(|batch| within(batch.column(1)))
        };
        let corpus = opened(InMemory::batches(Arc::clone(&schema), batches.clone()));
        let mut places = vec![];
        for chunk in corpus.chunks(1) {
            corpus
                .scan(&chunk, &mut Scratch::new(), &mut |place, document| {
                    let Ok(document) = document else { return };
                    places.push(place);
                    let Cow::Borrowed(text) = document.text else { panic!("{schema}: a text was copied") };
                    assert!(text.is_empty() || lies_in(text), "{schema}");
                })
                .unwrap();
        }
        assert_eq!(places.len(), 5);
        for place in places {
            let mut scratch = Scratch::new();
            let Cow::Borrowed(text) = corpus.read(&place, &mut scratch).unwrap().text else {
                panic!("{schema}: a text was copied")
            };
            assert!(text.is_empty() || lies_in(text), "{schema}");
        }
    }
}

#[test]
fn missing_columns_are_reported_as_of_a_file() {
    let folder = Folder::new();
    let (schema, batches) = tables().swap_remove(0);
    folder.write("t.arrow", file(&schema, &batches));
    let name = folder.path("t.arrow").to_string_lossy().into_owned();
    for (text, id) in [("body", "id"), ("id", "id"), ("text", "key"), ("meta.text", "id")] {
        let options =
            ReadOptions::default().text_fields(FieldPath::list(text).unwrap()).id_field(id.parse().unwrap());
        let memory = InMemory::batches(Arc::clone(&schema), batches.clone()).named("t.arrow");
        let memory = open(memory, &options).unwrap_err();
        let file = folder.open_with(&["t.arrow"], &options).unwrap_err();
        assert_eq!(memory.to_string(), file.to_string().replace(&name, "t.arrow"));
        assert_eq!(memory.hint().map(|hint| hint.to_string()), file.hint().map(|hint| hint.to_string()));
    }
    // A table without rows still has a schema.
    assert_eq!(scan(&opened(InMemory::batches(Arc::clone(&schema), [])), 1).len(), 0);
    let empty = InMemory::batches(Arc::new(Schema::empty()), []);
    let error = open(empty, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "`memory` has no column `text`");
}

#[test]
fn batches_of_another_schema_are_refused() {
    let column = |texts: &[&str]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let first = RecordBatch::try_from_iter([("text", column(&["a"]))]).unwrap();
    let nullable = RecordBatch::try_from_iter_with_nullable([("text", column(&["a"]), true)]).unwrap();
    let message = |second: &RecordBatch| {
        let memory = InMemory::batches(first.schema(), [first.clone(), second.clone()]);
        open(memory, &ReadOptions::default()).unwrap_err().to_string()
    };
    let refused = "`memory` cannot be read: record batch 1: it is not of the schema that was given: ";
    for (columns, expected) in [
        (vec![("text", column(&["a"])), ("more", column(&["b"]))], "they have 2 and 1 columns"),
        (vec![("body", column(&["a"]))], "where one has the column `body`, the other has `text`"),
        (
            vec![("text", Arc::new(Int64Array::from(vec![1])) as ArrayRef)],
            "the column `text` has different types",
        ),
    ] {
        assert_eq!(message(&RecordBatch::try_from_iter(columns).unwrap()), format!("{refused}{expected}"));
    }
    assert_eq!(message(&nullable), format!("{refused}the column `text` may be null in one of them only"));
    // The metadata of a field may differ, and rows without nulls fit a column that may be null.
    let remark = Field::new("text", DataType::Utf8, true).with_metadata([("a".into(), "b".into())].into());
    let schema = Arc::new(Schema::new(vec![remark]));
    assert_eq!(scan(&opened(InMemory::batches(schema, [first, nullable])), 1).len(), 2);
}

#[test]
fn records_of_files_and_of_memory_are_one_corpus() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"text\": \"a\"}\n");
    let texts = || Input::from(vec!["b".to_owned()]);
    let (schema, batches) = tables().swap_remove(0);
    let table = || Input::from(InMemory::batches(Arc::clone(&schema), batches.clone()));
    let file = || Input::from(folder.path("a.jsonl"));
    for inputs in [[file(), texts()], [texts(), table()], [table(), file()]] {
        let corpus = Corpus::open(&inputs, &ReadOptions::default(), &Unobserved).unwrap();
        assert_eq!(corpus.format(), None);
        let mut out = Output::create(&folder.path("all.jsonl"), Overwrite::Allow).unwrap();
        let places = places(&scan(&corpus, 7));
        let count = places.len();
        let compression = TableCompression::Keep;
        convert_records(&corpus, all(&corpus), places.into_iter(), Format::JSONL, &mut out, compression)
            .unwrap();
        out.finish().unwrap();
        assert_eq!(folder.text("all.jsonl").lines().count(), count);
    }
    folder.write("a.txt", "a text");
    let error = Corpus::open(&[texts(), folder.path("a.txt").into()], &ReadOptions::default(), &Unobserved)
        .unwrap_err();
    assert_eq!(error.code(), "mixed_formats");
    assert!(error.hint().unwrap().to_string().starts_with("run each kind separately"), "{error}");
    // References may have another format than inputs, and several sources of one format make a corpus.
    let corpus =
        Corpus::open_against(&[file()], &[texts(), texts()], &ReadOptions::default(), &Unobserved).unwrap();
    let names: Vec<&str> = corpus.inputs().iter().map(minwise_corpus::Source::name).collect();
    assert_eq!(names, ["memory", "memory-3"]);
    assert!(corpus.inputs().iter().all(|source| source.path().is_none()));
    let texts: Vec<String> = scan(&corpus, 1).iter().map(|record| record.text().to_owned()).collect();
    assert_eq!(texts, ["a", "b", "b"]);
    assert_eq!(
        refuse_same_names(&corpus, None).unwrap_err().to_string(),
        "`memory` is in memory and has no file name, so it cannot be written to a folder"
    );
}

/// Returns the default format in which records are written.
fn written(corpus: &Corpus) -> Format {
    corpus.output_format().unwrap()
}

fn copied(corpus: &Corpus, folder: &Folder, name: &str, keep: &[usize]) -> Vec<u8> {
    let places = places(&scan(corpus, 7));
    let kept = keep.iter().map(|&at| places[at]);
    let mut out = Output::create(&folder.path(name), Overwrite::Refuse).unwrap();
    let (format, compression) = (written(corpus), TableCompression::Keep);
    if corpus.has_only(all(corpus), format).unwrap() {
        copy_records(corpus, all(corpus), kept, OutputVerdict::Kept, format, &mut out, compression).unwrap();
    } else {
        convert_records(corpus, all(corpus), kept, format, &mut out, compression).unwrap();
    }
    out.finish().unwrap();
    folder.bytes(name)
}

fn annotated(corpus: &Corpus, folder: &Folder, name: &str) -> Vec<u8> {
    let annotation = |(number, place)| {
        let similarity = (number > 0).then_some(0.75);
        (place, Annotation::new("first", similarity))
    };
    let places = places(&scan(corpus, 7)).into_iter().enumerate().map(annotation);
    let mut out = Output::create(&folder.path(name), Overwrite::Refuse).unwrap();
    let (format, compression) = (written(corpus), TableCompression::Keep);
    if corpus.has_only(all(corpus), format).unwrap() {
        annotate_records(corpus, all(corpus), places, format, &mut out, compression).unwrap();
    } else {
        convert_annotated(corpus, all(corpus), places, format, &mut out, compression).unwrap();
    }
    out.finish().unwrap();
    folder.bytes(name)
}

#[test]
fn texts_are_written_as_jsonl() {
    let folder = Folder::new();
    let records =
        [(Some("1"), Some("a \"rose\"\n")), (None, Some("文本")), (Some(""), Some("")), (Some("4"), None)];
    let corpus = opened(InMemory::records(records));
    let lines = "{\"id\":\"1\",\"text\":\"a \\\"rose\\\"\\n\"}\n{\"id\":\"\",\"text\":\"\"}\n{\"id\":\"4\",\"text\":null}\n";
    assert_eq!(String::from_utf8(copied(&corpus, &folder, "a.jsonl", &[0, 2, 3])).unwrap(), lines);
    let corpus = opened(InMemory::documents([("1", "a"), ("2", "b")]));
    assert_eq!(
        String::from_utf8(annotated(&corpus, &folder, "b.jsonl")).unwrap(),
        "{\"id\":\"1\",\"text\":\"a\",\"minwise\":{\"cluster\":\"first\",\"duplicate_of\":null,\"similarity\":null}}\n\
         {\"id\":\"2\",\"text\":\"b\",\"minwise\":{\"cluster\":\"first\",\"duplicate_of\":\"first\",\"similarity\":0.75}}\n"
    );
    // The written file has the same records as the corpus in memory.
    let file = folder.open(&["b.jsonl"]).unwrap();
    assert_eq!(shown(&scan(&file, 1)), shown(&scan(&corpus, 1)));
}

/// Rows in memory and rows of a file with the same batches are written alike.
#[test]
fn tables_are_written_as_arrow() {
    let folder = Folder::new();
    for (number, (schema, batches)) in tables().into_iter().enumerate() {
        let name = format!("{number}.arrow");
        folder.write(&name, file(&schema, &batches));
        let from_file = folder.open(&[&name]).unwrap();
        let from_memory = opened(InMemory::batches(schema, batches));
        refuse_unlike(&from_memory).unwrap();
        let rows = |bytes: Vec<u8>| -> String {
            folder.write("written.arrow", bytes);
            format!("{:?}", shown(&scan(&folder.open(&["written.arrow"]).unwrap(), 1)))
        };
        for (case, keep) in [&[0, 1, 3, 5][..], &[], &[4]].into_iter().enumerate() {
            let expected = rows(copied(&from_file, &folder, &format!("f{number}-{case}"), keep));
            let found = rows(copied(&from_memory, &folder, &format!("m{number}-{case}"), keep));
            assert_eq!(found, expected);
        }
        let expected = rows(annotated(&from_file, &folder, &format!("fa{number}")));
        assert_eq!(rows(annotated(&from_memory, &folder, &format!("ma{number}"))), expected);
    }
}

/// An Arrow file has one dictionary per column, so values are written instead.
#[test]
fn dictionaries_of_batches_may_differ() {
    let batch = |texts: [&str; 2]| {
        let column = Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef;
        RecordBatch::try_from_iter([("text", column)]).unwrap()
    };
    let batches = vec![batch(["a", "b"]), batch(["a", "c"])];
    let corpus = opened(InMemory::batches(batches[0].schema(), batches));
    let folder = Folder::new();
    copied(&corpus, &folder, "a.arrow", &[1, 2, 3]);
    let texts: Vec<String> =
        scan(&folder.open(&["a.arrow"]).unwrap(), 1).iter().map(|record| record.text().to_owned()).collect();
    assert_eq!(texts, ["b", "a", "c"]);
}

#[test]
fn content_is_known_again() {
    let options = ReadOptions::default().value_fields(vec!["id".parse().unwrap()]);
    let hash = |input: Input| open(input, &options).unwrap().content_hash(0, &mut |_| true).unwrap().unwrap();
    let texts = |texts: &[&str]| hash(InMemory::texts(texts).into());
    assert_eq!(texts(&["ab", "c"]), texts(&["ab", "c"]));
    assert_eq!(texts(&["ab", "c"]).bytes, 3);
    for other in [&["a", "bc"][..], &["abc"], &["c", "ab"], &["ab", "c", ""]] {
        assert_ne!(texts(&["ab", "c"]), texts(other));
    }
    let record = |id, text| hash(InMemory::records([(id, text)]).into());
    let all =
        [(None, None), (None, Some("")), (Some("a"), Some("")), (Some("a"), None), (Some(""), Some("a"))];
    for (number, (id, text)) in all.into_iter().enumerate() {
        for (other_id, other_text) in &all[number + 1..] {
            assert_ne!(record(id, text), record(*other_id, *other_text));
        }
    }
    // The hash does not depend on how a table is cut into batches, or on the type of its texts.
    let hashes: Vec<_> = tables()
        .into_iter()
        .map(|(schema, batches)| hash(InMemory::batches(schema, batches).into()))
        .collect();
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
    let corpus = opened(InMemory::texts(["a"]));
    assert_eq!(corpus.content_hash(0, &mut |_| false).unwrap(), None);
}

#[test]
fn many_texts_are_many_chunks() {
    let texts: Vec<String> = (0..100_000).map(|number| format!("text {number}")).collect();
    let corpus = opened(texts.clone());
    assert!(corpus.chunks(1).len() > 3);
    for target in [1, 1 << 20, u64::MAX] {
        let chunks = corpus.chunks(target);
        assert_eq!(chunks.iter().map(minwise_corpus::Chunk::size_bytes).sum::<u64>(), corpus.size_bytes());
        let records = scan(&corpus, target);
        assert!(
            records.iter().zip(0..).all(|(record, line)| record.line == line && record.place.offset == line)
        );
        assert!(records.iter().map(Record::text).eq(texts.iter().map(String::as_str)));
    }
    // Many empty texts are cut into several chunks, too, because each row counts some bytes.
    assert!(opened(vec![String::new(); 100_000]).chunks(1).len() > 1);
}

#[test]
fn a_long_text_is_lent_as_a_whole() {
    let long = "many words ".repeat(1 << 20);
    let corpus = opened(InMemory::texts(["a", &long, "b"]));
    let mut found = vec![];
    for chunk in corpus.chunks(1 << 20) {
        corpus
            .scan_long(&chunk, &mut Scratch::new(), &mut |place, document| {
                let whole =
                    matches!(document.unwrap().text, minwise_corpus::DocumentText::Whole(Cow::Borrowed(_)));
                found.push((place, whole));
            })
            .unwrap();
    }
    assert!(found.len() == 3 && found.iter().all(|(_, whole)| *whole));
    let mut scratch = Scratch::new();
    assert_eq!(corpus.read(&found[1].0, &mut scratch).unwrap().text, long);
    let options = ReadOptions::default().max_record_bytes(1 << 20);
    let limited = open(InMemory::texts(["a", &long]), &options).unwrap();
    assert_eq!(scan(&limited, 1)[1].code(), "too_large");
}

#[test]
fn places_outside_the_memory_are_refused() {
    let corpus = opened(vec!["a".to_owned()]);
    let place = |offset| minwise_corpus::RecordPlace { source: 0, line: 0, offset, len: 1 };
    let code = |place| corpus.read(&place, &mut Scratch::new()).unwrap_err().code();
    assert_eq!((code(place(1)), code(place(u64::MAX))), ("no_such_place", "no_such_place"));
    assert_eq!(corpus.read_raw(&place(0), &mut Scratch::new()).unwrap_err().code(), "no_bytes");
    let empty = opened(Vec::<String>::new());
    assert_eq!((empty.chunks(1).len(), empty.size_bytes(), empty.sources().len()), (0, 0, 1));
}

proptest! {
    #[test]
    fn any_texts_are_read_as_they_are(records in prop::collection::vec(any::<(Option<String>, Option<String>)>(), 0..40)) {
        let corpus = opened(InMemory::records(records.iter().cloned()));
        let found = scan(&corpus, 1);
        prop_assert_eq!(found.len(), records.len());
        for (found, (id, text)) in found.iter().zip(&records) {
            let id = id.as_deref().filter(|id| !id.is_empty());
            if let Some(text) = text {
                prop_assert_eq!((found.maybe_id(), found.text()), (id, &**text));
            } else {
                prop_assert_eq!((found.code(), found.reject().id.as_deref()), ("null", id));
            }
        }
        assert_read_again(&corpus, &found);
    }
}

/// A program may hold each of its documents as a separate source. Names are looked up in a set, because comparing
/// each name with all others would take minutes here.
#[test]
fn many_sources_of_one_name_are_told_apart() {
    let texts = || InMemory::from(vec!["a".to_owned()]);
    let mut inputs = vec![Input::from(texts().named("memory-3")), texts().into(), texts().into()];
    inputs.extend((3..200_000).map(|_| Input::from(texts())));
    let started = Instant::now();
    let corpus = Corpus::open(&inputs, &ReadOptions::default(), &Unobserved).unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let names: Vec<&str> = corpus.inputs().iter().map(minwise_corpus::Source::name).collect();
    assert_eq!(names[..5], ["memory-3", "memory", "memory-4", "memory-5", "memory-6"]);
    let distinct: HashSet<&str> = names.iter().copied().collect();
    assert_eq!(distinct.len(), 200_000);
}
