//! Rejected records, in memory and on disk.

use std::fmt;
use std::ops::Range;

use minwise_corpus::{Corpus, RecordPlace, Reject, RejectLine};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::read::documents::segment::Medium;

/// Number of rejected records that are kept in memory as a list; all others may be on disk.
const AT_HAND: usize = 1000;
/// Number of bytes of stored rejects that are read at a time.
const BLOCK_BYTES: u64 = 1 << 20;

/// Record that could not become a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rejected {
    /// The number of the record's source, counted from 0 in the order of the inputs; references come first.
    pub source: u32,
    /// The line of the record, from 1; a whole file has line 1.
    pub line: u64,
    /// The id of the record, if it could be read.
    pub id: Option<String>,
    /// The stable code of the reason, in snake case.
    // The alias is for work folders of earlier versions, which wrote `code`.
    #[serde(alias = "code")]
    pub reason: String,
    /// The reason in words.
    pub message: String,
}

impl Rejected {
    /// Returns the number of bytes that this value takes in memory.
    pub(crate) fn size_bytes(&self) -> u64 {
        let id = self.id.as_ref().map_or(0, String::len);
        (size_of::<Self>() + id + self.reason.len() + self.message.len()) as u64
    }

    pub(crate) fn new(place: &RecordPlace, reject: Reject) -> Self {
        Self {
            source: place.source,
            line: place.line + 1,
            reason: reject.reason.code().to_owned(),
            message: reject.reason.to_string(),
            id: reject.id,
        }
    }

    /// Converts the record to the form that lists of rejects have.
    #[must_use]
    pub fn line(self, corpus: &Corpus) -> RejectLine {
        let file = corpus.sources().get(self.source as usize).map(|source| source.name().to_owned());
        RejectLine::new(file.map(|file| (file, self.line)), self.id, self.reason, self.message)
    }

    /// Returns the place of the record and the reason for its rejection, in one line.
    #[must_use]
    pub fn describe(&self, corpus: &Corpus) -> String {
        format!("{}: {}", corpus.place_name(self.source, self.line.saturating_sub(1)), self.message)
    }
}

/// All rejected records of a run, in input order.
#[derive(Default)]
pub struct Rejects {
    len: u64,
    of_references: u64,
    first: Vec<Rejected>,
    /// Places of the rejects on disk, as one JSON line per reject.
    stored: Vec<(Medium, Range<u64>)>,
    /// Rejects in memory that are not on disk yet, as one JSON line per reject.
    held: Vec<u8>,
}

impl Rejects {
    /// Returns the number of rejected records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of rejected records of references.
    #[must_use]
    pub fn of_references(&self) -> u64 {
        self.of_references
    }

    /// Reports whether no record was rejected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the first thousand rejected records. [`for_each`](Self::for_each) visits all of them.
    #[must_use]
    pub fn first(&self) -> &[Rejected] {
        &self.first
    }

    pub(crate) fn push(&mut self, rejected: Rejected, of_reference: bool) {
        self.of_references += u64::from(of_reference);
        serde_json::to_writer(&mut self.held, &rejected).expect("strings and numbers can be written as JSON");
        self.held.push(b'\n');
        self.len += 1;
        if self.first.len() < AT_HAND {
            self.first.push(rejected);
        }
    }

    /// Returns the rejects in memory, as bytes to be written to disk.
    pub(crate) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Replaces the rejects in memory by their place on disk, `range` of `medium`.
    pub(crate) fn now_stored(&mut self, medium: Medium, range: Range<u64>) {
        self.stored.push((medium, range));
        self.held.clear();
    }

    /// Appends the rejects that an earlier process has written to disk.
    pub(crate) fn append_stored(
        &mut self,
        medium: Medium,
        range: Range<u64>,
        rejected: u64,
        of_references: u64,
    ) -> Result<(), Error> {
        if self.first.len() < AT_HAND && rejected > 0 {
            let mut first = std::mem::take(&mut self.first);
            read_lines(&medium, range.clone(), |rejected| {
                if first.len() < AT_HAND {
                    first.push(rejected);
                }
                Ok(())
            })?;
            self.first = first;
        }
        self.len += rejected;
        self.of_references += of_references;
        self.stored.push((medium, range));
        Ok(())
    }

    /// Visits all rejected records.
    ///
    /// # Errors
    /// Returns the first error of `visit`. Fails with [`ErrorKind::Corpus`](crate::ErrorKind::Corpus) or
    /// [`ErrorKind::File`](crate::ErrorKind::File) if rejects on disk cannot be read.
    pub fn for_each(&self, mut visit: impl FnMut(Rejected) -> Result<(), Error>) -> Result<(), Error> {
        for (medium, range) in &self.stored {
            read_lines(medium, range.clone(), &mut visit)?;
        }
        parse_lines(&self.held, &mut visit).map(drop)
    }
}

