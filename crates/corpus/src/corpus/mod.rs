//! A corpus opens all its sources, scans them by chunks, reads records again by position, and copies records to
//! outputs.

mod chunk;
mod hash;

use std::io::Read as _;
use std::ops::Range;

use minwise::{Observer, escape_control};

pub use self::chunk::Chunk;
use self::chunk::{Span, cut};
pub use self::hash::ContentHash;
use crate::annotation::Annotation;
use crate::container::{self, Container};
use crate::document::{Document, DocumentText, LONG_BYTES, MaybeLong, RecordPlace};
use crate::encoding::GuessedEncoding;
use crate::error::{Error, ErrorKind, Result};
use crate::extract::{self, MistakenInput};
use crate::format::{Format, Layout};
use crate::input::{self, FileIds, Input, Resolved, SameId, Skipped, Walked};
use crate::options::ReadOptions;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::reject::Reject;
use crate::scratch::Scratch;
use crate::source::Source;
use crate::sources::{LoadTurns, RecordVisitor, ScannedLines, SoughtFields, SourcePart, Sources};

/// Documents that can be read by position, any number of times, from any thread.
#[derive(Debug)]
pub struct Corpus {
    pub(crate) sources: Sources,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
    same_id: Option<SameId>,
    skipped: Vec<Skipped>,
}

/// Number of bytes from which the encoding of a source is guessed.
const GUESS_BYTES: u64 = 1 << 20;

impl Corpus {
    /// Resolves the inputs in order, and opens them.
    ///
    /// The observer receives the number of bytes that are decompressed to a temporary file, and can cancel.
    ///
    /// # Errors
    /// Fails if the inputs cannot be read together:
    /// - [`ErrorKind::NoInput`], [`ErrorKind::TooManyInputs`]: there are no inputs, or more sources than can be
    ///   numbered.
    /// - [`ErrorKind::NotFound`], [`ErrorKind::NoMatch`], [`ErrorKind::BadPattern`], [`ErrorKind::EmptyFolder`],
    ///   [`ErrorKind::OnlySkipped`]: an input leads to no document.
    /// - [`ErrorKind::RepeatedInput`], [`ErrorKind::MixedFormats`]: a file was named twice, or some inputs hold
    ///   records and others are whole texts.
    /// - [`ErrorKind::BadOption`], [`ErrorKind::NoFields`]: the id or a value is to be read from a list, or a field
    ///   from texts, which have no fields.
    /// - [`ErrorKind::NoTextField`]: one of several text fields is in none of the first 1,000 records.
    /// - [`ErrorKind::MissingFeature`]: the program was built without a format or a compression.
    /// - [`ErrorKind::Io`], [`ErrorKind::Unreadable`], [`ErrorKind::Damaged`], [`ErrorKind::Inside`]: a file cannot
    ///   be read, is damaged, or is not of its format; for a table, this includes a missing column.
    /// - [`ErrorKind::Cancelled`]: the observer cancelled.
    pub fn open(inputs: &[Input], options: &ReadOptions, observer: &dyn Observer) -> Result<Self> {
        Self::open_against(&[], inputs, options, observer)
    }

    /// Opens inputs together with references: documents that the inputs are compared with, and that are never
    /// written. References may be of another format than the inputs. The sources of the references come first.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does, and with [`ErrorKind::ReferenceIsInput`] if a file is both a reference and
    /// an input.
    pub fn open_against(
        references: &[Input],
        inputs: &[Input],
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        for field in options.value_fields.iter().chain([&options.id_field]) {
            field.check_one_value()?;
        }
        let resolved = input::resolve(references, inputs, options, observer)?;
        let Resolved { sources, file_ids, walked, same_id, skipped } = resolved;
        let corpus = Self { sources, file_ids, walked, same_id, skipped };
        if let (Layout::Texts, Some(field)) = (corpus.layout(), options.value_fields.first()) {
            return Err(Error::new(ErrorKind::NoFields { field: field.to_string() }));
        }
        corpus.refuse_missing_field()?;
        Ok(corpus)
    }

    /// Refuses several text fields if the first records of the inputs have some of them, but not all. If they have none
    /// of them, the records are rejected when they are read.
    fn refuse_missing_field(&self) -> Result<()> {
        let fields = &self.options().text_fields;
        if fields.len() < 2 {
            return Ok(());
        }
        let mut sought = SoughtFields::new(fields);
        for (handle, content) in self.sources.iter_inputs() {
            if sought.is_done() {
                break;
            }
            if handle.source.unreadable().is_none() {
                content.seek_fields(&handle, &mut sought)?;
            }
        }
        let SoughtFields { missing, records, first: fields, .. } = sought;
        match missing.first() {
            Some(field) if records > 0 && missing.len() < self.options().text_fields.len() => {
                Err(Error::new(ErrorKind::NoTextField { field: field.to_string(), records, fields }))
            }
            _ => Ok(()),
        }
    }

