//! A folder of inputs, and a scan of everything in it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write;
use std::path::PathBuf;

use minwise_corpus::{Corpus, Error, Place, ReadOptions, Reject, Scratch, Unwatched};

/// A folder that goes away with the test.
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
        let inputs: Vec<String> =
            inputs.iter().map(|input| self.path(input).to_string_lossy().into_owned()).collect();
        Corpus::open(&inputs, options, &Unwatched)
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// A record as a scan hands it on, with its line counted from the start of its source.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    pub place: Place,
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

/// Scans everything in chunks of about `target_bytes`.
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
                (document.id.map(std::borrow::Cow::into_owned), document.text.into_owned(), document.repaired)
            });
            records.push(Record { place: Place { line, ..place }, line, outcome });
        });
        first_line += lines.unwrap().0;
    }
    records
}
