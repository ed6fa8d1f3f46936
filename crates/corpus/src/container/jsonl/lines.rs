//! Finds the lines of a chunk.
//!
//! A chunk owns the lines that start in it. The chunk is read with one positional read that goes a little past its
//! end, so that the last line is nearly always complete. The chunk is validated as UTF-8 in one pass. Only if this
//! fails is each line validated on its own. If a line runs far past the chunk, its end is first searched for through
//! a small buffer, and the line is loaded only if it is not long.

use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::document::{LONG_BYTES, MaybeLong};
use crate::error::Result;
use crate::reject::Reject;
use crate::scratch::grown;
use crate::source::SourceReader;

/// Number of bytes that are read past the end of a chunk, because the end of its last line is nearly always among
/// them.
const READ_PAST_BYTES: u64 = 64 << 10;

/// Size of the buffer through which the end of a very long line is searched.
const SEARCH_BYTES: u64 = 256 << 10;

/// A line of a chunk, which may be blank.
pub(crate) struct Line<'w> {
    /// The number of the line, counted from 0 at the first line of the chunk.
    pub(crate) number: u64,
    /// Offset in the source at which the line starts.
    pub(crate) offset: u64,
    /// Length of the line in bytes, line end included.
    pub(crate) len: u64,
    pub(crate) content: LineContent<'w>,
}

pub(crate) enum LineContent<'w> {
    /// Text, without the line feed.
    Text(&'w str),
    /// No UTF-8. The bytes are invalid from the offset `at` of the line on.
    NotUtf8 { at: u64 },
    /// Record of a line that was too long to be loaded.
    Long(Result<MaybeLong<'static>, Reject>),
    /// No content, because the line is over the limit.
    TooLarge,
}

impl<'w> LineContent<'w> {
    /// Returns the content of a line that has these bytes.
    pub(crate) fn of(bytes: &'w [u8]) -> Self {
        match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::NotUtf8 { at: error.valid_up_to() as u64 },
        }
    }
}

/// A line that was too long to be loaded.
pub(crate) struct LongLine {
    /// The number of the line, counted from 0 at the first line of the chunk.
    pub(crate) number: u64,
    /// Bytes of the source that the line takes, line end included.
    pub(crate) range: Range<u64>,
    /// Length of the line in bytes, without the line feed.
    pub(crate) content_bytes: u64,
}

