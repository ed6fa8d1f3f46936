//! Groups equal documents and documents of one shelf, and counts repeated rank keys and ids.
//!
//! An entry has few bytes, but each row of a table costs Spark far more. So tasks pack the entries of one part into one
//! value. [`spark_sort`] makes one value per batch and part. Spark brings the values of a part to one task.
//! [`spark_group`] unpacks the values and groups their entries.
//!
//! | part | entry | result |
//! |---|---|---|
//! | shelves | band, band key, equality key, rank key | documents that share a band key with another document |
//! | equals | equality key, rank key | copies, each with the first document that equals it |
//! | ranks | hash of the rank key, 8 bytes | number of repeated hashes of rank keys |
//! | ids | hash of the id, 8 bytes | number of repeated hashes of ids |
//! | counts | counts of a batch, sum of fingerprints, bytes of ids | their sums over all batches |

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Int64Builder};
use arrow_array::cast::AsArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::batch::{PySparkBatch, batches, bytes_at, column, integer, made};
use crate::texts::arrow_text;

/// Values of the column `what` of a result: a count, a copy of a document, or a member of a shelf.
const COUNT: i64 = 0;
const COPY: i64 = 1;
const MEMBER: i64 = 2;

/// Number of kinds of texts. The counts with the keys 0 to 6 are the numbers of texts per kind in the inputs. The
/// counts with the keys 7 to 13 are the numbers of texts per kind in the references.
const KINDS: usize = 7;
/// Keys of the counts that are not about kinds of texts.
const SUM: i64 = 100;
const RANKS: i64 = 101;
const IDS: i64 = 102;
const DISTINCT: i64 = 103;
const COPIES: i64 = 104;
const MEMBERS: i64 = 105;
const SHELVES: i64 = 106;
const LARGEST: i64 = 107;
const MEMBER_BYTES: i64 = 108;
const COPY_BYTES: i64 = 109;
const ID_BYTES: i64 = 110;

/// Number of bytes of an equality key.
const EQUALITY: usize = 16;
/// Number of the part that has the counts.
const COUNTS: i64 = -1;

/// Numbering of parts: first all parts of shelves, then `others` parts each of equals, ranks and ids.
#[derive(Clone, Copy)]
struct Parts {
    shelves: u64,
    others: u64,
}

enum Kind {
    Counts,
    Shelves,
    Equals,
    Hashes(i64),
}

impl Parts {
    fn new(parts: u64) -> Self {
        // Equals, ranks and ids get an eighth of the parts each, because entries of shelves take eight times as many
        // bytes.
        Self { shelves: parts.max(1), others: parts / 8 + 1 }
    }

    fn place(hash: u64, parts: u64) -> u64 {
        ((u128::from(hash) * u128::from(parts)) >> 64) as u64
    }

    fn of_shelf(self, key: u64) -> i64 {
        Self::place(key.wrapping_mul(0x9e37_79b9_7f4a_7c15), self.shelves).cast_signed()
    }

    fn of_other(self, which: u64, hash: u64) -> i64 {
        (self.shelves + which * self.others + Self::place(hash, self.others)).cast_signed()
    }

    fn kind(self, part: i64) -> Kind {
        let Ok(part) = u64::try_from(part) else { return Kind::Counts };
        match part.checked_sub(self.shelves).map(|other| other / self.others) {
            None => Kind::Shelves,
            Some(0) => Kind::Equals,
            Some(1) => Kind::Hashes(RANKS),
            Some(_) => Kind::Hashes(IDS),
        }
    }
}

fn damaged() -> PyErr {
    PyValueError::new_err("a table in `work` is damaged")
}

/// Packs the rows of a batch of sketches, by their parts. A row of the result has the number of a part (`part`) and its
/// packed entries (`rows`).
#[pyfunction]
pub fn spark_sort(py: Python<'_>, batch: &Bound<'_, PyAny>, parts: u64) -> PyResult<PySparkBatch> {
    let all = batches(batch)?;
    py.detach(|| {
        let parts = Parts::new(parts);
        let mut packed: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
        let mut counts = BatchCounts::default();
        for batch in &all {
            sort_batch(batch, parts, &mut packed, &mut counts)?;
        }
        let mut summary = counts.sum.to_le_bytes().to_vec();
        summary.extend(counts.kinds.iter().flat_map(|count| count.to_le_bytes()));
        summary.extend(counts.id_bytes.to_le_bytes());
        packed.insert(COUNTS, summary);
        let (mut numbers, mut rows) = (Int64Builder::new(), BinaryBuilder::new());
        for (part, bytes) in packed {
            numbers.append_value(part);
            rows.append_value(bytes);
        }
        made(vec![("part", Arc::new(numbers.finish())), ("rows", Arc::new(rows.finish()))])
    })
}

