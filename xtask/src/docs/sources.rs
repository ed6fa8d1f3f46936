//! Checks references to the five works, to `docs/sources` and to errata: the work, its place, the heading and the
//! erratum must exist.
//!
//! A reference in code, comments, definitions and pages has one of these forms:
//!
//! - `docs/sources/PAGE.md#heading`, where the page and the heading must exist;
//! - a short name of a work and a place in it, such as `Yuan 2012, (29)`, where the table of places in
//!   `docs/sources/README.md` must contain the place;
//! - the number of an erratum, from E-01 to E-58.
//!
//! A place before its work, such as "Table 1 of" a work, is refused, because it could not be checked.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::errata::LAST;
use super::links::headings;
use crate::run::root;

/// Page with the works and their places.
const PAGE: &str = "docs/sources/README.md";
/// Words before the number of a figure, a table or an algorithm, with the index in `Work::last`.
const KINDS: [(&str, usize); 6] =
    [("Figures ", 2), ("Figure ", 2), ("Tables ", 3), ("Table ", 3), ("Algorithms ", 4), ("Algorithm ", 4)];
/// Number of kinds of places in the table: sections, equations, figures, tables and algorithms.
const PLACES: usize = 5;
/// Index of sections in `Work::last`; `EQUATION` is the index of equations.
const SECTION: usize = 0;
const EQUATION: usize = 1;

/// Work with its short name, and the last number of each kind of place.
#[derive(Debug, PartialEq, Eq)]
pub struct Work {
    name: String,
    last: [u32; PLACES],
}

/// Works and pages to which references lead.
pub struct Sources {
    works: Vec<Work>,
    /// Pages below `docs/sources`, each with its headings.
    pages: Vec<(String, Vec<String>)>,
}

impl Sources {
    /// Reads the works and pages of the repository.
    pub fn read() -> Result<Self> {
        let works = works(&fs_err::read_to_string(root().join(PAGE))?)?;
        let mut pages = vec![];
        for entry in fs_err::read_dir(root().join("docs/sources"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pages.push((name, headings(&fs_err::read_to_string(&path)?).collect()));
        }
        Ok(Self { works, pages })
    }

    /// Returns the references in a text that lead nowhere, each with its line.
    pub fn problems(&self, path: &Path, text: &str) -> Vec<(usize, String)> {
        let mut problems = vec![];
        let mut lines = text.lines().map(words).peekable();
        for line in 1.. {
            let Some(text) = lines.next() else { break };
            // A reference may continue in the next line. It belongs to the line in which it begins.
            let joined = format!("{text} {}", lines.peek().unwrap_or(&""));
            let span = Span { text: &joined, end: text.len() };
            let mut found = self.page_problems(span);
            found.extend(errata_problems(span));
            found.extend(self.place_problems(span));
            found.extend(old_problems(path, span));
            problems.extend(found.into_iter().map(|problem| (line, problem)));
        }
        problems
    }

    /// Returns the places on the page of errata that their works do not have. An entry begins with its stars and its
    /// place, below the heading of its work.
    pub fn errata_problems(&self, page: &str) -> Vec<String> {
        let mut problems = vec![];
        let mut work = None;
        for (line, text) in (1..).zip(page.lines()) {
            if let Some(name) = text.strip_prefix("## ") {
                work = self.works.iter().find(|work| work.name == name);
            }
            let (Some(work), Some(_)) = (work, text.strip_prefix('★')) else { continue };
            let unknown = work.unknown(text.trim_start_matches(['★', ' '])).into_iter();
            problems.extend(unknown.map(|place| format!("line {line}: {} has no {place}", work.name)));
        }
        problems
    }

    /// Returns the named pages and headings of `docs/sources` that do not exist.
    fn page_problems(&self, span: Span<'_>) -> Vec<String> {
        let mut problems = vec![];
        for (_, rest) in span.find("docs/sources/") {
            let is_part = |c: char| c.is_alphanumeric() || ['-', '_', '.', '#'].contains(&c);
            let target: &str = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
            let target = target.trim_end_matches('.');
            if target.is_empty() || !target.contains(".md") {
                continue;
            }
            let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
            let Some((_, headings)) = self.pages.iter().find(|(name, _)| name == page) else {
                problems.push(format!("there is no `docs/sources/{page}`"));
                continue;
            };
            if !anchor.is_empty() && !headings.iter().any(|heading| heading == anchor) {
                problems.push(format!("`docs/sources/{page}` has no heading `{anchor}`"));
            }
        }
        problems
    }

    /// Returns places that a work does not have, and links to the list of works whose text is not a short name.
    fn place_problems(&self, span: Span<'_>) -> Vec<String> {
        let mut problems = vec![];
        for (_, rest) in span.find("[") {
            let Some((label, _)) = rest.split_once("](crate#sources)") else { continue };
            // A text such as "the sources" links to the whole list.
            let is_name = self.works.iter().any(|work| work.name == label) || label.ends_with("sources");
            if !is_name && !label.contains(['[', ']']) {
                problems.push(format!("`{label}` is no short name of {PAGE}"));
            }
        }
        for (at, rest) in span.find(" of ") {
            let after = rest.trim_start_matches('[');
            let work = self.works.iter().find(|work| after.starts_with(&work.name));
            if let Some(Work { name, .. }) = work.filter(|_| ends_with_place(&span.text[..at])) {
                problems.push(format!("the place stands before the work: write `{name}, PLACE`"));
            }
        }
        for work in &self.works {
            for (_, rest) in span.find(&work.name) {
                let rest = rest.strip_prefix("](crate#sources)").unwrap_or(rest);
                let Some(places) = rest.strip_prefix(", ") else { continue };
                let unknown = work.unknown(places).into_iter();
                problems.extend(unknown.map(|place| format!("{} has no {place}", work.name)));
            }
        }
        problems
    }
}

/// A line joined with the next one, because a reference may be broken over two lines. `end` is the end of the first
/// line: references that begin after it belong to the next span.
#[derive(Clone, Copy)]
struct Span<'a> {
    text: &'a str,
    end: usize,
}

