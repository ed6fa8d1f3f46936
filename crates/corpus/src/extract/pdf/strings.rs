//! Decodes strings that are written for people: titles, authors, and texts that stand for drawings.

/// Characters of the bytes 0x18 to 0x1f in the encoding of PDF.
const ACCENTS: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];

/// Characters of the bytes 0x80 to 0xa0 in the encoding of PDF. Bytes without a character are U+FFFD.
const SIGNS: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ',
    'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Decodes a string: UTF-16 or UTF-8 if the string begins with a byte order mark, else the encoding of PDF, which is
/// mostly Latin-1.
pub(super) fn decode(bytes: &[u8]) -> String {
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        let (pairs, _) = rest.as_chunks::<2>();
        let units = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
        return char::decode_utf16(units).map(|character| character.unwrap_or('\u{fffd}')).collect();
    }
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(rest).into_owned();
    }
    let character = |byte: &u8| match byte {
        0x18..=0x1f => ACCENTS.get(usize::from(byte - 0x18)).copied().unwrap_or_default(),
        0x80..=0xa0 => SIGNS.get(usize::from(byte - 0x80)).copied().unwrap_or_default(),
        byte => char::from(*byte),
    };
    bytes.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn strings_have_three_encodings() {
        assert_eq!(decode(b"\xfe\xff\x00O\x72\x6b\xd8\x3c\xdf\x39"), "O牫🌹");
        assert_eq!(decode(b"\xfe\xff\xd8\x3c\x00"), "\u{fffd}");
        assert_eq!(decode("\u{feff}né".as_bytes()), "né");
        assert_eq!(decode(b"\x18\x1f\x80\xa0\xe9\x9f"), "˘˜•€é\u{fffd}");
    }
}
