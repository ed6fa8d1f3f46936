//! One shelf in a round: which members wait, and which pairs are compared next.
//!
//! - **Idea.** The pairs of a shelf follow from the states of its members, and from no other shelf. A document waits for the sum of the
//!   members that it waits for on each of its shelves, and it comes to the front if it is behind on none of them. So machines
//!   can work on each shelf apart. [`StarAsks`](super::StarAsks) has all shelves in one memory and uses the same functions.
//! - **Apart.** Once the waiting members are counted, decisions depend on similar pairs only, so that each component of documents
//!   that similar pairs connect is decided apart by [`decide_round`](super::decide_round). Decisions that are made meanwhile only
//!   lower the true counts: a removed member no longer matters, and a full shelf stays full. So a count that is out of date
//!   delays a decision and never changes it. This holds for full shelves too, although whether a document stands on
//!   such a shelf depends on kept documents that are not similar to it.
//! - **Cost.** Two passes over the members of a shelf per round.

use std::cmp::Reverse;

/// The number of documents of a shelf that the first round compares with one another.
const FIRST_FRONT: usize = 4;
/// The front grows by this factor per round.
const GROWTH: usize = 4;

/// The fewest documents that ask on a shelf whose pairs are not listed because all shelves together have too many. A row of a block
/// takes as many bytes as about four listed pairs.
const LEAST_ASKING: usize = 5;

/// When the pairs of a shelf are a [`Block`](super::Block) and not listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct BlockLimits {
    /// The fewest documents that ask.
    pub asking: usize,
    /// The fewest pairs: documents that ask × members.
    pub pairs: usize,
    /// The most pairs that are listed of all shelves of a round together, counted as documents that ask × members. Shelves on which
    /// four documents or fewer ask are listed even above that.
    pub listed: usize,
}

impl Default for BlockLimits {
    fn default() -> Self {
        // A listed pair brings two sketches to a machine, and a block brings each sketch once per 32,768 documents that ask. Lists of
        // eight million pairs take some 500 MB.
        Self { asking: 16, pairs: 1 << 20, listed: 8_000_000 }
    }
}

impl BlockLimits {
    /// For the rows of each shelf of a round, whether its pairs are not listed one by one.
    ///
    /// Shelves with very many pairs are blocks. If the others have more than `listed` pairs together, those on which the most documents
    /// ask become blocks too, because a block saves the most there.
    #[must_use]
    pub fn are_blocks<'a>(self, shelves: impl Iterator<Item = &'a [BlockRow]>) -> Vec<bool> {
        let (mut blocks, mut others, mut listed) = (vec![], vec![], 0);
        for (at, rows) in shelves.enumerate() {
            let asking = rows.iter().filter(|row| row.is_asking()).count();
            let pairs = asking * rows.len();
            let is_block = asking >= self.asking && pairs >= self.pairs;
            blocks.push(is_block);
            if !is_block {
                listed += pairs;
                if asking >= LEAST_ASKING {
                    others.push((asking, pairs, at));
                }
            }
        }
        if listed > self.listed {
            // Shelves with as many documents that ask are taken in their order, so that every run makes the same blocks.
            others.sort_unstable_by_key(|&(asking, pairs, at)| (Reverse((asking, pairs)), at));
            for (_, pairs, at) in others {
                if listed <= self.listed {
                    break;
                }
                blocks[at] = true;
                listed -= pairs;
            }
        }
        blocks
    }
}

/// A document in a [`Block`](super::Block), or one whose pairs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
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

    /// Reports whether any of some bits is set.
    #[must_use]
    pub fn has(self, kind: u16) -> bool {
        self.kind & kind != 0
    }

    /// Reports whether the document has others to be compared with.
    #[must_use]
    pub fn is_asking(self) -> bool {
        self.has(Self::ASKING | Self::NEW)
    }

    /// Reports whether an earlier and a later row are to be compared.
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

    /// Leaves out the rows of a shelf that no row is compared with in this round.
    pub fn retain_needed(rows: &mut Vec<Self>) {
        if rows.iter().any(|row| row.has(Self::JOINS)) {
            return;
        }
        // Kept documents ask all others that are not kept. Without them, only documents of the front are compared.
        let has_kept = rows.iter().any(|row| row.has(Self::ASKING));
        rows.retain(|row| row.has(Self::FRONT | Self::ASKING) || has_kept && !row.has(Self::KEPT));
    }

    /// Calls `each` with every pair of rows that is to be compared, the earlier one first.
    pub fn each_pair(rows: &[Self], mut each: impl FnMut(Self, Self)) {
        for (at, &row) in rows.iter().enumerate().filter(|(_, row)| row.is_asking()) {
            for (other_at, &other) in rows.iter().enumerate() {
                // A pair of two that ask is listed by the earlier one.
                if other_at == at || other_at < at && other.is_asking() {
                    continue;
                }
                let (earlier, later) = if other_at < at { (other, row) } else { (row, other) };
                if Self::asks(earlier, later) {
                    each(earlier, later);
                }
            }
        }
    }

    /// Reports whether both rows were in the front together.
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
#[non_exhaustive]
pub enum MemberState {
    /// Too little is known.
    Undecided,
    /// The document stays.
    Kept,
    /// The document goes.
    Removed,
}

