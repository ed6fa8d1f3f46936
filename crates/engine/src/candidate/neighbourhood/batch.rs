//! Batches: neighbourhoods of one cell whose shelves are in the memory of one thread. Clusterings and judges get one
//! neighbourhood of a batch as a [`NeighbourhoodRef`].

use std::ops::Range;
use std::path::Path;

use minwise::cluster::Neighbourhood;

use super::cells::CellGroups;
use super::large::LargeShelves;
use super::{Candidates, MeetingSource};
use crate::candidate::partners::Partners;
use crate::error::Error;

/// Number of bytes per shelf, without its documents.
const SHELF_BYTES: u64 = 48;
/// Number of bytes per document on a shelf.
const MEMBER_BYTES: u64 = 8;
/// Minimum number of bytes of text that a stretch between two checkpoints of a resumable run may have.
const CHECKPOINT_BYTES: u64 = 256 << 20;
/// Approximate maximum number of checkpoints of a run: a stretch may have 1/64 of all text, because more checkpoints
/// would take too long.
const CHECKPOINTS: u64 = 64;

/// Neighbourhoods of one cell that one thread loads together.
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
    /// Splits the neighbourhoods from number `first` on into stretches. With `checkpoints`, a stretch ends after a
    /// certain amount of text, and the run writes a checkpoint there, so that a killed run loses little work. Otherwise
    /// there is one stretch.
    pub(crate) fn stretches(&self, first: usize, checkpoints: bool) -> Vec<Range<usize>> {
        let mut stretches: Vec<Range<usize>> = vec![];
        let mut text = 0;
        let most_text = CHECKPOINT_BYTES.max(self.text_bytes.iter().sum::<u64>() / CHECKPOINTS);
        for number in first..self.len() {
            text += self.text_bytes[number];
            match stretches.last_mut() {
                Some(stretch) if !checkpoints || text <= most_text => stretch.end = number + 1,
                _ => {
                    text = self.text_bytes[number];
                    stretches.push(number..number + 1);
                }
            }
        }
        stretches
    }

    /// Splits a stretch into the batches that one thread each loads. A batch is in one cell.
    pub(crate) fn loads(&self, stretch: &Range<usize>) -> Vec<Range<usize>> {
        let mut loads = vec![];
        let mut first = stretch.start;
        while first < stretch.end {
            let end = self.cells.end(self.cells.of(first)).min(stretch.end);
            loads.push(first..end);
            first = end;
        }
        loads
    }

    /// Loads neighbourhoods of one cell. If a single neighbourhood takes more than `most_bytes` of memory, its shelves go
    /// to an unnamed file in `folder`.
    pub(crate) fn load(
        &self,
        numbers: Range<usize>,
        most_bytes: u64,
        folder: Option<&Path>,
    ) -> Result<NeighbourhoodBatch<'_>, Error> {
        let meetings = match &self.meetings {
            MeetingSource::Pairs { .. } => LoadedMeetings::Pairs,
            MeetingSource::Groups(groups) => {
                let cell = self.cells.of(numbers.start);
                let own = self.extents.of_all(&numbers);
                let mut counts = vec![(0, 0); numbers.len()];
                groups.for_each(cell, |group| {
                    if own.contains(&group[0]) {
                        let count: &mut (u32, u64) =
                            &mut counts[self.extents.holding(group[0]) - numbers.start];
                        count.0 += 1;
                        count.1 += group.len() as u64;
                    }
                })?;
                match &counts[..] {
                    [(shelves, members)]
                        if SHELF_BYTES * u64::from(*shelves) + MEMBER_BYTES * members > most_bytes =>
                    {
                        LoadedMeetings::Large(LargeShelves::write(groups, cell, own, most_bytes, folder)?)
                    }
                    _ => self.load_shelves(&numbers, groups, &counts)?,
                }
            }
        };
        Ok(NeighbourhoodBatch { candidates: self, numbers, meetings })
    }

    fn load_shelves(
        &self,
        numbers: &Range<usize>,
        groups: &CellGroups,
        counts: &[(u32, u64)],
    ) -> Result<LoadedMeetings, Error> {
        let (mut shelf, mut member) = (0, 0);
        let mut ranges = Vec::with_capacity(numbers.len());
        let mut next_member = Vec::with_capacity(numbers.len());
        for &(shelves, members) in counts {
            ranges.push(shelf..shelf);
            next_member.push(member);
            shelf += shelves as usize;
            member += members as usize;
        }
        let mut shelves = vec![Shelf::default(); shelf];
        let mut members = vec![0; member];
        let wanted = self.extents.of_all(numbers);
        groups.for_each(self.cells.of(numbers.start), |group| {
            if !wanted.contains(&group[0]) {
                return;
            }
            let number = self.extents.holding(group[0]);
            let first = self.extents.of(number).start;
            let at = number - numbers.start;
            let begin = next_member[at];
            next_member[at] += group.len();
            for (out, &slot) in members[begin..].iter_mut().zip(group) {
                *out = slot - first;
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
            (LoadedMeetings::Pairs, MeetingSource::Groups(_)) => {
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

    /// Documents of each neighbourhood, with the documents of each shelf.
    type ListedNeighbourhoods = Vec<(Vec<u32>, Vec<Vec<u32>>)>;

    fn shown(candidates: &Candidates, loads: &[Range<usize>], most_bytes: u64) -> ListedNeighbourhoods {
        let mut all = vec![];
        for numbers in loads.iter().cloned() {
            let batch = candidates.load(numbers.clone(), most_bytes, None).unwrap();
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
        assert_eq!(candidates.stretches(0, false), std::slice::from_ref(&(0..2)));
        assert_eq!(candidates.stretches(1, false), std::slice::from_ref(&(1..2)));
        assert_eq!(candidates.loads(&(0..2)), std::slice::from_ref(&(0..2)));
        assert_eq!(shown(&candidates, &candidates.loads(&(0..2)), u64::MAX), expected);
        // Without memory, a neighbourhood that is loaded alone goes to disk.
        for most_bytes in [0, u64::MAX] {
            assert_eq!(shown(&candidates, &[0..1, 1..2], most_bytes), expected);
        }
    }

    /// Every neighbourhood is in one range, and ranges have about as many documents as a cell should have.
    #[test]
    fn threads_load_cells() {
        let groups: Vec<Vec<u32>> = (0..300)
            .map(|at| 2 * at..2 * at + 2)
            .chain(std::iter::once(600..1000))
            .map(Iterator::collect)
            .collect();
        let groups: Vec<&[u32]> = groups.iter().map(|group| &group[..]).collect();
        let candidates = of_bands(&[&groups, &groups], 1000);
        let loads = candidates.loads(&(3..301));
        assert_eq!((loads[0].start, loads[loads.len() - 2].end), (3, 300));
        assert!(loads.windows(2).all(|two| two[0].end == two[1].start));
        assert!(loads[..loads.len() - 1].iter().all(|load| load.len() <= 32), "{loads:?}");
        // A neighbourhood of many documents is alone.
        assert_eq!(loads[loads.len() - 1], 300..301);
        let all = shown(&candidates, &loads, u64::MAX);
        assert_eq!(all.len(), 298);
        for (at, (documents, shelves)) in (3..).zip(&all) {
            assert_eq!(documents, groups[at]);
            assert_eq!(*shelves, vec![(0..documents.len() as u32).collect::<Vec<_>>(); 2]);
        }
    }

    /// Each checkpoint takes time, so their number must not grow with the corpus.
    #[test]
    fn checkpoints_are_bounded_in_number() {
        let pairs: Vec<[u32; 2]> = (0..1000).map(|pair| [2 * pair, 2 * pair + 1]).collect();
        let pairs: Vec<&[u32]> = pairs.iter().map(|pair| &pair[..]).collect();
        let mut candidates = of_bands(&[&pairs], 2000);
        let stretches = |candidates: &Candidates, first| {
            let stretches = candidates.stretches(first, true);
            assert_eq!((stretches[0].start, stretches[stretches.len() - 1].end), (first, 1000));
            stretches.len() as u64
        };
        assert_eq!(stretches(&candidates, 0), 1);
        candidates.text_bytes.fill(CHECKPOINT_BYTES / 10);
        assert!((50..=100).contains(&stretches(&candidates, 0)), "as often as the text asks for");
        candidates.text_bytes.fill(100 * CHECKPOINT_BYTES);
        assert!(stretches(&candidates, 0) <= CHECKPOINTS + 3, "{}", stretches(&candidates, 0));
        assert!(stretches(&candidates, 500) <= CHECKPOINTS / 2 + 3);
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
