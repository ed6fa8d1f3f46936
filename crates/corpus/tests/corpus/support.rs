//! Helpers of the tests: a folder of inputs, and a scan of all its records.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use minwise_corpus::{
    Annotation, Corpus, Document, Error, Format, Input, Output, OutputVerdict, Overwrite, ReadOptions,
    RecordPlace, Reject, Scratch, TableCompression, Unobserved, annotate_records, copy_records,
};

/// A temporary folder, which is removed at the end of the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs_err::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub fn open(&self, inputs: &[&str]) -> Result<Corpus, Error> {
        self.open_with(inputs, &ReadOptions::default())
    }

    pub fn open_with(&self, inputs: &[&str], options: &ReadOptions) -> Result<Corpus, Error> {
        let inputs: Vec<Input> = inputs.iter().map(|input| Input::from_word(self.path(input))).collect();
        Corpus::open(&inputs, options, &Unobserved)
    }
}

/// Returns the numbers of all sources of a corpus, for an output that takes the records of all sources.
pub fn all(corpus: &Corpus) -> std::ops::Range<u32> {
    0..corpus.sources().len() as u32
}

/// Returns the format that all sources of a corpus have.
pub fn format(corpus: &Corpus) -> Format {
    corpus.format().unwrap()
}

impl Folder {
    /// Copies records to a file.
    pub fn copy(&self, corpus: &Corpus, places: &[RecordPlace], name: &str, compression: TableCompression) {
        let mut out = Output::create(&self.path(name), Overwrite::Refuse).unwrap();
        copy_records(
            corpus,
            all(corpus),
            places.iter().copied(),
            OutputVerdict::Kept,
            format(corpus),
            &mut out,
            compression,
        )
        .unwrap();
        out.finish().unwrap();
    }

    /// Copies records to a file with annotations. All records are in the cluster `first`, and all but the first have
    /// a similarity.
    pub fn annotate(&self, corpus: &Corpus, places: &[RecordPlace], name: &str) {
        let mut out = Output::create(&self.path(name), Overwrite::Refuse).unwrap();
        let annotated = places
            .iter()
            .enumerate()
            .map(|(number, &place)| (place, Annotation::new("first", (number > 0).then_some(0.75))));
        annotate_records(corpus, all(corpus), annotated, format(corpus), &mut out, TableCompression::Keep)
            .unwrap();
        out.finish().unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs_err::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }
}

pub fn places(records: &[Record]) -> Vec<RecordPlace> {
    records.iter().map(|record| record.place).collect()
}

/// Asserts that every record can be read again as it was scanned, in order and in reverse.
pub fn assert_read_again(corpus: &Corpus, records: &[Record]) {
    let mut scratch = Scratch::new();
    for record in records.iter().chain(records.iter().rev()).filter(|record| record.code() == "ok") {
        let document = corpus.read(&record.place, &mut scratch).unwrap();
        assert_eq!((document.id.as_deref(), &*document.text), (record.maybe_id(), record.text()));
    }
}

/// Returns, for each piece of a table, its number of rows, and the bytes of their texts that are in memory at one
/// time.
pub fn held(corpus: &Corpus) -> Vec<(usize, usize)> {
    let mut scratch = Scratch::new();
    let chunks = corpus.chunks(1);
    let held = chunks.iter().map(|chunk| {
        let (mut rows, mut texts, mut joined) = (0, HashMap::new(), 0);
        let visit = &mut |_, document: Result<Document<'_>, Reject>| {
            rows += 1;
            match document.unwrap().text {
                // Texts at the same address are counted once.
                Cow::Borrowed(text) => drop(texts.insert(text.as_ptr() as usize, text.len())),
                Cow::Owned(text) => joined += text.len(),
            }
        };
        corpus.scan(chunk, &mut scratch, visit).unwrap();
        (rows, texts.values().sum::<usize>() + joined)
    });
    held.collect()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// A record that a scan has returned. Its line is counted from the start of its source.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    pub place: RecordPlace,
    pub line: u64,
    outcome: Result<(Option<String>, String, bool), Reject>,
}

impl Record {
    pub fn id(&self) -> &str {
        match &self.outcome {
            Ok((id, ..)) => id.as_deref().unwrap(),
            Err(reject) => reject.id.as_deref().unwrap(),
        }
    }

    /// Returns the id, if there is one.
    pub fn maybe_id(&self) -> Option<&str> {
        self.outcome.as_ref().unwrap().0.as_deref()
    }

    pub fn text(&self) -> &str {
        &self.outcome.as_ref().unwrap().1
    }

    pub fn repaired(&self) -> bool {
        self.outcome.as_ref().unwrap().2
    }

    pub fn reject(&self) -> &Reject {
        self.outcome.as_ref().unwrap_err()
    }

    pub fn code(&self) -> &'static str {
        self.outcome.as_ref().map_or_else(|reject| reject.reason.code(), |_| "ok")
    }
}

/// Scans all records, in chunks of about `target_bytes`.
pub fn scan(corpus: &Corpus, target_bytes: u64) -> Vec<Record> {
    let mut scratch = Scratch::new();
    let mut records = Vec::new();
    let (mut source, mut first_line) = (0, 0);
    for chunk in corpus.chunks(target_bytes) {
        if chunk.source() != source {
            (source, first_line) = (chunk.source(), 0);
        }
        let lines = corpus.scan(&chunk, &mut scratch, &mut |place, document| {
            let line = first_line + place.line;
            let outcome = document.map(|document| {
                (document.id.map(Cow::into_owned), document.text.into_owned(), document.repaired)
            });
            records.push(Record { place: RecordPlace { line, ..place }, line, outcome });
        });
        first_line += lines.unwrap().0;
    }
    records
}
