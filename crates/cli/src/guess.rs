//! Hints for people who type a word that another program has: the name that it has here.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory};
use minwise_corpus::visible;

use crate::args::Args;

/// Options of other programs, and the option that does the same here.
const OPTIONS: [(&[&str], &str); 12] = [
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
];

/// Commands of other programs, and what to type here.
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

/// A hint about an error of the parser, if somebody probably means something that exists.
pub fn hint(error: &clap::Error, typed: &[OsString]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let Some(option) = text(ContextKind::InvalidArg).and_then(|word| word.strip_prefix("--")) {
        let known = named(&OPTIONS, option)?;
        let has_it =
            subcommand(&Args::command(), typed).get_arguments().any(|arg| arg.get_long() == Some(known));
        return has_it.then(|| format!("`--{option}` is called `--{known}` here"));
    }
    let word = text(ContextKind::InvalidSubcommand)?;
    // The words of `index` and `generate` are not looked up.
    if typed.first().is_none_or(|first| first != word) {
        return None;
    }
    if word.contains(['.', '/']) || Path::new(word).exists() {
        let word = visible(word);
        return Some(format!("`minwise dedup {word} --output OUT` writes it without its near-duplicates"));
    }
    named(&COMMANDS, word).map(|known| format!("`minwise {word}` is called `minwise {known}` here"))
}

/// The name that a name of another program has here.
fn named(table: &[(&[&str], &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(others, _)| others.contains(&name)).map(|(_, known)| *known)
}

/// The command that the typed words lead to.
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
        // An option that the command does not have, a word of a subcommand, and words of nobody.
        for line in ["plan --column body", "index a.jsonl", "dedup a.jsonl --nonsense", "nonsense"] {
            assert_eq!(hint_for(line), None, "{line}");
        }
    }

    /// A table that named an option or a command which is gone would give hints that do not work.
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
