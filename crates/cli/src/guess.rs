//! Finds hints for people who type an option or a command of another program.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use minwise_corpus::visible;

use crate::args::Args;

/// Options of other programs, each with the option of `minwise` that has the same effect.
const OPTIONS: [(&[&str], &str); 24] = [
    (
        &[
            "column",
            "columns",
            "field",
            "fields",
            "text",
            "text-column",
            "text-columns",
            "text-fields",
            "text-col",
            "text-key",
            "content-field",
        ],
        "text-field",
    ),
    (&["id", "id-column", "id-col", "key", "id-key"], "id-field"),
    (&["similarity", "min-similarity", "min-score", "cutoff", "jaccard-threshold"], "threshold"),
    (&["num-perm", "num-hashes", "permutations", "hashes", "perms"], "registers"),
    (&["ngram", "ngrams", "n-gram", "n-grams", "ngram-size", "shingles", "shingle-size"], "shingle"),
    (&["output-format", "out-format"], "format"),
    (&["silent", "no-progress"], "quiet"),
    (&["debug", "trace", "info", "log-level", "loglevel"], "verbose"),
    (&["memory-limit", "max-memory", "ram"], "memory"),
    (&["simulate", "noop", "no-op", "check"], "dry-run"),
    (&["field-separator"], "delimiter"),
    (
        &[
            "jobs",
            "n-jobs",
            "workers",
            "num-workers",
            "num-proc",
            "num-threads",
            "nproc",
            "nthreads",
            "cores",
            "cpus",
            "parallel",
            "parallelism",
        ],
        "threads",
    ),
    (&["metric", "distance", "similarity-measure"], "measure"),
    (&["reference", "references", "exclude-from"], "against"),
    (&["duplicates", "dups", "dupes", "dropped"], "removed"),
    (&["rejects", "rejected", "stats", "statistics", "summary"], "report"),
    (&["normalise", "normalization", "normaliser"], "normalize"),
    (&["out", "outfile", "output-file", "output-path", "output-dir", "dest"], "output"),
    (&["overwrite", "replace", "yes"], "force"),
    (&["sep", "separator", "delim"], "delimiter"),
    (&["tmp", "tmpdir", "tmp-dir", "temp"], "temp-dir"),
    (&["to", "to-format", "format"], "output-format"),
    (&["archive", "database", "db"], "index"),
    (&["port", "host", "bind", "address", "addr"], "listen"),
];

/// Letters that people try as options, each with the option that they mean.
const LETTERS: [(char, &str); 7] = [
    ('t', "threshold"),
    ('T', "threads"),
    ('f', "force"),
    ('n', "dry-run"),
    ('m', "memory"),
    ('d', "delimiter"),
    ('k', "keep"),
];

/// Options of other programs that Minwise does without, each with the words that explain why.
const NEEDLESS: [(&[&str], &str); 10] = [
    (
        &["input", "inputs", "in", "file", "files", "i"],
        "inputs have no option: type their names after the command",
    ),
    (&["recursive", "r", "R"], "a folder is read with all folders in it"),
    (&["glob", "include", "g"], "a pattern is an input in quotation marks, such as `'crawl/**/*.jsonl'`"),
    (&["stdin"], "`-` in the place of a file is standard input"),
    (
        &["progress", "show-progress", "progress-bar"],
        "progress is always shown on a terminal, and `--quiet` hides it",
    ),
    (
        &["lowercase", "lower", "ignore-case", "case-insensitive"],
        "upper and lower case count as the same, unless `--normalize none` is given",
    ),
    (&["inplace", "in-place"], "an input is never overwritten: `--output FILE` writes a new file"),
    (
        &["no-header", "noheader", "no-headers"],
        "the first line of CSV and TSV must name the columns: add such a line to the file",
    ),
    (
        &["min-length", "min-len", "min-words", "min-tokens"],
        "there is no shortest length; `--short reject` rejects documents that are shorter than one shingle",
    ),
    (&["sort", "sorted", "sort-by"], "documents and pairs are written in the order of the inputs"),
];

/// Words that clap suggests for other words that only look alike: the typed word, then the suggested one.
const ONLY_ALIKE: [(&str, &str); 2] = [("sort", "short"), ("log-level", "log")];

