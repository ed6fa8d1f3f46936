//! `Comparison`, `Passage` and `Estimate`: how two texts relate.

use minwise::estimate::Estimate;
use minwise_engine::compare::Comparison;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

/// An estimated similarity, with its standard error and the ends of its 95 % confidence interval.
#[pyclass(name = "Estimate", frozen, module = "minwise", get_all, from_py_object)]
#[derive(Clone, Copy, PartialEq)]
pub struct PyEstimate {
    value: f64,
    standard_error: f64,
    low: f64,
    high: f64,
}

impl From<Estimate> for PyEstimate {
    fn from(estimate: Estimate) -> Self {
        let Estimate { value, standard_error, interval: (low, high), .. } = estimate;
        Self { value, standard_error, low, high }
    }
}

impl PyEstimate {
    /// A similarity that is known.
    pub fn exact(value: f64) -> Self {
        Self { value, standard_error: 0.0, low: value, high: value }
    }
}

#[pymethods]
impl PyEstimate {
    #[new]
    fn new(value: f64, standard_error: f64, low: f64, high: f64) -> Self {
        Self { value, standard_error, low, high }
    }

    fn __float__(&self) -> f64 {
        self.value
    }

    fn __repr__(&self) -> String {
        format!("Estimate({:.3} ± {:.3})", self.value, self.standard_error)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get() == self)
    }

    fn __hash__(&self) -> u64 {
        self.value.to_bits() ^ self.standard_error.to_bits().rotate_left(1)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let Self { value, standard_error, low, high } = *slf.get();
        Ok((slf.get_type().into_any(), PyTuple::new(slf.py(), [value, standard_error, low, high])?))
    }
}

/// A passage that two texts share.
///
/// `left` and `right` are slices of characters: `a[passage.left]` is the passage in the first text.
#[pyclass(name = "Passage", frozen, module = "minwise")]
pub struct PyPassage {
    /// The length in words or characters, as the shingles have it.
    #[pyo3(get)]
    units: usize,
    left: (usize, usize),
    right: (usize, usize),
    /// The words of the passage in the first text.
    #[pyo3(get)]
    text: String,
}

#[pymethods]
impl PyPassage {
    /// Where the passage stands in the first text, as a slice of characters.
    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        PySlice::new(py, self.left.0 as isize, self.left.1 as isize, 1)
    }

    /// Where the passage stands in the second text, as a slice of characters.
    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        PySlice::new(py, self.right.0 as isize, self.right.1 as isize, 1)
    }

    fn __repr__(&self) -> String {
        format!(
            "Passage(units={}, left={}:{}, right={}:{})",
            self.units, self.left.0, self.left.1, self.right.0, self.right.1
        )
    }
}

/// How two texts relate: exact similarities, the estimate of their sketches, and the passages that both share.
#[pyclass(name = "Comparison", frozen, module = "minwise")]
pub struct PyComparison {
    /// The exact Jaccard similarity.
    #[pyo3(get)]
    jaccard: f64,
    /// The exact share of the first text's shingles that the second text has.
    #[pyo3(get)]
    left_in_right: f64,
    /// The exact share of the second text's shingles that the first text has.
    #[pyo3(get)]
    right_in_left: f64,
    /// The estimate of the sketches; `None` if one of the texts has no shingles.
    #[pyo3(get)]
    estimate: Option<PyEstimate>,
    passages: Vec<Py<PyPassage>>,
    left: String,
    right: String,
}

impl PyComparison {
    pub fn new(comparison: &Comparison, left: &str, right: &str, passages: usize) -> Self {
        let (mut left_places, mut right_places) = (Characters::new(left), Characters::new(right));
        let passages = comparison.passages.iter().take(passages).map(|passage| PyPassage {
            units: passage.units,
            left: left_places.range(&passage.left),
            right: right_places.range(&passage.right),
            text: left[passage.left.clone()].to_owned(),
        });
        let passages: Vec<PyPassage> = passages.collect();
        Python::attach(|py| Self {
            jaccard: comparison.jaccard,
            left_in_right: comparison.left_in_right,
            right_in_left: comparison.right_in_left,
            estimate: comparison.estimate.map(PyEstimate::from),
            passages: passages.into_iter().filter_map(|passage| Py::new(py, passage).ok()).collect(),
            left: left.to_owned(),
            right: right.to_owned(),
        })
    }
}

/// From bytes of a text to characters of it.
struct Characters<'a> {
    text: &'a str,
    is_ascii: bool,
}

impl<'a> Characters<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, is_ascii: text.is_ascii() }
    }

    fn at(&mut self, byte: usize) -> usize {
        if self.is_ascii { byte } else { self.text[..byte].chars().count() }
    }

    fn range(&mut self, bytes: &std::ops::Range<usize>) -> (usize, usize) {
        (self.at(bytes.start), self.at(bytes.end))
    }
}

#[pymethods]
impl PyComparison {
    /// The larger of both shares: how much of the smaller text the larger one has.
    #[getter]
    fn containment(&self) -> f64 {
        self.left_in_right.max(self.right_in_left)
    }

    /// The longest passages that both texts share, longest first.
    #[getter]
    fn passages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.passages.iter().map(|passage| passage.bind(py)))
    }

    fn __repr__(&self) -> String {
        format!(
            "Comparison(jaccard={:.4}, left_in_right={:.4}, right_in_left={:.4}, passages={})",
            self.jaccard,
            self.left_in_right,
            self.right_in_left,
            self.passages.len()
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        slf.py().import("minwise._html")?.call_method1("comparison", (slf, &this.left, &this.right))
    }
}
