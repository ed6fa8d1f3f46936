//! Neighbourhoods: connected components of the candidate graph.
//!
//! Documents that are candidates, directly or through others, are in one neighbourhood. Decisions in a neighbourhood do
//! not depend on other neighbourhoods. A neighbourhood is therefore the unit of parallel work, and of the decisions
//! that a resumable run saves.
//!
//! | file | does |
//! |---|---|
//! | `mod` | lists all neighbourhoods of a run, as numbered components with their members: [`Candidates`] |
//! | `cells` | divides neighbourhoods into cells, and spreads the groups over them |
//! | `batch` | loads neighbourhoods of one cell, and returns one of them: [`NeighbourhoodRef`] |
//! | `large` | keeps the shelves of a neighbourhood on disk, if they do not fit into memory |

mod batch;
mod cells;
mod large;

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use minwise::cluster::{Forest, SharedForest};

use self::cells::{CellGroups, Cells};

use crate::candidate::groups::{Groups, groups_in};
use crate::candidate::order::KeeperOrder;
use crate::candidate::partners::{CandidatePairs, Partners};
use crate::candidate::screen::Screened;
use crate::error::Error;
use crate::parallel;
use crate::read::documents::Documents;

pub(crate) use self::batch::{Meeting, NeighbourhoodBatch, NeighbourhoodRef};

/// All neighbourhoods of a run, with the shelves or pairs that connect their documents.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// Ranges of the slots of each neighbourhood.
    extents: Extents,
    /// Documents of all neighbourhoods, one neighbourhood after the other. The index of a document in this list is its
    /// *slot*.
    documents: Vec<u32>,
    /// Number of bytes of text per neighbourhood.
    text_bytes: Vec<u64>,
    cells: Cells,
    meetings: MeetingSource,
    /// Counts of the pairs that the filter rejected while candidates were searched.
    screened: Screened,
}

/// Source of the candidates: shelves or pairs.
#[derive(Debug)]
enum MeetingSource {
    /// Candidates share a shelf of a band.
    Groups(CellGroups),
    /// Candidates were found as pairs. `numbers` has, for each slot, the number of its document in `partners`.
    Pairs { numbers: Vec<u32>, partners: Partners },
}

impl Candidates {
    /// Builds the neighbourhoods from the groups of all bands, with several threads. If the groups are on disk, other
    /// data go to unnamed files in `folder`.
    pub(crate) fn of_groups(
        groups: &Groups,
        order: &KeeperOrder,
        documents: &Documents,
        threads: usize,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let forest = SharedForest::new(order.len());
        let join = |block: &mut Vec<u32>, chunk: usize| -> Result<(), Error> {
            for (_, group) in groups_in(groups.chunk(chunk, block)?) {
                group[1..].iter().for_each(|&place| forest.join(group[0], place));
            }
            Ok(())
        };
        parallel::in_order(groups.chunks(), threads, Vec::new, join, |()| Ok(()))?;
        let mut forest = forest.into_forest();
        let Components { extents, members, slots } = Components::new(&mut forest, order.len());
        drop(forest);
        let slot_of = |document| slots[order.place(document) as usize];
        let text_bytes = text_bytes(documents, &extents, slot_of, threads)?;
        let cells = Cells::new(&extents, &text_bytes);
        let groups = CellGroups::spread(groups, &slots, &extents, &cells, threads, folder)?;
        let documents = members.iter().map(|&place| order.document(place)).collect();
        let (meetings, screened) = (MeetingSource::Groups(groups), Screened::default());
        Ok(Self { extents, documents, text_bytes, cells, meetings, screened })
    }

