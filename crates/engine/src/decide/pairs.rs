//! The run that lists similar pairs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use minwise::Sentence;
use minwise::{Observer, Warning};
use minwise_corpus::Corpus;

use crate::candidate;
use crate::candidate::equal::Equals;
use crate::candidate::hoods::Candidates;
use crate::candidate::order::Order;
use crate::decide::edges::{Edges, Neighbours};
use crate::error::{Error, ErrorKind};
use crate::read::Reading;
use crate::rows::ALL;
use crate::settings::Plan;
use crate::verify::{self, Verification, Verified};

/// Lines from which on a family is announced beforehand.
const MANY: u64 = 1_000_000;

/// Documents that were asked for, by the one that stands for each.
type Wanted = BTreeMap<u32, Vec<u32>>;

/// Two near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    /// The one that was read first.
    pub first: u32,
    /// The other.
    pub second: u32,
    /// Their exact similarity.
    pub similarity: f64,
}

/// All similar pairs of a corpus, kept as pairs of documents that stand for their equals.
#[derive(Debug)]
pub struct SimilarPairs {
    documents: u32,
    equals: Equals,
    /// Of documents that stand for their equals, the near-duplicates behind each, and those before it where one of the two
    /// has equals.
    neighbours: Neighbours,
    wanted: Option<Wanted>,
    /// What was compared.
    pub verification: Verification,
}

/// Finds all pairs at or above the threshold; with `of`, those of these documents only.
pub fn pairs(
    corpus: &Corpus,
    reading: &Reading,
    of: Option<&[String]>,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<SimilarPairs, Error> {
    reading.key.check(plan)?;
    let wanted =
        of.map(|ids| reading.documents.find(ids, corpus)).transpose()?.transpose().map_err(|id| {
            ErrorKind::NoSuchId {
                id: id.to_owned(),
                hint: Sentence::from("ids are read from ")
                    .setting("id-field")
                    .text("; without one, a document's id is `file:line`"),
            }
        })?;
    let documents = reading.documents.len();
    let order = Order::of_input(documents);
    let room = plan.memory.room(plan.threads, documents);
    let equals = Equals::find(&reading.documents, &order, room)?;
    let candidates = candidate::find(corpus, reading, &equals, &order, plan, observer)?;
    // The wanted documents, by the one that stands for them; that one is wanted too.
    let wanted: Option<Wanted> = wanted.map(|wanted| {
        let mut by_first = Wanted::new();
        for document in wanted {
            by_first.entry(equals.first(document)).or_default().push(document);
        }
        by_first
    });
    let is_wanted = |first: u32| wanted.as_ref().is_none_or(|wanted| wanted.contains_key(&first));
    // How many of a document's copies are not wanted.
    let unwanted = |first: u32| match &wanted {
        None => 0,
        Some(wanted) => equals.copies(first) - wanted.get(&first).map_or(0, |wanted| wanted.len() as u64),
    };
    if wanted.is_none() {
        announce(&candidates, corpus, reading, &equals, observer)?;
        let mut in_hood = vec![false; documents];
        for &document in candidates.all_documents() {
            in_hood[document as usize] = true;
        }
        for group in equals.groups().filter(|group| !in_hood[group[0] as usize]) {
            let copies = group.len() as u64;
            announce_many(choose_two(copies), copies, group[0], corpus, reading, observer)?;
        }
    }

    // A document looks up its near-duplicates before it only for the sake of equals that come after it.
    let has_equals = |document: u32| !equals.members(document).is_empty();
    // Sorted in the end, so that it does not matter in which order threads find them.
    let edges = Mutex::new(Edges::new(documents, room, plan.temporary.as_deref()));
    let rows = plan.rows()?;
    let mut verification = verify::each_hood(
        corpus,
        reading,
        &candidates,
        plan,
        observer,
        Verified::nothing(&candidates, plan),
        |hood, neighbourhood, judge, sum| {
            if hood.documents.iter().any(|&document| is_wanted(document)) {
                let is_wanted = |number: u32| is_wanted(hood.documents[number as usize]);
                let found = |found: &minwise::cluster::Found<'_>| {
                    let [a, b] =
                        [found.earlier, found.document].map(|number| hood.documents[number as usize]);
                    let pairs = equals.copies(a) * equals.copies(b) - unwanted(a) * unwanted(b);
                    sum.add(found, pairs);
                    let mut edges = edges.lock().unwrap_or_else(PoisonError::into_inner);
                    edges.add(a, b, found.similarity)?;
                    if has_equals(a) || has_equals(b) {
                        edges.add(b, a, found.similarity)?;
                    }
                    Ok(())
                };
                minwise::cluster::pairs(neighbourhood, is_wanted, rows.limits(ALL), judge, found)?;
            }
            Ok(())
        },
        |_, ()| {},
        |_| Ok(()),
    )?;
    for group in equals.groups() {
        let pairs = choose_two(group.len() as u64) - choose_two(unwanted(group[0]));
        verification.expected_recall.add_certain(pairs);
    }

    let edges = edges.into_inner().unwrap_or_else(PoisonError::into_inner);
    let neighbours = edges.finish()?;
    Ok(SimilarPairs { documents: documents as u32, equals, neighbours, wanted, verification })
}

impl SimilarPairs {
    /// Visits every pair in input order, documents that are equal among them.
    pub fn for_each(
        &self,
        observer: &dyn Observer,
        mut visit: impl FnMut(SimilarPair) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut partners: Vec<(u32, f64)> = vec![];
        let mut neighbours = vec![];
        for first in 0..self.documents {
            if first.is_multiple_of(1024) && observer.cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
            let stands = self.equals.first(first);
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

    /// Adds a document and its equals as far as they come after `first`: all of them, or those that are wanted.
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

/// Says beforehand that some neighbourhoods may give very many pairs.
fn announce(
    candidates: &Candidates,
    corpus: &Corpus,
    reading: &Reading,
    equals: &Equals,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let all_copies =
        |number: usize| candidates.documents(number).iter().map(|&document| equals.copies(document)).sum();
    // Most neighbourhoods are too small for it, and need not be looked at.
    let large = |number: &usize| choose_two(all_copies(*number)) > MANY;
    let large: Vec<usize> = (0..candidates.len()).filter(large).collect();
    for (number, pairs) in candidates.pairs_of(&large, |document| equals.copies(document))? {
        let documents = all_copies(number);
        let (pairs, example) = (pairs.min(choose_two(documents)), candidates.documents(number)[0]);
        announce_many(pairs, documents, example, corpus, reading, observer)?;
    }
    Ok(())
}

fn announce_many(
    pairs: u64,
    documents: u64,
    example: u32,
    corpus: &Corpus,
    reading: &Reading,
    observer: &dyn Observer,
) -> Result<(), Error> {
    if pairs > MANY {
        let example = reading.documents.id(example, corpus)?.into_owned();
        observer.warn(&Warning::ManyPairs { pairs, documents, example });
    }
    Ok(())
}

fn choose_two(n: u64) -> u64 {
    n.saturating_mul(n.saturating_sub(1)) / 2
}
