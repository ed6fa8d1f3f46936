//! Parses named headers, whose form WARC took from HTTP: `Name: value`, one per line.
//!
//! The parser accepts every form that crawlers write: lines that end in LF or CRLF, values that continue on a line
//! which begins with white space, and values in UTF-8 or Latin-1. Lines without a colon are ignored, because a stray
//! line must not lose a record.

/// Headers of a record or of an HTTP response, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headers {
    fields: Vec<(String, String)>,
}

impl Headers {
    /// Parses the lines behind the first line of a head. A blank line ends the headers.
    pub(crate) fn parse(lines: &[u8]) -> Self {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in lines.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                if let Some((_, value)) = fields.last_mut() {
                    let more = decode(line.trim_ascii());
                    if !value.is_empty() && !more.is_empty() {
                        value.push(' ');
                    }
                    value.push_str(&more);
                }
                continue;
            }
            if let Some(colon) = memchr::memchr(b':', line) {
                let (name, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                fields.push((decode(name.trim_ascii()), decode(value.trim_ascii())));
            }
        }
        Self { fields }
    }

    /// Returns the first value of a header. Names are compared without case.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all values of a header that may be repeated.
    pub(crate) fn all<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h str> {
        self.fields
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Returns all names and values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Decodes bytes as UTF-8 if they are valid, else as Latin-1, in which every byte is a character.
fn decode(bytes: &[u8]) -> String {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_have_no_case_and_first_values_count() {
        let headers = Headers::parse(b"WARC-Type: response\r\nX:1\r\nx: 2\r\n\r\nbody: no");
        assert_eq!(headers.get("warc-TYPE"), Some("response"));
        assert_eq!(headers.get("X"), Some("1"));
        assert_eq!(headers.all("x").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(headers.get("body"), None);
        assert_eq!(headers.iter().count(), 3);
    }

    #[test]
    fn lines_may_end_in_lf_and_be_folded() {
        let headers = Headers::parse(b" lost\nA: one\n  two\n\t\n\tthree\nno colon\nB:\n folded\n");
        assert_eq!(headers.get("a"), Some("one two three"));
        assert_eq!(headers.get("b"), Some("folded"));
        assert_eq!(headers.iter().count(), 2);
    }

    #[test]
    fn values_are_utf8_or_latin1() {
        let headers = Headers::parse(b"A: na\xc3\xafve\nB: na\xefve\n");
        assert_eq!(headers.get("a"), Some("naïve"));
        assert_eq!(headers.get("b"), Some("naïve"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let headers = Headers::parse(&bytes);
            prop_assert!(headers.iter().count() <= bytes.len());
        }
    }
}
