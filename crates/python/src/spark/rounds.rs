//! The rounds of a job: which pairs are compared next, and what follows from those that are similar.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use minwise::cluster::{
    Asks, BlockLimits, BlockRow, ComponentAsks, Edge, ShelvedDocuments, Standing, StarAsks, Visit,
    name_keepers,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batch::{PySparkBatch, batches, binary, bytes_at, column, integer, made};
use crate::error::OrRaise;

/// Documents that ask in one task, and others: their sketches take 10 MB, and their pairs some tenths of a second.
const BLOCK_ASKING: usize = 2048;
const BLOCK_MEMBERS: usize = 16384;
/// N of the command: documents that a shelf takes.
const SHELF: usize = 131_072;

/// Who asks whom.
enum Rounds {
    Star(StarAsks),
    Components(ComponentAsks),
}

/// The rounds of a job, on the driver or in one task per component of shelves.
#[pyclass(name = "SparkRounds", module = "minwise._minwise")]
pub struct PySparkRounds {
    rounds: Rounds,
    /// Rank keys of the documents, ascending.
    ranks: Vec<Box<[u8]>>,
    /// The band of each shelf.
    bands: Vec<u16>,
}

#[pymethods]
impl PySparkRounds {
    /// `shelves` has the columns `band`, `key` and `rank`; `copies` has the rank keys `rank` and `last` of documents with equals.
    #[new]
    #[pyo3(signature = (clustering, shelves, copies, shelf = None, asking = None, pairs = None))]
    fn new(
        py: Python<'_>,
        clustering: &str,
        shelves: &Bound<'_, PyAny>,
        copies: &Bound<'_, PyAny>,
        shelf: Option<usize>,
        asking: Option<usize>,
        pairs: Option<usize>,
    ) -> PyResult<Self> {
        let (shelves, copies) = (batches(shelves)?, batches(copies)?);
        let mut ranks: Vec<&[u8]> = vec![];
        let mut memberships: Vec<(i64, i64, &[u8])> = vec![];
        for batch in &shelves {
            let (band, key, rank) = (column(batch, "band")?, column(batch, "key")?, column(batch, "rank")?);
            for row in 0..batch.num_rows() {
                let (Some(band), Some(key)) = (integer(band, row), integer(key, row)) else { continue };
                let Some(rank) = bytes_at(rank, row) else { continue };
                ranks.push(rank);
                memberships.push((band, key, rank));
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        memberships.sort_unstable();
        let place = |rank: &[u8]| ranks.binary_search(&rank).unwrap_or_else(|before| before) as u32;
        let mut last: Vec<u32> = (0..ranks.len() as u32).collect();
        for batch in &copies {
            let (rank, end) = (column(batch, "rank")?, column(batch, "last")?);
            for row in 0..batch.num_rows() {
                let (Some(rank), Some(end)) = (bytes_at(rank, row), bytes_at(end, row)) else { continue };
                if let Ok(found) = ranks.binary_search(&rank) {
                    last[found] = place(end);
                }
            }
        }
        let (mut bands, mut members) = (vec![], vec![]);
        for shelf in memberships.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            bands.push(shelf[0].0 as u16);
            members.push(shelf.iter().map(|&(_, _, rank)| place(rank)).collect::<Vec<u32>>());
        }
        let given = ranks.partition_point(|rank| rank.first() == Some(&0)) as u32;
        let shelved = ShelvedDocuments::new(ranks.len(), given, last, members.iter().map(Vec::as_slice))
            .or_raise(py)?;
        let defaults = BlockLimits::default();
        let limits =
            BlockLimits { asking: asking.unwrap_or(defaults.asking), pairs: pairs.unwrap_or(defaults.pairs) };
        let most = shelf.unwrap_or(SHELF);
        let rounds = match clustering {
            "star" => Rounds::Star(StarAsks::new(shelved, most).with_limits(limits)),
            "components" => Rounds::Components(ComponentAsks::new(shelved, most).with_limits(limits)),
            "pairs" => Rounds::Components(ComponentAsks::of_pairs(shelved, most).with_limits(limits)),
            other => return Err(PyValueError::new_err(format!("there is no clustering `{other}`"))),
        };
        Ok(Self { rounds, ranks: ranks.into_iter().map(Box::from).collect(), bands })
    }

    /// How many documents there are.
    fn documents(&self) -> usize {
        self.ranks.len()
    }

    /// How many documents are undecided.
    fn undecided(&self) -> usize {
        match &self.rounds {
            Rounds::Star(rounds) => rounds.undecided(),
            Rounds::Components(_) => 0,
        }
    }

    /// Takes the similar pairs of the last round (`a`, `c`, `similarity`) and returns the pairs of the next one: listed pairs, and
    /// the rows of tasks of blocks.
    fn next_round(
        &mut self,
        py: Python<'_>,
        similar: &Bound<'_, PyAny>,
    ) -> PyResult<(PySparkBatch, PySparkBatch)> {
        let mut found = vec![];
        for batch in &batches(similar)? {
            let (a, c, similarity) = (column(batch, "a")?, column(batch, "c")?, column(batch, "similarity")?);
            for row in 0..batch.num_rows() {
                let (Some(a), Some(c)) = (bytes_at(a, row), bytes_at(c, row)) else { continue };
                found.push((
                    self.number(a)?,
                    self.number(c)?,
                    similarity.as_primitive::<Float64Type>().value(row),
                ));
            }
        }
        let rounds = &mut self.rounds;
        let asks = py
            .detach(|| match rounds {
                Rounds::Star(rounds) => rounds.next_round(&found),
                Rounds::Components(rounds) => rounds.next_round(&found),
            })
            .or_raise(py)?;
        Ok((self.listed(&asks)?, self.tasks(&asks)?))
    }

    /// After the last round of stars: removed visits with the rank keys of their keepers and the similarities. `visits` has the rank keys
    /// `rank` of copies and `first` of the documents that stand for them.
    fn named(&self, py: Python<'_>, visits: &Bound<'_, PyAny>) -> PyResult<PySparkBatch> {
        let Rounds::Star(rounds) = &self.rounds else {
            return Err(PyValueError::new_err("only stars have keepers by visit"));
        };
        let visits = batches(visits)?;
        let kept = rounds.kept();
        let is_kept = |number: u32| kept.binary_search(&u64::from(number)).is_ok();
        // Visits of removed documents: rank key and document.
        let mut all: Vec<(&[u8], u32)> = vec![];
        let given = rounds.shelved();
        for number in 0..given.len() as u32 {
            if !is_kept(number) {
                all.push((&self.ranks[number as usize], number));
            }
        }
        for batch in &visits {
            let (rank, first) = (column(batch, "rank")?, column(batch, "first")?);
            for row in 0..batch.num_rows() {
                let (Some(rank), Some(first)) = (bytes_at(rank, row), bytes_at(first, row)) else { continue };
                let Ok(number) = self.number(first) else { continue };
                if rank != first && !is_kept(number) {
                    all.push((rank, number));
                }
            }
        }
        // Copies stand between documents: both get places in one order.
        let mut order: Vec<&[u8]> = self.ranks.iter().map(|rank| &**rank).collect();
        order.extend(all.iter().map(|(rank, _)| *rank));
        order.sort_unstable();
        order.dedup();
        let place = |rank: &[u8]| order.binary_search(&rank).unwrap_or(usize::MAX) as u64;
        let places: Vec<u64> = self.ranks.iter().map(|rank| place(rank)).collect();
        let listed: Vec<Visit> = all
            .iter()
            .map(|&(rank, number)| Visit { rank: place(rank), document: places[number as usize] })
            .collect();
        let edges: Vec<Edge> = rounds
            .edges()
            .iter()
            .map(|edge| Edge { a: places[edge.a as usize], b: places[edge.b as usize], ..*edge })
            .collect();
        let kept: Vec<u64> = kept.iter().map(|&number| places[number as usize]).collect();
        let verdicts = py.detach(|| name_keepers(&listed, &kept, &edges)).or_raise(py)?;
        let (mut removed, mut keepers, mut similarities) = (vec![], vec![], vec![]);
        for (&(rank, _), verdict) in all.iter().zip(verdicts) {
            if let Standing::Duplicate { of, similarity } = verdict {
                removed.push(rank);
                keepers.push(order[of as usize]);
                similarities.push(similarity);
            }
        }
        made(vec![
            ("rank", binary(removed.into_iter())),
            ("of", binary(keepers.into_iter())),
            ("similarity", Arc::new(Float64Array::from(similarities))),
        ])
    }

    /// After the last round of components: the documents that are not the first of their component, with that one.
    fn joined(&mut self) -> PyResult<PySparkBatch> {
        let Rounds::Components(rounds) = &mut self.rounds else {
            return Err(PyValueError::new_err("stars have no components"));
        };
        let (mut documents, mut firsts) = (vec![], vec![]);
        for (number, first) in rounds.firsts().into_iter().enumerate() {
            if number != first as usize {
                documents.push(&self.ranks[number]);
                firsts.push(&self.ranks[first as usize]);
            }
        }
        made(vec![("c", binary(documents.into_iter())), ("a", binary(firsts.into_iter()))])
    }
}

impl PySparkRounds {
    fn number(&self, rank: &[u8]) -> PyResult<u32> {
        let found = self.ranks.binary_search_by(|other| (**other).cmp(rank));
        found
            .map(|number| number as u32)
            .map_err(|_| PyValueError::new_err("a rank key in `work` is unknown"))
    }

