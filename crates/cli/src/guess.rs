//! Finds hints for people who type an option or a command of another program.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use minwise_corpus::visible;

use crate::args::Args;

/// Options of other programs, each with the option of `minwise` that has the same effect.
const OPTIONS: [(&[&str], &str); 13] = [
    (&["column", "columns", "field", "text", "text-column", "text-key", "content-field"], "text-field"),
    (&["id", "id-column", "key", "id-key"], "id-field"),
    (&["similarity", "min-similarity", "min-score", "cutoff", "jaccard-threshold"], "threshold"),
    (&["num-perm", "num-hashes", "permutations", "hashes", "perms"], "registers"),
    (&["ngram", "ngrams", "n-gram", "n-grams", "ngram-size", "shingles", "shingle-size"], "shingle"),
    (&["jobs", "workers", "num-workers", "num-proc", "cores", "parallel"], "threads"),
    (&["out", "outfile", "output-file", "output-path", "output-dir", "dest"], "output"),
    (&["overwrite", "replace", "yes"], "force"),
    (&["sep", "separator", "delim"], "delimiter"),
    (&["tmp", "tmpdir", "tmp-dir", "temp"], "temp-dir"),
    (&["to", "to-format", "format"], "output-format"),
    (&["archive", "database", "db"], "index"),
    (&["port", "host", "bind", "address", "addr"], "listen"),
];

/// Commands of other programs, each with the command or option of `minwise` that replaces it.
const COMMANDS: [(&[&str], &str); 8] = [
    (&["version"], "--version"),
    (&["unique", "uniq", "distinct", "clean", "remove", "run"], "dedup"),
    (&["diff", "cmp"], "compare"),
    (&["similar", "similarity", "duplicates", "list", "find"], "pairs"),
    (&["search", "query", "lookup"], "check"),
    (&["archive", "create", "add"], "index"),
    (&["server", "web", "ui", "start"], "serve"),
    (&["tune", "params", "parameters"], "plan"),
];

/// Subcommands that other programs have for archives, each with the words to type after `minwise`.
const INDEX_COMMANDS: [(&[&str], &str); 4] = [
    (&["search", "find", "ls"], "index list DIR --search TEXT"),
    (&["query", "lookup", "match"], "check FILE --index DIR"),
    (&["delete", "rm", "drop"], "index remove DIR ID"),
    (&["info", "status", "size"], "index stats DIR"),
];

/// Returns a hint for an error of the parser, if the typed words resemble an option or command that exists.
pub fn hint(error: &clap::Error, typed: &[OsString]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let first = typed.first().and_then(|first| first.to_str()).unwrap_or_default();
    match (error.get(ContextKind::InvalidArg), error.kind()) {
        (Some(ContextValue::Strings(missing)), ErrorKind::MissingRequiredArgument) => {
            let is_alone = |wanted: &str| matches!(missing.as_slice(), [one] if one == wanted);
            return match first {
                _ if missing.iter().any(|one| one == "<INPUT>...") => {
                    Some("`-` in the place of a file is standard input".to_owned())
                }
                "dedup" if is_alone("--output <OUT>") => Some(
                    "`--output FILE` names the file to write, `--output -` is standard output, and `--dry-run` writes nothing"
                        .to_owned(),
                ),
                "check" if is_alone("--index <DIR>") => {
                    Some("`--index DIR` names the folder of the archive".to_owned())
                }
                _ => None,
            };
        }
        (Some(ContextValue::String(folder)), ErrorKind::UnknownArgument)
            if first == "serve" && !folder.starts_with('-') =>
        {
            return Some(format!("`minwise serve --index {}` serves this archive", visible(folder)));
        }
        (_, ErrorKind::UnknownArgument) => {
            let is_file =
                |word: &&OsString| word.to_string_lossy().starts_with('-') && Path::new(word).exists();
            if let Some(file) = typed.iter().find(is_file) {
                let file = file.to_string_lossy();
                return Some(format!("`./{}` names the file, which is no option", visible(&file)));
            }
        }
        _ => {}
    }
    if let Some(option) = text(ContextKind::InvalidArg).and_then(|word| word.strip_prefix("--")) {
        let known = named(&OPTIONS, option)?;
        let has_it =
            subcommand(&Args::command(), typed).get_arguments().any(|arg| arg.get_long() == Some(known));
        return has_it.then(|| format!("`--{option}` is called `--{known}` here"));
    }
    let word = text(ContextKind::InvalidSubcommand)?;
    if first == "generate" && Shell::from_str(word, true).is_ok() {
        return Some(format!("`minwise generate completions {word}` prints the completions of this shell"));
    }
    if first == "index" && first != word {
        return named(&INDEX_COMMANDS, word).map(|known| format!("`minwise {known}` does this"));
    }
    // Only the first word can name a command. Later words, such as the shell of `generate`, are not looked up.
    if first != word {
        return None;
    }
    if word.contains(['.', '/']) || Path::new(word).exists() {
        let word = visible(word);
        return Some(format!("`minwise dedup {word} --output OUT` writes it without its near-duplicates"));
    }
    named(&COMMANDS, word).map(|known| format!("`minwise {word}` is called `minwise {known}` here"))
}

