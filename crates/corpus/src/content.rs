//! The inside of an open source.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use crate::document::{Document, MaybeLong, Place};
use crate::error::Result;
use crate::reject::Reject;
use crate::scratch::Scratch;
use crate::shared::{Handle, Turns};
use crate::source::Source;

/// How many lines start in a chunk, blank ones included; for tables, how many rows it has. Always 0 for text files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScannedLines(pub u64);

/// Where a source can be cut into parts that are scanned in parallel.
#[derive(Debug)]
pub(crate) enum Cuts {
    /// At any byte: a part owns the records that *start* in it.
    Anywhere,
    /// Between pieces, which were found when the source was opened.
    Pieces(Vec<PieceSize>),
    /// Nowhere: the source is one document.
    Nowhere,
}

/// The size of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceSize {
    /// The bytes that it decodes to.
    pub(crate) decoded_bytes: u64,
    /// The bytes that it takes in its source.
    pub(crate) stored_bytes: u64,
}

/// A part of a source, as [`Cuts`] allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The records that start in these bytes.
    Bytes(Range<u64>),
    /// These pieces.
    Pieces(Range<usize>),
    /// The whole source.
    Whole,
}

/// Visits a record: a document, or the reason why it is none.
pub(crate) type Visit<'v> = dyn FnMut(Place, Result<MaybeLong<'_>, Reject>) + 'v;

/// The inside of an open source. Containers implement it; one value lives as long as the corpus and is used by all threads.
///
/// A method is called per chunk or per record that is read again, so dynamic dispatch costs nothing that can be measured.
pub(crate) trait Content: Any + Debug + Send + Sync {
    /// Where the source can be cut.
    fn cuts(&self, source: &Source) -> Cuts;

    /// Visits the records of a part, in order. A bad record is visited as a [`Reject`]; only a source that cannot be read, or
    /// does not have the part, is an error.
    fn scan(
        &self,
        part: &Part,
        handle: &Handle<'_>,
        turns: &Turns<'_>,
        scratch: &mut Scratch,
        visit: &mut Visit<'_>,
    ) -> Result<ScannedLines>;

    /// Reads one record again.
    fn read<'s>(
        &'s self,
        place: &Place,
        handle: &Handle<'s>,
        scratch: &'s mut Scratch,
    ) -> Result<Result<Document<'s>, Reject>>;

    /// Reads a long record again so that its text can be read piece by piece; `None` if it has to be loaded.
    fn read_long(
        &self,
        _place: &Place,
        _handle: &Handle<'_>,
    ) -> Result<Option<Result<MaybeLong<'static>, Reject>>> {
        Ok(None)
    }

    /// The number of rows, if places are numbers of rows that have no bytes of their own; `None` if places are ranges of bytes.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// The bytes before the first record, which are copied before the records.
    fn header_bytes(&self) -> u64 {
        0
    }

    /// The names of the columns that all records have; `None` if each record names its own fields.
    fn columns(&self) -> Option<Vec<&str>> {
        None
    }

    /// Why records of this source and of another one of the same format cannot be written as one file; `None` if they can.
    fn difference(&self, _other: &dyn Content) -> Option<String> {
        None
    }

    /// The names of the fields that one record has, as far as they are written in it.
    fn field_names(
        &self,
        _place: &Place,
        _handle: &Handle<'_>,
        _scratch: &mut Scratch,
    ) -> Result<Vec<String>> {
        Ok(vec![])
    }
}
