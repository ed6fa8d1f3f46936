//! Reads a long line without its long strings.
//!
//! A line is nearly always long because of one string, its text. If a line is too long to be loaded, it is scanned
//! window by window, and its *skeleton* is built: the line with nothing between the quotes of its long strings. The
//! skeleton is parsed like any line. A list beside the skeleton has the places of the long strings in the source.
//!
//! A fault must give the same error as if the whole line were parsed. Invalid UTF-8 is found by the scan, and all
//! other faults are found in the skeleton. If a long string has a fault, the skeleton therefore continues with the
//! bytes at the fault.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::json::parse_carefully;
use super::quick::special_bytes;
use super::string::string_of;
use super::values::values;
use super::walk::{FoundFields, Slot, WantedFields, walk};
use crate::decode::BOM;
use crate::document::{
    CharacterForm, Document, DocumentText, LongText, MaybeLong, TextPart, WINDOW_BYTES, whole_characters,
};
use crate::error::Result;
use crate::field::FieldPath;
use crate::options::ReadOptions;
use crate::reject::{Reject, RejectReason};
use crate::source::SourceReader;

/// Maximum length of a string that stays in the skeleton, in bytes.
const LONGEST_BYTES: usize = 1 << 20;
/// Maximum size of a skeleton in bytes. If a skeleton is larger, the line is long for another reason than long
/// strings, and has to be loaded.
const SKELETON_BYTES: usize = 4 << 20;
/// Number of bytes that the skeleton keeps behind a fault in a string. No error message depends on more bytes.
const WRONG_BYTES: usize = 32;

/// The outcome of scanning a long line.
pub(crate) enum SkeletonOutcome {
    /// The skeleton, from which the line is parsed.
    Skeleton(Skeleton),
    /// The line is not UTF-8, from the byte `at` on.
    NotUtf8 { at: u64 },
    /// The line has to be loaded.
    NoSkeleton,
}

/// A line without its long strings.
#[derive(Debug, Default)]
pub(crate) struct Skeleton {
    bytes: Vec<u8>,
    omitted: Vec<Omitted>,
}

/// A long string that was left out.
#[derive(Debug)]
struct Omitted {
    /// Offset of the string in the skeleton, behind the opening quote.
    at: usize,
    /// Bytes of the source between the quotes.
    inside: Range<u64>,
}

impl Skeleton {
    /// Returns the line without its long strings.
    pub(crate) fn line(&self) -> &str {
        // The bytes that are copied at a fault may end in the middle of a character, which is dropped.
        whole_characters(&self.bytes).unwrap_or_default()
    }

    /// Returns the byte range, in the source, of the content of a string that was left out; `None` if it was not.
    /// `quote` is the offset of its opening quote in the skeleton.
    pub(crate) fn omitted(&self, quote: usize) -> Option<Range<u64>> {
        let omitted = self.omitted.iter().find(|omitted| omitted.at == quote + 1)?;
        Some(omitted.inside.clone())
    }

    /// Reports whether a string that was left out has half of a surrogate pair. The strings were checked before.
    pub(crate) fn omits_lone_surrogate(&self, reader: &SourceReader) -> Result<bool> {
        let there = |omitted: &Omitted| TextPart::There(omitted.inside.clone(), CharacterForm::Escaped);
        Ok(LongText::new(reader.clone(), self.omitted.iter().map(there).collect())?.repaired())
    }

    /// Reports whether a string was left out of these bytes of the skeleton.
    pub(crate) fn omits(&self, bytes: Range<usize>) -> bool {
        self.omitted.iter().any(|omitted| bytes.contains(&omitted.at))
    }

    /// Converts a column of the skeleton to the column of the line, both counted from 1.
    pub(crate) fn column(&self, column: u64) -> u64 {
        let before = self.omitted.iter().filter(|omitted| (omitted.at as u64) < column);
        column + before.map(|omitted| omitted.inside.end - omitted.inside.start).sum::<u64>()
    }
}

/// Scans the line that lies at `range` of the source, without its line end.
pub(crate) fn skeleton(reader: &SourceReader, range: Range<u64>) -> Result<SkeletonOutcome> {
    let mut look = SkeletonScan { skeleton: Skeleton::default(), state: State::Outside, opened: (0, 0) };
    let (mut window, mut at) = (Vec::new(), range.start);
    while at < range.end {
        let bytes = (range.end - at).min(WINDOW_BYTES as u64) as usize;
        window.resize(bytes, 0);
        reader.read_exact_at(at, &mut window)?;
        let whole = match simdutf8::compat::from_utf8(&window) {
            Ok(text) => text.as_bytes(),
            // The window may end within a character, which is then read again with the next window.
            Err(error) if error.error_len().is_none() && at + (bytes as u64) < range.end => {
                window.split_at(error.valid_up_to()).0
            }
            Err(error) => {
                return Ok(SkeletonOutcome::NotUtf8 { at: at - range.start + error.valid_up_to() as u64 });
            }
        };
        look.add(whole, at);
        if look.skeleton.bytes.len() > SKELETON_BYTES {
            return Ok(SkeletonOutcome::NoSkeleton);
        }
        at += whole.len() as u64;
    }
    Ok(SkeletonOutcome::Skeleton(look.finish(range.end)))
}