/// Commands of other programs, each with the command or option of `minwise` that replaces it.
const COMMANDS: [(&[&str], &str); 18] = [
    (&["version"], "--version"),
    (&["?", "/?", "usage"], "help"),
    (&["completion", "completions", "generate-shell-completion"], "generate completions"),
    (&["man", "manual", "manpage", "manpages"], "generate man"),
    (&["add", "insert", "import", "ingest"], "index add"),
    (&["unique", "uniq", "distinct", "clean", "remove", "run"], "dedup"),
    (&["diff", "cmp"], "compare"),
    (&["similar", "similarity", "duplicates", "list", "find"], "pairs"),
    (&["search", "query", "lookup"], "check"),
    (&["archive"], "index"),
    (&["stats", "statistics"], "index stats"),
    (&["ls"], "index list"),
    (&["merge", "concat"], "index merge"),
    (&["export", "dump"], "index export"),
    (&["compact", "vacuum", "optimize"], "index compact"),
    (&["create", "init", "new"], "index create"),
    (&["server", "web", "ui", "start"], "serve"),
    (&["tune", "params", "parameters"], "plan"),
];

/// Policies of `--keep` that take no field.
const KEEP: [&str; 4] = ["first", "last", "longest", "shortest"];

/// Subcommands that other programs have for archives, each with the words to type after `minwise`.
const INDEX_COMMANDS: [(&[&str], &str); 7] = [
    (&["update", "insert", "ingest"], "index add DIR FILE"),
    (&["rebuild", "optimize", "vacuum"], "index compact DIR"),
    (&["ls"], "index list DIR"),
    (&["search", "find"], "index list DIR --search TEXT"),
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
            return of_missing(missing, first, typed);
        }
        (Some(ContextValue::String(word)), ErrorKind::UnknownArgument) => {
            if let Some(hint) = of_unknown(word, first, typed) {
                return Some(hint);
            }
        }
        (Some(ContextValue::String(argument)), ErrorKind::InvalidValue) if argument == "<SHELL>" => {
            let shell = Path::new(text(ContextKind::InvalidValue)?).file_stem()?.to_str()?;
            let shell = Shell::from_str(shell, true).ok()?;
            return Some(format!(
                "`minwise generate completions {shell}` prints the completions of this shell"
            ));
        }
        _ => {}
    }
    if let Some(option) = text(ContextKind::InvalidArg).filter(|word| word.starts_with('-')) {
        return of_option(option, &subcommand(&Args::command(), typed));
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
    let resembles_file = word.contains(['.', '/']) && !word.contains(|c: char| c.is_whitespace() || c == '?');
    if resembles_file || Path::new(word).exists() {
        let word = visible(word);
        return Some(format!("`minwise dedup {word} --output OUT` writes it without its near-duplicates"));
    }
    named(&COMMANDS, word).map(|known| format!("`minwise {word}` is called `minwise {known}` here"))
}

/// Returns a hint for a call in which arguments are missing.
fn of_missing(missing: &[String], first: &str, typed: &[OsString]) -> Option<String> {
    let is_alone = |wanted: &str| matches!(missing, [one] if one == wanted);
    let lacks_inputs =
        missing.iter().any(|one| one == "<INPUT>..." || first == "check" && one == "<FILE>...");
    match (first, typed) {
        (_, [_, help]) if help == "help" => Some(format!("`minwise help {first}` prints the help")),
        _ if lacks_inputs && swallows(typed).is_some() => {
            let option = swallows(typed)?;
            Some(format!("`{option}` takes all names after it: put the inputs before it, or `--` between"))
        }
        _ if lacks_inputs => Some("`-` in the place of a file is standard input".to_owned()),
        // People who think of `cp` name the output last.
        ("dedup", [_, .., input, output])
            if is_alone("--output <OUT>")
                && Path::new(input).exists()
                && !Path::new(output).exists()
                && !output.to_string_lossy().starts_with('-') =>
        {
            Some(format!("`--output {}` writes to a file of this name", visible(&output.to_string_lossy())))
        }
        ("dedup", _) if is_alone("--output <OUT>") => Some(
            "`--output FILE` names the file to write, `--output -` is standard output, and `--dry-run` writes nothing"
                .to_owned(),
        ),
        ("check" | "serve", _) if is_alone("--index <DIR>") => {
            Some("`--index DIR` names the folder of the archive".to_owned())
        }
        _ => None,
    }
}

