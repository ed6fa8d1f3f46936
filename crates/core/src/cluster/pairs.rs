//! All similar pairs, without decisions.

use super::neighbourhood::{CROWD, Meetings};
use super::{Judge, Neighbourhood, SimilarDocuments};

/// Calls `found` with every pair of documents that share a shelf and reach the threshold, if at least one of the two is
/// wanted. A document is compared with the first `most` documents on each of its shelves.
///
/// # Errors
/// Returns the first error of `judge` or of `found`. There are no other errors.
pub fn pairs<J: Judge>(
    neighbourhood: &Neighbourhood,
    wanted: impl Fn(u32) -> bool,
    most: usize,
    judge: &mut J,
    mut found: impl FnMut(&SimilarDocuments<'_>) -> Result<(), J::Error>,
) -> Result<(), J::Error> {
    let mut meetings = Meetings::new(neighbourhood, most);
    let mut block = 0..0;
    // The first wanted documents that were put on shelves, at most `CROWD`.
    let mut put = vec![];
    for document in 0..neighbourhood.len() as u32 {
        if document == block.end {
            block = document..(document + meetings.block_len() as u32).min(neighbourhood.len() as u32);
            meetings.begin(
                block.clone().filter(|&document| wanted(document)).map(|document| (document, 0)),
                judge,
            )?;
        }
        let is_wanted = wanted(document);
        // While few documents are wanted, this is faster: in a crowd, the shelves of an unwanted document have
        // thousands of documents, and few of these documents are wanted.
        if !is_wanted && put.len() < CROWD && !neighbourhood.is_of_pairs() {
            meetings.find_similar_among(document, &put, judge)?;
        } else {
            meetings.find_similar(document, 0, |earlier| !is_wanted && !wanted(earlier), judge)?;
        }
        for &(earlier, similarity) in &meetings.similar {
            found(&SimilarDocuments { document, earlier, similarity, shares: &meetings.shares })?;
        }
        meetings.put(document, judge)?;
        if is_wanted && put.len() < CROWD {
            put.push(document);
        }
    }
    meetings.end(|_| true, judge);
    Ok(())
}
