//! Connected components of documents that several threads connect at the same time.

use std::sync::atomic::{AtomicU32, Ordering};

use super::components::Forest;

/// [`Forest`] that several threads join at the same time. The roots are the smallest members, so the result does not
/// depend on the order of joins.
///
/// A root is only ever linked to a smaller root, and only while it is a root. Trees therefore have no cycles, whatever
/// threads do at the same time.
#[derive(Debug)]
pub struct SharedForest(Vec<AtomicU32>);

// All orderings are relaxed, because no other data depend on a link. A thread that reads an outdated link finds another
// member of the same tree, and goes on from there.
impl SharedForest {
    /// Creates a forest in which every member is alone.
    #[must_use]
    pub fn new(members: usize) -> Self {
        Self((0..members as u32).map(AtomicU32::new).collect())
    }

    /// Returns a root of the tree of `member`, which another thread may link to another root meanwhile.
    fn root(&self, mut member: u32) -> u32 {
        loop {
            let parent = self.0[member as usize].load(Ordering::Relaxed);
            if parent == member {
                return member;
            }
            let next = self.0[parent as usize].load(Ordering::Relaxed);
            if next != parent {
                // The link of the member is set to its grandparent (path halving), as in `Forest`. If another thread
                // has changed the link, its new link is as good.
                let link = &self.0[member as usize];
                let _ = link.compare_exchange(parent, next, Ordering::Relaxed, Ordering::Relaxed);
            }
            member = next;
        }
    }

    /// Connects two members.
    ///
    /// # Panics
    /// Panics if `a` or `b` does not exist.
    pub fn join(&self, mut a: u32, mut b: u32) {
        loop {
            (a, b) = (self.root(a), self.root(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            let link = &self.0[high as usize];
            if link.compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Returns the forest, once all threads have joined.
    #[must_use]
    pub fn into_forest(self) -> Forest {
        Forest::of_links(self.0.into_iter().map(AtomicU32::into_inner).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::hash::fmix64;

    /// Threads join the same pairs in different orders, so that they meet in the same trees.
    #[test]
    fn threads_make_the_same_forest() {
        for members in [2, 100, 20_000u32] {
            let pair = |at: u64| [at, at + (1 << 32)].map(|at| (fmix64(at) % u64::from(members)) as u32);
            let pairs: Vec<[u32; 2]> = (0..u64::from(members) * 2 / 3).map(pair).collect();
            let mut expected = Forest::new(members as usize);
            for &[a, b] in &pairs {
                expected.join(a, b);
            }
            let shared = SharedForest::new(members as usize);
            thread::scope(|scope| {
                for thread in 0..4 {
                    let (shared, pairs) = (&shared, &pairs);
                    scope.spawn(move || {
                        let (early, late) = pairs.split_at(pairs.len() * thread / 4);
                        late.iter().chain(early).for_each(|&[a, b]| shared.join(a, b));
                    });
                }
            });
            let mut found = shared.into_forest();
            assert!((0..members).all(|member| found.first(member) == expected.first(member)));
        }
    }
}
