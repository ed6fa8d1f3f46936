//! The scan of a block by parity bits: each row that asks is compared with all others by folded arrays, and only pairs that these leave
//! open are looked at one by one.
//!
//! Folded arrays are compared in vectors, eight rows at a time ([`Heads`]). A pair of one block may be in other blocks, too. To
//! find out took most of the time when each pair was looked at, so that the engine removes repeated pairs afterwards: few are left
//! by then.

use std::ops::Range;

use minwise::cluster::BlockRow;
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;
use minwise::verify::parity::{Bound, allowance, fold_into};

/// Rows that ask and go through the others together, and bytes of folded arrays that stay in the cache meanwhile.
const TOGETHER: usize = 16;
const STRETCH_BYTES: usize = 32 << 10;
/// Words of 64 bits of the narrowest folded arrays.
const LEAST_WORDS: usize = 4;
/// Rows of either side of a sample that the width is chosen on, and the share of its pairs that may be open: one in so many.
const SAMPLED: usize = 64;
const ONE_OPEN_IN: usize = 64;

/// A row of a block, as a task gets it.
pub(super) struct TaskRow {
    /// The block, whether the row is there as one that others ask, and the document.
    pub(super) place: (i64, bool, u32),
    /// The batch and the row that has the rank key.
    pub(super) at: (usize, usize),
    pub(super) row: BlockRow,
    pub(super) band: u32,
    /// Bands of blocks in which the document asks.
    pub(super) mask: u64,
    /// Bytes of the text.
    pub(super) size: i64,
    /// The number of the sketch in the task.
    pub(super) sketch: usize,
    /// The number of shingles, and the first and the number of the words of parity bits; no words if they are unknown.
    pub(super) shingles: usize,
    pub(super) parity: (usize, usize),
}

/// The folded parity bits of some rows of a block, in the order of documents.
struct List {
    /// Places in the task.
    rows: Vec<usize>,
    documents: Vec<u32>,
    heads: Heads,
}

impl List {
    /// The places of the list whose documents come before one, or after it.
    fn range(&self, document: u32, is_after: bool) -> Range<usize> {
        if is_after {
            self.documents.partition_point(|&other| other <= document)..self.documents.len()
        } else {
            0..self.documents.partition_point(|&other| other < document)
        }
    }
}

/// One block: its rows that ask, and the rows that these are compared with.
pub struct BlockScan {
    probes: List,
    /// For kept documents and for those that are new in the front: later rows, and earlier ones that do not ask themselves.
    lists: [[List; 2]; 2],
    /// The next row that asks.
    next: usize,
}

/// What scans of one task share: all rows with their parity bits.
pub struct ScanRows<'a> {
    pub rows: &'a [TaskRow],
    pub parities: &'a [u32],
    pub threshold: f64,
    pub kernel: Kernel,
}

impl ScanRows<'_> {
    fn parity(&self, row: usize) -> &[u32] {
        let (begin, words) = self.rows[row].parity;
        &self.parities[begin..][..words]
    }

    fn folded(&self, row: usize, folded: &mut [u64]) -> u64 {
        fold_into(self.parity(row), folded);
        allowance(self.rows[row].shingles, self.threshold)
    }

    /// Words of folded arrays that leave few pairs open: those of large sets differ in so many bits that narrow ones say nothing.
    fn width(&self, asking: &[usize], members: &[usize]) -> usize {
        let sample = |rows: &[usize]| -> Vec<usize> {
            rows.iter().copied().step_by(rows.len().div_ceil(SAMPLED).max(1)).collect()
        };
        let (asking, members) = (sample(asking), sample(members));
        let most = asking.iter().chain(&members).map(|&row| self.parity(row).len() / 2).min();
        let widest = most.unwrap_or(LEAST_WORDS);
        let mut words = LEAST_WORDS.min(widest);
        while words < widest {
            let fold = |row: &usize| {
                let mut folded = vec![0; words];
                (self.folded(*row, &mut folded), folded)
            };
            let others: Vec<_> = members.iter().map(fold).collect();
            let open: usize = asking
                .iter()
                .map(fold)
                .map(|(own, a)| {
                    let is_open = |(allowed, b): &&(u64, Vec<u64>)| {
                        let different: u64 =
                            a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum();
                        different <= own + allowed
                    };
                    others.iter().filter(is_open).count()
                })
                .sum();
            if open * ONE_OPEN_IN <= asking.len() * others.len() {
                break;
            }
            words *= 2;
        }
        words
    }

    fn list(&self, rows: impl Iterator<Item = usize>, words: usize) -> List {
        let mut list = List { rows: rows.collect(), documents: vec![], heads: Heads::new(words, 1) };
        let mut folded = vec![0; words];
        for &row in &list.rows {
            let allowed = self.folded(row, &mut folded);
            list.heads.push_allowing(&folded, allowed);
            list.documents.push(self.rows[row].row.document);
        }
        list
    }

    /// Gets a block ready, given the places of its rows that ask and of all its rows, each in the order of documents.
    pub fn block(&self, asking: Range<usize>, members: Range<usize>) -> BlockScan {
        // Arrays may have several widths, and folded ones have the same.
        let narrow = self.rows[asking.start..members.end].iter().map(|row| row.parity.1 / 2).min();
        let all: [Vec<usize>; 2] = [asking.collect(), members.collect()];
        let words = self.width(&all[0], &all[1]).min(narrow.unwrap_or(LEAST_WORDS));
        let [asking, members] = all;
        let list = |is_in: &dyn Fn(BlockRow) -> bool| {
            self.list(members.iter().copied().filter(|&row| is_in(self.rows[row].row)), words)
        };
        let is_join = members.iter().any(|&row| self.rows[row].row.has(BlockRow::JOINS));
        let lists = if is_join {
            let none = || list(&|_| false);
            let earlier = list(&|row| row.has(BlockRow::PLACED) && !row.is_asking());
            [[none(), none()], [list(&|_| true), earlier]]
        } else {
            // Later copies of a removed document meet documents that were kept after its first visit.
            let late = list(&|row| row.has(BlockRow::REMOVED) && row.last > row.document);
            let front = list(&|row| row.has(BlockRow::FRONT));
            let old = list(&|row| row.has(BlockRow::FRONT) && !row.has(BlockRow::NEW));
            [[list(&|row| !row.has(BlockRow::KEPT)), late], [front, old]]
        };
        BlockScan { probes: self.list(asking.into_iter(), words), lists, next: 0 }
    }
}

