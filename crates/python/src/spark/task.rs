//! The work of executors on documents and pairs: sketching, screening and exact comparison.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int8Builder, Int64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, Float64Array, Int64Array, RecordBatch};
use arrow_schema::DataType;
use minwise::candidate::Banding;
use minwise::filter::{Filter, shuffle};
use minwise::keep::{RankingInput, Ties};
use minwise::shingle::Shingles;
use minwise::verify::parity::{parity_into, words_for};
use minwise::{Spec, WeightSpec};
use minwise_corpus::written_values;
use minwise_engine::audit::{Audit, audit_rank};
use minwise_engine::weigh::FrequencyTable;
use minwise_engine::{DocumentSet, KeepPolicy, Measure, Preparation, Prepared, WeightTables};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::batch::{
    CheckedBatch, PySparkBatch, batches, bytes_at, checked_batches, column, integer, made, numbered,
};
use super::plan::JobPlan;
use super::rank::push_order;
use super::texts::{SketchesOfText, TextRows, little_endian};
use crate::dedup::shingles;
use crate::error::OrRaise;
use crate::texts::arrow_text;

/// Sketches, screens and compares the documents of batches, on one executor.
#[pyclass(frozen, name = "SparkTask", module = "minwise._minwise")]
pub struct PySparkTask {
    plan: JobPlan,
    keep: KeepPolicy,
    pub(super) preparation: Preparation,
    pub(super) banding: Banding,
    filter: Option<Filter>,
    audit_filter: Option<Filter>,
    shuffle: Option<Vec<usize>>,
}

/// Values of the column `kind`: the kind of a row's text. Texts that are null, too short, too long or not
/// UTF-8 make no document, and neither do records that the reader of files rejects.
const WITH_SHINGLES: i8 = 0;
const WITHOUT_SHINGLES: i8 = 1;
const NULL: i8 = 2;
const TOO_SHORT: i8 = 3;
const TOO_LONG: i8 = 4;
const INVALID: i8 = 5;
const UNREADABLE: i8 = 6;

#[pymethods]
impl PySparkTask {
    /// Makes a task from a plan as JSON. `ignored` are the shingles that are left out of every document, 8 bytes per
    /// shingle.
    #[new]
    #[pyo3(signature = (plan, ignored, weights = None))]
    fn new(py: Python<'_>, plan: &str, ignored: &[u8], weights: Option<PathBuf>) -> PyResult<Self> {
        let plan: JobPlan =
            serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut spec: Spec = plan.spec.parse().or_raise(py)?;
        let mut tables = WeightTables::default();
        tables.ignored = shingles(ignored).into();
        if !tables.ignored.is_empty() {
            spec.weights.ignored = Some(WeightSpec::fingerprint_of_ignored(&tables.ignored));
        }
        if let Some(path) = weights.filter(|_| spec.weights.weighting.needs_frequencies()) {
            tables = tables.with_frequencies(FrequencyTable::open(&path).or_raise(py)?);
        }
        let filter =
            |text: &Option<String>| text.as_deref().map(str::parse::<Filter>).transpose().or_raise(py);
        let (filter, audit_filter) = (filter(&plan.filter)?, filter(&plan.audit_filter)?);
        let registers = spec.method.registers();
        Ok(Self {
            keep: plan.keep.parse().or_raise(py)?,
            preparation: Preparation::new(&spec, &tables).or_raise(py)?,
            banding: Banding::new(plan.bands, plan.rows, registers).or_raise(py)?,
            filter,
            audit_filter,
            shuffle: spec.method.copies_registers().then(|| shuffle(registers)),
            plan,
        })
    }

    /// Returns the fingerprint of the spec, computed on this machine.
    fn fingerprint(&self) -> u64 {
        self.preparation.spec().fingerprint()
    }

    /// Returns the number of bytes of a sketch.
    fn sketch_bytes(&self) -> usize {
        size_of::<u32>() * self.preparation.words()
    }

