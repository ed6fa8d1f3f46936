//! The pictures: variance against similarity for every sketch, and a few that say more than that. What they share is here.

pub(crate) mod banding;
pub(crate) mod bits;
pub(crate) mod registers;
pub(crate) mod sections;

use minwise::Error;
use minwise::sketch::Method;

use crate::measure::{self, ShinglePair};
use crate::plot::{Axis, Chart, Point, Series};

/// Trials of a point.
const TRIALS: u64 = 400;
/// Where points are measured.
const SIMILARITIES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Shingles of two long documents together.
const LONG: usize = 400;
/// Registers of the sketches that are registers.
const REGISTERS: usize = 128;
/// Steps of a drawn formula.
const STEPS: u32 = 94;

/// What most pictures show.
const VARIANCE_BY_BITS: &str = "variance × stored bits";

/// A method by its text form.
fn method(form: &str) -> Result<Method, Error> {
    form.parse()
}

/// Bits that a sketch stores.
fn stored_bits(method: Method) -> f64 {
    method.size_bytes() as f64 * 8.0
}

/// The measured variance times the stored bits, near each similarity; `at` is the number of the series.
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
            // Every series is measured a little to the left of the one before, or points would hide one another; near 1
            // there is no room for that, but curves are steep.
            let similarity = if similarity > 0.9 { similarity } else { similarity - 0.02 * at as f64 };
            let common = (union as f64 * similarity).round().max(1.0) as usize;
            let found = measure::spread(method, &ShinglePair::of(union, common), trials)?;
            let (y, reach) = (found.variance * bits, 2.0 * found.variance_error * bits);
            Ok(Point { x: common as f64 / union as f64, y, error: Some((y - reach, y + reach)) })
        })
        .collect()
}

/// A method's own variance for long documents, with points; `at` is the number of the series.
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

/// Variance times stored bits against similarity.
fn chart(title: &str, description: &str, note: String, y: Axis, series: Vec<Series>) -> Chart {
    let x = Axis::linear("similarity J").between(0.0, 1.0);
    Chart { title: title.to_owned(), description: description.to_owned(), note, x, y, series }
}
