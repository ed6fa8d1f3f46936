//! External sort: sorted runs of keyed entries, kept in memory while they fit and then on disk, until they are merged.

use std::ops::Range;
use std::path::Path;

use minwise::sort::{Mixed, sort_mixed};
use minwise_corpus::Temporary;

use crate::error::Error;

/// Number of parts into which the range of keys is divided by the first bits. Each part can be merged by itself.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 12;

/// Entry with a well-mixed key, which can be written to disk.
pub(crate) trait SortEntry: Mixed + Send + Sync {
    /// Number of bytes per entry.
    const BYTES: usize;

    fn write(&self, out: &mut Vec<u8>);

    /// Reads an entry from exactly [`BYTES`](Self::BYTES) bytes.
    fn read(bytes: &[u8]) -> Self;
}

impl SortEntry for u64 {
    const BYTES: usize = 8;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        number(bytes)
    }
}

impl SortEntry for (u64, u32) {
    const BYTES: usize = 12;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
        out.extend_from_slice(&self.1.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        (number(&bytes[..8]), number(&bytes[8..]) as u32)
    }
}

impl SortEntry for (u64, u64) {
    const BYTES: usize = 16;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
        out.extend_from_slice(&self.1.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        (number(&bytes[..8]), number(&bytes[8..]))
    }
}

/// Map from numbers below a bound to 32-bit values in the same order. The values are spread over the whole range of
/// `u32`, so that keys that begin with them are divided evenly among the parts of a range of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpreadNumber(u32);

impl SpreadNumber {
    pub(crate) fn new(bound: usize) -> Self {
        Self(u32::MAX / u32::try_from(bound).unwrap_or(u32::MAX).max(1))
    }

    /// Returns the key of a number: the spread number in the upper half, `with` in the lower half.
    pub(crate) fn key(self, number: u32, with: u32) -> u64 {
        u64::from(number * self.0) << 32 | u64::from(with)
    }

    /// Splits a key into its number and its lower half.
    pub(crate) fn unkey(self, key: u64) -> (u32, u32) {
        ((key >> 32) as u32 / self.0, key as u32)
    }
}

/// Decodes a little-endian number of at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Entries in ascending order.
#[derive(Debug)]
struct SortedRun<E> {
    /// Index of the first entry of each part, followed by the total number of entries.
    begins: Box<[u32]>,
    place: RunStorage<E>,
}

#[derive(Debug)]
enum RunStorage<E> {
    Memory(Vec<E>),
    /// Offset of the first entry in the file.
    Disk(u64),
}

/// Number of bytes that are written at a time.
const WRITTEN: usize = 1 << 20;

/// All sorted runs of one external sort.
#[derive(Debug)]
pub(crate) struct SortedRuns<'a, E> {
    all: Vec<SortedRun<E>>,
    /// Number of entries in memory, including the memory of their `begins`, and the maximum of this number.
    held: usize,
    most: usize,
    file: Option<Temporary>,
    folder: Option<&'a Path>,
}

impl<'a, E: SortEntry> SortedRuns<'a, E> {
    /// Makes an empty set of runs. At most `most` entries stay in memory, fewer than 2³¹. Further entries go to a
    /// temporary file in `folder`, or in the temporary folder of the system.
    pub(crate) fn new(most: usize, folder: Option<&'a Path>) -> Self {
        Self { all: vec![], held: 0, most: most.min(i32::MAX as usize), file: None, folder }
    }

