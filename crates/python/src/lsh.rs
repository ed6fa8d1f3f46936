//! The class `Lsh`: an index in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use minwise::lsh::{Similar, Sketchable};
use minwise::shingle::Short;
use minwise::sketch::Sketches;
use minwise::{Lsh, Observer, Sketch};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::comparison::PyEstimate;
use crate::error::{Exception, OrRaise, Raise};
use crate::run::{Hooks, SUPERVISED_BYTES, Watch, supervise};
use crate::shared::{PySpec, Shared};
use crate::sketches::{PySketches, check_pickle};
use crate::texts::{
    DETACH_BYTES, LentStrings, Place, PyTexts, Surrogates, WHOLE, arrow_text, count, thread_count, type_name,
    utf8,
};

/// Number of bytes of documents that `insert_many` inserts between two checks for cancellation.
const PART_BYTES: usize = 4 << 20;
/// Version of the pickle format that this module writes.
const PICKLE_VERSION: u32 = 1;

/// A number that stands for a key, which is a Python object. Each number is given out once per process, so that indexes
/// can be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Number(u64);

impl Number {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Serialises a number as nothing, because a pickle lists the keys in the order of insertion. Each restored key gets a
/// new number.
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
    /// The key of each number.
    keys: HashMap<Number, Py<PyAny>>,
}

/// An index in memory that finds similar documents. Each document has its own key.
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
    /// No Python code runs while the mutex is held: no key is compared, shown or freed, and no exception is made. Each
    /// of these actions may run code that calls this index, which would wait for the mutex for ever.
    state: Mutex<State>,
    /// Dictionary from each key to its number. A key is added before its document is inserted, and deleted after its
    /// document was removed.
    numbers: Py<PyDict>,
}

impl PyLsh {
    fn of(py: Python<'_>, lsh: Lsh<Number>) -> Self {
        let state = State { lsh, keys: HashMap::new() };
        Self { state: Mutex::new(state), numbers: PyDict::new(py).unbind() }
    }

