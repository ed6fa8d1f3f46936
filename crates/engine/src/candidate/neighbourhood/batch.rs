//! Batches: neighbourhoods whose shelves are in memory at one time.

use std::ops::Range;
use std::path::Path;

use super::large::LargeShelves;
use super::view::{Meeting, NeighbourhoodRef, PairsRef, Shelf, ShelvesRef};
use super::{Candidates, Meetings};
use crate::candidate::groups::Groups;
use crate::error::Error;
use crate::memory::Room;

/// Bytes that each neighbourhood takes in a batch, besides its shelves.
const NEIGHBOURHOOD_BYTES: u64 = 512;
/// Bytes that each shelf takes, besides its documents.
const SHELF_BYTES: u64 = 48;
/// Bytes that each document on a shelf takes.
const MEMBER_BYTES: u64 = 8;
/// A run that can be resumed ends a batch, which is a checkpoint, after this much text.
const CHECKPOINT_BYTES: u64 = 256 << 20;
/// Text ends at most this many batches, because loading a batch scans all groups.
const CHECKPOINTS: u64 = 64;

/// Neighbourhoods that are loaded together.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    candidates: &'a Candidates,
    numbers: Range<usize>,
    meetings: LoadedMeetings,
}

#[derive(Debug)]
enum LoadedMeetings {
    Shelves {
        /// For each neighbourhood of the batch, where its shelves are in `shelves`.
        ranges: Vec<Range<usize>>,
        shelves: Vec<Shelf>,
        members: Vec<u32>,
    },
    /// The batch is one neighbourhood that is too large to have its shelves in memory.
    Large(LargeShelves),
    /// Pairs are not loaded: they are read where the search has put them.
    Pairs,
}

impl Candidates {
    /// Cuts the neighbourhoods from `first` on into batches that fit into memory. With `checkpoints`, a batch also ends
    /// after some amount of text, so that a run that is killed loses little work.
    pub(crate) fn batches(&self, first: usize, room: Room, checkpoints: bool) -> Vec<Range<usize>> {
        let mut batches: Vec<Range<usize>> = vec![];
        let (mut bytes, mut text) = (0, 0);
        let most_text = CHECKPOINT_BYTES.max(self.text_bytes.iter().sum::<u64>() / CHECKPOINTS);
        for number in first..self.len() {
            let (cost, texts) = (self.cost(number), self.text_bytes[number]);
            bytes += cost;
            text += texts;
            match batches.last_mut() {
                Some(batch) if bytes <= room.batch() && !(checkpoints && text > most_text) => {
                    batch.end = number + 1;
                }
                _ => {
                    (bytes, text) = (cost, texts);
                    batches.push(number..number + 1);
                }
            }
        }
        batches
    }

    /// Bytes that a neighbourhood takes in a batch.
    fn cost(&self, number: usize) -> u64 {
        match &self.meetings {
            Meetings::Pairs { .. } => NEIGHBOURHOOD_BYTES,
            Meetings::Groups { counts, .. } => {
                let (shelves, members) = counts[number];
                NEIGHBOURHOOD_BYTES + SHELF_BYTES * u64::from(shelves) + MEMBER_BYTES * members
            }
        }
    }

    /// Loads a batch. If its only neighbourhood does not fit into memory, its shelves go to an unnamed file in `folder`.
    pub(crate) fn load(
        &self,
        numbers: Range<usize>,
        room: Room,
        folder: Option<&Path>,
    ) -> Result<Batch<'_>, Error> {
        let meetings = match &self.meetings {
            Meetings::Pairs { .. } => LoadedMeetings::Pairs,
            Meetings::Groups { groups, slots, .. }
                if numbers.len() == 1 && self.cost(numbers.start) > room.batch() =>
            {
                let own = self.extents.of(numbers.start);
                LoadedMeetings::Large(LargeShelves::write(groups, slots, own, room, folder)?)
            }
            Meetings::Groups { groups, slots, counts } => {
                self.load_shelves(&numbers, groups, slots, counts)?
            }
        };
        Ok(Batch { candidates: self, numbers, meetings })
    }

    fn load_shelves(
        &self,
        numbers: &Range<usize>,
        groups: &Groups,
        slots: &[u32],
        counts: &[(u32, u64)],
    ) -> Result<LoadedMeetings, Error> {
        let (mut shelf, mut member) = (0, 0);
        let mut ranges = Vec::with_capacity(numbers.len());
        let mut next_member = Vec::with_capacity(numbers.len());
        for &(shelves, members) in &counts[numbers.clone()] {
            ranges.push(shelf..shelf);
            next_member.push(member);
            shelf += shelves as usize;
            member += members as usize;
        }
        let mut shelves = vec![Shelf::default(); shelf];
        let mut members = vec![0; member];
        let wanted = self.extents.of_all(numbers);
        groups.for_each(|band, group| {
            let slot = slots[group[0] as usize];
            if !wanted.contains(&slot) {
                return;
            }
            let number = self.extents.holding(slot);
            let first = self.extents.of(number).start;
            let at = number - numbers.start;
            let begin = next_member[at];
            next_member[at] += group.len();
            for (out, &place) in members[begin..].iter_mut().zip(group) {
                *out = slots[place as usize] - first;
            }
            let range = &mut ranges[at];
            shelves[range.end] = Shelf { band, size: group.len() as u32, begin };
            range.end += 1;
        })?;
        Ok(LoadedMeetings::Shelves { ranges, shelves, members })
    }
}

