//! Cuts a corpus into chunks that can be scanned in parallel.
//!
//! The cut depends on nothing but the sources, so that every run numbers its documents alike. JSONL is cut at any
//! byte: a chunk owns the lines that *start* in it. Delimited records and tables are cut into pieces when they are
//! opened; a chunk is a run of adjacent pieces. Text files are never cut; a chunk is a run of whole files.

use std::ops::Range;

use crate::sources::{CutPoints, PieceSize, SourcePart, Sources};

/// Maximum number of text files per chunk, however small the files are.
const MAX_FILES: u32 = 1024;

/// A part of a corpus that is scanned at a time, made by [`Corpus::chunks`](crate::Corpus::chunks).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub(super) span: Span,
    size_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// A part of one source.
    Part { source: u32, part: SourcePart },
    /// A run of text files.
    Files(Range<u32>),
}

impl Chunk {
    /// Returns the number of the source that the chunk lies in, or of the first of its text files.
    pub fn source(&self) -> u32 {
        match &self.span {
            Span::Part { source, .. } => *source,
            Span::Files(files) => files.start,
        }
    }

    /// Returns the size of the chunk in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

/// Cuts `sources` into chunks of about `target_bytes`.
pub(super) fn cut(sources: &Sources, target_bytes: u64) -> Vec<Chunk> {
    let target_bytes = target_bytes.max(1);
    let mut chunks = Vec::new();
    // Files are gathered until records follow, because references may be files while inputs are records, or the
    // reverse.
    let mut files = Vec::new();
    for (handle, content) in sources.iter() {
        let (number, size_bytes) = (handle.number, handle.source.size_bytes());
        match content.cuts(handle.source) {
            CutPoints::Nowhere => files.push((number, size_bytes)),
            CutPoints::Anywhere => {
                chunks.extend(cut_files(files.drain(..), target_bytes));
                chunks.extend(cut_lines(number, size_bytes, target_bytes));
            }
            CutPoints::Pieces(sizes) => {
                chunks.extend(cut_files(files.drain(..), target_bytes));
                chunks.extend(cut_pieces(number, sizes.into_iter(), target_bytes));
            }
        }
    }
    chunks.extend(cut_files(files.into_iter(), target_bytes));
    chunks
}

/// Gathers adjacent pieces into chunks that decode to about `target_bytes`.
fn cut_pieces(source: u32, sizes: impl Iterator<Item = PieceSize>, target_bytes: u64) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let chunk = |pieces, size_bytes| Chunk {
        span: Span::Part { source, part: SourcePart::Pieces(pieces) },
        size_bytes,
    };
    let (mut pieces, mut decoded, mut bytes) = (0..0, 0, 0);
    for (piece, size) in sizes.enumerate() {
        pieces.end = piece + 1;
        decoded += size.decoded_bytes;
        bytes += size.stored_bytes;
        if decoded >= target_bytes {
            chunks.push(chunk(pieces, bytes));
            (pieces, decoded, bytes) = (piece + 1..piece + 1, 0, 0);
        }
    }
    if !pieces.is_empty() {
        chunks.push(chunk(pieces, bytes));
    }
    chunks
}

fn cut_lines(source: u32, size_bytes: u64, target_bytes: u64) -> impl Iterator<Item = Chunk> {
    (0..size_bytes.div_ceil(target_bytes)).map(move |piece| {
        let start = piece * target_bytes;
        let end = start.saturating_add(target_bytes).min(size_bytes);
        Chunk { span: Span::Part { source, part: SourcePart::Bytes(start..end) }, size_bytes: end - start }
    })
}

fn cut_files(sizes: impl Iterator<Item = (u32, u64)>, target_bytes: u64) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut sizes = sizes.peekable();
    let first = sizes.peek().map_or(0, |(source, _)| *source);
    let (mut files, mut bytes) = (first..first, 0);
    for (source, size) in sizes {
        files.end = source + 1;
        bytes += size;
        if bytes >= target_bytes || files.end - files.start == MAX_FILES {
            chunks.push(Chunk { span: Span::Files(files), size_bytes: bytes });
            (files, bytes) = (source + 1..source + 1, 0);
        }
    }
    if !files.is_empty() {
        chunks.push(Chunk { span: Span::Files(files), size_bytes: bytes });
    }
    chunks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_cut_at_the_target() {
        let chunks: Vec<Chunk> = cut_lines(3, 10, 4).collect();
        let spans: Vec<Span> = chunks.iter().map(|chunk| chunk.span.clone()).collect();
        let lines = |start, end| Span::Part { source: 3, part: SourcePart::Bytes(start..end) };
        assert_eq!(spans, [lines(0, 4), lines(4, 8), lines(8, 10)]);
        assert_eq!(chunks.iter().map(Chunk::size_bytes).sum::<u64>(), 10);
        assert_eq!(cut_lines(0, 0, 4).count(), 0);
    }

    #[test]
    fn pieces_are_gathered() {
        let size = |(decoded_bytes, stored_bytes)| PieceSize { decoded_bytes, stored_bytes };
        let chunks = cut_pieces(2, [(3, 30), (3, 10), (9, 20), (0, 1)].into_iter().map(size), 5);
        let runs: Vec<(Span, u64)> = chunks.into_iter().map(|chunk| (chunk.span, chunk.size_bytes)).collect();
        let pieces = |pieces| Span::Part { source: 2, part: SourcePart::Pieces(pieces) };
        assert_eq!(runs, [(pieces(0..2), 40), (pieces(2..3), 20), (pieces(3..4), 1)]);
        assert!(cut_pieces(0, std::iter::empty(), 5).is_empty());
    }

    #[test]
    fn small_files_share_a_chunk() {
        let chunks = cut_files((0..).zip([3, 3, 9, 0, 1]), 5);
        let runs: Vec<Span> = chunks.into_iter().map(|chunk| chunk.span).collect();
        assert_eq!(runs, [Span::Files(0..2), Span::Files(2..3), Span::Files(3..5)]);
    }

    proptest! {
        #[test]
        fn files_are_covered_once_and_in_order(sizes in prop::collection::vec(0u64..100, 0..3000), target in 1u64..500) {
            let chunks = cut_files((0..).zip(sizes.iter().copied()), target);
            let mut next = 0;
            for chunk in &chunks {
                let Span::Files(files) = &chunk.span else { panic!("records among files") };
                prop_assert_eq!(files.start, next);
                prop_assert!(!files.is_empty() && files.len() <= MAX_FILES as usize);
                next = files.end;
            }
            prop_assert_eq!(next as usize, sizes.len());
        }
    }
}
