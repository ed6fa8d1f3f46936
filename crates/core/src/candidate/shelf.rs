//! Shelves: the documents with equal rows in one band, at most a fixed number per shelf.
//!
//! Documents with equal rows in a band are on one shelf, in keeper order, and every later document is compared with
//! them. A shelf takes the first N documents that are put on it and leaves out all others. Therefore no document is
//! compared with more than N others per band. The first N documents do not depend on any later document, so a cluster
//! of machines gets the same shelves. [`Shelves::share`] returns the share of the documents that a full shelf took.
//!
//! Every band key that two or more documents share makes a shelf, and most shelves hold only a few documents. Small
//! shelves are linked lists (chains) in one common vector. A shelf that outgrows its chain gets a vector of its own.

/// Maximum number of documents of a shelf that is stored as a chain.
const FEW: usize = 4;
/// Head of an empty shelf, and link of the first document of a chain: nothing comes before.
const END: u32 = u32::MAX;
/// Bit that is set in a head if the shelf has a vector of its own.
const OWN: u32 = 1 << 31;

/// Counts of the shelves that left documents out because they were full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FullShelves {
    /// Number of full shelves.
    pub shelves: u64,
    /// Number of documents that full shelves left out; a document counts once per shelf.
    pub left_out: u64,
}

impl FullShelves {
    /// Creates the counts of `shelves` full shelves that left out `left_out` documents together.
    #[must_use]
    pub fn new(shelves: u64, left_out: u64) -> Self {
        Self { shelves, left_out }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        self.shelves += other.shelves;
        self.left_out += other.left_out;
    }
}

/// The shelves of a neighbourhood. Documents must be put on each shelf in ascending order.
#[derive(Debug, Clone)]
pub struct Shelves {
    /// Maximum number of documents per shelf: N in the header of this module.
    most: usize,
    /// Head of each shelf: the index in `links` of the last link of its chain, or `OWN` and the index in `own`.
    heads: Vec<u32>,
    /// Links of all chains: a document, and the index of the link before it.
    links: Vec<(u32, u32)>,
    own: Vec<Own>,
}

/// A shelf with a vector of its own.
#[derive(Debug, Clone)]
struct Own {
    documents: Vec<u32>,
    left_out: u64,
}

impl Shelves {
    /// Creates empty shelves, each of which takes `most` documents.
    #[must_use]
    pub fn new(shelves: usize, most: usize) -> Self {
        Self { most, heads: vec![END; shelves], links: vec![], own: vec![] }
    }

    fn own(&self, shelf: u32) -> Option<&Own> {
        let head = self.heads[shelf as usize];
        (head != END && head & OWN != 0).then(|| &self.own[(head & !OWN) as usize])
    }

    fn chain(&self, shelf: u32) -> impl Iterator<Item = u32> {
        let mut next = self.heads[shelf as usize];
        std::iter::from_fn(move || {
            let &(document, before) = self.links.get(next as usize)?;
            next = before;
            Some(document)
        })
    }

    /// Puts a document on a shelf, unless the shelf is full. All documents on the shelf must be earlier ones.
    ///
    /// # Panics
    /// Panics if no shelf has the number `shelf`.
    pub fn put(&mut self, shelf: u32, document: u32) {
        let head = self.heads[shelf as usize];
        if head != END && head & OWN != 0 {
            let own = &mut self.own[(head & !OWN) as usize];
            if own.documents.len() < self.most {
                own.documents.push(document);
            } else {
                own.left_out += 1;
            }
            return;
        }
        if self.chain(shelf).count() < FEW.min(self.most) && self.links.len() < OWN as usize {
            self.links.push((document, head));
            self.heads[shelf as usize] = self.links.len() as u32 - 1;
            return;
        }
        let mut documents: Vec<u32> = self.chain(shelf).collect();
        documents.reverse();
        self.heads[shelf as usize] = OWN | self.own.len() as u32;
        self.own.push(Own { documents, left_out: 0 });
        self.put(shelf, document);
    }

    /// Returns the number of documents on a shelf.
    ///
    /// # Panics
    /// Panics if no shelf has the number `shelf`.
    #[must_use]
    pub fn len_of(&self, shelf: u32) -> usize {
        self.own(shelf).map_or_else(|| self.chain(shelf).count(), |own| own.documents.len())
    }

    /// Visits the documents on a shelf, the last one first, until `wants` returns `false`.
    ///
    /// # Panics
    /// Panics if no shelf has the number `shelf`.
    pub fn visit(&self, shelf: u32, mut wants: impl FnMut(u32) -> bool) {
        match self.own(shelf) {
            Some(own) => own.documents.iter().rev().all(|&document| wants(document)),
            None => self.chain(shelf).all(wants),
        };
    }

