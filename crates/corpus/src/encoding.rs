//! Guesses the encodings of text files.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Returns the encoding that a byte-order mark names, and the bytes behind the mark; `None` without a mark.
pub(crate) fn encoding_by_mark(bytes: &[u8]) -> Option<(&'static encoding_rs::Encoding, &[u8])> {
    let (encoding, mark_bytes) = encoding_rs::Encoding::for_bom(bytes)?;
    // The mark was found in these bytes, so the bytes are at least as long as the mark.
    let (_, marked) = bytes.split_at(mark_bytes);
    Some((encoding, marked))
}

/// Guesses the encoding of bytes that are not UTF-8.
pub(crate) fn guess(bytes: &[u8]) -> &'static encoding_rs::Encoding {
    // ISO-2022-JP is denied, as in browsers for local files, because ASCII with an escape character would be taken
    // for it.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Number of first bytes in which [`utf16_without_mark`] counts NUL bytes.
const UTF16_BYTES: usize = 64 << 10;

/// Returns the encoding of UTF-16 text without a byte-order mark; `None` for any other bytes. At least every fourth
/// character must be in Latin-1, so that one of its two bytes is NUL, and nearly all NUL bytes must be first bytes, or
/// second bytes.
pub(crate) fn utf16_without_mark(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let look = bytes.get(..UTF16_BYTES).unwrap_or(bytes);
    memchr::memchr(0, look)?;
    if encoding_by_mark(look).is_some() {
        return None;
    }
    let (units, _) = look.as_chunks::<2>();
    let nuls = |place: usize| units.iter().filter(|unit| unit[place] == 0).count();
    let (first, second) = (nuls(0), nuls(1));
    let is_utf16 = |more: usize, less: usize| more >= 2 && more * 4 >= units.len() && less * 20 <= more;
    if is_utf16(second, first) {
        Some(UTF_16LE)
    } else if is_utf16(first, second) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// The encoding that a file seems to have, which is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuessedEncoding(&'static str);

impl GuessedEncoding {
    /// Guesses the encoding of bytes; `None` if they are UTF-8, or mostly UTF-8.
    ///
    /// ```
    /// use minwise_corpus::GuessedEncoding;
    ///
    /// assert_eq!(GuessedEncoding::of(b"\xff\xfeh\0i\0").unwrap().name(), "UTF-16");
    /// assert!(GuessedEncoding::of(b"une id\xe9e na\xefve").unwrap().is_latin1());
    /// assert_eq!(GuessedEncoding::of("une id\u{e9}e".as_bytes()), None);
    /// ```
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if let Some((marked, _)) = encoding_by_mark(bytes) {
            return (marked != UTF_8).then_some(Self("UTF-16"));
        }
        if let Some(utf16) = utf16_without_mark(bytes) {
            return Some(Self(utf16.name()));
        }
        let (mut characters, mut invalid) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            characters += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
            invalid += usize::from(!chunk.invalid().is_empty());
        }
        // A file in UTF-8 with a few wrong bytes has more valid characters. In another encoding, nearly no sequence of
        // bytes is a valid character.
        (invalid > characters).then(|| Self(guess(bytes).name()))
    }

    /// Returns the name of the encoding, such as `GBK`, which `iconv` also takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Reports whether `latin-1` reads the encoding.
    #[must_use]
    pub fn is_latin1(self) -> bool {
        self.0 == WINDOWS_1252.name()
    }

    /// Reports whether the encoding is UTF-16.
    #[must_use]
    pub fn is_utf16(self) -> bool {
        self.0.starts_with("UTF-16")
    }

    /// Returns the command that converts a file from the encoding.
    #[must_use]
    pub fn conversion(self) -> String {
        format!("iconv -f {} -t utf-8 FILE > NEW", self.0.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_guessed_as_auto_reads_them() {
        let of = |bytes: &[u8]| GuessedEncoding::of(bytes).map(GuessedEncoding::name);
        let (gbk, _, _) = encoding_rs::GBK.encode("天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。");
        let (sjis, _, _) = encoding_rs::SHIFT_JIS.encode("吾輩は猫である。名前はまだ無い。");
        let (koi8, _, _) = encoding_rs::KOI8_R.encode("Все счастливые семьи похожи друг на друга");
        assert_eq!(of(&gbk), Some("GBK"));
        assert_eq!(of(&sjis), Some("Shift_JIS"));
        assert_eq!(of(&koi8), Some("KOI8-U"), "which has all letters of KOI8-R");
        assert_eq!(of(b"une id\xe9e na\xefve"), Some("windows-1252"));
        assert_eq!(of(b"a\0 \0r\0o\0s\0e\0"), Some("UTF-16LE"));
        assert_eq!(of(b"\xfe\xff\0h\0i"), Some("UTF-16"));
        for none in [&b"plain"[..], "naïve".as_bytes(), b"\xef\xbb\xbfna", b"na\xc3\xafve caf\xc3\xa9s \xff"]
        {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}
