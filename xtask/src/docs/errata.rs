//! Checks the page of errata: it has every number, and each entry names a test, an experiment, or the reason why there
//! is neither.

use super::{evidence, links};
use crate::run::root;

/// Number of errata. The last erratum has this number.
pub const LAST: usize = 58;
/// Beginning of the text of an erratum that cannot be tested yet.
const TO_COME: &str = "*To come with the ";

/// Returns a message for each erratum that is missing or repeated, or that names neither a test nor an experiment.
pub fn problems(page: &str) -> Vec<String> {
    let mut wrong = vec![];
    for number in 1..=LAST {
        let heading = format!("### E-{number:02} ");
        let entries: Vec<&str> = page.match_indices(&heading).map(|(at, _)| entry(&page[at..])).collect();
        let [entry] = entries[..] else {
            wrong.push(format!("docs/concepts/errata.md has E-{number:02} {} times", entries.len()));
            continue;
        };
        let has_test = links::of(entry).iter().any(|link| evidence::named(link).is_some());
        let has_experiment = links::of(entry).iter().any(|link| corrects(&link.target, number));
        if !has_test && !has_experiment && !entry.contains(TO_COME) {
            wrong.push(format!("docs/concepts/errata.md: E-{number:02} names no test"));
        }
    }
    wrong
}

/// Returns the entries for the documentation of `minwise`. Links and the names of tests and experiments are removed,
/// because readers of the documentation do not have the repository. The text after the last entry is left out.
pub fn for_rustdoc(page: &str) -> String {
    let entries = page.find("\n## ").map_or("", |at| &page[at + 1..]);
    let last = entries.rfind("\n### E-").unwrap_or(0);
    let entries = entries[last..].find("\n## ").map_or(entries, |at| &entries[..last + at]).trim_end();
    let mut text = String::new();
    for paragraph in entries.split("\n\n") {
        if !text.is_empty() {
            text += "\n\n";
        }
        text += &without_links(&paragraph.trim().replace('\n', " "));
    }
    text + "\n"
}

/// Replaces links by their labels. A label in backticks names a test or an experiment; it is removed with the comma
/// before it.
fn without_links(paragraph: &str) -> String {
    let mut text = String::new();
    let mut rest = paragraph;
    while let Some((label, begin, end)) = first_link(rest) {
        text += &rest[..begin];
        if label.starts_with('`') {
            text.truncate(text.trim_end_matches([' ', ',']).len());
        } else {
            text += label;
        }
        rest = &rest[end..];
    }
    text + rest
}

/// Returns the label of the first link, and the byte range of the link.
fn first_link(text: &str) -> Option<(&str, usize, usize)> {
    let middle = text.find("](")?;
    let begin = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')? + 1;
    Some((&text[begin + 1..middle], begin, end))
}

/// Reports whether a link leads to the definition of an experiment that is expected to correct this erratum. If the
/// experiment does not correct it, `minwise-lab run` ends with an error.
fn corrects(target: &str, number: usize) -> bool {
    let Some((_, name)) = target.split_once("crates/lab/definitions/") else { return false };
    let definition =
        fs_err::read_to_string(root().join("crates/lab/definitions").join(name)).unwrap_or_default();
    let errata = definition.lines().find(|line| line.starts_with("errata = ")).unwrap_or_default();
    errata.contains(&format!("\"E-{number:02}\""))
}

/// Returns the entry up to the next heading.
fn entry(page: &str) -> &str {
    let rest = &page[1..];
    &page[..rest.find("\n#").map_or(page.len(), |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_evidence_of_what_they_correct() {
        let target = "../../crates/lab/definitions/002/figure-1.toml";
        assert!(corrects(target, 16) && !corrects(target, 18));
        assert!(!corrects("../../crates/lab/definitions/none.toml", 16) && !corrects("figure-1.toml", 16));
    }

    #[test]
    fn readers_of_rustdoc_get_no_links() {
        let page = "# Errata\n\nIntroduction.\n\n## The first source\n\n### E-01 Title\n\n★ Wrong in [0, p); see [bands](b.md). \
                    [`a_test`](../a.rs),\n[`other`](../b.rs)\n\nIt is *so*: [1/2](../c.toml) has it.\n\n## And in our own notes\n\nMore.\n";
        let expected = "## The first source\n\n### E-01 Title\n\n★ Wrong in [0, p); see bands.\n\nIt is *so*: 1/2 has it.\n";
        assert_eq!(for_rustdoc(page), expected);
    }

    #[test]
    fn every_number_is_asked_for() {
        let mut page = String::new();
        for number in 1..=LAST {
            page += &match number {
                3 => format!("### E-{number:02} Nothing shows it\n\nSo it is said.\n"),
                7 => continue,
                9 => format!("### E-{number:02} Later\n\n*To come with the filter.*\n"),
                _ => format!("### E-{number:02} Wrong\n\nRight: [`a_test`](../a.rs).\n\n"),
            };
        }
        let expected =
            ["docs/concepts/errata.md: E-03 names no test", "docs/concepts/errata.md has E-07 0 times"];
        assert_eq!(problems(&page), expected);
    }
}
