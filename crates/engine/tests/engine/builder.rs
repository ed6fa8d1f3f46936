//! Tests of the builders: results name documents by position, and every option reaches the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minwise_corpus::arrow_array::{ArrayRef, RecordBatch, StringArray};
use minwise_corpus::{InMemory, Nulls};
use minwise_engine::{
    Dedup, DedupOptions, Deduplicated, ErrorKind, Measure, Observer, PairFormat, Pairs, Ranking, Search,
    Spec, Stage, Unobserved,
};

use crate::support::Random;

const ROSE: &str = "a rose is a rose is a rose, said the poet";
const LILY: &str = "a lily is another flower, which nobody has said that of";

/// Makes texts, some of which are copies and near-copies of others.
fn texts(count: usize) -> Vec<String> {
    let mut random = Random(3);
    let mut texts: Vec<String> = vec![];
    for number in 0..count {
        let words = (0..40).map(|_| format!("w{}", random.below(900))).collect::<Vec<_>>().join(" ");
        texts.push(match number % 5 {
            3 => texts[random.below(number)].clone(),
            4 => format!("{} and {}", texts[random.below(number)], random.below(9)),
            _ => words,
        });
    }
    texts
}

fn removed(result: &Deduplicated) -> Vec<(usize, usize)> {
    result.removed().iter().map(|duplicate| (duplicate.index, duplicate.duplicate_of)).collect()
}

#[test]
fn a_builder_decides_as_the_run_does() {
    let texts = texts(600);
    let result = minwise_engine::dedup(&texts).unwrap();
    let mut options = DedupOptions::default();
    options.inputs.inputs.push(texts.clone().into());
    let outcome = minwise_engine::DedupRun::new(options).unwrap().execute(&Unobserved).unwrap();
    let columns = outcome.columns();
    assert!(!result.removed().is_empty());
    assert_eq!((result.len(), result.kept_mask()), (600, columns.kept.clone()));
    let kept: Vec<usize> = (0..600).filter(|&at| columns.kept[at]).collect();
    assert_eq!(result.kept().collect::<Vec<_>>(), kept);
    for duplicate in result.removed() {
        assert_eq!(columns.duplicate_of[duplicate.index], Some(duplicate.duplicate_of as u32));
        assert_eq!(columns.similarity[duplicate.index], Some(duplicate.similarity));
        assert_eq!(result.duplicate(duplicate.index), Some(duplicate));
    }
    assert_eq!(result.duplicate(kept[0]), None);
    let members: usize = result.clusters().iter().map(|cluster| cluster.removed.len()).sum();
    assert_eq!(members, result.removed().len());

    // The pairs include every removed text with its kept text.
    let pairs = minwise_engine::pairs(&texts).unwrap();
    assert!(pairs.is_sorted_by_key(|pair| (pair.first, pair.second)));
    for duplicate in result.removed() {
        let (first, second) = (duplicate.duplicate_of, duplicate.index);
        let found = pairs.iter().find(|pair| (pair.first, pair.second) == (first, second)).unwrap();
        assert_eq!(found.similarity, duplicate.similarity);
    }
}

/// Rejected nulls have no document number, but still take up a position.
#[test]
fn an_index_is_the_position_in_the_list() {
    let list =
        [None, Some(LILY), None, Some(ROSE), None, None, Some("A rose is a rose is a rose said the poet")];
    let result = Dedup::new().optional_texts(list).nulls(Nulls::Reject).run().unwrap();
    assert_eq!((result.len(), result.outcome().documents().len()), (7, 3));
    assert_eq!(removed(&result), [(6, 3)]);
    assert_eq!(result.kept().collect::<Vec<_>>(), [1, 3]);
    assert_eq!(result.rejected().collect::<Vec<_>>(), [0, 2, 4, 5]);
    assert_eq!(result.rejects().len(), 4);
    let first = &result.rejects().first()[1];
    assert_eq!((first.file.as_deref(), first.line, &*first.reason), (Some("memory"), Some(3), "null"));
    let mut all = vec![];
    let mut take = |reject| {
        all.push(reject);
        Ok(())
    };
    result.rejects().for_each(&mut take).unwrap();
    assert_eq!(all, result.rejects().first());
    assert_eq!(result.kept_mask(), [false, true, false, true, false, false, false]);
    for (index, text) in list.into_iter().enumerate() {
        assert_eq!(result.text(index).unwrap().as_deref(), text);
        let id = text.map(|_| format!("memory:{}", index + 1));
        assert_eq!(result.id(index).unwrap().map(std::borrow::Cow::into_owned), id);
    }
    assert_eq!(result.id(7).unwrap(), None);

    let pairs = Pairs::new().optional_texts(list).nulls(Nulls::Reject).run().unwrap();
    assert_eq!(pairs.iter().map(|pair| (pair.first, pair.second)).collect::<Vec<_>>(), [(3, 6)]);
    assert_eq!((pairs.records(), pairs.rejected().count(), pairs.rejects().len()), (7, 4, 4));
    assert_eq!(pairs.id(6).unwrap().as_deref(), Some("memory:7"));

    // By default, nulls are kept.
    let kept = Dedup::new().optional_texts(list).run().unwrap();
    assert_eq!((removed(&kept), kept.rejected().count()), (vec![(6, 3)], 0));
    assert_eq!(kept.kept().count(), 6);
    assert_eq!(kept.text(0).unwrap(), None);
}

