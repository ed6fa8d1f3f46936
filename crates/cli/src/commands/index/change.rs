//! `minwise index remove`, `compact` and `check`.

use std::io::Write;

use minwise_corpus::visible;

use super::{Interruptible, open};
use crate::Exit;
use crate::args::{IndexCheckArgs, IndexFolderArgs, IndexRemoveArgs};
use crate::printer::{Failure, Printer, counted, megabytes};

pub fn remove(args: &IndexRemoveArgs, printer: &Printer) -> Result<Exit, Failure> {
    let index = open(&args.folder)?;
    let ids: Vec<&str> = args.ids.iter().map(String::as_str).collect();
    let removed = index.remove(&ids)?;
    let left = index.statistics()?.documents;
    printer.note(&format!(
        "removed     {}; {} left",
        counted(removed, "document"),
        counted(left, "document")
    ));
    Ok(Exit::Done)
}

pub fn compact(args: &IndexFolderArgs, printer: &Printer) -> Result<Exit, Failure> {
    let index = open(&args.folder)?;
    let before = index.statistics()?.disk_bytes;
    index.compact(&Interruptible)?;
    drop(index);
    // What was replaced leaves the disk when the index is closed.
    let after = open(&args.folder)?.statistics()?.disk_bytes;
    printer.note(&format!("compacted   {} before, {} now", megabytes(before), megabytes(after)));
    Ok(Exit::Done)
}

pub fn check(args: &IndexCheckArgs, printer: &Printer) -> Result<Exit, Failure> {
    let index = open(&args.folder)?;
    let checked = if args.repair { index.repair(&Interruptible)? } else { index.check(&Interruptible)? };
    let mut out = String::new();
    for finding in &checked.findings {
        let what = visible(&finding.what);
        match &finding.id {
            Some(id) => out.push_str(&format!("`{}`: {what}\n", visible(id))),
            None => out.push_str(&format!("{what}\n")),
        }
    }
    std::io::stdout().lock().write_all(out.as_bytes())?;
    let looked_at =
        format!("checked     {}, {}", counted(checked.documents, "document"), counted(checked.rows, "row"));
    if checked.findings.is_empty() {
        printer.note(&format!("{looked_at}; everything is as it was written"));
        return Ok(Exit::Done);
    }
    let left = index.statistics()?.documents;
    let repaired = if args.repair {
        format!("; repaired, with {}", counted(left, "document"))
    } else {
        "; `--repair` takes out what is damaged and makes the rest anew".to_owned()
    };
    printer.note(&format!("{looked_at}; {}{repaired}", counted(checked.findings.len() as u64, "finding")));
    Ok(Exit::Finding)
}
