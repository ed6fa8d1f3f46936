//! Keeps decoded pieces of tables on disk, so that their rows can be read again.
//!
//! Verification reads rows in no order, and decoding a whole piece for one of its rows would take thousands of times
//! as long as reading a line of JSONL. If a row is read again, its whole piece is therefore decoded, and all rows of
//! the piece are written to one unnamed temporary file. Later reads of rows of the piece are positional reads of this
//! file. A piece is thus decoded once by the scan, and once more if one of its rows is read again. Each row of a
//! stored piece takes eight bytes of memory.
//!
//! A caller that knows which rows it will read states them ([`expect`](Unfolded::expect)), and only these rows of a
//! piece are stored. If another row is read all the same, the whole piece is decoded and stored after all.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result, TEMPORARY};
use crate::positional::{read_at, write_at};
use crate::scratch::grown;

/// Number of bytes of rows that are collected in memory before they are written. A whole piece could take too much
/// memory, because a text that repeats is stored once in a piece of a table, but once per row in this file.
const STEP_BYTES: usize = 1 << 20;

/// Number of a source, and number of a piece of that source.
pub(crate) type PieceKey = (u32, usize);

/// Pieces of all tables of a corpus whose rows were read again.
#[derive(Debug, Default)]
pub(crate) struct Unfolded {
    folder: Option<PathBuf>,
    shared: Mutex<SharedPieces>,
}

#[derive(Debug, Default)]
struct SharedPieces {
    /// The rows of each source that are expected to be read, one bit per row; `None` if nobody has stated them.
    expected: Option<HashMap<u32, Vec<u64>>>,
    file: Option<Arc<File>>,
    size_bytes: u64,
    pieces: HashMap<PieceKey, Arc<StoredPiece>>,
}

/// Place of a stored piece.
#[derive(Debug)]
pub(crate) struct StoredPiece {
    file: Arc<File>,
    /// Offset at which each row ends, counted from the start of the piece. A row without bytes is not stored.
    ends: Vec<u64>,
    /// For each group of rows that were written together, the number of its first row, and the difference between an
    /// offset in the file and the same offset in the piece.
    steps: Vec<(usize, u64)>,
}

impl Unfolded {
    /// Makes an empty store. Its file will be created in `folder`, or else in the system's folder for temporary
    /// files.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, shared: Mutex::default() }
    }

    /// Returns a piece, if it was stored.
    pub(crate) fn get(&self, key: PieceKey) -> Option<Arc<StoredPiece>> {
        self.shared().pieces.get(&key).cloned()
    }

    /// States the rows that will be read, each as its source, its number and the number of rows of the source. Replaces
    /// earlier statements.
    pub(crate) fn expect(&self, rows: impl Iterator<Item = (u32, u64, u64)>) {
        let mut expected: HashMap<u32, Vec<u64>> = HashMap::new();
        for (source, row, all) in rows {
            let bits = expected.entry(source).or_insert_with(|| vec![0; (all / 64 + 1) as usize]);
            if let Some(bits) = bits.get_mut((row / 64) as usize) {
                *bits |= 1 << (row % 64);
            }
        }
        self.shared().expected = Some(expected);
    }

    /// Returns which of `rows` rows of a source, from `first_row` on, are expected to be read.
    pub(crate) fn expected(&self, source: u32, first_row: u64, rows: usize) -> Vec<bool> {
        let shared = self.shared();
        let Some(expected) = &shared.expected else { return vec![true; rows] };
        let bits = expected.get(&source).map_or(&[][..], Vec::as_slice);
        let is_expected =
            |row: u64| bits.get((row / 64) as usize).is_some_and(|bits| bits >> (row % 64) & 1 == 1);
        (first_row..first_row + rows as u64).map(is_expected).collect()
    }

    /// Stores a piece of `rows` rows, and replaces the stored piece of this key. `push` appends the bytes of a row,
    /// counted from 0, to the buffer, or nothing if the row is not to be stored.
    pub(crate) fn store(
        &self,
        key: PieceKey,
        rows: usize,
        mut push: impl FnMut(usize, &mut Vec<u8>),
    ) -> Result<Arc<StoredPiece>> {
        let file = self.file()?;
        let (mut bytes, mut ends, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let (mut first_row, mut start) = (0, 0);
        for row in 0..rows {
            push(row, &mut bytes);
            ends.push(start + bytes.len() as u64);
            if bytes.len() >= STEP_BYTES || row + 1 == rows {
                let base = self.reserve(bytes.len() as u64);
                write_at(&file, base, &bytes).map_err(|error| Error::io("write", TEMPORARY, error))?;
                // The difference is not negative, because all earlier rows of the piece lie before `base` in the
                // file.
                steps.push((first_row, base - start));
                (first_row, start) = (ends.len(), start + bytes.len() as u64);
                bytes.clear();
            }
        }
        let stored = Arc::new(StoredPiece { file, ends, steps });
        // The new piece is kept even if another thread has stored the piece meanwhile, because it has the row that this
        // thread reads.
        self.shared().pieces.insert(key, Arc::clone(&stored));
        Ok(stored)
    }

    /// Returns the file, which is made when the first piece is stored.
    fn file(&self) -> Result<Arc<File>> {
        let mut shared = self.shared();
        let file = match shared.file.take() {
            Some(file) => file,
            None => Arc::new(self.create()?),
        };
        Ok(Arc::clone(shared.file.insert(file)))
    }

    /// Reserves bytes at the end of the file. Returns the offset at which the reserved bytes begin.
    fn reserve(&self, bytes: u64) -> u64 {
        let mut shared = self.shared();
        let base = shared.size_bytes;
        shared.size_bytes += bytes;
        base
    }

    fn create(&self) -> Result<File> {
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        tempfile::tempfile_in(&folder)
            .map_err(|error| Error::path("make a temporary file in", &folder, error))
    }

    fn shared(&self) -> MutexGuard<'_, SharedPieces> {
        // A panic under the lock leaves valid data, because every change under the lock is complete in one step.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredPiece {
    /// Returns the place of a row in the piece, counted from 0.
    fn place(&self, row: usize) -> Option<Range<u64>> {
        let end = *self.ends.get(row)?;
        let start = match row.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        Some(start..end)
    }

    /// Reports whether a row, counted from 0, is stored.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.place(row).is_some_and(|place| !place.is_empty())
    }

    /// Reads the bytes of one row, counted from 0 within the piece.
    pub(crate) fn read<'b>(&self, row: usize, bytes: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let Range { start, end } = self.place(row).ok_or_else(lost)?;
        let step = self.steps.partition_point(|(first_row, _)| *first_row <= row).checked_sub(1);
        let (_, shift) = step.and_then(|step| self.steps.get(step)).ok_or_else(lost)?;
        let out = grown(bytes, (end - start) as usize);
        let read =
            read_at(&self.file, shift + start, out).map_err(|error| Error::io("read", TEMPORARY, error))?;
        if read < out.len() {
            return Err(lost());
        }
        Ok(out)
    }
}

