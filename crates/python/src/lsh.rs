//! `Lsh`: an index in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::available_parallelism;

use minwise::lsh::Sketchable;
use minwise::sketch::Sketches;
use minwise::{Lsh, Sketch};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::comparison::PyEstimate;
use crate::error::{Exception, OrRaise, Raise};
use crate::shared::{PySpec, Shared};
use crate::sketches::{PySketches, check_pickle};
use crate::texts::{LentStrings, Place, PyTexts, Surrogates, WHOLE, arrow_text, type_name, utf8};

/// The version of the pickles that this version writes.
const PICKLE_VERSION: u32 = 1;

/// A number that stands for a key of Python. No two keys of a process have the same, so that indexes can be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Number(u64);

impl Number {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// SharedNumbers are not stored: the keys are, in the same order.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self::next())
    }
}

struct State {
    lsh: Lsh<Number>,
    /// From keys to numbers.
    numbers: Py<PyDict>,
    /// From numbers to keys.
    keys: std::collections::HashMap<Number, Py<PyAny>>,
}

/// An index in memory of documents by similarity, each with a key of its own.
///
/// A query returns keys with estimates, the most similar one first. With `keep_shingles=True`, similarities are exact.
///
/// >>> import minwise
/// >>> lsh = minwise.Lsh("nfkc+casefold / words:2 / minhash:128 / seed:1", threshold=0.7)
/// >>> lsh.insert("fox", "The quick brown fox jumps over the lazy dog and runs on.")
/// >>> lsh.insert("cat", "The cat sat on the mat and looked at the door.")
/// >>> [key for key, estimate in lsh.query("the quick brown fox jumps over the lazy dog, and runs")]
/// ['fox']
/// >>> "cat" in lsh, len(lsh)
/// (True, 2)
#[pyclass(name = "Lsh", frozen, module = "minwise")]
pub struct PyLsh {
    state: Mutex<State>,
}

impl PyLsh {
    fn of(py: Python<'_>, lsh: Lsh<Number>) -> Self {
        let state = State { lsh, numbers: PyDict::new(py).unbind(), keys: std::collections::HashMap::new() };
        Self { state: Mutex::new(state) }
    }

