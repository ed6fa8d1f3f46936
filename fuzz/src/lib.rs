//! Fuzz targets: every decoder must accept or refuse any bytes without a panic.
//!
//! A target is a function of bytes that fails by panicking. `cargo +nightly fuzz run spec --features libfuzzer` lets
//! libFuzzer search for such bytes. `tests/smoke.rs` tries some thousands of damaged seeds on any compiler.
//!
//! Files of Minwise have checksums of every byte, so damage is found before anything is decoded. To reach the
//! decoders, damaged files get new checksums ([`minwise_engine::seal`]).

#![allow(clippy::missing_panics_doc, reason = "a target fails by panicking")]

mod archive;
mod batches;
mod documents;
mod records;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use minwise::Spec;
use minwise::keep::KeepPolicy;
use minwise_corpus::{Corpus, FieldPath, Overwrite, ReadOptions};
use minwise_engine::sketch_file::SketchFile;
use minwise_engine::stages::{dedup, read};
use minwise_engine::weigh::{self, FrequencyTable};
use minwise_engine::work::{self, Manifest, WorkFolder};
use minwise_engine::{Bands, RunSettings, Unobserved, seal, sketch_file};
use tempfile::TempDir;

pub use archive::{index_export, index_rows};
pub use batches::batches;
pub use documents::extract;
pub use records::{arrow, delimited, jsonl, parquet};

/// Checks that a spec is equal to the spec parsed from its text form.
pub fn spec(bytes: &[u8]) {
    let Some(spec) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Spec>().ok()) else {
        return;
    };
    assert_eq!(spec.to_string().parse::<Spec>().ok(), Some(spec));
}

/// Checks that a keeper policy is equal to the policy parsed from its text form.
pub fn keep(bytes: &[u8]) {
    let Some(keep) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<KeepPolicy>().ok()) else {
        return;
    };
    assert_eq!(keep.to_string().parse::<KeepPolicy>().ok(), Some(keep));
}

/// Checks that a field path is equal to the path parsed from its text form.
pub fn fields(bytes: &[u8]) {
    let Some(path) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<FieldPath>().ok()) else {
        return;
    };
    assert_eq!(
        path.to_string().parse::<FieldPath>().ok().map(|path| path.to_string()),
        Some(path.to_string())
    );
}

/// Checks that the records of a WARC file, and the bytes that are no record, cover the whole file.
pub fn warc(bytes: &[u8]) {
    minwise_corpus::fuzzing::warc(bytes);
}

/// Checks that an HTTP response gives a body within the limit, or is rejected.
pub fn http(bytes: &[u8]) {
    minwise_corpus::fuzzing::http(bytes);
}

/// Checks that a sketch file is opened or refused.
pub fn sketch_file(bytes: &[u8]) {
    with_both(bytes, |path| {
        if let Ok(file) = SketchFile::open(path) {
            for document in 0..file.len().min(50) {
                let _ = file.id(document);
            }
        }
    });
}

/// Checks that a table of document frequencies is opened or refused.
pub fn frequency_table(bytes: &[u8]) {
    with_both(bytes, |path| drop(FrequencyTable::open(path)));
}

/// Checks that a run resumes with these bytes as a file of its work folder, or refuses them. The first byte chooses
/// the file.
pub fn run_folder(bytes: &[u8]) {
    let Some((which, content)) = bytes.split_first() else { return };
    let piece = PIECES[*which as usize % PIECES.len()];
    for sealed in [false, true] {
        let mut content = content.to_vec();
        if sealed && !seal(&mut content) {
            return;
        }
        let folder = folder();
        let work = folder.path().join("work");
        let _ = fs_err::create_dir(&work);
        for (name, whole) in &run().pieces {
            write(&work.join(name), if *name == piece { &content } else { whole });
        }
        let _ = go_on(&work);
    }
}

/// Names of the files in the work folder of a run.
pub const PIECES: [&str; 5] = ["manifest", "segment-000000", "groups", "batch-000000", "finishing"];

