//! Lists similar pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use minwise::cluster::{Neighbourhood, SimilarDocuments};
use minwise::{Observer, Sentence, Stage, Warning};
use minwise_corpus::Corpus;

use crate::candidate;
use crate::candidate::equals::Equals;
use crate::candidate::neighbourhood::Candidates;
use crate::candidate::order::KeeperOrder;
use crate::decide::edges::{Edges, Neighbours};
use crate::decide::warn_of_recall;
use crate::error::{Error, ErrorKind};
use crate::read::Reading;
use crate::settings::Plan;
use crate::verify::{Agreement, Decide, ExactJudge, Verification, Verified, Walk};

/// Number of pairs of one group of documents above which a warning is sent before the pairs are compared.
const MANY: u64 = 1_000_000;

/// Requested documents. The key is the first document of the group of equals to which they belong.
type WantedDocuments = BTreeMap<u32, Vec<u32>>;

/// Pair of near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SimilarPair {
    /// Document that was read first.
    pub first: u32,
    /// Document that was read later.
    pub second: u32,
    /// Exact similarity of the two documents.
    pub similarity: f64,
}

/// All similar pairs of a corpus. Equal documents are stored as one: only the first document of each group of equals is
/// in the stored pairs.
#[derive(Debug)]
#[non_exhaustive]
pub struct SimilarPairs {
    documents: u32,
    equals: Equals,
    /// Near-duplicates of the first document of each group of equals. The list of a document has the near-duplicates
    /// that come after the document. If one of two near-duplicates has equals, the list of the later document also has
    /// the earlier document.
    neighbours: Neighbours,
    wanted: Option<WantedDocuments>,
    /// Counts of compared pairs.
    pub verification: Verification,
}

/// Finds all pairs at or above the threshold. With `of`, finds only the pairs of documents with these ids.
///
/// # Errors
/// Fails with [`ErrorKind::NoSuchId`] if an id in `of` belongs to no document, and with
/// [`ErrorKind::ReadOtherwise`] if the documents were read with another plan. Fails with [`ErrorKind::Corpus`] if a
/// source cannot be read again, with [`ErrorKind::File`] if a file of the run cannot be read or written, and with
/// [`ErrorKind::Cancelled`] if the observer cancels.
pub fn pairs(
    corpus: &Corpus,
    reading: &Reading,
    of: Option<&[String]>,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<SimilarPairs, Error> {
    reading.key.check(plan)?;
    let wanted = of.map(|ids| with_ids(ids, corpus, reading)).transpose()?;
    let documents = reading.documents.len();
    let order = KeeperOrder::of_input(documents);
    observer.begin(Stage::Equal, order.len() as u64);
    let room = plan.memory.room(plan.threads, documents);
    let equals = Equals::find(&reading.documents, &order, plan.threads, room)?;
    let candidates = candidate::find(corpus, reading, &equals, &order, plan, observer)?;
    // If any document of a group of equals is wanted, the first document of the group is wanted too.
    let wanted: Option<WantedDocuments> = wanted.map(|wanted| {
        let mut by_first = WantedDocuments::new();
        for document in wanted {
            by_first.entry(equals.first(document)).or_default().push(document);
        }
        by_first
    });
    if wanted.is_none() {
        let mut large = large_groups(&candidates, &equals)?;
        let mut in_neighbourhood = vec![false; documents];
        for &document in candidates.all_documents() {
            in_neighbourhood[document as usize] = true;
        }
        for group in equals.groups().filter(|group| !in_neighbourhood[group[0] as usize]) {
            let copies = group.len() as u64;
            large.add(choose_two(copies), copies, group[0]);
        }
        large.announce(corpus, reading, observer)?;
    }

    let edges = Mutex::new(Edges::new(documents, room, plan.temporary.as_deref()));
    let listing = PairLister { equals: &equals, wanted: wanted.as_ref(), plan, edges };
    let walk = Walk { corpus, reading, candidates: &candidates, plan, observer };
    let mut verification = walk.run(Verified::nothing(&candidates, plan), &listing, &mut ())?;
    for group in equals.groups() {
        let pairs = choose_two(group.len() as u64) - choose_two(listing.unwanted(group[0]));
        verification.expected_recall.add_certain(pairs);
    }

    warn_of_recall(&verification, plan, observer);
    let edges = listing.edges.into_inner().unwrap_or_else(PoisonError::into_inner);
    let neighbours = edges.finish()?;
    Ok(SimilarPairs { documents: documents as u32, equals, neighbours, wanted, verification })
}

/// Returns the documents with the ids `ids`.
pub(super) fn with_ids(ids: &[String], corpus: &Corpus, reading: &Reading) -> Result<BTreeSet<u32>, Error> {
    let found = reading.documents.find(ids, corpus)?;
    let unknown = |id: &str| {
        ErrorKind::NoSuchId {
        id: id.to_owned(),
        hint: Sentence::from("ids are read from ")
            .setting("id-field")
            .text("; without one, the id of a record is `file:line`, and that of a file its path below the folder that was given"),
    }
    };
    Ok(found.map_err(unknown)?)
}

/// Number of pairs that a thread adds to the common list at a time. Threads that took the mutex once per pair waited for
/// each other in large neighbourhoods.
const ADDED_TOGETHER: usize = 4096;

/// Code that lists the similar pairs of a neighbourhood.
struct PairLister<'a> {
    equals: &'a Equals,
    wanted: Option<&'a WantedDocuments>,
    plan: &'a Plan,
    /// All threads add to one list, because the pairs of a single neighbourhood may not fit into memory, and only this
    /// list moves pairs to disk. The list is sorted in the end, so the order in which threads find pairs does not
    /// matter.
    edges: Mutex<Edges<'a>>,
}

