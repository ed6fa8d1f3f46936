//! Open sources: the trait of their contents, the state that they share, and the list of all of them.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use memchr::memchr_iter;

use crate::document::{Document, MaybeLong, RecordPlace};
use crate::error::{Error, ErrorKind, Result};
use crate::found::FoundTexts;
use crate::options::ReadOptions;
use crate::problem::FileProblem;
use crate::reject::Reject;
use crate::scratch::{Scratch, grown};
use crate::shape::Shapes;
use crate::source::{Source, SourceReader};
use crate::unfolded::Unfolded;

/// Bytes that are read at a time to count line ends.
const LINE_BYTES: u64 = 256 << 10;

/// The number of lines that start in a chunk, blank ones included; for tables, the number of its rows; for text files, 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScannedLines(pub u64);

/// Where a source can be cut into parts that are scanned in parallel.
#[derive(Debug)]
pub(crate) enum CutPoints {
    /// At any byte: a part owns the records that *start* in it.
    Anywhere,
    /// Between pieces, which were found when the source was opened.
    Pieces(Vec<PieceSize>),
    /// Nowhere: the source is one document.
    Nowhere,
}

/// The size of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceSize {
    /// The bytes that it decodes to.
    pub(crate) decoded_bytes: u64,
    /// The bytes that it takes in its source.
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

/// Visits a record: a document, or the reason why it is none.
pub(crate) type RecordVisitor<'v> = dyn FnMut(RecordPlace, Result<MaybeLong<'_>, Reject>) + 'v;

/// Takes a record batch.
pub(crate) type TakeBatch<'t> = dyn FnMut(RecordBatch) -> Result<()> + 't;

/// The inside of an open source. Containers implement this trait; one value per source lives as long as the corpus, and all threads use
/// it.
///
/// A method is called per chunk or per record that is read again, so dynamic dispatch costs nothing that can be measured.
pub(crate) trait Content: Any + Debug + Send + Sync {
    /// Where the source can be cut.
    fn cuts(&self, source: &Source) -> CutPoints;

    /// Visits the records of a part, in order. A bad record is visited as a [`Reject`]; only a source that cannot be read, or
    /// does not have the part, is an error.
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

    /// Reads a long record again so that its text can be read piece by piece; `None` if it has to be loaded.
    fn read_long(
        &self,
        _place: &RecordPlace,
        _handle: &SourceHandle<'_>,
    ) -> Result<Option<Result<MaybeLong<'static>, Reject>>> {
        Ok(None)
    }

    /// The number of rows, if places are numbers of rows that have no bytes of their own; `None` if places are ranges of bytes.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// The bytes of all texts, if the source lies in memory and so has no size of its own.
    fn text_bytes(&self) -> Option<u64> {
        None
    }

    /// Gives `take` the content of all records, piece by piece: bytes from which a hash can be computed, and the bytes of their texts. Returns
    /// `false` as soon as `take` does. `None` if the bytes of the source itself can be hashed.
    fn hash_records(&self, _take: &mut dyn FnMut(&[u8], u64) -> bool) -> Option<bool> {
        None
    }

    /// The bytes before the first record, which are copied before the records.
    fn header_bytes(&self) -> u64 {
        0
    }

    /// The names of the columns that all records have; `None` if each record names its own fields.
    fn columns(&self) -> Option<Vec<&str>> {
        None
    }

    /// Why records of this source and of another one of the same format cannot be written as one file; `None` if they can.
    fn difference(&self, _other: &dyn Content) -> Option<String> {
        None
    }
    /// Whether the source is compressed by gzip and records lie together in one member, so that none can be cut out as it is.
    fn shares_members(&self) -> bool {
        false
    }

    /// The number of records that note an earlier visit of a page. They are no documents, and all are kept.
    fn revisits(&self) -> u64 {
        0
    }

    /// The columns of the records as Arrow describes them; `None` if the columns follow only from the records, by their
    /// [shapes](Shapes). Formats that are never converted have no columns.
    fn schema(&self, _handle: &SourceHandle<'_>) -> Result<Option<SchemaRef>> {
        Ok(None)
    }

    /// Gives records of this source to `take` as record batches, in the order given. If the columns follow from the records, the
    /// batches have the columns of `schema`; otherwise they have the columns of the source.
    fn batches(
        &self,
        handle: &SourceHandle<'_>,
        _schema: &SchemaRef,
        _places: &mut dyn Iterator<Item = RecordPlace>,
        _take: &mut TakeBatch<'_>,
    ) -> Result<()> {
        Err(handle.no_such_place(0))
    }

    /// The names of the fields that one record has, as far as they are written in it.
    fn field_names(
        &self,
        _place: &RecordPlace,
        _handle: &SourceHandle<'_>,
        _scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        Ok(vec![])
    }
}

/// State that all sources of a corpus share while they are read.
#[derive(Debug)]
pub(crate) struct CorpusState {
    pub(crate) options: ReadOptions,
    /// Holds the bytes of sources that were decompressed or piped; `None` if there are none.
    pub(crate) spool: Option<Arc<File>>,
    /// Pieces of tables that were decoded to be read again.
    pub(crate) unfolded: Unfolded,
    /// Texts of documents that took long to find.
    pub(crate) found: FoundTexts,
    /// The types of JSON values, if an output needs them.
    pub(crate) shapes: Shapes,
    /// Mutex of the turns: a scan holds it while it has something long in memory.
    long: Mutex<()>,
}

