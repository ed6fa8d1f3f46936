//! Where the documents of one band key stand, and what happens when they are too many.
//!
//! Documents with equal rows in a band stand on one [`Shelf`] and are compared with one another. A shelf with more
//! documents than [`most`](Limits::most) is split by further registers, so that a document meets only those that agree
//! with it in these too: the work stays linear, and the recall that it costs can be counted, because
//! [`visit`](Shelf::visit) says how many further registers were asked for.

use std::collections::BTreeMap;

/// When shelves are split.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Documents that may stand on one shelf.
    pub most: usize,
    /// How often a shelf may be split.
    pub splits: usize,
    /// Registers that a split asks for.
    pub registers: usize,
}

/// Documents in the order in which they were put there.
#[derive(Debug, Clone)]
pub enum Shelf {
    /// Few enough to look at all of them.
    Whole(Vec<u32>),
    /// Split by the key of further registers.
    Split(BTreeMap<u64, Shelf>),
}

impl Default for Shelf {
    fn default() -> Self {
        Self::Whole(vec![])
    }
}

impl Shelf {
    /// The documents that one with these keys meets here, and how many further registers had to agree.
    ///
    /// `key` gives the key of the document's further registers for the n-th split.
    pub fn visit(&self, limits: &Limits, mut key: impl FnMut(usize) -> u64) -> (&[u32], u32) {
        let mut shelf = self;
        let mut split = 0;
        loop {
            match shelf {
                Self::Whole(documents) => return (documents, (split * limits.registers) as u32),
                Self::Split(parts) => match parts.get(&key(split)) {
                    Some(part) => {
                        shelf = part;
                        split += 1;
                    }
                    None => return (&[], ((split + 1) * limits.registers) as u32),
                },
            }
        }
    }

    /// Puts a document here. `key(document, n)` gives the key of its further registers for the n-th split.
    pub fn put(&mut self, document: u32, limits: &Limits, mut key: impl FnMut(u32, usize) -> u64) {
        let mut shelf = self;
        let mut split = 0;
        loop {
            match shelf {
                Self::Split(parts) => {
                    shelf = parts.entry(key(document, split)).or_default();
                    split += 1;
                }
                Self::Whole(documents) => {
                    documents.push(document);
                    if documents.len() > limits.most && split < limits.splits {
                        let mut parts: BTreeMap<u64, Self> = BTreeMap::new();
                        for &document in documents.iter() {
                            let part = parts.entry(key(document, split)).or_default();
                            if let Self::Whole(documents) = part {
                                documents.push(document);
                            }
                        }
                        *shelf = Self::Split(parts);
                    }
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { most: 3, splits: 2, registers: 2 };

    /// Registers of a document: its decimal digits.
    fn key(document: u32, split: usize) -> u64 {
        u64::from(document) / 10u64.pow(split as u32) % 10
    }

    fn meets(shelf: &Shelf, document: u32) -> (Vec<u32>, u32) {
        let (documents, further) = shelf.visit(&LIMITS, |split| key(document, split));
        (documents.to_vec(), further)
    }

    #[test]
    fn few_documents_meet_one_another() {
        let mut shelf = Shelf::default();
        for document in [11, 22, 33] {
            shelf.put(document, &LIMITS, key);
        }
        assert_eq!(meets(&shelf, 44), (vec![11, 22, 33], 0));
    }

    #[test]
    fn too_many_are_split_by_further_registers() {
        let mut shelf = Shelf::default();
        for document in [11, 22, 31, 41] {
            shelf.put(document, &LIMITS, key);
        }
        assert_eq!(meets(&shelf, 91), (vec![11, 31, 41], 2));
        assert_eq!(meets(&shelf, 92), (vec![22], 2));
        assert_eq!(meets(&shelf, 95), (vec![], 2));
        shelf.put(21, &LIMITS, key);
        assert_eq!(meets(&shelf, 21), (vec![21], 4));
        assert_eq!(meets(&shelf, 22), (vec![22], 2));
    }

    #[test]
    fn what_cannot_be_split_further_stays_together() {
        let mut shelf = Shelf::default();
        for document in [111, 211, 311, 411, 511, 611] {
            shelf.put(document, &LIMITS, key);
        }
        assert_eq!(meets(&shelf, 11), (vec![111, 211, 311, 411, 511, 611], 4));
    }
}
