//! Writes the reference of all commands as a Markdown page, `docs/reference/commands.md`.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// Text above the list of commands.
const HEAD: &str = "\
# Commands

This page lists every command of Minwise with its arguments, options, defaults and examples. `minwise COMMAND --help` prints the
same text. `cargo x docs` generates the page from the definition of the command (`minwise generate reference`).

The exit code is 0 if all went well, 1 for a finding (`check` found something, `compare` found a similarity below the
threshold, `index check` found damage), 2 after an error or if records were rejected, and 130 after Ctrl-C.
[Codes](codes.md) lists the errors.

";

/// Returns the Markdown page for a command on which `build` was called.
pub fn page(command: &Command) -> String {
    let mut commands = vec![];
    below(command, &mut commands);
    let mut out = HEAD.to_owned();
    out.push_str("| command | purpose |\n|---|---|\n");
    for command in &commands {
        let (name, about) = (name(command), about(command));
        let purpose = about.split_once(". ").map_or(&*about, |(first, _)| first);
        let purpose = purpose.trim_end_matches('.');
        let _ = writeln!(out, "| [`{name}`](#{}) | {purpose} |", name.replace(' ', "-"));
    }
    out.push_str("\n## Options of every command\n\n");
    for arg in command.get_arguments().filter(|arg| is_common(arg)) {
        item(command, arg, &mut out);
    }
    for command in commands {
        section(command, &mut out);
    }
    out
}

/// Appends the subcommands of a command, each followed by its own subcommands.
fn below<'a>(command: &'a Command, commands: &mut Vec<&'a Command>) {
    for next in command.get_subcommands().filter(|next| next.get_name() != "help" && !next.is_hide_set()) {
        commands.push(next);
        below(next, commands);
    }
}

/// Reports whether every command has this option. Such an option is described only once.
fn is_common(arg: &Arg) -> bool {
    arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version")
}

/// Returns the name of a built command with the names of all levels, such as `minwise index add`.
fn name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or("minwise")
}

fn about(command: &Command) -> String {
    sentence(command.get_long_about().or(command.get_about()))
}

/// Returns a text of the definition with its full stop, because clap removes the full stop of the last sentence.
fn sentence(text: Option<&StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    let text = text.trim_end();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

fn section(command: &Command, out: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim_end();
    let _ = write!(out, "\n## {}\n\n{}\n\n```text\n{usage}\n```\n", name(command), about(command));
    let args: Vec<&Arg> =
        command.get_arguments().filter(|arg| !is_common(arg) && !arg.is_hide_set()).collect();
    let mut headings: Vec<&str> = vec![];
    for heading in args.iter().map(|arg| heading(arg)) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    // The help lists arguments and options without a heading first, independent of their place in the definition.
    headings.sort_by_key(|heading| !["Arguments", "Options"].contains(heading));
    for wanted in headings {
        let _ = write!(out, "\n{wanted}:\n\n");
        for arg in args.iter().filter(|arg| heading(arg) == wanted) {
            item(command, arg, out);
        }
    }
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if let Some((_, examples)) = help.split_once("Examples:\n") {
        let lines: Vec<&str> = examples.lines().map(str::trim).collect();
        let _ = write!(out, "\n```sh\n{}\n```\n", lines.join("\n"));
    }
}

fn heading(arg: &Arg) -> &str {
    if arg.is_positional() { "Arguments" } else { arg.get_help_heading().unwrap_or("Options") }
}

/// Appends the list item of an argument or option: its names, text, values and default.
fn item(command: &Command, arg: &Arg, out: &mut String) {
    let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let help = sentence(arg.get_long_help().or(arg.get_help()));
    let _ = write!(out, "- {short}`{arg}`: {help}");
    let takes_values = arg.get_action().takes_values();
    if takes_values {
        let values: Vec<String> = arg
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| match value.get_help() {
                Some(help) => format!("`{}` ({})", value.get_name(), uncapitalized(&help.to_string())),
                None => format!("`{}`", value.get_name()),
            })
            .collect();
        if !values.is_empty() {
            let _ = write!(out, " Values: {}.", values.join(", "));
        }
        let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.iter().all(|value| value.is_empty()) {
            let _ = write!(out, " Default: `{}`.", defaults.join(" "));
        }
    }
    let name = arg.get_long().map_or_else(|| "It".to_owned(), |name| format!("`--{name}`"));
    if arg.is_required_set() && !arg.is_positional() {
        let _ = write!(out, " {name} is required.");
    }
    let is_repeated = matches!(arg.get_action(), ArgAction::Append) && !arg.is_positional();
    if is_repeated && !help.contains("several times") {
        let _ = write!(out, " {name} can be given several times.");
    }
    let others: Vec<String> = conflicts(command, arg).map(|other| format!("`--{other}`")).collect();
    if !others.is_empty() {
        let _ = write!(out, " {name} cannot be given with {}.", others.join(" or "));
    }
    out.push('\n');
}

/// Returns the options that exclude an option. The definition of either option may state the exclusion.
fn conflicts<'a>(command: &'a Command, arg: &'a Arg) -> impl Iterator<Item = &'a str> {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let others = command.get_arguments().filter(move |other| excludes(arg, other) || excludes(other, arg));
    others.filter(|other| !other.is_hide_set()).filter_map(Arg::get_long)
}

/// Returns the text with a small first letter, unless its first word is written in capitals.
fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
        }
        _ => text.to_owned(),
    }
}