    /// Returns the name of the kernel that this machine uses.
    #[staticmethod]
    fn kernel() -> &'static str {
        minwise::kernel::Kernel::detect().name()
    }

    /// Sketches the column `text` of a batch. Columns `v0`, `v1`, … are the values of the keeper policy, and `o0`,
    /// `o1`, … are the columns that order rows. `given` is true if the rows are references. The result has band keys, 8
    /// bytes per key, little-endian; if `sketches` is true, it also has the sketches.
    fn sketch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        given: bool,
        sketches: bool,
    ) -> PyResult<Vec<PySparkBatch>> {
        let all = checked_batches(batch)?;
        all.iter().map(|batch| py.detach(|| self.sketch_batch(batch, given, sketches))).collect()
    }

    /// Returns only the rank keys and the fingerprints of rows.
    fn ranks(&self, py: Python<'_>, batch: &Bound<'_, PyAny>, given: bool) -> PyResult<Vec<PySparkBatch>> {
        let all = batches(batch)?;
        let ranks = |batch: &RecordBatch| {
            let mut content = Int64Builder::new();
            let (text, ranks) = (column(batch, "text")?, self.rank_keys(batch, given)?);
            for row in 0..batch.num_rows() {
                content.append_value(fingerprint(ranks.value(row), arrow_text(text, row)));
            }
            made(vec![("rank", Arc::new(ranks)), ("content", Arc::new(content.finish()))])
        };
        all.iter().map(|batch| py.detach(|| ranks(batch))).collect()
    }

    /// Makes the rows of the second reading of the texts: `rank`, `text`, `size`, and, if `sketches` and `parities` are
    /// true, `sketch` and `parity`. A last row without a rank key has the number of all rows (`size`) and the sum of
    /// their fingerprints (`content`). `needed` are the sorted hashes of the wanted rank keys, 8 bytes per hash.
    /// Without `needed`, all rows are returned.
    #[pyo3(signature = (batch, given, needed, sketches, parities))]
    fn read_again(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        given: bool,
        needed: Option<&[u8]>,
        sketches: bool,
        parities: bool,
    ) -> PyResult<PySparkBatch> {
        let all = batches(batch)?;
        let needed = needed.map(|bytes| bytes.as_chunks::<8>().0);
        py.detach(|| {
            let (mut out, mut room) = (TextRows::default(), Prepared::default());
            let (mut number, mut sum) = (0i64, 0i64);
            for batch in &all {
                let (text, ranks) = (column(batch, "text")?, self.rank_keys(batch, given)?);
                for row in 0..batch.num_rows() {
                    let (rank, text) = (ranks.value(row), arrow_text(text, row));
                    number += 1;
                    sum = sum.wrapping_add(fingerprint(rank, text));
                    let hash = xxh3_64(rank).to_be_bytes();
                    let is_needed = needed.is_none_or(|needed| needed.binary_search(&hash).is_ok());
                    if let Some(text) = text.filter(|_| is_needed) {
                        out.push(rank, text, self.sketches_of(text, sketches, parities, &mut room));
                    }
                }
            }
            out.push_sum(number, sum);
            out.finish()
        })
    }

    /// Adds sketches to rows of the second reading, and parity bits if `parities` is true. Rows without a rank key are
    /// not changed.
    fn fill(&self, py: Python<'_>, batch: &Bound<'_, PyAny>, parities: bool) -> PyResult<PySparkBatch> {
        let all = batches(batch)?;
        py.detach(|| {
            let (mut out, mut room) = (TextRows::default(), Prepared::default());
            for batch in &all {
                let (rank, text) = (column(batch, "rank")?, column(batch, "text")?);
                let (size, content) = (column(batch, "size")?, column(batch, "content")?);
                for row in 0..batch.num_rows() {
                    match (bytes_at(rank, row), arrow_text(text, row)) {
                        (Some(rank), Some(text)) => {
                            out.push(rank, text, self.sketches_of(text, true, parities, &mut room));
                        }
                        (Some(_), None) => {}
                        (None, _) => {
                            out.push_sum(integer(size, row).unwrap_or(0), integer(content, row).unwrap_or(0));
                        }
                    }
                }
            }
            out.finish()
        })
    }

    /// Returns the sorted hashes of rank keys (`rank`) that [`read_again`](Self::read_again) takes as `needed`.
    #[staticmethod]
    fn hashes<'py>(py: Python<'py>, ranks: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut hashes: Vec<[u8; 8]> = vec![];
        for batch in &batches(ranks)? {
            let rank = column(batch, "rank")?;
            hashes.extend(
                (0..rank.len()).filter_map(|row| bytes_at(rank, row)).map(|rank| xxh3_64(rank).to_be_bytes()),
            );
        }
        hashes.sort_unstable();
        hashes.dedup();
        Ok(PyBytes::new(py, hashes.as_flattened()))
    }

    /// Returns the distinct shingles of all texts of a batch, each with the number of texts that have it.
    fn count(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
        let all = checked_batches(batch)?;
        py.detach(|| {
            let spec = self.preparation.spec();
            let shingler = spec.shingler();
            let (mut shingles, mut gathered) = (Shingles::new(), vec![]);
            for checked in &all {
                let text = column(&checked.batch, "text")?;
                for row in 0..checked.batch.num_rows() {
                    let text = arrow_text(text, row)
                        .filter(|text| !self.is_too_long(text) && !checked.is_invalid(row));
                    let Some(text) = text else { continue };
                    shingler.shingle_into(text, &mut shingles);
                    if shingler.refuses(shingles.units()) {
                        continue;
                    }
                    let begin = gathered.len();
                    gathered.extend_from_slice(shingles.hashes());
                    gathered[begin..].sort_unstable();
                    let mut own = gathered.split_off(begin);
                    own.dedup();
                    gathered.append(&mut own);
                }
            }
            gathered.sort_unstable();
            let groups = || gathered.chunk_by(|a, b| a == b);
            let shingles = groups().map(|equal| equal[0].cast_signed());
            let numbers = groups().map(|equal| equal.len() as i64);
            made(vec![
                ("shingle", Arc::new(Int64Array::from_iter_values(shingles))),
                ("documents", Arc::new(Int64Array::from_iter_values(numbers))),
            ])
        })
    }

    /// Returns the shingles of `texts`, 8 bytes per shingle. The job leaves these shingles out of every document.
    fn ignored<'py>(&self, py: Python<'py>, texts: Vec<String>) -> Bound<'py, PyBytes> {
        let tables = WeightTables::default().ignoring(self.preparation.spec(), texts);
        let bytes: Vec<u8> = tables.ignored.iter().flat_map(|shingle| shingle.to_le_bytes()).collect();
        PyBytes::new(py, &bytes)
    }

    /// Screens pairs by their sketches, and returns the pairs that may be similar, each with the number of bytes of
    /// both texts. An input row has the rank keys of two documents (`a`, `c`), their sketches (`sa`, `sc`) and the
    /// bytes of their texts (`na`, `nc`).
    fn screen(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
        let all = batches(batch)?;
        py.detach(|| {
            let (mut found, mut rows) = (Found::default(), [vec![], vec![]]);
            for batch in &all {
                let [a, c, sa, sc] =
                    [column(batch, "a")?, column(batch, "c")?, column(batch, "sa")?, column(batch, "sc")?];
                let (na, nc) = (column(batch, "na")?, column(batch, "nc")?);
                for row in 0..batch.num_rows() {
                    let (Some(left), Some(right)) = (bytes_at(sa, row), bytes_at(sc, row)) else { continue };
                    let (Some(a), Some(c)) = (bytes_at(a, row), bytes_at(c, row)) else { continue };
                    self.words(left, &mut rows[0])?;
                    self.words(right, &mut rows[1])?;
                    if !self.rejects(&rows[0], &rows[1]) {
                        found.push(a, c, integer(na, row).unwrap_or(0) + integer(nc, row).unwrap_or(0));
                    }
                }
            }
            found.finish()
        })
    }

    /// Returns the rank key of each row (`rank`) and a hash (`order`). An audit draws the kept documents with the
    /// smallest hashes.
    fn audit_order(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
        let all = batches(batch)?;
        py.detach(|| {
            let (mut ranks, mut orders) = (BinaryBuilder::new(), BinaryBuilder::new());
            for batch in &all {
                let (rank, equality) = (column(batch, "rank")?, column(batch, "equality")?);
                for row in 0..batch.num_rows() {
                    let (Some(rank), Some(equality)) = (bytes_at(rank, row), bytes_at(equality, row)) else {
                        continue;
                    };
                    let key = equality.try_into().map_err(|_| {
                        PyValueError::new_err(format!(
                            "an equality key has 16 bytes, and not {}",
                            equality.len()
                        ))
                    })?;
                    ranks.append_value(rank);
                    let order = audit_rank(self.preparation.spec().seed, u128::from_le_bytes(key));
                    orders.append_value(order.to_be_bytes());
                }
            }
            made(vec![("rank", Arc::new(ranks.finish())), ("order", Arc::new(orders.finish()))])
        })
    }

    /// Screens pairs for an audit. Returns the pairs of a row of `batch` (`a`) and a row of `sample` (`c`) that may be
    /// similar, if the row of `batch` belongs to an earlier cluster. Input rows have `rank`, `cluster` and `sketch`. A
    /// pair has the cluster of the row of `sample`. The result has at most `most` pairs per row of `sample`. For each
    /// row of `sample` with pairs, a further row without `a` has the number of all its pairs (`open`).
    fn screen_sample(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        sample: &Bound<'_, PyAny>,
        most: i64,
    ) -> PyResult<PySparkBatch> {
        let (all, sample) = (batches(batch)?, batches(sample)?);
        py.detach(|| {
            let mut drawn: Vec<(&[u8], &[u8], Vec<u32>)> = vec![];
            self.each_sketch(&sample, |rank, cluster, words| drawn.push((rank, cluster, words.to_vec())))?;
            let [mut firsts, mut seconds, mut clusters] = [(); 3].map(|()| BinaryBuilder::new());
            let (mut counts, mut numbers) = (Int64Builder::new(), vec![0; drawn.len()]);
            self.each_sketch(&all, |rank, cluster, words| {
                for ((other, other_cluster, sampled), number) in drawn.iter().zip(&mut numbers) {
                    if cluster < *other_cluster
                        && !self.is_rejected(self.audit_filter.as_ref(), sampled, words)
                    {
                        *number += 1;
                        if *number <= most {
                            firsts.append_value(rank);
                            seconds.append_value(other);
                            clusters.append_value(other_cluster);
                            counts.append_null();
                        }
                    }
                }
            })?;
            for ((other, other_cluster, _), number) in drawn.iter().zip(numbers) {
                if number > 0 {
                    firsts.append_null();
                    seconds.append_value(other);
                    clusters.append_value(other_cluster);
                    counts.append_value(number);
                }
            }
            made(vec![
                ("a", Arc::new(firsts.finish())),
                ("c", Arc::new(seconds.finish())),
                ("cluster", Arc::new(clusters.finish())),
                ("open", Arc::new(counts.finish())),
            ])
        })
    }

    /// Computes the exact similarities of pairs (`a`, `c`) whose texts are in `texts` (`rank`, `text`). Returns the
    /// similarities and the number of compared pairs. Pairs below the threshold are left out, unless `all` is true. If
    /// `screens` is true, texts have sketches (`sketch`), and pairs that the sketches rule out are not compared.
    fn similarities(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        pairs: &Bound<'_, PyAny>,
        all: bool,
        screens: bool,
    ) -> PyResult<(PySparkBatch, u64)> {
        let (texts, pairs) = (batches(texts)?, batches(pairs)?);
        py.detach(|| self.similar(&texts, &pairs, all, screens))
    }
}

