//! Neighbourhoods: documents that meet, directly or through others, so that what is decided in one does not depend on
//! another.

use std::ops::Range;
use std::path::Path;

use bytemuck::cast_slice;
use minwise::cluster::{Forest, Neighbourhood};
use minwise_corpus::Temporary;

use crate::candidate::groups::Groups;
use crate::candidate::order::Order;
use crate::candidate::partners::{Pairs, Partners};
use crate::error::Error;
use crate::memory::Room;
use crate::read::documents::Documents;
use crate::verify::screen::Screened;

/// Bytes that a neighbourhood takes while it is worked on, and more for each of its shelves and for each document on them.
const HOOD_BYTES: u64 = 512;
const SHELF_BYTES: u64 = 48;
const MEMBER_BYTES: u64 = 8;
/// Text of neighbourhoods whose decisions are written down together, and the most times that they are for this reason: for
/// each, all groups are looked through.
const TEXT_BYTES: u64 = 256 << 20;
const TIMES_WRITTEN: u64 = 64;

/// All neighbourhoods, and how the documents of each meet.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// Where the documents of each end.
    ends: Vec<u32>,
    documents: Vec<u32>,
    /// The text that the documents of each have, in bytes.
    text_bytes: Vec<u64>,
    meetings: Meetings,
    /// What the filter put aside before.
    screened: Screened,
}

/// How documents meet.
#[derive(Debug)]
enum Meetings {
    /// On shelves of bands.
    Groups {
        groups: Groups,
        /// For each place in keeper order, where its document is in `documents`.
        slots: Vec<u32>,
        /// The shelves of each neighbourhood, and the documents on all of them.
        counts: Vec<(u32, u64)>,
    },
    /// As pairs. Of each document, its number there.
    Pairs { numbers: Vec<u32>, partners: Partners },
}

/// The slot of a document that meets nobody.
const NONE: u32 = u32::MAX;

/// Neighbourhoods that are worked on together.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    candidates: &'a Candidates,
    hoods: Range<usize>,
    meetings: BatchMeetings,
}

#[derive(Debug)]
enum BatchMeetings {
    Shelves {
        ranges: Vec<Range<usize>>,
        shelves: Vec<Shelved>,
        members: Vec<u32>,
    },
    /// One neighbourhood that is too large to have its shelves in memory.
    Large(LargeShelves),
    Pairs,
}

#[derive(Debug, Default, Clone, Copy)]
struct Shelved {
    band: u32,
    size: u32,
    begin: usize,
}

/// The shelves of a large neighbourhood, by document.
#[derive(Debug)]
pub(crate) struct LargeShelves {
    bands: Vec<u32>,
    /// Where those of each document begin, and where those of the last one end.
    begins: Vec<u64>,
    list: Temporary,
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
    Large(&'a LargeShelves),
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
    fn iter(self) -> impl Iterator<Item = (u32, &'a [u32])> + Clone {
        self.shelves.iter().map(move |shelf| (shelf.band, self.members(shelf)))
    }

    fn members(self, shelf: &Shelved) -> &'a [u32] {
        &self.members[shelf.begin..shelf.begin + shelf.size as usize]
    }