impl PairLister<'_> {
    /// Reports whether a document, or a document that equals it, is wanted.
    fn is_wanted(&self, first: u32) -> bool {
        self.wanted.is_none_or(|wanted| wanted.contains_key(&first))
    }

    /// Moves the pairs that a thread has found to the common list.
    fn add(&self, own: &mut Vec<(u32, u32, f64)>) -> Result<(), Error> {
        if own.is_empty() {
            return Ok(());
        }
        let mut edges = self.edges.lock().unwrap_or_else(PoisonError::into_inner);
        own.drain(..).try_for_each(|(from, to, similarity)| edges.add(from, to, similarity))
    }

    /// Returns the number of copies of a document that are not wanted.
    fn unwanted(&self, first: u32) -> u64 {
        self.wanted.map_or(0, |wanted| {
            self.equals.copies(first) - wanted.get(&first).map_or(0, |wanted| wanted.len() as u64)
        })
    }
}

impl Decide for PairLister<'_> {
    type Decision = ();

    fn decide(
        &self,
        documents: &[u32],
        neighbourhood: &Neighbourhood,
        judge: &mut ExactJudge<'_, '_>,
        agreement: &mut Agreement<'_>,
        sum: &mut Verification,
    ) -> Result<(), Error> {
        let is_wanted = |number: u32| self.is_wanted(documents[number as usize]);
        if !(0..documents.len() as u32).any(is_wanted) {
            return Ok(());
        }
        let mut own = vec![];
        let found = |found: &SimilarDocuments<'_>| {
            let [a, b] = [found.earlier, found.document].map(|number| documents[number as usize]);
            let [copies_of_a, copies_of_b] = [a, b].map(|first| self.equals.copies(first));
            let alone = agreement.alone(found, [a, b])?;
            sum.add(found, alone, copies_of_a * copies_of_b - self.unwanted(a) * self.unwanted(b));
            own.push((a, b, found.similarity));
            // The reverse edge is needed only if one of the two documents has equals, because an equal document may
            // come later in the input.
            if copies_of_a > 1 || copies_of_b > 1 {
                own.push((b, a, found.similarity));
            }
            if own.len() >= ADDED_TOGETHER { self.add(&mut own) } else { Ok(()) }
        };
        minwise::cluster::pairs(neighbourhood, is_wanted, self.plan.shelf, judge, found)?;
        self.add(&mut own)
    }
}