    /// Fills `out` with the first documents on a shelf, at most `out.len()`, and returns their number.
    ///
    /// # Panics
    /// Panics if no shelf has the number `shelf`.
    pub fn first_of(&self, shelf: u32, out: &mut [u32]) -> usize {
        if let Some(own) = self.own(shelf) {
            let count = out.len().min(own.documents.len());
            out[..count].copy_from_slice(&own.documents[..count]);
            return count;
        }
        let all = self.chain(shelf).count();
        let count = out.len().min(all);
        for (document, at) in self.chain(shelf).zip((0..all).rev()) {
            if let Some(out) = out.get_mut(at) {
                *out = document;
            }
        }
        count
    }

    /// Reports whether a shelf took `document` and did not leave it out. `document` must have been put on the shelf
    /// before.
    ///
    /// # Panics
    /// Panics if no shelf has the number `shelf`.
    #[must_use]
    pub fn took(&self, shelf: u32, document: u32) -> bool {
        match self.own(shelf) {
            Some(own) if own.left_out > 0 => own.documents.last().is_some_and(|&last| document <= last),
            _ => true,
        }
    }

    /// Returns the documents that a shelf took, as a share of those put on it; `None` if the shelf left none out.
    ///
    /// # Panics
    /// Panics if no shelf has the number `shelf`.
    #[must_use]
    pub fn share(&self, shelf: u32) -> Option<f64> {
        let own = self.own(shelf).filter(|own| own.left_out > 0)?;
        let taken = own.documents.len() as f64;
        Some(taken / (taken + own.left_out as f64))
    }

    /// Sums the full shelves for which `counts` returns `true`, and the documents that they left out.
    pub fn full(&self, mut counts: impl FnMut(u32) -> bool) -> FullShelves {
        let mut full = FullShelves::default();
        for shelf in 0..self.heads.len() as u32 {
            if let Some(own) = self.own(shelf).filter(|own| own.left_out > 0)
                && counts(shelf)
            {
                full.merge(FullShelves::new(1, own.left_out));
            }
        }
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns three shelves that take seven documents each. Documents 0 to 9 were put on the first shelf, documents 4
    /// and 5 on the second, and none on the third.
    fn shelves() -> Shelves {
        let mut shelves = Shelves::new(3, 7);
        for document in 0..10 {
            shelves.put(0, document);
            if document == 4 || document == 5 {
                shelves.put(1, document);
            }
        }
        shelves
    }

    fn visited(shelves: &Shelves, shelf: u32, from: u32) -> Vec<u32> {
        let mut visited = vec![];
        shelves.visit(shelf, |document| {
            let is_wanted = document >= from;
            if is_wanted {
                visited.push(document);
            }
            is_wanted
        });
        visited
    }

    #[test]
    fn the_first_documents_stand_there() {
        let shelves = shelves();
        assert_eq!(visited(&shelves, 0, 0), [6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(visited(&shelves, 0, 5), [6, 5]);
        assert_eq!(visited(&shelves, 1, 0), [5, 4]);
        assert!(visited(&shelves, 2, 0).is_empty());
        assert_eq!([0, 1, 2].map(|shelf| shelves.len_of(shelf)), [7, 2, 0]);
        let first = |shelf| {
            let mut out = [9; 3];
            let count = shelves.first_of(shelf, &mut out);
            out[..count].to_vec()
        };
        assert_eq!((first(0), first(1), first(2)), (vec![0, 1, 2], vec![4, 5], vec![]));
    }

    #[test]
    fn a_full_shelf_leaves_out_and_says_so() {
        let shelves = shelves();
        assert_eq!([0, 1, 2].map(|shelf| shelves.share(shelf)), [Some(0.7), None, None]);
        assert_eq!([6, 7, 9].map(|document| shelves.took(0, document)), [true, false, false]);
        assert!(shelves.took(1, 5));
        assert_eq!(shelves.full(|_| true), FullShelves::new(1, 3));
        assert_eq!(shelves.full(|shelf| shelf != 0), FullShelves::default());
    }

    #[test]
    fn a_chain_gives_its_first_documents_too() {
        let mut shelves = Shelves::new(1, 100);
        for document in [3, 7, 8, 9] {
            shelves.put(0, document);
        }
        let mut out = [0; 2];
        assert_eq!((shelves.first_of(0, &mut out), out), (2, [3, 7]));
        for document in 10..50 {
            shelves.put(0, document);
        }
        assert_eq!((shelves.first_of(0, &mut out), out), (2, [3, 7]));
        assert_eq!(shelves.len_of(0), 44);
    }

    #[test]
    fn a_shelf_may_take_fewer_than_a_chain_holds() {
        let mut shelves = Shelves::new(1, 2);
        for document in 0..5 {
            shelves.put(0, document);
        }
        assert_eq!((visited(&shelves, 0, 0), shelves.share(0)), (vec![1, 0], Some(0.4)));
    }
}