    /// Returns the options with which the corpus was opened.
    pub fn options(&self) -> &ReadOptions {
        &self.sources.shared().options
    }

    /// Returns the sources, in the order in which their documents are read.
    pub fn sources(&self) -> &[Source] {
        self.sources.all()
    }

    /// Returns the number of references, which are the first of all sources.
    pub fn references(&self) -> u32 {
        self.sources.references()
    }

    /// Returns the sources that are not references.
    pub fn inputs(&self) -> &[Source] {
        self.sources.inputs()
    }

    fn readable_inputs(&self) -> impl Iterator<Item = &Source> {
        self.inputs().iter().filter(|source| source.unreadable().is_none())
    }

    /// Reports whether all readable sources with these numbers are of this format. If they are, their records are
    /// copied to a file of the format; otherwise the records are converted.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchPlace`] if one of these numbers belongs to no source.
    pub fn has_only(&self, sources: Range<u32>, format: Format) -> Result<bool> {
        for number in sources {
            let (handle, _) = self.sources.get(number)?;
            if handle.source.unreadable().is_none() && handle.source.format() != format {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the numbers of the sources that are not references.
    pub fn input_numbers(&self) -> Range<u32> {
        self.references()..self.sources().len() as u32
    }

    /// Returns two texts with the same path inside their folders, if there are such texts. Their ids would be equal,
    /// so the ids of all texts are then longer than these paths.
    pub fn same_id(&self) -> Option<&SameId> {
        self.same_id.as_ref()
    }

    /// Returns the files that were found in folders or by patterns and are no documents, in the order in which they
    /// were found. Skipped files are no sources, and outputs contain nothing of them.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Returns the place of a record for messages: `file:line`, or the name of a file that is one document. The
    /// argument `line` counts from 0, the message from 1.
    pub fn place_name(&self, source: u32, line: u64) -> String {
        let Some(source) = self.sources().get(source as usize) else { return "?".to_owned() };
        let name = escape_control(source.name());
        match source.layout() {
            Layout::Records => format!("{name}:{}", line + 1),
            Layout::Texts => name.into_owned(),
        }
    }

    /// Returns the formats of the inputs, each format once, in the order of the inputs. Files that cannot be read
    /// have no format.
    pub fn formats(&self) -> Vec<Format> {
        let mut formats = vec![];
        for source in self.readable_inputs() {
            if !formats.contains(&source.format()) {
                formats.push(source.format());
            }
        }
        formats
    }

    /// Returns the format of all inputs; `None` if they are of several formats.
    pub fn format(&self) -> Option<Format> {
        match self.formats()[..] {
            [format] => Some(format),
            _ => None,
        }
    }

    /// Returns the default format in which records of the inputs are written: the format of the inputs, or for
    /// documents in memory a file format that holds the same data. `None` if these are several formats.
    pub fn output_format(&self) -> Option<Format> {
        let written = |format: Format| container::of(format).map_or(format, <dyn Container>::output_format);
        let mut formats = self.formats().into_iter().map(written);
        let first = formats.next()?;
        formats.all(|format| format == first).then_some(first)
    }

    /// Returns whether each record or each source of the inputs is a document. Records and texts are never read
    /// together.
    pub fn layout(&self) -> Layout {
        self.readable_inputs().next().map_or(Layout::Records, Source::layout)
    }

    /// Returns the only input, if it is read as one document although it is most likely no document, with the reason.
    /// Nothing is returned for an input that cannot be read.
    pub fn mistaken_input(&self) -> Option<(&Source, MistakenInput)> {
        let [source] = self.inputs() else { return None };
        if source.layout() != Layout::Texts || source.unreadable().is_some() || source.memory().is_some() {
            return None;
        }
        let reader = source.open().ok()?;
        let mut head = vec![0; reader.size_bytes().min(container::LOOK_BYTES as u64) as usize];
        reader.read_exact_at(0, &mut head).ok()?;
        if let Some(compression) = source.compression {
            let mut decoded = vec![];
            // An error of the decoder comes after the bytes that it decoded, which are judged.
            let _ = compression
                .decoder(&*head)
                .ok()?
                .take(container::LOOK_BYTES as u64)
                .read_to_end(&mut decoded);
            head = decoded;
        }
        Some((source, extract::mistaken(&head, source.name())?))
    }

    /// Returns the number of WARC records of the inputs that note an earlier visit of a page. These records are no
    /// documents, and all are kept.
    pub fn revisits(&self) -> u64 {
        self.sources.iter_inputs().map(|(_, content)| content.revisits()).sum()
    }

    /// Guesses the encoding of a source that is not UTF-8, from the first part that shows it. Returns `None` if the
    /// source is mostly UTF-8, or a compressed document.
    pub fn guess_encoding(&self, source: u32) -> Option<GuessedEncoding> {
        let (handle, _) = self.sources.get(source).ok()?;
        if handle.source.layout() == Layout::Texts && handle.source.compression.is_some() {
            return None;
        }
        let reader = handle.reader().ok()?;
        let (mut bytes, mut at) = (vec![], 0);
        while at < reader.size_bytes() {
            bytes.resize((reader.size_bytes() - at).min(GUESS_BYTES) as usize, 0);
            reader.read_exact_at(at, &mut bytes).ok()?;
            let guessed = GuessedEncoding::of(&bytes);
            if guessed.is_some() || !bytes.is_ascii() {
                return guessed;
            }
            at += bytes.len() as u64;
        }
        None
    }

    /// Returns the total size of all sources in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.sources().iter().map(Source::size_bytes).sum()
    }

    /// Cuts the corpus into chunks of about `target_bytes` that cover it in order, the same way in every run.
    pub fn chunks(&self, target_bytes: u64) -> Vec<Chunk> {
        cut(&self.sources, target_bytes)
    }

    /// Visits every record that starts in the chunk, in order.
    ///
    /// A bad record does not make the scan fail, but is passed to `visit` as a [`Reject`]. Returns the number of
    /// lines that start in the chunk.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::Io`]: a source cannot be read.
    /// - [`ErrorKind::Changed`]: a source has changed since the corpus was opened.
    /// - [`ErrorKind::Inside`]: the content of a source is damaged.
    /// - [`ErrorKind::NoSuchPlace`]: the chunk is of another corpus.
    pub fn scan(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(RecordPlace, Result<Document<'_>, Reject>),
    ) -> Result<ScannedLines> {
        let turns = self.sources.shared().turns();
        let mut failed = None;
        let scanned = self.scan_in_turn(chunk, scratch, &turns, &mut |place, document| {
            if failed.is_some() {
                return;
            }
            if let Ok(Document { text: DocumentText::Long(_), .. }) = document {
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

    /// Visits records as [`scan`](Self::scan) does, but does not load a text of more than 8 MiB that can be read
    /// piece by piece.
    ///
    /// # Errors
    /// Fails as [`scan`](Self::scan) does.
    pub fn scan_long(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(RecordPlace, Result<MaybeLong<'_>, Reject>),
    ) -> Result<ScannedLines> {
        self.scan_in_turn(chunk, scratch, &self.sources.shared().turns(), visit)
    }

    fn scan_in_turn(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        turns: &LoadTurns<'_>,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        scratch.give_back();
        let scanned = match &chunk.span {
            Span::Part { source, part } => {
                if matches!(part, SourcePart::Pieces(_)) && chunk.size_bytes() > LONG_BYTES {
                    turns.take();
                }
                let (handle, content) = self.sources.get(*source)?;
                content.scan(part, &handle, turns, scratch, visit)?
            }
            Span::Files(files) => {
                for source in files.clone() {
                    let (handle, content) = self.sources.get(source)?;
                    content.scan(&SourcePart::Whole, &handle, turns, scratch, visit)?;
                }
                ScannedLines(0)
            }
        };
        if turns.is_taken() {
            // Large buffers are freed while the lock for long records is held, so that at most one scan has buffers
            // of that size.
            scratch.give_back();
        }
        Ok(scanned)
    }

    /// Reads one record again.
    ///
    /// If the record is a row of a table, the first call decodes the rows around it and keeps them in a temporary
    /// file for later calls.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::NoSuchPlace`]: the place lies outside of the corpus.
    /// - [`ErrorKind::BadRecord`]: the record at the place is no document.
    /// - [`ErrorKind::Io`]: the source cannot be read.
    /// - [`ErrorKind::Changed`]: the source has changed since the corpus was opened.
    /// - [`ErrorKind::Inside`]: the content of the source is damaged.
    pub fn read<'s>(&'s self, place: &RecordPlace, scratch: &'s mut Scratch) -> Result<Document<'s>> {
        self.read_long(place, scratch)?.into_whole()
    }

    /// States the places of all records that [`read`](Self::read) will probably be called for. Replaces earlier
    /// statements. Rows of tables that are not among them are read too, but more slowly.
    pub fn expect_reads(&self, places: impl Iterator<Item = RecordPlace>) {
        let rows = |source| self.sources.get(source).ok().and_then(|(_, content)| content.rows());
        let sources = u32::try_from(self.sources().len()).unwrap_or(u32::MAX);
        // Without a table, nothing is decoded in pieces, and the places need not be found.
        if (0..sources).any(|source| rows(source).is_some()) {
            let places = places.filter_map(|place| Some((place.source, place.offset, rows(place.source)?)));
            self.sources.shared().unfolded.expect(places);
        }
    }

    /// Reads one record again as [`read`](Self::read) does, but does not load a long text.
    ///
    /// # Errors
    /// Fails as [`read`](Self::read) does.
    pub fn read_long<'s>(&'s self, place: &RecordPlace, scratch: &'s mut Scratch) -> Result<MaybeLong<'s>> {
        let (handle, content) = self.sources.at(place)?;
        let bad_record = |reject: Reject| {
            let (name, offset) = (handle.source.name().to_owned(), place.offset);
            Error::new(ErrorKind::BadRecord { name, offset, reason: reject.reason })
        };
        if u64::from(place.len) > LONG_BYTES
            && let Some(document) = content.read_long(place, &handle)?
        {
            return document.map_err(bad_record);
        }
        let document = content.read(place, &handle, scratch)?;
        document.map(|document| document.with_text(DocumentText::Whole)).map_err(bad_record)
    }

    /// Reads the bytes of a record exactly as they are in the input: a line with its line end, or a file as it is
    /// stored. The rows of a table have no bytes.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::NoSuchPlace`]: the place lies outside of the corpus.
    /// - [`ErrorKind::Inside`] with [`FileProblem::NoBytes`](crate::FileProblem::NoBytes): the record is a row of a
    ///   table.
    /// - [`ErrorKind::Io`]: the source cannot be read.
    /// - [`ErrorKind::Changed`]: the source has changed since the corpus was opened.
    pub fn read_raw<'s>(&self, place: &RecordPlace, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        self.sources.read_raw(place, scratch)
    }

    /// Fills `out` with the bytes of a source from `offset` on, for copying many records at once.
    ///
    /// # Errors
    /// Fails as [`read_raw`](Self::read_raw) does.
    pub fn read_span(&self, source: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        self.sources.read_span(source, offset, out)
    }

    /// Returns the names of the fields of a record, as they are written in it: the members of a JSONL record, or the
    /// headers of a WARC record.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::NoSuchPlace`]: the place lies outside of the corpus.
    /// - [`ErrorKind::Io`]: the source cannot be read.
    /// - [`ErrorKind::Changed`]: the source has changed since the corpus was opened.
    /// - [`ErrorKind::Inside`]: the content of the source is damaged.
    pub fn field_names(&self, place: &RecordPlace, scratch: &mut Scratch) -> Result<Vec<String>> {
        let (handle, content) = self.sources.at(place)?;
        content.field_names(place, &handle, scratch)
    }
}

/// Copies records to `out` as one file of `format`, in the order of `places`. All the sources must be of this format
/// ([`has_only`](Corpus::has_only)). Lines are copied byte for byte, and rows of a table with their columns and
/// types. If there are no records, an output without records is written.
///
/// If a record does not end its line and another record follows, as at the end of many files, a line end is written
/// between them. Delimited records follow the header of the first source that has a header. Tables are written like
/// the first table; [`refuse_unlike`](crate::refuse_unlike) checks beforehand whether the other tables fit.
///
/// All the places have the same `verdict`. A WARC file also has records that are no documents. Such records are
/// written with the kept documents, except the requests of removed documents, which are written with the removed
/// documents.
///
/// # Errors
/// Fails with one of these kinds:
/// - [`ErrorKind::NoSuchPlace`]: a place lies outside of the corpus.
/// - [`ErrorKind::MissingFeature`]: the program was built without the format.
/// - [`ErrorKind::Io`]: a source cannot be read, or the output cannot be written.
/// - [`ErrorKind::Changed`]: a source has changed since the corpus was opened.
/// - [`ErrorKind::Inside`]: the content of a source is damaged.
pub fn copy_records(
    corpus: &Corpus,
    sources: Range<u32>,
    mut places: impl Iterator<Item = RecordPlace>,
    verdict: OutputVerdict,
    format: Format,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    container::of(format)?.copy(&corpus.sources, sources, &mut places, verdict, out, compression)
}

/// Copies records as [`copy_records`] does, each with its annotation.
///
/// # Errors
/// Fails as [`copy_records`] does, with [`ErrorKind::NoAnnotation`] if records of the format have no room for an
/// annotation, and with [`ErrorKind::NotAnObject`] if a line is no JSON object.
pub fn annotate_records<'a>(
    corpus: &Corpus,
    sources: Range<u32>,
    mut annotated: impl Iterator<Item = (RecordPlace, Annotation<'a>)>,
    format: Format,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    container::of(format)?.annotate(&corpus.sources, sources, &mut annotated, out, compression)
}
