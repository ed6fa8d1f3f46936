//! Open sources: the trait of their contents, the state that they share, and the list of all sources.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use memchr::memchr_iter;

use crate::document::{Document, MaybeLong, RecordPlace};
use crate::error::{Error, ErrorKind, Result};
use crate::field::FieldPath;
use crate::found::FoundTexts;
use crate::options::ReadOptions;
use crate::problem::FileProblem;
use crate::reject::Reject;
use crate::scratch::{Scratch, grown};
use crate::shape::Shapes;
use crate::source::{Source, SourceReader};
use crate::unfolded::Unfolded;

/// Number of bytes that are read at a time to count line ends.
const LINE_BYTES: u64 = 256 << 10;

/// Number of lines that start in a chunk, including blank lines. A table counts rows instead, and a text file has 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScannedLines(pub u64);

/// Places at which a source can be cut into parts that are scanned in parallel.
#[derive(Debug)]
pub(crate) enum CutPoints {
    /// At any byte: a part owns the records that *start* in it.
    Anywhere,
    /// Between pieces, which were found when the source was opened.
    Pieces(Vec<PieceSize>),
    /// Nowhere: the source is one document.
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceSize {
    /// Number of bytes that the piece decodes to.
    pub(crate) decoded_bytes: u64,
    /// Number of bytes that the piece takes in its source.
    pub(crate) stored_bytes: u64,
}

/// A part of a source, as [`CutPoints`] allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourcePart {
    /// The records that start in these bytes.
    Bytes(Range<u64>),
    /// The pieces with these numbers.
    Pieces(Range<usize>),
    /// The whole source.
    Whole,
}

/// A closure that visits a record: a document, or the reason why the record is no document.
pub(crate) type RecordVisitor<'v> = dyn FnMut(RecordPlace, Result<MaybeLong<'_>, Reject>) + 'v;

/// A closure that takes a record batch.
pub(crate) type TakeBatch<'t> = dyn FnMut(RecordBatch) -> Result<()> + 't;

/// Content of an open source: where the source can be cut, and how its records are read. Containers implement this
/// trait. One value per source lives as long as the corpus, and all threads share it.
///
/// A method is called once per chunk, or once per record that is read again, so the cost of dynamic dispatch is too
/// small to be measured.
pub(crate) trait Content: Any + Debug + Send + Sync {
    /// Returns the places where the source can be cut.
    fn cuts(&self, source: &Source) -> CutPoints;

    /// Visits the records of a part, in order. A bad record is visited as a [`Reject`]. The scan fails only if the
    /// source cannot be read or does not have the part.
    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        turns: &LoadTurns<'_>,
        scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines>;

    /// Reads one record again.
    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>>;

    /// Reads a long record again, so that its text can be read piece by piece; `None` if the record has to be loaded.
    fn read_long(
        &self,
        _place: &RecordPlace,
        _handle: &SourceHandle<'_>,
    ) -> Result<Option<Result<MaybeLong<'static>, Reject>>> {
        Ok(None)
    }

    /// Returns the number of rows, if places are row numbers and rows have no bytes of their own; `None` if places
    /// are ranges of bytes.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// Returns the total bytes of all texts, if the source lies in memory and so has no size of its own.
    fn text_bytes(&self) -> Option<u64> {
        None
    }

    /// Passes the content of all records to `take`, piece by piece: the bytes to hash, and the number of bytes of the
    /// texts among them. Returns `false` as soon as `take` does; `None` if the bytes of the source itself can be
    /// hashed.
    fn hash_records(&self, _take: &mut dyn FnMut(&[u8], u64) -> bool) -> Option<bool> {
        None
    }

    /// Returns the number of bytes before the first record. These bytes are copied before the records.
    fn header_bytes(&self) -> u64 {
        0
    }

    /// Returns the names of the columns that all records have; `None` if each record names its own fields.
    fn columns(&self) -> Option<Vec<&str>> {
        None
    }

    /// Returns the reason why records of this source and of `other`, which has the same format, cannot be written as
    /// one file; `None` if they can.
    fn difference(&self, _other: &dyn Content) -> Option<String> {
        None
    }
    /// Reports whether the source is a gzip file whose members do not have exactly one record each, so that no record
    /// can be copied without decompressing.
    fn shares_members(&self) -> bool {
        false
    }

    /// Returns the number of records that note an earlier visit of a page. Such records are no documents, and all are
    /// kept.
    fn revisits(&self) -> u64 {
        0
    }

    /// Returns the columns of the records as an Arrow schema. Returns `None` for formats that do not state columns, so
    /// that these follow from the [shapes](Shapes) of the records, and for formats that are never converted.
    fn schema(&self, _handle: &SourceHandle<'_>) -> Result<Option<SchemaRef>> {
        Ok(None)
    }

    /// Passes records of this source to `take` as record batches, in the order given. If the columns follow from the
    /// records, the batches have the columns of `schema`; otherwise they have the columns of the source.
    fn batches(
        &self,
        handle: &SourceHandle<'_>,
        _schema: &SchemaRef,
        _places: &mut dyn Iterator<Item = RecordPlace>,
        _take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        Err(handle.no_such_place(0))
    }

    /// Searches the first records for fields, if each record names its own fields.
    fn seek_fields(&self, _handle: &SourceHandle<'_>, _sought: &mut SoughtFields) -> Result<()> {
        Ok(())
    }

    /// Returns the names of the fields of one record, as they are written in it.
    fn field_names(
        &self,
        _place: &RecordPlace,
        _handle: &SourceHandle<'_>,
        _scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        Ok(vec![])
    }
}

