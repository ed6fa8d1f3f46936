//! Repeated trials with fixed seeds, for the statistical tests of the sketches.

use super::Sketcher;

/// Returns two sets of consecutive ids. Together they have `union` ids, of which `common` are in both; each set gets
/// half of the others.
pub(crate) fn sets(union: u64, common: u64) -> (Vec<u64>, Vec<u64>) {
    let middle = common + (union - common) / 2;
    ((0..middle).collect(), (0..common).chain(middle..union).collect())
}

pub(crate) fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
    let mut out = vec![0; sketcher.words()];
    sketcher.sketch_into(shingles, &mut out);
    out
}

/// Returns one estimate per seed in `0..trials`.
fn estimates<S: Sketcher>(trials: u64, (union, common): (u64, u64), make: impl Fn(u64) -> S) -> Vec<f64> {
    let (a, b) = sets(union, common);
    (0..trials)
        .map(|seed| {
            let sketcher = make(seed);
            sketcher.estimate(&sketch(&sketcher, &a), &sketch(&sketcher, &b)).value
        })
        .collect()
}

/// Returns the mean of (value − `centre`) raised to `power`.
fn central(values: &[f64], centre: f64, power: i32) -> f64 {
    values.iter().map(|value| (value - centre).powi(power)).sum::<f64>() / values.len() as f64
}

/// Returns the mean and the variance of the estimate over the seeds `0..trials`.
pub(crate) fn moments<S: Sketcher>(trials: u64, sizes: (u64, u64), make: impl Fn(u64) -> S) -> (f64, f64) {
    let values = estimates(trials, sizes, make);
    let (n, mean) = (trials as f64, central(&values, 0.0, 1));
    (mean, central(&values, mean, 2) * n / (n - 1.0))
}

/// Compares the mean and the variance of an unbiased estimate with their formulas. Each must be within four standard
/// errors; the standard error of the variance comes from the kurtosis of the sample.
pub(crate) fn check<S: Sketcher>(
    trials: u64,
    (union, common): (u64, u64),
    variance: f64,
    make: impl Fn(u64) -> S,
) {
    let similarity = common as f64 / union as f64;
    let values = estimates(trials, (union, common), make);
    if variance == 0.0 {
        assert!(values.iter().all(|&value| value == similarity), "nothing is left to chance");
        return;
    }
    let (n, mean) = (trials as f64, central(&values, 0.0, 1));
    assert!((mean - similarity).abs() <= 4.0 * (variance / n).sqrt(), "mean {mean} of {similarity}");
    // Moments are taken around the true mean, because then no factor of n/(n−1) is needed.
    let measured = central(&values, similarity, 2);
    let kurtosis = central(&values, similarity, 4) / measured.powi(2);
    let error = variance * ((kurtosis - 1.0) / n).sqrt();
    assert!(
        (measured - variance).abs() <= 4.0 * error,
        "variance {measured} of {variance} for {common} of {union}"
    );
}

/// Checks the laws that every sketcher of sets obeys.
pub(crate) fn check_laws(sketcher: &dyn Sketcher) {
    use crate::sketch::minhash::EMPTY;
    assert!(sketch(sketcher, &[]).iter().all(|&word| word == EMPTY), "nothing gives empty words");
    for shingles in [1, 2, 10, 100, 3000] {
        let mut set: Vec<u64> = (0..shingles).map(crate::hash::fmix64).collect();
        let expected = sketch(sketcher, &set);
        assert_ne!(expected[0], EMPTY, "{shingles}");
        set.extend_from_within(..);
        set.reverse();
        assert_eq!(sketch(sketcher, &set), expected, "neither order nor repeats matter");
        let same = sketcher.estimate(&expected, &expected);
        assert_eq!(same.value, 1.0, "equal sets agree everywhere");
        assert!(same.interval.1 == 1.0 && same.interval.0 <= 1.0);
        let other = sketch(sketcher, &[u64::MAX, 1 << 40]);
        assert_eq!(sketcher.estimate(&expected, &other).value, 0.0);
    }
}

/// Checks that the sketches of two documents merge to the sketch of their union.
pub(crate) fn check_merge(sketcher: &dyn Sketcher) {
    for (union, common) in [(2, 0), (7, 3), (50, 10), (900, 400)] {
        let (a, b) = sets(union, common);
        let both: Vec<u64> = (0..union).collect();
        let mut merged = vec![7; sketcher.words()];
        assert!(sketcher.merge_into(&sketch(sketcher, &a), &sketch(sketcher, &b), &mut merged));
        assert_eq!(merged, sketch(sketcher, &both));
    }
}
