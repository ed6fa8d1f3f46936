//! `minwise index list`, `show` and `stats`.

use std::io::Write;

use minwise::figure::{counted, grouped, size};
use minwise_corpus::{visible, visible_json};
use minwise_index::{Entry, ErrorKind, IndexSettings, Listing, Texts};
use serde_json::json;

use super::open;
use crate::Exit;
use crate::args::{IndexListArgs, IndexShowArgs, IndexStatsArgs, ListFormat};
use crate::printer::{CommandError, Failure};
use crate::settings::FlagProblems;

/// Number of documents that are read together.
const PAGE: usize = 1000;

pub fn list(args: &IndexListArgs) -> Result<Exit, Failure> {
    let mut problems = FlagProblems::default();
    let limit = args.limit.as_deref().map(|limit| problems.number("--limit", limit, "a whole number"));
    problems.finish()?;
    let index = open(&args.folder)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (mut left, mut after) = (limit.unwrap_or(usize::MAX), None);
    while left > 0 {
        let limit = left.min(PAGE);
        let listing = Listing::new().search(&args.search).after(after).limit(limit).newest_first(args.newest);
        let page = index.list(&listing)?;
        for entry in &page.entries {
            match args.format {
                ListFormat::Text => writeln!(out, "{}", line(entry))?,
                ListFormat::Jsonl => writeln!(out, "{}", json_line(serde_json::to_string(entry))?)?,
            }
        }
        left -= page.entries.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn line(entry: &Entry) -> String {
    let title = entry.title.as_deref().map_or(String::new(), |title| format!("\t{}", visible(title)));
    format!("{}\t{}{title}", visible(&entry.id), entry.characters)
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
    let mut out = std::io::stdout().lock();
    match (args.format, &document.text) {
        (ListFormat::Text, Some(text)) => {
            out.write_all(text.as_bytes())?;
            if !text.ends_with('\n') {
                out.write_all(b"\n")?;
            }
        }
        (ListFormat::Text, None) => {
            let wanted = "showing a document";
            return Err(minwise_index::Error::from(ErrorKind::NoTexts { wanted }).into());
        }
        (ListFormat::Jsonl, _) => writeln!(out, "{}", json_line(serde_json::to_string(&document))?)?,
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
        ListFormat::Text => format!(
            "documents   {}; {} removed or replaced since the last `index compact`\n\
             size        {} of text, {} compressed\n\
             shingles    {} in all documents\n\
             on disk     {}\n\
             changes     {}\n\
             {}\n",
            grouped(statistics.documents),
            grouped(statistics.removed),
            size(statistics.text_bytes),
            size(statistics.stored_text_bytes),
            grouped(statistics.shingles),
            size(statistics.disk_bytes),
            grouped(statistics.changes),
            made_with(index.settings()),
        ),
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Returns the settings of an archive in words for people.
pub fn made_with(settings: &IndexSettings) -> String {
    let texts = match settings.texts {
        Texts::Kept => "stored",
        _ => "not stored",
    };
    let bits = settings.bits.map_or("all bits".to_owned(), |bits| format!("{bits} bits"));
    format!(
        "spec        {}\n\
         bands       {} of {}; {bits} of each register are stored\n\
         passages    every shared passage of {} or more is found\n\
         texts       {texts}",
        settings.spec,
        counted(settings.bands as u64, "band"),
        counted(settings.rows as u64, "row"),
        counted(settings.passage as u64, settings.spec.shingling.unit().noun()),
    )
}