    /// Adds a run of entries. The entries must be in ascending order, and fewer than 2³¹.
    pub(crate) fn add(&mut self, entries: Vec<E>) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let begins = (0..=PARTS as u64).map(|part| match part.checked_shl(u64::BITS - PART_BITS) {
            Some(first) if part < PARTS as u64 => {
                entries.partition_point(|entry| entry.mixed() < first) as u32
            }
            _ => entries.len() as u32,
        });
        self.held += entries.len() + PARTS * size_of::<u32>() / size_of::<E>();
        self.all.push(SortedRun { begins: begins.collect(), place: RunStorage::Memory(entries) });
        if self.held > self.most { self.spill() } else { Ok(()) }
    }

    /// Returns the number of entries in all runs.
    pub(crate) fn len(&self) -> usize {
        self.all.iter().map(|run| run.begins[PARTS] as usize).sum()
    }

    /// Merges all runs in memory to a single run in the file, because each of many short runs would need a separate
    /// read.
    fn spill(&mut self) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(Temporary::create(self.folder)?),
        };
        let begin = file.size_bytes();
        let mut begins = Vec::with_capacity(PARTS + 1);
        let (mut entries, mut bytes, mut written) = (vec![], vec![], 0);
        for part in 0..PARTS {
            begins.push(written as u32);
            entries.clear();
            for run in &self.all {
                if let RunStorage::Memory(all) = &run.place {
                    entries.extend_from_slice(&all[run.begins[part] as usize..run.begins[part + 1] as usize]);
                }
            }
            // A stable sort is used, because it is fast on concatenated sorted runs.
            entries.sort();
            written += entries.len();
            for entry in &entries {
                entry.write(&mut bytes);
            }
            if bytes.len() >= WRITTEN {
                file.append(&bytes)?;
                bytes.clear();
            }
        }
        begins.push(written as u32);
        file.append(&bytes)?;
        self.all.retain(|run| matches!(run.place, RunStorage::Disk(_)));
        self.all.push(SortedRun { begins: begins.into(), place: RunStorage::Disk(begin) });
        self.held = 0;
        Ok(())
    }

    /// Divides the parts into ranges of at most `most` entries each. A range of a single part may have more.
    pub(crate) fn ranges(&self, most: usize) -> Vec<Range<usize>> {
        let size = |part: usize| -> usize {
            self.all.iter().map(|run| (run.begins[part + 1] - run.begins[part]) as usize).sum()
        };
        let mut ranges: Vec<Range<usize>> = vec![];
        let mut entries = 0;
        for part in 0..PARTS {
            entries += size(part);
            match ranges.last_mut() {
                Some(range) if entries <= most => range.end = part + 1,
                _ => {
                    entries = size(part);
                    ranges.push(part..part + 1);
                }
            }
        }
        ranges
    }

    /// Returns the entries of the given parts in ascending order.
    pub(crate) fn merged(&self, parts: Range<usize>) -> Result<Vec<E>, Error> {
        let mut all: Vec<E> = vec![];
        for run in &self.all {
            let [begin, end] = [run.begins[parts.start], run.begins[parts.end]].map(|at| at as usize);
            match &run.place {
                RunStorage::Memory(entries) => all.extend_from_slice(&entries[begin..end]),
                RunStorage::Disk(first) => {
                    let mut bytes = vec![0; (end - begin) * E::BYTES];
                    let Some(file) = &self.file else {
                        unreachable!("runs are on disk only once there is a file")
                    };
                    file.read_exact_at(first + (begin * E::BYTES) as u64, &mut bytes)?;
                    all.extend(bytes.chunks_exact(E::BYTES).map(E::read));
                }
            }
        }
        sort_mixed(&mut all, &mut vec![]);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise::hash::fmix64;

    fn runs_merge_alike<E: SortEntry + std::fmt::Debug>(make: impl Fn(u64, u64) -> E) {
        let mut parts: Vec<Vec<E>> = (0..20)
            .map(|part| (0..1000).map(|i| make(fmix64((i * (part + 3)) % 700), i % 5)).collect())
            .collect();
        for part in &mut parts {
            part.sort_unstable();
        }
        let mut expected: Vec<E> = parts.iter().flatten().copied().collect();
        expected.sort_unstable();
        for most in [0, 1500, usize::MAX] {
            let mut runs = SortedRuns::new(most, None);
            for part in &parts {
                runs.add(part.clone()).unwrap();
            }
            for together in [1, 300, usize::MAX] {
                let ranges = runs.ranges(together);
                assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, PARTS));
                let merged: Vec<E> =
                    ranges.into_iter().flat_map(|range| runs.merged(range).unwrap()).collect();
                assert_eq!(merged, expected);
            }
        }
    }

    /// Merging must give the order of a single sort, whichever runs are in memory and however parts are grouped.
    #[test]
    fn runs_in_memory_and_on_disk_merge_alike() {
        runs_merge_alike(|key, with| (key, with as u32));
        runs_merge_alike(|key, with| (key, fmix64(with)));
        runs_merge_alike(|key, _| key);
    }

    #[test]
    fn numbers_are_spread_in_their_order() {
        for bound in [1, 2, 3, 1000, 4_000_000_000, u32::MAX as usize] {
            let spread = SpreadNumber::new(bound);
            let numbers =
                [0, 1, bound as u32 / 2, bound as u32 - 1].map(|number| number.min(bound as u32 - 1));
            assert!(numbers.map(|number| spread.key(number, 7)).is_sorted());
            assert_eq!(numbers.map(|number| spread.unkey(spread.key(number, 7))), numbers.map(|n| (n, 7)));
            // Neighbouring numbers are a whole step apart, so at most half of the range stays unused.
            let part = spread.key(bound as u32 - 1, 0) >> (u64::BITS - PART_BITS);
            assert!(bound == 1 || part as usize + 1 >= PARTS / 2, "{bound} {part}");
        }
    }

    #[test]
    fn nothing_to_merge() {
        let runs: SortedRuns<'_, (u64, u32)> = SortedRuns::new(10, None);
        assert!(runs.ranges(5).into_iter().all(|range| runs.merged(range).unwrap().is_empty()));
    }
}
