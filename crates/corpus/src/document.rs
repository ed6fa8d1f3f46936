//! A document, its text, and the place it was read from.
//!
//! A text whose record or file is over 8 MiB is streamed, not loaded: the record or file is scanned once, to find where the text lies and
//! to check that all of it can be read. The text is then read piece by piece from the source itself, as often as it is needed.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::extract::FileProperties;
use crate::source::SourceReader;
use crate::unescape::unescape_piece;

/// A document as it was read. Its text is a string, or a [`DocumentText`] if it may be too long to be loaded ([`MaybeLong`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document<'a, T = Cow<'a, str>> {
    /// The user's own id: the id field or column of a record, the path of a text file.
    pub id: Option<Cow<'a, str>>,
    /// The text.
    pub text: T,
    /// Whether invalid characters were replaced by U+FFFD. If records are converted, fields beside the text count, too.
    pub repaired: bool,
    /// The value of each of [`ReadOptions::value_fields`](crate::ReadOptions::value_fields), while the document is scanned: strings
    /// as they are, numbers as they are written, dates and timestamps of tables as seconds since 1970. A value is `None` if the record
    /// lacks the field, and empty if the field is null. A document that is read again has no values.
    pub values: Vec<Option<Cow<'a, str>>>,
    /// The properties that a file that is one document states, such as its title, while the document is scanned.
    pub about: Option<Box<FileProperties>>,
}

impl<'a, T> Document<'a, T> {
    /// Makes a document of which nothing but the text is known.
    pub fn new(text: T) -> Self {
        Self { id: None, text, repaired: false, values: vec![], about: None }
    }

    /// Changes the form of the text and leaves the rest of the document as it is.
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
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was opened. A text that is in memory already
    /// never fails.
    pub fn into_whole(self) -> Result<Document<'a>> {
        let Self { id, text, repaired, values, about } = self;
        Ok(Document { id, text: text.into_whole()?, repaired, values, about })
    }
}

/// The place of a record, from which it can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs that store places make them again from numbers")]
pub struct RecordPlace {
    /// The number of the source in [`Corpus::sources`](crate::Corpus::sources).
    pub source: u32,
    /// The line on which the record begins, or its row in a table, counted from 0. While a chunk is scanned, lines
    /// are counted from the first line that starts in the chunk; the caller adds the lines of the chunks before it.
    /// A text file has line 0. Reading a record again does not use the line.
    pub line: u64,
    /// The first byte, counted in the decompressed stream of a compressed source; for a table, the row.
    pub offset: u64,
    /// The length in bytes, line end included; for a table, the bytes of the text. A rejected record of 4 GiB or more has
    /// `u32::MAX`.
    pub len: u32,
}

/// A record or a file with more bytes than this is not loaded if its text can be read piece by piece, because a text of a gigabyte must not
/// exceed the memory of a run.
pub(crate) const LONG_BYTES: u64 = 8 << 20;

/// Bytes of a long text that are read at a time.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;

/// The text of a document.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a text is loaded or it is not, and readers must handle both")]
pub enum DocumentText<'a> {
    /// The whole text, in memory.
    Whole(Cow<'a, str>),
    /// A text so long that it is read piece by piece.
    Long(LongText),
}

impl<'a> DocumentText<'a> {
    /// Returns the whole text; loads it if it is long.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source of a long text cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was opened. A text that is in memory already
    /// never fails.
    pub fn into_whole(self) -> Result<Cow<'a, str>> {
        match self {
            Self::Whole(text) => Ok(text),
            Self::Long(long) => long.whole().map(Cow::Owned),
        }
    }
}

/// A text that is read piece by piece out of its source.
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
    /// A short part, which was read already.
    Here(String),
    /// The bytes of the source that hold the part, and the form of their characters.
    There(Range<u64>, CharacterForm),
}

/// The form in which a source holds characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharacterForm {
    /// Characters as they are.
    Plain,
    /// Characters as they are written between the quotes of a JSON string.
    Escaped,
}

impl LongText {
    /// Joins parts to a text. The caller has checked that all of them are UTF-8 and that their escapes are valid.
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

    /// The number of characters.
    pub fn characters(&self) -> u64 {
        self.characters
    }

    /// Whether invalid characters were replaced by U+FFFD.
    pub(crate) fn repaired(&self) -> bool {
        self.repaired
    }

    /// Gives the text to `each`, piece by piece from the beginning.
    ///
    /// # Errors
    /// Returns the first error of `each`. Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot be read, and
    /// with [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the source has changed since it was opened.
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

    /// Gives the text to `each`, piece by piece; returns whether invalid characters were replaced.
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
                    // The part was valid to its end when it was checked, so the source has changed since.
                    return Err(self.reader.changed().into());
                }
                at += taken as u64;
            }
        }
        Ok(repaired)
    }
}

/// Drops an incomplete character at the end of the bytes; `None` if the bytes before it are not UTF-8.
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
