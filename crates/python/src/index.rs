//! The class behind `minwise.Index`: the archive on disk. Matches and metadata are passed as JSON, as in the API of the
//! server.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use minwise::candidate::tune;
use minwise::sketch::Bits;
use minwise_index::{CheckOptions, Error, ErrorKind, Index, IndexSettings, NewDocument, Query, Texts};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;

use crate::error::{Exception, OrRaise, Raise, errno, setting_error, spelled};
use crate::run::{Hooks, Watch, supervise};
use crate::shared::PySpec;
use crate::texts::{DETACH_BYTES, Place, Surrogates, count, string, thread_count, utf8};

impl Raise for Error {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let (message, code) = (self.to_string(), self.code());
        let hint = self.hint().as_ref().map(spelled);
        let hint = hint.as_deref();
        match self.kind() {
            ErrorKind::Setting(error) => error.raise(py),
            ErrorKind::Damaged { .. } => Exception::IndexDamaged.raise(py, &message, code, hint, &[]),
            ErrorKind::NoSuchDocument { .. } => PyKeyError::new_err(message),
            ErrorKind::BadId { .. } | ErrorKind::TextTooLong { .. } | ErrorKind::NoTexts { .. } => {
                setting_error(py, &message, hint)
            }
            ErrorKind::Mismatch { field, left, right } => {
                let text = |text: &str| pyo3::types::PyString::new(py, text).into_any().unbind();
                let more = [("field", text(field)), ("left", text(left)), ("right", text(right))];
                Exception::SpecMismatch.raise(py, &message, code, hint, &more)
            }
            ErrorKind::Interrupted => {
                Exception::Cancelled.raise(py, "the work was cancelled", "cancelled", None, &[])
            }
            _ => {
                let errno = self.io_error().and_then(errno).into_pyobject(py);
                let errno = match errno {
                    Ok(errno) => errno.unbind(),
                    Err(never) => match never {},
                };
                Exception::Input.raise(py, &message, code, hint, &[("errno", errno)])
            }
        }
    }
}

/// The archive of documents on disk, for `minwise.Index`.
#[pyclass(name = "Archive", frozen, module = "minwise._minwise")]
pub struct PyArchive {
    index: RwLock<Option<Arc<Index>>>,
    /// The id of the process that opened the archive.
    process: u32,
}

impl PyArchive {
    fn new(index: Index) -> Self {
        Self { index: RwLock::new(Some(Arc::new(index))), process: std::process::id() }
    }

    /// Reports whether this object is a copy in a forked process. The copy cannot be used, because the threads and the
    /// lock of the archive stay in the first process.
    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&Index) -> PyResult<T>) -> PyResult<T> {
        if self.is_forked() {
            return Err(PyValueError::new_err(
                "another process opened the archive: open it again in this one",
            ));
        }
        // The lock is not held during the work, because a callback may close the archive.
        let index = self.index.read_py_attached(py).unwrap_or_else(PoisonError::into_inner).clone();
        let Some(index) = index else { return Err(PyValueError::new_err("the index is closed")) };
        let result = work(&index);
        py.detach(|| drop(index));
        result
    }
}

