//! One file an experiment, by source. What experiments of one source share is in the `mod.rs` of its folder.

mod clock;
pub(crate) mod ours;
pub(crate) mod s000;
pub(crate) mod s001;
pub(crate) mod s002;
pub(crate) mod s003;
pub(crate) mod s004;

use crate::measure::TrialStatistics;
use crate::plot::{Axis, Chart, Point, Series};

/// A chart without small print.
fn chart(title: &str, description: &str, x: Axis, y: Axis, series: Vec<Series>) -> Chart {
    Chart { title: title.to_owned(), description: description.to_owned(), note: String::new(), x, y, series }
}

/// The same chart with small print: what its points and bars are.
fn noted(chart: Chart, note: &str) -> Chart {
    Chart { note: note.to_owned(), ..chart }
}

/// How bars of [`variance_point`] and [`share_point`] are to be read.
const TWO_ERRORS: &str = "Bars: two standard errors on either side.";

/// A line through values.
fn line(label: &str, line: Vec<(f64, f64)>) -> Series {
    Series { label: label.to_owned(), line, points: vec![] }
}

/// Markers without error bars.
fn points(label: &str, at: &[(f64, f64)]) -> Series {
    let points = at.iter().map(|&(x, y)| Point { x, y, error: None }).collect();
    Series { label: label.to_owned(), line: vec![], points }
}

/// The variance of a spread, times `scale`, with two standard errors on either side.
fn variance_point(x: f64, spread: &TrialStatistics, scale: f64) -> Point {
    let (low, high) =
        (spread.variance - 2.0 * spread.variance_error, spread.variance + 2.0 * spread.variance_error);
    Point { x, y: spread.variance * scale, error: Some((low * scale, high * scale)) }
}

/// The share `right` of `all` independent cases, with two of its standard errors on either side.
fn share_point(x: f64, right: f64, all: f64) -> Point {
    let share = right / all;
    let bar = 2.0 * (share * (1.0 - share) / all).sqrt();
    Point { x, y: share, error: Some(((share - bar).max(0.0), (share + bar).min(1.0))) }
}

/// A line through points.
fn through(label: &str, points: Vec<Point>) -> Series {
    let line = points.iter().map(|point| (point.x, point.y)).collect();
    Series { label: label.to_owned(), line, points }
}

/// Where a function is 0, between two places where it has different signs: by halving, down to the last bit.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rises = f(low) < 0.0;
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if (f(middle) < 0.0) == rises {
            low = middle;
        } else {
            high = middle;
        }
    }
}
