//! The pairs that a cluster of machines compares next.
//!
//! - **Idea.** A cluster of machines cannot compare one pair after the other, because each comparison needs a shuffle
//!   of texts. So pairs are compared in rounds: [`StarAsks`] takes the similar pairs of the previous round, decides
//!   about all documents of which enough is known ([`decide_round`]), and returns the pairs of the next round.
//!   [`ComponentAsks`] does the same for connected components.
//! - **Stars.** A *kept* document is compared with every later member of its shelves, as in [`star`](super::star). To
//!   find out which documents are kept, the first undecided members of each shelf, the *front*, are compared with one
//!   another. The front of a shelf has 4 documents in the first round and four times as many in each further round, so
//!   a shelf of a million members takes ten rounds. Only pairs within the front may be compared needlessly.
//! - **Components.** The first member of each shelf is compared with all others. After that, the first 4, 16, 64 and so
//!   on members of each shelf are compared with one another, except pairs that are connected already.
//! - **Crowds.** Most pairs are listed one by one. A document *asks* in a round if the round compares it with other
//!   documents of its shelves. If many documents of a shelf ask, its pairs become a [`Block`]: rows, and the rule for
//!   the pairs to compare ([`BlockRow::asks`]). So machines do not list the pairs that sketches rule out.
//! - **Cost.** Each round passes a few times over all memberships, which are the documents of each shelf. Memory is 5
//!   bytes per membership and some 30 bytes per document.

use super::components::Forest;
use super::rounds::{Edge, PriorState, Ranked, Standing, decide_round};
use super::shelf::{
    BlockLimits, BlockRow, JoinMember, JoinShelf, MemberState, MemberWait, ShelfMember, StarShelf,
};
use crate::error::Error;

/// Documents on shelves, numbered from 0 in keeper order.
#[derive(Debug, Clone)]
pub struct ShelvedDocuments {
    documents: usize,
    given: u32,
    /// Number of documents before the last copy of each document, in keeper order.
    last: Vec<u32>,
    /// Members of shelf s, ascending: `members[begins[s]..begins[s + 1]]`.
    begins: Vec<usize>,
    members: Vec<u32>,
    /// Shelves of document d: `own[own_begins[d]..own_begins[d + 1]]`.
    own_begins: Vec<usize>,
    own: Vec<u32>,
}

impl ShelvedDocuments {
    /// Creates the shelves of `documents` documents, of which the first `given` are given. Each element of `shelves`
    /// lists the documents on a shelf, ascending.
    ///
    /// Documents with equal shingles are one document, whose place is the place of its first copy. `last[d]` is the
    /// number of documents whose place is before the last copy of document d; without further copies this is d.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if the length of `last` is not `documents`,
    /// or if a shelf does not ascend or contains a document that does not exist.
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

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Reports whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Returns the members of a shelf, ascending.
    #[must_use]
    pub fn shelf(&self, shelf: usize) -> &[u32] {
        &self.members[self.begins[shelf]..self.begins[shelf + 1]]
    }

    /// Returns the number of shelves.
    #[must_use]
    pub fn shelves(&self) -> usize {
        self.begins.len() - 1
    }

    fn own(&self, document: u32) -> &[u32] {
        let document = document as usize;
        &self.own[self.own_begins[document]..self.own_begins[document + 1]]
    }

    /// Reports whether both documents are on one of the shelves before `shelf`.
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

/// Pairs that one round compares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asks {
    /// Listed pairs, each once, with the earlier document first.
    pub pairs: Vec<(u32, u32)>,
    /// Shelves with too many pairs to list. A pair may be in several blocks.
    pub blocks: Vec<Block>,
}

impl Asks {
    /// Reports whether there are no pairs to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.blocks.is_empty()
    }
}

/// Pairs of one shelf that are not listed: each row that [is asking](BlockRow::is_asking) with each other row for which
/// [`BlockRow::asks`] returns `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// Number of the shelf.
    pub shelf: usize,
    /// Whether the shelf cannot be full, so that each pair of rows is also compared in every other block with both
    /// documents.
    pub is_whole: bool,
    /// Rows of the shelf, in ascending order of documents.
    pub rows: Vec<BlockRow>,
}

/// Rounds of star clustering: decisions, and the pairs that each round compares.
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
    state: Vec<MemberState>,
    front: Vec<u16>,
    decided: Vec<u16>,
    /// Whether each membership has asked: the member is kept, and an earlier round compared it with all later members.
    asked: Vec<bool>,
    edges: Vec<Edge>,
    round: u16,
}

