//! The corpus: every source, read by position.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;

use crate::chunk::{Chunk, Span, cut};
use crate::compression::Compression;
use crate::document::{Document, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::input::{self, FileIds, Walked};
use crate::lines::{Content, Line, grown, scan_lines};
use crate::options::ReadOptions;
use crate::record::{decode_text, parse_line};
use crate::reject::{Reject, RejectReason};
use crate::source::Source;
use crate::watch::Watch;

/// What the sources of a corpus are. All of them are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each line of a source is a document.
    Jsonl,
    /// Each source is a document.
    Texts,
}

/// How many lines start in a chunk, blank ones included. Always 0 for text files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScannedLines(pub u64);

/// Buffers that one thread uses again for every chunk and record it reads.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Raw bytes: the chunk, or the record.
    bytes: Vec<u8>,
    /// The decompressed bytes of a compressed text file.
    inflated: Vec<u8>,
    /// The text of a JSONL record, unescaped.
    decoded: Vec<u8>,
}

/// A buffer larger than this is given back before the next chunk, so that one giant record is not paid for by
/// every thread until the end of the run.
const KEPT_BYTES: usize = 64 << 20;

impl Scratch {
    /// Empty buffers, which grow with use.
    pub fn new() -> Self {
        Self::default()
    }

    fn give_back(&mut self) {
        for buffer in [&mut self.bytes, &mut self.inflated, &mut self.decoded] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
    }
}

/// Documents that can be read by position, any number of times, from any thread.
#[derive(Debug)]
pub struct Corpus {
    sources: Vec<Source>,
    layout: Layout,
    spool: Option<File>,
    options: ReadOptions,
    pub(crate) file_ids: FileIds,
    pub(crate) walked: Vec<Walked>,
}

impl Corpus {
    /// Resolves the inputs in order: `-` for standard input, a file, a folder, or a pattern.
    ///
    /// `watch` is told of bytes that are spooled to a temporary file, and can cancel.
    pub fn open(inputs: &[String], options: &ReadOptions, watch: &dyn Watch) -> Result<Self> {
        let resolved = input::resolve(inputs, options, watch)?;
        Ok(Self {
            sources: resolved.sources,
            layout: resolved.layout,
            spool: resolved.spool,
            options: options.clone(),
            file_ids: resolved.file_ids,
            walked: resolved.walked,
        })
    }

    /// The sources, in the order in which their documents count.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Whether each line or each source is a document.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The bytes of all sources together.
    pub fn size_bytes(&self) -> u64 {
        self.sources.iter().map(Source::size_bytes).sum()
    }

    /// Cuts the corpus into chunks of about `target_bytes` that cover it in order, the same way in every run.
    pub fn chunks(&self, target_bytes: u64) -> Vec<Chunk> {
        cut(&self.sources, self.layout, target_bytes)
    }

    /// Visits every record that starts in the chunk, in order.
    ///
    /// Content never makes it fail: a bad record is handed on as a [`Reject`]. It fails only when the input
    /// cannot be read or has changed. Returns how many lines start in the chunk.
    pub fn scan(
        &self,
        chunk: &Chunk,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<ScannedLines> {
        scratch.give_back();
        match &chunk.span {
            Span::Lines { source, start, end } => self.scan_jsonl(*source, (*start, *end), scratch, visit),
            Span::Files(files) => {
                for source in files.clone() {
                    self.scan_text(source, scratch, visit)?;
                }
                Ok(ScannedLines(0))
            }
        }
    }

    /// Reads one record again.
    pub fn read<'s>(&'s self, place: &Place, scratch: &'s mut Scratch) -> Result<Document<'s>> {
        let source = self.source(place)?;
        let Scratch { bytes, inflated, decoded } = scratch;
        let raw = self.load(source, place, bytes)?;
        let document = match self.layout {
            Layout::Texts => self.text_document(source, raw, inflated),
            Layout::Jsonl => match simdutf8::compat::from_utf8(raw) {
                Ok(line) => parse_line(line, &self.options, decoded)
                    .unwrap_or_else(|| Err(Reject::new(RejectReason::NotAnObject))),
                Err(error) => Err(Reject::new(RejectReason::InvalidUtf8 { at: error.valid_up_to() as u64 })),
            },
        };
        document.map_err(|reject| {
            let name = source.name().to_owned();
            Error::new(ErrorKind::BadRecord { name, offset: place.offset, reason: reject.reason })
        })
    }

    /// The bytes of a record exactly as they are in the input: a line with its line end, or a file as it is
    /// stored.
    pub fn read_raw<'s>(&self, place: &Place, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        self.load(self.source(place)?, place, &mut scratch.bytes)
    }

