//! All similar pairs.

use super::neighbourhood::Meetings;
use super::{Found, Judge, Neighbourhood};

/// Tells `found` of every pair of documents that meets and reaches the threshold, if at least one of the two is wanted. A
/// document is compared with the first `most` documents on each of its shelves.
pub fn pairs<J: Judge>(
    neighbourhood: &Neighbourhood,
    wanted: impl Fn(u32) -> bool,
    most: usize,
    judge: &mut J,
    mut found: impl FnMut(&Found<'_>) -> Result<(), J::Error>,
) -> Result<(), J::Error> {
    let mut meetings = Meetings::new(neighbourhood, most);
    let mut block = 0..0;
    for document in 0..neighbourhood.len() as u32 {
        if document == block.end {
            block = document..(document + meetings.block_len() as u32).min(neighbourhood.len() as u32);
            meetings.begin(block.clone().filter(|&document| wanted(document)), judge)?;
        }
        let is_wanted = wanted(document);
        meetings.look(document, 0, |earlier| !is_wanted && !wanted(earlier), judge)?;
        for &earlier in &meetings.open {
            if let Some(similarity) = judge.similarity(document, earlier)? {
                found(&Found { document, earlier, similarity, shares: &meetings.shares })?;
            }
        }
        meetings.put(document, judge)?;
    }
    Ok(())
}
