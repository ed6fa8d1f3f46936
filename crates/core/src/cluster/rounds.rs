//! Star clustering in rounds, for documents on many machines.
//!
//! - **Idea.** A cluster of machines compares pairs of documents in rounds and collects the similar pairs as edges.
//!   After each round, [`decide_round`] decides about every document of which enough is known. In the end,
//!   [`name_keepers`] returns the kept document that each removed document is a duplicate of. Both functions need ranks
//!   and edges, and no text, sketch or shelf.
//! - **Rule.** In keeper order, a document is removed if it is similar to an earlier kept document that it meets on a
//!   shelf. So a document is kept if each earlier document on its shelves is removed, or was compared with it and is
//!   not similar. A document is removed as soon as one earlier similar document is kept.
//! - **Result.** The result is that of one call of [`star`](super::star), for any order of pairs, if in the end every
//!   kept document was compared with every later document that it meets.
//! - **Cost.** One pass over documents and edges in the order of ranks, with one binary search per edge. Edges that are
//!   not sorted by their later rank are copied and sorted.
//!
//! The caller counts, per undecided document, the earlier members of its shelves that matter and were not compared with
//! it. A member does not matter if it is removed, or if its shelf is full without it, because `most` kept documents
//! come before it. A pair meets on a shelf only if its earlier document is one of the first `most` kept documents of
//! the shelf. So the caller compares a pair on a shelf once fewer than `most` members before the earlier document are
//! kept or undecided.

use std::borrow::Cow;

use crate::error::Error;

/// A document in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct Ranked {
    /// Place of the document in keeper order.
    pub rank: u64,
    /// State of the document before the round.
    pub known: PriorState,
}

/// State of a document before a round.
///
/// In the variants, `unasked` counts the earlier documents on the shelves of this document that may be kept on these
/// shelves and were not compared with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum PriorState {
    /// The document is given, or an earlier round kept it.
    Kept,
    /// An earlier round removed the document.
    Removed {
        /// Number of earlier documents that may be kept and were not compared with this document.
        unasked: u64,
    },
    /// No earlier round decided about the document.
    Undecided {
        /// Number of earlier documents that may be kept and were not compared with this document.
        unasked: u64,
    },
}

/// Two documents that were compared and are similar, in either order.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct Edge {
    /// Rank of the first document.
    pub a: u64,
    /// Rank of the second document.
    pub b: u64,
    /// Exact similarity of the two documents.
    pub similarity: f64,
}

/// State of a document after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Standing {
    /// The document is kept.
    Kept,
    /// The document is removed, and no later round can name a better kept document.
    Duplicate {
        /// Rank of the most similar kept document before the removed one; of several, the first in keeper order.
        of: u64,
        /// Exact similarity of the two documents.
        similarity: f64,
    },
    /// The document is removed, because a kept document is similar to it. A later round may find a more similar kept
    /// document.
    Removed,
    /// The edges do not decide about the document yet.
    Undecided,
}

/// A place in keeper order, and the document at this place.
///
/// Documents with equal shingles are one document, with one visit per copy. The rank of the document is the rank of its
/// first copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct Visit {
    /// Place in keeper order.
    pub rank: u64,
    /// Rank of the document.
    pub document: u64,
}

impl Edge {
    fn later(&self) -> u64 {
        self.a.max(self.b)
    }

    fn earlier(&self) -> u64 {
        self.a.min(self.b)
    }
}

