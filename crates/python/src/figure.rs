//! Formats numbers as the command does, for the summaries and tables of the package.

use minwise::figure;
use pyo3::prelude::*;

/// Formats a part of a whole in percent, with one decimal.
#[pyfunction]
pub fn percent(part: u64, whole: u64) -> String {
    figure::percent(part, whole)
}

/// Formats a probability or a recall in percent, with two decimals.
#[pyfunction]
pub fn probability(share: f64) -> String {
    figure::probability(share)
}

/// Formats a lower bound of a probability or a recall in percent, rounded down to two decimals.
#[pyfunction]
pub fn lower_bound(share: f64) -> String {
    figure::lower_bound(share)
}

/// Formats a 95 % confidence interval in percent. Returns None if both ends are equal.
#[pyfunction]
pub fn interval(low: f64, high: f64) -> Option<String> {
    figure::interval(low, high)
}
