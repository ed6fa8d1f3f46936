//! Texts of Python, lent to the library.
//!
//! ASCII strings are lent in place. Other strings are encoded into a buffer of our own, because the function of Python that
//! lends their UTF-8 would leave a second copy in every string.
#![allow(unsafe_code, reason = "strings are lent to threads that do not hold the interpreter's lock")]

use std::borrow::Cow;
use std::ops::Range;
use std::thread::available_parallelism;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::arrow::{Arrived, import};
use crate::error::Exception;

/// For less text than this, the interpreter's lock is kept, because releasing it costs more than the work.
pub const DETACH_BYTES: usize = 16 << 10;

/// The rule for lone surrogates, which UTF-8 cannot encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrogates {
    /// A lone surrogate is replaced by U+FFFD, as the command replaces one in JSON.
    Repair,
    /// A lone surrogate is an error.
    Refuse,
}

impl Surrogates {
    pub fn from_errors(errors: &str) -> PyResult<Self> {
        match errors {
            "replace" => Ok(Self::Repair),
            "strict" => Ok(Self::Refuse),
            other => Err(PyValueError::new_err(format!(
                "errors is {other:?}: it must be \"replace\" or \"strict\""
            ))),
        }
    }
}

/// The name of an argument and a position in it, for messages.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a>(pub &'a str, pub usize);

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.1 == usize::MAX { f.write_str(self.0) } else { write!(f, "{}[{}]", self.0, self.1) }
    }
}

/// The position of a place that is a whole argument.
pub const WHOLE: usize = usize::MAX;

/// The name of an object's type.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "unknown".to_owned(), |name| name.to_string())
}

/// The string, or an error that names the place.
pub fn string<'a, 'py>(value: &'a Bound<'py, PyAny>, place: Place<'_>) -> PyResult<&'a Bound<'py, PyString>> {
    value
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err(format!("{place} is {}: it must be str", type_name(value))))
}

/// A whole number of at least `least`, or an error that names the argument. Integers of other libraries, such as NumPy, are
/// accepted.
pub fn whole(value: &Bound<'_, PyAny>, name: &str, least: u64) -> PyResult<u64> {
    let py = value.py();
    let Ok(number) = value.call_method0(pyo3::intern!(py, "__index__")) else {
        return Err(PyTypeError::new_err(format!("{name} is {}: it must be int", type_name(value))));
    };
    let wrong = match number.extract::<u64>() {
        Ok(number) if number >= least => return Ok(number),
        Err(_) if number.gt(0)? => "is too large: it must fit into 64 bits".to_owned(),
        _ => format!("is too small: it must be at least {least}"),
    };
    let names = PyTuple::new(py, [name])?.into_any().unbind();
    let message = format!("`{name}`: {number} {wrong}");
    Err(Exception::Setting.raise(py, &message, "bad_setting", None, &[("settings", names)]))
}

/// A whole number of at least `least` that counts something in memory.
pub fn count(value: &Bound<'_, PyAny>, name: &str, least: u64) -> PyResult<usize> {
    Ok(usize::try_from(whole(value, name, least)?).unwrap_or(usize::MAX))
}

/// The number of threads. Without a value, the number of cores.
pub fn thread_count(value: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let cores = || available_parallelism().map_or(1, usize::from);
    value.map_or_else(|| Ok(cores()), |value| count(value, "threads", 1))
}

/// The UTF-8 of a string, and whether lone surrogates had to be replaced.
pub fn utf8<'a>(
    text: &'a Bound<'_, PyString>,
    surrogates: Surrogates,
    place: Place<'_>,
) -> PyResult<(Cow<'a, str>, bool)> {
    if is_ascii(text)? {
        return Ok((Cow::Borrowed(text.to_str()?), false));
    }
    if let Ok(bytes) = text.encode_utf8() {
        let text = String::from_utf8(bytes.as_bytes().to_vec())
            .map_err(|_| PyValueError::new_err(format!("{place} is not valid text")))?;
        return Ok((Cow::Owned(text), false));
    }
    if surrogates == Surrogates::Refuse {
        return Err(PyValueError::new_err(format!("{place} has a lone surrogate, and errors is \"strict\"")));
    }
    let Repaired { text, lone, .. } = Repaired::new(text)?;
    Ok((Cow::Owned(text), lone > 0))
}

