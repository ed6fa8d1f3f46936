//! Rounds in tasks, for jobs whose shelves do not fit the memory of the driver. A shelf has the documents with one band
//! key. A task computes the result of one part of the shelves, or of one part of the connected components of similar
//! documents.
//!
//! A part has any number of whole shelves, or of whole components. Documents are numbered within a part in the order of
//! their rank keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{BooleanArray, Float64Array, Int64Array, RecordBatch};
use minwise::cluster::{
    BlockLimits, BlockRow, Edge, JoinMember, JoinShelf, MemberState, PriorState, Ranked, ShelfMember,
    Standing, StarShelf, Visit, decide_round, name_keepers,
};
use minwise_engine::SHELF;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batch::{PySparkBatch, batches, binary, bytes_at, column, integer, made};
use super::block::{BlockTasks, bit};
use crate::error::OrRaise;

/// Approximate upper bound of the pairs that a task lists. Each listed pair is a row of many columns, 150 bytes in all.
const PART_LISTED: usize = 1_000_000;

/// Values of the column `state`. Undecided documents have the value 0.
const KEPT: i64 = 1;
const REMOVED: i64 = 2;

/// Returns the distinct rank keys of the named columns, in ascending order.
fn keys<'a>(all: &'a [RecordBatch], names: &[&str]) -> PyResult<Vec<&'a [u8]>> {
    let mut found = vec![];
    for batch in all {
        for name in names {
            let array = column(batch, name)?;
            found.extend((0..batch.num_rows()).filter_map(|row| bytes_at(array, row)));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Returns the number of rank keys that are less than `key`.
fn place(keys: &[&[u8]], key: &[u8]) -> usize {
    keys.partition_point(|other| *other < key)
}

fn number(batch: &RecordBatch, name: &str, row: usize) -> PyResult<i64> {
    let missing = || PyValueError::new_err(format!("`{name}` of row {row} is null"));
    integer(column(batch, name)?, row).ok_or_else(missing)
}

fn similarity(batch: &RecordBatch, row: usize) -> PyResult<f64> {
    let values = column(batch, "similarity")?.as_primitive_opt::<Float64Type>();
    values.map(|values| values.value(row)).ok_or_else(|| PyValueError::new_err("`similarity` is no number"))
}

/// A document on a shelf: band, band key, document, and the batch and row that has the other columns.
type Membership = (u16, i64, u32, (usize, usize));

/// Documents that asked on shelves that can be full. An element has the band and the band key of the shelf, and the
/// document.
type AskedMembers = BTreeSet<(u16, i64, u32)>;

/// Returns the memberships of a part, sorted by shelf, and the documents that asked on shelves that can be full.
fn memberships(all: &[RecordBatch], ranks: &[&[u8]]) -> PyResult<(Vec<Membership>, AskedMembers)> {
    let (mut members, mut asked) = (vec![], BTreeSet::new());
    for (at, batch) in all.iter().enumerate() {
        let rank = column(batch, "rank")?;
        for row in 0..batch.num_rows() {
            let Some(rank) = bytes_at(rank, row) else { continue };
            let document = place(ranks, rank) as u32;
            let (band, key) = (number(batch, "band", row)? as u16, number(batch, "key", row)?);
            if number(batch, "what", row)? == 0 {
                members.push((band, key, document, (at, row)));
            } else {
                asked.insert((band, key, document));
            }
        }
    }
    members.sort_unstable();
    Ok((members, asked))
}

/// Returns the members of one shelf with their states, for a round of stars.
fn star_members(
    all: &[RecordBatch],
    ranks: &[&[u8]],
    shelf: &[Membership],
    asked: &AskedMembers,
    rule: StarShelf,
    most: usize,
) -> PyResult<Vec<ShelfMember>> {
    let mut members = Vec::with_capacity(shelf.len());
    for &(band, key, document, (at, row)) in shelf {
        let batch = &all[at];
        let state = match number(batch, "state", row)? {
            KEPT => MemberState::Kept,
            REMOVED => MemberState::Removed,
            _ => MemberState::Undecided,
        };
        let decided = number(batch, "decided", row)? as u16;
        let has_asked = if shelf.len() > most {
            asked.contains(&(band, key, document))
        } else {
            rule.has_asked(state, decided)
        };
        let last = bytes_at(column(batch, "last")?, row);
        members.push(ShelfMember {
            document,
            last: last.map_or(document, |last| place(ranks, last) as u32),
            state,
            front: number(batch, "front", row)? as u16,
            decided,
            has_asked,
            is_given: ranks[document as usize].first() == Some(&0),
        });
    }
    Ok(members)
}

/// Computes why undecided documents wait on the shelves of a part, in a round of stars. A row of the result has the
/// document (`rank`), the number of earlier members that it must be compared with first (`unasked`), and whether it
/// cannot come to the front yet (`behind`). Documents that do not wait are left out.
///
/// Rows of the input have `what`, `band`, `key`, `rank`, the rank key of the last copy (`last`), `state`, `front` and
/// `decided`. If `what` is 1, the row is a document that asked on a shelf that can be full.
#[pyfunction]
#[pyo3(signature = (rows, round, shelf = None))]
pub fn spark_wait(rows: &Bound<'_, PyAny>, round: u16, shelf: Option<usize>) -> PyResult<PySparkBatch> {
    let (all, most) = (batches(rows)?, shelf.unwrap_or(SHELF));
    let ranks = keys(&all, &["rank"])?;
    let (members, asked) = memberships(&all, &ranks)?;
    let rule = StarShelf::new(most, round);
    let mut waits: BTreeMap<u32, (i64, bool)> = BTreeMap::new();
    for shelf in members.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        rule.each_wait(&star_members(&all, &ranks, shelf, &asked, rule, most)?, |member, wait| {
            if member.state == MemberState::Undecided && (wait.unasked > 0 || wait.is_behind) {
                let all = waits.entry(member.document).or_default();
                all.0 += wait.unasked.cast_signed();
                all.1 |= wait.is_behind;
            }
        });
    }
    made(vec![
        ("rank", binary(waits.keys().map(|&document| ranks[document as usize]))),
        ("unasked", Arc::new(waits.values().map(|wait| Some(wait.0)).collect::<Int64Array>())),
        ("behind", Arc::new(waits.values().map(|wait| Some(i64::from(wait.1))).collect::<Int64Array>())),
    ])
}

/// Computes the pairs that the shelves of a part compare in a round. Returns three tables: listed pairs, rows of
/// blocks, and documents that now ask on shelves that can be full.
///
/// For stars, the input rows are those of [`spark_wait`]. For components, the column `label` replaces `last`, `state`,
/// `front` and `decided`: it has the rank key of the first document of the component to which the document belongs so
/// far. The `mask` of a row of a block has only the band of that block.
#[pyfunction]
#[pyo3(signature = (clustering, rows, round, largest, shelf = None, asking = None, pairs = None, listed = None))]
#[allow(clippy::too_many_arguments, reason = "each is an argument of Python")]
pub fn spark_ask(
    clustering: &str,
    rows: &Bound<'_, PyAny>,
    round: u16,
    largest: usize,
    shelf: Option<usize>,
    asking: Option<usize>,
    pairs: Option<usize>,
    listed: Option<usize>,
) -> PyResult<(PySparkBatch, PySparkBatch, PySparkBatch)> {
    let (all, most, defaults) = (batches(rows)?, shelf.unwrap_or(SHELF), BlockLimits::default());
    let limits = BlockLimits {
        asking: asking.unwrap_or(defaults.asking),
        pairs: pairs.unwrap_or(defaults.pairs),
        listed: listed.unwrap_or(PART_LISTED),
    };
    let ranks = keys(&all, &["rank"])?;
    let (members, asked) = memberships(&all, &ranks)?;
    let star = StarShelf::new(most, round);
    let join = JoinShelf::new(clustering == "components", most, round, largest);
    let labels = if clustering == "components" { keys(&all, &["label"])? } else { vec![] };
    // `shelves` has, per shelf, its band, whether its block has all pairs of its documents (`is_whole`), and its rows.
    // A pair that is in several whole blocks is compared in one of them.
    let (mut shelves, mut asks_now) = (vec![], vec![]);
    for shelf in members.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (band, key) = (shelf[0].0, shelf[0].1);
        let rows = if clustering == "star" {
            let mut rows = star.rows(&star_members(&all, &ranks, shelf, &asked, star, most)?);
            if shelf.len() > most {
                let asking = rows.iter().filter(|row| row.has(BlockRow::ASKING));
                asks_now.extend(asking.map(|row| (band, key, row.document)));
            }
            BlockRow::retain_needed(&mut rows);
            rows
        } else {
            let mut joined = Vec::with_capacity(shelf.len());
            for &(_, _, document, (at, row)) in shelf {
                let label = match clustering {
                    "components" => bytes_at(column(&all[at], "label")?, row),
                    _ => None,
                };
                joined.push(JoinMember {
                    document,
                    component: label.map_or(document, |label| place(&labels, label) as u32),
                    is_given: ranks[document as usize].first() == Some(&0),
                });
            }
            join.rows(&joined)
        };
        if rows.iter().any(|row| row.is_asking()) {
            // A block of components is whole only if it has all members of its shelf, because the fronts of components
            // differ from shelf to shelf.
            let is_whole = shelf.len() <= most && (clustering == "star" || rows.len() == shelf.len());
            shelves.push((band, is_whole, rows));
        }
    }
    let (mut listed, mut tasks) = (vec![], BlockTasks::default());
    let are_blocks = limits.are_blocks(shelves.iter().map(|(_, _, rows)| rows.as_slice()));
    for ((band, is_whole, rows), is_block) in shelves.into_iter().zip(are_blocks) {
        if is_block {
            let own = if is_whole { bit(band) } else { 0 };
            tasks.push(band, &rows, |row| if row.is_asking() { own } else { 0 });
        } else {
            BlockRow::each_pair(&rows, |a, c| listed.push((a.document, c.document)));
        }
    }
    listed.sort_unstable();
    listed.dedup();
    let rank = |document: u32| ranks[document as usize];
    let listed = made(vec![
        ("a", binary(listed.iter().map(|&(a, _)| rank(a)))),
        ("c", binary(listed.iter().map(|&(_, c)| rank(c)))),
    ])?;
    let asked = made(vec![
        ("band", Arc::new(asks_now.iter().map(|one| Some(i64::from(one.0))).collect::<Int64Array>())),
        ("key", Arc::new(asks_now.iter().map(|one| Some(one.1)).collect::<Int64Array>())),
        ("rank", binary(asks_now.iter().map(|one| rank(one.2)))),
    ])?;
    Ok((listed, made(tasks.columns(rank))?, asked))
}