/// Removes the option that clap suggests, with its value, from the usage in the text of an error.
pub fn without_suggestion<'t>(text: &'t str, error: &clap::Error) -> Cow<'t, str> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::SuggestedArg) else { return text.into() };
    let lines = text.split_inclusive('\n').map(|line| {
        let suggestion =
            line.starts_with("Usage: ").then(|| line.split_once(&format!(" {option}"))).flatten();
        let Some((before, after)) = suggestion else { return line.to_owned() };
        let value = after.strip_prefix(" <").and_then(|value| value.split_once('>'));
        format!("{before}{}", value.map_or(after, |(_, rest)| rest))
    });
    lines.collect::<String>().into()
}

/// Returns the name in `minwise` for a name of another program.
fn named(table: &[(&[&str], &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(others, _)| others.contains(&name)).map(|(_, known)| *known)
}

/// Returns the innermost subcommand that the typed words name.
fn subcommand(command: &Command, typed: &[OsString]) -> Command {
    let next = typed.first().and_then(|word| command.find_subcommand(word));
    next.map_or_else(|| command.clone(), |next| subcommand(next, &typed[1..]))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn hint_for(line: &str) -> Option<String> {
        let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = std::iter::once(OsString::from("minwise")).chain(typed.iter().cloned());
        hint(&Args::try_parse_from(words).unwrap_err(), &typed)
    }

    #[test]
    fn names_of_other_programs_lead_to_ours() {
        let hint = |line| hint_for(line).unwrap_or_default();
        assert_eq!(hint("dedup a.jsonl --column body"), "`--column` is called `--text-field` here");
        assert_eq!(hint("pairs a.jsonl --num-perm=64"), "`--num-perm` is called `--registers` here");
        assert_eq!(hint("index add a b --sep x"), "`--sep` is called `--delimiter` here");
        assert_eq!(hint("uniq a.jsonl"), "`minwise uniq` is called `minwise dedup` here");
        assert_eq!(hint("version"), "`minwise version` is called `minwise --version` here");
        assert!(hint("a.jsonl").starts_with("`minwise dedup a.jsonl --output OUT` writes"));
        assert_eq!(hint("serve --port 80"), "`--port` is called `--listen` here");
        assert_eq!(hint("serve archive"), "`minwise serve --index archive` serves this archive");
        assert_eq!(
            hint("generate zsh"),
            "`minwise generate completions zsh` prints the completions of this shell"
        );
        assert_eq!(hint("index search a"), "`minwise index list DIR --search TEXT` does this");
        assert!(hint("dedup a.jsonl").contains("`--output -` is standard output"));
        assert_eq!(hint("dedup -o b.jsonl"), "`-` in the place of a file is standard input");
        assert_eq!(hint("pairs"), "`-` in the place of a file is standard input");
        assert!(hint("check a.txt archive").starts_with("`--index DIR` names"));
        // The first line has an option that `plan` lacks, the second a word that is no subcommand. The words of the
        // last two are in no table.
        for line in ["plan --column body", "index a.jsonl", "dedup a.jsonl --nonsense", "nonsense"] {
            assert_eq!(hint_for(line), None, "{line}");
        }
    }

    /// Without this, the usage of `--column` would name `--color`, which is spelled like it and means something else.
    #[test]
    fn the_usage_has_no_option_that_is_only_spelled_like_the_typed_one() {
        let words = ["minwise", "dedup", "a.jsonl", "-o", "b", "--column", "body"];
        let error = Args::try_parse_from(words).unwrap_err();
        let text = error.render().to_string();
        assert!(text.contains("Usage: minwise dedup --output <OUT> --color <WHEN> <INPUT>...\n"), "{text}");
        let shown = without_suggestion(&text, &error);
        assert!(shown.contains("Usage: minwise dedup --output <OUT> <INPUT>...\n"), "{shown}");
        let error = Args::try_parse_from(["minwise", "nonsense"]).unwrap_err();
        let text = error.render().to_string();
        assert_eq!(without_suggestion(&text, &error), text);
    }

    /// If a table named an option or command that no longer exists, its hint would not work.
    #[test]
    fn every_name_is_one_of_ours() {
        let all = Args::command();
        let options: Vec<&str> = all
            .get_subcommands()
            .flat_map(|command| command.get_arguments().filter_map(|arg| arg.get_long()))
            .collect();
        for (others, known) in OPTIONS {
            assert!(options.contains(&known), "{known}");
            assert!(!others.contains(&known), "{known}");
        }
        for (_, known) in COMMANDS {
            assert!(known == "--version" || all.find_subcommand(known).is_some(), "{known}");
        }
    }
}
