//! Scans a block by parity bits. The parity bits of a document are a bit array of its shingle set; the arrays of
//! similar sets differ in few bits ([`minwise::verify::parity`]).
//!
//! A block has two sides: the rows that ask, and all rows. A row *asks* if its document is to be compared with the
//! other rows in this round. Each row that asks is compared with all other rows by folded arrays of parity bits. Pairs
//! that the folded arrays do not reject are then compared one by one by their whole arrays.
//!
//! Folded arrays are compared eight rows at a time, in vector registers ([`Heads`]). A pair of one block may be in
//! other blocks, too. The scan does not check this, because the check took most of the time; Spark removes repeated
//! pairs afterwards, when few are left.

use std::ops::Range;

use minwise::cluster::BlockRow;
use minwise::kernel::Kernel;
use minwise::kernel::compare::heads::Heads;
use minwise::verify::parity::{Bound, allowance, fold_into};

/// Number of asking rows that are compared together with one stretch of the other rows at a time.
const TOGETHER: usize = 16;
/// Number of bytes of the folded arrays of one stretch of rows. A stretch stays in the cache while the rows that ask
/// are compared with it.
const STRETCH_BYTES: usize = 32 << 10;
/// Number of 64-bit words of the narrowest folded arrays.
const LEAST_WORDS: usize = 4;
/// Maximum number of rows of each side in the sample on which the width of folded arrays is chosen.
const SAMPLED: usize = 64;
/// The chosen width leaves at most one in `ONE_OPEN_IN` pairs of the sample open.
const ONE_OPEN_IN: usize = 64;

/// A row of a block, as a task gets it.
pub(super) struct TaskRow {
    /// Sort key of the row: the block, whether the row is on the side of all rows (and not of the rows that ask), and
    /// the document.
    pub(super) place: (i64, bool, u32),
    /// Batch, and row of the batch, that has the rank key.
    pub(super) at: (usize, usize),
    pub(super) row: BlockRow,
    pub(super) band: u32,
    /// Bit mask of the bands in whose blocks the document asks. Bands from 64 on have no bit.
    pub(super) mask: u64,
    /// Number of bytes of the text.
    pub(super) size: i64,
    /// Position of the sketch among the sketches of the task.
    pub(super) sketch: usize,
    /// Number of shingles of the document.
    pub(super) shingles: usize,
    /// First word and number of words of the parity bits; no words if the row has no parity bits.
    pub(super) parity: (usize, usize),
}

/// The folded parity bits of some rows of a block, in the order of documents.
struct List {
    /// Positions of the rows in the task.
    rows: Vec<usize>,
    documents: Vec<u32>,
    heads: Heads,
}

impl List {
    /// Returns the positions in the list of all documents after `document`, or of all documents before it.
    fn range(&self, document: u32, is_after: bool) -> Range<usize> {
        if is_after {
            self.documents.partition_point(|&other| other <= document)..self.documents.len()
        } else {
            0..self.documents.partition_point(|&other| other < document)
        }
    }
}

/// The scan of one block: the rows that ask, and the rows that they are compared with.
pub struct BlockScan {
    probes: List,
    /// Rows that are compared with the rows that ask. `lists[0]` is for kept documents that ask. `lists[1]` is for
    /// documents that came to the front, the first undecided documents of their shelves, in this round. Each element
    /// has a list of later rows, and a list of earlier rows that do not ask themselves.
    lists: [[List; 2]; 2],
    /// The next row that asks and was not compared yet.
    next: usize,
}

/// All rows of a task with their parity bits, which the scans of its blocks share.
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

    /// Chooses the number of words of folded arrays: the smallest that leaves few pairs of a sample open. Large sets
    /// need wide arrays, because narrow arrays of two similar large sets differ in about as many bits as those of any
    /// two sets.
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

    /// Prepares the scan of a block. `asking` are the positions of the rows that ask, `members` those of all rows of
    /// the block, each in the order of documents.
    pub fn block(&self, asking: Range<usize>, members: Range<usize>) -> BlockScan {
        // All arrays are folded to one width, at most that of the narrowest array, because arrays of one block may
        // differ in width.
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
            // If a removed document has a later copy, it is also compared with kept documents between the two, because
            // the copy needs a keeper of its own.
            let late = list(&|row| row.has(BlockRow::REMOVED) && row.last > row.document);
            let front = list(&|row| row.has(BlockRow::FRONT));
            let old = list(&|row| row.has(BlockRow::FRONT) && !row.has(BlockRow::NEW));
            [[list(&|row| !row.has(BlockRow::KEPT)), late], [front, old]]
        };
        BlockScan { probes: self.list(asking.into_iter(), words), lists, next: 0 }
    }
}

impl BlockScan {
    /// Compares the next rows that ask, and calls `found` with the positions of each pair that may be similar, the
    /// earlier document first. Returns the number of compared pairs, or `None` if all rows that ask were compared
    /// before.
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
                // Pairs within one component are not counted, because they are never compared exactly.
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

/// Returns the number of bits in which two arrays of parity bits differ. If their widths differ, the wider array is
/// folded to the width of the narrower array.
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
