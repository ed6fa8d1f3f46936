//! Runs the rounds of a job on the driver: computes which pairs are compared next, and decides documents by the similar
//! pairs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{BooleanArray, Float64Array, Int32Array, Int64Array};
use minwise::cluster::{
    Asks, BlockLimits, BlockRow, ComponentAsks, Edge, ShelvedDocuments, Standing, StarAsks, Visit,
    name_keepers,
};
use minwise_engine::SHELF;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::batch::{PySparkBatch, batches, binary, bytes_at, column, integer, made};
use super::block::{BlockTasks, bit};
use super::here::{ComparedPair, FetchedTexts};
use super::task::PySparkTask;
use crate::error::OrRaise;

/// Upper bound of the bytes of text of one bucket of pairs. A task compares one bucket, in about a second.
pub const BUCKET_BYTES: u64 = 64 << 20;
/// Upper bound of the number of pairs of one bucket.
pub const BUCKET_PAIRS: usize = 50_000;

/// The rounds of a clustering. `Components` also serves plain pairs.
enum Rounds {
    Star(StarAsks),
    Components(ComponentAsks),
}

/// The rounds of a job on the driver, which has all shelves.
#[pyclass(name = "SparkRounds", module = "minwise._minwise")]
pub struct PySparkRounds {
    rounds: Rounds,
    /// Rank keys of the documents, in ascending order. A document is numbered by its position in this list.
    ranks: Vec<Box<[u8]>>,
    /// Band of each shelf.
    bands: Vec<u16>,
    /// Bytes of the text of each document.
    sizes: Vec<u64>,
    /// Upper bounds of one bucket: bytes of its texts, and number of its pairs.
    bucket: (u64, usize),
    /// Pairs of the current round.
    asks: Asks,
    /// Similar pairs that the driver has found itself in the current round.
    found: Vec<ComparedPair>,
    /// Texts of documents, if the driver compares pairs itself.
    texts: FetchedTexts,
}

