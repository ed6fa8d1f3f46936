//! The classes `Comparison`, `Passage` and `Estimate`: the result of comparing two texts.

use std::ops::Range;

use minwise::estimate::Estimate;
use minwise_engine::compare::{ComparedPassage, Comparison};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

/// An estimated similarity, with its standard error and the ends of its 95 % confidence interval.
///
/// >>> import minwise
/// >>> lsh = minwise.Lsh(threshold=0.5)
/// >>> lsh.insert("rose", "a rose is a rose is a rose")
/// >>> [(key, estimate)] = lsh.query("A rose is a rose is a rose!")
/// >>> estimate, float(estimate)
/// (Estimate(1.000 ± 0.005), 1.0)
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
    /// Makes the estimate of a similarity that is known exactly: its standard error is 0.
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
///
/// >>> import minwise
/// >>> a, b = "so to be or not to be", "To be, or not to be!"
/// >>> passage = minwise.compare(a, b, passages=1).passages[0]
/// >>> a[passage.left], b[passage.right], passage.tokens
/// ('to be or not to be', 'To be, or not to be', 6)
#[pyclass(name = "Passage", frozen, module = "minwise")]
pub struct PyPassage {
    /// The length in units of the shingles: words or characters.
    #[pyo3(get)]
    tokens: usize,
    left: (usize, usize),
    right: (usize, usize),
    /// The words of the passage in the first text.
    #[pyo3(get)]
    text: String,
}

#[pymethods]
impl PyPassage {
    /// The place of the passage in the first text, as a slice of characters.
    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        PySlice::new(py, self.left.0 as isize, self.left.1 as isize, 1)
    }

    /// The place of the passage in the second text, as a slice of characters.
    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        PySlice::new(py, self.right.0 as isize, self.right.1 as isize, 1)
    }

    fn __repr__(&self) -> String {
        format!(
            "Passage(tokens={}, left={}:{}, right={}:{})",
            self.tokens, self.left.0, self.left.1, self.right.0, self.right.1
        )
    }
}

/// The comparison of two texts: exact similarities, the estimate of their sketches, and the passages that both share.
///
/// >>> import minwise
/// >>> minwise.compare("to be or not to be", "so to be or not to be")
/// Comparison(similarity=0.6667, containment_of_left=1.0000, containment_of_right=0.6667, passages=0)
#[pyclass(name = "Comparison", frozen, module = "minwise")]
pub struct PyComparison {
    /// The exact Jaccard similarity.
    #[pyo3(get)]
    similarity: f64,
    /// The exact share of the first text's shingles that the second text has.
    #[pyo3(get)]
    containment_of_left: f64,
    /// The exact share of the second text's shingles that the first text has.
    #[pyo3(get)]
    containment_of_right: f64,
    /// The estimate of the sketches; `None` if one of the texts has no shingles.
    #[pyo3(get)]
    estimate: Option<PyEstimate>,
    passages: Vec<Py<PyPassage>>,
    /// The first text, with the places of its passages. Notebooks show both texts side by side.
    left: ShownText,
    /// The second text, with the places of its passages.
    right: ShownText,
}

/// A text with the places of its shared passages. A place has the offsets of the first character and of the character
/// after the last.
struct ShownText {
    text: String,
    places: Vec<(usize, usize)>,
}

/// A text to be compared.
pub struct ComparedText {
    pub text: String,
    /// Byte offsets of the characters that were a pair of surrogates, and so two characters, in the string of Python.
    pub pairs: Vec<usize>,
}

impl PyComparison {
    pub fn new(
        py: Python<'_>,
        comparison: &Comparison,
        left: ComparedText,
        right: ComparedText,
        passages: usize,
    ) -> PyResult<Self> {
        let shared = &comparison.passages[..passages.min(comparison.passages.len())];
        let (left_places, right_places) = (Characters::new(&left), Characters::new(&right));
        let passages = shared.iter().map(|passage| {
            let tokens = passage.tokens;
            let text = left.text.get(passage.left.clone()).unwrap_or_default().to_owned();
            let (left, right) = (left_places.range(&passage.left), right_places.range(&passage.right));
            Py::new(py, PyPassage { tokens, left, right, text })
        });
        let passages = passages.collect::<PyResult<_>>()?;
        let shown = |of: &Characters<'_>, range: fn(&ComparedPassage) -> &Range<usize>| {
            shared.iter().map(|passage| of.shown(range(passage))).collect()
        };
        let left_shown = shown(&left_places, |passage| &passage.left);
        let right_shown = shown(&right_places, |passage| &passage.right);
        Ok(Self {
            similarity: comparison.similarity,
            containment_of_left: comparison.containment_of_left,
            containment_of_right: comparison.containment_of_right,
            estimate: comparison.estimate.map(PyEstimate::from),
            passages,
            left: ShownText { text: left.text, places: left_shown },
            right: ShownText { text: right.text, places: right_shown },
        })
    }
}

/// Converts byte offsets in a text to character offsets.
struct Characters<'a> {
    text: &'a str,
    pairs: &'a [usize],
    is_ascii: bool,
}

impl<'a> Characters<'a> {
    fn new(text: &'a ComparedText) -> Self {
        Self { text: &text.text, pairs: &text.pairs, is_ascii: text.text.is_ascii() }
    }

    /// Returns the number of characters before a byte of the text.
    fn count(&self, byte: usize) -> usize {
        if self.is_ascii { byte } else { self.text.get(..byte).map_or(0, |text| text.chars().count()) }
    }

    /// Returns the number of characters before a byte, counted in the string of Python, where a pair of surrogates is
    /// two characters.
    fn at(&self, byte: usize) -> usize {
        self.count(byte) + self.pairs.partition_point(|&pair| pair < byte)
    }

    fn range(&self, bytes: &Range<usize>) -> (usize, usize) {
        (self.at(bytes.start), self.at(bytes.end))
    }

    fn shown(&self, bytes: &Range<usize>) -> (usize, usize) {
        (self.count(bytes.start), self.count(bytes.end))
    }
}

#[pymethods]
impl PyComparison {
    /// The larger of the two containments: the exact share of the smaller text's shingles that the larger text has.
    #[getter]
    fn containment(&self) -> f64 {
        self.containment_of_left.max(self.containment_of_right)
    }

    /// The longest passages that both texts share, longest first.
    #[getter]
    fn passages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.passages.iter().map(|passage| passage.bind(py)))
    }

    fn __repr__(&self) -> String {
        format!(
            "Comparison(similarity={:.4}, containment_of_left={:.4}, containment_of_right={:.4}, passages={})",
            self.similarity,
            self.containment_of_left,
            self.containment_of_right,
            self.passages.len()
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let side = |shown: &ShownText| (shown.text.clone(), shown.places.clone());
        let (left, right) = (side(&this.left), side(&this.right));
        slf.py().import("minwise._html")?.call_method1("comparison", (slf, left, right))
    }
}
