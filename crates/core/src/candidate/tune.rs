//! The probability that a pair is found, and the choice of bands and rows.
//!
//! This module has the only copy of the S-curve P(s) = 1 − (1 − p(s)ʳ)ᵇ, where p(s) is the probability that one
//! register of a pair at similarity s agrees. For `MinHash` p(s) is s; other sketches have other functions. All
//! functions of this module take the function p as an argument.
//!
//! - **Paper.** The S-curve is that of [banding](super::banding), as in Hassanian-esfahani 2018, (9), and
//!   [Anonymous](crate#sources), §5.
//! - **Differs.** P is not ½ at p = (1/b)^(1/r) (E-29), but at [`Curve::half_point`]. The usual tuning balances the
//!   areas of false positives and negatives, and may miss six of ten pairs exactly at the threshold. This module
//!   requires the recall at the threshold, and minimises the work under this condition.

use super::Banding;
use crate::error::{Error, ErrorKind};

/// The S-curve of b bands of r rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    bands: f64,
    rows: f64,
}

impl From<Banding> for Curve {
    fn from(banding: Banding) -> Self {
        Self { bands: banding.bands() as f64, rows: banding.rows() as f64 }
    }
}

impl Curve {
    /// Curve of a method that finds every pair, whatever its similarity.
    pub const CERTAIN: Self = Self { bands: 1.0, rows: 0.0 };

    /// Returns the probability that a pair whose registers agree with probability `p` shares at least one band.
    #[must_use]
    pub fn probability(&self, p: f64) -> f64 {
        self.probability_of_bands(self.band_probability(p))
    }

    /// Returns the probability that a pair whose registers agree with probability `p` agrees in one band.
    pub(super) fn band_probability(&self, p: f64) -> f64 {
        p.powf(self.rows)
    }

    /// Returns the probability that a pair shares at least one band, if `band` is the probability that it agrees in a
    /// given band.
    pub(super) fn probability_of_bands(&self, band: f64) -> f64 {
        -(self.bands * (-band).ln_1p()).exp_m1()
    }

    /// Returns the number of bands, b in the formulas.
    pub(super) fn bands(&self) -> f64 {
        self.bands
    }

    /// Returns the p at which half of the pairs are found: (1 − 2^(−1/b))^(1/r).
    #[must_use]
    pub fn half_point(&self) -> f64 {
        (-(-std::f64::consts::LN_2 / self.bands).exp_m1()).powf(1.0 / self.rows)
    }

    /// Returns the p at which the curve is steepest: ((r−1)/(rb−1))^(1/r). With one row the curve is steepest at 0, and
    /// the result is `None`.
    #[must_use]
    pub fn steepest_point(&self) -> Option<f64> {
        (self.rows > 1.0).then(|| ((self.rows - 1.0) / (self.rows * self.bands - 1.0)).powf(1.0 / self.rows))
    }