/// Decides about all documents of which enough is known, and returns one standing per document.
///
/// `documents` must be in ascending order of ranks. `edges` are the edges of all rounds so far, in any order; if they
/// are sorted by their later rank, they are not copied. An edge may be listed more than once.
///
/// After a round, [`Standing::Kept`] becomes [`PriorState::Kept`], and [`Standing::Duplicate`] and
/// [`Standing::Removed`] become [`PriorState::Removed`]. The caller counts `unasked` anew for each round. The first
/// undecided document is decided once its `unasked` is 0, so the rounds end.
///
/// ```
/// use minwise::cluster::{Edge, PriorState, Ranked, Standing, decide_round};
///
/// let undecided = |rank, unasked| Ranked { rank, known: PriorState::Undecided { unasked } };
/// let documents = [undecided(10, 0), undecided(20, 0), undecided(30, 1), undecided(40, 0)];
/// let edges = [Edge { a: 10, b: 20, similarity: 0.9 }, Edge { a: 20, b: 40, similarity: 0.8 }];
/// let standings = decide_round(&documents, &edges)?;
///
/// assert_eq!(standings[0], Standing::Kept);
/// assert_eq!(standings[1], Standing::Duplicate { of: 10, similarity: 0.9 });
/// // One earlier document was not compared with 30 yet.
/// assert_eq!(standings[2], Standing::Undecided);
/// // The only document that is similar to 40 is removed.
/// assert_eq!(standings[3], Standing::Kept);
/// # Ok::<(), minwise::Error>(())
/// ```
///
/// # Errors
/// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if ranks do not ascend, if an edge names a rank
/// that is not listed or the same rank twice, if a similarity is not a number from 0 to 1, or if a removed document has
/// no edge to an earlier kept document.
pub fn decide_round(documents: &[Ranked], edges: &[Edge]) -> Result<Vec<Standing>, Error> {
    check_ranks(documents.iter().map(|document| document.rank))?;
    let edges = sorted(edges)?;
    let mut rest = &*edges;
    let mut standings: Vec<Standing> = Vec::with_capacity(documents.len());
    for document in documents {
        let (own, others) =
            rest.split_at(rest.iter().take_while(|edge| edge.later() == document.rank).count());
        rest = others;
        let mut best: Option<(u64, f64)> = None;
        let mut waits = false;
        for edge in own {
            let earlier = edge.earlier();
            // `standings` has the standing of every earlier document.
            let at = documents[..standings.len()].binary_search_by_key(&earlier, |document| document.rank);
            match standings[at.map_err(|_| unlisted(earlier))?] {
                Standing::Kept => prefer(&mut best, earlier, edge.similarity),
                Standing::Duplicate { .. } | Standing::Removed => {}
                Standing::Undecided => waits = true,
            }
        }
        standings.push(match (document.known, best) {
            (PriorState::Kept, _) => Standing::Kept,
            (
                PriorState::Undecided { unasked: 0 } | PriorState::Removed { unasked: 0 },
                Some((of, similarity)),
            ) if !waits => Standing::Duplicate { of, similarity },
            (PriorState::Undecided { .. } | PriorState::Removed { .. }, Some(_)) => Standing::Removed,
            (PriorState::Undecided { unasked: 0 }, None) if !waits => Standing::Kept,
            (PriorState::Undecided { .. }, None) => Standing::Undecided,
            (PriorState::Removed { .. }, None) => {
                let expected = "that of a document with an edge to a kept document before it";
                return Err(Error::out_of_range("the rank of a removed document", document.rank, expected));
            }
        });
    }
    match rest.first() {
        // Documents and edges are in the same order, so a remaining edge names a document that is not listed.
        Some(edge) => Err(unlisted(edge.later())),
        None => Ok(standings),
    }
}