    /// Builds the neighbourhoods from pairs. The numbers in `pairs` are indices into `taken`, which has documents in
    /// keeper order. `screened` counts the pairs that the search rejected.
    pub(crate) fn of_pairs(
        mut pairs: CandidatePairs<'_>,
        taken: &[u32],
        screened: Screened,
        documents: &Documents,
        threads: usize,
    ) -> Result<Self, Error> {
        let Components { extents, members, slots } = Components::new(pairs.forest(), taken.len());
        let partners = pairs.finish(|member| {
            let slot = slots[member as usize];
            slot - extents.of(extents.holding(slot)).start
        })?;
        let mut slot_of = vec![NONE; documents.len()];
        for (&document, &slot) in taken.iter().zip(&slots) {
            slot_of[document as usize] = slot;
        }
        let text_bytes = text_bytes(documents, &extents, |document| slot_of[document as usize], threads)?;
        let cells = Cells::new(&extents, &text_bytes);
        let documents = members.iter().map(|&member| taken[member as usize]).collect();
        let meetings = MeetingSource::Pairs { numbers: members, partners };
        Ok(Self { extents, documents, text_bytes, cells, meetings, screened })
    }

    /// Returns the number of neighbourhoods.
    pub(crate) fn len(&self) -> usize {
        self.extents.len()
    }

    fn range(&self, number: usize) -> Range<usize> {
        let slots = self.extents.of(number);
        slots.start as usize..slots.end as usize
    }

    /// Returns the documents of a neighbourhood, in keeper order.
    pub(crate) fn documents(&self, number: usize) -> &[u32] {
        &self.documents[self.range(number)]
    }

    /// Returns the number of bytes of text in a neighbourhood.
    pub(crate) fn text_bytes(&self, number: usize) -> u64 {
        self.text_bytes[number]
    }

    /// Returns the counts of the pairs that the filter rejected while candidates were searched.
    pub(crate) fn screened(&self) -> Screened {
        self.screened
    }

    /// Returns the documents of all neighbourhoods.
    pub(crate) fn all_documents(&self) -> &[u32] {
        &self.documents
    }

    /// Returns, for each neighbourhood of `numbers`, an upper bound of its number of pairs. A document counts as
    /// `copies` documents. `numbers` must be ascending.
    pub(crate) fn most_pairs(
        &self,
        numbers: &[usize],
        copies: impl Fn(u32) -> u64,
    ) -> Result<Vec<(usize, u64)>, Error> {
        let mut sums: Vec<(usize, u64)> = numbers.iter().map(|&number| (number, 0)).collect();
        if numbers.is_empty() {
            return Ok(sums);
        }
        let choose_two = |n: u64| n.saturating_mul(n.saturating_sub(1)) / 2;
        match &self.meetings {
            MeetingSource::Groups(groups) => {
                let cell_of = |sum: &(usize, u64)| self.cells.of(sum.0);
                for sums in sums.chunk_by_mut(|a, b| cell_of(a) == cell_of(b)) {
                    groups.for_each(cell_of(&sums[0]), |group| {
                        let number = self.extents.holding(group[0]);
                        if let Ok(at) = sums.binary_search_by_key(&number, |sum| sum.0) {
                            let documents = group.iter().map(|&slot| self.documents[slot as usize]);
                            let pairs = choose_two(documents.map(&copies).sum());
                            sums[at].1 = sums[at].1.saturating_add(pairs);
                        }
                    })?;
                }
            }
            MeetingSource::Pairs { numbers, partners } => {
                let mut found = vec![];
                for (number, sum) in &mut sums {
                    let range = self.range(*number);
                    let documents = &self.documents[range.clone()];
                    for (at, &number) in numbers[range].iter().enumerate() {
                        partners.of(number, &mut found)?;
                        let before = found.iter().take_while(|&&partner| (partner as usize) < at);
                        let others: u64 = before.map(|&partner| copies(documents[partner as usize])).sum();
                        let own = copies(documents[at]);
                        *sum = sum.saturating_add(choose_two(own) + own * others);
                    }
                }
            }
        }
        Ok(sums)
    }
}

