//! The inside of JSON strings, eight bytes at a time.

use crate::scratch::grown;

/// Unescapes a string up to its closing quote. Returns how many bytes were read, the quote included, and
/// written.
pub(crate) fn unescape(string: &[u8], out: &mut Vec<u8>) -> Option<(usize, usize)> {
    // An escape is never shorter than what it stands for; whole blocks are written and then partly written
    // over.
    let out = grown(out, string.len());
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = string.get(read..)?;
        if let (Some(block), Some(target)) = (rest.first_chunk::<8>(), out.get_mut(written..written + 8)) {
            target.copy_from_slice(block);
            let special = special_bytes(u64::from_le_bytes(*block));
            if special == 0 {
                read += 8;
                written += 8;
                continue;
            }
            let plain = special.trailing_zeros() as usize / 8;
            read += plain;
            written += plain;
        }
        match string.get(read)? {
            b'"' => return Some((read + 1, written)),
            b'\\' => {
                let (character, len) = escape(string.get(read + 1..)?)?;
                read += 1 + len;
                written += character.encode_utf8(out.get_mut(written..written + character.len_utf8())?).len();
            }
            0..0x20 => return None,
            byte => {
                *out.get_mut(written)? = *byte;
                read += 1;
                written += 1;
            }
        }
    }
}

/// Unescapes what is there of the inside of a string, which was checked before; returns how many bytes were read. An escape that
/// may go on behind them is left to be read again, unless `is_last` says that nothing comes. Half of a surrogate pair is replaced,
/// and `repaired` set; `None` if it is wrong.
pub(crate) fn unescape_piece(
    piece: &str,
    is_last: bool,
    out: &mut String,
    repaired: &mut bool,
) -> Option<usize> {
    /// Bytes of the longest escape, a surrogate pair.
    const LONGEST: usize = 12;
    let mut read = 0;
    loop {
        let rest = piece.get(read..)?;
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        out.push_str(rest.get(..plain)?);
        read += plain;
        let rest = rest.as_bytes().get(plain..)?;
        if rest.is_empty() || rest.len() < LONGEST && !is_last {
            return Some(read);
        }
        let after = rest.get(1..)?;
        let (character, len) = escape(after).or_else(|| {
            hex(after.strip_prefix(b"u")?.get(..4)?)?;
            *repaired = true;
            Some((char::REPLACEMENT_CHARACTER, 5))
        })?;
        out.push(character);
        read += 1 + len;
    }
}

/// Marks, by the high bit of a byte, the quotes, backslashes and control characters among eight bytes.
///
/// Only the lowest mark is exact: a borrow can mark bytes above it (Mycroft's test for a zero byte).
pub(crate) fn special_bytes(block: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let control = block.wrapping_sub(ONES * 0x20) & !block;
    (control | zero(block ^ (ONES * u64::from(b'"'))) | zero(block ^ (ONES * u64::from(b'\\')))) & (ONES << 7)
}

/// The character an escape stands for and its length without the backslash; `None` for half of a surrogate
/// pair.
fn escape(after: &[u8]) -> Option<(char, usize)> {
    let character = match after.first()? {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b't' => '\t',
        b'r' => '\r',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(after),
        _ => return None,
    };
    Some((character, 1))
}

fn unicode_escape(after: &[u8]) -> Option<(char, usize)> {
    let unit = hex(after.get(1..5)?)?;
    if let Some(character) = char::from_u32(unit) {
        return Some((character, 5));
    }
    let low = hex(after.get(5..11)?.strip_prefix(b"\\u")?)?;
    let pair = [u16::try_from(unit).ok()?, u16::try_from(low).ok()?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 11))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn unescaped(string: &str) -> Option<(usize, String)> {
        let mut out = Vec::new();
        let (read, written) = unescape(string.as_bytes(), &mut out)?;
        Some((read, String::from_utf8(out[..written].to_vec()).unwrap()))
    }

    #[test]
    fn escapes() {
        assert_eq!(unescaped(r#""rest"#), Some((1, String::new())));
        assert_eq!(unescaped(r#"a\n\t\r\b\f\/\\\"z" rest"#).unwrap().1, "a\n\t\r\u{8}\u{c}/\\\"z");
        assert_eq!(unescaped(r#"\u00e9\u20AC\ud83d\ude00""#), Some((25, "é€😀".into())));
        for bad in [
            r#"\x""#,
            r#"\u12""#,
            r#"\u12g4""#,
            r#"\ud83d""#,
            r#"\ude00""#,
            r#"\ud83d\u0041""#,
            "a\nb\"",
            "open",
            "\\",
        ] {
            assert_eq!(unescaped(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_lowest_mark_is_exact() {
        for byte in 0..=255u8 {
            for position in 0..8 {
                let mut block = [b'a'; 8];
                block[position] = byte;
                let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                let marks = special_bytes(u64::from_le_bytes(block));
                assert_eq!(marks != 0, special, "{byte}");
                assert!(!special || marks.trailing_zeros() as usize / 8 == position);
            }
        }
    }

    /// Unescapes a string in windows of so many bytes.
    fn by_pieces(string: &str, window: usize) -> Option<(String, bool)> {
        let (mut out, mut repaired, mut at) = (String::new(), false, 0);
        while at < string.len() {
            let end = string.floor_char_boundary(at + window);
            let read = unescape_piece(&string[at..end], end == string.len(), &mut out, &mut repaired)?;
            assert!(read > 0, "{string} from {at} on");
            at += read;
        }
        Some((out, repaired))
    }

    #[test]
    fn escapes_across_windows() {
        let string = r"a\nb\ud83d\ude00é\ud83d\ud83d\ude00\u00e9\udc00\ud83d\u0041z\ud800";
        let expected = "a\nb😀é\u{fffd}😀é\u{fffd}\u{fffd}Az\u{fffd}";
        for window in 16..80 {
            assert_eq!(by_pieces(string, window), Some((expected.to_owned(), true)));
        }
        assert_eq!(by_pieces("", 12), Some((String::new(), false)));
        for bad in [r"\x", r"\u12", r"\u12g4", r"\"] {
            assert_eq!(by_pieces(bad, 12), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole(string in "([a-zé]|\\\\[nt\"]|\\\\u[0d][08e][0-9a]{2}){0,20}", window in 16usize..40) {
            let quoted = format!("\"{string}\"");
            let value: &RawValue = serde_json::from_str(&quoted).unwrap();
            let (expected, repaired) = crate::container::string_of(value).unwrap();
            prop_assert_eq!(by_pieces(&string, window), Some((expected.into_owned(), repaired)));
        }

        #[test]
        fn agrees_with_serde_json(string in "([a-zé\"\n]|\\\\[nut\"]|\\\\u[0d][08e][0-9a]{2}){0,20}") {
            let quoted = format!("\"{string}\"");
            let expected = serde_json::from_str::<String>(&quoted).ok();
            let found = unescaped(&quoted[1..]).filter(|(read, _)| read + 1 == quoted.len()).map(|(_, text)| text);
            prop_assert_eq!(found, expected);
        }
    }
}
