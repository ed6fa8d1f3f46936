//! A document, its text, and the place of its record.
//!
//! If a record or file is over 8 MiB, its text is streamed, not loaded. The record or file is scanned once, to find
//! where the text lies and to check that all of the text can be read. The text is then read piece by piece from the
//! source itself, as often as needed.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::extract::FileProperties;
use crate::source::SourceReader;
use crate::unescape::unescape_piece;

/// A document that was read. Its text is a string, or a [`DocumentText`] if the text may be too long to be loaded
/// ([`MaybeLong`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document<'a, T = Cow<'a, str>> {
    /// The user's own id: the id field or column of a record, or the path of a text file.
    pub id: Option<Cow<'a, str>>,
    /// Text of the document.
    pub text: T,
    /// Whether invalid characters were replaced by U+FFFD. If records are converted, all fields count, not only the
    /// text.
    pub repaired: bool,
    /// Values of the fields in [`ReadOptions::value_fields`](crate::ReadOptions::value_fields), while the document is
    /// scanned: strings as they are, numbers as they are written, dates and timestamps of tables as seconds since the
    /// start of 1970. A value is `None` if the record lacks the field, and empty if the field is null. A document that
    /// is read again has no values.
    pub values: Vec<Option<Cow<'a, str>>>,
    /// Properties that a file states if the whole file is the document, such as its title. They are known only while
    /// the document is scanned.
    pub about: Option<Box<FileProperties>>,
}

impl<'a, T> Document<'a, T> {
    /// Makes a document of a text, with no other data.
    pub fn new(text: T) -> Self {
        Self { id: None, text, repaired: false, values: vec![], about: None }
    }

    /// Changes the form of the text, and keeps all other fields of the document.
    pub(crate) fn with_text<U>(self, form: impl FnOnce(T) -> U) -> Document<'a, U> {
        let Self { id, text, repaired, values, about } = self;
        Document { id, text: form(text), repaired, values, about }
    }
}

/// A document whose text may be too long to be loaded.
pub type MaybeLong<'a> = Document<'a, DocumentText<'a>>;

impl<'a> MaybeLong<'a> {
    /// Loads the whole text.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source of a long text cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was opened. A text that
    /// is already in memory never fails.
    pub fn into_whole(self) -> Result<Document<'a>> {
        let Self { id, text, repaired, values, about } = self;
        Ok(Document { id, text: text.into_whole()?, repaired, values, about })
    }
}

/// Place of a record, from which the record can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs that store places make them again from numbers")]
pub struct RecordPlace {
    /// Number of the source in [`Corpus::sources`](crate::Corpus::sources).
    pub source: u32,
    /// Line on which the record begins, or its row in a table, counted from 0. While a chunk is scanned, lines are
    /// counted from the first line that starts in the chunk; the caller adds the lines of the chunks before it. A
    /// text file has line 0. Reading a record again does not use the line.
    pub line: u64,
    /// Offset of the first byte, in the decompressed stream of a compressed source; for a table, the row.
    pub offset: u64,
    /// Length in bytes, line end included; for a table, the size of the text. A rejected record of 4 GiB or more has
    /// `u32::MAX`.
    pub len: u32,
}

/// Maximum size in bytes of a record or file that is always loaded. A larger record or file is not loaded if its text
/// can be read piece by piece, because a text of 1 GiB must not exceed the memory of a run.
pub(crate) const LONG_BYTES: u64 = 8 << 20;

/// Number of bytes of a long text that are read at a time.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;

/// Text of a document: in memory, or read piece by piece if it is too long to be loaded.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a text is loaded or it is not, and readers must handle both")]
pub enum DocumentText<'a> {
    /// Whole text, in memory.
    Whole(Cow<'a, str>),
    /// A text that is too long to be loaded, and is read piece by piece.
    Long(LongText),
}

impl<'a> DocumentText<'a> {
    /// Returns the whole text. Loads the text if it is long.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source of a long text cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was opened. A text that
    /// is already in memory never fails.
    pub fn into_whole(self) -> Result<Cow<'a, str>> {
        match self {
            Self::Whole(text) => Ok(text),
            Self::Long(long) => long.whole().map(Cow::Owned),
        }
    }
}

