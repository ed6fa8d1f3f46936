//! The files of a folder, in one order everywhere.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::slashed;
use crate::error::{Error, Result};
use crate::source::os_error;

/// A file found in a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path from the folder, for people: with forward slashes, and not always the exact name.
    pub(super) name: String,
    /// Its path from the folder.
    pub(super) relative: PathBuf,
}

/// Every file in `folder` down to `depth`, ordered by the bytes of its name.
///
/// Links are followed, since data sets are often folders of links, and a link that leads back to a folder
/// above it is passed over. Pipes, sockets and devices are not files.
pub(super) fn files_in(folder: &Path, depth: Option<usize>) -> Result<Vec<Found>> {
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).follow_links(true).max_depth(depth.unwrap_or(usize::MAX)) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => match io_error(error, folder) {
                Some(error) => return Err(error),
                None => continue,
            },
        };
        if !entry.file_type().is_file() {
            continue;
        }
        let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path()).to_owned();
        files.push(Found { name: slashed(&relative.to_string_lossy()), relative });
    }
    files.sort_unstable_by(|a, b| {
        a.name.as_bytes().cmp(b.name.as_bytes()).then_with(|| a.relative.cmp(&b.relative))
    });
    Ok(files)
}

/// What the operating system said; `None` for a link that leads in a circle.
fn io_error(error: walkdir::Error, folder: &Path) -> Option<Error> {
    let path = error.path().unwrap_or(folder).to_owned();
    error.into_io_error().map(|error| Error::path("read", &path, os_error(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path, depth: Option<usize>) -> Vec<String> {
        files_in(folder, depth).unwrap().into_iter().map(|file| file.name).collect()
    }

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, file).unwrap();
        }
        folder
    }

    #[test]
    fn files_come_in_the_order_of_their_bytes() {
        let folder = folder_with(&["b", "a/z", "a-b", "a/b/c", ".hidden", "B", ".gitignore"]);
        let all = [".gitignore", ".hidden", "B", "a-b", "a/b/c", "a/z", "b"];
        assert_eq!(names(folder.path(), None), all);
        assert_eq!(names(folder.path(), Some(1)), [".gitignore", ".hidden", "B", "a-b", "b"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_in_circles() {
        let folder = folder_with(&["data/a", "elsewhere/b"]);
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(to, folder.path().join(from)).unwrap();
        link("../elsewhere/b", "data/linked");
        link("../data", "data/circle");
        link("../elsewhere", "data/folder");
        assert_eq!(names(&folder.path().join("data"), None), ["a", "folder/b", "linked"]);
        link("nowhere", "data/dangling");
        let error = files_in(&folder.path().join("data"), None).unwrap_err();
        assert!(error.to_string().contains("data/dangling"), "{error}");
    }
}
