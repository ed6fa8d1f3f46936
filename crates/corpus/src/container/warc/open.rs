//! Walks over a source once, when it is opened, and finds its records.
//!
//! The walk keeps 9 bytes per record: the offset of the record and its role. Headers are read again when they are
//! needed, which costs a small read per record and saves about 100 bytes per record for ids and links.

use std::ops::Range;

use minwise::Observer;

use super::headers::Headers;
use super::http::ContentType;
use super::record::{RecordKind, Records, WarcRecord};
use crate::error::{Error, ErrorKind, Result};
use crate::members::{Alignment, GzipMembers};
use crate::source::SourceReader;

/// Approximate number of bytes between two places at which a source can be cut.
const CUT_BYTES: u64 = 1 << 20;

/// Media types of `resource` records that are documents.
const DOCUMENT_TYPES: [&str; 13] = [
    "text/html",
    "application/xhtml+xml",
    "text/plain",
    "text/markdown",
    "text/x-markdown",
    "application/pdf",
    "application/epub+zip",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.ms-word.document.macroenabled.12",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12",
];

/// Schemes of URIs that name a document.
const DOCUMENT_SCHEMES: [&str; 4] = ["http", "https", "ftp", "file"];

/// Role of a record in a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A record that may be a document.
    Document,
    /// A record that is copied with documents, or always.
    Companion(RecordKind),
    /// Bytes that are no record.
    Bad,
}

impl Role {
    fn of(record: &WarcRecord) -> Self {
        match kind_of(record) {
            RecordKind::Response | RecordKind::Conversion | RecordKind::Resource => Self::Document,
            kind @ (RecordKind::Warcinfo
            | RecordKind::Request
            | RecordKind::Metadata
            | RecordKind::Revisit
            | RecordKind::Continuation
            | RecordKind::Other) => Self::Companion(kind),
        }
    }
}

/// Returns the kind of a record. A `resource` that is no document counts as another kind, because Wget stores its log
/// as a `resource`.
pub(super) fn kind_of(record: &WarcRecord) -> RecordKind {
    match record.kind {
        RecordKind::Resource if !is_document(&record.headers) => RecordKind::Other,
        kind => kind,
    }
}

/// Reports whether a `resource` record is a document, judged by its media type and by the scheme of its URI.
fn is_document(headers: &Headers) -> bool {
    let media_type = ContentType::of(headers).media_type;
    let scheme = headers.get("WARC-Target-URI").and_then(|uri| uri.trim_start_matches('<').split_once(':'));
    media_type.is_some_and(|known| DOCUMENT_TYPES.contains(&known.as_str()))
        && scheme.is_some_and(|(scheme, _)| {
            DOCUMENT_SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
        })
}

/// Places of the records of a source.
#[derive(Debug)]
pub(super) struct WarcRecords {
    /// Offset at which each record starts. A record ends where the next one starts, and the last record at the end of
    /// the source.
    starts: Vec<u64>,
    roles: Vec<Role>,
    size_bytes: u64,
    /// Numbers of the records at which pieces begin, about 1 MiB apart. The last element is the number of records.
    cuts: Vec<usize>,
    /// How records lie in gzip members; `None` if the source has no members that can be copied.
    pub(super) alignment: Option<Alignment>,
}

impl WarcRecords {
    /// Finds the records of a source.
    pub(super) fn open(
        reader: &SourceReader,
        members: Option<&GzipMembers>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut archive = Self {
            starts: Vec::new(),
            roles: Vec::new(),
            size_bytes: reader.size_bytes(),
            cuts: vec![0],
            alignment: None,
        };
        let mut cut = 0;
        for step in Records::new(reader) {
            if observer.cancelled() {
                return Err(Error::new(ErrorKind::Cancelled));
            }
            let (bytes, role) = match step? {
                Ok(record) => (record.bytes.clone(), Role::of(&record)),
                Err(bad) => (bad.bytes, Role::Bad),
            };
            if bytes.end - cut > CUT_BYTES && bytes.start > cut && !archive.starts.is_empty() {
                archive.cuts.push(archive.starts.len());
                cut = bytes.start;
            }
            archive.starts.push(bytes.start);
            archive.roles.push(role);
        }
        if !archive.starts.is_empty() {
            archive.cuts.push(archive.starts.len());
        }
        let good = archive.records().filter(|(_, _, role)| *role != Role::Bad);
        archive.alignment = members.map(|members| members.alignment(good.map(|(_, bytes, _)| bytes)));
        Ok(archive)
    }

    /// Iterates over all records: their numbers, their bytes and their roles.
    pub(super) fn records(&self) -> impl Iterator<Item = (usize, Range<u64>, Role)> {
        self.records_in(0..self.starts.len())
    }

    /// Iterates over the records with these numbers.
    pub(super) fn records_in(
        &self,
        numbers: Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<u64>, Role)> {
        numbers.filter_map(|number| {
            let start = *self.starts.get(number)?;
            Some((number, start..self.start_of(number + 1), *self.roles.get(number)?))
        })
    }

    /// Returns the number of the document that starts at `offset`; `None` if no document starts there.
    pub(super) fn document_at(&self, offset: u64) -> Option<usize> {
        let number = self.starts.binary_search(&offset).ok()?;
        (self.roles.get(number) == Some(&Role::Document)).then_some(number)
    }

    /// Iterates over the pieces, each as the range of its record numbers.
    pub(super) fn pieces(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.cuts.iter().zip(self.cuts.iter().skip(1)).map(|(from, to)| *from..*to)
    }

    /// Returns the number of bytes from the beginning of the first of these records to the end of the last record.
    pub(super) fn bytes_of(&self, numbers: &Range<usize>) -> u64 {
        self.start_of(numbers.end) - self.start_of(numbers.start)
    }

    /// Returns the offset at which a record starts; for the number behind the last record, the end of the source.
    fn start_of(&self, number: usize) -> u64 {
        self.starts.get(number).copied().unwrap_or(self.size_bytes)
    }

    /// Returns the number of records of a kind that are no documents.
    pub(super) fn count(&self, kind: RecordKind) -> u64 {
        self.roles.iter().filter(|role| **role == Role::Companion(kind)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(lines: &str) -> bool {
        is_document(&Headers::parse(lines.as_bytes()))
    }

    #[test]
    fn a_log_is_no_document() {
        assert!(resource("WARC-Target-URI: https://example.org/\nContent-Type: text/HTML; charset=utf-8\n"));
        assert!(resource("WARC-Target-URI: <FILE:///a.pdf>\nContent-Type: application/pdf\n"));
        assert!(!resource("WARC-Target-URI: metadata://gnu.org/wget/log.txt\nContent-Type: text/plain\n"));
        assert!(!resource("WARC-Target-URI: https://example.org/a.png\nContent-Type: image/png\n"));
        assert!(!resource("WARC-Target-URI: https://example.org/\n"));
        assert!(!resource("Content-Type: text/plain\n"));
    }
}
