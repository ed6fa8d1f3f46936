//! Documents that may be near-duplicates of one another.

use crate::candidate::shelf::{Limits, Narrowing, Shelf};

use super::Judge;

/// Documents that share bands, numbered from 0 in keeper order, and the shelves they stand on: one shelf for each band
/// key that at least two of them have.
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
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
        Self { bands, shelves: list, begins }
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
            looked: vec![u32::MAX; neighbourhood.len()],
            narrowed: vec![],
            met: vec![],
            begins: vec![],
        }
    }

    /// Finds the documents numbered `from` and up that `document` meets on its shelves, each once, in ascending order.
    pub(super) fn look(&mut self, document: u32, from: u32, judge: &impl Judge) {
        self.met.clear();
        self.narrowed.clear();
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
    }

    /// Finds the documents that `document` meets on each of its shelves: those of the n-th are
    /// `met[begins[n]..begins[n + 1]]`.
    pub(super) fn look_apart(&mut self, document: u32, judge: &impl Judge) {
        self.met.clear();
        self.narrowed.clear();
        self.begins.clear();
        self.begins.push(0);
        for &shelf in self.neighbourhood.shelves_of(document) {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |split| judge.split_key(document, band, split);
            let (there, narrowed) = self.filled[shelf as usize].visit(&self.limits, key);
            self.narrowed.extend(narrowed);
            self.met.extend_from_slice(there);
            self.begins.push(self.met.len());
        }
    }

    /// Whether `document` has not looked at `other` before; now it has.
    pub(super) fn is_new(&mut self, document: u32, other: u32) -> bool {
        let looked = &mut self.looked[other as usize];
        std::mem::replace(looked, document) != document
    }

    /// Puts `document` on all its shelves.
    pub(super) fn put(&mut self, document: u32, judge: &impl Judge) {
        for &shelf in self.neighbourhood.shelves_of(document) {
            let band = self.neighbourhood.bands[shelf as usize];
            let key = |document, split| judge.split_key(document, band, split);
            self.filled[shelf as usize].put(document, &self.limits, key);
        }
    }
}
