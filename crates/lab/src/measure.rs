//! Measures the error of real sketches of generated documents.
//!
//! A trial draws a family of hash functions, sketches two documents of known similarity with it, and records the
//! estimate. Seeds are numbered, so every run measures the same values. The measurement uses no formula except the one
//! that turns two sketches into an estimate.

use minwise::Error;
use minwise::sketch::{Method, Sketcher};

/// Two documents of distinct shingles that share `common` of `union`.
///
/// Shared shingles come first and in the same order, and the documents have equal lengths if possible. Shared shingles
/// therefore stand in the same places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShinglePair {
    /// Shingles of the first document.
    pub a: Vec<u64>,
    /// Shingles of the second document.
    pub b: Vec<u64>,
}

impl ShinglePair {
    /// Returns the pair of this size and similarity.
    #[must_use]
    pub fn of(union: usize, common: usize) -> Self {
        let (union, common) = (union as u64, common as u64);
        let middle = common + (union.saturating_sub(common)) / 2;
        Self { a: (0..middle).collect(), b: (0..common).chain(middle..union).collect() }
    }
}

/// Statistics of the estimates of many trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialStatistics {
    /// Mean of the estimates.
    pub mean: f64,
    /// Variance of the estimates.
    pub variance: f64,
    /// Standard error of the variance: √((m₄ − s⁴)/N), where m₄ is the fourth central moment.
    pub variance_error: f64,
}

impl TrialStatistics {
    /// Computes the statistics of these estimates. Fewer than two estimates have no variance.
    #[must_use]
    pub fn of(estimates: &[f64]) -> Self {
        let n = estimates.len() as f64;
        let mean = estimates.iter().sum::<f64>() / n;
        let power = |exponent| estimates.iter().map(|value| (value - mean).powi(exponent)).sum::<f64>();
        let variance = power(2) / (n - 1.0);
        let variance_error = ((power(4) / n - variance * variance).max(0.0) / n).sqrt();
        Self { mean, variance, variance_error }
    }
}

/// Returns the sketch of a document.
#[must_use]
pub fn sketch(sketcher: &dyn Sketcher, shingles: &[u64]) -> Vec<u32> {
    let mut row = vec![0; sketcher.words()];
    sketcher.sketch_into(shingles, &mut row);
    row
}

/// Measures a method on a pair, over the seeds 0 … `trials` − 1.
pub fn spread(method: Method, pair: &ShinglePair, trials: u64) -> Result<TrialStatistics, Error> {
    let estimates: Result<Vec<f64>, Error> = (0..trials)
        .map(|seed| {
            let sketcher = method.build(seed)?;
            Ok(sketcher.estimate(&sketch(&*sketcher, &pair.a), &sketch(&*sketcher, &pair.b)).value)
        })
        .collect();
    Ok(TrialStatistics::of(&estimates?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise::estimate::minhash;

    #[test]
    fn pairs_share_what_they_should_in_the_same_places() {
        for (union, common) in [(10, 4), (1000, 800), (7, 0), (5, 5), (1, 1)] {
            let ShinglePair { a, b } = ShinglePair::of(union, common);
            assert_eq!(a.iter().filter(|shingle| b.contains(shingle)).count(), common);
            assert_eq!(a.len() + b.len() - common, union);
            assert_eq!(a[..common], b[..common]);
            assert_eq!(a.len() == b.len(), (union - common) % 2 == 0);
        }
    }

    #[test]
    fn moments_of_a_few_numbers() {
        let spread = TrialStatistics::of(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!((spread.mean, spread.variance), (3.0, 14.0 / 3.0));
        // The fourth powers of −2, −1, 0 and 3 have the mean 24.5.
        let expected = ((24.5 - 14.0_f64 / 3.0 * 14.0 / 3.0) / 4.0).sqrt();
        assert!((spread.variance_error - expected).abs() < 1e-12, "{spread:?}");
        assert_eq!(TrialStatistics::of(&[0.5, 0.5]).variance_error, 0.0);
    }

    #[test]
    fn minhash_is_measured_as_it_is() {
        let spread = spread(Method::minhash(32), &ShinglePair::of(100, 60), 1000).unwrap();
        let expected = minhash::variance(0.6, 32);
        assert!((spread.variance - expected).abs() <= 4.0 * spread.variance_error, "{spread:?}");
        assert!((spread.mean - 0.6).abs() <= 4.0 * (expected / 1000.0).sqrt(), "{spread:?}");
        assert!((spread.variance_error / expected - (2.0_f64 / 1000.0).sqrt()).abs() < 0.01, "{spread:?}");
    }
}
