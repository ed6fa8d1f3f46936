//! Pairs that a cluster of machines compares next.
//!
//! - **Idea.** A cluster of machines cannot ask one pair after the other, because each answer means a shuffle of texts. So it asks
//!   in rounds: [`StarAsks`] takes the similar pairs of the round before, decides about all documents of which enough is known
//!   ([`decide_round`]), and returns the pairs of the next round. [`ComponentAsks`] does the same for connected components.
//! - **Stars.** A document that is *kept* is compared with every later member of its shelves, as [`star`](super::star) does. To find
//!   out who is kept, the first undecided members of each shelf, the *front*, are compared with one another. The front of a shelf
//!   has 4 documents in the first round and four times as many in each further round, so that a shelf of a million members takes
//!   ten rounds. Only pairs within the front can be in vain.
//! - **Components.** The first member of each shelf is compared with all others. After that, members of a growing front
//!   that are not connected yet are compared with one another.
//! - **Crowds.** Most pairs are listed one by one. If a shelf has many documents that ask, its pairs are a [`Block`]: rows and the
//!   rule that tells which of them to compare ([`BlockRow::asks`]), so that machines list no pair that sketches rule out.
//! - **Cost.** Each round passes over all memberships a few times: 5 bytes per membership, and some 30 per document.

use super::components::Forest;
use super::rounds::{Edge, PriorState, Ranked, Standing, decide_round};
use crate::error::Error;

/// Documents of a shelf that the first round compares with one another.
const FIRST_FRONT: usize = 4;
/// The front grows by this factor per round.
const GROWTH: usize = 4;

/// When the pairs of a shelf are a [`Block`] and not listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLimits {
    /// The fewest documents that ask.
    pub asking: usize,
    /// The fewest pairs: documents that ask × members.
    pub pairs: usize,
}

impl Default for BlockLimits {
    fn default() -> Self {
        // A listed pair brings two sketches to a machine, and a block brings each sketch once per 2,048 documents that ask.
        Self { asking: 16, pairs: 1 << 20 }
    }
}

/// Documents on shelves, numbered from 0 in keeper order.
#[derive(Debug, Clone)]
pub struct ShelvedDocuments {
    documents: usize,
    given: u32,
    /// For each document, the number of documents before its last copy.
    last: Vec<u32>,
    /// Members of shelf s, ascending: `members[begins[s]..begins[s + 1]]`.
    begins: Vec<usize>,
    members: Vec<u32>,
    /// Shelves of document d: `own[own_begins[d]..own_begins[d + 1]]`.
    own_begins: Vec<usize>,
    own: Vec<u32>,
}

impl ShelvedDocuments {
    /// `documents` documents, the first `given` of which are given; each shelf is the documents that stand on it, ascending.
    ///
    /// Documents with equal shingles are one document, whose place is that of the first of them. `last` has, for each document, the
    /// number of documents whose place is before the last of its equals; for a document without equals this is its own number.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `last` has another length, or if a shelf does not ascend or names a document that does not exist.
    pub fn new<'a>(
        documents: usize,
        given: u32,
        last: Vec<u32>,
        shelves: impl Iterator<Item = &'a [u32]>,
    ) -> Result<Self, Error> {
        if last.len() != documents {
            let expected = format!("{documents}, one per document");
            return Err(Error::out_of_range("the number of last places", last.len(), &expected));
        }
        let (mut begins, mut members) = (vec![0], vec![]);
        let mut own_begins = vec![0; documents + 1];
        for shelf in shelves {
            for (at, &document) in shelf.iter().enumerate() {
                if document as usize >= documents || at > 0 && shelf[at - 1] >= document {
                    let expected = format!("above the member before it, and below {documents}");
                    return Err(Error::out_of_range("a member of a shelf", document, &expected));
                }
                own_begins[document as usize + 1] += 1;
            }
            members.extend_from_slice(shelf);
            begins.push(members.len());
        }
        for document in 0..documents {
            own_begins[document + 1] += own_begins[document];
        }
        let mut next = own_begins.clone();
        let mut own = vec![0; members.len()];
        for (shelf, range) in begins.windows(2).enumerate() {
            for &document in &members[range[0]..range[1]] {
                let at = &mut next[document as usize];
                own[*at] = shelf as u32;
                *at += 1;
            }
        }
        Ok(Self { documents, given, last, begins, members, own_begins, own })
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// The members of a shelf, ascending.
    #[must_use]
    pub fn shelf(&self, shelf: usize) -> &[u32] {
        &self.members[self.begins[shelf]..self.begins[shelf + 1]]
    }

    /// How many shelves there are.
    #[must_use]
    pub fn shelves(&self) -> usize {
        self.begins.len() - 1
    }

    fn own(&self, document: u32) -> &[u32] {
        let document = document as usize;
        &self.own[self.own_begins[document]..self.own_begins[document + 1]]
    }

    /// Whether both documents stand on a shelf before this one.
    fn share_before(&self, shelf: usize, a: u32, b: u32) -> bool {
        let mut others = self.own(b).iter().peekable();
        self.own(a).iter().take_while(|own| (**own as usize) < shelf).any(|own| {
            while others.next_if(|other| *other < own).is_some() {}
            others.peek() == Some(&own)
        })
    }

    fn largest(&self) -> usize {
        (0..self.shelves()).map(|shelf| self.shelf(shelf).len()).max().unwrap_or(0)
    }
}