    /// The state. Another thread that has it may need the interpreter's lock, which is let go of meanwhile.
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, State> {
        self.state.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A text, or one sketch.
enum Asked<'py> {
    Text(Bound<'py, PyString>),
    Sketch(Box<Sketch>),
}

impl<'py> Asked<'py> {
    fn from_object(py: Python<'py>, document: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = document.cast::<PyString>() {
            return Ok(Self::Text(text.clone()));
        }
        let Ok(sketches) = document.cast::<PySketches>() else {
            let kind = type_name(document);
            return Err(PyTypeError::new_err(format!(
                "document is {kind}: it must be str or one of Sketches"
            )));
        };
        let sketches = sketches.get();
        if sketches.len() != 1 {
            return Err(PyValueError::new_err(format!(
                "document has {} sketches: it must have one",
                sketches.len()
            )));
        }
        Sketch::from_words(*sketches.spec(), sketches.row(0).to_vec())
            .or_raise(py)
            .map(Box::new)
            .map(Self::Sketch)
    }

    fn with<T>(&self, work: impl FnOnce(Sketchable<'_>) -> T) -> PyResult<T> {
        match self {
            Self::Text(text) => {
                let (text, _) = utf8(text, Surrogates::Repair, Place("document", WHOLE))?;
                Ok(work(Sketchable::Text(&text)))
            }
            Self::Sketch(sketch) => Ok(work(Sketchable::Sketch(sketch))),
        }
    }
}

/// A sketch of its words, which are given as bytes.
fn row_sketch(py: Python<'_>, lsh: &Lsh<Number>, row: &[u8]) -> PyResult<Sketch> {
    let (words, _) = row.as_chunks::<4>();
    let words = words.iter().map(|word| u32::from_ne_bytes(*word)).collect();
    Sketch::from_words(*lsh.spec(), words).or_raise(py)
}

#[pymethods]
impl PyLsh {
    #[new]
    #[pyo3(signature = (spec = None, *, threshold = 0.8, recall = None, bands = None, rows = None, keep_shingles = false))]
    fn new(
        py: Python<'_>,
        spec: Option<&Bound<'_, PyAny>>,
        threshold: f64,
        recall: Option<f64>,
        bands: Option<usize>,
        rows: Option<usize>,
        keep_shingles: bool,
    ) -> PyResult<Self> {
        let shared = PySpec::from_object(py, spec)?;
        let mut builder = Lsh::builder(shared.spec).threshold(threshold);
        if let Some(recall) = recall {
            builder = builder.recall(recall);
        }
        builder = match (bands, rows) {
            (None, None) => builder,
            (Some(bands), Some(rows)) => builder.bands(bands, rows),
            _ => return Err(crate::error::setting_error(py, "`bands` and `rows` go together", None)),
        };
        if keep_shingles {
            builder = builder.keep_shingles();
        }
        Ok(Self::of(py, builder.build().or_raise(py)?))
    }

    /// The spec of the sketches.
    #[getter]
    fn spec(&self, py: Python<'_>) -> PySpec {
        PySpec { shared: Shared::new(*self.lock(py).lsh.spec()) }
    }

    /// The similarity that a document must reach to be found.
    #[getter]
    fn threshold(&self, py: Python<'_>) -> f64 {
        self.lock(py).lsh.threshold()
    }

    /// The number of bands.
    #[getter]
    fn bands(&self, py: Python<'_>) -> usize {
        self.lock(py).lsh.banding().bands()
    }

    /// The number of rows per band.
    #[getter]
    fn rows(&self, py: Python<'_>) -> usize {
        self.lock(py).lsh.banding().rows()
    }

    /// Inserts a document, which is a text or one sketch. A key that is there already raises `KeyError`.
    fn insert<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        document: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let document = Asked::from_object(py, document)?;
        let state = &mut *self.lock(py);
        let numbers = state.numbers.bind(py);
        if numbers.contains(key)? {
            return Err(PyKeyError::new_err(format!("{} is in the index already", key.repr()?)));
        }
        let number = Number::next();
        document.with(|document| state.lsh.insert(number, document))?.or_raise(py)?;
        numbers.set_item(key, number.0)?;
        state.keys.insert(number, key.clone().unbind());
        Ok(())
    }

    /// Inserts a sketch by its words, for sketches of other libraries.
    fn _insert_row(&self, py: Python<'_>, key: &Bound<'_, PyAny>, row: &[u8]) -> PyResult<()> {
        let state = &mut *self.lock(py);
        let numbers = state.numbers.bind(py);
        if numbers.contains(key)? {
            return Err(PyKeyError::new_err(format!("{} is in the index already", key.repr()?)));
        }
        let sketch = row_sketch(py, &state.lsh, row)?;
        let number = Number::next();
        state.lsh.insert(number, &sketch).or_raise(py)?;
        numbers.set_item(key, number.0)?;
        state.keys.insert(number, key.clone().unbind());
        Ok(())
    }

    /// All documents that share a band with a sketch, which is given by its words, with the estimated similarities.
    fn _query_row(&self, py: Python<'_>, row: &[u8]) -> PyResult<Vec<(Py<PyAny>, f64)>> {
        let state = &*self.lock(py);
        let sketch = row_sketch(py, &state.lsh, row)?;
        let mut searcher = state.lsh.searcher().at_least(0.0).or_raise(py)?;
        let found = searcher.query(&sketch).or_raise(py)?;
        let answer = found
            .iter()
            .filter_map(|similar| Some((state.keys.get(similar.key)?.clone_ref(py), similar.estimate.value)));
        Ok(answer.collect())
    }

    /// Inserts many documents by several threads, all of them or none: texts, or rows of sketches.
    #[pyo3(signature = (keys, documents, *, threads = None))]
    fn insert_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        documents: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let keys: Vec<Bound<'_, PyAny>> = keys.try_iter()?.collect::<PyResult<_>>()?;
        let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        let sketches = documents.cast::<PySketches>().ok();
        // Texts are taken before the lock, because a generator may ask this index.
        let texts = match sketches {
            Some(_) => PyTexts::Items(vec![]),
            None => PyTexts::from_object(documents, "documents")?,
        };
        let state = &mut *self.lock(py);
        let numbers = state.numbers.bind(py);
        let fresh = PyDict::new(py);
        let mut given = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            if numbers.contains(key)? || fresh.contains(key)? {
                return Err(PyKeyError::new_err(format!(
                    "keys[{at}] is {}, which is in the index already",
                    key.repr()?
                )));
            }
            let number = Number::next();
            fresh.set_item(key, number.0)?;
            given.push(number);
        }
        let wrong_count = |documents: usize| {
            PyValueError::new_err(format!("there are {} keys for {documents} documents", keys.len()))
        };
        let lsh = &mut state.lsh;
        if let Some(sketches) = sketches {
            let sketches = sketches.get();
            lsh.spec().check(sketches.spec()).or_raise(py)?;
            if sketches.len() != keys.len() {
                return Err(wrong_count(sketches.len()));
            }
            let rows = Sketches::from_vec(sketches.words(), sketches.values().to_vec()).or_raise(py)?;
            py.detach(|| lsh.insert_sketches(given.iter().copied(), rows, threads)).or_raise(py)?;
        } else {
            if texts.len() != keys.len() {
                return Err(wrong_count(texts.len()));
            }
            match texts {
                PyTexts::Items(items) => {
                    let mut lent = LentStrings::default();
                    for (at, item) in items.iter().enumerate() {
                        lent.push(item, Surrogates::Repair, Place("documents", at))?;
                    }
                    let documents =
                        given.iter().enumerate().map(|(at, &number)| (number, lent.get(at).unwrap_or("")));
                    py.detach(|| lsh.insert_many(documents, threads)).or_raise(py)?;
                }
                PyTexts::Chunks(chunks) => {
                    let rows = chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |row| (chunk, row)));
                    let texts = rows.map(|(chunk, row)| arrow_text(chunk, row).unwrap_or(""));
                    let documents: Vec<(Number, &str)> = given.iter().copied().zip(texts).collect();
                    py.detach(|| lsh.insert_many(documents, threads)).or_raise(py)?;
                }
            }
        }
        for (key, number) in keys.iter().zip(given) {
            numbers.set_item(key, number.0)?;
            state.keys.insert(number, key.clone().unbind());
        }
        Ok(())
    }

    /// Removes a document. A key that is not there raises `KeyError`.
    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let state = &mut *self.lock(py);
        let numbers = state.numbers.bind(py);
        let Some(number) = numbers.get_item(key)? else {
            return Err(PyKeyError::new_err(format!("{} is not in the index", key.repr()?)));
        };
        let number = Number(number.extract()?);
        numbers.del_item(key)?;
        state.keys.remove(&number);
        state.lsh.remove(&number);
        Ok(())
    }

    /// Finds documents that are similar to a text or a sketch: pairs of key and estimate, the most similar one first.
    ///
    /// `at_least` is another similarity than the threshold of the index, and `top` the number of documents at most.
    #[pyo3(signature = (document, *, at_least = None, top = None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        document: &Bound<'py, PyAny>,
        at_least: Option<f64>,
        top: Option<usize>,
    ) -> PyResult<Vec<(Py<PyAny>, PyEstimate)>> {
        let document = Asked::from_object(py, document)?;
        let state = &*self.lock(py);
        let mut searcher = state.lsh.searcher();
        if let Some(similarity) = at_least {
            searcher = searcher.at_least(similarity).or_raise(py)?;
        }
        if let Some(top) = top {
            searcher = searcher.at_most(top);
        }
        document.with(|document| {
            let found = searcher.query(document).map_err(|error| error.raise(py))?;
            let answer = found.iter().filter_map(|similar| {
                let key = state.keys.get(similar.key)?.clone_ref(py);
                let estimate = similar.exact.map_or(similar.estimate.into(), PyEstimate::exact);
                Some((key, estimate))
            });
            Ok(answer.collect())
        })?
    }

    /// The keys in the order of insertion.
    fn keys(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        let state = self.lock(py);
        state.lsh.keys().filter_map(|number| Some(state.keys.get(number)?.clone_ref(py))).collect()
    }

    /// Adds all documents of another index behind these. Bands and threshold stay those of this index.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        if slf.is(other) {
            return Err(PyValueError::new_err("an index cannot be merged with itself"));
        }
        // One lock after the other, because two threads may merge two indexes with each other.
        let (lsh, keys) = {
            let other = other.get().lock(py);
            let keys: Vec<(Number, Py<PyAny>)> =
                other.keys.iter().map(|(&number, key)| (number, key.clone_ref(py))).collect();
            (other.lsh.clone(), keys)
        };
        let state = &mut *slf.get().lock(py);
        let numbers = state.numbers.bind(py);
        for (_, key) in &keys {
            if numbers.contains(key)? {
                return Err(PyKeyError::new_err(format!("{} is in both indexes", key.bind(py).repr()?)));
            }
        }
        let own = &mut state.lsh;
        py.detach(|| own.merge(lsh)).or_raise(py)?;
        for (number, key) in keys {
            numbers.set_item(&key, number.0)?;
            state.keys.insert(number, key);
        }
        Ok(())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.lock(py).lsh.len()
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.lock(py).numbers.bind(py).contains(key)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = self.lock(py);
        format!(
            "Lsh({} documents, threshold {}, \"{}\")",
            state.lsh.len(),
            state.lsh.threshold(),
            state.lsh.spec()
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let bytes = {
            let state = this.lock(py);
            postcard::to_stdvec(&state.lsh).map_err(|error| PyValueError::new_err(error.to_string()))?
        };
        let state = (PICKLE_VERSION, PyBytes::new(py, &bytes), this.keys(py)).into_pyobject(py)?;
        Ok((slf.get_type().getattr("_restore")?, state))
    }

    #[staticmethod]
    fn _restore(py: Python<'_>, version: u32, index: &[u8], keys: Bound<'_, PyList>) -> PyResult<Self> {
        check_pickle("Lsh", version, PICKLE_VERSION)?;
        let damaged =
            || Exception::Input.raise(py, "the pickle of an index is damaged", "damaged", None, &[]);
        let lsh: Lsh<Number> = postcard::from_bytes(index).map_err(|_| damaged())?;
        if lsh.len() != keys.len() {
            return Err(damaged());
        }
        let made: Vec<Number> = lsh.keys().copied().collect();
        let restored = Self::of(py, lsh);
        {
            let state = &mut *restored.lock(py);
            let numbers = state.numbers.bind(py);
            for (number, key) in made.into_iter().zip(keys.iter()) {
                numbers.set_item(&key, number.0)?;
                state.keys.insert(number, key.unbind());
            }
        }
        Ok(restored)
    }
}