/// Returns the number of bytes of text per neighbourhood. `slot` returns the slot of a document.
fn text_bytes(
    documents: &Documents,
    extents: &Extents,
    slot: impl Fn(u32) -> u32 + Sync,
    threads: usize,
) -> Result<Vec<u64>, Error> {
    let bytes: Vec<AtomicU64> = (0..extents.len()).map(|_| AtomicU64::new(0)).collect();
    let stretches = documents.stretches_for(threads);
    let work = |(): &mut (), stretch: usize| {
        documents.places_of(&stretches[stretch], |document, place| {
            let slot = slot(document);
            if slot != NONE {
                bytes[extents.holding(slot)].fetch_add(u64::from(place.len), Ordering::Relaxed);
            }
        })
    };
    parallel::in_order(stretches.len(), threads, || (), work, |()| Ok::<(), Error>(()))?;
    Ok(bytes.into_iter().map(AtomicU64::into_inner).collect())
}

/// Slot of a member that is alone in its component.
pub(crate) const NONE: u32 = u32::MAX;

/// Connected components with more than one member, in the order of their first members.
pub(super) struct Components {
    pub(super) extents: Extents,
    /// Members of all components, ascending within each component.
    pub(super) members: Vec<u32>,
    /// Slot of each node of the forest: its index in `members`, or [`NONE`].
    pub(super) slots: Vec<u32>,
}

impl Components {
    /// Lists the components of a forest with `nodes` nodes.
    pub(super) fn new(forest: &mut Forest, nodes: usize) -> Self {
        // The root of a tree is its first node, so this loop reaches trees in the order of their first members. The
        // entry of a root is the size of its tree at first, and then the first slot of its members.
        let mut slots = vec![0u32; nodes];
        for node in 0..nodes as u32 {
            slots[forest.first(node) as usize] += 1;
        }
        let mut ends = vec![];
        let mut end = 0;
        for slot in &mut slots {
            match *slot {
                0 | 1 => *slot = NONE,
                size => {
                    *slot = end;
                    end += size;
                    ends.push(end);
                }
            }
        }
        let mut next = ends.clone();
        let extents = Extents::new(ends);
        let mut members = vec![0; end as usize];
        // The loop runs backwards, because the root, which is the first node of its tree, must keep the first slot
        // until all other members have their slots.
        for node in (0..nodes as u32).rev() {
            let root = forest.first(node) as usize;
            if slots[root] == NONE {
                continue;
            }
            let component = extents.holding(slots[root]);
            next[component] -= 1;
            members[next[component] as usize] = node;
            slots[node as usize] = next[component];
        }
        Self { extents, members, slots }
    }
}

/// Ranges of the components in the list of all members.
#[derive(Debug)]
pub(super) struct Extents {
    ends: Vec<u32>,
    /// Number of the component of each slot.
    numbers: Vec<u32>,
}

impl Extents {
    fn new(ends: Vec<u32>) -> Self {
        let mut numbers = Vec::with_capacity(ends.last().map_or(0, |&end| end as usize));
        for (number, &end) in (0..).zip(&ends) {
            numbers.resize(end as usize, number);
        }
        Self { ends, numbers }
    }

    /// Returns the number of components.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the slots of the members of a component.
    pub(super) fn of(&self, number: usize) -> Range<u32> {
        self.of_all(&(number..number + 1))
    }

    /// Returns the slots of the members of consecutive components.
    pub(super) fn of_all(&self, numbers: &Range<usize>) -> Range<u32> {
        let end_before = |number: usize| number.checked_sub(1).map_or(0, |before| self.ends[before]);
        end_before(numbers.start)..end_before(numbers.end)
    }

