//! Rows with texts, as the second reading makes them.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use minwise_engine::Prepared;
use pyo3::prelude::*;

use super::batch::{PySparkBatch, made};
use super::task::PySparkTask;

/// Rows of the second reading.
#[derive(Default)]
pub(super) struct TextRows {
    ranks: BinaryBuilder,
    texts: StringBuilder,
    sizes: Int64Builder,
    sketches: BinaryBuilder,
    contents: Int64Builder,
    parities: BinaryBuilder,
    room: Prepared,
    words: Vec<u32>,
}

impl TextRows {
    pub(super) fn push(
        &mut self,
        task: &PySparkTask,
        rank: &[u8],
        text: &str,
        sketches: bool,
        parities: bool,
    ) {
        self.ranks.append_value(rank);
        self.texts.append_value(text);
        self.sizes.append_value(text.len() as i64);
        self.contents.append_null();
        let parity = if parities { task.parity(text, &mut self.room) } else { None };
        self.parities.append_option(parity);
        if !sketches {
            self.sketches.append_null();
            return;
        }
        self.words.resize(task.preparation.words(), 0);
        let sketched = task.preparation.sketch_keyed(text, &mut self.room, &mut self.words);
        if sketched.has_shingles {
            self.sketches.append_value(little_endian(&self.words));
        } else {
            self.sketches.append_null();
        }
    }

    /// The number of all rows and the sum of their fingerprints.
    pub(super) fn push_sum(&mut self, number: i64, sum: i64) {
        self.ranks.append_null();
        self.texts.append_null();
        self.sizes.append_value(number);
        self.sketches.append_null();
        self.parities.append_null();
        self.contents.append_value(sum);
    }

    pub(super) fn finish(mut self) -> PyResult<PySparkBatch> {
        made(vec![
            ("rank", Arc::new(self.ranks.finish())),
            ("text", Arc::new(self.texts.finish())),
            ("size", Arc::new(self.sizes.finish())),
            ("sketch", Arc::new(self.sketches.finish())),
            ("content", Arc::new(self.contents.finish())),
            ("parity", Arc::new(self.parities.finish())),
        ])
    }
}

pub(super) fn little_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
