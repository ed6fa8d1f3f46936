//! Tests of Arrow IPC files and streams.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field};
use minwise_corpus::{FieldPath, Format, InputFormat, ReadOptions, Scratch, TableCompression, refuse_unlike};
use proptest::prelude::*;

use crate::support::{Folder, Record, assert_read_again, held, places, scan};

/// Makes three rows. Their ids and texts follow from `first`.
fn batch(first: i64) -> RecordBatch {
    let text = format!("text {first}");
    let texts = [Some(text.as_str()), None, Some("another")];
    let kinds = if first == 1 { ["a", "b", "a"] } else { ["c", "a", "c"] };
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    lists.append_value([]);
    let members: Vec<(Arc<Field>, ArrayRef)> = vec![
        (
            Arc::new(Field::new("text", DataType::LargeUtf8, true)),
            Arc::new(LargeStringArray::from(texts.to_vec())),
        ),
        (Arc::new(Field::new("n", DataType::Int64, false)), Arc::new(Int64Array::from(vec![1, 2, 3]))),
    ];
    RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(Int64Array::from(vec![Some(first), None, Some(first + 2)])) as ArrayRef, true),
        ("text", Arc::new(StringArray::from(texts.to_vec())), true),
        ("view", Arc::new(StringViewArray::from(texts.to_vec())), true),
        ("kind", Arc::new(kinds.into_iter().collect::<DictionaryArray<Int8Type>>()), true),
        ("lists", Arc::new(lists.finish()), true),
        ("meta", Arc::new(StructArray::from(members)), false),
    ])
    .unwrap()
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(compression).unwrap()
}

fn stream(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options(compression)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

pub fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options(compression)).unwrap();
    writer.write_metadata("made by", "a test");
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Reads all batches of a file or stream.
fn batches(folder: &Folder, name: &str) -> Vec<RecordBatch> {
    let bytes = std::io::Cursor::new(folder.bytes(name));
    if bytes.get_ref().starts_with(b"ARROW1") {
        FileReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect()
    } else {
        StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect()
    }
}

/// Writes a file and a stream of several batches, with the text in columns of every type.
fn both(folder: &Folder) {
    // All batches of the file share its dictionaries; the stream replaces them.
    folder.write("a.arrow", file(&[batch(1), batch(1).slice(0, 0), batch(1)], Some(CompressionType::ZSTD)));
    folder.write("a.arrows", stream(&[batch(1), batch(11), batch(1)], None));
}

#[test]
fn rows_are_documents() {
    let folder = Folder::new();
    both(&folder);
    for (name, rows, third) in [("a.arrow", 6, "text 1"), ("a.arrows", 9, "text 11")] {
        for field in ["text", "view", "meta.text"] {
            let options = ReadOptions::default().text_fields(FieldPath::list(field).unwrap());
            let corpus = folder.open_with(&[name], &options).unwrap();
            assert_eq!(corpus.format(), Some(Format::ARROW));
            let records = scan(&corpus, 1);
            let seen: Vec<(&str, u64)> = records.iter().map(|record| (record.code(), record.line)).collect();
            assert_eq!(seen[..4], [("ok", 0), ("null", 1), ("ok", 2), ("ok", 3)], "{name} {field}");
            assert_eq!((records.len(), records[0].id(), records[3].text()), (rows, "1", third));
            assert_read_again(&corpus, &records);
        }
    }
}

#[test]
fn dictionaries_may_be_replaced_on_the_way() {
    let folder = Folder::new();
    both(&folder);
    let options = ReadOptions::default().text_fields(FieldPath::list("kind").unwrap());
    let corpus = folder.open_with(&["a.arrows"], &options).unwrap();
    let records = scan(&corpus, 1);
    let texts: Vec<&str> = records.iter().map(Record::text).collect();
    assert_eq!(texts, ["a", "b", "a", "c", "a", "c", "a", "b", "a"]);
    assert_read_again(&corpus, &records);
}

