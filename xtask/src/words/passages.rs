//! Finds the texts of a file that people read: comments, docstrings, descriptions and paragraphs of Markdown.

use std::path::Path;

/// Language of a file, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Rust,
    Python,
    /// Files with comments in `/* */`, which may also have comments after `//`: scripts and style sheets.
    JavaScript,
    /// Files with comments after `#`.
    Toml,
    Markdown,
    /// Files whose values of `description` and `summary` are read.
    OpenApi,
}

/// Kind of a passage. Documentation must have whole sentences; other kinds may have fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Documentation,
    Comment,
    Page,
    /// String in the code, such as an error message or the title of a chart.
    Message,
}

/// Paragraph, list item or comment of one or more lines, without its markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Line number of the first line of the passage, from 1.
    pub line: usize,
    pub kind: Kind,
    pub text: String,
}

impl Language {
    /// Returns the language of a file, if its texts are read.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        Some(match path.extension()?.to_str()? {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "mjs" | "ts" | "css" => Self::JavaScript,
            "toml" => Self::Toml,
            "md" => Self::Markdown,
            _ if name == "openapi.json" => Self::OpenApi,
            _ => return None,
        })
    }
}

/// Returns the passages of a file, in the order of their lines.
pub fn of(text: &str, language: Language) -> Vec<Passage> {
    match language {
        Language::Rust | Language::JavaScript => {
            of_slashes(text).into_iter().chain(of_strings(text)).collect()
        }
        Language::Python => of_python(text),
        Language::Toml => of_hashes(text).into_iter().chain(of_values(text)).collect(),
        Language::Markdown => {
            let mut builder = Builder::default();
            for (line, text) in (1..).zip(text.lines()) {
                builder.push(line, Kind::Page, text);
            }
            builder.finish()
        }
        Language::OpenApi => of_descriptions(text),
    }
}

/// Joins lines to passages. A blank line, a list item, a passage of another kind or a gap of lines ends a passage.
#[derive(Default)]
struct Builder {
    passages: Vec<Passage>,
    /// Last line of the passage that is not finished yet.
    last: Option<usize>,
    is_code: bool,
    is_session: bool,
}

impl Builder {
    fn push(&mut self, line: usize, kind: Kind, text: &str) {
        let trimmed = text.trim();
        if trimmed.starts_with("```") {
            self.is_code = !self.is_code;
            self.last = None;
            return;
        }
        // A Python session and its output end at a blank line.
        self.is_session = !trimmed.is_empty() && (self.is_session || trimmed.starts_with(">>> "));
        // Tables, headings, indented code and rules are not sentences.
        let is_indented = self.last.is_none() && text.starts_with("    ");
        let is_mark = trimmed.is_empty() || trimmed.starts_with(['|', '#']) || trimmed.starts_with("---");
        if self.is_code || self.is_session || is_indented || is_mark {
            self.last = None;
            return;
        }
        let item = item(trimmed);
        let follows = self.last.is_some_and(|last| last + 1 == line) && item.is_none();
        let words = item.unwrap_or(trimmed);
        match self.passages.last_mut() {
            Some(passage) if follows && passage.kind == kind => {
                passage.text.push(' ');
                passage.text.push_str(words);
            }
            _ => self.passages.push(Passage { line, kind, text: words.to_owned() }),
        }
        self.last = Some(line);
    }

    fn close(&mut self) {
        self.last = None;
        self.is_session = false;
    }

    fn finish(self) -> Vec<Passage> {
        self.passages
    }
}

/// Returns the text of a list item without its marker and its bold label.
fn item(text: &str) -> Option<&str> {
    let numbered = text.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
    let rest =
        text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")).or(numbered.map(|(_, rest)| rest))?;
    let label = rest.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    Some(label.map_or(rest, |(_, rest)| rest.trim_start_matches(['.', ':', ' '])))
}

