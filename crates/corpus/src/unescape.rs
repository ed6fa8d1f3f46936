//! Resolves the escapes of JSON strings.

/// Unescapes a piece of the inside of a JSON string. The string was checked before. Returns the number of bytes that
/// were read. An escape that may continue in the next piece is not read, unless `is_last` states that there is no next
/// piece. Half of a surrogate pair becomes U+FFFD and sets `repaired`. If an escape is invalid, the result is `None`.
pub(crate) fn unescape_piece(
    piece: &str,
    is_last: bool,
    out: &mut String,
    repaired: &mut bool,
) -> Option<usize> {
    /// Length of the longest escape, a surrogate pair, in bytes.
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

/// Reports whether a string of this JSON has half of a surrogate pair. The JSON was checked before.
pub(crate) fn has_lone_surrogate(json: &str) -> bool {
    let mut rest = json.as_bytes();
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        let after = rest.get(backslash + 1..).unwrap_or_default();
        let Some((_, len)) = escape(after) else { return true };
        rest = after.get(len..).unwrap_or_default();
    }
    false
}

/// Returns the character that an escape stands for, and the length of the escape without the backslash; `None` for
/// half of a surrogate pair.
#[inline]
pub(crate) fn escape(after: &[u8]) -> Option<(char, usize)> {
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

    /// Unescapes a string in windows of `window` bytes.
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

    #[test]
    fn half_a_pair_is_found_in_any_string() {
        for json in [r#"{"a":"\ud800"}"#, r#"{"\udc00":1}"#, r#"["\ud83d\ud83d\ude00"]"#, r#""\\\uDBFF\n""#] {
            assert!(has_lone_surrogate(json), "{json}");
        }
        for json in [r#"{"a":"\ud83d\ude00"}"#, r#""\\ud800""#, r#""\u00e9\"\/""#, "{}", r#""\uD83D\uDE00""#]
        {
            assert!(!has_lone_surrogate(json), "{json}");
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole(string in "([a-zé]|\\\\[nt\"]|\\\\u[0d][08e][0-9a]{2}){0,20}", window in 16usize..40) {
            let quoted = format!("\"{string}\"");
            let value: &RawValue = serde_json::from_str(&quoted).unwrap();
            let (expected, repaired) = crate::container::string_of(value).unwrap();
            prop_assert_eq!(has_lone_surrogate(&quoted), repaired);
            prop_assert_eq!(by_pieces(&string, window), Some((expected.into_owned(), repaired)));
        }
    }
}