    /// Returns the number of the component that contains a slot.
    pub(super) fn holding(&self, slot: u32) -> usize {
        self.numbers[slot as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::groups::{NewGroups, push};
    use crate::memory::WorkingMemory;
    use crate::read::documents::RowShape;

    pub(super) fn documents(number: u32) -> Documents {
        Documents::of_places(RowShape { words: 1, placed_words: None, rank_words: 0 }, number)
    }

    /// Returns the neighbourhoods of `number` documents in input order, given the groups of each band.
    pub(super) fn of_bands(bands: &[&[&[u32]]], number: u32) -> Candidates {
        let mut new = NewGroups::new(u64::MAX / 2, None, None).unwrap();
        for (band, groups) in bands.iter().enumerate() {
            for group in *groups {
                let mut words = vec![];
                push(&mut words, band, group.iter().copied());
                new.add(&words).unwrap();
            }
        }
        let order = KeeperOrder::of_input(number as usize);
        Candidates::of_groups(&new.finish().unwrap(), &order, &documents(number), 2, None).unwrap()
    }

    #[test]
    fn groups_become_neighbourhoods_in_keeper_order() {
        // Places 1, 4 and 5 are connected through two bands, places 2 and 6 through one. All other places are alone.
        let candidates = of_bands(&[&[&[4, 5], &[2, 6]], &[&[1, 4]]], 18);
        assert_eq!((candidates.len(), candidates.all_documents()), (2, &[1, 4, 5, 2, 6][..]));
        assert_eq!((candidates.documents(0), candidates.documents(1)), (&[1, 4, 5][..], &[2, 6][..]));
        assert_eq!((candidates.text_bytes(0), candidates.text_bytes(1)), (10 + 40 + 50, 20 + 60));
    }

    #[test]
    fn pairs_become_neighbourhoods_in_keeper_order() {
        let both_ways = vec![false, true, false, false, false, false, false, false];
        let mut pairs = CandidatePairs::new(both_ways, WorkingMemory::none(), 1, None);
        pairs.add(&[(4, 5), (2, 6), (4, 1)]).unwrap();
        let order = [10, 11, 12, 13, 14, 15, 16, 17];
        let candidates = Candidates::of_pairs(pairs, &order, Screened::default(), &documents(18), 1).unwrap();
        let batch = candidates.load(0..2, 0, None).unwrap();
        let all: Vec<_> = (0..candidates.len())
            .map(|number| {
                let neighbourhood = batch.neighbourhood(number);
                let Meeting::Pairs(pairs) = neighbourhood.meeting else { panic!("shelves") };
                let partners = (0..neighbourhood.documents.len() as u32).map(|document| {
                    let mut partners = vec![];
                    pairs.partners(document, &mut partners).unwrap();
                    partners
                });
                (neighbourhood.documents.to_vec(), partners.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            all,
            [(vec![11, 14, 15], vec![vec![1], vec![0], vec![1]]), (vec![12, 16], vec![vec![], vec![0]])]
        );
    }

    #[test]
    fn nobody_meets() {
        let candidates = of_bands(&[], 18);
        assert_eq!((candidates.len(), candidates.all_documents().len()), (0, 0));
        let pairs = CandidatePairs::new(vec![false; 3], WorkingMemory::none(), 1, None);
        let candidates =
            Candidates::of_pairs(pairs, &[0, 1, 2], Screened::default(), &documents(18), 2).unwrap();
        assert_eq!((candidates.len(), candidates.all_documents().len()), (0, 0));
    }

    #[test]
    fn components_are_listed_by_their_first_members() {
        let mut forest = Forest::new(8);
        for (a, b) in [(4, 5), (2, 6), (4, 1)] {
            forest.join(a, b);
        }
        let Components { extents, members, slots } = Components::new(&mut forest, 8);
        assert_eq!(members, [1, 4, 5, 2, 6]);
        assert_eq!(slots, [NONE, 0, 3, NONE, 1, 2, 4, NONE]);
        assert_eq!((extents.len(), extents.of(0), extents.of(1)), (2, 0..3, 3..5));
        assert_eq!((extents.of_all(&(0..2)), extents.of_all(&(2..2))), (0..5, 5..5));
        assert_eq!([0, 2, 3, 4].map(|slot| extents.holding(slot)), [0, 0, 1, 1]);
    }

    #[test]
    fn a_forest_without_edges_has_no_components() {
        let Components { extents, members, slots } = Components::new(&mut Forest::new(2), 2);
        assert_eq!((extents.len(), members, slots), (0, vec![], vec![NONE; 2]));
    }
}