impl StarAsks {
    /// Creates the state before the first round. A shelf takes the first `most` kept documents.
    #[must_use]
    pub fn new(shelved: ShelvedDocuments, most: usize) -> Self {
        let documents = shelved.len();
        let mut state = vec![MemberState::Undecided; documents];
        state[..(shelved.given as usize).min(documents)].fill(MemberState::Kept);
        let decided =
            state.iter().map(|&state| if state == MemberState::Kept { 0 } else { u16::MAX }).collect();
        Self {
            most,
            limits: BlockLimits::default(),
            state,
            front: vec![0; documents],
            decided,
            asked: vec![false; shelved.members.len()],
            edges: vec![],
            round: 0,
            shelved,
        }
    }

    /// Sets the limits above which a shelf becomes a block.
    #[must_use]
    pub fn with_limits(self, limits: BlockLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the documents on their shelves.
    #[must_use]
    pub fn shelved(&self) -> &ShelvedDocuments {
        &self.shelved
    }

    /// Returns all similar pairs so far, with document numbers as ranks.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the documents that are kept so far, ascending.
    #[must_use]
    pub fn kept(&self) -> Vec<u64> {
        (0..)
            .zip(&self.state)
            .filter(|(_, state)| **state == MemberState::Kept)
            .map(|(number, _)| number)
            .collect()
    }

    /// Returns the number of undecided documents.
    #[must_use]
    pub fn undecided(&self) -> usize {
        self.state.iter().filter(|&&state| state == MemberState::Undecided).count()
    }

    /// Takes the similar pairs of the previous round, decides, and returns the pairs of the next round. If there are no
    /// more pairs, every document is decided, and `edges` has every pair that decides which kept document a removed
    /// document belongs to.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a pair names a document that does not
    /// exist or the same document twice, or if a similarity is not a number from 0 to 1.
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
            // If earlier rounds compared all pairs of this round, the caller has nothing to compare, so the next round
            // begins at once.
            if !asks.is_empty() || self.undecided() == 0 {
                return Ok(asks);
            }
        }
    }

    /// Decides about all documents of which enough is known. Returns whether any document was decided.
    fn decide(&mut self) -> Result<bool, Error> {
        let waits = self.waits();
        let documents: Vec<Ranked> = (0..)
            .zip(self.state.iter().zip(waits))
            .map(|(rank, (state, MemberWait { unasked, .. }))| Ranked {
                rank,
                known: match state {
                    MemberState::Kept => PriorState::Kept,
                    MemberState::Removed => PriorState::Removed { unasked },
                    MemberState::Undecided => PriorState::Undecided { unasked },
                },
            })
            .collect();
        let mut is_changed = false;
        for (at, standing) in decide_round(&documents, &self.edges)?.into_iter().enumerate() {
            let state = match standing {
                Standing::Undecided => continue,
                Standing::Kept => MemberState::Kept,
                Standing::Duplicate { .. } | Standing::Removed => MemberState::Removed,
            };
            if self.state[at] == MemberState::Undecided {
                (self.state[at], self.decided[at]) = (state, self.round);
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// Returns the members of a shelf with their states.
    fn members(&self, shelf: usize) -> impl Iterator<Item = ShelfMember> {
        let begin = self.shelved.begins[shelf];
        self.shelved.shelf(shelf).iter().enumerate().map(move |(at, &document)| {
            let number = document as usize;
            ShelfMember {
                document,
                last: self.shelved.last[number],
                state: self.state[number],
                front: self.front[number],
                decided: self.decided[number],
                has_asked: self.asked[begin + at],
                is_given: document < self.shelved.given,
            }
        })
    }

    /// Returns one wait per document: the sum of its waits on all its shelves.
    fn waits(&self) -> Vec<MemberWait> {
        let mut waits = vec![MemberWait::default(); self.shelved.len()];
        let (rule, mut members) = (StarShelf::new(self.most, self.round), vec![]);
        for shelf in 0..self.shelved.shelves() {
            members.clear();
            members.extend(self.members(shelf));
            rule.each_wait(&members, |member, wait| {
                let all = &mut waits[member.document as usize];
                all.unasked += wait.unasked;
                all.is_behind |= wait.is_behind;
            });
        }
        waits
    }

    /// Moves an undecided document to the front if no shelf of the document keeps it back.
    fn advance_front(&mut self) {
        for (number, wait) in self.waits().into_iter().enumerate() {
            if self.state[number] == MemberState::Undecided && self.front[number] == 0 && !wait.is_behind {
                self.front[number] = self.round;
            }
        }
    }

    /// Returns the pairs of the current round.
    fn asks(&mut self) -> Asks {
        self.advance_front();
        let (rule, mut shelves, mut members) = (StarShelf::new(self.most, self.round), vec![], vec![]);
        for shelf in 0..self.shelved.shelves() {
            members.clear();
            members.extend(self.members(shelf));
            let rows = rule.rows(&members);
            if rows.iter().any(|row| row.is_asking()) {
                shelves.push((shelf, rows));
            }
        }
        for (shelf, rows) in &mut shelves {
            let begin = self.shelved.begins[*shelf];
            for (at, row) in rows.iter().enumerate() {
                self.asked[begin + at] |= row.has(BlockRow::ASKING);
            }
            BlockRow::retain_needed(rows);
        }
        // If no shelf can be full, a pair that is compared on one shelf is compared on every shelf that both documents
        // have.
        let once = self.shelved.largest() <= self.most;
        listed(&self.shelved, shelves, self.limits, self.most, once)
    }
}

/// Lists the pairs of small shelves, and makes blocks of large shelves. If `once`, a pair that is compared on one shelf
/// is compared on every shelf that both documents have, so only the first of these shelves lists it.
fn listed(
    shelved: &ShelvedDocuments,
    shelves: Vec<(usize, Vec<BlockRow>)>,
    limits: BlockLimits,
    most: usize,
    once: bool,
) -> Asks {
    let mut asks = Asks::default();
    let are_blocks = limits.are_blocks(shelves.iter().map(|(_, rows)| rows.as_slice()));
    let once = once && !are_blocks.contains(&true);
    for ((shelf, rows), is_block) in shelves.into_iter().zip(are_blocks) {
        if is_block {
            asks.blocks.push(Block { shelf, is_whole: shelved.shelf(shelf).len() <= most, rows });
            continue;
        }
        BlockRow::each_pair(&rows, |earlier, later| {
            // Near-duplicates share several shelves, which would all list the pair.
            let (a, b) = (earlier.document, later.document);
            if !(once && shelved.share_before(shelf, a, b)) {
                asks.pairs.push((a, b));
            }
        });
    }
    asks.pairs.sort_unstable();
    asks.pairs.dedup();
    asks
}

/// Rounds of connected components, or the only round of all similar pairs: the pairs that each round compares.
#[derive(Debug, Clone)]
pub struct ComponentAsks {
    shelved: ShelvedDocuments,
    most: usize,
    limits: BlockLimits,
    forest: Forest,
    /// Whether pairs of connected documents are left out.
    joins: bool,
    round: u16,
}

impl ComponentAsks {
    /// Creates the state before the first round. A document is compared with the first `most` documents on each of its
    /// shelves.
    #[must_use]
    pub fn new(shelved: ShelvedDocuments, most: usize) -> Self {
        let forest = Forest::new(shelved.len());
        Self { shelved, most, limits: BlockLimits::default(), forest, joins: true, round: 0 }
    }

    /// Creates a state whose only round compares every pair.
    #[must_use]
    pub fn of_pairs(shelved: ShelvedDocuments, most: usize) -> Self {
        Self { joins: false, ..Self::new(shelved, most) }
    }

    /// Sets the limits above which a shelf becomes a block.
    #[must_use]
    pub fn with_limits(self, limits: BlockLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the documents on their shelves.
    #[must_use]
    pub fn shelved(&self) -> &ShelvedDocuments {
        &self.shelved
    }

    /// Returns, per document, the first document that it is connected with.
    pub fn firsts(&mut self) -> Vec<u32> {
        (0..self.shelved.len() as u32).map(|document| self.forest.first(document)).collect()
    }

    /// Takes the similar pairs of the previous round and returns the pairs of the next round.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a pair contains a document that does not
    /// exist.
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
            let rule = JoinShelf::new(self.joins, self.most, self.round, largest);
            let asks = self.asks(rule, largest);
            if !asks.is_empty() || rule.is_last() {
                return Ok(asks);
            }
        }
    }

    fn asks(&mut self, rule: JoinShelf, largest: usize) -> Asks {
        let firsts = self.firsts();
        let (mut shelves, mut members) = (vec![], vec![]);
        for shelf in 0..self.shelved.shelves() {
            members.clear();
            members.extend(self.shelved.shelf(shelf).iter().map(|&document| JoinMember {
                document,
                component: if self.joins { firsts[document as usize] } else { document },
                is_given: document < self.shelved.given,
            }));
            let rows = rule.rows(&members);
            if !rows.is_empty() {
                shelves.push((shelf, rows));
            }
        }
        // The fronts of shelves differ, so a pair may be compared on one of its shelves now and on another one later.
        let once = !self.joins && largest <= self.most;
        listed(&self.shelved, shelves, self.limits, self.most, once)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::{Judge, Neighbourhood, Verdict, Visit, components, name_keepers, pairs, star};
    use crate::hash::SplitMix64;

    /// Documents on shelves, their similarities, and their visits.
    struct World {
        shelves: Vec<Vec<u32>>,
        similarities: Vec<f64>,
        documents: usize,
        given: u32,
        /// Document of each visit. Documents are numbered in the order of their first visits.
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
            // Few distinct values, so ties occur.
            let similarities = (0..documents * documents)
                .map(|_| if below(similar_in) == 0 { 0.8 + below(3) as f64 / 10.0 } else { 0.1 })
                .collect();
            let mut visits = vec![];
            for document in 0..documents as u32 {
                visits.push(document);
                // Copies between given documents are skipped, because they decide nothing.
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
            // Number of documents whose first visit is before the current visit.
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

        /// Returns the similar pairs among the pairs of a round, and the number of compared pairs.
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
        match seed % 3 {
            0 => BlockLimits::default(),
            1 => BlockLimits { asking: 2, pairs: 6, ..BlockLimits::default() },
            _ => BlockLimits { listed: 60, ..BlockLimits::default() },
        }
    }

    /// Documents of a test, where each shelf and each component is computed without all others, as on a machine of its
    /// own.
    struct Apart {
        shelved: ShelvedDocuments,
        state: Vec<MemberState>,
        front: Vec<u16>,
        decided: Vec<u16>,
        /// Members of shelves that can be full, if an earlier round compared the member with all later members.
        asked: BTreeSet<(usize, u32)>,
        edges: Vec<Edge>,
        round: u16,
    }

    impl Apart {
        fn new(world: &World) -> Self {
            let is_given = |document| (document as u32) < world.given;
            let of = |document| if is_given(document) { MemberState::Kept } else { MemberState::Undecided };
            Self {
                shelved: world.shelved(),
                state: (0..world.documents).map(of).collect(),
                front: vec![0; world.documents],
                decided: (0..world.documents).map(|one| if is_given(one) { 0 } else { u16::MAX }).collect(),
                asked: BTreeSet::new(),
                edges: vec![],
                round: 0,
            }
        }

        fn members(&self, shelf: usize, world: &World) -> Vec<ShelfMember> {
            let rule = StarShelf::new(world.most, self.round);
            let can_be_full = self.shelved.shelf(shelf).len() > world.most;
            let member = |&document: &u32| {
                let (state, decided) = (self.state[document as usize], self.decided[document as usize]);
                let has_asked = if can_be_full {
                    self.asked.contains(&(shelf, document))
                } else {
                    rule.has_asked(state, decided)
                };
                let (last, front) = (self.shelved.last[document as usize], self.front[document as usize]);
                ShelfMember {
                    document,
                    last,
                    state,
                    front,
                    decided,
                    has_asked,
                    is_given: document < world.given,
                }
            };
            self.shelved.shelf(shelf).iter().map(member).collect()
        }

        /// Decides about each component of similar undecided documents without the other components. Returns the waits
        /// of all documents, and whether any document was decided.
        fn decide(&mut self, world: &World) -> (Vec<MemberWait>, bool) {
            let mut waits = vec![MemberWait::default(); world.documents];
            for shelf in 0..self.shelved.shelves() {
                let rule = StarShelf::new(world.most, self.round);
                rule.each_wait(&self.members(shelf, world), |member, wait| {
                    waits[member.document as usize].unasked += wait.unasked;
                    waits[member.document as usize].is_behind |= wait.is_behind;
                });
            }
            let mut forest = Forest::new(world.documents);
            let state = |rank: u64| self.state[rank as usize];
            let open: Vec<Edge> = self
                .edges
                .iter()
                .filter(|edge| state(edge.a.max(edge.b)) == MemberState::Undecided)
                .filter(|edge| state(edge.a.min(edge.b)) != MemberState::Removed)
                .copied()
                .collect();
            for edge in open.iter().filter(|edge| state(edge.a.min(edge.b)) == MemberState::Undecided) {
                forest.join(edge.a as u32, edge.b as u32);
            }
            // The documents of each component, and the edges of the component.
            let mut components: BTreeMap<u32, (BTreeMap<u64, PriorState>, Vec<Edge>)> = BTreeMap::new();
            for document in 0..world.documents as u32 {
                if self.state[document as usize] == MemberState::Undecided {
                    let known = PriorState::Undecided { unasked: waits[document as usize].unasked };
                    let own = components.entry(forest.first(document)).or_default();
                    own.0.insert(document.into(), known);
                }
            }
            for edge in open {
                let own = components.entry(forest.first(edge.a.max(edge.b) as u32)).or_default();
                own.0.entry(edge.a.min(edge.b)).or_insert(PriorState::Kept);
                own.1.push(edge);
            }
            let mut changes = vec![];
            for (own, edges) in components.into_values() {
                let documents: Vec<Ranked> =
                    own.iter().map(|(&rank, &known)| Ranked { rank, known }).collect();
                let standings = decide_round(&documents, &edges).unwrap();
                for (document, standing) in documents.iter().zip(standings) {
                    match (document.known, standing) {
                        (PriorState::Kept, _) | (_, Standing::Undecided) => {}
                        (_, Standing::Kept) => changes.push((document.rank, MemberState::Kept)),
                        _ => changes.push((document.rank, MemberState::Removed)),
                    }
                }
            }
            for &(rank, state) in &changes {
                (self.state[rank as usize], self.decided[rank as usize]) = (state, self.round);
            }
            (waits, !changes.is_empty())
        }

        fn next_round(&mut self, world: &World, limits: BlockLimits, similar: &[(u32, u32, f64)]) -> Asks {
            let edge = |&(a, b, similarity): &(u32, u32, f64)| Edge { a: a.into(), b: b.into(), similarity };
            self.edges.extend(similar.iter().map(edge));
            loop {
                self.round += 1;
                let waits = loop {
                    let (waits, is_changed) = self.decide(world);
                    if !is_changed {
                        break waits;
                    }
                };
                for (document, wait) in waits.iter().enumerate() {
                    let is_undecided = self.state[document] == MemberState::Undecided;
                    if is_undecided && self.front[document] == 0 && !wait.is_behind {
                        self.front[document] = self.round;
                    }
                }
                let (mut asks, mut shelves) = (Asks::default(), vec![]);
                for shelf in 0..self.shelved.shelves() {
                    let mut rows = StarShelf::new(world.most, self.round).rows(&self.members(shelf, world));
                    let asking = rows.iter().filter(|row| row.has(BlockRow::ASKING));
                    self.asked.extend(asking.map(|row| (shelf, row.document)));
                    BlockRow::retain_needed(&mut rows);
                    shelves.push(rows);
                }
                let are_blocks = limits.are_blocks(shelves.iter().map(Vec::as_slice));
                for (shelf, (rows, is_block)) in shelves.into_iter().zip(are_blocks).enumerate() {
                    if is_block {
                        let is_whole = self.shelved.shelf(shelf).len() <= world.most;
                        asks.blocks.push(Block { shelf, is_whole, rows });
                    } else {
                        BlockRow::each_pair(&rows, |a, b| asks.pairs.push((a.document, b.document)));
                    }
                }
                asks.pairs.sort_unstable();
                asks.pairs.dedup();
                if !asks.is_empty() || !self.state.contains(&MemberState::Undecided) {
                    return asks;
                }
            }
        }
    }

    fn check_star(mut world: World, limits: BlockLimits) -> (usize, usize) {
        let mut rounds = StarAsks::new(world.shelved(), world.most).with_limits(limits);
        let mut apart = Apart::new(&world);
        let (mut similar, mut asked, mut count) = (vec![], 0, 0);
        loop {
            let asks = rounds.next_round(&similar).unwrap();
            assert_eq!(apart.next_round(&world, limits, &similar), asks, "apart");
            assert_eq!(apart.state, rounds.state, "apart");
            if asks.is_empty() {
                break;
            }
            let (found, compared) = world.answer(&asks);
            (similar, asked, count) = (found, asked + compared, count + 1);
            assert!(count <= world.documents, "rounds end");
        }
        assert_eq!(rounds.undecided(), 0);
        // Further visits of a document lie between the first visits of other documents.
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

    /// In round 2, document 8 waits until 7 has asked, although round 1 compared the two. So round 2 compares no pair,
    /// but a later round is needed.
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

    /// A copy that comes after its shelf is full must not meet documents that the shelf left out.
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
        // In one family, the first document is compared with all others.
        let (rounds, asked) = check_star(world(0.9), BlockLimits::default());
        assert!(rounds <= 2 && asked < documents + 200, "{rounds} rounds, {asked} pairs");
        // In a form whose copies are not similar, every pair is compared once.
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
