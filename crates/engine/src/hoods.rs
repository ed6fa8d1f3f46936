//! Neighbourhoods: documents that meet, directly or through others, so that what is decided in one does not depend on
//! another.

use std::ops::Range;

use minwise::cluster::Forest;

use crate::error::Error;
use crate::partners::{Pairs, Partners};
use crate::screen::Screened;

/// All neighbourhoods, and how the documents of each meet.
#[derive(Debug)]
pub(crate) struct Candidates {
    hoods: Vec<Range<usize>>,
    documents: Vec<u32>,
    meetings: Meetings,
    /// What the filter put aside before.
    screened: Screened,
}

/// How documents meet.
#[derive(Debug)]
enum Meetings {
    /// On shelves of bands, of which each neighbourhood has a range.
    Shelves { ranges: Vec<Range<usize>>, shelves: Vec<Shelved>, members: Vec<u32> },
    /// As pairs. Of each document, its number there.
    Pairs { numbers: Vec<u32>, partners: Partners },
}

#[derive(Debug, Default, Clone)]
struct Shelved {
    band: u32,
    members: Range<usize>,
}

/// One neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoodRef<'a> {
    /// Its documents, in keeper order.
    pub documents: &'a [u32],
    /// How they meet.
    pub meeting: Meeting<'a>,
}

/// How the documents of a neighbourhood meet. They are numbered in keeper order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meeting<'a> {
    Shelves(ShelvesRef<'a>),
    Pairs(PairsRef<'a>),
}

/// The shelves of a neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShelvesRef<'a> {
    shelves: &'a [Shelved],
    members: &'a [u32],
}

impl<'a> ShelvesRef<'a> {
    /// The band of each, and the documents on it, ascending.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u32, &'a [u32])> + Clone {
        self.shelves.iter().map(move |shelf| (shelf.band, &self.members[shelf.members.clone()]))
    }
}

/// The pairs of a neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairsRef<'a> {
    numbers: &'a [u32],
    partners: &'a Partners,
}

impl PairsRef<'_> {
    /// Fills `out` with the candidates of a document, ascending: those before it, and those after it if it has equals.
    pub(crate) fn partners(self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        self.partners.of(self.numbers[document as usize], out)
    }
}

impl Candidates {
    /// How many neighbourhoods there are.
    pub(crate) fn len(&self) -> usize {
        self.hoods.len()
    }

    /// One of them.
    pub(crate) fn hood(&self, number: usize) -> HoodRef<'_> {
        let documents = self.hoods[number].clone();
        let meeting = match &self.meetings {
            Meetings::Shelves { ranges, shelves, members } => {
                Meeting::Shelves(ShelvesRef { shelves: &shelves[ranges[number].clone()], members })
            }
            Meetings::Pairs { numbers, partners } => {
                Meeting::Pairs(PairsRef { numbers: &numbers[documents.clone()], partners })
            }
        };
        HoodRef { documents: &self.documents[documents], meeting }
    }

    /// What the filter did while they were looked for.
    pub(crate) fn screened(&self) -> Screened {
        self.screened
    }

    /// Documents in all of them together.
    pub(crate) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Gathers the groups of all bands, given the documents in keeper order.
    pub(crate) fn of_groups(bands: &[BandGroups], order: &[u32]) -> Self {
        let mut forest = Forest::new(order.len());
        for band in bands {
            band.for_each(|group| {
                for &place in &group[1..] {
                    forest.join(group[0], place);
                }
            });
        }
        let gathered = Gathered::new(&mut forest, order.len());
        let documents = gathered.members.iter().map(|&place| order[place as usize]).collect();
        let meetings = shelve(bands, &gathered);
        Self { hoods: gathered.hoods, documents, meetings, screened: Screened::default() }
    }

    /// Gathers pairs, given the documents by their numbers there, which are in keeper order; `screened` was put aside before.
    pub(crate) fn of_pairs(mut pairs: Pairs<'_>, order: &[u32], screened: Screened) -> Result<Self, Error> {
        let Gathered { hoods, number, members, .. } = Gathered::new(pairs.forest(), order.len());
        let partners = pairs.finish(|document| number[document as usize])?;
        let documents = members.iter().map(|&document| order[document as usize]).collect();
        Ok(Self { hoods, documents, meetings: Meetings::Pairs { numbers: members, partners }, screened })
    }
}

/// The documents of one band that are not alone with their key, by place in keeper order.
#[derive(Debug, Default)]
pub(crate) struct BandGroups {
    sizes: Vec<u32>,
    places: Vec<u32>,
}

impl BandGroups {
    /// Adds documents with one key.
    pub(crate) fn push(&mut self, places: impl ExactSizeIterator<Item = u32>) {
        self.sizes.push(places.len() as u32);
        self.places.extend(places);
    }

    fn for_each(&self, mut visit: impl FnMut(&[u32])) {
        let mut begin = 0;
        for &size in &self.sizes {
            let end = begin + size as usize;
            visit(&self.places[begin..end]);
            begin = end;
        }
    }
}

/// The neighbourhood of a member that has none.
const NONE: u32 = u32::MAX;

/// The trees of a forest that have more than one member, in the order of their first members.
struct Gathered {
    /// Where the members of each are.
    hoods: Vec<Range<usize>>,
    /// The members, ascending within each.
    members: Vec<u32>,
    /// For each member of the forest, the neighbourhood and the number within.
    hood: Vec<u32>,
    number: Vec<u32>,
}