/// Reads comments after `//`, `///` and `//!`, and in `/* */`.
fn of_slashes(text: &str) -> Vec<Passage> {
    let mut builder = Builder::default();
    let mut is_block = false;
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim_start();
        if is_block || trimmed.starts_with("/*") {
            let inner = trimmed.trim_start_matches('/').trim_start_matches('*').trim_end_matches("*/");
            builder.push(line, Kind::Comment, inner.strip_prefix(' ').unwrap_or(inner));
            is_block = !trimmed.contains("*/");
        } else if let Some(doc) = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!")) {
            builder.push(line, Kind::Documentation, doc.strip_prefix(' ').unwrap_or(doc));
        } else if let Some(comment) = trimmed.strip_prefix("//") {
            builder.push(line, Kind::Comment, comment.strip_prefix(' ').unwrap_or(comment));
        } else {
            builder.close();
            builder.is_code = false;
            if let Some(at) = trailing(trimmed, "//") {
                builder.push(line, Kind::Comment, &trimmed[at..]);
                builder.close();
            }
        }
    }
    builder.finish()
}

/// Returns the start of the text of a comment at the end of a line of code: after ` // ` outside quotes.
fn trailing(line: &str, marker: &str) -> Option<usize> {
    let marked = format!(" {marker} ");
    let at = line.find(&marked)?;
    let quotes = line[..at].matches('"').count() - line[..at].matches("\\\"").count();
    quotes.is_multiple_of(2).then_some(at + marked.len())
}

/// Reads comments after `#`, and docstrings.
fn of_python(text: &str) -> Vec<Passage> {
    let mut builder = Builder::default();
    let mut docstring = None;
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        if let Some(quotes) = docstring {
            let ends = trimmed.ends_with(quotes);
            builder.push(line, Kind::Comment, trimmed.trim_end_matches(quotes));
            if ends {
                docstring = None;
                builder.close();
            }
            continue;
        }
        let opening = [r#"""""#, r#"r""""#].into_iter().find(|opening| trimmed.starts_with(opening));
        if let Some(opening) = opening {
            let rest = &trimmed[opening.len()..];
            let quotes = r#"""""#;
            builder.push(line, Kind::Comment, rest.trim_end_matches(quotes));
            if rest.ends_with(quotes) {
                builder.close();
            } else {
                docstring = Some(quotes);
            }
        } else if let Some(comment) = trimmed.strip_prefix("# ") {
            builder.push(line, Kind::Comment, comment);
        } else {
            builder.close();
        }
    }
    builder.finish()
}

/// Reads comments after `#` that have a line of their own.
fn of_hashes(text: &str) -> Vec<Passage> {
    let mut builder = Builder::default();
    for (line, text) in (1..).zip(text.lines()) {
        match text.trim_start().strip_prefix("# ") {
            Some(comment) => builder.push(line, Kind::Comment, comment),
            None => builder.close(),
        }
    }
    builder.finish()
}

/// Reads the strings in double quotes in code, line by line. A string continues in the next line after a `\`.
fn of_strings(text: &str) -> Vec<Passage> {
    let mut passages = vec![];
    let mut is_inside = false;
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("//") {
            continue;
        }
        let (text, skipped) = (text.replace("\\\"", "'").replace("'\"'", "' '"), usize::from(!is_inside));
        let parts = text.split('"').skip(skipped).step_by(2);
        passages.extend(parts.map(|part| Passage {
            line,
            kind: Kind::Message,
            text: part.trim().to_owned(),
        }));
        is_inside = text.ends_with('\\');
    }
    passages.retain(|passage| passage.text.contains(' '));
    passages
}

/// Reads the values of TOML, which may go over several lines.
fn of_values(text: &str) -> Vec<Passage> {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim_start().starts_with('#'));
    lines.map(|(line, text)| Passage { line, kind: Kind::Message, text: text.trim().to_owned() }).collect()
}

/// Reads values of `description` and `summary` in JSON with one value per line.
fn of_descriptions(text: &str) -> Vec<Passage> {
    let mut passages = vec![];
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim().trim_end_matches(',');
        let value = ["\"description\": ", "\"summary\": "].iter().find_map(|key| trimmed.strip_prefix(key));
        let Some(value) = value.and_then(|value| serde_json::from_str::<String>(value).ok()) else {
            continue;
        };
        passages.push(Passage { line, kind: Kind::Page, text: value.replace('\n', " ") });
    }
    passages
}

/// Words with a full stop that does not end a sentence.
const ABBREVIATIONS: [&str; 7] = ["e.g.", "i.e.", "etc.", "vs.", "M.-j.", "Fig.", "U.S.A."];

