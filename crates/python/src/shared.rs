//! The class `Spec`, which all other classes use. Its methods are in `spec.rs`.

use std::sync::{Arc, OnceLock};

use minwise::Spec;
use minwise_engine::{Preparation, WeightTables};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::OrRaise;

/// A spec with its preparation. The preparation is made when it is first needed.
pub struct Shared {
    pub spec: Spec,
    preparation: OnceLock<Preparation>,
}

impl Shared {
    pub fn new(spec: Spec) -> Arc<Self> {
        Arc::new(Self { spec, preparation: OnceLock::new() })
    }

    /// Returns the preparation if it was made before.
    pub fn ready(&self) -> Option<&Preparation> {
        self.preparation.get()
    }

    pub fn preparation(&self, py: Python<'_>) -> PyResult<&Preparation> {
        if let Some(preparation) = self.preparation.get() {
            return Ok(preparation);
        }
        let made = Preparation::new(&self.spec, &WeightTables::default()).or_raise(py)?;
        Ok(self.preparation.get_or_init(|| made))
    }
}

/// The settings by which texts become sketches: normalisation, shingles, sketch, seed and weights.
///
/// Two sketches can be compared if their specs are equal. The text form of a spec is the same in Rust, in Python and in files.
///
/// >>> import minwise
/// >>> spec = minwise.Spec("nfkc+casefold / words:3 / minhash:64 / seed:1")
/// >>> spec.registers
/// 64
/// >>> minwise.Spec.of(shingle="chars:9")
/// Spec("nfkc+casefold / chars:9 / minhash:128 / seed:1")
#[pyclass(name = "Spec", frozen, module = "minwise")]
pub struct PySpec {
    pub shared: Arc<Shared>,
}

impl PySpec {
    pub fn new_of(spec: Spec) -> Self {
        Self { shared: Shared::new(spec) }
    }

    /// Returns the spec of an object that is a `Spec` or the text form of a spec. Without an object, returns the
    /// default spec.
    pub fn from_object(py: Python<'_>, value: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Shared>> {
        let Some(value) = value.filter(|value| !value.is_none()) else {
            return Ok(Shared::new(Spec::default()));
        };
        if let Ok(spec) = value.cast::<Self>() {
            return Ok(Arc::clone(&spec.get().shared));
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Shared::new(text.to_str()?.parse::<Spec>().or_raise(py)?));
        }
        let kind = crate::texts::type_name(value);
        Err(PyTypeError::new_err(format!("spec is {kind}: it must be Spec or its text form")))
    }
}