/// A text with its surrogates repaired: a pair of surrogates becomes one character, as in JSON, and a lone surrogate becomes
/// U+FFFD.
struct Repaired {
    text: String,
    /// The number of lone surrogates.
    lone: usize,
    /// Byte offsets in `text` of the characters that were pairs of surrogates.
    pairs: Vec<usize>,
}

impl Repaired {
    fn new(text: &Bound<'_, PyString>) -> PyResult<Self> {
        let py = text.py();
        // The method of `str` itself is called, because a subclass may have another one. UTF-32 distinguishes a pair of
        // surrogates, which are two characters of Python, from the one character that they stand for.
        let encoded = py
            .get_type::<PyString>()
            .call_method1(pyo3::intern!(py, "encode"), (text, "utf-32-le", "surrogatepass"))?;
        let encoded = encoded.cast_into::<PyBytes>()?;
        let (codes, _) = encoded.as_bytes().as_chunks::<4>();
        let mut codes = codes.iter().map(|code| u32::from_le_bytes(*code)).peekable();
        let mut repaired = Self { text: String::new(), lone: 0, pairs: vec![] };
        while let Some(code) = codes.next() {
            let low = match (code, codes.peek()) {
                (0xD800..0xDC00, Some(&low @ 0xDC00..0xE000)) => Some(low),
                _ => None,
            };
            if let Some(low) = low {
                codes.next();
                repaired.pairs.push(repaired.text.len());
                let both = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                repaired.text.push(char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER));
            } else {
                let character = char::from_u32(code);
                repaired.lone += usize::from(character.is_none());
                repaired.text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        Ok(repaired)
    }
}

/// The UTF-8 of a string, and the byte offsets in it of characters that are pairs of surrogates in the string.
pub fn utf8_and_pairs<'a>(text: &'a Bound<'_, PyString>, name: &str) -> PyResult<(Cow<'a, str>, Vec<usize>)> {
    let whole = Place(name, WHOLE);
    if let Ok((text, _)) = utf8(text, Surrogates::Refuse, whole) {
        return Ok((text, vec![]));
    }
    let Repaired { text, pairs, .. } = Repaired::new(text)?;
    Ok((Cow::Owned(text), pairs))
}

fn is_ascii(text: &Bound<'_, PyString>) -> PyResult<bool> {
    static OF_STR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = text.py();
    // The method of `str` itself is called, because the method of a subclass may return anything. The method is kept, because
    // looking it up per string takes longer than calling it.
    let method = OF_STR.get_or_try_init(py, || {
        py.get_type::<PyString>().getattr(pyo3::intern!(py, "isascii")).map(Bound::unbind)
    })?;
    method.bind(py).call1((text,))?.is_truthy()
}

/// Texts as a caller passes them.
pub enum PyTexts<'py> {
    /// Items of a list or a tuple. The list is a copy, so that another thread cannot change it.
    Items(Vec<Bound<'py, PyAny>>),
    /// Chunks of an Arrow column of strings.
    Chunks(Vec<ArrayRef>),
}

impl<'py> PyTexts<'py> {
    /// Takes texts from any object that has them.
    pub fn from_object(data: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(list) = data.cast::<PyList>() {
            return Ok(Self::Items(list.iter().collect()));
        }
        if let Ok(tuple) = data.cast::<PyTuple>() {
            return Ok(Self::Items(tuple.iter().collect()));
        }
        if data.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{name} is one str: it must be a list of texts, such as [{name}]"
            )));
        }
        match import(data)? {
            Some(Arrived::Column { chunks, data_type }) => {
                if !is_text(&data_type) {
                    return Err(PyTypeError::new_err(format!(
                        "{name} is an Arrow column of {data_type}: it must be one of strings"
                    )));
                }
                Ok(Self::Chunks(chunks))
            }
            Some(Arrived::Table { .. }) => Err(PyTypeError::new_err(format!(
                "{name} is a table of {}: it must be one column of texts",
                type_name(data)
            ))),
            None => {
                let py = data.py();
                // Python code takes objects of other libraries apart, so that this module needs none of these libraries.
                let items = py.import("minwise._adapters")?.call_method1("text_list", (data, name))?;
                Self::from_object(&items, name)
            }
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Chunks(chunks) => chunks.iter().map(Array::len).sum(),
        }
    }
}