    /// Fills `out` with the bytes of a source from `offset` on, for copying many records at once.
    pub fn read_span(&self, source: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        let no_such_place = || Error::new(ErrorKind::NoSuchPlace { source, offset });
        let source = self.sources.get(source as usize).ok_or_else(no_such_place)?;
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > source.size_bytes()) {
            return Err(no_such_place());
        }
        source.open(self.spool.as_ref())?.read_exact_at(offset, out)
    }

    fn source(&self, place: &Place) -> Result<&Source> {
        let no_such_place =
            || Error::new(ErrorKind::NoSuchPlace { source: place.source, offset: place.offset });
        let source = self.sources.get(place.source as usize).ok_or_else(no_such_place)?;
        match place.offset.checked_add(u64::from(place.len)) {
            Some(end) if end <= source.size_bytes() => Ok(source),
            _ => Err(no_such_place()),
        }
    }

    fn load<'b>(&self, source: &Source, place: &Place, bytes: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let out = grown(bytes, place.len as usize);
        source.open(self.spool.as_ref())?.read_exact_at(place.offset, out)?;
        Ok(out)
    }

    fn scan_jsonl(
        &self,
        source: u32,
        span: (u64, u64),
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<ScannedLines> {
        let out_of_range = || Error::new(ErrorKind::NoSuchPlace { source, offset: span.0 });
        let reader = self.sources.get(source as usize).ok_or_else(out_of_range)?.open(self.spool.as_ref())?;
        let limit = self.options.record_limit();
        let Scratch { bytes, decoded, .. } = scratch;
        let lines = scan_lines(&reader, span, limit, bytes, &mut |line| {
            let Line { number, offset, len, content } = line;
            let place = Place { source, line: number, offset, len: u32::try_from(len).unwrap_or(u32::MAX) };
            match content {
                Content::Text(text) => {
                    if let Some(document) = parse_line(text, &self.options, decoded) {
                        visit(place, document);
                    }
                }
                Content::NotUtf8 { at } => visit(place, Err(Reject::new(RejectReason::InvalidUtf8 { at }))),
                Content::TooLarge => {
                    visit(place, Err(Reject::new(RejectReason::TooLarge { bytes: len, limit })));
                }
            }
        })?;
        Ok(ScannedLines(lines))
    }

    fn scan_text(
        &self,
        number: u32,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Place, Result<Document<'_>, Reject>),
    ) -> Result<()> {
        let size = self.sources.get(number as usize).map_or(0, Source::size_bytes);
        let place =
            Place { source: number, line: 0, offset: 0, len: u32::try_from(size).unwrap_or(u32::MAX) };
        let limit = self.options.record_limit();
        if size > limit {
            let id = self.sources.get(number as usize).map(|source| source.id().to_owned());
            visit(place, Err(Reject { reason: RejectReason::TooLarge { bytes: size, limit }, id }));
            return Ok(());
        }
        let source = self.source(&place)?;
        let raw = self.load(source, &place, &mut scratch.bytes)?;
        visit(place, self.text_document(source, raw, &mut scratch.inflated));
        Ok(())
    }

    fn text_document<'a>(
        &self,
        source: &'a Source,
        raw: &'a [u8],
        inflated: &'a mut Vec<u8>,
    ) -> Result<Document<'a>, Reject> {
        let reject = |reason| Reject { reason, id: Some(source.id().to_owned()) };
        let bytes = match source.compression {
            Some(compression) => {
                inflate(compression, raw, self.options.record_limit(), inflated).map_err(reject)?;
                inflated
            }
            None => raw,
        };
        let decoded = decode_text(bytes, self.options.encoding).map_err(reject)?;
        Ok(Document { id: Some(Cow::Borrowed(source.id())), text: decoded.text, repaired: decoded.repaired })
    }
}

/// Decompresses `raw` into `out`, giving up past the limit: a small file can unfold into more than there is
/// memory.
fn inflate(compression: Compression, raw: &[u8], limit: u64, out: &mut Vec<u8>) -> Result<(), RejectReason> {
    out.clear();
    let decoded = compression.decoder(raw).and_then(|decoder| decoder.take(limit + 1).read_to_end(out));
    match decoded {
        Ok(bytes) if bytes as u64 > limit => Err(RejectReason::TooLarge { bytes: bytes as u64, limit }),
        Ok(_) => Ok(()),
        Err(error) => Err(RejectReason::Damaged { at: out.len() as u64, message: error.to_string() }),
    }
}