    /// Returns the share of the pairs below `threshold` that become candidates, if the similarities of these pairs are
    /// spread evenly from 0 to `threshold`.
    #[must_use]
    pub fn false_share(&self, threshold: f64, match_probability: impl Fn(f64) -> f64) -> f64 {
        if threshold <= 0.0 {
            return 0.0;
        }
        // Simpson's rule with 256 steps: the curve is smooth, so the sum is exact to many digits.
        let steps = 256;
        let step = threshold / f64::from(steps);
        let area: f64 = (0..=steps)
            .map(|i| {
                let weight = match i {
                    0 => 1.0,
                    i if i == steps => 1.0,
                    i if i % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * self.probability(match_probability(f64::from(i) * step))
            })
            .sum();
        area * step / 3.0 / threshold
    }
}

/// Cost of a band key, which is computed, sorted and looked up, relative to one verification of a false candidate.
const KEY_COST: f64 = 0.02;
/// Assumed number of neighbours of a document, at similarities spread evenly from 0 to 1. It stands for a corpus with
/// some boilerplate; the choice of bands and rows hardly depends on it.
const NEIGHBOURS: f64 = 10.0;

/// Returns the expected number of false candidates per document. A document is assumed to have ten neighbours at
/// similarities spread evenly from 0 to 1.
#[must_use]
pub fn expected_false_candidates(
    banding: Banding,
    threshold: f64,
    match_probability: impl Fn(f64) -> f64,
) -> f64 {
    NEIGHBOURS * threshold * Curve::from(banding).false_share(threshold, match_probability)
}

/// Chooses bands and rows within `registers` registers that find a pair at `threshold` with probability
/// `recall` or better, at the least expected work: keys to sort and false candidates to verify.
///
/// # Errors
/// Fails with [`ErrorKind::OutOfRange`] unless `threshold` is above 0 and at most 1 and `recall` is above 0 and less
/// than 1. Fails with [`ErrorKind::Unreachable`] if no choice of bands and rows reaches the recall. This error contains
/// the best possible recall and the number of registers that would be enough.
pub fn choose(
    threshold: f64,
    recall: f64,
    registers: usize,
    match_probability: impl Fn(f64) -> f64,
) -> Result<Banding, Error> {
    check_threshold(threshold)?;
    check_recall(recall)?;
    let p = match_probability(threshold);
    let work = |banding: Banding| {
        KEY_COST * banding.bands() as f64 + expected_false_candidates(banding, threshold, &match_probability)
    };
    (1..=registers)
        .filter_map(|rows| Banding::new(bands_needed(p, rows, recall)?, rows, registers).ok())
        .min_by(|&a, &b| work(a).total_cmp(&work(b)))
        .ok_or_else(|| {
            let best = Curve { bands: registers as f64, rows: 1.0 }.probability(p);
            let needed = bands_needed(p, 1, recall);
            ErrorKind::Unreachable { threshold, recall, best, registers, needed }.into()
        })
}

/// Checks a threshold: above 0 and at most 1.
///
/// # Errors
/// Fails with [`ErrorKind::OutOfRange`] unless `threshold` is above 0 and at most 1; NaN is refused, too.
pub fn check_threshold(threshold: f64) -> Result<(), Error> {
    if threshold > 0.0 && threshold <= 1.0 {
        Ok(())
    } else {
        Err(Error::out_of_range("the threshold", threshold, "above 0 and at most 1"))
    }
}

/// Checks a wanted recall: above 0 and below 1.
///
/// # Errors
/// Fails with [`ErrorKind::OutOfRange`] unless `recall` is above 0 and below 1; NaN is refused, too.
pub fn check_recall(recall: f64) -> Result<(), Error> {
    if recall > 0.0 && recall < 1.0 {
        Ok(())
    } else {
        Err(Error::out_of_range("the recall", recall, "above 0 and below 1"))
    }
}

/// Returns the smallest number of bands of `rows` rows that finds a pair with probability `recall`.
fn bands_needed(p: f64, rows: usize, recall: f64) -> Option<usize> {
    let miss = (-p.powi(rows.try_into().ok()?)).ln_1p();
    if miss == f64::NEG_INFINITY {
        return Some(1);
    }
    let bands = ((-recall).ln_1p() / miss).ceil();
    (bands.is_finite() && bands < 1e9).then_some((bands as usize).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_is_found() {
        for similarity in [0.0, 1e-9, 0.5, 1.0] {
            assert_eq!(Curve::CERTAIN.probability(similarity), 1.0);
        }
    }

    fn curve(bands: usize, rows: usize) -> Curve {
        Banding::new(bands, rows, bands * rows).unwrap().into()
    }

    #[test]
    fn documented_curve() {
        #[rustfmt::skip]
        let table = [
            (0.2, [0.006_381, 0.000_002, 0.000_064, 0.076_943, 0.000_000, 0.000_000]),
            (0.3, [0.047_494, 0.000_118, 0.001_639, 0.334_122, 0.000_053, 0.000_000]),
            (0.4, [0.186_050, 0.002_095, 0.016_256, 0.726_559, 0.001_676, 0.000_000]),
            (0.5, [0.470_051, 0.019_351, 0.093_213, 0.960_321, 0.024_121, 0.000_000]),
            (0.6, [0.801_902, 0.114_231, 0.345_229, 0.999_032, 0.195_807, 0.000_000]),
            (0.7, [0.974_781, 0.436_216, 0.773_364, 0.999_999, 0.751_869, 0.000_000]),
            (0.8, [0.999_644, 0.896_869, 0.989_860, 1.000_000, 0.999_191, 0.000_285]),
            (0.9, [1.000_000, 0.999_811, 0.999_999, 1.000_000, 1.000_000, 0.098_182]),
            (0.95, [1.000_000, 1.000_000, 1.000_000, 1.000_000, 1.000_000, 0.798_372]),
        ];
        let bandings = [(20, 5), (20, 10), (25, 8), (50, 4), (100, 12), (20, 50)];
        for (s, row) in table {
            for ((bands, rows), expected) in bandings.into_iter().zip(row) {
                let found = curve(bands, rows).probability(s);
                assert!((found - expected).abs() < 6e-7, "s={s} b={bands} r={rows}: {found}");
            }
        }
        assert_eq!(curve(20, 5).probability(0.0), 0.0);
        assert_eq!(curve(20, 5).probability(1.0), 1.0);
    }

    #[test]
    fn documented_half_and_steepest_points() {
        #[rustfmt::skip]
        let table = [
            (20, 5, 0.508_696, 0.526_363), (20, 10, 0.713_229, 0.733_735), (20, 50, 0.934_643, 0.941_483),
            (25, 8, 0.637_690, 0.658_083), (50, 4, 0.342_541, 0.350_402), (100, 12, 0.660_607, 0.676_417),
            (15, 80, 0.962_020, 0.966_574), (30, 40, 0.909_845, 0.917_923), (60, 20, 0.799_850, 0.812_824),
            (120, 10, 0.597_089, 0.613_116),
        ];
        for (bands, rows, half, steepest) in table {
            let curve = curve(bands, rows);
            assert!((curve.half_point() - half).abs() < 6e-7, "half of {bands} × {rows}");
            assert!((curve.probability(curve.half_point()) - 0.5).abs() < 1e-9);
            assert!(
                (curve.steepest_point().unwrap() - steepest).abs() < 6e-7,
                "steepest of {bands} × {rows}"
            );
        }
        assert!(curve(20, 1).steepest_point().is_none());
    }

    #[test]
    fn the_example_of_anonymous_is_corrected() {
        // E-41: one pair in 2.5 is missed at s = 0.94, not one in 1.6 as Anonymous, §5, states.
        assert!((curve(20, 50).probability(0.94) - 0.604_580).abs() < 6e-7);
    }

    #[test]
    fn false_share_is_the_mean_of_the_curve() {
        let curve = curve(16, 6);
        let mean: f64 =
            (0..100_000).map(|i| curve.probability((f64::from(i) + 0.5) / 100_000.0 * 0.8)).sum::<f64>()
                / 1e5;
        assert!((curve.false_share(0.8, |s| s) - mean).abs() < 1e-6);
        assert_eq!(curve.false_share(0.0, |s| s), 0.0);
    }

    #[test]
    fn the_choice_reaches_the_recall_within_the_registers() {
        for registers in [4, 16, 64, 128, 256, 1000] {
            for threshold in [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0] {
                for recall in [0.5, 0.9, 0.99, 0.999] {
                    let Ok(banding) = choose(threshold, recall, registers, |s| s) else { continue };
                    assert!(banding.bands() * banding.rows() <= registers);
                    assert!(Curve::from(banding).probability(threshold) >= recall - 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_default_choice() {
        let banding = choose(0.8, 0.99, 128, |s| s).unwrap();
        assert_eq!((banding.bands(), banding.rows()), (16, 6));
    }

    #[test]
    fn no_choice_has_less_work_and_enough_recall() {
        let chosen = choose(0.7, 0.95, 64, |s| s).unwrap();
        let work = |banding: Banding| {
            KEY_COST * banding.bands() as f64 + expected_false_candidates(banding, 0.7, |s| s)
        };
        for rows in 1..=64 {
            for bands in 1..=64 / rows {
                let other = Banding::new(bands, rows, 64).unwrap();
                if Curve::from(other).probability(0.7) >= 0.95 {
                    assert!(work(other) >= work(chosen) - 1e-12, "{bands} × {rows}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_is_said_with_a_way_out() {
        let error = choose(0.5, 0.999, 4, |s| s).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no banding of 4 registers finds a pair at similarity 0.5 with probability 0.999: the best is 0.9375"
        );
        assert_eq!(
            error.hint().unwrap().to_string(),
            "`registers = 10` would be enough; so would `recall = 0.937`"
        );
        // Four decimals would print 0.9999986 as 1.0000, which is above the recall that is possible.
        let error = choose(0.1, 0.999_999, 128, |s| s).unwrap_err().to_string();
        assert!(error.ends_with("with probability 0.999999: the best is 0.9999986"), "{error}");
        for (threshold, recall) in
            [(0.0, 0.9), (1.1, 0.9), (f64::NAN, 0.9), (0.8, 0.0), (0.8, 1.0), (0.8, f64::NAN)]
        {
            assert!(choose(threshold, recall, 128, |s| s).is_err(), "{threshold} {recall}");
        }
    }
}
