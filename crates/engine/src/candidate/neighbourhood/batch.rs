//! Batches: neighbourhoods whose shelves are in memory at the same time. Clusterings and judges get one neighbourhood
//! of a batch as a [`NeighbourhoodRef`].

use std::ops::Range;
use std::path::Path;

use minwise::cluster::Neighbourhood;

use super::large::LargeShelves;
use super::{Candidates, MeetingSource};
use crate::candidate::groups::Groups;
use crate::candidate::partners::Partners;
use crate::error::Error;
use crate::memory::WorkingMemory;

/// Number of bytes per neighbourhood in a batch, without its shelves.
const NEIGHBOURHOOD_BYTES: u64 = 512;
/// Number of bytes per shelf, without its documents.
const SHELF_BYTES: u64 = 48;
/// Number of bytes per document on a shelf.
const MEMBER_BYTES: u64 = 8;
/// Number of bytes of text after which a resumable run ends a batch. The end of a batch is a checkpoint.
const CHECKPOINT_BYTES: u64 = 256 << 20;
/// The text of a batch ends it only above [`CHECKPOINT_BYTES`], and only above all text divided by this number. So
/// texts end fewer than twice this number of batches. More would take too long, because loading a batch scans all
/// groups.
const CHECKPOINTS: u64 = 64;

/// Neighbourhoods that are loaded together.
#[derive(Debug)]
pub(crate) struct NeighbourhoodBatch<'a> {
    candidates: &'a Candidates,
    numbers: Range<usize>,
    meetings: LoadedMeetings,
}

#[derive(Debug)]
enum LoadedMeetings {
    Shelves {
        /// Range of the shelves of each neighbourhood in `shelves`.
        ranges: Vec<Range<usize>>,
        shelves: Vec<Shelf>,
        members: Vec<u32>,
    },
    /// Shelves of a neighbourhood that is the whole batch, on disk because the shelves do not fit into memory.
    Large(LargeShelves),
    /// Pairs are not loaded, because they are read where the search has stored them.
    Pairs,
}

impl Candidates {
    /// Splits the neighbourhoods from number `first` on into batches that fit into memory. With `checkpoints`, a batch
    /// also ends after a certain amount of text, so that a killed run loses little work.
    pub(crate) fn batches(&self, first: usize, room: WorkingMemory, checkpoints: bool) -> Vec<Range<usize>> {
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

    /// Returns the number of bytes that a neighbourhood takes in a batch.
    fn cost(&self, number: usize) -> u64 {
        match &self.meetings {
            MeetingSource::Pairs { .. } => NEIGHBOURHOOD_BYTES,
            MeetingSource::Groups { counts, .. } => {
                let (shelves, members) = counts[number];
                NEIGHBOURHOOD_BYTES + SHELF_BYTES * u64::from(shelves) + MEMBER_BYTES * members
            }
        }
    }

    /// Loads a batch. If the batch is one neighbourhood that does not fit into memory, its shelves go to an unnamed
    /// file in `folder`.
    pub(crate) fn load(
        &self,
        numbers: Range<usize>,
        room: WorkingMemory,
        folder: Option<&Path>,
    ) -> Result<NeighbourhoodBatch<'_>, Error> {
        let meetings = match &self.meetings {
            MeetingSource::Pairs { .. } => LoadedMeetings::Pairs,
            MeetingSource::Groups { groups, slots, .. }
                if numbers.len() == 1 && self.cost(numbers.start) > room.batch() =>
            {
                let own = self.extents.of(numbers.start);
                LoadedMeetings::Large(LargeShelves::write(groups, slots, own, room, folder)?)
            }
            MeetingSource::Groups { groups, slots, counts } => {
                self.load_shelves(&numbers, groups, slots, counts)?
            }
        };
        Ok(NeighbourhoodBatch { candidates: self, numbers, meetings })
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
        groups.for_each(|_, group| {
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
            shelves[range.end] = Shelf { size: group.len() as u32, begin };
            range.end += 1;
        })?;
        Ok(LoadedMeetings::Shelves { ranges, shelves, members })
    }
}

impl NeighbourhoodBatch<'_> {
    /// Returns a neighbourhood of the batch, given its number among all neighbourhoods.
    pub(crate) fn neighbourhood(&self, number: usize) -> NeighbourhoodRef<'_> {
        let meeting = match (&self.meetings, &self.candidates.meetings) {
            (LoadedMeetings::Shelves { ranges, shelves, members }, _) => {
                let shelves = &shelves[ranges[number - self.numbers.start].clone()];
                Meeting::Shelves(ShelvesRef { shelves, members })
            }
            (LoadedMeetings::Large(shelves), _) => Meeting::Large(shelves),
            (LoadedMeetings::Pairs, MeetingSource::Pairs { numbers, partners }) => {
                Meeting::Pairs(PairsRef { numbers: &numbers[self.candidates.range(number)], partners })
            }
            (LoadedMeetings::Pairs, MeetingSource::Groups { .. }) => {
                unreachable!("a batch is of its candidates' kind")
            }
        };
        NeighbourhoodRef { documents: self.candidates.documents(number), meeting }
    }
}

/// Neighbourhood of a loaded batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeighbourhoodRef<'a> {
    /// Documents of the neighbourhood, in keeper order.
    pub documents: &'a [u32],
    /// Shelves or pairs that connect the documents.
    pub meeting: Meeting<'a>,
}

