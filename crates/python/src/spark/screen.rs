//! Screens the pairs of the blocks of a task, by parity bits, or by sketches if shingles have weights.
//!
//! Sketches alone do not rule out pairs of documents that are one form, filled in differently: at a similarity of 0.66,
//! they left 99.8 % of the pairs of 1,500 documents open. Parity bits rule out most of these pairs, and never a similar
//! pair. So rows with parity bits have no sketches here; the sketches of the few pairs that are left are compared
//! later, before their texts are.

use arrow_array::RecordBatch;
use minwise::cluster::BlockRow;
use minwise::kernel::Kernel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batch::{PySparkBatch, batches, bytes_at, column, integer};
use super::scan::{BlockScan, ScanRows, TaskRow};
use super::task::{Found, PySparkTask};

/// Rows of the blocks of a task, and the next row whose pairs are screened. Pairs are returned in portions: a task has
/// up to 32,768 × 65,536 pairs, and if sketches rule out few of them, all pairs would take some 6 GB at once.
#[pyclass(name = "SparkBlocks", module = "minwise._minwise")]
pub struct PySparkBlocks {
    task: Py<PySparkTask>,
    all: Vec<RecordBatch>,
    /// Rows, sorted by block. Within a block, the rows that ask come first, then all rows.
    rows: Vec<TaskRow>,
    sketches: Vec<u32>,
    keys: Vec<u64>,
    parities: Vec<u32>,
    /// Whether all rows have parity bits.
    has_parities: bool,
    kernel: Kernel,
    /// Row whose pairs are screened next. With parity bits, it is the first row of the next block.
    next: usize,
    /// Scan of the current block by parity bits.
    scan: Option<BlockScan>,
}

