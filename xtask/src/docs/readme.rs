//! Checks the required parts and the length of the README. Newcomers read it first, and most of them read nothing else.

/// Upper bound on the lines of the README.
const MOST_LINES: usize = 150;
/// Headings of the README, in this order.
const HEADINGS: [&str; 7] = [
    "## Two commands",
    "## In 60 seconds",
    "## Install",
    "## Five ways to use it, with the same decisions",
    "## How fast",
    "## Promises, each of them tested",
    "## The works it implements",
];
/// Ways to use Minwise. Each begins a paragraph.
const WAYS: [&str; 5] =
    ["**The command.**", "**The archive and its web page.**", "**Python.**", "**Spark.**", "**Rust.**"];
/// Number of promises. Each is a numbered line.
const PROMISES: usize = 10;

/// Returns all problems of the README.
pub fn problems(readme: &str) -> Vec<String> {
    let mut problems = vec![];
    let lines = readme.lines().count();
    if lines > MOST_LINES {
        problems.push(format!("README.md has {lines} lines, and at most {MOST_LINES} are allowed"));
    }
    let headings: Vec<&str> = readme.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != HEADINGS {
        problems.push(format!("README.md has the headings {headings:?}, and must have {HEADINGS:?}"));
    }
    for way in WAYS {
        if !readme.lines().any(|line| line.starts_with(way)) {
            problems.push(format!("README.md has no paragraph that begins with `{way}`"));
        }
    }
    let promises = readme.split("## Promises").nth(1).unwrap_or_default();
    let promises = promises.split("\n## ").next().unwrap_or_default();
    let is_promise = |number: usize| promises.lines().any(|line| line.starts_with(&format!("{number}. ")));
    if !(1..=PROMISES).all(is_promise) || is_promise(PROMISES + 1) {
        problems.push(format!("README.md must have {PROMISES} promises, one line each"));
    }
    problems
}

/// Returns the reason why `CITATION.cff` does not describe this version, if it does not.
pub fn citation_problem(citation: &str, version: &str) -> Option<String> {
    let stated = citation.lines().find_map(|line| line.strip_prefix("version: "));
    let is_right = stated == Some(version);
    (!is_right).then(|| format!("CITATION.cff has the version {stated:?}, and Cargo.toml has {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_citation_has_the_version_of_the_workspace() {
        let citation = include_str!("../../../CITATION.cff");
        assert_eq!(citation_problem(citation, env!("CARGO_PKG_VERSION")), None);
        assert!(
            citation_problem(citation, "0.0.0")
                .is_some_and(|problem| problem.ends_with("Cargo.toml has 0.0.0"))
        );
    }

    #[test]
    fn the_readme_has_its_parts_and_no_more_lines() {
        let readme = include_str!("../../../README.md");
        assert_eq!(problems(readme), Vec::<String>::new());
        let room = MOST_LINES - readme.lines().count();
        let longer = format!("{readme}{}", "\n".repeat(room + 1));
        assert_eq!(problems(&longer), ["README.md has 151 lines, and at most 150 are allowed"]);
        for part in ["## Install\n", "**Spark.**", "\n7. "] {
            assert_eq!(problems(&readme.replacen(part, "x", 1)).len(), 1, "{part}");
        }
    }
}
