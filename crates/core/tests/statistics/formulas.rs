//! Tests the formulas of `estimate` by sums over exact distributions, without random trials.

use minwise::estimate::Estimate;
use minwise::sketch::Method;

use crate::measure::{Moments, is_long};
use crate::model::{Model, claimed_variance, draws_without_replacement, exact, model};
use crate::pair::Overlap;

/// Relative rounding error of sums of some ten thousand products.
const ROUNDING: f64 = 1e-9;

/// Numbers of registers or stored bits: a small number, and four times that number. Both are multiples of 12, so that ¾
/// bit divides evenly.
const SIZES: [usize; 2] = [192, 768];

/// Calls `check` for all methods whose distribution is known.
fn for_each_model(registers: usize, overlap: Overlap, mut check: impl FnMut(Method, Model)) {
    for method in Method::all(registers) {
        if let Some(model) = model(method, overlap) {
            check(method, model);
        }
    }
}

#[test]
fn laws_add_up_to_one() {
    for (registers, union) in [(48, 40), (192, 320), (48, 3000)] {
        for similarity in [0.1, 0.5, 0.95] {
            for_each_model(registers, Overlap::new(union, similarity), |method, model| {
                let total: f64 = model.law.iter().sum();
                assert!((total - 1.0).abs() < ROUNDING, "{method}: {total}");
            });
        }
    }
}

/// Before clamping, estimators that are linear in a count have exactly the claimed mean and variance.
#[test]
fn linear_estimators_are_unbiased_with_the_variance_of_their_formulas() {
    let mut seen = 0;
    for (registers, union) in [(48, 40), (192, 40), (192, 320), (48, 3000)] {
        for similarity in [0.1, 0.3, 0.5, 0.8, 0.95] {
            let overlap = Overlap::new(union, similarity);
            for_each_model(registers, overlap, |method, model| {
                let Some(unclamped) = &model.unclamped else { return };
                let found = Moments::of_law(&model.law, unclamped);
                let (mean, variance) = (exact(method, overlap), claimed_variance(method, overlap));
                assert!((found.mean - mean).abs() < ROUNDING, "{method}: {} is not {mean}", found.mean);
                // If the variance is 0, the computed one is the square of the rounding error of the mean.
                let within = ROUNDING * variance + ROUNDING * ROUNDING;
                assert!(
                    (found.variance - variance).abs() < within,
                    "{method}, u = {union}: {} is not {variance}",
                    found.variance
                );
                seen += 1;
            });
        }
    }
    assert!(seen > 400, "{seen}");
}

/// The curved estimators are consistent with a bias of order 1/k, and the delta method gives their variance up to a
/// relative error of order 1/k. With four times as many registers, the bias and the error of the variance fall to a
/// quarter; the test requires less than half.
///
/// The claim concerns similarities at which the clamp at 0 acts less often than once in k estimates.
#[test]
fn curved_estimators_approach_their_formulas() {
    for (index, method) in Method::all(SIZES[0]).into_iter().enumerate() {
        let mut points = 0;
        for similarity in [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.96] {
            let overlap = Overlap::new(1000, similarity);
            let deviations = SIZES.map(|size| {
                let method = Method::all(size)[index];
                let model = model(method, overlap).filter(|model| model.unclamped.is_none())?;
                let value = |outcome| (model.estimate)(outcome).value;
                let clamped =
                    Moments::of_law(&model.law, |outcome| f64::from(u8::from(value(outcome) == 0.0)));
                let found = Moments::of_law(&model.law, value);
                let ratio = found.variance / claimed_variance(method, overlap);
                (clamped.mean < 1.0 / size as f64)
                    .then_some(((found.mean - similarity).abs(), (ratio - 1.0).abs()))
            });
            let [Some(few), Some(many)] = deviations else { continue };
            points += 1;
            println!(
                "{method:45} J = {similarity}: bias {:.1e} {:.1e}, variance off by {:.1e} {:.1e}",
                few.0, many.0, few.1, many.1
            );
            assert!(many.0 < few.0 / 2.0, "{method}, J = {similarity}: bias {} and {}", few.0, many.0);
            assert!(
                many.1 < few.1 / 2.0,
                "{method}, J = {similarity}: variance off by {} and {}",
                few.1,
                many.1
            );
        }
        let is_curved = model(method, Overlap::new(1000, 0.5)).is_some_and(|model| model.unclamped.is_none());
        assert_eq!(points >= 2, is_curved, "{method}: {points} similarities were tried");
    }
}

