//! Tests of whole runs, through the calls that the command, the Python package and other programs make.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::work::{Manifest, WorkFolder};
use minwise_engine::{
    DedupOptions, DedupRun, Destination, ErrorKind, EstimateOptions, EstimateRun, Inputs, Observer, Outputs,
    PairFormat, PairsOptions, PairsRun, RunSettings, SketchOptions, SketchRun, Stage, Unobserved,
    WeightsOptions, WeightsRun, WorkOptions,
};
use tempfile::TempDir;

/// Folder with a corpus: a document, a near-copy and an equal copy of it, an unrelated document, and a line that is no
/// record.
struct Desk(TempDir);

const TEXTS: [&str; 4] = [
    "the ferry leaves the old harbour at nine in the morning on every day but sunday in the winter months",
    "nothing here resembles any other text of this small corpus in the least, which is what it is for",
    "the ferry leaves the old harbour at nine in the morning on every day but sunday in the winter season",
    "The FERRY leaves the old harbour at nine in the morning on every day but Sunday in the winter months!",
];

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        let line = |(number, text): (usize, &&str)| format!("{{\"id\":\"d{number}\",\"text\":\"{text}\"}}\n");
        let lines: String = TEXTS.iter().enumerate().map(line).chain(["no record\n".to_owned()]).collect();
        fs_err::write(desk.path("in.jsonl"), lines).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn inputs(&self) -> Inputs {
        Inputs::default().inputs(vec![self.path("in.jsonl").into()])
    }

    fn options(&self) -> DedupOptions {
        DedupOptions::default().inputs(self.inputs())
    }

    fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    fn to(&self, name: &str) -> Destination {
        Destination::Path(self.path(name))
    }

    fn names(&self) -> Vec<String> {
        let entries = fs_err::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn an_outcome_has_decisions_summary_and_rejects() {
    let desk = Desk::new();
    let outcome = DedupRun::new(desk.options()).unwrap().execute(&Unobserved).unwrap();
    let columns = outcome.columns();
    assert_eq!(columns.kept, [true, true, false, false]);
    assert_eq!(columns.duplicate_of, [None, None, Some(0), Some(0)]);
    assert_eq!(columns.similarity[3], Some(1.0));
    let near = columns.similarity[2].unwrap();
    assert!((0.8..1.0).contains(&near), "{near}");
    let ids: Vec<String> = outcome.documents().map(|document| outcome.id(document).unwrap().into()).collect();
    assert_eq!(ids, ["d0", "d1", "d2", "d3"]);
    assert_eq!(outcome.place(3).unwrap(), (0, 3));
    let summary = outcome.summary();
    assert_eq!((summary.read, summary.kept, summary.removed, summary.rejected), (5, 2, 2, 1));
    let rejected = outcome.rejected_records();
    assert_eq!((rejected.count, rejected.first.len()), (1, 1));
    assert!(rejected.first[0].contains("in.jsonl:5: "), "{}", rejected.first[0]);
    let stages: Vec<&str> = outcome.stages().iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages, ["open", "read", "ids", "order", "equal", "candidates", "verify", "audit", "write"]);
    outcome.close().unwrap();
    assert_eq!(desk.names(), ["in.jsonl"], "a run that is asked to write nothing writes nothing");
}

#[test]
fn references_are_no_rows_of_the_decisions() {
    let desk = Desk::new();
    let reference = format!("{{\"id\":\"r\",\"text\":\"{}\"}}\n", TEXTS[1]);
    fs_err::write(desk.path("reference.jsonl"), reference).unwrap();
    let mut options = desk.options();
    options.inputs.against.push(desk.path("reference.jsonl").into());
    let outcome = DedupRun::new(options).unwrap().execute(&Unobserved).unwrap();
    assert_eq!(outcome.documents(), 1..5);
    let columns = outcome.columns();
    assert_eq!(columns.kept, [true, false, false, false]);
    assert_eq!(columns.duplicate_of, [None, Some(0), Some(1), Some(1)]);
    assert_eq!(outcome.id(0).unwrap(), "r");
}

