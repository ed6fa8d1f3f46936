//! The methods of `Spec`.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::thread::available_parallelism;

use minwise::{Spec, VERSION, text::UNICODE};
use minwise_engine::{Arguments, Preparation, Prepared};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::column::{Column, SharedNumbers, as_array};
use crate::comparison::{ComparedText, PyComparison};
use crate::error::{OrRaise, internal_error};
use crate::run::{SUPERVISED_BYTES, abandonable};
use crate::shared::PySpec;
use crate::sketches::PySketches;
use crate::texts::{
    DETACH_BYTES, LentStrings, Place, PyTexts, Surrogates, WHOLE, arrow_text, count, prefetch_object, string,
    utf8, utf8_and_pairs, whole,
};

/// Number of bytes of text per thread in a block of a list of texts. Strings that are not ASCII are copied before they
/// are sketched, and the copies of a small block are still in the cache then. Measured once each on a busy machine: 441
/// MB of text per CPU second with 16 MiB, 470 MB with 2 MiB.
const BLOCK_BYTES: usize = 2 << 20;

thread_local! {
    /// Buffers for short texts, which are sketched without releasing the interpreter's lock.
    static ROOM: RefCell<Prepared> = RefCell::default();
}

#[pymethods]
impl PySpec {
    #[new]
    #[pyo3(signature = (text = "nfkc+casefold / words:5 / minhash:128 / seed:1", /))]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self::new_of(text.parse::<Spec>().or_raise(py)?))
    }

    /// Makes a spec from its parts. The parts have the names of the command's options.
    #[classmethod]
    #[pyo3(signature = (*, normalize = "nfkc+casefold", shingle = "words:5", sketch = None, registers = None, seed = None,
        weight = "none", whitespace = "fold", short = "one", strip_markup = false, max_df = None),
        text_signature = "($cls, *, normalize='nfkc+casefold', shingle='words:5', sketch=None, registers=None, seed=1, \
        weight='none', whitespace='fold', short='one', strip_markup=False, max_df=None)")]
    #[allow(clippy::too_many_arguments, reason = "each is an argument of Python")]
    fn of(
        cls: &Bound<'_, pyo3::types::PyType>,
        normalize: &str,
        shingle: &str,
        sketch: Option<&str>,
        registers: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        weight: &str,
        whitespace: &str,
        short: &str,
        strip_markup: bool,
        max_df: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = cls.py();
        let mut arguments = Arguments::new();
        let text = |number: u64| number.to_string();
        let texts = [
            ("normalize", Some(normalize.to_owned())),
            ("shingle", Some(shingle.to_owned())),
            ("sketch", sketch.map(ToOwned::to_owned)),
            ("registers", registers.map(|number| whole(number, "registers", 1)).transpose()?.map(text)),
            ("seed", seed.map(|number| whole(number, "seed", 0)).transpose()?.map(text)),
            ("weight", Some(weight.to_owned())),
            ("whitespace", Some(whitespace.to_owned())),
            ("short", Some(short.to_owned())),
            ("strip-markup", Some(strip_markup.to_string())),
            // The number is passed as Python prints it, because `1.0` is a share of the documents and `1` a number of
            // documents.
            ("max-df", max_df.map(|most| most.str().map(|text| text.to_string())).transpose()?),
        ];
        for (setting, text) in texts {
            if let Some(text) = text {
                arguments.set(setting, &text);
            }
        }
        let spec = arguments.spec();
        arguments.built(Ok(spec)).or_raise(py).map(Self::new_of)
    }

    /// A 64-bit hash of the text form of the spec, its version and the Unicode version. Equal specs have equal fingerprints
    /// in one version of Minwise.
    #[getter]
    fn fingerprint(&self) -> u64 {
        self.shared.spec.fingerprint()
    }

    /// The number of registers of a sketch.
    #[getter]
    fn registers(&self) -> usize {
        self.shared.spec.method.registers()
    }

    /// The version of the meaning of specs. If it changes, a spec with the same text form gives other sketches.
    #[getter]
    fn version(&self) -> u32 {
        VERSION
    }

    /// The version of Unicode that normalises texts.
    #[getter]
    fn unicode(&self) -> &'static str {
        UNICODE
    }

    /// Raises `SpecMismatch` unless both specs are equal. The error names the field that differs.
    fn check(&self, py: Python<'_>, other: &Bound<'_, PySpec>) -> PyResult<()> {
        self.shared.spec.check(&other.get().shared.spec).or_raise(py)
    }

    /// Sketches texts.
    ///
    /// `texts` is a list of str, an Arrow column, or a column of NumPy, pandas or polars. A null text, and a text without
    /// shingles, has a row whose words are all 2³² − 1.
    ///
    /// >>> import minwise
    /// >>> minwise.Spec().sketch(["To be or not to be", "that is the question"]).shape
    /// (2, 128)
    #[pyo3(signature = (texts, *, threads = None, errors = "replace"))]
    fn sketch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<PySketches> {
        let threads = threads.map(|threads| count(threads, "threads", 1)).transpose()?;
        self.sketched(py, texts, threads, errors)
    }

    /// Returns the shingles of a text in document order, as 64-bit hashes, repeats included.
    fn shingles<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let preparation = self.shared.preparation(py)?;
        let place = Place("text", WHOLE);
        let (text, _) = utf8(string(text, place)?, Surrogates::Repair, place)?;
        let made = || preparation.document(&text).shingles().to_vec();
        let shingles = if text.len() < DETACH_BYTES { made() } else { py.detach(made) };
        as_array(py, Column::new(SharedNumbers::U64(Arc::new(shingles))))
    }

    /// Compares two texts: exact similarity, the estimate of their sketches, and the longest passages that both share.
    #[pyo3(signature = (a, b, *, passages = None), text_signature = "($self, a, b, *, passages=0)")]
    fn compare(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        passages: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyComparison> {
        let passages = passages.map_or(Ok(0), |passages| count(passages, "passages", 0))?;
        let (a, b) = (string(a, Place("a", WHOLE))?, string(b, Place("b", WHOLE))?);
        let texts = [(a, "a"), (b, "b")].map(|(text, name)| -> PyResult<ComparedText> {
            let (text, pairs) = utf8_and_pairs(text, name)?;
            Ok(ComparedText { text: text.into_owned(), pairs })
        });
        let [a, b] = texts;
        let (a, b) = (a?, b?);
        let bytes = a.text.len() + b.text.len();
        if bytes >= SUPERVISED_BYTES {
            self.shared.preparation(py)?;
            let shared = Arc::clone(&self.shared);
            let (a, b, comparison) = abandonable(py, move || {
                let comparison = shared.ready().map(|preparation| preparation.compare(&a.text, &b.text));
                (a, b, comparison)
            })?;
            let Some(comparison) = comparison else { return Err(internal_error(py)) };
            return PyComparison::new(py, &comparison, a, b, passages);
        }
        let preparation = self.shared.preparation(py)?;
        let compare = || preparation.compare(&a.text, &b.text);
        let comparison = if bytes < DETACH_BYTES { compare() } else { py.detach(compare) };
        PyComparison::new(py, &comparison, a, b, passages)
    }

    fn __str__(&self) -> String {
        self.shared.spec.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Spec(\"{}\")", self.shared.spec)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().shared.spec == self.shared.spec)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.shared.spec.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let text = slf.get().shared.spec.to_string();
        Ok((slf.get_type().into_any(), PyTuple::new(slf.py(), [text])?))
    }
}

