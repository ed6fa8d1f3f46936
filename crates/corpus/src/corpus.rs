//! The corpus: every source, read by position.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minwise::Observer;
use xxhash_rust::xxh3::Xxh3Default;

use crate::chunk::{Chunk, Span, cut};
use crate::compression::Compression;
use crate::csv;
use crate::decode::Decoded;
use crate::document::{Document, MaybeLong, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::extract::About;
use crate::field::FieldPath;
use crate::format::{Format, Layout};
use crate::found::FoundTexts;
use crate::input::{self, FileIds, SameId, Walked};
use crate::lines::{self, Line, LongLine, scan_lines};
use crate::long::{LONG_BYTES, LongText, Text};
use crate::options::ReadOptions;
use crate::record::{Looked, Parsed, names, parse_line, parse_skeleton, skeleton, values};
use crate::reject::{Reject, RejectReason};
use crate::scratch::{Scratch, grown};
use crate::source::{Content, Reader, Source};
use crate::table::Unfolded;
use crate::whole::{self, Keep, Reading, Turn, Whole};

/// How many lines start in a chunk, blank ones included; for tables, how many rows it has. Always 0 for text files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScannedLines(pub u64);

/// What the content of a source is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentHash {
    /// Its bytes: decompressed for compressed records, as stored otherwise.
    pub bytes: u64,
    /// XXH3 of them, with 128 bits.
    pub hash: u128,
}

/// Bytes that are hashed at a time.
const HASHED_BYTES: usize = 1 << 20;

/// Documents that can be read by position, any number of times, from any thread.
#[derive(Debug)]
pub struct Corpus {
    sources: Vec<Source>,
    /// How many of the first sources are references.
    references: usize,
    format: Format,
    spool: Option<Arc<File>>,
    unfolded: Unfolded,
    found: FoundTexts,
    options: ReadOptions,
    /// Held by whoever scans something long.
    long: Mutex<()>,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
    same_id: Option<SameId>,
}

impl Corpus {
    /// Resolves the inputs in order: `-` for standard input, a file, a folder, or a pattern.
    ///
    /// The observer is told of bytes that are decompressed to a temporary file, and can cancel.
    pub fn open(inputs: &[String], options: &ReadOptions, observer: &dyn Observer) -> Result<Self> {
        Self::open_against(&[], inputs, options, observer)
    }

    /// The same with references: documents that inputs are compared with, and that are never written. They may be of
    /// another format. Their sources come first, and a file that is both is refused.
    pub fn open_against(
        references: &[String],
        inputs: &[String],
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let resolved = input::resolve(references, inputs, options, observer)?;
        if let (Layout::Texts, Some(field)) = (resolved.format.layout(), options.value_fields.first()) {
            return Err(Error::new(ErrorKind::NoFields { field: field.to_string() }));
        }
        Ok(Self {
            sources: resolved.sources,
            references: resolved.references,
            format: resolved.format,
            spool: resolved.spool,
            unfolded: Unfolded::new(options.spool_dir.clone()),
            found: FoundTexts::new(options.spool_dir.clone()),
            options: options.clone(),
            long: Mutex::default(),
            file_ids: resolved.file_ids,
            walked: resolved.walked,
            same_id: resolved.same_id,
        })
    }

    /// How the corpus was opened.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// The sources, in the order in which their documents count.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// How many of the first sources are references.
    pub fn references(&self) -> u32 {
        self.references as u32
    }

    /// The sources that are not references.
    pub fn inputs(&self) -> &[Source] {
        // `input::resolve` counts the references among the sources.
        &self.sources[self.references..]
    }

    /// Two texts that would have had one id, if there are such. All ids are longer then than their paths in the folders that
    /// were given.
    pub fn same_id(&self) -> Option<&SameId> {
        self.same_id.as_ref()
    }

    /// What all inputs are made of.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether each record or each source of the inputs is a document.
    pub fn layout(&self) -> Layout {
        self.format.layout()
    }

    /// The bytes of all sources together.
    pub fn size_bytes(&self) -> u64 {
        self.sources.iter().map(Source::size_bytes).sum()
    }

