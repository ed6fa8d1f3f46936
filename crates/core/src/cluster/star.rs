//! Star clustering.
//!
//! - **Idea.** Documents are decided in keeper order. A document similar to a kept document is removed; any other
//!   document is kept. So every removed document has a kept near-duplicate, and a chain of small edits does not remove
//!   documents that are not alike.
//! - **Cost.** A document is compared only with kept documents that share a band with it, so a family (a group of
//!   near-duplicates) of any size takes linear time.
//! - **Given.** Given documents are kept without comparison, and documents that are similar to a given document are
//!   removed.
//! - **Use when** always; star is the default.
//! - **Do not** use it if the ends of a long chain of small edits are to count as one document.

use std::collections::BTreeMap;

use super::neighbourhood::Meetings;
use super::{Judge, Neighbourhood, SimilarDocuments};

/// Decision about a document.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The document stays.
    Kept,
    /// The document is removed.
    Duplicate {
        /// Kept document that is most similar to the removed one; of several, the first in keeper order.
        of: u32,
        /// Exact similarity of the two documents.
        similarity: f64,
    },
}

/// Decides about documents in the order of `visits`.
///
/// A visit is the number of a document of the neighbourhood. Documents with equal shingles are one document of the
/// neighbourhood, with one visit per copy, at the copy's place in keeper order. The first visits of all documents are
/// ascending. The result has one verdict per visit, and `found` is called with every similar pair that was compared. A
/// document is compared with the first `most` kept documents on each of its shelves.
///
/// # Errors
/// Returns the first error of `judge`. There are no other errors.
pub fn star<J: Judge>(
    neighbourhood: &Neighbourhood,
    visits: &[u32],
    most: usize,
    judge: &mut J,
    mut found: impl FnMut(&SimilarDocuments<'_>),
) -> Result<Vec<Verdict>, J::Error> {
    let mut meetings = Meetings::new(neighbourhood, most);
    let mut again = vec![false; neighbourhood.len()];
    let mut seen = vec![false; neighbourhood.len()];
    for &document in visits {
        again[document as usize] |= std::mem::replace(&mut seen[document as usize], true);
    }
    drop(seen);
    // For each document that is visited again: its verdict so far, and the end (exclusive) of the documents that this
    // verdict considered.
    let mut so_far: BTreeMap<u32, (Verdict, u32)> = BTreeMap::new();
    let mut newest = 0;
    let mut verdicts = Vec::with_capacity(visits.len());
    // Index of the first visit after the current block.
    let mut block_end = 0;
    for (at, &document) in visits.iter().enumerate() {
        if at == block_end {
            block_end = (at + meetings.block_len()).min(visits.len());
            // A kept document is not compared again.
            let from = |&one: &u32| match so_far.get(&one) {
                Some((Verdict::Kept, _)) => None,
                Some(&(_, from)) => Some((one, from)),
                None => Some((one, 0)),
            };
            meetings.begin(visits[at..block_end].iter().filter_map(from), judge)?;
        }
        let (before, from) = match so_far.get(&document).copied() {
            None => (None, 0),
            // The first visit was kept, so this later copy is a duplicate of it.
            Some((Verdict::Kept, _)) => {
                verdicts.push(Verdict::Duplicate { of: document, similarity: 1.0 });
                continue;
            }
            Some((verdict, from)) => (Some(verdict), from),
        };
        // A given document is kept without comparison. Starting at `u32::MAX` finds no earlier documents.
        let from = if document < neighbourhood.given() { u32::MAX } else { from };
        meetings.find_similar(document, from, |_| false, judge)?;
        let mut verdict = before.unwrap_or(Verdict::Kept);
        for &(earlier, similarity) in &meetings.similar {
            found(&SimilarDocuments { document, earlier, similarity, shares: &meetings.shares });
            // Similar documents come in ascending order, so of equal similarities the first in keeper order stays.
            let better = match verdict {
                Verdict::Kept => true,
                Verdict::Duplicate { similarity: best, .. } => similarity > best,
            };
            if better {
                verdict = Verdict::Duplicate { of: earlier, similarity };
            }
        }
        newest = newest.max(document);
        if again[document as usize] {
            so_far.insert(document, (verdict, newest + 1));
        }
        if verdict == Verdict::Kept {
            meetings.put(document, judge)?;
        }
        verdicts.push(verdict);
    }
    meetings.end(|_| true, judge);
    Ok(verdicts)
}
