//! `minwise generate`: shell completions and manual pages, made from the options themselves.

use std::io::Write;

use clap::CommandFactory;

use crate::Exit;
use crate::args::{Args, Generate, GenerateArgs};
use crate::printer::{CommandError, Failure};

pub fn run(args: &GenerateArgs) -> Result<Exit, Failure> {
    let mut command = Args::command();
    let mut out = vec![];
    match &args.what {
        Generate::Completions { shell } => {
            clap_complete::generate(*shell, &mut command, "minwise", &mut out);
        }
        Generate::Man { subcommand: None } => clap_mangen::Man::new(command).render(&mut out)?,
        Generate::Man { subcommand: Some(name) } => {
            command.build();
            let found = command.find_subcommand(name).cloned().ok_or_else(|| {
                let message = format!("there is no subcommand `{name}`");
                CommandError::NoSuchCommand.with(message, Some("`minwise --help` lists them"))
            })?;
            clap_mangen::Man::new(found).title(format!("minwise-{name}")).render(&mut out)?;
        }
    }
    std::io::stdout().lock().write_all(&out)?;
    Ok(Exit::Done)
}