/// Prints only the counts, because there may be millions of records, and the records in memory are bytes.
impl fmt::Debug for Rejects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, of_references, .. } = self;
        f.debug_struct("Rejects")
            .field("len", len)
            .field("of_references", of_references)
            .finish_non_exhaustive()
    }
}

/// Rejected records of a run with the names of their files, in input order.
///
/// ```
/// use minwise_engine::{Dedup, Nulls};
///
/// let result = Dedup::new().optional_texts([Some("a rose"), None]).nulls(Nulls::Reject).run()?;
/// let reject = &result.rejects().first()[0];
/// assert_eq!((reject.file.as_deref(), reject.line, reject.reason.as_str()), (Some("memory"), Some(2), "null"));
/// # Ok::<(), minwise_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RunRejects<'r> {
    rejects: &'r Rejects,
    corpus: &'r Corpus,
}

impl<'r> RunRejects<'r> {
    pub(crate) fn new(rejects: &'r Rejects, corpus: &'r Corpus) -> Self {
        Self { rejects, corpus }
    }

    /// Returns the number of rejected records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.rejects.len()
    }

    /// Returns the number of rejected records of references.
    #[must_use]
    pub fn of_references(&self) -> u64 {
        self.rejects.of_references()
    }

    /// Reports whether no record was rejected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rejects.is_empty()
    }

    /// Returns the first thousand rejected records, with file, line, id and reason. [`for_each`](Self::for_each) visits
    /// all of them.
    #[must_use]
    pub fn first(&self) -> Vec<RejectLine> {
        self.rejects.first().iter().map(|rejected| rejected.clone().line(self.corpus)).collect()
    }

    /// Visits all rejected records.
    ///
    /// # Errors
    /// Fails under the same conditions as [`Rejects::for_each`].
    pub fn for_each(&self, mut visit: impl FnMut(RejectLine) -> Result<(), Error>) -> Result<(), Error> {
        self.rejects.for_each(|rejected| visit(rejected.line(self.corpus)))
    }
}

fn read_lines(
    medium: &Medium,
    mut range: Range<u64>,
    mut visit: impl FnMut(Rejected) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut bytes = vec![];
    while !range.is_empty() {
        let begin = bytes.len();
        let more = BLOCK_BYTES.min(range.end - range.start);
        bytes.resize(begin + more as usize, 0);
        medium.read_exact_at(range.start, &mut bytes[begin..])?;
        range.start += more;
        let parsed = parse_lines(&bytes, &mut visit)?;
        bytes.drain(..parsed);
    }
    Ok(())
}

/// Passes the record of each complete line to `visit`; returns the number of bytes in these lines.
fn parse_lines(bytes: &[u8], visit: &mut impl FnMut(Rejected) -> Result<(), Error>) -> Result<usize, Error> {
    let mut parsed = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        parsed += line.len();
        // Every line parses, because this program wrote it, and its bytes are in memory or covered by a checksum.
        if let Ok(rejected) = serde_json::from_slice(line) {
            visit(rejected)?;
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use minwise_corpus::Temporary;
    use std::sync::Arc;

    fn rejected(line: u64) -> Rejected {
        let message = "bad \n line ".repeat(line as usize % 50);
        Rejected { source: 0, line, id: Some("x\u{1}".to_owned()), reason: "bad".to_owned(), message }
    }

    #[test]
    fn a_list_of_millions_is_printed_by_its_counts() {
        let mut rejects = Rejects::default();
        rejects.push(rejected(7), true);
        assert_eq!(format!("{rejects:?}"), "Rejects { len: 1, of_references: 1, .. }");
    }

    /// In work folders of earlier versions, the field `reason` is called `code`.
    #[test]
    fn rejects_of_earlier_versions_are_read() {
        let line = r#"{"source":0,"line":7,"id":null,"code":"null","message":"it is null"}"#;
        assert_eq!(serde_json::from_str::<Rejected>(line).unwrap().reason, "null");
    }

    #[test]
    fn those_on_disk_and_in_memory_come_in_order() {
        let file = Arc::new(Temporary::create(None).unwrap());
        let mut rejects = Rejects::default();
        for line in 0..5000 {
            rejects.push(rejected(line), line < 100);
            if line % 2111 == 2000 {
                let begin = file.append(rejects.held()).unwrap();
                let range = begin..begin + rejects.held().len() as u64;
                rejects.now_stored(Medium::Temporary(Arc::clone(&file)), range);
            }
        }
        assert_eq!((rejects.len(), rejects.of_references(), rejects.first().len()), (5000, 100, AT_HAND));
        let mut next = 0;
        rejects
            .for_each(|found| {
                assert_eq!(found, rejected(next));
                next += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(next, 5000);
    }
}
