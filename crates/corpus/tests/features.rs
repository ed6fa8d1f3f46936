//! If the feature of a format is off, its files are recognised, refused with the name of the missing feature, and
//! never read as another format.
//!
//! `cargo x test --long` runs these tests without features. With the default features, the same files are read or are
//! damaged.

use std::path::Path;

use minwise_corpus::{
    Corpus, ErrorKind, ExtractLimits, Format, InMemory, Output, Overwrite, ReadOptions, Refusal, Scratch,
    TableCompression, Unobserved, extract, refuse_conversion,
};

/// Names and first bytes of files, with the feature that reads them, and whether the feature is on.
const RECORDS: [(&str, &[u8], &str, bool); 6] = [
    ("a.parquet", b"PAR1", "parquet", cfg!(feature = "parquet")),
    ("a.arrow", b"ARROW1\0\0", "arrow", cfg!(feature = "arrow")),
    ("a.warc", b"WARC/1.1\r\n", "warc", cfg!(feature = "warc")),
    ("a.jsonl.xz", b"\xfd7zXZ\0", "xz", cfg!(feature = "xz")),
    ("a.jsonl.bz2", b"BZh91AY&SY", "bzip2", cfg!(feature = "bzip2")),
    ("a.jsonl.zst", b"\x28\xb5\x2f\xfd", "zstd", cfg!(feature = "zstd")),
];

fn open(path: &Path) -> Result<Corpus, minwise_corpus::Error> {
    Corpus::open(&[path.into()], &ReadOptions::default(), &Unobserved)
}

/// Returns the feature that an error names as missing.
fn missing(error: &minwise_corpus::Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::MissingFeature { feature, .. } => Some(feature),
        _ => None,
    }
}

#[test]
fn records_of_a_missing_format_are_refused_by_its_feature() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, feature, is_there) in RECORDS {
        // The magic number overrules the name, except for compressed files, which may have any format.
        for name in [name, "b.jsonl"].into_iter().take(if name.matches('.').count() > 1 { 1 } else { 2 }) {
            let path = folder.path().join(name);
            fs_err::write(&path, bytes).unwrap();
            // The first bytes are no whole file, so opening it also fails with the feature on, except for WARC.
            let found = open(&path).err();
            let expected = (!is_there).then_some(feature);
            assert_eq!(found.as_ref().and_then(missing), expected, "{name}: {found:?}");
            if let Some(error) = found.filter(|_| !is_there) {
                assert!(error.to_string().contains(&format!("needs the feature `{feature}`")), "{error}");
                assert!(error.hint().unwrap().to_string().contains(feature), "{error}");
                assert_eq!(error.code(), "missing_feature");
            }
        }
    }
}

#[test]
fn names_of_formats_are_known_whatever_is_missing() {
    for format in [Format::PARQUET, Format::ARROW, Format::WARC] {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
        assert_eq!(Format::of_name(&format!("a.{}", format.name())), Some(format));
    }
}

#[test]
fn outputs_of_a_missing_format_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let corpus =
        Corpus::open(&[InMemory::texts(["a rose"]).into()], &ReadOptions::default(), &Unobserved).unwrap();
    for (format, is_there) in
        [(Format::PARQUET, cfg!(feature = "parquet")), (Format::ARROW, cfg!(feature = "arrow"))]
    {
        let refused = refuse_conversion(&corpus, format).err();
        assert_eq!(refused.as_ref().and_then(missing), (!is_there).then_some(format.name()));
        let refused = TableCompression::Keep.check(format).err();
        assert_eq!(refused.as_ref().and_then(missing), (!is_there).then_some(format.name()));
    }
    for (name, feature, is_there) in [
        ("out.xz", "xz", cfg!(feature = "xz")),
        ("out.bz2", "bzip2", cfg!(feature = "bzip2")),
        ("out.zst", "zstd", cfg!(feature = "zstd")),
        ("out.gz", "gzip", true),
    ] {
        let path = folder.path().join(name);
        let refused = Output::create(&path, Overwrite::Refuse).err();
        assert_eq!(refused.as_ref().and_then(missing), (!is_there).then_some(feature), "{refused:?}");
    }
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn documents_of_a_missing_kind_are_rejects_that_name_the_feature() {
    let zip = b"PK\x03\x04 and nothing of an archive";
    for (name, bytes, feature, is_there) in [
        ("a.html", &b"<html><p>a rose"[..], "html", cfg!(feature = "html")),
        ("a.docx", zip, "office", cfg!(feature = "office")),
        ("a.pdf", b"%PDF-1.7 and nothing of a page", "pdf", cfg!(feature = "pdf")),
    ] {
        let refused = extract(bytes, Some(name), &ExtractLimits::default()).err();
        let found = match &refused {
            Some(Refusal::MissingFeature { feature, .. }) => Some(*feature),
            _ => None,
        };
        assert_eq!(found, (!is_there).then_some(feature), "{refused:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("a.txt"), "a rose").unwrap();
    fs_err::write(folder.path().join("b.txt.xz"), b"\xfd7zXZ\0 and nothing of a stream").unwrap();
    let corpus = open(folder.path()).unwrap();
    let mut found = vec![];
    for chunk in corpus.chunks(1 << 20) {
        corpus
            .scan(&chunk, &mut Scratch::new(), &mut |_, document| {
                found.push(
                    document.map(|document| document.text.into_owned()).map_err(|reject| reject.to_string()),
                );
            })
            .unwrap();
    }
    assert_eq!(found[0].as_deref(), Ok("a rose"));
    let reject = found[1].as_ref().unwrap_err();
    assert_eq!(reject.contains("needs the feature `xz`"), !cfg!(feature = "xz"), "{reject}");
}

#[test]
fn record_batches_in_memory_need_no_feature() {
    use std::sync::Arc;

    use minwise_corpus::arrow_array::{RecordBatch, StringArray};
    use minwise_corpus::arrow_schema::{DataType, Field, Schema};

    let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, true)]));
    let texts = Arc::new(StringArray::from(vec!["a rose", "a lily", "a tulip"]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![texts]).unwrap();
    let table = InMemory::batches(schema, [batch]);
    let corpus = Corpus::open(&[table.into()], &ReadOptions::default(), &Unobserved).unwrap();
    let (mut places, mut texts) = (vec![], vec![]);
    for chunk in corpus.chunks(1 << 20) {
        corpus
            .scan(&chunk, &mut Scratch::new(), &mut |place, document| {
                places.push(place);
                texts.push(document.unwrap().text.into_owned());
            })
            .unwrap();
    }
    assert_eq!(texts, ["a rose", "a lily", "a tulip"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.jsonl");
    let mut out = Output::create(&path, Overwrite::Refuse).unwrap();
    let kept = [places[0], places[2]].into_iter();
    minwise_corpus::convert_records(&corpus, 0..1, kept, Format::JSONL, &mut out, TableCompression::Keep)
        .unwrap();
    out.finish().unwrap();
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "{\"text\":\"a rose\"}\n{\"text\":\"a tulip\"}\n");
}