/// Number of first records in which several text fields are searched for.
const SOUGHT_IN: u64 = 1000;

/// Maximum number of bytes in which several text fields are searched for.
const SOUGHT_BYTES: u64 = 16 << 20;

/// Search for text fields in the first records of a corpus.
#[derive(Debug)]
pub(crate) struct SoughtFields {
    /// The fields that no record had so far.
    pub(crate) missing: Vec<FieldPath>,
    /// Number of records that were searched.
    pub(crate) records: u64,
    /// Number of bytes that may still be read.
    pub(crate) bytes_left: u64,
    /// The fields of the first record.
    pub(crate) first: Vec<String>,
}

impl SoughtFields {
    pub(crate) fn new(fields: &[FieldPath]) -> Self {
        Self { missing: fields.to_vec(), records: 0, bytes_left: SOUGHT_BYTES, first: vec![] }
    }

    /// Reports whether all fields were found, or enough records were searched.
    pub(crate) fn is_done(&self) -> bool {
        self.missing.is_empty() || self.records >= SOUGHT_IN || self.bytes_left == 0
    }
}

/// State that all sources of a corpus share while they are read.
#[derive(Debug)]
pub(crate) struct CorpusState {
    pub(crate) options: ReadOptions,
    /// Pieces of tables that were decoded to be read again.
    pub(crate) unfolded: Unfolded,
    /// Texts of documents that took long to find.
    pub(crate) found: FoundTexts,
    /// The types of JSON values, if an output needs them.
    pub(crate) shapes: Shapes,
    /// Mutex that a scan holds while it has a long record in memory ([`LoadTurns`]).
    long: Mutex<()>,
}

impl CorpusState {
    /// Makes the state of a corpus before any record is read.
    pub(crate) fn new(options: ReadOptions) -> Self {
        Self {
            unfolded: Unfolded::new(options.spool_dir.clone()),
            found: FoundTexts::new(options.spool_dir.clone()),
            options,
            shapes: Shapes::default(),
            long: Mutex::default(),
        }
    }

    /// Makes the lock with which one scan loads long records.
    pub(crate) fn turns(&self) -> LoadTurns<'_> {
        LoadTurns { long: &self.long, taken: RefCell::default() }
    }
}

/// Lock that one scan takes before it loads a long record. Only one thread at a time loads a long record, because the
/// record is in memory twice, as bytes and as text. Long records in all threads at once would fill the memory.
pub(crate) struct LoadTurns<'a> {
    long: &'a Mutex<()>,
    taken: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl LoadTurns<'_> {
    /// Waits for the lock, unless this scan holds it already. The scan holds the lock to its end.
    pub(crate) fn take(&self) {
        let mut taken = self.taken.borrow_mut();
        if taken.is_none() {
            *taken = Some(self.long.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Reports whether this scan holds the lock.
    pub(crate) fn is_taken(&self) -> bool {
        self.taken.borrow().is_some()
    }
}

/// A source in its corpus: everything that a [`Content`](crate::sources::Content) needs to read it.
#[derive(Clone, Copy)]
pub(crate) struct SourceHandle<'a> {
    pub(crate) number: u32,
    pub(crate) source: &'a Source,
    pub(crate) shared: &'a CorpusState,
}

impl<'a> SourceHandle<'a> {
    /// Opens the source and checks that it has not changed.
    pub(crate) fn reader(&self) -> Result<SourceReader> {
        self.source.open()
    }

    /// Returns the options with which the corpus was opened.
    pub(crate) fn options(&self) -> &'a ReadOptions {
        &self.shared.options
    }

    /// Reads the bytes of a record.
    pub(crate) fn load<'b>(&self, place: &RecordPlace, bytes: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let out = grown(bytes, place.len as usize);
        self.source.read_exact_at(place.offset, out)?;
        Ok(out)
    }

    /// Counts the lines up to an offset, and returns the number of the line there, counted from 1.
    pub(crate) fn line_at(&self, offset: u64) -> Result<u64> {
        let reader = self.reader()?;
        let (mut lines, mut at, mut block) = (1, 0, Vec::new());
        while at < offset {
            let bytes = grown(&mut block, (offset - at).min(LINE_BYTES) as usize);
            reader.read_exact_at(at, bytes)?;
            lines += memchr_iter(b'\n', bytes).count() as u64;
            at += bytes.len() as u64;
        }
        Ok(lines)
    }

    /// Makes an error about the content of the source.
    pub(crate) fn bad(&self, place: impl Into<String>, message: impl Into<String>) -> Error {
        Error::inside(
            self.source.name(),
            FileProblem::Content { place: place.into(), message: message.into() },
        )
    }

    /// Makes the error that the source has no record at `offset`.
    pub(crate) fn no_such_place(&self, offset: u64) -> Error {
        Error::new(ErrorKind::NoSuchPlace { source: self.number, offset })
    }
}

