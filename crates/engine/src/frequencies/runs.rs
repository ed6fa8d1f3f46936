//! Counts of parts of a corpus, kept until they are merged: in memory as long as there is room, then on disk.

use std::ops::Range;
use std::path::Path;

use minwise::sort::sort_mixed;
use minwise_corpus::Temporary;

use crate::error::Error;

/// Parts of the range of shingles that can be merged apart: those with the same first bits.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 12;

/// A shingle and in how many documents it stands.
pub(super) type Entry = (u64, u32);

/// Distinct shingles in ascending order, with counts.
#[derive(Debug)]
struct Run {
    /// Where the entries of each part begin, and where the last part ends.
    begins: Box<[u32]>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<Entry>),
    /// Where its first entry stands in the file.
    Disk(u64),
}

/// All runs of a count.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    all: Vec<Run>,
    /// Entries in memory, and how many there may be.
    held: usize,
    most: usize,
    file: Option<Temporary>,
    folder: Option<&'a Path>,
}

/// Counts the shingles of many documents, given one after the other, each document's distinct ones.
pub(super) fn counted(shingles: &mut Vec<u64>, scratch: &mut Vec<u64>) -> Vec<Entry> {
    sort_mixed(shingles, scratch);
    shingles.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
}

impl<'a> Runs<'a> {
    /// No runs yet. At most `most` entries stay in memory; the others go to a temporary file in `folder`, or in the
    /// system's folder for such files.
    pub(super) fn new(most: usize, folder: Option<&'a Path>) -> Self {
        Self { all: vec![], held: 0, most, file: None, folder }
    }

    /// Adds the counts of one part of the corpus.
    pub(super) fn add(&mut self, entries: Vec<Entry>) -> Result<(), Error> {
        let begins = (0..=PARTS as u64).map(|part| match part.checked_shl(u64::BITS - PART_BITS) {
            Some(first) if part < PARTS as u64 => entries.partition_point(|entry| entry.0 < first) as u32,
            _ => entries.len() as u32,
        });
        self.held += entries.len();
        self.all.push(Run { begins: begins.collect(), place: Place::Memory(entries) });
        if self.held > self.most { self.spill() } else { Ok(()) }
    }

    /// Moves all runs that are in memory to the file.
    fn spill(&mut self) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(Temporary::create(self.folder)?),
        };
        let mut bytes = vec![];
        for run in &mut self.all {
            let Place::Memory(entries) = &run.place else { continue };
            bytes.clear();
            bytes.extend(entries.iter().flat_map(encode));
            run.place = Place::Disk(file.append(&bytes)?);
        }
        self.held = 0;
        Ok(())
    }

    /// Ranges of parts that together have at most `most` entries, if they are not single parts.
    pub(super) fn ranges(&self, most: usize) -> Vec<Range<usize>> {
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

    /// The entries of these parts, merged.
    pub(super) fn merged(&self, parts: Range<usize>) -> Result<Vec<Entry>, Error> {
        let mut all: Vec<Entry> = vec![];
        for run in &self.all {
            let [begin, end] = [run.begins[parts.start], run.begins[parts.end]].map(|at| at as usize);
            match &run.place {
                Place::Memory(entries) => all.extend_from_slice(&entries[begin..end]),
                Place::Disk(first) => {
                    let mut bytes = vec![0; (end - begin) * ENTRY_BYTES];
                    let Some(file) = &self.file else {
                        unreachable!("runs are on disk only once there is a file")
                    };
                    file.read_exact_at(first + (begin * ENTRY_BYTES) as u64, &mut bytes)?;
                    all.extend(bytes.as_chunks().0.iter().map(decode));
                }
            }
        }
        sort_mixed(&mut all, &mut vec![]);
        let mut merged: Vec<Entry> = vec![];
        for (shingle, count) in all {
            match merged.last_mut() {
                Some(last) if last.0 == shingle => last.1 = last.1.saturating_add(count),
                _ => merged.push((shingle, count)),
            }
        }
        Ok(merged)
    }
}

const ENTRY_BYTES: usize = 12;

fn encode(&(shingle, count): &Entry) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    bytes[..8].copy_from_slice(&shingle.to_le_bytes());
    bytes[8..].copy_from_slice(&count.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; ENTRY_BYTES]) -> Entry {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes([i, j, k, l]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise::hash::fmix64;
    use std::collections::BTreeMap;

    /// Whatever stays in memory and whatever is merged together, the sums are those of a map.
    #[test]
    fn runs_in_memory_and_on_disk_merge_alike() {
        let mut expected = BTreeMap::new();
        let parts: Vec<Vec<u64>> = (0..20)
            .map(|part| (0..1000).map(|i| fmix64((i * (part + 3)) % 700)).collect::<Vec<u64>>())
            .collect();
        for &shingle in parts.iter().flatten() {
            *expected.entry(shingle).or_insert(0) += 1;
        }
        let expected: Vec<Entry> = expected.into_iter().collect();
        for most in [0, 1500, usize::MAX] {
            let mut runs = Runs::new(most, None);
            for part in &parts {
                runs.add(counted(&mut part.clone(), &mut vec![])).unwrap();
            }
            for together in [1, 300, usize::MAX] {
                let ranges = runs.ranges(together);
                assert_eq!(ranges.first().unwrap().start, 0);
                assert_eq!(ranges.last().unwrap().end, PARTS);
                let merged: Vec<Entry> =
                    ranges.into_iter().flat_map(|range| runs.merged(range).unwrap()).collect();
                assert_eq!(merged, expected);
            }
        }
    }

    #[test]
    fn nothing_to_merge() {
        let runs = Runs::new(10, None);
        assert!(runs.ranges(5).into_iter().all(|range| runs.merged(range).unwrap().is_empty()));
    }
}
