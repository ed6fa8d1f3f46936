//! Columns of data that a run keeps per document, in memory or on disk.

mod columns;
mod ids;
mod keys;
mod rows;
pub(crate) mod segment;
mod spill;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use minwise_corpus::{Corpus, Layout, RecordPlace};

use crate::error::Error;
use crate::memory::KeyPart;
use crate::rows::RowLayout;
use crate::storage::store::StoredFile;

pub(crate) use columns::{ComparisonKind, DocumentColumns, NewRow, RowShape};
pub(crate) use ids::RepeatedIds;
pub(crate) use rows::{RowChoice, RowReader};
use segment::{Medium, Segment, SegmentSection};
pub(crate) use spill::{Spill, SpilledColumns};

/// Bounds of the number of documents in memory whose keys a thread collects at a time.
const SHORT_STRETCH: usize = 1 << 12;
const LONG_STRETCH: usize = 1 << 15;

/// Documents of a run, numbered in input order.
///
/// A document in memory takes about 60 bytes plus its id and sketch. A document on disk takes three bits of memory.
#[derive(Debug)]
pub struct Documents {
    shape: RowShape,
    /// Segments on disk, each with the number of its first document. The documents on disk come before those in memory.
    segments: Vec<(u32, Segment)>,
    /// Documents in memory, which follow those on disk.
    held: DocumentColumns,
    /// Number of the first document in memory.
    first_held: u32,
    /// One bit per document: whether it has shingles.
    has_shingles: Vec<u64>,
    /// One bit per document: whether its text is null.
    is_null: Vec<u64>,
    /// One bit per document: whether it is a skipped record.
    is_skipped: Vec<u64>,
    /// Documents that share their id with another document, in order.
    repeated: Vec<u32>,
    /// Numbered ids of documents that were given in memory and share an id: `id`, `id#2`, `id#3` in keeper order.
    numbered: BTreeMap<u32, String>,
}

/// Consecutive documents that are stored together.
#[derive(Debug, Clone)]
pub(crate) enum Stretch {
    /// A segment on disk, by its index.
    Segment(usize),
    /// A range of the documents in memory.
    Held(Range<usize>),
}

