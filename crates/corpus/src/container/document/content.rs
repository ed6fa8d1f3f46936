//! Reads a file that is one document, as the content of a source.

use std::borrow::Cow;

use super::find::{self, ReadingMode, Retention, Whole};
use crate::compression::Compression;
use crate::container::turn::ReadPass;
use crate::decode::Decoded;
use crate::document::{Document, DocumentText, LONG_BYTES, LongText, MaybeLong, RecordPlace};
use crate::error::Result;
use crate::extract::FileProperties;
use crate::reject::{Reject, RejectReason};
use crate::scratch::Scratch;
use crate::source::Source;
use crate::sources::{Content, CutPoints, LoadTurns, RecordVisitor, ScannedLines, SourceHandle, SourcePart};

/// A file that is one document.
#[derive(Debug)]
pub(super) struct WholeFile {
    pub(super) reading: ReadingMode,
    /// Compression of the file. The file is decompressed each time it is read.
    pub(super) compression: Option<Compression>,
}

impl Content for WholeFile {
    fn cuts(&self, _source: &Source) -> CutPoints {
        CutPoints::Nowhere
    }

    fn scan(
        &self,
        part: &SourcePart,
        handle: &SourceHandle<'_>,
        turns: &LoadTurns<'_>,
        scratch: &mut Scratch,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<ScannedLines> {
        if *part != SourcePart::Whole {
            return Err(handle.no_such_place(0));
        }
        let (source, size) = (handle.source, handle.source.size_bytes());
        let len = u32::try_from(size).unwrap_or(u32::MAX);
        let place = RecordPlace { source: handle.number, line: 0, offset: 0, len };
        let limit = handle.options().record_limit();
        if size > limit {
            let id = Some(source.id().to_owned());
            visit(place, Err(Reject { reason: RejectReason::TooLarge { bytes: size, limit }, id }));
            return Ok(ScannedLines(0));
        }
        if size > LONG_BYTES {
            if let Some(document) = self.read_long(&place, handle)? {
                visit(place, document);
                return Ok(ScannedLines(0));
            }
            turns.take();
        }
        let raw = handle.load(&place, &mut scratch.bytes)?;
        let document = self.find(handle, ReadPass::First, raw, &mut scratch.inflated)?;
        visit(place, document.map(|document| document.with_text(DocumentText::Whole)));
        Ok(ScannedLines(0))
    }

    fn read<'s>(
        &'s self,
        place: &RecordPlace,
        handle: &SourceHandle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>> {
        let Scratch { bytes, inflated, decoded } = scratch;
        if let Some(text) = handle.shared.found.read((place.source, place.offset), decoded)? {
            return Ok(Ok(whole_document(handle.source, text)));
        }
        let raw = handle.load(place, bytes)?;
        self.find(handle, ReadPass::Again, raw, inflated)
    }

    fn read_long(
        &self,
        _place: &RecordPlace,
        handle: &SourceHandle<'_>,
    ) -> Result<Option<Result<MaybeLong<'static>, Reject>>> {
        let reader = handle.reader()?;
        if self.compression.is_some() {
            return Ok(None);
        }
        let text = find::find_long(&reader, self.reading, handle.options())?;
        Ok(text.map(|text| Ok(long_document(handle.source, text))))
    }
}

impl WholeFile {
    /// Finds the document in the bytes of the file.
    fn find<'a>(
        &self,
        handle: &SourceHandle<'a>,
        turn: ReadPass,
        raw: &'a [u8],
        inflated: &'a mut Vec<u8>,
    ) -> Result<Result<Document<'a>, Reject>> {
        let (source, how) = (handle.source, (self.reading, self.compression));
        match find::find(raw, how, source.name(), handle.options(), turn, inflated) {
            Ok(Whole { keep, decoded, about }) => {
                if keep == Retention::Yes {
                    handle.shared.found.keep((handle.number, 0), &decoded)?;
                }
                let about = (about != FileProperties::default()).then(|| Box::new(about));
                Ok(Ok(Document { about, ..whole_document(source, decoded) }))
            }
            Err(reason) => Ok(Err(Reject { reason, id: Some(source.id().to_owned()) })),
        }
    }
}

fn long_document(source: &Source, text: LongText) -> MaybeLong<'static> {
    let id = Some(Cow::Owned(source.id().to_owned()));
    Document { id, text: DocumentText::Long(text), repaired: false, values: vec![], about: None }
}

fn whole_document<'a>(source: &'a Source, found: Decoded<'a>) -> Document<'a> {
    let Decoded { text, repaired } = found;
    Document { id: Some(Cow::Borrowed(source.id())), text, repaired, values: vec![], about: None }
}
