//! Finds and checks the links of a Markdown page.

use std::path::Path;

use anyhow::Result;

/// Link or picture: `[text](target)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownLink {
    pub line: usize,
    pub text: String,
    pub target: String,
}

/// Returns the links of a page, except those in code.
pub fn of(page: &str) -> Vec<MarkdownLink> {
    let mut links = vec![];
    let mut is_code = false;
    for (line, text) in (1..).zip(page.lines()) {
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || text.starts_with("    ") {
            continue;
        }
        for (at, _) in text.match_indices("](") {
            let Some(end) = text[at + 2..].find(')') else { continue };
            // The text of a link may have brackets in code, but it cannot contain another link.
            let Some(begin) = text[..at].rfind('[') else { continue };
            // Brackets between backticks show the syntax of a link and are not a link.
            if text[..begin].matches('`').count() % 2 == 1 {
                continue;
            }
            let target = text[at + 2..at + 2 + end].to_owned();
            links.push(MarkdownLink { line, text: text[begin + 1..at].to_owned(), target });
        }
    }
    links
}

/// Returns the reason why a link leads nowhere, if it does. Links to other sites are not checked.
pub fn problem(page: &Path, link: &MarkdownLink) -> Result<Option<String>> {
    if link.target.contains("://") || link.target.starts_with("mailto:") {
        return Ok(None);
    }
    let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
    let folder = page.parent().unwrap_or(Path::new("."));
    let path = if file.is_empty() { page.to_owned() } else { folder.join(file) };
    if !path.exists() {
        return Ok(Some(format!("there is no `{}`", link.target)));
    }
    if anchor.is_empty() || path.extension().is_none_or(|extension| extension != "md") {
        return Ok(None);
    }
    let has = headings(&fs_err::read_to_string(&path)?).any(|heading| heading == anchor);
    Ok((!has).then(|| format!("`{file}` has no heading `{anchor}`")))
}

/// Returns the anchors of the headings: lower case, with hyphens for spaces, without punctuation.
pub fn headings(page: &str) -> impl Iterator<Item = String> {
    page.lines().filter(|line| line.starts_with('#')).map(|line| {
        line.trim_start_matches('#')
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let page = "A [text](to.md) and ![picture](plots/a.svg), [`name`](b.rs).\n```\n[no](link)\n```\n    [no](link)\n`[no](link)`\n";
        let found: Vec<(usize, String, String)> =
            of(page).into_iter().map(|link| (link.line, link.text, link.target)).collect();
        let link = |text: &str, target: &str| (1, text.to_owned(), target.to_owned());
        assert_eq!(found, [link("text", "to.md"), link("picture", "plots/a.svg"), link("`name`", "b.rs")]);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let page = &crate::run::root().join("CONTRIBUTING.md");
        let problem = |target: &str| {
            problem(page, &MarkdownLink { line: 1, text: String::new(), target: target.to_owned() }).unwrap()
        };
        for target in [
            "README.md",
            "xtask",
            "https://example.org/none",
            "CONTRIBUTING.md#two-commands",
            "#two-commands",
        ] {
            assert_eq!(problem(target), None, "{target}");
        }
        assert_eq!(problem("none.md").unwrap(), "there is no `none.md`");
        assert_eq!(problem("README.md#none").unwrap(), "`README.md` has no heading `none`");
    }
}
