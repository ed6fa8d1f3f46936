//! `minwise index` manages an archive and its documents.

mod add;
mod change;
mod create;
mod show;
mod transfer;

use std::path::Path;

use minwise::Observer;
use minwise_index::Index;

use crate::Exit;
use crate::args::{IndexArgs, IndexCommand};
use crate::interrupt;
use crate::printer::{CommandError, Failure, Printer};

pub fn run(args: &IndexArgs, printer: &Printer) -> Result<Exit, Failure> {
    match &args.what {
        IndexCommand::Create(args) => create::run(args, printer),
        IndexCommand::Add(args) => add::run(args, printer),
        IndexCommand::Remove(args) => change::remove(args, printer),
        IndexCommand::List(args) => show::list(args),
        IndexCommand::Show(args) => show::document(args),
        IndexCommand::Stats(args) => show::stats(args),
        IndexCommand::Check(args) => change::check(args, printer),
        IndexCommand::Compact(args) => change::compact(args, printer),
        IndexCommand::Merge(args) => transfer::merge(args, printer),
        IndexCommand::Export(args) => transfer::export(args, printer),
        IndexCommand::Import(args) => transfer::import(args, printer),
    }
}

fn open(folder: &str) -> Result<Index, Failure> {
    refuse_no_name(folder)?;
    Ok(Index::open(Path::new(folder))?)
}

/// Refuses an empty name of an archive, which a variable of the shell without a value gives.
fn refuse_no_name(folder: &str) -> Result<(), Failure> {
    if !folder.is_empty() {
        return Ok(());
    }
    let hint = "name the folder of the archive, such as `archive`";
    Err(CommandError::BadSetting.with("the name of the archive is empty", Some(hint)))
}

/// Observer that cancels long work after Ctrl-C.
pub struct Interruptible;

impl Observer for Interruptible {
    fn cancelled(&self) -> bool {
        interrupt::asked()
    }
}
