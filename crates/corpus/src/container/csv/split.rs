//! Finds where records and fields of delimited text begin and end.
//!
//! The rules are those of RFC 4180, read as tolerantly as other readers do:
//!
//! - A field is quoted if it *begins* with a quote.
//! - A doubled quote in a quoted field is one quote.
//! - Bytes after the closing quote belong to the field.
//! - A record ends at a line feed outside quotes. A carriage return before the line feed is part of the line end.
//!
//! A guess from the number of quotes would be wrong, because `5" pipe` in a plain field would exchange the inside and
//! the outside of all quotes behind it.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// The character that encloses a field.
pub(crate) const QUOTE: u8 = b'"';

/// Finds the ends of records in bytes that come in pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splitter {
    delimiter: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// After a quote in a quoted field. The quote ends the field unless another quote follows.
    Quote,
}

/// Place at which a search for the end of a field stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldEnd {
    /// After a delimiter, at this position.
    Field(usize),
    /// After a line feed, at this position.
    Record(usize),
    /// At the end of the bytes.
    End,
}

impl Splitter {
    /// Makes a splitter at the start of a record.
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::FieldStart }
    }

    /// Continues in the record, and returns the position after the line feed that ends it, if `bytes` contain that
    /// line feed. The splitter is then at the start of the next record.
    pub(crate) fn record_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        loop {
            match self.field_end(rest) {
                FieldEnd::Field(end) => (_, rest) = rest.split_at(end),
                FieldEnd::Record(end) => return Some(bytes.len() - rest.len() + end),
                FieldEnd::End => return None,
            }
        }
    }

    /// Reports whether the bytes so far end inside a quoted field.
    pub(crate) fn is_quoted(&self) -> bool {
        self.state == State::Quoted
    }

    /// Continues to the end of the field.
    fn field_end(&mut self, bytes: &[u8]) -> FieldEnd {
        let mut rest = bytes;
        while let Some((&first, behind)) = rest.split_first() {
            match self.state {
                State::FieldStart | State::Quote if first == QUOTE => {
                    self.state = State::Quoted;
                    rest = behind;
                }
                State::FieldStart | State::Plain | State::Quote => {
                    let Some(end) = memchr2(self.delimiter, b'\n', rest) else {
                        self.state = State::Plain;
                        return FieldEnd::End;
                    };
                    self.state = State::FieldStart;
                    let behind = bytes.len() - rest.len() + end + 1;
                    let is_record = rest.get(end) == Some(&b'\n');
                    return if is_record { FieldEnd::Record(behind) } else { FieldEnd::Field(behind) };
                }
                State::Quoted => match memchr(QUOTE, rest) {
                    Some(quote) => {
                        self.state = State::Quote;
                        (_, rest) = rest.split_at(quote + 1);
                    }
                    None => return FieldEnd::End,
                },
            }
        }
        FieldEnd::End
    }
}

/// Returns a record without its line end.
pub(crate) fn without_line_end(record: &[u8]) -> &[u8] {
    let body = record.strip_suffix(b"\n").unwrap_or(record);
    body.strip_suffix(b"\r").unwrap_or(body)
}

/// Iterates over the fields of one record without its line end. Fields keep their quotes.
pub(crate) fn fields(record: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let fields = rest.take()?;
        match Splitter::new(delimiter).field_end(fields) {
            FieldEnd::Field(end) => {
                let (field, after) = fields.split_at(end);
                rest = Some(after);
                Some(field.strip_suffix(&[delimiter]).unwrap_or(field))
            }
            // `Record` cannot occur, because a line feed outside quotes would have ended the record before.
            FieldEnd::Record(_) | FieldEnd::End => Some(fields),
        }
    })
}

/// Returns the content of a field, without the quotes around it.
pub(crate) fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
    let Some(inside) = field.strip_prefix(&[QUOTE]) else { return Cow::Borrowed(field) };
    let plain = inside.strip_suffix(&[QUOTE]).unwrap_or(inside);
    if memchr(QUOTE, plain).is_none() {
        return Cow::Borrowed(plain);
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut rest = inside;
    loop {
        let Some(quote) = memchr(QUOTE, rest) else {
            out.extend_from_slice(rest);
            break;
        };
        let (before, after) = rest.split_at(quote);
        out.extend_from_slice(before);
        match after {
            [QUOTE, QUOTE, more @ ..] => {
                out.push(QUOTE);
                rest = more;
            }
            // The quote closes the field.
            [QUOTE, more @ ..] | more => {
                out.extend_from_slice(more);
                break;
            }
        }
    }
    Cow::Owned(out)
}