/// Returns the sentences of a passage. A sentence ends with `.`, `?` or `!` before a space and a letter, a digit or
/// code.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = vec![];
    let mut begin = 0;
    let ends = text.char_indices().filter(|&(at, c)| ".?!".contains(c) && text[at + 1..].starts_with(' '));
    for (at, _) in ends {
        let before = &text[..=at];
        let is_short = before.ends_with('.')
            && before[..at]
                .rsplit([' ', '('])
                .next()
                .is_some_and(|word| word.chars().count() == 1 && word != "I");
        let is_code = before.matches('`').count() % 2 == 1;
        if at < begin || is_short || is_code || ABBREVIATIONS.iter().any(|short| before.ends_with(short)) {
            continue;
        }
        sentences.push(text[begin..=at].trim());
        begin = at + 1;
    }
    sentences.push(text[begin..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, language: Language) -> Vec<(usize, String)> {
        of(text, language).into_iter().map(|passage| (passage.line, passage.text)).collect()
    }

    fn owned(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
        expected.iter().map(|&(line, text)| (line, text.to_owned())).collect()
    }

    #[test]
    fn comments_of_rust() {
        let text = "//! A module.\n//! - **Idea.** Two\n//!   lines.\n\nlet a = \"x // y\"; // because\n// One.\n// Two.\nfn a() {}\n\
                    // Three.\n/// ```\n/// code();\n/// ```\n/// | a | table |\n/// Four.\nfn b() {}\n";
        let expected = [
            (1, "A module."),
            (2, "Two lines."),
            (6, "One. Two."),
            (9, "Three."),
            (14, "Four."),
            (5, "x // y"),
        ];
        assert_eq!(texts(text, Language::Rust), owned(&expected));
        assert_eq!(texts("let a = 1; // because\n", Language::Rust), owned(&[(1, "because")]));
        let messages =
            "a(\"one\", \"two of three\", b c);\n// \"no string\"\nd(\"begin and \\\n  its end\", e f);\n";
        let found: Vec<String> = of_strings(messages).into_iter().map(|passage| passage.text).collect();
        assert_eq!(found, ["two of three", "begin and \\", "its end"]);
    }

    #[test]
    fn comments_of_other_languages() {
        let python = "\"\"\"Head.\n\nMore\nlines.\n>>> try:\n...     a. b\n\"\"\"\n# A comment.\nx = 1\n\"\"\"One line.\"\"\"\n";
        let expected = [(1, "Head."), (3, "More lines."), (8, "A comment."), (10, "One line.")];
        assert_eq!(texts(python, Language::Python), owned(&expected));
        let script = "/** Draws\n * a line. */\nlet a; // why\nb(\"of the page\");\n";
        assert_eq!(
            texts(script, Language::JavaScript),
            owned(&[(1, "Draws a line."), (3, "why"), (4, "of the page")])
        );
        let style = "/* Two\n   lines. */\na { color: red; }\n/* Three. */\n";
        assert_eq!(texts(style, Language::JavaScript), owned(&[(1, "Two lines."), (4, "Three.")]));
        let toml = "# A key.\n# More.\na = 'b c'\n";
        assert_eq!(texts(toml, Language::Toml), owned(&[(1, "A key. More."), (3, "a = 'b c'")]));
        let json =
            "{\n  \"description\": \"A text.\",\n  \"summary\": \"Short\",\n  \"type\": \"string\"\n}\n";
        assert_eq!(texts(json, Language::OpenApi), owned(&[(2, "A text."), (3, "Short")]));
    }

    #[test]
    fn paragraphs_of_markdown() {
        let text = "# Head\n\nA paragraph\nof two lines.\n\n- item\n- **Label**: other\n\n    code\n\n```\ncode\n```\n1. first\n";
        let expected = [(3, "A paragraph of two lines."), (6, "item"), (7, "other"), (14, "first")];
        assert_eq!(texts(text, Language::Markdown), owned(&expected));
    }

    #[test]
    fn sentences_end_at_full_stops() {
        let text = "One has `a. b` in it. Two is e.g. short! Is three? J. Smith wrote it. End";
        let expected =
            ["One has `a. b` in it.", "Two is e.g. short!", "Is three?", "J. Smith wrote it.", "End"];
        assert_eq!(sentences(text), expected);
    }
}
