//! Tests that the public `Preparation` makes the same sketches as the runs.

#![allow(
    clippy::field_reassign_with_default,
    reason = "options may get fields, so that literals do not compile elsewhere"
)]

use minwise::Spec;
use minwise::verify::Measure;
use minwise_corpus::Input;
use minwise_engine::sketch_file::SketchFile;
use minwise_engine::weigh::FrequencyTable;
use minwise_engine::{
    Dedup, DocumentSet, Inputs, Preparation, Prepared, SketchOptions, SketchRun, Unobserved, WeightTables,
    WeightsOptions, WeightsRun,
};

use crate::support::Random;

fn texts() -> Vec<String> {
    let mut random = Random(11);
    let mut texts: Vec<String> = vec![String::new(), "!?".to_owned(), "Two words".to_owned()];
    for number in 0..60 {
        let words = 5 + random.below(80);
        let text = (0..words).map(|_| format!("W{}", random.below(200))).collect::<Vec<_>>().join(" ");
        texts.push(if number % 3 == 0 { format!("{text} — ﬁne {text}") } else { text });
    }
    // This text is large enough that a run cuts it block by block.
    let words: Vec<String> = (0..200_000).map(|number| format!("word{}", number % 40_000)).collect();
    texts.push(words.join(" "));
    texts
}

fn spec(form: &str) -> Spec {
    form.parse().unwrap()
}

#[test]
fn the_sketches_are_those_of_a_sketch_file() {
    let texts = texts();
    let folder = tempfile::tempdir().unwrap();
    for form in [
        "nfkc+casefold / words:5 / minhash:128 / seed:1",
        "nfkc+casefold / chars:9 / super-minhash:64 / seed:7",
        "casefold / words:3,bag / b-bit:2/minhash:128 / seed:1",
        "nfkc+casefold / words:2 / one-permutation:64 / seed:3",
    ] {
        let spec = spec(form);
        let output = folder.path().join("sketches");
        let mut options = SketchOptions::default();
        options.inputs = Inputs::new([texts.clone()]);
        options.spec = spec;
        options.output.clone_from(&output);
        options.overwrite = true;
        SketchRun::new(options).unwrap().execute(&Unobserved).unwrap();
        let file = SketchFile::open(&output).unwrap();
        let preparation = Preparation::new(&spec, &WeightTables::default()).unwrap();
        let (mut room, mut row) = (Prepared::default(), vec![0; preparation.words()]);
        assert_eq!(file.len(), texts.len());
        for (at, text) in texts.iter().enumerate() {
            let expected = file.has_shingles(at).then(|| file.row(at).to_vec());
            assert_eq!(preparation.sketch(text), expected, "{form}: {at}");
            assert_eq!(preparation.document(text).sketch().map(<[u32]>::to_vec), expected, "{form}: {at}");
            assert_eq!(preparation.sketch_into(text, &mut room, &mut row), expected.is_some());
            assert!(expected.is_none_or(|expected| expected == row), "{form}: {at}");
        }
    }
}

/// With weights, `max-df` and ignored texts, the plan of a run and a preparation from the same tables give the
/// similarities of the run.
#[test]
fn weights_and_what_is_left_out_are_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let form = "please fill in this form and send it back to us";
    let texts: Vec<String> = (0..40)
        .map(|number| {
            let own: Vec<String> = (0..30).map(|at| format!("w{}", (number / 2) * 50 + at)).collect();
            format!("{form} {} {} once{number}", own.join(" "), own[..10].join(" "))
        })
        .collect();
    let table = folder.path().join("weights");
    let mut options = WeightsOptions::default();
    options.inputs = Inputs::new([texts.clone()]);
    options.spec = spec("nfkc+casefold / words:1 / minhash:128 / seed:1");
    options.output.clone_from(&table);
    WeightsRun::new(options).unwrap().execute(&Unobserved).unwrap();

    for form_of_spec in [
        "nfkc+casefold / words:1 / dart:128 / seed:1 / weight:tf-idf",
        "nfkc+casefold / words:1 / icws:128 / seed:1 / weight:count / max-df:10",
        "nfkc+casefold / words:1 / minhash:128 / seed:1 / max-df:10",
    ] {
        let spec = spec(form_of_spec);
        let result = Dedup::new()
            .texts(&texts)
            .spec(spec)
            .threshold(0.7)
            .weights(&table)
            .ignore_text(Input::from(vec![form.to_owned()]))
            .run()
            .unwrap();
        assert_eq!(result.removed().len(), 20, "{form_of_spec}");

        let weighing = WeightTables::default()
            .with_frequencies(FrequencyTable::open(&table).unwrap())
            .ignoring(&spec, [form]);
        let own = Preparation::new(&spec, &weighing).unwrap();
        let of_run = result.outcome().plan().preparation().unwrap();
        assert_eq!(own.spec(), of_run.spec());
        assert_eq!(own.spec().to_string(), result.summary().spec);
        for duplicate in result.removed() {
            let [a, b] = [duplicate.index, duplicate.duplicate_of].map(|at| own.document(&texts[at]));
            assert_eq!(a.measure(&b, Measure::Jaccard).unwrap(), duplicate.similarity);
            assert_eq!(of_run.sketch(&texts[duplicate.index]).as_deref(), a.sketch());
            // The words of the form are ignored, so no shingle has them.
            assert!(a.shingles().len() <= 41);
            let distinct = match a.set() {
                DocumentSet::Plain(set) => set.len(),
                DocumentSet::Weighted(set) => set.shingles().len(),
                other => panic!("{other:?}"),
            };
            assert!(distinct <= 31, "{distinct}");
        }
        assert_eq!(own.sketch(form), None);
    }
}

#[test]
fn wrong_tables_are_refused() {
    let problem = |spec: &Spec, weighing: &WeightTables| {
        Preparation::new(spec, weighing).unwrap_err().problems()[0].setting
    };
    let none = WeightTables::default();
    assert_eq!(problem(&spec("none / words:1 / dart:8 / seed:1 / weight:tf-idf"), &none), "weight");
    assert_eq!(problem(&spec("none / words:1 / minhash:8 / seed:1 / max-df:3"), &none), "max-df");
    assert_eq!(problem(&spec("none / words:1 / minhash:8 / seed:1 / weight:count"), &none), "sketch");
    let ignoring = spec("none / words:1 / minhash:8 / seed:1 / ignore:0000000000000001");
    assert_eq!(problem(&ignoring, &none), "ignore-text");
    assert_eq!(problem(&ignoring, &none.ignoring(&ignoring, ["a form"])), "ignore-text");

    let [a, b] = ["none / words:1 / minhash:8 / seed:1", "none / words:2 / minhash:8 / seed:1"]
        .map(|form| Preparation::new(&spec(form), &WeightTables::default()).unwrap().document("a b c"));
    let error = a.measure(&b, Measure::Jaccard).unwrap_err();
    assert!(
        error.to_string().contains("shingle is `words:1` in the first and `words:2` in the second"),
        "{error}"
    );
}

#[test]
fn a_short_document_is_told() {
    let reject =
        Preparation::new(&spec("none / words:3,short=reject / minhash:8 / seed:1"), &WeightTables::default())
            .unwrap();
    assert!(reject.document("two words").is_too_short());
    assert!(!reject.document("three short words").is_too_short());
}
