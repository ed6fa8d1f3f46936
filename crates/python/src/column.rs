//! Numbers that NumPy sees without a copy.
//!
//! The buffer protocol is not part of the stable interface of Python 3.10. Instead, a column has `__array_interface__`,
//! a dictionary with an address, a shape and a type, from which NumPy makes an array. The array keeps the column alive.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Shared numbers that never change.
#[derive(Clone)]
pub enum SharedNumbers {
    Bools(Arc<Vec<bool>>),
    I64(Arc<Vec<i64>>),
    U32(Arc<Vec<u32>>),
    U64(Arc<Vec<u64>>),
    F64(Arc<Vec<f64>>),
}

impl SharedNumbers {
    fn form(&self) -> (usize, usize, &'static str) {
        match self {
            Self::Bools(all) => (all.as_ptr() as usize, all.len(), "|b1"),
            Self::I64(all) => (all.as_ptr() as usize, all.len(), "<i8"),
            Self::U32(all) => (all.as_ptr() as usize, all.len(), "<u4"),
            Self::U64(all) => (all.as_ptr() as usize, all.len(), "<u8"),
            Self::F64(all) => (all.as_ptr() as usize, all.len(), "<f8"),
        }
    }
}

/// Returns the dictionary `__array_interface__`, from which NumPy makes an array.
pub fn array_interface<'py>(
    py: Python<'py>,
    address: usize,
    shape: &[usize],
    kind: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let form = PyDict::new(py);
    form.set_item("version", 3)?;
    form.set_item("shape", PyTuple::new(py, shape)?)?;
    form.set_item("typestr", kind)?;
    form.set_item("data", (address, true))?;
    Ok(form)
}

/// A column of numbers for NumPy: `numpy.asarray(column)` does not copy it.
#[pyclass(frozen, module = "minwise._minwise")]
pub struct Column {
    numbers: SharedNumbers,
    shape: Vec<usize>,
}

impl Column {
    pub fn new(numbers: SharedNumbers) -> Self {
        let (_, len, _) = numbers.form();
        Self { numbers, shape: vec![len] }
    }

    pub fn table(numbers: SharedNumbers, rows: usize, columns: usize) -> Self {
        Self { numbers, shape: vec![rows, columns] }
    }
}

#[pymethods]
impl Column {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, _, kind) = self.numbers.form();
        array_interface(py, address, &self.shape, kind)
    }

    /// Returns the numbers as a list.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.numbers {
            SharedNumbers::Bools(all) => all.as_slice().into_pyobject(py),
            SharedNumbers::I64(all) => all.as_slice().into_pyobject(py),
            SharedNumbers::U32(all) => all.as_slice().into_pyobject(py),
            SharedNumbers::U64(all) => all.as_slice().into_pyobject(py),
            SharedNumbers::F64(all) => all.as_slice().into_pyobject(py),
        }
    }

    fn __len__(&self) -> usize {
        self.shape[0]
    }
}

/// Makes an array of NumPy that shares the memory of a column. NumPy is imported only when the first array is made.
pub fn as_array(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    py.import("numpy")?.call_method1("asarray", (Py::new(py, column)?,))
}
