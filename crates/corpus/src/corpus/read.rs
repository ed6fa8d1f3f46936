//! Records that are read again.

use super::Corpus;
use crate::document::{Document, MaybeLong, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::long::{LONG_BYTES, Text};
use crate::reject::Reject;
use crate::scratch::Scratch;

impl Corpus {
    /// Reads one record again.
    ///
    /// The first row of a table that is read again has the rows around it decoded and kept in a temporary file.
    pub fn read<'s>(&'s self, place: &Place, scratch: &'s mut Scratch) -> Result<Document<'s>> {
        self.read_long(place, scratch)?.into_whole()
    }

    /// The same with a text that may be long.
    pub fn read_long<'s>(&'s self, place: &Place, scratch: &'s mut Scratch) -> Result<MaybeLong<'s>> {
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
        document.map(|document| document.with_text(Text::Whole)).map_err(bad_record)
    }

    /// The bytes of a record exactly as they are in the input: a line with its line end, or a file as it is
    /// stored. The rows of a table have none.
    pub fn read_raw<'s>(&self, place: &Place, scratch: &'s mut Scratch) -> Result<&'s [u8]> {
        self.sources.read_raw(place, scratch)
    }

    /// Fills `out` with the bytes of a source from `offset` on, for copying many records at once.
    pub fn read_span(&self, source: u32, offset: u64, out: &mut [u8]) -> Result<()> {
        self.sources.read_span(source, offset, out)
    }

    /// The names of the fields that a record has, as far as they are written in it; none for other records than JSONL.
    pub fn field_names(&self, place: &Place, scratch: &mut Scratch) -> Result<Vec<String>> {
        let (handle, content) = self.sources.at(place)?;
        content.field_names(place, &handle, scratch)
    }
}
