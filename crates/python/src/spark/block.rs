//! Tasks of blocks: shelves whose pairs are not listed.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use minwise::cluster::BlockRow;

use super::batch::binary;

/// Documents that a shelf takes, as in the command.
pub const SHELF: usize = 131_072;
/// Documents that ask in one task, and others: their parity bits take 13 MB, and up to 100 MB if documents are long, or their sketches 50 MB,
/// and their pairs some seconds. With a quarter of both, four times as many bytes were sent.
const ASKING: usize = 32_768;
const MEMBERS: usize = 65_536;
/// Columns of numbers.
const NAMES: [&str; 13] = [
    "task", "step", "end", "side", "block", "band", "document", "last", "front", "decided", "kind", "joined",
    "mask",
];

/// A band in a set of bands. Bands from 64 on are in no set, so that a pair of theirs may be compared twice.
pub fn bit(band: u16) -> u64 {
    1u64.checked_shl(band.into()).unwrap_or(0)
}

/// Rows of blocks, each once per side. A task has a part of the rows that ask and a part of all rows, so that a row is in many
/// tasks: `task`, `task + step` and so on, up to `end`. The engine repeats rows, because the driver would have no room. Small blocks
/// share a task, and `block` tells their rows apart.
#[derive(Default)]
pub struct BlockTasks {
    numbers: [Vec<i64>; 13],
    documents: Vec<u32>,
    begin: i64,
    block: i64,
    /// The task that small blocks go to, with its rows that ask and all its rows.
    open: Option<(i64, usize, usize)>,
}

impl BlockTasks {
    /// Adds a block. `mask` has the bands of blocks in which a document asks.
    pub fn push(&mut self, band: u16, rows: &[BlockRow], mask: impl Fn(&BlockRow) -> u64) {
        let asking: Vec<&BlockRow> = rows.iter().filter(|row| row.is_asking()).collect();
        let begin = self.place(asking.len(), rows.len());
        // The task of part i of the rows that ask and part j of all rows has the number begin + i · wide + j.
        let high = asking.len().div_ceil(ASKING) as i64;
        let wide = rows.len().div_ceil(MEMBERS) as i64;
        let part = |at: usize, size: usize| (at / size) as i64;
        let first = asking.iter().enumerate().map(|(at, row)| {
            let task = begin + part(at, ASKING) * wide;
            ([task, 1, task + wide - 1, 0], **row)
        });
        let second = rows.iter().enumerate().map(|(at, row)| {
            let task = begin + part(at, MEMBERS);
            ([task, wide, task + (high - 1) * wide, 1], *row)
        });
        for ([task, step, end, side], row) in first.chain(second) {
            let values = [
                task,
                step,
                end,
                side,
                self.block,
                band.into(),
                row.document.into(),
                row.last.into(),
                row.front.into(),
                row.decided.into(),
                row.kind.into(),
                row.component.into(),
                mask(&row).cast_signed(),
            ];
            for (numbers, value) in self.numbers.iter_mut().zip(values) {
                numbers.push(value);
            }
            self.documents.push(row.document);
        }
        self.block += 1;
    }

    /// The first task of a block. A block that leaves room in its task shares it with the next ones.
    fn place(&mut self, asking: usize, rows: usize) -> i64 {
        if let Some((task, asking_before, rows_before)) = self.open {
            let (asking, rows) = (asking_before + asking, rows_before + rows);
            if asking <= ASKING && rows <= MEMBERS {
                self.open = Some((task, asking, rows));
                return task;
            }
        }
        let begin = self.begin;
        let tasks = asking.div_ceil(ASKING) * rows.div_ceil(MEMBERS);
        self.begin += tasks as i64;
        if tasks == 1 {
            self.open = Some((begin, asking, rows));
        }
        begin
    }

    /// The columns of all rows, with the rank keys of their documents.
    pub fn columns<'a>(self, rank: impl Fn(u32) -> &'a [u8]) -> Vec<(&'static str, ArrayRef)> {
        let mut columns: Vec<(&str, ArrayRef)> = vec![];
        for (name, values) in NAMES.into_iter().zip(self.numbers) {
            columns.push((name, Arc::new(Int64Array::from(values))));
        }
        columns.push(("rank", binary(self.documents.into_iter().map(rank))));
        columns
    }
}