impl<'a> Span<'a> {
    /// Returns the places at which `what` occurs, each with the text after it.
    fn find(self, what: &str) -> impl Iterator<Item = (usize, &'a str)> {
        let found = self.text.match_indices(what).take_while(move |&(at, _)| at < self.end);
        found.map(move |(at, what)| (at, &self.text[at + what.len()..]))
    }
}

/// Returns a line without the marks of a comment.
fn words(line: &str) -> &str {
    let line = line.trim();
    let marks = ["///", "//!", "//", "#"];
    marks.iter().find_map(|mark| line.strip_prefix(mark)).map_or(line, str::trim_start)
}

impl Work {
    /// Reads the places at the beginning of a text, and returns those that the work does not have.
    fn unknown(&self, mut text: &str) -> Vec<String> {
        let mut unknown = vec![];
        let mut kind = None;
        loop {
            let before = text;
            if let Some(rest) = text.strip_prefix('§') {
                kind = Some(SECTION);
                text = rest;
            } else if text.starts_with('(') && text[1..].starts_with(|c: char| c.is_ascii_digit()) {
                kind = Some(EQUATION);
                text = &text[1..];
            } else if let Some((word, place)) = KINDS.iter().find(|(word, _)| text.starts_with(word)) {
                kind = Some(*place);
                text = &text[word.len()..];
            }
            let Some(place) = kind else { return unknown };
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let Ok(number) = text[..digits].parse::<u32>() else { return unknown };
            if !(1..=self.last[place]).contains(&number) {
                let what = ["section", "equation", "figure", "table", "algorithm"][place];
                unknown.push(format!("{what} {number}"));
            }
            text = text[digits..].trim_start_matches(|c: char| c == ')' || c == '.' || c.is_ascii_digit());
            for join in [", ", " to ", " and "] {
                text = text.strip_prefix(join).unwrap_or(text);
            }
            // In a list of equations or sections, every number has its own bracket or sign, so a bare number does not
            // continue the list.
            if [SECTION, EQUATION].contains(&place) {
                kind = None;
            }
            if text == before {
                return unknown;
            }
        }
    }
}

