//! Escapes text, so that it is safe to show.
//!
//! Ids and file names come from data. Printed unescaped, they can move the cursor, clear the screen, reverse the
//! reading direction or break a line of a TSV file. In an HTML page, unescaped ids can be markup. Escaped ids are only
//! text.

use std::borrow::Cow;
use std::fmt::Write;

use crate::figure::grouped;

/// Replaces every control character by a visible escape.
///
/// Tab, line feed, carriage return and the backslash become `\t`, `\n`, `\r` and `\\`. The other C0 and C1 controls,
/// DEL, the separators U+2028 and U+2029 and the bidirectional controls become escapes such as `\u{1b}`. The result can
/// be read back without loss. If there is nothing to escape, the text is returned without a copy.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(needs_escape) else { return Cow::Borrowed(text) };
    let (clean, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(clean);
    for character in rest.chars() {
        match character {
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\\' => escaped.push_str("\\\\"),
            _ if needs_escape(character) => {
                // This write cannot fail, because a `String` accepts every write.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// Returns the text as a field of a TSV file. The field is escaped as by [`escape_control`], and is never a spreadsheet
/// formula.
///
/// Spreadsheets take a cell that begins with `=`, `@`, `+` or `-` for a formula, and a formula can run commands. The
/// first character of such a field is escaped. After `+` and `-`, only fields with a call or a link are formulas, so
/// ids such as `-17` and `-:3` stay unchanged. A leading quotation mark is also escaped.
///
/// ```
/// assert_eq!(minwise::escape_field("=1+1"), "\\u{3d}1+1");
/// assert_eq!(minwise::escape_field("-1+cmd|' /C calc'!A0"), "\\u{2d}1+cmd|' /C calc'!A0");
/// assert_eq!(minwise::escape_field("\"=1+1\""), "\\u{22}=1+1\"");
/// assert_eq!(minwise::escape_field("-17.5"), "-17.5");
/// ```
pub fn escape_field(text: &str) -> Cow<'_, str> {
    let is_formula = match text.as_bytes() {
        // Programs that interpret quotation marks remove the leading one. The rest of the field may then be a formula,
        // or the field may extend over the next lines.
        [b'=' | b'@' | b'"', ..] => true,
        [b'+' | b'-', rest @ ..] => rest.iter().any(|byte| b"(|!=".contains(byte)),
        _ => false,
    };
    let escaped = escape_control(text);
    if !is_formula {
        return escaped;
    }
    let mut field = String::with_capacity(escaped.len() + 8);
    let mut characters = escaped.chars();
    if let Some(first) = characters.next() {
        // This write cannot fail, because a `String` accepts every write.
        let _ = write!(field, "\\u{{{:x}}}", u32::from(first));
    }
    field.push_str(characters.as_str());
    Cow::Owned(field)
}

/// Replaces every control character by a visible escape, and leaves all other characters, including backslashes.
///
/// This form is for messages of this project, whose parts may be escaped already. The escaped text cannot be read back
/// without ambiguity.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe_to_show) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_unsafe_to_show(character) {
            shown.push_str(&escape_control(character.encode_utf8(&mut [0; 4])));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Escapes several lines as [`visible`] does, and keeps their line ends.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Greatest number of characters of a line of a message.
const LINE: usize = 2000;

/// Removes the middle of a line of a message that is longer than 2,000 characters. For example, a line may contain an
/// id of millions of characters.
///
/// ```
/// let line = minwise::shortened(&"x".repeat(30_000_000)).into_owned();
/// assert!(line.len() < 2_100 && line.contains("[29,998,000 characters left out]"));
/// ```
pub fn shortened(line: &str) -> Cow<'_, str> {
    // A string has at most as many characters as bytes, so no count is needed.
    if line.len() <= LINE {
        return Cow::Borrowed(line);
    }
    let characters = line.chars().count();
    if characters <= LINE {
        return Cow::Borrowed(line);
    }
    let at = |character: usize| line.char_indices().nth(character).map_or(line.len(), |(at, _)| at);
    let (head, tail) = (at(LINE * 3 / 4), at(characters - LINE / 4));
    let left_out = grouped((characters - LINE) as u64);
    Cow::Owned(format!("{}… [{left_out} characters left out] …{}", &line[..head], &line[tail..]))
}

/// Greatest number of characters of an id in a message.
const ID: usize = 80;

/// Removes the middle of an id that has more than 80 characters, for a message about several ids.
///
/// ```
/// let id = minwise::shortened_id(&"x".repeat(1000)).into_owned();
/// assert_eq!(id.chars().count(), 80);
/// assert_eq!(minwise::shortened_id("article-17"), "article-17");
/// ```
pub fn shortened_id(id: &str) -> Cow<'_, str> {
    let characters = id.chars().count();
    if characters <= ID {
        return Cow::Borrowed(id);
    }
    let at = |character: usize| id.char_indices().nth(character).map_or(id.len(), |(at, _)| at);
    let (head, tail) = (at(ID * 3 / 4), at(characters + 1 - ID / 4));
    Cow::Owned(format!("{}…{}", &id[..head], &id[tail..]))
}

/// Escapes a JSON text as [`visible`] does, but with JSON escapes, so that its value stays the same.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_unsafe_to_show) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_unsafe_to_show(character) {
            // All these characters have code points below U+10000, so four digits are enough.
            let _ = write!(shown, "\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The set of quotation marks that [`escape_html`] replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quotes {
    /// No quotation marks. The result is safe only between tags.
    None,
    /// `"` only. The result is safe between tags, and in attributes in double quotation marks.
    Double,
    /// `"` and `'`. The result is safe between tags, and in all attributes in quotation marks.
    All,
}

/// Replaces the characters that HTML or XML would interpret as markup. Control characters stay, because a page may
/// contain some of them.
pub fn escape_html(text: &str, quotes: Quotes) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match (character, quotes) {
            ('&', _) => escaped.push_str("&amp;"),
            ('<', _) => escaped.push_str("&lt;"),
            ('>', _) => escaped.push_str("&gt;"),
            ('"', Quotes::Double | Quotes::All) => escaped.push_str("&quot;"),
            ('\'', Quotes::All) => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn needs_escape(character: char) -> bool {
    character == '\\' || is_unsafe_to_show(character) || is_invisible(character)
}

/// Reports whether fonts draw a character as nothing, so that two ids can look the same. Invisible characters are
/// common in texts, so only ids are escaped. Joiners and variation selectors are excluded, because names in Persian,
/// Hindi and Japanese need them.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e00ff}'
    )
}

