//! Passages with their places in both texts.

use std::ops::Range;

use minwise::shingle::UnitRanges;
use minwise::verify::ShingleSet;
use minwise::verify::passages::{Passage, moved, shared_passages};
use serde::{Deserialize, Serialize};

use super::form;
use super::reader::Other;

/// A passage that the checked text shares with a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct SharedPassage {
    /// Byte range of the passage in the checked text, as `[start, end]`; `end` is exclusive.
    #[serde(with = "form::range")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<usize>, min_items = 2, max_items = 2))]
    pub query: Range<usize>,
    /// Byte range of the passage in the text of the document, as `[start, end]`; null if the archive keeps no texts.
    #[serde(with = "form::optional_range")]
    #[cfg_attr(feature = "openapi", schema(required = true, value_type = Option<Vec<usize>>, min_items = 2, max_items = 2))]
    pub document: Option<Range<usize>>,
    /// Length of the passage in tokens, or in characters if shingles are made of characters.
    pub tokens: usize,
    /// Whether the passage has another position among the passages of the document than among the passages of the
    /// checked text.
    pub moved: bool,
}

/// Returns the shared passages in the order of the query. `size` is the number of units per shingle.
pub(crate) fn shared(
    query: &[u64],
    places: &UnitRanges,
    other: &Other<'_>,
    size: usize,
) -> Vec<SharedPassage> {
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
            let span = |places: &UnitRanges, first: usize| {
                // A document shorter than a shingle has one shingle of all its units, so fewer units are
                // tried, too.
                (1..=most).rev().find_map(|units| Some((units, places.span(first, first + units - 1)?)))
            };
            let (tokens, query) = span(places, passage.left)?;
            let document = other.places.and_then(|places| span(places, passage.right)).map(|span| span.1);
            Some(SharedPassage { query, document, tokens, moved })
        })
        .collect()
}

/// Returns the longest runs of query shingles that are all in `set`. The order of the document's shingles is
/// unknown, so a run can be longer than the passage that both texts share in this place.
fn runs(query: &[u64], set: &ShingleSet) -> Vec<Passage> {
    let mut runs: Vec<Passage> = vec![];
    for (at, shingle) in query.iter().enumerate() {
        if set.as_slice().binary_search(shingle).is_err() {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.left + run.shingles == at => run.shingles += 1,
            _ => runs.push(Passage::new(at, 0, 1)),
        }
    }
    runs
}

/// Counts the units of the query that lie in a shingle which the document also has.
pub(crate) fn covered(query: &[u64], other: &Other<'_>, size: usize) -> usize {
    let (mut units, mut end) = (0, 0);
    for run in runs(query, &other.set) {
        let (start, until) = (run.left.max(end), run.left + run.shingles + size - 1);
        units += until.saturating_sub(start);
        end = until;
    }
    units
}

/// Keeps the `most` longest passages, in their order.
pub(crate) fn keep_longest(passages: &mut Vec<SharedPassage>, most: usize) {
    if most == 0 {
        passages.clear();
    } else if passages.len() > most {
        let mut lengths: Vec<usize> = passages.iter().map(|passage| passage.tokens).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let least = lengths[most - 1];
        // If several passages have the least kept length, the first of them are kept.
        let mut equal = most - lengths.iter().filter(|&&length| length > least).count();
        passages.retain(|passage| {
            let is_last = passage.tokens == least;
            let kept = passage.tokens > least || (is_last && equal > 0);
            equal -= usize::from(is_last && kept);
            kept
        });
    }
}
