//! Decodes the bytes of text files.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

use crate::encoding::{encoding_by_mark, guess, utf16_without_mark};
use crate::options::Encoding;
use crate::reject::RejectReason;

/// Byte-order mark of UTF-8, which some editors put before the first character.
pub(crate) const BOM: &str = "\u{feff}";

/// A decoded text, and whether characters had to be replaced by U+FFFD.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded<'b> {
    pub(crate) text: Cow<'b, str>,
    pub(crate) repaired: bool,
}

/// Decodes the bytes of a text file. A leading byte-order mark is not part of the text.
pub(crate) fn decode_text(bytes: &[u8], encoding: Encoding) -> Result<Decoded<'_>, RejectReason> {
    let body = bytes.strip_prefix(BOM.as_bytes()).unwrap_or(bytes);
    match encoding {
        Encoding::Utf8 => match simdutf8::compat::from_utf8(body) {
            // UTF-16 without a mark is valid UTF-8 if its characters are ASCII, each with a NUL byte.
            Ok(_) if utf16_without_mark(bytes).is_some() => Err(RejectReason::Utf16),
            Ok(text) => Ok(Decoded { text: Cow::Borrowed(text), repaired: false }),
            Err(error) => {
                let mark = bytes.len() - body.len();
                Err(RejectReason::InvalidUtf8 { at: (mark + error.valid_up_to()) as u64 })
            }
        },
        Encoding::Latin1 => Ok(decode_as(WINDOWS_1252, body)),
        Encoding::Auto => Ok(match utf16_without_mark(bytes) {
            Some(utf16) => decode_as(utf16, bytes),
            None => decode_by_content(bytes),
        }),
    }
}

/// Decodes by the byte-order mark. Without a mark, decodes as UTF-8 if the bytes are valid UTF-8, else by a guess
/// from the bytes.
pub(crate) fn decode_by_content(bytes: &[u8]) -> Decoded<'_> {
    if let Some((encoding, marked)) = encoding_by_mark(bytes) {
        return decode_as(encoding, marked);
    }
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return Decoded { text: Cow::Borrowed(text), repaired: false };
    }
    decode_as(guess(bytes), bytes)
}

/// Decodes bytes from this encoding, and replaces invalid bytes by U+FFFD.
pub(crate) fn decode_as<'b>(encoding: &'static encoding_rs::Encoding, bytes: &'b [u8]) -> Decoded<'b> {
    let (text, repaired) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, repaired }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(bytes: &[u8], encoding: Encoding) -> (String, bool) {
        let decoded = decode_text(bytes, encoding).unwrap();
        (decoded.text.into_owned(), decoded.repaired)
    }

    #[test]
    fn utf8_is_borrowed_and_loses_its_mark() {
        let decoded = decode_text("\u{feff}naïve".as_bytes(), Encoding::Utf8).unwrap();
        assert!(matches!(decoded.text, Cow::Borrowed("naïve")));
        assert_eq!(text(b"", Encoding::Utf8), (String::new(), false));
    }

    #[test]
    fn invalid_utf8_is_rejected_with_its_byte() {
        assert_eq!(decode_text(b"na\xefve", Encoding::Utf8), Err(RejectReason::InvalidUtf8 { at: 2 }));
        assert_eq!(
            decode_text(b"\xef\xbb\xbfna\xef", Encoding::Utf8),
            Err(RejectReason::InvalidUtf8 { at: 5 })
        );
    }

    #[test]
    fn latin1_is_windows_1252() {
        assert_eq!(text(b"na\xefve \x80 \x93q\x94", Encoding::Latin1), ("naïve € “q”".into(), false));
    }

    #[test]
    fn auto_goes_by_the_mark_then_utf8_then_a_guess() {
        assert_eq!(text(b"\xff\xfeh\0i\0", Encoding::Auto), ("hi".into(), false));
        assert_eq!(text(b"\xfe\xff\0h\0i", Encoding::Auto), ("hi".into(), false));
        assert_eq!(text("\u{feff}naïve".as_bytes(), Encoding::Auto), ("naïve".into(), false));
        assert_eq!(text("naïve".as_bytes(), Encoding::Auto), ("naïve".into(), false));
        assert_eq!(text(b"une id\xe9e na\xefve", Encoding::Auto), ("une idée naïve".into(), false));
        assert_eq!(text(b"\xff\xfeh\0\x00\xd8", Encoding::Auto), ("h\u{fffd}".into(), true));
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    // Such a file was read as the words `h\0e\0r\0o\0n\0s`.
    #[test]
    fn utf16_without_a_mark_is_decoded_or_rejected() {
        let words = "herons nest in the old mill \u{2026}";
        for bytes in [utf16(words, u16::to_le_bytes), utf16(words, u16::to_be_bytes)] {
            assert_eq!(text(&bytes, Encoding::Auto), (words.to_owned(), false));
        }
        let ascii = utf16("herons nest", u16::to_le_bytes);
        assert_eq!(decode_text(&ascii, Encoding::Utf8), Err(RejectReason::Utf16));
        // Programs end texts with a NUL byte, and separate names by NUL bytes.
        for bytes in [&b"herons nest\0\0\0"[..], b"a\0", b"ab\0cde\0fg\0hi\0j\0"] {
            assert!(decode_text(bytes, Encoding::Utf8).is_ok(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for encoding in Encoding::ALL {
                let decoded = decode_text(&bytes, encoding);
                prop_assert!(decoded.is_ok() || encoding == Encoding::Utf8);
            }
        }
    }
}