/// Reports whether a character is a control character, ends a line, or reverses the reading direction.
fn is_unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_escaped_already_is_not_escaped_again() {
        assert_eq!(visible("`a\\u{1b}` and \u{1b}[m"), "`a\\u{1b}` and \\u{1b}[m");
        assert!(matches!(visible(r"C:\x"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"id": "a\u{9b}b\u{202e}\n"});
        let text = value.to_string();
        let shown = visible_json(&text);
        assert!(!shown.contains(is_unsafe_to_show), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn ids_that_look_the_same_are_told_apart() {
        for mark in "\u{ad}\u{61c}\u{180e}\u{200b}\u{200e}\u{200f}\u{2060}\u{3164}\u{feff}\u{e0041}".chars() {
            let expected = format!("a\\u{{{:x}}}b", u32::from(mark));
            assert_eq!(escape_field(&format!("a{mark}b")), expected);
            assert_eq!(visible(&format!("a{mark}b")), format!("a{mark}b"), "texts keep it");
        }
        // The name contains joiners, and a variation selector after a Japanese character.
        let name = "می\u{200c}خواهم क\u{94d}\u{200d}ष 葛\u{e0101}";
        assert_eq!(escape_field(name), name);
    }

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "rfc/rfc3390#p11", "naïve", "文書", "a b"] {
            assert!(matches!(escape_control(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn controls_are_shown() {
        assert_eq!(escape_control("a\tb\nc\rd\\e"), r"a\tb\nc\rd\\e");
        assert_eq!(escape_control("\u{1b}[31m\u{7f}\u{0}\u{85}"), r"\u{1b}[31m\u{7f}\u{0}\u{85}");
        assert_eq!(escape_control("\u{2028}\u{2029}\u{202e}\u{2066}"), r"\u{2028}\u{2029}\u{202e}\u{2066}");
        assert_eq!(escape_control("文\u{202a}書"), r"文\u{202a}書");
    }

    #[test]
    fn text_between_tags_is_no_markup() {
        let text = "<script>1 < 2 && 'a' > \"b\"</script>";
        assert_eq!(
            escape_html(text, Quotes::None),
            "&lt;script&gt;1 &lt; 2 &amp;&amp; 'a' &gt; \"b\"&lt;/script&gt;"
        );
        assert_eq!(escape_html("a &amp; b", Quotes::None), "a &amp;amp; b");
        assert_eq!(escape_html("naïve\n\u{1}", Quotes::All), "naïve\n\u{1}");
    }

    #[test]
    fn an_attribute_does_not_end_early() {
        let text = "\"><img onerror='x'>";
        assert_eq!(escape_html(text, Quotes::Double), "&quot;&gt;&lt;img onerror='x'&gt;");
        assert_eq!(escape_html(text, Quotes::All), "&quot;&gt;&lt;img onerror=&#39;x&#39;&gt;");
    }

    proptest! {
        /// The value that a browser reads from the escaped text is the original text.
        #[test]
        fn pages_show_what_was_escaped(text in any::<String>(), soup in "[<>&\"'#;a-z0-9]{0,20}") {
            for text in [text, soup] {
                let escaped = escape_html(&text, Quotes::All);
                prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
                let mut shown = escaped;
                for (reference, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
                    shown = shown.replace(reference, character);
                }
                prop_assert_eq!(shown, text);
            }
        }

        #[test]
        fn nothing_dangerous_is_left(text in any::<String>()) {
            let escaped = escape_control(&text);
            prop_assert!(!escaped.chars().any(|c| c != '\\' && needs_escape(c)));
        }

        #[test]
        fn different_texts_stay_different(a in "[\\\\tnu{}\t\n1b\u{1b}]{0,6}", b in "[\\\\tnu{}\t\n1b\u{1b}]{0,6}") {
            prop_assert_eq!(a == b, escape_control(&a) == escape_control(&b));
        }
    }
}
