//! Records to one file.

use std::ops::Range;

use super::convert::{self, Conversion};
use crate::annotation::Annotation;
use crate::container;
use crate::corpus::Corpus;
use crate::document::Place;
use crate::error::Result;
use crate::format::Format;
use crate::output::{Output, TableCompression, Verdict};

/// Writes records of the sources with these numbers to `out`, in the order given, as one file of a format, even if there are no
/// records.
///
/// If the sources are of that format, records are copied: lines byte for byte, rows of a table with the columns and types
/// that they had. Where a record does not end its line and another follows, as at the end of many files, a line end is put
/// between. Delimited records follow the header of the first source that has one, and tables are written like the first: whether
/// the others fit is told beforehand by [`refuse_unlike`](crate::refuse_unlike). Records of other formats are converted;
/// whether they can be is told by [`refuse_conversion`](crate::refuse_conversion).
///
/// `verdict` is what the places have in common. A WARC file has records that are no documents: the kept ones are written with
/// the kept documents, and the requests of removed documents with the removed ones.
pub fn copy_records(
    corpus: &Corpus,
    sources: Range<u32>,
    mut places: impl Iterator<Item = Place>,
    verdict: Verdict,
    format: Format,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    if convert::is_copy(corpus, sources.clone(), format)? {
        let container = container::of(format)?;
        return container.copy(&corpus.sources, sources, &mut places, verdict, out, compression);
    }
    let conversion = Conversion { corpus, numbers: sources, to: container::of(format)?, compression };
    conversion.write(places.map(|place| (place, None)), false, out)
}

/// The same with annotations.
pub fn annotate_records<'a>(
    corpus: &Corpus,
    sources: Range<u32>,
    mut annotated: impl Iterator<Item = (Place, Annotation<'a>)>,
    format: Format,
    out: &mut Output,
    compression: TableCompression,
) -> Result<()> {
    if convert::is_copy(corpus, sources.clone(), format)? {
        let container = container::of(format)?;
        return container.annotate(&corpus.sources, sources, &mut annotated, out, compression);
    }
    let conversion = Conversion { corpus, numbers: sources, to: container::of(format)?, compression };
    conversion.write(annotated.map(|(place, annotation)| (place, Some(annotation))), true, out)
}