#[pymethods]
impl PySparkRounds {
    /// Makes the rounds of the shelves of a job. Tables of `shelves` have the columns `band`, `key` and `rank`. Tables
    /// of `copies` have the rank key of a copy (`rank`) and that of the first document that equals it (`other`).
    #[new]
    #[pyo3(signature = (clustering, shelves, copies, shelf = None, asking = None, pairs = None, listed = None, bucket = (BUCKET_BYTES, BUCKET_PAIRS)))]
    #[allow(clippy::too_many_arguments, reason = "each is an argument of Python")]
    fn new(
        py: Python<'_>,
        clustering: &str,
        shelves: &Bound<'_, PyAny>,
        copies: &Bound<'_, PyAny>,
        shelf: Option<usize>,
        asking: Option<usize>,
        pairs: Option<usize>,
        listed: Option<usize>,
        bucket: (u64, usize),
    ) -> PyResult<Self> {
        // Documents are numbered in the order in which they are read. Each table is dropped after it was read, because
        // all tables together would take several times the memory.
        let mut found: HashMap<Box<[u8]>, u32> = HashMap::new();
        let mut memberships: Vec<(u16, i64, u32)> = vec![];
        for table in shelves.try_iter()? {
            for batch in &batches(&table?)? {
                let (band, key, rank) =
                    (column(batch, "band")?, column(batch, "key")?, column(batch, "rank")?);
                for row in 0..batch.num_rows() {
                    let (Some(band), Some(key)) = (integer(band, row), integer(key, row)) else { continue };
                    let Some(rank) = bytes_at(rank, row) else { continue };
                    let next = found.len() as u32;
                    let number = match found.get(rank) {
                        Some(&number) => number,
                        None => *found.entry(rank.into()).or_insert(next),
                    };
                    memberships.push((band as u16, key, number));
                }
            }
        }
        // Numbers are replaced by positions in keeper order, because rounds expect ascending documents.
        let mut ranks: Vec<(Box<[u8]>, u32)> = found.into_iter().collect();
        ranks.sort_unstable();
        let mut places = vec![0; ranks.len()];
        for (place, (_, number)) in (0..).zip(&ranks) {
            places[*number as usize] = place;
        }
        let ranks: Vec<Box<[u8]>> = ranks.into_iter().map(|(rank, _)| rank).collect();
        for (_, _, number) in &mut memberships {
            *number = places[*number as usize];
        }
        memberships.sort_unstable();
        let find = |rank: &[u8]| ranks.binary_search_by(|other| (**other).cmp(rank));
        let mut last: Vec<u32> = (0..ranks.len() as u32).collect();
        for table in copies.try_iter()? {
            for batch in &batches(&table?)? {
                let (copy, first) = (column(batch, "rank")?, column(batch, "other")?);
                for row in 0..batch.num_rows() {
                    let (Some(copy), Some(first)) = (bytes_at(copy, row), bytes_at(first, row)) else {
                        continue;
                    };
                    if let Ok(document) = find(first) {
                        let before = find(copy).unwrap_or_else(|before| before) as u32;
                        last[document] = last[document].max(before);
                    }
                }
            }
        }
        let (mut bands, mut members) = (vec![], vec![]);
        for shelf in memberships.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            bands.push(shelf[0].0);
            members.push(shelf.iter().map(|&(_, _, place)| place).collect::<Vec<u32>>());
        }
        drop(memberships);
        let given = ranks.partition_point(|rank| rank.first() == Some(&0)) as u32;
        let shelved = ShelvedDocuments::new(ranks.len(), given, last, members.iter().map(Vec::as_slice))
            .or_raise(py)?;
        let defaults = BlockLimits::default();
        let limits = BlockLimits {
            asking: asking.unwrap_or(defaults.asking),
            pairs: pairs.unwrap_or(defaults.pairs),
            listed: listed.unwrap_or(defaults.listed),
        };
        let most = shelf.unwrap_or(SHELF);
        let rounds = match clustering {
            "star" => Rounds::Star(StarAsks::new(shelved, most).with_limits(limits)),
            "components" => Rounds::Components(ComponentAsks::new(shelved, most).with_limits(limits)),
            "pairs" => Rounds::Components(ComponentAsks::of_pairs(shelved, most).with_limits(limits)),
            other => return Err(PyValueError::new_err(format!("there is no clustering `{other}`"))),
        };
        let sizes = vec![0; ranks.len()];
        let texts = FetchedTexts::new(ranks.len());
        Ok(Self { rounds, ranks, bands, sizes, bucket, asks: Asks::default(), found: vec![], texts })
    }

    /// Returns the number of documents.
    fn documents(&self) -> usize {
        self.ranks.len()
    }

    /// Returns the number of undecided documents.
    fn undecided(&self) -> usize {
        match &self.rounds {
            Rounds::Star(rounds) => rounds.undecided(),
            Rounds::Components(_) => 0,
        }
    }

    /// Stores the numbers of bytes of texts, from a table with the columns `rank` and `size`.
    fn take_sizes(&mut self, sizes: &Bound<'_, PyAny>) -> PyResult<()> {
        for batch in &batches(sizes)? {
            let (rank, size) = (column(batch, "rank")?, column(batch, "size")?);
            for row in 0..batch.num_rows() {
                let (Some(rank), Some(size)) = (bytes_at(rank, row), integer(size, row)) else { continue };
                // A text of an unknown document is skipped: texts are chosen by hashes of rank keys, so an equal hash
                // adds a text that no pair needs.
                let Ok(number) = self.number(rank) else { continue };
                self.sizes[number as usize] = size.cast_unsigned();
            }
        }
        Ok(())
    }

    /// Returns the rank keys of all documents.
    fn ranks(&self) -> PyResult<PySparkBatch> {
        made(vec![("rank", binary(self.ranks.iter()))])
    }

    /// Takes the similar pairs of the last round (`a`, `c`, `similarity`). Without `similar`, these are the pairs that
    /// [`compare`](Self::compare) has found. Returns the numbers of listed pairs and of blocks of the next round.
    #[pyo3(signature = (similar = None))]
    fn begin_round(
        &mut self,
        py: Python<'_>,
        similar: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(usize, usize)> {
        let mut found = std::mem::take(&mut self.found);
        if let Some(similar) = similar {
            found.clear();
            for batch in &batches(similar)? {
                let (a, c, similarity) =
                    (column(batch, "a")?, column(batch, "c")?, column(batch, "similarity")?);
                for row in 0..batch.num_rows() {
                    let (Some(a), Some(c)) = (bytes_at(a, row), bytes_at(c, row)) else { continue };
                    let similarity = similarity.as_primitive::<Float64Type>().value(row);
                    found.push((self.number(a)?, self.number(c)?, similarity));
                }
            }
        }
        let rounds = &mut self.rounds;
        self.asks = py
            .detach(|| match rounds {
                Rounds::Star(rounds) => rounds.next_round(&found),
                Rounds::Components(rounds) => rounds.next_round(&found),
            })
            .or_raise(py)?;
        Ok((self.asks.pairs.len(), self.asks.blocks.len()))
    }

    /// Returns three tables of the current round: the listed pairs with their buckets, the documents of each bucket,
    /// and the rows of blocks.
    fn tables(&self) -> PyResult<(PySparkBatch, PySparkBatch, PySparkBatch)> {
        let (listed, wanted) = self.listed()?;
        Ok((listed, wanted, self.tasks()?))
    }

    /// Begins the next round, and returns its tables.
    fn next_round(
        &mut self,
        py: Python<'_>,
        similar: &Bound<'_, PyAny>,
    ) -> PyResult<(PySparkBatch, PySparkBatch, PySparkBatch)> {
        self.begin_round(py, Some(similar))?;
        self.tables()
    }

    /// Returns the rank keys of the documents of the listed pairs whose texts the driver lacks, and the bytes of these
    /// texts.
    fn lacking(&self) -> PyResult<(PySparkBatch, u64)> {
        let mut wanted: Vec<u32> = self.asks.pairs.iter().flat_map(|&(a, c)| [a, c]).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|&number| !self.texts.has(number));
        let bytes = wanted.iter().map(|&number| self.sizes[number as usize]).sum();
        let ranks = wanted.iter().map(|&number| &self.ranks[number as usize]);
        Ok((made(vec![("rank", binary(ranks))])?, bytes))
    }

    /// Takes texts of documents (`rank`, `text`, `sketch`). A missing sketch is made of its text.
    fn take_texts(&mut self, py: Python<'_>, task: &PySparkTask, texts: &Bound<'_, PyAny>) -> PyResult<()> {
        let all = batches(texts)?;
        let (ranks, own) = (&self.ranks, &mut self.texts);
        let number = |rank: &[u8]| ranks.binary_search_by(|other| (**other).cmp(rank)).ok();
        py.detach(|| all.into_iter().try_for_each(|batch| own.push(task, batch, number)))
    }

    /// Compares the listed pairs of the current round. Returns the number of pairs that sketches do not rule out, and
    /// the number of similar pairs.
    fn compare(&mut self, py: Python<'_>, task: &PySparkTask) -> PyResult<(u64, usize)> {
        let (buckets, _) = self.buckets();
        let (pairs, texts) = (&self.asks.pairs, &self.texts);
        let (found, compared) = py.detach(|| texts.compare(task, pairs, &buckets))?;
        self.found = found;
        Ok((compared, self.found.len()))
    }

    /// Returns the removed visits after the last round of stars, with the rank keys of their keepers and the
    /// similarities. `visits` has the rank key of a copy (`rank`) and that of the first document that equals it
    /// (`other`). If `equals` is true, the result also has the copies of kept documents.
    fn named(&self, py: Python<'_>, visits: &Bound<'_, PyAny>, equals: bool) -> PyResult<PySparkBatch> {
        let Rounds::Star(rounds) = &self.rounds else {
            return Err(PyValueError::new_err("only stars have keepers by visit"));
        };
        let visits = batches(visits)?;
        let kept = rounds.kept();
        let is_kept = |number: u32| kept.binary_search(&u64::from(number)).is_ok();
        // `all` has the rank key and the document of each visit of a removed document.
        let mut all: Vec<(&[u8], u32)> = vec![];
        let given = rounds.shelved();
        for number in 0..given.len() as u32 {
            if !is_kept(number) {
                all.push((&self.ranks[number as usize], number));
            }
        }
        // `equal` has the copies of kept documents, with the rank key of the first document. A document on no shelf has
        // no number here and is always kept, so its copies are in `equal`, too. References are left out, because they
        // are never removed.
        let mut equal: Vec<(&[u8], &[u8])> = vec![];
        for batch in &visits {
            let (rank, first) = (column(batch, "rank")?, column(batch, "other")?);
            for row in 0..batch.num_rows() {
                let (Some(rank), Some(first)) = (bytes_at(rank, row), bytes_at(first, row)) else { continue };
                match self.number(first).ok().filter(|&number| !is_kept(number)) {
                    Some(number) => all.push((rank, number)),
                    None if rank.first() != Some(&0) => equal.push((rank, first)),
                    None => {}
                }
            }
        }
        // Copies and documents get positions in one common order, because a copy may come between two documents.
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
        let near = removed.len();
        if equals {
            for (rank, first) in equal {
                removed.push(rank);
                keepers.push(first);
                similarities.push(1.0);
            }
        }
        let is_equal: BooleanArray = (0..removed.len()).map(|row| Some(row >= near)).collect();
        made(vec![
            ("rank", binary(removed.into_iter())),
            ("of", binary(keepers.into_iter())),
            ("similarity", Arc::new(Float64Array::from(similarities))),
            ("is_equal", Arc::new(is_equal)),
        ])
    }

    /// Returns, after the last round of components, the documents (`c`) that are not the first of their component, each
    /// with the first document of the component (`a`).
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

    /// Returns the bucket of each listed pair, and the documents of each bucket. A bucket takes pairs in order until it
    /// has the maximum number of pairs or of bytes of text. So a pair is in one bucket, and a document is in few
    /// buckets.
    fn buckets(&self) -> (Vec<i32>, Vec<(i32, u32)>) {
        let (most_bytes, most_pairs) = self.bucket;
        let mut buckets: Vec<i32> = vec![];
        let mut wanted: Vec<(i32, u32)> = vec![];
        // `put` has, per document, the last bucket that has the document.
        let mut put = vec![-1; self.ranks.len()];
        let (mut bucket, mut pairs, mut bytes) = (0, 0, 0);
        for &(a, c) in &self.asks.pairs {
            let size = |number: u32| self.sizes[number as usize];
            let more: u64 =
                [a, c].into_iter().filter(|&number| put[number as usize] != bucket).map(size).sum();
            if pairs > 0 && (pairs == most_pairs || bytes + more > most_bytes) {
                (bucket, pairs, bytes) = (bucket + 1, 0, 0);
            }
            for number in [a, c] {
                if put[number as usize] != bucket {
                    put[number as usize] = bucket;
                    wanted.push((bucket, number));
                    bytes += size(number);
                }
            }
            pairs += 1;
            buckets.push(bucket);
        }
        (buckets, wanted)
    }

    /// Returns the listed pairs with their buckets, and the documents of each bucket.
    fn listed(&self) -> PyResult<(PySparkBatch, PySparkBatch)> {
        let rank = |number: u32| &self.ranks[number as usize];
        let (asks, (buckets, wanted)) = (&self.asks, self.buckets());
        let listed = made(vec![
            ("a", binary(asks.pairs.iter().map(|&(a, _)| rank(a)))),
            ("c", binary(asks.pairs.iter().map(|&(_, c)| rank(c)))),
            ("bucket", Arc::new(Int32Array::from(buckets))),
        ])?;
        let size = |&(_, number): &(i32, u32)| self.sizes[number as usize].cast_signed();
        let wanted = made(vec![
            ("bucket", Arc::new(wanted.iter().map(|&(bucket, _)| Some(bucket)).collect::<Int32Array>())),
            ("rank", binary(wanted.iter().map(|&(_, number)| rank(number)))),
            ("size", Arc::new(wanted.iter().map(|row| Some(size(row))).collect::<Int64Array>())),
        ])?;
        Ok((listed, wanted))
    }

    /// Returns the rows of blocks with the tasks that they belong to.
    fn tasks(&self) -> PyResult<PySparkBatch> {
        let asks = &self.asks;
        // `masks` has, per document, the bands of the blocks in which the document asks.
        let mut masks: BTreeMap<u32, u64> = BTreeMap::new();
        let (shelved, is_star) = match &self.rounds {
            Rounds::Star(rounds) => (rounds.shelved(), true),
            Rounds::Components(rounds) => (rounds.shelved(), false),
        };
        for block in asks.blocks.iter().filter(|block| block.is_whole) {
            // A block of components counts only if it has all members of its shelf. Otherwise, a pair of one block may
            // be missing in another block, because the fronts of components differ from shelf to shelf.
            if is_star || block.rows.len() == shelved.shelf(block.shelf).len() {
                for row in block.rows.iter().filter(|row| row.is_asking()) {
                    *masks.entry(row.document).or_default() |= bit(self.bands[block.shelf]);
                }
            }
        }
        let mut tasks = BlockTasks::default();
        for block in &asks.blocks {
            let mask = |row: &BlockRow| masks.get(&row.document).copied().unwrap_or(0);
            tasks.push(self.bands[block.shelf], &block.rows, mask);
        }
        made(tasks.columns(|document| &self.ranks[document as usize]))
    }
}
