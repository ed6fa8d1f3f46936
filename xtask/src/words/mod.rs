//! Checks plain words: sentences in comments, docstrings, help, the `OpenAPI` document and Markdown keep the rules that
//! a pattern can check. New commits must have a short subject and a body.

mod commits;
mod passages;
mod rules;
mod sample;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

pub use commits::check as commits;
use passages::{Kind, Language, Passage};
pub use sample::print as print_sample;

use crate::run::root;

/// Folders whose texts are read.
const FOLDERS: [&str; 9] =
    ["bench", "crates", "docs", "examples", "fuzz", "python", "tests", "vectors", "xtask"];
/// File whose strings are examples of sentences that break a rule.
const EXAMPLES: &str = "xtask/src/words/rules.rs";
/// Folders with build outputs, downloads or texts of other authors.
const NOT_OURS: [&str; 7] =
    [".pytest_cache", ".venv", "__pycache__", "dist", "node_modules", "target", "texts"];

/// Refuses sentences that break a rule.
pub fn check() -> Result<()> {
    let (mut wrong, mut sentences) = (vec![], 0);
    for file in files()? {
        let Some(language) = Language::of(&file) else { continue };
        let name = name_of(&file);
        let text = fs_err::read_to_string(&file)?;
        let mut passages = passages::of(&text, language);
        passages.retain(|passage| name != EXAMPLES || passage.kind != Kind::Data);
        if name.starts_with("tests/") || name.contains("/tests/") {
            passages.iter_mut().filter(|passage| passage.kind == Kind::Message).for_each(|passage| {
                passage.kind = Kind::Data;
            });
        }
        let found = problems(&passages, &mut sentences);
        wrong.extend(found.into_iter().map(|(line, problem)| format!("  {name}:{line}: {problem}")));
    }
    ensure!(
        wrong.is_empty(),
        "{} sentences break a rule of plain words (CONTRIBUTING.md):\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    println!("words: {sentences} sentences, and none breaks a rule");
    Ok(())
}

/// Returns the problems of a file's passages, with their lines. Adds the number of sentences to `sentences`.
fn problems(passages: &[Passage], sentences: &mut usize) -> Vec<(usize, String)> {
    let mut problems = vec![];
    for passage in passages {
        let all = passages::sentences(&passage.text);
        for (number, sentence) in all.iter().enumerate() {
            *sentences += 1;
            let is_last = number + 1 == all.len();
            let is_first = number == 0 && !passage.text.starts_with(' ');
            let found = rules::problem(sentence, is_first, is_last, passage.kind);
            problems.extend(found.map(|rule| (passage.line, format!("{rule}: {}", shortened(sentence)))));
        }
    }
    problems
}

/// Returns the beginning of a sentence, for a message.
fn shortened(sentence: &str) -> String {
    let mut shown: String = sentence.chars().take(90).collect();
    if shown.len() < sentence.len() {
        shown.push('…');
    }
    shown
}

/// Returns the path of a file below the root of the repository, with `/`.
fn name_of(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

/// Returns all files that may have texts, in a fixed order.
fn files() -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in fs_err::read_dir(root())? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    for folder in FOLDERS {
        find(&root().join(folder), &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let is_ours = path.file_name().is_none_or(|name| NOT_OURS.iter().all(|other| name != *other));
        if path.is_dir() && is_ours {
            find(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_have_their_lines() {
        let text = "/// A word.\n///\n/// What is long is not loaded. Texts stay.\nfn a() {}\n";
        let mut sentences = 0;
        let found = problems(&passages::of(text, Language::Rust), &mut sentences);
        assert_eq!(sentences, 3);
        assert_eq!(
            found,
            [(3, "begin with the subject, not with `What`: What is long is not loaded.".to_owned())]
        );
    }
}
