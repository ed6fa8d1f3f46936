//! Segments: the columns of consecutive documents, on disk.
//!
//! A segment has the columns of [`DocumentColumns`] one after the other, and columns of [`keys`](super::keys): the
//! hashes of ids, the equality keys, and the keys of every band. Candidates of a band are therefore found without
//! reading the rows. A segment lies in an unnamed temporary file, or in a stored file in the work folder of a run, where
//! a later process can open it.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use bytemuck::cast_slice;
use minwise_corpus::{RecordPlace, Temporary};
use xxhash_rust::xxh3::xxh3_64;

use super::columns::{ComparisonKind, DocumentColumns, RowShape};
use super::keys::{self, StoredKey};
use crate::error::Error;
use crate::memory::KeyPart;
use crate::rows::RowLayout;
use crate::storage::store::StoredFile;

/// Number of entries of a column that are read at a time.
const TOGETHER: usize = 8192;

/// Maximum number of bytes of columns of band keys that threads make together.
const BANDS_BYTES: usize = 8 << 20;

const WRONG_IDS: &str = "its ids do not add up";
const WRONG_KEYS: &str = "its keys do not add up";

/// Columns of a segment, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentSection {
    Places,
    Ranks,
    Kinds,
    IdEnds,
    Ids,
    Rows,
    PlacedRows,
    IdHashes,
    EqualityKeys,
    BandKeys,
}

impl SegmentSection {
    pub(crate) const ALL: [Self; 10] = [
        Self::Places,
        Self::Ranks,
        Self::Kinds,
        Self::IdEnds,
        Self::Ids,
        Self::Rows,
        Self::PlacedRows,
        Self::IdHashes,
        Self::EqualityKeys,
        Self::BandKeys,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Places => "places",
            Self::Ranks => "ranks",
            Self::Kinds => "kinds",
            Self::IdEnds => "id_ends",
            Self::Ids => "ids",
            Self::Rows => "rows",
            Self::PlacedRows => "placed_rows",
            Self::IdHashes => "id_hashes",
            Self::EqualityKeys => "equality_keys",
            Self::BandKeys => "band_keys",
        }
    }
}

pub(super) const PLACE_BYTES: usize = 24;

/// Returns the hash by which repeated ids are found. The id must not be empty.
pub(super) fn id_hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

