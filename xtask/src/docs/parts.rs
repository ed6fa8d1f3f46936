//! Checks the parts of pages: the beginning of a page of concepts, and the paths of source files that a page names.

use std::path::Path;

use crate::run::root;

/// Label of the paragraph with the example.
const EXAMPLE: &str = "**Example.** ";

/// Reports whether a page begins with a paragraph of two to four sentences and then an example, before any formula or
/// heading.
pub fn begins_with_an_example(page: &str) -> bool {
    let mut paragraphs = page.split("\n\n").skip(1);
    let (Some(idea), Some(example)) = (paragraphs.next(), paragraphs.next()) else { return false };
    let sentences = idea.matches(". ").count() + 1;
    (2..=4).contains(&sentences) && !idea.starts_with(['#', '`', '|']) && example.starts_with(EXAMPLE)
}

/// Returns the paths of source files in code spans that do not exist. A path may leave out `crates/`.
pub fn missing_paths(page: &str) -> Vec<String> {
    let mut missing = vec![];
    for (line, text) in (1..).zip(page.lines()) {
        let spans = text.split('`').skip(1).step_by(2);
        for path in spans.filter(|span| is_rust(span) && span.contains("/src/")) {
            if !root().join(path).exists() && !root().join("crates").join(path).exists() {
                missing.push(format!("line {line}: there is no `{path}`"));
            }
        }
    }
    missing
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_with_its_idea_and_an_example() {
        let page = "# Head\n\nOne sentence. Another one.\n\n**Example.** 1 + 1 = 2.\n\n## Formula\n";
        assert!(begins_with_an_example(page));
        for (part, other) in [
            ("One sentence. Another one.", "One sentence."),
            ("**Example.** ", ""),
            ("One sentence. Another one.\n\n", ""),
            ("# Head\n\n", "# Head\n\n## Formula\n\n"),
        ] {
            assert!(!begins_with_an_example(&page.replacen(part, other, 1)), "{part}");
        }
    }

    #[test]
    fn paths_of_source_files_exist() {
        assert_eq!(
            missing_paths("`xtask/src/main.rs` and `core/src/lib.rs`, `heads.rs`"),
            Vec::<String>::new()
        );
        assert_eq!(missing_paths("\n`core/src/nothing.rs`"), ["line 2: there is no `core/src/nothing.rs`"]);
    }
}
