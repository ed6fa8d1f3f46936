//! Star clustering.
//!
//! - **Idea.** Documents are taken in keeper order. A document similar to one already kept is removed; any
//!   other is kept. So every removed document has a kept near-duplicate, and a chain of small edits does not
//!   remove documents that are not alike.
//! - **Cost.** A document is compared only with kept ones that share a band with it: linear for one family of any size.
//! - **Given.** Given documents are kept without comparison, and documents that repeat one of them are
//!   removed.
//! - **Use when** always; it is the default.
//! - **Do not** use it if the ends of a long chain of small edits are to count as one document.

use std::collections::BTreeMap;

use super::neighbourhood::Meetings;
use super::{Judge, Neighbourhood, SimilarDocuments};

/// The decision about a document.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The document stays.
    Kept,
    /// The document is removed.
    Duplicate {
        /// The kept document most similar to it, ties by keeper order.
        of: u32,
        /// Their exact similarity.
        similarity: f64,
    },
}

/// Decides about documents in the order of `visits`.
///
/// A visit names a document of the neighbourhood. Documents with equal shingles are one document there and
/// are visited once each, at their places in keeper order; first visits come in ascending order. The result
/// has one verdict per visit, and `found` is called with every similar pair that was compared. A document is
/// compared with the first `most` kept documents on each of its shelves.
///
/// # Errors
/// Returns the first error of `judge`, and no other error.
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
    // For documents that are visited again: the verdict so far, and the first document that was not put yet
    // at that verdict.
    let mut so_far: BTreeMap<u32, (Verdict, u32)> = BTreeMap::new();
    let mut newest = 0;
    let mut verdicts = Vec::with_capacity(visits.len());
    // Visits before this one are in the present block.
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
            // The first visit was kept, so every later document with its shingles repeats it.
            Some((Verdict::Kept, _)) => {
                verdicts.push(Verdict::Duplicate { of: document, similarity: 1.0 });
                continue;
            }
            Some((verdict, from)) => (Some(verdict), from),
        };
        // A given document is compared with no other, so it looks up none.
        let from = if document < neighbourhood.given() { u32::MAX } else { from };
        meetings.find_similar(document, from, |_| false, judge)?;
        let mut verdict = before.unwrap_or(Verdict::Kept);
        for &(earlier, similarity) in &meetings.similar {
            found(&SimilarDocuments { document, earlier, similarity, shares: &meetings.shares });
            // Documents come in ascending order, so a tie keeps the one earlier in keeper order.
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
