//! Documents that may be near-duplicates of one another.

use crate::candidate::shelf::{Limits, Narrowing, Shelf};

use super::Judge;

/// Documents that meet one another, numbered from 0 in keeper order.
///
/// Those that share bands stand on shelves: one for each band key that at least two of them have. Who stands where is known
/// to the neighbourhood or, where that is too much to have at hand, to the [`Judge`]. Of candidates that were found pair by
/// pair the judge knows the [partners](Judge::partners).
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    documents: usize,
    /// How many of the first documents are given.
    given: u32,
    /// The band of each shelf.
    bands: Vec<u32>,
    lists: Lists,
}

/// Who knows where documents meet.
#[derive(Debug, Clone, Default)]
enum Lists {
    /// Shelves of document d: `shelves[begins[d]..begins[d + 1]]`.
    Here { shelves: Vec<u32>, begins: Vec<usize> },
    /// The judge knows the shelves.
    #[default]
    Elsewhere,
    /// There are no shelves, and the judge knows the partners.
    Pairs,
}

impl Neighbourhood {
    /// `documents` documents; each shelf is its band and the documents that stand on it.
    ///
    /// # Panics
    /// If a shelf names a document that does not exist.
    #[must_use]
    pub fn new<'a>(documents: usize, shelves: impl Iterator<Item = (u32, &'a [u32])> + Clone) -> Self {
        let mut begins = vec![0; documents + 1];
        for (_, members) in shelves.clone() {
            for &document in members {
                begins[document as usize + 1] += 1;
            }
        }
        for i in 0..documents {
            begins[i + 1] += begins[i];
        }
        let mut next = begins.clone();
        let mut list = vec![0; begins[documents]];
        let mut bands = vec![];
        for (shelf, (band, members)) in (0u32..).zip(shelves) {
            bands.push(band);
            for &document in members {
                let at = &mut next[document as usize];
                list[*at] = shelf;
                *at += 1;
            }
        }
        Self { documents, given: 0, bands, lists: Lists::Here { shelves: list, begins } }
    }

    /// `documents` documents on shelves of these bands; the judge knows [who stands where](Judge::shelves).
    #[must_use]
    pub fn of_shelves(documents: usize, bands: Vec<u32>) -> Self {
        Self { documents, given: 0, bands, lists: Lists::Elsewhere }
    }

    /// `documents` documents whose candidates are pairs.
    #[must_use]
    pub fn of_pairs(documents: usize) -> Self {
        Self { documents, given: 0, bands: vec![], lists: Lists::Pairs }
    }

    /// The same with its first `given` documents *given*: they stay whatever they are like, and [`star`](super::star) and
    /// [`components`](super::components) do not compare them with one another.
    #[must_use]
    pub fn with_given(self, given: u32) -> Self {
        Self { given, ..self }
    }

    /// How many of the first documents are given.
    #[must_use]
    pub fn given(&self) -> u32 {
        self.given
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many shelves there are.
    pub(super) fn shelves(&self) -> usize {
        self.bands.len()
    }

    fn is_of_pairs(&self) -> bool {
        matches!(self.lists, Lists::Pairs)
    }
}

/// The shelves while documents are put on them one after the other.
pub(super) struct Shelves<'a> {
    neighbourhood: &'a Neighbourhood,
    limits: Limits,
    filled: Filled,
    /// Of documents whose candidates are pairs: whether each was put there.
    there: Vec<bool>,
    /// The document that last looked at each document, so that none is looked at twice.
    looked: Vec<u32>,
    /// The shelves of the document that looked last.
    pub(super) own: Vec<u32>,
    /// For each crowded shelf of the document that looked last: what was asked for.
    pub(super) narrowed: Vec<Narrowing>,
    /// The documents that it met.
    pub(super) met: Vec<u32>,
    /// Where those of each shelf begin, if they were asked for apart.
    pub(super) begins: Vec<usize>,
}

impl<'a> Shelves<'a> {
    pub(super) fn new(neighbourhood: &'a Neighbourhood, limits: Limits) -> Self {
        Self {
            neighbourhood,
            limits,
            filled: Filled::new(neighbourhood.bands.len()),
            there: vec![false; if neighbourhood.is_of_pairs() { neighbourhood.len() } else { 0 }],
            looked: vec![u32::MAX; neighbourhood.len()],
            own: vec![],
            narrowed: vec![],
            met: vec![],
            begins: vec![],
        }
    }

