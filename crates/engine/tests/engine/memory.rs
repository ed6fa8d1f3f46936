//! Tests of runs over documents in memory, which must decide as runs over a file of the same records do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use minwise_corpus::arrow_array::builder::StringDictionaryBuilder;
use minwise_corpus::arrow_array::types::Int32Type;
use minwise_corpus::arrow_array::{
    ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use minwise_corpus::{Nulls, ReadOptions};
use minwise_engine::output::Summary;
use minwise_engine::{
    DecisionColumns, DedupOptions, DedupOutcome, DedupRun, Destination, Error, InMemory, Input, Inputs,
    Observer, Outputs, PairsOptions, PairsRun, RunSettings, SketchOptions, SketchRun, Stage, Unobserved,
    WorkOptions,
};
use serde_json::json;
use tempfile::TempDir;

use crate::support::Random;

/// Makes a corpus with equal texts, near-copies, Chinese texts, empty texts and nulls.
fn texts(count: usize) -> Vec<Option<String>> {
    let mut random = Random(7);
    let mut texts: Vec<Option<String>> = vec![];
    for number in 0..count {
        let fresh = |random: &mut Random| {
            let words: Vec<String> = (0..30).map(|_| format!("w{}", random.below(500))).collect();
            words.join(" ")
        };
        let text = match number % 10 {
            0 if number % 100 == 0 => None,
            1 if number % 100 == 1 => Some(String::new()),
            2 => {
                let glyph = |_| char::from_u32(0x4e00 + random.below(800) as u32).unwrap();
                Some((0..60).map(glyph).collect())
            }
            3..6 if number > 10 => {
                let before = texts[random.below(number)].clone().unwrap_or_default();
                Some(if number % 2 == 0 { before } else { format!("{before} 尾 {}", random.below(9)) })
            }
            _ => Some(fresh(&mut random)),
        };
        texts.push(text);
    }
    texts
}

struct Desk {
    folder: TempDir,
    texts: Vec<Option<String>>,
}

impl Desk {
    /// Makes a folder with the texts as `in.jsonl`.
    fn new(texts: Vec<Option<String>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let line = |text: &Option<String>| format!("{}\n", json!({ "text": text }));
        let lines: Vec<String> = texts.iter().map(line).collect();
        fs_err::write(folder.path().join("in.jsonl"), lines.concat()).unwrap();
        Self { folder, texts }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self) -> Input {
        self.path("in.jsonl").into()
    }

    /// Makes an input from memory that has the name of the file, so that even the ids are equal.
    fn named(&self, memory: InMemory) -> Input {
        memory.named(self.path("in.jsonl").to_string_lossy()).into()
    }

    fn memory(&self) -> Input {
        self.named(self.texts.clone().into())
    }

    /// Makes a table of many batches from the texts, with columns of several string types.
    fn table(&self, rows: usize) -> Input {
        let column = |number: usize, texts: &[Option<String>]| -> ArrayRef {
            let texts = texts.iter().map(Option::as_deref);
            match number {
                0 => Arc::new(texts.collect::<StringArray>()),
                1 => Arc::new(texts.collect::<LargeStringArray>()),
                2 => Arc::new(texts.collect::<StringViewArray>()),
                _ => {
                    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
                    texts.for_each(|text| builder.append_option(text));
                    Arc::new(builder.finish())
                }
            }
        };
        let batch = |texts: &[Option<String>]| {
            let columns = ["utf8", "large", "view", "dictionary"].into_iter().enumerate();
            let columns = columns.map(|(number, name)| (name, column(number, texts), true));
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        };
        let batches: Vec<RecordBatch> = self.texts.chunks(rows).map(batch).collect();
        self.named(InMemory::batches(batch(&[]).schema(), batches))
    }
}

/// Returns settings whose results do not depend on the run time; the default audit does.
fn settings(threads: usize) -> RunSettings {
    RunSettings::default().audit(None).threads(threads)
}

fn dedup(input: Input, threads: usize) -> DedupOutcome {
    let options = DedupOptions::default().inputs(Inputs::new([input])).settings(settings(threads));
    DedupRun::new(options).unwrap().execute(&Unobserved).unwrap()
}

/// Returns all decisions, counts and ids. The number of bytes is set to 0, because a file has more bytes than its
/// texts.
fn found(outcome: &DedupOutcome) -> (DecisionColumns, Summary, Vec<String>) {
    let ids = outcome.documents().map(|document| outcome.id(document).unwrap().into_owned()).collect();
    let mut summary = outcome.summary().clone();
    summary.bytes = 0;
    (outcome.columns(), summary, ids)
}

/// Asserts that two runs gave the same results, without printing thousands of rows.
#[track_caller]
fn assert_same(outcome: &DedupOutcome, expected: &(DecisionColumns, Summary, Vec<String>)) {
    let (columns, summary, ids) = found(outcome);
    assert_eq!(summary, expected.1);
    assert!(columns == expected.0, "other decisions");
    assert!(ids == expected.2, "other ids");
}

fn with_column(name: &str) -> ReadOptions {
    ReadOptions::default().text_fields(vec![name.parse().unwrap()])
}

#[test]
fn decisions_are_those_of_a_file() {
    let desk = Desk::new(texts(2000));
    let expected = found(&dedup(desk.file(), 2));
    assert!(expected.1.removed > 300 && expected.1.nulls > 10, "{:?}", expected.1);
    let outcome = dedup(desk.memory(), 2);
    assert_same(&outcome, &expected);
    let bytes: usize = desk.texts.iter().flatten().map(String::len).sum();
    assert_eq!(outcome.summary().bytes, bytes as u64);
    for column in ["utf8", "large", "view", "dictionary"] {
        let mut options = DedupOptions::default().settings(settings(2));
        options.inputs = Inputs::new([desk.table(170)]).options(with_column(column));
        let outcome = DedupRun::new(options).unwrap().execute(&Unobserved).unwrap();
        assert_same(&outcome, &expected);
    }
}

#[test]
fn pairs_are_those_of_a_file() {
    let desk = Desk::new(texts(1000));
    let pairs = |input: Input| {
        let options = PairsOptions::default().inputs(Inputs::new([input])).settings(settings(2));
        let outcome = PairsRun::new(options).unwrap().execute(&Unobserved).unwrap();
        let mut pairs = vec![];
        let mut note = |pair: minwise_engine::SimilarPair, first: &str, second: &str| {
            pairs.push((first.to_owned(), second.to_owned(), pair.similarity));
            Ok::<(), Error>(())
        };
        outcome.for_each(&Unobserved, &mut note).unwrap();
        (pairs, outcome.nulls(), outcome.read())
    };
    let expected = pairs(desk.file());
    assert!(expected.0.len() > 100);
    assert!(pairs(desk.memory()) == expected);
}

#[test]
fn sketches_are_those_of_a_file() {
    let desk = Desk::new(texts(300));
    let sketched = |input: Input, name: &str| {
        let options =
            SketchOptions::default().inputs(Inputs::new([input])).output(desk.path(name)).threads(2);
        let outcome = SketchRun::new(options).unwrap().execute(&Unobserved).unwrap();
        (outcome.documents, outcome.nulls, fs_err::read(desk.path(name)).unwrap())
    };
    assert!(sketched(desk.memory(), "memory") == sketched(desk.file(), "file"));
}

#[test]
fn many_texts_and_batches_on_any_number_of_threads() {
    let desk = Desk::new(texts(100_000));
    let expected = found(&dedup(desk.memory(), 1));
    assert_eq!(expected.1.read, 100_000);
    for threads in [2, 5] {
        assert_same(&dedup(desk.memory(), threads), &expected);
    }
    for threads in [1, 2, 5] {
        let mut options = DedupOptions::default().settings(settings(threads));
        options.inputs = Inputs::new([desk.table(999)]).options(with_column("view"));
        let outcome = DedupRun::new(options).unwrap().execute(&Unobserved).unwrap();
        assert_same(&outcome, &expected);
    }
}

#[test]
fn none_and_one() {
    let outcome = dedup(Vec::<String>::new().into(), 2);
    assert_eq!((outcome.documents(), outcome.columns().kept.len(), outcome.summary().read), (0..0, 0, 0));
    let outcome = dedup(vec!["只有一个文本".to_owned()].into(), 2);
    assert_eq!(outcome.columns().kept, [true]);
    assert_eq!(outcome.id(0).unwrap(), "memory:1");
    assert_eq!(outcome.place(0).unwrap(), (0, 0));
    let outcome = dedup(vec![String::new(), String::new()].into(), 2);
    assert_eq!(outcome.columns(), dedup_of_lines("{\"text\":\"\"}\n{\"text\":\"\"}\n"));
    let outcome = dedup(InMemory::documents([("a", "近重复文本检测"), ("b", "近重复文本检测")]).into(), 2);
    assert_eq!(outcome.columns().duplicate_of, [None, Some(0)]);
    assert_eq!(outcome.id(1).unwrap(), "b");
}

fn dedup_of_lines(lines: &str) -> DecisionColumns {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("in.jsonl"), lines).unwrap();
    dedup(folder.path().join("in.jsonl").into(), 2).columns()
}