/// Returns the final verdict about each visit, [`Standing::Kept`] or [`Standing::Duplicate`], once every document is
/// decided.
///
/// The first visit of a kept document is kept, and each later visit is a duplicate of this document with similarity 1.
/// A visit of a removed document is a duplicate of the most similar kept document before the visit; of several, of the
/// first in keeper order. So a later copy may be a duplicate of another document than the first copy, if this document
/// lies between the copies.
///
/// `kept` must list the ranks of the kept documents in ascending order. `edges` may be in any order, and must contain
/// every similar pair of a document and a kept document before its last visit. If a shelf is full, a pair may have been
/// compared before it was known which kept documents the shelf takes. If the kept document of such a pair comes *after*
/// the first visit of the other document, the caller must leave out the edge, unless the kept document is one of the
/// first `most` kept documents of a shelf that both have.
///
/// ```
/// use minwise::cluster::{Edge, Standing, Visit, name_keepers};
///
/// // Documents 1 and 3 are kept; document 2 stands at ranks 2 and 4.
/// let visits = [(1, 1), (2, 2), (3, 3), (4, 2)].map(|(rank, document)| Visit { rank, document });
/// let edges = [Edge { a: 1, b: 2, similarity: 0.8 }, Edge { a: 2, b: 3, similarity: 0.9 }];
/// let verdicts = name_keepers(&visits, &[1, 3], &edges)?;
///
/// assert_eq!(verdicts[1], Standing::Duplicate { of: 1, similarity: 0.8 });
/// assert_eq!(verdicts[3], Standing::Duplicate { of: 3, similarity: 0.9 });
/// # Ok::<(), minwise::Error>(())
/// ```
///
/// # Errors
/// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `kept` does not ascend, if an edge names one
/// rank twice or has a similarity that is not from 0 to 1, if a visit comes before the rank of its document, or if a
/// document is neither kept nor similar to a kept document before its first visit.
pub fn name_keepers(visits: &[Visit], kept: &[u64], edges: &[Edge]) -> Result<Vec<Standing>, Error> {
    check_ranks(kept.iter().copied())?;
    let is_kept = |rank: u64| kept.binary_search(&rank).is_ok();
    // Removed document, similar kept document, and their similarity.
    let mut links: Vec<(u64, u64, f64)> = vec![];
    for edge in edges {
        check_edge(edge)?;
        match (is_kept(edge.a), is_kept(edge.b)) {
            (true, false) => links.push((edge.b, edge.a, edge.similarity)),
            (false, true) => links.push((edge.a, edge.b, edge.similarity)),
            // Two similar kept documents meet on no shelf, and an edge of two removed documents decides nothing.
            (true, true) | (false, false) => {}
        }
    }
    links.sort_unstable_by_key(|&(removed, kept, _)| (removed, kept));
    let mut order: Vec<usize> = (0..visits.len()).collect();
    order.sort_unstable_by_key(|&at| (visits[at].document, visits[at].rank));
    let mut verdicts = vec![Standing::Undecided; visits.len()];
    for of_one in order.chunk_by(|&a, &b| visits[a].document == visits[b].document) {
        let document = visits[of_one[0]].document;
        let stays = is_kept(document);
        let begin = links.partition_point(|link| link.0 < document);
        let mut ahead = links[begin..].iter().take_while(|link| link.0 == document).peekable();
        let mut best = None;
        for &at in of_one {
            let rank = visits[at].rank;
            if rank < document {
                let expected = format!("at least {document}, the rank of its document");
                return Err(Error::out_of_range("the rank of a visit", rank, &expected));
            }
            while let Some(&(_, earlier, similarity)) = ahead.next_if(|link| link.1 < rank) {
                prefer(&mut best, earlier, similarity);
            }
            verdicts[at] = match best {
                _ if stays && rank == document => Standing::Kept,
                _ if stays => Standing::Duplicate { of: document, similarity: 1.0 },
                Some((of, similarity)) => Standing::Duplicate { of, similarity },
                None => {
                    let expected = "that of a document that is kept or has an edge to a kept one before it";
                    return Err(Error::out_of_range("the rank of a document", document, expected));
                }
            };
        }
    }
    Ok(verdicts)
}

/// Replaces `best` by another kept document if that is more similar, or equally similar and earlier in keeper order.
fn prefer(best: &mut Option<(u64, f64)>, rank: u64, similarity: f64) {
    let is_better = match *best {
        None => true,
        Some((of, so_far)) => similarity > so_far || similarity == so_far && rank < of,
    };
    if is_better {
        *best = Some((rank, similarity));
    }
}

fn check_ranks(mut ranks: impl Iterator<Item = u64>) -> Result<(), Error> {
    let Some(mut before) = ranks.next() else { return Ok(()) };
    for rank in ranks {
        if rank <= before {
            let expected = format!("above {before}, the rank before it");
            return Err(Error::out_of_range("a rank", rank, &expected));
        }
        before = rank;
    }
    Ok(())
}

fn check_edge(edge: &Edge) -> Result<(), Error> {
    if edge.a == edge.b {
        return Err(Error::out_of_range("the second rank of an edge", edge.b, "another than the first one"));
    }
    // The range does not contain NaN.
    if !(0.0..=1.0).contains(&edge.similarity) {
        return Err(Error::out_of_range("the similarity of an edge", edge.similarity, "from 0 to 1"));
    }
    Ok(())
}

/// Checks the edges, and returns the edges in ascending order of their later ranks.
fn sorted(edges: &[Edge]) -> Result<Cow<'_, [Edge]>, Error> {
    edges.iter().try_for_each(check_edge)?;
    let mut edges = Cow::Borrowed(edges);
    if !edges.is_sorted_by_key(Edge::later) {
        edges.to_mut().sort_unstable_by_key(Edge::later);
    }
    Ok(edges)
}