/// Visits the lines that start in `start..end`, in order, and returns the number of lines. Only the last line can be
/// long; a long line is returned instead of being visited.
pub(crate) fn scan_lines(
    reader: &SourceReader,
    (start, end): (u64, u64),
    limit: u64,
    window: &mut Vec<u8>,
    visit: &mut dyn FnMut(Line<'_>),
) -> Result<(u64, Option<LongLine>)> {
    // The byte before `start` is read, because it shows whether a line starts at `start`.
    let base = start.saturating_sub(1);
    let loaded_end = end.saturating_add(READ_PAST_BYTES).min(reader.size_bytes());
    // The code below requires that a chunk lies within its source.
    if start > end || end > loaded_end {
        return Err(reader.misplaced(end));
    }
    let loaded = (loaded_end - base) as usize;
    let bytes = grown(window, loaded);
    reader.read_exact_at(base, bytes)?;

    let first = match start {
        0 => 0,
        _ => memchr(b'\n', bytes).map_or(loaded, |line_end| line_end + 1),
    };
    if base + first as u64 >= end {
        return Ok((0, None));
    }

    let last_byte = (end - 1 - base) as usize;
    // The split is within the bytes, because the first line begins before `end`, and the bytes up to `end` are loaded.
    let (_, tail) = bytes.split_at(last_byte);
    let (mut too_large, mut long) = (None, None);
    let stop = match memchr(b'\n', tail) {
        Some(line_end) => last_byte + line_end + 1,
        None if loaded_end == reader.size_bytes() => loaded,
        None => {
            let last_line = memrchr(b'\n', bytes).map_or(first, |line_end| (line_end + 1).max(first));
            let content_end = find_line_feed(reader, loaded_end)?;
            let line_end = (content_end + 1).min(reader.size_bytes());
            let offset = base + last_line as u64;
            if content_end - offset > limit {
                too_large = Some((offset, line_end - offset));
                last_line
            } else if line_end - offset > LONG_BYTES {
                long = Some((offset..line_end, content_end - offset));
                last_line
            } else {
                let more = (line_end - base) as usize;
                // The line ends behind the loaded bytes, because its line feed was searched for from there on.
                let (_, missing) = grown(window, more).split_at_mut(loaded);
                reader.read_exact_at(loaded_end, missing)?;
                more
            }
        }
    };

    let first_line = base + first as u64;
    let owned = window.get(first..stop).ok_or_else(|| reader.misplaced(first_line))?;
    let mut lines = visit_lines(owned, first_line, limit, visit);
    if let Some((offset, len)) = too_large {
        visit(Line { number: lines, offset, len, content: LineContent::TooLarge });
        lines += 1;
    }
    let long = long.map(|(range, content_bytes)| LongLine { number: lines, range, content_bytes });
    Ok((lines + u64::from(long.is_some()), long))
}

/// Visits the lines of `bytes`, which lie at `offset` in the source.
fn visit_lines(bytes: &[u8], mut offset: u64, limit: u64, visit: &mut dyn FnMut(Line<'_>)) -> u64 {
    let whole = simdutf8::basic::from_utf8(bytes).ok();
    let (mut number, mut from, mut rest) = (0, 0, bytes);
    while !rest.is_empty() {
        let (content, after) = rest.split_at(memchr(b'\n', rest).unwrap_or(rest.len()));
        let after = after.strip_prefix(b"\n").unwrap_or(after);
        let len = rest.len() - after.len();
        let content = if content.len() as u64 > limit {
            LineContent::TooLarge
        } else if let Some(text) = whole.and_then(|text| text.get(from..from + content.len())) {
            LineContent::Text(text)
        } else {
            LineContent::of(content)
        };
        visit(Line { number, offset, len: len as u64, content });
        number += 1;
        from += len;
        offset += len as u64;
        rest = after;
    }
    number
}

/// Returns the offset of the first line feed at or after `from`, or of the end of the source.
fn find_line_feed(reader: &SourceReader, mut from: u64) -> Result<u64> {
    let mut block = Vec::new();
    while from < reader.size_bytes() {
        let size = (reader.size_bytes() - from).min(SEARCH_BYTES) as usize;
        let bytes = grown(&mut block, size);
        reader.read_exact_at(from, bytes)?;
        if let Some(line_end) = memchr(b'\n', bytes) {
            return Ok(from + line_end as u64);
        }
        from += size as u64;
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;
    use crate::error::ErrorKind;

    fn reader(bytes: &[u8]) -> SourceReader {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        SourceReader {
            file: Some(Arc::new(file)),
            base: 0,
            size_bytes: bytes.len() as u64,
            name: "a.jsonl".into(),
        }
    }

    /// Returns the offsets, lengths and texts of the lines that start in a chunk.
    fn lines(reader: &SourceReader, span: (u64, u64)) -> Result<Vec<(u64, u64, String)>> {
        let mut found = vec![];
        scan_lines(reader, span, 100, &mut vec![], &mut |line| {
            let LineContent::Text(text) = line.content else { panic!("a line is no text") };
            found.push((line.offset, line.len, text.to_owned()));
        })?;
        Ok(found)
    }

    #[test]
    fn chunks_own_the_lines_that_start_in_them() {
        let reader = reader(b"one\n\nthree\nfour");
        let all = [(0, 4, "one"), (4, 1, ""), (5, 6, "three"), (11, 4, "four")];
        let all = all.map(|(offset, len, text)| (offset, len, text.to_owned()));
        for cut in 0..=15 {
            let [before, behind] = [(0, cut), (cut, 15)].map(|span| lines(&reader, span).unwrap());
            assert!(before.iter().all(|line| line.0 < cut) && behind.iter().all(|line| line.0 >= cut));
            assert_eq!([before, behind].concat(), all, "cut at {cut}");
        }
    }

    #[test]
    fn a_chunk_outside_of_its_source_is_an_error_and_not_empty() {
        let reader = reader(b"one\ntwo\n");
        for span in [(0, 9), (8, 20), (20, 30), (u64::MAX, u64::MAX), (5, 4)] {
            let error = lines(&reader, span).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Misplaced { offset, .. } if *offset == span.1),
                "{error}"
            );
        }
        let error = lines(&reader, (0, 9)).unwrap_err();
        assert_eq!(error.to_string(), "byte 9 lies outside of what was read of `a.jsonl`");
        assert_eq!(error.hint().unwrap().to_string(), "this is a bug of Minwise: please report it");
    }
}
