//! Cutting a corpus into pieces that can be scanned in parallel.
//!
//! The cut depends on the sources and on nothing else, so that every run numbers its documents alike. JSONL is cut at any
//! byte: a chunk owns the lines that *start* in it. Delimited records and tables are cut into pieces when they are
//! opened; a chunk is a run of those. Text files are never cut; a chunk is a run of them.

use std::ops::Range;

use crate::format::Layout;
use crate::source::{Content, Source};

/// Text files in one chunk at most, however small they are.
const MAX_FILES: u32 = 1024;

/// A piece of a corpus, made by [`Corpus::chunks`](crate::Corpus::chunks).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub(crate) span: Span,
    size_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// Bytes of one JSONL source.
    Lines { source: u32, start: u64, end: u64 },
    /// Pieces of one source: stretches between the cuts of delimited records, or parts of a table.
    Pieces { source: u32, pieces: Range<usize> },
    /// A run of text files.
    Files(Range<u32>),
}

impl Chunk {
    /// The source the chunk lies in, or the first of its text files.
    pub fn source(&self) -> u32 {
        match &self.span {
            Span::Lines { source, .. } | Span::Pieces { source, .. } => *source,
            Span::Files(files) => files.start,
        }
    }

    /// How many bytes it covers.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

/// Cuts `sources` into chunks of about `target_bytes`.
pub(crate) fn cut(sources: &[Source], target_bytes: u64) -> Vec<Chunk> {
    let target_bytes = target_bytes.max(1);
    let is_text = |source: &Source| source.layout() == Layout::Texts;
    let mut chunks = Vec::new();
    let mut first = 0;
    // References and inputs may be of two kinds.
    for run in sources.chunk_by(|a, b| is_text(a) == is_text(b)) {
        let numbered = (first..).zip(run);
        if run.first().is_some_and(is_text) {
            let sizes = numbered.map(|(number, source)| (number, source.size_bytes()));
            chunks.extend(cut_files(sizes, target_bytes));
        } else {
            chunks.extend(numbered.flat_map(|(number, source)| cut_records(number, source, target_bytes)));
        }
        first += run.len() as u32;
    }
    chunks
}

fn cut_records(number: u32, source: &Source, target_bytes: u64) -> Vec<Chunk> {
    match &source.content {
        Content::Delimited(delimited) => {
            let sizes = delimited.cuts.array_windows().map(|&[from, to]| (to - from, to - from));
            cut_pieces(number, sizes, target_bytes)
        }
        Content::Table(table) => {
            // A chunk's share of the file is that of its rows, since nothing says how many bytes they take in it.
            let rows = u128::from(table.rows().max(1));
            let before = |row: u64| (u128::from(source.size_bytes()) * u128::from(row) / rows) as u64;
            let sizes = (0..table.pieces()).map(|piece| {
                let rows = table.piece_rows(piece);
                (table.piece_bytes(piece), before(rows.end) - before(rows.start))
            });
            cut_pieces(number, sizes, target_bytes)
        }
        Content::Lines | Content::Whole(..) => cut_lines(number, source.size_bytes(), target_bytes).collect(),
    }
}

/// Gathers pieces, each with the bytes it unfolds to and those it takes in its source.
fn cut_pieces(source: u32, sizes: impl Iterator<Item = (u64, u64)>, target_bytes: u64) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let (mut pieces, mut unfolded, mut bytes) = (0..0, 0, 0);
    for (piece, (unfolds, takes)) in sizes.enumerate() {
        pieces.end = piece + 1;
        unfolded += unfolds;
        bytes += takes;
        if unfolded >= target_bytes {
            let span = Span::Pieces { source, pieces: pieces.clone() };
            chunks.push(Chunk { span, size_bytes: bytes });
            (pieces, unfolded, bytes) = (piece + 1..piece + 1, 0, 0);
        }
    }
    if !pieces.is_empty() {
        chunks.push(Chunk { span: Span::Pieces { source, pieces }, size_bytes: bytes });
    }
    chunks
}

fn cut_lines(source: u32, size_bytes: u64, target_bytes: u64) -> impl Iterator<Item = Chunk> {
    (0..size_bytes.div_ceil(target_bytes)).map(move |piece| {
        let start = piece * target_bytes;
        let end = start.saturating_add(target_bytes).min(size_bytes);
        Chunk { span: Span::Lines { source, start, end }, size_bytes: end - start }
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
        let lines = |start, end| Span::Lines { source: 3, start, end };
        assert_eq!(spans, [lines(0, 4), lines(4, 8), lines(8, 10)]);
        assert_eq!(chunks.iter().map(Chunk::size_bytes).sum::<u64>(), 10);
        assert_eq!(cut_lines(0, 0, 4).count(), 0);
    }

    #[test]
    fn pieces_are_gathered() {
        let chunks = cut_pieces(2, [(3, 30), (3, 10), (9, 20), (0, 1)].into_iter(), 5);
        let runs: Vec<(Span, u64)> = chunks.into_iter().map(|chunk| (chunk.span, chunk.size_bytes)).collect();
        let pieces = |pieces| Span::Pieces { source: 2, pieces };
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
