//! Checks the headers of modules and the documentation of setters. The items of a header must be a list, because
//! rustdoc joins aligned lines into one paragraph. A setter must have the documentation of its field.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::run::{packages, root};

/// Refuses headers whose items are labels in a column, and setters whose documentation differs from that of their
/// fields.
pub fn check() -> Result<()> {
    let (mut wrong, mut unlike) = (vec![], vec![]);
    for package in packages()? {
        let mut files = vec![];
        find(&package, &mut files)?;
        for file in files {
            let text = fs_err::read_to_string(&file)?;
            let shown = file.strip_prefix(root()).unwrap_or(&file).display();
            wrong.extend(columns(&text).map(|line| format!("{shown}:{line}")));
            unlike.extend(unlike_fields(&text).into_iter().map(|setter| format!("{shown}: {setter}")));
        }
    }
    ensure!(
        wrong.is_empty(),
        "write each item of a header as `//! - **Idea.** …`, because rustdoc joins aligned lines:\n{}",
        wrong.join("\n")
    );
    ensure!(
        unlike.is_empty(),
        "the documentation of a field in `setters!` must be that of the field itself:\n{}",
        unlike.join("\n")
    );
    Ok(())
}

/// Finds the Rust files in a folder, except build outputs.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the setters whose documentation differs from that of their fields, as `Type::field`.
fn unlike_fields(text: &str) -> Vec<String> {
    let mut unlike = vec![];
    for (at, _) in text.match_indices("\nsetters!(") {
        let block = &text[at + "\nsetters!(".len()..];
        let (Some((name, _)), Some((block, _))) = (block.split_once(" {"), block.split_once("\n});")) else {
            continue;
        };
        let fields = text.split_once(&format!("\npub struct {name} {{")).map_or("", |(_, body)| body);
        let fields = documented(fields.split_once("\n}").map_or(fields, |(body, _)| body));
        for setter in documented(block) {
            if !fields.contains(&setter) {
                unlike.push(format!("{name}::{}", setter.0));
            }
        }
    }
    unlike
}

/// Returns the fields in a body, with the lines of their documentation.
fn documented(body: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut fields, mut lines) = (vec![], vec![]);
    for line in body.lines().map(str::trim) {
        if line.starts_with("///") {
            lines.push(line);
        } else if let Some((name, _)) = line.strip_prefix("pub ").unwrap_or(line).split_once(": ")
            && line.ends_with(',')
            && !line.starts_with('#')
        {
            fields.push((name, std::mem::take(&mut lines)));
        }
    }
    fields
}

/// Returns the numbers of the lines, outside of examples, that begin with a label followed by a column of text.
fn columns(text: &str) -> impl Iterator<Item = usize> {
    let mut is_example = false;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let line = line.trim_start().strip_prefix("//! ")?;
        is_example ^= line.starts_with("```");
        (!is_example && has_column(line)).then_some(number)
    })
}

/// Reports whether a line is one or two words, two spaces or more, and a text.
fn has_column(line: &str) -> bool {
    let Some((label, text)) = line.split_once("  ") else { return false };
    let is_word = |word: &str| !word.is_empty() && word.chars().all(char::is_alphabetic);
    let words: Vec<&str> = label.split(' ').collect();
    label.starts_with(char::is_uppercase)
        && words.len() <= 2
        && words.into_iter().all(is_word)
        && !text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_and_lists_tables_and_examples_are_not() {
        let text = "//! Cells.\n//!\n//! Idea       Two sentences.\n//!            The second.\n//! - **Cost.** O(n).\n\
                    //! | a  | b |\n//! ```text\n//! G   = 1\n//! ```\n//! Do not     use it.\n//! A sentence.  Another.\n";
        assert_eq!(columns(text).collect::<Vec<_>>(), [3, 10]);
    }

    #[test]
    fn setters_have_the_words_of_their_fields() {
        let text = "\npub struct Options {\n    /// One.\n    #[serde(default)]\n    pub one: u8,\n    /// Two,\n    /// and more.\n    \
                    pub two: Option<u8>,\n}\n\nsetters!(Options {\n    /// One.\n    one: u8,\n    ;\n    /// Two,\n    \
                    two: Option<u8>,\n});\n";
        assert_eq!(unlike_fields(text), ["Options::two"]);
        assert_eq!(unlike_fields(&text.replace("    /// and more.\n", "")), [""; 0]);
    }
}