/// Pairs of one round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asks {
    /// Pairs that are listed, the earlier document first; each is listed once.
    pub pairs: Vec<(u32, u32)>,
    /// Shelves with so many pairs that they are not listed. A pair may be in several blocks.
    pub blocks: Vec<Block>,
}

impl Asks {
    /// Whether there is nothing to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.blocks.is_empty()
    }
}

/// The pairs of one shelf: those of a row that [is asking](BlockRow::is_asking) and another row that [`BlockRow::asks`] accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// The shelf.
    pub shelf: usize,
    /// Whether each pair of these rows is compared on any other block that both documents are in.
    pub is_whole: bool,
    /// Rows in ascending order of documents.
    pub rows: Vec<BlockRow>,
}

/// A document in a [`Block`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRow {
    /// The document.
    pub document: u32,
    /// The number of documents before its last copy.
    pub last: u32,
    /// The round in which the document came to the front; 0 if it did not.
    pub front: u16,
    /// The round that decided about the document; `u16::MAX` if none did.
    pub decided: u16,
    /// A set of bits: `KEPT` to `FIRST`.
    pub kind: u16,
    /// The component of the document; 0 in stars.
    pub component: u32,
}

impl BlockRow {
    /// The document is kept.
    pub const KEPT: u16 = 1;
    /// The document is removed.
    pub const REMOVED: u16 = 2;
    /// The document is kept and asks all later members now.
    pub const ASKING: u16 = 4;
    /// The document is in the front.
    pub const FRONT: u16 = 8;
    /// The document came to the front in this round.
    pub const NEW: u16 = 16;
    /// The document stands on the shelf, if it is kept.
    pub const PLACED: u16 = 32;
    /// The document is given.
    pub const GIVEN: u16 = 64;
    /// The block is one of components or pairs, not of stars.
    pub const JOINS: u16 = 128;

    fn has(self, kind: u16) -> bool {
        self.kind & kind != 0
    }

    /// Whether the document has others to be compared with.
    #[must_use]
    pub fn is_asking(self) -> bool {
        self.has(Self::ASKING | Self::NEW)
    }

    /// Whether an earlier and a later row are to be compared.
    #[must_use]
    pub fn asks(earlier: Self, later: Self) -> bool {
        if later.has(Self::JOINS) {
            return earlier.has(Self::PLACED)
                && (earlier.is_asking() || later.is_asking())
                && earlier.component != later.component
                && !(earlier.has(Self::GIVEN) && later.has(Self::GIVEN));
        }
        // A front lies before the end of its shelf, so that both rows are placed.
        if earlier.has(Self::FRONT) && later.has(Self::FRONT) {
            return earlier.has(Self::NEW) || later.has(Self::NEW);
        }
        // Later copies of a removed document meet documents that were kept after its first visit.
        let is_wanted = earlier.has(Self::ASKING) && !later.has(Self::KEPT)
            || later.has(Self::ASKING) && earlier.has(Self::REMOVED) && earlier.last > later.document;
        is_wanted && !Self::were_compared(earlier, later)
    }

