//! Shelves of a neighbourhood that do not fit into a batch, listed by document in a temporary file.

use std::ops::Range;
use std::path::Path;

use bytemuck::{cast_slice, cast_slice_mut};
use minwise_corpus::Temporary;

use super::cells::CellGroups;
use crate::error::Error;

/// Shelves of a large neighbourhood, listed by document.
#[derive(Debug)]
pub(crate) struct LargeShelves {
    pub(super) shelves: usize,
    /// Index in `list` at which the shelves of each document begin, followed by the end of the list.
    begins: Vec<u64>,
    /// Numbers of the shelves, document by document.
    list: Temporary,
}

impl LargeShelves {
    /// Writes the shelves of a neighbourhood to a temporary file in `folder`. The documents of the neighbourhood have
    /// the slots `own`, and its groups are in `cell`.
    ///
    /// The list is written in parts, each with as many documents as fit into a quarter of `most_bytes`. Each part needs
    /// a pass over the cell, because groups are in the order of bands and may be on disk.
    pub(super) fn write(
        groups: &CellGroups,
        cell: usize,
        own: Range<u32>,
        most_bytes: u64,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let documents = own.len();
        let for_each = |visit: &mut dyn FnMut(&[u32])| {
            groups.for_each(cell, |group| {
                if own.contains(&group[0]) {
                    visit(group);
                }
            })
        };
        let number = |slot: u32| (slot - own.start) as usize;
        let (mut shelves, mut begins) = (0, vec![0u64; documents + 1]);
        for_each(&mut |group| {
            shelves += 1;
            for &slot in group {
                begins[number(slot) + 1] += 1;
            }
        })?;
        for at in 0..documents {
            begins[at + 1] += begins[at];
        }
        let list = Temporary::create(folder)?;
        let most = most_bytes / 4 / size_of::<u32>() as u64;
        let mut first = 0;
        while first < documents {
            // A part has as many documents as fit into memory, and at least one.
            let fits = begins[first..].partition_point(|&begin| begin - begins[first] <= most);
            let last = (first + fits.saturating_sub(1)).clamp(first + 1, documents);
            let mut next: Vec<u32> =
                begins[first..last].iter().map(|begin| (begin - begins[first]) as u32).collect();
            let mut part = vec![0u32; (begins[last] - begins[first]) as usize];
            let mut shelf = 0;
            for_each(&mut |group| {
                for &slot in group {
                    if let Some(next) = number(slot).checked_sub(first).and_then(|at| next.get_mut(at)) {
                        part[*next as usize] = shelf;
                        *next += 1;
                    }
                }
                shelf += 1;
            })?;
            list.append(cast_slice(&part))?;
            first = last;
        }
        Ok(Self { shelves, begins, list })
    }

    /// Fills `out` with the numbers of the shelves of a document, in ascending order.
    pub(crate) fn of(&self, document: u32, out: &mut Vec<u32>) -> Result<(), Error> {
        let [begin, end] = [0, 1].map(|next| self.begins[document as usize + next]);
        out.resize((end - begin) as usize, 0);
        Ok(self.list.read_exact_at(4 * begin, cast_slice_mut(out))?)
    }
}