#[test]
fn nulls_follow_their_rule() {
    let texts = vec![Some("a rose".to_owned()), None, Some("A rose!".to_owned())];
    let run = |nulls| {
        let mut options = DedupOptions::default().settings(settings(1));
        options.inputs = Inputs::new([texts.clone()]);
        options.inputs.options.nulls = nulls;
        DedupRun::new(options).unwrap().execute(&Unobserved)
    };
    let kept = run(Nulls::Keep).unwrap();
    assert_eq!((kept.columns().kept, kept.summary().nulls), (vec![true, true, false], 1));
    let rejected = run(Nulls::Reject).unwrap();
    assert_eq!((rejected.columns().kept, rejected.summary().rejected), (vec![true, false], 1));
    let first = &rejected.rejected_records().first[0];
    assert!(first.contains("memory:2: "), "{first}");
    let error = run(Nulls::Error).unwrap_err();
    assert!(error.to_string().contains("memory:2"), "{error}");
}

#[test]
fn references_may_lie_in_memory() {
    let desk = Desk::new(vec![Some("a rose is a rose".to_owned()), Some("something else".to_owned())]);
    let archive = || InMemory::documents([("r", "A rose is a rose!")]).named("archive").into();
    for (against, inputs) in [(archive(), desk.file()), (archive(), desk.memory())] {
        let inputs = Inputs::new([inputs]).against(vec![against]);
        let outcome = DedupRun::new(DedupOptions::default().inputs(inputs).settings(settings(1)));
        let outcome = outcome.unwrap().execute(&Unobserved).unwrap();
        assert_eq!(outcome.columns().duplicate_of, [Some(0), None]);
        assert_eq!(outcome.id(0).unwrap(), "r");
    }
    let inputs = Inputs::new([archive()]).against(vec![desk.file()]);
    let outcome = DedupRun::new(DedupOptions::default().inputs(inputs).settings(settings(1)));
    assert_eq!(outcome.unwrap().execute(&Unobserved).unwrap().columns().kept, [false]);
}