/// Decides documents of a part of the components. Returns the documents that are now decided, with `rank` and `state`.
///
/// An input row without `other` is an undecided document (`rank`) with the number of earlier documents that it must be
/// compared with first (`unasked`). An input row with `other` is a similar pair of an undecided document (`rank`) and
/// an earlier document (`other`), which is kept or undecided.
#[pyfunction]
pub fn spark_settle(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
    let all = batches(rows)?;
    let ranks = keys(&all, &["rank", "other"])?;
    let (mut known, mut edges) = (vec![PriorState::Kept; ranks.len()], vec![]);
    for batch in &all {
        let (rank, other) = (column(batch, "rank")?, column(batch, "other")?);
        for row in 0..batch.num_rows() {
            let Some(rank) = bytes_at(rank, row) else { continue };
            let later = place(&ranks, rank);
            if let Some(other) = bytes_at(other, row) {
                let (a, b) = (place(&ranks, other) as u64, later as u64);
                edges.push(Edge { a, b, similarity: similarity(batch, row)? });
            } else {
                let unasked = number(batch, "unasked", row)?.cast_unsigned();
                known[later] = PriorState::Undecided { unasked };
            }
        }
    }
    let documents: Vec<Ranked> = (0..).zip(&known).map(|(rank, &known)| Ranked { rank, known }).collect();
    let standings = py.detach(|| decide_round(&documents, &edges)).or_raise(py)?;
    let mut decided = vec![];
    for ((rank, known), standing) in ranks.iter().zip(known).zip(standings) {
        if known != PriorState::Kept && standing != Standing::Undecided {
            decided.push((rank, if standing == Standing::Kept { KEPT } else { REMOVED }));
        }
    }
    made(vec![
        ("rank", binary(decided.iter().map(|one| one.0))),
        ("state", Arc::new(decided.iter().map(|one| Some(one.1)).collect::<Int64Array>())),
    ])
}

