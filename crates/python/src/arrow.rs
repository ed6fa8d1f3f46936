//! Imports and exports Arrow data by the capsules of the Arrow C data interface.
#![allow(unsafe_code, reason = "capsules hold raw pointers")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, make_array, new_null_array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Arrow data that a caller passed.
pub enum Arrived {
    /// Rows of a table.
    Table { schema: SchemaRef, batches: Vec<RecordBatch> },
    /// A column without a name.
    Column { chunks: Vec<ArrayRef>, data_type: DataType },
}

fn failed(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// Takes ownership of the Arrow data of an object; `None` if the object has none.
pub fn import(data: &Bound<'_, PyAny>) -> PyResult<Option<Arrived>> {
    let py = data.py();
    if let Some(method) = data.getattr_opt(pyo3::intern!(py, "__arrow_c_stream__"))? {
        let capsule = method.call0()?.cast_into::<PyCapsule>()?;
        return imported_stream(&capsule).map(Some);
    }
    if let Some(method) = data.getattr_opt(pyo3::intern!(py, "__arrow_c_array__"))? {
        let pair = method.call0()?.cast_into::<PyTuple>()?;
        let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
        let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
        return imported_array(&schema, &array).map(Some);
    }
    Ok(None)
}

fn imported_array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Arrived> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: the checked names guarantee that the capsules hold a schema and an array of the C data interface. The
    // capsules keep both alive during this call.
    let is_used = unsafe { array.as_ref() }.is_released();
    if is_used {
        return Err(PyValueError::new_err("the Arrow array was used already: ask for a new capsule"));
    }
    // SAFETY: the capsules hold a schema and an array, as above, and the array is not released. `from_raw` takes
    // ownership of the array and leaves a released one behind, as the interface demands.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    if is_null_column(schema) {
        return Ok(Arrived::Column { chunks: vec![null_texts(array.len())], data_type: DataType::Utf8 });
    }
    // SAFETY: the producer guarantees that the array matches the schema.
    let data = unsafe { from_ffi(array, schema) }.map_err(|error| failed(&error))?;
    arrived(schema, vec![make_array(data)])
}

fn imported_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Arrived> {
    let py = capsule.py();
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the checked name guarantees that the capsule holds a stream of the C stream interface. `from_raw` takes
    // ownership of the stream and leaves a released one behind.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(PyValueError::new_err("the Arrow stream was read before"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // The interpreter's lock is released, because a stream may compute its rows for a long time. Producers that run
    // Python code take the lock themselves: pyarrow, too, releases the lock before it reads a stream. SAFETY: the
    // stream is not released. `get_schema` is its own function, which writes a schema or returns an error number.
    if py.detach(|| unsafe { get_schema(&raw mut stream, &raw mut schema) }) != 0 {
        return Err(stream_failed(&mut stream));
    }
    let mut chunks = vec![];
    loop {
        py.check_signals()?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released. `get_next` is its own function, which writes an array or returns an error
        // number; at the end of the stream, it writes a released array.
        if py.detach(|| unsafe { get_next(&raw mut stream, &raw mut array) }) != 0 {
            return Err(stream_failed(&mut stream));
        }
        if array.is_released() {
            break;
        }
        if is_null_column(&schema) {
            chunks.push(null_texts(array.len()));
            continue;
        }
        // SAFETY: the producer guarantees that the arrays of a stream match its schema.
        let data = unsafe { from_ffi(array, &schema) }.map_err(|error| failed(&error))?;
        chunks.push(make_array(data));
    }
    arrived(&schema, chunks)
}

fn stream_failed(stream: &mut FFI_ArrowArrayStream) -> PyErr {
    let reason = stream.get_last_error.and_then(|last_error| {
        // SAFETY: the stream is not released, and returns null or a string that lives until the next call.
        let text = unsafe { last_error(&raw mut *stream) };
        // SAFETY: `text` is not null, so it is a string that lives until the next call of the stream.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    });
    PyValueError::new_err(format!("the Arrow data cannot be read: {}", reason.unwrap_or_default()))
}

/// Returns a column of `len` null texts, to replace a column of the type Null. Libraries use this type for a column
/// without any value.
fn null_texts(len: usize) -> ArrayRef {
    new_null_array(&DataType::Utf8, len)
}

/// Reports whether the data is one column of the type Null. The buffers of a Null column are not read, because some
/// producers add a buffer, although the Arrow format allows none.
fn is_null_column(schema: &FFI_ArrowSchema) -> bool {
    DataType::try_from(schema).is_ok_and(|data_type| data_type == DataType::Null)
}

fn arrived(schema: &FFI_ArrowSchema, chunks: Vec<ArrayRef>) -> PyResult<Arrived> {
    let data_type = DataType::try_from(schema).map_err(|error| failed(&error))?;
    if !matches!(data_type, DataType::Struct(_)) {
        let data_type = if data_type == DataType::Null { DataType::Utf8 } else { data_type };
        return Ok(Arrived::Column { chunks, data_type });
    }
    let found = Schema::try_from(schema).map_err(|error| failed(&error))?;
    let fields = found.fields().iter().map(|field| {
        if *field.data_type() == DataType::Null {
            return Arc::new(Field::new(field.name(), DataType::Utf8, true));
        }
        Arc::clone(field)
    });
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batch = |chunk: &ArrayRef| -> PyResult<RecordBatch> {
        let rows = chunk.as_struct();
        if rows.null_count() > 0 {
            return Err(PyValueError::new_err("the Arrow data has rows that are null as a whole"));
        }
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let columns = rows.columns().iter().map(|column| match column.data_type() {
            DataType::Null => null_texts(column.len()),
            _ => Arc::clone(column),
        });
        RecordBatch::try_new_with_options(Arc::clone(&schema), columns.collect(), &options)
            .map_err(|error| failed(&error))
    };
    let batches = chunks.iter().map(batch).collect::<PyResult<_>>()?;
    Ok(Arrived::Table { schema, batches })
}

/// Returns the capsules of an array: one with its schema and one with its data.
pub fn export_array<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(|error| failed(&error))?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// Returns the capsule of a stream that has one batch.
pub fn export_stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, STREAM)
}