/// Passes the columns to `sink` as bytes, in order. If there are `rows`, their band keys come last; several threads
/// make them.
pub(crate) fn write(
    columns: &DocumentColumns,
    rows: Option<&RowLayout>,
    threads: usize,
    mut sink: impl FnMut(SegmentSection, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut bytes: Vec<u8> = Vec::with_capacity(columns.len() * PLACE_BYTES);
    for place in &columns.places {
        let RecordPlace { source, line, offset, len } = *place;
        bytes.extend_from_slice(&source.to_le_bytes());
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(&line.to_le_bytes());
        bytes.extend_from_slice(&offset.to_le_bytes());
    }
    sink(SegmentSection::Places, &bytes)?;
    bytes.clear();
    bytes.extend(columns.kinds.iter().map(|&kind| kind as u8));
    sink(SegmentSection::Ranks, cast_slice(&columns.ranks))?;
    sink(SegmentSection::Kinds, &bytes)?;
    sink(SegmentSection::IdEnds, cast_slice(&columns.id_ends))?;
    sink(SegmentSection::Ids, columns.ids.as_bytes())?;
    sink(SegmentSection::Rows, cast_slice(columns.rows.as_slice()))?;
    let placed = columns.placed_rows.as_ref().map_or(&[][..], |rows| rows.as_slice());
    sink(SegmentSection::PlacedRows, cast_slice(placed))?;
    let mut ends = vec![];
    let id = |at: usize| Some((id_hash(columns.user_id(at)?), at as u32));
    keys::write_column((0..columns.len()).filter_map(id), columns.len(), &mut ends, &mut bytes);
    sink(SegmentSection::IdHashes, &bytes)?;
    let equality_keys = columns.equality_keys.iter().copied().zip(0..);
    keys::write_column(equality_keys, columns.len(), &mut ends, &mut bytes);
    sink(SegmentSection::EqualityKeys, &bytes)?;
    drop((ends, bytes));
    let Some(rows) = rows else { return Ok(()) };
    let band_bytes = column_bytes::<u64>(columns.len()) as usize;
    let together = (BANDS_BYTES / band_bytes).clamp(1, threads);
    let mut made: Vec<MadeColumn> = vec![];
    made.resize_with(together, MadeColumn::default);
    for first in (0..rows.bands()).step_by(together) {
        let bands = rows.bands().min(first + together) - first;
        let make = |(band, made): (usize, &mut MadeColumn)| made.band_keys(columns, rows, band);
        if bands == 1 {
            made.iter_mut().take(1).for_each(|made| make((first, made)));
        } else {
            thread::scope(|scope| {
                for item in (first..).zip(made.iter_mut().take(bands)) {
                    scope.spawn(move || make(item));
                }
            });
        }
        made.iter().take(bands).try_for_each(|made| sink(SegmentSection::BandKeys, &made.bytes))?;
    }
    Ok(())
}

/// Buffers for a column of band keys.
#[derive(Default)]
struct MadeColumn {
    keys: Vec<u64>,
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl MadeColumn {
    fn band_keys(&mut self, columns: &DocumentColumns, rows: &RowLayout, band: usize) {
        self.keys.clear();
        self.keys.extend(columns.rows(0..columns.len()).map(|row| rows.key(band, row)));
        let keys = self.keys.iter().copied().zip(0..);
        keys::write_column(keys, columns.len(), &mut self.ends, &mut self.bytes);
    }
}

/// Returns the number of bytes of a column of keys in which each of `documents` documents has an entry.
pub(super) fn column_bytes<K: StoredKey>(documents: usize) -> u64 {
    (keys::ends_bytes(documents) + documents * K::ENTRY_BYTES) as u64
}

/// File that holds a segment.
#[derive(Debug, Clone)]
pub(crate) enum Medium {
    Temporary(Arc<Temporary>),
    Stored(Arc<StoredFile>),
}

impl Medium {
    pub(crate) fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Temporary(file) => Ok(file.read_exact_at(offset, out)?),
            Self::Stored(file) => file.read_exact_at(offset, out),
        }
    }

    /// Makes an error that states what is wrong with the bytes.
    fn wrong(&self, reason: &str) -> Error {
        match self {
            Self::Temporary(_) => Error::file("read", "a temporary file", reason.to_owned()),
            Self::Stored(file) => file.wrong(reason.to_owned()),
        }
    }
}

/// Documents on disk, as columns of one segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) medium: Medium,
    /// Byte range of each column, in the order of [`SegmentSection::ALL`].
    pub(super) sections: [Range<u64>; SegmentSection::ALL.len()],
    pub(super) documents: usize,
    pub(super) words: usize,
    pub(super) placed_words: usize,
}

impl Segment {
    pub(super) fn new(
        medium: Medium,
        sections: [Range<u64>; SegmentSection::ALL.len()],
        documents: usize,
        RowShape { words, placed_words, .. }: RowShape,
    ) -> Self {
        Self { medium, sections, documents, words, placed_words: placed_words.unwrap_or(0) }
    }

    fn read<const N: usize>(&self, section: SegmentSection, at: usize) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.read_into(section, (at * N) as u64, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, section: SegmentSection, at: u64, out: &mut [u8]) -> Result<(), Error> {
        self.medium.read_exact_at(self.sections[section as usize].start + at, out)
    }