/// A document on a shelf of star clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct ShelfMember {
    /// The document; members of a shelf ascend.
    pub document: u32,
    /// The number of documents before its last copy.
    pub last: u32,
    /// The state.
    pub state: MemberState,
    /// The round in which the document came to the front; 0 if it did not.
    pub front: u16,
    /// The round that decided about the document: 0 if it is given, and `u16::MAX` if none did.
    pub decided: u16,
    /// Whether the document was kept and compared with all later members of this shelf.
    pub has_asked: bool,
    /// Whether the document is given.
    pub is_given: bool,
}

/// The reason why a member of a shelf waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemberWait {
    /// Earlier members that may be kept and were not compared with it; 0 if the member is decided.
    pub unasked: u64,
    /// Whether the member cannot come to the front yet.
    pub is_behind: bool,
}

/// How many members of a shelf stand before one of them.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    kept: usize,
    undecided: usize,
}

impl Before {
    fn count(&mut self, state: MemberState) {
        match state {
            MemberState::Kept => self.kept += 1,
            MemberState::Undecided => self.undecided += 1,
            MemberState::Removed => {}
        }
    }

    /// Reports whether a member is sure to stand on the shelf if it is kept.
    fn is_placed(self, most: usize) -> bool {
        self.kept + self.undecided < most
    }

    /// Reports whether the shelf is full without the member.
    fn is_full(self, most: usize) -> bool {
        self.kept >= most
    }
}

/// A shelf in one round of star clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StarShelf {
    most: usize,
    round: u16,
    width: usize,
}

impl StarShelf {
    /// Creates a shelf that takes the first `most` kept documents, in a round from 1.
    #[must_use]
    pub fn new(most: usize, round: u16) -> Self {
        let growth = GROWTH.saturating_pow(u32::from(round.saturating_sub(1)));
        Self { most, round, width: FIRST_FRONT.saturating_mul(growth) }
    }

    /// Reports whether a member that is kept asked all later ones in an earlier round, on a shelf that can never be
    /// full. Members of other shelves ask once they are sure to stand there, so that the caller has to remember it.
    #[must_use]
    pub fn has_asked(self, state: MemberState, decided: u16) -> bool {
        // Given documents ask in the first round.
        state == MemberState::Kept && decided.max(1) < self.round
    }

    /// Calls `each` with every member and what it waits for.
    pub fn each_wait(self, members: &[ShelfMember], mut each: impl FnMut(&ShelfMember, MemberWait)) {
        let mut before = Before::default();
        // Earlier members that matter: kept and not compared yet; undecided in the front; undecided behind it.
        let (mut waiting, mut in_front, mut behind) = (0, 0, 0);
        for member in members {
            let (is_placed, is_full) = (before.is_placed(self.most), before.is_full(self.most));
            let is_front = member.front > 0 && is_placed;
            let unasked = match member.state {
                MemberState::Undecided => waiting + behind + if is_front { 0 } else { in_front },
                MemberState::Kept | MemberState::Removed => 0,
            };
            let is_behind = before.undecided >= self.width || !is_placed && !is_full;
            each(member, MemberWait { unasked, is_behind });
            if !is_full {
                match member.state {
                    MemberState::Kept => waiting += u64::from(!member.has_asked),
                    MemberState::Undecided if is_front => in_front += 1,
                    MemberState::Undecided => behind += 1,
                    MemberState::Removed => {}
                }
            }
            before.count(member.state);
        }
    }

    /// Returns the rows of a shelf, one per member.
    #[must_use]
    pub fn rows(self, members: &[ShelfMember]) -> Vec<BlockRow> {
        let mut before = Before::default();
        let mut rows = Vec::with_capacity(members.len());
        for &ShelfMember { document, last, state, front, decided, has_asked, is_given } in members {
            let is_placed = before.is_placed(self.most);
            let mut kind = if is_placed { BlockRow::PLACED } else { 0 };
            match state {
                MemberState::Kept => {
                    kind |= BlockRow::KEPT;
                    if is_placed && !has_asked {
                        kind |= BlockRow::ASKING;
                    }
                }
                MemberState::Removed => kind |= BlockRow::REMOVED,
                MemberState::Undecided if front > 0 && is_placed => {
                    kind |= BlockRow::FRONT;
                    if front == self.round {
                        kind |= BlockRow::NEW;
                    }
                }
                MemberState::Undecided => {}
            }
            if is_given {
                kind |= BlockRow::GIVEN;
            }
            rows.push(BlockRow { document, last, front, decided, kind, component: 0 });
            before.count(state);
        }
        rows
    }
}

