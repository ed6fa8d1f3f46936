//! Laws that every sketch obeys, run over the list of all of them.

use minwise::hash::fmix64;
use minwise::sketch::{Method, Sketcher, minhash::EMPTY};

/// Registers or stored bits: a multiple of 4, as `Method::all` asks.
const SIZE: usize = 96;

fn shingles(range: std::ops::Range<u64>) -> Vec<u64> {
    range.map(fmix64).collect()
}

fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
    let mut row = vec![7; sketcher.words()];
    sketcher.sketch_into(shingles, &mut row);
    row
}

fn for_each(mut check: impl FnMut(&str, Method, &dyn Sketcher)) {
    let methods = Method::all(SIZE);
    assert!(methods.len() > 30);
    for method in methods {
        check(&method.to_string(), method, &*method.build(1).expect("every method of the list can be made"));
    }
}

fn is_positional(method: Method) -> bool {
    matches!(method, Method::Sectional { .. } | Method::Tolerant { .. } | Method::PreTagged { .. })
}

#[test]
fn no_shingles_give_empty_words() {
    for_each(|form, _, sketcher| {
        assert!(sketch(sketcher, &[]).iter().all(|&word| word == EMPTY), "{form}");
    });
}

#[test]
fn equal_sets_agree_everywhere() {
    for_each(|form, _, sketcher| {
        for document in [shingles(0..1), shingles(0..3), shingles(0..500)] {
            let row = sketch(sketcher, &document);
            assert_eq!(row, sketch(sketcher, &document), "{form}");
            let estimate = sketcher.estimate(&row, &row);
            assert_eq!(estimate.value, 1.0, "{form}");
            assert_eq!(sketcher.exact(&document, &document), 1.0, "{form}");
        }
    });
}

#[test]
fn neither_order_nor_repeats_matter_unless_positions_do() {
    let document = shingles(0..200);
    let mut shuffled = document.clone();
    shuffled.reverse();
    shuffled.extend_from_slice(&document[..50]);
    for_each(|form, method, sketcher| {
        let same = sketch(sketcher, &document) == sketch(sketcher, &shuffled);
        assert_eq!(same, !is_positional(method), "{form}");
    });
}

#[test]
fn seeds_give_other_sketches_of_the_same_size() {
    let document = shingles(0..200);
    for method in Method::all(SIZE) {
        let [one, two] = [1, 2].map(|seed| method.build(seed).unwrap());
        assert_eq!(one.words(), two.words(), "{method}");
        assert_ne!(sketch(&*one, &document), sketch(&*two, &document), "{method}");
    }
}

/// Over many seeds the mean of every estimator lies where it should: within four standard errors of the exact value, as
/// far as the estimator is unbiased, and within its own curvature where it is not.
#[test]
fn estimates_are_about_right() {
    // 800 of 1000 shingles shared, in the same places.
    let (a, b) = (shingles(0..900), shingles(100..1000));
    for method in Method::all(480) {
        let trials = 60;
        let mut sum = 0.0;
        let mut variance = 0.0;
        let mut exact = 0.0;
        for seed in 0..trials {
            let sketcher = method.build(seed).unwrap();
            let estimate = sketcher.estimate(&sketch(&*sketcher, &a), &sketch(&*sketcher, &b));
            assert!(
                estimate.interval.0 <= estimate.value && estimate.value <= estimate.interval.1,
                "{method}"
            );
            sum += estimate.value;
            variance += estimate.standard_error.powi(2);
            exact = sketcher.exact(&a, &b);
        }
        let mean = sum / trials as f64;
        let mean_variance = variance / trials as f64;
        // The bias of a curved estimator is of the order of its variance.
        let allowed = 4.0 * (mean_variance / trials as f64).sqrt() + 2.0 * mean_variance;
        assert!((mean - exact).abs() < allowed, "{method}: {mean} against {exact}, allowed {allowed}");
    }
}

#[test]
fn unrelated_documents_are_far_apart() {
    for_each(|form, _, sketcher| {
        let (a, b) = (sketch(sketcher, &shingles(0..300)), sketch(sketcher, &shingles(1000..1300)));
        let estimate = sketcher.estimate(&a, &b);
        assert!(estimate.interval.0 < 0.3, "{form}: {estimate:?}");
        assert_eq!(sketcher.exact(&shingles(0..300), &shingles(1000..1300)), 0.0, "{form}");
    });
}
