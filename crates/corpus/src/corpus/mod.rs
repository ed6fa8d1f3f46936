//! The corpus: every source, opened, scanned by chunks, read again by position, and copied to outputs.

mod chunk;
mod hash;

use std::ops::Range;

use minwise::{Observer, escape_control};

pub use self::chunk::Chunk;
use self::chunk::{Span, cut};
pub use self::hash::ContentHash;
use crate::annotation::Annotation;
use crate::container::{self, Container};
use crate::document::{Document, DocumentText, LONG_BYTES, MaybeLong, RecordPlace};
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, Layout};
use crate::input::{self, FileIds, Input, Resolved, SameId, Skipped, Walked};
use crate::options::ReadOptions;
use crate::output::{Output, OutputVerdict, TableCompression};
use crate::reject::Reject;
use crate::scratch::Scratch;
use crate::source::Source;
use crate::sources::{LoadTurns, RecordVisitor, ScannedLines, SourcePart, Sources};

/// Documents that can be read by position, any number of times, from any thread.
#[derive(Debug)]
pub struct Corpus {
    pub(crate) sources: Sources,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
    same_id: Option<SameId>,
    skipped: Vec<Skipped>,
}

impl Corpus {
    /// Resolves the inputs in order.
    ///
    /// The observer is told of bytes that are decompressed to a temporary file, and can cancel.
    ///
    /// # Errors
    /// Fails if the inputs cannot be read together:
    /// - [`ErrorKind::NoInput`], [`ErrorKind::TooManyInputs`]: none was given, or more than can be numbered.
    /// - [`ErrorKind::NotFound`], [`ErrorKind::NoMatch`], [`ErrorKind::BadPattern`], [`ErrorKind::EmptyFolder`],
    ///   [`ErrorKind::OnlySkipped`]: an input leads to no document.
    /// - [`ErrorKind::RepeatedInput`], [`ErrorKind::MixedFormats`]: a file was named twice, or records and whole texts come
    ///   together.
    /// - [`ErrorKind::BadOption`], [`ErrorKind::NoFields`]: the id or a value is to be read from a list, or a field from texts,
    ///   which have none.
    /// - [`ErrorKind::MissingFeature`]: the program was built without a format or a compression.
    /// - [`ErrorKind::Io`], [`ErrorKind::Unreadable`], [`ErrorKind::Damaged`], [`ErrorKind::Inside`]: a file cannot be read, is
    ///   damaged, or is not of its format; for a table, this includes a column that is not there.
    /// - [`ErrorKind::Cancelled`]: the observer cancelled.
    pub fn open(inputs: &[Input], options: &ReadOptions, observer: &dyn Observer) -> Result<Self> {
        Self::open_against(&[], inputs, options, observer)
    }

