//! Tests of accuracy runs, against a comparison of all pairs one by one.

use minwise::hash::SplitMix64;
use minwise::sketch::Method;
use minwise_engine::accuracy::{ErrorSums, PairSample, plot};
use minwise_engine::{
    AccuracyOptions, AccuracyOutcome, AccuracyRun, InMemory, Inputs, MemoryLimit, Preparation, Spec,
    Unobserved, WeightTables,
};

/// Makes documents that share between nothing and nearly everything with the document before.
fn texts(count: usize) -> Vec<String> {
    let mut random = SplitMix64::new(22);
    let mut words: Vec<String> = vec![];
    (0..count)
        .map(|number| {
            let fresh = 20 * (number % 11);
            words.drain(..fresh.min(words.len()));
            while words.len() < 200 {
                words.push(format!("w{}", random.next_u32()));
            }
            words.join(" ")
        })
        .collect()
}

fn inputs(texts: &[String]) -> Inputs {
    Inputs::new([InMemory::from(texts.to_vec())])
}

fn methods(names: &[&str]) -> Vec<Method> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn run(options: AccuracyOptions) -> AccuracyOutcome {
    AccuracyRun::new(options).unwrap().execute(&Unobserved).unwrap()
}

fn problem(options: AccuracyOptions) -> String {
    let error = AccuracyRun::new(options).unwrap_err();
    error.problems()[0].message().to_string()
}

/// Computes the counts of an accuracy run by brute force: pairs, wrong estimates, covered intervals and the sum of
/// errors.
fn counted(texts: &[String], spec: &Spec, allowed: f64) -> (u64, u64, u64, f64) {
    let preparation = Preparation::new(spec, &WeightTables::default()).unwrap();
    let documents: Vec<_> = texts.iter().map(|text| preparation.document(text)).collect();
    let (mut pairs, mut off, mut covered, mut errors) = (0, 0, 0, 0.0);
    for (at, b) in documents.iter().enumerate() {
        for a in &documents[..at] {
            let exact = a.measure(b, minwise_engine::Measure::Jaccard).unwrap();
            let estimate = preparation.estimate(a.sketch().unwrap(), b.sketch().unwrap());
            pairs += 1;
            off += u64::from((estimate.value - exact).abs() > allowed);
            let (low, high) = estimate.interval;
            covered += u64::from(low <= exact + 1e-12 && exact <= high + 1e-12);
            errors += estimate.value - exact;
        }
    }
    (pairs, off, covered, errors / pairs as f64)
}

#[test]
fn sums_are_those_of_every_pair_compared_alone() {
    let texts = texts(60);
    let names = ["minhash:64", "b-bit:2/minhash:128", "super-minhash:64", "bottom-k:64"];
    let outcome = run(AccuracyOptions::default()
        .inputs(inputs(&texts))
        .methods(methods(&names))
        .error(0.08)
        .pairs(PairSample::All));
    let accuracy = outcome.accuracy;
    assert_eq!((accuracy.documents, accuracy.pairs, accuracy.all_pairs), (60, 1770, 1770));
    for (sketch, name) in accuracy.sketches.iter().zip(names) {
        let spec = format!("nfkc+casefold / words:5 / {name} / seed:1").parse().unwrap();
        let (pairs, off, covered, mean) = counted(&texts, &spec, 0.08);
        let all = &sketch.all;
        assert_eq!(sketch.method, spec.method);
        assert_eq!((all.pairs, all.off, all.covered), (pairs, off, covered), "{name}");
        assert!((all.mean_error().unwrap() - mean).abs() < 1e-12, "{name}");
        assert!(off > 0 && covered > pairs * 85 / 100, "{name}: {off} {covered}");
        let by_similarity: u64 = sketch.by_similarity.iter().map(|range| range.pairs).sum();
        assert_eq!(by_similarity, pairs, "{name}");
        assert!(sketch.sketching.is_some() && sketch.comparison.is_some(), "{name}");
    }
    assert_eq!(accuracy.sketches[0].bytes, 256);
}

/// Averaged over several seeds, the variance of the errors agrees with the formula.
#[test]
fn variances_agree_with_the_formula() {
    let texts = texts(60);
    let (mut found, mut expected) = (0.0, 0.0);
    for seed in 1..=20 {
        let spec = format!("nfkc+casefold / words:5 / minhash:128 / seed:{seed}").parse().unwrap();
        let outcome =
            run(AccuracyOptions::default().inputs(inputs(&texts)).spec(spec).pairs(PairSample::All));
        let all = &outcome.accuracy.sketches[0].all;
        found += all.variance().unwrap();
        expected += all.expected_variance().unwrap();
    }
    assert!((0.8..1.25).contains(&(found / expected)), "{found} {expected}");
}