/// The outcome of parsing a skeleton.
pub(crate) enum Parsed {
    /// A blank line.
    Blank,
    Record(Result<MaybeLong<'static>, Reject>),
    /// A record that holds another long string besides its text, so that the line has to be loaded.
    NeedsAll,
}

/// Parses a line by its skeleton.
pub(crate) fn parse_skeleton(
    skeleton: &Skeleton,
    reader: &SourceReader,
    options: &ReadOptions,
    fields: &[FieldPath],
) -> Result<Parsed> {
    let line = skeleton.line();
    let body = line.strip_prefix(BOM).unwrap_or(line);
    if body.trim_ascii().is_empty() {
        return Ok(Parsed::Blank);
    }
    let mark = line.len() - body.len();
    let parsed = parse_carefully(body, options);
    if let Err(Reject { reason: RejectReason::InvalidJson { message, column }, id }) = parsed {
        let column = skeleton.column(column + mark as u64);
        let reason = RejectReason::InvalidJson { message, column };
        return Ok(Parsed::Record(Err(Reject { reason, id })));
    }
    // Values are parts of the body, so their places follow from the addresses.
    let place = |value: &RawValue| mark + value.get().as_ptr().addr() - body.as_ptr().addr();
    let found = |path: &FieldPath| match walk(body, WantedFields { text: Some(path.parts()), id: None }) {
        Ok(FoundFields { text: Slot::Once(value), .. }) => Some(value),
        _ => None,
    };
    let besides = fields.iter().chain([&options.id_field]);
    if besides.filter_map(found).any(|value| skeleton.omits(place(value)..place(value) + value.get().len())) {
        return Ok(Parsed::NeedsAll);
    }
    let Document { id, text, repaired, .. } = match parsed {
        Ok(document) => document,
        Err(reject) => return Ok(Parsed::Record(Err(reject))),
    };
    let id = id.map(|id| Cow::Owned(id.into_owned()));
    let values =
        values(line, fields).into_iter().map(|value| value.map(|value| Cow::Owned(value.into_owned())));
    let values: Vec<Option<Cow<'static, str>>> = values.collect();

    let mut parts = vec![];
    for (number, field) in options.text_fields.iter().enumerate() {
        if number > 0 {
            parts.push(TextPart::Here("\n".to_owned()));
        }
        let Some(value) = found(field) else { continue };
        if let Some(inside) = skeleton.omitted(place(value)) {
            parts.push(TextPart::There(inside, CharacterForm::Escaped));
        } else if let Ok((text, _)) = string_of(value) {
            parts.push(TextPart::Here(text.into_owned()));
        }
    }
    let is_long = parts.iter().any(|part| matches!(part, TextPart::There(..)));
    let (text, repaired) = if is_long {
        let long = LongText::new(reader.clone(), parts)?;
        let repaired = repaired || long.repaired();
        (DocumentText::Long(long), repaired)
    } else {
        (DocumentText::Whole(Cow::Owned(text.into_owned())), repaired)
    };
    Ok(Parsed::Record(Ok(Document { id, text, repaired, values, about: None })))
}

/// The state of a scan within a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    /// Within a string. In `Escape`, the last byte was a backslash. In `Digits(n)`, n digits of a `\u` escape are
    /// still missing.
    Inside,
    Escape,
    Digits(u8),
    /// Behind a fault in a string. This number of bytes is still copied, and the rest of the line is left out.
    Wrong(usize),
}

struct SkeletonScan {
    skeleton: Skeleton,
    state: State,
    /// Beginning of the current string, behind its quote: the offset in the skeleton, and the offset in the source.
    opened: (usize, u64),
}

