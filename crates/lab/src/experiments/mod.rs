//! Runners of the experiments: one file per experiment, one folder per source. The `mod.rs` of a folder has the common
//! code of its source.

mod clock;
pub(crate) mod ours;
pub(crate) mod s000;
pub(crate) mod s001;
pub(crate) mod s002;
pub(crate) mod s003;
pub(crate) mod s004;

use crate::measure::TrialStatistics;
use crate::plot::{Axis, Chart, Point, Series};

/// Returns a chart without a note.
fn chart(title: &str, description: &str, x: Axis, y: Axis, series: Vec<Series>) -> Chart {
    Chart { title: title.to_owned(), description: description.to_owned(), note: String::new(), x, y, series }
}

/// Returns the chart with a note that explains its points and bars.
fn noted(chart: Chart, note: &str) -> Chart {
    Chart { note: note.to_owned(), ..chart }
}

/// Explanation of the error bars of [`variance_point`] and [`share_point`].
const TWO_ERRORS: &str = "Bars: two standard errors on either side.";

/// Returns a line through values.
fn line(label: &str, line: Vec<(f64, f64)>) -> Series {
    Series { label: label.to_owned(), line, points: vec![] }
}

/// Returns points without error bars.
fn points(label: &str, at: &[(f64, f64)]) -> Series {
    let points = at.iter().map(|&(x, y)| Point { x, y, error: None }).collect();
    Series { label: label.to_owned(), line: vec![], points }
}

/// Returns the variance of a spread, times `scale`, with an error bar of two standard errors to either side.
fn variance_point(x: f64, spread: &TrialStatistics, scale: f64) -> Point {
    let (low, high) =
        (spread.variance - 2.0 * spread.variance_error, spread.variance + 2.0 * spread.variance_error);
    Point { x, y: spread.variance * scale, error: Some((low * scale, high * scale)) }
}

/// Returns the share `right` of `all` independent cases, with an error bar of two standard errors to either side.
fn share_point(x: f64, right: f64, all: f64) -> Point {
    let share = right / all;
    let bar = 2.0 * (share * (1.0 - share) / all).sqrt();
    Point { x, y: share, error: Some(((share - bar).max(0.0), (share + bar).min(1.0))) }
}

/// Returns a line through points.
fn through(label: &str, points: Vec<Point>) -> Series {
    let line = points.iter().map(|point| (point.x, point.y)).collect();
    Series { label: label.to_owned(), line, points }
}

/// Finds the root of a function between two places where it has different signs, by bisection to the last bit.
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
