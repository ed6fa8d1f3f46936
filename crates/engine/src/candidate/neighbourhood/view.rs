//! One neighbourhood of a loaded batch, as clusterings and judges see it.

use minwise::cluster::Neighbourhood;

use super::large::LargeShelves;
use crate::candidate::partners::Partners;
use crate::error::Error;

/// One neighbourhood of a loaded batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeighbourhoodRef<'a> {
    /// Its documents, in keeper order.
    pub documents: &'a [u32],
    /// How they meet.
    pub meeting: Meeting<'a>,
}

/// How the documents of a neighbourhood meet. They are numbered in keeper order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meeting<'a> {
    /// On shelves in memory.
    Shelves(ShelvesRef<'a>),
    /// On shelves in a temporary file.
    Large(&'a LargeShelves),
    /// As pairs.
    Pairs(PairsRef<'a>),
}

impl NeighbourhoodRef<'_> {
    /// How its documents meet, in the form that a clustering takes. Shelves with more than `unsplit` documents may be split.
    pub(crate) fn neighbourhood(&self, unsplit: usize) -> Neighbourhood {
        let documents = self.documents.len();
        match self.meeting {
            Meeting::Pairs(_) => Neighbourhood::of_pairs(documents),
            Meeting::Large(shelves) => Neighbourhood::of_shelves(documents, shelves.bands.clone()),
            Meeting::Shelves(shelves) => Neighbourhood::new(documents, shelves.distinct(unsplit).into_iter()),
        }
    }
}

/// A shelf in memory: its band, and which of all members of a batch stand on it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shelf {
    pub(super) band: u32,
    pub(super) size: u32,
    pub(super) begin: usize,
}

/// The shelves of a neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShelvesRef<'a> {
    pub(super) shelves: &'a [Shelf],
    /// The documents on all shelves of a batch.
    pub(super) members: &'a [u32],
}

impl<'a> ShelvesRef<'a> {
    /// The band of each shelf, and the documents on it, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = (u32, &'a [u32])> + Clone {
        self.shelves.iter().map(move |shelf| (shelf.band, self.members(shelf)))
    }

    fn members(self, shelf: &Shelf) -> &'a [u32] {
        &self.members[shelf.begin..shelf.begin + shelf.size as usize]
    }

    /// The shelves without repeats: if shelves of several bands hold the same documents, only the first of them stays.
    /// Shelves with more than `unsplit` documents all stay, because the registers of their band may split them differently.
    pub(super) fn distinct(self, unsplit: usize) -> Vec<(u32, &'a [u32])> {
        let members = |at: &u32| self.members(&self.shelves[*at as usize]);
        let small = |at: &u32| members(at).len() <= unsplit;
        let mut by_members: Vec<u32> = (0..self.shelves.len() as u32).filter(small).collect();
        by_members.sort_unstable_by_key(|at| (members(at), *at));
        by_members.dedup_by_key(|at| members(at));
        by_members.sort_unstable();
        let mut first = by_members.into_iter().peekable();
        let all = (0..).zip(self.iter());
        all.filter(|(at, _)| !small(at) || first.next_if_eq(at).is_some()).map(|(_, shelf)| shelf).collect()
    }
}

/// The pairs of a neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairsRef<'a> {
    /// For each document of the neighbourhood, its number in `partners`.
    pub(super) numbers: &'a [u32],
    pub(super) partners: &'a Partners,
}

impl PairsRef<'_> {
    /// Fills `out` with the candidates of a document, ascending: those before it, and those after it if it has equals.
    pub(crate) fn partners(self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        self.partners.of(self.numbers[document as usize], out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shelves_with_the_same_documents_are_taken_once() {
        let all: [(u32, &[u32]); 5] =
            [(0, &[0, 1]), (0, &[2, 3]), (1, &[0, 1, 2]), (2, &[2, 3]), (2, &[0, 1])];
        let members: Vec<u32> = all.iter().flat_map(|(_, members)| *members).copied().collect();
        let mut begin = 0;
        let shelves = all.map(|(band, members)| {
            let shelf = Shelf { band, size: members.len() as u32, begin };
            begin += members.len();
            shelf
        });
        let shelves = ShelvesRef { shelves: &shelves, members: &members };
        assert_eq!(shelves.distinct(2), [(0, &[0, 1][..]), (0, &[2, 3]), (1, &[0, 1, 2])]);
        assert_eq!(shelves.distinct(1), all);
    }
}