impl SimilarPairs {
    /// Visits every pair in input order, including pairs of equal documents.
    ///
    /// # Errors
    /// Returns the first error of `visit`. Fails with [`ErrorKind::Cancelled`] if the observer cancels, and with
    /// [`ErrorKind::Corpus`] if pairs are in a temporary file that cannot be read.
    pub fn for_each(
        &self,
        observer: &dyn Observer,
        mut visit: impl FnMut(SimilarPair) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut partners: Vec<(u32, f64)> = vec![];
        let mut neighbours = vec![];
        let mut groups = self.equals.groups().map(|group| group[0]).peekable();
        for first in 0..self.documents {
            if first.is_multiple_of(1024) && observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let stands = self.equals.first(first);
            // Most documents have no near-duplicates and no equals. Searching for each document in all groups of equals
            // took longer than the rest of this loop.
            let has_equals = stands != first || groups.next_if_eq(&first).is_some();
            if !has_equals && self.neighbours.are_none(first) {
                continue;
            }
            let all = self.is_wanted(first, stands);
            partners.clear();
            self.push_equals(stands, 1.0, first, all, &mut partners);
            self.neighbours.of(stands, &mut neighbours)?;
            for &(neighbour, similarity) in &neighbours {
                self.push_equals(neighbour, similarity, first, all, &mut partners);
            }
            partners.sort_unstable_by_key(|partner| partner.0);
            for (at, &(second, similarity)) in partners.iter().enumerate() {
                if at.is_multiple_of(1024) && observer.cancelled() {
                    return Err(ErrorKind::Cancelled.into());
                }
                visit(SimilarPair { first, second, similarity })?;
            }
        }
        Ok(())
    }

    /// Appends a document and its equals to `partners`, as far as they come after `first`. If `all` is `false`, only
    /// wanted documents are appended.
    fn push_equals(
        &self,
        stands: u32,
        similarity: f64,
        first: u32,
        all: bool,
        partners: &mut Vec<(u32, f64)>,
    ) {
        let members = match &self.wanted {
            Some(wanted) if !all => wanted.get(&stands).map_or(&[][..], Vec::as_slice),
            _ => match self.equals.members(stands) {
                [] => std::slice::from_ref(&stands),
                members => members,
            },
        };
        partners.extend(members.iter().filter(|&&member| member > first).map(|&member| (member, similarity)));
    }

    fn is_wanted(&self, document: u32, stands: u32) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_none_or(|wanted| wanted.get(&stands).is_some_and(|here| here.contains(&document)))
    }
}

/// Groups of documents that may have very many pairs. One warning reports all of these groups.
#[derive(Debug, Default)]
struct LargeGroups {
    groups: u64,
    pairs: u64,
    /// Number of pairs of the largest group, number of its documents, and one of its documents.
    largest: (u64, u64, u32),
}

impl LargeGroups {
    /// Counts a group if it is large. The largest group is the first of the groups with the most pairs.
    fn add(&mut self, pairs: u64, documents: u64, example: u32) {
        if pairs > MANY {
            self.groups += 1;
            self.pairs = self.pairs.saturating_add(pairs);
            if pairs > self.largest.0 {
                self.largest = (pairs, documents, example);
            }
        }
    }

    /// Warns of many pairs, before they are compared and written.
    fn announce(&self, corpus: &Corpus, reading: &Reading, observer: &dyn Observer) -> Result<(), Error> {
        if self.groups > 0 {
            let (_, documents, example) = self.largest;
            let example = reading.documents.id(example, corpus)?.into_owned();
            let (groups, pairs) = (self.groups, self.pairs);
            observer.warn(&Warning::ManyPairs { groups, pairs, documents, example });
        }
        Ok(())
    }
}

/// Counts the neighbourhoods that may have very many pairs.
fn large_groups(candidates: &Candidates, equals: &Equals) -> Result<LargeGroups, Error> {
    let all_copies =
        |number: usize| candidates.documents(number).iter().map(|&document| equals.copies(document)).sum();
    // Most neighbourhoods have too few documents for that, so their shelves are not read.
    let large = |number: &usize| choose_two(all_copies(*number)) > MANY;
    let large: Vec<usize> = (0..candidates.len()).filter(large).collect();
    let mut groups = LargeGroups::default();
    for (number, pairs) in candidates.most_pairs(&large, |document| equals.copies(document))? {
        let documents = all_copies(number);
        groups.add(pairs.min(choose_two(documents)), documents, candidates.documents(number)[0]);
    }
    Ok(groups)
}

fn choose_two(n: u64) -> u64 {
    n.saturating_mul(n.saturating_sub(1)) / 2
}
