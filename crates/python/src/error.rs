//! From the errors of the library to exceptions.
//!
//! The exceptions are classes of `minwise._errors`, because most of them have two bases, such as `ValueError` and
//! `MinwiseError`, which an extension module of the stable interface cannot define.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use minwise::{ErrorKind as CoreKind, Sentence, SentencePart};
use minwise_corpus::ErrorKind as CorpusKind;
use minwise_engine::{Error, ErrorKind, SettingProblem};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyType};

/// Where the last panic was: the file and the line.
static PANICKED_AT: Mutex<Option<String>> = Mutex::new(None);

/// Replaces the hook that prints panics. A panic becomes an exception, and a library prints nothing.
///
/// The hook is that of no other extension module, because each has a copy of the standard library of its own.
pub fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!("{}:{}", short_path(place.file()), place.line()));
        *PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// The last parts of a path, because the folders before them are those of the machine that built the library.
fn short_path(path: &str) -> &str {
    let parts = path.rmatch_indices(['/', '\\']).nth(2);
    parts.map_or(path, |(at, _)| &path[at + 1..])
}

/// Does the work of a call from Python. If the library panics, the call raises `MinwiseError`.
pub fn guard<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let work = || {
        fault::check(fault::CALL);
        work()
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(internal_error(py)))
}

/// The exception for a panic.
pub fn internal_error(py: Python<'_>) -> PyErr {
    let place = PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
    let message = format!("internal error{place}: this is a bug of minwise, please report it");
    Exception::Minwise.raise(py, &message, "internal", None, &[])
}

/// Panics on demand, so that tests see what becomes of them. Wheels have none.
#[cfg(debug_assertions)]
pub mod fault {
    use std::sync::atomic::{AtomicU8, Ordering};

    pub const CALL: u8 = 1;
    pub const WORKER: u8 = 2;
    static WANTED: AtomicU8 = AtomicU8::new(0);

    pub fn check(place: u8) {
        let is_wanted = WANTED.compare_exchange(place, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        assert!(!is_wanted, "a fault of a test");
    }

    /// Makes the next call panic (1), or the worker thread of the next run (2).
    #[pyo3::pyfunction]
    pub fn fail_next(place: u8) {
        WANTED.store(place, Ordering::Relaxed);
    }
}

#[cfg(not(debug_assertions))]
pub mod fault {
    pub const CALL: u8 = 1;
    pub const WORKER: u8 = 2;

    pub fn check(_: u8) {}
}

/// The exceptions of the package.
#[derive(Debug, Clone, Copy)]
pub enum Exception {
    Setting,
    SpecMismatch,
    Input,
    RejectedRecords,
    IndexDamaged,
    Cancelled,
    Minwise,
}

impl Exception {
    fn name(self) -> &'static str {
        match self {
            Self::Setting => "SettingError",
            Self::SpecMismatch => "SpecMismatch",
            Self::Input => "InputError",
            Self::RejectedRecords => "RejectedRecords",
            Self::IndexDamaged => "IndexDamaged",
            Self::Cancelled => "Cancelled",
            Self::Minwise => "MinwiseError",
        }
    }

    fn class(self, py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
        static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        let module =
            MODULE.get_or_try_init(py, || PyModule::import(py, "minwise._errors").map(Bound::unbind))?;
        Ok(module.bind(py).getattr(self.name())?.cast_into()?)
    }

    /// The exception with a message, a stable code and a hint.
    pub fn raise(
        self,
        py: Python<'_>,
        message: &str,
        code: &str,
        hint: Option<&str>,
        more: &[(&str, Py<PyAny>)],
    ) -> PyErr {
        let made = || {
            let fields = PyDict::new(py);
            fields.set_item("code", code)?;
            fields.set_item("hint", hint)?;
            for (name, value) in more {
                fields.set_item(name, value)?;
            }
            self.class(py)?.call((message,), Some(&fields))
        };
        made().map_or_else(|error| error, PyErr::from_value)
    }
}

/// A setting that cannot be used.
pub fn setting_error(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    Exception::Setting.raise(py, message, "bad_setting", hint, &[])
}

/// The name of a setting as an argument of Python: `max-df` is `max_df`, `text-field` is `text`.
pub fn argument(setting: &str) -> String {
    match setting {
        "text-field" => "text".to_owned(),
        "id-field" => "id".to_owned(),
        setting => setting.replace('-', "_"),
    }
}