impl PySpec {
    fn sketched(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        threads: Option<usize>,
        errors: &str,
    ) -> PyResult<PySketches> {
        let preparation = self.shared.preparation(py)?;
        let surrogates = Surrogates::from_errors(errors)?;
        let texts = PyTexts::from_object(texts, "texts")?;
        let words = preparation.words();
        let mut rows = vec![u32::MAX; texts.len() * words];
        let mut present = vec![false; texts.len()];
        // The block assumes 4 threads by default, because asking for the number of cores takes longer than sketching a
        // short text.
        let block = BLOCK_BYTES * threads.unwrap_or(4).min(64);
        let threads = || threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        match texts {
            PyTexts::Items(items) => {
                let (mut begin, mut lent) = (0, LentStrings::default());
                let mut room = Prepared::default();
                while begin < items.len() {
                    lent.clear();
                    while begin + lent.len() < items.len() && lent.bytes() < block {
                        let at = begin + lent.len();
                        if let Some(item) = items.get(at + 4) {
                            prefetch_object(item);
                        }
                        lent.push(&items[at], surrogates, Place("texts", at))?;
                    }
                    let end = begin + lent.len();
                    let rows = &mut rows[begin * words..end * words];
                    let present = &mut present[begin..end];
                    if lent.bytes() < DETACH_BYTES {
                        sketch_short(preparation, &lent, rows, present);
                    } else {
                        let threads = threads();
                        let text = |at: usize| {
                            if at + 1 < lent.len() {
                                lent.prefetch(at + 1);
                            }
                            lent.get(at)
                        };
                        py.detach(|| {
                            sketch_all(preparation, &mut room, lent.len(), text, rows, present, threads);
                        });
                        py.check_signals()?;
                    }
                    begin = end;
                }
            }
            PyTexts::Chunks(chunks) => {
                let threads = threads();
                let (mut begin, mut room) = (0, Prepared::default());
                for chunk in &chunks {
                    let (mut from, len) = (0, chunk.len());
                    while from < len {
                        // A chunk is sketched in blocks, so that signals are handled after each block.
                        let (mut to, mut bytes) = (from, 0);
                        while to < len && bytes < block {
                            bytes += arrow_text(chunk, to).map_or(0, str::len);
                            to += 1;
                        }
                        let rows = &mut rows[(begin + from) * words..(begin + to) * words];
                        let present = &mut present[begin + from..begin + to];
                        let text = |at: usize| arrow_text(chunk, from + at);
                        py.detach(|| {
                            sketch_all(preparation, &mut room, to - from, text, rows, present, threads);
                        });
                        py.check_signals()?;
                        from = to;
                    }
                    begin += len;
                }
            }
        }
        Ok(PySketches::owned(Arc::clone(&self.shared), words, rows, present, None))
    }
}