/// Reports whether a text ends with the place of a work, such as `§5`, `(9)` or `Table 1`.
fn ends_with_place(text: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (before, last) = text.rsplit_once(' ').unwrap_or(("", text));
    let before = before.rsplit(' ').next().unwrap_or_default().to_lowercase();
    let is_kind = ["figure", "table", "algorithm", "section", "equation", "formula", "to", "and"]
        .iter()
        .any(|kind| before.trim_end_matches('s') == *kind);
    last.strip_prefix(['§', '(']).is_some_and(is_number) || is_number(last) && is_kind
}

/// Returns the works in the table of places.
fn works(page: &str) -> Result<Vec<Work>> {
    let places = page.split("\n## Places in the works\n").nth(1).context("no table of places")?;
    let rows = places.split("\n## ").next().unwrap_or_default().lines().filter(|line| line.starts_with('|'));
    let mut works = vec![];
    for row in rows.skip(2) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        ensure!(cells.len() == PLACES + 2, "{PAGE}: a row of places has {} cells: {row}", cells.len());
        let mut last = [0; PLACES];
        for (last, cell) in last.iter_mut().zip(&cells[2..]) {
            *last = cell.rsplit('–').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        }
        works.push(Work { name: cells[0].to_owned(), last });
    }
    ensure!(works.len() == 5, "{PAGE}: the table of places has {} works", works.len());
    Ok(works)
}

/// Returns the numbers of errata that do not exist. `1E-02` is a number of another kind.
fn errata_problems(span: Span<'_>) -> Vec<String> {
    let mut problems = vec![];
    for (at, rest) in span.find("E-") {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let is_word = span.text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        if is_word || number.len() != 2 {
            continue;
        }
        if !number.parse().is_ok_and(|number| (1..=LAST).contains(&number)) {
            problems.push(format!("there is no erratum E-{number}"));
        }
    }
    problems
}

