//! Text, numbers and tables of the page, escaped so that no document can change the page.
//!
//! Content of documents passes through [`id`], [`excerpt`] or [`text`], all other strings through [`escape`]. Control
//! characters are shown as escapes, because HTML cannot represent most of them, and because characters that reverse the
//! reading direction could make one text look like another.

pub(super) use minwise::figure::{
    counted, grouped, lower_bound, probability, similarity, size as bytes, subject,
};
use minwise_corpus::{Quotes, escape_html, visible};

/// Number of characters of an id that are shown.
const ID: usize = 80;
/// Number of characters of a text that are shown in a table.
const EXCERPT: usize = 160;
/// Maximum length in characters of a word that is left out whole at the cut. A longer run of characters is cut in the
/// middle.
const WORD: usize = 40;

/// Escapes a string for HTML text and for attribute values in quotation marks.
pub(super) fn escape(text: &str) -> String {
    escape_html(text, Quotes::All)
}

/// Escapes a part of a document and keeps its line breaks and tabs.
pub(super) fn text(part: &str) -> String {
    let mut out = String::with_capacity(part.len() + part.len() / 8);
    // `visible` would show a carriage return before a line end as an escape, so it is dropped.
    for (at, line) in part.replace("\r\n", "\n").split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        for (at, cell) in line.split('\t').enumerate() {
            if at > 0 {
                out.push('\t');
            }
            out += &escape(&visible(cell));
        }
    }
    out
}

/// Returns an id or a file name as HTML: on one line, of bounded length, and isolated from the text direction around
/// it.
pub(super) fn id(name: &str) -> String {
    format!("<bdi>{}</bdi>", escape(&visible(&cut(name, ID))))
}

/// Returns the beginning of a document as HTML, on one line.
pub(super) fn excerpt(document: &str) -> String {
    let beginning: String = document.chars().take(2 * EXCERPT).collect();
    let mut words = beginning.split_whitespace().collect::<Vec<_>>().join(" ");
    if document.len() > beginning.len() {
        words.push('…');
    }
    if words.is_empty() {
        return words;
    }
    format!("<bdi>{}</bdi>", escape(&visible(&cut_at_word(&words, EXCERPT))))
}

/// Cuts a text at the end of a word, with an ellipsis if anything is cut off. A run of more than [`WORD`] characters
/// without a space, as in Chinese, is cut at exactly `most` characters.
fn cut_at_word(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let (kept, rest) = text.split_at(end);
    let space = kept.rfind(' ').filter(|space| kept[*space..].chars().count() <= WORD);
    match space {
        Some(space) if !rest.starts_with(' ') => format!("{} …", &kept[..space]),
        _ if rest.starts_with(' ') => format!("{kept} …"),
        _ => format!("{kept}…"),
    }
}

/// Cuts a text after `most` characters, with an ellipsis if anything is cut off.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Column of a table, with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableColumn {
    /// Column of words.
    Words(&'static str),
    /// Column of numbers, aligned to the right.
    Numbers(&'static str),
}

impl TableColumn {
    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Words(name) => (name, ""),
            Self::Numbers(name) => (name, " class=\"number\""),
        }
    }
}

/// Returns a table as HTML. Its cells must be HTML already, and the first cell of each row is the heading of the row.
///
/// A table of one name and numbers fits a phone screen. A table with more columns of words is shown there with each row
/// as several lines.
pub(super) fn table(caption: &str, columns: &[TableColumn], rows: &[Vec<String>]) -> String {
    let has_words = columns.iter().skip(1).any(|column| matches!(column, TableColumn::Words(_)));
    let mut out = format!(
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table{1}>\n\
         <caption>{0}</caption>\n<thead><tr>",
        escape(caption),
        if has_words { " class=\"words\"" } else { "" }
    );
    for column in columns {
        let (name, class) = column.parts();
        out += &format!("<th scope=\"col\"{class}>{}</th>", escape(name));
    }
    out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        out += "<tr>";
        for (at, (cell, column)) in row.iter().zip(columns).enumerate() {
            let (name, class) = column.parts();
            out += &if at == 0 {
                format!("<th scope=\"row\"{class}>{cell}</th>")
            } else {
                format!("<td{class} data-name=\"{}\">{cell}</td>", escape(name))
            };
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        assert_eq!(escape("<a href='x' id=\"y\">&"), "&lt;a href=&#39;x&#39; id=&quot;y&quot;&gt;&amp;");
        assert_eq!(text("a\tb\r\n<\u{1b}[1m\u{202e}>\u{0}"), "a\tb\n&lt;\\u{1b}[1m\\u{202e}&gt;\\u{0}");
        assert_eq!(id("a\nb</bdi>"), "<bdi>a\\nb&lt;/bdi&gt;</bdi>");
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "é".repeat(10_000);
        assert_eq!(id(&long).chars().count(), ID + "<bdi>…</bdi>".chars().count());
        assert_eq!(excerpt(&long).chars().count(), EXCERPT + "<bdi>…</bdi>".chars().count());
        assert_eq!(excerpt(" one\n\n two "), "<bdi>one two</bdi>");
        for (text, most, beginning) in [
            ("one three seven", 15, "one three seven"),
            ("one three seven", 12, "one three …"),
            ("one three seven", 9, "one three …"),
            ("one three seven", 2, "on…"),
            ("国家统计局", 3, "国家统…"),
        ] {
            assert_eq!(cut_at_word(text, most), beginning);
        }
        let run = format!("a {}", "国".repeat(60));
        assert_eq!(cut_at_word(&run, 50), format!("a {}…", "国".repeat(48)));
        assert_eq!(excerpt(" \n"), "");
        // The text is cut although few words remain, because only the first 320 characters are read, including white
        // space.
        assert_eq!(excerpt(&format!("one{}two", " ".repeat(1000))), "<bdi>one…</bdi>");
    }

    #[test]
    fn a_table_says_what_its_rows_and_columns_are() {
        let table = table(
            "a & b",
            &[TableColumn::Words("x"), TableColumn::Numbers("y")],
            &[vec!["1".into(), "2".into()]],
        );
        for part in [
            "<caption>a &amp; b</caption>",
            "<th scope=\"col\">x</th><th scope=\"col\" class=\"number\">y</th>",
            "<tr><th scope=\"row\">1</th><td class=\"number\" data-name=\"y\">2</td></tr>",
        ] {
            assert!(table.contains(part), "{part} is not in {table}");
        }
    }
}