impl Batch<'_> {
    /// One of its neighbourhoods, by its number among all of them.
    pub(crate) fn neighbourhood(&self, number: usize) -> NeighbourhoodRef<'_> {
        let meeting = match (&self.meetings, &self.candidates.meetings) {
            (LoadedMeetings::Shelves { ranges, shelves, members }, _) => {
                let shelves = &shelves[ranges[number - self.numbers.start].clone()];
                Meeting::Shelves(ShelvesRef { shelves, members })
            }
            (LoadedMeetings::Large(shelves), _) => Meeting::Large(shelves),
            (LoadedMeetings::Pairs, Meetings::Pairs { numbers, partners }) => {
                Meeting::Pairs(PairsRef { numbers: &numbers[self.candidates.range(number)], partners })
            }
            (LoadedMeetings::Pairs, Meetings::Groups { .. }) => {
                unreachable!("a batch is of its candidates' kind")
            }
        };
        NeighbourhoodRef { documents: self.candidates.documents(number), meeting }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::neighbourhood::tests::of_bands;
    use crate::memory::Memory;

    /// Of each neighbourhood, its documents, and the band and documents of each shelf.
    type Shown = Vec<(Vec<u32>, Vec<(u32, Vec<u32>)>)>;

    fn shown(candidates: &Candidates, room: Room) -> Shown {
        let mut all = vec![];
        for numbers in candidates.batches(0, room, false) {
            let batch = candidates.load(numbers.clone(), room, None).unwrap();
            for number in numbers {
                let neighbourhood = batch.neighbourhood(number);
                let shelves = match neighbourhood.meeting {
                    Meeting::Shelves(shelves) => shelves.iter().map(|(band, m)| (band, m.to_vec())).collect(),
                    Meeting::Large(large) => {
                        let mut shelves: Vec<(u32, Vec<u32>)> =
                            large.bands.iter().map(|&band| (band, vec![])).collect();
                        let mut own = vec![];
                        for document in 0..neighbourhood.documents.len() as u32 {
                            large.of(document, &mut own).unwrap();
                            for &shelf in &own {
                                shelves[shelf as usize].1.push(document);
                            }
                        }
                        shelves
                    }
                    Meeting::Pairs(_) => panic!("pairs"),
                };
                all.push((neighbourhood.documents.to_vec(), shelves));
            }
        }
        all
    }

    #[test]
    fn shelves_are_the_same_in_memory_and_on_disk() {
        let candidates = of_bands(&[&[&[4, 5], &[2, 6]], &[&[1, 4]]], 18);
        let expected =
            [(vec![1, 4, 5], vec![(0, vec![1, 2]), (1, vec![0, 1])]), (vec![2, 6], vec![(0, vec![0, 1])])];
        let all = Memory::default().room(1, 0);
        assert_eq!(candidates.batches(0, all, false), std::slice::from_ref(&(0..2)));
        assert_eq!(shown(&candidates, all), expected);
        // With no room at all, each is a batch of its own, and too large for it.
        let none = Room::none();
        assert_eq!(candidates.batches(0, none, false), [0..1, 1..2]);
        assert_eq!(candidates.batches(1, none, false), std::slice::from_ref(&(1..2)));
        assert_eq!(shown(&candidates, none), expected);
    }

    /// Loading a batch scans all groups, so the number of checkpoints must not grow with the corpus.
    #[test]
    fn checkpoints_are_bounded_in_number() {
        let pairs: Vec<[u32; 2]> = (0..1000).map(|pair| [2 * pair, 2 * pair + 1]).collect();
        let pairs: Vec<&[u32]> = pairs.iter().map(|pair| &pair[..]).collect();
        let mut candidates = of_bands(&[&pairs], 2000);
        let room = Memory::default().room(1, 0);
        let batches = |candidates: &Candidates, first| {
            let batches = candidates.batches(first, room, true);
            assert_eq!((batches[0].start, batches[batches.len() - 1].end), (first, 1000));
            batches.len() as u64
        };
        assert_eq!(batches(&candidates, 0), 1);
        candidates.text_bytes.fill(CHECKPOINT_BYTES / 10);
        assert!((50..=100).contains(&batches(&candidates, 0)), "as often as the text asks for");
        candidates.text_bytes.fill(100 * CHECKPOINT_BYTES);
        assert!(batches(&candidates, 0) <= CHECKPOINTS + 3, "{}", batches(&candidates, 0));
        assert!(batches(&candidates, 500) <= CHECKPOINTS / 2 + 3);
    }
}
