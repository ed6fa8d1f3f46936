//! Compares near pairs exactly, to find the kept documents that are missed duplicates.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::AuditedRun;
use super::draw::{KeptDraw, LEVELS, halvings};
use super::near::{NearList, NearLists, NearPair, Searched};
use crate::error::Error;
use crate::parallel;
use crate::read::prepare::Preparation;
use crate::turn::LargeDocumentLock;
use crate::verify::loader::{Loader, Room, Sorting};
use crate::verify::sets::{Budget, Sets};

/// Reciprocal of the share of the allowed bytes that one kept document may need.
const SHARE: u64 = 2;
/// Cost of comparing two sets in memory, in bytes that could be read in the same time.
const PAIR_BYTES: u64 = 32;
/// Number of kept documents whose pairs one thread compares together, so that a document of several pairs is read once.
const TOGETHER: usize = 64;
/// Number of bytes of sets that a thread keeps.
const SETS_BYTES: usize = 4 << 20;

/// Result of the search for one kept document that has near pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The document is a missed duplicate because of this pair. Of its similar pairs, this is the pair whose sketches
    /// agree in the most values.
    Missed(NearPair),
    /// No pair that was compared is similar, but not all pairs were compared.
    Open,
    /// No pair is similar.
    Alone,
}

/// Missed duplicates among the drawn documents.
#[derive(Debug, Default)]
pub(super) struct Misses {
    /// Pair by which each missed duplicate was found.
    pub pairs: Vec<NearPair>,
    /// Number of documents that may be missed duplicates.
    pub open: u64,
    /// Number of halvings of the draw.
    pub halvings: u32,
}

/// Halves the draw until the near pairs need at most about `read_bytes` bytes of text, and compares these pairs.
pub(super) fn compare(
    run: &AuditedRun<'_>,
    draw: &KeptDraw,
    searched: Searched,
    read_bytes: u64,
) -> Result<Misses, Error> {
    let Searched { mut near, halvings: before, .. } = searched;
    near.sort();
    let lengths = text_bytes(run, &near)?;
    for list in near.0.values_mut() {
        cut(list, &lengths, read_bytes / SHARE);
    }
    let halvings = before.max(halvings(&costs(draw, &near, &lengths), read_bytes));
    near.0.retain(|&cluster, _| draw.has(cluster, halvings));
    let lists: Vec<NearList> = near.0.into_values().collect();
    let mut misses = Misses { halvings, ..Misses::default() };
    for end in ends(run, &lists, &lengths)? {
        match end {
            End::Missed(pair) => misses.pairs.push(pair),
            End::Open => misses.open += 1,
            End::Alone => {}
        }
    }
    Ok(misses)
}

/// Returns the number of bytes that are read and compared, by the level of the kept documents that need them. A
/// document is read once, so it counts only for the kept document that stays in the draw longest.
fn costs(draw: &KeptDraw, near: &NearLists, lengths: &BTreeMap<u32, u64>) -> [u64; LEVELS] {
    let mut costs = [0; LEVELS];
    let mut levels: BTreeMap<u32, u32> = BTreeMap::new();
    for (&cluster, list) in &near.0 {
        let Some(level) = draw.level(cluster) else { continue };
        costs[level as usize] += PAIR_BYTES * list.pairs.len() as u64;
        for document in list.pairs.iter().flat_map(|pair| [pair.document, pair.other]) {
            let own = levels.entry(document).or_default();
            *own = level.max(*own);
        }
    }
    for (document, level) in levels {
        costs[level as usize] += lengths[&document];
    }
    costs
}

/// Returns the bytes of text of each document that has a near pair.
fn text_bytes(run: &AuditedRun<'_>, near: &NearLists) -> Result<BTreeMap<u32, u64>, Error> {
    let mut bytes = BTreeMap::new();
    for pair in near.0.values().flat_map(|list| &list.pairs) {
        for document in [pair.document, pair.other] {
            if let Entry::Vacant(entry) = bytes.entry(document) {
                entry.insert(u64::from(run.reading.documents.place(document)?.len));
            }
        }
    }
    Ok(bytes)
}

/// Keeps as many pairs as need at most `most` bytes of text, and at least one pair.
fn cut(list: &mut NearList, lengths: &BTreeMap<u32, u64>, most: u64) {
    let mut sum = 0;
    let mut before = None;
    let mut fits = |&NearPair { document, other, .. }: &NearPair| {
        let own = if before.replace(document) == Some(document) { 0 } else { lengths[&document] };
        let is_first = sum == 0;
        sum += own + lengths[&other];
        is_first || sum <= most
    };
    let left = list.pairs.iter().take_while(|pair| fits(pair)).count();
    list.pairs.truncate(left);
}

