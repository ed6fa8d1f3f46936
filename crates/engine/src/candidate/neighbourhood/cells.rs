//! Cells: consecutive neighbourhoods that one thread loads and decides together, with the groups of their documents.
//!
//! Groups are found in the order of bands, so the groups of a neighbourhood lie far apart. They are spread once over all
//! cells, by all threads. Before, each part of the neighbourhoods that fitted into memory was loaded by one thread, with
//! a pass over all groups.

use std::path::Path;

use bytemuck::{cast_slice, cast_slice_mut};
use minwise_corpus::Temporary;

use super::Extents;
use crate::candidate::groups::{Groups, groups_in};
use crate::error::Error;
use crate::parallel;

/// Approximate number of cells. It is enough to occupy many threads until the end.
const CELLS: usize = 8192;
/// Bounds of the number of documents per cell.
///
/// Most neighbourhoods have two documents. A cell for each small neighbourhood would cost more than the decision: two
/// locks of a mutex and a system call.
const LEAST_DOCUMENTS: usize = 64;
const MOST_DOCUMENTS: usize = 512;
/// Minimum number of bytes of text at which a cell ends.
const LEAST_TEXT_BYTES: u64 = 64 << 10;

/// Division of the neighbourhoods into cells.
#[derive(Debug)]
pub(super) struct Cells {
    /// Number of the neighbourhood at which each cell ends.
    ends: Vec<u32>,
    /// Number of the cell of each neighbourhood.
    numbers: Vec<u32>,
}

impl Cells {
    /// Divides the neighbourhoods. `text_bytes` has the bytes of text of each. A neighbourhood with more documents than
    /// a cell should have is a cell of its own.
    pub(super) fn new(extents: &Extents, text_bytes: &[u64]) -> Self {
        let slots = extents.of_all(&(0..extents.len())).len();
        let most = (slots / CELLS).clamp(LEAST_DOCUMENTS, MOST_DOCUMENTS);
        let most_text = (text_bytes.iter().sum::<u64>() / CELLS as u64).max(LEAST_TEXT_BYTES);
        let mut cells = Self { ends: vec![], numbers: Vec::with_capacity(extents.len()) };
        let (mut documents, mut text) = (0, 0);
        for (number, text_bytes) in text_bytes.iter().enumerate() {
            let own = extents.of(number).len();
            if documents > 0 && (documents >= most || text >= most_text || own > most) {
                cells.ends.push(number as u32);
                (documents, text) = (0, 0);
            }
            cells.numbers.push(cells.ends.len() as u32);
            documents += own;
            text += text_bytes;
        }
        if documents > 0 {
            cells.ends.push(extents.len() as u32);
        }
        cells
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of the cell of a neighbourhood.
    #[inline]
    pub(super) fn of(&self, number: usize) -> usize {
        self.numbers[number] as usize
    }

    /// Returns the number of the neighbourhood at which a cell ends.
    pub(super) fn end(&self, cell: usize) -> usize {
        self.ends[cell] as usize
    }
}

/// Groups of all neighbourhoods, cell by cell. A group is stored as its size and the slots of its documents. The groups
/// of a cell are in the order in which they were found.
#[derive(Debug)]
pub(super) struct CellGroups {
    chunks: Vec<SpreadChunk>,
    /// The words of all chunks, if they are on disk.
    file: Option<Temporary>,
}

/// Groups of one chunk of [`Groups`], in the order of their cells.
#[derive(Debug)]
struct SpreadChunk {
    /// Index of the word at which each cell ends.
    ends: Box<[u32]>,
    /// The words, if they are in memory.
    words: Vec<u32>,
    /// Offset of the words in the file.
    offset: u64,
}

/// Buffers of one thread that spreads chunks.
#[derive(Debug, Default)]
struct SpreadBuffers {
    block: Vec<u32>,
    /// Number of the cell of each group of a chunk.
    cells: Vec<u32>,
}

impl CellGroups {
    /// Spreads the groups over the cells with several threads. `slots` has the slot of each place in keeper order. If the
    /// groups are on disk, so is the result, in an unnamed file in `folder`.
    pub(super) fn spread(
        groups: &Groups,
        slots: &[u32],
        extents: &Extents,
        cells: &Cells,
        threads: usize,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let file = if groups.are_held() { None } else { Some(Temporary::create(folder)?) };
        let work = |buffers: &mut SpreadBuffers, chunk: usize| -> Result<SpreadChunk, Error> {
            let words = groups.chunk(chunk, &mut buffers.block)?;
            let mut ends = vec![0; cells.len()].into_boxed_slice();
            buffers.cells.clear();
            for (_, group) in groups_in(words) {
                let cell = cells.of(extents.holding(slots[group[0] as usize]));
                buffers.cells.push(cell as u32);
                ends[cell] += 1 + group.len() as u32;
            }
            let mut begin = 0;
            for end in &mut ends {
                begin += std::mem::replace(end, begin);
            }
            let mut spread = vec![0; begin as usize];
            for (&cell, (_, group)) in buffers.cells.iter().zip(groups_in(words)) {
                let end = &mut ends[cell as usize];
                let out = &mut spread[*end as usize..][..=group.len()];
                out[0] = group.len() as u32;
                for (out, &place) in out[1..].iter_mut().zip(group) {
                    *out = slots[place as usize];
                }
                *end += out.len() as u32;
            }
            Ok(SpreadChunk { ends, words: spread, offset: 0 })
        };
        let mut chunks = Vec::with_capacity(groups.chunks());
        parallel::in_order(groups.chunks(), threads, SpreadBuffers::default, work, |mut chunk| {
            if let Some(file) = &file {
                chunk.offset = file.append(cast_slice(&chunk.words))?;
                chunk.words = vec![];
            }
            chunks.push(chunk);
            Ok::<(), Error>(())
        })?;
        Ok(Self { chunks, file })
    }

    /// Visits the groups of a cell, each as the slots of its documents.
    pub(super) fn for_each(&self, cell: usize, mut visit: impl FnMut(&[u32])) -> Result<(), Error> {
        let mut block = vec![];
        for chunk in &self.chunks {
            let begin = cell.checked_sub(1).map_or(0, |before| chunk.ends[before]) as usize;
            let end = chunk.ends[cell] as usize;
            let mut words = match &self.file {
                _ if begin == end => continue,
                None => &chunk.words[begin..end],
                Some(file) => {
                    block.resize(end - begin, 0);
                    file.read_exact_at(chunk.offset + 4 * begin as u64, cast_slice_mut(&mut block))?;
                    &block
                }
            };
            while let [size, rest @ ..] = words {
                let (group, behind) = rest.split_at(*size as usize);
                visit(group);
                words = behind;
            }
        }
        Ok(())
    }
}