/// Finds equal documents and shelves of a table of sketches. Returns what [`spark_group`] returns for all parts together.
///
/// The driver has all rows of a small input, so nothing is packed: rows are sorted where they are, by their numbers.
#[pyfunction]
pub fn spark_group_here(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
    let all = batches(rows)?;
    py.detach(|| {
        let mut rows = SketchRows::default();
        for batch in &all {
            rows.push(batch)?;
        }
        let mut out = Out::default();
        rows.group(&mut out);
        out.finish()
    })
}

/// Rows of the table of sketches that the driver groups.
#[derive(Default)]
struct SketchRows<'a> {
    counts: BatchCounts,
    /// Hashes of all rank keys, and of all ids.
    hashes: [Vec<u64>; 2],
    /// Equality key, rank key and band keys of each document.
    documents: Vec<(&'a [u8], &'a [u8], &'a [u8])>,
}

impl<'a> SketchRows<'a> {
    fn push(&mut self, batch: &'a RecordBatch) -> PyResult<()> {
        let names = ["rank", "id", "given", "kind", "equality", "content", "keys"];
        let [rank, id, given, kind, equality, content, keys] = names.map(|name| column(batch, name));
        let (rank, id, given, kind) = (rank?, id?, given?.as_boolean(), kind?);
        let (equality, content, keys) = (equality?, content?, keys?);
        for row in 0..batch.num_rows() {
            let rank = bytes_at(rank, row).ok_or_else(damaged)?;
            self.counts.add(given.value(row), integer(kind, row), integer(content, row))?;
            self.hashes[0].push(xxh3_64(rank));
            if let Some(id) = arrow_text(id, row) {
                self.counts.id_bytes += id.len() as u64;
                self.hashes[1].push(xxh3_64(id.as_bytes()));
            }
            let Some(equality) = bytes_at(equality, row) else { continue };
            if equality.len() != EQUALITY {
                return Err(damaged());
            }
            self.documents.push((equality, rank, bytes_at(keys, row).unwrap_or_default()));
        }
        Ok(())
    }

    fn group(mut self, out: &mut Out) {
        self.counts.write(out);
        for (key, hashes) in [RANKS, IDS].into_iter().zip(&mut self.hashes) {
            hashes.sort_unstable();
            let twice = hashes.windows(2).filter(|two| two[0] == two[1]).count();
            out.count(key, twice as i64);
        }
        self.documents.sort_unstable_by_key(|&(equality, rank, _)| (equality, rank));
        let equals = self.documents.chunk_by(|a, b| a.0 == b.0).map(|equal| {
            let ranks = equal.iter().map(|&(_, rank, _)| rank);
            ranks.collect::<Vec<_>>()
        });
        push_equals(equals, out);
        // Equal documents have the same band keys, so only the first of them is put on shelves. Firsts are numbered by
        // their rank keys, so that sorting (key, number) also orders the members of a shelf.
        self.documents.dedup_by_key(|document| document.0);
        self.documents.sort_unstable_by_key(|document| document.1);
        let bands = self.documents.iter().map(|(_, _, keys)| keys.len() / 8).max().unwrap_or(0);
        let mut shelves = ShelfCounts::default();
        let mut keyed: Vec<(u64, u32)> = vec![];
        for band in 0..bands {
            let keys = (0u32..).zip(&self.documents).filter_map(|(number, &(_, _, keys))| {
                keys.as_chunks::<8>().0.get(band).map(|key| (u64::from_le_bytes(*key), number))
            });
            keyed.clear();
            keyed.extend(keys);
            keyed.sort_unstable();
            for shelf in keyed.chunk_by(|a, b| a.0 == b.0) {
                let ranks = shelf.iter().map(|&(_, number)| self.documents[number as usize].1);
                shelves.push((band as u16, shelf[0].0), ranks, out);
            }
        }
        shelves.write(out);
    }
}

/// Counts of a batch: rows by kind of text, separately for inputs and references; the sum of fingerprints; and bytes of
/// ids.
#[derive(Default)]
struct BatchCounts {
    kinds: [u64; 2 * KINDS],
    sum: i64,
    id_bytes: u64,
}

impl BatchCounts {
    fn add(&mut self, given: bool, kind: Option<i64>, content: Option<i64>) -> PyResult<()> {
        let kind = kind.and_then(|kind| usize::try_from(kind).ok()).filter(|kind| *kind < KINDS);
        self.kinds[usize::from(given) * KINDS + kind.ok_or_else(damaged)?] += 1;
        self.sum = self.sum.wrapping_add(content.unwrap_or(0));
        Ok(())
    }

