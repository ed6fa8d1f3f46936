//! Draws the charts: variance against similarity for every sketch, and a few other charts. This file has their common
//! code.

pub(crate) mod banding;
pub(crate) mod bits;
pub(crate) mod registers;
pub(crate) mod sections;

use minwise::Error;
use minwise::sketch::Method;

use crate::measure::{self, ShinglePair};
use crate::plot::{Axis, Chart, Point, Series};

/// Number of trials per point.
const TRIALS: u64 = 400;
/// Similarities at which points are measured.
const SIMILARITIES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Number of distinct shingles of two long documents together.
const LONG: usize = 400;
/// Number of registers of sketches made of registers.
const REGISTERS: usize = 128;
/// Number of steps of a drawn formula.
const STEPS: u32 = 94;

/// Quantity that most charts show.
const VARIANCE_BY_BITS: &str = "variance × stored bits";

/// Parses a method, such as `minhash:128`.
fn method(form: &str) -> Result<Method, Error> {
    form.parse()
}

/// Returns the number of bits that a sketch stores.
fn stored_bits(method: Method) -> f64 {
    method.size_bytes() as f64 * 8.0
}

/// Measures the variance times the stored bits, near each similarity. `at` is the number of the series.
fn measured(
    method: Method,
    at: usize,
    union: usize,
    similarities: &[f64],
    trials: u64,
) -> Result<Vec<Point>, Error> {
    let bits = stored_bits(method);
    similarities
        .iter()
        .map(|&similarity| {
            // Each series is measured a little to the left of the series before, because points at one place would hide
            // each other. Near 1 there is no room for this, but there the curves are steep, so the points lie apart.
            let similarity = if similarity > 0.9 { similarity } else { similarity - 0.02 * at as f64 };
            let common = (union as f64 * similarity).round().max(1.0) as usize;
            let found = measure::spread(method, &ShinglePair::of(union, common), trials)?;
            let (y, reach) = (found.variance * bits, 2.0 * found.variance_error * bits);
            Ok(Point { x: common as f64 / union as f64, y, error: Some((y - reach, y + reach)) })
        })
        .collect()
}

/// Returns the variance of a method for long documents, as a line with points. `at` is the number of the series.
fn of_method(at: usize, label: &str, method: Method, similarities: &[f64]) -> Result<Series, Error> {
    let bits = stored_bits(method);
    let line = Series::of(label, (0.05, 0.99), STEPS, |similarity| method.variance(similarity) * bits);
    Ok(line.with_points(measured(method, at, LONG, similarities, TRIALS)?))
}

fn note(trials: u64, documents: &str) -> String {
    format!(
        "Lines are formulas. Points are variances of {trials} seeded estimates from real sketches of documents with {documents}, \
         bars two standard errors."
    )
}

/// Returns a chart with the similarity from 0 to 1 on the x axis.
fn chart(title: &str, description: &str, note: String, y: Axis, series: Vec<Series>) -> Chart {
    let x = Axis::linear("similarity J").between(0.0, 1.0);
    Chart { title: title.to_owned(), description: description.to_owned(), note, x, y, series }
}