    /// Visits the entries of a column, `N` bytes each.
    fn scan<const N: usize>(
        &self,
        section: SegmentSection,
        mut visit: impl FnMut(&[u8; N]),
    ) -> Result<(), Error> {
        let mut bytes = vec![];
        let mut at = 0;
        while at < self.documents {
            let entries = TOGETHER.min(self.documents - at);
            bytes.resize(entries * N, 0);
            self.read_into(section, (at * N) as u64, &mut bytes)?;
            let (entries_read, _) = bytes.as_chunks::<N>();
            entries_read.iter().for_each(&mut visit);
            at += entries;
        }
        Ok(())
    }

    pub(super) fn place(&self, at: usize) -> Result<RecordPlace, Error> {
        self.read::<PLACE_BYTES>(SegmentSection::Places, at).map(|bytes| place(&bytes))
    }

    /// Appends the places of the documents from `at` on: at least one, at most `TOGETHER`.
    pub(super) fn places(&self, at: usize, out: &mut Vec<RecordPlace>) -> Result<(), Error> {
        let entries = TOGETHER.min(self.documents - at);
        let mut bytes = vec![0; entries * PLACE_BYTES];
        self.read_into(SegmentSection::Places, (at * PLACE_BYTES) as u64, &mut bytes)?;
        out.extend(bytes.as_chunks::<PLACE_BYTES>().0.iter().map(place));
        Ok(())
    }

    /// Visits the places of all documents, in order.
    pub(super) fn for_each_place(&self, mut visit: impl FnMut(RecordPlace)) -> Result<(), Error> {
        self.scan(SegmentSection::Places, |bytes| visit(place(bytes)))
    }