/// Results name each document by a unique id. Programs that know a record by its own id get that id from `record_id`.
#[test]
fn a_repeated_id_is_still_known() {
    let documents = [("rose", ROSE), ("lily", LILY), ("rose", ROSE)];
    let result = Dedup::new().documents(documents).run().unwrap();
    let pairs = Pairs::new().documents(documents).of(["rose#2"]).run().unwrap();
    assert_eq!(pairs.iter().map(|pair| (pair.first, pair.second)).collect::<Vec<_>>(), [(0, 2)]);
    for (index, (own, named)) in
        [("rose", "rose"), ("lily", "lily"), ("rose", "rose#2")].into_iter().enumerate()
    {
        assert_eq!(result.record_id(index).unwrap().as_deref(), Some(own));
        assert_eq!(result.id(index).unwrap().as_deref(), Some(named));
        assert_eq!(pairs.record_id(index).unwrap().as_deref(), Some(own));
    }
    assert_eq!(result.record_id(3).unwrap(), None);
    assert_eq!(Dedup::new().texts([ROSE]).run().unwrap().record_id(0).unwrap(), None);
}

#[test]
fn references_come_behind_the_inputs() {
    let result = Dedup::new()
        .optional_texts([Some(LILY), None, Some(ROSE), Some(LILY)])
        .nulls(Nulls::Reject)
        .against(InMemory::documents([("known", "something else"), ("rose", ROSE)]))
        .run()
        .unwrap();
    assert_eq!(removed(&result), [(2, 5), (3, 0)]);
    assert_eq!(result.len(), 4);
    assert_eq!(result.id(5).unwrap().as_deref(), Some("rose"));
    assert_eq!(result.text(5).unwrap().as_deref(), Some(ROSE));
    assert_eq!((result.id(6).unwrap(), result.text(6).unwrap()), (None, None));
    assert_eq!(result.explain(2).unwrap().unwrap().similarity, 1.0);
}

