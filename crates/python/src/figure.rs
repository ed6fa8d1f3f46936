//! Figures as the command prints them, for the summaries and tables of the package.

use minwise::figure;
use pyo3::prelude::*;

/// A part of a whole in percent, with one decimal.
#[pyfunction]
pub fn percent(part: u64, whole: u64) -> String {
    figure::percent(part, whole)
}

/// A probability or a recall in percent, with two decimals.
#[pyfunction]
pub fn probability(share: f64) -> String {
    figure::probability(share)
}

/// A 95 % confidence interval in percent; None if it is exact.
#[pyfunction]
pub fn interval(low: f64, high: f64) -> Option<String> {
    figure::interval(low, high)
}
