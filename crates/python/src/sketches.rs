//! The class `Sketches`: a matrix with one sketch per row.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, UInt32Builder};
use minwise::candidate::Banding;
use minwise_corpus::Overwrite;
use minwise_engine::sketch_file::{SketchFile, SketchRow, create, write_rows};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyTuple};

use crate::arrow::export_array;
use crate::column::{Column, SharedNumbers, array_interface, as_array};
use crate::error::{Exception, OrRaise};
use crate::shared::{PySpec, Shared};
use crate::texts::count;

/// Version of the pickle format that this module writes.
const PICKLE_VERSION: u32 = 1;
/// Number of pairs that are compared between two checks for signals.
const PAIRS_AT_ONCE: usize = 1 << 18;

/// The words of the rows, in memory or in a mapped file.
#[derive(Clone)]
enum Rows {
    Owned(Arc<Vec<u32>>),
    Mapped(Arc<SketchFile>),
}

/// Sketches of texts: a matrix of 32-bit words with one row per text.
///
/// NumPy sees the matrix without a copy (`numpy.asarray(sketches)`), and Arrow as a column of lists.
///
/// >>> import minwise
/// >>> sketches = minwise.Spec().sketch(["to be or not to be", "to be or not to be!", "roses"])
/// >>> estimates = sketches[:1].estimate(sketches)
/// >>> [round(float(value), 1) for value in estimates.value]
/// [1.0, 1.0, 0.0]
#[pyclass(name = "Sketches", frozen, module = "minwise")]
pub struct PySketches {
    shared: Arc<Shared>,
    words: usize,
    rows: Rows,
    present: Arc<Vec<bool>>,
    ids: Option<Arc<Vec<String>>>,
}

impl PySketches {
    pub fn owned(
        shared: Arc<Shared>,
        words: usize,
        rows: Vec<u32>,
        present: Vec<bool>,
        ids: Option<Vec<String>>,
    ) -> Self {
        Self {
            shared,
            words,
            rows: Rows::Owned(Arc::new(rows)),
            present: Arc::new(present),
            ids: ids.map(Arc::new),
        }
    }

    pub fn spec(&self) -> &minwise::Spec {
        &self.shared.spec
    }

    pub fn len(&self) -> usize {
        self.present.len()
    }

    pub fn values(&self) -> &[u32] {
        match &self.rows {
            Rows::Owned(rows) => rows,
            Rows::Mapped(file) => file.rows(),
        }
    }

    pub fn row(&self, at: usize) -> &[u32] {
        &self.values()[at * self.words..][..self.words]
    }

    /// Reports whether the text of a row has shingles.
    pub fn has_shingles(&self, at: usize) -> bool {
        self.present[at]
    }

    pub fn words(&self) -> usize {
        self.words
    }

    fn id(&self, at: usize) -> String {
        self.ids.as_ref().map_or_else(|| at.to_string(), |ids| ids[at].clone())
    }

    /// Returns the pairs of rows that `estimate` compares. Without `pairs`, rows are paired one by one, or a single row
    /// with each row of the other matrix.
    fn pairs(&self, other: &Self, pairs: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(usize, usize)>> {
        let (left, right) = (self.len(), other.len());
        let Some(pairs) = pairs.filter(|pairs| !pairs.is_none()) else {
            return match (left, right) {
                (left, right) if left == right => Ok((0..left).map(|row| (row, row)).collect()),
                (1, right) => Ok((0..right).map(|row| (0, row)).collect()),
                (left, 1) => Ok((0..left).map(|row| (row, 0)).collect()),
                _ => Err(PyValueError::new_err(format!(
                    "{left} sketches cannot be compared row by row with {right}: pass pairs=[(i, j), …]"
                ))),
            };
        };
        let pairs: Vec<(usize, usize)> = pairs
            .try_iter()?
            .map(|pair| pair?.extract())
            .collect::<PyResult<_>>()
            .map_err(|_| PyTypeError::new_err("pairs must be a sequence of pairs of row numbers"))?;
        for (at, &(i, j)) in pairs.iter().enumerate() {
            if i >= left || j >= right {
                return Err(PyIndexError::new_err(format!(
                    "pairs[{at}] is ({i}, {j}), and there are {left} and {right} rows"
                )));
            }
        }
        Ok(pairs)
    }
}

#[pymethods]
impl PySketches {
    /// The spec that made the sketches.
    #[getter(spec)]
    fn py_spec(&self) -> PySpec {
        PySpec { shared: Arc::clone(&self.shared) }
    }

