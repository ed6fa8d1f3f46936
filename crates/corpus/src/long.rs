//! Texts that are too long to be there as a whole.
//!
//! A record or a file of more than a few MiB is not loaded: it is looked through once, to know where its text lies and that all of
//! it can be read, and the text is then read piece by piece, as often as it is needed, out of the source itself.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::source::Reader;
use crate::unescape::unescape_piece;

/// A record or a file with more bytes than this is not loaded if its text can be read piece by piece.
pub(crate) const LONG_BYTES: u64 = 8 << 20;

/// Bytes that are read at a time.
pub(crate) const WINDOW_BYTES: usize = 256 << 10;

/// The text of a document.
#[derive(Debug)]
pub enum Text<'a> {
    /// All of it.
    Whole(Cow<'a, str>),
    /// So long that it is read piece by piece.
    Long(LongText),
}

impl<'a> Text<'a> {
    /// All of it, in memory.
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
    reader: Reader,
    parts: Vec<Part>,
    characters: u64,
    bytes: u64,
    repaired: bool,
}

/// A part of such a text.
#[derive(Debug)]
pub(crate) enum Part {
    /// It is short and was read already.
    Here(String),
    /// Bytes of the source.
    There(Range<u64>, Writing),
}

/// How characters stand in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// As they are.
    Plain,
    /// As between the quotes of a JSON string.
    Escaped,
}

impl LongText {
    /// The text that these parts are together. They have been checked: all of them is UTF-8, and what is escaped is so rightly.
    pub(crate) fn new(reader: Reader, parts: Vec<Part>) -> Result<Self> {
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
    pub fn for_each<E: From<Error>>(&self, each: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        self.read(each).map(drop)
    }

    /// All of it, in memory.
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
                Part::Here(text) => {
                    each(text)?;
                    continue;
                }
                Part::There(range, writing) => (range, *writing),
            };
            let mut at = range.start;
            while at < range.end {
                let bytes = (range.end - at).min(WINDOW_BYTES as u64) as usize;
                window.resize(bytes, 0);
                self.reader.read_exact_at(at, &mut window)?;
                let text = whole_characters(&window).ok_or_else(|| self.reader.changed())?;
                let taken = match writing {
                    Writing::Plain => {
                        each(text)?;
                        text.len()
                    }
                    Writing::Escaped => {
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
