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
    /// Files whose text between the tags is read.
    Html,
    /// Files whose values of `description` and `summary` are read.
    OpenApi,
}

/// Kind of a passage. Documentation and descriptions must have whole sentences; other kinds may have fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Comment of rustdoc or `JSDoc`, or docstring of Python.
    Documentation,
    Comment,
    Page,
    /// Description in the `OpenAPI` document.
    Description,
    /// String in the code, such as an error message or the title of a chart. A text that begins with a space continues
    /// another string.
    Message,
    /// String in a test, or value in TOML.
    Data,
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
            "html" => Self::Html,
            _ if name == "openapi.json" => Self::OpenApi,
            _ => return None,
        })
    }
}

/// Returns the passages of a file, in the order of their lines.
pub fn of(text: &str, language: Language) -> Vec<Passage> {
    match language {
        Language::Rust => of_slashes(text).into_iter().chain(of_strings(text)).collect(),
        Language::JavaScript => of_slashes(text).into_iter().chain(of_scripts(text)).collect(),
        Language::Python => of_python(text),
        Language::Toml => of_hashes(text).into_iter().chain(of_values(text)).collect(),
        Language::Markdown => {
            let mut builder = Builder::default();
            for (line, text) in (1..).zip(text.lines()) {
                builder.push(line, Kind::Page, text);
            }
            builder.finish()
        }
        Language::Html => of_html(text),
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

/// Reads comments after `//`, `///` and `//!`, and in `/* */`. A comment in `/** */` is documentation; its tags, such as
/// `@param`, are left out.
fn of_slashes(text: &str) -> Vec<Passage> {
    let mut builder = Builder::default();
    let mut block = None;
    let mut is_tag = false;
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim_start();
        if block.is_some() || trimmed.starts_with("/*") {
            if block.is_none() {
                is_tag = false;
            }
            let first = if trimmed.starts_with("/**") { Kind::Documentation } else { Kind::Comment };
            let kind = block.unwrap_or(first);
            let inner = trimmed.trim_start_matches('/').trim_start_matches('*').trim_end_matches("*/");
            let (words, tag) =
                inner.split_once(" @").map_or((inner, None), |(words, tag)| (words, Some(tag)));
            if is_tag {
                builder.close();
            } else {
                builder.push(line, kind, words.strip_prefix(' ').unwrap_or(words));
            }
            // A tag may continue in the next lines, up to the end of the comment.
            is_tag |= tag.is_some();
            block = (!trimmed.contains("*/")).then_some(kind);
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

/// Reads comments after `#`, and docstrings. Other strings over several lines are left out.
fn of_python(text: &str) -> Vec<Passage> {
    const QUOTES: &str = r#"""""#;
    let mut builder = Builder::default();
    // Indentation of the open docstring. Indented lines in it are code.
    let mut docstring = None;
    let mut is_string = false;
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        if let Some(indent) = docstring {
            let inner = if text.len() > trimmed.len() { text.get(indent..).unwrap_or(trimmed) } else { text };
            builder.push(line, Kind::Documentation, inner.trim_end().trim_end_matches(QUOTES));
            if trimmed.ends_with(QUOTES) {
                docstring = None;
                builder.close();
            }
            continue;
        }
        let opening = [QUOTES, r#"r""""#].into_iter().find(|opening| trimmed.starts_with(opening));
        if let Some(opening) = opening.filter(|_| !is_string) {
            let rest = &trimmed[opening.len()..];
            builder.push(line, Kind::Documentation, rest.trim_end_matches(QUOTES));
            if rest.ends_with(QUOTES) {
                builder.close();
            } else {
                docstring = Some(text.len() - text.trim_start().len());
            }
            continue;
        }
        is_string ^= trimmed.matches(QUOTES).count() % 2 == 1;
        match trimmed.strip_prefix("# ") {
            Some(comment) if !is_string => builder.push(line, Kind::Comment, comment),
            _ => builder.close(),
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
    let (mut is_inside, mut kind) = (false, Kind::Message);
    for (line, text) in (1..).zip(text.lines()) {
        if text.starts_with("#[cfg(test)]") {
            kind = Kind::Data;
        }
        if text.trim_start().starts_with("//") {
            continue;
        }
        let (text, skipped) = (text.replace("\\\"", "'").replace("'\"'", "' '"), usize::from(!is_inside));
        for (at, part) in text.split('"').skip(skipped).step_by(2).enumerate() {
            let continues = part.starts_with(' ') || at == 0 && is_inside;
            let mark = if continues { " " } else { "" };
            passages.push(Passage { line, kind, text: format!("{mark}{}", part.trim()) });
        }
        is_inside = text.ends_with('\\');
    }
    passages.retain(|passage| passage.text.trim().contains(' '));
    passages
}

/// Reads the strings of a script: in single and double quotes, and templates. An expression in a template is replaced by
/// `{}`.
fn of_scripts(text: &str) -> Vec<Passage> {
    let mut passages = vec![];
    let mut line = 1;
    let mut rest = text;
    // Whether a `/` begins a regular expression: it does unless a value comes before it.
    let mut is_value = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '/' if !is_value => expression_length(rest),
            '\'' | '"' | '`' => {
                let (text, length) = string(rest);
                passages.push(Passage { line, kind: Kind::Message, text });
                length
            }
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() && !rest.starts_with("//") && !rest.starts_with("/*") {
            is_value = first.is_alphanumeric() || "_$)]}'\"`".contains(first);
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    passages.retain(|passage| passage.text.contains(' '));
    passages
}

/// Returns the length of a regular expression of a script, or 1 if the line has no end of it.
fn expression_length(text: &str) -> usize {
    let (mut is_escaped, mut is_class) = (false, false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return 1,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            '/' if !is_class => return at + 1,
            _ => {}
        }
    }
    1
}

/// Returns the text of a string at the beginning of a script, and the length of the string with its quotes.
fn string(script: &str) -> (String, usize) {
    let quote = script.chars().next().unwrap_or_default();
    let mut text = String::new();
    let mut at = quote.len_utf8();
    while let Some(c) = script[at..].chars().next() {
        at += c.len_utf8();
        match c {
            _ if c == quote => break,
            // Only templates may have several lines.
            '\n' if quote != '`' => break,
            '\\' => {
                let escaped = script[at..].chars().next().unwrap_or_default();
                text.push(if escaped == 'n' { '\n' } else { escaped });
                at += escaped.len_utf8();
            }
            '$' if quote == '`' && script[at..].starts_with('{') => {
                text.push_str("{}");
                at += braces_length(&script[at..]);
            }
            _ => text.push(c),
        }
    }
    (text.split_whitespace().collect::<Vec<_>>().join(" "), at)
}

/// Returns the length of an expression in braces, which may contain strings.
fn braces_length(script: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = script[at..].chars().next() {
        at += match c {
            '\'' | '"' | '`' => string(&script[at..]).1,
            _ => c.len_utf8(),
        };
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            _ => {}
        }
    }
    at
}

/// Reads the text between the tags of HTML. Tags within a sentence, such as `<code>`, are left out.
fn of_html(text: &str) -> Vec<Passage> {
    let mut passages = vec![];
    for (line, text) in (1..).zip(text.lines()) {
        let words: String =
            text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
        let text = words.trim().to_owned();
        passages.push(Passage { line, kind: Kind::Message, text });
    }
    passages.retain(|passage| passage.text.contains(' '));
    passages
}

/// Reads the values of TOML, which may go over several lines.
fn of_values(text: &str) -> Vec<Passage> {
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim_start().starts_with('#'));
    lines.map(|(line, text)| Passage { line, kind: Kind::Data, text: text.trim().to_owned() }).collect()
}

/// Reads values of `description` and `summary` in JSON with one value per line.
fn of_descriptions(text: &str) -> Vec<Passage> {
    let mut passages = vec![];
    for (line, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim().trim_end_matches(',');
        let keys = [("\"description\": ", Kind::Description), ("\"summary\": ", Kind::Page)];
        let value = keys.iter().find_map(|(key, kind)| Some((*kind, trimmed.strip_prefix(key)?)));
        let Some((kind, value)) = value else { continue };
        if let Ok(value) = serde_json::from_str::<String>(value) {
            passages.push(Passage { line, kind, text: value.replace('\n', " ") });
        }
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
        assert_eq!(found, ["two of three", "begin and \\", " its end"]);
    }

    #[test]
    fn comments_of_other_languages() {
        let python = "\"\"\"Head.\n\nMore\nlines.\n>>> try:\n...     a. b\n\"\"\"\n# A comment.\nx = \"\"\"\ny = 1\n\"\"\"\n    \"\"\"One line.\n\n        code\n    \"\"\"\n";
        let expected = [(1, "Head."), (3, "More lines."), (8, "A comment."), (12, "One line.")];
        assert_eq!(texts(python, Language::Python), owned(&expected));
        let script = "/** One line. @param {A} a */\n/** Draws\n * a line.\n * @param {Line} line The line,\n *   which is long. */\nlet a; // why\nb(\"of the page\");\n";
        assert_eq!(
            texts(script, Language::JavaScript),
            owned(&[(1, "One line. Draws a line."), (6, "why"), (7, "of the page")])
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
    fn documentation_is_told_from_comments() {
        let kinds = |text, language| -> Vec<Kind> {
            of(text, language).into_iter().map(|passage| passage.kind).collect()
        };
        let python = "\"\"\"Head.\n\nMore.\n\"\"\"\n# A comment.\n";
        assert_eq!(
            kinds(python, Language::Python),
            [Kind::Documentation, Kind::Documentation, Kind::Comment]
        );
        let script = "/** Draws. */\n/* Why. */\nb('of the page');\n";
        assert_eq!(kinds(script, Language::JavaScript), [Kind::Documentation, Kind::Comment, Kind::Message]);
        let json = "\"description\": \"A text.\",\n\"summary\": \"Short\"\n";
        assert_eq!(kinds(json, Language::OpenApi), [Kind::Description, Kind::Page]);
    }

    #[test]
    fn strings_of_scripts() {
        let script = "import 'x';\n// it's a comment\na('one of', \"two's of\", `three ${b ? `in ${'c'}` : {}} of\n  four`);\n\
                      c.replace(/['\"`/]/g, 'it\\'s five'); d = e / 2 / f('six /* of'); /* 'no string' */\n";
        let expected =
            [(3, "one of"), (3, "two's of"), (3, "three {} of four"), (5, "it's five"), (5, "six /* of")];
        let found: Vec<_> =
            of_scripts(script).into_iter().map(|passage| (passage.line, passage.text)).collect();
        assert_eq!(found, owned(&expected));
    }

    #[test]
    fn text_of_html() {
        let html = "<!doctype html>\n<p class=\"x y\">The command <code>check</code> answers.</p>\n<a href=\"/\">Check</a>\n";
        assert_eq!(texts(html, Language::Html), owned(&[(2, "The command check answers.")]));
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
