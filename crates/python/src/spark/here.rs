//! Compares pairs on the driver, which has the texts of a small input, or of the few pairs that are left.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow_array::RecordBatch;
use minwise_engine::{DocumentSet, Measure, Prepared};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batch::{bytes_at, column};
use super::task::PySparkTask;
use crate::texts::arrow_text;

/// Two documents and their similarity. Documents are numbered as in the rounds.
pub(super) type ComparedPair = (u32, u32, f64);

/// Texts of documents with their sketches. Documents are numbered as in the rounds.
///
/// Texts stay in their Arrow batches and are read once, because copying them, and checking their UTF-8 in every round,
/// would take longer than comparing them.
pub(super) struct FetchedTexts {
    batches: Vec<RecordBatch>,
    /// Batch and row of the text of each document, and the number of its sketch.
    places: Vec<Option<(u32, u32, u32)>>,
    sketches: Vec<u32>,
    /// Number of sketches.
    len: u32,
}

impl FetchedTexts {
    pub(super) fn new(documents: usize) -> Self {
        Self { batches: vec![], places: vec![None; documents], sketches: vec![], len: 0 }
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.places[number as usize].is_some()
    }

    /// Takes the texts of a batch. `number` returns the number of a rank key, or `None` for unknown documents: texts are
    /// chosen by hashes of rank keys, so an equal hash adds a text that no pair needs.
    pub(super) fn push(
        &mut self,
        task: &PySparkTask,
        batch: RecordBatch,
        number: impl Fn(&[u8]) -> Option<usize>,
    ) -> PyResult<()> {
        let (rank, text, sketch) =
            (column(&batch, "rank")?, column(&batch, "text")?, column(&batch, "sketch")?);
        let (mut room, mut words) = (Prepared::default(), vec![]);
        for row in 0..batch.num_rows() {
            let (Some(rank), Some(text)) = (bytes_at(rank, row), arrow_text(text, row)) else { continue };
            let Some(number) = number(rank).filter(|&number| self.places[number].is_none()) else { continue };
            if let Some(sketch) = bytes_at(sketch, row) {
                task.words(sketch, &mut words)?;
            } else {
                words.clear();
                words.resize(task.preparation.words(), 0);
                task.preparation.sketch_into(text, &mut room, &mut words);
            }
            self.sketches.extend_from_slice(&words);
            self.places[number] = Some((self.batches.len() as u32, row as u32, self.len));
            self.len += 1;
        }
        self.batches.push(batch);
        Ok(())
    }

    /// Compares pairs, of which each has a bucket. Returns the similar pairs, and the number of pairs that sketches do
    /// not rule out. The shingle sets of a bucket are dropped after it.
    pub(super) fn compare(
        &self,
        task: &PySparkTask,
        pairs: &[(u32, u32)],
        buckets: &[i32],
    ) -> PyResult<(Vec<ComparedPair>, u64)> {
        let (mut room, words) = (Prepared::default(), task.preparation.words());
        let (mut found, mut compared) = (vec![], 0);
        let mut sets: HashMap<u32, DocumentSet> = HashMap::new();
        let sketch = |place: (u32, u32, u32)| &self.sketches[place.2 as usize * words..][..words];
        let mut before = None;
        for (&(a, c), bucket) in pairs.iter().zip(buckets) {
            if before.replace(bucket) != Some(bucket) {
                sets.clear();
            }
            let (Some(left), Some(right)) = (self.places[a as usize], self.places[c as usize]) else {
                return Err(PyValueError::new_err(
                    "the input is not deterministic: a text of the first reading is missing in the second",
                ));
            };
            if task.rejects(sketch(left), sketch(right)) {
                continue;
            }
            compared += 1;
            for (number, place) in [(a, left), (c, right)] {
                if let Entry::Vacant(set) = sets.entry(number) {
                    let text = column(&self.batches[place.0 as usize], "text")?;
                    let text = arrow_text(text, place.1 as usize).unwrap_or_default();
                    set.insert(task.preparation.comparable_set(text, &mut room));
                }
            }
            if let Some(similarity) = sets[&a].at_least(&sets[&c], Measure::Jaccard, task.threshold()) {
                found.push((a, c, similarity));
            }
        }
        Ok((found, compared))
    }
}