impl Gathered {
    fn new(forest: &mut Forest, all: usize) -> Self {
        // A root is the first of its tree, so going through all in order numbers trees in order.
        let mut sizes = vec![0u32; all];
        for member in 0..all as u32 {
            sizes[forest.first(member) as usize] += 1;
        }
        let mut hood = vec![NONE; all];
        let mut hoods: Vec<Range<usize>> = vec![];
        let mut end = 0;
        for member in 0..all {
            if sizes[member] > 1 {
                hood[member] = hoods.len() as u32;
                hoods.push(end..end);
                end += sizes[member] as usize;
            }
        }
        drop(sizes);
        let mut members = vec![0; end];
        let mut number = vec![0; all];
        for member in 0..all as u32 {
            let of = hood[forest.first(member) as usize];
            hood[member as usize] = of;
            if of != NONE {
                let range = &mut hoods[of as usize];
                members[range.end] = member;
                number[member as usize] = range.len() as u32;
                range.end += 1;
            }
        }
        Self { hoods, members, hood, number }
    }
}

/// The shelves of all neighbourhoods.
fn shelve(bands: &[BandGroups], gathered: &Gathered) -> Meetings {
    let hood_of = |group: &[u32]| gathered.hood[group[0] as usize] as usize;
    let mut counts = vec![(0usize, 0usize); gathered.hoods.len()];
    for band in bands {
        band.for_each(|group| {
            let count = &mut counts[hood_of(group)];
            count.0 += 1;
            count.1 += group.len();
        });
    }
    let (mut shelf, mut member) = (0, 0);
    let mut ranges = Vec::with_capacity(counts.len());
    for count in &mut counts {
        ranges.push(shelf..shelf);
        shelf += count.0;
        count.0 = member;
        member += count.1;
    }
    let mut shelves = vec![Shelved::default(); shelf];
    let mut members = vec![0; member];
    for (band, groups) in (0..).zip(bands) {
        groups.for_each(|group| {
            let hood = hood_of(group);
            let begin = counts[hood].0;
            counts[hood].0 += group.len();
            let slots = &mut members[begin..begin + group.len()];
            for (slot, &place) in slots.iter_mut().zip(group) {
                *slot = gathered.number[place as usize];
            }
            let range: &mut Range<usize> = &mut ranges[hood];
            shelves[range.end] = Shelved { band, members: begin..begin + group.len() };
            range.end += 1;
        });
    }
    Meetings::Shelves { ranges, shelves, members }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(all: &[&[u32]]) -> BandGroups {
        let mut groups = BandGroups::default();
        for group in all {
            groups.push(group.iter().copied());
        }
        groups
    }

    #[test]
    fn groups_become_neighbourhoods_in_keeper_order() {
        // Places 1, 4 and 5 hang together through two bands, 2 and 6 in one; 0, 3 and 7 are alone.
        let bands = [groups(&[&[4, 5], &[2, 6]]), groups(&[&[1, 4]])];
        let order = [10, 11, 12, 13, 14, 15, 16, 17];
        let candidates = Candidates::of_groups(&bands, &order);
        let hoods: Vec<_> = (0..candidates.len())
            .map(|number| {
                let hood = candidates.hood(number);
                let Meeting::Shelves(shelves) = hood.meeting else { panic!("pairs") };
                let shelves: Vec<_> = shelves.iter().map(|(band, m)| (band, m.to_vec())).collect();
                (hood.documents.to_vec(), shelves)
            })
            .collect();
        assert_eq!(
            hoods,
            [
                (vec![11, 14, 15], vec![(0, vec![1, 2]), (1, vec![0, 1])]),
                (vec![12, 16], vec![(0, vec![0, 1])]),
            ]
        );
        assert_eq!(candidates.documents(), 5);
    }

    #[test]
    fn pairs_become_neighbourhoods_in_keeper_order() {
        let mut pairs = Pairs::new(vec![false, true, false, false, false, false, false, false], 1, None);
        pairs.add(&[(4, 5), (2, 6), (4, 1)]).unwrap();
        let order = [10, 11, 12, 13, 14, 15, 16, 17];
        let candidates = Candidates::of_pairs(pairs, &order, Screened::default()).unwrap();
        let hoods: Vec<_> = (0..candidates.len())
            .map(|number| {
                let hood = candidates.hood(number);
                let Meeting::Pairs(pairs) = hood.meeting else { panic!("shelves") };
                let partners = (0..hood.documents.len() as u32).map(|document| {
                    let mut partners = vec![];
                    pairs.partners(document, &mut partners).unwrap();
                    partners
                });
                (hood.documents.to_vec(), partners.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            hoods,
            [(vec![11, 14, 15], vec![vec![1], vec![0], vec![1]]), (vec![12, 16], vec![vec![], vec![0]])]
        );
    }

    #[test]
    fn nobody_meets() {
        let candidates = Candidates::of_groups(&[groups(&[])], &[0, 1, 2]);
        assert_eq!((candidates.len(), candidates.documents()), (0, 0));
        let pairs = Pairs::new(vec![false; 3], 1, None);
        let candidates = Candidates::of_pairs(pairs, &[0, 1, 2], Screened::default()).unwrap();
        assert_eq!((candidates.len(), candidates.documents()), (0, 0));
    }
}
