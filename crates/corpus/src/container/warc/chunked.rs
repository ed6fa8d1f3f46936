//! Decodes `Transfer-Encoding: chunked`.
//!
//! ```text
//! 5;extension=x CRLF  hello CRLF  0 CRLF  Trailer: y CRLF  CRLF
//! ```
//!
//! Many archives keep the header and store the body without chunks. A body whose first line is no chunk size is
//! therefore returned as it is. If a body breaks off, the bytes before the break are returned, as a browser shows a
//! page whose connection was lost.

use std::borrow::Cow;

/// Maximum length of a line with a chunk size in bytes, extensions included.
const MAX_LINE_BYTES: usize = 4096;

/// Returns the content of a chunked body, or the body itself if it is not chunked.
pub(crate) fn decode(body: &[u8]) -> Cow<'_, [u8]> {
    if chunk(body).is_none() {
        return Cow::Borrowed(body);
    }
    let mut content = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((bytes, behind)) = chunk(rest) {
        if bytes.is_empty() {
            break;
        }
        content.extend_from_slice(bytes);
        rest = behind;
    }
    Cow::Owned(content)
}

/// Returns the first chunk and the bytes behind it; `None` if there is no chunk size. The last chunk, of size 0, is
/// empty. A chunk that is longer than the body ends with the body.
fn chunk(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let line_end = memchr::memchr(b'\n', body.get(..MAX_LINE_BYTES).unwrap_or(body))?;
    let (line, rest) = body.split_at(line_end);
    let rest = rest.get(1..)?;
    let size = size(line)?;
    let len = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
    let (bytes, rest) = rest.split_at(len);
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    Some((bytes, rest))
}

/// Parses the number before the extensions in a chunk size line. A size of more than 64 bits becomes `u64::MAX`.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    Some(u64::from_str_radix(digits, 16).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunks_extensions_and_trailers() {
        let body = b"5;name=\"x\"\r\nhello\r\n 1 \r\n,\r\n0006 ; y\n world\n0\r\nTrailer: z\r\n\r\n";
        assert_eq!(&*decode(body), b"hello, world");
        assert_eq!(&*decode(b"0\r\n\r\n"), b"");
        assert_eq!(&*decode(b"A\r\n0123456789\r\n0\r\n\r\nafter"), b"0123456789");
    }

    #[test]
    fn a_body_without_chunks_is_itself() {
        for body in [&b"<html>\n"[..], b"", b"5", b"xyz\r\nhello", b"\r\n", b"-5\r\nhello", b";x\r\nhello"] {
            assert_eq!(decode(body), Cow::Borrowed(body));
        }
        let long = [&b"5;"[..], &[b'x'; MAX_LINE_BYTES], b"\r\nhello\r\n"].concat();
        assert_eq!(&*decode(&long), long);
    }

    #[test]
    fn a_body_that_breaks_off_is_taken_up_to_there() {
        assert_eq!(&*decode(b"5\r\nhel"), b"hel");
        assert_eq!(&*decode(b"5\r\nhello\r\nzz\r\nworld\r\n"), b"hello");
        assert_eq!(&*decode(b"5\r\nhello\r\n"), b"hello");
        assert_eq!(&*decode(b"ffffffffffffffff\r\nhello"), b"hello");
        assert_eq!(&*decode(b"fffffffffffffffffffff\r\nhello"), b"hello");
    }

    proptest! {
        #[test]
        fn any_body_is_decoded(body in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&body).len() <= body.len());
        }

        #[test]
        fn written_chunks_are_read_back(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
        ) {
            let mut body = vec![];
            for chunk in &chunks {
                body.extend(format!("{:x}\r\n", chunk.len()).bytes());
                body.extend(chunk);
                body.extend(b"\r\n");
            }
            body.extend(b"0\r\n\r\n");
            prop_assert_eq!(&*decode(&body), &*chunks.concat());
        }
    }
}
