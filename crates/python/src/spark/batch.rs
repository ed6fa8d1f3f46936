//! Arrow tables of tasks.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrow::{Arrived, export_array, import};
use crate::texts::type_name;

/// An Arrow batch that goes to Python.
#[pyclass(frozen, name = "SparkBatch", module = "minwise._minwise")]
pub struct PySparkBatch {
    batch: RecordBatch,
}

#[pymethods]
impl PySparkBatch {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        export_array(py, &StructArray::from(self.batch.clone()))
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }
}

pub fn made(columns: Vec<(&str, ArrayRef)>) -> PyResult<PySparkBatch> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PySparkBatch { batch })
}

pub fn batches(data: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    match import(data)? {
        Some(Arrived::Table { batches, .. }) => Ok(batches),
        _ => Err(PyTypeError::new_err(format!("{} is no Arrow table", type_name(data)))),
    }
}

pub fn column<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a dyn Array> {
    let found = batch.column_by_name(name);
    found.map(|array| &**array).ok_or_else(|| PyValueError::new_err(format!("there is no column `{name}`")))
}

/// The columns that are called `prefix` and a number, in order.
pub fn numbered<'a>(batch: &'a RecordBatch, prefix: &str) -> Vec<&'a dyn Array> {
    (0..).map_while(|at| batch.column_by_name(&format!("{prefix}{at}")).map(|array| &**array)).collect()
}

pub fn bytes_at(array: &dyn Array, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(row)),
        _ => None,
    }
}

pub fn integer(array: &dyn Array, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Int8 => Some(array.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => Some(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Some(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row)),
        _ => None,
    }
}

pub fn binary(values: impl Iterator<Item = impl AsRef<[u8]>>) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(values))
}