#[test]
fn threads_change_nothing_and_seeds_change_the_sample() {
    let texts = texts(80);
    let sums = |threads: usize, seed: u64| -> Vec<ErrorSums> {
        let spec = format!("nfkc+casefold / words:5 / minhash:128 / seed:{seed}").parse().unwrap();
        let outcome = run(AccuracyOptions::default()
            .inputs(inputs(&texts))
            .spec(spec)
            .methods(methods(&["minhash:32", "one-permutation:64"]))
            .pairs(PairSample::Random(500))
            .threads(threads));
        assert_eq!((outcome.accuracy.pairs, outcome.accuracy.all_pairs), (500, 3160));
        outcome.accuracy.sketches.iter().flat_map(|sketch| sketch.by_similarity).collect()
    };
    assert_eq!(sums(1, 1), sums(3, 1));
    assert_ne!(sums(1, 1), sums(1, 2));
}

/// A sketch that uses positions must be compared with the similarity that it estimates, not with the similarity of the
/// sets.
#[test]
fn places_and_weights_have_their_own_exact_values() {
    let words: Vec<String> = (0..200).map(|number| format!("w{number}")).collect();
    let [first, second] = [words[..100].join(" "), words[100..].join(" ")];
    let texts = vec![format!("{first} {second}"), format!("{second} {first}")];
    let outcome = run(AccuracyOptions::default()
        .inputs(inputs(&texts))
        .methods(methods(&["minhash:1024", "sectional:s=2/minhash:1024"]))
        .pairs(PairSample::All));
    let [sets, places] = &*outcome.accuracy.sketches else { panic!("two sketches") };
    assert_eq!(sets.by_similarity[9].pairs, 1, "the sets are nearly equal");
    assert_eq!(places.by_similarity[0].pairs, 1, "nothing stands in its place");
    assert_eq!(places.all.off, 0);

    let mut spec: Spec = "nfkc+casefold / words:1 / dart:256 / seed:1 / weight:count".parse().unwrap();
    spec.method = Method::minhash(1);
    let texts = vec!["a a a b".to_owned(), "a b b b".to_owned()];
    let outcome = run(AccuracyOptions::default()
        .inputs(inputs(&texts))
        .spec(spec)
        .methods(methods(&["dart:256", "icws:256"]))
        .pairs(PairSample::All));
    for sketch in &outcome.accuracy.sketches {
        assert_eq!(sketch.by_similarity[3].pairs, 1, "two of six: {}", sketch.method);
    }
}

/// The plot shows one panel per sketch, the band of the formula, and the number of pairs.
#[test]
fn the_plot_has_a_panel_per_sketch() {
    let options = AccuracyOptions::default()
        .inputs(inputs(&texts(30)))
        .methods(methods(&["minhash:64", "xor:2/minhash:512", "odd:256/minhash:128"]))
        .pairs(PairSample::All);
    let accuracy = run(options).accuracy;
    let picture = plot(&accuracy);
    assert_eq!(picture.matches("class=\"title\"").count(), 3);
    assert_eq!(picture.matches("class=\"band\"").count(), 6);
    assert!(picture.contains("435 pairs of 30 documents."));
    assert!(!picture.contains("NaN") && !picture.contains("inf"));
}

#[test]
fn wrong_settings_are_refused_before_anything_is_read() {
    let options = || AccuracyOptions::default().inputs(inputs(&texts(3)));
    assert_eq!(problem(options().error(1.5)), "`error`: it must be from 0 to 1");
    assert_eq!(problem(options().pairs(PairSample::Random(0))), "`pairs`: it must be at least 1, or `all`");
    assert!(problem(options().pairs(PairSample::Random(1 << 40))).contains("at most 100,000,000"));
    assert!(problem(options().methods(vec![])).contains("names no sketch"));
    assert!(problem(options().methods(methods(&["minhash:8", "dart:8"]))).contains("weighted shingles"));
}

#[test]
fn documents_that_do_not_fit_are_refused_with_a_hint() {
    let options = AccuracyOptions::default()
        .inputs(inputs(&texts(50)))
        .pairs(PairSample::All)
        .memory(MemoryLimit::with_room(10_000));
    let error = AccuracyRun::new(options).unwrap().execute(&Unobserved).unwrap_err();
    assert!(error.to_string().contains("need more memory than the limit"), "{error}");
    assert!(error.problems()[0].hint.is_some());
}

#[test]
fn nothing_to_compare_gives_no_means() {
    for texts in [vec![], vec!["one document alone".to_owned()], vec![String::new(), "!".to_owned()]] {
        let accuracy = run(AccuracyOptions::default().inputs(inputs(&texts))).accuracy;
        assert_eq!((accuracy.pairs, accuracy.exact_comparison), (0, None));
        assert_eq!(accuracy.sketches[0].all.mean_square(), None);
        assert!(plot(&accuracy).contains("0 pairs"));
    }
}