/// Returns the result of an audit as JSON. The audit compared `drawn` of `kept` documents with all others and found
/// `missed` missed duplicates.
#[pyfunction]
pub fn spark_audit(kept: u64, drawn: u64, removed: u64, missed: u64) -> PyResult<String> {
    let audit = Audit::of_counts(kept, drawn, removed, missed);
    serde_json::to_string(&audit).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns a hash of a row: of its rank key and its text. The hash does not depend on other rows, so the sum of all
/// hashes is the same in any order of the rows.
fn fingerprint(rank: &[u8], text: Option<&str>) -> i64 {
    let seed = xxh3_64(rank);
    // A null text has another hash than an empty text.
    let hash = text.map_or_else(|| !seed, |text| xxh3_64_with_seed(text.as_bytes(), seed));
    hash.cast_signed()
}

/// Values of a field, which a keeper policy reads as texts.
enum FieldValues<'a> {
    Texts(&'a dyn Array),
    /// Values of another type, written as the command writes those of a table.
    Written(Vec<Option<String>>),
}

impl<'a> FieldValues<'a> {
    fn of(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..) => {
                Self::Texts(array)
            }
            _ => Self::Written(written_values(array)),
        }
    }

    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Texts(array) => arrow_text(*array, row),
            Self::Written(values) => values[row].as_deref(),
        }
    }
}

