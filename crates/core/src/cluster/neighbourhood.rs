//! Documents that may be near-duplicates of one another.

use crate::candidate::shelf::{Limits, Narrowing, Shelf};

use super::Judge;

/// Documents that meet one another, numbered from 0 in keeper order.
///
/// Those that share bands stand on shelves: one for each band key that at least two of them have. Of candidates that were
/// found pair by pair, which are too many to have a shelf each, the [`Judge`] knows the [partners](Judge::partners).
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    /// Whether partners are asked of the judge; there are no shelves then.
    of_pairs: bool,
    bands: Vec<u32>,
    /// Shelves of document d: `shelves[begins[d]..begins[d + 1]]`.
    shelves: Vec<u32>,
    begins: Vec<usize>,
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
        Self { of_pairs: false, bands, shelves: list, begins }
    }

    /// `documents` documents whose candidates are pairs.
    #[must_use]
    pub fn of_pairs(documents: usize) -> Self {
        Self { of_pairs: true, begins: vec![0; documents + 1], ..Self::default() }
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.begins.len().saturating_sub(1)
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

    pub(super) fn shelves_of(&self, document: u32) -> &[u32] {
        let document = document as usize;
        &self.shelves[self.begins[document]..self.begins[document + 1]]
    }
}

/// The shelves while documents are put on them one after the other.
pub(super) struct Shelves<'a> {
    neighbourhood: &'a Neighbourhood,
    limits: Limits,
    filled: Vec<Shelf>,
    /// Of documents whose candidates are pairs: whether each was put there.
    there: Vec<bool>,
    /// The document that last looked at each document, so that none is looked at twice.
    looked: Vec<u32>,
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
            filled: vec![Shelf::default(); neighbourhood.bands.len()],
            there: vec![false; if neighbourhood.of_pairs { neighbourhood.len() } else { 0 }],
            looked: vec![u32::MAX; neighbourhood.len()],
            narrowed: vec![],
            met: vec![],
            begins: vec![],
        }
    }

    /// Finds the documents numbered `from` and up that `document` meets, each once, in ascending order.
    pub(super) fn look<J: Judge>(&mut self, document: u32, from: u32, judge: &mut J) -> Result<(), J::Error> {
        self.met.clear();
        self.narrowed.clear();
        if self.neighbourhood.of_pairs {
            judge.partners(document, &mut self.met)?;
            self.met.retain(|&other| other >= from && self.there[other as usize]);
            return Ok(());
        }
        for &shelf in self.neighbourhood.shelves_of(document) {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |split| judge.split_key(document, band, split);
            let (there, narrowed) = self.filled[shelf as usize].visit(&self.limits, key);
            self.narrowed.extend(narrowed);
            // A shelf is in ascending order, and those wanted stand at its end.
            for &other in there.iter().rev().take_while(|&&other| other >= from) {
                let looked = &mut self.looked[other as usize];
                if *looked != document {
                    *looked = document;
                    self.met.push(other);
                }
            }
        }
        for &other in &self.met {
            self.looked[other as usize] = u32::MAX;
        }
        self.met.sort_unstable();
        Ok(())
    }

    /// Finds the documents that `document` meets on each of its shelves: those of the n-th are
    /// `met[begins[n]..begins[n + 1]]`. Partners come as if they stood on one shelf.
    pub(super) fn look_apart<J: Judge>(&mut self, document: u32, judge: &mut J) -> Result<(), J::Error> {
        self.begins.clear();
        self.begins.push(0);
        if self.neighbourhood.of_pairs {
            self.look(document, 0, judge)?;
            self.begins.push(self.met.len());
            return Ok(());
        }
        self.met.clear();
        self.narrowed.clear();
        for &shelf in self.neighbourhood.shelves_of(document) {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |split| judge.split_key(document, band, split);
            let (there, narrowed) = self.filled[shelf as usize].visit(&self.limits, key);
            self.narrowed.extend(narrowed);
            self.met.extend_from_slice(there);
            self.begins.push(self.met.len());
        }
        Ok(())
    }

    /// Whether `document` has not looked at `other` before; now it has.
    pub(super) fn is_new(&mut self, document: u32, other: u32) -> bool {
        let looked = &mut self.looked[other as usize];
        std::mem::replace(looked, document) != document
    }

    /// Puts `document` where those that come after it meet it.
    pub(super) fn put(&mut self, document: u32, judge: &impl Judge) {
        if let Some(there) = self.there.get_mut(document as usize) {
            *there = true;
        }
        for &shelf in self.neighbourhood.shelves_of(document) {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |document, split| judge.split_key(document, band, split);
            self.filled[shelf as usize].put(document, &self.limits, key);
        }
    }
}