/// Returns references by the number of a work, and references to the notes from which `docs/sources` was made. No
/// reader has these notes.
fn old_problems(path: &Path, span: Span<'_>) -> Vec<String> {
    let mut old = vec![];
    let lower = span.text.to_lowercase();
    for number in 1..=7 {
        old.extend([format!("digest 0{number}"), format!("digest {number}")]);
    }
    old.extend(["second", "third", "fourth", "fifth"].map(|ordinal| format!("{ordinal} source")));
    // In other folders, "first source" may mean the first source of a run.
    if path.starts_with("crates/core") || path.starts_with("crates/lab") || path.starts_with("docs/concepts")
    {
        old.extend(["first source", "the digest"].map(str::to_owned));
    }
    // This name was that of a file which is not in the repository.
    let file = span.text.find("DESIGN").filter(|&at| at < span.end);
    let file = file.map(|_| "`DESIGN`: name the promise of README.md or a page of docs".to_owned());
    let found = old.into_iter().filter(|old| lower.find(old.as_str()).is_some_and(|at| at < span.end));
    found.map(|old| format!("`{old}`: name the work or the page of docs/sources")).chain(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# Sources\n\n## Places in the works\n\nText.\n\n| short name | lab | sections | equations | figures | tables | algorithms |\n\
        |---|---|---|---|---|---|---|\n| Ann 2018 | 000 | 1–6 | 1–26 | 1–7 | 1–4 | 1 |\n| Bob 2012 | 001 | 1–9 | – | 1–5 | – | – |\n\
        | C | 002 | 1 | – | – | – | – |\n| D | 003 | 1 | – | – | – | – |\n| E | 004 | 1 | – | – | – | – |\n\n## Pages\n\n| a | b |\n";

    fn sources() -> Sources {
        let pages = vec![("bits.md".to_owned(), vec!["bit-sketches".to_owned(), "b-bit".to_owned()])];
        Sources { works: works(TABLE).unwrap(), pages }
    }

    fn problems(line: &str) -> Vec<String> {
        sources()
            .problems(Path::new("crates/core/src/a.rs"), line)
            .into_iter()
            .map(|(_, problem)| problem)
            .collect()
    }

    #[test]
    fn works_have_places() {
        let works = works(TABLE).unwrap();
        assert_eq!(works[0], Work { name: "Ann 2018".to_owned(), last: [6, 26, 7, 4, 1] });
        assert_eq!(works[1].last, [9, 0, 5, 0, 0]);
    }

    #[test]
    fn places_that_exist_are_accepted() {
        for line in [
            "//! [Ann 2018](crate#sources), §5, has it; see the [sources](crate#sources).",
            "// Ann 2018, (17) to (19), (24), Figures 2 and 3, and more",
            "// Bob 2012, §5.1, and Ann 2018, Algorithm 1: so",
            "// the method of Ann 2018, and two of Bob 2012",
            "// Ann 2018, which has 99 pages; docs/sources/bits.md#b-bit. E-58, 3.9E-99",
            "/// The first of the sources' lines",
        ] {
            assert_eq!(problems(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn places_that_do_not_exist_are_refused() {
        let one = |line: &str, problem: &str| assert_eq!(problems(line), [problem], "{line}");
        one("// Ann 2018, (27)", "Ann 2018 has no equation 27");
        one("// Ann 2018, (17) to (29)", "Ann 2018 has no equation 29");
        one("// Bob 2012, Table 1", "Bob 2012 has no table 1");
        one("// Bob 2012, Figures 2 and 6", "Bob 2012 has no figure 6");
        one("//! [Bob 2012](crate#sources), §10", "Bob 2012 has no section 10");
        one("//! [Bob](crate#sources)", "`Bob` is no short name of docs/sources/README.md");
        one("// docs/sources/bit.md", "there is no `docs/sources/bit.md`");
        one("// docs/sources/bits.md#b.", "`docs/sources/bits.md` has no heading `b`");
        one("// wrong (E-59)", "there is no erratum E-59");
        one("// E-00", "there is no erratum E-00");
        one("// Digest 04, 9", "`digest 04`: name the work or the page of docs/sources");
        one("// Ann\n// 2018, Figure 8", "Ann 2018 has no figure 8");
        one("//! [Ann 2018](crate#sources),\n//! Table 5", "Ann 2018 has no table 5");
        one(
            "// Table 1 of [Ann 2018](crate#sources)",
            "the place stands before the work: write `Ann 2018, PLACE`",
        );
        one(
            "// formulas (5) to (9) of\n// Ann 2018",
            "the place stands before the work: write `Ann 2018, PLACE`",
        );
        one("// §5.1 of Bob 2012", "the place stands before the work: write `Bob 2012, PLACE`");
        one("// DESIGN, promise 7", "`DESIGN`: name the promise of README.md or a page of docs");
        one("// the fifth source", "`fifth source`: name the work or the page of docs/sources");
    }

    #[test]
    fn entries_of_errata_begin_with_places() {
        let page = "# Errata\n\n## Ann 2018\n\n★★ (17), Figure 9. Wrong.\n\n★ Text. Figure 99.\n\n## Bob 2012\n\n★★★ §9, §10. Wrong.\n\n\
                    ## Our own notes\n\n★ (99)\n";
        let expected = ["line 5: Ann 2018 has no figure 9", "line 11: Bob 2012 has no section 10"];
        assert_eq!(sources().errata_problems(page), expected);
    }

    #[test]
    fn the_works_of_the_repository_are_those_of_rustdoc() {
        let rustdoc = fs_err::read_to_string(root().join("crates/core/src/lib.rs")).unwrap();
        for work in Sources::read().unwrap().works {
            assert!(rustdoc.contains(&format!("//! - **{}**: ", work.name)), "{}", work.name);
        }
    }
}
