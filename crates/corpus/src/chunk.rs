//! Cutting a corpus into pieces that can be scanned in parallel.
//!
//! The cut depends on the sizes of the sources and on nothing else, so that every run numbers its documents
//! alike. JSONL is cut at any byte: a chunk owns the lines that *start* in it. Text files are never cut; a
//! chunk is a run of them.

use std::ops::Range;

use crate::corpus::Layout;
use crate::source::Source;

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
    /// A run of text files.
    Files(Range<u32>),
}

impl Chunk {
    /// The source the chunk lies in, or the first of its text files.
    pub fn source(&self) -> u32 {
        match &self.span {
            Span::Lines { source, .. } => *source,
            Span::Files(files) => files.start,
        }
    }

    /// How many bytes it covers.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

/// Cuts `sources` into chunks of about `target_bytes`.
pub(crate) fn cut(sources: &[Source], layout: Layout, target_bytes: u64) -> Vec<Chunk> {
    let target_bytes = target_bytes.max(1);
    let sizes = (0..).zip(sources.iter().map(Source::size_bytes));
    match layout {
        Layout::Jsonl => sizes.flat_map(|(source, size)| cut_lines(source, size, target_bytes)).collect(),
        Layout::Texts => cut_files(sizes, target_bytes),
    }
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
    let (mut files, mut bytes) = (0..0, 0);
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
                let Span::Files(files) = &chunk.span else { panic!("lines among files") };
                prop_assert_eq!(files.start, next);
                prop_assert!(!files.is_empty() && files.len() <= MAX_FILES as usize);
                next = files.end;
            }
            prop_assert_eq!(next as usize, sizes.len());
        }
    }
}