#[test]
fn outputs_are_written_and_put_in_place() {
    let desk = Desk::new();
    let outputs = Outputs::default()
        .kept(desk.to("kept.jsonl"))
        .removed(desk.to("removed.jsonl"))
        .report(desk.path("report"));
    let options = desk.options().outputs(outputs.clone());
    DedupRun::new(options).unwrap().execute(&Unobserved).unwrap().close().unwrap();
    let whole = desk.text("in.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(desk.text("kept.jsonl").lines().collect::<Vec<_>>(), lines[..2]);
    assert_eq!(desk.text("removed.jsonl").lines().collect::<Vec<_>>(), lines[2..4]);
    assert_eq!(desk.text("report/pairs.tsv").lines().count(), 2);
    // Existing outputs are refused before the work begins, and replaced if `overwrite` is set.
    let again = desk.options().outputs(outputs.clone());
    let error = DedupRun::new(again).unwrap().execute(&Unobserved).unwrap_err();
    assert_eq!(error.code(), "output_exists");
    assert_eq!(error.hint().unwrap().to_string(), "`overwrite` replaces it");
    let outputs = outputs.overwrite(true);
    let replaced = desk.options().outputs(outputs);
    DedupRun::new(replaced).unwrap().execute(&Unobserved).unwrap();
}

#[test]
fn problems_of_inputs_settings_and_outputs_come_together() {
    let desk = Desk::new();
    let mut options = desk.options();
    options.inputs.options.max_record_bytes = 0;
    options.settings.threads = Some(0);
    options.outputs = Outputs::default().annotate(true).removed(desk.to("removed.jsonl"));
    let error = DedupRun::new(options).unwrap_err();
    let settings: Vec<&str> = error.problems().iter().map(|problem| problem.setting).collect();
    assert_eq!(settings, ["max-record", "threads", "removed"]);
}

#[test]
fn outputs_that_would_meet_are_refused_by_their_settings() {
    let desk = Desk::new();
    let both = |removed: &str| Outputs::default().kept(desk.to("out.jsonl")).removed(desk.to(removed));
    let refused = |outputs: Outputs| {
        let options = desk.options().outputs(outputs);
        DedupRun::new(options).unwrap().execute(&Unobserved).unwrap_err()
    };
    let same = refused(both("out.jsonl"));
    assert_eq!(same.code(), "output");
    assert!(same.to_string().starts_with("`output` and `removed` are both `"), "{same}");
    let inside = refused(both("out.jsonl/removed.jsonl"));
    assert_eq!(inside.code(), "shared_output");
    assert!(inside.to_string().starts_with("`output` `"), "{inside}");
}

/// Observer that cancels when a stage begins.
struct StopAt(Stage, AtomicBool);

impl Observer for StopAt {
    fn begin(&self, stage: Stage, _total: u64) {
        if stage == self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn a_run_that_was_stopped_is_resumed_to_the_same_bytes() {
    let desk = Desk::new();
    let options = |name: &str, resume: bool, settings: RunSettings| {
        desk.options()
            .outputs(Outputs::default().kept(desk.to(name)))
            .work(WorkOptions::new(desk.path("work")).resume(resume))
            .settings(settings)
    };
    let undisturbed = options("whole.jsonl", false, RunSettings::default()).work(None);
    DedupRun::new(undisturbed).unwrap().execute(&Unobserved).unwrap();
    let run = |observer: &dyn Observer, options| DedupRun::new(options)?.execute(observer)?.close();
    for stage in [Stage::Read, Stage::Candidates, Stage::Verify] {
        let stop = StopAt(stage, AtomicBool::new(false));
        let error = run(&stop, options("out.jsonl", true, RunSettings::default())).unwrap_err();
        assert!(error.is_cancelled(), "{error}");
        assert!(!desk.path("out.jsonl").exists() && desk.path("work/manifest").exists());
    }
    // A changed setting is named, with its value then and now.
    let other = RunSettings::default().threshold(0.7);
    let error = run(&Unobserved, options("out.jsonl", true, other)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Changed { setting: Some(name), .. } if name == "threshold"));
    let expected = "the run cannot be continued: `threshold` was `0.8` then and is `0.7` now";
    assert_eq!(error.to_string(), expected);
    run(&Unobserved, options("out.jsonl", true, RunSettings::default())).unwrap();
    assert_eq!(desk.text("out.jsonl"), desk.text("whole.jsonl"));
    assert!(!desk.path("work").exists());
}

/// Observer that creates a folder under the name of an output file when verification begins. The run then fails while
/// it puts its outputs in place.
struct Obstacle(PathBuf);

impl Observer for Obstacle {
    fn begin(&self, stage: Stage, _total: u64) {
        if stage == Stage::Verify && !self.0.exists() {
            fs_err::create_dir(&self.0).unwrap();
        }
    }
}

/// An output folder briefly does not exist while it is replaced. A run that is killed at that moment must still know
/// that the output is a folder, because without the folder a bare name means a file.
#[test]
fn a_resumed_run_remembers_which_outputs_are_folders() {
    let desk = Desk::new();
    let options = |resume: bool| {
        desk.options()
            .outputs(
                Outputs::default().kept(desk.to("kept")).removed(desk.to("removed.jsonl")).overwrite(true),
            )
            .work(WorkOptions::new(desk.path("work")).resume(resume))
    };
    fs_err::create_dir(desk.path("kept")).unwrap();
    let run = |observer: &dyn Observer, options| DedupRun::new(options)?.execute(observer)?.close();
    let error = run(&Obstacle(desk.path("removed.jsonl")), options(false)).unwrap_err();
    assert!(error.to_string().contains("removed.jsonl"), "{error}");
    assert!(desk.path("kept/in.jsonl").exists() && desk.path("work/finishing").exists());
    // The folder is removed, as if the run had been killed between the two renames.
    fs_err::remove_dir_all(desk.path("kept")).unwrap();
    fs_err::remove_dir(desk.path("removed.jsonl")).unwrap();
    run(&Unobserved, options(true)).unwrap();
    assert_eq!(desk.text("kept/in.jsonl").lines().count(), 2);
    assert_eq!(desk.text("removed.jsonl").lines().count(), 2);
    assert!(!desk.path("work").exists());
}

/// Earlier versions wrote settings into the work folder as flags.
#[test]
fn a_run_of_an_earlier_version_is_known_again() {
    let desk = Desk::new();
    let corpus = Corpus::open(&desk.inputs().inputs, &ReadOptions::default(), &Unobserved).unwrap();
    let manifest = |name: &str, value: &str| {
        let options = vec![(name.to_owned(), value.to_owned())];
        Manifest::new(options, &corpus, 1, &Unobserved).unwrap()
    };
    let path = desk.path("work");
    drop(WorkFolder::open(&path, &manifest("--measure", "jaccard"), false).unwrap());
    assert!(WorkFolder::open(&path, &manifest("measure", "jaccard"), true).unwrap().is_resumed());
    let error = WorkFolder::open(&path, &manifest("measure", "containment"), true).unwrap_err();
    assert!(error.to_string().ends_with("`measure` was `jaccard` then and is `containment` now"), "{error}");
    let error = WorkFolder::open(&path, &manifest("order", "0.5"), true).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("`order` is `0.5` now, and the version that began the run did not have it"),
        "{error}"
    );
}

#[test]
fn pairs_are_written_or_visited() {
    let desk = Desk::new();
    let options = |output: Option<Destination>, format| {
        PairsOptions::default().inputs(desk.inputs()).output(output).format(format)
    };
    let run = PairsRun::new(options(Some(desk.to("pairs.jsonl")), PairFormat::Jsonl)).unwrap();
    let outcome = run.execute(&Unobserved).unwrap();
    assert_eq!((outcome.written(), outcome.read(), outcome.rejected_records().count), (3, 5, 1));
    assert_eq!(desk.text("pairs.jsonl").lines().count(), 3);
    let quiet = PairsRun::new(options(None, PairFormat::Tsv)).unwrap().execute(&Unobserved).unwrap();
    let mut visited = vec![];
    quiet
        .for_each(&Unobserved, |pair, first, second| {
            visited.push((first.to_owned(), second.to_owned(), pair.similarity));
            Ok(())
        })
        .unwrap();
    assert_eq!(quiet.written(), 0);
    assert_eq!(visited.len(), 3);
    assert_eq!((visited[1].0.as_str(), visited[1].1.as_str(), visited[1].2), ("d0", "d3", 1.0));
    let wrong = RunSettings::default().threshold(7.0);
    assert!(PairsRun::new(PairsOptions::default().settings(wrong)).is_err());
}

#[test]
fn sketches_frequencies_and_estimates_are_runs_too() {
    let desk = Desk::new();
    let output = desk.path("sketches");
    let options = SketchOptions::default().inputs(desk.inputs()).output(output.clone());
    let sketched = SketchRun::new(options.clone()).unwrap().execute(&Unobserved).unwrap();
    assert_eq!((sketched.documents, sketched.rejected.count), (4, 1));
    let error = SketchRun::new(options.threads(0)).unwrap_err();
    assert_eq!(error.problems()[0].setting, "threads");

    let options = WeightsOptions::default().inputs(desk.inputs()).output(desk.path("table"));
    let counted = WeightsRun::new(options).unwrap().execute(&Unobserved).unwrap();
    assert_eq!(counted.documents, 4);
    assert!(counted.shingles > 30);

    let options = EstimateOptions::new(output.clone()).output(desk.to("estimates.tsv"));
    let estimated = EstimateRun::new(options).unwrap().execute(&Unobserved).unwrap();
    assert_eq!(estimated.pairs, desk.text("estimates.tsv").lines().count() as u64);
    assert_eq!(estimated.compared.pairs, 6);
    let wrong = EstimateOptions::new(output).threshold(-1.0).filter_error(2.0);
    let error = EstimateRun::new(wrong).unwrap_err();
    let settings: Vec<&str> = error.problems().iter().map(|problem| problem.setting).collect();
    assert_eq!(settings, ["threshold", "filter-error"]);
}

#[test]
fn a_folder_that_is_needed_is_not_replaced() {
    let desk = Desk::new();
    let options = desk
        .options()
        .outputs(Outputs::default().kept(desk.to("all/")).overwrite(true))
        .work(WorkOptions::new(desk.path("all/work")));
    let error = DedupRun::new(options).unwrap().execute(&Unobserved).unwrap_err();
    assert!(error.to_string().ends_with("the folder of the run (`work`) lies there"), "{error}");
    assert!(!Path::new(&desk.path("all")).exists(), "folders that were made for the run go with it");
}

/// A run loads its tables itself, so tables in its settings are refused instead of ignored.
#[test]
fn tables_in_the_settings_of_a_run_are_refused() {
    let desk = Desk::new();
    let mut options = desk.options();
    options.settings.weighing.ignored = vec![1, 2].into();
    assert_eq!(DedupRun::new(options).unwrap_err().problems()[0].setting, "spec");
    let mut settings = RunSettings::default();
    settings.spec.weights.table = Some(7);
    let options = PairsOptions::default().inputs(desk.inputs()).settings(settings);
    assert_eq!(PairsRun::new(options).unwrap_err().problems()[0].setting, "spec");
    let mut options = SketchOptions::default().inputs(desk.inputs()).output(desk.path("s"));
    options.spec.weights.most_documents = Some("5".parse().unwrap());
    assert_eq!(SketchRun::new(options).unwrap_err().problems()[0].setting, "weight");
    assert_eq!(desk.names(), ["in.jsonl"]);
}

/// Observer that records its calls.
#[derive(Default)]
struct Heard(std::sync::Mutex<Vec<String>>);

impl Observer for Heard {
    fn begin(&self, stage: Stage, _total: u64) {
        self.0.lock().unwrap().push(format!("begin {}", stage.name()));
    }

    fn end(&self, stage: Stage) {
        self.0.lock().unwrap().push(format!("end {}", stage.name()));
    }
}

/// The observer must know when opening has ended: until then a program may exit at once, later it must clean up.
#[test]
fn an_observer_hears_when_opening_has_ended() {
    let desk = Desk::new();
    fs_err::write(desk.path("form.txt"), "on every day but sunday in the winter").unwrap();
    let mut options = desk.options();
    options.settings.audit = None;
    options.inputs.ignore_text.push(desk.path("form.txt").into());
    let heard = Heard::default();
    DedupRun::new(options).unwrap().execute(&heard).unwrap().close().unwrap();
    let opened = ["begin open", "end open", "begin open", "end open", "begin read"];
    assert_eq!(heard.0.lock().unwrap()[..5], opened);
    let heard = Heard::default();
    let options = PairsOptions::default().inputs(desk.inputs());
    PairsRun::new(options).unwrap().execute(&heard).unwrap();
    assert_eq!(heard.0.lock().unwrap().last().unwrap(), "end verify");
}

/// A setting that a run cannot use is refused instead of ignored.
#[test]
fn runs_refuse_inputs_that_they_would_ignore() {
    let desk = Desk::new();
    let inputs = desk
        .inputs()
        .against(vec![Path::new("archive").into()])
        .weights(Some("table".into()))
        .ignore_text(vec![Path::new("template").into()]);
    let settings = |error: minwise_engine::Error| {
        error.problems().iter().map(|problem| problem.setting).collect::<Vec<_>>()
    };
    let sketch = SketchOptions::default().inputs(inputs.clone());
    let error = SketchRun::new(sketch).unwrap_err();
    assert_eq!(settings(error), ["against", "weights", "ignore-text"]);
    let weights = WeightsOptions::default().inputs(inputs.clone());
    assert_eq!(settings(WeightsRun::new(weights).unwrap_err()), ["against", "weights", "ignore-text"]);
    let mut pairs = PairsOptions::default().inputs(inputs);
    pairs.settings.keep = Some(minwise::keep::KeepPolicy::default());
    assert_eq!(settings(PairsRun::new(pairs).unwrap_err()), ["against", "keep"]);
}

/// Programs get as values what the command prints about skipped files.
#[test]
fn an_outcome_has_what_was_skipped() {
    let desk = Desk::new();
    for (name, content) in [("a.txt", TEXTS[0]), ("b.txt", TEXTS[1]), ("Thumbs.db", "x"), ("empty.txt", "")] {
        fs_err::create_dir_all(desk.path("folder")).unwrap();
        fs_err::write(desk.path("folder").join(name), content).unwrap();
    }
    let inputs = || Inputs::default().inputs(vec![desk.path("folder").into()]);
    let outcome = DedupRun::new(DedupOptions::default().inputs(inputs())).unwrap();
    let outcome = outcome.execute(&Unobserved).unwrap();
    let summary = outcome.summary();
    assert_eq!((summary.read, summary.skipped_files, summary.skipped_records), (2, 2, 0));
    let codes: Vec<&str> = outcome.corpus().skipped().iter().map(|file| file.reason.code()).collect();
    assert_eq!(codes, ["system", "empty"]);
    let sketches = SketchOptions::default().inputs(inputs()).output(desk.path("sketches"));
    let sketched = SketchRun::new(sketches).unwrap().execute(&Unobserved).unwrap();
    let weights = WeightsOptions::default().inputs(inputs()).output(desk.path("table"));
    let counted = WeightsRun::new(weights).unwrap().execute(&Unobserved).unwrap();
    assert_eq!((sketched.documents, sketched.skipped_files.len()), (2, 2));
    assert_eq!((counted.documents, counted.skipped_files.len()), (2, 2));
}
