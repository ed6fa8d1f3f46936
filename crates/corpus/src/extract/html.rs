//! Extracts the text of HTML from its tokens.
//!
//! No tree is needed: the text follows from the elements that begin a new line, the elements that hold no text, and
//! the characters with their references resolved. The tokeniser works like that of a browser, so it reads any broken
//! markup, and without a tree nothing can be nested too deep. If a tag has very many attributes, the tokeniser gets
//! only the first (`tags`), because its time would grow with the square of their number.

mod encoding;
mod tags;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

pub(super) use self::encoding::decode;
use self::tags::{MOST_ATTRIBUTES, Told};
use super::writing::TextWriter;
use super::{DocumentFormat, ExtractLimits, Extracted, Refusal};
use crate::decode::Decoded;

/// Elements that end a line, before and after them.
const BLOCKS: [&str; 52] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "tr",
    "ul",
];

/// Elements whose content is not text of the page, and in which a browser that runs scripts recognises no markup.
const SILENT: [&str; 6] = ["iframe", "noembed", "noframes", "noscript", "script", "style"];

/// Names of the `<meta>` elements that are read, each with the key of its property.
const METADATA: [(&str, &str); 7] = [
    ("author", "author"),
    ("dc.creator", "author"),
    ("description", "description"),
    ("keywords", "keywords"),
    ("dc.subject", "subject"),
    ("dcterms.created", "created"),
    ("dcterms.modified", "modified"),
];

/// Extracts the text of an HTML file.
pub(super) fn extract(bytes: &[u8], limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    extract_decoded(&decode(bytes), limits)
}

/// Extracts the text of an HTML file that is already decoded.
pub(super) fn extract_decoded(decoded: &Decoded<'_>, limits: &ExtractLimits) -> Result<Extracted, Refusal> {
    let mut writing = TextWriter::new(limits);
    let head = write(&decoded.text, &mut writing);
    let (text, marks) = writing.finish()?;
    let HtmlHead { title, metadata } = head;
    let repaired = decoded.repaired;
    Ok(Extracted { title, metadata, marks, repaired, ..Extracted::new(DocumentFormat::Html, text) })
}

/// Properties in the head of a page.
pub(super) struct HtmlHead {
    pub(super) title: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
}

/// Writes the text of a page, and returns the properties in its head.
pub(super) fn write(page: &str, writing: &mut TextWriter<'_>) -> HtmlHead {
    let reader = RefCell::new(HtmlReader {
        writing,
        title: String::new(),
        metadata: BTreeMap::new(),
        within: Within::Text,
        templates: 0,
        preformatted: 0,
    });
    // The byte-order mark is removed below, because the tokeniser would look for a mark at the beginning of every
    // piece of the page.
    let options = TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() };
    let tokenizer = Tokenizer::new(Sink { reader, told: Cell::new(false) }, options);
    tags::feed(&tokenizer, page.strip_prefix('\u{feff}').unwrap_or(page), MOST_ATTRIBUTES);
    tokenizer.end();
    let HtmlReader { title, metadata, .. } = tokenizer.sink.reader.into_inner();
    let title = title.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    HtmlHead { title: Some(title).filter(|title| !title.is_empty()), metadata }
}

/// The sink of the tokeniser. Its fields are cells, because the tokeniser calls the sink through a shared reference.
struct Sink<'w, 'l> {
    reader: RefCell<HtmlReader<'w, 'l>>,
    told: Cell<bool>,
}

impl Told for Sink<'_, '_> {
    fn told(&self) -> &Cell<bool> {
        &self.told
    }
}

struct HtmlReader<'w, 'l> {
    writing: &'w mut TextWriter<'l>,
    title: String,
    metadata: BTreeMap<String, String>,
    within: Within,
    /// Number of open `<template>` elements, whose content is not shown.
    templates: usize,
    /// Number of open `<pre>` and `<textarea>` elements, whose white space is kept.
    preformatted: usize,
}

/// Kind of the element that the characters belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    Title,
    Silence,
}

