//! Tests of the values of other fields, which are read with each document while it is scanned.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Date64Array, Decimal128Array, Float32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_ipc::writer::FileWriter;
use minwise_corpus::{Corpus, FieldPath, ReadOptions, Scratch};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::Folder;

fn asking(fields: &str) -> ReadOptions {
    ReadOptions::default().value_fields(FieldPath::list(fields).unwrap())
}

/// Returns the values of all documents.
fn values(corpus: &Corpus) -> Vec<Vec<Option<String>>> {
    let mut found = vec![];
    for chunk in corpus.chunks(1) {
        let visit = &mut |_, document: Result<minwise_corpus::Document<'_>, _>| {
            let values = document.unwrap().values.into_iter();
            found.push(values.map(|value| value.map(std::borrow::Cow::into_owned)).collect());
        };
        corpus.scan(&chunk, &mut Scratch::new(), visit).unwrap();
    }
    found
}

fn some(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

#[test]
fn of_lines() {
    let folder = Folder::new();
    folder.write(
        "a.jsonl",
        "\u{feff}{\"text\": \"\", \"n\": 7, \"m\": {\"d\": \"2024\"}}\n{\"n\": null, \"te\\u0078t\": \"\"}\n",
    );
    let corpus = folder.open_with(&["a.jsonl"], &asking("m.d,n")).unwrap();
    assert_eq!(values(&corpus), [some(&["2024", "7"]), vec![None, Some(String::new())]]);
}

#[test]
fn of_delimited_records() {
    let folder = Folder::new();
    folder.write("a.csv", "text,n,d\na,7,\"2,5\"\nb,,x\n");
    let corpus = folder.open_with(&["a.csv"], &asking("d,n")).unwrap();
    assert_eq!(values(&corpus), [some(&["2,5", "7"]), some(&["x", ""])]);
    let error = folder.open_with(&["a.csv"], &asking("date")).unwrap_err();
    assert_eq!(error.hint().unwrap().to_string(), "its columns are `text`, `n` and `d`");
}

#[test]
fn texts_have_none() {
    let folder = Folder::new();
    folder.write("a.txt", "a text");
    let error = folder.open_with(&["a.txt"], &asking("date")).unwrap_err();
    assert_eq!(error.to_string(), "the inputs are texts, which have no field `date`");
    assert!(error.hint().unwrap().to_string().contains("`longest`"));
}

fn column<T: DataType>(
    group: &mut parquet::file::writer::SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

#[test]
fn of_parquet_columns() {
    let schema = "message documents {
        required binary text (UTF8);
        required int32 day (DATE);
        required int64 ms (TIMESTAMP_MILLIS);
        required int64 ns (TIMESTAMP(NANOS, true));
        required int96 old;
        required double score;
        optional int64 price (DECIMAL(9, 2));
        optional binary source (UTF8);
        required fixed_len_byte_array(4) raw;
    }";
    let mut bytes = vec![];
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts = |texts: &[&str]| texts.iter().map(|text| ByteArray::from(*text)).collect::<Vec<_>>();
    column::<ByteArrayType>(&mut group, &texts(&["a", "b"]), None);
    column::<Int32Type>(&mut group, &[1, -1], None);
    column::<Int64Type>(&mut group, &[1_500, -1], None);
    column::<Int64Type>(&mut group, &[2_024_000_000_001, 0], None);
    // An INT96 timestamp has the nanoseconds of a day, and the Julian day, which is 2,440,588 on 1 January 1970.
    let mut old = Int96::new();
    old.set_data(5_000_000, 0, 2_440_589);
    column::<Int96Type>(&mut group, &[old, old], None);
    column::<DoubleType>(&mut group, &[0.1, -2e300], None);
    column::<Int64Type>(&mut group, &[-1999], Some(&[1, 0]));
    column::<ByteArrayType>(&mut group, &texts(&["wiki"]), Some(&[0, 1]));
    let raw = |text: &str| parquet::data_type::FixedLenByteArray::from(ByteArray::from(text));
    column::<parquet::data_type::FixedLenByteArrayType>(&mut group, &[raw("1234"), raw("5678")], None);
    group.close().unwrap();
    writer.close().unwrap();

    let folder = Folder::new();
    folder.write("a.parquet", bytes);
    let corpus = folder.open_with(&["a.parquet"], &asking("day,ms,ns,old,score,price,source")).unwrap();
    let large = format!("{}", -2e300);
    assert_eq!(
        values(&corpus),
        [
            some(&["86400.0", "1.500", "2024.000000001", "86400.005000", "0.1", "-19.99", ""]),
            some(&["-86400.0", "-0.001", "0.000000000", "86400.005000", &large, "", "wiki"]),
        ]
    );
    let error = folder.open_with(&["a.parquet"], &asking("raw")).unwrap_err();
    assert!(error.to_string().ends_with("not texts, numbers, dates or timestamps"), "{error}");
}

#[test]
fn of_arrow_columns() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from(vec!["a"]))),
        ("day", Arc::new(Date32Array::from(vec![1]))),
        ("date", Arc::new(Date64Array::from(vec![86_400_000]))),
        ("s", Arc::new(TimestampSecondArray::from(vec![2024]))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![-1]).with_timezone("+01:00"))),
        ("ns", Arc::new(TimestampNanosecondArray::from(vec![1]))),
        ("score", Arc::new(Float32Array::from(vec![0.1]))),
        ("price", Arc::new(Decimal128Array::from(vec![-1999]).with_precision_and_scale(9, 2).unwrap())),
        ("n", Arc::new(Int64Array::from(vec![None]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let mut writer = FileWriter::try_new(vec![], &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let folder = Folder::new();
    folder.write("a.arrow", writer.into_inner().unwrap());
    let corpus = folder.open_with(&["a.arrow"], &asking("day,date,s,ms,ns,score,price,n")).unwrap();
    let expected = some(&["86400.0", "86400.000", "2024.0", "-0.001", "0.000000001", "0.1", "-19.99", ""]);
    assert_eq!(values(&corpus), [expected]);
}