    fn write(&self, out: &mut Out) {
        out.count(SUM, self.sum);
        out.count(ID_BYTES, self.id_bytes.cast_signed());
        (0..).zip(self.kinds).for_each(|(key, count)| out.count(key, count.cast_signed()));
    }
}

fn sort_batch(
    batch: &RecordBatch,
    parts: Parts,
    packed: &mut BTreeMap<i64, Vec<u8>>,
    counts: &mut BatchCounts,
) -> PyResult<()> {
    let names = ["rank", "id", "given", "kind", "equality", "content", "keys"];
    let [rank, id, given, kind, equality, content, keys] = names.map(|name| column(batch, name));
    let (rank, id, given, kind) = (rank?, id?, given?.as_boolean(), kind?);
    let (equality, content, keys) = (equality?, content?, keys?);
    let push_rank = |bytes: &mut Vec<u8>, rank: &[u8]| {
        bytes.extend_from_slice(&(rank.len() as u32).to_le_bytes());
        bytes.extend_from_slice(rank);
    };
    // Only the first of several equal documents is put on shelves, because equal documents have the same band keys.
    let mut firsts: HashMap<&[u8], &[u8]> = HashMap::new();
    for row in 0..batch.num_rows() {
        if let (Some(equality), Some(rank)) = (bytes_at(equality, row), bytes_at(rank, row)) {
            firsts.entry(equality).and_modify(|first| *first = rank.min(*first)).or_insert(rank);
        }
    }
    for row in 0..batch.num_rows() {
        let rank = bytes_at(rank, row).ok_or_else(damaged)?;
        counts.add(given.value(row), integer(kind, row), integer(content, row))?;
        let hash = xxh3_64(rank);
        packed.entry(parts.of_other(1, hash)).or_default().extend_from_slice(&hash.to_le_bytes());
        if let Some(id) = arrow_text(id, row) {
            counts.id_bytes += id.len() as u64;
            let hash = xxh3_64(id.as_bytes());
            packed.entry(parts.of_other(2, hash)).or_default().extend_from_slice(&hash.to_le_bytes());
        }
        let Some(equality) = bytes_at(equality, row) else { continue };
        if equality.len() != EQUALITY {
            return Err(damaged());
        }
        let equals = packed.entry(parts.of_other(0, xxh3_64(equality))).or_default();
        equals.extend_from_slice(equality);
        push_rank(equals, rank);
        if firsts.get(equality) != Some(&rank) {
            continue;
        }
        let (keys, _) = bytes_at(keys, row).unwrap_or_default().as_chunks::<8>();
        for (band, key) in (0u16..).zip(keys) {
            let shelf = packed.entry(parts.of_shelf(u64::from_le_bytes(*key))).or_default();
            shelf.extend_from_slice(&band.to_le_bytes());
            shelf.extend_from_slice(key);
            shelf.extend_from_slice(equality);
            push_rank(shelf, rank);
        }
    }
    Ok(())
}

/// Packed entries of a part, which are read from front to back.
struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    fn take(&mut self, bytes: usize) -> PyResult<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> PyResult<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| damaged())
    }

    fn rank(&mut self) -> PyResult<&'a [u8]> {
        let length = u32::from_le_bytes(self.array()?);
        self.take(length as usize)
    }
}

/// Columns of a result: `what`, `band`, `key`, `rank`, `other` and `number`.
#[derive(Default)]
struct Out {
    numbers: [Int64Builder; 4],
    ranks: [BinaryBuilder; 2],
}

impl Out {
    fn push(&mut self, what: i64, shelf: Option<(u16, u64)>, ranks: [Option<&[u8]>; 2], number: Option<i64>) {
        self.numbers[0].append_value(what);
        self.numbers[1].append_option(shelf.map(|(band, _)| band.into()));
        self.numbers[2].append_option(shelf.map(|(_, key)| key.cast_signed()));
        self.numbers[3].append_option(number);
        for (column, rank) in self.ranks.iter_mut().zip(ranks) {
            column.append_option(rank);
        }
    }

    fn count(&mut self, key: i64, number: i64) {
        self.push(COUNT, Some((0, key.cast_unsigned())), [None; 2], Some(number));
    }

    fn finish(mut self) -> PyResult<PySparkBatch> {
        let [what, band, key, number] = &mut self.numbers;
        let [rank, other] = &mut self.ranks;
        made(vec![
            ("what", Arc::new(what.finish())),
            ("band", Arc::new(band.finish())),
            ("key", Arc::new(key.finish())),
            ("rank", Arc::new(rank.finish())),
            ("other", Arc::new(other.finish())),
            ("number", Arc::new(number.finish())),
        ])
    }
}