/// A document on a shelf of components or pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct JoinMember {
    /// The document; members of a shelf ascend.
    pub document: u32,
    /// Its component so far. Pairs within one component are not compared; for pairs, each document is its own.
    pub component: u32,
    /// Whether the document is given.
    pub is_given: bool,
}

/// A shelf in one round of connected components, or in the only round of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinShelf {
    joins: bool,
    most: usize,
    is_first: bool,
    /// Members that were compared with one another before this round, and that are after it.
    before: usize,
    compared: usize,
    largest: usize,
}

impl JoinShelf {
    /// Creates a shelf in a round from 1. The largest shelf of all has `largest` members, and a document is compared
    /// with the first `most` documents. If not `joins`, the first round compares all pairs.
    #[must_use]
    pub fn new(joins: bool, most: usize, round: u16, largest: usize) -> Self {
        // The first member asks all others in the first round.
        let compared = |round: u16| match round {
            0 => 0,
            _ if !joins => largest,
            round => GROWTH.saturating_pow(u32::from(round) - 1).min(largest),
        };
        let before = compared(round.saturating_sub(1));
        Self { joins, most, is_first: round <= 1, before, compared: compared(round), largest }
    }

    /// Reports whether no later round has pairs.
    #[must_use]
    pub fn is_last(self) -> bool {
        self.compared >= self.largest
    }

    /// Returns the rows of a shelf; none if it has no pairs in this round.
    #[must_use]
    pub fn rows(self, members: &[JoinMember]) -> Vec<BlockRow> {
        let end = if self.joins && self.is_first { members.len() } else { members.len().min(self.compared) };
        // The first member was compared with all others in the first round.
        let begin = usize::from(self.joins && !self.is_first).min(end);
        let members = &members[begin..end];
        let is_joined = members.iter().all(|member| member.component == members[0].component);
        if members.len() < 2 || is_joined || self.before >= end {
            return vec![];
        }
        let row = |(at, &JoinMember { document, component, is_given }): (usize, &JoinMember)| {
            let at = begin + at;
            let is_asking = if self.joins && self.is_first { at == 0 } else { at >= self.before };
            let mut kind = BlockRow::JOINS;
            kind |= if is_asking { BlockRow::NEW } else { 0 };
            kind |= if at < self.most { BlockRow::PLACED } else { 0 };
            kind |= if is_given { BlockRow::GIVEN } else { 0 };
            BlockRow { document, last: document, front: 0, decided: u16::MAX, kind, component }
        };
        members.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of a shelf of which the first documents ask.
    fn rows(asking: usize, members: usize) -> Vec<BlockRow> {
        let row = |at: usize| BlockRow {
            document: at as u32,
            last: at as u32,
            front: 1,
            decided: u16::MAX,
            kind: if at < asking { BlockRow::FRONT | BlockRow::NEW } else { BlockRow::FRONT },
            component: 0,
        };
        (0..members).map(row).collect()
    }

    #[test]
    fn shelves_with_the_most_pairs_are_blocks_if_all_have_too_many() {
        let shelves =
            [rows(4, 100), rows(5, 100), rows(20, 100), rows(20, 110), rows(30, 50), rows(100, 200)];
        let blocks = |listed| {
            let limits = BlockLimits { asking: 16, pairs: 20_000, listed };
            limits.are_blocks(shelves.iter().map(Vec::as_slice))
        };
        assert_eq!(blocks(6_600), [false, false, false, false, false, true]);
        assert_eq!(blocks(6_599), [false, false, false, false, true, true]);
        assert_eq!(blocks(5_099), [false, false, false, true, true, true]);
        assert_eq!(blocks(2_899), [false, false, true, true, true, true]);
        // Lists of shelves on which few documents ask take less room than blocks.
        assert_eq!(blocks(0), [false, true, true, true, true, true]);
    }

    #[test]
    fn rows_without_pairs_are_left_out() {
        let kinds = [BlockRow::KEPT, BlockRow::REMOVED, BlockRow::FRONT, BlockRow::FRONT | BlockRow::NEW, 0];
        let kept = |more: Option<u16>| {
            let all = kinds.into_iter().chain(more);
            let mut rows: Vec<BlockRow> = all.map(|kind| BlockRow { kind, ..rows(0, 1)[0] }).collect();
            BlockRow::retain_needed(&mut rows);
            rows.iter().map(|row| row.kind).collect::<Vec<u16>>()
        };
        assert_eq!(kept(None), [BlockRow::FRONT, BlockRow::FRONT | BlockRow::NEW]);
        let asking = BlockRow::KEPT | BlockRow::ASKING;
        assert_eq!(kept(Some(asking)), [kinds[1], kinds[2], kinds[3], kinds[4], asking]);
        let joins: Vec<u16> = kept(Some(BlockRow::JOINS));
        assert_eq!(joins.len(), kinds.len() + 1);
    }
}
