//! Extracts the text of Markdown: all text except the front matter.
//!
//! Markup of emphasis and links stays in the text, because it is only a few characters, and tokens have no
//! punctuation. Offsets in the text are therefore offsets in the file behind the front matter.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{DocumentFormat, Extracted, FileProperties, Refusal, plain};

/// Extracts the text of a Markdown file.
pub(super) fn extract(bytes: &[u8]) -> Result<Extracted, Refusal> {
    let whole = plain::extract(bytes)?;
    let (mut metadata, body) = front_matter(&whole.text);
    let title = metadata.remove("title").or_else(|| first_heading(body));
    let (text, repaired) = (body.to_owned(), whole.repaired);
    Ok(Extracted { title, metadata, repaired, ..Extracted::new(DocumentFormat::Markdown, text) })
}

/// Splits a Markdown text into the text without its front matter, and its properties.
pub(crate) fn body(text: Cow<'_, str>) -> (Cow<'_, str>, FileProperties) {
    let split = |text: &str| {
        let (mut metadata, body) = front_matter(text);
        let title = metadata.remove("title").or_else(|| first_heading(body));
        (text.len() - body.len(), FileProperties { title, metadata, marks: vec![] })
    };
    let (start, about) = split(&text);
    let body = match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    };
    (body, about)
}

/// Splits a text into its front matter and the rest. Front matter is lines of `key: value` between two lines of
/// dashes.
///
/// Only lines with one value are read; lists and nested values are skipped.
fn front_matter(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut metadata = BTreeMap::new();
    let (first, mut rest) = split_line(text);
    if first.trim_end() != "---" {
        return (metadata, text);
    }
    while !rest.is_empty() {
        let (line, behind) = split_line(rest);
        if matches!(line.trim_end(), "---" | "...") {
            return (metadata, behind);
        }
        rest = behind;
        if let Some((key, value)) = line.split_once(':')
            && !key.is_empty()
            && !key.starts_with([' ', '\t', '-', '#'])
            && !value.trim().is_empty()
        {
            metadata.insert(key.trim_end().to_lowercase(), unquoted(value.trim()).to_owned());
        }
    }
    // The first line of dashes is a horizontal rule, because no second line of dashes follows.
    (BTreeMap::new(), text)
}

/// Splits a text into its first line, with its line end, and the text behind that line.
fn split_line(text: &str) -> (&str, &str) {
    text.split_at(text.find('\n').map_or(text.len(), |line_feed| line_feed + 1))
}

fn unquoted(value: &str) -> &str {
    let within = |quote| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

/// Returns the first heading: a line that begins with number signs, or a line above a line of equals signs or dashes.
/// Lines of code are no headings.
fn first_heading(text: &str) -> Option<String> {
    let mut in_code = false;
    let mut above = "";
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with([' ', '\t']) {
            return Some(heading.trim_end_matches('#').trim().to_owned()).filter(|title| !title.is_empty());
        }
        let is_rule = |sign| !line.is_empty() && line.chars().all(|character| character == sign);
        if !above.is_empty() && (is_rule('=') || is_rule('-')) {
            return Some(above.to_owned());
        }
        above = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(text: &str) -> Extracted {
        extract(text.as_bytes()).unwrap()
    }

    #[test]
    fn front_matter_is_metadata_and_not_text() {
        let found = markdown("---\ntitle: \"On roses\"\r\nAuthor: G. S.\ntags:\n  - a: b\n---\nA rose\n");
        assert_eq!(found.text, "A rose\n");
        assert_eq!(found.title.as_deref(), Some("On roses"));
        assert_eq!(found.metadata, BTreeMap::from([("author".to_owned(), "G. S.".to_owned())]));
        let ruler = markdown("---\nno: end\n");
        assert_eq!((ruler.text.as_str(), ruler.metadata.len()), ("---\nno: end\n", 0));
    }

    #[test]
    fn the_title_is_the_first_heading() {
        let title = |text| markdown(text).title;
        assert_eq!(title("text\n\n## One ##\n# Two"), Some("One".to_owned()));
        assert_eq!(title("One\n===\n# Two"), Some("One".to_owned()));
        assert_eq!(title("```\n# comment\n```\n\n---\n# Two"), Some("Two".to_owned()));
        assert_eq!(title("#hashtag\n"), None);
        assert_eq!(markdown("# *One*").text, "# *One*");
    }
}