/// Returns the option that has taken two names or more, if it takes any number of them.
fn swallows(typed: &[OsString]) -> Option<String> {
    let command = subcommand(&Args::command(), typed);
    let options = command
        .get_opts()
        .filter(|option| option.get_num_args().is_some_and(|values| values.max_values() > 1));
    let options: Vec<String> =
        options.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect();
    let is_option = |word: &&OsString| word.to_string_lossy().starts_with('-');
    let place = typed.iter().position(|word| options.iter().any(|option| word == option.as_str()))?;
    let names = typed[place + 1..].iter().take_while(|word| !is_option(word)).count();
    (names > 1).then(|| typed[place].to_string_lossy().into_owned())
}

/// Returns a hint for an argument that the command does not take, or does not take at this place.
fn of_unknown(word: &str, first: &str, typed: &[OsString]) -> Option<String> {
    let is_option = word.starts_with('-');
    match first {
        "serve" if !is_option => {
            return Some(format!("`minwise serve --index {}` serves this archive", visible(word)));
        }
        "plan" if word.parse::<f64>().is_ok() => {
            return Some(format!("`minwise plan --threshold {}` plans for this threshold", visible(word)));
        }
        "compare" if !is_option => {
            return Some(
                "two documents are compared; `minwise pairs` finds the similar pairs of many".to_owned(),
            );
        }
        "check" if word == "--output" || word == "-o" => {
            return Some(
                "matches go to standard output, and `--report FILE` writes a page of them".to_owned(),
            );
        }
        _ => {}
    }
    let is_file = |word: &&OsString| word.to_string_lossy().starts_with('-') && Path::new(word).exists();
    if let Some(file) = typed.iter().find(is_file) {
        let file = file.to_string_lossy();
        return Some(format!("`./{}` names the file, which is no option", visible(&file)));
    }
    // An option can stand before the command although only the command has it.
    typed.first().filter(|early| is_option && early.to_string_lossy().starts_with(word))?;
    let all = Args::command();
    let command = typed.iter().find_map(|word| all.find_subcommand(word))?;
    let has_it = command.get_arguments().any(|arg| is_spelled(arg, word));
    has_it.then(|| format!("`{word}` follows the command: `minwise {} {word}`", command.get_name()))
}

/// Returns a hint for an option that the command does not have.
fn of_option(typed: &str, command: &Command) -> Option<String> {
    let name = typed.trim_start_matches('-');
    let has = |known: &str| command.get_arguments().any(|arg| arg.get_long() == Some(known));
    let letter = LETTERS.iter().find(|(letter, _)| !typed.starts_with("--") && name == letter.to_string());
    let known = letter
        .map(|(_, known)| *known)
        .into_iter()
        .chain(OPTIONS.iter().filter(|(others, _)| others.contains(&name)).map(|(_, known)| *known));
    if let Some(known) = known.into_iter().find(|known| has(known)) {
        return Some(format!("`{typed}` is called `--{known}` here"));
    }
    if let Some(policy) = name.strip_prefix("keep-").filter(|_| has("keep"))
        && KEEP.contains(&policy)
    {
        return Some(format!("`--keep {policy}` does this"));
    }
    if ["no-color", "no-colour"].contains(&name) {
        return Some("`--color never` prints without colour".to_owned());
    }
    if name == "json" {
        let format = command.get_arguments().find(|arg| arg.get_long() == Some("format"));
        let Some(format) = format else {
            return has("log").then(|| "`--log json` prints messages as JSON".to_owned());
        };
        let is_lines = format.get_possible_values().iter().any(|value| value.get_name() == "jsonl");
        let value = if is_lines { "jsonl" } else { "json" };
        return Some(format!("`--format {value}` prints the result as JSON"));
    }
    let has_inputs = command.get_positionals().any(|arg| matches!(arg.get_action(), ArgAction::Append));
    let needless = NEEDLESS.iter().find(|(others, _)| others.contains(&name));
    needless.filter(|_| has_inputs).map(|(_, why)| (*why).to_owned())
}