    /// The number of rows and of words per row.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.len(), self.words)
    }

    /// The ids of the documents, if the sketches come from a file or were given ids.
    #[getter]
    fn ids(&self) -> Option<Vec<String>> {
        self.ids.as_ref().map(|ids| ids.to_vec())
    }

    /// For each row, whether the text has shingles.
    #[getter(has_shingles)]
    fn py_has_shingles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_array(py, Column::new(SharedNumbers::Bools(Arc::clone(&self.present))))
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, self.values().as_ptr() as usize, &[self.len(), self.words], "<u4")
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let words = i32::try_from(self.words).unwrap_or(i32::MAX);
        let mut lists = FixedSizeListBuilder::new(UInt32Builder::new(), words);
        for row in 0..self.len() {
            lists.values().append_slice(self.row(row));
            lists.append(true);
        }
        export_array(py, &lists.finish())
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rows: Vec<usize> = if let Ok(slice) = key.cast::<PySlice>() {
            let indices = slice.indices(self.len() as isize)?;
            (0..indices.slicelength).map(|at| (indices.start + at as isize * indices.step) as usize).collect()
        } else {
            let index: isize = key.extract()?;
            let len = self.len() as isize;
            let at = if index < 0 { index + len } else { index };
            if !(0..len).contains(&at) {
                return Err(PyIndexError::new_err(format!("there is no row {index}: there are {len}")));
            }
            vec![at as usize]
        };
        let mut values = Vec::with_capacity(rows.len() * self.words);
        for &row in &rows {
            values.extend_from_slice(self.row(row));
        }
        let present = rows.iter().map(|&row| self.present[row]).collect();
        let ids = self.ids.as_ref().map(|ids| rows.iter().map(|&row| ids[row].clone()).collect());
        Ok(Self::owned(Arc::clone(&self.shared), self.words, values, present, ids))
    }

    /// Estimates similarities of the rows of two matrices. Rows with the same number are compared; if one matrix has a single
    /// row, this row is compared with all rows of the other matrix. `pairs` lists other pairs to compare, by their row numbers
    /// from 0.
    ///
    /// If a text of a pair has no shingles, the estimate is NaN.
    #[pyo3(signature = (other, *, pairs = None))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, Self>,
        pairs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let other = other.get();
        self.spec().check(other.spec()).or_raise(py)?;
        let pairs = self.pairs(other, pairs)?;
        let preparation = self.shared.preparation(py)?;
        let mut columns = [const { vec![] }; 4];
        for pairs in pairs.chunks(PAIRS_AT_ONCE) {
            py.detach(|| {
                for &(i, j) in pairs {
                    let numbers = if self.present[i] && other.present[j] {
                        let estimate = preparation.estimate(self.row(i), other.row(j));
                        [estimate.value, estimate.standard_error, estimate.interval.0, estimate.interval.1]
                    } else {
                        [f64::NAN; 4]
                    };
                    columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
                }
            });
            py.check_signals()?;
        }
        let columns: Vec<_> = columns
            .into_iter()
            .map(|column| as_array(py, Column::new(SharedNumbers::F64(Arc::new(column)))))
            .collect::<PyResult<_>>()?;
        py.import("minwise._results")?.getattr("Estimates")?.call1(PyTuple::new(py, columns)?)
    }

    /// Returns the keys of the bands of each sketch. Texts that share a key in a band are candidates.
    fn band_keys<'py>(
        &self,
        py: Python<'py>,
        bands: &Bound<'py, PyAny>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (bands, rows) = (count(bands, "bands", 1)?, count(rows, "rows", 1)?);
        let method = self.spec().method;
        let registers = method.registers();
        if method.bandable().is_none() {
            let message = format!("`{method}` has no registers that bands could be cut from");
            return Err(crate::error::setting_error(py, &message, None));
        }
        let banding = Banding::new(bands, rows, registers).or_raise(py)?;
        let mut keys = vec![0; self.len() * bands];
        py.detach(|| {
            for (row, keys) in keys.chunks_exact_mut(bands).enumerate() {
                banding.keys_into(self.row(row), keys);
            }
        });
        as_array(py, Column::table(SharedNumbers::U64(Arc::new(keys)), self.len(), bands))
    }

    /// Writes a sketch file, as `minwise sketch` does. Rows without ids get their row numbers, from 0, as ids.
    #[pyo3(signature = (path, *, ids = None, force = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, ids: Option<Vec<String>>, force: bool) -> PyResult<()> {
        if let Some(ids) = &ids
            && ids.len() != self.len()
        {
            return Err(PyValueError::new_err(format!(
                "there are {} ids for {} sketches",
                ids.len(),
                self.len()
            )));
        }
        let overwrite = if force { Overwrite::Allow } else { Overwrite::Refuse };
        let ids = ids.unwrap_or_else(|| (0..self.len()).map(|at| self.id(at)).collect());
        py.detach(|| {
            let row = |at: usize| SketchRow::new(&ids[at], self.present[at], self.row(at));
            write_rows(create(&path, overwrite)?, self.spec(), (0..self.len()).map(row))
        })
        .or_raise(py)
    }

    /// Opens a sketch file, which is mapped and not read into memory.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = py.detach(|| SketchFile::open(&path)).or_raise(py)?;
        let shared = Shared::new(*file.spec());
        let present = (0..file.len()).map(|at| file.has_shingles(at)).collect();
        let ids = (0..file.len()).map(|at| file.id(at).to_owned()).collect();
        let words = if file.is_empty() {
            file.spec().method.build(file.spec().seed).or_raise(py)?.words()
        } else {
            file.row(0).len()
        };
        Ok(Self {
            shared,
            words,
            rows: Rows::Mapped(Arc::new(file)),
            present: Arc::new(present),
            ids: Some(Arc::new(ids)),
        })
    }

    fn __repr__(&self) -> String {
        format!("Sketches({} × {}, \"{}\")", self.len(), self.words, self.spec())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            other.spec() == self.spec()
                && other.present == self.present
                && other.values() == self.values()
                && other.ids == self.ids
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let bytes: Vec<u8> = this.values().iter().flat_map(|word| word.to_le_bytes()).collect();
        let present: Vec<u8> = this.present.iter().map(|&has| u8::from(has)).collect();
        let ids = this.ids.as_ref().map(|ids| ids.to_vec());
        let state = (
            PICKLE_VERSION,
            this.spec().to_string(),
            PyBytes::new(py, &bytes),
            PyBytes::new(py, &present),
            ids,
        )
            .into_pyobject(py)?;
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, state))
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        version: u32,
        spec: &str,
        words: &[u8],
        present: &[u8],
        ids: Option<Bound<'_, PyList>>,
    ) -> PyResult<Self> {
        check_pickle("Sketches", version, PICKLE_VERSION)?;
        let shared = Shared::new(spec.parse().or_raise(py)?);
        let each = shared.preparation(py)?.words();
        let damaged =
            || Exception::Input.raise(py, "the pickle of sketches is damaged", "damaged", None, &[]);
        let (quads, rest) = words.as_chunks::<4>();
        let values: Vec<u32> = quads.iter().map(|quad| u32::from_le_bytes(*quad)).collect();
        if !rest.is_empty() || values.len() != present.len() * each {
            return Err(damaged());
        }
        let present: Vec<bool> = present.iter().map(|&has| has != 0).collect();
        let ids: Option<Vec<String>> = ids.map(|ids| ids.extract()).transpose()?;
        if ids.as_ref().is_some_and(|ids| ids.len() != present.len()) {
            return Err(damaged());
        }
        Ok(Self::owned(shared, each, values, present, ids))
    }
}

/// Refuses a pickle of a later version than `known`.
pub fn check_pickle(what: &str, version: u32, known: u32) -> PyResult<()> {
    if version > known {
        return Err(PyValueError::new_err(format!(
            "this pickle of {what} has version {version}, and this version of minwise reads up to {known}: \
             install a newer minwise"
        )));
    }
    Ok(())
}