/// All sources of a corpus, references before inputs.
#[derive(Debug)]
pub(crate) struct Sources {
    all: Vec<Source>,
    /// The content of each source.
    contents: Vec<Box<dyn Content>>,
    /// Number of references, which are the first of all sources.
    references: usize,
    shared: CorpusState,
}

impl Sources {
    /// Makes the list of all sources with their contents. The first `references` sources are references.
    pub(crate) fn new(
        all: Vec<Source>,
        contents: Vec<Box<dyn Content>>,
        references: usize,
        shared: CorpusState,
    ) -> Self {
        Self { all, contents, references, shared }
    }

    /// Returns all sources, in order.
    pub(crate) fn all(&self) -> &[Source] {
        &self.all
    }

    /// Returns the number of references, which are the first of all sources.
    pub(crate) fn references(&self) -> u32 {
        self.references as u32
    }

    /// Returns the sources that are not references.
    pub(crate) fn inputs(&self) -> &[Source] {
        // `references` is at most the number of sources, because `input::resolve` counts references among the
        // sources.
        &self.all[self.references..]
    }

    /// Returns the state that all sources share.
    pub(crate) fn shared(&self) -> &CorpusState {
        &self.shared
    }

    /// Iterates over all sources with their contents, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SourceHandle<'_>, &dyn Content)> {
        (0..).zip(&self.all).zip(&self.contents).map(|((number, source), content)| {
            (SourceHandle { number, source, shared: &self.shared }, content.as_ref())
        })
    }

    /// Iterates over the sources that are not references, with their contents.
    pub(crate) fn iter_inputs(&self) -> impl Iterator<Item = (SourceHandle<'_>, &dyn Content)> {
        self.iter().skip(self.references)
    }

    /// Returns the source with this number, and its content.
    pub(crate) fn get(&self, number: u32) -> Result<(SourceHandle<'_>, &dyn Content)> {
        self.find(number).ok_or_else(|| no_such_place(number, 0))
    }

    /// Returns the source that has a record at this place, and its content.
    pub(crate) fn at(&self, place: &RecordPlace) -> Result<(SourceHandle<'_>, &dyn Content)> {
        let is_there = |(handle, content): &(SourceHandle<'_>, &dyn Content)| {
            let end = place.offset.checked_add(u64::from(place.len));
            let has_bytes = || end.is_some_and(|end| end <= handle.source.size_bytes());
            content.rows().map_or_else(has_bytes, |rows| place.offset < rows)
        };
        let found = self.find(place.source).filter(is_there);
        found.ok_or_else(|| no_such_place(place.source, place.offset))
    }

    /// Returns the content of a source, as the type of its container.
    pub(crate) fn content_as<T: Content>(&self, number: u32) -> Result<&T> {
        let (handle, content) = self.get(number)?;
        (content as &dyn Any).downcast_ref().ok_or_else(|| handle.no_such_place(0))
    }

    /// Opens a source.
    pub(crate) fn reader(&self, number: u32) -> Result<SourceReader> {
        self.get(number)?.0.reader()
    }

    /// Reads the bytes of a record exactly as they are in the input.
    pub(crate) fn read_raw<'s>(&self, place: &RecordPlace, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        let (handle, content) = self.at(place)?;
        check_bytes(&handle, content)?;
        handle.load(place, &mut scratch.bytes)
    }

    /// Fills `out` with the bytes of a source from `offset` on.
    pub(crate) fn read_span(&self, number: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        let (handle, content) = self.find(number).ok_or_else(|| no_such_place(number, offset))?;
        check_bytes(&handle, content)?;
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > handle.source.size_bytes()) {
            return Err(handle.no_such_place(offset));
        }
        handle.source.read_exact_at(offset, out)
    }

    fn find(&self, number: u32) -> Option<(SourceHandle<'_>, &dyn Content)> {
        let source = self.all.get(number as usize)?;
        let content = self.contents.get(number as usize)?;
        Some((SourceHandle { number, source, shared: &self.shared }, content.as_ref()))
    }
}

/// Refuses a table, because its rows have no bytes of their own.
fn check_bytes(handle: &SourceHandle<'_>, content: &dyn Content) -> Result<()> {
    match content.rows() {
        Some(_) => Err(Error::inside(handle.source.name(), FileProblem::NoBytes)),
        None => Ok(()),
    }
}

fn no_such_place(source: u32, offset: u64) -> Error {
    Error::new(ErrorKind::NoSuchPlace { source, offset })
}
