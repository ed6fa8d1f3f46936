//! Line and point charts as SVG.
//!
//! A chart is a value and [`Chart::svg`] its picture: the same chart gives the same bytes. Nothing is left to the viewer
//! but the font, so there are no scripts, no links to elsewhere and no element ids that could clash with those of another
//! chart on one page.
//!
//! - Series differ in colour, in dashes and in markers, so they can be told apart in black and white.
//! - Colours follow the reader's light or dark background.
//! - Text is text, in the reader's sans-serif font. Its width is not known here, so whatever stands beside it has
//!   room for wide letters.
//! - Title and description are read to those who do not see the picture.
//!
//! Coordinates are rounded to a tenth of a pixel, far above what the logarithms of two machines differ by.

mod axis;
mod svg;
mod text;

pub use axis::{Axis, Scale};
pub(crate) use text::{attribute, escape};

/// A picture of some series over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What the picture shows, in a line.
    pub title: String,
    /// What is to be seen in it, for those who do not see it.
    pub description: String,
    /// How to read it, in small print below the legend.
    pub note: String,
    /// What runs to the right.
    pub x: Axis,
    /// What runs upwards.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
}

/// A line, points, or both, under one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Points joined by a line; the line is broken where a value is not a number or has no place on the axis.
    pub line: Vec<(f64, f64)>,
    /// Points with markers.
    pub points: Vec<Point>,
}

/// A marker, with an error bar if there is an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// How high.
    pub y: f64,
    /// The ends of its error bar.
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
    /// The values of `f` at `steps` + 1 places from `from` to `to`, joined.
    pub fn of(label: &str, (from, to): (f64, f64), steps: u32, f: impl Fn(f64) -> f64) -> Self {
        let at = |step: u32| from + (to - from) * f64::from(step) / f64::from(steps);
        let line = (0..=steps).map(|step| (at(step), f(at(step)))).collect();
        Self { label: label.to_owned(), line, points: vec![] }
    }

    /// The same with these points.
    #[must_use]
    pub fn with_points(mut self, points: Vec<Point>) -> Self {
        self.points = points;
        self
    }
}
