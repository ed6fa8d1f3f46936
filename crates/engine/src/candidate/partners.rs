//! Candidates that were found pair by pair: for each document, those that it is to be compared with.
//!
//! Pairs are eight bytes each while they are sorted and four afterwards, and those that do not fit into the memory that is
//! set aside for them are on disk at both times.

use std::path::Path;

use minwise::cluster::Forest;
use minwise::sort::sort_mixed;
use minwise_corpus::Temporary;

use crate::error::Error;
use crate::memory::WorkingMemory;
use crate::parallel;
use crate::storage::runs::{SortedRuns, SpreadNumber};

/// Pairs that are sorted together.
const TOGETHER: usize = 1 << 18;
/// Pairs that stay in memory for each thread, and those that do however little memory there is.
const HELD: usize = 1 << 20;
const LEAST_HELD: usize = 1 << 17;
/// Pairs that are merged together.
const MERGED: usize = 1 << 18;

/// Pairs of documents, numbered from 0, while they are found.
pub(crate) struct CandidatePairs<'a> {
    spread: SpreadNumber,
    /// Which documents meet, directly or through others.
    forest: Forest,
    /// For each document, whether those after it are to be known too.
    both_ways: Vec<bool>,
    pending: Vec<u64>,
    scratch: Vec<u64>,
    runs: SortedRuns<'a, u64>,
    /// Pairs that stay in memory.
    most: usize,
    threads: usize,
    folder: Option<&'a Path>,
}

impl<'a> CandidatePairs<'a> {
    /// No pairs yet. Every document will know its partners before it, and those that `both_ways` names all of them.
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

    /// Adds pairs, each of which must come once.
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

    /// Which documents meet, directly or through others.
    pub(crate) fn forest(&mut self) -> &mut Forest {
        &mut self.forest
    }

    /// All partners of each document. They are told by `name`, which rises with the numbers of documents that meet.
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
                    // Documents without partners begin where the next one does.
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

/// Who is to be compared with whom.
#[derive(Debug)]
pub(crate) struct Partners {
    /// Where the partners of each document begin, and where those of the last one end.
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

    /// A graph of so many documents and its partners, as sorting in memory gives them.
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

    /// More pairs than stay in memory.
    #[test]
    fn partners_on_disk_are_those_in_memory() {
        let size = 3000;
        assert!(u64::from(size) * u64::from(size - 1) / 2 > 2 * HELD as u64);
        check(size, (0..size).flat_map(|a| (a + 1..size).map(move |b| (b, a))));
    }
}