    /// Locks the state. The interpreter's lock is released while this thread waits, because the thread that holds the
    /// mutex may need the interpreter's lock.
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on the state. If the work is long, the interpreter's lock is released meanwhile.
    fn with_state<T: Send>(
        &self,
        py: Python<'_>,
        is_long: bool,
        work: impl FnOnce(&mut State) -> T + Send,
    ) -> T {
        if !is_long {
            return work(&mut self.lock(py));
        }
        py.detach(|| work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns the number of a key, or `None` if the index has no document with this key.
    fn number(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
        let py = key.py();
        let Some(number) = self.numbers.bind(py).get_item(key)? else { return Ok(None) };
        let number = Number(number.extract()?);
        Ok(self.lock(py).keys.contains_key(&number).then_some(number))
    }

    /// Reserves a key for a new document. Returns `None` if the key is taken already.
    fn take_key(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
        let py = key.py();
        take_with(&self.numbers.bind(py).getattr(intern!(py, "setdefault"))?, key)
    }

    /// Reserves all keys or none. `taken` makes the error for the key at a position that is taken already.
    fn take_keys<'k, 'py: 'k>(
        &self,
        py: Python<'py>,
        keys: impl Iterator<Item = &'k Bound<'py, PyAny>> + Clone,
        taken: impl Fn(usize, &Bound<'py, PyAny>) -> PyResult<PyErr>,
    ) -> PyResult<Vec<Number>> {
        let mut numbers = vec![];
        // The method is looked up once, because a lookup takes as long as a call.
        let set_default = self.numbers.bind(py).getattr(intern!(py, "setdefault"))?;
        for (at, key) in keys.clone().enumerate() {
            let failed = match take_with(&set_default, key) {
                Ok(Some(number)) => {
                    numbers.push(number);
                    continue;
                }
                Ok(None) => taken(at, key).unwrap_or_else(|error| error),
                Err(error) => error,
            };
            self.release_keys(keys.take(at));
            return Err(failed);
        }
        Ok(numbers)
    }

    /// Releases reserved keys. A key that has a document stays.
    fn release_keys<'k, 'py: 'k>(&self, keys: impl Iterator<Item = &'k Bound<'py, PyAny>>) {
        for key in keys {
            // Errors are ignored: they come from the `__hash__` or `__eq__` of the key, and would hide the error that
            // is being raised.
            if let Ok(None) = self.number(key) {
                let _ = self.numbers.bind(key.py()).del_item(key);
            }
        }
    }

    /// Inserts one document under a key.
    fn insert_one(
        &self,
        key: &Bound<'_, PyAny>,
        is_long: bool,
        insert: impl FnOnce(&mut Lsh<Number>, Number) -> Result<(), minwise::Error> + Send,
    ) -> PyResult<()> {
        let py = key.py();
        let Some(number) = self.take_key(key)? else {
            return Err(PyKeyError::new_err(format!("{} is in the index already", key.repr()?)));
        };
        let mut held = Some(key.clone().unbind());
        let result: Result<(), minwise::Error> = self.with_state(py, is_long, |state| {
            insert(&mut state.lsh, number)?;
            state.keys.extend(held.take().map(|key| (number, key)));
            Ok(())
        });
        if result.is_err() {
            self.release_keys(std::iter::once(key));
        }
        result.or_raise(py)
    }
}

/// Reserves a key by the method `setdefault` of the dictionary of keys. Returns `None` if the key is taken already.
/// Because `setdefault` is one call, only one of two threads succeeds if they reserve equal keys at once.
fn take_with(set_default: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<Option<Number>> {
    let number = Number::next();
    let found = set_default.call1((key, number.0))?;
    Ok((found.extract::<u64>()? == number.0).then_some(number))
}

/// A document as a caller passes it: a text, or one sketch.
enum Asked<'a> {
    Text(Cow<'a, str>),
    Sketch(Box<Sketch>),
}

impl<'a> Asked<'a> {
    fn from_object(document: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        let py = document.py();
        if let Ok(text) = document.cast::<PyString>() {
            let (text, _) = utf8(text, Surrogates::Repair, Place("document", WHOLE))?;
            return Ok(Self::Text(text));
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

    fn sketchable(&self) -> Sketchable<'_> {
        match self {
            Self::Text(text) => Sketchable::Text(text),
            Self::Sketch(sketch) => Sketchable::Sketch(sketch),
        }
    }

    /// Reports whether the work takes so long that the interpreter's lock should be released.
    fn is_long(&self) -> bool {
        matches!(self, Self::Text(text) if text.len() >= DETACH_BYTES)
    }
}

/// Reads the words of a sketch from bytes in the byte order of this machine.
fn row_words(row: &[u8]) -> Vec<u32> {
    let (words, _) = row.as_chunks::<4>();
    words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
}

/// Documents of one call of `insert_many`: texts, or sketches.
enum InsertedDocuments<'a> {
    Texts(Vec<Option<&'a str>>),
    Rows { words: usize, values: &'a [u32] },
}

impl InsertedDocuments<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Rows { words, values } => values.len() / (*words).max(1),
        }
    }

    fn bytes(&self, at: usize) -> usize {
        match self {
            Self::Texts(texts) => texts.get(at).copied().flatten().map_or(0, str::len),
            Self::Rows { words, .. } => words * size_of::<u32>(),
        }
    }

    fn insert(
        &self,
        lsh: &mut Lsh<Number>,
        numbers: &[Number],
        range: Range<usize>,
        threads: usize,
    ) -> Result<(), minwise::Error> {
        let keys = numbers[range.clone()].iter().copied();
        match self {
            Self::Texts(texts) => {
                let texts = texts[range].iter().map(|text| text.unwrap_or_default());
                lsh.insert_many(keys.zip(texts), threads)
            }
            Self::Rows { words, values } => {
                let rows = values[range.start * words..range.end * words].to_vec();
                lsh.insert_sketches(keys, Sketches::from_vec(*words, rows)?, threads)
            }
        }
    }

    /// Inserts all documents in parts, and reports whether all were inserted. If the observer cancels between two parts
    /// or a part fails, the documents of earlier parts are removed again.
    fn insert_all(
        &self,
        lsh: &mut Lsh<Number>,
        numbers: &[Number],
        threads: usize,
        watch: &Watch,
    ) -> Result<bool, minwise::Error> {
        // If short documents are refused, all documents are one part. With several parts, the error would name the
        // position of the document within its part, which is not its position in the call.
        let part_bytes = if lsh.spec().shingling.short() == Short::Reject { usize::MAX } else { PART_BYTES };
        let mut begin = 0;
        while begin < numbers.len() {
            let (mut end, mut bytes) = (begin, 0);
            while end < numbers.len() && bytes < part_bytes {
                bytes = bytes.saturating_add(self.bytes(end) + 64);
                end += 1;
            }
            let result = if watch.cancelled() {
                Ok(false)
            } else {
                self.insert(lsh, numbers, begin..end, threads).map(|()| true)
            };
            if !matches!(result, Ok(true)) {
                numbers[..begin].iter().for_each(|number| {
                    lsh.remove(number);
                });
                return result;
            }
            begin = end;
        }
        Ok(true)
    }
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
        bands: Option<&Bound<'_, PyAny>>,
        rows: Option<&Bound<'_, PyAny>>,
        keep_shingles: bool,
    ) -> PyResult<Self> {
        let shared = PySpec::from_object(py, spec)?;
        let mut builder = Lsh::builder(shared.spec).threshold(threshold);
        if let Some(recall) = recall {
            builder = builder.recall(recall);
        }
        builder = match (bands, rows) {
            (None, None) => builder,
            (Some(bands), Some(rows)) => builder.bands(count(bands, "bands", 1)?, count(rows, "rows", 1)?),
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
        let spec = *self.lock(py).lsh.spec();
        PySpec { shared: Shared::new(spec) }
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

    /// Inserts a document, which is a text or one sketch. A key that the index has already raises `KeyError`.
    fn insert(&self, key: &Bound<'_, PyAny>, document: &Bound<'_, PyAny>) -> PyResult<()> {
        let document = Asked::from_object(document)?;
        self.insert_one(key, document.is_long(), |lsh, number| lsh.insert(number, document.sketchable()))
    }

    /// Inserts a sketch by its words, for sketches of other libraries.
    fn _insert_row(&self, key: &Bound<'_, PyAny>, row: &[u8]) -> PyResult<()> {
        let words = row_words(row);
        self.insert_one(key, false, |lsh, number| {
            lsh.insert(number, &Sketch::from_words(*lsh.spec(), words)?)
        })
    }

    /// Returns the keys of all documents that share a band with a sketch, with the estimated similarities. `row` has
    /// the words of the sketch as bytes.
    fn _query_row(&self, py: Python<'_>, row: &[u8]) -> PyResult<Vec<(Py<PyAny>, f64)>> {
        let words = row_words(row);
        let state = self.lock(py);
        let query = || {
            let sketch = Sketch::from_words(*state.lsh.spec(), words)?;
            let mut searcher = state.lsh.searcher().at_least(0.0)?;
            let found = searcher.query(&sketch)?;
            let answer = found.iter().filter_map(|similar| {
                Some((state.keys.get(similar.key)?.clone_ref(py), similar.estimate.value))
            });
            Ok(answer.collect::<Vec<_>>())
        };
        let answer: Result<_, minwise::Error> = query();
        drop(state);
        answer.or_raise(py)
    }

    /// Inserts many documents by several threads, all of them or none: texts, or rows of sketches.
    #[pyo3(signature = (keys, documents, *, threads = None))]
    fn insert_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        documents: &Bound<'py, PyAny>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let threads = thread_count(threads)?;
        let keys: Vec<Bound<'_, PyAny>> = keys.try_iter()?.collect::<PyResult<_>>()?;
        if let Ok(sketches) = documents.cast::<PySketches>() {
            let sketches = sketches.get();
            let spec = *self.lock(py).lsh.spec();
            spec.check(sketches.spec()).or_raise(py)?;
            let rows = InsertedDocuments::Rows { words: sketches.words(), values: sketches.values() };
            return self.insert_documents(py, &keys, &rows, threads);
        }
        let mut lent = LentStrings::default();
        let texts = PyTexts::from_object(documents, "documents")?;
        let texts: Vec<Option<&str>> = match &texts {
            PyTexts::Items(items) => {
                for (at, item) in items.iter().enumerate() {
                    if at.is_multiple_of(4096) {
                        py.check_signals()?;
                    }
                    lent.push(item, Surrogates::Repair, Place("documents", at))?;
                }
                (0..lent.len()).map(|at| lent.get(at)).collect()
            }
            PyTexts::Chunks(chunks) => {
                let rows = chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |row| (chunk, row)));
                rows.map(|(chunk, row)| arrow_text(chunk, row)).collect()
            }
        };
        self.insert_documents(py, &keys, &InsertedDocuments::Texts(texts), threads)
    }

    /// Removes a document. A key that the index lacks raises `KeyError`.
    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = self.number(key)?;
        let removed = number.and_then(|number| {
            let state = &mut *self.lock(py);
            // Another thread may have removed this key in the meantime: then `remove` returns none.
            let removed = state.keys.remove(&number)?;
            state.lsh.remove(&number);
            Some(removed)
        });
        let Some(removed) = removed else {
            return Err(PyKeyError::new_err(format!("{} is not in the index", key.repr()?)));
        };
        self.numbers.bind(py).del_item(key)?;
        drop(removed);
        Ok(())
    }

    /// Finds documents that are similar to a text or a sketch: pairs of key and estimate, the most similar one first.
    ///
    /// `at_least` replaces the threshold of the index for this query. `top` is the maximum number of documents.
    #[pyo3(signature = (document, *, at_least = None, top = None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        document: &Bound<'py, PyAny>,
        at_least: Option<f64>,
        top: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<(Py<PyAny>, PyEstimate)>> {
        let top = top.map(|top| count(top, "top", 0)).transpose()?;
        let document = Asked::from_object(document)?;
        let found = self.with_state(py, document.is_long(), |state| {
            let mut searcher = state.lsh.searcher();
            if let Some(similarity) = at_least {
                searcher = searcher.at_least(similarity)?;
            }
            if let Some(top) = top {
                searcher = searcher.at_most(top);
            }
            let found = searcher.query(document.sketchable())?;
            let estimate = |similar: &Similar<'_, Number>| {
                similar.exact.map_or(similar.estimate.into(), PyEstimate::exact)
            };
            Ok(found.iter().map(|similar| (*similar.key, estimate(similar))).collect::<Vec<_>>())
        });
        let found: Vec<(Number, PyEstimate)> = found.map_err(|error: minwise::Error| error.raise(py))?;
        let state = self.lock(py);
        let key = |number| Some(state.keys.get(&number)?.clone_ref(py));
        Ok(found.into_iter().filter_map(|(number, estimate)| Some((key(number)?, estimate))).collect())
    }

    /// Returns the keys in the order of insertion.
    fn keys(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        ordered_keys(py, &self.lock(py))
    }

    /// Adds all documents of another index after the documents of this index. Bands and threshold of this index stay.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        if slf.is(other) {
            return Err(PyValueError::new_err("an index cannot be merged with itself"));
        }
        // The other index is unlocked before this index is locked. Otherwise, two threads that merge two indexes with
        // each other could wait for each other for ever.
        let (mut lsh, old, keys) = {
            let other = other.get().lock(py);
            let old: Vec<Number> = other.lsh.keys().copied().collect();
            let keys: Vec<_> =
                old.iter().map(|number| other.keys.get(number).map(|key| key.clone_ref(py))).collect();
            (Some(other.lsh.clone()), old, keys)
        };
        let keys: Vec<Bound<'_, PyAny>> = keys.into_iter().flatten().map(|key| key.into_bound(py)).collect();
        let this = slf.get();
        // The copy keeps the numbers of the other index, because each number is unique in its process.
        let mut taken = 0;
        for (key, number) in keys.iter().zip(&old) {
            let is_there = this.number(key).map(|number| number.is_some());
            let given = this.numbers.bind(py).call_method1(intern!(py, "setdefault"), (key, number.0));
            let given = given.and_then(|given| given.extract::<u64>());
            let failed = match is_there.and_then(|is_there| Ok((is_there, given?))) {
                Ok((false, found)) if found == number.0 => {
                    taken += 1;
                    continue;
                }
                Ok(_) => {
                    let shown = key.repr().map(|shown| shown.to_string());
                    shown.map_or_else(
                        |error| error,
                        |shown| PyKeyError::new_err(format!("{shown} is in both indexes")),
                    )
                }
                Err(error) => error,
            };
            this.release_keys(keys.iter().take(taken));
            return Err(failed);
        }
        let mut held: Vec<(Number, Py<PyAny>)> =
            old.into_iter().zip(&keys).map(|(number, key)| (number, key.clone().unbind())).collect();
        let result = this.with_state(py, true, |state| {
            let Some(lsh) = lsh.take() else { return Ok(()) };
            state.lsh.merge(lsh)?;
            state.keys.extend(held.drain(..));
            Ok(())
        });
        if result.is_err() {
            this.release_keys(keys.iter());
        }
        result.map_err(|error: minwise::Error| error.raise(py))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.lock(py).lsh.len()
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.number(key)?.is_some())
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
        let py = slf.py();
        let (bytes, keys) = {
            // The index and the keys are read while the mutex is held once, so that they match.
            let state = slf.get().lock(py);
            (postcard::to_stdvec(&state.lsh), ordered_keys(py, &state))
        };
        let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let state = (PICKLE_VERSION, PyBytes::new(py, &bytes), keys).into_pyobject(py)?;
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
        let numbers = restored.numbers.bind(py);
        let mut held = HashMap::with_capacity(made.len());
        for (number, key) in made.into_iter().zip(keys.iter()) {
            numbers.set_item(&key, number.0)?;
            held.insert(number, key.unbind());
        }
        if numbers.len() != held.len() {
            return Err(damaged());
        }
        restored.lock(py).keys = held;
        Ok(restored)
    }
}