/// Shelves or pairs of a neighbourhood. The documents of the neighbourhood are numbered in keeper order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meeting<'a> {
    /// Shelves in memory.
    Shelves(ShelvesRef<'a>),
    /// Shelves in a temporary file.
    Large(&'a LargeShelves),
    Pairs(PairsRef<'a>),
}

impl NeighbourhoodRef<'_> {
    /// Returns the neighbourhood in the form that a clustering takes. A shelf takes at most `most` documents.
    pub(crate) fn neighbourhood(&self, most: usize) -> Neighbourhood {
        let documents = self.documents.len();
        match self.meeting {
            Meeting::Pairs(_) => Neighbourhood::of_pairs(documents),
            Meeting::Large(shelves) => Neighbourhood::of_shelves(documents, shelves.shelves),
            // Most neighbourhoods have two documents, and each of their shelves holds both, so one shelf is enough.
            Meeting::Shelves(shelves) if documents == 2 && most >= 2 => {
                Neighbourhood::new(documents, shelves.iter().take(1))
            }
            Meeting::Shelves(shelves) => Neighbourhood::new(documents, shelves.distinct(most).into_iter()),
        }
    }
}

/// Shelf in memory, as a range of the members of a batch.
#[derive(Debug, Default, Clone, Copy)]
struct Shelf {
    size: u32,
    begin: usize,
}

/// Shelves of a neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShelvesRef<'a> {
    shelves: &'a [Shelf],
    /// Documents on all shelves of a batch.
    members: &'a [u32],
}

impl<'a> ShelvesRef<'a> {
    /// Returns the documents on each shelf, in ascending order.
    fn iter(self) -> impl Iterator<Item = &'a [u32]> + Clone {
        self.shelves.iter().map(move |shelf| self.members(shelf))
    }

    fn members(self, shelf: &Shelf) -> &'a [u32] {
        &self.members[shelf.begin..shelf.begin + shelf.size as usize]
    }

    /// Returns the shelves without repeats: if shelves of several bands hold the same documents, only the first of
    /// these shelves stays. Shelves with more than `most` documents all stay, because the expected recall counts full
    /// shelves.
    fn distinct(self, most: usize) -> Vec<&'a [u32]> {
        let members = |at: &u32| self.members(&self.shelves[*at as usize]);
        let small = |at: &u32| members(at).len() <= most;
        let mut by_members: Vec<u32> = (0..self.shelves.len() as u32).filter(small).collect();
        by_members.sort_unstable_by_key(|at| (members(at), *at));
        by_members.dedup_by_key(|at| members(at));
        by_members.sort_unstable();
        let mut first = by_members.into_iter().peekable();
        let all = (0..).zip(self.iter());
        all.filter(|(at, _)| !small(at) || first.next_if_eq(at).is_some()).map(|(_, shelf)| shelf).collect()
    }
}

/// Pairs of a neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairsRef<'a> {
    /// Number of each document of the neighbourhood in `partners`.
    numbers: &'a [u32],
    partners: &'a Partners,
}

impl PairsRef<'_> {
    /// Fills `out` with the candidates of a document, in ascending order: the candidates before it and, if other
    /// documents equal it, the candidates after it.
    pub(crate) fn partners(self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        self.partners.of(self.numbers[document as usize], out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::neighbourhood::tests::of_bands;
    use crate::memory::MemoryLimit;

    /// Documents of each neighbourhood, with the documents of each shelf.
    type ListedNeighbourhoods = Vec<(Vec<u32>, Vec<Vec<u32>>)>;

    fn shown(candidates: &Candidates, room: WorkingMemory) -> ListedNeighbourhoods {
        let mut all = vec![];
        for numbers in candidates.batches(0, room, false) {
            let batch = candidates.load(numbers.clone(), room, None).unwrap();
            for number in numbers {
                let neighbourhood = batch.neighbourhood(number);
                let shelves = match neighbourhood.meeting {
                    Meeting::Shelves(shelves) => shelves.iter().map(<[u32]>::to_vec).collect(),
                    Meeting::Large(large) => {
                        let mut shelves: Vec<Vec<u32>> = vec![vec![]; large.shelves];
                        let mut own = vec![];
                        for document in 0..neighbourhood.documents.len() as u32 {
                            large.of(document, &mut own).unwrap();
                            for &shelf in &own {
                                shelves[shelf as usize].push(document);
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
        let expected = [(vec![1, 4, 5], vec![vec![1, 2], vec![0, 1]]), (vec![2, 6], vec![vec![0, 1]])];
        let all = MemoryLimit::default().room(1, 0);
        assert_eq!(candidates.batches(0, all, false), std::slice::from_ref(&(0..2)));
        assert_eq!(shown(&candidates, all), expected);
        // Without memory, each neighbourhood is a batch of its own, and too large to be held.
        let none = WorkingMemory::none();
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
        let room = MemoryLimit::default().room(1, 0);
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

    #[test]
    fn shelves_with_the_same_documents_are_taken_once() {
        let all: [&[u32]; 5] = [&[0, 1], &[2, 3], &[0, 1, 2], &[2, 3], &[0, 1]];
        let members: Vec<u32> = all.concat();
        let mut begin = 0;
        let shelves = all.map(|members| {
            let shelf = Shelf { size: members.len() as u32, begin };
            begin += members.len();
            shelf
        });
        let shelves = ShelvesRef { shelves: &shelves, members: &members };
        assert_eq!(shelves.distinct(2), [&[0, 1][..], &[2, 3], &[0, 1, 2]]);
        assert_eq!(shelves.distinct(1), all);
    }
}