    /// Those that matter: of small ones that hold the same documents in several bands, the first. What is larger than
    /// `unsplit` may be split by what its band says.
    fn distinct(self, unsplit: usize) -> Vec<(u32, &'a [u32])> {
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

impl LargeShelves {
    /// Fills `out` with the shelves of a document, ascending.
    pub(crate) fn of(&self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        let [begin, end] = [0, 1].map(|next| self.begins[document as usize + next]);
        out.resize((end - begin) as usize, 0);
        Ok(self.list.read_exact_at(4 * begin, bytemuck::cast_slice_mut(out))?)
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

impl HoodRef<'_> {
    /// How its documents meet, for a clustering.
    pub(crate) fn neighbourhood(&self, unsplit: usize) -> Neighbourhood {
        let documents = self.documents.len();
        match self.meeting {
            Meeting::Pairs(_) => Neighbourhood::of_pairs(documents),
            Meeting::Large(shelves) => Neighbourhood::of_shelves(documents, shelves.bands.clone()),
            Meeting::Shelves(shelves) => Neighbourhood::new(documents, shelves.distinct(unsplit).into_iter()),
        }
    }
}

impl Candidates {
    /// How many neighbourhoods there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, number: usize) -> Range<usize> {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[number] as usize
    }

    /// The documents of one of them, in keeper order.
    pub(crate) fn documents(&self, number: usize) -> &[u32] {
        &self.documents[self.range(number)]
    }

    /// The text that the documents of one of them have, in bytes.
    pub(crate) fn text_bytes(&self, number: usize) -> u64 {
        self.text_bytes[number]
    }

    /// What the filter did while they were looked for.
    pub(crate) fn screened(&self) -> Screened {
        self.screened
    }

    /// Documents in all of them together.
    pub(crate) fn all_documents(&self) -> &[u32] {
        &self.documents
    }

    /// Gathers the groups of all bands.
    pub(crate) fn of_groups(groups: Groups, order: &Order, documents: &Documents) -> Result<Self, Error> {
        let mut forest = Forest::new(order.len());
        groups.for_each(|_, group| {
            for &place in &group[1..] {
                forest.join(group[0], place);
            }
        })?;
        let Gathered { ends, members, slots } = Gathered::new(&mut forest, order.len());
        drop(forest);
        let mut counts = vec![(0, 0); ends.len()];
        groups.for_each(|_, group| {
            let count = &mut counts[hood_of(&ends, slots[group[0] as usize])];
            count.0 += 1;
            count.1 += group.len() as u64;
        })?;
        let text_bytes = text_bytes(documents, &ends, |document| slots[order.place(document) as usize])?;
        let documents = members.iter().map(|&place| order.document(place)).collect();
        let meetings = Meetings::Groups { groups, slots, counts };
        Ok(Self { ends, documents, text_bytes, meetings, screened: Screened::default() })
    }

    /// Gathers pairs, given the documents by their numbers there, which are in keeper order; `screened` was put aside before.
    pub(crate) fn of_pairs(
        mut pairs: Pairs<'_>,
        taken: &[u32],
        screened: Screened,
        documents: &Documents,
    ) -> Result<Self, Error> {
        let Gathered { ends, members, slots } = Gathered::new(pairs.forest(), taken.len());
        let partners = pairs.finish(|member| {
            let slot = slots[member as usize];
            let hood = hood_of(&ends, slot);
            slot - hood.checked_sub(1).map_or(0, |before| ends[before])
        })?;
        let mut slot_of = vec![NONE; documents.len()];
        for (&document, &slot) in taken.iter().zip(&slots) {
            slot_of[document as usize] = slot;
        }
        let text_bytes = text_bytes(documents, &ends, |document| slot_of[document as usize])?;
        let documents = members.iter().map(|&member| taken[member as usize]).collect();
        Ok(Self {
            ends,
            documents,
            text_bytes,
            meetings: Meetings::Pairs { numbers: members, partners },
            screened,
        })
    }

    /// Visits the documents that agree in each band, told by their places in keeper order; none where candidates are pairs.
    pub(crate) fn for_each_group(&self, visit: impl FnMut(u32, &[u32])) -> Result<(), Error> {
        match &self.meetings {
            Meetings::Groups { groups, .. } => groups.for_each(visit),
            Meetings::Pairs { .. } => Ok(()),
        }
    }

    /// The pairs that some neighbourhoods may give, if each document stands for `copies` of it.
    pub(crate) fn pairs_of(
        &self,
        hoods: &[usize],
        copies: impl Fn(u32) -> u64,
    ) -> Result<Vec<(usize, u64)>, Error> {
        let mut sums: Vec<(usize, u64)> = hoods.iter().map(|&hood| (hood, 0)).collect();
        if hoods.is_empty() {
            return Ok(sums);
        }
        let choose_two = |n: u64| n.saturating_mul(n.saturating_sub(1)) / 2;
        match &self.meetings {
            Meetings::Groups { groups, slots, .. } => groups.for_each(|_, group| {
                let hood = hood_of(&self.ends, slots[group[0] as usize]);
                if let Ok(at) = sums.binary_search_by_key(&hood, |sum| sum.0) {
                    let documents = group.iter().map(|&place| self.documents[slots[place as usize] as usize]);
                    sums[at].1 = sums[at].1.saturating_add(choose_two(documents.map(&copies).sum()));
                }
            })?,
            Meetings::Pairs { numbers, partners } => {
                let mut found = vec![];
                for (hood, sum) in &mut sums {
                    let range = self.range(*hood);
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

    /// Cuts the neighbourhoods from `first` on into batches that fit into memory. `written` says that what is decided in
    /// each is to be written down, so that none of them should take long.
    pub(crate) fn batches(&self, first: usize, room: Room, written: bool) -> Vec<Range<usize>> {
        let mut batches: Vec<Range<usize>> = vec![];
        let (mut bytes, mut text) = (0, 0);
        let most_text = TEXT_BYTES.max(self.text_bytes.iter().sum::<u64>() / TIMES_WRITTEN);
        for hood in first..self.len() {
            let (cost, texts) = (self.cost(hood), self.text_bytes[hood]);
            bytes += cost;
            text += texts;
            match batches.last_mut() {
                Some(batch) if bytes <= room.batch() && !(written && text > most_text) => {
                    batch.end = hood + 1;
                }
                _ => {
                    (bytes, text) = (cost, texts);
                    batches.push(hood..hood + 1);
                }
            }
        }
        batches
    }

    /// Bytes that a neighbourhood takes in a batch.
    fn cost(&self, hood: usize) -> u64 {
        match &self.meetings {
            Meetings::Pairs { .. } => HOOD_BYTES,
            Meetings::Groups { counts, .. } => {
                let (shelves, members) = counts[hood];
                HOOD_BYTES + SHELF_BYTES * u64::from(shelves) + MEMBER_BYTES * members
            }
        }
    }

    /// Loads a batch. One neighbourhood that does not fit goes to an unnamed file in `folder`, by document.
    pub(crate) fn load(
        &self,
        hoods: Range<usize>,
        room: Room,
        folder: Option<&Path>,
    ) -> Result<Batch<'_>, Error> {
        let meetings = match &self.meetings {
            Meetings::Pairs { .. } => BatchMeetings::Pairs,
            Meetings::Groups { groups, slots, .. }
                if hoods.len() == 1 && self.cost(hoods.start) > room.batch() =>
            {
                BatchMeetings::Large(self.load_large(hoods.start, groups, slots, room, folder)?)
            }
            Meetings::Groups { groups, slots, counts } => self.load_shelves(&hoods, groups, slots, counts)?,
        };
        Ok(Batch { candidates: self, hoods, meetings })
    }

    fn load_shelves(
        &self,
        hoods: &Range<usize>,
        groups: &Groups,
        slots: &[u32],
        counts: &[(u32, u64)],
    ) -> Result<BatchMeetings, Error> {
        let (mut shelf, mut member) = (0, 0);
        let mut ranges = Vec::with_capacity(hoods.len());
        let mut next_member = Vec::with_capacity(hoods.len());
        for &(shelves, members) in &counts[hoods.clone()] {
            ranges.push(shelf..shelf);
            next_member.push(member);
            shelf += shelves as usize;
            member += members as usize;
        }
        let mut shelves = vec![Shelved::default(); shelf];
        let mut members = vec![0; member];
        let wanted = self.slots_of(hoods);
        groups.for_each(|band, group| {
            let slot = slots[group[0] as usize];
            if !wanted.contains(&slot) {
                return;
            }
            let hood = hood_of(&self.ends, slot);
            let first = self.range(hood).start as u32;
            let at = hood - hoods.start;
            let begin = next_member[at];
            next_member[at] += group.len();
            for (out, &place) in members[begin..].iter_mut().zip(group) {
                *out = slots[place as usize] - first;
            }
            let range = &mut ranges[at];
            shelves[range.end] = Shelved { band, size: group.len() as u32, begin };
            range.end += 1;
        })?;
        Ok(BatchMeetings::Shelves { ranges, shelves, members })
    }

    fn slots_of(&self, hoods: &Range<usize>) -> Range<u32> {
        let begin = hoods.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin..hoods.end.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    fn load_large(
        &self,
        hood: usize,
        groups: &Groups,
        slots: &[u32],
        room: Room,
        folder: Option<&Path>,
    ) -> Result<LargeShelves, Error> {
        let wanted = self.slots_of(&(hood..hood + 1));
        let documents = wanted.len();
        let for_each = |visit: &mut dyn FnMut(u32, &[u32])| {
            groups.for_each(|band, group| {
                if wanted.contains(&slots[group[0] as usize]) {
                    visit(band, group);
                }
            })
        };
        let number = |place: u32| (slots[place as usize] - wanted.start) as usize;
        let (mut bands, mut begins) = (vec![], vec![0u64; documents + 1]);
        for_each(&mut |band, group| {
            bands.push(band);
            for &place in group {
                begins[number(place) + 1] += 1;
            }
        })?;
        for at in 0..documents {
            begins[at + 1] += begins[at];
        }
        let list = Temporary::create(folder)?;
        let most = room.batch() / 4;
        let mut first = 0;
        while first < documents {
            // As many documents as fit, and at least one.
            let fits = begins[first..].partition_point(|&begin| begin - begins[first] <= most);
            let last = (first + fits.saturating_sub(1)).clamp(first + 1, documents);
            let mut next: Vec<u32> =
                begins[first..last].iter().map(|begin| (begin - begins[first]) as u32).collect();
            let mut part = vec![0u32; (begins[last] - begins[first]) as usize];
            let mut shelf = 0;
            for_each(&mut |_, group| {
                for &place in group {
                    if let Some(next) = number(place).checked_sub(first).and_then(|at| next.get_mut(at)) {
                        part[*next as usize] = shelf;
                        *next += 1;
                    }
                }
                shelf += 1;
            })?;
            list.append(cast_slice(&part))?;
            first = last;
        }
        Ok(LargeShelves { bands, begins, list })
    }
}

impl Batch<'_> {
    /// One of them.
    pub(crate) fn hood(&self, number: usize) -> HoodRef<'_> {
        let meeting = match (&self.meetings, &self.candidates.meetings) {
            (BatchMeetings::Shelves { ranges, shelves, members }, _) => {
                let shelves = &shelves[ranges[number - self.hoods.start].clone()];
                Meeting::Shelves(ShelvesRef { shelves, members })
            }
            (BatchMeetings::Large(shelves), _) => Meeting::Large(shelves),
            (BatchMeetings::Pairs, Meetings::Pairs { numbers, partners }) => {
                Meeting::Pairs(PairsRef { numbers: &numbers[self.candidates.range(number)], partners })
            }
            (BatchMeetings::Pairs, Meetings::Groups { .. }) => {
                unreachable!("a batch is of its candidates' kind")
            }
        };
        HoodRef { documents: self.candidates.documents(number), meeting }
    }
}

/// The neighbourhood that a slot belongs to.
fn hood_of(ends: &[u32], slot: u32) -> usize {
    ends.partition_point(|&end| end <= slot)
}

/// The text of the documents of each neighbourhood, in bytes, given the slot of each document.
fn text_bytes(documents: &Documents, ends: &[u32], slot: impl Fn(u32) -> u32) -> Result<Vec<u64>, Error> {
    let mut bytes = vec![0; ends.len()];
    for (document, place) in (0..).zip(documents.places()) {
        let slot = slot(document);
        if slot != NONE {
            bytes[hood_of(ends, slot)] += u64::from(place?.len);
        }
    }
    Ok(bytes)
}

/// The trees of a forest that have more than one member, in the order of their first members.
struct Gathered {
    /// Where the members of each end.
    ends: Vec<u32>,
    /// The members, ascending within each.
    members: Vec<u32>,
    /// For each member of the forest, where it is in `members`.
    slots: Vec<u32>,
}

impl Gathered {
    fn new(forest: &mut Forest, all: usize) -> Self {
        // A root is the first of its tree, so going through all in order numbers trees in order. What starts as the size of
        // a tree, at its root, becomes the first slot of its members.
        let mut slots = vec![0u32; all];
        for member in 0..all as u32 {
            slots[forest.first(member) as usize] += 1;
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
        let mut members = vec![0; end as usize];
        // Backwards, so that the root, which comes first, keeps the first slot until all others have theirs.
        let mut next = ends.clone();
        for member in (0..all as u32).rev() {
            let root = forest.first(member) as usize;
            if slots[root] == NONE {
                continue;
            }
            let hood = hood_of(&ends, slots[root]);
            next[hood] -= 1;
            members[next[hood] as usize] = member;
            slots[member as usize] = next[hood];
        }
        Self { ends, members, slots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::groups::{NewGroups, push};
    use crate::memory::Memory;
    use crate::read::documents::Shape;

    /// A neighbourhood: its documents, and its shelves or partners.
    type Shown<T> = Vec<(Vec<u32>, T)>;

    fn documents() -> Documents {
        Documents::of_places(Shape { words: 1, placed_words: None, rank_words: 0 }, 18)
    }

    fn groups(bands: &[&[&[u32]]]) -> Groups {
        let mut new = NewGroups::new(u64::MAX / 2, None, None).unwrap();
        for (band, groups) in bands.iter().enumerate() {
            for group in *groups {
                let mut words = vec![];
                push(&mut words, band, group.iter().copied());
                new.add(&words).unwrap();
            }
        }
        new.finish().unwrap()
    }

    fn shown(candidates: &Candidates, room: Room) -> Shown<Vec<(u32, Vec<u32>)>> {
        let mut all = vec![];
        for hoods in candidates.batches(0, room, false) {
            let batch = candidates.load(hoods.clone(), room, None).unwrap();
            for number in hoods {
                let hood = batch.hood(number);
                let shelves = match hood.meeting {
                    Meeting::Shelves(shelves) => shelves.iter().map(|(band, m)| (band, m.to_vec())).collect(),
                    Meeting::Large(large) => {
                        let mut shelves: Vec<(u32, Vec<u32>)> =
                            large.bands.iter().map(|&band| (band, vec![])).collect();
                        let mut own = vec![];
                        for document in 0..hood.documents.len() as u32 {
                            large.of(document, &mut own).unwrap();
                            for &shelf in &own {
                                shelves[shelf as usize].1.push(document);
                            }
                        }
                        shelves
                    }
                    Meeting::Pairs(_) => panic!("pairs"),
                };
                all.push((hood.documents.to_vec(), shelves));
            }
        }
        all
    }

    #[test]
    fn groups_become_neighbourhoods_in_keeper_order() {
        // Places 1, 4 and 5 hang together through two bands, 2 and 6 in one; the others are alone.
        let groups = groups(&[&[&[4, 5], &[2, 6]], &[&[1, 4]]]);
        let documents = documents();
        let order = Order::of_input(documents.len());
        let candidates = Candidates::of_groups(groups, &order, &documents).unwrap();
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
        assert_eq!(candidates.all_documents().len(), 5);
        assert_eq!((candidates.text_bytes(0), candidates.text_bytes(1)), (10 + 40 + 50, 20 + 60));
    }

    /// For each batch all groups are looked through, so that there must not be more of them the larger the corpus is.
    #[test]
    fn decisions_are_written_down_a_bounded_number_of_times() {
        let pairs: Vec<[u32; 2]> = (0..1000).map(|hood| [2 * hood, 2 * hood + 1]).collect();
        let pairs: Vec<&[u32]> = pairs.iter().map(|pair| &pair[..]).collect();
        let documents = Documents::of_places(Shape { words: 1, placed_words: None, rank_words: 0 }, 2000);
        let order = Order::of_input(documents.len());
        let mut candidates = Candidates::of_groups(groups(&[&pairs]), &order, &documents).unwrap();
        let room = Memory::default().room(1, 0);
        let batches = |candidates: &Candidates, first| {
            let batches = candidates.batches(first, room, true);
            assert_eq!((batches[0].start, batches[batches.len() - 1].end), (first, 1000));
            batches.len() as u64
        };
        assert_eq!(batches(&candidates, 0), 1);
        candidates.text_bytes.fill(TEXT_BYTES / 10);
        assert!((50..=100).contains(&batches(&candidates, 0)), "as often as the text asks for");
        candidates.text_bytes.fill(100 * TEXT_BYTES);
        assert!(batches(&candidates, 0) <= TIMES_WRITTEN + 3, "{}", batches(&candidates, 0));
        assert!(batches(&candidates, 500) <= TIMES_WRITTEN / 2 + 3);
    }

    #[test]
    fn shelves_with_the_same_documents_are_taken_once() {
        let groups = groups(&[&[&[0, 1], &[2, 3]], &[&[0, 1, 2]], &[&[2, 3], &[0, 1]]]);
        let documents = documents();
        let order = Order::of_input(documents.len());
        let candidates = Candidates::of_groups(groups, &order, &documents).unwrap();
        let room = Memory::default().room(1, 0);
        let batch = candidates.load(0..1, room, None).unwrap();
        let Meeting::Shelves(shelves) = batch.hood(0).meeting else { panic!("not in memory") };
        assert_eq!(shelves.distinct(2), [(0, &[0, 1][..]), (0, &[2, 3]), (1, &[0, 1, 2])]);
        assert_eq!(shelves.distinct(1).len(), 5);
    }

    #[test]
    fn pairs_become_neighbourhoods_in_keeper_order() {
        let mut pairs =
            Pairs::new(vec![false, true, false, false, false, false, false, false], Room::none(), 1, None);
        pairs.add(&[(4, 5), (2, 6), (4, 1)]).unwrap();
        let documents = documents();
        let order = [10, 11, 12, 13, 14, 15, 16, 17];
        let candidates = Candidates::of_pairs(pairs, &order, Screened::default(), &documents).unwrap();
        let batch = candidates.load(0..2, Room::none(), None).unwrap();
        let hoods: Vec<_> = (0..candidates.len())
            .map(|number| {
                let hood = batch.hood(number);
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
        let documents = documents();
        let order = Order::of_input(documents.len());
        let candidates = Candidates::of_groups(groups(&[]), &order, &documents).unwrap();
        assert_eq!((candidates.len(), candidates.all_documents().len()), (0, 0));
        let pairs = Pairs::new(vec![false; 3], Room::none(), 1, None);
        let candidates = Candidates::of_pairs(pairs, &[0, 1, 2], Screened::default(), &documents).unwrap();
        assert_eq!((candidates.len(), candidates.all_documents().len()), (0, 0));
    }
}