impl PyLsh {
    fn insert_documents<'py>(
        &self,
        py: Python<'py>,
        keys: &[Bound<'py, PyAny>],
        documents: &InsertedDocuments<'_>,
        threads: usize,
    ) -> PyResult<()> {
        if documents.len() != keys.len() {
            return Err(PyValueError::new_err(format!(
                "there are {} keys for {} documents",
                keys.len(),
                documents.len()
            )));
        }
        let numbers = self.take_keys(py, keys.iter(), |at, key| {
            let shown = key.repr()?;
            Ok(PyKeyError::new_err(format!("keys[{at}] is {shown}, which is in the index already")))
        })?;
        let mut held: Vec<(Number, Py<PyAny>)> =
            numbers.iter().zip(keys).map(|(&number, key)| (number, key.clone().unbind())).collect();
        let mut work = |watch: &Watch| {
            let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let is_done = documents.insert_all(&mut state.lsh, &numbers, threads, watch)?;
            if is_done {
                state.keys.extend(held.drain(..));
            }
            Ok(())
        };
        let bytes: usize = (0..documents.len()).map(|at| documents.bytes(at)).sum();
        // The bound is higher for sketches, because they are only put into bands. Texts must be cut and sketched
        // before, which is far more work per byte.
        let is_short = match documents {
            InsertedDocuments::Texts(_) => bytes < SUPERVISED_BYTES,
            InsertedDocuments::Rows { .. } => bytes < 16 * SUPERVISED_BYTES,
        };
        let result: PyResult<Result<(), minwise::Error>> = if is_short {
            Ok(py.detach(|| work(&Watch::default())))
        } else {
            supervise(py, &Hooks::default(), 0, work)
        };
        let result = result.and_then(|result| result.or_raise(py));
        if !held.is_empty() {
            self.release_keys(keys.iter());
        }
        result
    }
}

/// Returns the keys in the order of insertion.
fn ordered_keys(py: Python<'_>, state: &State) -> Vec<Py<PyAny>> {
    state.lsh.keys().filter_map(|number| Some(state.keys.get(number)?.clone_ref(py))).collect()
}
