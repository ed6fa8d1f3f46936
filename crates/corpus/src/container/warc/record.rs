//! Reads WARC records by position (ISO 28500, versions 1.0 and 1.1).
//!
//! ```text
//! WARC/1.0 CRLF                 version line
//! WARC-Type: response CRLF      headers
//! Content-Length: 1234 CRLF
//! CRLF
//! 1234 bytes                    block
//! CRLF CRLF                     end
//! ```
//!
//! The head of a record is its version line and its headers. [`parse_at`] reads the head and skips the block, so a
//! walk over a file costs two small reads per record. Common tools write LF for CRLF, or leave out the end of the
//! last record; both forms are accepted.
//!
//! A bad record does not lose the records behind it: [`Records`] continues at the next line that begins with
//! `WARC/1.`. A block may contain such a line, too. The search therefore begins behind the last byte that was
//! understood, and only after a bad record.

use std::fmt;
use std::ops::Range;

use minwise::figure::grouped;

use super::bytes::{ByteSource, read_window};
use super::headers::Headers;
use crate::error::Result;
use crate::reject::RejectReason;

/// Bytes with which every record begins.
pub(crate) const MAGIC: &[u8] = super::super::optional::WARC_MAGIC;
/// Size of the first read of a head, and of the first window in a search for the next record, in bytes. Most heads
/// are shorter.
const FIRST_HEAD_BYTES: usize = 2 << 10;
/// Maximum size of a head in bytes, far above what a URI and a dozen headers need.
const MAX_HEAD_BYTES: usize = 1 << 20;
/// Number of bytes behind a block that decide whether `Content-Length` is right.
const TAIL_BYTES: usize = 16;
/// Number of bytes that are read at a time in a search for the next record, or to skip blank lines.
const WINDOW_BYTES: usize = 64 << 10;
/// Number of bytes of a bad version line that a message shows.
const SHOWN_BYTES: usize = 40;

/// Kind of a record: the value of `WARC-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// Description of the records that follow.
    Warcinfo,
    /// Response of a server.
    Response,
    /// Another form of a record. In WET files, this is the plain text of a page.
    Conversion,
    /// A file that was stored without a protocol around it.
    Resource,
    /// Request to a server.
    Request,
    /// Facts about another record.
    Metadata,
    /// Record of a repeated fetch of a page that had not changed.
    Revisit,
    /// Later part of a record that was cut into several.
    Continuation,
    /// A type that the standard does not have, or no type.
    Other,
}

impl RecordKind {
    /// Returns the kind that a value of `WARC-Type` names.
    pub(crate) fn of(name: Option<&str>) -> Self {
        const NAMES: [(&str, RecordKind); 8] = [
            ("warcinfo", RecordKind::Warcinfo),
            ("response", RecordKind::Response),
            ("conversion", RecordKind::Conversion),
            ("resource", RecordKind::Resource),
            ("request", RecordKind::Request),
            ("metadata", RecordKind::Metadata),
            ("revisit", RecordKind::Revisit),
            ("continuation", RecordKind::Continuation),
        ];
        let named = |name: &str| NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        name.and_then(named).map_or(Self::Other, |(_, kind)| *kind)
    }

    /// Reports whether records of this kind are documents.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn is_document(self) -> bool {
        match self {
            Self::Response | Self::Conversion | Self::Resource => true,
            Self::Warcinfo
            | Self::Request
            | Self::Metadata
            | Self::Revisit
            | Self::Continuation
            | Self::Other => false,
        }
    }
}

/// A record whose head was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WarcRecord {
    /// The value of `WARC-Type`.
    pub(crate) kind: RecordKind,
    /// All headers of the record.
    pub(crate) headers: Headers,
    /// The whole record, from its version line to the blank lines behind its block.
    pub(crate) bytes: Range<u64>,
    /// Block of the record: the bytes behind its head.
    pub(crate) block: Range<u64>,
}

#[cfg(test)]
impl WarcRecord {
    /// Returns the id of the record, as [`id_of`] does.
    pub(crate) fn id(&self) -> Option<&str> {
        id_of(&self.headers)
    }
}

/// Bytes that are no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    /// Range of the bytes, up to the next record or to the end of the source.
    pub(crate) bytes: Range<u64>,
    /// The rule that the bytes break.
    pub(crate) problem: WarcProblem,
    /// Id of the record, if the headers could be read.
    pub(crate) id: Option<String>,
}