/// Returns the error that the file lacks bytes that were written to it.
pub(crate) fn lost() -> Error {
    Error::io("read", TEMPORARY, std::io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes rows of bytes from texts.
    fn rows(texts: &[&str]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    fn store(unfolded: &Unfolded, key: PieceKey, rows: &[Vec<u8>]) -> Result<Arc<StoredPiece>> {
        unfolded.store(key, rows.len(), |row, bytes| bytes.extend_from_slice(&rows[row]))
    }

    #[test]
    fn pieces_are_stored_once_and_read_row_by_row() {
        let unfolded = Unfolded::default();
        assert!(unfolded.get((0, 0)).is_none());
        let (first, second) = (rows(&["one", "null"]), rows(&["", "four"]));
        store(&unfolded, (0, 0), &first).unwrap();
        store(&unfolded, (1, 7), &second).unwrap();
        let again = store(&unfolded, (0, 0), &first).unwrap();
        assert!(Arc::ptr_eq(&again, &unfolded.get((0, 0)).unwrap()));
        assert_eq!([0, 1, 2].map(|row| again.has(row)), [true, true, false]);
        let stored = unfolded.get((1, 7)).unwrap();
        assert_eq!([0, 1].map(|row| stored.has(row)), [false, true], "a row without bytes is not stored");
        let mut bytes = Vec::new();
        for (key, rows) in [((0, 0), first), ((1, 7), second)] {
            let stored = unfolded.get(key).unwrap();
            for row in [1, 0, 1] {
                assert_eq!(stored.read(row, &mut bytes).unwrap(), rows[row]);
            }
            assert!(stored.read(2, &mut bytes).is_err());
        }
    }

    #[test]
    fn rows_are_expected_until_others_are_stated() {
        let unfolded = Unfolded::default();
        assert_eq!(unfolded.expected(3, 60, 4), [true; 4]);
        unfolded.expect([(3, 61, 200), (3, 199, 200), (3, 1 << 40, 200), (4, 0, 1)].into_iter());
        assert_eq!(unfolded.expected(3, 60, 4), [false, true, false, false]);
        assert_eq!(unfolded.expected(3, 198, 4), [false, true, false, false]);
        assert_eq!((unfolded.expected(4, 0, 1), unfolded.expected(5, 0, 1)), (vec![true], vec![false]));
    }

    /// Several threads store pieces at the same time, so that rows of other pieces lie between the groups of a piece.
    #[test]
    fn a_large_piece_is_stored_in_parts() {
        let unfolded = Unfolded::default();
        let long = "x".repeat(STEP_BYTES / 2);
        let large = || rows(&[&long, "one", &long, "null", &long, "two"]);
        std::thread::scope(|threads| {
            for piece in 0..4 {
                let (unfolded, large) = (&unfolded, &large);
                threads.spawn(move || store(unfolded, (0, piece), &large()).unwrap());
            }
        });
        let (expected, mut bytes) = (large(), Vec::new());
        for piece in 0..4 {
            let stored = unfolded.get((0, piece)).unwrap();
            assert_eq!(stored.steps.len(), 2, "of about a megabyte each");
            for (row, expected) in expected.iter().enumerate() {
                assert_eq!(stored.read(row, &mut bytes).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let unfolded = Unfolded::new(Some("no/such/folder".into()));
        let error = store(&unfolded, (0, 0), &rows(&["null"])).unwrap_err();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
