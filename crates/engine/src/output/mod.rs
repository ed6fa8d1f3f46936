//! Output stage: writes the kept or removed records, or all records annotated with the decisions.

mod findings;
pub mod report;
mod summary;

use std::sync::mpsc::Receiver;

use minwise::{Observer, Stage};
use minwise_corpus::{
    Annotation, Corpus, Format, Output, OutputFolder, OutputVerdict, RecordPlace, TableCompression,
    annotate_each, annotate_records, convert_annotated, convert_records, copy_each, copy_records,
};

use crate::decide::Decided;
use crate::error::{Error, ErrorKind};
use crate::read::Reading;

pub use self::findings::Findings;
pub use self::summary::Summary;

/// Number of bytes of a file that are copied at a time.
const BLOCK_BYTES: u64 = 1 << 20;

/// Destination of the records of an output.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputTarget<'o> {
    /// A single file in the given format, for the records of all sources.
    One(&'o mut Output, Format),
    /// A file per source in this folder, under the name that the source has in its own folder. Without a format, each
    /// file has the format of its source.
    Each(&'o OutputFolder, Option<Format>),
}

impl OutputTarget<'_> {
    fn copy(
        &mut self,
        corpus: &Corpus,
        places: impl Iterator<Item = RecordPlace>,
        part: OutputPart,
        compression: TableCompression,
    ) -> Result<(), Error> {
        let verdict = match part {
            OutputPart::Kept => OutputVerdict::Kept,
            OutputPart::Removed => OutputVerdict::Removed,
        };
        match self {
            Self::One(out, format) if corpus.has_only(corpus.input_numbers(), *format)? => {
                copy_records(corpus, corpus.input_numbers(), places, verdict, *format, out, compression)?;
            }
            Self::One(out, format) => {
                convert_records(corpus, corpus.input_numbers(), places, *format, out, compression)?;
            }
            Self::Each(folder, format) => copy_each(corpus, places, verdict, *format, folder, compression)?,
        }
        Ok(())
    }
}

/// Selection of the documents that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputPart {
    /// Kept documents.
    Kept,
    /// Removed documents.
    Removed,
}

/// Writes the records of the kept or of the removed documents unchanged, in input order.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if records cannot be read or written, with [`ErrorKind::File`] if places or ids on
/// disk cannot be read, and with [`ErrorKind::Cancelled`] if the observer cancels.
pub fn write_records(
    findings: &Findings<'_>,
    part: OutputPart,
    mut target: OutputTarget<'_>,
    compression: TableCompression,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let mut failed = None;
    let places = until_failure(places(findings, part), &mut failed);
    target.copy(findings.corpus, places.take_while(|_| !observer.cancelled()), part, compression)?;
    failed.map_or(Ok(()), Err)?;
    not_cancelled(observer)
}

/// Yields the items before the first error, and stores that error in `failed`.
fn until_failure<T>(
    items: impl Iterator<Item = Result<T, Error>>,
    failed: &mut Option<Error>,
) -> impl Iterator<Item = T> {
    items.map_while(|item| item.map_err(|error| *failed = Some(error)).ok())
}

/// Fails if the observer has cancelled, so that the caller does not put incomplete output in place.
pub(crate) fn not_cancelled(observer: &dyn Observer) -> Result<(), Error> {
    if observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
}

/// Writes the records of the kept documents while the run still decides, and returns when the channel `decided` is
/// closed.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if records cannot be read or written, with [`ErrorKind::File`] if places on disk
/// cannot be read, and with [`ErrorKind::Cancelled`] if the observer cancels.
pub fn write_kept_as_decided(
    corpus: &Corpus,
    reading: &Reading,
    decided: Receiver<Decided>,
    mut target: OutputTarget<'_>,
    compression: TableCompression,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let documents = reading.documents.len();
    let mut places = (0..).zip(reading.documents.places());
    let kept = AsDecided { decided, before: 0, next: reading.references, removed: vec![false; documents] };
    // One pass over `places` is enough, because kept documents come in input order, as places do.
    let kept = kept.filter_map(|document| places.find(|(at, _)| *at == document).map(|(_, place)| place));
    let mut failed = None;
    let kept = until_failure(kept, &mut failed).take_while(|_| !observer.cancelled());
    target.copy(corpus, kept, OutputPart::Kept, compression)?;
    failed.map_or(Ok(()), Err)?;
    not_cancelled(observer)
}

