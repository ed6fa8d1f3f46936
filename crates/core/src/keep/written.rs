//! Names and values in a text form in which a `\` before a separator makes it a plain character.

/// The separators in the text form of a policy.
const SEPARATORS: [char; 4] = ['\\', ';', ',', '='];

/// Returns the parts of a text between separators, not yet decoded.
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

/// Decodes a part: a `\` stands for the character behind it.
pub(super) fn read(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        match character {
            // A `\` at the end has no character behind it and stays.
            '\\' => out.push(characters.next().unwrap_or('\\')),
            other => out.push(other),
        }
    }
    out
}

/// Encodes a text, so that [`read`] returns it.
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