/// Returns the results of the searches, in order.
fn ends(run: &AuditedRun<'_>, lists: &[NearList], lengths: &BTreeMap<u32, u64>) -> Result<Vec<End>, Error> {
    let plan = run.plan;
    let preparation = Preparation::of_checked(&plan.spec, &plan.weighing)?;
    let documents = &run.reading.documents;
    let memory = plan.memory.room(plan.threads, documents.len());
    let sorting = Sorting::new(memory, plan.threads, plan.temporary.as_deref());
    let turns = LargeDocumentLock::default();
    let loader = Loader { corpus: run.corpus, documents, preparation: &preparation, sorting, turns };
    let tasks: Vec<&[NearList]> = lists.chunks(TOGETHER).collect();
    // Comparing large documents takes much memory, so it uses only as many threads as may cut these documents whole at
    // the same time.
    let longest: Vec<u64> = tasks
        .iter()
        .map(|lists| lists.iter().flat_map(|list| &list.pairs))
        .map(|pairs| {
            pairs.flat_map(|pair| [lengths[&pair.document], lengths[&pair.other]]).max().unwrap_or(0)
        })
        .collect();
    let (small, large): (Vec<usize>, Vec<usize>) =
        (0..tasks.len()).partition(|&task| longest[task] <= preparation.whole_bytes(1));
    let most_bytes = large.iter().map(|&task| longest[task]).max().unwrap_or(1);
    let fewer = (preparation.whole_bytes(plan.threads) / most_bytes).clamp(1, plan.threads as u64);
    let mut ends: Vec<Vec<End>> = vec![vec![]; tasks.len()];
    for (some, threads) in [(small, plan.threads), (large, fewer as usize)] {
        let mut next = some.iter();
        let work = |room: &mut Room, at: usize| ends_of(run, &loader, tasks[some[at]], room);
        parallel::in_order(some.len(), threads, Room::default, work, |found| {
            if let Some(&task) = next.next() {
                ends[task] = found;
            }
            Ok(())
        })?;
    }
    Ok(ends.concat())
}

/// Compares the pairs of each list until one is similar, and returns the ends in the order of the lists. The lists
/// share one store of shingle sets, which keeps sets while there is memory.
fn ends_of(
    run: &AuditedRun<'_>,
    loader: &Loader<'_>,
    lists: &[NearList],
    room: &mut Room,
) -> Result<Vec<End>, Error> {
    let pairs = lists.iter().flat_map(|list| &list.pairs);
    let mut documents: Vec<u32> = pairs.flat_map(|pair| [pair.document, pair.other]).collect();
    documents.sort_unstable();
    documents.dedup();
    let budget = Budget { bytes: SETS_BYTES, threads: 1, ahead_bytes: 0, crowd_bytes: 0 };
    let mut sets = Sets::new(loader, &documents, room, budget);
    lists.iter().map(|list| end(run, &documents, list, &mut sets)).collect()
}

/// Compares pairs until one is similar. `documents` lists the documents of `sets`, sorted.
fn end(run: &AuditedRun<'_>, documents: &[u32], list: &NearList, sets: &mut Sets<'_>) -> Result<End, Error> {
    run.check()?;
    let plan = run.plan;
    for pair in &list.pairs {
        let [a, b] = [pair.document, pair.other].map(|document| {
            documents.binary_search(&document).unwrap_or_else(|_| unreachable!("all were listed")) as u32
        });
        let mut is_similar = sets.at_least(a, b, plan.measure, plan.threshold)?.is_some();
        if let Some(order) = plan.order.filter(|_| is_similar) {
            is_similar = sets.alignment_share(a, b)? >= order;
        }
        if is_similar {
            return Ok(End::Missed(*pair));
        }
    }
    Ok(if list.all > list.pairs.len() as u64 { End::Open } else { End::Alone })
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    /// Returns a list of pairs of one document of 10 bytes with others of 100 bytes.
    fn list(pairs: u32) -> (NearList, BTreeMap<u32, u64>) {
        let pair = |other| NearPair { agreeing: Reverse(100 - other), document: 0, other };
        let pairs: Vec<NearPair> = (1..=pairs).map(pair).collect();
        let lengths = (0..=pairs.len() as u32).map(|at| (at, if at == 0 { 10 } else { 100 })).collect();
        (NearList { all: pairs.len() as u64, pairs }, lengths)
    }

    #[test]
    fn the_pairs_of_a_document_are_cut_to_what_fits() {
        for (most, left) in [(10_000, 9), (310, 3), (309, 2), (0, 1)] {
            let (mut list, lengths) = list(9);
            cut(&mut list, &lengths, most);
            assert_eq!(list.pairs.len(), left, "{most} bytes");
        }
    }

    /// A document that two kept documents need counts for the kept document that stays in the draw longer.
    #[test]
    fn a_document_is_read_once() {
        let draw = KeptDraw::of_levels(&[2, 0, 5]);
        let mut near = NearLists::default();
        for (cluster, other) in [(0, 7), (0, 8), (1, 8), (2, 7)] {
            near.add(cluster, NearPair { agreeing: Reverse(100), document: cluster, other });
        }
        let lengths = [(0, 1), (1, 2), (2, 4), (7, 10), (8, 20)].into();
        let costs = costs(&draw, &near, &lengths);
        assert_eq!(
            [costs[0], costs[2], costs[5]],
            [PAIR_BYTES + 2, 2 * PAIR_BYTES + 1 + 20, PAIR_BYTES + 4 + 10]
        );
    }
}