/// A text that is read piece by piece from its source.
#[derive(Debug)]
pub struct LongText {
    reader: SourceReader,
    parts: Vec<TextPart>,
    characters: u64,
    bytes: u64,
    repaired: bool,
}

/// A part of a long text.
#[derive(Debug)]
pub(crate) enum TextPart {
    /// A short part, which was already read.
    Here(String),
    /// Bytes of the source that hold the part, and the form of their characters.
    There(Range<u64>, CharacterForm),
}

/// Form in which a source holds characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharacterForm {
    /// Unescaped characters.
    Plain,
    /// Characters that are escaped as in a JSON string.
    Escaped,
}

impl LongText {
    /// Joins parts to a text. The caller has checked that all parts are UTF-8 and that their escapes are valid.
    pub(crate) fn new(reader: SourceReader, parts: Vec<TextPart>) -> Result<Self> {
        let mut text = Self { reader, parts, characters: 0, bytes: 0, repaired: false };
        let (mut characters, mut bytes) = (0, 0);
        let repaired = text.read::<Error>(&mut |piece| {
            characters += piece.chars().count() as u64;
            bytes += piece.len() as u64;
            Ok(())
        })?;
        (text.characters, text.bytes, text.repaired) = (characters, bytes, repaired);
        Ok(text)
    }

    /// Returns the number of characters.
    pub fn characters(&self) -> u64 {
        self.characters
    }

    /// Reports whether invalid characters were replaced by U+FFFD.
    pub(crate) fn repaired(&self) -> bool {
        self.repaired
    }

    /// Passes the text to `each`, piece by piece from the beginning.
    ///
    /// # Errors
    /// Returns the first error of `each`. Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot be
    /// read, and with [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was
    /// opened.
    pub fn for_each<E: From<Error>>(&self, each: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.read(each).map(drop)
    }

    /// Loads the whole text.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was opened.
    pub fn whole(&self) -> Result<String> {
        let mut whole = String::with_capacity(usize::try_from(self.bytes).unwrap_or(0));
        self.for_each::<Error>(&mut |piece| {
            whole.push_str(piece);
            Ok(())
        })?;
        Ok(whole)
    }

    /// Passes the text to `each`, piece by piece. Returns whether invalid characters were replaced.
    fn read<E: From<Error>>(&self, each: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<bool, E> {
        let (mut window, mut unescaped, mut repaired) = (Vec::new(), String::new(), false);
        for part in &self.parts {
            let (range, writing) = match part {
                TextPart::Here(text) => {
                    each(text)?;
                    continue;
                }
                TextPart::There(range, writing) => (range, *writing),
            };
            let mut at = range.start;
            while at < range.end {
                let bytes = (range.end - at).min(WINDOW_BYTES as u64) as usize;
                window.resize(bytes, 0);
                self.reader.read_exact_at(at, &mut window)?;
                let text = whole_characters(&window).ok_or_else(|| self.reader.changed())?;
                let taken = match writing {
                    CharacterForm::Plain => {
                        each(text)?;
                        text.len()
                    }
                    CharacterForm::Escaped => {
                        unescaped.clear();
                        let is_last = at + bytes as u64 == range.end;
                        let taken = unescape_piece(text, is_last, &mut unescaped, &mut repaired);
                        each(&unescaped)?;
                        taken.unwrap_or(0)
                    }
                };
                if taken == 0 {
                    // The whole part was valid when it was checked, so the source has changed since.
                    return Err(self.reader.changed().into());
                }
                at += taken as u64;
            }
        }
        Ok(repaired)
    }
}

/// Removes an incomplete character at the end of the bytes; `None` if the bytes before it are not UTF-8.
pub(crate) fn whole_characters(bytes: &[u8]) -> Option<&str> {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            let whole = bytes.get(..error.valid_up_to())?;
            simdutf8::basic::from_utf8(whole).ok()
        }
        Err(_) => None,
    }
}
