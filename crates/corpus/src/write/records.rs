//! Records of some sources to one file.

use std::ops::Range;

use crate::annotation::Annotation;
use crate::corpus::Corpus;
use crate::document::Place;
use crate::error::Result;
use crate::output::{Output, TableCompression};

/// Copies records of the sources with these numbers to `out`, in the order given. What is written is one file of
/// the corpus's format, even if there are no records.
///
/// Where a record does not end its line and another follows, as at the end of many files, a line end is put
/// between. Delimited records follow the header of the first source that has one, and tables are written like the first: whether
/// the others fit is told beforehand by [`refuse_unlike`](crate::refuse_unlike).
pub fn copy_records(
    corpus: &Corpus,
    sources: Range<u32>,
    mut places: impl Iterator<Item = Place>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    corpus.container.copy(&corpus.sources, sources, &mut places, out, compression)
}

/// Writes records of the sources with these numbers, in the order given, each with its annotation. What is written is
/// one file of the corpus's format, even if there are no records.
pub fn annotate_records<'a>(
    corpus: &Corpus,
    sources: Range<u32>,
    mut annotated: impl Iterator<Item = (Place, Annotation<'a>)>,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    corpus.container.annotate(&corpus.sources, sources, &mut annotated, out, compression)
}
