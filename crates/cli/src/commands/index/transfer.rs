//! `minwise index merge`, `export` and `import`.

use std::io::{BufRead, BufReader, BufWriter, Cursor, Read};
use std::path::Path;
use std::thread::available_parallelism;

use minwise::figure::{counted, grouped};
use minwise_corpus::{Format, Output, decompressed, foreign_file, visible};
use minwise_index::{ErrorKind, Index, Texts};

use super::{Interruptible, open};
use crate::Exit;
use crate::args::{IndexExportArgs, IndexImportArgs, IndexMergeArgs};
use crate::commands::overwrite;
use crate::printer::{CommandError, Failure, Printer};

fn threads() -> usize {
    available_parallelism().map_or(1, std::num::NonZero::get)
}

pub fn merge(args: &IndexMergeArgs, printer: &Printer) -> Result<Exit, Failure> {
    super::refuse_no_name(&args.output)?;
    let indexes = args.folders.iter().map(|folder| open(folder)).collect::<Result<Vec<_>, _>>()?;
    // Settings that differ are reported before any archive is created.
    for (other, folder) in indexes.iter().zip(&args.folders).skip(1) {
        indexes[0].settings().compare(other.settings()).map_err(|error| {
            let (code, first) = (error.code(), &args.folders[0]);
            let message = format!("`{first}` and `{folder}` cannot be merged: {error}");
            Failure::Error { code, message, hint: None }
        })?;
    }
    let all: Vec<&Index> = indexes.iter().collect();
    let merge = |new: &Index| new.merge(&all, threads(), &Interruptible);
    let merged = Index::create_with(Path::new(&args.output), indexes[0].settings(), merge);
    let (_, merged) = merged.map_err(|error| match error.kind() {
        ErrorKind::Exists { .. } => {
            let hint = "`minwise index merge` creates a new archive: give `--output` a folder that does not exist or is empty";
            Failure::Error { code: error.code(), message: error.to_string(), hint: Some(hint.to_owned()) }
        }
        _ => error.into(),
    })?;
    printer.note(&format!(
        "merged      {} of {}; {} replaced one with the same id",
        counted(merged.documents, "document"),
        counted(indexes.len() as u64, "archive"),
        grouped(merged.replaced),
    ));
    Ok(Exit::Done)
}

pub fn export(args: &IndexExportArgs, printer: &Printer) -> Result<Exit, Failure> {
    let index = open(&args.folder)?;
    let exported = match args.output.as_deref() {
        None | Some("-") => index.export(&mut BufWriter::new(std::io::stdout().lock()), &Interruptible)?,
        Some(path) => {
            refuse_other_format(path)?;
            let mut output = Output::create(Path::new(path), overwrite(args.force))?;
            let exported = index.export(&mut output, &Interruptible)?;
            output.finish()?;
            exported
        }
    };
    if index.settings().texts == Texts::LeftOut {
        printer.note("note: the archive has no texts, so that only an archive with the same settings can import these lines");
    }
    printer.note(&format!("exported    {}", counted(exported, "document")));
    Ok(Exit::Done)
}

/// Refuses an output whose name belongs to a format other than JSON lines.
fn refuse_other_format(path: &str) -> Result<(), Failure> {
    let expected = foreign_file(path).map(str::to_owned).or_else(|| {
        let format = Format::of_name(path).filter(|format| *format != Format::JSONL)?;
        Some(format!("a {format} file"))
    });
    let Some(expected) = expected else { return Ok(()) };
    let message =
        format!("`{}` has the name of {expected}, but an archive is exported as JSON lines", visible(path));
    let hint = "give it a name that ends in `.jsonl`, or in `.jsonl.gz` to compress it";
    Err(CommandError::BadSetting.with(message, Some(hint)))
}

pub fn import(args: &IndexImportArgs, printer: &Printer) -> Result<Exit, Failure> {
    let lines: Box<dyn BufRead> = if args.input == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let file = minwise_corpus::open_file(Path::new(&args.input), &args.input)?;
        Box::new(BufReader::with_capacity(1 << 20, file))
    };
    let folder = Path::new(&args.folder);
    let (index, imported) = if folder.join("header").exists() {
        // The archive is opened first, because a pipe can wait long before its first byte.
        let index = open(&args.folder)?;
        let mut lines = decompressed(lines, &args.input)?;
        let imported = index.import(&mut lines, threads(), &Interruptible)?;
        (index, imported)
    } else {
        // A pipe cannot be read twice, so the first line is read here for its settings and chained before the rest of
        // the lines.
        let mut lines = decompressed(lines, &args.input)?;
        let mut first = vec![];
        lines.read_until(b'\n', &mut first)?;
        let settings = Index::settings_of_export(&String::from_utf8_lossy(&first))?;
        lines = Box::new(Cursor::new(first).chain(lines));
        Index::create_with(folder, &settings, |new| new.import(&mut lines, threads(), &Interruptible))?
    };
    printer.note(&format!(
        "imported    {}; the archive has {} now",
        counted(imported.documents, "document"),
        counted(index.statistics()?.documents, "document"),
    ));
    Ok(Exit::Done)
}
