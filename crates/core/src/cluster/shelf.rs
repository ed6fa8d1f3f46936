//! One shelf in a round: which members wait, and which pairs are compared next. A shelf has the documents with one band
//! key.
//!
//! - **Idea.** Which pairs of a shelf are compared next depends only on the states of its members, not on other
//!   shelves. The number of members that a document waits for is the sum over its shelves. A document comes to the
//!   front if it is not behind on any of its shelves. So each machine can process a shelf without the other shelves.
//!   [`StarAsks`](super::StarAsks) has all shelves in the memory of one machine and uses the same functions.
//! - **Separate decisions.** Once the waiting members are counted, decisions depend on similar pairs only. So
//!   [`decide_round`](super::decide_round) decides each component of documents that similar pairs connect without the
//!   others. Decisions that are made meanwhile can only lower the true counts: a removed member no longer matters, and
//!   a full shelf stays full. So an outdated count delays a decision and never changes it. This holds for full shelves
//!   too, although a kept document that is similar to none of the others may decide whether a document is on such a
//!   shelf.
//! - **Cost.** Two passes over the members of a shelf per round.

use std::cmp::Reverse;

/// Number of documents per shelf that the first round compares with one another.
const FIRST_FRONT: usize = 4;
/// Factor by which the front grows per round.
const GROWTH: usize = 4;

/// Minimum number of asking documents with which a shelf becomes a block, if otherwise too many pairs would be listed.
/// A row of a block takes as many bytes as about four listed pairs, so smaller blocks save nothing.
const LEAST_ASKING: usize = 5;

/// Limits above which the pairs of a shelf become a [`Block`](super::Block) and are not listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value that callers construct")]
pub struct BlockLimits {
    /// Smallest number of asking documents of a block.
    pub asking: usize,
    /// Smallest number of pairs of a block, counted as asking documents × members.
    pub pairs: usize,
    /// Largest number of pairs that are listed per round, over all shelves, counted as asking documents × members. The
    /// pairs of shelves with at most four asking documents are listed even above this number.
    pub listed: usize,
}

impl Default for BlockLimits {
    fn default() -> Self {
        // A listed pair sends two sketches to a machine, and a block sends each sketch once per 32,768 asking
        // documents. Lists of eight million pairs take some 500 MB.
        Self { asking: 16, pairs: 1 << 20, listed: 8_000_000 }
    }
}

impl BlockLimits {
    /// Returns, for the rows of each shelf of a round, whether the shelf becomes a block.
    ///
    /// A shelf that reaches both `asking` and `pairs` becomes a block. If the other shelves have more than `listed`
    /// pairs together, the shelves with the most asking documents become blocks too, because a block saves the most
    /// there.
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
            // The order of the shelves breaks ties, so that every run makes the same blocks.
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

/// A document in a [`Block`](super::Block) or on a shelf whose pairs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct BlockRow {
    /// The document.
    pub document: u32,
    /// Number of documents before the last copy of this document in keeper order.
    pub last: u32,
    /// Round in which the document came to the front; 0 if it did not come to the front yet.
    pub front: u16,
    /// Round that decided about the document; `u16::MAX` if it is undecided.
    pub decided: u16,
    /// Set of the bits `KEPT` to `JOINS`.
    pub kind: u16,
    /// Component of the document; 0 in stars.
    pub component: u32,
}

impl BlockRow {
    /// The document is kept.
    pub const KEPT: u16 = 1;
    /// The document is removed.
    pub const REMOVED: u16 = 2;
    /// The document is kept, and this round compares it with all later members.
    pub const ASKING: u16 = 4;
    /// The document is in the front.
    pub const FRONT: u16 = 8;
    /// The document came to the front in the current round.
    pub const NEW: u16 = 16;
    /// The document is certain to be on the shelf if it is kept.
    pub const PLACED: u16 = 32;
    /// The document is given: it is kept without comparison, as a reference is.
    pub const GIVEN: u16 = 64;
    /// The shelf is one of components or pairs, not of stars.
    pub const JOINS: u16 = 128;

    /// Reports whether at least one of the bits in `kind` is set.
    #[must_use]
    pub fn has(self, kind: u16) -> bool {
        self.kind & kind != 0
    }

    /// Reports whether this round compares the document with other members of the shelf.
    #[must_use]
    pub fn is_asking(self) -> bool {
        self.has(Self::ASKING | Self::NEW)
    }

    /// Reports whether this round compares the documents of an earlier and a later row.
    #[must_use]
    pub fn asks(earlier: Self, later: Self) -> bool {
        if later.has(Self::JOINS) {
            return earlier.has(Self::PLACED)
                && (earlier.is_asking() || later.is_asking())
                && earlier.component != later.component
                && !(earlier.has(Self::GIVEN) && later.has(Self::GIVEN));
        }
        // A document of the front is always placed, so PLACED is not checked.
        if earlier.has(Self::FRONT) && later.has(Self::FRONT) {
            return earlier.has(Self::NEW) || later.has(Self::NEW);
        }
        // The row of a removed document stands for its copies, too. If the last copy comes after a kept document, the
        // removed document is therefore compared with this kept document.
        let is_wanted = earlier.has(Self::ASKING) && !later.has(Self::KEPT)
            || later.has(Self::ASKING) && earlier.has(Self::REMOVED) && earlier.last > later.document;
        is_wanted && !Self::were_compared(earlier, later)
    }

