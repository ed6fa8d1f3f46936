//! `minwise generate` prints shell completions, manual pages and the reference, all made from the definitions of the
//! options.

mod reference;

use std::path::Path;

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use minwise::figure::counted;
use minwise_corpus::visible;

use crate::Exit;
use crate::args::{Args, Generate, GenerateArgs};
use crate::printer::{CommandError, Failure, Printer};

pub fn run(args: &GenerateArgs, printer: &Printer) -> Result<Exit, Failure> {
    let out = match &args.what {
        Generate::All { folder } => return all(Path::new(folder), printer),
        Generate::Completions { shell } => completions(*shell),
        Generate::Man { subcommand } => man(subcommand)?,
        Generate::Reference => reference::page(&command()).into_bytes(),
    };
    super::print(&out)?;
    Ok(Exit::Done)
}

/// Returns the command with a version that is the same on every machine. The text of `--version` also names the kernel
/// of the processor.
fn command() -> clap::Command {
    let mut command = Args::command().version(env!("CARGO_PKG_VERSION"));
    command.build();
    command
}

fn completions(shell: Shell) -> Vec<u8> {
    let mut out = vec![];
    clap_complete::generate(shell, &mut command(), "minwise", &mut out);
    out
}

/// Returns the manual page of the subcommand that these names lead to: the first is a command, the next its subcommand.
fn man(names: &[String]) -> Result<Vec<u8>, Failure> {
    let mut found = command();
    for name in names.iter().flat_map(|name| name.split([' ', '-'])) {
        let next = found.find_subcommand(name).cloned();
        found = next.ok_or_else(|| {
            let message = format!("there is no subcommand `{}`", names.join(" "));
            CommandError::NoSuchCommand.with(message, Some("`minwise --help` lists them"))
        })?;
    }
    page(found)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut out = vec![];
    // The name of a built command has the names of all levels, such as `minwise index add`.
    let title = command.get_bin_name().unwrap_or("minwise").replace(' ', "-");
    // Without a source, the foot of the page of `minwise index add` would name the program `add 0.1.0`.
    let source = concat!("minwise ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).title(title).source(source).render(&mut out)?;
    Ok(out)
}

/// Writes completions for every shell, and every manual page.
fn all(folder: &Path, printer: &Printer) -> Result<Exit, Failure> {
    let mut files = vec![];
    for shell in Shell::value_variants() {
        let name = clap_complete::Generator::file_name(shell, "minwise");
        files.push((folder.join("completions").join(name), completions(*shell)));
    }
    let mut open = vec![command()];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|command| command.get_name() != "help").cloned());
        let name = command.get_bin_name().unwrap_or("minwise").replace(' ', "-");
        files.push((folder.join("man").join("man1").join(format!("{name}.1")), page(command)?));
    }
    for (path, content) in &files {
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::write(path, content)?;
    }
    let folder = visible(&folder.to_string_lossy()).into_owned();
    printer.note(&format!("wrote       {} to `{folder}`", counted(files.len() as u64, "file")));
    Ok(Exit::Done)
}