/// The rule that a bad record breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WarcProblem {
    /// The first line is not `WARC/1.0` or a later version 1.
    Version {
        /// Beginning of the first line.
        found: String,
    },
    /// The headers do not end before the source ends, the next record begins or 1 MiB was read.
    OpenHead,
    /// There is no `Content-Length`.
    NoLength,
    /// `Content-Length` is no number of 64 bits.
    BadLength {
        /// Value of `Content-Length`.
        found: String,
    },
    /// The source ends inside the block.
    Truncated {
        /// The value of `Content-Length`.
        expected: u64,
        /// The number of bytes that the source has of the block.
        found: u64,
    },
    /// The bytes behind the block are neither blank lines nor a record, and the source does not end there.
    WrongLength {
        /// The value of `Content-Length`.
        given: u64,
    },
}

impl fmt::Display for WarcProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => write!(f, "it begins with `{found}` instead of `WARC/1.0`"),
            Self::OpenHead => f.write_str("its headers do not end"),
            Self::NoLength => f.write_str("it has no `Content-Length`"),
            Self::BadLength { found } => write!(f, "its `Content-Length` is `{found}`"),
            Self::Truncated { expected, found } => {
                write!(f, "it ends after {} of {} bytes", grouped(*found), grouped(*expected))
            }
            Self::WrongLength { given } => {
                write!(f, "its `Content-Length` of {given} is not where its block ends")
            }
        }
    }
}

impl From<WarcProblem> for RejectReason {
    fn from(problem: WarcProblem) -> Self {
        Self::InvalidWarc { message: problem.to_string() }
    }
}

/// Returns the id that headers state: `WARC-Record-ID` without its angle brackets.
///
/// The standard writes `<urn:uuid:…>`. The brackets delimit the URI and are no part of it.
pub(crate) fn id_of(headers: &Headers) -> Option<&str> {
    headers.get("WARC-Record-ID").map(bare).filter(|id| !id.is_empty())
}

/// Returns a URI without the angle brackets around it.
pub(crate) fn bare(uri: &str) -> &str {
    let uri = uri.trim();
    uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri).trim()
}

/// Problem of a record, and the offset from which on the next record is searched for.
struct WarcFault {
    problem: WarcProblem,
    understood: u64,
    id: Option<String>,
}

impl WarcFault {
    /// Makes a fault of a record whose head was not understood.
    fn at(start: u64, problem: WarcProblem) -> Self {
        Self { problem, understood: start, id: None }
    }
}

/// Parses the record that begins at `start`. The outer error is an error of the disk, the inner error describes bytes
/// that are no record.
pub(crate) fn parse_at(source: &impl ByteSource, start: u64) -> Result<std::result::Result<WarcRecord, Bad>> {
    match parse(source, start)? {
        Ok(record) => Ok(Ok(record)),
        Err(WarcFault { problem, understood, id }) => {
            let end = next_start(source, understood)?;
            Ok(Err(Bad { bytes: start..end, problem, id }))
        }
    }
}

fn parse(source: &impl ByteSource, start: u64) -> Result<std::result::Result<WarcRecord, WarcFault>> {
    let mut head = Vec::new();
    let mut len = FIRST_HEAD_BYTES;
    let head_bytes = loop {
        read_window(source, start, len, &mut head)?;
        if let Some(problem) = version_problem(&head) {
            return Ok(Err(WarcFault::at(start, problem)));
        }
        match end_of_head(&head) {
            HeadEnd::At(end) => break end,
            HeadEnd::Open if head.len() == len && len < MAX_HEAD_BYTES => len *= 2,
            HeadEnd::Open | HeadEnd::Interrupted => {
                return Ok(Err(WarcFault::at(start, WarcProblem::OpenHead)));
            }
        }
    };
    let first_line = memchr::memchr(b'\n', &head).map_or(head.len(), |end| end + 1);
    let headers = Headers::parse(head.get(first_line..head_bytes).unwrap_or_default());
    let block_start = start + head_bytes as u64;
    // The search must include the line feed that ends the head, because the next record may begin right behind it.
    let understood = block_start.saturating_sub(1);
    let id = || id_of(&headers).map(ToOwned::to_owned);
    let fault = |problem| Ok(Err(WarcFault { problem, understood, id: id() }));
    let Some(given) = headers.get("Content-Length") else { return fault(WarcProblem::NoLength) };
    let Some(length) = number(given) else {
        return fault(WarcProblem::BadLength { found: shown(given.as_bytes()) });
    };
    let there = source.size_bytes().saturating_sub(block_start);
    if length > there {
        return fault(WarcProblem::Truncated { expected: length, found: there });
    }
    let block = block_start..block_start + length;
    read_window(source, block.end, TAIL_BYTES, &mut head)?;
    if !ends_a_record(&head) {
        return fault(WarcProblem::WrongLength { given: length });
    }
    let bytes = start..skip_blank(source, block.end)?;
    Ok(Ok(WarcRecord { kind: RecordKind::of(headers.get("WARC-Type")), headers, bytes, block }))
}