fn unlisted(rank: u64) -> Error {
    Error::out_of_range("a rank of an edge", rank, "that of a listed document")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::{Judge, Neighbourhood, Verdict, star};
    use crate::hash::SplitMix64;

    const THRESHOLD: f64 = 0.8;

    /// Documents on shelves, their similarities, and their visits.
    #[derive(Debug)]
    struct World {
        shelves: Vec<Vec<u32>>,
        similarities: Vec<f64>,
        documents: usize,
        /// Document of each visit. The first visits of all documents are ascending.
        visits: Vec<u32>,
        most: usize,
    }

    impl Judge for World {
        type Error = Infallible;

        fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Infallible> {
            Ok(Some(self.exact(a, b)).filter(|&similarity| similarity >= THRESHOLD))
        }

        fn partners(&mut self, _: u32, _: &mut Vec<u32>) -> Result<(), Infallible> {
            Ok(())
        }

        fn shelves(&mut self, _: u32, _: &mut Vec<u32>) -> Result<(), Infallible> {
            Ok(())
        }
    }

    impl World {
        fn new(seed: u64, documents: usize, similar_in: u64, most: usize) -> Self {
            let mut random = SplitMix64::new(seed);
            let mut below = |bound: u64| random.next_u64() % bound;
            let shelves = (0..6).map(|_| (0..documents as u32).filter(|_| below(3) == 0).collect()).collect();
            // Few distinct values, so ties occur.
            let similarities = (0..documents * documents)
                .map(|_| if below(similar_in) == 0 { 0.8 + below(3) as f64 / 10.0 } else { 0.1 })
                .collect();
            let mut visits = vec![];
            for document in 0..documents as u32 {
                visits.push(document);
                while below(4) == 0 {
                    visits.push(below(u64::from(document) + 1) as u32);
                }
            }
            Self { shelves, similarities, documents, visits, most }
        }

        fn exact(&self, a: u32, b: u32) -> f64 {
            self.similarities[a.min(b) as usize * self.documents + a.max(b) as usize]
        }

        /// Returns the verdicts of one call of `star`, in ranks.
        fn in_one_piece(&mut self, ranks: &[u64], first: &[u64]) -> Vec<Standing> {
            let shelves = self.shelves.clone();
            let neighbourhood = Neighbourhood::new(self.documents, shelves.iter().map(Vec::as_slice));
            let (visits, most) = (self.visits.clone(), self.most);
            let Ok(verdicts) = star(&neighbourhood, &visits, most, self, |_| {});
            assert_eq!(verdicts.len(), ranks.len());
            let verdict = |verdict| match verdict {
                Verdict::Kept => Standing::Kept,
                Verdict::Duplicate { of, similarity } => {
                    Standing::Duplicate { of: first[of as usize], similarity }
                }
            };
            verdicts.into_iter().map(verdict).collect()
        }
    }

    /// A simulated cluster of machines, which compares pairs in rounds. A round compares up to `pivots` members per
    /// shelf with others.
    struct Machines<'a> {
        world: &'a World,
        /// Rank of the first visit of each document; `last` has the rank of the last visit.
        first: Vec<u64>,
        last: Vec<u64>,
        asked: BTreeSet<(u32, u32)>,
        edges: Vec<Edge>,
        known: Vec<PriorState>,
        order: SplitMix64,
    }

    impl Machines<'_> {
        fn is_removed(&self, document: u32) -> bool {
            matches!(self.known[document as usize], PriorState::Removed { .. })
        }

        /// Reports whether a document is on a shelf if it is kept: if `surely`, for certain, otherwise as far as is
        /// known.
        fn may_stand(&self, shelf: &[u32], document: u32, surely: bool) -> bool {
            let before = shelf.iter().filter(|&&other| {
                other < document
                    && match self.known[other as usize] {
                        PriorState::Kept => true,
                        PriorState::Undecided { .. } => surely,
                        PriorState::Removed { .. } => false,
                    }
            });
            !self.is_removed(document) && before.count() < self.world.most
        }

        /// Compares some pairs that were not compared before, and returns their number.
        fn ask(&mut self, pivots: usize) -> usize {
            let before = self.asked.len();
            for shelf in &self.world.shelves {
                let mut open: Vec<u32> = shelf
                    .iter()
                    .copied()
                    .filter(|&pivot| {
                        self.may_stand(shelf, pivot, true)
                            && shelf
                                .iter()
                                .any(|&other| self.meets(pivot, other) && !self.was_asked(pivot, other))
                    })
                    .collect();
                // The result must not depend on the choice of pivots, although the first documents need fewer rounds.
                if self.order.next_u64().is_multiple_of(2) {
                    open.reverse();
                }
                for &pivot in open.iter().take(pivots) {
                    for &other in shelf {
                        if self.meets(pivot, other) && !self.was_asked(pivot, other) {
                            self.asked.insert((pivot.min(other), pivot.max(other)));
                            let similarity = self.world.exact(pivot, other);
                            if similarity >= THRESHOLD {
                                let mut edge = [pivot, other].map(|document| self.first[document as usize]);
                                if self.order.next_u64().is_multiple_of(2) {
                                    edge.reverse();
                                }
                                self.edges.push(Edge { a: edge[0], b: edge[1], similarity });
                            }
                        }
                    }
                }
            }
            self.asked.len() - before
        }

        /// Reports whether a visit of `other` comes after `pivot`, and so has to be compared with it if `pivot` is
        /// kept.
        fn meets(&self, pivot: u32, other: u32) -> bool {
            pivot != other && self.last[other as usize] > self.first[pivot as usize]
        }

        fn was_asked(&self, a: u32, b: u32) -> bool {
            self.asked.contains(&(a.min(b), a.max(b)))
        }

        fn unasked(&self, document: u32) -> u64 {
            let mut earlier = BTreeSet::new();
            for shelf in self.world.shelves.iter().filter(|shelf| shelf.contains(&document)) {
                earlier.extend(shelf.iter().copied().filter(|&other| {
                    other < document
                        && !self.was_asked(other, document)
                        && self.may_stand(shelf, other, false)
                }));
            }
            earlier.len() as u64
        }

        fn decide(&mut self) -> Vec<Standing> {
            let documents: Vec<Ranked> = (0..self.world.documents as u32)
                .map(|document| {
                    let unasked = self.unasked(document);
                    let known = match self.known[document as usize] {
                        PriorState::Kept => PriorState::Kept,
                        PriorState::Removed { .. } => PriorState::Removed { unasked },
                        PriorState::Undecided { .. } => PriorState::Undecided { unasked },
                    };
                    Ranked { rank: self.first[document as usize], known }
                })
                .collect();
            let standings = decide_round(&documents, &self.edges).unwrap();
            for (known, standing) in self.known.iter_mut().zip(&standings) {
                *known = match standing {
                    Standing::Kept => PriorState::Kept,
                    Standing::Duplicate { .. } | Standing::Removed => PriorState::Removed { unasked: 0 },
                    Standing::Undecided => PriorState::Undecided { unasked: 0 },
                };
            }
            standings
        }
    }

    /// Runs rounds until every document is decided and no round compares another pair, and returns the verdicts and the
    /// number of rounds. Asserts that every verdict which a round reports as final equals the verdict of `star`.
    fn in_rounds(world: &mut World, pivots: usize, order: u64) -> (Vec<Standing>, usize) {
        // The ranks need more than 32 bits and have gaps.
        let ranks: Vec<u64> = (0..world.visits.len() as u64).map(|at| (1 << 40) + at * 1000).collect();
        let mut first = BTreeMap::new();
        let mut last = BTreeMap::new();
        for (&rank, &document) in ranks.iter().zip(&world.visits) {
            first.entry(document).or_insert(rank);
            last.insert(document, rank);
        }
        let first: Vec<u64> = first.into_values().collect();
        let last: Vec<u64> = last.into_values().collect();
        let expected = world.in_one_piece(&ranks, &first);
        let of_first = |rank: u64| expected[ranks.binary_search(&rank).unwrap()];
        let mut machines = Machines {
            known: vec![PriorState::Undecided { unasked: 0 }; world.documents],
            world,
            asked: BTreeSet::new(),
            edges: vec![],
            order: SplitMix64::new(order),
            first: first.clone(),
            last,
        };
        let mut rounds = 0;
        let mut before = vec![];
        loop {
            let asked = machines.ask(pivots);
            let standings = machines.decide();
            rounds += 1;
            for (&rank, &standing) in first.iter().zip(&standings) {
                match standing {
                    Standing::Kept | Standing::Duplicate { .. } => assert_eq!(standing, of_first(rank)),
                    Standing::Removed => assert_ne!(of_first(rank), Standing::Kept),
                    Standing::Undecided => {}
                }
            }
            let is_open = |standing: &Standing| matches!(standing, Standing::Undecided | Standing::Removed);
            // A decision may allow the next round to compare more pairs.
            if asked == 0 && standings == before {
                assert!(!standings.iter().any(is_open), "all pairs are compared, and all is decided");
                break;
            }
            before = standings;
        }
        let kept: Vec<u64> = first.iter().copied().filter(|&rank| of_first(rank) == Standing::Kept).collect();
        let visits: Vec<Visit> = ranks
            .iter()
            .zip(&machines.world.visits)
            .map(|(&rank, &document)| Visit { rank, document: first[document as usize] })
            .collect();
        // An edge to a later kept document counts only if a shelf lists both documents and takes the later document.
        let stands = |later: u32, earlier: u32| {
            machines.world.shelves.iter().any(|shelf| {
                [later, earlier].iter().all(|document| shelf.contains(document))
                    && machines.may_stand(shelf, later, false)
            })
        };
        let number = |rank: u64| first.binary_search(&rank).unwrap() as u32;
        let meet = |edge: &&Edge| {
            let (earlier, later) = (edge.earlier(), edge.later());
            !kept.contains(&later) || stands(number(later), number(earlier))
        };
        let edges: Vec<Edge> = machines.edges.iter().filter(meet).copied().collect();
        assert!(
            machines.world.most < 6 || edges.len() == machines.edges.len(),
            "only a full shelf leaves out"
        );
        let verdicts = name_keepers(&visits, &kept, &edges).unwrap();
        assert_eq!(verdicts, expected);
        (verdicts, rounds)
    }

    proptest! {
        #[test]
        fn rounds_give_what_star_gives_in_one_piece(
            seed: u64, order: u64, documents in 1usize..40, similar_in in 2u64..12, pivots in 1usize..5,
            most in prop_oneof![Just(usize::MAX), 1usize..6],
        ) {
            in_rounds(&mut World::new(seed, documents, similar_in, most), pivots, order);
        }
    }

    #[test]
    fn a_chain_is_decided_in_one_round() {
        let undecided = PriorState::Undecided { unasked: 0 };
        let documents: Vec<Ranked> = (0..101).map(|rank| Ranked { rank, known: undecided }).collect();
        let edges: Vec<Edge> =
            (1..101).rev().map(|rank| Edge { a: rank, b: rank - 1, similarity: 0.9 }).collect();
        for (rank, standing) in decide_round(&documents, &edges).unwrap().into_iter().enumerate() {
            let expected = if rank.is_multiple_of(2) {
                Standing::Kept
            } else {
                Standing::Duplicate { of: rank as u64 - 1, similarity: 0.9 }
            };
            assert_eq!(standing, expected);
        }
    }

    #[test]
    fn a_document_goes_before_all_of_its_pairs_are_known() {
        let of = |rank, known| Ranked { rank, known };
        let edge = |a, b, similarity| Edge { a, b, similarity };
        let documents = [
            of(1, PriorState::Kept),
            of(2, PriorState::Undecided { unasked: 1 }),
            of(3, PriorState::Undecided { unasked: 0 }),
            of(4, PriorState::Undecided { unasked: 0 }),
        ];
        // A later round may find a better duplicate for 2, but 3 and 4 need not wait for that.
        let edges = [edge(1, 2, 0.8), edge(2, 3, 0.9), edge(3, 4, 0.8), edge(1, 4, 0.8), edge(1, 4, 0.8)];
        let standings = decide_round(&documents, &edges).unwrap();
        assert_eq!(
            standings,
            [
                Standing::Kept,
                Standing::Removed,
                Standing::Kept,
                Standing::Duplicate { of: 1, similarity: 0.8 }
            ]
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let kept = |rank| Ranked { rank, known: PriorState::Kept };
        let edge = |a, b, similarity| Edge { a, b, similarity };
        let removed = Ranked { rank: 2, known: PriorState::Removed { unasked: 0 } };
        for (documents, edges, part) in [
            (vec![kept(2), kept(2)], vec![], "above 2, the rank before it"),
            (vec![kept(1), kept(2)], vec![edge(1, 3, 0.9)], "a rank of an edge cannot be 3"),
            (vec![kept(1), kept(2)], vec![edge(0, 2, 0.9)], "a rank of an edge cannot be 0"),
            (vec![kept(1), kept(2)], vec![edge(2, 2, 0.9)], "another than the first one"),
            (vec![kept(1), kept(2)], vec![edge(1, 2, f64::NAN)], "from 0 to 1"),
            (vec![kept(1), removed], vec![], "a removed document cannot be 2"),
        ] {
            let message = decide_round(&documents, &edges).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        let visit = |rank, document| Visit { rank, document };
        for (visits, kept, edges, part) in [
            (vec![visit(1, 2)], vec![2], vec![], "at least 2"),
            (vec![visit(3, 3)], vec![1], vec![], "the rank of a document cannot be 3"),
            (vec![visit(1, 1)], vec![1, 1], vec![], "above 1"),
            (vec![visit(1, 1)], vec![1], vec![edge(1, 1, 0.5)], "another than the first one"),
        ] {
            let message = name_keepers(&visits, &kept, &edges).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
