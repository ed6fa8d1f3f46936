//! Estimators: functions that compute a similarity and its error from two sketches.
//!
//! | estimator | for | bias | variance |
//! |---|---|---|---|
//! | [`minhash`] | registers that agree with probability J | none | J(1−J)/k |
//! | [`min_max`] | minima and maxima | none | slightly below J(1−J)/k |
//! | [`one_permutation`] | bins of one hash function, some of them empty | none | see the module |
//! | [`bottom_k`] | the k smallest values of one hash function | none | J(1−J)/k · (u−k)/(u−1) |
//! | [`super_minhash`], [`fast_similarity`] | registers drawn without replacement | none | α·J(1−J)/k, α < 1 |
//! | [`b_bit`] | b bits per register | none | (1−J)(J + 1/(2ᵇ−1))/k |
//! | [`fractional_bit`] | mixtures of widths; bits joined by exclusive or | none; O(1/k) below one bit | see the module |
//! | [`connected_bit`] | groups of registers that must all agree | O(1/k) | see the module |
//! | [`odd`] | parities of indexed minima | O(1/k) | see the module |
//! | [`sectional`] | registers that agree, with the section of their shingle | none, for qJ | qJ(1−qJ)/k |
//!
//! [`missed`] is the only estimator of a run instead of a pair: it estimates the share of duplicates that the run
//! found, from a sample of kept documents.

pub mod b_bit;
pub mod bottom_k;
pub mod connected_bit;
pub mod fast_similarity;
pub mod fractional_bit;
pub mod min_max;
pub mod minhash;
pub mod missed;
pub mod odd;
pub mod one_permutation;
pub mod sectional;
pub mod super_minhash;

use std::fmt;

/// An estimated similarity.
///
/// `Display` prints it with its standard error: `0.830 ± 0.033`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Estimate {
    /// Estimated similarity.
    pub value: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
    /// Ends of the 95 % confidence interval.
    pub interval: (f64, f64),
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.value, self.standard_error)
    }
}

/// An estimated number of distinct shingles.
///
/// `Display` prints the standard error with two significant digits, or as a whole number if it is 10 or more: `1024 ±
/// 91`, `3.98 ± 0.25`. An exact number is printed alone: `12`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CountEstimate {
    /// Estimated number of shingles.
    pub value: f64,
    /// Standard error of the estimate; 0 if the number is exact.
    pub standard_error: f64,
    /// Ends of the 95 % confidence interval.
    pub interval: (f64, f64),
}

impl CountEstimate {
    /// Returns an exact number, which has the error 0.
    #[must_use]
    pub(crate) fn exact(number: usize) -> Self {
        let value = number as f64;
        Self { value, standard_error: 0.0, interval: (value, value) }
    }

    /// Estimates a number n from `sum`, a sum of k independent exponential times of rate n.
    ///
    /// The sum has the gamma distribution of shape k and rate n, so (k − 1)/sum is unbiased with variance n²/(k − 2).
    /// With probability 0.95, n·sum lies between the 2.5 % and 97.5 % quantiles of the gamma distribution of rate 1,
    /// which Wilson and Hilferty's cube approximates.
    pub(crate) fn of_exponential_sum(sum: f64, k: usize) -> Self {
        let k = k as f64;
        let value = (k - 1.0) / sum;
        let quantile = |z: f64| k * (1.0 - 1.0 / (9.0 * k) + z / (3.0 * k.sqrt())).max(0.0).powi(3);
        let interval = (quantile(-Z_95) / sum, quantile(Z_95) / sum);
        Self { value, standard_error: value / (k - 2.0).sqrt(), interval }
    }
}

impl fmt::Display for CountEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.standard_error == 0.0 {
            return write!(f, "{:.0}", self.value);
        }
        // The error has two significant digits; if it is 10 or more, the estimate and the error are whole numbers.
        let decimals = (1.0 - self.standard_error.log10().floor()).clamp(0.0, 17.0) as usize;
        write!(f, "{:.decimals$} ± {:.decimals$}", self.value, self.standard_error)
    }
}

/// 97.5 % quantile of the normal distribution.
pub(crate) const Z_95: f64 = 1.959_963_984_540_054;

/// Returns Wilson's 95 % confidence interval for a share of `successes` in `trials`.
///
/// The interval stays inside 0 to 1, and is not a single point if all trials agree.
#[must_use]
pub fn wilson_interval(successes: f64, trials: f64) -> (f64, f64) {
    if trials <= 0.0 {
        return (0.0, 1.0);
    }
    let share = successes / trials;
    let z2 = Z_95 * Z_95;
    let centre = (share + z2 / (2.0 * trials)) / (1.0 + z2 / trials);
    let reach =
        Z_95 / (1.0 + z2 / trials) * (share * (1.0 - share) / trials + z2 / (4.0 * trials * trials)).sqrt();
    // The share lies inside the interval. Without these limits, rounding could exclude the share, and the interval for
    // successes in all trials could end just below 1.
    ((centre - reach).max(0.0).min(share), (centre + reach).min(1.0).max(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_as_tabulated() {
        // Wilson's own interval for 10 of 20: 0.2993 to 0.7007.
        let (low, high) = wilson_interval(10.0, 20.0);
        assert!((low - 0.2993).abs() < 5e-5 && (high - 0.7007).abs() < 5e-5, "{low} {high}");
        let (low, high) = wilson_interval(20.0, 20.0);
        assert!((low - 0.8389).abs() < 5e-5 && high == 1.0, "{low} {high}");
        assert_eq!(wilson_interval(0.0, 0.0), (0.0, 1.0));
    }

    #[test]
    fn counts_are_printed_with_two_digits_of_their_error() {
        let printed = |value: f64, standard_error: f64| {
            CountEstimate { value, standard_error, interval: (0.0, f64::MAX) }.to_string()
        };
        for (value, standard_error, expected) in [
            (3.984, 0.25, "3.98 ± 0.25"),
            (1024.4, 91.3, "1024 ± 91"),
            (1024.4, 9.13, "1024.4 ± 9.1"),
            (7.0, 0.001_24, "7.0000 ± 0.0012"),
            (98_765.4, 1234.5, "98765 ± 1234"),
        ] {
            assert_eq!(printed(value, standard_error), expected);
        }
        assert_eq!(CountEstimate::exact(12).to_string(), "12");
    }

    #[test]
    fn wilson_holds_the_share() {
        for trials in 1..200 {
            let trials = f64::from(trials) / 3.0;
            assert_eq!(wilson_interval(0.0, trials).0, 0.0);
            assert_eq!(wilson_interval(trials, trials).1, 1.0);
        }
    }
}