/// Location of a document: its columns or its segment, and its index there.
enum DocumentLocation<'a> {
    Held(&'a DocumentColumns, usize),
    Stored(&'a Segment, usize),
}

impl Documents {
    pub(crate) fn new(shape: RowShape) -> Self {
        Self {
            shape,
            segments: vec![],
            held: DocumentColumns::new(shape),
            first_held: 0,
            has_shingles: vec![],
            is_null: vec![],
            is_skipped: vec![],
            repeated: vec![],
            numbered: BTreeMap::new(),
        }
    }

    /// Makes documents that have only places; document n has 10 n bytes.
    #[cfg(test)]
    pub(crate) fn of_places(shape: RowShape, documents: u32) -> Self {
        let mut columns = DocumentColumns::new(shape);
        for document in 0..documents {
            let place = RecordPlace { source: 0, line: u64::from(document), offset: 0, len: 10 * document };
            columns.add(&NewRow { place, id: None, kind: ComparisonKind::Shingled, equality_key: 0 }, |_| {});
        }
        let mut all = Self::new(shape);
        all.append(&mut columns, 0);
        all
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first_held as usize + self.held.len()
    }

    /// Reports whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of documents that have a text but no shingles, among the documents from `from` on.
    #[must_use]
    pub fn without_shingles(&self, from: u32) -> u64 {
        self.count(from, |at| !(self.has_shingles[at] | self.is_null[at] | self.is_skipped[at]))
    }

    /// Returns the number of documents whose text is null, among the documents from `from` on.
    #[must_use]
    pub fn nulls(&self, from: u32) -> u64 {
        self.count(from, |at| self.is_null[at])
    }

    /// Returns the number of skipped records among the documents from `from` on. A skipped record is no document, and
    /// is written with the kept documents.
    #[must_use]
    pub fn skipped(&self, from: u32) -> u64 {
        self.count(from, |at| self.is_skipped[at])
    }

    /// Counts the documents from `from` on whose bit is set. `word` returns the bits of 64 documents.
    fn count(&self, from: u32, word: impl Fn(usize) -> u64) -> u64 {
        let (from, len) = (from as usize, self.len());
        let bits = |at: usize| {
            let before = if at == from / 64 { (1 << (from % 64)) - 1 } else { 0 };
            let behind = if at == len / 64 { u64::MAX << (len % 64) } else { 0 };
            word(at) & !before & !behind
        };
        (from / 64..len.div_ceil(64)).map(|at| u64::from(bits(at).count_ones())).sum()
    }

    pub(crate) fn shape(&self) -> RowShape {
        self.shape
    }

    /// Reports whether some documents are on disk, or were taken out to be written there.
    pub(crate) fn is_stored(&self) -> bool {
        self.first_held > 0
    }

    /// # Panics
    /// Panics if the document does not exist. All methods that take a document number panic in this case.
    fn find_document(&self, document: u32) -> DocumentLocation<'_> {
        if let Some(at) = document.checked_sub(self.first_held) {
            return DocumentLocation::Held(&self.held, at as usize);
        }
        let at = self.segments.partition_point(|&(first, _)| first <= document) - 1;
        let (first, segment) = &self.segments[at];
        DocumentLocation::Stored(segment, (document - first) as usize)
    }

    /// Returns the place of a document in its source.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if the
    /// place was moved to disk to save memory, and cannot be read.
    pub fn place(&self, document: u32) -> Result<RecordPlace, Error> {
        match self.find_document(document) {
            DocumentLocation::Held(columns, at) => Ok(columns.places[at]),
            DocumentLocation::Stored(segment, at) => segment.place(at),
        }
    }

    /// Iterates over the places of all documents, in input order.
    #[must_use]
    pub fn places(&self) -> RecordPlaces<'_> {
        RecordPlaces { documents: self, next: 0, block: vec![], taken: 0 }
    }

    /// Reports whether the document has shingles. A document without shingles is equal only to documents with the same
    /// text.
    ///
    /// # Panics
    /// Panics if the document does not exist.
    #[must_use]
    pub fn has_shingles(&self, document: u32) -> bool {
        self.has_shingles[document as usize / 64] >> (document % 64) & 1 == 1
    }

    /// Reports whether the text of the document is null. Such a document is compared with nothing.
    ///
    /// # Panics
    /// Panics if the document does not exist.
    #[must_use]
    pub fn is_null(&self, document: u32) -> bool {
        self.is_null[document as usize / 64] >> (document % 64) & 1 == 1
    }

    /// Reports whether the record was skipped. A skipped record is no document: it is written with the kept documents,
    /// and compared with nothing.
    ///
    /// # Panics
    /// Panics if the document does not exist.
    #[must_use]
    pub fn is_skipped(&self, document: u32) -> bool {
        self.is_skipped[document as usize / 64] >> (document % 64) & 1 == 1
    }

    /// Reports whether the document has a text and may be compared.
    pub(crate) fn has_text(&self, document: u32) -> bool {
        !self.is_null(document) && !self.is_skipped(document)
    }

    /// Returns the id of a document: the user's id if no other document has the same, otherwise `file:line`. Documents
    /// given in memory that share an id have it with a number: `id`, `id#2`, `id#3` in keeper order.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if the
    /// id was moved to disk to save memory, and cannot be read.
    pub fn id<'a>(&'a self, document: u32, corpus: &'a Corpus) -> Result<Cow<'a, str>, Error> {
        if self.repeated.binary_search(&document).is_err() {
            let id = self.raw_id(document)?;
            if !id.is_empty() {
                return Ok(id);
            }
        }
        if let Some(id) = self.numbered.get(&document) {
            return Ok(Cow::Borrowed(id));
        }
        self.place_name(document, corpus)
    }

    /// Returns `file:line` for a record, and the name of the file for a file that is one document.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or [`ErrorKind::File`](crate::ErrorKind::File) if the
    /// place was moved to disk to save memory, and cannot be read.
    pub fn place_name<'a>(&self, document: u32, corpus: &'a Corpus) -> Result<Cow<'a, str>, Error> {
        let place = self.place(document)?;
        let Some(source) = corpus.sources().get(place.source as usize) else { return Ok(Cow::Borrowed("?")) };
        Ok(match source.layout() {
            Layout::Texts => Cow::Borrowed(source.id()),
            Layout::Records => Cow::Owned(format!("{}:{}", source.name(), place.line + 1)),
        })
    }

    /// Returns the user's id of a document, which other documents may share; empty if the document has no id.
    pub(crate) fn raw_id(&self, document: u32) -> Result<Cow<'_, str>, Error> {
        Ok(match self.find_document(document) {
            DocumentLocation::Held(columns, at) => Cow::Borrowed(columns.user_id(at).unwrap_or_default()),
            DocumentLocation::Stored(segment, at) => Cow::Owned(segment.user_id(at)?),
        })
    }

    /// Visits the user's ids in order; the id of a document without an id is empty.
    pub(crate) fn for_each_raw_id(&self, mut visit: impl FnMut(u32, &str)) -> Result<(), Error> {
        let mut next = 0..;
        let mut visit = |id: &str| {
            if let Some(document) = next.next() {
                visit(document, id);
            }
        };
        for (_, segment) in &self.segments {
            segment.for_each_id(&mut visit)?;
        }
        (0..self.held.len()).for_each(|at| visit(self.held.user_id(at).unwrap_or_default()));
        Ok(())
    }

    /// Splits the documents into stretches, in order, for threads that visit keys.
    ///
    /// A stretch in memory has at most `documents` documents. On disk, each segment is a stretch, whatever its length.
    pub(crate) fn stretches(&self, documents: usize) -> Vec<Stretch> {
        let stored = (0..self.segments.len()).map(Stretch::Segment);
        let held = (0..self.held.len()).step_by(documents.max(1));
        let held =
            held.map(|begin| Stretch::Held(begin..self.held.len().min(begin.saturating_add(documents))));
        stored.chain(held).collect()
    }

    /// Splits the documents into stretches, several for each of `threads` threads.
    pub(crate) fn stretches_for(&self, threads: usize) -> Vec<Stretch> {
        let share = self.len().div_ceil(4 * threads);
        self.stretches(share.clamp(SHORT_STRETCH, LONG_STRETCH))
    }

    /// Visits the places of the documents of a stretch, in order.
    pub(crate) fn places_of(
        &self,
        stretch: &Stretch,
        mut visit: impl FnMut(u32, &RecordPlace),
    ) -> Result<(), Error> {
        match stretch {
            Stretch::Segment(number) => {
                let (first, segment) = &self.segments[*number];
                let mut next = *first;
                segment.for_each_place(|place| {
                    visit(next, &place);
                    next += 1;
                })
            }
            Stretch::Held(range) => {
                let documents = self.first_held + range.start as u32..;
                let places = &self.held.places[range.clone()];
                documents.zip(places).for_each(|(document, place)| visit(document, place));
                Ok(())
            }
        }
    }

    /// Visits the ids of a stretch that are not empty, each with its document, in order.
    fn ids(&self, stretch: &Stretch, mut visit: impl FnMut(u32, &str)) -> Result<(), Error> {
        match stretch {
            Stretch::Segment(number) => {
                let (first, segment) = &self.segments[*number];
                let mut next = *first..;
                segment.for_each_id(|id| {
                    if let Some(document) = next.next().filter(|_| !id.is_empty()) {
                        visit(document, id);
                    }
                })?;
            }
            Stretch::Held(range) => {
                for at in range.clone() {
                    if let Some(id) = self.held.user_id(at) {
                        visit(self.first_held + at as u32, id);
                    }
                }
            }
        }
        Ok(())
    }

    /// Visits the hashes of the ids of a stretch that belong to `part`. Documents without an id are left out.
    fn id_hashes(
        &self,
        stretch: &Stretch,
        part: KeyPart,
        mut visit: impl FnMut(u32, u64),
    ) -> Result<(), Error> {
        match stretch {
            Stretch::Segment(number) => {
                let (first, segment) = &self.segments[*number];
                segment.keys(SegmentSection::IdHashes, 0, part, |at, hash| visit(first + at, hash))
            }
            Stretch::Held(_) => self.ids(stretch, |document, id| {
                let hash = segment::id_hash(id);
                if part.has(hash) {
                    visit(document, hash);
                }
            }),
        }
    }

    /// Visits the equality key of every document, in any order.
    pub(crate) fn for_each_equality_key(&self, mut visit: impl FnMut(u32, u128)) -> Result<(), Error> {
        let all = self.stretches(usize::MAX);
        all.iter().try_for_each(|stretch| self.equality_keys(stretch, KeyPart::ALL, &mut visit))
    }

    /// Visits the documents of a stretch whose equality keys belong to `part`, each with its key.
    pub(crate) fn equality_keys(
        &self,
        stretch: &Stretch,
        part: KeyPart,
        mut visit: impl FnMut(u32, u128),
    ) -> Result<(), Error> {
        match stretch {
            Stretch::Segment(number) => {
                let (first, segment) = &self.segments[*number];
                segment.keys(SegmentSection::EqualityKeys, 0, part, |at, key| visit(first + at, key))
            }
            Stretch::Held(range) => {
                let keys = &self.held.equality_keys[range.clone()];
                (self.first_held + range.start as u32..)
                    .zip(keys)
                    .filter(|(_, key)| part.has((**key >> 64) as u64))
                    .for_each(|(document, &key)| visit(document, key));
                Ok(())
            }
        }
    }

    /// Visits the band keys of the `wanted` documents of a stretch that belong to `part`: the document, the position of
    /// the band within `bands`, and the key.
    pub(crate) fn band_keys(
        &self,
        stretch: &Stretch,
        bands: Range<usize>,
        rows: &RowLayout,
        part: KeyPart,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, usize, u64),
    ) -> Result<(), Error> {
        match stretch {
            Stretch::Segment(number) => {
                let (first, segment) = &self.segments[*number];
                for (at, band) in bands.enumerate() {
                    segment.keys(SegmentSection::BandKeys, band, part, |document, key| {
                        if wanted(first + document) {
                            visit(first + document, at, key);
                        }
                    })?;
                }
            }
            Stretch::Held(range) => {
                let documents = self.first_held + range.start as u32..;
                let held = documents.zip(self.held.rows(range.clone()));
                for (document, row) in held.filter(|(document, _)| wanted(*document)) {
                    for (at, band) in bands.clone().enumerate() {
                        let key = rows.key(band, row);
                        if part.has(key) {
                            visit(document, at, key);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Reserves memory for `documents` more documents.
    pub(crate) fn reserve(&mut self, documents: usize) {
        self.held.reserve(documents);
        let _ = self.has_shingles.try_reserve(documents / 64 + 1);
        let _ = self.is_null.try_reserve(documents / 64 + 1);
        let _ = self.is_skipped.try_reserve(documents / 64 + 1);
    }

    /// Appends the documents of a part. `first_line` is added to their line numbers, because each part counts lines
    /// from 0.
    pub(crate) fn append(&mut self, part: &mut DocumentColumns, first_line: u64) {
        for (document, &kind) in (self.len()..).zip(&part.kinds) {
            self.note_kind(document, kind);
        }
        self.held.append(part, first_line);
    }

    /// Touches reserved memory for the rows of the next `documents` documents, with `threads` threads.
    pub(crate) fn touch_ahead(&mut self, documents: usize, threads: usize) {
        self.held.touch_ahead(documents, threads);
    }

    /// Swaps the rows in memory into the empty columns of the next part, until [`append`](Self::append) returns them.
    pub(crate) fn lend_rows(&mut self, borrower: &mut DocumentColumns) {
        self.held.lend_rows(borrower);
    }

    fn note_kind(&mut self, document: usize, kind: ComparisonKind) {
        if document / 64 == self.has_shingles.len() {
            self.has_shingles.push(0);
            self.is_null.push(0);
            self.is_skipped.push(0);
        }
        self.has_shingles[document / 64] |= u64::from(kind == ComparisonKind::Shingled) << (document % 64);
        self.is_null[document / 64] |= u64::from(kind == ComparisonKind::Null) << (document % 64);
        self.is_skipped[document / 64] |= u64::from(kind == ComparisonKind::Skipped) << (document % 64);
    }

    /// Returns the number of documents in memory.
    pub(crate) fn held_len(&self) -> usize {
        self.held.len()
    }

    /// Returns the number of bytes that the documents take in memory.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.held.size_bytes()
    }

    /// Takes the documents in memory out, to be written to disk. `empty` columns replace them. Until
    /// [`put_back`](Self::put_back) gets the written documents, they must not be read.
    pub(crate) fn take_held(&mut self, empty: DocumentColumns) -> SpilledColumns {
        let columns = std::mem::replace(&mut self.held, empty);
        let first = self.first_held;
        self.first_held += columns.len() as u32;
        SpilledColumns { first, columns }
    }

    /// Replaces empty columns by others that have memory.
    pub(crate) fn fill_again(&mut self, empty: DocumentColumns) {
        if self.held.len() == 0 {
            self.held = empty;
        }
    }

    /// Adds segments of documents that were taken out, each with the number of its first document.
    pub(crate) fn put_back(&mut self, segments: Vec<(u32, Segment)>) {
        self.segments.extend(segments);
        self.segments.sort_unstable_by_key(|(first, _)| *first);
    }

    /// Frees the buffers of the documents that were moved to disk.
    pub(crate) fn give_back_room(&mut self) {
        if self.held.len() == 0 {
            self.held = DocumentColumns::new(self.shape);
        }
    }

    /// Passes the columns of the documents in memory to `sink`, for a file in the work folder. Returns the number of
    /// documents.
    pub(crate) fn write_held(
        &self,
        rows: Option<&RowLayout>,
        threads: usize,
        sink: impl FnMut(SegmentSection, &[u8]) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        segment::write(&self.held, rows, threads, sink)?;
        Ok(self.held.len())
    }

    /// Replaces the documents in memory by their segment in `file`, which has the same documents.
    pub(crate) fn now_stored(&mut self, file: StoredFile) -> Result<Medium, Error> {
        let sections = file.ranges(SegmentSection::ALL.map(SegmentSection::name))?;
        let medium = Medium::Stored(Arc::new(file));
        self.push_segment(medium.clone(), sections, self.held.len());
        self.held.clear();
        Ok(medium)
    }

    /// Appends the documents that an earlier process wrote to a file.
    pub(crate) fn append_stored(
        &mut self,
        file: StoredFile,
        documents: usize,
        bands: usize,
        sources: u32,
    ) -> Result<Medium, Error> {
        self.check_sections(&file, documents, bands)?;
        let sections = file.ranges(SegmentSection::ALL.map(SegmentSection::name))?;
        let first = self.len();
        let medium = Medium::Stored(Arc::new(file));
        self.push_segment(medium.clone(), sections, documents);
        let mut kinds = vec![];
        if let (Some((_, segment)), Medium::Stored(file)) = (self.segments.last(), &medium) {
            segment.check(sources)?.map_err(|reason| file.wrong(reason.to_owned()))?;
            segment.kinds(|kind| kinds.push(kind))?;
        }
        for (document, kind) in (first..).zip(kinds) {
            self.note_kind(document, kind);
        }
        Ok(medium)
    }

    /// Checks that each section has the length that this number of documents needs. A checksum cannot find a file that
    /// belongs to other documents.
    fn check_sections(&self, file: &StoredFile, documents: usize, bands: usize) -> Result<(), Error> {
        let widths = [
            (SegmentSection::Places, segment::PLACE_BYTES),
            (SegmentSection::Ranks, 8 * self.shape.rank_words),
            (SegmentSection::Kinds, 1),
            (SegmentSection::IdEnds, 8),
            (SegmentSection::Rows, 4 * self.shape.words),
            (SegmentSection::PlacedRows, 4 * self.shape.placed_words.unwrap_or(0)),
        ];
        let fixed = widths.map(|(section, width)| (section, (width as u64).checked_mul(documents as u64)));
        let band_keys = segment::column_bytes::<u64>(documents).checked_mul(bands as u64);
        let keys = [
            (SegmentSection::EqualityKeys, Some(segment::column_bytes::<u128>(documents))),
            (SegmentSection::BandKeys, band_keys),
        ];
        for (section, bytes) in fixed.into_iter().chain(keys) {
            let [range] = file.ranges([section.name()])?;
            if Some(range.end - range.start) != bytes {
                return Err(file.wrong(format!("its section `{}` has another length", section.name())));
            }
        }
        Ok(())
    }

    fn push_segment(
        &mut self,
        medium: Medium,
        sections: [Range<u64>; SegmentSection::ALL.len()],
        documents: usize,
    ) {
        let segment = Segment::new(medium, sections, documents, self.shape);
        self.segments.push((self.first_held, segment));
        self.first_held += documents as u32;
    }

    /// Returns the ranks of all documents, `rank_words` words per document.
    pub(crate) fn ranks(&self) -> Result<Vec<u64>, Error> {
        let mut all = Vec::with_capacity(self.len() * self.shape.rank_words);
        for (_, segment) in &self.segments {
            segment.ranks(&mut all)?;
        }
        all.extend_from_slice(&self.held.ranks);
        Ok(all)
    }

    /// Returns the number of documents at the beginning whose places satisfy `holds`. No later place may satisfy it.
    pub(crate) fn partition_point(&self, holds: impl Fn(&RecordPlace) -> bool) -> Result<u32, Error> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(&self.place(middle)?) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

impl Drop for Documents {
    fn drop(&mut self) {
        spill::close(std::mem::take(&mut self.segments));
    }
}

/// Iterator over the places of all documents, in input order.
#[derive(Debug)]
pub struct RecordPlaces<'a> {
    documents: &'a Documents,
    next: u32,
    /// Places of a segment that were read together, and the number of them that were returned.
    block: Vec<RecordPlace>,
    taken: usize,
}

impl Iterator for RecordPlaces<'_> {
    type Item = Result<RecordPlace, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(&place) = self.block.get(self.taken) {
            self.taken += 1;
            self.next += 1;
            return Some(Ok(place));
        }
        if self.next as usize >= self.documents.len() {
            return None;
        }
        match self.documents.find_document(self.next) {
            DocumentLocation::Held(columns, at) => {
                self.next += 1;
                Some(Ok(columns.places[at]))
            }
            DocumentLocation::Stored(segment, at) => {
                self.block.clear();
                self.taken = 0;
                if let Err(error) = segment.places(at, &mut self.block) {
                    return Some(Err(error));
                }
                self.next()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: RowShape = RowShape { words: 1, placed_words: None, rank_words: 0 };

    /// Makes documents whose kinds repeat every five documents. Document n has the equality key `n / 3` mixed, and the
    /// id `n`; every seventh has none.
    fn columns(range: Range<u32>) -> DocumentColumns {
        let mut columns = DocumentColumns::new(SHAPE);
        for n in range {
            let place = RecordPlace { source: 0, line: u64::from(n), offset: 0, len: n };
            let kind = match n % 5 {
                0 => ComparisonKind::Empty,
                1 => ComparisonKind::Null,
                2 => ComparisonKind::Skipped,
                _ => ComparisonKind::Shingled,
            };
            let id = n.to_string();
            let id = Some(&*id).filter(|_| n % 7 != 0);
            let equality_key = u128::from(minwise::hash::fmix64(u64::from(n / 3))) << 64 | u128::from(n / 3);
            let (row, _) = columns.add(&NewRow { place, id, kind, equality_key }, |_| {});
            row[0] = n;
        }
        columns
    }

    #[test]
    fn documents_of_a_kind_are_counted_from_any_document_on() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut documents = Documents::new(SHAPE);
            documents.append(&mut columns(0..len), 0);
            for from in (0..=len).filter(|from| from % 7 < 3 || from % 64 < 2) {
                let count =
                    |is: &dyn Fn(u32) -> bool| (from..len).filter(|&document| is(document)).count() as u64;
                assert_eq!(documents.nulls(from), count(&|document| documents.is_null(document)));
                assert_eq!(documents.skipped(from), count(&|document| documents.is_skipped(document)));
                let is_empty = |document| !documents.has_shingles(document) && documents.has_text(document);
                assert_eq!(documents.without_shingles(from), count(&is_empty), "{from} of {len}");
            }
        }
    }

    /// Reads the equality keys and the id hashes of all stretches in each of `parts`, and returns both lists sorted.
    fn keys(documents: &Documents, parts: &[KeyPart]) -> [Vec<(u128, u32)>; 2] {
        let (mut equality_keys, mut hashes) = (vec![], vec![]);
        for &part in parts {
            for stretch in documents.stretches(100) {
                let push = |document, key| equality_keys.push((key, document));
                documents.equality_keys(&stretch, part, push).unwrap();
                let push = |document, hash| hashes.push((u128::from(hash), document));
                documents.id_hashes(&stretch, part, push).unwrap();
            }
        }
        equality_keys.sort_unstable();
        hashes.sort_unstable();
        [equality_keys, hashes]
    }

    /// Threads may write documents in any order.
    #[test]
    fn documents_on_disk_are_as_in_memory() {
        let mut held = Documents::new(SHAPE);
        held.append(&mut columns(0..3000), 0);
        let mut stored = Documents::new(SHAPE);
        let spill = Spill::new(None, None);
        let mut taken = vec![];
        for range in [0..1000, 1000..1001, 1001..2800] {
            stored.append(&mut columns(range), 0);
            taken.push(stored.take_held(DocumentColumns::new(SHAPE)));
        }
        let most_bytes = taken[2].columns.size_bytes() * 3 / 4;
        let written: Vec<bool> = taken
            .into_iter()
            .rev()
            .map(|columns| spill.put(columns, most_bytes).unwrap().is_some())
            .collect();
        // 1799 documents are more than the list takes at once, and it has room for the others.
        assert_eq!(written, [true, false, false]);
        assert!(spill.spare().is_none());
        stored.put_back(spill.finish(2).unwrap());
        stored.append(&mut columns(2800..3000), 0);
        assert!(stored.is_stored() && stored.len() == 3000);
        for document in [0, 999, 1000, 1001, 2799, 2800, 2999] {
            assert_eq!(stored.place(document).unwrap(), held.place(document).unwrap());
            assert_eq!(stored.raw_id(document).unwrap(), held.raw_id(document).unwrap());
            let row =
                |documents| RowReader::new(documents, RowChoice::Sketch).row(document).unwrap().to_vec();
            assert_eq!(row(&stored), row(&held));
        }
        let mut rows = [vec![], vec![]];
        held.rows_into(0..3000, &mut rows[0]).unwrap();
        stored.rows_into(0..3000, &mut rows[1]).unwrap();
        assert!(rows[0] == rows[1]);
        let expected = keys(&held, &[KeyPart::ALL]);
        assert_eq!(expected.each_ref().map(Vec::len), [3000, 3000 - 3000usize.div_ceil(7)]);
        for bytes in [0, 1000, 100_000] {
            let room = crate::memory::MemoryLimit::with_room(3000).room(1, 0);
            let parts: Vec<KeyPart> = room.parts(bytes).all().collect();
            assert!(keys(&stored, &parts) == expected, "{} parts on disk", parts.len());
            assert!(keys(&held, &parts) == expected, "{} parts in memory", parts.len());
        }
    }
}
