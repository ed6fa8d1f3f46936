//! Expands patterns such as `data/*.jsonl` and `archive/**/report-[0-9].txt`.

use std::path::{MAIN_SEPARATOR, Path};

use fast_glob::{glob_match, validate};

use super::walk::{self, FoundFile};
use crate::error::{Error, ErrorKind, Result};

/// Files that a pattern matches.
pub(super) struct PatternMatches<'p> {
    /// Beginning of the pattern up to the last slash before the first name with a wildcard.
    pub(super) prefix: &'p str,
    /// Folder that the prefix names.
    pub(super) folder: &'p Path,
    /// The files, at least one.
    pub(super) files: Vec<FoundFile>,
}

/// Reports whether an input that is no file may be a pattern.
pub(super) fn has_wildcard(input: &str) -> bool {
    first_wildcard(input).is_some()
}

/// Returns the files that match a pattern, in the order of their names. `*` stays within a folder, `**` does not.
pub(super) fn expand(pattern: &str) -> Result<PatternMatches<'_>> {
    let (prefix, names) = split(pattern);
    validate(names).map_err(|error| {
        Error::new(ErrorKind::BadPattern { pattern: pattern.to_owned(), message: reason(error.kind) })
    })?;
    // The library would take a leading `!` for a negation. The `!` is escaped, because it is an ordinary character
    // here, as in shells.
    let names = names.replacen('!', "\\!", usize::from(names.starts_with('!')));
    let folder = Path::new(prefix);
    let start = if prefix.is_empty() { Path::new(".") } else { folder };
    let mut files = if start.is_dir() { walk::files_in(start, depth(&names))? } else { Vec::new() };
    files.retain(|file| {
        let is_folder = file.obstacle.as_ref().is_some_and(|obstacle| obstacle.is_folder);
        if is_folder { may_hold(&names, file) } else { is_match(&names, file) }
    });
    if files.is_empty() {
        return Err(Error::new(ErrorKind::NoMatch { pattern: pattern.to_owned() }));
    }
    Ok(PatternMatches { prefix, folder, files })
}

fn is_match(names: &str, file: &FoundFile) -> bool {
    glob_match(names, file.relative.as_os_str().as_encoded_bytes())
}

/// Reports whether a folder that cannot be read may contain files that match.
fn may_hold(names: &str, folder: &FoundFile) -> bool {
    if depth(names).is_none() {
        return true;
    }
    let parts: Vec<&str> = names.split(['/', MAIN_SEPARATOR]).collect();
    match parts.get(..folder.relative.components().count()) {
        Some(above) if above.len() < parts.len() => is_match(&above.join("/"), folder),
        _ => false,
    }
}

/// Returns the reason why a pattern is not valid.
fn reason(kind: fast_glob::ErrorKind) -> String {
    use fast_glob::ErrorKind::{
        BraceNestingTooDeep, TooManyBraceGroups, TrailingBackslash, UnclosedBrace, UnclosedBracket,
    };
    match kind {
        UnclosedBrace => "the `{` is not closed by a `}`",
        UnclosedBracket => "the `[` is not closed by a `]`",
        TrailingBackslash => "the `\\` at the end has no character behind it",
        BraceNestingTooDeep => "more than 10 braces are inside of one another",
        TooManyBraceGroups => "it has more than 10 pairs of braces",
        _ => "it cannot be read",
    }
    .to_owned()
}

fn first_wildcard(pattern: &str) -> Option<usize> {
    pattern.find(['*', '?', '[', '{'])
}

/// Splits a pattern before the first name with a wildcard in it.
fn split(pattern: &str) -> (&str, &str) {
    let literal = first_wildcard(pattern).and_then(|end| pattern.get(..end)).unwrap_or(pattern);
    let prefix_len = literal.rfind(['/', MAIN_SEPARATOR]).map_or(0, |slash| slash + 1);
    pattern.split_at(prefix_len)
}

