//! Candidates that were found pair by pair. The partners of a document are the documents with which it is compared.
//!
//! Pairs take 8 bytes each while they are sorted, and 4 bytes afterwards. Pairs that do not fit into their share of the
//! memory are on disk, both during the sort and afterwards.

use std::path::Path;

use minwise::cluster::Forest;
use minwise::sort::sort_mixed;
use minwise_corpus::Temporary;

use crate::error::Error;
use crate::memory::WorkingMemory;
use crate::parallel;
use crate::storage::runs::{SortedRuns, SpreadNumber};

/// Number of pairs that are sorted together.
const TOGETHER: usize = 1 << 18;
/// Number of pairs per thread that stay in memory. `LEAST_HELD` pairs stay even if memory is short.
const HELD: usize = 1 << 20;
const LEAST_HELD: usize = 1 << 17;
/// Number of pairs that are merged together.
const MERGED: usize = 1 << 18;

/// Pairs of documents while they are being found. Documents are numbered from 0.
pub(crate) struct CandidatePairs<'a> {
    spread: SpreadNumber,
    /// Connected components of the documents.
    forest: Forest,
    /// For each document, whether its partners after it are listed too.
    both_ways: Vec<bool>,
    pending: Vec<u64>,
    scratch: Vec<u64>,
    runs: SortedRuns<'a, u64>,
    /// Maximum number of pairs in memory.
    most: usize,
    threads: usize,
    folder: Option<&'a Path>,
}

impl<'a> CandidatePairs<'a> {
    /// Creates an empty list. Each document gets its partners before it. If `both_ways` is `true` for the document, it
    /// gets its partners after it too.
    pub(crate) fn new(
        both_ways: Vec<bool>,
        room: WorkingMemory,
        threads: usize,
        folder: Option<&'a Path>,
    ) -> Self {
        let documents = both_ways.len();
        let most = room.entries(size_of::<u64>()).clamp(LEAST_HELD, (HELD * threads).max(LEAST_HELD));
        Self {
            spread: SpreadNumber::new(documents),
            forest: Forest::new(documents),
            both_ways,
            pending: vec![],
            scratch: vec![],
            runs: SortedRuns::new(most, folder),
            most,
            threads,
            folder,
        }
    }

    /// Adds pairs. Each pair must be added only once.
    pub(crate) fn add(&mut self, pairs: &[(u32, u32)]) -> Result<(), Error> {
        for &(a, b) in pairs {
            self.forest.join(a, b);
            let (earlier, later) = (a.min(b), a.max(b));
            self.pending.push(self.spread.key(later, earlier));
            if self.both_ways[earlier as usize] {
                self.pending.push(self.spread.key(earlier, later));
            }
            if self.pending.len() >= TOGETHER {
                self.put_away()?;
            }
        }
        Ok(())
    }

    fn put_away(&mut self) -> Result<(), Error> {
        sort_mixed(&mut self.pending, &mut self.scratch);
        self.runs.add(std::mem::take(&mut self.pending))
    }

    /// Returns the connected components of the documents.
    pub(crate) fn forest(&mut self) -> &mut Forest {
        &mut self.forest
    }

    /// Returns the partners of each document. `name` converts the numbers of partners, and must be ascending within a
    /// component.
    pub(crate) fn finish(mut self, name: impl Fn(u32) -> u32 + Sync) -> Result<Partners, Error> {
        self.put_away()?;
        let all = self.runs.len();
        let mut list = match all {
            few if few <= 2 * self.most => PartnerList::Memory(Vec::with_capacity(few)),
            _ => PartnerList::Disk(Temporary::create(self.folder)?),
        };
        let mut begins = Vec::with_capacity(self.both_ways.len() + 1);
        let mut count = 0;
        let ranges = self.runs.ranges(MERGED);
        let merge = |(): &mut (), range: usize| -> Result<_, Error> {
            let entries = self.runs.merged(ranges[range].clone())?;
            Ok(entries.into_iter().map(|key| self.spread.unkey(key)).collect::<Vec<_>>())
        };
        parallel::in_order(
            ranges.len(),
            self.threads,
            || (),
            merge,
            |part| {
                for &(document, _) in &part {
                    // The list of a document without partners begins where the next list begins.
                    begins.resize(begins.len().max(document as usize + 1), count);
                    count += 1;
                }
                list.extend(part.iter().map(|&(_, partner)| name(partner)))
            },
        )?;
        begins.resize(self.both_ways.len() + 1, count);
        Ok(Partners { begins, list })
    }
}

/// Partners of all documents.
#[derive(Debug)]
pub(crate) struct Partners {
    /// Index in `list` at which the partners of each document begin, followed by the end of the list.
    begins: Vec<u64>,
    list: PartnerList,
}

#[derive(Debug)]
enum PartnerList {
    Memory(Vec<u32>),
    Disk(Temporary),
}

impl PartnerList {
    fn extend(&mut self, partners: impl Iterator<Item = u32>) -> Result<(), Error> {
        match self {
            Self::Memory(list) => list.extend(partners),
            Self::Disk(file) => {
                file.append(&partners.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
            }
        }
        Ok(())
    }
}

impl Partners {
    /// Fills `out` with the partners of a document, in ascending order.
    pub(crate) fn of(&self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        let [begin, end] = [0, 1].map(|next| self.begins[document as usize + next]);
        out.clear();
        match &self.list {
            PartnerList::Memory(list) => out.extend_from_slice(&list[begin as usize..end as usize]),
            PartnerList::Disk(file) => {
                let mut bytes = vec![0; (end - begin) as usize * size_of::<u32>()];
                file.read_exact_at(begin * size_of::<u32>() as u64, &mut bytes)?;
                let words = bytes.chunks_exact(size_of::<u32>());
                out.extend(words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLimit;

    /// Compares the partners in a graph of `documents` documents with partners that were sorted in memory.
    fn check(documents: u32, edges: impl Iterator<Item = (u32, u32)> + Clone) {
        let both_ways: Vec<bool> = (0..documents).map(|document| document % 3 == 0).collect();
        let mut expected = vec![vec![]; documents as usize];
        for (a, b) in edges.clone() {
            expected[a.max(b) as usize].push(10 * a.min(b));
            if both_ways[a.min(b) as usize] {
                expected[a.min(b) as usize].push(10 * a.max(b));
            }
        }
        let mut pairs = CandidatePairs::new(both_ways, MemoryLimit::default().room(1, 0), 1, None);
        pairs.add(&edges.collect::<Vec<_>>()).unwrap();
        let partners = pairs.finish(|document| 10 * document).unwrap();
        let mut found = vec![];
        for (document, expected) in (0..).zip(&mut expected) {
            partners.of(document, &mut found).unwrap();
            expected.sort_unstable();
            assert_eq!(&found, expected, "{document}");
        }
    }

    #[test]
    fn everyone_knows_its_partners() {
        check(7, [(3, 1), (0, 6), (3, 5), (1, 2), (0, 3)].into_iter());
        check(3, std::iter::empty());
        check(0, std::iter::empty());
    }

    /// The pairs exceed the number that stays in memory.
    #[test]
    fn partners_on_disk_are_those_in_memory() {
        let size = 3000;
        assert!(u64::from(size) * u64::from(size - 1) / 2 > 2 * HELD as u64);
        check(size, (0..size).flat_map(|a| (a + 1..size).map(move |b| (b, a))));
    }
}