/// Pairs that a screen does not rule out, with the number of bytes of both texts.
#[derive(Default)]
pub(super) struct Found {
    firsts: BinaryBuilder,
    seconds: BinaryBuilder,
    bytes: Int64Builder,
}

impl Found {
    pub(super) fn push(&mut self, first: &[u8], second: &[u8], bytes: i64) {
        self.firsts.append_value(first);
        self.seconds.append_value(second);
        self.bytes.append_value(bytes);
    }

    pub(super) fn finish(mut self) -> PyResult<PySparkBatch> {
        made(vec![
            ("a", Arc::new(self.firsts.finish())),
            ("c", Arc::new(self.seconds.finish())),
            ("bytes", Arc::new(self.bytes.finish())),
        ])
    }
}

impl PySparkTask {
    fn is_too_long(&self, text: &str) -> bool {
        text.len() as u64 > self.plan.max_record
    }

    /// Returns the rank key of each row; if `given` is true, the rows are references. A rank key has a byte that sorts
    /// references before inputs, then the words of the rankings, then the columns that order rows.
    fn rank_keys(&self, batch: &RecordBatch, given: bool) -> PyResult<BinaryArray> {
        let text = column(batch, "text")?;
        let order = numbered(batch, "o");
        // The values of references are not read, because references come first anyway.
        let values = if given { vec![] } else { numbered(batch, "v") };
        let values: Vec<FieldValues<'_>> = values.into_iter().map(FieldValues::of).collect();
        let (mut keys, mut key) = (BinaryBuilder::new(), vec![]);
        for row in 0..batch.num_rows() {
            key.clear();
            key.push(u8::from(!given));
            if !given {
                let text = arrow_text(text, row);
                let characters = if self.keep.needs_lengths() {
                    text.map_or(0, |text| text.chars().count() as u64)
                } else {
                    0
                };
                let mut values = values.iter();
                for ranking in self.keep.rankings() {
                    let value =
                        ranking.field().and_then(|_| values.next()).and_then(|values| values.get(row));
                    // As in the command, a row without text gets the last rank.
                    let rank = text.and_then(|_| ranking.rank(RankingInput { characters, value }));
                    let rank = rank.unwrap_or([u64::MAX; 2]);
                    for word in &rank[..ranking.words()] {
                        key.extend_from_slice(&word.to_be_bytes());
                    }
                }
            }
            let begin = key.len();
            push_order(&order, row, &mut key).map_err(|kind| {
                PyTypeError::new_err(format!("`order_by`: rows cannot be ordered by a column of {kind}"))
            })?;
            if !given && self.keep.ties() == Ties::Last {
                key[begin..].iter_mut().for_each(|byte| *byte = !*byte);
            }
            keys.append_value(&key);
        }
        Ok(keys.finish())
    }