/// Returns the maximum depth of a match, so that `*.txt` in a home folder does not walk the whole folder; `None` if
/// there is no maximum.
fn depth(names: &str) -> Option<usize> {
    let unbounded = names.contains("**") || names.contains('{');
    (!unbounded).then(|| names.split(['/', MAIN_SEPARATOR]).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(folder: &Path, pattern: &str) -> Result<Vec<String>> {
        let pattern = format!("{}/{pattern}", folder.to_string_lossy());
        expand(&pattern).map(|matches| matches.files.into_iter().map(|file| file.name).collect())
    }

    #[test]
    fn a_pattern_is_split_before_its_first_wildcard() {
        assert_eq!(split("data/2024/*.jsonl"), ("data/2024/", "*.jsonl"));
        assert_eq!(split("data/part-*/a.txt"), ("data/", "part-*/a.txt"));
        assert_eq!(split("*.txt"), ("", "*.txt"));
        assert_eq!(split("/*.txt"), ("/", "*.txt"));
        assert_eq!(split("{a/b,c}/d"), ("", "{a/b,c}/d"));
        assert_eq!(depth("*.txt"), Some(1));
        assert_eq!(depth("part-*/a.txt"), Some(2));
        assert_eq!(depth("**/a.txt"), None);
        assert_eq!(depth("{a/b,c}"), None);
    }

    #[test]
    fn stars_stay_in_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("x/y")).unwrap();
        for file in ["b.txt", "a.txt", "c.md", "x/d.txt", "x/y/e.txt"] {
            fs_err::write(folder.path().join(file), file).unwrap();
        }
        let matched = |pattern| matched(folder.path(), pattern);
        assert_eq!(matched("*.txt").unwrap(), ["a.txt", "b.txt"]);
        assert_eq!(matched("**/*.txt").unwrap(), ["a.txt", "b.txt", "x/d.txt", "x/y/e.txt"]);
        assert_eq!(matched("x/*/?.txt").unwrap(), ["y/e.txt"]);
        assert_eq!(matched("{c.md,x/d.txt}").unwrap(), ["c.md", "x/d.txt"]);
        assert_eq!(matched("[ab].txt").unwrap(), ["a.txt", "b.txt"]);
        assert_eq!(matched("[!a].txt").unwrap(), ["b.txt"]);
        assert_eq!(matched("!*.txt").unwrap_err().kind().code(), "no_match");
        fs_err::write(folder.path().join("!a.txt"), "").unwrap();
        assert_eq!(matched("!*.txt").unwrap(), ["!a.txt"]);
        let error = matched("*.pdf").unwrap_err();
        assert!(error.to_string().ends_with("*.pdf`"), "{error}");
        assert!(error.hint().unwrap().to_string().contains("quote"));
        assert!(matches!(matched("missing/*.txt").unwrap_err().kind(), ErrorKind::NoMatch { .. }));
        for bad in ["a[.txt", "*{a", "*a\\"] {
            assert!(matches!(matched(bad).unwrap_err().kind(), ErrorKind::BadPattern { .. }), "{bad}");
        }
    }

    /// A broken link or an unreadable folder counts only if its path may match the pattern.
    #[cfg(unix)]
    #[test]
    fn unreadable_files_count_if_they_may_match_the_pattern() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("x")).unwrap();
        fs_err::write(folder.path().join("x/a.txt"), "a").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("x/b.txt")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("x/b.pdf")).unwrap();
        std::os::unix::fs::symlink("../x", folder.path().join("x/circle")).unwrap();
        let matched = |pattern| matched(folder.path(), pattern).unwrap();
        assert_eq!(matched("x/*.txt"), ["a.txt", "b.txt"]);
        assert_eq!(matched("?/*.txt"), ["x/a.txt", "x/b.txt"]);
        assert_eq!(matched("x/**/*.txt"), ["a.txt", "b.txt", "circle"]);
        assert_eq!(matched("{x,y}/*.txt"), ["x/a.txt", "x/b.txt", "x/circle"]);
        let unread =
            |relative: &str| FoundFile { name: relative.into(), relative: relative.into(), obstacle: None };
        assert!(may_hold("part-*/*.txt", &unread("part-1")));
        assert!(!may_hold("part-*/*.txt", &unread("secret")));
        assert!(!may_hold("*.txt", &unread("secret.txt")));
        assert!(!may_hold("*/*.txt", &unread("part-1/secret.txt")));
    }
}