/// Writes a field between quotes.
pub(crate) fn push_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(QUOTE);
    for byte in text.bytes() {
        if byte == QUOTE {
            out.push(QUOTE);
        }
        out.push(byte);
    }
    out.push(QUOTE);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits all bytes into records and fields.
    fn split(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut records = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let mut splitter = Splitter::new(delimiter);
            let end = splitter.record_end(rest).unwrap_or(rest.len());
            let (record, after) = rest.split_at(end);
            let body = if splitter.is_quoted() { record } else { without_line_end(record) };
            if !body.is_empty() {
                records.push(fields(body, delimiter).map(|field| unquoted(field).into_owned()).collect());
            }
            rest = after;
        }
        records
    }

    fn oracle(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(bytes);
        let records = reader.byte_records().map(Result::unwrap);
        records.map(|record| record.iter().map(<[u8]>::to_vec).collect()).collect()
    }

    #[test]
    fn records_may_span_lines() {
        let text = b"a,\"b\nc\",d\r\n\"x\"\"y\",,\"\"\nlast,1\"2,\"z\"w";
        let said: Vec<Vec<String>> = split(text, b',')
            .into_iter()
            .map(|record| record.into_iter().map(|field| String::from_utf8(field).unwrap()).collect())
            .collect();
        assert_eq!(said, [vec!["a", "b\nc", "d"], vec!["x\"y", "", ""], vec!["last", "1\"2", "zw"]]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told() {
        let mut splitter = Splitter::new(b',');
        assert_eq!(splitter.record_end(b"a,\"b\nc"), None);
        assert!(splitter.is_quoted());
        assert_eq!(splitter.record_end(b"\"\nnext"), Some(2));
        assert!(!splitter.is_quoted());
    }

    fn delimited() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec!["a", "é", "\"", "\"\"", ",", "\t", "\n", "\r\n", " ", "bc"]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        /// Any bytes are split as the reference splits them. Carriage returns are left out, because the reference
        /// treats them differently: it ends a record at a carriage return that stands alone, and keeps a carriage
        /// return before a quoted line feed.
        #[test]
        fn agrees_with_the_reference(bytes in delimited(), tabs in any::<bool>()) {
            let delimiter = if tabs { b'\t' } else { b',' };
            let bytes: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\r').collect();
            prop_assert_eq!(split(&bytes, delimiter), oracle(&bytes, delimiter));
        }

        #[test]
        fn a_carriage_return_belongs_to_the_line_end(fields in prop::collection::vec("[a\"é, ]{0,4}", 1..5)) {
            let mut lines = Vec::new();
            for end in ["\n", "\r\n"] {
                let mut line = Vec::new();
                for field in &fields {
                    if !line.is_empty() {
                        line.push(b',');
                    }
                    push_quoted(field, &mut line);
                }
                line.extend_from_slice(end.as_bytes());
                lines.push(line);
            }
            prop_assert_eq!(split(&lines[0], b','), split(&lines[1], b','));
            prop_assert_eq!(split(&lines[0], b','), oracle(&lines[0], b','));
        }

        /// A splitter finds the same end of a record wherever the bytes are cut.
        #[test]
        fn cuts_do_not_matter(bytes in delimited(), cut in 0usize..60) {
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut whole = Splitter::new(b',');
            let mut parts = Splitter::new(b',');
            let end = match parts.record_end(first) {
                Some(end) => Some(end),
                None => parts.record_end(second).map(|end| first.len() + end),
            };
            prop_assert_eq!(whole.record_end(&bytes), end);
            prop_assert!(end.is_none_or(|end| bytes[end - 1] == b'\n'));
        }

        #[test]
        fn quoted_texts_are_read_back(text in any::<String>()) {
            let mut out = Vec::new();
            push_quoted(&text, &mut out);
            prop_assert_eq!(&*unquoted(&out), text.as_bytes());
            prop_assert_eq!(fields(&out, b',').count(), 1);
        }
    }
}