    /// The hash of a source's content, to know it again. `go_on` is told of bytes as they are read; `None` when it says
    /// no.
    pub fn content_hash(
        &self,
        source: u32,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<ContentHash>> {
        let reader = self.reader(source)?;
        let mut hash = Xxh3Default::new();
        let (mut block, mut at) = (Vec::new(), 0);
        while at < reader.size_bytes() {
            let bytes = (HASHED_BYTES as u64).min(reader.size_bytes() - at);
            let block = grown(&mut block, bytes as usize);
            reader.read_exact_at(at, block)?;
            hash.update(block);
            at += bytes;
            if !go_on(bytes) {
                return Ok(None);
            }
        }
        Ok(Some(ContentHash { bytes: reader.size_bytes(), hash: hash.digest128() }))
    }

    /// Cuts the corpus into chunks of about `target_bytes` that cover it in order, the same way in every run.
    pub fn chunks(&self, target_bytes: u64) -> Vec<Chunk> {
        cut(&self.sources, target_bytes)
    }

    /// Visits every record that starts in the chunk, in order.
    ///
    /// Content never makes it fail: a bad record is handed on as a [`Reject`]. It fails only when the input
    /// cannot be read, is damaged or has changed, or does not have the chunk. Returns how many lines start in the chunk.
    pub fn scan(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<ScannedLines> {
        let turns = self.turns();
        let mut failed = None;
        let scanned = self.scan_in_turn(chunk, scratch, &turns, &mut |place, document| {
            if failed.is_some() {
                return;
            }
            if let Ok(Document { text: Text::Long(_), .. }) = document {
                turns.take();
            }
            match document.map(Document::into_whole) {
                Ok(Ok(document)) => visit(place, Ok(document)),
                Ok(Err(error)) => failed = Some(error),
                Err(reject) => visit(place, Err(reject)),
            }
        })?;
        failed.map_or(Ok(scanned), Err)
    }

    /// The same with texts that may be long: a text of more than some MiB is not loaded if it can be read piece by piece.
    pub fn scan_long(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<MaybeLong<'_>, Reject>),
    ) -> Result<ScannedLines> {
        self.scan_in_turn(chunk, scratch, &self.turns(), visit)
    }

    fn turns(&self) -> Turns<'_> {
        Turns { long: &self.long, taken: RefCell::default() }
    }

    fn scan_in_turn(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        turns: &Turns<'_>,
        visit: &mut dyn FnMut(Place, Result<MaybeLong<'_>, Reject>),
    ) -> Result<ScannedLines> {
        scratch.give_back();
        let scanned = match &chunk.span {
            Span::Lines { source, start, end } => {
                self.scan_jsonl(*source, (*start, *end), scratch, turns, visit)?
            }
            Span::Pieces { source, pieces } => {
                if chunk.size_bytes() > LONG_BYTES {
                    turns.take();
                }
                self.scan_pieces(*source, pieces.clone(), scratch, &mut |place, document| {
                    visit(place, document.map(|document| document.with_text(Text::Whole)));
                })?
            }
            Span::Files(files) => {
                for source in files.clone() {
                    self.scan_text(source, scratch, turns, visit)?;
                }
                ScannedLines(0)
            }
        };
        if turns.taken.borrow().is_some() {
            // Before the next one has its turn.
            scratch.give_back();
        }
        Ok(scanned)
    }

    /// Reads one record again.
    ///
    /// The first row of a table that is read again has the rows around it decoded and kept in a temporary file.
    pub fn read<'s>(&'s self, place: &Place, scratch: &'s mut Scratch) -> Result<Document<'s>> {
        self.read_long(place, scratch)?.into_whole()
    }

    /// The same with a text that may be long.
    pub fn read_long<'s>(&'s self, place: &Place, scratch: &'s mut Scratch) -> Result<MaybeLong<'s>> {
        let source = self.source(place)?;
        if u64::from(place.len) > LONG_BYTES
            && let Some(document) = self.read_without_loading(source, place)?
        {
            return document.map_err(|reject| bad_record(source, place, reject));
        }
        let Scratch { bytes, inflated, decoded } = scratch;
        let document = match &source.content {
            Content::Table(table) => {
                table.read(&source.open(self.spool.as_ref())?, place, &self.options, &self.unfolded, bytes)?
            }
            Content::Whole(reading, compression) => {
                if let Some(text) = self.found.read(place.source, decoded)? {
                    Ok(whole_document(source, text))
                } else {
                    let raw = self.load(source, place, bytes)?;
                    self.whole(place.source, (*reading, *compression), Turn::Again, raw, inflated)?
                }
            }
            Content::Delimited(delimited) => {
                csv::document(delimited, self.load(source, place, bytes)?, &self.options)
                    .unwrap_or_else(|| Err(Reject::new(RejectReason::NotAnObject)))
            }
            Content::Lines => match simdutf8::compat::from_utf8(self.load(source, place, bytes)?) {
                Ok(line) => parse_line(line, &self.options, decoded)
                    .unwrap_or_else(|| Err(Reject::new(RejectReason::NotAnObject))),
                Err(error) => Err(Reject::new(RejectReason::InvalidUtf8 { at: error.valid_up_to() as u64 })),
            },
        };
        document
            .map(|document| document.with_text(Text::Whole))
            .map_err(|reject| bad_record(source, place, reject))
    }

    /// A long record whose text can be read piece by piece; `None` if it has to be loaded.
    fn read_without_loading(
        &self,
        source: &Source,
        place: &Place,
    ) -> Result<Option<Result<MaybeLong<'static>, Reject>>> {
        let reader = source.open(self.spool.as_ref())?;
        match &source.content {
            Content::Lines => {
                let mut end = place.offset + u64::from(place.len);
                let mut last = [0];
                reader.read_exact_at(end - 1, &mut last)?;
                end -= u64::from(last == *b"\n");
                match self.look(&reader, place.offset..end, &[])? {
                    Parsed::Record(record) => Ok(Some(record)),
                    Parsed::Blank | Parsed::NeedsAll => Ok(None),
                }
            }
            Content::Whole(reading, None) => {
                let text = whole::find_long(&reader, *reading, &self.options)?;
                Ok(text.map(|text| Ok(long_document(source, text))))
            }
            Content::Whole(..) | Content::Delimited(_) | Content::Table(_) => Ok(None),
        }
    }

    /// Looks through a long line, which lies at `range` without its line feed.
    fn look(&self, reader: &Reader, range: Range<u64>, fields: &[FieldPath]) -> Result<Parsed> {
        match skeleton(reader, range)? {
            Looked::Skeleton(skeleton) => parse_skeleton(&skeleton, reader, &self.options, fields),
            Looked::NotUtf8 { at } => Ok(Parsed::Record(Err(Reject::new(RejectReason::InvalidUtf8 { at })))),
            Looked::NoSkeleton => Ok(Parsed::NeedsAll),
        }
    }

    /// The bytes of a record exactly as they are in the input: a line with its line end, or a file as it is
    /// stored. The rows of a table have none.
    pub fn read_raw<'s>(&self, place: &Place, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        self.load(self.source(place)?, place, &mut scratch.bytes)
    }

