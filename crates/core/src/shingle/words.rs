//! Units that are tokens.

use std::ops::Range;

use crate::hash;
use crate::kernel::{ByteMasks, Kernel};
use crate::text::{NormalizedText, token};

/// Adds the hash of every token of the text, in order.
pub(super) fn hash_into(
    kernel: Kernel,
    text: &NormalizedText,
    masks: &mut Vec<ByteMasks>,
    units: &mut Vec<u64>,
) {
    let padded = text.padded();
    kernel.classify(padded, masks);
    token::for_each(padded, masks, |start, end| units.push(hash::token::hash(padded, start, end - start)));
}

/// The bytes of every token, in order.
pub(super) fn spans(kernel: Kernel, text: &NormalizedText, masks: &mut Vec<ByteMasks>) -> Vec<Range<usize>> {
    kernel.classify(text.padded(), masks);
    let mut spans = vec![];
    token::for_each(text.padded(), masks, |start, end| spans.push(start..end));
    spans
}
