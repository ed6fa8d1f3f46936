//! Connected components.
//!
//! - **Idea.** Two documents belong together if a chain of similar pairs leads from one to the other.
//! - **Cost.** A pair is compared only if its documents are not connected yet, so a family (a group of near-duplicates)
//!   of n documents costs about n comparisons.
//! - **Given.** Given documents are not compared with each other, so they are connected only through other documents.
//! - **Use when** a whole family should be one cluster, however different its ends are.
//! - **Do not** use it to remove documents unless whole families should be removed: the two ends of a chain may share
//!   nothing.

use super::neighbourhood::Meetings;
use super::{Judge, Neighbourhood, SimilarDocuments};

/// Number of documents per shelf that a document is compared with first. If a family fills the shelf, one of these
/// comparisons usually connects the document with the whole shelf.
const FIRST: usize = 8;

/// Returns, per document, the first document in keeper order that it is connected with, which may be the document
/// itself. A document is compared with the first `most` documents on each of its shelves.
///
/// Calls `found` with every similar pair that was compared. Similar pairs whose documents are connected already are not
/// compared.
///
/// # Errors
/// Returns the first error of `judge`. There are no other errors.
pub fn components<J: Judge>(
    neighbourhood: &Neighbourhood,
    most: usize,
    judge: &mut J,
    mut found: impl FnMut(&SimilarDocuments<'_>),
) -> Result<Vec<u32>, J::Error> {
    let mut meetings = Meetings::new(neighbourhood, most);
    let mut connected = Connected::new(neighbourhood);
    let is_given = |document: u32| document < neighbourhood.given();
    // Per document of the block: whether it is connected with all documents that were put on its shelves before the
    // block.
    let (mut block, mut settled): (_, Vec<bool>) = (0..0, vec![]);
    // Similar pairs found before `look` was called for their later document. They wait here for the shares of its
    // shelves.
    let mut early: Vec<Early> = vec![];
    for document in 0..neighbourhood.len() as u32 {
        if document == block.end {
            block = document..(document + meetings.block_len() as u32).min(neighbourhood.len() as u32);
            settled.clear();
            for one in block.clone() {
                let is_settled = is_given(one) || connected.settle(one, &mut meetings, judge, &mut early)?;
                settled.push(is_settled);
            }
            let open = block.clone().filter(|one| !settled[(one - block.start) as usize]);
            meetings.begin(open.map(|one| (one, 0)), judge)?;
        }
        let from = if is_given(document) || connected.settle(document, &mut meetings, judge, &mut early)? {
            u32::MAX
        } else if settled[(document - block.start) as usize] {
            block.start
        } else {
            0
        };
        let forest = &mut connected.forest;
        meetings.look(document, from, |other| forest.are_joined(document, other), judge)?;
        early.retain(|pair| {
            let is_now = pair.document == document;
            if is_now {
                let &Early { document, earlier, similarity } = pair;
                found(&SimilarDocuments { document, earlier, similarity, shares: &meetings.shares });
            }
            !is_now
        });
        for &earlier in &meetings.open {
            if forest.are_joined(document, earlier) {
                continue;
            }
            if let Some(similarity) = judge.similarity(document, earlier)? {
                found(&SimilarDocuments { document, earlier, similarity, shares: &meetings.shares });
                forest.join(document, earlier);
            }
        }
        connected.note(document, &meetings.own);
        meetings.put(document, judge)?;
    }
    // If all documents of a shelf are connected with one another, the documents that it left out are connected with
    // them too, so the shelf lost nothing.
    meetings.end(|shelf| connected.together[shelf as usize] == ShelfState::Apart, judge);
    Ok((0..neighbourhood.len() as u32).map(|document| connected.forest.first(document)).collect())
}

/// A similar pair found before [`Meetings::look`] was called for its later document.
struct Early {
    document: u32,
    earlier: u32,
    similarity: f64,
}

/// Connections that were found so far.
struct Connected {
    forest: Forest,
    /// State per shelf. If all documents of a shelf are connected, a document that is connected with one of them skips
    /// the others, so a large family takes linear time.
    together: Vec<ShelfState>,
    has_shelves: bool,
}

/// State of a shelf: whether all its documents are connected with one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShelfState {
    Empty,
    With(u32),
    Apart,
}

