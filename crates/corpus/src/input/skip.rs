//! Skips files that are no documents.
//!
//! A folder often contains files that are not wanted when the folder is named: files of file managers, locks of
//! Office, empty files and binary files. Such files are skipped, and listed in
//! [`Corpus::skipped`](crate::Corpus::skipped). A file that the user named is never skipped.

use std::collections::HashSet;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::extract::{Recognised, recognise};
use crate::format::Format;

/// Names of files that file managers of macOS and Windows create in folders. Names are compared without case, as on
/// these systems.
const SYSTEM_FILES: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// A file that was found in a folder or by a pattern, and is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Path as the user would write it, with forward slashes.
    pub name: String,
    /// Reason why the file is no document.
    pub reason: SkipReason,
}

/// Reason why a file is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// A file manager created the file: `.DS_Store`, `Thumbs.db` or `desktop.ini`.
    System,
    /// Office created the file beside an open document: `~$report.docx`.
    OfficeLock,
    /// The writer of the records created the file beside them: `_SUCCESS`, `.part-0.parquet.crc`.
    LeftBeside,
    /// The file is empty, and its name is not that of a file of records.
    Empty,
    /// The file has no known format, and holds more NUL bytes than a text does.
    Binary,
    /// The folder is an archive of Minwise, which people often create beside their documents.
    Archive,
}

impl SkipReason {
    /// Returns a stable name for programs and counts.
    pub fn code(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::OfficeLock => "office_lock",
            Self::LeftBeside => "left_beside",
            Self::Empty => "empty",
            Self::Binary => "binary",
            Self::Archive => "archive",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::System => "it is a system file of a file manager",
            Self::OfficeLock => "it is a lock file of Office",
            Self::LeftBeside => "it is a marker or checksum file of the program that wrote the records",
            Self::Empty => "it is empty",
            Self::Binary => "it is binary, and of no known format",
            Self::Archive => "it is an archive of Minwise",
        })
    }
}

/// Files that were skipped while inputs were resolved.
#[derive(Debug, Default)]
pub(super) struct SkippedFiles {
    /// Skipped files, in the order in which they were found.
    pub(super) skipped: Vec<Skipped>,
    /// Number of times that a file was skipped. A file that two inputs contain is counted twice, and listed once.
    pub(super) skips: usize,
    /// First skipped file of the current input.
    pub(super) first_of_input: Option<String>,
    /// Paths of skipped and unreadable files. `FileIds`, which finds repeated sources, cannot be used for these
    /// files, because it needs an open file.
    seen: HashSet<PathBuf>,
}

impl SkippedFiles {
    /// Lists a skipped file.
    pub(super) fn skip(&mut self, name: String, path: &Path, reason: SkipReason) {
        self.skips += 1;
        self.first_of_input.get_or_insert_with(|| name.clone());
        if self.is_new(path) {
            self.skipped.push(Skipped { name, reason });
        }
    }

    /// Reports whether a path is seen for the first time.
    pub(super) fn is_new(&mut self, path: &Path) -> bool {
        // Only the folder is resolved, because the file may be a link to a file that does not exist.
        let resolved = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => {
                let parent = if parent == Path::new("") { Path::new(".") } else { parent };
                fs_err::canonicalize(parent).ok().map(|parent| parent.join(name))
            }
            _ => None,
        };
        self.seen.insert(resolved.unwrap_or_else(|| path.to_owned()))
    }
}

/// Reports whether a file manager creates files of this name in folders.
pub(crate) fn is_system_file(name: &str) -> bool {
    SYSTEM_FILES.iter().any(|system| system.eq_ignore_ascii_case(name))
}

/// Returns the reason why a file is no document, if its name shows the reason. Some names show it only beside
/// records.
pub(super) fn by_name(name: &str, beside_records: bool) -> Option<SkipReason> {
    let file = name.rsplit('/').next().unwrap_or(name);
    if is_system_file(file) {
        Some(SkipReason::System)
    } else if file.starts_with("~$") {
        Some(SkipReason::OfficeLock)
    } else if beside_records && file.starts_with(['.', '_']) && Format::of_name(file).is_none() {
        Some(SkipReason::LeftBeside)
    } else {
        None
    }
}

/// First line of the file `header` of every archive. The line is repeated here, because the crate of archives depends
/// on this crate.
const ARCHIVE: &[u8] = b"minwise index\n";

/// Returns the folders that are archives, among the folders of these files.
pub(super) fn archives<'a>(folder: &Path, files: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let is_header = |path: &&Path| {
        let mut begin = [0; ARCHIVE.len()];
        path.file_name().is_some_and(|name| name == "header")
            && fs_err::File::open(folder.join(path)).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok())
            && begin == ARCHIVE
    };
    files.filter(is_header).filter_map(|path| Some(path.parent()?.to_owned())).collect()
}

/// Reports whether a file may be a text, judged by its first bytes and its name. Other kinds of documents may contain
/// NUL bytes.
pub(super) fn may_be_text(head: &[u8], name: &str) -> bool {
    matches!(recognise(head, Some(name)), Ok(Recognised::Text | Recognised::Markdown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nobody_means() {
        for (name, reason) in [
            ("a/.DS_Store", SkipReason::System),
            ("thumbs.DB", SkipReason::System),
            ("Desktop.ini", SkipReason::System),
            ("a/~$report.docx", SkipReason::OfficeLock),
        ] {
            assert_eq!(by_name(name, false), Some(reason), "{name}");
        }
        for name in ["a.DS_Store", "Thumbs.db/a", "~report.docx", "a~$b", "notes.txt", "_SUCCESS", ".hidden"]
        {
            assert_eq!(by_name(name, false), None, "{name}");
        }
        assert_eq!(by_name("x/_SUCCESS", true), Some(SkipReason::LeftBeside));
        assert_eq!(by_name(".part-0.jsonl.crc", true), Some(SkipReason::LeftBeside));
        assert_eq!(by_name("_more.jsonl", true), None);
    }

    #[test]
    fn other_kinds_of_documents_are_not_looked_at() {
        for (head, name) in [
            (&b"%PDF-1.7\n\0\0\0"[..], "a"),
            (b"PK\x03\x04\0\0\0\0", "a.docx"),
            (b"\x89PNG\r\n\x1a\n\0\0\0", "a.png"),
            (b"SQLite format 3\0", "a.sqlite"),
            (b"<html>\0\0\0", "a"),
        ] {
            assert!(!may_be_text(head, name), "{name}");
        }
        assert!(may_be_text(b"\0\0\0", "a"));
        assert!(may_be_text(b"\0\0\0", "a.md"));
    }
}
