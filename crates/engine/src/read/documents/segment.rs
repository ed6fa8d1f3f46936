//! Segments: the columns of consecutive documents, on disk.
//!
//! A segment has the columns of [`DocumentColumns`] one after the other, followed by the keys of every band, band by
//! band. Candidates of a band are therefore found without reading the rows. A segment lies in an unnamed temporary
//! file, or in a stored file in the work folder of a run, where a later process can open it.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::cast_slice;
use minwise_corpus::{RecordPlace, Temporary};

use super::columns::{ComparisonKind, DocumentColumns};
use crate::error::Error;
use crate::rows::RowLayout;
use crate::storage::store::StoredFile;

/// Number of entries of a column that are read at a time.
const TOGETHER: usize = 8192;

const WRONG_IDS: &str = "its ids do not add up";

/// Columns of a segment, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentSection {
    Places,
    Ranks,
    Kinds,
    IdEnds,
    Ids,
    EqualityKeys,
    Rows,
    PlacedRows,
    BandKeys,
}

impl SegmentSection {
    pub(crate) const ALL: [Self; 9] = [
        Self::Places,
        Self::Ranks,
        Self::Kinds,
        Self::IdEnds,
        Self::Ids,
        Self::EqualityKeys,
        Self::Rows,
        Self::PlacedRows,
        Self::BandKeys,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Places => "places",
            Self::Ranks => "ranks",
            Self::Kinds => "kinds",
            Self::IdEnds => "id_ends",
            Self::Ids => "ids",
            Self::EqualityKeys => "equality_keys",
            Self::Rows => "rows",
            Self::PlacedRows => "placed_rows",
            Self::BandKeys => "band_keys",
        }
    }
}

pub(super) const PLACE_BYTES: usize = 24;

/// Passes the columns to `sink` as bytes, in order. If there are `rows`, their band keys come last.
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
    sink(SegmentSection::EqualityKeys, cast_slice(&columns.equality_keys))?;
    sink(SegmentSection::Rows, cast_slice(columns.rows.as_slice()))?;
    let placed = columns.placed_rows.as_ref().map_or(&[][..], |rows| rows.as_slice());
    sink(SegmentSection::PlacedRows, cast_slice(placed))?;
    let mut keys: Vec<u64> = vec![];
    for band in 0..rows.map_or(0, RowLayout::bands) {
        let Some(rows) = rows else { break };
        keys.resize(columns.len(), 0);
        columns.fill_band_keys(band, rows, threads, &mut keys);
        sink(SegmentSection::BandKeys, cast_slice(&keys))?;
    }
    Ok(())
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
    fn read<const N: usize>(&self, section: SegmentSection, at: usize) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.read_into(section, (at * N) as u64, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, section: SegmentSection, at: u64, out: &mut [u8]) -> Result<(), Error> {
        self.medium.read_exact_at(self.sections[section as usize].start + at, out)
    }

    /// Visits the entries of a column, `N` bytes each, starting with the entry `first`.
    fn scan<const N: usize>(
        &self,
        section: SegmentSection,
        first: usize,
        mut visit: impl FnMut(&[u8; N]),
    ) -> Result<(), Error> {
        let mut bytes = vec![];
        let mut at = 0;
        while at < self.documents {
            let entries = TOGETHER.min(self.documents - at);
            bytes.resize(entries * N, 0);
            self.read_into(section, ((first + at) * N) as u64, &mut bytes)?;
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
        self.scan(SegmentSection::IdEnds, 0, |&bytes| ends.push(u64::from_ne_bytes(bytes)))?;
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
        self.scan(SegmentSection::IdEnds, 0, |&bytes| {
            let end = u64::from_ne_bytes(bytes);
            ascending &= end >= last;
            last = end;
        })?;
        if !ascending || last != ids.end - ids.start {
            return Ok(Err(WRONG_IDS));
        }
        let mut there = true;
        self.scan(SegmentSection::Places, 0, |bytes| there &= place(bytes).source < sources)?;
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
        self.scan(SegmentSection::Kinds, 0, |&[byte]| match ComparisonKind::of(byte) {
            Some(kind) => visit(kind),
            None => unknown = true,
        })?;
        if unknown { Err(self.medium.wrong("a document in it is of no known kind")) } else { Ok(()) }
    }

    pub(super) fn equality_keys(&self, mut visit: impl FnMut(u128)) -> Result<(), Error> {
        self.scan(SegmentSection::EqualityKeys, 0, |&bytes| visit(u128::from_ne_bytes(bytes)))
    }

    pub(super) fn band_keys(&self, band: usize, mut visit: impl FnMut(u64)) -> Result<(), Error> {
        self.scan(SegmentSection::BandKeys, band * self.documents, |&bytes| visit(u64::from_ne_bytes(bytes)))
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
