//! Inputs, as programs name them and as words of a command line.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::pattern;
use crate::error::STDIN;
use crate::memory::InMemory;

/// Where a corpus reads from: standard input, a path, a pattern, a named file or memory.
///
/// ```
/// use minwise_corpus::Input;
///
/// // A path is used as it is: this is the file `-`, not standard input.
/// let file = Input::from(std::path::Path::new("-"));
/// assert!(matches!(file, Input::Path(_)));
///
/// // A word of a command line stands for standard input, a path or a pattern.
/// assert!(matches!(Input::from_word("-"), Input::Stdin));
/// assert!(matches!(Input::from_word("no-such-folder/*.jsonl"), Input::Pattern(_)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file or a folder. Its name is never read as a pattern or as standard input.
    Path(PathBuf),
    /// All files whose paths match a pattern such as `data/*.jsonl`. At least one file must match.
    Pattern(String),
    /// Documents that the program holds in memory.
    Memory(InMemory),
    /// A file that the program wrote to hold its data outside memory, such as the rows of a stream. Messages and ids
    /// contain the name instead of the path, as for [`Memory`](Self::Memory).
    NamedFile {
        /// Path of the file that the program wrote.
        path: PathBuf,
        /// Name of the source. If an earlier source has the same name, a number is added to the name.
        name: String,
    },
}

impl Input {
    /// Returns the input that a word of a command line stands for. `-` is standard input. A word that names a file or
    /// a folder is its path, even if the word has a `[`. Any other word with a wildcard is a pattern, and any
    /// remaining word is a path that does not exist.
    #[must_use]
    pub fn from_word(word: impl AsRef<OsStr>) -> Self {
        let word = word.as_ref();
        if word == STDIN {
            return Self::Stdin;
        }
        match word.to_str() {
            Some(text) if pattern::has_wildcard(text) && fs_err::metadata(word).is_err() => {
                Self::Pattern(text.to_owned())
            }
            _ => Self::Path(word.into()),
        }
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl<T: Into<InMemory>> From<T> for Input {
    fn from(memory: T) -> Self {
        Self::Memory(memory.into())
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str(STDIN),
            Self::Path(path) => path.display().fmt(f),
            Self::Pattern(pattern) => pattern.fmt(f),
            Self::Memory(memory) => f.write_str(memory.name()),
            Self::NamedFile { name, .. } => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let word = |name: &str| Input::from_word(folder.path().join(name));
        fs_err::write(folder.path().join("[1].jsonl"), "").unwrap();
        assert!(matches!(word("[1].jsonl"), Input::Path(_)), "a file comes before a pattern");
        assert!(matches!(word("[2].jsonl"), Input::Pattern(_)));
        assert!(matches!(word("missing.jsonl"), Input::Path(_)));
        assert!(matches!(Input::from_word(folder.path()), Input::Path(_)));
        assert!(matches!(Input::from_word("-"), Input::Stdin));
        assert!(matches!(Input::from_word("./-"), Input::Path(_)));
        assert!(matches!(Input::from_word(""), Input::Path(_)));
    }

    #[test]
    fn an_input_is_shown_as_it_is_typed() {
        assert_eq!(Input::Stdin.to_string(), "-");
        assert_eq!(Input::from(Path::new("a b")).to_string(), "a b");
        assert_eq!(Input::Pattern("*.txt".into()).to_string(), "*.txt");
        let named = Input::NamedFile { path: "spool/rows.jsonl".into(), name: "rows".to_owned() };
        assert_eq!(named.to_string(), "rows");
    }
}
