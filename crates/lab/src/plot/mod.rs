//! Draws line and point charts as SVG.
//!
//! A chart is a value, and [`Chart::svg`] draws it: the same chart gives the same bytes. Only the font depends on the
//! viewer. There are no scripts, no external links, and no element ids that could clash with those of another chart on
//! one page.
//!
//! - Series differ in colour, in dashes and in markers, so they can be distinguished in black and white.
//! - Colours follow the reader's light or dark background.
//! - Text is stored as text, in the reader's sans-serif font. Its width is unknown, so the layout leaves room for wide
//!   letters.
//! - Screen readers read the title and the description.
//!
//! Coordinates are rounded to a tenth of a pixel. The logarithms of two machines differ by far less.

mod axis;
mod svg;
mod text;

pub use axis::{Axis, Scale};
pub(crate) use text::{attribute, escape};

/// Chart of some series over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Subject of the chart, in one line.
    pub title: String,
    /// Description of what can be seen, for people who cannot see the chart.
    pub description: String,
    /// Explanation of points and bars, in small print below the legend.
    pub note: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series, in the order of the legend.
    pub series: Vec<Series>,
}

/// Line, points, or both, under one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend.
    pub label: String,
    /// Points joined by a line. The line has a gap at a value that is not a number or has no place on the axis.
    pub line: Vec<(f64, f64)>,
    /// Points with markers.
    pub points: Vec<Point>,
}

/// Marker, with an error bar if there is an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Ends of the error bar.
    pub error: Option<(f64, f64)>,
}

impl Chart {
    fn values(&self, of: impl Fn(f64, f64) -> f64, with_errors: bool) -> Vec<f64> {
        let lines = self.series.iter().flat_map(|series| &series.line).map(|&(x, y)| of(x, y));
        let points = self.series.iter().flat_map(|series| &series.points);
        let marks = points.clone().map(|point| of(point.x, point.y));
        let errors = points.filter(|_| with_errors).filter_map(|point| point.error);
        lines.chain(marks).chain(errors.flat_map(|(low, high)| [low, high])).collect()
    }
}

impl Series {
    /// Returns a series whose line joins the values of `f` at `steps` + 1 places from `from` to `to`.
    pub fn of(label: &str, (from, to): (f64, f64), steps: u32, f: impl Fn(f64) -> f64) -> Self {
        let at = |step: u32| from + (to - from) * f64::from(step) / f64::from(steps);
        let line = (0..=steps).map(|step| (at(step), f(at(step)))).collect();
        Self { label: label.to_owned(), line, points: vec![] }
    }

    /// Sets the points of the series.
    #[must_use]
    pub fn with_points(mut self, points: Vec<Point>) -> Self {
        self.points = points;
        self
    }
}
