//! All similar pairs.

use super::neighbourhood::Shelves;
use super::{Found, Judge, Neighbourhood};
use crate::candidate::shelf::Limits;

/// Tells `found` of every pair of documents that meets and reaches the threshold.
///
/// With `wanted`, only of pairs of which at least one document is wanted.
pub fn pairs<J: Judge>(
    neighbourhood: &Neighbourhood,
    wanted: impl Fn(u32) -> bool,
    limits: Limits,
    judge: &mut J,
    mut found: impl FnMut(&Found<'_>) -> Result<(), J::Error>,
) -> Result<(), J::Error> {
    let mut shelves = Shelves::new(neighbourhood, limits);
    for document in 0..neighbourhood.len() as u32 {
        shelves.look(document, 0, judge)?;
        for i in 0..shelves.met.len() {
            let earlier = shelves.met[i];
            if !wanted(document) && !wanted(earlier) {
                continue;
            }
            if let Some(similarity) = judge.similarity(document, earlier)? {
                found(&Found { document, earlier, similarity, narrowed: &shelves.narrowed })?;
            }
        }
        shelves.put(document, judge)?;
    }
    Ok(())
}
