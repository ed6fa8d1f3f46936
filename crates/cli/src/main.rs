//! The `minwise` command: it parses, calls the engine and prints.

mod args;
mod commands;
mod exit;
mod interrupt;
mod printer;
mod progress;
mod settings;
mod shell;
mod spell;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command, OutputOptions};
use crate::exit::Exit;
use crate::printer::{Failure, Printer};

/// The system allocator keeps memory that was freed by another thread for long; this one gives it back, which the
/// bounds on memory rely on, and is faster where many small sets come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => match commands::lab::moved(&error) {
            Some(failure) => {
                Printer::new(OutputOptions::default()).failure(&failure);
                return ExitCode::from(Exit::Error as u8);
            }
            None => return usage(&error),
        },
    };
    interrupt::listen();
    let printer = Printer::new(args.command.output_options());
    let result = match &args.command {
        Command::Dedup(args) => commands::dedup::run(args, &printer),
        Command::Pairs(args) => commands::pairs::run(args, &printer),
        Command::Compare(args) => commands::compare::run(args, &printer),
        Command::Sketch(args) => commands::sketch::run(args, &printer),
        Command::Weights(args) => commands::weights::run(args, &printer),
        Command::Estimate(args) => commands::estimate::run(args, &printer),
        Command::Index(args) => commands::index::run(args, &printer),
        Command::Check(args) => commands::check::run(args, &printer),
        Command::Serve(args) => commands::serve::run(args, &printer),
        Command::Plan(args) => commands::plan::run(args),
        Command::Generate(args) => commands::generate::run(args),
    };
    let exit = match result {
        Ok(exit) => exit,
        // Whoever read the output has seen enough, as `head` has after ten lines.
        Err(Failure::BrokenPipe) => Exit::Done,
        Err(Failure::Interrupted) => Exit::Interrupted,
        Err(failure) => {
            printer.failure(&failure);
            Exit::Error
        }
    };
    ExitCode::from(exit as u8)
}

/// Prints help or what is wrong with the words of the command; what the person typed may hold control characters.
fn usage(error: &clap::Error) -> ExitCode {
    let text = minwise_corpus::visible_lines(&error.render().to_string());
    // There is nobody to tell if neither can be written.
    let _ = if error.use_stderr() {
        std::io::stderr().write_all(text.as_bytes())
    } else {
        std::io::stdout().write_all(text.as_bytes())
    };
    ExitCode::from(error.exit_code() as u8)
}