/// Whether a column of this type holds texts.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// The text of a row of an Arrow column; none if it is null.
pub fn arrow_text(array: &dyn Array, row: usize) -> Option<&str> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => keyed::<Int8Type>(array, row),
            DataType::Int16 => keyed::<Int16Type>(array, row),
            DataType::Int32 => keyed::<Int32Type>(array, row),
            DataType::Int64 => keyed::<Int64Type>(array, row),
            DataType::UInt8 => keyed::<UInt8Type>(array, row),
            DataType::UInt16 => keyed::<UInt16Type>(array, row),
            DataType::UInt32 => keyed::<UInt32Type>(array, row),
            DataType::UInt64 => keyed::<UInt64Type>(array, row),
            _ => None,
        },
        _ => None,
    }
}

fn keyed<K: ArrowDictionaryKeyType>(array: &dyn Array, row: usize) -> Option<&str> {
    let dictionary = array.as_dictionary::<K>();
    arrow_text(dictionary.values(), dictionary.key(row)?)
}

/// Brings the header of an object into the cache.
pub fn prefetch_object(object: &Bound<'_, PyAny>) {
    prefetch(object.as_ptr().cast());
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch(at: *const u8) {
    // SAFETY: a prefetch reads nothing that the program sees, and is allowed at any address.
    unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch(_: *const u8) {}

/// Strings of a list, lent to threads that do not hold the interpreter's lock. The objects of the list keep them alive.
#[derive(Default)]
pub struct LentStrings<'a> {
    encoded: String,
    spans: Vec<Span<'a>>,
    bytes: usize,
    pub repaired: u64,
}

enum Span<'a> {
    Null,
    /// An ASCII string of Python, which never changes.
    Lent(&'a str),
    /// A part of `encoded`.
    Encoded(Range<usize>),
}

impl<'a> LentStrings<'a> {
    /// Takes one more item: a string, or `None` for null.
    pub fn push(
        &mut self,
        item: &'a Bound<'_, PyAny>,
        surrogates: Surrogates,
        place: Place<'_>,
    ) -> PyResult<()> {
        if item.is_none() {
            self.spans.push(Span::Null);
            return Ok(());
        }
        let text = string(item, place)?;
        if is_ascii(text)? {
            let lent = text.to_str()?;
            self.bytes += lent.len();
            self.spans.push(Span::Lent(lent));
            return Ok(());
        }
        let begin = self.encoded.len();
        if let Ok(bytes) = text.encode_utf8() {
            // SAFETY: Python has just encoded these bytes as UTF-8.
            self.encoded += unsafe { str::from_utf8_unchecked(bytes.as_bytes()) };
        } else {
            let (repaired, is_repaired) = utf8(text, surrogates, place)?;
            self.repaired += u64::from(is_repaired);
            self.encoded += &repaired;
        }
        self.bytes += self.encoded.len() - begin;
        self.spans.push(Span::Encoded(begin..self.encoded.len()));
        Ok(())
    }

    /// Removes all texts, and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.encoded.clear();
        self.bytes = 0;
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Brings the beginning of a text into the cache, for one that is read next.
    ///
    /// The strings of a list lie anywhere in memory, and a processor reads ahead only within a text. With this and
    /// [`prefetch_object`], a list of 4,908 texts took 20.4 to 21.1 instead of 21.2 to 21.8 ms, in turns on a busy machine.
    pub fn prefetch(&self, at: usize) {
        if let Span::Lent(text) = &self.spans[at] {
            text.as_bytes().chunks(64).take(16).for_each(|line| prefetch(line.as_ptr()));
        }
    }

    pub fn get(&self, at: usize) -> Option<&str> {
        match &self.spans[at] {
            Span::Null => None,
            Span::Lent(text) => Some(text),
            Span::Encoded(range) => Some(&self.encoded[range.clone()]),
        }
    }
}
