//! Fields and values in the text form of a policy, where a `\` before a separator makes the
//! separator a plain character.

/// The separators in the text form of a policy.
const SEPARATORS: [char; 4] = ['\\', ';', ',', '='];

/// Splits a text at the separators that have no `\` before them. The parts are not decoded yet.
pub(super) fn split(text: &str, separator: char) -> Vec<&str> {
    let mut parts = vec![];
    let mut begin = 0;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if character == separator && !escaped {
            parts.push(&text[begin..at]);
            begin = at + separator.len_utf8();
        }
        escaped = character == '\\' && !escaped;
    }
    parts.push(&text[begin..]);
    parts
}

/// Decodes a part: `\` and the next character stand for this character.
pub(super) fn read(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        match character {
            // A `\` at the end has no next character and stays.
            '\\' => out.push(characters.next().unwrap_or('\\')),
            other => out.push(other),
        }
    }
    out
}

/// Encodes a text so that [`read`] returns it.
pub(super) fn write(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if SEPARATORS.contains(&character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_backslash_takes_the_next_character_as_it_is() {
        assert_eq!(split(r"a,b\,c,\\,d", ','), ["a", r"b\,c", r"\\", "d"]);
        assert_eq!(read(r"b\,c\"), r"b,c\");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_split_nowhere(text in r"[a\\;,=é]{0,12}") {
            let written = write(&text);
            prop_assert_eq!(read(&written), text);
            for separator in [';', ',', '='] {
                prop_assert_eq!(split(&written, separator).len(), 1);
            }
        }
    }
}
