//! Checks the tests that a page names. Such a link leads to a Rust file, and its text is the name of a test in this
//! file.

use std::path::Path;

use anyhow::Result;

use super::links::MarkdownLink;

/// Returns the name of the test that a link names, if it names one.
pub fn named(link: &MarkdownLink) -> Option<&str> {
    let name = link.text.strip_prefix('`')?.strip_suffix('`')?;
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let is_rust = Path::new(&link.target).extension().is_some_and(|extension| extension == "rs");
    (is_name && is_rust).then_some(name)
}

/// Returns the reason why the named function is not a test, if it is not.
pub fn problem(page: &Path, link: &MarkdownLink) -> Result<Option<String>> {
    let Some(name) = named(link) else { return Ok(None) };
    let path = page.parent().unwrap_or(Path::new(".")).join(&link.target);
    if !path.exists() {
        return Ok(None);
    }
    let is_test = is_test(&fs_err::read_to_string(path)?, name);
    Ok((!is_test).then(|| format!("`{}` has no test `{name}`", link.target)))
}

/// Reports whether a source has a test of this name.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let is_named = line
            .strip_prefix("fn ")
            .is_some_and(|rest| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '<'])));
        // Other attributes and comments may stand between `#[test]` and the function.
        let above =
            lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        is_named && above.into_iter().any(|line| *line == "#[test]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_a_function_with_its_attribute() {
        let source = "/// Says why.\n#[test]\n#[ignore]\nfn it_is() {}\n\nfn it_is_not() {}\n    #[test]\n    fn inside() {}\n";
        assert!(is_test(source, "it_is") && is_test(source, "inside"));
        assert!(!is_test(source, "it_is_not") && !is_test(source, "it") && !is_test(source, "none"));
    }

    #[test]
    fn only_names_in_code_that_lead_to_rust_are_tests() {
        let link = |text: &str, target: &str| MarkdownLink {
            line: 1,
            text: text.to_owned(),
            target: target.to_owned(),
        };
        assert_eq!(named(&link("`the_law`", "a/b.rs")), Some("the_law"));
        for (text, target) in [("the law", "a/b.rs"), ("`the_law`", "a/b.md"), ("`MinHash`", "a/b.rs")] {
            assert_eq!(named(&link(text, target)), None);
        }
    }
}