/// Parses a number that consists of decimal digits only, because `parse` would accept a sign, too.
fn number(digits: &str) -> Option<u64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Returns the problem of a version line; `None` if the line is `WARC/1.` and digits.
fn version_problem(head: &[u8]) -> Option<WarcProblem> {
    let line = head.get(..SHOWN_BYTES).unwrap_or(head);
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    match line.strip_prefix(MAGIC) {
        Some(minor) if !minor.is_empty() && minor.iter().all(u8::is_ascii_digit) => None,
        _ => Some(WarcProblem::Version { found: shown(line) }),
    }
}

/// Returns the beginning of some bytes, for a message.
fn shown(bytes: &[u8]) -> String {
    minwise::visible(&String::from_utf8_lossy(bytes.get(..SHOWN_BYTES).unwrap_or(bytes))).to_string()
}

/// Result of a search for the end of a head.
enum HeadEnd {
    /// The head ends behind the blank line, at this offset.
    At(usize),
    /// The head does not end in these bytes.
    Open,
    /// The version line of another record interrupts the head.
    Interrupted,
}

/// Finds the blank line that ends a head.
///
/// The version line of another record ends the search. Otherwise, in a file of nothing but version lines, each line
/// would cost a read of 1 MiB.
fn end_of_head(head: &[u8]) -> HeadEnd {
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', head) {
        let line = head.get(at..end).unwrap_or_default();
        if at > 0 && line.starts_with(MAGIC) {
            return HeadEnd::Interrupted;
        }
        if at > 0 && matches!(line, b"" | b"\r") {
            return HeadEnd::At(end + 1);
        }
        at = end + 1;
    }
    HeadEnd::Open
}

/// Reports whether the bytes behind a block are the end of a record: two line ends, or fewer line ends and then the
/// next record or the end of the source. After two line ends, the bytes behind them do not count, because a record is
/// good even if the record behind it is damaged.
fn ends_a_record(tail: &[u8]) -> bool {
    let blank = tail.iter().take_while(|byte| is_blank(**byte)).count();
    let (blank, rest) = tail.split_at(blank);
    memchr::memchr_iter(b'\n', blank).count() >= 2
        || rest.starts_with(MAGIC)
        || (rest.is_empty() && tail.len() < TAIL_BYTES)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the offset of the first byte from `from` on that is no line end.
fn skip_blank(source: &impl ByteSource, from: u64) -> Result<u64> {
    let (mut at, mut window, mut len) = (from, Vec::new(), TAIL_BYTES);
    loop {
        read_window(source, at, len, &mut window)?;
        match window.iter().position(|byte| !is_blank(*byte)) {
            Some(found) => return Ok(at + found as u64),
            None if window.len() < len => return Ok(at + window.len() as u64),
            None => at += window.len() as u64,
        }
        len = WINDOW_BYTES;
    }
}

/// Returns the first offset behind `from` at which a line begins with [`MAGIC`], or the end of the source.
fn next_start(source: &impl ByteSource, from: u64) -> Result<u64> {
    // The first window is small, because the next record is near in a file of many bad records.
    let (mut at, mut window, mut len) = (from, Vec::new(), FIRST_HEAD_BYTES);
    loop {
        read_window(source, at, len, &mut window)?;
        let found = memchr::memchr_iter(b'\n', &window)
            .find(|line_end| window.get(line_end + 1..).is_some_and(|line| line.starts_with(MAGIC)));
        if let Some(line_end) = found {
            return Ok(at + line_end as u64 + 1);
        }
        if window.len() < len {
            return Ok(source.size_bytes());
        }
        // The next window overlaps this one, because a version line may lie across the end of this window.
        at += (len - MAGIC.len()) as u64;
        len = WINDOW_BYTES;
    }
}

/// A walk over all records of a source, in order.
#[derive(Debug)]
pub(crate) struct Records<'s, S> {
    source: &'s S,
    at: u64,
}

impl<'s, S: ByteSource> Records<'s, S> {
    /// Begins a walk at the first byte of `source`.
    pub(crate) fn new(source: &'s S) -> Self {
        Self { source, at: 0 }
    }

    fn step(&mut self) -> Result<Option<std::result::Result<WarcRecord, Bad>>> {
        if self.at == 0 {
            self.at = skip_blank(self.source, 0)?;
        }
        if self.at >= self.source.size_bytes() {
            return Ok(None);
        }
        let found = parse_at(self.source, self.at)?;
        self.at = match &found {
            Ok(record) => record.bytes.end,
            Err(bad) => bad.bytes.end,
        };
        Ok(Some(found))
    }
}

impl<S: ByteSource> Iterator for Records<'_, S> {
    /// A record, or bytes that are no record. The outer error is an error of the disk, after which the walk ends.
    type Item = Result<std::result::Result<WarcRecord, Bad>>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.at = u64::MAX;
        }
        step.transpose()
    }
}

#[cfg(test)]
pub(crate) mod tests;
