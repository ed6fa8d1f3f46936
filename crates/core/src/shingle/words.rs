//! Units of shingles that are tokens.

use std::ops::Range;

use crate::hash;
use crate::kernel::Kernel;
use crate::text::NormalizedText;
use crate::text::token::{TokenBuffers, for_each_portion};

/// Appends the hash of every token of the text, in order.
pub(super) fn hash_into(
    kernel: Kernel,
    text: &NormalizedText,
    buffers: &mut TokenBuffers,
    units: &mut Vec<u64>,
) {
    let padded = text.padded();
    for_each_portion(kernel, padded, buffers, |portion| {
        units.extend(portion.spans().map(|(start, end)| hash::token::hash(padded, start, end - start)));
    });
}

/// Returns the byte range of every token, in order.
pub(super) fn spans(kernel: Kernel, text: &NormalizedText, buffers: &mut TokenBuffers) -> Vec<Range<usize>> {
    let mut spans = vec![];
    for_each_portion(kernel, text.padded(), buffers, |portion| {
        spans.extend(portion.spans().map(|(start, end)| start..end));
    });
    spans
}
