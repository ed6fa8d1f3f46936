//! Converts errors of the library to exceptions of Python.
//!
//! The exceptions are classes of `minwise._errors`, because most of them have two bases, such as `ValueError` and
//! `MinwiseError`, which an extension module of the stable interface cannot define.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use minwise::{ErrorKind as CoreKind, Sentence, SentencePart};
use minwise_corpus::ErrorKind as CorpusKind;
use minwise_engine::{Error, ErrorKind, SettingProblem};
use pyo3::exceptions::{PyBaseException, PyKeyError};
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PyModule, PyTuple, PyType};

/// The file and the line of the last panic.
static PANICKED_AT: Mutex<Option<String>> = Mutex::new(None);

/// Turns every panic of the module into a `MinwiseError`, and prints nothing.
///
/// PyO3 catches the panics of all methods, getters and functions, and raises `PanicException` with the text of the
/// panic. `catch_panics` replaces `PanicException.__new__` by a function that makes a `MinwiseError`. Python and PyO3
/// take the type of an exception from the object that `__new__` returned, so callers never see a `PanicException`.
/// Wrappers around each method were tried before; they missed the getters.
///
/// Other extension modules are not affected, because each has its own copy of PyO3, of `PanicException` and of the
/// panic hook.
pub fn catch_panics(py: Python<'_>) -> PyResult<()> {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!("{}:{}", short_path(place.file()), place.line()));
        *PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    let made = |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        let py = args.py();
        // While another exception is handled, Python calls this function twice: first with the text of the panic, then
        // with the exception that the first call returned. The second call returns its argument.
        match args.get_item(1) {
            Ok(made) if made.is_instance_of::<PyBaseException>() => made.unbind(),
            _ => internal_error(py).into_value(py).into_any(),
        }
    };
    py.get_type::<PanicException>().setattr("__new__", PyCFunction::new_closure(py, None, None, made)?)
}

/// Returns the last three parts of a path. Earlier folders are left out, because they belong to the machine that built
/// the library.
fn short_path(path: &str) -> &str {
    let parts = path.rmatch_indices(['/', '\\']).nth(2);
    parts.map_or(path, |(at, _)| &path[at + 1..])
}

/// Makes the exception for a panic.
pub fn internal_error(py: Python<'_>) -> PyErr {
    let place = PANICKED_AT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
    let message = format!("internal error{place}: this is a bug of minwise, please report it");
    Exception::Minwise.raise(py, &message, "internal", None, &[])
}

/// Panics on demand, so that tests can check the exceptions. Release builds, such as wheels, lack these functions.
#[cfg(debug_assertions)]
pub mod fault {
    use std::sync::atomic::{AtomicBool, Ordering};

    use pyo3::prelude::*;

    static IS_WANTED: AtomicBool = AtomicBool::new(false);

    /// Panics if a test has called `fail_next` for this run.
    pub fn check() {
        assert!(!IS_WANTED.swap(false, Ordering::Relaxed), "a fault of a test");
    }

    /// Makes the worker thread of the next run panic.
    #[pyfunction]
    pub fn fail_next() {
        IS_WANTED.store(true, Ordering::Relaxed);
    }

    fn panics() -> ! {
        panic!("a fault of a test")
    }

    /// A class with a member of every kind, to test that each panic becomes an exception. All members panic except
    /// `calls`. `Faulty(False)` makes an object; `Faulty(True)` panics.
    #[pyclass(frozen, module = "minwise._minwise")]
    pub struct Faulty;

    #[pymethods]
    impl Faulty {
        #[new]
        fn new(fails: bool) -> Self {
            if fails { panics() } else { Self }
        }

        #[getter]
        fn value(&self) -> usize {
            panics()
        }

        fn method(&self) -> PyResult<usize> {
            panics()
        }

        /// Calls a function, as runs call `progress`.
        fn calls(&self, function: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
            function.call0().map(Bound::unbind)
        }

        #[staticmethod]
        fn function(_text: &str) -> usize {
            panics()
        }

        #[classmethod]
        fn of_class(_class: &Bound<'_, pyo3::types::PyType>) -> usize {
            panics()
        }

        fn __len__(&self) -> usize {
            panics()
        }

        fn __contains__(&self, _key: &Bound<'_, PyAny>) -> bool {
            panics()
        }

        fn __getitem__(&self, _key: &Bound<'_, PyAny>) -> usize {
            panics()
        }

        fn __repr__(&self) -> String {
            panics()
        }

        fn __eq__(&self, _other: &Bound<'_, PyAny>) -> bool {
            panics()
        }

        fn __hash__(&self) -> u64 {
            panics()
        }

        fn __float__(&self) -> f64 {
            panics()
        }

        fn __reduce__(&self) -> PyResult<(usize, usize)> {
            panics()
        }
    }
}

#[cfg(not(debug_assertions))]
pub mod fault {
    pub fn check() {}
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

    /// Makes the exception with a message, a stable code and a hint. `more` has further attributes of the exception.
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

/// Makes the exception for a setting that cannot be used.
pub fn setting_error(py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
    Exception::Setting.raise(py, message, "bad_setting", hint, &[])
}

/// Returns the argument name of a setting in Python: `max_df` for `max-df`, `text` for `text-field`.
pub fn argument(setting: &str) -> String {
    match setting {
        "text-field" => "text".to_owned(),
        "id-field" => "id".to_owned(),
        setting => setting.replace('-', "_"),
    }
}

/// Spells a sentence for Python: settings as arguments, actions as calls.
pub fn spelled(sentence: &Sentence) -> String {
    sentence.spelled(|part| match part {
        SentencePart::Setting { name, value: None } => format!("`{}`", argument(name)).into(),
        SentencePart::Setting { name, value: Some(value) } => {
            let is_plain = value.parse::<f64>().is_ok() || value.chars().all(|c| c.is_ascii_uppercase());
            let quote = if is_plain { "" } else { "\"" };
            format!("`{}={quote}{value}{quote}`", argument(name)).into()
        }
        SentencePart::Action { name, argument } => spelled_action(name, argument.as_deref()).into(),
        SentencePart::Text(text) => Cow::Borrowed(text.as_ref()),
        part => part.to_string().into(),
    })
}

/// Spells an action as a call of the package, or as a command if the package has no such call.
fn spelled_action(name: &str, argument: Option<&str>) -> String {
    match (name, argument) {
        ("index create", Some(path)) => format!("`minwise.Index.create({path:?})`"),
        ("index add", Some(path)) => format!("`minwise.Index({path:?}).add(documents)`"),
        ("index list", None) => "`Index.ids()`".to_owned(),
        ("sketch", None) => "`Sketches.save(path)`".to_owned(),
        (name, None) => format!("`minwise {name}`"),
        (name, Some(argument)) => format!("`minwise {name} {argument}`"),
    }
}

/// Returns the error number of the operating system. Libraries that add a path to an error wrap it, so the causes of
/// the error are searched, too.
pub fn errno(error: &std::io::Error) -> Option<i32> {
    if let Some(number) = error.raw_os_error() {
        return Some(number);
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = error.get_ref().map(|inner| inner as _);
    while let Some(error) = cause {
        if let Some(number) = error.downcast_ref::<std::io::Error>().and_then(errno) {
            return Some(number);
        }
        cause = error.source();
    }
    None
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

/// Joins the messages of all problems into one text, and their hints into another.
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
        let errno = self.io_error().and_then(errno);
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