#[test]
fn files_batches_and_documents_give_the_same() {
    let texts = texts(200);
    let expected = removed(&minwise_engine::dedup(&texts).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (half, rest) = texts.split_at(90);
    let paths = [half, rest].map(|part| {
        let path = folder.path().join(format!("{}.jsonl", part.len()));
        let line = |text: &String| format!("{}\n", serde_json::json!({ "body": text }));
        fs_err::write(&path, part.iter().map(line).collect::<String>()).unwrap();
        path
    });
    let output = folder.path().join("kept.jsonl");
    let files = Dedup::new().files(&paths).text_field("body").write_kept(&output).run().unwrap();
    assert_eq!(removed(&files), expected);
    let lines = fs_err::read_to_string(&output).unwrap().lines().count();
    assert_eq!(lines, files.kept().count());

    let batch = |texts: &[String]| {
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        RecordBatch::try_from_iter([("body", column)]).unwrap()
    };
    let batches: Vec<RecordBatch> = texts.chunks(33).map(batch).collect();
    let table = Dedup::new().batches(batches[0].schema(), batches).text_field("body").run().unwrap();
    assert_eq!(removed(&table), expected);

    let ids: Vec<String> = (0..200).map(|number| format!("d{number}")).collect();
    let documents = Dedup::new().documents(ids.iter().zip(&texts)).run().unwrap();
    assert_eq!(removed(&documents), expected);
    assert_eq!(documents.id(17).unwrap().as_deref(), Some("d17"));
}

#[test]
fn options_reach_the_run() {
    let short = "one two three four five six";
    let long = "one two three four five six seven eight nine";
    let longest = Dedup::new().threshold(0.3).keep(Ranking::Longest).texts([short, long]).run().unwrap();
    assert_eq!(removed(&longest), [(0, 1)]);
    assert_eq!(longest.removed()[0].similarity, 2.0 / 5.0);
    let shortest = Dedup::new().threshold(0.3).keep("shortest").texts([long, short]).run().unwrap();
    assert_eq!(removed(&shortest), [(0, 1)]);
    let form = "none / words:1 / minhash:64 / seed:9";
    let words = Dedup::new().spec(form).texts([short, "six five four three two one"]).run().unwrap();
    assert_eq!((removed(&words), words.summary().spec.as_str()), (vec![(1, 0)], form));
    let parsed: Spec = form.parse().unwrap();
    assert_eq!(Dedup::new().spec(parsed).texts([short]).run().unwrap().summary().spec, form);
    let part = Dedup::new().measure(Measure::Containment).texts([short, long]).run().unwrap();
    assert_eq!(removed(&part), [(0, 1)]);
    assert_eq!(part.removed()[0].similarity, 1.0);

    let spared = Dedup::new().max_cluster(2).texts([ROSE; 3]).run().unwrap();
    assert_eq!((removed(&spared), spared.summary().large_clusters), (vec![], 1));
    let all = Pairs::new().candidates(Search::All).threshold(0.3).texts([short, long]).run().unwrap();
    assert_eq!(all.len(), 1);
    let of = Pairs::new().documents([("a", ROSE), ("b", ROSE), ("c", ROSE)]).of(["b"]).run().unwrap();
    assert_eq!(of.iter().map(|pair| (pair.first, pair.second)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);

    let form = "this is the form that everybody has to fill in:";
    let filled = [format!("{form} roses"), format!("{form} lilies")];
    assert_eq!(Pairs::new().threshold(0.5).texts(&filled).run().unwrap().len(), 1);
    let ignoring = Pairs::new().threshold(0.5).texts(&filled).ignore_text(vec![form.to_owned()]);
    assert_eq!(ignoring.run().unwrap().len(), 0);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pairs.jsonl");
    Pairs::new().texts([ROSE, ROSE]).write(&path, PairFormat::Jsonl).run().unwrap();
    assert!(fs_err::read_to_string(&path).unwrap().contains(r#""similarity":1.0"#));
    let again = Pairs::new().texts([ROSE, ROSE]).write(&path, PairFormat::Jsonl);
    assert!(again.clone().run().is_err());
    assert_eq!(again.overwrite().run().unwrap().len(), 1);
}

#[test]
fn all_problems_come_at_once() {
    let error = Dedup::new()
        .texts([ROSE])
        .text_field("a..b")
        .id_field("ids[]")
        .memory(5)
        .spec("words")
        .keep("best")
        .threshold(1.7)
        .threads(0)
        .run()
        .unwrap_err();
    let settings: Vec<&str> = error.problems().iter().map(|problem| problem.setting).collect();
    assert_eq!(settings, ["text-field", "memory", "spec", "keep", "id-field", "threshold", "threads"]);
    let error = Pairs::new().texts([ROSE]).memory(5).recall(2.0).run().unwrap_err();
    let settings: Vec<&str> = error.problems().iter().map(|problem| problem.setting).collect();
    assert_eq!(settings, ["memory", "recall"]);
    assert!(matches!(Dedup::new().run().unwrap_err().kind(), ErrorKind::Corpus(_)), "no input");
    // Bands and rows determine the recall, so all three together are refused, in whatever order they are set.
    let refused = [
        Dedup::new().texts([ROSE]).bands(16, 6).recall(0.9).run().unwrap_err(),
        Dedup::new().texts([ROSE]).recall(0.9).bands(16, 6).run().unwrap_err(),
        Pairs::new().texts([ROSE]).bands(16, 6).recall(0.9).run().unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.problems()[0].setting, "recall", "{error}");
    }
    assert!(Dedup::new().texts([ROSE]).recall(0.9).run().is_ok());
    assert!(Dedup::new().texts([ROSE]).bands(16, 6).run().is_ok());
}

/// Observer that counts the bytes to be read, and cancels when the stage `last` begins.
struct Watch {
    read: AtomicU64,
    last: Option<Stage>,
    cancel: std::sync::atomic::AtomicBool,
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        if stage == Stage::Read {
            self.read.fetch_add(total, Ordering::Relaxed);
        }
        if Some(stage) == self.last {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

#[test]
fn an_observer_follows_and_cancels() {
    let watch = |last| Watch { read: AtomicU64::new(0), last, cancel: false.into() };
    let following = watch(None);
    let result = Dedup::new().texts([ROSE, LILY]).run_observed(&following).unwrap();
    assert_eq!(result.len(), 2);
    assert_eq!(following.read.into_inner(), (ROSE.len() + LILY.len()) as u64);
    for stage in [Stage::Read, Stage::Candidates] {
        let error = Dedup::new().texts([ROSE, ROSE]).run_observed(&watch(Some(stage))).unwrap_err();
        assert!(error.is_cancelled(), "{error}");
        let error = Pairs::new().texts([ROSE, ROSE]).run_observed(&watch(Some(stage))).unwrap_err();
        assert!(error.is_cancelled(), "{error}");
    }
}

#[test]
fn a_removed_document_is_explained_and_put_back() {
    let words: Vec<String> = (0..50).map(|number| format!("w{number}")).collect();
    let texts = [words.join(" "), words[..45].join(" "), words.join("  ")];
    let result = Dedup::new().texts(&texts).run().unwrap();
    assert_eq!(removed(&result), [(1, 0), (2, 0)]);
    let near = result.explain(1).unwrap().unwrap();
    assert_eq!((near.similarity, near.containment_of_left), (41.0 / 46.0, 1.0));
    assert_eq!(near.similarity, result.removed()[0].similarity);
    assert_eq!(&texts[1][near.passages[0].left.clone()], texts[1]);
    assert_eq!(result.explain(0).unwrap(), None);
    assert_eq!(result.explain(9).unwrap(), None);

    let restored = result.restore(0.95);
    assert_eq!(removed(&restored), [(2, 0)]);
    assert_eq!(restored.kept().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(removed(&restored.restore(f64::NAN)), [(2, 0)]);
}

/// A report written after the run equals one written by the run, except the part about the particular run.
#[test]
fn a_report_can_be_written_after_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let [during, after] = ["during", "after"].map(|name| folder.path().join(name));
    let result = Dedup::new().texts(texts(60)).report(&during).run().unwrap();
    let outcome = result.outcome();
    outcome.write_report(&after, false, &Unobserved).unwrap();
    for file in minwise_engine::report::Report::FILES {
        assert!(
            fs_err::read(after.join(file)).unwrap() == fs_err::read(during.join(file)).unwrap(),
            "{file}"
        );
    }
    let error = outcome.write_report(&after, false, &Unobserved).unwrap_err();
    assert_eq!(error.code(), "output_exists");
    outcome.write_report(&after, true, &Unobserved).unwrap();
}

/// A sketch file of rows that a program made equals one that a run writes.
#[test]
fn rows_are_written_as_a_run_writes_them() {
    use minwise_corpus::Overwrite;
    use minwise_engine::sketch_file::{SketchFile, SketchRow, create, write_rows};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sketches");
    let spec: Spec = "nfkc+casefold / words:2 / minhash:16 / seed:1".parse().unwrap();
    let row: Vec<u32> = (0..16).collect();
    let rows = [("a", true), ("", false)];
    let rows = rows.map(|(id, has_shingles)| SketchRow::new(id, has_shingles, &row));
    write_rows(create(&path, Overwrite::Refuse).unwrap(), &spec, rows.into_iter()).unwrap();
    let file = SketchFile::open(&path).unwrap();
    assert_eq!((file.len(), file.id(0), file.id(1)), (2, "a", ""));
    assert_eq!((file.has_shingles(0), file.has_shingles(1), file.row(1)), (true, false, &row[..]));
    assert_eq!(file.spec(), &spec);

    let short = [SketchRow::new(rows[0].id, rows[0].has_shingles, &row[1..])];
    let other = create(&folder.path().join("other"), Overwrite::Refuse).unwrap();
    let error = write_rows(other, &spec, short.into_iter()).unwrap_err();
    assert_eq!(error.problems()[0].setting, "sketch");
    assert!(!folder.path().join("other").exists());
}
