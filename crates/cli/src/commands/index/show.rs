//! `minwise index list`, `show` and `stats`.

use std::io::Write;

use minwise::escape_field;
use minwise::figure::{counted, grouped, size};
use minwise_corpus::visible_json;
use minwise_index::{Entry, ErrorKind, IndexSettings, Listing, Texts};
use serde_json::json;

use super::open;
use crate::Exit;
use crate::args::{IndexListArgs, IndexShowArgs, IndexStatsArgs, ListFormat};
use crate::commands::{on_stdout, print};
use crate::interrupt;
use crate::printer::{CommandError, Failure};
use crate::settings::FlagProblems;
use crate::summary::SummaryLines;

/// Number of documents that are read together.
const PAGE: usize = 1000;

pub fn list(args: &IndexListArgs) -> Result<Exit, Failure> {
    let mut problems = FlagProblems::default();
    let limit = args.limit.as_deref().map(|limit| problems.number("--limit", limit, "a whole number"));
    problems.finish()?;
    let index = open(&args.folder)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    // A listing changes nothing, and a reader that waits, such as a pager, would otherwise hold up the end.
    interrupt::set_at_once(true);
    let (mut left, mut after) = (limit.unwrap_or(usize::MAX), None);
    while left > 0 {
        let limit = left.min(PAGE);
        let listing = Listing::new().search(&args.search).after(after).limit(limit).newest_first(args.newest);
        let page = index.list(&listing)?;
        for entry in &page.entries {
            match args.format {
                ListFormat::Text => writeln!(out, "{}", line(entry)),
                ListFormat::Jsonl => writeln!(out, "{}", json_line(serde_json::to_string(entry))?),
            }
            .map_err(on_stdout)?;
        }
        left -= page.entries.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    out.flush().map_err(on_stdout)?;
    Ok(Exit::Done)
}

fn line(entry: &Entry) -> String {
    let title = entry.title.as_deref().map_or(String::new(), |title| format!("\t{}", escape_field(title)));
    format!("{}\t{}{title}", escape_field(&entry.id), entry.characters)
}

/// Returns a JSON line of an entry or document, in the form of the server's API, with control characters escaped for a
/// terminal.
fn json_line(line: serde_json::Result<String>) -> Result<String, Failure> {
    let line = line.map_err(|error| CommandError::Internal.with(error.to_string(), None))?;
    Ok(visible_json(&line).into_owned())
}

pub fn document(args: &IndexShowArgs) -> Result<Exit, Failure> {
    let index = open(&args.folder)?;
    let missing = || minwise_index::Error::from(ErrorKind::NoSuchDocument { id: args.id.clone() });
    let document = index.get(&args.id)?.ok_or_else(missing)?;
    match (args.format, &document.text) {
        (ListFormat::Text, Some(text)) => {
            print(text.as_bytes())?;
            if !text.ends_with('\n') {
                print(b"\n")?;
            }
        }
        (ListFormat::Text, None) => {
            let wanted = "showing a document";
            return Err(minwise_index::Error::from(ErrorKind::NoTexts { wanted }).into());
        }
        (ListFormat::Jsonl, _) => {
            print(format!("{}\n", json_line(serde_json::to_string(&document))?).as_bytes())?;
        }
    }
    Ok(Exit::Done)
}

pub fn stats(args: &IndexStatsArgs) -> Result<Exit, Failure> {
    let index = open(&args.folder)?;
    let statistics = index.statistics()?;
    let text = match args.format {
        ListFormat::Jsonl => {
            let mut object = serde_json::to_value(statistics).unwrap_or_default();
            for (name, value) in index.settings().fields() {
                object[name] = json!(value);
            }
            format!("{object}\n")
        }
        ListFormat::Text => {
            let mut lines = SummaryLines::default();
            let replaced = grouped(statistics.removed);
            lines.line(
                "documents",
                format!(
                    "{}; {replaced} removed or replaced since the last `index compact`",
                    grouped(statistics.documents)
                ),
            );
            let (text, stored) = (size(statistics.text_bytes), size(statistics.stored_text_bytes));
            lines.line("size", format!("{text} of text, {stored} compressed"));
            lines.line("on disk", size(statistics.disk_bytes));
            add_settings(&mut lines, index.settings());
            lines.detail("shingles", format!("{} in all documents", grouped(statistics.shingles)));
            lines.detail("changes", grouped(statistics.changes));
            format!("{lines}\n")
        }
    };
    print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Adds the settings of an archive: first the settings that decide what a check finds, then the technical settings
/// under "Details".
pub fn add_settings(lines: &mut SummaryLines, settings: &IndexSettings) {
    let passage = counted(settings.passage as u64, settings.spec.shingling.unit().noun());
    lines.line("passages", format!("a check finds shared passages of {passage} or more"));
    lines.line("texts", if settings.texts == Texts::Kept { "stored" } else { "not stored" });
    let bits = settings.bits.map_or("all bits".to_owned(), |bits| format!("{bits} bits"));
    let (bands, rows) = (counted(settings.bands as u64, "band"), counted(settings.rows as u64, "row"));
    lines.detail("spec", settings.spec.to_string());
    lines.detail("bands", format!("{bands} of {rows}; {bits} of each register are stored"));
}
