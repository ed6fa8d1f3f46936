//! Converts the number of a document to its index, and back.
//!
//! Runs number documents: first the documents of references, then the documents of the inputs. Rejected records have no
//! number. Callers of a builder have a list of records, so they need positions in that list, in which rejected records
//! count too.

use minwise_corpus::Corpus;

use crate::error::Error;
use crate::read::Reading;

/// Positions of the documents of a run among the records of its inputs.
#[derive(Debug, Clone)]
pub(super) struct Positions {
    /// Number of documents of references.
    references: u32,
    /// Number of documents of the inputs.
    documents: usize,
    /// Gaps of rejected records between documents, in ascending order. A gap is stored as the number of documents
    /// before the gap and the number of all rejected records up to the end of the gap.
    gaps: Vec<(usize, usize)>,
}

impl Positions {
    pub(super) fn new(reading: &Reading, corpus: &Corpus) -> Result<Self, Error> {
        let references = reading.references;
        let documents = reading.documents.len() - references as usize;
        let mut gaps: Vec<(usize, usize)> = vec![];
        if reading.rejected.len() > reading.rejected.of_references() {
            let mut places = reading.documents.places().skip(references as usize);
            let mut next = places.next().transpose()?;
            let (mut before, mut rejects) = (0, 0);
            reading.rejected.for_each(|rejected| {
                if rejected.source < corpus.references() {
                    return Ok(());
                }
                // The lines of rejected records are counted from 1, but the lines of documents from 0.
                let at = (rejected.source, rejected.line.saturating_sub(1));
                while next.is_some_and(|place| (place.source, place.line) < at) {
                    before += 1;
                    next = places.next().transpose()?;
                }
                rejects += 1;
                match gaps.last_mut() {
                    Some((last, count)) if *last == before => *count = rejects,
                    _ => gaps.push((before, rejects)),
                }
                Ok(())
            })?;
        }
        Ok(Self { references, documents, gaps })
    }

    /// Returns the number of records of the inputs, including rejected records.
    pub(super) fn len(&self) -> usize {
        self.documents + self.gaps.last().map_or(0, |&(_, rejects)| rejects)
    }

    /// Returns the index of a document. Documents of references have the indices after all records of the inputs.
    pub(super) fn index(&self, document: u32) -> usize {
        let Some(at) = document.checked_sub(self.references) else {
            return self.len() + document as usize;
        };
        let at = at as usize;
        at + self.rejects_before(self.gaps.partition_point(|&(before, _)| before <= at))
    }

    /// Returns the document at an index, or `None` if there is no document.
    pub(super) fn document(&self, index: usize) -> Option<u32> {
        if let Some(reference) = index.checked_sub(self.len()) {
            return u32::try_from(reference).ok().filter(|&reference| reference < self.references);
        }
        let gap = self.first_gap_behind(index);
        let rejects = self.rejects_before(gap);
        let is_rejected = gap > 0 && index < self.gaps[gap - 1].0 + rejects;
        (!is_rejected).then(|| self.references + (index - rejects) as u32)
    }

    /// Returns the indices of the rejected records, in ascending order.
    pub(super) fn rejected(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.gaps.len()).flat_map(|gap| {
            let (before, rejects) = self.gaps[gap];
            before + self.rejects_before(gap)..before + rejects
        })
    }

    /// Returns the number of gaps that begin at or before an index.
    fn first_gap_behind(&self, index: usize) -> usize {
        let (mut low, mut high) = (0, self.gaps.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.gaps[middle].0 + self.rejects_before(middle) <= index {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the number of rejected records in the gaps before `gap`.
    fn rejects_before(&self, gap: usize) -> usize {
        gap.checked_sub(1).map_or(0, |last| self.gaps[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_counts_rejected_records() {
        // The records of the inputs are `r 0 1 r r 2 r`, where `r` was rejected. There are two references.
        let positions = Positions { references: 2, documents: 3, gaps: vec![(0, 1), (2, 3), (3, 4)] };
        assert_eq!(positions.len(), 7);
        assert_eq!(positions.rejected().collect::<Vec<_>>(), [0, 3, 4, 6]);
        let documents: Vec<Option<u32>> = (0..10).map(|index| positions.document(index)).collect();
        let expected = [None, Some(2), Some(3), None, None, Some(4), None, Some(0), Some(1), None];
        assert_eq!(documents, expected);
        for (index, document) in
            documents.iter().enumerate().filter_map(|(at, number)| Some((at, (*number)?)))
        {
            assert_eq!(positions.index(document), index);
        }
    }

    #[test]
    fn without_rejects_an_index_is_a_number() {
        let positions = Positions { references: 0, documents: 3, gaps: vec![] };
        assert_eq!((positions.len(), positions.index(2), positions.document(2)), (3, 2, Some(2)));
        assert_eq!((positions.document(3), positions.rejected().count()), (None, 0));
    }
}
