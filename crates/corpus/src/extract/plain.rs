//! Plain text, as it is.

use super::{DocumentFormat, Extracted, Refusal};
use crate::decode::decode_by_content;

/// The text of plain text.
pub(super) fn extract(bytes: &[u8]) -> Result<Extracted, Refusal> {
    if is_binary(bytes) {
        return Err(UNKNOWN);
    }
    let decoded = decode_by_content(bytes);
    let repaired = decoded.repaired;
    Ok(Extracted { repaired, ..Extracted::new(DocumentFormat::Text, decoded.text.into_owned()) })
}

/// The refusal of what is neither a known kind of file nor text.
pub(crate) const UNKNOWN: Refusal =
    Refusal::Unsupported { what: "neither text nor a kind of document that is read" };

/// Whether bytes are no text in any encoding that people use.
///
/// Nul bytes stand in binary files, in UTF-16, which begins with its mark, and now and then in UTF-8.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
        && encoding_rs::Encoding::for_bom(bytes).is_none()
        && simdutf8::basic::from_utf8(bytes).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_may_hold_nul_bytes_only_where_it_is_text() {
        assert!(is_binary(b"\x7fELF\x02\x01\0\0\xff"));
        for text in [&b"a\0b"[..], b"na\xefve", b"\xff\xfeh\0i\0", b""] {
            assert!(!is_binary(text));
        }
        assert_eq!(extract(b"\xff\xfeh\0i\0").unwrap().text, "hi");
        assert_eq!(extract(b"une id\xe9e na\xefve").unwrap().text, "une idée naïve");
        assert_eq!(extract(b"\x89\0\xff"), Err(UNKNOWN));
    }
}
