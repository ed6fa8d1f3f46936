//! Divides blocks into tasks. A block is a shelf whose pairs are not listed one by one, because they are too many. A
//! row of a block *asks* if its document is to be compared with the other rows in this round.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use minwise::cluster::BlockRow;

use super::batch::binary;

/// Maximum number of rows of one task that ask, and so are compared with the rows of the block.
///
/// With `ASKING` and `MEMBERS` rows, a task gets 13 MB of parity bits (up to 100 MB if documents are long) or 50 MB of
/// sketches, and takes some seconds. With a quarter of both numbers, Spark sent four times as many bytes.
const ASKING: usize = 32_768;
/// Maximum number of rows of one task that are compared with the rows that ask.
const MEMBERS: usize = 65_536;
/// Names of the columns of integers of [`BlockTasks`].
const NAMES: [&str; 13] = [
    "task", "step", "end", "side", "block", "band", "document", "last", "front", "decided", "kind", "joined",
    "mask",
];

/// Returns the bit of a band in a set of bands. Bands from 64 on have no bit, so a pair that shares such a band may be
/// compared twice.
pub fn bit(band: u16) -> u64 {
    1u64.checked_shl(band.into()).unwrap_or(0)
}

/// Rows of blocks with the tasks that they belong to.
///
/// A task compares a part of the rows that ask (side 0) with a part of all rows (side 1). So a row belongs to many
/// tasks: `task`, `task + step` and so on, up to `end`. The table has each row once per side, because the repeated rows
/// would not fit the memory of the driver; Spark repeats them. Small blocks share a task; the column `block`
/// distinguishes their rows.
#[derive(Default)]
pub struct BlockTasks {
    numbers: [Vec<i64>; 13],
    documents: Vec<u32>,
    begin: i64,
    block: i64,
    /// Task to which further small blocks are added, with its number of asking rows and its number of all rows.
    open: Option<(i64, usize, usize)>,
}

impl BlockTasks {
    /// Adds a block. `mask` returns the bands of the blocks in which a document asks.
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

    /// Returns the first task of a block with `asking` rows that ask and `rows` rows in all. A block that leaves room
    /// in its task shares the task with the next blocks.
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

    /// Returns the columns of all rows, with the rank keys of their documents.
    pub fn columns<'a>(self, rank: impl Fn(u32) -> &'a [u8]) -> Vec<(&'static str, ArrayRef)> {
        let mut columns: Vec<(&str, ArrayRef)> = vec![];
        for (name, values) in NAMES.into_iter().zip(self.numbers) {
            columns.push((name, Arc::new(Int64Array::from(values))));
        }
        columns.push(("rank", binary(self.documents.into_iter().map(rank))));
        columns
    }
}
