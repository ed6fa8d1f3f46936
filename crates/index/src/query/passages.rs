//! Passages with their places in both texts.

use std::ops::Range;

use minwise::shingle::Places;
use minwise::verify::ShingleSet;
use minwise::verify::passages::{Passage, moved, shared_passages};

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
    let (passages, moved) = if other.places.is_some() {
        let passages = shared_passages(query, other.shingles);
        let moved = moved(&passages);
        (passages, moved)
    } else {
        let passages = runs(query, &other.set);
        let moved = vec![false; passages.len()];
        (passages, moved)
    };
    passages
        .iter()
        .zip(moved)
        .filter_map(|(passage, moved)| {
            let most = passage.shingles + size - 1;
            let span = |places: &Places, first: usize| {
                // A document shorter than a shingle is one shingle of all its units.
                (1..=most).rev().find_map(|units| Some((units, places.span(first, first + units - 1)?)))
            };
            let (units, query) = span(places, passage.left)?;
            let document = other.places.and_then(|places| span(places, passage.right)).map(|span| span.1);
            Some(SharedPassage { units, query, document, moved })
        })
        .collect()
}

/// Stretches of the query all of whose shingles a document has, where only its set is known: each is at least as long as the
/// passage that both share there.
fn runs(query: &[u64], set: &ShingleSet) -> Vec<Passage> {
    let mut runs: Vec<Passage> = vec![];
    for (at, shingle) in query.iter().enumerate() {
        if set.as_slice().binary_search(shingle).is_err() {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.left + run.shingles == at => run.shingles += 1,
            _ => runs.push(Passage { left: at, right: 0, shingles: 1 }),
        }
    }
    runs
}

/// Units of the query that stand in a shingle that a document has.
pub(crate) fn covered(query: &[u64], other: &Other<'_>, size: usize) -> usize {
    let (mut units, mut end) = (0, 0);
    for run in runs(query, &other.set) {
        let (start, until) = (run.left.max(end), run.left + run.shingles + size - 1);
        units += until.saturating_sub(start);
        end = until;
    }
    units
}

/// Leaves the longest passages, in the order they have.
pub(crate) fn keep_longest(passages: &mut Vec<SharedPassage>, most: usize) {
    if most == 0 {
        passages.clear();
    } else if passages.len() > most {
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