#[test]
fn dictionaries_may_be_extended_on_the_way() {
    let folder = Folder::new();
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let batch = |kinds: &[&str]| {
        let known = Arc::new(StringArray::from(kinds.to_vec()));
        let keys = Int8Array::from_iter_values((0..kinds.len() as i8).rev());
        let kinds = DictionaryArray::<Int8Type>::new(keys, known);
        RecordBatch::try_from_iter([("text", Arc::new(kinds) as ArrayRef)]).unwrap()
    };
    let batches = [batch(&["a"]), batch(&["a", "b"]), batch(&["a", "b", "c"]), batch(&["d"])];
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    folder.write("a.arrows", writer.into_inner().unwrap());
    let corpus = folder.open(&["a.arrows"]).unwrap();
    let records = scan(&corpus, 1);
    let texts: Vec<&str> = records.iter().map(Record::text).collect();
    assert_eq!(texts, ["a", "b", "a", "c", "b", "a", "d"]);
    let mut backwards = scan(&corpus, 1);
    backwards.reverse();
    assert_read_again(&folder.open(&["a.arrows"]).unwrap(), &backwards);
    folder.copy(&corpus, &places(&records), "copy.arrows", TableCompression::Keep);
    assert_eq!(scan(&folder.open(&["copy.arrows"]).unwrap(), 1), records);
}

#[test]
fn a_dictionary_does_not_unfold_in_memory() {
    let folder = Folder::new();
    let text = "x".repeat(1000);
    let kinds = vec![&*text; 5000].into_iter().collect::<DictionaryArray<Int8Type>>();
    let batch = RecordBatch::try_from_iter([("text", Arc::new(kinds) as ArrayRef)]).unwrap();
    folder.write("a.arrow", file(&[batch], None));
    assert_eq!(held(&folder.open(&["a.arrow"]).unwrap()), [(5000, 1000)]);
}

/// Returns the last offset at which the bytes `wanted` occur.
fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).rposition(|window| window == wanted).unwrap()
}

/// Dictionaries before the replacement are not read. Otherwise, a stream with many replacements would be read again
/// for each batch.
#[test]
fn a_dictionary_that_was_replaced_is_not_read() {
    let folder = Folder::new();
    let kinds = |kind: &str| {
        let kinds = [kind; 3].into_iter().collect::<DictionaryArray<Int8Type>>();
        RecordBatch::try_from_iter([("text", Arc::new(kinds) as ArrayRef)]).unwrap()
    };
    let mut bytes = stream(&[kinds("the first"), kinds("the second")], None);
    let at = find(&bytes, b"the first");
    bytes[at] = 0xff;
    folder.write("a.arrows", bytes);
    let corpus = folder.open(&["a.arrows"]).unwrap();
    let (mut scratch, mut texts) = (Scratch::new(), vec![]);
    let [first, second] = &corpus.chunks(1)[..] else { panic!("two batches") };
    let error = corpus.scan(first, &mut scratch, &mut |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("a.arrows` cannot be read: dictionary 0: "), "{error}");
    let mut visit = |_, document: Result<minwise_corpus::Document<'_>, _>| {
        texts.push(document.unwrap().text.into_owned());
    };
    corpus.scan(second, &mut scratch, &mut visit).unwrap();
    assert_eq!(texts, ["the second"; 3]);
}

