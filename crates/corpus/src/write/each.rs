//! One output file for each input, under the same relative name.

use std::iter::Peekable;
use std::ops::Range;

use crate::annotation::Annotation;
use crate::corpus::{Corpus, annotate_records, copy_records};
use crate::document::Place;
use crate::error::Result;
use crate::output::{Output, OutputFolder, TableCompression, Verdict};

/// Copies records to a folder that has one file for each input, even for one of which nothing is copied. The records
/// come in the order of their sources.
pub fn copy_each(
    corpus: &Corpus,
    places: impl Iterator<Item = Place>,
    verdict: Verdict,
    folder: &OutputFolder,
    compression: TableCompression,
) -> Result<()> {
    each(
        corpus,
        places,
        |place| place.source,
        folder,
        |sources, places, out| copy_records(corpus, sources, places, verdict, out, compression),
    )
}

/// The same with annotations.
pub fn annotate_each<'a>(
    corpus: &Corpus,
    annotated: impl Iterator<Item = (Place, Annotation<'a>)>,
    folder: &OutputFolder,
    compression: TableCompression,
) -> Result<()> {
    each(
        corpus,
        annotated,
        |(place, _)| place.source,
        folder,
        |sources, annotated, out| annotate_records(corpus, sources, annotated, out, compression),
    )
}

fn each<T, I: Iterator<Item = T>>(
    corpus: &Corpus,
    items: I,
    source_of: impl Fn(&T) -> u32,
    folder: &OutputFolder,
    write: impl Fn(Range<u32>, &mut dyn Iterator<Item = T>, &mut Output) -> Result<()>,
) -> Result<()> {
    let mut items: Peekable<I> = items.peekable();
    for (number, source) in (corpus.references()..).zip(corpus.inputs()) {
        let mut out = folder.file(source.id())?;
        let mut of_source = std::iter::from_fn(|| items.next_if(|item| source_of(item) == number));
        write(number..number + 1, &mut of_source, &mut out)?;
        out.finish()?;
    }
    Ok(())
}