/// Returns a hint that names the option or subcommand that is spelled like the typed one, if there is one.
pub fn similar(error: &clap::Error, typed: &[OsString]) -> Option<String> {
    let all = Args::command();
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let Some(word) = text(ContextKind::InvalidSubcommand) {
        let before = typed.split(|typed| typed.to_str() == Some(word)).next().unwrap_or_default();
        let command = subcommand(&all, before);
        let name = alike(word, command.get_subcommands().map(Command::get_name))?;
        return Some(format!("a similar subcommand exists: `{name}`"));
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let word = text(ContextKind::InvalidArg).filter(|word| word.starts_with("--"))?;
    let command = subcommand(&all, typed);
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let global = all.get_arguments().filter(|arg| arg.is_global_set());
    let name = alike(word, shown.chain(global).filter_map(|arg| arg.get_long()).chain(["help"]))?;
    Some(format!("a similar argument exists: `--{name}`"))
}

/// Reports whether an argument is spelled like this, in its long or its short form.
fn is_spelled(arg: &clap::Arg, option: &str) -> bool {
    let long = option.strip_prefix("--").is_some_and(|name| arg.get_long() == Some(name));
    let short = option.strip_prefix('-').and_then(|name| name.chars().next());
    long || short.is_some_and(|letter| arg.get_short() == Some(letter))
}

/// Reports whether clap suggests an option or a subcommand.
pub fn has_suggestion(error: &clap::Error) -> bool {
    error.get(ContextKind::SuggestedArg).is_some() || error.get(ContextKind::SuggestedSubcommand).is_some()
}

/// Reports whether the word that clap suggests is spelled nearly like the typed one. Clap also suggests words such as
/// `--force` for `--trace`, which mislead.
pub fn is_suggestion_close(error: &clap::Error) -> bool {
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    ];
    pairs.into_iter().all(|(typed, suggested)| {
        let Some(ContextValue::String(typed)) = error.get(typed) else { return true };
        match error.get(suggested) {
            Some(ContextValue::String(suggested)) => is_close(typed, suggested),
            Some(ContextValue::Strings(all)) => all.iter().any(|suggested| is_close(typed, suggested)),
            _ => true,
        }
    })
}

/// Reports whether one of two words begins with the other, or at most two letters differ, or one letter of short words.
fn is_close(typed: &str, suggested: &str) -> bool {
    let (typed, suggested) = (plain(typed), plain(suggested));
    if ONLY_ALIKE.contains(&(typed.as_str(), suggested.as_str())) {
        return false;
    }
    let least = typed.chars().count().min(suggested.chars().count());
    let begins = typed.starts_with(&suggested) || suggested.starts_with(&typed);
    begins && least > 1 || differing_letters(&typed, &suggested) <= if least <= 5 { 1 } else { 2 }
}

/// Returns a word in lower case, with hyphens only between its parts.
fn plain(word: &str) -> String {
    word.trim_start_matches('-').to_lowercase().replace('_', "-")
}

/// Returns the name of an option or subcommand of ours that is spelled like the typed one, for words for which clap
/// finds no name: with other capitals (`DEDUP`), or with a letter missing at the beginning of a longer name (`--tresh`).
fn alike<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let word = plain(typed);
    let length = word.chars().count();
    if length < 3 || ONLY_ALIKE.iter().any(|(alike, _)| *alike == word) {
        return None;
    }
    let rank = |name: &&str| {
        let whole = differing_letters(&word, name);
        // Of a longer name, only the beginning can be typed. One letter may be missing in it or be too many.
        let begins = |letters: usize| name.chars().take(letters).collect::<String>();
        let is_begun = length >= 4
            && (length - 1..=length + 1).any(|letters| {
                letters < name.chars().count() && differing_letters(&word, &begins(letters)) <= 1
            });
        match whole {
            _ if is_close(&word, name) => Some(whole),
            _ if is_begun => Some(whole.max(2)),
            _ => None,
        }
    };
    let ranked = names.filter_map(|name| Some((rank(&name)?, name)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

/// Returns the number of letters that have to be inserted, removed, replaced, or swapped with their neighbour, to make
/// one word of the other (optimal string alignment distance).
fn differing_letters(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for line in 0..=one.len() {
        for column in 0..=other.len() {
            rows[line][column] = if line == 0 || column == 0 {
                line + column
            } else {
                let replaced = rows[line - 1][column - 1] + usize::from(one[line - 1] != other[column - 1]);
                let best = replaced.min(rows[line - 1][column] + 1).min(rows[line][column - 1] + 1);
                let are_swapped = line > 1
                    && column > 1
                    && one[line - 1] == other[column - 2]
                    && one[line - 2] == other[column - 1];
                if are_swapped { best.min(rows[line - 2][column - 2] + 1) } else { best }
            };
        }
    }
    rows[one.len()][other.len()]
}

/// Removes the option that clap suggests, with its value, from the usage in the text of an error.
pub fn without_suggestion<'t>(text: &'t str, error: &clap::Error) -> Cow<'t, str> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::SuggestedArg) else { return text.into() };
    let has_value = takes_value(&Args::command(), option.trim_start_matches('-'));
    let lines = text.split_inclusive('\n').map(|line| {
        let suggestion =
            line.starts_with("Usage: ").then(|| line.split_once(&format!(" {option}"))).flatten();
        let Some((before, after)) = suggestion else { return line.to_owned() };
        let value = after.strip_prefix(" <").filter(|_| has_value).and_then(|value| value.split_once('>'));
        format!("{before}{}", value.map_or(after, |(_, rest)| rest))
    });
    lines.collect::<String>().into()
}

