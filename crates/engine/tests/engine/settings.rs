//! Tests that settings which contradict each other are refused with all reasons, before anything is read.

use std::path::Path;

use minwise::keep::KeepPolicy;
use minwise::shingle::Repeats;
use minwise::verify::Measure;
use minwise::weight::Weighting;
use minwise::{Spec, WeightSpec};
use minwise_corpus::{Corpus, ReadOptions};
use minwise_engine::stages::{dedup, pairs, read};
use minwise_engine::{Bands, Error, ErrorKind, MemoryLimit, RunSettings, Search, SpecOptions, Unobserved};

use crate::support::{Documents, settings};

/// Returns the settings that are refused, each with its value.
fn refused(settings: &RunSettings) -> Vec<(&'static str, String)> {
    let Err(error) = settings.plan() else { panic!("not refused: {settings:?}") };
    assert_eq!(error.code(), "bad_setting");
    error.problems().iter().map(|problem| (problem.setting, problem.value.clone())).collect()
}

fn spec(text: &str) -> Spec {
    text.parse().unwrap()
}

/// Runs with these settings once lost pairs or panicked.
#[test]
fn settings_that_lose_pairs_or_panic_are_refused() {
    let default = RunSettings::default;
    let with_method = |method: &str| spec(&format!("nfkc+casefold / words:5 / {method} / seed:1"));
    let one = |setting: &'static str, value: &str| vec![(setting, value.to_owned())];
    let cases = [
        (default().measure(Measure::Containment).search(Search::Banding), one("candidates", "banding")),
        (
            default().measure(Measure::Containment).search(Search::SortMergeSketch),
            one("candidates", "sort-merge,sketch"),
        ),
        (default().spec(with_method("bottom-k:128")), one("sketch", "bottom-k:128")),
        (default().spec(with_method("b-bit:2/minhash:128")), one("sketch", "b-bit:2/minhash:128")),
        (
            default().spec(Spec::default().with_weights(WeightSpec::new(Weighting::Count))),
            one("sketch", "minhash:128"),
        ),
        (
            default().spec(Spec::default().with_method(minwise::sketch::Method::minhash(0))),
            one("registers", "0"),
        ),
        (default().threshold(f64::NAN), one("threshold", "NaN")),
        (default().threshold(1.7), one("threshold", "1.7")),
        (default().threshold(0.0), one("threshold", "0")),
        (default().order(f64::NAN), one("order", "NaN")),
        (default().filter_error(0.9), one("filter-error", "0.9")),
        (default().filter_error(f64::NAN), one("filter-error", "NaN")),
        (default().looks(vec![]), one("looks", "")),
        (default().looks(vec![0, 16]), one("looks", "0,16")),
        (default().looks(vec![16, 64, 64]), one("looks", "16,64,64")),
        (default().looks(vec![64, 32]), one("looks", "64,32")),
        (default().looks(vec![64, 129]), one("looks", "64,129")),
        (default().looks(vec![64]).filter_error(None), one("looks", "64")),
        (default().looks(vec![64]).search(Search::SortMergeSketch), one("looks", "64")),
        (default().error_per_look(0.9), one("error-per-look", "0.9")),
        (default().error_per_look(f64::NAN), one("error-per-look", "NaN")),
        (default().bands(Bands::ForRecall(f64::NAN)), one("recall", "NaN")),
        (default().bands(Bands::ForRecall(1.0)), one("recall", "1")),
        (default().bands(Bands::Given { bands: 64, rows: 3 }), one("bands", "64")),
        (default().bands(Bands::Given { bands: 0, rows: 3 }), one("bands", "0")),
        (default().threads(0), one("threads", "0")),
        (default().max_cluster(0), one("max-cluster", "0")),
        (
            default().spec(with_method("b-bit:2/minhash:128")).search(Search::SortMergeSketch),
            one("sketch", "b-bit:2/minhash:128"),
        ),
        (default().bits(Some("1".parse().unwrap())).search(Search::SortMergeSketch), one("bits", "1")),
        (default().keep("newest:a..b".parse::<KeepPolicy>().unwrap()), one("keep", "newest:a..b")),
        (
            default().spec(
                Spec::default()
                    .with_weights(WeightSpec::new(Weighting::TfIdf))
                    .with_method("dart:128".parse().unwrap()),
            ),
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
    let settings = RunSettings::default()
        .threshold(2.0)
        .measure(Measure::Containment)
        .search(Search::Banding)
        .order(0.0)
        .filter_error(0.0)
        .threads(0);
    let names: Vec<&str> = refused(&settings).into_iter().map(|(setting, _)| setting).collect();
    assert_eq!(names, ["threshold", "order", "candidates", "filter-error", "threads"]);
    let message = settings.plan().unwrap_err().to_string();
    assert!(message.starts_with("`threshold`: the threshold cannot be 2"), "{message}");
}

#[test]
fn what_is_left_open_follows_from_the_rest() {
    let plan = RunSettings::default().plan().unwrap();
    assert_eq!((plan.search(), plan.keep().to_string()), (Search::Banding, "first".to_owned()));
    let contained = RunSettings::default().measure(Measure::Containment).plan().unwrap();
    assert_eq!((contained.search(), contained.keep().to_string()), (Search::SortMerge, "longest".to_owned()));
    let little = RunSettings::default().memory(MemoryLimit::new(128 << 20).unwrap());
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
    let weighted = default().weighting(Weighting::Tf).registers(64);
    assert_eq!(made(weighted), ("nfkc+casefold / words:5 / dart:64 / seed:1 / weight:tf".to_owned(), vec![]));
    let whole = default().sketch(Some("super-minhash:256".into())).seed(7);
    assert_eq!(made(whole).0, "nfkc+casefold / words:5 / super-minhash:256 / seed:7");
    for (options, setting) in [
        (default().sketch(Some("maxhash".into())), "sketch"),
        (default().registers(0), "registers"),
        (default().registers(9).sketch(Some("minhash:9".into())), "registers"),
        (default().sketch(Some("dart".into())), "sketch"),
        (default().weighting(Weighting::Count).shingling("words:5,bag".parse().unwrap()), "weight"),
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

/// Documents that were read with one plan cannot be decided with another plan. The attempt once panicked.
#[test]
fn reading_and_deciding_take_one_plan() {
    let documents = Documents::new(["one two three four five six", "one two three four five seven"]);
    let read_with = settings("words:3", 0.5, 16, 4);
    let reading = documents.read(&read_with);
    let others = [
        ("spec", settings("words:2", 0.5, 16, 4)),
        ("spec", settings("words:3", 0.5, 16, 3)),
        ("keeper policy", read_with.clone().keep(Some("longest".parse().unwrap()))),
        ("banding", read_with.clone().bands(Bands::Given { bands: 8, rows: 8 })),
        ("number of bits", read_with.clone().bits(Some("1".parse().unwrap()))),
        ("rule for the order of shingles", read_with.clone().order(0.5)),
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

/// A policy that uses a field is refused if the corpus was opened without the field, because it would rank nothing.
#[test]
fn a_keeper_policy_needs_its_fields() {
    let documents = Documents::new(["one two three", "one two three four"]);
    let keep = Some("newest:date".parse().unwrap());
    let plan = settings("words:3", 0.5, 16, 4).keep(keep).plan().unwrap();
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

/// Tables must have the fingerprints of the spec, except if the spec has no weights.
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
    let total = |settings: RunSettings| settings.plan().unwrap().filter_error().unwrap();
    let per_look = || RunSettings::default().error_per_look(1e-4);
    let near = |found: f64, looks: f64| assert!((found - looks * 1e-4).abs() < 1e-12, "{found}");
    // By default, a filter of 128 registers has a look after every 16 registers, which makes 8 looks.
    near(total(per_look()), 8.0);
    near(total(per_look().looks(vec![10, 50, 90])), 3.0);
    // With bits, a look follows every 64 values, and each width has its own looks.
    near(total(per_look().bits(Some("1".parse().unwrap()))), 2.0);
    near(total(per_look().bits(Some("1.5".parse().unwrap()))), 2.0);
    near(total(per_look().search(Search::SortMergeSketch)), 1.0);
    assert_eq!(total(RunSettings::default().error_per_look(0.4)), 1.0);
    assert_eq!(total(RunSettings::default().looks(vec![64])), 1e-6);
}