/// A sentence as Python spells it: settings are arguments, actions are commands.
pub fn spelled(sentence: &Sentence) -> String {
    sentence.spelled(|part| match part {
        SentencePart::Setting { name, value: None } => format!("`{}`", argument(name)).into(),
        SentencePart::Setting { name, value: Some(value) } => {
            let is_plain = value.parse::<f64>().is_ok() || value.chars().all(|c| c.is_ascii_uppercase());
            let quote = if is_plain { "" } else { "\"" };
            format!("`{}={quote}{value}{quote}`", argument(name)).into()
        }
        SentencePart::Action { name, argument: None } => format!("`minwise {name}`").into(),
        SentencePart::Action { name, argument: Some(argument) } => {
            format!("`minwise {name} {argument}`").into()
        }
        SentencePart::Text(text) => Cow::Borrowed(text.as_ref()),
        part => part.to_string().into(),
    })
}

/// Turns an error of the library into an exception.
pub trait Raise {
    fn raise(&self, py: Python<'_>) -> PyErr;
}

/// A result whose error becomes an exception.
pub trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Raise> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| error.raise(py))
    }
}

impl Raise for minwise::Error {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let hint = self.hint().as_ref().map(spelled);
        let (message, code) = (self.to_string(), self.code());
        match self.kind() {
            CoreKind::SpecMismatch { field, left, right } => {
                let text = |text: &str| pyo3::types::PyString::new(py, text).into_any().unbind();
                let more = [("field", text(field)), ("left", text(left)), ("right", text(right))];
                Exception::SpecMismatch.raise(py, &message, code, hint.as_deref(), &more)
            }
            CoreKind::DuplicateKey { .. } => PyKeyError::new_err(message),
            CoreKind::Decode { .. } => Exception::Input.raise(py, &message, code, hint.as_deref(), &[]),
            _ => Exception::Setting.raise(py, &message, code, hint.as_deref(), &[]),
        }
    }
}

/// The words of all problems, one after the other.
fn problem_lines(problems: &[SettingProblem]) -> (String, Option<String>) {
    let messages: Vec<String> = problems.iter().map(|problem| spelled(&problem.message())).collect();
    let hints: Vec<String> =
        problems.iter().filter_map(|problem| problem.hint.as_ref().map(spelled)).collect();
    (messages.join("; "), (!hints.is_empty()).then(|| hints.join("; ")))
}

impl Raise for Error {
    fn raise(&self, py: Python<'_>) -> PyErr {
        if self.is_cancelled() {
            return Exception::Cancelled.raise(py, "the run was cancelled", "cancelled", None, &[]);
        }
        let (code, message) = (self.code(), spelled(&self.message()));
        let hint = self.hint().as_ref().map(spelled);
        let hint = hint.as_deref();
        let errno = self.io_error().and_then(std::io::Error::raw_os_error);
        match self.kind() {
            ErrorKind::Settings(problems) => {
                let (message, hint) = problem_lines(problems);
                let names: Vec<String> = problems.iter().map(|problem| argument(problem.setting)).collect();
                let names = match names.into_pyobject(py) {
                    Ok(names) => names.unbind(),
                    Err(error) => return error,
                };
                Exception::Setting.raise(py, &message, code, hint.as_deref(), &[("settings", names)])
            }
            ErrorKind::Spec(error) => error.raise(py),
            ErrorKind::TooManyRejects { .. } | ErrorKind::AllRejected { .. } | ErrorKind::NullText { .. } => {
                Exception::RejectedRecords.raise(py, &message, code, hint, &[])
            }
            ErrorKind::NoSuchId { .. } => PyKeyError::new_err(message),
            ErrorKind::Corpus(error)
                if matches!(error.kind(), CorpusKind::BadOption { .. } | CorpusKind::NoFields { .. }) =>
            {
                Exception::Setting.raise(py, &message, code, hint, &[])
            }
            ErrorKind::NoSuchField { .. }
            | ErrorKind::NoTextField { .. }
            | ErrorKind::Output { .. }
            | ErrorKind::Changed { .. }
            | ErrorKind::TooLittleMemory { .. } => Exception::Setting.raise(py, &message, code, hint, &[]),
            ErrorKind::Corpus(_) | ErrorKind::File { .. } => {
                let errno = match errno.into_pyobject(py) {
                    Ok(errno) => errno.unbind(),
                    Err(never) => match never {},
                };
                Exception::Input.raise(py, &message, code, hint, &[("errno", errno)])
            }
            _ => Exception::Minwise.raise(py, &message, code, hint, &[]),
        }
    }
}

impl Raise for minwise_corpus::Error {
    fn raise(&self, py: Python<'_>) -> PyErr {
        let message = spelled(&self.message());
        let hint = self.hint().as_ref().map(spelled);
        Exception::Input.raise(py, &message, self.code(), hint.as_deref(), &[])
    }
}
