//! Distinguishes JSONL from text.

use serde::de::IgnoredAny;

use crate::container::{HEAD_BYTES, LOOK_BYTES};
use crate::decode::BOM;

/// Reports whether the first bytes of a file suffice to know that the file is text.
pub(super) fn cannot_be_jsonl(head: &[u8]) -> bool {
    match without_mark(head).trim_ascii_start().first() {
        Some(first) => *first != b'{',
        None => head.len() < HEAD_BYTES,
    }
}

/// Reports whether a file is JSONL, judged by its first [`LOOK_BYTES`]: the first line that is not blank must be an
/// object.
pub(super) fn is_jsonl(head: &[u8]) -> bool {
    let body = without_mark(head).trim_ascii_start();
    if body.first() != Some(&b'{') {
        return false;
    }
    let line_end = memchr::memchr(b'\n', body);
    let line = line_end.and_then(|end| body.get(..end)).unwrap_or(body);
    match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(_) => true,
        // If the first line is longer than the bytes that were read, the line is taken for an object.
        Err(error) => error.is_eof() && line_end.is_none() && head.len() >= LOOK_BYTES,
    }
}

fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(BOM.as_bytes()).unwrap_or(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content() {
        for jsonl in ["{}", "{\"a\": 1}\nnot json", "\n \r\n{\"a\": 1}", "\u{feff}{\"a\": {}}\r\n"] {
            assert!(!cannot_be_jsonl(jsonl.as_bytes()) && is_jsonl(jsonl.as_bytes()), "{jsonl}");
        }
        for text in
            ["", "  ", "text", "[1]", "{\n  \"a\": 1\n}", "{not json}", "{\"a\": 1} and more\n", "{\"a\""]
        {
            assert!(!is_jsonl(text.as_bytes()), "{text}");
        }
        assert!(cannot_be_jsonl(b"") && cannot_be_jsonl(b"  \n") && cannot_be_jsonl(b"[1]"));
        assert!(!cannot_be_jsonl(&[b' '; HEAD_BYTES]));
    }

    #[test]
    fn a_first_line_longer_than_the_look() {
        let mut head = b"{\"text\": \"".to_vec();
        head.resize(LOOK_BYTES, b'x');
        assert!(is_jsonl(&head));
        head.truncate(LOOK_BYTES - 1);
        assert!(!is_jsonl(&head));
    }
}