impl SkeletonScan {
    /// Scans bytes that lie at `offset` of the source.
    fn add(&mut self, bytes: &[u8], offset: u64) {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            let position = offset + (bytes.len() - rest.len()) as u64;
            match self.state {
                State::Outside => {
                    let quote = memchr::memchr(b'"', rest);
                    let (taken, after) = rest.split_at(quote.map_or(rest.len(), |quote| quote + 1));
                    self.skeleton.bytes.extend_from_slice(taken);
                    if quote.is_some() {
                        self.state = State::Inside;
                        self.opened = (self.skeleton.bytes.len(), position + taken.len() as u64);
                    }
                    rest = after;
                }
                State::Inside => {
                    let (plain, after) = rest.split_at(plain_bytes(rest));
                    let position = position + plain.len() as u64;
                    self.keep(plain);
                    rest = match after {
                        [b'"', after @ ..] => {
                            self.close(position);
                            after
                        }
                        [b'\\', after @ ..] => {
                            self.keep(b"\\");
                            self.state = State::Escape;
                            after
                        }
                        [_, ..] => {
                            self.wrong(position, &[]);
                            after
                        }
                        [] => after,
                    };
                }
                State::Escape | State::Digits(_) => {
                    let next = match (self.state, byte) {
                        (State::Escape, b'u') => Some(State::Digits(4)),
                        (State::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            Some(State::Inside)
                        }
                        (State::Digits(1), digit) if digit.is_ascii_hexdigit() => Some(State::Inside),
                        (State::Digits(left), digit) if digit.is_ascii_hexdigit() => {
                            Some(State::Digits(left - 1))
                        }
                        _ => None,
                    };
                    if let Some(next) = next {
                        self.keep(&[byte]);
                        self.state = next;
                        rest = behind;
                    } else {
                        // Zeros replace the digits that were read, because the error message is the same for all
                        // digits.
                        let begun: &[u8] = match self.state {
                            State::Digits(4) => b"\\u",
                            State::Digits(3) => b"\\u0",
                            State::Digits(2) => b"\\u00",
                            State::Digits(_) => b"\\u000",
                            _ => b"\\",
                        };
                        self.wrong(position - begun.len() as u64, begun);
                    }
                }
                State::Wrong(left) => {
                    let (taken, _) = rest.split_at(left.min(rest.len()));
                    self.skeleton.bytes.extend_from_slice(taken);
                    self.state = State::Wrong(left - taken.len());
                    return;
                }
            }
        }
    }

    /// Returns the skeleton of a line that ends at this byte of the source.
    fn finish(mut self, end: u64) -> Skeleton {
        if self.state != State::Outside {
            // The line ends within a string.
            self.omit_but_one(end);
        }
        self.skeleton
    }

    /// Reports whether the current string is so long that it is left out.
    fn is_long(&self) -> bool {
        self.skeleton.bytes.len() - self.opened.0 > LONGEST_BYTES
    }

    /// Copies bytes of the current string to the skeleton, unless the string is long.
    fn keep(&mut self, inside: &[u8]) {
        if !self.is_long() {
            self.skeleton.bytes.extend_from_slice(inside);
        }
    }

    /// Leaves out the current string, which ends at this byte of the source, if it is long.
    fn omit(&mut self, end: u64) {
        if self.is_long() {
            let (at, start) = self.opened;
            self.skeleton.bytes.truncate(at);
            self.skeleton.omitted.push(Omitted { at, inside: start..end });
        }
    }

    /// Leaves out the current string as `omit` does, except that an `x` stands for its last byte. The bytes behind
    /// the `x` then have columns behind the column of the quote.
    fn omit_but_one(&mut self, end: u64) {
        if self.is_long() {
            self.omit(end - 1);
            self.skeleton.bytes.push(b'x');
        }
    }

    fn close(&mut self, end: u64) {
        self.omit(end);
        self.skeleton.bytes.push(b'"');
        self.state = State::Outside;
    }

    /// Continues behind a fault, which begins at the offset `position` of the source. The bytes `begun` of the fault
    /// were read.
    fn wrong(&mut self, position: u64, begun: &[u8]) {
        if self.is_long() {
            self.omit_but_one(position);
            self.skeleton.bytes.extend_from_slice(begun);
        }
        self.state = State::Wrong(WRONG_BYTES);
    }
}

