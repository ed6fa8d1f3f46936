//! The words, numbers and tables of the page, safe whatever documents hold.
//!
//! What comes from documents passes through [`id`], [`excerpt`] or [`text`], all else through [`escape`]. Control
//! characters are shown as escapes: HTML has no way to write most of them, and those that turn the reading direction
//! round could make a text look like another one.

pub(super) use minwise::figure::{
    counted, grouped, lower_bound, probability, similarity, size as bytes, subject,
};
use minwise_corpus::{Quotes, escape_html, visible};

/// Characters of an id that are shown.
const ID: usize = 80;
/// Characters of a text that are shown in a table.
const EXCERPT: usize = 160;
/// Characters of the longest word that is left out whole.
const WORD: usize = 40;

/// Text as it stands between tags and in quotation marks.
pub(super) fn escape(text: &str) -> String {
    escape_html(text, Quotes::All)
}

/// A part of a document, with its lines and tabs.
pub(super) fn text(part: &str) -> String {
    let mut out = String::with_capacity(part.len() + part.len() / 8);
    // A carriage return before a line end is no more to be seen than the line end.
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

/// The id of a document, or the name of a file: in one line, not too long, and in a direction of its own.
pub(super) fn id(name: &str) -> String {
    format!("<bdi>{}</bdi>", escape(&visible(&cut(name, ID))))
}

/// How a document begins, in one line.
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

/// The beginning of a text up to the end of a word, with an ellipsis if that is not all. A run of more than [`WORD`] characters
/// without a space, as Chinese is written, is cut where it has to be.
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

/// The beginning of a text, with an ellipsis if that is not all.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableColumn {
    /// Words.
    Words(&'static str),
    /// Numbers, which stand below one another.
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

/// A table. Its cells are HTML already; the first of a row is what the row is about.
///
/// Numbers beside a name fit on a telephone; with more words than that, a row is a few lines there.
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
        // White space that is left out is part of what was looked at.
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