impl Connected {
    fn new(neighbourhood: &Neighbourhood) -> Self {
        Self {
            forest: Forest::new(neighbourhood.len()),
            together: vec![ShelfState::Empty; neighbourhood.shelves()],
            has_shelves: !neighbourhood.is_of_pairs(),
        }
    }

    /// Reports whether a document is connected with every document on its shelves. On each shelf whose documents are
    /// connected with one another, the document is first compared with the first [`FIRST`] of them.
    fn settle<J: Judge>(
        &mut self,
        document: u32,
        meetings: &mut Meetings<'_>,
        judge: &mut J,
        early: &mut Vec<Early>,
    ) -> Result<bool, J::Error> {
        if !self.has_shelves {
            return Ok(false);
        }
        meetings.find_own(document, judge)?;
        let (mut all, mut open, mut tried) = (true, vec![], vec![]);
        for i in 0..meetings.own.len() {
            let shelf = meetings.own[i];
            let one = match self.together[shelf as usize] {
                ShelfState::Empty => continue,
                ShelfState::With(one) => one,
                ShelfState::Apart => {
                    all = false;
                    continue;
                }
            };
            let mut first = [0; FIRST];
            for &earlier in meetings.first_of(shelf, &mut first) {
                if self.forest.are_joined(document, one) {
                    break;
                }
                if tried.contains(&earlier) {
                    continue;
                }
                tried.push(earlier);
                open.clear();
                judge.screen(document, &[earlier], &mut open)?;
                if !open.is_empty()
                    && let Some(similarity) = judge.similarity(document, earlier)?
                {
                    early.push(Early { document, earlier, similarity });
                    self.forest.join(document, earlier);
                }
            }
            all &= self.forest.are_joined(document, one);
        }
        Ok(all)
    }

    /// Updates the states of `shelves` after `document` was put on them.
    fn note(&mut self, document: u32, shelves: &[u32]) {
        for &shelf in shelves {
            let together = &mut self.together[shelf as usize];
            *together = match *together {
                ShelfState::Empty => ShelfState::With(document),
                ShelfState::With(one) if self.forest.are_joined(one, document) => ShelfState::With(one),
                ShelfState::With(_) | ShelfState::Apart => ShelfState::Apart,
            };
        }
    }
}

/// Union-find whose roots are the smallest members, so that the result does not depend on the order of joins.
#[derive(Debug, Clone)]
pub struct Forest(Vec<u32>);

impl Forest {
    /// Creates a forest in which every member is alone.
    #[must_use]
    pub fn new(members: usize) -> Self {
        Self((0..members as u32).collect())
    }

    /// Creates a forest from the links of its members: each member is linked to a smaller member of its tree, or to
    /// itself.
    pub(super) fn of_links(links: Vec<u32>) -> Self {
        Self(links)
    }

    /// Returns the smallest member that `member` is connected with.
    ///
    /// # Panics
    /// Panics if `member` does not exist.
    pub fn first(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            // Path halving: every second link is shortened, so later searches are faster.
            let parent = self.0[member as usize];
            self.0[member as usize] = self.0[parent as usize];
            member = self.0[member as usize];
        }
        member
    }

    /// Reports whether two members are connected.
    ///
    /// # Panics
    /// Panics if `a` or `b` does not exist.
    pub fn are_joined(&mut self, a: u32, b: u32) -> bool {
        self.first(a) == self.first(b)
    }

    /// Connects two members.
    ///
    /// # Panics
    /// Panics if `a` or `b` does not exist.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
