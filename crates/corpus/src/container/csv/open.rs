//! Walks over a source once, when it is opened, and finds its header and the places at which it can be cut.

use memchr::{memchr, memmem};
use minwise::Observer;

use super::split::{Splitter, fields, unquoted, without_line_end};
use crate::column::{self, ColumnNumbers, KnownColumn};
use crate::decode::BOM;
use crate::encoding::GuessedEncoding;
use crate::error::{Error, ErrorKind, Result};
use crate::field::FieldPath;
use crate::options::{Delimiter, ReadOptions};
use crate::problem::FileProblem;
use crate::scratch::grown;
use crate::source::SourceReader;

/// Number of bytes between two places at which a source can be cut, which is also the size of the smallest chunk of a
/// run. Larger pieces would exceed a small memory limit, because a record of seven bytes takes about a hundred times as
/// many bytes in the memory of a run. With `--memory 192MiB`, 600,000 such records took 329 MiB with pieces of 1 MiB,
/// and take 134 MiB with pieces of 64 KiB.
pub(super) const CUT_BYTES: u64 = 64 << 10;

/// Number of bytes that are read at a time.
const BLOCK_BYTES: u64 = 256 << 10;

/// Maximum size of a header, in bytes.
pub(super) const HEADER_BYTES: u64 = 1 << 20;

/// A source of delimited records, with its header and its cuts.
#[derive(Debug)]
pub(crate) struct Delimited {
    pub(crate) delimiter: u8,
    /// Length of the header in bytes, which is the offset of the first record.
    pub(crate) header_bytes: u64,
    /// The names of the fields, as the header has them.
    pub(crate) names: Vec<String>,
    pub(crate) columns: ColumnNumbers,
    /// Offsets at which records begin, at most [`CUT_BYTES`] apart. The first offset is 0 and the last is the end. A
    /// record or header that is larger than [`CUT_BYTES`] lies alone between two cuts.
    pub(crate) cuts: Vec<u64>,
}

impl Delimited {
    /// Reads the header and finds the cuts. The delimiter is the first with which the header has the wanted columns.
    pub(crate) fn open(
        reader: &SourceReader,
        delimiters: &[Delimiter],
        options: &ReadOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut error = None;
        let stated = stated_delimiter(reader)?.filter(|_| options.delimiter.is_none());
        let delimiters = stated.as_ref().map_or(delimiters, std::slice::from_ref);
        // If no delimiter fits, the delimiter that gives the most columns is most likely the right one, so its error
        // is returned.
        let mut most = 1;
        for delimiter in delimiters {
            // Another delimiter may succeed, because the delimiter decides which quotes begin a field.
            let tried = match CsvHeader::read(reader, delimiter.byte()) {
                Ok(tried) => tried,
                Err(refused) => {
                    error.get_or_insert(refused);
                    continue;
                }
            };
            let columns = match tried.columns(reader, options) {
                Ok(columns) => columns,
                Err(refused) => {
                    if error.is_none() || tried.names.len() > most {
                        (most, error) = (tried.names.len(), Some(refused));
                    }
                    continue;
                }
            };
            let CsvHeader { delimiter, bytes: header_bytes, names } = tried;
            let cuts = cuts(reader, header_bytes, delimiter, observer)?;
            return Ok(Self { delimiter, header_bytes, names, columns, cuts });
        }
        Err(error.unwrap_or_else(|| reader.bad("its header", "it cannot be read")))
    }

    /// Returns the number of pieces. Each piece lies between two adjacent cuts.
    pub(crate) fn pieces(&self) -> usize {
        self.cuts.len().saturating_sub(1)
    }
}

/// The first record, which names the fields of all other records.
struct CsvHeader {
    delimiter: u8,
    /// The length of the header in bytes, line end included.
    bytes: u64,
    names: Vec<String>,
}

impl CsvHeader {
    /// Reads the header with this delimiter.
    fn read(reader: &SourceReader, delimiter: u8) -> Result<Self> {
        let header = header(reader, delimiter)?;
        let body = header.strip_prefix(BOM.as_bytes()).unwrap_or(&header);
        let (_, body) = body.split_at(stated_line(body).map_or(0, |(_, bytes)| bytes));
        let mut names = Vec::new();
        for field in fields(without_line_end(body), delimiter) {
            let name = String::from_utf8(unquoted(field).into_owned())
                .map_err(|_| not_utf8(reader, GuessedEncoding::of(&header)))?;
            names.push(name);
        }
        Ok(Self { delimiter, bytes: header.len() as u64, names })
    }

    /// Finds the wanted columns. A source without a header has no columns.
    fn columns(&self, reader: &SourceReader, options: &ReadOptions) -> Result<ColumnNumbers> {
        if self.bytes == 0 {
            return Ok(ColumnNumbers::default());
        }
        let known = self.names.iter().map(|name| Some(KnownColumn::new(FieldPath::field(name.as_str()))));
        let known: Vec<Option<KnownColumn>> = known.collect();
        column::find(reader.name(), &known, options)
    }
}

