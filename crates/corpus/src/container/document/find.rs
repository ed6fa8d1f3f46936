//! Finds the text of a file that is one document.
//!
//! Plain text is decoded at every reading. Other kinds of documents take long to extract, a PDF even seconds. Their
//! text is therefore kept in a temporary file after the first reading, and later readings read that file. A document
//! that takes too long the first time is rejected. A document that was accepted cannot be rejected later because the
//! machine is busier.

use std::borrow::Cow;
use std::io::Read;

use crate::compression::Compression;
use crate::container::turn::ReadPass;
use crate::decode::{BOM, Decoded, decode_text};
use crate::document::{CharacterForm, LongText, TextPart, WINDOW_BYTES, whole_characters};
use crate::encoding::utf16_without_mark;
use crate::error::Result;
use crate::extract::{FileProperties, Recognised, extract_as, is_binary, markdown_body, recognise, unknown};
use crate::options::{Encoding, ReadOptions};
use crate::reject::RejectReason;
use crate::source::SourceReader;

/// The way in which a file that is one document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadingMode {
    /// The characters of the file are its text.
    Plain,
    /// The text is extracted according to the kind of document that the file is.
    Extracted,
}

/// Whether a text is kept for later readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retention {
    Yes,
    No,
}

/// The text and the properties of a file.
#[derive(Debug)]
pub(super) struct Whole<'a> {
    pub(super) keep: Retention,
    pub(super) decoded: Decoded<'a>,
    pub(super) about: FileProperties,
}

/// Finds the text of a file.
pub(super) fn find<'a>(
    raw: &'a [u8],
    (reading, compression): (ReadingMode, Option<Compression>),
    name: &str,
    options: &ReadOptions,
    turn: ReadPass,
    unfolded: &'a mut Vec<u8>,
) -> Result<Whole<'a>, RejectReason> {
    let bytes = unfold(compression, raw, options.record_limit(), unfolded)?;
    match kind(bytes, name, reading)? {
        Recognised::Text => {
            let decoded = decode_text(bytes, options.encoding)?;
            Ok(Whole { keep: Retention::No, decoded, about: FileProperties::default() })
        }
        Recognised::Markdown => {
            let decoded = decode_text(bytes, options.encoding)?;
            let (text, about) = markdown_body(decoded.text);
            Ok(Whole { keep: Retention::No, decoded: Decoded { text, ..decoded }, about })
        }
        kind => {
            let found = extract_as(kind, bytes, &turn.limits(options));
            let found = found.map_err(|refusal| RejectReason::NoText { refusal })?;
            let decoded = Decoded { text: Cow::Owned(found.text), repaired: found.repaired };
            let about = FileProperties { title: found.title, metadata: found.metadata, marks: found.marks };
            Ok(Whole { keep: Retention::Yes, decoded, about })
        }
    }
}

/// Finds the text of a file that is too long to be loaded; `None` if the file is not plain text in UTF-8. Such a file
/// has to be loaded to be read or refused.
pub(super) fn find_long(
    reader: &SourceReader,
    reading: ReadingMode,
    options: &ReadOptions,
) -> Result<Option<LongText>> {
    if options.encoding == Encoding::Latin1 {
        return Ok(None);
    }
    let mut window = vec![0; WINDOW_BYTES.min(reader.size_bytes() as usize)];
    let (mut at, mut start) = (0, 0);
    while at < reader.size_bytes() {
        window.truncate((reader.size_bytes() - at).min(WINDOW_BYTES as u64) as usize);
        reader.read_exact_at(at, &mut window)?;
        if at == 0 {
            if !matches!(kind(&window, reader.name(), reading), Ok(Recognised::Text)) {
                return Ok(None);
            }
            if utf16_without_mark(&window).is_some() {
                return Ok(None);
            }
            start = if window.starts_with(BOM.as_bytes()) { BOM.len() as u64 } else { 0 };
        }
        let is_last = at + window.len() as u64 == reader.size_bytes();
        match whole_characters(&window) {
            Some(text) if !text.is_empty() && (!is_last || text.len() == window.len()) => {
                at += text.len() as u64;
            }
            _ => return Ok(None),
        }
    }
    let parts = vec![TextPart::There(start..reader.size_bytes(), CharacterForm::Plain)];
    LongText::new(reader.clone(), parts).map(Some)
}

/// Returns the bytes of a file, decompressed if the file is compressed. Decompression stops behind the limit, because
/// a small file can decompress to more bytes than the memory holds.
fn unfold<'a>(
    compression: Option<Compression>,
    raw: &'a [u8],
    limit: u64,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], RejectReason> {
    let Some(compression) = compression else { return Ok(raw) };
    if let Some(refusal) = compression.refusal() {
        return Err(RejectReason::NoText { refusal });
    }
    out.clear();
    let decoded = compression.decoder(raw).and_then(|decoder| decoder.take(limit + 1).read_to_end(out));
    match decoded {
        Ok(bytes) if bytes as u64 > limit => Err(RejectReason::TooLarge { bytes: bytes as u64, limit }),
        Ok(_) => Ok(out),
        Err(error) => Err(RejectReason::Damaged { at: out.len() as u64, message: error.to_string() }),
    }
}

/// Recognises the kind of document that a file is.
fn kind(bytes: &[u8], name: &str, reading: ReadingMode) -> Result<Recognised, RejectReason> {
    match reading {
        ReadingMode::Plain => Ok(Recognised::Text),
        ReadingMode::Extracted => match recognise(bytes, Some(name)) {
            Ok(Recognised::Text | Recognised::Markdown) if is_binary(bytes) => {
                Err(RejectReason::NoText { refusal: unknown(bytes) })
            }
            Ok(kind) => Ok(kind),
            Err(refusal) => Err(RejectReason::NoText { refusal }),
        },
    }
}