    fn sketch_batch(
        &self,
        checked: &CheckedBatch,
        given: bool,
        with_sketches: bool,
    ) -> PyResult<PySparkBatch> {
        let batch = &checked.batch;
        let (text, ranks) = (column(batch, "text")?, self.rank_keys(batch, given)?);
        // Only files have this column. It marks the records that their reader rejects.
        let unreadable = batch.column_by_name("unreadable").map(AsArray::as_boolean);
        let mut room = Prepared::default();
        let mut row_words = vec![0; self.preparation.words()];
        let mut band_keys = vec![0; self.banding.bands()];
        let (mut kinds, mut equality) = (Int8Builder::new(), BinaryBuilder::new());
        let (mut content, mut sizes) = (Int64Builder::new(), Int64Builder::new());
        let (mut sketches, mut keys) = (BinaryBuilder::new(), BinaryBuilder::new());
        for row in 0..batch.num_rows() {
            let text = arrow_text(text, row);
            content.append_value(fingerprint(ranks.value(row), text));
            sizes.append_value(text.map_or(0, str::len) as i64);
            let sketched = text
                .filter(|text| !self.is_too_long(text) && !checked.is_invalid(row))
                .map(|text| self.preparation.sketch_keyed(text, &mut room, &mut row_words));
            let kind = match (text, &sketched) {
                _ if unreadable.is_some_and(|marks| marks.value(row)) => UNREADABLE,
                (None, _) => NULL,
                (Some(_), None) if checked.is_invalid(row) => INVALID,
                (Some(_), None) => TOO_LONG,
                (_, Some(sketched)) if sketched.is_too_short => TOO_SHORT,
                (_, Some(sketched)) if sketched.has_shingles => WITH_SHINGLES,
                _ => WITHOUT_SHINGLES,
            };
            kinds.append_value(kind);
            match sketched.filter(|_| kind <= WITHOUT_SHINGLES) {
                Some(sketched) => equality.append_value(sketched.equality_key.to_le_bytes()),
                None => equality.append_null(),
            }
            if kind == WITH_SHINGLES {
                sketches.append_option(with_sketches.then(|| little_endian(&row_words)));
                self.banding.keys_into(&row_words, &mut band_keys);
                let bytes: Vec<u8> = band_keys.iter().flat_map(|key| key.to_le_bytes()).collect();
                keys.append_value(bytes);
            } else {
                sketches.append_null();
                keys.append_null();
            }
        }
        made(vec![
            ("rank", Arc::new(ranks)),
            ("kind", Arc::new(kinds.finish())),
            ("equality", Arc::new(equality.finish())),
            ("content", Arc::new(content.finish())),
            ("size", Arc::new(sizes.finish())),
            ("sketch", Arc::new(sketches.finish())),
            ("keys", Arc::new(keys.finish())),
        ])
    }

