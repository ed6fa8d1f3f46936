//! Removes markup from a text.
//!
//! This module serves records with stray HTML or XML. It removes tags and comments, and removes `script` and `style`
//! elements with their content. It turns a tag that ends a block into a line break, and decodes common character
//! references. It is not a parser of whole HTML documents and never fails: characters that are not markup stay text.

use super::origin::Track;

/// Elements that do not end a line. Every other tag separates the text before it from the text after it.
const INLINE: [&str; 30] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var",
    "wbr",
];

/// Elements that are removed together with their content.
const HIDDEN: [&str; 2] = ["script", "style"];

/// Appends `source` to `out` without its markup.
pub(super) fn strip_into<T: Track>(source: &str, out: &mut String, track: &mut T) {
    let mut at = 0;
    while let Some(found) = source[at..].find(['<', '&']) {
        let start = at + found;
        track.mark(out.len(), at);
        out.push_str(&source[at..start]);
        track.mark(out.len(), start);
        let rest = &source[start..];
        at = if rest.starts_with('&') {
            match reference(rest) {
                Some((c, len)) => {
                    out.push(c);
                    track.mark(out.len(), start + len);
                    start + len
                }
                None => keep_one(source, start, out, track),
            }
        } else {
            match tag(rest) {
                Some(MarkupTag { len, separates }) => {
                    if separates {
                        out.push('\n');
                    }
                    start + len
                }
                None => keep_one(source, start, out, track),
            }
        };
    }
    track.mark(out.len(), at);
    out.push_str(&source[at..]);
}

/// Appends the ASCII character at `start`, which is text and not markup. Returns the position after it.
fn keep_one<T: Track>(source: &str, start: usize, out: &mut String, track: &mut T) -> usize {
    out.push_str(&source[start..=start]);
    track.mark(out.len(), start + 1);
    start + 1
}

struct MarkupTag {
    len: usize,
    separates: bool,
}

/// Returns the tag, comment or declaration at the beginning of `rest`.
fn tag(rest: &str) -> Option<MarkupTag> {
    if let Some(comment) = rest.strip_prefix("<!--") {
        let len = comment.find("-->").map_or(rest.len(), |end| 4 + end + 3);
        return Some(MarkupTag { len, separates: false });
    }
    let after = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
    if !after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
        return None;
    }
    let name_len = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
    let name = after[..name_len].to_ascii_lowercase();
    let len = tag_len(rest)?;
    let separates = !name.is_empty() && !INLINE.contains(&name.as_str());
    if HIDDEN.contains(&name.as_str()) && !rest.starts_with("</") && !rest[..len].ends_with("/>") {
        return Some(MarkupTag { len: len + hidden_len(&rest[len..], &name), separates });
    }
    Some(MarkupTag { len, separates })
}

/// Returns the length of a tag, up to and including its `>`. A `>` inside quotes does not end the tag.
fn tag_len(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            // If a second `<` follows, the first `<` was text: `a < b and c <d>`.
            (None, b'<') if at > 0 => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the length of the content and the end tag of a hidden element. The begin tag of the element is before
/// `rest`.
fn hidden_len(rest: &str, name: &str) -> usize {
    let mut at = 0;
    while let Some(found) = rest[at..].find("</") {
        let start = at + found;
        let after = &rest[start + 2..];
        if after.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name)) {
            return start + 2 + after.find('>').map_or(after.len(), |end| end + 1);
        }
        at = start + 2;
    }
    rest.len()
}

/// Decodes the character reference at the beginning of `rest`. Returns the character and the length of the reference.
fn reference(rest: &str) -> Option<(char, usize)> {
    let end = rest.bytes().take(12).position(|byte| byte == b';')?;
    let name = rest.get(1..end)?;
    let c = if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(code).filter(|&c| c != '\0')?
    } else {
        NAMED.iter().find(|(known, _)| *known == name)?.1
    };
    Some((c, end + 1))
}