fn to(path: &Path) -> Destination {
    Destination::from(path)
}

#[test]
fn kept_and_removed_texts_are_written_as_jsonl() {
    let desk = Desk::new(vec![Some("a rose".into()), Some("A rose!".into()), None]);
    let outputs =
        Outputs::default().kept(to(&desk.path("kept.jsonl"))).removed(to(&desk.path("removed.jsonl")));
    let options = DedupOptions::default()
        .inputs(Inputs::new([desk.memory()]))
        .settings(settings(1))
        .outputs(outputs.report(desk.path("report")));
    DedupRun::new(options).unwrap().execute(&Unobserved).unwrap().close().unwrap();
    let text = |name: &str| fs_err::read_to_string(desk.path(name)).unwrap();
    assert_eq!(text("kept.jsonl"), "{\"text\":\"a rose\"}\n{\"text\":null}\n");
    assert_eq!(text("removed.jsonl"), "{\"text\":\"A rose!\"}\n");
    assert_eq!(text("report/pairs.tsv").lines().count(), 1);
    let run = |kept: &str, input: Input| {
        let outputs = Outputs::default().kept(to(&desk.path(kept)));
        let options = DedupOptions::default().inputs(Inputs::new([input])).outputs(outputs);
        DedupRun::new(options).unwrap().execute(&Unobserved)
    };
    // Documents in memory have no file name, so they cannot be written to a folder.
    assert_eq!(run("folder/", desk.memory()).unwrap_err().code(), "no_output_name");
    // Under the name of a file, the documents are converted to its format.
    run("kept.csv", desk.memory()).unwrap().close().unwrap();
    let text = |name: &str| fs_err::read_to_string(desk.path(name)).unwrap();
    assert_eq!(text("kept.csv"), "text\na rose\n\"\"\n");
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let table = RecordBatch::try_from_iter([("text", texts), ("n", rows)]).unwrap();
    run("rows.jsonl", table.into()).unwrap().close().unwrap();
    assert_eq!(text("rows.jsonl"), "{\"text\":\"a\",\"n\":1}\n");
}