impl PySparkBlocks {
    fn of(task: Py<PySparkTask>, all: Vec<RecordBatch>) -> PyResult<Self> {
        let (mut rows, mut sketches, mut one, mut parities) = (vec![], vec![], vec![], vec![]);
        let own = task.get();
        let words = own.preparation.words();
        let mut lacks_sketches = false;
        for (number, batch) in all.iter().enumerate() {
            let names =
                ["side", "block", "band", "document", "last", "front", "decided", "kind", "joined", "mask"];
            let numbers = names.map(|name| column(batch, name));
            let (rank, sketch) = (column(batch, "rank")?, column(batch, "sketch")?);
            let (size, parity) = (column(batch, "size")?, column(batch, "parity")?);
            for row in 0..batch.num_rows() {
                let mut values = [0i64; 10];
                for (value, array) in values.iter_mut().zip(&numbers) {
                    let array = array.as_ref().map_err(|error| PyValueError::new_err(error.to_string()))?;
                    *value = integer(*array, row).unwrap_or(0);
                }
                let [side, block, band, document, last, front, decided, kind, component, mask] = values;
                if bytes_at(rank, row).is_none() {
                    continue;
                }
                // A row with parity bits has no sketch; its place is filled with zeros.
                if let Some(sketch) = bytes_at(sketch, row) {
                    own.words(sketch, &mut one)?;
                } else {
                    one.clear();
                    one.resize(words, 0);
                    lacks_sketches = true;
                }
                let (begin, mut shingles) = (parities.len(), 0);
                if let Some((number, words)) =
                    bytes_at(parity, row).unwrap_or_default().split_first_chunk::<4>()
                {
                    shingles = u32::from_le_bytes(*number) as usize;
                    parities.extend(words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
                }
                rows.push(TaskRow {
                    place: (block, side != 0, document as u32),
                    at: (number, row),
                    row: BlockRow {
                        document: document as u32,
                        last: last as u32,
                        front: front as u16,
                        decided: decided as u16,
                        kind: kind as u16,
                        component: component as u32,
                    },
                    band: band as u32,
                    mask: mask.cast_unsigned(),
                    size: integer(size, row).unwrap_or(0),
                    sketch: sketches.len() / words,
                    shingles,
                    parity: (begin, parities.len() - begin),
                });
                sketches.extend_from_slice(&one);
            }
        }
        let has_parities = rows.iter().all(|row: &TaskRow| row.parity.1 > 0);
        if has_parities {
            sketches.clear();
        } else if lacks_sketches {
            return Err(PyValueError::new_err("a row of a block has neither a sketch nor parity bits"));
        }
        let bands = own.banding.bands();
        let mut keys = vec![0; sketches.len() / words * bands];
        for (row, keys) in sketches.chunks_exact(words).zip(keys.chunks_exact_mut(bands)) {
            own.banding.keys_into(row, keys);
        }
        rows.sort_unstable_by_key(|row| row.place);
        let kernel = Kernel::detect();
        Ok(Self { task, all, rows, sketches, keys, parities, has_parities, kernel, next: 0, scan: None })
    }

    /// Reports whether a pair is compared in the block of an earlier band. The pair is compared only in the first band
    /// that both documents share and in whose block one of them asks.
    fn is_elsewhere(&self, first: &TaskRow, second: &TaskRow) -> bool {
        let bands = self.task.get().banding.bands();
        let [own, other] = [first, second].map(|row| &self.keys[row.sketch * bands..][..bands]);
        // Bands from 64 on have no bit in a mask, so for such a band all bits are of earlier bands.
        let before = 1u64.checked_shl(first.band).map_or(u64::MAX, |bit| bit - 1);
        let mut blocks = (first.mask | second.mask) & before;
        while blocks != 0 {
            let band = blocks.trailing_zeros() as usize;
            if own.get(band) == other.get(band) {
                return true;
            }
            blocks &= blocks - 1;
        }
        false
    }

    /// Screens the pairs of a row that asks with all other rows of its block. Returns the number of pairs that were
    /// screened.
    fn screen_row(&self, first: &TaskRow, members: &[TaskRow], found: &mut Found) -> PyResult<u64> {
        let task = self.task.get();
        let words = task.preparation.words();
        let sketch = |row: &TaskRow| &self.sketches[row.sketch * words..][..words];
        let (own, mut asked) = (sketch(first), 0);
        for second in members {
            let is_later = second.row.document > first.row.document;
            // If both rows ask, the pair is screened once, with the pairs of the earlier row.
            if second.row.document == first.row.document || !is_later && second.row.is_asking() {
                continue;
            }
            let (earlier, later) = if is_later { (first, second) } else { (second, first) };
            if !BlockRow::asks(earlier.row, later.row) || self.is_elsewhere(first, second) {
                continue;
            }
            asked += 1;
            if !task.rejects(own, sketch(second)) {
                found.push(self.rank(earlier)?, self.rank(later)?, first.size + second.size);
            }
        }
        Ok(asked)
    }
}

impl PySparkBlocks {
    /// Scans the next rows by their parity bits, until about `most` pairs may be similar. Returns these pairs and the
    /// number of compared pairs, or `None` after the last row.
    fn scan(&mut self, most: usize) -> PyResult<Option<(PySparkBatch, u64)>> {
        let threshold = self.task.get().threshold();
        let rows = ScanRows { rows: &self.rows, parities: &self.parities, threshold, kernel: self.kernel };
        let (mut pairs, mut asked, mut is_any) = (vec![], 0, false);
        while pairs.len() < most {
            let Some(scan) = &mut self.scan else {
                let Some(first) = self.rows.get(self.next) else { break };
                let (begin, block) = (self.next, first.place.0);
                let end = self.rows.partition_point(|row| row.place.0 <= block);
                let members = self.rows.partition_point(|row| row.place < (block, true, 0));
                self.next = end;
                if members > begin {
                    self.scan = Some(rows.block(begin..members, members..end));
                }
                continue;
            };
            match scan.scan(&rows, |earlier, later| pairs.push((earlier, later))) {
                Some(more) => asked += more,
                None => self.scan = None,
            }
            is_any = true;
        }
        if !is_any {
            return Ok(None);
        }
        let mut found = Found::default();
        for (earlier, later) in pairs {
            let [earlier, later] = [earlier, later].map(|row| &self.rows[row]);
            found.push(self.rank(earlier)?, self.rank(later)?, earlier.size + later.size);
        }
        Ok(Some((found.finish()?, asked)))
    }

    fn rank(&self, row: &TaskRow) -> PyResult<&[u8]> {
        Ok(bytes_at(column(&self.all[row.at.0], "rank")?, row.at.1).unwrap_or_default())
    }
}

#[pymethods]
impl PySparkBlocks {
    /// Takes the rows of the blocks of one task, in any order.
    #[new]
    fn new(task: Py<PySparkTask>, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::of(task, batches(rows)?)
    }

    /// Screens the pairs of the next rows. With sketches, it stops after about `most` screened pairs; with parity bits,
    /// after about `most` pairs that may be similar. Returns the pairs that may be similar and the number of screened
    /// pairs, or None after the last row.
    fn screen(&mut self, py: Python<'_>, most: usize) -> PyResult<Option<(PySparkBatch, u64)>> {
        if self.has_parities {
            return py.detach(|| self.scan(most));
        }
        py.detach(|| {
            let (mut found, mut asked, mut pairs, mut is_any) = (Found::default(), 0, 0, false);
            while pairs < most
                && let Some(first) = self.rows.get(self.next)
            {
                let (block, is_member, _) = first.place;
                let end = self.rows.partition_point(|row| row.place.0 <= block);
                if is_member {
                    // All rows of this block that ask are screened.
                    self.next = end;
                    continue;
                }
                let begin = self.rows.partition_point(|row| row.place < (block, true, 0));
                asked += self.screen_row(first, &self.rows[begin..end], &mut found)?;
                pairs += end - begin;
                is_any = true;
                self.next += 1;
            }
            if !is_any {
                return Ok(None);
            }
            Ok(Some((found.finish()?, asked)))
        })
    }
}
