//! Fuzz targets for files of records and tables.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use minwise_corpus::{Corpus, Format, InputFormat, ReadOptions, Scratch, Unobserved};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Checks that lines become documents or rejects, whatever their bytes are.
pub fn jsonl(bytes: &[u8]) {
    assert!(read(bytes, Format::JSONL), "content never makes a scan fail");
}

/// Checks that delimited records become documents or rejects, if the header can be read. The first byte chooses
/// commas or tabs.
pub fn delimited(bytes: &[u8]) {
    let Some((which, content)) = bytes.split_first() else { return };
    let format = if which % 2 == 0 { Format::CSV } else { Format::TSV };
    assert!(read(content, format), "content never makes a scan fail");
}

/// Checks that an Arrow file or stream is read, or refused as damaged.
pub fn arrow(bytes: &[u8]) {
    read(bytes, Format::ARROW);
}

/// Checks that a Parquet file is read, or refused as damaged.
pub fn parquet(bytes: &[u8]) {
    read(bytes, Format::PARQUET);
}

/// Reads all documents, and reads each document again. The text must be the same. Returns whether all scans succeeded.
fn read(bytes: &[u8], format: Format) -> bool {
    let folder = crate::folder();
    let path = folder.path().join("in");
    crate::write(&path, bytes);
    // Only JSONL is read with fields in lists, because a table without one of its fields is refused.
    let fields: &[&str] = if format == Format::JSONL {
        &["text", "a.b", "a[0]", "a[].b", "c[][]"]
    } else {
        &["text", "a.b", "a[0]"]
    };
    let options = ReadOptions::default()
        .text_fields(fields.iter().filter_map(|field| field.parse().ok()).collect())
        .format(InputFormat::Only(format));
    // A file without a field of texts, or without a header, is refused.
    let Ok(corpus) = Corpus::open(&[path.into()], &options, &Unobserved) else {
        return true;
    };
    let (mut found, mut whole) = (vec![], true);
    for chunk in corpus.chunks(64) {
        let scanned = corpus.scan(&chunk, &mut Scratch::new(), &mut |place, document| {
            if let Ok(document) = document {
                found.push((place, document.text.into_owned()));
            }
        });
        whole &= scanned.is_ok();
    }
    for (place, text) in found {
        let again = corpus.read(&place, &mut Scratch::new()).map(|document| document.text.into_owned());
        assert!(again.as_ref().is_ok_and(|again| *again == text), "{again:?} was {text:?}");
    }
    whole
}

/// Returns valid files, from which the damaged files are made.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    match target {
        "jsonl" => texts(&[
            "{\"text\":\"one\\u00e9\\ud83d\\ude00\",\"id\":1}\n{\"a\":{\"b\":\"two\"}}\n\n{\"a\":[\"x\"]}\nbroken\n",
            "{\"id\":\"\\ud800\",\"text\":\"a\\nb\"}\r\n[1]\n{\"text\":null}",
            "{\"a\":[{\"b\":\"one\"},null,{\"b\":\"two\"}]}\n{\"c\":[[\"x\",\"y\"],[]]}\n{\"a\":[{\"b\":1}]}",
        ]),
        "delimited" => texts(&[
            "\0id,text,more\n1,\"one \"\"word\"\"\r\nand, more\",x\n2,,\n3,short\n",
            "\u{1}text\tid\r\n\"a\tb\"\t1\r\n\n\u{feff}c\t2",
        ]),
        "arrow" => arrow_seeds(),
        _ => vec![parquet_seed()],
    }
}

const TEXTS: [&str; 4] = ["one text", "", "another text, which is longer", "文本"];

fn arrow_seeds() -> Vec<Vec<u8>> {
    let column = || Arc::new(StringArray::from(TEXTS.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", column()), ("text", column())]).expect("two columns");
    // A long text is included, because short texts are stored uncompressed.
    let long = Arc::new(StringArray::from(vec![TEXTS[2].repeat(100); TEXTS.len()])) as ArrayRef;
    let packed = RecordBatch::try_from_iter([("text", column()), ("long", long)]).expect("two columns");
    let mut seeds = vec![];
    for (batch, compression) in [
        (batch, None),
        (packed.clone(), Some(CompressionType::LZ4_FRAME)),
        (packed, Some(CompressionType::ZSTD)),
    ] {
        let options = IpcWriteOptions::default().try_with_compression(compression).expect("both are there");
        let (schema, file) = (batch.schema(), options.clone());
        let mut file = FileWriter::try_new_with_options(vec![], &schema, file).expect("it can be written");
        let mut stream =
            StreamWriter::try_new_with_options(vec![], &schema, options).expect("it can be written");
        for _ in 0..2 {
            file.write(&batch).expect("there is room");
            stream.write(&batch).expect("there is room");
        }
        seeds
            .extend([file.into_inner().expect("there is room"), stream.into_inner().expect("there is room")]);
    }
    seeds
}

fn parquet_seed() -> Vec<u8> {
    let schema = "message m { required binary id (UTF8); optional binary text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(vec![], schema, properties).expect("it can be written");
    for _ in 0..2 {
        let mut group = writer.next_row_group().expect("a row group");
        for levels in [None, Some(&[1, 1, 1, 1][..])] {
            let mut column = group.next_column().expect("a column").expect("two of them");
            let values = TEXTS.map(ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&values, levels, None).expect("there is room");
            column.close().expect("there is room");
        }
        group.close().expect("there is room");
    }
    writer.into_inner().expect("there is room")
}
