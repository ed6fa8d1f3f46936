//! Compares huge documents, whose shingle sets do not fit into memory and are sorted on disk.
//!
//! The shingles of a document are cut block by block, and each full buffer becomes a sorted run. The sorted runs of
//! both documents are merged part by part of the range of keys. The overlaps of all parts add up to the overlap of the
//! documents.

use minwise::sort::sort_mixed;
use minwise::verify::Overlap;

use crate::error::Error;
use crate::read::prepare::HUGE_BYTES;
use crate::storage::runs::SortedRuns;
use crate::verify::loader::{Loader, Room, Sorting};

/// Sorted shingles of one document.
#[derive(Debug)]
pub(crate) struct Sorted<'a> {
    runs: SortedRuns<'a, u64>,
    most: usize,
}

impl<'a> Sorted<'a> {
    /// Reads and sorts a document.
    pub(crate) fn load(loader: &Loader<'a>, document: u32, room: &mut Room) -> Result<Self, Error> {
        let Sorting { most, folder } = loader.sorting;
        let mut runs = SortedRuns::new(most, folder);
        let mut stretch: Vec<u64> = vec![];
        let Room { scratch, prepared } = room;
        let place = loader.documents.place(document)?;
        let _turn = loader.turns.take(u64::from(place.len) > HUGE_BYTES);
        let read = loader.corpus.read_long(&place, scratch)?;
        loader.preparation.shingle_blocks(&read.text, prepared, |shingles| {
            stretch.extend_from_slice(shingles);
            if stretch.len() >= most { runs.add(sorted(&mut stretch)) } else { Ok(()) }
        })?;
        runs.add(sorted(&mut stretch))?;
        drop(read);
        scratch.give_back();
        Ok(Self { runs, most })
    }

    /// Returns the overlap of the shingles of two documents.
    pub(crate) fn overlap(&self, other: &Self) -> Result<Overlap, Error> {
        let mut sum = Overlap::default();
        // Shingles are spread evenly, so the parts of the shorter document are no larger than the parts of the longer
        // document.
        let longer = if self.runs.len() >= other.runs.len() { self } else { other };
        for parts in longer.runs.ranges(self.most) {
            let (mut left, mut right) = (self.runs.merged(parts.clone())?, other.runs.merged(parts)?);
            left.dedup();
            right.dedup();
            sum.add(&Overlap::of_sorted(&left, &right));
        }
        Ok(sum)
    }
}

/// Takes the shingles out of a stretch, sorts them, and removes repeats.
fn sorted(stretch: &mut Vec<u64>) -> Vec<u64> {
    let mut sorted = std::mem::take(stretch);
    sort_mixed(&mut sorted, &mut vec![]);
    sorted.dedup();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemoryLimit, WorkingMemory};
    use crate::verify::loader::LEAST;

    /// Threads that sort at the same time use no more memory together than one thread alone.
    #[test]
    fn threads_share_the_memory() {
        let room = MemoryLimit::new(8 << 30).unwrap().room(16, 0);
        let most = |threads| Sorting::new(room, threads, None).most;
        assert!(most(1) > 16 * LEAST);
        assert_eq!(most(16), most(1) / 16);
        assert_eq!(Sorting::new(WorkingMemory::none(), 1, None).most, LEAST);
    }
}