    pub(super) fn user_id(&self, at: usize) -> Result<String, Error> {
        let begin = match at.checked_sub(1) {
            None => 0,
            Some(before) => u64::from_ne_bytes(self.read(SegmentSection::IdEnds, before)?),
        };
        let end = u64::from_ne_bytes(self.read(SegmentSection::IdEnds, at)?);
        let len = end.checked_sub(begin).ok_or_else(|| self.medium.wrong(WRONG_IDS))?;
        let mut bytes = vec![0; len as usize];
        self.read_into(SegmentSection::Ids, begin, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Visits all ids in order; the id of a document without an id is empty.
    pub(super) fn for_each_id(&self, mut visit: impl FnMut(&str)) -> Result<(), Error> {
        let mut ends: Vec<u64> = Vec::with_capacity(self.documents);
        self.scan(SegmentSection::IdEnds, |&bytes| ends.push(u64::from_ne_bytes(bytes)))?;
        let mut bytes = vec![];
        let mut begin = 0;
        for ends in ends.chunks(TOGETHER) {
            let end = ends[ends.len() - 1];
            let len = end.checked_sub(begin).ok_or_else(|| self.medium.wrong(WRONG_IDS))?;
            bytes.resize(len as usize, 0);
            self.read_into(SegmentSection::Ids, begin, &mut bytes)?;
            let ids = String::from_utf8_lossy(&bytes);
            let mut from = begin;
            for &to in ends {
                let id = to.checked_sub(begin).and_then(|to| ids.get((from - begin) as usize..to as usize));
                visit(id.ok_or_else(|| self.medium.wrong(WRONG_IDS))?);
                from = to;
            }
            begin = end;
        }
        Ok(())
    }

    /// Checks the contents for contradictions that checksums cannot find; returns the first contradiction.
    pub(super) fn check(&self, sources: u32) -> Result<Result<(), &'static str>, Error> {
        let ids = &self.sections[SegmentSection::Ids as usize];
        let (mut last, mut ascending) = (0, true);
        self.scan(SegmentSection::IdEnds, |&bytes| {
            let end = u64::from_ne_bytes(bytes);
            ascending &= end >= last;
            last = end;
        })?;
        if !ascending || last != ids.end - ids.start {
            return Ok(Err(WRONG_IDS));
        }
        let mut there = true;
        self.scan(SegmentSection::Places, |bytes| there &= place(bytes).source < sources)?;
        Ok(if there { Ok(()) } else { Err("it names inputs that are not there") })
    }

    /// Appends the ranks of all documents to `out`.
    pub(super) fn ranks(&self, out: &mut Vec<u64>) -> Result<(), Error> {
        let range = &self.sections[SegmentSection::Ranks as usize];
        let begin = out.len();
        out.resize(begin + (range.end - range.start) as usize / 8, 0);
        self.read_into(SegmentSection::Ranks, 0, bytemuck::cast_slice_mut(&mut out[begin..]))
    }

    pub(super) fn kinds(&self, mut visit: impl FnMut(ComparisonKind)) -> Result<(), Error> {
        let mut unknown = false;
        self.scan(SegmentSection::Kinds, |&[byte]| match ComparisonKind::of(byte) {
            Some(kind) => visit(kind),
            None => unknown = true,
        })?;
        if unknown { Err(self.medium.wrong("a document in it is of no known kind")) } else { Ok(()) }
    }

    /// Visits the entries of a column of keys that belong to `part`: the documents, counted from the beginning of the
    /// segment, with their keys. A segment of band keys has several columns, counted from 0.
    pub(super) fn keys<K: StoredKey>(
        &self,
        section: SegmentSection,
        column: usize,
        part: KeyPart,
        mut visit: impl FnMut(u32, K),
    ) -> Result<(), Error> {
        let begin = column as u64 * column_bytes::<K>(self.documents);
        let ends_bytes = keys::ends_bytes(self.documents);
        let bits = keys::bucket_bits(self.documents);
        let buckets = part.buckets(bits);
        // The end of a bucket is the beginning of the next one.
        let end = |bucket: u64| -> Result<u64, Error> {
            let mut bytes = [0; size_of::<u32>()];
            self.read_into(section, begin + bucket * size_of::<u32>() as u64, &mut bytes)?;
            Ok(u64::from(u32::from_le_bytes(bytes)))
        };
        let first = if buckets.start == 0 { 0 } else { end(buckets.start - 1)? };
        let last = end(buckets.end - 1)?;
        let range = &self.sections[section as usize];
        let stored = (range.end - range.start).saturating_sub(begin + ends_bytes as u64);
        if first > last || last > stored / K::ENTRY_BYTES as u64 {
            return Err(self.medium.wrong(WRONG_KEYS));
        }
        let mut bytes = vec![];
        let mut at = first;
        while at < last {
            let entries = (last - at).min(TOGETHER as u64);
            bytes.resize(entries as usize * K::ENTRY_BYTES, 0);
            self.read_into(section, begin + ends_bytes as u64 + at * K::ENTRY_BYTES as u64, &mut bytes)?;
            for entry in bytes.chunks_exact(K::ENTRY_BYTES) {
                let (key, document): (K, u32) = keys::entry(entry);
                if document as usize >= self.documents {
                    return Err(self.medium.wrong(WRONG_KEYS));
                }
                if part.has(key.first_bits()) {
                    visit(document, key);
                }
            }
            at += entries;
        }
        Ok(())
    }

    /// Reads the row of the document `at` into `out`; a longer `out` takes the rows of the following documents too.
    pub(super) fn row_into(&self, at: usize, out: &mut [u32]) -> Result<(), Error> {
        self.read_into(SegmentSection::Rows, (at * self.words * 4) as u64, bytemuck::cast_slice_mut(out))
    }

    pub(super) fn placed_row_into(&self, at: usize, out: &mut [u32]) -> Result<(), Error> {
        self.read_into(
            SegmentSection::PlacedRows,
            (at * self.placed_words * 4) as u64,
            bytemuck::cast_slice_mut(out),
        )
    }
}

fn place(bytes: &[u8; PLACE_BYTES]) -> RecordPlace {
    let [source, len] =
        [0, 4].map(|at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    let long = |at: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(number)
    };
    RecordPlace { source, line: long(8), offset: long(16), len }
}
