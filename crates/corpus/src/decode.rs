//! Decodes the bytes of text files.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::WINDOWS_1252;

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
            Ok(text) => Ok(Decoded { text: Cow::Borrowed(text), repaired: false }),
            Err(error) => {
                let mark = bytes.len() - body.len();
                Err(RejectReason::InvalidUtf8 { at: (mark + error.valid_up_to()) as u64 })
            }
        },
        Encoding::Latin1 => Ok(decode_as(WINDOWS_1252, body)),
        Encoding::Auto => Ok(decode_by_content(bytes)),
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
    // ISO-2022-JP is denied, as in browsers for local files, because ASCII with an escape character would be taken
    // for it.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    decode_as(detector.guess(None, Utf8Detection::Deny), bytes)
}

/// Returns the encoding that a byte-order mark names, and the bytes behind the mark; `None` without a mark.
pub(crate) fn encoding_by_mark(bytes: &[u8]) -> Option<(&'static encoding_rs::Encoding, &[u8])> {
    let (encoding, mark_bytes) = encoding_rs::Encoding::for_bom(bytes)?;
    // The mark was found in these bytes, so the bytes are at least as long as the mark.
    let (_, marked) = bytes.split_at(mark_bytes);
    Some((encoding, marked))
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