    /// Finds out on which shelves a document stands.
    fn find_own<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        self.own.clear();
        match &self.neighbourhood.lists {
            Lists::Here { shelves, begins } => {
                let document = document as usize;
                self.own.extend_from_slice(&shelves[begins[document]..begins[document + 1]]);
                Ok(())
            }
            Lists::Elsewhere => judge.shelves(document, &mut self.own),
            Lists::Pairs => Ok(()),
        }
    }

    /// Finds the documents numbered `from` and up that `document` meets, each once, in ascending order.
    pub(super) fn look<J: Judge>(&mut self, document: u32, from: u32, judge: &mut J) -> Result<(), J::Error> {
        self.met.clear();
        self.narrowed.clear();
        if self.neighbourhood.is_of_pairs() {
            judge.partners(document, &mut self.met)?;
            self.met.retain(|&other| other >= from && self.there[other as usize]);
            return Ok(());
        }
        self.find_own(document, judge)?;
        let Self { neighbourhood, limits, filled, looked, narrowed, met, .. } = self;
        for &shelf in &self.own {
            let band = neighbourhood.bands[shelf as usize];
            let key = |split| judge.split_key(document, band, split);
            let asked = filled.visit(shelf, limits, key, |other| {
                // Those put there last come first, and any before `from` are not wanted.
                if other < from {
                    return false;
                }
                let looked = &mut looked[other as usize];
                if *looked != document {
                    *looked = document;
                    met.push(other);
                }
                true
            })?;
            narrowed.extend(asked);
        }
        for &other in met.iter() {
            looked[other as usize] = u32::MAX;
        }
        met.sort_unstable();
        Ok(())
    }

    /// Finds the documents that `document` meets on each of its shelves: those of the n-th are
    /// `met[begins[n]..begins[n + 1]]`, ascending. Partners come as if they stood on one shelf.
    pub(super) fn look_apart<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        self.begins.clear();
        self.begins.push(0);
        if self.neighbourhood.is_of_pairs() {
            self.look(document, 0, judge)?;
            self.begins.push(self.met.len());
            return Ok(());
        }
        self.met.clear();
        self.narrowed.clear();
        self.find_own(document, judge)?;
        for &shelf in &self.own {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |split| judge.split_key(document, band, split);
            let begin = self.met.len();
            let asked = self.filled.visit(shelf, &self.limits, key, |other| {
                self.met.push(other);
                true
            })?;
            self.narrowed.extend(asked);
            self.met[begin..].reverse();
            self.begins.push(self.met.len());
        }
        Ok(())
    }

    /// Whether `document` has not looked at `other` before; now it has.
    pub(super) fn is_new(&mut self, document: u32, other: u32) -> bool {
        let looked = &mut self.looked[other as usize];
        std::mem::replace(looked, document) != document
    }

    /// Puts the document that looked last where those that come after it meet it.
    pub(super) fn put<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        if let Some(there) = self.there.get_mut(document as usize) {
            *there = true;
        }
        for &shelf in &self.own {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |document, split| judge.split_key(document, band, split);
            self.filled.put(shelf, document, &self.limits, key)?;
        }
        Ok(())
    }
}

/// Documents that a shelf has before it is one of its own.
const FEW: usize = 4;
/// Nothing follows, or nothing is there.
const END: u32 = u32::MAX;
/// Set in a head whose shelf is one of its own.
const OWN: u32 = 1 << 31;

/// What stands on shelves. Most of them never have more than a few documents, and there are as many of them as band keys
/// that two documents share; so the few are chains in one list, and a [`Shelf`] is made for those that outgrow it.
struct Filled {
    /// For each shelf, the last link of its chain, or the number of its own shelf.
    heads: Vec<u32>,
    /// A document, and the link before it.
    links: Vec<(u32, u32)>,
    own: Vec<Shelf>,
}

impl Filled {
    fn new(shelves: usize) -> Self {
        Self { heads: vec![END; shelves], links: vec![], own: vec![] }
    }

    fn own(&self, shelf: u32) -> Option<usize> {
        let head = self.heads[shelf as usize];
        (head != END && head & OWN != 0).then_some((head & !OWN) as usize)
    }

    fn chain(&self, shelf: u32) -> impl Iterator<Item = u32> {
        let mut next = self.heads[shelf as usize];
        std::iter::from_fn(move || {
            let &(document, before) = self.links.get(next as usize)?;
            next = before;
            Some(document)
        })
    }

    /// Visits the documents that one with these keys meets on a shelf, those put there last first, until one is not
    /// wanted; gives what a crowded shelf asked of them.
    fn visit<E>(
        &self,
        shelf: u32,
        limits: &Limits,
        key: impl FnMut(usize) -> Result<u64, E>,
        mut wants: impl FnMut(u32) -> bool,
    ) -> Result<Option<Narrowing>, E> {
        if let Some(own) = self.own(shelf) {
            let (there, narrowed) = self.own[own].visit(limits, key)?;
            there.iter().rev().all(|&document| wants(document));
            return Ok(narrowed);
        }
        self.chain(shelf).all(wants);
        Ok(None)
    }

    fn put<E>(
        &mut self,
        shelf: u32,
        document: u32,
        limits: &Limits,
        mut key: impl FnMut(u32, usize) -> Result<u64, E>,
    ) -> Result<(), E> {
        if let Some(own) = self.own(shelf) {
            return self.own[own].put(document, limits, key);
        }
        let few = FEW.min(limits.most).min(limits.full);
        if self.chain(shelf).count() < few && self.links.len() < OWN as usize {
            self.links.push((document, self.heads[shelf as usize]));
            self.heads[shelf as usize] = self.links.len() as u32 - 1;
            return Ok(());
        }
        let mut outgrown: Vec<u32> = self.chain(shelf).collect();
        outgrown.reverse();
        outgrown.push(document);
        let mut own = Shelf::default();
        for document in outgrown {
            own.put(document, limits, &mut key)?;
        }
        self.heads[shelf as usize] = OWN | self.own.len() as u32;
        self.own.push(own);
        Ok(())
    }
}