/// Reports whether an option, of the command or of a subcommand, is followed by a value.
fn takes_value(command: &Command, option: &str) -> bool {
    let is_it = |arg: &clap::Arg| arg.get_long() == Some(option) && arg.get_action().takes_values();
    command.get_arguments().any(is_it)
        || command.get_subcommands().any(|command| takes_value(command, option))
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
        let output = "`--output b.jsonl` writes to a file of this name";
        assert_eq!(hint("dedup Cargo.toml b.jsonl"), output);
        for (line, says) in [
            ("dedup a.jsonl -t 0.9", "`-t` is called `--threshold` here"),
            ("dedup a.jsonl -o b -f", "`-f` is called `--force` here"),
            ("dedup a.jsonl --input b", "inputs have no option: type their names after the command"),
            ("dedup -r letters", "a folder is read with all folders in it"),
            ("pairs a.jsonl --json", "`--format jsonl` prints the result as JSON"),
            ("plan --json", "`--format json` prints the result as JSON"),
            ("dedup a.jsonl --json", "`--log json` prints messages as JSON"),
            ("pairs a.jsonl --output-format csv", "`--output-format` is called `--format` here"),
            ("pairs a.jsonl --no-color", "`--color never` prints without colour"),
            ("-q dedup a.jsonl", "`-q` follows the command: `minwise dedup -q`"),
            ("--quiet pairs a.jsonl", "`--quiet` follows the command: `minwise pairs --quiet`"),
            ("dedup help", "`minwise help dedup` prints the help"),
            ("add archive a.txt", "`minwise add` is called `minwise index add` here"),
            ("completions zsh", "`minwise completions` is called `minwise generate completions` here"),
            ("/?", "`minwise /?` is called `minwise help` here"),
            (
                "generate completions /bin/bash",
                "`minwise generate completions bash` prints the completions of this shell",
            ),
            ("plan 0.8", "`minwise plan --threshold 0.8` plans for this threshold"),
            ("compare a b c", "two documents are compared; `minwise pairs` finds the similar pairs of many"),
            ("check a -o b", "matches go to standard output, and `--report FILE` writes a page of them"),
            ("serve", "`--index DIR` names the folder of the archive"),
            (
                "dedup --against t.csv a.jsonl -o x",
                "`--against` takes all names after it: put the inputs before it, or `--` between",
            ),
            (
                "pairs --of ferry-1 a",
                "`--of` takes all names after it: put the inputs before it, or `--` between",
            ),
            ("pairs --of ferry-1", "`-` in the place of a file is standard input"),
            (
                "accuracy --sketch minhash:128 a",
                "`--sketch` takes all names after it: put the inputs before it, or `--` between",
            ),
            (
                "check --index x --ignore-text form new",
                "`--ignore-text` takes all names after it: put the inputs before it, or `--` between",
            ),
            ("check --index ic", "`-` in the place of a file is standard input"),
            ("dedup a -o b --progress", "progress is always shown on a terminal, and `--quiet` hides it"),
            ("dedup a -o b --log-level debug", "`--log-level` is called `--verbose` here"),
            ("dedup a -o b --keep-first", "`--keep first` does this"),
            ("dedup a -o b --num-threads 4", "`--num-threads` is called `--threads` here"),
            ("dedup a -o b -T 4", "`-T` is called `--threads` here"),
            ("dedup a -o b --text-columns a", "`--text-columns` is called `--text-field` here"),
            ("dedup a -o b --metric jaccard", "`--metric` is called `--measure` here"),
            ("dedup a -o b --reference c", "`--reference` is called `--against` here"),
            ("dedup a -o b --duplicates c", "`--duplicates` is called `--removed` here"),
            ("dedup a -o b --rejects c", "`--rejects` is called `--report` here"),
            ("dedup a -o b --in-place", "an input is never overwritten: `--output FILE` writes a new file"),
            ("stats", "`minwise stats` is called `minwise index stats` here"),
            ("ls", "`minwise ls` is called `minwise index list` here"),
            ("merge a b", "`minwise merge` is called `minwise index merge` here"),
            ("index ls a", "`minwise index list DIR` does this"),
        ] {
            assert_eq!(hint(line), says, "{line}");
        }
        // The first line has an option that `plan` lacks, the second a word that is no subcommand. The words of the
        // last two are in no table.
        let unknown =
            ["plan --column body", "index a.jsonl", "dedup a.jsonl --nonsense", "nonsense", "plan -r"];
        for line in unknown.into_iter().chain(["select * from 'a.jsonl'", "--nonsense dedup a.jsonl"]) {
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
        // The usage names `--force`, which has no value, before the inputs.
        let error = Args::try_parse_from(["minwise", "dedup", "a.jsonl", "-o", "b", "--trace"]).unwrap_err();
        let text = error.render().to_string();
        assert!(text.contains("Usage: minwise dedup --output <OUT> --force <INPUT>...\n"), "{text}");
        let shown = without_suggestion(&text, &error);
        assert!(shown.contains("Usage: minwise dedup --output <OUT> <INPUT>...\n"), "{shown}");
        let error = Args::try_parse_from(["minwise", "nonsense"]).unwrap_err();
        let text = error.render().to_string();
        assert_eq!(without_suggestion(&text, &error), text);
    }

    /// Clap suggests all of the second words for the first ones.
    #[test]
    fn words_that_are_spelled_otherwise_are_not_suggested() {
        for (typed, suggested) in [
            ("--thresold", "--threshold"),
            ("--colour", "--color"),
            ("deduplicate", "dedup"),
            ("Dedup", "dedup"),
            ("--text_field", "--text-field"),
            ("--quite", "--quiet"),
        ] {
            assert!(is_close(typed, suggested), "{typed}");
        }
        for (typed, suggested) in [
            ("--trace", "--force"),
            ("--limit", "--delimiter"),
            ("--glob", "--log"),
            ("--stats", "--strict"),
            ("man", "plan"),
            ("completions", "compare"),
            ("stats", "estimate"),
            ("--sort", "--short"),
            ("--log-level", "--log"),
        ] {
            assert!(!is_close(typed, suggested), "{typed}");
        }
        let of = |line: &str| {
            let words = std::iter::once("minwise").chain(line.split(' '));
            is_suggestion_close(&Args::try_parse_from(words).unwrap_err())
        };
        assert!(of("dedup a --thresold 0.9") && of("dedup a --nonsense"));
        assert!(!of("dedup a --trace") && !of("man"));
    }

    #[test]
    fn names_with_other_capitals_or_a_missing_letter_are_found() {
        let similar = |line: &str| {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let words = std::iter::once(OsString::from("minwise")).chain(typed.iter().cloned());
            similar(&Args::try_parse_from(words).unwrap_err(), &typed)
        };
        for (line, expected) in [
            ("dedup a -o b --tresh 0.9", "a similar argument exists: `--threshold`"),
            ("dedup a -o b --THRESHOLD 0.9", "a similar argument exists: `--threshold`"),
            ("dedup a -o b --quite", "a similar argument exists: `--quiet`"),
            ("pairs a --coler never", "a similar argument exists: `--color`"),
            ("DEDUP a", "a similar subcommand exists: `dedup`"),
            ("index ADD a", "a similar subcommand exists: `add`"),
            ("dedpu a", "a similar subcommand exists: `dedup`"),
        ] {
            assert_eq!(similar(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "dedup a --removed b --annotate -o c",
            "dedup a -o b --limit 3",
            "dedup a -o b --glob x",
            "dedup a -o b --sort",
            "nonsense",
            "dedup -z",
        ] {
            assert_eq!(similar(line), None, "{line}");
        }
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
            let names: Vec<OsString> = known.split(' ').map(OsString::from).collect();
            let last = names.last().and_then(|name| name.to_str()).unwrap();
            assert!(
                ["--version", "help"].contains(&known) || subcommand(&all, &names).get_name() == last,
                "{known}"
            );
        }
        for (letter, known) in LETTERS {
            assert!(options.contains(&known), "{known}");
            let has_letter = |command: &Command| {
                let mut all = command.get_arguments();
                all.any(|arg| arg.get_long() == Some(known) && arg.get_short() == Some(letter))
            };
            assert!(!all.get_subcommands().any(has_letter), "{letter}");
        }
    }
}