/// Counts the bytes of a string before the first quote, backslash or control character.
fn plain_bytes(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<8>();
    for (number, block) in blocks.iter().enumerate() {
        match special_bytes(u64::from_le_bytes(*block)) {
            0 => {}
            special => return 8 * number + special.trailing_zeros() as usize / 8,
        }
    }
    8 * blocks.len()
        + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    /// Makes a source that has these bytes behind three other bytes.
    fn reader(bytes: &[u8]) -> SourceReader {
        let mut file: File = tempfile::tempfile().unwrap();
        file.write_all(b"...").unwrap();
        file.write_all(bytes).unwrap();
        let size_bytes = 3 + bytes.len() as u64;
        SourceReader { file: Some(Arc::new(file)), base: 0, size_bytes, name: "-".into() }
    }

    fn looked(line: &[u8]) -> SkeletonOutcome {
        skeleton(&reader(line), 3..3 + line.len() as u64).unwrap()
    }

    fn skeleton_of(line: &str) -> Skeleton {
        match looked(line.as_bytes()) {
            SkeletonOutcome::Skeleton(skeleton) => skeleton,
            SkeletonOutcome::NotUtf8 { .. } | SkeletonOutcome::NoSkeleton => panic!("no skeleton"),
        }
    }

    const LONG: usize = LONGEST_BYTES + 3 * WINDOW_BYTES;

    #[test]
    fn long_strings_are_left_out() {
        let long = "é\\\"\\u00e9".repeat(LONG / 10);
        let line = format!("{{\"a\":\"short\\n\",\"text\": \"{long}\", \"b\": [1, \"{long}\"]}}");
        let found = skeleton_of(&line);
        assert_eq!(found.line(), r#"{"a":"short\n","text": "", "b": [1, ""]}"#);
        let quote = found.line().find(r#""", "b""#).unwrap();
        let start = 3 + line.find(&long).unwrap() as u64;
        assert_eq!(found.omitted(quote), Some(start..start + long.len() as u64));
        assert_eq!(found.omitted(5), None);
        let (before, behind) = (found.line().find("text").unwrap() as u64, found.line().len() as u64);
        assert_eq!(found.column(before), before);
        assert_eq!(found.column(behind), line.len() as u64);
    }

    #[test]
    fn invalid_utf8_is_reported_with_its_byte() {
        let mut line = vec![b'a'; 2 * WINDOW_BYTES];
        line[WINDOW_BYTES + 5] = 0xff;
        assert!(matches!(looked(&line), SkeletonOutcome::NotUtf8 { at } if at == WINDOW_BYTES as u64 + 5));
        line[WINDOW_BYTES + 5] = b'a';
        *line.last_mut().unwrap() = 0xc3;
        assert!(
            matches!(looked(&line), SkeletonOutcome::NotUtf8 { at } if at == 2 * WINDOW_BYTES as u64 - 1)
        );
    }

    #[test]
    fn a_line_that_is_long_for_another_reason_is_loaded() {
        assert!(matches!(looked(&vec![b' '; SKELETON_BYTES + 1]), SkeletonOutcome::NoSkeleton));
    }

    /// Returns the message of `serde_json` for a line, and the column that the message names.
    fn verdict(line: &str, column: impl Fn(u64) -> u64) -> Option<(String, u64)> {
        let error = serde_json::from_str::<serde::de::IgnoredAny>(line).err()?;
        let said = error.to_string().split(" at line").next().unwrap_or_default().to_owned();
        Some((said, column(error.column() as u64)))
    }

    #[track_caller]
    fn check(line: &str) {
        let found = skeleton_of(line);
        assert_eq!(
            verdict(found.line(), |column| found.column(column)),
            verdict(line, |column| column),
            "{}",
            found.line()
        );
    }

    #[test]
    fn faults_are_reported_as_in_the_whole_line() {
        let long = "é".repeat(LONG / 2);
        for line in [
            format!("{{\"text\": \"{long}\"}}"),
            format!("{{\"text\": \"{long}"),
            format!("{{\"text\": \"{long}\\"),
            format!("{{\"text\": \"{long}\\u00"),
            format!("{{\"text\": \"{long}\\x {long}\"}}"),
            format!("{{\"text\": \"{long}\\u12g4 {long}\"}}"),
            format!("{{\"text\": \"{long}\tb {long}\"}}"),
            format!("{{\"text\": \"a\tb {long}\"}}"),
            format!("{{\"text\" \"{long}\"}}"),
            format!("{{\"text\": \"{long}\" \"a\"}}"),
            format!("{{\"{long}\": \"a\", \"{long}\": 01}}"),
            format!("{{\"text\": \"{long}\"}} x"),
        ] {
            check(&line);
            assert!(skeleton_of(&line).line().len() < 200);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn a_skeleton_is_json_if_the_line_is(
            before in r#"[{}\[\]",:a\\0 ]{0,6}"#,
            inside in r#"(\\[ux"\\n]|[é\t0]){0,2}"#,
            after in r#"[{}\[\]",:a\\0 ]{0,6}"#,
        ) {
            let long = "z".repeat(LONG);
            for line in [
                format!("{before}\"{long}{inside}\"{after}"),
                format!("{{\"a\": \"{inside}{long}\"{after}}}"),
            ] {
                check(&line);
            }
        }
    }
}
