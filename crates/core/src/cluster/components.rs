//! Connected components.
//!
//! Idea       Two documents belong together when a chain of similar pairs leads from one to the other.
//! Cost       A pair is compared only if it is not yet connected, so a family of n costs about n comparisons.
//! Given      Documents that are given are connected only through others.
//! Use when   a whole family is to be one cluster, however far apart its ends are.
//! Do not     use it to remove documents unless that is what is wanted: the two ends of a chain may share nothing.

use super::neighbourhood::Shelves;
use super::{Found, Judge, Neighbourhood};
use crate::candidate::shelf::Limits;

/// For each document, the first one in keeper order that it is connected with (itself, if it comes first).
///
/// `found` is told of every similar pair that was seen on the way, which is not all of them.
pub fn components<J: Judge>(
    neighbourhood: &Neighbourhood,
    limits: Limits,
    judge: &mut J,
    mut found: impl FnMut(&Found<'_>),
) -> Result<Vec<u32>, J::Error> {
    let mut shelves = Shelves::new(neighbourhood, limits);
    let mut forest = Forest::new(neighbourhood.len());
    // For each shelf, whether all its documents hang together, and one of them. A document that hangs together with
    // them too need not look at any other, which keeps one large family linear.
    let mut together: Vec<Option<u32>> = vec![None; neighbourhood.shelves()];
    let mut apart = vec![false; neighbourhood.shelves()];
    for document in 0..neighbourhood.len() as u32 {
        shelves.look_apart(document, judge)?;
        for i in 0..shelves.begins.len() - 1 {
            let shelf = shelves.own.get(i).map(|&shelf| shelf as usize);
            for at in shelves.begins[i]..shelves.begins[i + 1] {
                // Partners have no shelf, and need not have anything to do with one another.
                let one = shelf.filter(|&shelf| !apart[shelf]).and_then(|shelf| together[shelf]);
                if one.is_some_and(|one| forest.first(one) == forest.first(document)) {
                    break;
                }
                let earlier = shelves.met[at];
                if document < neighbourhood.given() {
                    break;
                }
                if forest.first(document) == forest.first(earlier) || !shelves.is_new(document, earlier) {
                    continue;
                }
                if let Some(similarity) = judge.similarity(document, earlier)? {
                    found(&Found { document, earlier, similarity, narrowed: &shelves.narrowed });
                    forest.join(document, earlier);
                }
            }
        }
        for &shelf in &shelves.own {
            let shelf = shelf as usize;
            match together[shelf] {
                None => together[shelf] = Some(document),
                Some(one) => apart[shelf] |= forest.first(one) != forest.first(document),
            }
        }
        shelves.put(document, judge)?;
    }
    Ok((0..neighbourhood.len() as u32).map(|document| forest.first(document)).collect())
}

/// A union-find whose roots are the smallest members, so that the result does not depend on the order of joins.
#[derive(Debug, Clone)]
pub struct Forest(Vec<u32>);

impl Forest {
    /// Every member by itself.
    #[must_use]
    pub fn new(members: usize) -> Self {
        Self((0..members as u32).collect())
    }

    /// The smallest member connected with this one.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn first(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            // Every second step is shortened: later look-ups find the root at once.
            let parent = self.0[member as usize];
            self.0[member as usize] = self.0[parent as usize];
            member = self.0[member as usize];
        }
        member
    }

    /// Connects two members.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