    /// Returns the number of shingles of a text and its parity bits, as bytes; `None` if shingles have weights. Parity
    /// bits of two texts give an upper bound of their similarity.
    pub(super) fn parity(&self, text: &str, room: &mut Prepared) -> Option<Vec<u8>> {
        let DocumentSet::Plain(set) = self.preparation.comparable_set(text, room) else { return None };
        let mut words = vec![0; words_for(set.len())];
        parity_into(&set, &mut words);
        let mut bytes = little_endian(&[u32::try_from(set.len()).ok()?]);
        bytes.extend(little_endian(&words));
        Some(bytes)
    }

    /// Returns the sketch of a text if `sketch` is true, and its parity bits if `parity` is true.
    fn sketches_of(&self, text: &str, sketch: bool, parity: bool, room: &mut Prepared) -> SketchesOfText {
        let parity = if parity { self.parity(text, room) } else { None };
        let sketch = if sketch {
            let mut words = vec![0; self.preparation.words()];
            let sketched = self.preparation.sketch_keyed(text, room, &mut words);
            sketched.has_shingles.then(|| little_endian(&words))
        } else {
            None
        };
        SketchesOfText { sketch, parity }
    }

    pub(super) fn threshold(&self) -> f64 {
        self.plan.threshold
    }

    /// Reads the words of a sketch from bytes.
    pub(super) fn words(&self, bytes: &[u8], out: &mut Vec<u32>) -> PyResult<()> {
        let (quads, rest) = bytes.as_chunks::<4>();
        if quads.len() != self.preparation.words() || !rest.is_empty() {
            return Err(PyValueError::new_err("a sketch in `work` is damaged"));
        }
        out.clear();
        out.extend(quads.iter().map(|quad| u32::from_le_bytes(*quad)));
        Ok(())
    }

    pub(super) fn rejects(&self, a: &[u32], b: &[u32]) -> bool {
        self.is_rejected(self.filter.as_ref(), a, b)
    }

