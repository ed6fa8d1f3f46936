//! The headers of modules, which must be lists: rustdoc joins lines that are only aligned into one paragraph.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::run::{packages, root};

/// Refuses headers whose items are labels in a column of their own.
pub fn check() -> Result<()> {
    let mut wrong = vec![];
    for package in packages()? {
        let mut files = vec![];
        find(&package, &mut files)?;
        for file in files {
            let text = fs_err::read_to_string(&file)?;
            let shown = file.strip_prefix(root()).unwrap_or(&file).display();
            wrong.extend(columns(&text).map(|line| format!("{shown}:{line}")));
        }
    }
    ensure!(
        wrong.is_empty(),
        "write each item of a header as `//! - **Idea.** …`, because rustdoc joins aligned lines:\n{}",
        wrong.join("\n")
    );
    Ok(())
}

/// The Rust files in a folder, but for what is built.
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

/// The numbers of the lines that begin with a label and a column of text behind it, outside of examples.
fn columns(text: &str) -> impl Iterator<Item = usize> {
    let mut is_example = false;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let line = line.trim_start().strip_prefix("//! ")?;
        is_example ^= line.starts_with("```");
        (!is_example && has_column(line)).then_some(number)
    })
}

/// Whether a line is one or two words, two spaces or more, and a text.
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
}