impl CorpusState {
    /// The state of a corpus of which nothing has been read.
    pub(crate) fn new(options: ReadOptions, spool: Option<Arc<File>>) -> Self {
        Self {
            spool,
            unfolded: Unfolded::new(options.spool_dir.clone()),
            found: FoundTexts::new(options.spool_dir.clone()),
            options,
            shapes: Shapes::default(),
            long: Mutex::default(),
        }
    }

    /// The turns of one scan.
    pub(crate) fn turns(&self) -> LoadTurns<'_> {
        LoadTurns { long: &self.long, taken: RefCell::default() }
    }
}

/// The turns of one scan. Only one thread at a time loads something long, because it is in memory twice, as bytes and as text,
/// and giants read by all threads together would fill the memory.
pub(crate) struct LoadTurns<'a> {
    long: &'a Mutex<()>,
    taken: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl LoadTurns<'_> {
    /// Waits for the turn, unless this scan has it already. The turn ends with the scan.
    pub(crate) fn take(&self) {
        let mut taken = self.taken.borrow_mut();
        if taken.is_none() {
            *taken = Some(self.long.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Whether this scan has its turn.
    pub(crate) fn is_taken(&self) -> bool {
        self.taken.borrow().is_some()
    }
}

/// A source in its corpus: everything that a [`Content`](crate::sources::Content) needs to read it.
#[derive(Clone, Copy)]
pub(crate) struct SourceHandle<'a> {
    /// The number of the source.
    pub(crate) number: u32,
    pub(crate) source: &'a Source,
    pub(crate) shared: &'a CorpusState,
}

impl<'a> SourceHandle<'a> {
    /// Opens the source and checks that it has not changed.
    pub(crate) fn reader(&self) -> Result<SourceReader> {
        self.source.open(self.shared.spool.as_ref())
    }

    /// The options with which the corpus was opened.
    pub(crate) fn options(&self) -> &'a ReadOptions {
        &self.shared.options
    }

    /// Reads the bytes of a record.
    pub(crate) fn load<'b>(&self, place: &RecordPlace, bytes: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let out = grown(bytes, place.len as usize);
        self.reader()?.read_exact_at(place.offset, out)?;
        Ok(out)
    }

    /// The number of the line at an offset, counted from 1.
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

    /// Makes the error that the source has nothing at `offset`.
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
    /// How many of the first sources are references.
    references: usize,
    shared: CorpusState,
}

impl Sources {
    /// Sources with their contents, of which the first are references.
    pub(crate) fn new(
        all: Vec<Source>,
        contents: Vec<Box<dyn Content>>,
        references: usize,
        shared: CorpusState,
    ) -> Self {
        Self { all, contents, references, shared }
    }

    /// All sources, in order.
    pub(crate) fn all(&self) -> &[Source] {
        &self.all
    }

    /// How many of the first sources are references.
    pub(crate) fn references(&self) -> u32 {
        self.references as u32
    }

    /// The sources that are not references.
    pub(crate) fn inputs(&self) -> &[Source] {
        // `references` is at most the number of sources, because `input::resolve` counts it among them.
        &self.all[self.references..]
    }

    /// The state that all sources share.
    pub(crate) fn shared(&self) -> &CorpusState {
        &self.shared
    }

    /// All sources with their contents, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SourceHandle<'_>, &dyn Content)> {
        (0..).zip(&self.all).zip(&self.contents).map(|((number, source), content)| {
            (SourceHandle { number, source, shared: &self.shared }, content.as_ref())
        })
    }

    /// The sources that are not references, with their contents.
    pub(crate) fn iter_inputs(&self) -> impl Iterator<Item = (SourceHandle<'_>, &dyn Content)> {
        self.iter().skip(self.references)
    }

    /// A source with its content, by its number.
    pub(crate) fn get(&self, number: u32) -> Result<(SourceHandle<'_>, &dyn Content)> {
        self.find(number).ok_or_else(|| no_such_place(number, 0))
    }

    /// The source that has a record at this place.
    pub(crate) fn at(&self, place: &RecordPlace) -> Result<(SourceHandle<'_>, &dyn Content)> {
        let is_there = |(handle, content): &(SourceHandle<'_>, &dyn Content)| {
            let end = place.offset.checked_add(u64::from(place.len));
            let has_bytes = || end.is_some_and(|end| end <= handle.source.size_bytes());
            content.rows().map_or_else(has_bytes, |rows| place.offset < rows)
        };
        let found = self.find(place.source).filter(is_there);
        found.ok_or_else(|| no_such_place(place.source, place.offset))
    }

    /// The content of a source, as the type of its container.
    pub(crate) fn content_as<T: Content>(&self, number: u32) -> Result<&T> {
        let (handle, content) = self.get(number)?;
        (content as &dyn Any).downcast_ref().ok_or_else(|| handle.no_such_place(0))
    }

    /// Opens a source.
    pub(crate) fn reader(&self, number: u32) -> Result<SourceReader> {
        self.get(number)?.0.reader()
    }

    /// The bytes of a record exactly as they are in the input.
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
        handle.reader()?.read_exact_at(offset, out)
    }

    fn find(&self, number: u32) -> Option<(SourceHandle<'_>, &dyn Content)> {
        let source = self.all.get(number as usize)?;
        let content = self.contents.get(number as usize)?;
        Some((SourceHandle { number, source, shared: &self.shared }, content.as_ref()))
    }
}

/// Refuses a table, whose rows have no bytes of their own.
fn check_bytes(handle: &SourceHandle<'_>, content: &dyn Content) -> Result<()> {
    match content.rows() {
        Some(_) => Err(Error::inside(handle.source.name(), FileProblem::NoBytes)),
        None => Ok(()),
    }
}

fn no_such_place(source: u32, offset: u64) -> Error {
    Error::new(ErrorKind::NoSuchPlace { source, offset })
}