    /// Fills `out` with the bytes of a source from `offset` on, for copying many records at once.
    pub fn read_span(&self, source: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        let no_such_place = || Error::new(ErrorKind::NoSuchPlace { source, offset });
        let source = self.sources.get(source as usize).ok_or_else(no_such_place)?;
        source.has_bytes()?;
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > source.size_bytes()) {
            return Err(no_such_place());
        }
        source.open(self.spool.as_ref())?.read_exact_at(offset, out)
    }

    /// The names of the fields that a record has, as far as they are written in it; none for other records than JSONL.
    pub fn field_names(&self, place: &Place, scratch: &mut Scratch) -> Result<Vec<String>> {
        let source = self.source(place)?;
        Ok(match &source.content {
            Content::Lines => {
                let line = self.load(source, place, &mut scratch.bytes)?;
                simdutf8::basic::from_utf8(line).map(names).unwrap_or_default()
            }
            Content::Delimited(_) | Content::Table(_) | Content::Whole(..) => vec![],
        })
    }

    fn source(&self, place: &Place) -> Result<&Source> {
        let no_such_place =
            || Error::new(ErrorKind::NoSuchPlace { source: place.source, offset: place.offset });
        let source = self.sources.get(place.source as usize).ok_or_else(no_such_place)?;
        let is_there = match source.table() {
            Some(table) => place.offset < table.rows(),
            None => {
                place.offset.checked_add(u64::from(place.len)).is_some_and(|end| end <= source.size_bytes())
            }
        };
        if is_there { Ok(source) } else { Err(no_such_place()) }
    }

    /// A source, open.
    pub(crate) fn reader(&self, source: u32) -> Result<Reader> {
        let no_such_place = || Error::new(ErrorKind::NoSuchPlace { source, offset: 0 });
        self.sources.get(source as usize).ok_or_else(no_such_place)?.open(self.spool.as_ref())
    }

    fn load<'b>(&self, source: &Source, place: &Place, bytes: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        source.has_bytes()?;
        let out = grown(bytes, place.len as usize);
        source.open(self.spool.as_ref())?.read_exact_at(place.offset, out)?;
        Ok(out)
    }

    fn scan_jsonl(
        &self,
        source: u32,
        span: (u64, u64),
        scratch: &mut Scratch,
        turns: &Turns<'_>,
        visit: &mut dyn FnMut(Place, Result<MaybeLong<'_>, Reject>),
    ) -> Result<ScannedLines> {
        let reader = self.reader(source)?;
        let has_lines = |found: &Source| matches!(found.content, Content::Lines);
        if span.1 > reader.size_bytes() || !self.sources.get(source as usize).is_some_and(has_lines) {
            return Err(Error::new(ErrorKind::NoSuchPlace { source, offset: span.0 }));
        }
        let limit = self.options.record_limit();
        let is_input = source >= self.references();
        let fields = if is_input { &*self.options.value_fields } else { &[] };
        let Scratch { bytes, decoded, .. } = scratch;
        let mut visit_line = |line: Line<'_>| {
            let Line { number, offset, len, content } = line;
            let place = Place { source, line: number, offset, len: u32::try_from(len).unwrap_or(u32::MAX) };
            match content {
                lines::Content::Text(text) => {
                    if let Some(document) = parse_line(text, &self.options, decoded) {
                        visit(
                            place,
                            document.map(|found| {
                                Document { values: values(text, fields), ..found }.with_text(Text::Whole)
                            }),
                        );
                    }
                }
                lines::Content::Long(document) => visit(place, document),
                lines::Content::NotUtf8 { at } => {
                    visit(place, Err(Reject::new(RejectReason::InvalidUtf8 { at })));
                }
                lines::Content::TooLarge => {
                    visit(place, Err(Reject::new(RejectReason::TooLarge { bytes: len, limit })));
                }
            }
        };
        let (lines, long) = scan_lines(&reader, span, limit, bytes, &mut visit_line)?;
        if let Some(LongLine { number, range, content_bytes }) = long {
            // What was before it is not needed while it is read.
            *bytes = Vec::new();
            let (offset, len) = (range.start, range.end - range.start);
            match self.look(&reader, offset..offset + content_bytes, fields)? {
                Parsed::Blank => {}
                Parsed::Record(record) => {
                    visit_line(Line { number, offset, len, content: lines::Content::Long(record) });
                }
                Parsed::NeedsAll => {
                    turns.take();
                    let loaded = grown(bytes, content_bytes as usize);
                    reader.read_exact_at(offset, loaded)?;
                    visit_line(Line { number, offset, len, content: lines::Content::of(loaded) });
                }
            }
        }
        Ok(ScannedLines(lines))
    }

    fn scan_pieces(
        &self,
        number: u32,
        pieces: Range<usize>,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<ScannedLines> {
        let reader = self.reader(number)?;
        let no_such_place = || Error::new(ErrorKind::NoSuchPlace { source: number, offset: 0 });
        let content = self.sources.get(number as usize).map(|source| &source.content);
        let there = match content {
            Some(Content::Delimited(delimited)) => delimited.pieces(),
            Some(Content::Table(table)) => table.pieces(),
            Some(Content::Lines | Content::Whole(..)) | None => 0,
        };
        if pieces.end > there {
            return Err(no_such_place());
        }
        match content {
            Some(Content::Delimited(delimited)) => {
                csv::scan(delimited, &reader, number, pieces, &self.options, &mut scratch.bytes, visit)
                    .map(ScannedLines)
            }
            Some(Content::Table(table)) => {
                let first_row = table.piece_rows(pieces.start).start;
                for piece in pieces.clone() {
                    table.scan(&reader, (number, piece), &self.options, &mut |place, document| {
                        visit(Place { line: place.offset - first_row, ..place }, document);
                    })?;
                }
                Ok(ScannedLines(table.piece_rows(pieces.end).start - first_row))
            }
            Some(Content::Lines | Content::Whole(..)) | None => Err(no_such_place()),
        }
    }

    fn scan_text(
        &self,
        number: u32,
        scratch: &mut Scratch,
        turns: &Turns<'_>,
        visit: &mut dyn FnMut(Place, Result<MaybeLong<'_>, Reject>),
    ) -> Result<()> {
        let no_such_place = || Error::new(ErrorKind::NoSuchPlace { source: number, offset: 0 });
        let source = self.sources.get(number as usize).ok_or_else(no_such_place)?;
        let size = source.size_bytes();
        let place =
            Place { source: number, line: 0, offset: 0, len: u32::try_from(size).unwrap_or(u32::MAX) };
        let limit = self.options.record_limit();
        if size > limit {
            let id = Some(source.id().to_owned());
            visit(place, Err(Reject { reason: RejectReason::TooLarge { bytes: size, limit }, id }));
            return Ok(());
        }
        let Content::Whole(reading, compression) = source.content else { return Err(no_such_place()) };
        if size > LONG_BYTES {
            if let Some(document) = self.read_without_loading(source, &place)? {
                visit(place, document);
                return Ok(());
            }
            turns.take();
        }
        let raw = self.load(source, &place, &mut scratch.bytes)?;
        let document = self.whole(number, (reading, compression), Turn::First, raw, &mut scratch.inflated)?;
        visit(place, document.map(|document| document.with_text(Text::Whole)));
        Ok(())
    }

    /// The document that a source is, found in its bytes.
    fn whole<'a>(
        &'a self,
        number: u32,
        (reading, compression): (Reading, Option<Compression>),
        turn: Turn,
        raw: &'a [u8],
        inflated: &'a mut Vec<u8>,
    ) -> Result<Result<Document<'a>, Reject>> {
        let no_such_place = || Error::new(ErrorKind::NoSuchPlace { source: number, offset: 0 });
        let source = self.sources.get(number as usize).ok_or_else(no_such_place)?;
        let found = whole::find(raw, (reading, compression), source.name(), &self.options, turn, inflated);
        match found {
            Ok(Whole { keep, decoded, about }) => {
                if keep == Keep::Yes {
                    self.found.keep(number, &decoded)?;
                }
                let about = (about != About::default()).then(|| Box::new(about));
                Ok(Ok(Document { about, ..whole_document(source, decoded) }))
            }
            Err(reason) => Ok(Err(Reject { reason, id: Some(source.id().to_owned()) })),
        }
    }
}

/// The turn of whoever scans something long that has to be loaded: it is there as bytes and as text, and giants read by all
/// threads together would fill the memory.
struct Turns<'a> {
    long: &'a Mutex<()>,
    taken: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl Turns<'_> {
    /// Waits for the turn, unless it is there already. It ends with the scan.
    fn take(&self) {
        let mut taken = self.taken.borrow_mut();
        if taken.is_none() {
            *taken = Some(self.long.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

fn bad_record(source: &Source, place: &Place, reject: Reject) -> Error {
    let name = source.name().to_owned();
    Error::new(ErrorKind::BadRecord { name, offset: place.offset, reason: reject.reason })
}

fn long_document(source: &Source, text: LongText) -> MaybeLong<'static> {
    let id = Some(Cow::Owned(source.id().to_owned()));
    Document { id, text: Text::Long(text), repaired: false, values: vec![], about: None }
}

fn whole_document<'a>(source: &'a Source, found: Decoded<'a>) -> Document<'a> {
    let Decoded { text, repaired } = found;
    Document { id: Some(Cow::Borrowed(source.id())), text, repaired, values: vec![], about: None }
}