/// References that are common in real pages. The letters are those of Latin-1.
#[rustfmt::skip]
const NAMED: [(&str, char); 82] = [
    ("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", '\u{a0}'),
    ("ndash", '–'), ("mdash", '—'), ("lsquo", '‘'), ("rsquo", '’'), ("ldquo", '“'), ("rdquo", '”'),
    ("hellip", '…'), ("bull", '•'), ("middot", '·'), ("copy", '©'), ("reg", '®'), ("trade", '™'),
    ("euro", '€'), ("pound", '£'), ("deg", '°'), ("sect", '§'), ("para", '¶'), ("laquo", '«'), ("raquo", '»'),
    ("times", '×'), ("shy", '\u{ad}'), ("iexcl", '¡'), ("iquest", '¿'),
    ("Agrave", 'À'), ("Aacute", 'Á'), ("Acirc", 'Â'), ("Atilde", 'Ã'), ("Auml", 'Ä'), ("Aring", 'Å'),
    ("AElig", 'Æ'), ("Ccedil", 'Ç'), ("Egrave", 'È'), ("Eacute", 'É'), ("Ecirc", 'Ê'), ("Euml", 'Ë'),
    ("Iacute", 'Í'), ("Icirc", 'Î'), ("Ntilde", 'Ñ'), ("Oacute", 'Ó'), ("Ocirc", 'Ô'), ("Otilde", 'Õ'),
    ("Ouml", 'Ö'), ("Oslash", 'Ø'), ("Uacute", 'Ú'), ("Ucirc", 'Û'), ("Uuml", 'Ü'), ("szlig", 'ß'),
    ("agrave", 'à'), ("aacute", 'á'), ("acirc", 'â'), ("atilde", 'ã'), ("auml", 'ä'), ("aring", 'å'),
    ("aelig", 'æ'), ("ccedil", 'ç'), ("egrave", 'è'), ("eacute", 'é'), ("ecirc", 'ê'), ("euml", 'ë'),
    ("igrave", 'ì'), ("iacute", 'í'), ("icirc", 'î'), ("iuml", 'ï'), ("ntilde", 'ñ'), ("ograve", 'ò'),
    ("oacute", 'ó'), ("ocirc", 'ô'), ("otilde", 'õ'), ("ouml", 'ö'), ("oslash", 'ø'), ("ugrave", 'ù'),
    ("uacute", 'ú'), ("ucirc", 'û'), ("uuml", 'ü'), ("yacute", 'ý'), ("yuml", 'ÿ'),
];

#[cfg(test)]
mod tests {
    use super::super::origin::Untracked;
    use super::*;
    use proptest::prelude::*;

    fn strip(source: &str) -> String {
        let mut out = String::new();
        strip_into(source, &mut out, &mut Untracked);
        out
    }

    #[test]
    fn tags_go_and_blocks_separate() {
        assert_eq!(strip("<p class='a>b'>one</p><p>t<b>w</b>o<br/>three"), "\none\n\ntwo\nthree");
    }

    #[test]
    fn comments_scripts_and_styles_go_with_their_content() {
        assert_eq!(strip("a<!-- <p>x</p> -->b"), "ab");
        assert_eq!(strip("a<script type=x>if (1 < 2) \"</p>\"</SCRIPT >b"), "a\nb");
        assert_eq!(strip("a<style>p{}</style>b"), "a\nb");
        assert_eq!(strip("a<script>never closed"), "a\n");
    }

    #[test]
    fn what_is_not_markup_stays() {
        for text in
            ["a < b && c > d", "1<2", "x <- y", "if a<b and c<d", "<", "&", "&unknown;", "&#xd800;", "<a"]
        {
            assert_eq!(strip(text), text);
        }
    }

    #[test]
    fn references_are_decoded() {
        assert_eq!(strip("&lt;p&gt; caf&eacute; &#169; &#x4e2d;&amp;amp;"), "<p> café © 中&amp;");
    }

    proptest! {
        #[test]
        fn any_text_is_stripped_without_trouble(source in any::<String>()) {
            strip(&source);
        }

        #[test]
        fn so_is_any_soup(source in "(<|>|/|!--|-->|script|&|amp;|#x41;|\"|'|é| |p){0,20}") {
            let stripped = strip(&source);
            prop_assert!(stripped.len() <= source.len() + 1);
        }
    }
}