impl BlockScan {
    /// Compares the next rows that ask, and calls `found` with the places of each pair that may be similar, the earlier document first.
    /// Returns how many pairs were compared; nothing after the last row that asks.
    pub fn scan(&mut self, all: &ScanRows<'_>, mut found: impl FnMut(usize, usize)) -> Option<u64> {
        let probes = self.next..(self.next + TOGETHER).min(self.probes.rows.len());
        if probes.is_empty() {
            return None;
        }
        self.next = probes.end;
        let mut asked = 0;
        for (which, lists) in self.lists.iter().enumerate() {
            let own: Vec<usize> = probes
                .clone()
                .filter(|&at| all.rows[self.probes.rows[at]].row.has(BlockRow::ASKING) == (which == 0))
                .collect();
            for (list, is_after) in lists.iter().zip([true, false]) {
                asked += self.scan_list(all, &own, list, is_after, &mut found);
            }
        }
        Some(asked)
    }

    fn scan_list(
        &self,
        all: &ScanRows<'_>,
        probes: &[usize],
        list: &List,
        is_after: bool,
        found: &mut impl FnMut(usize, usize),
    ) -> u64 {
        let stretch = (STRETCH_BYTES / (8 * list.heads.words())).max(64);
        let ranges: Vec<Range<usize>> = probes
            .iter()
            .map(|&at| list.range(all.rows[self.probes.rows[at]].row.document, is_after))
            .collect();
        let mut open: Vec<Vec<u32>> = probes.iter().map(|_| vec![]).collect();
        for begin in (0..list.rows.len()).step_by(stretch) {
            for ((&at, range), open) in probes.iter().zip(&ranges).zip(&mut open) {
                let range = range.start.max(begin)..range.end.min(begin + stretch);
                if !range.is_empty() {
                    let allowed = allowance(all.rows[self.probes.rows[at]].shingles, all.threshold);
                    all.kernel.near(&self.probes.heads, at, &list.heads, range, allowed as usize, open);
                }
            }
        }
        let (mut asked, mut folded) = (0, vec![]);
        for ((&at, range), open) in probes.iter().zip(ranges).zip(open) {
            let first = &all.rows[self.probes.rows[at]];
            asked += if first.row.has(BlockRow::JOINS) {
                // Documents of one component are not compared, whatever their arrays say.
                let other = |&&row: &&usize| all.rows[row].row.component != first.row.component;
                list.rows[range].iter().filter(other).count() as u64
            } else {
                range.len() as u64
            };
            let mut bound = Bound::new(first.shingles, all.threshold);
            for place in open {
                let row = list.rows[place as usize];
                let second = &all.rows[row];
                let (earlier, later) = if is_after { (first, second) } else { (second, first) };
                if !BlockRow::asks(earlier.row, later.row) {
                    continue;
                }
                let own = all.parity(self.probes.rows[at]);
                let different = different(all.kernel, own, all.parity(row), &mut folded);
                if bound.leaves_open(second.shingles, different) {
                    let probe = self.probes.rows[at];
                    if is_after { found(probe, row) } else { found(row, probe) }
                }
            }
        }
        asked
    }
}

/// In how many bits two arrays of parity bits differ, of which the wider one is folded to the width of the other one.
pub fn different(kernel: Kernel, a: &[u32], b: &[u32], folded: &mut Vec<u32>) -> usize {
    let (narrow, wide) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if narrow.len() == wide.len() {
        return kernel.different_bits(narrow, wide);
    }
    folded.clear();
    folded.resize(narrow.len(), 0);
    for part in wide.chunks_exact(narrow.len()) {
        folded.iter_mut().zip(part).for_each(|(word, more)| *word ^= more);
    }
    kernel.different_bits(narrow, folded)
}
