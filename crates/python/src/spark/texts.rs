//! Rows of the second pass over the input. The job reads the input again for the texts of the documents that it
//! compares.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use pyo3::prelude::*;

use super::batch::{PySparkBatch, made};

/// Columns of the rows of the second pass.
#[derive(Default)]
pub(super) struct TextRows {
    ranks: BinaryBuilder,
    texts: StringBuilder,
    sizes: Int64Builder,
    sketches: BinaryBuilder,
    contents: Int64Builder,
    parities: BinaryBuilder,
}

/// The sketch and the parity bits of a text. Both are `None` if the caller does not want them; the sketch is also
/// `None` if the text has no shingles.
pub(super) struct SketchesOfText {
    pub(super) sketch: Option<Vec<u8>>,
    pub(super) parity: Option<Vec<u8>>,
}

impl TextRows {
    pub(super) fn push(&mut self, rank: &[u8], text: &str, of: SketchesOfText) {
        self.ranks.append_value(rank);
        self.texts.append_value(text);
        self.sizes.append_value(text.len() as i64);
        self.contents.append_null();
        self.parities.append_option(of.parity);
        self.sketches.append_option(of.sketch);
    }

    /// Appends a row with the number of all rows and the sum of their fingerprints.
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