/// Finds the keepers of removed visits. A row of the result has the visit (`rank`), its keeper (`of`), their
/// `similarity`, and `is_equal`, which is false.
///
/// An input row without `similarity` is a visit (`rank`) of a removed document (`other`). An input row with
/// `similarity` is a similar pair of a removed document (`rank`) and a kept document (`other`). All rows of a removed
/// document are in one part.
#[pyfunction]
pub fn spark_name(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
    let all = batches(rows)?;
    let ranks = keys(&all, &["rank", "other"])?;
    let (mut visits, mut edges, mut kept) = (vec![], vec![], BTreeSet::new());
    for batch in &all {
        let (rank, other) = (column(batch, "rank")?, column(batch, "other")?);
        let similarities = column(batch, "similarity")?;
        for row in 0..batch.num_rows() {
            let (Some(rank), Some(other)) = (bytes_at(rank, row), bytes_at(other, row)) else { continue };
            let (rank, other) = (place(&ranks, rank) as u64, place(&ranks, other) as u64);
            if similarities.is_null(row) {
                visits.push(Visit { rank, document: other });
            } else {
                kept.insert(other);
                edges.push(Edge { a: rank, b: other, similarity: similarity(batch, row)? });
            }
        }
    }
    let kept: Vec<u64> = kept.into_iter().collect();
    let verdicts = py.detach(|| name_keepers(&visits, &kept, &edges)).or_raise(py)?;
    let (mut removed, mut keepers, mut similarities) = (vec![], vec![], vec![]);
    for (visit, verdict) in visits.iter().zip(verdicts) {
        if let Standing::Duplicate { of, similarity } = verdict {
            removed.push(ranks[visit.rank as usize]);
            keepers.push(ranks[of as usize]);
            similarities.push(similarity);
        }
    }
    let is_equal: BooleanArray = removed.iter().map(|_| Some(false)).collect();
    made(vec![
        ("rank", binary(removed.into_iter())),
        ("of", binary(keepers.into_iter())),
        ("similarity", Arc::new(Float64Array::from(similarities))),
        ("is_equal", Arc::new(is_equal)),
    ])
}
