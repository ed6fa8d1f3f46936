//! The last stage: documents written as they were read.

use std::sync::mpsc::Receiver;

use minwise_corpus::{Corpus, Output, OutputFolder, Place, Scratch, annotate_line, copy_records};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::dedup::{Decided, Decisions};
use crate::error::{Error, ErrorKind};
use crate::observe::{Observer, Stage};
use crate::read::Reading;

/// Which documents are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Those that stay.
    Kept,
    /// Those that do not.
    Removed,
}

/// Writes the lines of the kept or of the removed documents, byte for byte and in input order.
pub fn write_lines(
    corpus: &Corpus,
    reading: &Reading,
    decisions: &Decisions,
    part: Part,
    out: &mut Output,
    observer: &dyn Observer,
) -> Result<(), Error> {
    copy_records(corpus, places(reading, decisions, part).take_while(|_| !observer.cancelled()), out)?;
    not_cancelled(observer)
}

/// Fails if the person asked to stop, so that what was written until then is not put in place.
fn not_cancelled(observer: &dyn Observer) -> Result<(), Error> {
    if observer.cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
}

/// Writes the lines of the kept documents while decisions are still falling; ends when there are no more.
pub fn write_kept_as_decided(
    corpus: &Corpus,
    reading: &Reading,
    decided: Receiver<Decided>,
    out: &mut Output,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let places = reading.documents.places();
    let kept = AsDecided { decided, before: 0, next: 0, removed: vec![false; places.len()] };
    let kept = kept.take_while(|_| !observer.cancelled());
    copy_records(corpus, kept.map(|document| places[document as usize]), out)?;
    not_cancelled(observer)
}

/// The kept documents in input order, each as soon as it is known that it stays.
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
            while self.next == self.before {
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
pub fn write_files(
    corpus: &Corpus,
    reading: &Reading,
    decisions: &Decisions,
    part: Part,
    out: &OutputFolder,
    observer: &dyn Observer,
) -> Result<(), Error> {
    observer.begin(Stage::Write, reading.documents.len() as u64);
    let mut scratch = Scratch::new();
    for place in places(reading, decisions, part) {
        not_cancelled(observer)?;
        let Some(source) = corpus.sources().get(place.source as usize) else { continue };
        out.write_file(source.id(), corpus.read_raw(&place, &mut scratch)?)?;
        observer.advance(1);
    }
    Ok(())
}

/// The places of the kept or of the removed documents, in input order.
fn places<'a>(
    reading: &'a Reading,
    decisions: &'a Decisions,
    part: Part,
) -> impl Iterator<Item = Place> + 'a {
    let mut removed = decisions.removed.iter().map(|removed| removed.document).peekable();
    (0..).zip(reading.documents.places()).filter_map(move |(document, &place)| {
        let is_removed = removed.next_if_eq(&document).is_some();
        (is_removed == (part == Part::Removed)).then_some(place)
    })
}

/// What `--annotate` adds to a record.
#[derive(Debug, Serialize)]
struct Annotation<'a> {
    cluster: &'a str,
    duplicate_of: Option<&'a str>,
    similarity: Option<f64>,
}

/// Writes every line with what was decided about it as its member `minwise`, and every other byte as it was.
pub fn write_annotated(
    corpus: &Corpus,
    reading: &Reading,
    decisions: &Decisions,
    out: &mut Output,
    observer: &dyn Observer,
) -> Result<(), Error> {
    observer.begin(Stage::Write, reading.documents.len() as u64);
    let mut scratch = Scratch::new();
    let mut line = vec![];
    let mut removed = decisions.removed.iter().peekable();
    for (document, place) in (0..).zip(reading.documents.places()) {
        not_cancelled(observer)?;
        let removed = removed.next_if(|removed| removed.document == document);
        let cluster = reading.documents.id(removed.map_or(document, |removed| removed.of), corpus);
        let annotation = raw(&Annotation {
            cluster: &cluster,
            duplicate_of: removed.is_some().then_some(&*cluster),
            similarity: removed.map(|removed| removed.similarity),
        });
        // The line before had no line end because it ended its file.
        if line.last().is_some_and(|&byte| byte != b'\n') {
            out.write_bytes(b"\n")?;
        }
        annotate_line(corpus.read_raw(place, &mut scratch)?, &annotation, &mut line)?;
        out.write_bytes(&line)?;
        observer.advance(1);
    }
    Ok(())
}

fn raw(annotation: &Annotation<'_>) -> Box<RawValue> {
    to_raw_value(annotation).expect("strings and finite numbers can always be written as JSON")
}
