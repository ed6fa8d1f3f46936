//! Units of shingles that are characters.

use std::ops::Range;

use crate::hash::token::hash_char;
use crate::text::NormalizedText;

/// Appends the hash of every character of the text, in order.
pub(super) fn hash_into(text: &NormalizedText, units: &mut Vec<u64>) {
    units.extend(text.as_str().chars().map(hash_char));
}

/// Returns the byte range of every character, in order.
pub(super) fn spans(text: &NormalizedText) -> Vec<Range<usize>> {
    text.as_str().char_indices().map(|(start, c)| start..start + c.len_utf8()).collect()
}