impl TokenSink for Sink<'_, '_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if !matches!(token, Token::ParseError(_)) {
            self.told.set(true);
        }
        let mut reader = self.reader.borrow_mut();
        match token {
            Token::TagToken(tag) => reader.tag(&tag),
            Token::CharacterTokens(characters) => {
                reader.characters(&characters);
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

impl HtmlReader<'_, '_> {
    fn characters(&mut self, characters: &str) {
        match self.within {
            Within::Title => self.title.push_str(characters),
            Within::Text if self.templates > 0 => {}
            Within::Text if self.preformatted > 0 => self.writing.push(characters),
            Within::Text => self.writing.push_flowing(characters),
            Within::Silence => {}
        }
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        let opens = tag.kind == TagKind::StartTag;
        // Within a title or a script, the tokeniser reports only the tag that ends it. Any tag therefore means that
        // the element has ended.
        self.within = Within::Text;
        if self.templates == 0 && BLOCKS.contains(&name) {
            self.writing.end_line();
        }
        let count = |open: usize| if opens { open + 1 } else { open.saturating_sub(1) };
        match name {
            "template" => self.templates = count(self.templates),
            "pre" | "textarea" => self.preformatted = count(self.preformatted),
            _ => {}
        }
        if !opens {
            return TokenSinkResult::Continue;
        }
        match name {
            "html" => self.remember("language", attribute(tag, "lang").or(attribute(tag, "xml:lang"))),
            "meta" => {
                let known = attribute(tag, "name")
                    .and_then(|name| METADATA.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)));
                if let Some((_, key)) = known {
                    self.remember(key, attribute(tag, "content"));
                }
            }
            "title" if self.title.is_empty() && !tag.self_closing => {
                self.within = Within::Title;
                return TokenSinkResult::RawData(RawKind::Rcdata);
            }
            // A self-closing element of XHTML has no content. A browser that reads the page as HTML would ignore the
            // slash.
            _ if SILENT.contains(&name) && !tag.self_closing => {
                self.within = Within::Silence;
                let kind = if name == "script" { RawKind::ScriptData } else { RawKind::Rawtext };
                return TokenSinkResult::RawData(kind);
            }
            "textarea" => return TokenSinkResult::RawData(RawKind::Rcdata),
            "plaintext" => return TokenSinkResult::Plaintext,
            _ => {}
        }
        TokenSinkResult::Continue
    }

    /// Keeps a property, unless an earlier element gave it a value.
    fn remember(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) {
            self.metadata.entry(key.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(page: &str) -> Extracted {
        extract(page.as_bytes(), &ExtractLimits::default()).unwrap()
    }

    #[test]
    fn blocks_break_lines_and_inline_elements_do_not() {
        assert_eq!(html("<h1>A <em>ro</em>se</h1>is<br>a\n <b>rose</b>").text, "A rose\nis\na rose\n");
        assert_eq!(html("<table><tr><td>a<td>b<tr><td>c</table>").text, "a\nb\nc\n");
        assert_eq!(html("<ul><li>a<li>b</ul>c").text, "a\nb\nc\n");
        assert_eq!(html("a<pre>\n  b\n c</pre>d").text, "a\n\n  b\n c\nd\n");
    }

    #[test]
    fn references_are_resolved() {
        assert_eq!(
            html("caf&eacute; &lt;3 &#x4e2d;&#25991; &amp;amp; &bogus;").text,
            "café <3 中文 &amp; &bogus;\n"
        );
    }

    #[test]
    fn hidden_elements_are_not_text() {
        let page = "a<script>if (1 < 2) { '<p>' }</script><style>p {}</style><noscript><p>b</noscript>\
                    <template><p>c<template>d</template>e</template><!-- f --><iframe>g</iframe>h";
        assert_eq!(html(page).text, "ah\n");
        assert_eq!(html("a<script src='x'/>b").text, "ab\n");
        assert_eq!(html("a<script>never closed").text, "a\n");
    }

    #[test]
    fn the_head_is_metadata() {
        let found = html(
            "<html lang=de><head><title> On\n roses &amp; more</title>\
             <meta name=Author content='G. S.'><meta name=author content=other><meta name=x content=y>\
             <body><svg><title>icon</title></svg>text",
        );
        assert_eq!(found.title.as_deref(), Some("On roses & more"));
        let expected = [("author", "G. S."), ("language", "de")];
        assert_eq!(found.metadata.iter().map(|(k, v)| (&**k, &**v)).collect::<Vec<_>>(), expected);
        assert_eq!(found.text, "icontext\n");
    }

    #[test]
    fn nesting_costs_nothing() {
        let page = format!("{}deep{}", "<div>".repeat(200_000), "</div>".repeat(200_000));
        assert_eq!(html(&page).text, "deep\n");
    }
}