/// Iterator over the kept documents in input order. The iterator yields each document as soon as its decision arrives.
struct AsDecided {
    decided: Receiver<Decided>,
    before: u32,
    next: u32,
    removed: Vec<bool>,
}

impl Iterator for AsDecided {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            while self.next >= self.before {
                let Decided { before, removed } = self.decided.recv().ok()?;
                for document in removed {
                    self.removed[document as usize] = true;
                }
                self.before = before;
            }
            let document = self.next;
            self.next += 1;
            if !self.removed[document as usize] {
                return Some(document);
            }
        }
    }
}

/// Writes the files of the kept or of the removed documents, byte for byte.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if records cannot be read or written, with [`ErrorKind::File`] if places or ids on
/// disk cannot be read, and with [`ErrorKind::Cancelled`] if the observer cancels.
pub fn write_files(
    findings: &Findings<'_>,
    part: OutputPart,
    out: &OutputFolder,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let Findings { corpus, reading, .. } = *findings;
    observer.begin(Stage::Write, reading.documents.len() as u64 - u64::from(reading.references));
    for place in places(findings, part) {
        not_cancelled(observer)?;
        let place = place?;
        let Some(source) = corpus.sources().get(place.source as usize) else { continue };
        let mut left = place.offset..place.offset + u64::from(place.len);
        out.write_file(source.id(), |block| {
            let bytes = (left.end - left.start).min(BLOCK_BYTES);
            block.resize(bytes as usize, 0);
            corpus.read_span(place.source, left.start, block)?;
            left.start += bytes;
            Ok(())
        })?;
        observer.advance(1);
    }
    Ok(())
}

/// Returns the places of the kept or of the removed documents, in input order.
fn places<'a>(
    findings: &Findings<'a>,
    part: OutputPart,
) -> impl Iterator<Item = Result<RecordPlace, Error>> + 'a {
    let mut removed = findings.decisions.removed.iter().map(|removed| removed.document).peekable();
    numbered_inputs(findings.reading).filter_map(move |(document, place)| {
        let is_removed = removed.next_if_eq(&document).is_some();
        (is_removed == (part == OutputPart::Removed)).then_some(place)
    })
}

/// Returns the numbers and places of all documents except references, in input order.
fn numbered_inputs(reading: &Reading) -> impl Iterator<Item = (u32, Result<RecordPlace, Error>)> + '_ {
    (0..).zip(reading.documents.places()).skip(reading.references as usize)
}

/// Writes every record with an added member or column `minwise`, which holds the decision about it. All other content
/// stays as it was.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] if records cannot be read or written, with [`ErrorKind::File`] if places or ids on
/// disk cannot be read, and with [`ErrorKind::Cancelled`] if the observer cancels.
pub fn write_annotated(
    findings: &Findings<'_>,
    target: OutputTarget<'_>,
    compression: TableCompression,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let Findings { corpus, reading, decisions, .. } = *findings;
    observer.begin(Stage::Write, reading.documents.len() as u64 - u64::from(reading.references));
    let mut removed = decisions.removed.iter().peekable();
    let mut spared = decisions.spared.iter().peekable();
    let annotated = numbered_inputs(reading).map(|(document, place)| {
        let removed = removed.next_if(|removed| removed.document == document);
        let keeper = removed.or(spared.next_if(|spared| spared.document == document));
        let cluster = findings.id(keeper.map_or(document, |keeper| keeper.of))?;
        observer.advance(1);
        Ok((place?, Annotation::new(cluster, removed.map(|removed| removed.similarity))))
    });
    let mut failed = None;
    let annotated = until_failure(annotated, &mut failed).take_while(|_| !observer.cancelled());
    match target {
        OutputTarget::One(out, format) if !corpus.has_only(corpus.input_numbers(), format)? => {
            convert_annotated(corpus, corpus.input_numbers(), annotated, format, out, compression)?;
        }
        OutputTarget::One(out, format) => {
            annotate_records(corpus, corpus.input_numbers(), annotated, format, out, compression)?;
        }
        OutputTarget::Each(folder, format) => annotate_each(corpus, annotated, format, folder, compression)?,
    }
    failed.map_or(Ok(()), Err)?;
    not_cancelled(observer)
}