fn sketch_short(preparation: &Preparation, lent: &LentStrings<'_>, rows: &mut [u32], present: &mut [bool]) {
    ROOM.with_borrow_mut(|room| {
        let words = preparation.words();
        for (at, (row, has_shingles)) in rows.chunks_exact_mut(words).zip(present).enumerate() {
            *has_shingles = lent.get(at).is_some_and(|text| preparation.sketch_into(text, room, row));
        }
    });
}

/// Sketches texts by several threads. The result does not depend on the number of threads. `room` has the buffers of
/// the calling thread, so that they are allocated once and not per block.
fn sketch_all<'t>(
    preparation: &Preparation,
    room: &mut Prepared,
    texts: usize,
    text: impl Fn(usize) -> Option<&'t str> + Sync,
    rows: &mut [u32],
    present: &mut [bool],
    threads: usize,
) {
    let words = preparation.words();
    // The texts are divided into eight parts per thread, because they differ in length: a thread with short texts takes
    // more parts.
    let part = texts.div_ceil(threads.min(texts).max(1) * 8).max(1);
    let parts = rows.chunks_mut(part * words).zip(present.chunks_mut(part)).enumerate();
    let parts = std::sync::Mutex::new(parts);
    let work = |room: &mut Prepared| {
        loop {
            let Some((number, (rows, present))) = parts.lock().ok().and_then(|mut parts| parts.next()) else {
                return;
            };
            for (at, (row, has_shingles)) in rows.chunks_exact_mut(words).zip(present).enumerate() {
                let text = text(number * part + at);
                *has_shingles = text.is_some_and(|text| preparation.sketch_into(text, room, row));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(texts) {
            scope.spawn(|| work(&mut Prepared::default()));
        }
        work(room);
    });
}