    /// Whether both rows were in the front together.
    fn were_compared(self, other: Self) -> bool {
        self.front > 0
            && other.front > 0
            && self.front.max(other.front) < self.decided.min(other.decided)
            && self.has(Self::PLACED)
            && other.has(Self::PLACED)
    }
}

/// The state of a document between rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Undecided,
    Kept,
    Removed,
}

/// How many members of a shelf stand before one of them.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    kept: usize,
    undecided: usize,
}

impl Before {
    fn count(&mut self, state: State) {
        match state {
            State::Kept => self.kept += 1,
            State::Undecided => self.undecided += 1,
            State::Removed => {}
        }
    }

    /// Whether a member is sure to stand on the shelf if it is kept.
    fn is_placed(self, most: usize) -> bool {
        self.kept + self.undecided < most
    }

    /// Whether the shelf is full without the member.
    fn is_full(self, most: usize) -> bool {
        self.kept >= most
    }
}

/// The pairs of star clustering, round by round.
///
/// ```
/// use minwise::cluster::{ShelvedDocuments, StarAsks};
///
/// // Three documents on one shelf; 0 and 1 are similar.
/// let documents = ShelvedDocuments::new(3, 0, vec![0, 1, 2], [&[0, 1, 2][..]].into_iter())?;
/// let mut rounds = StarAsks::new(documents, 131_072);
/// let asks = rounds.next_round(&[])?;
/// assert_eq!(asks.pairs, [(0, 1), (0, 2), (1, 2)]);
/// let asks = rounds.next_round(&[(0, 1, 0.9)])?;
/// assert!(asks.is_empty());
/// assert_eq!(rounds.kept(), [0, 2]);
/// # Ok::<(), minwise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StarAsks {
    shelved: ShelvedDocuments,
    most: usize,
    limits: BlockLimits,
    state: Vec<State>,
    front: Vec<u16>,
    decided: Vec<u16>,
    /// For each membership, whether the member was kept and compared with all later members.
    asked: Vec<bool>,
    edges: Vec<Edge>,
    round: u16,
    width: usize,
}

impl StarAsks {
    /// Begins with nothing known. A shelf takes the first `most` kept documents.
    #[must_use]
    pub fn new(shelved: ShelvedDocuments, most: usize) -> Self {
        let documents = shelved.len();
        let mut state = vec![State::Undecided; documents];
        state[..(shelved.given as usize).min(documents)].fill(State::Kept);
        let decided = state.iter().map(|&state| if state == State::Kept { 0 } else { u16::MAX }).collect();
        Self {
            most,
            limits: BlockLimits::default(),
            state,
            front: vec![0; documents],
            decided,
            asked: vec![false; shelved.members.len()],
            edges: vec![],
            round: 0,
            width: FIRST_FRONT,
            shelved,
        }
    }

    /// These rounds with blocks for shelves of another size.
    #[must_use]
    pub fn with_limits(self, limits: BlockLimits) -> Self {
        Self { limits, ..self }
    }

    /// The documents and their shelves.
    #[must_use]
    pub fn shelved(&self) -> &ShelvedDocuments {
        &self.shelved
    }

    /// All similar pairs so far, by their numbers.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Documents that are kept so far, ascending.
    #[must_use]
    pub fn kept(&self) -> Vec<u64> {
        (0..).zip(&self.state).filter(|(_, state)| **state == State::Kept).map(|(number, _)| number).collect()
    }

    /// How many documents are undecided.
    #[must_use]
    pub fn undecided(&self) -> usize {
        self.state.iter().filter(|&&state| state == State::Undecided).count()
    }

    /// Takes the similar pairs among those of the last round, decides, and returns the pairs of the next round. If there are
    /// none, every document is decided and every edge that names a keeper is known.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a pair names a document that does not exist or one document twice, or if a similarity is not a number from 0 to 1.
    pub fn next_round(&mut self, similar: &[(u32, u32, f64)]) -> Result<Asks, Error> {
        let edges = similar.iter();
        self.edges.extend(edges.map(|&(a, b, similarity)| Edge { a: a.into(), b: b.into(), similarity }));
        self.edges.sort_unstable_by_key(|edge| (edge.a.max(edge.b), edge.a.min(edge.b)));
        self.edges.dedup_by_key(|edge| (edge.a.max(edge.b), edge.a.min(edge.b)));
        loop {
            if self.round == u16::MAX - 1 {
                return Err(Error::out_of_range("the number of rounds", self.round, "below 65534"));
            }
            self.round += 1;
            while self.decide()? {}
            let asks = self.asks();
            self.width = self.width.saturating_mul(GROWTH);
            // If all pairs of a round were compared in earlier ones, no answer will come, and the round has to be followed by
            // another at once.
            if !asks.is_empty() || self.undecided() == 0 {
                return Ok(asks);
            }
        }
    }