impl Drop for PyArchive {
    fn drop(&mut self) {
        if self.is_forked() {
            // The copy is not closed, because closing would wait for threads that exist only in the process that opened
            // the archive.
            std::mem::forget(self.index.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

#[pymethods]
impl PyArchive {
    /// Opens an archive.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(Self::new(py.detach(|| Index::open(&path)).or_raise(py)?))
    }

    /// Makes an archive, as `minwise index create` does.
    #[staticmethod]
    #[pyo3(signature = (path, spec, threshold, recall, passage, bits, texts))]
    #[allow(clippy::too_many_arguments, reason = "each is an argument of Python")]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        spec: Option<&Bound<'_, PyAny>>,
        threshold: f64,
        recall: f64,
        passage: &Bound<'_, PyAny>,
        bits: Option<&str>,
        texts: bool,
    ) -> PyResult<Self> {
        let passage = count(passage, "passage", 0)?;
        let spec = PySpec::from_object(py, spec)?.spec;
        let banding = tune::choose(threshold, recall, spec.method.registers(), |similarity| similarity);
        let banding = banding.or_raise(py)?;
        let bits: Option<Bits> = bits.map(|bits| bits.parse::<Bits>().or_raise(py)).transpose()?;
        let settings = IndexSettings::default()
            .spec(spec)
            .bands(banding.bands())
            .rows(banding.rows())
            .passage(passage)
            .bits(bits)
            .texts(if texts { Texts::Kept } else { Texts::LeftOut });
        let index = py.detach(|| Index::create(&path, &settings)).or_raise(py)?;
        Ok(Self::new(index))
    }

    /// Adds documents: ids, texts, titles and metadata as JSON. Returns the numbers of new, replaced and unchanged
    /// documents.
    #[allow(clippy::too_many_arguments, reason = "columns of one table")]
    fn add(
        &self,
        py: Python<'_>,
        ids: Vec<String>,
        texts: Vec<Bound<'_, PyAny>>,
        titles: Vec<Option<String>>,
        metadata: Vec<Option<String>>,
        threads: Option<&Bound<'_, PyAny>>,
        added: u64,
    ) -> PyResult<(u64, u64, u64)> {
        let threads = thread_count(threads)?;
        let mut documents = Vec::with_capacity(ids.len());
        for (at, (((id, text), title), metadata)) in
            ids.into_iter().zip(&texts).zip(titles).zip(metadata).enumerate()
        {
            let place = Place("texts", at);
            let (text, _) = utf8(string(text, place)?, Surrogates::Repair, place)?;
            let mut document = NewDocument::new(id, text.into_owned());
            document.title = title;
            if let Some(metadata) = metadata {
                document.metadata = serde_json::from_str(&metadata)
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
            }
            documents.push(document);
        }
        self.with(py, |index| {
            let work = |watch: &Watch| index.add_observed(&documents, added, threads, watch);
            let added = supervise(py, &Hooks::default(), 0, work)?.or_raise(py)?;
            Ok((added.new, added.replaced, added.unchanged))
        })
    }

    /// Removes the documents with the given ids: all of them, or none if an error is raised.
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<u64> {
        self.with(py, |index| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            py.detach(|| index.remove(&ids)).or_raise(py)
        })
    }

    /// Checks a text against the archive and returns the answer as JSON. `options` has the fields of `CheckOptions` as
    /// JSON.
    fn check(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        options: &str,
        metadata: Option<&str>,
        itself: Option<&str>,
    ) -> PyResult<String> {
        let place = Place("text", crate::texts::WHOLE);
        let (text, _) = utf8(string(text, place)?, Surrogates::Repair, place)?;
        let options: CheckOptions = serde_json::from_str(options)
            .map_err(|error| setting_error(py, &format!("an option cannot be read: {error}"), None))?;
        let problems = options.problems();
        if !problems.is_empty() {
            let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(setting_error(py, &words.join("; "), None));
        }
        let metadata = metadata.map(serde_json::from_str).transpose();
        let metadata = metadata.map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.with(py, |index| {
            let mut query = Query::new(&text);
            (query.metadata, query.itself) = (metadata.as_ref(), itself);
            let answer = if text.len() < DETACH_BYTES {
                py.detach(|| index.check(&query, &options))
            } else {
                supervise(py, &Hooks::default(), 0, |watch| index.check_observed(&query, &options, watch))?
            };
            let answer = answer.or_raise(py)?;
            serde_json::to_string(&answer).map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }

    /// Returns the text of a document, or `None` if the archive keeps no texts.
    fn text(&self, py: Python<'_>, id: &str) -> PyResult<Option<String>> {
        self.with(py, |index| match py.detach(|| index.get(id)).or_raise(py)? {
            Some(document) => Ok(document.text),
            None => Err(PyKeyError::new_err(format!("no document has the id {id:?}"))),
        })
    }

    fn has(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        self.with(py, |index| index.has(id).or_raise(py))
    }

    fn ids(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |index| py.detach(|| index.ids()).or_raise(py))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |index| Ok(index.statistics().or_raise(py)?.documents as usize))
    }

    /// Returns the counts and sizes of the archive as JSON.
    fn statistics(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |index| {
            let statistics = py.detach(|| index.statistics()).or_raise(py)?;
            serde_json::to_string(&statistics).map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }

    /// Returns the spec of the archive.
    fn spec(&self, py: Python<'_>) -> PyResult<PySpec> {
        self.with(py, |index| Ok(PySpec::new_of(index.settings().spec)))
    }

    /// Merges the changes, and drops the data of removed documents.
    fn compact<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Bound<'py, PyAny>>,
        cancel: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let hooks = Hooks { progress, cancel };
        self.with(py, |index| supervise(py, &hooks, 0, |watch| index.compact(watch))?.or_raise(py))
    }

    /// Closes the archive, so that another process can open it.
    fn close(&self, py: Python<'_>) {
        if !self.is_forked() {
            let index = self.index.write_py_attached(py).unwrap_or_else(PoisonError::into_inner).take();
            py.detach(|| drop(index));
        }
    }

    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        self.index.read_py_attached(py).unwrap_or_else(PoisonError::into_inner).is_none()
    }
}