/// Length of the longest line that states a delimiter, with a byte-order mark, quotes and a line end.
const STATED_BYTES: u64 = 12;

/// Returns the delimiter that the first line of a source states, and the length of this line with its line end. Excel
/// writes and reads such a line, `sep=;`, before the header.
fn stated_line(body: &[u8]) -> Option<(u8, usize)> {
    let line_end = memchr(b'\n', body.get(..STATED_BYTES as usize).unwrap_or(body))?;
    let line = without_line_end(body.get(..=line_end)?);
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] => Some((*delimiter, line_end + 1)),
        _ => None,
    }
}

/// Returns the delimiter that the first line of a source states, if there is such a line.
fn stated_delimiter(reader: &SourceReader) -> Result<Option<Delimiter>> {
    let mut head = vec![0; reader.size_bytes().min(STATED_BYTES) as usize];
    reader.read_exact_at(0, &mut head)?;
    let body = head.strip_prefix(BOM.as_bytes()).unwrap_or(&head);
    let stated = stated_line(body).and_then(|(delimiter, _)| char::from(delimiter).to_string().parse().ok());
    Ok(stated)
}

/// Reads the bytes of the header, line end included. A byte-order mark before the header is not a part of the first
/// name. A line before the header that states the delimiter is a part of the header.
fn header(reader: &SourceReader, delimiter: u8) -> Result<Vec<u8>> {
    let mut head = vec![0; reader.size_bytes().min(HEADER_BYTES) as usize];
    reader.read_exact_at(0, &mut head)?;
    if let Some(encoding) = GuessedEncoding::of(&head).filter(|guess| guess.is_utf16()) {
        return Err(not_utf8(reader, Some(encoding)));
    }
    let body = head.strip_prefix(BOM.as_bytes()).unwrap_or(&head);
    let (_, body) = body.split_at(stated_line(body).map_or(0, |(_, bytes)| bytes));
    let mut splitter = Splitter::new(delimiter);
    let end = match splitter.record_end(body) {
        Some(end) => head.len() - body.len() + end,
        None if head.len() as u64 == reader.size_bytes() && !splitter.is_quoted() => head.len(),
        None => return Err(reader.bad("its header", "a quote in it is never closed")),
    };
    head.truncate(end);
    if memmem::find(&head, b"\0").is_some() {
        return Err(reader.bad("its header", "it holds bytes that are not text"));
    }
    Ok(head)
}

fn not_utf8(reader: &SourceReader, encoding: Option<GuessedEncoding>) -> Error {
    Error::inside(reader.name(), FileProblem::NotUtf8 { encoding })
}

/// Finds the places at which records begin.
fn cuts(
    reader: &SourceReader,
    header_bytes: u64,
    delimiter: u8,
    observer: &dyn Observer,
) -> Result<Vec<u64>> {
    let size = reader.size_bytes();
    let mut splitter = Splitter::new(delimiter);
    let (mut cuts, mut record, mut offset) = (vec![0], header_bytes, header_bytes);
    let mut block = Vec::new();
    while offset < size {
        if observer.cancelled() {
            return Err(Error::new(ErrorKind::Cancelled));
        }
        let bytes = grown(&mut block, (size - offset).min(BLOCK_BYTES) as usize);
        reader.read_exact_at(offset, bytes)?;
        let next = offset + bytes.len() as u64;
        let mut rest = &*bytes;
        while let Some(end) = splitter.record_end(rest) {
            (_, rest) = rest.split_at(end);
            let end = next - rest.len() as u64;
            cut(&mut cuts, record, end);
            record = end;
        }
        offset = next;
    }
    if record < size {
        cut(&mut cuts, record, size);
    }
    if cuts.last() != Some(&size) {
        cuts.push(size);
    }
    Ok(cuts)
}

/// Adds a cut before a record if the last cut is too far back, and cuts before and behind a large record.
fn cut(cuts: &mut Vec<u64>, start: u64, end: u64) {
    let large = end - start > CUT_BYTES;
    let before = cuts.last().copied().unwrap_or(0);
    if start > before && (large || end - before > CUT_BYTES) {
        cuts.push(start);
    }
    if large {
        cuts.push(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_states_the_delimiter_is_recognised() {
        for (line, expected) in [
            ("sep=;\nid;text", Some((b';', 6))),
            ("SEP=|\r\nid|text", Some((b'|', 7))),
            ("\"sep=;\"\r\n", Some((b';', 9))),
            ("sep=\t\n", Some((b'\t', 6))),
            ("sep=;", None),
            ("sep=;;\n", None),
            ("sep,text\n", None),
            ("id,text\nsep=;\n", None),
        ] {
            assert_eq!(stated_line(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_large_record_stands_alone() {
        let mut found = vec![0];
        let ends = [10, 20, CUT_BYTES, 3 * CUT_BYTES, 3 * CUT_BYTES + 5];
        let mut start = 5;
        for end in ends {
            cut(&mut found, start, end);
            start = end;
        }
        assert_eq!(found, [0, CUT_BYTES, 3 * CUT_BYTES]);
    }
}