/// Unpacks the entries of one part and groups them.
#[pyfunction]
pub fn spark_group(py: Python<'_>, part: i64, parts: u64, rows: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
    let all = batches(rows)?;
    py.detach(|| {
        let mut packed: Vec<&[u8]> = vec![];
        for batch in &all {
            let rows = column(batch, "rows")?;
            packed.extend((0..rows.len()).filter_map(|row| bytes_at(rows, row)));
        }
        let mut out = Out::default();
        match Parts::new(parts).kind(part) {
            Kind::Counts => group_counts(&packed, &mut out)?,
            Kind::Shelves => group_shelves(&packed, &mut out)?,
            Kind::Equals => group_equals(&packed, &mut out)?,
            Kind::Hashes(key) => {
                let mut hashes: Vec<&[u8]> = packed
                    .iter()
                    .flat_map(|bytes| bytes.as_chunks::<8>().0.iter().map(|hash| &hash[..]))
                    .collect();
                hashes.sort_unstable();
                let twice = hashes.windows(2).filter(|two| two[0] == two[1]).count();
                out.count(key, twice as i64);
            }
        }
        out.finish()
    })
}

fn group_counts(packed: &[&[u8]], out: &mut Out) -> PyResult<()> {
    let mut counts = BatchCounts::default();
    for bytes in packed {
        let mut entries = Entries(bytes);
        counts.sum = counts.sum.wrapping_add(i64::from_le_bytes(entries.array()?));
        for count in &mut counts.kinds {
            *count += u64::from_le_bytes(entries.array()?);
        }
        counts.id_bytes += u64::from_le_bytes(entries.array()?);
    }
    counts.write(out);
    Ok(())
}

fn group_equals(packed: &[&[u8]], out: &mut Out) -> PyResult<()> {
    let mut all: Vec<([u8; EQUALITY], &[u8])> = vec![];
    for bytes in packed {
        let mut entries = Entries(bytes);
        while !entries.0.is_empty() {
            all.push((entries.array()?, entries.rank()?));
        }
    }
    all.sort_unstable();
    let equals = all.chunk_by(|a, b| a.0 == b.0).map(|equal| equal.iter().map(|&(_, rank)| rank).collect());
    push_equals(equals, out);
    Ok(())
}

/// Writes the copies of equal documents, and their counts. Each item has the rank keys of equal documents, in ascending
/// order.
fn push_equals<'a>(equals: impl Iterator<Item = Vec<&'a [u8]>>, out: &mut Out) {
    let (mut distinct, mut copies, mut bytes) = (0, 0, 0);
    for equal in equals {
        distinct += 1;
        copies += equal.len() as i64 - 1;
        for rank in &equal[1..] {
            bytes += (rank.len() + equal[0].len()) as i64;
            out.push(COPY, None, [Some(rank), Some(equal[0])], None);
        }
    }
    out.count(DISTINCT, distinct);
    out.count(COPIES, copies);
    out.count(COPY_BYTES, bytes);
}

fn group_shelves(packed: &[&[u8]], out: &mut Out) -> PyResult<()> {
    let mut all: Vec<(u16, u64, [u8; EQUALITY], &[u8])> = vec![];
    for bytes in packed {
        let mut entries = Entries(bytes);
        while !entries.0.is_empty() {
            let band = u16::from_le_bytes(entries.array()?);
            all.push((band, u64::from_le_bytes(entries.array()?), entries.array()?, entries.rank()?));
        }
    }
    all.sort_unstable();
    let mut counts = ShelfCounts::default();
    for shelf in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        // Equal documents have the same band keys, so only the first of them becomes a member.
        let firsts: Vec<&[u8]> = shelf.chunk_by(|a, b| a.2 == b.2).map(|equal| equal[0].3).collect();
        counts.push((shelf[0].0, shelf[0].1), firsts.into_iter(), out);
    }
    counts.write(out);
    Ok(())
}

/// Counts of shelves with two members or more.
#[derive(Default)]
struct ShelfCounts {
    members: i64,
    shelves: i64,
    largest: i64,
    bytes: i64,
}

impl ShelfCounts {
    /// Writes the members of a shelf if there are two or more.
    fn push<'a>(&mut self, shelf: (u16, u64), ranks: impl ExactSizeIterator<Item = &'a [u8]>, out: &mut Out) {
        let members = ranks.len() as i64;
        if members < 2 {
            return;
        }
        self.shelves += 1;
        self.members += members;
        self.largest = self.largest.max(members);
        for rank in ranks {
            self.bytes += rank.len() as i64;
            out.push(MEMBER, Some(shelf), [Some(rank), None], None);
        }
    }

    fn write(&self, out: &mut Out) {
        out.count(MEMBERS, self.members);
        out.count(MEMBER_BYTES, self.bytes);
        out.count(SHELVES, self.shelves);
        out.count(LARGEST, self.largest);
    }
}
