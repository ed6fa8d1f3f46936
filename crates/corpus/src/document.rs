//! A document, its text, and the place it was read from.
//!
//! A text of more than a few MiB is not loaded: its record or file is looked through once, to know where the text lies and that
//! all of it can be read. The text is then read piece by piece, as often as it is needed, out of the source itself.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::extract::FileProperties;
use crate::source::SourceReader;
use crate::unescape::unescape_piece;

/// A document as it was read. Its text is there as a whole, or is a [`DocumentText`] that may be too long for it ([`MaybeLong`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document<'a, T = Cow<'a, str>> {
    /// The user's own id: the id field or column of a record, the path of a text file.
    pub id: Option<Cow<'a, str>>,
    /// The text.
    pub text: T,
    /// Whether something that is not a character had to be replaced by U+FFFD. If records are converted, another field than the
    /// text counts too.
    pub repaired: bool,
    /// What it holds in each of [`ReadOptions::value_fields`](crate::ReadOptions::value_fields), while it is scanned: strings
    /// as they are, numbers as they are written, dates and timestamps of tables as seconds since 1970. `None` if there is no
    /// such field, an empty text if there is nothing in it. A document that is read again has none of them.
    pub values: Vec<Option<Cow<'a, str>>>,
    /// What a file that is one document says about itself, while it is scanned.
    pub about: Option<Box<FileProperties>>,
}

impl<'a, T> Document<'a, T> {
    /// A document of which nothing but the text is known.
    pub fn new(text: T) -> Self {
        Self { id: None, text, repaired: false, values: vec![], about: None }
    }

    /// The same document with its text in another form.
    pub(crate) fn with_text<U>(self, form: impl FnOnce(T) -> U) -> Document<'a, U> {
        let Self { id, text, repaired, values, about } = self;
        Document { id, text: form(text), repaired, values, about }
    }
}

/// A document whose text may be too long to be there as a whole.
pub type MaybeLong<'a> = Document<'a, DocumentText<'a>>;

impl<'a> MaybeLong<'a> {
    /// The same document with all of its text in memory.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source of a long text cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if it is no longer what it was. A text that is in memory already never
    /// fails.
    pub fn into_whole(self) -> Result<Document<'a>> {
        let Self { id, text, repaired, values, about } = self;
        Ok(Document { id, text: text.into_whole()?, repaired, values, about })
    }
}

/// Where a record is. With it, the record can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs that store places make them again from numbers")]
pub struct RecordPlace {
    /// The number of the source in [`Corpus::sources`](crate::Corpus::sources).
    pub source: u32,
    /// The line on which the record begins, or its row in a table, counted from 0. While a chunk is scanned it
    /// is counted from the first line that starts in the chunk; the caller adds the lines of the chunks before it.
    /// Always 0 for a text file. It takes no part in reading.
    pub line: u64,
    /// The first byte, counted in the decompressed stream of a compressed source; for a table, the row.
    pub offset: u64,
    /// Bytes, line end included; for a table, the bytes of the text. A rejected record of 4 GiB or more has
    /// `u32::MAX`.
    pub len: u32,
}

/// A record or a file with more bytes than this is not loaded if its text can be read piece by piece.
pub(crate) const LONG_BYTES: u64 = 8 << 20;

/// Bytes that are read at a time.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;

/// The text of a document.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a text is loaded or it is not, and readers must handle both")]
pub enum DocumentText<'a> {
    /// All of it.
    Whole(Cow<'a, str>),
    /// So long that it is read piece by piece.
    Long(LongText),
}

impl<'a> DocumentText<'a> {
    /// All of it, in memory.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source of a long text cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if it is no longer what it was. A text that is in memory already never
    /// fails.
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

/// A part of such a text.
#[derive(Debug)]
pub(crate) enum TextPart {
    /// It is short and was read already.
    Here(String),
    /// Bytes of the source.
    There(Range<u64>, CharacterForm),
}

/// How characters stand in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharacterForm {
    /// As they are.
    Plain,
    /// As between the quotes of a JSON string.
    Escaped,
}

impl LongText {
    /// The text that these parts are together. They have been checked: all of them is UTF-8, and what is escaped is so rightly.
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

    /// Characters of it.
    pub fn characters(&self) -> u64 {
        self.characters
    }

    /// Whether something that is not a character had to be replaced.
    pub(crate) fn repaired(&self) -> bool {
        self.repaired
    }

    /// Gives it to `each` from the beginning, piece by piece.
    ///
    /// # Errors
    /// Returns the first error of `each`. Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot be read, and
    /// with [`ErrorKind::Changed`](crate::ErrorKind::Changed) if it is no longer what it was.
    pub fn for_each<E: From<Error>>(&self, each: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.read(each).map(drop)
    }

    /// All of it, in memory.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](crate::ErrorKind::Io) if the source cannot be read, and with
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if it is no longer what it was.
    pub fn whole(&self) -> Result<String> {
        let mut whole = String::with_capacity(usize::try_from(self.bytes).unwrap_or(0));
        self.for_each::<Error>(&mut |piece| {
            whole.push_str(piece);
            Ok(())
        })?;
        Ok(whole)
    }

    /// Gives it to `each`; says whether anything had to be replaced.
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
                    // It was whole when it was checked.
                    return Err(self.reader.changed().into());
                }
                at += taken as u64;
            }
        }
        Ok(repaired)
    }
}

/// Bytes without the beginning of a character at their end; `None` if they are no UTF-8.
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
