//! Tasks of blocks: shelves whose pairs are not listed.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use minwise::cluster::BlockRow;

use super::batch::binary;

/// Documents that a shelf takes, as in the command.
pub const SHELF: usize = 131_072;
/// Documents that ask in one task, and others: their sketches take 10 MB, and their pairs some tenths of a second.
const ASKING: usize = 2048;
const MEMBERS: usize = 16384;
/// Columns of numbers.
const NAMES: [&str; 12] =
    ["task", "step", "end", "side", "band", "document", "last", "front", "decided", "kind", "joined", "mask"];

/// A band in a set of bands. Bands from 64 on are in no set, so that a pair of theirs may be compared twice.
pub fn bit(band: u16) -> u64 {
    1u64.checked_shl(band.into()).unwrap_or(0)
}

/// Rows of blocks, each once per side. A task has a part of the rows that ask and a part of all rows, so that a row is in many
/// tasks: `task`, `task + step` and so on, up to `end`. The engine repeats rows, because the driver would have no room.
#[derive(Default)]
pub struct BlockTasks {
    numbers: [Vec<i64>; 12],
    documents: Vec<u32>,
    begin: i64,
}

impl BlockTasks {
    /// Adds a block. `mask` has the bands of blocks in which a document asks.
    pub fn push(&mut self, band: u16, rows: &[BlockRow], mask: impl Fn(&BlockRow) -> u64) {
        let asking: Vec<&BlockRow> = rows.iter().filter(|row| row.is_asking()).collect();
        // The task of part i of the rows that ask and part j of all rows has the number begin + i · wide + j.
        let begin = self.begin;
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
        self.begin += high * wide;
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