#[test]
fn kept_and_annotated_rows_are_written_as_arrow() {
    let folder = tempfile::tempdir().unwrap();
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a rose"), Some("A rose!"), None]));
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let table =
        RecordBatch::try_from_iter_with_nullable([("text", text, true), ("id", rows, false)]).unwrap();
    for (name, annotate, expected) in [("kept.arrow", false, 2), ("all.arrow", true, 3)] {
        let path = folder.path().join(name);
        let options = DedupOptions::default()
            .inputs(Inputs::new([table.clone()]))
            .outputs(Outputs::default().kept(to(&path)).annotate(annotate));
        let outcome = DedupRun::new(options).unwrap().execute(&Unobserved).unwrap();
        assert_eq!(outcome.columns().kept, [true, false, true]);
        let written = dedup(path.into(), 1);
        assert_eq!(written.documents().len(), expected);
        assert_eq!(written.id(0).unwrap(), "1");
        assert_eq!(written.summary().nulls, 1);
    }
}

/// Observer that cancels when the read stage is over.
#[derive(Default)]
struct Stop(std::sync::atomic::AtomicBool);

impl Observer for Stop {
    fn begin(&self, stage: Stage, _total: u64) {
        if stage == Stage::Candidates {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

#[test]
fn a_run_is_resumed_with_the_same_texts_and_no_others() {
    let desk = Desk::new(texts(500));
    let run = |input: Input, observer: &dyn Observer| {
        let options = DedupOptions::default()
            .inputs(Inputs::new([input]))
            .settings(settings(1))
            .work(WorkOptions::new(desk.path("work")).resume(true));
        DedupRun::new(options)?.execute(observer)
    };
    assert!(run(desk.memory(), &Stop::default()).unwrap_err().is_cancelled());
    assert!(desk.path("work/manifest").exists());
    let mut other = desk.texts.clone();
    other.swap(7, 8);
    let error = run(desk.named(other.into()), &Unobserved).unwrap_err();
    assert!(error.to_string().ends_with("has as many bytes as then, but other content"), "{error}");
    let error = run(desk.file(), &Unobserved).unwrap_err();
    assert!(
        error.to_string().contains("the format of the inputs was `texts-in-memory` then and is `jsonl` now"),
        "{error}"
    );
    let resumed = run(desk.memory(), &Unobserved).unwrap();
    assert_same(&resumed, &found(&dedup(desk.memory(), 1)));
}
