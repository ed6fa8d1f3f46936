//! Where the documents of one band key stand, and what happens when they are too many.
//!
//! Documents with equal rows in a band stand on one [`Shelf`] and are compared with one another. A shelf with more
//! documents than [`most`](Limits::most) is split by further registers, so that a document meets only those that agree
//! with it in these too; one that cannot be split any more takes no more documents than [`full`](Limits::full). So the
//! work stays linear, and the recall that it costs can be counted, because [`visit`](Shelf::visit) says what was asked
//! for and what share of the documents is there.

use std::collections::BTreeMap;

/// When shelves are split.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Documents that may stand on one shelf before it is split.
    pub most: usize,
    /// How often a shelf may be split.
    pub splits: usize,
    /// Registers that a split asks for.
    pub registers: usize,
    /// Documents that may stand on a shelf that cannot be split any more.
    pub full: usize,
}

/// What a crowded shelf asks of a pair besides the rows of its band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Narrowing {
    /// Further registers that had to agree.
    pub registers: u32,
    /// The share of the documents that are still compared.
    pub share: f64,
}

/// Documents in the order in which they were put there.
#[derive(Debug, Clone)]
pub enum Shelf {
    /// Few enough to look at all of them.
    Whole {
        /// Those that are there.
        documents: Vec<u32>,
        /// Those that were left out because it was full.
        left_out: usize,
    },
    /// Split by the key of further registers.
    Split(BTreeMap<u64, Shelf>),
}

impl Default for Shelf {
    fn default() -> Self {
        Self::Whole { documents: vec![], left_out: 0 }
    }
}

impl Shelf {
    /// The documents that one with these keys meets here, and what a crowded shelf asked of them.
    ///
    /// `key` gives the key of the document's further registers for the n-th split.
    pub fn visit<E>(
        &self,
        limits: &Limits,
        mut key: impl FnMut(usize) -> Result<u64, E>,
    ) -> Result<(&[u32], Option<Narrowing>), E> {
        let mut shelf = self;
        let mut split = 0;
        loop {
            let registers = (split * limits.registers) as u32;
            match shelf {
                Self::Whole { documents, left_out } => {
                    let all = documents.len() + left_out;
                    let share = if all == 0 { 1.0 } else { documents.len() as f64 / all as f64 };
                    let narrowed = split > 0 || *left_out > 0;
                    return Ok((documents, narrowed.then_some(Narrowing { registers, share })));
                }
                Self::Split(parts) => {
                    split += 1;
                    let Some(part) = parts.get(&key(split - 1)?) else {
                        let registers = (split * limits.registers) as u32;
                        return Ok((&[], Some(Narrowing { registers, share: 1.0 })));
                    };
                    shelf = part;
                }
            }
        }
    }

    /// Puts a document here. `key(document, n)` gives the key of its further registers for the n-th split.
    pub fn put<E>(
        &mut self,
        document: u32,
        limits: &Limits,
        mut key: impl FnMut(u32, usize) -> Result<u64, E>,
    ) -> Result<(), E> {
        let mut shelf = self;
        let mut split = 0;
        loop {
            match shelf {
                Self::Split(parts) => {
                    shelf = parts.entry(key(document, split)?).or_default();
                    split += 1;
                }
                Self::Whole { documents, left_out } => {
                    if split == limits.splits {
                        if documents.len() < limits.full {
                            documents.push(document);
                        } else {
                            *left_out += 1;
                        }
                    } else {
                        documents.push(document);
                        if documents.len() > limits.most {
                            let documents = std::mem::take(documents);
                            *shelf = Self::split(&documents, |document| key(document, split))?;
                        }
                    }
                    return Ok(());
                }
            }
        }
    }

    fn split<E>(documents: &[u32], mut key: impl FnMut(u32) -> Result<u64, E>) -> Result<Self, E> {
        let mut parts: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for &document in documents {
            parts.entry(key(document)?).or_default().push(document);
        }
        let whole = |(key, documents)| (key, Self::Whole { documents, left_out: 0 });
        Ok(Self::Split(parts.into_iter().map(whole).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const LIMITS: Limits = Limits { most: 3, splits: 2, registers: 2, full: 7 };

    fn put(shelf: &mut Shelf, document: u32) {
        shelf.put(document, &LIMITS, |document, split| Ok::<_, Infallible>(key(document, split))).unwrap();
    }

    /// Registers of a document: its decimal digits.
    fn key(document: u32, split: usize) -> u64 {
        u64::from(document) / 10u64.pow(split as u32) % 10
    }

    /// The documents that one meets, and the further registers that had to agree.
    fn meets(shelf: &Shelf, document: u32) -> (Vec<u32>, u32) {
        let (documents, narrowed) =
            shelf.visit(&LIMITS, |split| Ok::<_, Infallible>(key(document, split))).unwrap();
        (documents.to_vec(), narrowed.map_or(0, |narrowed| narrowed.registers))
    }

    #[test]
    fn few_documents_meet_one_another() {
        let mut shelf = Shelf::default();
        for document in [11, 22, 33] {
            put(&mut shelf, document);
        }
        assert_eq!(meets(&shelf, 44), (vec![11, 22, 33], 0));
    }

    #[test]
    fn too_many_are_split_by_further_registers() {
        let mut shelf = Shelf::default();
        for document in [11, 22, 31, 41] {
            put(&mut shelf, document);
        }
        assert_eq!(meets(&shelf, 91), (vec![11, 31, 41], 2));
        assert_eq!(meets(&shelf, 92), (vec![22], 2));
        assert_eq!(meets(&shelf, 95), (vec![], 2));
        put(&mut shelf, 21);
        assert_eq!(meets(&shelf, 21), (vec![21], 4));
        assert_eq!(meets(&shelf, 22), (vec![22], 2));
    }

    #[test]
    fn what_cannot_be_split_further_stays_together() {
        let mut shelf = Shelf::default();
        for document in [111, 211, 311, 411, 511, 611] {
            put(&mut shelf, document);
        }
        assert_eq!(meets(&shelf, 11), (vec![111, 211, 311, 411, 511, 611], 4));
    }

    #[test]
    fn a_full_shelf_takes_no_more_and_says_so() {
        let mut shelf = Shelf::default();
        for document in (0..10).map(|i| i * 100 + 11) {
            put(&mut shelf, document);
        }
        let (documents, narrowed) =
            shelf.visit(&LIMITS, |split| Ok::<_, Infallible>(key(11, split))).unwrap();
        assert_eq!(documents.len(), 7);
        assert_eq!(narrowed, Some(Narrowing { registers: 4, share: 0.7 }));
    }
}
