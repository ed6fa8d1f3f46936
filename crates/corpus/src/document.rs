//! A document, and the place it was read from.

use std::borrow::Cow;

use crate::error::Result;
use crate::extract::About;
use crate::long::Text;

/// A document as it was read. Its text is there as a whole, or is a [`Text`] that may be too long for it ([`MaybeLong`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a, T = Cow<'a, str>> {
    /// The user's own id: the id field or column of a record, the path of a text file.
    pub id: Option<Cow<'a, str>>,
    /// The text.
    pub text: T,
    /// Whether something that is not a character had to be replaced by U+FFFD.
    pub repaired: bool,
    /// What it holds in each of [`ReadOptions::value_fields`](crate::ReadOptions::value_fields), while it is scanned: strings
    /// as they are, numbers as they are written, dates and timestamps of tables as seconds since 1970. `None` if there is no
    /// such field, an empty text if there is nothing in it. A document that is read again has none of them.
    pub values: Vec<Option<Cow<'a, str>>>,
    /// What a file that is one document says about itself, while it is scanned.
    pub about: Option<Box<About>>,
}

impl<'a, T> Document<'a, T> {
    /// The same document with its text in another form.
    pub(crate) fn with_text<U>(self, form: impl FnOnce(T) -> U) -> Document<'a, U> {
        let Self { id, text, repaired, values, about } = self;
        Document { id, text: form(text), repaired, values, about }
    }
}

/// A document whose text may be too long to be there as a whole.
pub type MaybeLong<'a> = Document<'a, Text<'a>>;

impl<'a> MaybeLong<'a> {
    /// The same document with all of its text in memory.
    pub fn into_whole(self) -> Result<Document<'a>> {
        let Self { id, text, repaired, values, about } = self;
        Ok(Document { id, text: text.into_whole()?, repaired, values, about })
    }
}

/// Where a record is. With it, the record can be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
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
