//! Checks the messages of new commits: a short subject, and a body with the reason.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::run::root;

/// Last commit before the rule. Messages up to this commit are not checked.
const BASE: &str = "25d3402cb7d6e529ea41c5a7b1602b8a699ee888";
/// Last commit before the rule about the imperative. It is checked in later commits only.
const IMPERATIVE_BASE: &str = "6aaf6061";
/// Endings of words that are no imperative: "faster", "adding", "added".
const ENDINGS: [&str; 3] = ["er", "ing", "ed"];
/// Adjectives with which a subject begins if its verb is missing.
const ADJECTIVES: [&str; 4] = ["less", "more", "new", "plain"];
/// Verbs with one of the endings.
const VERBS: [&str; 23] = [
    "alter", "answer", "bring", "consider", "deliver", "discover", "embed", "enter", "exceed", "feed",
    "filter", "gather", "lower", "need", "number", "offer", "order", "prefer", "proceed", "recover",
    "register", "render", "speed",
];
/// Upper bound on the characters of a subject.
const SUBJECT: usize = 72;
/// Separator of commits in the output of git; `PART` separates the parts of a commit.
const COMMIT: char = '\u{1e}';
const PART: char = '\u{1f}';

/// Refuses commits since [`BASE`] with a subject that is long or has no area, or without a body, and commits since
/// [`IMPERATIVE_BASE`] whose subject has no imperative. Without git or these commits, skips the check and prints why.
///
/// Merges are left out, because a merge that only joins two lines needs no body.
pub fn check() -> Result<()> {
    let Some(old) = log(BASE) else {
        println!("commits: skipped, because there is no history with {}", &BASE[..8]);
        return Ok(());
    };
    let new = log(IMPERATIVE_BASE).unwrap_or_default();
    let problems = old.split(COMMIT).filter_map(problem);
    let wrong: Vec<String> = problems.chain(new.split(COMMIT).filter_map(mood_problem)).collect();
    ensure!(wrong.is_empty(), "messages of commits:\n  {}", wrong.join("\n  "));
    println!("commits: {} since {} have a short subject and a body", old.matches(COMMIT).count(), &BASE[..8]);
    Ok(())
}

/// Returns the messages of all commits since `base`, without merges.
fn log(base: &str) -> Option<String> {
    let format = format!("--format={COMMIT}%h{PART}%s{PART}%b");
    let range = format!("{base}..HEAD");
    let mut git = Command::new("git");
    git.arg("-C").arg(root()).args(["log", "--no-merges", &format, &range]);
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the reason why the message of a commit is refused, if it is.
fn problem(commit: &str) -> Option<String> {
    let mut parts = commit.splitn(3, PART);
    let (hash, subject, body) = (parts.next()?, parts.next()?, parts.next()?);
    if !has_area(subject) && !subject.starts_with("Revert ") {
        return Some(format!("{hash} has a subject that is not `area: imperative`: {subject}"));
    }
    let length = subject.chars().count();
    if length > SUBJECT {
        return Some(format!(
            "{hash} has a subject of {length} characters, and {SUBJECT} are allowed: {subject}"
        ));
    }
    body.trim().is_empty().then(|| format!("{hash} has no body: {subject}"))
}

/// Returns the reason why the subject of a commit is no imperative, if a pattern shows it.
fn mood_problem(commit: &str) -> Option<String> {
    let mut parts = commit.splitn(3, PART);
    let (hash, subject) = (parts.next()?, parts.next()?);
    if subject.starts_with("Revert ") {
        return None;
    }
    let first = subject.split_once(": ")?.1.split([' ', ',']).next()?;
    let is_ending = ENDINGS.iter().any(|ending| first.ends_with(ending)) && !VERBS.contains(&first);
    (is_ending || ADJECTIVES.contains(&first))
        .then(|| format!("{hash} has a subject that does not begin with an imperative: {subject}"))
}

/// Reports whether a subject has the form `area: imperative`: names in small letters, then words that do not begin with a
/// capital.
fn has_area(subject: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./, ".contains(c);
    subject.split_once(": ").is_some_and(|(area, rest)| {
        !area.is_empty() && area.chars().all(is_name) && !rest.starts_with(char::is_uppercase)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_short_and_bodies_are_there() {
        assert_eq!(problem("abc\u{1f}core: mend a bound\u{1f}A band of 0 rows was accepted.\n"), None);
        assert_eq!(problem("abc\u{1f}core: mend\u{1f}\n").unwrap(), "abc has no body: core: mend");
        let long = format!("abc\u{1f}core: {}\u{1f}Why.\n", "x".repeat(67));
        assert!(problem(&long).unwrap().starts_with("abc has a subject of 73 characters"));
        assert_eq!(problem(""), None);
    }

    #[test]
    fn subjects_begin_with_an_imperative() {
        let mood = |subject: &str| mood_problem(&format!("abc\u{1f}core: {subject}\u{1f}Why.\n"));
        for subject in ["faster bands", "adding a band", "added a band", "more bands", "plain words"] {
            assert!(mood(subject).is_some(), "{subject}");
        }
        for subject in ["mend a bound", "order bands", "bring a band", "name the added band"] {
            assert_eq!(mood(subject), None, "{subject}");
        }
        assert_eq!(mood_problem("abc\u{1f}Revert \"core: faster bands\"\u{1f}Why.\n"), None);
    }

    #[test]
    fn subjects_have_an_area() {
        for subject in ["core: mend", "core/hash, python: mend `x`", "docs: 300 sentences"] {
            assert!(has_area(subject), "{subject}");
        }
        for subject in ["mend a bound", "Core: mend", "core: Mend", ": mend"] {
            assert!(!has_area(subject), "{subject}");
        }
        let message = problem("abc\u{1f}mend\u{1f}Why.\n").unwrap();
        assert_eq!(message, "abc has a subject that is not `area: imperative`: mend");
        assert_eq!(problem("abc\u{1f}Revert \"core: mend\"\u{1f}Why.\n"), None);
    }
}