    /// Decides about all documents of which enough is known; returns whether that was any.
    fn decide(&mut self) -> Result<bool, Error> {
        let unasked = self.unasked();
        let documents: Vec<Ranked> = (0..)
            .zip(self.state.iter().zip(unasked))
            .map(|(rank, (state, unasked))| Ranked {
                rank,
                known: match state {
                    State::Kept => PriorState::Kept,
                    State::Removed => PriorState::Removed { unasked },
                    State::Undecided => PriorState::Undecided { unasked },
                },
            })
            .collect();
        let mut is_changed = false;
        for (at, standing) in decide_round(&documents, &self.edges)?.into_iter().enumerate() {
            let state = match standing {
                Standing::Undecided => continue,
                Standing::Kept => State::Kept,
                Standing::Duplicate { .. } | Standing::Removed => State::Removed,
            };
            if self.state[at] == State::Undecided {
                (self.state[at], self.decided[at]) = (state, self.round);
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// For each undecided document, the number of earlier members of its shelves that matter and were not compared with it.
    fn unasked(&self) -> Vec<u64> {
        let mut unasked = vec![0; self.shelved.len()];
        for shelf in 0..self.shelved.shelves() {
            let begin = self.shelved.begins[shelf];
            let mut before = Before::default();
            // Earlier members that matter: kept and not compared yet; undecided in the front; undecided behind it.
            let (mut waiting, mut in_front, mut behind) = (0, 0, 0);
            for (at, &document) in self.shelved.shelf(shelf).iter().enumerate() {
                let number = document as usize;
                let state = self.state[number];
                let is_front = self.front[number] > 0 && before.is_placed(self.most);
                if state == State::Undecided {
                    unasked[number] += waiting + behind + if is_front { 0 } else { in_front };
                }
                if !before.is_full(self.most) {
                    match state {
                        State::Kept => waiting += u64::from(!self.asked[begin + at]),
                        State::Undecided if is_front => in_front += 1,
                        State::Undecided => behind += 1,
                        State::Removed => {}
                    }
                }
                before.count(state);
            }
        }
        unasked
    }

    /// Documents that come to the front of all their shelves.
    fn advance_front(&mut self) {
        let mut is_behind = vec![false; self.shelved.len()];
        for shelf in 0..self.shelved.shelves() {
            let mut before = Before::default();
            for &document in self.shelved.shelf(shelf) {
                let can_look = before.is_placed(self.most) || before.is_full(self.most);
                if before.undecided >= self.width || !can_look {
                    is_behind[document as usize] = true;
                }
                before.count(self.state[document as usize]);
            }
        }
        for (number, is_behind) in is_behind.into_iter().enumerate() {
            if self.state[number] == State::Undecided && self.front[number] == 0 && !is_behind {
                self.front[number] = self.round;
            }
        }
    }

    /// The rows of a shelf.
    fn rows(&self, shelf: usize) -> Vec<BlockRow> {
        let begin = self.shelved.begins[shelf];
        let mut before = Before::default();
        let mut rows = vec![];
        for (at, &document) in self.shelved.shelf(shelf).iter().enumerate() {
            let number = document as usize;
            let (state, front) = (self.state[number], self.front[number]);
            let is_placed = before.is_placed(self.most);
            let mut kind = if is_placed { BlockRow::PLACED } else { 0 };
            match state {
                State::Kept => {
                    kind |= BlockRow::KEPT;
                    if is_placed && !self.asked[begin + at] {
                        kind |= BlockRow::ASKING;
                    }
                }
                State::Removed => kind |= BlockRow::REMOVED,
                State::Undecided if front > 0 && is_placed => {
                    kind |= BlockRow::FRONT;
                    if front == self.round {
                        kind |= BlockRow::NEW;
                    }
                }
                State::Undecided => {}
            }
            if document < self.shelved.given {
                kind |= BlockRow::GIVEN;
            }
            let (last, decided) = (self.shelved.last[number], self.decided[number]);
            rows.push(BlockRow { document, last, front, decided, kind, component: 0 });
            before.count(state);
        }
        rows
    }

    /// The pairs of the round.
    fn asks(&mut self) -> Asks {
        self.advance_front();
        let mut shelves = vec![];
        for shelf in 0..self.shelved.shelves() {
            let rows = self.rows(shelf);
            if rows.iter().any(|row| row.is_asking()) {
                shelves.push((shelf, rows));
            }
        }
        for (shelf, rows) in &shelves {
            let begin = self.shelved.begins[*shelf];
            for (at, row) in rows.iter().enumerate() {
                self.asked[begin + at] |= row.has(BlockRow::ASKING);
            }
        }
        // Unless a shelf can be full, a pair that is compared on one shelf is compared on each that both documents have.
        let once = self.shelved.largest() <= self.most;
        listed(&self.shelved, shelves, self.limits, self.most, once)
    }
}

/// Lists the pairs of small shelves and makes blocks of the others. `once` is whether a pair that is compared on one shelf is
/// compared on each that both documents have.
fn listed(
    shelved: &ShelvedDocuments,
    shelves: Vec<(usize, Vec<BlockRow>)>,
    limits: BlockLimits,
    most: usize,
    once: bool,
) -> Asks {
    let mut asks = Asks::default();
    let is_block = |rows: &[BlockRow]| {
        let asking = rows.iter().filter(|row| row.is_asking()).count();
        asking >= limits.asking && asking * rows.len() >= limits.pairs
    };
    let (blocks, lists): (Vec<_>, Vec<_>) = shelves.into_iter().partition(|(_, rows)| is_block(rows));
    let once = once && blocks.is_empty();
    for (shelf, rows) in blocks {
        asks.blocks.push(Block { shelf, is_whole: shelved.shelf(shelf).len() <= most, rows });
    }
    for (shelf, rows) in lists {
        for (at, &row) in rows.iter().enumerate() {
            if !row.is_asking() {
                continue;
            }
            for (other_at, &other) in rows.iter().enumerate() {
                // A pair of two that ask is listed by the earlier one.
                if other_at == at || other_at < at && other.is_asking() {
                    continue;
                }
                let (earlier, later) = if other_at < at { (other, row) } else { (row, other) };
                // Near-duplicates share several shelves, so that their pairs would be listed several times.
                let (a, b) = (earlier.document, later.document);
                if BlockRow::asks(earlier, later) && !(once && shelved.share_before(shelf, a, b)) {
                    asks.pairs.push((a, b));
                }
            }
        }
    }
    asks.pairs.sort_unstable();
    asks.pairs.dedup();
    asks
}

/// The pairs of connected components, or of all similar pairs, round by round.
#[derive(Debug, Clone)]
pub struct ComponentAsks {
    shelved: ShelvedDocuments,
    most: usize,
    limits: BlockLimits,
    forest: Forest,
    /// Whether pairs that are connected already are left out.
    joins: bool,
    /// Members of each shelf that were compared with one another.
    compared: usize,
    round: u16,
}

impl ComponentAsks {
    /// Begins with nothing known. A document is compared with the first `most` documents on each of its shelves.
    #[must_use]
    pub fn new(shelved: ShelvedDocuments, most: usize) -> Self {
        let forest = Forest::new(shelved.len());
        Self { shelved, most, limits: BlockLimits::default(), forest, joins: true, compared: 0, round: 0 }
    }

    /// Asks for every pair, in one round.
    #[must_use]
    pub fn of_pairs(shelved: ShelvedDocuments, most: usize) -> Self {
        Self { joins: false, ..Self::new(shelved, most) }
    }

    /// These rounds with blocks for shelves of another size.
    #[must_use]
    pub fn with_limits(self, limits: BlockLimits) -> Self {
        Self { limits, ..self }
    }

    /// The documents and their shelves.
    #[must_use]
    pub fn shelved(&self) -> &ShelvedDocuments {
        &self.shelved
    }

    /// For each document, the first one that it is connected with.
    pub fn firsts(&mut self) -> Vec<u32> {
        (0..self.shelved.len() as u32).map(|document| self.forest.first(document)).collect()
    }

    /// Takes the similar pairs among those of the last round and returns the pairs of the next round.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a pair names a document that does not exist.
    pub fn next_round(&mut self, similar: &[(u32, u32, f64)]) -> Result<Asks, Error> {
        for &(a, b, _) in similar {
            if a.max(b) as usize >= self.shelved.len() {
                let expected = format!("below {}", self.shelved.len());
                return Err(Error::out_of_range("a document of a pair", a.max(b), &expected));
            }
            self.forest.join(a, b);
        }
        let largest = self.shelved.largest();
        loop {
            self.round = self.round.saturating_add(1);
            let asks = self.asks(largest);
            if !asks.is_empty() || self.compared >= largest {
                return Ok(asks);
            }
        }
    }

    fn asks(&mut self, largest: usize) -> Asks {
        let (before, is_first) = (self.compared, self.round == 1);
        self.compared = match (self.joins, is_first) {
            // The first member asks all others.
            (true, true) => 1.min(largest),
            (true, false) => before.saturating_mul(GROWTH).max(FIRST_FRONT).min(largest),
            (false, _) => largest,
        };
        let firsts = self.firsts();
        let mut shelves = vec![];
        for shelf in 0..self.shelved.shelves() {
            let members = self.shelved.shelf(shelf);
            let component = |document: u32| if self.joins { firsts[document as usize] } else { document };
            let end = if self.joins && is_first { members.len() } else { members.len().min(self.compared) };
            // The first member was compared with all others in the first round.
            let begin = usize::from(self.joins && !is_first).min(end);
            let members = &members[begin..end];
            let is_joined = members.iter().all(|&document| component(document) == component(members[0]));
            if members.len() < 2 || is_joined || before >= end {
                continue;
            }
            let row = |(at, &document): (usize, &u32)| {
                let at = begin + at;
                let is_asking = if self.joins && is_first { at == 0 } else { at >= before };
                let mut kind = BlockRow::JOINS;
                kind |= if is_asking { BlockRow::NEW } else { 0 };
                kind |= if at < self.most { BlockRow::PLACED } else { 0 };
                kind |= if document < self.shelved.given { BlockRow::GIVEN } else { 0 };
                let component = component(document);
                BlockRow { document, last: document, front: 0, decided: u16::MAX, kind, component }
            };
            shelves.push((shelf, members.iter().enumerate().map(row).collect()));
        }
        // Fronts of shelves differ, so that a pair may be compared on one of its shelves and not yet on another.
        let once = !self.joins && self.shelved.largest() <= self.most;
        listed(&self.shelved, shelves, self.limits, self.most, once)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::{Judge, Neighbourhood, Verdict, Visit, components, name_keepers, pairs, star};
    use crate::hash::SplitMix64;

    /// Documents on shelves with their similarities, and the visits of each.
    struct World {
        shelves: Vec<Vec<u32>>,
        similarities: Vec<f64>,
        documents: usize,
        given: u32,
        /// The document of each visit; first visits ascend.
        visits: Vec<u32>,
        most: usize,
    }

    impl Judge for World {
        type Error = Infallible;

        fn similarity(&mut self, a: u32, b: u32) -> Result<Option<f64>, Infallible> {
            Ok(self.similar(a, b))
        }

        fn partners(&mut self, _: u32, _: &mut Vec<u32>) -> Result<(), Infallible> {
            Ok(())
        }

        fn shelves(&mut self, _: u32, _: &mut Vec<u32>) -> Result<(), Infallible> {
            Ok(())
        }
    }

    impl World {
        fn new(
            seed: u64,
            documents: usize,
            shelved_in: u64,
            similar_in: u64,
            given: u32,
            most: usize,
        ) -> Self {
            let mut random = SplitMix64::new(seed);
            let mut below = |bound: u64| random.next_u64() % bound;
            let shelves =
                (0..6).map(|_| (0..documents as u32).filter(|_| below(shelved_in) == 0).collect()).collect();
            // Few distinct values, so that ties occur.
            let similarities = (0..documents * documents)
                .map(|_| if below(similar_in) == 0 { 0.8 + below(3) as f64 / 10.0 } else { 0.1 })
                .collect();
            let mut visits = vec![];
            for document in 0..documents as u32 {
                visits.push(document);
                // Copies of given documents among the given ones decide nothing.
                while document >= given && below(4) == 0 {
                    visits.push(below(u64::from(document) + 1) as u32);
                }
            }
            Self { shelves, similarities, documents, given, visits, most }
        }

        fn similar(&self, a: u32, b: u32) -> Option<f64> {
            let similarity = self.similarities[a.min(b) as usize * self.documents + a.max(b) as usize];
            Some(similarity).filter(|&similarity| similarity >= 0.8)
        }

        fn shelved(&self) -> ShelvedDocuments {
            let mut last: Vec<u32> = (0..self.documents as u32).collect();
            // Documents whose first visit is before a visit.
            let mut before = 0;
            for &document in &self.visits {
                last[document as usize] = last[document as usize].max(before);
                before = before.max(document + 1);
            }
            ShelvedDocuments::new(self.documents, self.given, last, self.shelves.iter().map(Vec::as_slice))
                .unwrap()
        }

        fn neighbourhood(&self) -> Neighbourhood {
            Neighbourhood::new(self.documents, self.shelves.iter().map(Vec::as_slice)).with_given(self.given)
        }

        /// The similar pairs among those that are asked for, and how many were compared.
        fn answer(&self, asks: &Asks) -> (Vec<(u32, u32, f64)>, usize) {
            let mut all = asks.pairs.clone();
            assert!(all.windows(2).all(|two| two[0] < two[1]), "each pair is listed once");
            for block in &asks.blocks {
                for (at, &earlier) in block.rows.iter().enumerate() {
                    for &later in &block.rows[at + 1..] {
                        if (earlier.is_asking() || later.is_asking()) && BlockRow::asks(earlier, later) {
                            all.push((earlier.document, later.document));
                        }
                    }
                }
            }
            let similar = all.iter().filter_map(|&(a, b)| Some((a, b, self.similar(a, b)?)));
            (similar.collect(), all.len())
        }
    }

    fn limits(seed: u64) -> BlockLimits {
        if seed.is_multiple_of(2) { BlockLimits::default() } else { BlockLimits { asking: 2, pairs: 6 } }
    }

    fn check_star(mut world: World, limits: BlockLimits) -> (usize, usize) {
        let mut rounds = StarAsks::new(world.shelved(), world.most).with_limits(limits);
        let (mut similar, mut asked, mut count) = (vec![], 0, 0);
        loop {
            let asks = rounds.next_round(&similar).unwrap();
            if asks.is_empty() {
                break;
            }
            let (found, compared) = world.answer(&asks);
            (similar, asked, count) = (found, asked + compared, count + 1);
            assert!(count <= world.documents, "rounds end");
        }
        assert_eq!(rounds.undecided(), 0);
        // Visits stand between first visits, in their order.
        let (mut place, mut ranks, mut first) = (0u64, vec![], vec![u64::MAX; world.documents]);
        for &document in &world.visits {
            first[document as usize] = first[document as usize].min(place);
            ranks.push(place);
            place += 1;
        }
        let visits: Vec<Visit> = ranks
            .iter()
            .zip(&world.visits)
            .map(|(&rank, &document)| Visit { rank, document: first[document as usize] })
            .collect();
        let edges: Vec<Edge> = rounds
            .edges()
            .iter()
            .map(|edge| Edge { a: first[edge.a as usize], b: first[edge.b as usize], ..*edge })
            .collect();
        let kept: Vec<u64> = rounds.kept().iter().map(|&document| first[document as usize]).collect();
        let named = name_keepers(&visits, &kept, &edges).unwrap();
        let (neighbourhood, visits, most) = (world.neighbourhood(), world.visits.clone(), world.most);
        let mut one_by_one = 0;
        let Ok(verdicts) = star(&neighbourhood, &visits, most, &mut world, |_| one_by_one += 1);
        for ((named, verdict), document) in named.into_iter().zip(verdicts).zip(&visits) {
            let expected = match verdict {
                Verdict::Kept => Standing::Kept,
                Verdict::Duplicate { of, similarity } => {
                    Standing::Duplicate { of: first[of as usize], similarity }
                }
            };
            assert_eq!(named, expected, "document {document}");
        }
        (count, asked)
    }

    /// Document 8 waits for 7 until the round after 5 is decided, and the two were compared in the first round already.
    #[test]
    fn a_round_without_new_pairs_is_not_the_last() {
        let documents = 9;
        let mut similarities = vec![0.1; documents * documents];
        (1..6).for_each(|copy| similarities[copy] = 0.9);
        let shelves = vec![(0..6).collect(), vec![6, 7], vec![7, 8], vec![5, 8]];
        let world = World { shelves, similarities, documents, given: 0, visits: (0..9).collect(), most: 100 };
        check_star(world, BlockLimits::default());
    }

    proptest! {
        #[test]
        fn rounds_of_asks_give_the_star(
            seed in any::<u64>(), documents in 1usize..60, shelved_in in 1u64..6, similar_in in 1u64..30,
            given in 0u32..6, most in 1usize..40,
        ) {
            let given = given.min(documents as u32);
            check_star(World::new(seed, documents, shelved_in, similar_in, given, most), limits(seed));
        }

        #[test]
        fn rounds_of_asks_give_the_components(
            seed in any::<u64>(), documents in 1usize..60, shelved_in in 1u64..6, similar_in in 1u64..60,
            given in 0u32..6, most in 1usize..40,
        ) {
            let given = given.min(documents as u32);
            let mut world = World::new(seed, documents, shelved_in, similar_in, given, most);
            let mut rounds = ComponentAsks::new(world.shelved(), most).with_limits(limits(seed));
            let mut similar = vec![];
            loop {
                let asks = rounds.next_round(&similar).unwrap();
                if asks.is_empty() {
                    break;
                }
                similar = world.answer(&asks).0;
            }
            let neighbourhood = world.neighbourhood();
            let Ok(firsts) = components(&neighbourhood, most, &mut world, |_| {});
            prop_assert_eq!(rounds.firsts(), firsts);
        }

        #[test]
        fn one_round_has_all_pairs(
            seed in any::<u64>(), documents in 1usize..60, shelved_in in 1u64..6, most in 1usize..40,
        ) {
            let mut world = World::new(seed, documents, shelved_in, 3, 0, most);
            let mut rounds = ComponentAsks::of_pairs(world.shelved(), most).with_limits(limits(seed));
            let mut found = world.answer(&rounds.next_round(&[]).unwrap()).0;
            found.sort_by_key(|&(a, b, _)| (a, b));
            found.dedup();
            prop_assert!(rounds.next_round(&found).unwrap().is_empty());
            let mut expected = vec![];
            let neighbourhood = world.neighbourhood();
            let Ok(()) = pairs(&neighbourhood, |_| true, most, &mut world, |pair| {
                expected.push((pair.earlier, pair.document, pair.similarity));
                Ok(())
            });
            expected.sort_by_key(|&(a, b, _)| (a, b));
            prop_assert_eq!(found, expected);
        }
    }

    /// A copy that comes after its shelf is full does not meet documents that were left out.
    #[test]
    fn a_copy_after_a_full_shelf_is_the_star() {
        for seed in 0..200 {
            check_star(World::new(seed, 40, 1, 12, 0, 5), limits(seed));
        }
    }

    #[test]
    fn crowds_take_few_rounds_and_few_pairs_in_vain() {
        let documents = 3_000;
        let everyone: Vec<u32> = (0..documents as u32).collect();
        let world = |similarities: f64| World {
            shelves: vec![everyone.clone()],
            similarities: vec![similarities; documents * documents],
            documents,
            given: 0,
            visits: everyone.clone(),
            most: 131_072,
        };
        // One family: the first document is compared with all others.
        let (rounds, asked) = check_star(world(0.9), BlockLimits::default());
        assert!(rounds <= 2 && asked < documents + 200, "{rounds} rounds, {asked} pairs");
        // A form: every pair is compared, once.
        let (rounds, asked) = check_star(world(0.1), BlockLimits::default());
        assert!(rounds <= 7, "{rounds} rounds");
        assert_eq!(asked, documents * (documents - 1) / 2);
    }

    #[test]
    fn shelves_that_make_no_sense_are_refused() {
        for shelf in [&[1u32, 0][..], &[0, 0], &[2]] {
            assert!(ShelvedDocuments::new(2, 0, vec![0, 1], [shelf].into_iter()).is_err());
        }
        assert!(ShelvedDocuments::new(2, 0, vec![0], std::iter::empty()).is_err());
    }
}
