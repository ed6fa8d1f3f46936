//! The sample of an audit: which documents are near those that were drawn, on executors.
//!
//! Every document is compared with each drawn one by their sketches. The filter is the audit's own, with an error of
//! [`FILTER_ERROR`](minwise_engine::FILTER_ERROR), because the filter of the job may err more, or there may be none.
//!
//! A drawn document of a large family has more documents near it than can be compared exactly. So a task counts all of them and
//! keeps few: those whose keys come first. A key is a hash of both documents, so that the first ones of all tasks together are a
//! fair sample, whatever task has which documents.

use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder};
use minwise::estimate::ratio::{Drawn, share_found};
use minwise::filter::Filter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::batch::{PySparkBatch, batches, bytes_at, column, made};
use super::task::PySparkTask;
use crate::error::OrRaise;

/// The drawn documents of an audit, and what one task has found near each.
#[pyclass(name = "SparkSample", module = "minwise._minwise")]
pub struct PySparkSample {
    task: Py<PySparkTask>,
    filter: Filter,
    probes: Vec<Probe>,
    /// Documents near a drawn one that are kept, at most.
    most: usize,
}

/// A drawn document.
struct Probe {
    rank: Box<[u8]>,
    words: Vec<u32>,
    /// The number of documents near it.
    all: i64,
    /// Those of them whose keys come first; the last of them is on top.
    some: BinaryHeap<Near>,
}

/// A document near a drawn one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    key: u64,
    rank: Box<[u8]>,
    /// The bands that both share, as 2 little-endian bytes each; none if the filter of the job rules the pair out.
    bands: Vec<u8>,
}

#[pymethods]
impl PySparkSample {
    /// `drawn` has the rank keys `rank` and the sketches `sketch` of the documents that were drawn, each shingle set once.
    #[new]
    fn new(py: Python<'_>, task: Py<PySparkTask>, drawn: &Bound<'_, PyAny>, most: usize) -> PyResult<Self> {
        let own = task.get();
        let filter =
            own.sieve().ok_or_else(|| PyValueError::new_err("sketches of this kind rule out no pair"))?;
        let filter = filter.parse::<Filter>().or_raise(py)?;
        let mut probes = vec![];
        for batch in &batches(drawn)? {
            let (rank, sketch) = (column(batch, "rank")?, column(batch, "sketch")?);
            for row in 0..batch.num_rows() {
                let (Some(rank), Some(sketch)) = (bytes_at(rank, row), bytes_at(sketch, row)) else {
                    continue;
                };
                let mut words = vec![];
                own.words(sketch, &mut words)?;
                probes.push(Probe { rank: rank.into(), words, all: 0, some: BinaryHeap::new() });
            }
        }
        Ok(Self { task, filter, probes, most })
    }

    /// Compares the documents of a batch, which has `rank` and `sketch`, with all drawn ones.
    fn add(&mut self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let all = batches(batch)?;
        py.detach(|| {
            let (task, mut words) = (self.task.get(), vec![]);
            for batch in &all {
                let (rank, sketch) = (column(batch, "rank")?, column(batch, "sketch")?);
                for row in 0..batch.num_rows() {
                    let (Some(rank), Some(sketch)) = (bytes_at(rank, row), bytes_at(sketch, row)) else {
                        continue;
                    };
                    task.words(sketch, &mut words)?;
                    for probe in &mut self.probes {
                        probe.take(task, &self.filter, rank, &words, self.most);
                    }
                }
            }
            Ok(())
        })
    }

    /// For each drawn document `a`: a row with the number `near` of documents near it, and a row per kept one with its rank key
    /// `c`, its `key` and the `bands` that both share.
    fn finish(&mut self) -> PyResult<PySparkBatch> {
        let (mut drawn, mut others) = (BinaryBuilder::new(), BinaryBuilder::new());
        let (mut keys, mut numbers) = (Int64Builder::new(), Int64Builder::new());
        let mut bands = BinaryBuilder::new();
        for probe in self.probes.iter_mut().filter(|probe| probe.all > 0) {
            drawn.append_value(&probe.rank);
            others.append_null();
            keys.append_null();
            numbers.append_value(probe.all);
            bands.append_null();
            for near in probe.some.drain() {
                drawn.append_value(&probe.rank);
                others.append_value(&near.rank);
                // Engines order signed numbers.
                keys.append_value((near.key >> 1).cast_signed());
                numbers.append_null();
                bands.append_value(&near.bands);
            }
        }
        made(vec![
            ("a", Arc::new(drawn.finish())),
            ("c", Arc::new(others.finish())),
            ("key", Arc::new(keys.finish())),
            ("near", Arc::new(numbers.finish())),
            ("bands", Arc::new(bands.finish())),
        ])
    }
}

impl Probe {
    /// Takes in a document, if it is near.
    fn take(&mut self, task: &PySparkTask, filter: &Filter, rank: &[u8], words: &[u32], most: usize) {
        // Two references are no pair, because nothing is decided about them.
        let are_references = self.rank.first() == Some(&0) && rank.first() == Some(&0);
        if are_references || *self.rank == *rank || task.rejects_by(filter, &self.words, words) {
            return;
        }
        self.all += 1;
        let key = xxh3_64_with_seed(rank, xxh3_64(&self.rank));
        if self.some.len() >= most {
            if self.some.peek().is_none_or(|last| last.key <= key) {
                return;
            }
            self.some.pop();
        }
        let mut bands = vec![];
        if !task.rejects(&self.words, words) {
            for band in 0..task.banding.bands() {
                if task.banding.key(band, &self.words) == task.banding.key(band, words) {
                    bands.extend_from_slice(&(band as u16).to_le_bytes());
                }
            }
        }
        self.some.push(Near { key, rank: rank.into(), bands });
    }
}

/// The share of pairs that was found, with the ends of its 95 % confidence interval: `drawn` has the pairs of each document that was drawn and
/// those of them that were found, and `unseen` is the share of documents that were not drawn.
#[pyfunction]
pub fn spark_share(drawn: Vec<(f64, f64)>, unseen: f64) -> (f64, f64, f64) {
    let drawn: Vec<Drawn> = drawn.into_iter().map(|(pairs, found)| Drawn { pairs, found }).collect();
    let share = share_found(&drawn, unseen);
    (share.value, share.interval.0, share.interval.1)
}
