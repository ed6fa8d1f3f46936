//! Finds the encoding of a page.
//!
//! The order is that of browsers: a byte-order mark, then the encoding that the page declares in its first 1024
//! bytes, then a guess from the bytes.

use encoding_rs::Encoding;

use crate::decode::{Decoded, decode_as, decode_by_content};

/// Number of bytes at the beginning of a page that are searched for a declared encoding, as in browsers.
const HEAD_BYTES: usize = 1024;

/// Decodes a page.
pub(in super::super) fn decode(bytes: &[u8]) -> Decoded<'_> {
    if Encoding::for_bom(bytes).is_some() {
        return decode_by_content(bytes);
    }
    match declared(bytes.get(..HEAD_BYTES).unwrap_or(bytes)) {
        Some(encoding) => decode_as(encoding, bytes),
        None => decode_by_content(bytes),
    }
}

/// Returns the encoding that a page declares: `<?xml encoding>`, `<meta charset>`, or `<meta content>` with a
/// `charset` in it.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = head.to_ascii_lowercase();
    let tags = [(&b"<?xml"[..], &b"encoding"[..]), (b"<meta", b"charset")];
    let label = tags.into_iter().find_map(|(tag, key)| {
        memchr::memmem::find_iter(&head, tag).find_map(|at| {
            let rest = head.get(at..)?;
            let tag = rest.get(..memchr::memchr(b'>', rest)?)?;
            value(tag, key)
        })
    })?;
    let encoding = Encoding::for_label(label)?;
    // A declaration that was found as ASCII cannot be in UTF-16, even if it names UTF-16.
    Some(if encoding.is_ascii_compatible() { encoding } else { encoding_rs::UTF_8 })
}

/// Returns the value behind `key=` in a tag, with or without quotes.
fn value<'t>(tag: &'t [u8], key: &[u8]) -> Option<&'t [u8]> {
    memchr::memmem::find_iter(tag, key).find_map(|at| {
        let rest = tag.get(at + key.len()..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
        let rest = if rest.first().is_some_and(is_quote) { rest.get(1..)? } else { rest };
        let ends =
            |byte: &u8| is_quote(byte) || byte.is_ascii_whitespace() || matches!(byte, b';' | b'/' | b'?');
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        rest.get(..end).filter(|label| !label.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        let text = decode(bytes).text.into_owned();
        text.rsplit('>').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_page_says_its_encoding() {
        assert_eq!(text(b"<META Charset = 'windows-1251'>\xcf\xf0\xe8"), "При");
        assert_eq!(
            text(b"<meta http-equiv=Content-Type content=\"text/html; charset=shift_jis\">\x93\xfa"),
            "日"
        );
        assert_eq!(text(b"<?xml version='1.0' encoding='ISO-8859-1'?><p>na\xefve"), "naïve");
        assert_eq!(text("<meta charset=utf-16>naïve".as_bytes()), "naïve");
    }

    #[test]
    fn a_mark_outweighs_it_and_bytes_stand_in_for_it() {
        assert_eq!(text("\u{feff}<meta charset=latin1>naïve".as_bytes()), "naïve");
        assert_eq!(text(b"<p>une id\xe9e na\xefve"), "une idée naïve");
        assert_eq!(text("<meta name=charset content=none>naïve".as_bytes()), "naïve");
        assert_eq!(text("<meta charset=no-such>naïve".as_bytes()), "naïve");
    }
}