/// A run over a small corpus, with the files of its work folder.
struct Run {
    /// Folder of the corpus.
    folder: TempDir,
    corpus: Corpus,
    pieces: Vec<(&'static str, Vec<u8>)>,
}

fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = folder();
        let path = folder.path().join("in.jsonl");
        let line = |i: usize| {
            let words: Vec<String> =
                (0..20).map(|at| format!("w{}", if at == i % 7 { i } else { at + i / 7 })).collect();
            format!("{{\"id\":\"d{i}\",\"text\":\"{}\"}}\n", words.join(" "))
        };
        write(&path, (0..40).map(line).chain(["{}\n".to_owned()]).collect::<String>().as_bytes());
        let corpus =
            Corpus::open(&[path.into()], &ReadOptions::default(), &Unobserved).expect("it was just written");
        let mut run = Run { corpus, pieces: vec![], folder };
        let work = run.folder.path().join("work");
        finish(&run.corpus, &work, false).expect("nothing is wrong with it");
        run.pieces =
            PIECES.iter().map(|&name| (name, fs_err::read(work.join(name)).expect("it is there"))).collect();
        run
    })
}

fn go_on(work: &Path) -> Result<(), minwise_engine::Error> {
    work::was_finishing(work, &[])?;
    finish(&run().corpus, work, true)
}

fn finish(corpus: &Corpus, work: &Path, resume: bool) -> Result<(), minwise_engine::Error> {
    let settings = RunSettings::default()
        .spec("words:3".parse().map(|shingling| Spec::default().with_shingling(shingling))?)
        .threshold(0.5)
        .bands(Bands::ForRecall(0.9))
        .threads(1);
    let manifest = Manifest::new(vec![], corpus, 1, &Unobserved)?;
    let work = Arc::new(WorkFolder::open(work, &manifest, resume)?);
    let plan = settings.plan()?.in_folder(Arc::clone(&work));
    let reading = read(corpus, &plan.reading(), &Unobserved)?;
    let decisions = dedup(corpus, &reading, &plan, &Unobserved, |_| {})?;
    for removed in &decisions.removed {
        reading.documents.id(removed.document, corpus)?;
    }
    reading.rejected.for_each(|_| Ok(()))?;
    work.note_outputs(&[("out.jsonl".to_owned(), false)])
}

/// Returns valid files, from which the damaged files are made.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    match target {
        "spec" => texts(&[
            "nfkc+casefold / words:5 / minhash:128 / seed:1",
            "casefold / chars:9,bag / one-permutation:256,optimal / seed:7",
            "nfkc+casefold / words:3 / icws:128 / seed:1 / weight:tf-idf / table:00000000000000ff / max-df:0.5",
        ]),
        "keep" => texts(&["first", "priority:source=a,b\\,c;newest:date;longest;last", "max:n;min:m"]),
        "fields" => texts(&["text", "a.b[3].c", "\"odd name\".x"]),
        "jsonl" | "delimited" | "arrow" | "parquet" => records::seeds(target),
        "batches" => batches::seeds(),
        "warc" => minwise_corpus::fuzzing::warc_seeds(),
        "http" => minwise_corpus::fuzzing::http_seeds(),
        "extract" => documents::seeds(),
        "index_rows" => minwise_index::fuzzing::seeds(),
        "index_export" => vec![archive::export()],
        "sketch_file" | "frequency_table" => {
            let folder = folder();
            let path = folder.path().join("made");
            let spec = Spec::default();
            if target == "sketch_file" {
                let settings = RunSettings::default().plan().expect("the default can be used").reading();
                let reading = read(&run().corpus, &settings, &Unobserved).expect("it was read before");
                let file = sketch_file::create(&path, Overwrite::Refuse).expect("a new file");
                sketch_file::write(file, &run().corpus, &reading, &spec).expect("there is room");
            } else {
                let table = weigh::create(&path, Overwrite::Refuse).expect("a new file");
                weigh::count(&run().corpus, &spec, 1, None, table, &Unobserved).expect("it can be counted");
            }
            vec![fs_err::read(&path).expect("it was just written")]
        }
        _ => (0..PIECES.len()).map(|which| [&[which as u8][..], &run().pieces[which].1].concat()).collect(),
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn write(path: &Path, bytes: &[u8]) {
    fs_err::write(path, bytes).expect("there is room");
}

/// Opens a file with these bytes, and a file with the same bytes and correct checksums.
fn with_both(bytes: &[u8], open: impl Fn(&Path)) {
    let folder = folder();
    let path = folder.path().join("file");
    write(&path, bytes);
    open(&path);
    let mut sealed = bytes.to_vec();
    if seal(&mut sealed) {
        write(&path, &sealed);
        open(&path);
    }
}
