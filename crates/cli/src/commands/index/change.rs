//! `minwise index remove`, `compact` and `check`.

use std::path::Path;

use minwise::figure::{counted, grouped, size};
use minwise_corpus::visible;
use minwise_index::{FindingKind, Index};

use super::{Interruptible, open};
use crate::Exit;
use crate::args::{IndexCheckArgs, IndexFolderArgs, IndexRemoveArgs};
use crate::printer::{Failure, Printer};

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
    index.rewrite(&Interruptible)?;
    let after = open(&args.folder)?.statistics()?.disk_bytes;
    printer.note(&format!("compacted   {} before, {} now", size(before), size(after)));
    Ok(Exit::Done)
}

pub fn check(args: &IndexCheckArgs, printer: &Printer) -> Result<Exit, Failure> {
    let folder = Path::new(&args.folder);
    let checked = if args.repair {
        Index::repair(folder, &Interruptible)?
    } else {
        Index::examine(folder, &Interruptible)?
    };
    let mut out = String::new();
    for finding in &checked.findings {
        let what = visible(&finding.what);
        match &finding.id {
            Some(id) => out.push_str(&format!("`{}`: {what}\n", visible(id))),
            None => out.push_str(&format!("{what}\n")),
        }
    }
    for kind in checked.counts.keys() {
        let unlisted = checked.unlisted(*kind);
        if unlisted > 0 {
            out.push_str(&format!("{}: {}\n", counted(unlisted, "further finding"), about(*kind)));
        }
    }
    crate::commands::print(out.as_bytes())?;
    let looked_at =
        format!("checked     {}, {}", counted(checked.documents, "document"), counted(checked.rows, "row"));
    if checked.found() == 0 {
        printer.note(&format!("{looked_at}; no damage found"));
        return Ok(Exit::Done);
    }
    let repaired = if args.repair {
        let left = open(&args.folder)?.statistics()?.documents;
        let (removed, left) = (counted(checked.taken_out, "damaged document"), grouped(left));
        format!("; repaired: {removed} removed, {left} left")
    } else {
        "; `--repair` removes damaged documents and rebuilds the rest".to_owned()
    };
    printer.note(&format!("{looked_at}; {}{repaired}", counted(checked.found(), "finding")));
    Ok(Exit::Finding)
}

/// Returns the plural noun for further findings of a kind.
fn about(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Acknowledged => "acknowledged changes that are lost",
        FindingKind::Unreadable => "data that cannot be read",
        FindingKind::Row => "rows that were altered",
        FindingKind::Document => "damaged documents",
        FindingKind::Orphan => "rows that belong to no document",
        FindingKind::Postings => "wrong postings",
        FindingKind::Frequencies => "wrong frequencies",
        FindingKind::Counters => "wrong counters",
        _ => "other damage",
    }
}