    /// Removes the rows of a shelf that are compared with no other row in this round.
    pub fn retain_needed(rows: &mut Vec<Self>) {
        if rows.iter().any(|row| row.has(Self::JOINS)) {
            return;
        }
        // Asking kept documents are compared with all documents that are not kept. If there are none, only documents of
        // the front are compared.
        let has_kept = rows.iter().any(|row| row.has(Self::ASKING));
        rows.retain(|row| row.has(Self::FRONT | Self::ASKING) || has_kept && !row.has(Self::KEPT));
    }

    /// Calls `each` with every pair of rows that this round compares, first the earlier row, then the later row.
    pub fn each_pair(rows: &[Self], mut each: impl FnMut(Self, Self)) {
        for (at, &row) in rows.iter().enumerate().filter(|(_, row)| row.is_asking()) {
            for (other_at, &other) in rows.iter().enumerate() {
                // If both rows ask, the earlier row lists the pair.
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

    /// Reports whether an earlier round compared the two documents, because both were in the front in that round.
    fn were_compared(self, other: Self) -> bool {
        self.front > 0
            && other.front > 0
            && self.front.max(other.front) < self.decided.min(other.decided)
            && self.has(Self::PLACED)
            && other.has(Self::PLACED)
    }
}

/// State of a document between rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberState {
    /// The known pairs do not decide about the document yet.
    Undecided,
    /// The document is kept.
    Kept,
    /// The document is a near-duplicate of a kept document.
    Removed,
}

/// A document on a shelf of star clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row that a job on several machines makes of its columns")]
pub struct ShelfMember {
    /// Number of the document; the members of a shelf are ascending.
    pub document: u32,
    /// Number of documents before the last copy of this document in keeper order.
    pub last: u32,
    /// State of the document.
    pub state: MemberState,
    /// Round in which the document came to the front; 0 if it did not come to the front yet.
    pub front: u16,
    /// Round that decided about the document: 0 if the document is given, `u16::MAX` if it is undecided.
    pub decided: u16,
    /// Whether the document is kept and an earlier round compared it with all later members of this shelf.
    pub has_asked: bool,
    /// Whether the document is given.
    pub is_given: bool,
}

/// Reasons why a member of a shelf waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemberWait {
    /// Number of earlier members that may be kept and were not compared with this member; 0 if this member is decided.
    pub unasked: u64,
    /// Whether this shelf keeps the member from coming to the front.
    pub is_behind: bool,
}

/// Counts of the members of a shelf that come before a given member.
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

    /// Reports whether the next member is certain to be on the shelf if it is kept: the counted members cannot fill the
    /// shelf, even if all undecided ones are kept.
    fn is_placed(self, most: usize) -> bool {
        self.kept + self.undecided < most
    }

    /// Reports whether the counted members already fill the shelf.
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
    /// Creates a shelf that takes the first `most` kept documents. Rounds are counted from 1.
    #[must_use]
    pub fn new(most: usize, round: u16) -> Self {
        let growth = GROWTH.saturating_pow(u32::from(round.saturating_sub(1)));
        Self { most, round, width: FIRST_FRONT.saturating_mul(growth) }
    }

    /// Reports whether an earlier round compared a kept member with all later members, on a shelf that can never be
    /// full. On other shelves a member asks only once it is certain to be on the shelf, so the caller has to remember
    /// it.
    #[must_use]
    pub fn has_asked(self, state: MemberState, decided: u16) -> bool {
        // Given documents ask in the first round.
        state == MemberState::Kept && decided.max(1) < self.round
    }

    /// Calls `each` with every member and its wait.
    pub fn each_wait(self, members: &[ShelfMember], mut each: impl FnMut(&ShelfMember, MemberWait)) {
        let mut before = Before::default();
        // Counts of earlier members that matter: `waiting` are kept and have not asked, `in_front` are undecided and in
        // the front, `behind` are undecided and not in the front.
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

    /// Returns one row per member of the shelf.
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
    /// Number of the document; the members of a shelf are ascending.
    pub document: u32,
    /// Component of the document so far; pairs within a component are not compared. For pairs, each document is a
    /// component.
    pub component: u32,
    /// Whether the document is given.
    pub is_given: bool,
}

/// A shelf in a round of connected components, or in the only round of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinShelf {
    joins: bool,
    most: usize,
    is_first: bool,
    /// Number of first members that earlier rounds compared with one another. `compared` is this number after the
    /// round.
    before: usize,
    compared: usize,
    largest: usize,
}

impl JoinShelf {
    /// Creates a shelf in a round counted from 1. `largest` is the number of members of the largest shelf of all. A
    /// document is compared with the first `most` documents of the shelf. If `joins` is `false`, the first round
    /// compares all pairs.
    #[must_use]
    pub fn new(joins: bool, most: usize, round: u16, largest: usize) -> Self {
        // `compared(1)` is 1, because round 1 compares only the first member with all others.
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

    /// Returns the rows of a shelf, or none if the shelf has no pairs in this round.
    #[must_use]
    pub fn rows(self, members: &[JoinMember]) -> Vec<BlockRow> {
        let end = if self.joins && self.is_first { members.len() } else { members.len().min(self.compared) };
        // The first round compared the first member with all others.
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

    /// Returns the rows of a shelf whose first `asking` documents ask.
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
        // Lists of the pairs of few asking documents take less memory than blocks.
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
