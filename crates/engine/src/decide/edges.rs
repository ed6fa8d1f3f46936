//! Sorts the near-duplicates of each document in bounded memory.
//!
//! Edges are added in any order while neighbourhoods are verified, and are read document by document. [`SortedRuns`]
//! sorts them. Edges that do not fit into their memory are on disk, both during the sort and afterwards.

use std::path::Path;

use minwise::sort::sort_mixed;
use minwise_corpus::Temporary;

use crate::error::Error;
use crate::memory::WorkingMemory;
use crate::storage::runs::{SortEntry, SortedRuns, SpreadNumber};

/// Key of the two documents of an edge, and the bits of the similarity.
type Keyed = (u64, u64);

/// Number of bytes per near-duplicate on disk: its number and the similarity.
const STORED: usize = 12;

/// Edges that are collected and sorted while neighbourhoods are verified.
#[derive(Debug)]
pub(crate) struct Edges<'a> {
    documents: usize,
    spread: SpreadNumber,
    pending: Vec<Keyed>,
    scratch: Vec<Keyed>,
    runs: SortedRuns<'a, Keyed>,
    /// Maximum number of edges in memory.
    most: usize,
    folder: Option<&'a Path>,
}

impl<'a> Edges<'a> {
    /// Creates an empty list of edges between `documents` documents.
    pub(crate) fn new(documents: usize, room: WorkingMemory, folder: Option<&'a Path>) -> Self {
        // The memory holds up to three lists of this length: edges that wait, edges that stay, and a buffer for
        // sorting.
        let most = (room.held() as usize / (3 * Keyed::BYTES)).max(1);
        Self {
            documents,
            spread: SpreadNumber::new(documents),
            pending: vec![],
            scratch: vec![],
            runs: SortedRuns::new(most, folder),
            most,
            folder,
        }
    }

    /// Adds an edge to the list of its first document.
    pub(crate) fn add(&mut self, document: u32, neighbour: u32, similarity: f64) -> Result<(), Error> {
        self.pending.push((self.spread.key(document, neighbour), similarity.to_bits()));
        if self.pending.len() >= self.most { self.put_away() } else { Ok(()) }
    }

    fn put_away(&mut self) -> Result<(), Error> {
        sort_mixed(&mut self.pending, &mut self.scratch);
        self.runs.add(std::mem::take(&mut self.pending))
    }

    /// Returns all edges, sorted by document.
    pub(crate) fn finish(mut self) -> Result<Neighbours, Error> {
        self.put_away()?;
        self.scratch = vec![];
        let mut list = match self.runs.len() {
            few if few <= self.most => EdgeList::Memory(Vec::with_capacity(few)),
            _ => EdgeList::Disk(Temporary::create(self.folder)?),
        };
        let mut begins = Vec::with_capacity(self.documents + 1);
        let mut count = 0;
        for range in self.runs.ranges(self.most) {
            let edges = self.runs.merged(range)?;
            for &(key, _) in &edges {
                // The list of a document without near-duplicates begins where the next list begins.
                let document = self.spread.unkey(key).0 as usize;
                begins.resize(begins.len().max(document + 1), count);
                count += 1;
            }
            let neighbours =
                edges.iter().map(|&(key, bits)| (self.spread.unkey(key).1, f64::from_bits(bits)));
            list.extend(neighbours)?;
        }
        begins.resize(self.documents + 1, count);
        Ok(Neighbours { begins, list })
    }
}

/// Near-duplicates of each document.
#[derive(Debug)]
pub(crate) struct Neighbours {
    /// Index in `list` at which the near-duplicates of each document begin, followed by the end of the list.
    begins: Vec<u64>,
    list: EdgeList,
}

#[derive(Debug)]
enum EdgeList {
    Memory(Vec<(u32, f64)>),
    Disk(Temporary),
}

impl EdgeList {
    fn extend(&mut self, neighbours: impl Iterator<Item = (u32, f64)>) -> Result<(), Error> {
        match self {
            Self::Memory(list) => list.extend(neighbours),
            Self::Disk(file) => {
                let mut bytes = vec![];
                for (neighbour, similarity) in neighbours {
                    bytes.extend_from_slice(&neighbour.to_le_bytes());
                    bytes.extend_from_slice(&similarity.to_le_bytes());
                }
                file.append(&bytes)?;
            }
        }
        Ok(())
    }
}

impl Neighbours {
    /// Reports whether a document has no near-duplicates.
    pub(crate) fn are_none(&self, document: u32) -> bool {
        self.begins[document as usize] == self.begins[document as usize + 1]
    }

    /// Fills `out` with the near-duplicates of a document and their similarities, in ascending order.
    pub(crate) fn of(&self, document: u32, out: &mut Vec<(u32, f64)>) -> Result<(), Error> {
        let [begin, end] = [0, 1].map(|next| self.begins[document as usize + next]);
        out.clear();
        match &self.list {
            EdgeList::Memory(list) => out.extend_from_slice(&list[begin as usize..end as usize]),
            EdgeList::Disk(_) if begin == end => {}
            EdgeList::Disk(file) => {
                let mut bytes = vec![0; (end - begin) as usize * STORED];
                file.read_exact_at(begin * STORED as u64, &mut bytes)?;
                out.extend(bytes.as_chunks::<STORED>().0.iter().map(|&[a, b, c, d, similarity @ ..]| {
                    (u32::from_le_bytes([a, b, c, d]), f64::from_le_bytes(similarity))
                }));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLimit;

    /// The near-duplicates of every document are found, in memory and on disk.
    #[test]
    fn by_document_in_ascending_order() {
        let edges = (0..300u32).flat_map(|a| (0..a % 7).map(move |i| ((a * 37) % 300, (a + i * 11) % 300)));
        let mut expected = vec![vec![]; 300];
        for (a, b) in edges.clone() {
            expected[a as usize].push((b, f64::from(b) / 300.0));
        }
        for room in [0, 1000, 20_000, 1 << 20] {
            let mut sorting = Edges::new(300, MemoryLimit::with_room(room).room(1, 300), None);
            for (a, b) in edges.clone() {
                sorting.add(a, b, f64::from(b) / 300.0).unwrap();
            }
            let neighbours = sorting.finish().unwrap();
            assert_eq!(matches!(neighbours.list, EdgeList::Memory(_)), room == 1 << 20);
            let mut found = vec![];
            for (document, expected) in (0..).zip(&mut expected) {
                neighbours.of(document, &mut found).unwrap();
                expected.sort_by_key(|neighbour| neighbour.0);
                assert_eq!(&found, expected, "{document}");
            }
        }
    }

    #[test]
    fn nothing_and_nobody() {
        let neighbours = Edges::new(0, WorkingMemory::none(), None).finish().unwrap();
        assert_eq!(neighbours.begins, [0]);
        let neighbours = Edges::new(2, WorkingMemory::none(), None).finish().unwrap();
        let mut found = vec![(1, 0.5)];
        neighbours.of(1, &mut found).unwrap();
        assert_eq!(found, []);
    }
}