/// Returns the mean of the squared standard errors that an estimator reports, divided by the mean of its squared
/// deviations from the truth. The two ratios are for the two sizes. Returns `None` if the distribution is not known.
fn reported_over_true(index: usize, overlap: Overlap) -> Option<[f64; 2]> {
    let ratios = SIZES.map(|size| {
        let method = Method::all(size)[index];
        let (model, truth) = (model(method, overlap)?, exact(method, overlap));
        let mean = |of: &dyn Fn(Estimate) -> f64| {
            Moments::of_law(&model.law, |outcome| of((model.estimate)(outcome))).mean
        };
        let reported = mean(&|estimate| estimate.standard_error.powi(2));
        Some(reported / mean(&|estimate| (estimate.value - truth).powi(2)))
    });
    let [Some(few), Some(many)] = ratios else { return None };
    println!("{:45} J = {}: {few:.4} {many:.4}", Method::all(SIZES[0])[index], overlap.similarity());
    Some([few, many])
}

/// The squared standard error that an estimate reports is on average its squared deviation from the truth, up to a
/// relative error of order 1/k. This is tested at similarities that are high enough for every sketch. Sketches that
/// draw without replacement have smaller errors than they report. If a similarity is too low for a sketch, so that
/// estimates are clamped to 0, the reported error is the true one or larger.
#[test]
fn reported_errors_are_the_true_ones() {
    for (index, method) in Method::all(SIZES[0]).into_iter().enumerate() {
        for similarity in [0.8, 0.9, 0.96] {
            let Some([few, many]) = reported_over_true(index, Overlap::new(1000, similarity)) else {
                continue;
            };
            if draws_without_replacement(method) {
                assert!(few > 1.0 && many > 1.0, "{method}, J = {similarity}: {few} and {many}");
            } else {
                let (few, many) = ((few - 1.0).abs(), (many - 1.0).abs());
                assert!(many < few / 2.0, "{method}, J = {similarity}: off by {few} and {many}");
            }
        }
        for similarity in [0.0, 0.3, 0.5] {
            let Some([few, many]) = reported_over_true(index, Overlap::new(1000, similarity)) else {
                continue;
            };
            let (few, many) = ((1.0 - few).max(0.0), (1.0 - many).max(0.0));
            assert!(
                many == 0.0 || many < few / 2.0,
                "{method}, J = {similarity}: {few} and {many} too little"
            );
        }
    }
}

/// The coverage of an interval for a discrete distribution goes up and down with the similarity. The stated 95 % are
/// the mean over all similarities, rounded to whole percent. Estimators that ignore the size of the union, and
/// estimators that are clamped at low similarities, cover more.
#[test]
fn intervals_cover_at_least_what_they_say() {
    let sizes: &[usize] = if is_long() { &[48, 192, 768] } else { &[48, 192] };
    for &size in sizes {
        let steps = 100;
        for method in Method::all(size) {
            let coverage = (1..steps).map(|step| {
                let overlap = Overlap::new(10 * steps, step as f64 / steps as f64);
                let value = exact(method, overlap);
                let model = model(method, overlap)?;
                let covers = |outcome: usize| {
                    let (low, high) = (model.estimate)(outcome).interval;
                    f64::from(u8::from(low <= value && value <= high))
                };
                Some(Moments::of_law(&model.law, covers).mean)
            });
            let Some(coverage) = coverage.collect::<Option<Vec<f64>>>() else { continue };
            let mean = coverage.iter().sum::<f64>() / coverage.len() as f64;
            println!("{method:45} covers {mean:.4}");
            assert!((mean * 100.0).round() >= 95.0, "{method}: {mean}");
        }
    }
}