    fn is_rejected(&self, filter: Option<&Filter>, a: &[u32], b: &[u32]) -> bool {
        let Some(filter) = filter else { return false };
        match &self.shuffle {
            None => filter.screen(a, b).rejected,
            Some(order) => {
                filter.screen_by(|range| order[range].iter().filter(|&&at| a[at] == b[at]).count()).rejected
            }
        }
    }

    /// Calls `visit` for each row that has a sketch, with its rank key, the rank key of its cluster, and the words of
    /// the sketch.
    fn each_sketch<'b>(
        &self,
        rows: &'b [RecordBatch],
        mut visit: impl FnMut(&'b [u8], &'b [u8], &[u32]),
    ) -> PyResult<()> {
        let mut words = vec![];
        for batch in rows {
            let [rank, cluster, sketch] = ["rank", "cluster", "sketch"].map(|name| column(batch, name));
            let (rank, cluster, sketch) = (rank?, cluster?, sketch?);
            for row in 0..batch.num_rows() {
                let [rank, cluster, sketch] = [rank, cluster, sketch].map(|column| bytes_at(column, row));
                if let (Some(rank), Some(cluster), Some(sketch)) = (rank, cluster, sketch) {
                    self.words(sketch, &mut words)?;
                    visit(rank, cluster, &words);
                }
            }
        }
        Ok(())
    }

    fn similar(
        &self,
        texts: &[RecordBatch],
        pairs: &[RecordBatch],
        all: bool,
        screens: bool,
    ) -> PyResult<(PySparkBatch, u64)> {
        let mut room = Prepared::default();
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        // A shingle set is made only when a pair needs it, because sketches rule out most pairs.
        let mut sets: Vec<(&str, OnceCell<DocumentSet>)> = vec![];
        let (mut sketches, mut words, mut compared) = (vec![], vec![], 0);
        for batch in texts {
            let (rank, text) = (column(batch, "rank")?, column(batch, "text")?);
            let sketch = if screens { Some(column(batch, "sketch")?) } else { None };
            for row in 0..batch.num_rows() {
                let (Some(rank), Some(text)) = (bytes_at(rank, row), arrow_text(text, row)) else { continue };
                if let Entry::Vacant(place) = places.entry(rank) {
                    if let Some(sketch) = sketch {
                        // A text without shingles is on no shelf. It is here if its rank key has the hash of another.
                        let Some(sketch) = bytes_at(sketch, row) else { continue };
                        self.words(sketch, &mut words)?;
                        sketches.extend_from_slice(&words);
                    }
                    place.insert(sets.len());
                    sets.push((text, OnceCell::new()));
                }
            }
        }
        let row_words = self.preparation.words();
        let sketch = |place: usize| &sketches[place * row_words..][..row_words];
        let (mut firsts, mut seconds, mut similarities) =
            (BinaryBuilder::new(), BinaryBuilder::new(), vec![]);
        for batch in pairs {
            let (a, c) = (column(batch, "a")?, column(batch, "c")?);
            for row in 0..batch.num_rows() {
                let (Some(a), Some(c)) = (bytes_at(a, row), bytes_at(c, row)) else { continue };
                let (Some(&left), Some(&right)) = (places.get(a), places.get(c)) else {
                    return Err(PyValueError::new_err(
                        "the input is not deterministic: a text of the first reading is missing in the second",
                    ));
                };
                if screens && self.rejects(sketch(left), sketch(right)) {
                    continue;
                }
                compared += 1;
                let [left, right] = [left, right].map(|place| {
                    let (text, set) = &sets[place];
                    set.get_or_init(|| self.preparation.comparable_set(text, &mut room))
                });
                let similarity = if all {
                    Some(left.measure(right, Measure::Jaccard))
                } else {
                    left.at_least(right, Measure::Jaccard, self.plan.threshold)
                };
                if let Some(similarity) = similarity {
                    firsts.append_value(a);
                    seconds.append_value(c);
                    similarities.push(similarity);
                }
            }
        }
        let similar = made(vec![
            ("a", Arc::new(firsts.finish())),
            ("c", Arc::new(seconds.finish())),
            ("similarity", Arc::new(Float64Array::from(similarities))),
        ])?;
        Ok((similar, compared))
    }
}