/// An impossible length is refused before memory is allocated, because a failed allocation would end the process.
#[test]
fn a_compressed_buffer_that_is_too_long_is_refused() {
    let folder = Folder::new();
    let text = "a rose is a rose ".repeat(1000);
    let kinds = [&*text].into_iter().collect::<DictionaryArray<Int32Type>>();
    let column = Arc::new(StringArray::from(vec![&*text])) as ArrayRef;
    for (place, column) in [("record batch 0", column), ("dictionary 0", Arc::new(kinds))] {
        let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
        for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let whole = file(std::slice::from_ref(&batch), Some(compression));
            let at = find(&whole, &17_000u64.to_le_bytes());
            for high in 3..8 {
                let mut bytes = whole.clone();
                bytes[at + high] = 0x7f;
                folder.write("a.arrow", bytes);
                let corpus = folder.open(&["a.arrow"]).unwrap();
                let chunk = &corpus.chunks(1)[0];
                let error = corpus.scan(chunk, &mut Scratch::new(), &mut |_, _| ()).unwrap_err().to_string();
                assert!(
                    error.contains(&format!("a.arrow` cannot be read: {place}: its buffer "))
                        && error.ends_with(" compressed bytes cannot be"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_copy_has_the_types_and_values_of_the_input() {
    let folder = Folder::new();
    both(&folder);
    for name in ["a.arrow", "a.arrows"] {
        let corpus = folder.open(&[name]).unwrap();
        let all = places(&scan(&corpus, 1 << 20));
        let copy = |kept: &[_], to: &str| {
            folder.copy(&corpus, kept, to, TableCompression::Keep);
            batches(&folder, to)
        };
        let before: Vec<RecordBatch> =
            batches(&folder, name).into_iter().filter(|batch| batch.num_rows() > 0).collect();
        assert_eq!(copy(&all, &format!("all-{name}")), before);
        let some = copy(&all[2..4], &format!("some-{name}"));
        assert_eq!(some, [before[0].slice(2, 1), before[1].slice(0, 1)]);
        assert!(copy(&[], &format!("none-{name}")).is_empty());
        assert_eq!(folder.open(&[&format!("none-{name}")]).unwrap().format(), Some(Format::ARROW));
    }
    let remarks = FileReader::try_new(std::io::Cursor::new(folder.bytes("all-a.arrow")), None).unwrap();
    assert_eq!(remarks.custom_metadata()["made by"], "a test");
}

#[test]
fn compression_is_kept_or_chosen() {
    let folder = Folder::new();
    let long = StringArray::from(vec!["a rose is a rose ".repeat(1000)]);
    let batch = RecordBatch::try_from_iter([("text", Arc::new(long) as ArrayRef)]).unwrap();
    folder.write("plain.arrow", file(std::slice::from_ref(&batch), None));
    let corpus = folder.open(&["plain.arrow"]).unwrap();
    let all = places(&scan(&corpus, 1));
    folder.copy(&corpus, &all, "plain-again.arrow", TableCompression::Keep);
    assert!(folder.bytes("plain-again.arrow").len() > 17_000);
    for (name, compression) in [("zstd.arrow", TableCompression::Zstd), ("lz4.arrow", TableCompression::Lz4)]
    {
        folder.copy(&corpus, &all, name, compression);
        let packed = folder.open(&[name]).unwrap();
        folder.copy(&packed, &places(&scan(&packed, 1)), &format!("again-{name}"), TableCompression::Keep);
        for name in [name, &format!("again-{name}")] {
            assert!(folder.bytes(name).len() < 9_000, "{name}");
            assert_eq!(batches(&folder, name), std::slice::from_ref(&batch));
        }
    }
}

#[test]
fn an_annotation_is_a_column() {
    let folder = Folder::new();
    both(&folder);
    for name in ["a.arrow", "a.arrows"] {
        let corpus = folder.open(&[name]).unwrap();
        let documents: Vec<Record> =
            scan(&corpus, 1 << 20).into_iter().filter(|record| record.code() == "ok").collect();
        let out = format!("out-{name}");
        folder.annotate(&corpus, &places(&documents), &out);
        let found = batches(&folder, &out);
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), documents.len());
        let options = ReadOptions::default()
            .text_fields(FieldPath::list("minwise.cluster").unwrap())
            .id_field("minwise.duplicate_of".parse().unwrap());
        let records = scan(&folder.open_with(&[&out], &options).unwrap(), 1 << 20);
        assert!(records.iter().all(|record| record.text() == "first"));
        assert_eq!((records[0].maybe_id(), records[1].maybe_id()), (None, Some("first")));
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let folder = Folder::new();
    both(&folder);
    let message = |text: &str| {
        let options = ReadOptions::default().text_fields(FieldPath::list(text).unwrap());
        folder.open_with(&["a.arrow"], &options).unwrap_err()
    };
    assert!(message("lists").to_string().contains("the column `lists` of `"));
    assert!(message("meta.n").to_string().ends_with("holds Int64, not texts"));
    assert_eq!(
        message("meta").hint().unwrap().to_string(),
        "its columns are `id`, `text`, `view`, `kind`, `lists[]`, `meta.text` and `meta.n`"
    );
}

#[test]
fn a_file_that_is_cut_short_is_refused_with_the_place() {
    let folder = Folder::new();
    both(&folder);
    let (whole, parts) = (folder.bytes("a.arrow"), folder.bytes("a.arrows"));
    folder.write("cut.arrow", &whole[..whole.len() - 20]);
    let error = folder.open(&["cut.arrow"]).unwrap_err();
    assert!(error.to_string().contains("cut.arrow` cannot be read: its footer: "), "{error}");
    folder.write("cut.arrows", &parts[..parts.len() / 2]);
    let error = folder.open(&["cut.arrows"]).unwrap_err().to_string();
    assert!(error.contains("message ") && error.ends_with("it is cut short"), "{error}");
    folder.write("empty.arrow", "");
    let error = folder.open(&["empty.arrow"]).unwrap_err().to_string();
    assert!(error.ends_with("its beginning: there is no schema"), "{error}");
}

/// The files are refused at once, because the run would otherwise fail at the second file, after all the work.
#[test]
fn files_with_dictionaries_do_not_become_one() {
    let folder = Folder::new();
    both(&folder);
    folder.write("b.arrow", file(&[batch(11)], None));
    folder.write("b.arrows", stream(&[batch(11)], None));
    let error = refuse_unlike(&folder.open(&["a.arrow", "b.arrow"]).unwrap()).unwrap_err().to_string();
    assert!(
        error.ends_with("each has a dictionary for the column `kind`, and one Arrow file cannot have two"),
        "{error}"
    );
    refuse_unlike(&folder.open(&["a.arrows", "b.arrows"]).unwrap()).unwrap();
    refuse_unlike(&folder.open(&["a.arrow"]).unwrap()).unwrap();
}

/// Feather files are Arrow files with another extension.
#[test]
fn a_feather_file_is_an_arrow_file() {
    let folder = Folder::new();
    let kinds = ["x", "y"].into_iter().collect::<DictionaryArray<Int32Type>>();
    let batch = RecordBatch::try_from_iter([("text", Arc::new(kinds) as ArrayRef)]).unwrap();
    folder.write("a.feather", file(&[batch], Some(CompressionType::LZ4_FRAME)));
    let records = scan(&folder.open(&["a.feather"]).unwrap(), 1);
    assert_eq!(records.iter().map(Record::text).collect::<Vec<_>>(), ["x", "y"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Damage is an error or is not noticed, but never ends the process.
    #[test]
    fn damage_does_no_harm(
        as_file in any::<bool>(),
        compression in prop::sample::select(vec![None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let folder = Folder::new();
        let mut bytes =
            if as_file { file(&[batch(1)], compression) } else { stream(&[batch(1), batch(2)], compression) };
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        folder.write("a.arrow", bytes);
        let options = ReadOptions::default().format(InputFormat::Only(Format::ARROW));
        if let Ok(corpus) = folder.open_with(&["a.arrow"], &options) {
            let mut scratch = Scratch::new();
            for chunk in corpus.chunks(1) {
                let _ = corpus.scan(&chunk, &mut scratch, &mut |_, _| ());
            }
        }
    }
}

#[test]
fn an_id_column_of_type_null_is_none() {
    let folder = Folder::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["one", "two"]));
    let ids: ArrayRef = Arc::new(arrow_array::NullArray::new(2));
    let batch = RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap();
    folder.write("a.arrow", file(&[batch], None));
    let corpus = folder.open(&["a.arrow"]).unwrap();
    let records = scan(&corpus, 1);
    assert_eq!(records.iter().map(Record::text).collect::<Vec<_>>(), ["one", "two"]);
    folder.copy(&corpus, &places(&records), "out.arrow", TableCompression::Keep);
    assert_eq!(batches(&folder, "out.arrow"), batches(&folder, "a.arrow"));
}
