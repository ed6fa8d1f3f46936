//! Main function of the `minwise` command: parses the arguments, calls the engine and prints the result.

mod allocator;
mod args;
mod color;
mod commands;
mod exit;
mod guess;
mod interrupt;
mod limit;
mod printer;
mod progress;
mod settings;
mod shell;
mod spell;
mod summary;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, ColorChoice, Command, OutputOptions};
use crate::color::Label;
use crate::exit::Exit;
use crate::printer::{Failure, Printer};

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
    if std::env::args_os().len() == 1 {
        return commonest();
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let color = color::typed(std::env::args_os().skip(1));
            match commands::lab::moved(&error) {
                Some(failure) => {
                    Printer::new(OutputOptions::default(), color).failure(&failure);
                    return ExitCode::from(Exit::Error as u8);
                }
                None => return usage(&error, color),
            }
        }
    };
    let printer = Printer::new(args.command.output_options(), args.color);
    allocator::print_as_json(printer.is_json());
    let (after, hint) = commands::after_interruption(&args.command);
    interrupt::listen(move || printer.interrupted(after, hint));
    // `plan` and `generate` read nothing and need little memory.
    let is_small = matches!(args.command, Command::Plan(_) | Command::Generate(_));
    let checked = if is_small { Ok(()) } else { limit::check() };
    let result = checked.and_then(|()| run(&args.command, &printer));
    let exit = match result {
        Ok(exit) => exit,
        // A reader that closes the pipe early has read enough, as `head` has after ten lines. This is not an error.
        Err(Failure::BrokenPipe) => Exit::Done,
        Err(Failure::Interrupted) => {
            printer.interrupted(after, hint);
            Exit::Interrupted
        }
        Err(failure) => {
            printer.failure(&failure);
            Exit::Error
        }
    };
    ExitCode::from(exit as u8)
}

fn run(command: &Command, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Dedup(args) => commands::dedup::run(args, printer),
        Command::Pairs(args) => commands::pairs::run(args, printer),
        Command::Compare(args) => commands::compare::run(args, printer),
        Command::Sketch(args) => commands::sketch::run(args, printer),
        Command::Accuracy(args) => commands::accuracy::run(args, printer),
        Command::Weights(args) => commands::weights::run(args, printer),
        Command::Estimate(args) => commands::estimate::run(args, printer),
        Command::Index(args) => commands::index::run(args, printer),
        Command::Check(args) => commands::check::run(args, printer),
        Command::Serve(args) => commands::serve::run(args, printer),
        Command::Plan(args) => commands::plan::run(args),
        Command::Generate(args) => commands::generate::run(args, printer),
    }
}

/// Prints the most common call, for people who type `minwise` alone.
fn commonest() -> ExitCode {
    let text = "Minwise finds near-duplicate documents, verifies them exactly, and explains what it found.\n\n\
                The commonest call writes a file without its near-duplicates:\n\n    \
                minwise dedup articles.jsonl --output cleaned.jsonl\n\n\
                `minwise --help` lists all commands, and `minwise dedup --help` all options of this one.\n";
    // If standard error cannot be written, there is no other way to report it.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::from(Exit::Error as u8)
}

/// Prints the help, or the error of the parser. Control characters that the person typed are escaped.
fn usage(error: &clap::Error, color: ColorChoice) -> ExitCode {
    let rendered = error.render();
    // If neither stream can be written, there is no other way to report it.
    let _ = if error.use_stderr() {
        let has_color = color::is_wanted(color, &std::io::stderr());
        let typed = minwise_corpus::visible_lines(&rendered.to_string());
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        let hint = guess::hint(error, &words);
        // A known name is more precise than the most similar one, which clap puts into the usage. A name that is not
        // even similar misleads.
        let has_tips = hint.is_none() && guess::is_suggestion_close(error);
        let is_suggested = has_tips && guess::has_suggestion(error);
        let hint = if is_suggested { hint } else { hint.or_else(|| guess::similar(error, &words)) };
        let typed = if has_tips { typed.into() } else { guess::without_suggestion(&typed, error) };
        let text = one_style(&typed, hint.as_deref(), has_tips, has_color);
        std::io::stderr().write_all(text.as_bytes())
    } else {
        // The text of the help is constant and has no control characters, so it is not escaped.
        let has_color = color::is_wanted(color, &std::io::stdout());
        let text = if has_color { rendered.ansi().to_string() } else { rendered.to_string() };
        std::io::stdout().write_all(text.as_bytes())
    };
    ExitCode::from(error.exit_code() as u8)
}

/// Formats an error of the parser like all other errors: the error, the usage, then the hints, of which `first_hint`
/// comes first. Clap's tips are left out unless `has_tips`.
fn one_style(text: &str, first_hint: Option<&str>, has_tips: bool, has_color: bool) -> String {
    let (error, hint) = (Label::Error.text(has_color), Label::Hint.text(has_color));
    let mut lines: Vec<String> = vec![];
    let mut hints: Vec<String> = first_hint.map(|first| format!("{hint} {first}")).into_iter().collect();
    for line in text.lines() {
        if let Some(message) = line.strip_prefix("error: ") {
            lines.push(format!("{error} {message}"));
        } else if let Some(tip) = line.strip_prefix("  tip: ") {
            // A mistyped option is hardly ever a file name, so clap's tip about file names is left out.
            if tip.starts_with("to pass ") || !has_tips {
                continue;
            }
            hints.push(format!("{hint} {}", tip.replace('\'', "`")));
        } else if line.starts_with("For more information, try") {
            hints.push(format!("{hint} `--help` lists all options"));
        } else if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line.to_owned());
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if !hints.is_empty() {
        lines.push(String::new());
    }
    lines.extend(hints);
    lines.join("\n") + "\n"
}