    fn listed(&self, asks: &Asks) -> PyResult<PySparkBatch> {
        let rank = |number: u32| &self.ranks[number as usize];
        made(vec![
            ("a", binary(asks.pairs.iter().map(|&(a, _)| rank(a)))),
            ("c", binary(asks.pairs.iter().map(|&(_, c)| rank(c)))),
        ])
    }

    /// Rows of blocks, cut into tasks: each part of the rows that ask with each part of all rows.
    fn tasks(&self, asks: &Asks) -> PyResult<PySparkBatch> {
        // For each document, the bands of blocks in which it asks.
        let mut masks: BTreeMap<u32, u64> = BTreeMap::new();
        let shelved = match &self.rounds {
            Rounds::Star(rounds) => rounds.shelved(),
            Rounds::Components(rounds) => rounds.shelved(),
        };
        for block in asks.blocks.iter().filter(|block| block.is_whole && self.bands[block.shelf] < 64) {
            // Fronts of components differ from shelf to shelf, so that a pair of one block may be missing in another.
            let is_all = matches!(self.rounds, Rounds::Star(_))
                || block.rows.len() == shelved.shelf(block.shelf).len();
            for row in block.rows.iter().filter(|row| is_all && row.is_asking()) {
                *masks.entry(row.document).or_default() |= 1 << self.bands[block.shelf];
            }
        }
        let names =
            ["task", "side", "band", "document", "last", "front", "decided", "kind", "joined", "mask"];
        let mut numbers: [Vec<i64>; 10] = Default::default();
        let (mut ranks, mut task) = (vec![], 0);
        for block in &asks.blocks {
            let asking: Vec<&BlockRow> = block.rows.iter().filter(|row| row.is_asking()).collect();
            for some in asking.chunks(BLOCK_ASKING) {
                for members in block.rows.chunks(BLOCK_MEMBERS) {
                    let rows = some.iter().map(|row| (0, **row)).chain(members.iter().map(|row| (1, *row)));
                    for (side, row) in rows {
                        let mask = masks.get(&row.document).copied().unwrap_or(0).cast_signed();
                        let values = [
                            task,
                            side,
                            self.bands[block.shelf].into(),
                            row.document.into(),
                            row.last.into(),
                            row.front.into(),
                            row.decided.into(),
                            row.kind.into(),
                            row.component.into(),
                            mask,
                        ];
                        for (numbers, value) in numbers.iter_mut().zip(values) {
                            numbers.push(value);
                        }
                        ranks.push(&self.ranks[row.document as usize]);
                    }
                    task += 1;
                }
            }
        }
        let mut columns: Vec<(&str, ArrayRef)> = vec![];
        for (name, values) in names.into_iter().zip(numbers) {
            columns.push((name, Arc::new(Int64Array::from(values))));
        }
        columns.push(("rank", binary(ranks.into_iter())));
        made(columns)
    }
}