    /// The same with references: documents that inputs are compared with, and that are never written. They may be of
    /// another format. Their sources come first, and a file that is both is refused.
    ///
    /// # Errors
    /// Fails where [`open`](Self::open) does, and with [`ErrorKind::ReferenceIsInput`] if a file is both a reference and an
    /// input.
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
        Ok(corpus)
    }

    /// How the corpus was opened.
    pub fn options(&self) -> &ReadOptions {
        &self.sources.shared().options
    }

    /// The sources, in the order in which their documents count.
    pub fn sources(&self) -> &[Source] {
        self.sources.all()
    }

    /// How many of the first sources are references.
    pub fn references(&self) -> u32 {
        self.sources.references()
    }

    /// The sources that are not references.
    pub fn inputs(&self) -> &[Source] {
        self.sources.inputs()
    }

    fn readable_inputs(&self) -> impl Iterator<Item = &Source> {
        self.inputs().iter().filter(|source| source.unreadable().is_none())
    }

    /// Whether all of these sources that can be read are of a format, so that their records are copied to a file of it. Otherwise
    /// they are converted.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchPlace`] if there is no source with one of these numbers.
    pub fn has_only(&self, sources: Range<u32>, format: Format) -> Result<bool> {
        for number in sources {
            let (handle, _) = self.sources.get(number)?;
            if handle.source.unreadable().is_none() && handle.source.format() != format {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The numbers of the sources that are not references.
    pub fn input_numbers(&self) -> Range<u32> {
        self.references()..self.sources().len() as u32
    }

    /// Two texts that would have had one id, if there are such. All ids are longer then than their paths in the folders that
    /// were given.
    pub fn same_id(&self) -> Option<&SameId> {
        self.same_id.as_ref()
    }

    /// The files that were found in folders or by patterns and are no documents, in the order in which they were found. They are
    /// no sources, and nothing of them is written.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The place of a record, for messages: `file:line`, or the name of a file that is one document. `line` counts from 0.
    pub fn place_name(&self, source: u32, line: u64) -> String {
        let Some(source) = self.sources().get(source as usize) else { return "?".to_owned() };
        let name = escape_control(source.name());
        match source.layout() {
            Layout::Records => format!("{name}:{}", line + 1),
            Layout::Texts => name.into_owned(),
        }
    }

    /// The formats of the inputs, each once, in the order in which they come. Files that cannot be read have none.
    pub fn formats(&self) -> Vec<Format> {
        let mut formats = vec![];
        for source in self.readable_inputs() {
            if !formats.contains(&source.format()) {
                formats.push(source.format());
            }
        }
        formats
    }

    /// The format of all inputs; `None` if they are of several formats.
    pub fn format(&self) -> Option<Format> {
        match self.formats()[..] {
            [format] => Some(format),
            _ => None,
        }
    }

    /// The format in which records of the inputs are written if nothing else is said: that of the inputs, or for documents in
    /// memory that of a file that holds as much. `None` if there are several.
    pub fn output_format(&self) -> Option<Format> {
        let written = |format: Format| container::of(format).map_or(format, <dyn Container>::output_format);
        let mut formats = self.formats().into_iter().map(written);
        let first = formats.next()?;
        formats.all(|format| format == first).then_some(first)
    }

    /// Whether each record or each source of the inputs is a document. Records and texts are never read together.
    pub fn layout(&self) -> Layout {
        self.readable_inputs().next().map_or(Layout::Records, Source::layout)
    }

    /// The number of WARC records of the inputs that note an earlier visit of a page. They are no documents, and all are kept.
    pub fn revisits(&self) -> u64 {
        self.sources.iter_inputs().map(|(_, content)| content.revisits()).sum()
    }

    /// The bytes of all sources together.
    pub fn size_bytes(&self) -> u64 {
        self.sources().iter().map(Source::size_bytes).sum()
    }

    /// Cuts the corpus into chunks of about `target_bytes` that cover it in order, the same way in every run.
    pub fn chunks(&self, target_bytes: u64) -> Vec<Chunk> {
        cut(&self.sources, target_bytes)
    }

    /// Visits every record that starts in the chunk, in order.
    ///
    /// Content never makes it fail: a bad record is handed on as a [`Reject`]. Returns how many lines start in the chunk.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if a source cannot be read, with [`ErrorKind::Changed`] if it is no longer what it was when
    /// the corpus was opened, with [`ErrorKind::Inside`] if its inside is damaged, and with [`ErrorKind::NoSuchPlace`] if the
    /// chunk is of another corpus.
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

    /// The same with texts that may be long: a text of more than some MiB is not loaded if it can be read piece by piece.
    ///
    /// # Errors
    /// Fails where [`scan`](Self::scan) does.
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
            // Before the next one has its turn.
            scratch.give_back();
        }
        Ok(scanned)
    }

    /// Reads one record again.
    ///
    /// The first row of a table that is read again has the rows around it decoded and kept in a temporary file.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchPlace`] if the place lies outside of the corpus, with [`ErrorKind::BadRecord`] if the
    /// record there is no document, and with [`ErrorKind::Io`] if a source cannot be read, with [`ErrorKind::Changed`] if it is
    /// no longer what it was when the corpus was opened, with [`ErrorKind::Inside`] if its inside is damaged.
    pub fn read<'s>(&'s self, place: &RecordPlace, scratch: &'s mut Scratch) -> Result<Document<'s>> {
        self.read_long(place, scratch)?.into_whole()
    }

    /// The same with a text that may be long.
    ///
    /// # Errors
    /// Fails where [`read`](Self::read) does.
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

    /// The bytes of a record exactly as they are in the input: a line with its line end, or a file as it is
    /// stored. The rows of a table have none.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchPlace`] if the place lies outside of the corpus, with [`ErrorKind::Inside`] and
    /// [`FileProblem::NoBytes`](crate::FileProblem::NoBytes) if it is a row of a table, with [`ErrorKind::Io`] if the source
    /// cannot be read, and with [`ErrorKind::Changed`] if it is no longer what it was.
    pub fn read_raw<'s>(&self, place: &RecordPlace, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        self.sources.read_raw(place, scratch)
    }

    /// Fills `out` with the bytes of a source from `offset` on, for copying many records at once.
    ///
    /// # Errors
    /// Fails where [`read_raw`](Self::read_raw) does.
    pub fn read_span(&self, source: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        self.sources.read_span(source, offset, out)
    }

    /// The names of the fields that a record has, as far as they are written in it: the members of a JSONL record, the headers
    /// of a WARC record.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoSuchPlace`] if the place lies outside of the corpus, and with [`ErrorKind::Io`] if a source
    /// cannot be read, with [`ErrorKind::Changed`] if it is no longer what it was when the corpus was opened, with
    /// [`ErrorKind::Inside`] if its inside is damaged.
    pub fn field_names(&self, place: &RecordPlace, scratch: &mut Scratch) -> Result<Vec<String>> {
        let (handle, content) = self.sources.at(place)?;
        content.field_names(place, &handle, scratch)
    }
}

/// Copies records of sources that are [only](Corpus::has_only) of a format to `out`, in the order given, as one file of that format,
/// even if there are no records: lines byte for byte, rows of a table with the columns and types that they had.
///
/// Where a record does not end its line and another follows, as at the end of many files, a line end is put
/// between. Delimited records follow the header of the first source that has one, and tables are written like the first: whether
/// the others fit is told beforehand by [`refuse_unlike`](crate::refuse_unlike).
///
/// `verdict` is what the places have in common. A WARC file has records that are no documents: the kept ones are written with
/// the kept documents, and the requests of removed documents with the removed ones.
///
/// # Errors
/// Fails with [`ErrorKind::Io`] if a source cannot be read, with [`ErrorKind::Changed`] if it is no longer what it was when the
/// corpus was opened, with [`ErrorKind::Inside`] if its inside is damaged, with [`ErrorKind::NoSuchPlace`] if a place lies
/// outside of the corpus, with [`ErrorKind::MissingFeature`] if the program was built without the format, and with
/// [`ErrorKind::Io`] if the output cannot be written.
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

/// The same with annotations.
///
/// # Errors
/// Fails where [`copy_records`] does, with [`ErrorKind::NoAnnotation`] if records of the format have no room for an annotation,
/// and with [`ErrorKind::NotAnObject`] if a line is no JSON object.
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
