//! Settings that do not go together are refused with every reason, before anything is read.

use std::path::Path;

use minwise::keep::Keep;
use minwise::shingle::Repeats;
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise::{Spec, Weights};
use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::dedup::dedup;
use minwise_engine::pairs::pairs;
use minwise_engine::{Bands, Error, ErrorKind, Memory, Search, Settings, SpecOptions, Unobserved, read};

use crate::support::{Documents, settings};

/// The settings that are refused, with the value of each.
fn refused(settings: &Settings) -> Vec<(&'static str, String)> {
    let Err(error) = settings.plan() else { panic!("not refused: {settings:?}") };
    assert_eq!(error.code(), "settings");
    error.problems().iter().map(|problem| (problem.setting, problem.value.clone())).collect()
}

fn spec(text: &str) -> Spec {
    text.parse().unwrap()
}

/// The cases of the review: each ran, lost pairs, or panicked.
#[test]
fn settings_that_lose_pairs_or_panic_are_refused() {
    let default = Settings::default;
    let with_method = |method: &str| spec(&format!("nfkc+casefold / words:5 / {method} / seed:1"));
    let one = |setting: &'static str, value: &str| vec![(setting, value.to_owned())];
    let cases = [
        (
            Settings { measure: Measure::Containment, search: Some(Search::Banding), ..default() },
            one("candidates", "banding"),
        ),
        (
            Settings { measure: Measure::Containment, search: Some(Search::SortMergeSketch), ..default() },
            one("candidates", "sort-merge,sketch"),
        ),
        (Settings { spec: with_method("bottom-k:128"), ..default() }, one("sketch", "bottom-k:128")),
        (
            Settings { spec: with_method("b-bit:2/minhash:128"), ..default() },
            one("sketch", "b-bit:2/minhash:128"),
        ),
        (
            Settings { spec: Spec::default().with_weights(Weights::new(Weighting::Count)), ..default() },
            one("sketch", "minhash:128"),
        ),
        (
            Settings { spec: Spec::default().with_method(minwise::sketch::Method::minhash(0)), ..default() },
            one("registers", "0"),
        ),
        (Settings { threshold: f64::NAN, ..default() }, one("threshold", "NaN")),
        (Settings { threshold: 1.7, ..default() }, one("threshold", "1.7")),
        (Settings { threshold: 0.0, ..default() }, one("threshold", "0")),
        (Settings { order: Some(f64::NAN), ..default() }, one("order", "NaN")),
        (Settings { filter_error: Some(0.9), ..default() }, one("filter-error", "0.9")),
        (Settings { filter_error: Some(f64::NAN), ..default() }, one("filter-error", "NaN")),
        (Settings { looks: Some(vec![]), ..default() }, one("looks", "")),
        (Settings { looks: Some(vec![0, 16]), ..default() }, one("looks", "0,16")),
        (Settings { looks: Some(vec![16, 64, 64]), ..default() }, one("looks", "16,64,64")),
        (Settings { looks: Some(vec![64, 32]), ..default() }, one("looks", "64,32")),
        (Settings { looks: Some(vec![64, 129]), ..default() }, one("looks", "64,129")),
        (Settings { looks: Some(vec![64]), filter_error: None, ..default() }, one("looks", "64")),
        (
            Settings { looks: Some(vec![64]), search: Some(Search::SortMergeSketch), ..default() },
            one("looks", "64"),
        ),
        (Settings { error_per_look: Some(0.9), ..default() }, one("error-per-look", "0.9")),
        (Settings { error_per_look: Some(f64::NAN), ..default() }, one("error-per-look", "NaN")),
        (Settings { bands: Bands::ForRecall(f64::NAN), ..default() }, one("recall", "NaN")),
        (Settings { bands: Bands::ForRecall(1.0), ..default() }, one("recall", "1")),
        (Settings { bands: Bands::Given { bands: 64, rows: 3 }, ..default() }, one("bands", "64")),
        (Settings { bands: Bands::Given { bands: 0, rows: 3 }, ..default() }, one("bands", "0")),
        (Settings { threads: Some(0), ..default() }, one("threads", "0")),
        (Settings { max_cluster: Some(0), ..default() }, one("max-cluster", "0")),
        (
            Settings {
                spec: with_method("b-bit:2/minhash:128"),
                search: Some(Search::SortMergeSketch),
                ..default()
            },
            one("sketch", "b-bit:2/minhash:128"),
        ),
        (
            Settings { bits: Some("1".parse().unwrap()), search: Some(Search::SortMergeSketch), ..default() },
            one("bits", "1"),
        ),
        (
            Settings { keep: Some("newest:a..b".parse::<Keep>().unwrap()), ..default() },
            one("keep", "newest:a..b"),
        ),
        (
            Settings {
                spec: Spec::default()
                    .with_weights(Weights::new(Weighting::TfIdf))
                    .with_method("dart:128".parse().unwrap()),
                ..default()
            },
            one("weight", "tf-idf"),
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(refused(&settings), expected, "{settings:?}");
    }
    assert!(default().plan().is_ok());
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_settings() {
    let settings = Settings {
        threshold: 2.0,
        measure: Measure::Containment,
        search: Some(Search::Banding),
        order: Some(0.0),
        filter_error: Some(0.0),
        threads: Some(0),
        ..Settings::default()
    };
    let names: Vec<&str> = refused(&settings).into_iter().map(|(setting, _)| setting).collect();
    assert_eq!(names, ["threshold", "order", "candidates", "filter-error", "threads"]);
    let message = settings.plan().unwrap_err().to_string();
    assert!(message.starts_with("`threshold`: the threshold cannot be 2"), "{message}");
}

#[test]
fn what_is_left_open_follows_from_the_rest() {
    let plan = Settings::default().plan().unwrap();
    assert_eq!((plan.search(), plan.keep().to_string()), (Search::Banding, "first".to_owned()));
    let contained = Settings { measure: Measure::Containment, ..Settings::default() }.plan().unwrap();
    assert_eq!((contained.search(), contained.keep().to_string()), (Search::SortMerge, "longest".to_owned()));
    let little = Settings { memory: Some(Memory::new(128 << 20).unwrap()), ..Settings::default() };
    assert_eq!(little.plan().unwrap().threads(), 1, "no more threads than the memory is enough for");
}

#[test]
fn a_spec_is_made_of_what_people_name() {
    let made = |options: SpecOptions| {
        let mut problems = vec![];
        let spec = options.spec(&mut problems);
        (spec.to_string(), problems.into_iter().map(|problem| problem.setting).collect::<Vec<_>>())
    };
    let default = SpecOptions::default;
    let plain = "nfkc+casefold / words:5 / minhash:128 / seed:1";
    assert_eq!(made(default()), (plain.to_owned(), vec![]));
    let weighted = SpecOptions { weighting: Weighting::Tf, registers: Some(64), ..default() };
    assert_eq!(made(weighted), ("nfkc+casefold / words:5 / dart:64 / seed:1 / weight:tf".to_owned(), vec![]));
    let whole = SpecOptions { sketch: Some("super-minhash:256".into()), seed: Some(7), ..default() };
    assert_eq!(made(whole).0, "nfkc+casefold / words:5 / super-minhash:256 / seed:7");
    for (options, setting) in [
        (SpecOptions { sketch: Some("maxhash".into()), ..default() }, "sketch"),
        (SpecOptions { registers: Some(0), ..default() }, "registers"),
        (SpecOptions { registers: Some(9), sketch: Some("minhash:9".into()), ..default() }, "registers"),
        (SpecOptions { sketch: Some("dart".into()), ..default() }, "sketch"),
        (
            SpecOptions {
                weighting: Weighting::Count,
                shingling: "words:5,bag".parse().unwrap(),
                ..default()
            },
            "weight",
        ),
    ] {
        assert_eq!(made(options.clone()).1, [setting], "{options:?}");
    }
    assert_eq!("words:5,bag".parse::<minwise::shingle::Shingling>().unwrap().repeats(), Repeats::Bag);
}

fn field_of(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::ReadOtherwise { field } => field,
        other => panic!("another error: {other:?}"),
    }
}

/// What was read with one plan is not decided about with another, which panicked.
#[test]
fn reading_and_deciding_take_one_plan() {
    let documents = Documents::new(["one two three four five six", "one two three four five seven"]);
    let read_with = settings("words:3", 0.5, 16, 4);
    let reading = documents.read(&read_with);
    let others = [
        ("spec", settings("words:2", 0.5, 16, 4)),
        ("spec", settings("words:3", 0.5, 16, 3)),
        ("keeper policy", Settings { keep: Some("longest".parse().unwrap()), ..read_with.clone() }),
        ("banding", Settings { bands: Bands::Given { bands: 8, rows: 8 }, ..read_with.clone() }),
        ("number of bits", Settings { bits: Some("1".parse().unwrap()), ..read_with.clone() }),
        ("rule for the order of shingles", Settings { order: Some(0.5), ..read_with.clone() }),
    ];
    for (field, other) in others {
        let plan = other.plan().unwrap();
        let error = dedup(&documents.corpus, &reading, &plan, &Unobserved, |_| {}).unwrap_err();
        assert_eq!(field_of(&error), field);
        let error = pairs(&documents.corpus, &reading, None, &plan, &Unobserved).unwrap_err();
        assert_eq!((field_of(&error), error.code()), (field, "read_otherwise"));
    }
    assert!(dedup(&documents.corpus, &reading, &read_with.plan().unwrap(), &Unobserved, |_| {}).is_ok());
}

/// A policy that looks at a field would rank nothing in a corpus that was opened without the field.
#[test]
fn a_keeper_policy_needs_its_fields() {
    let documents = Documents::new(["one two three", "one two three four"]);
    let keep = Some("newest:date".parse().unwrap());
    let plan = Settings { keep, ..settings("words:3", 0.5, 16, 4) }.plan().unwrap();
    let error = read(&documents.corpus, &plan.reading(), &Unobserved).unwrap_err();
    assert_eq!(error.problems()[0].setting, "keep");
    assert_eq!(error.to_string(), "`keep`: the corpus was opened without the field `date`");
}

#[test]
fn an_error_of_the_operating_system_stays_within_reach() {
    let missing = [Path::new("no/such/file.jsonl").into()];
    let error = Corpus::open(&missing, &ReadOptions::default(), &Unobserved).unwrap_err();
    assert_eq!(error.code(), "not_found");
    let folder = tempfile::tempdir().unwrap();
    let error = minwise_engine::sketch_file::SketchFile::open(&folder.path().join("none")).unwrap_err();
    let cause = error.io_error().expect("the operating system said why");
    assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
    assert!(cause.raw_os_error().is_some());
}

/// Tables are those whose fingerprints the spec has, or nothing is weighed.
#[test]
fn tables_that_are_not_those_of_the_spec_are_refused() {
    let documents = Documents::new(["one two three four", "one two three five"]);
    let mut settings = settings("words:1", 0.5, 16, 4);
    settings.spec.method = "dart:64".parse().unwrap();
    settings.spec.weights.weighting = Weighting::TfIdf;
    assert_eq!(refused(&settings), [("weight", "tf-idf".to_owned())]);
    let count = |spec| minwise_engine::weigh::count_for_a_run(&documents.corpus, spec, 1, None, &Unobserved);
    let table = count(&settings.spec).unwrap();
    settings.spec.weights.table = Some(table.fingerprint());
    settings.weighing.frequencies = Some(std::sync::Arc::new(table));
    assert!(settings.plan().is_ok());
    let mut other = settings.clone();
    other.spec.weights.table = Some(7);
    assert_eq!(refused(&other), [("weight", "tf-idf".to_owned())]);
    let mut other = settings.clone();
    other.spec.shingling = "words:2".parse().unwrap();
    assert_eq!(refused(&other), [("weight", "tf-idf".to_owned())]);
    let mut other = settings.clone();
    other.spec.weights.ignored = Some(7);
    assert_eq!(refused(&other), [("ignore-text", "0".to_owned())]);
    let mut plain = crate::support::settings("words:1", 0.5, 16, 4);
    plain.spec.weights.most_documents = Some("5".parse().unwrap());
    assert_eq!(refused(&plain), [("max-df", "5".to_owned())]);
}

#[test]
fn an_error_per_look_is_as_many_times_as_large_as_there_are_looks() {
    let total = |settings: Settings| settings.plan().unwrap().filter_error().unwrap();
    let per_look = || Settings { error_per_look: Some(1e-4), ..Settings::default() };
    let near = |found: f64, looks: f64| assert!((found - looks * 1e-4).abs() < 1e-12, "{found}");
    // Looks at every 16 of 128 registers.
    near(total(per_look()), 8.0);
    near(total(Settings { looks: Some(vec![10, 50, 90]), ..per_look() }), 3.0);
    // Bits are looked at after every 64 of them, and each width by itself.
    near(total(Settings { bits: Some("1".parse().unwrap()), ..per_look() }), 2.0);
    near(total(Settings { bits: Some("1.5".parse().unwrap()), ..per_look() }), 2.0);
    near(total(Settings { search: Some(Search::SortMergeSketch), ..per_look() }), 1.0);
    assert_eq!(total(Settings { error_per_look: Some(0.4), ..Settings::default() }), 1.0);
    assert_eq!(total(Settings { looks: Some(vec![64]), ..Settings::default() }), 1e-6);
}
