//! Passages with their places in both texts.

use std::ops::Range;

use minwise::shingle::Places;
use minwise::verify::passages::{moved, shared_passages};

use super::reader::Other;

/// A passage that a query shares with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPassage {
    /// Its length in tokens or characters, as the shingling has it.
    pub units: usize,
    /// Where it stands in the text of the query, in bytes.
    pub query: Range<usize>,
    /// Where it stands in the text of the document, in bytes, if the index keeps texts.
    pub document: Option<Range<usize>>,
    /// Whether it stands out of the order that most of what is shared is in.
    pub moved: bool,
}

/// The passages that both have, in the order of the query, given the units of a shingle.
pub(crate) fn shared(query: &[u64], places: &Places, other: &Other<'_>, size: usize) -> Vec<SharedPassage> {
    let passages = shared_passages(query, other.shingles);
    let moved = moved(&passages);
    passages
        .iter()
        .zip(moved)
        .filter_map(|(passage, moved)| {
            let units = passage.shingles + size - 1;
            let span = |places: &Places, first: usize| {
                // A document shorter than a shingle is one shingle of all its units.
                (0..units).rev().find_map(|more| places.span(first, first + more))
            };
            Some(SharedPassage {
                units,
                query: span(places, passage.left)?,
                document: other.places.and_then(|places| span(places, passage.right)),
                moved,
            })
        })
        .collect()
}

/// Leaves the longest passages, in the order they have.
pub(crate) fn keep_longest(passages: &mut Vec<SharedPassage>, most: usize) {
    if passages.len() > most {
        let mut units: Vec<usize> = passages.iter().map(|passage| passage.units).collect();
        units.sort_unstable_by(|a, b| b.cmp(a));
        let least = units[most - 1];
        // Of those as long as the last one that is kept, the first.
        let mut equal = most - units.iter().filter(|&&units| units > least).count();
        passages.retain(|passage| {
            let is_last = passage.units == least;
            let kept = passage.units > least || (is_last && equal > 0);
            equal -= usize::from(is_last && kept);
            kept
        });
    }
}
