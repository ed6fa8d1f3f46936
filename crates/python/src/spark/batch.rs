//! Reads the Arrow tables that tasks get, and makes the Arrow batches that they return.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, LargeStringArray, OffsetSizeTrait, RecordBatch, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrow::{Arrived, export_array, import};
use crate::texts::type_name;

/// An Arrow batch that is returned to Python.
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
    Ok(checked_batches(data)?.into_iter().map(|checked| checked.batch).collect())
}

/// A batch of rows whose texts are valid UTF-8.
pub struct CheckedBatch {
    pub batch: RecordBatch,
    /// Whether the column `text` of each row was not UTF-8. Empty if all its texts were.
    invalid: Vec<bool>,
}

impl CheckedBatch {
    /// Reports whether the text of a row was not UTF-8. Such a row is rejected, as in the command.
    pub fn is_invalid(&self, row: usize) -> bool {
        self.invalid.get(row).copied().unwrap_or(false)
    }
}

/// Reads batches as [`batches`] does, and marks the rows whose text is not UTF-8.
pub fn checked_batches(data: &Bound<'_, PyAny>) -> PyResult<Vec<CheckedBatch>> {
    match import(data)? {
        Some(Arrived::Table { batches, .. }) => batches.into_iter().map(with_valid_texts).collect(),
        _ => Err(PyTypeError::new_err(format!("{} is no Arrow table", type_name(data)))),
    }
}

/// Replaces bytes of texts that are not valid UTF-8 by U+FFFD. The job relies on valid texts, but Spark does not check
/// them: its `cast(binary as string)` keeps invalid bytes.
fn with_valid_texts(batch: RecordBatch) -> PyResult<CheckedBatch> {
    let valid: Vec<bool> = batch.columns().iter().map(are_texts_valid).collect();
    if valid.iter().all(|&valid| valid) {
        return Ok(CheckedBatch { batch, invalid: vec![] });
    }
    let fields: Vec<_> = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let mut invalid = vec![];
    let columns = fields.into_iter().zip(batch.columns().iter().zip(valid)).map(|(field, (array, valid))| {
        if valid {
            return (field, Arc::clone(array));
        }
        if field.name() == "text" {
            let is_invalid = |bytes| str::from_utf8(bytes).is_err();
            invalid = (0..array.len()).map(|row| text_bytes(array, row).is_some_and(is_invalid)).collect();
        }
        let text = |row| text_bytes(array, row).map(String::from_utf8_lossy);
        let texts: LargeStringArray = (0..array.len()).map(text).collect();
        (field.with_data_type(DataType::LargeUtf8), Arc::new(texts) as ArrayRef)
    });
    let (fields, columns): (Vec<_>, Vec<_>) = columns.unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(CheckedBatch { batch, invalid })
}

fn are_texts_valid(array: &ArrayRef) -> bool {
    !matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        || (0..array.len())
            .all(|row| text_bytes(array, row).is_none_or(|bytes| str::from_utf8(bytes).is_ok()))
}

/// Returns the bytes of a text, which may be invalid UTF-8. Returns `None` for a null text and for columns of other
/// types.
fn text_bytes(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    fn of<O: OffsetSizeTrait>(array: &ArrayRef, row: usize) -> &[u8] {
        let texts = array.as_string::<O>();
        let [begin, end] = [row, row + 1].map(|at| texts.value_offsets()[at].as_usize());
        &texts.value_data()[begin..end]
    }
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(of::<i32>(array, row)),
        DataType::LargeUtf8 => Some(of::<i64>(array, row)),
        DataType::Utf8View => Some(array.as_string_view().value(row).as_bytes()),
        _ => None,
    }
}

pub fn column<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a dyn Array> {
    let found = batch.column_by_name(name);
    found.map(|array| &**array).ok_or_else(|| PyValueError::new_err(format!("there is no column `{name}`")))
}

/// Returns the columns whose names are `prefix` and a number: `v0`, `v1`, and so on.
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
