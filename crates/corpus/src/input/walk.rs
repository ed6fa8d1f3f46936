//! Lists the files of a folder, in the same order on every machine.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{slashed, unreadable};
use crate::error::{Error, Result};
use crate::source::os_error;

/// A file that was found in a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// Path relative to the folder, for display: with forward slashes, and not always exact, because a name may not
    /// be UTF-8.
    pub(super) name: String,
    /// Exact path relative to the folder.
    pub(super) relative: PathBuf,
    /// Reason why the file cannot be read, if it cannot.
    pub(super) obstacle: Option<Obstacle>,
}

/// A file or folder that a walk cannot read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    /// The reason in words.
    pub(super) message: String,
    /// Whether the entry is a folder, which may contain files.
    pub(super) is_folder: bool,
}

/// Returns every file in `folder` down to `depth`, ordered by the bytes of its name.
///
/// Links are followed, because data sets are often folders of links. Links that lead nowhere or in a circle, and
/// folders that may not be opened, are listed with their obstacle. Pipes, sockets and devices are no files and are
/// left out.
pub(super) fn files_in(folder: &Path, depth: Option<usize>) -> Result<Vec<FoundFile>> {
    let mut files = Vec::new();
    let found = |path: &Path, obstacle| {
        let relative = path.strip_prefix(folder).unwrap_or(path).to_owned();
        FoundFile { name: slashed(&relative.to_string_lossy()), relative, obstacle }
    };
    for entry in WalkDir::new(folder).follow_links(true).max_depth(depth.unwrap_or(usize::MAX)) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => files.push(found(entry.path(), None)),
            Ok(_) => {}
            Err(error) => {
                let (path, obstacle) = obstacle(&error, folder)?;
                files.push(found(&path, Some(obstacle)));
            }
        }
    }
    files.sort_unstable_by(|a, b| {
        a.name.as_bytes().cmp(b.name.as_bytes()).then_with(|| a.relative.cmp(&b.relative))
    });
    Ok(files)
}

/// Converts an error of a walk to the path that cannot be read and the obstacle there. Fails if the walked folder
/// itself cannot be read.
fn obstacle(error: &walkdir::Error, folder: &Path) -> Result<(PathBuf, Obstacle)> {
    let path = error.path().unwrap_or(folder).to_owned();
    if let Some(above) = error.loop_ancestor() {
        return Ok((path, Obstacle { message: unreadable::loop_reason(above), is_folder: true }));
    }
    let cause = || error.io_error().map_or(std::io::ErrorKind::Other.into(), copied);
    match unreadable::reason(&path, cause()).filter(|_| path != folder) {
        Some(message) => {
            let is_folder = path.is_dir();
            Ok((path, Obstacle { message, is_folder }))
        }
        None => Err(Error::path("read", &path, os_error(cause()))),
    }
}

/// Copies an error of the operating system, because `io::Error` cannot be cloned.
fn copied(error: &std::io::Error) -> std::io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error)
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
        link("nowhere", "data/dangling");
        link("two", "data/one");
        link("one", "data/two");
        let found = files_in(&folder.path().join("data"), None).unwrap();
        let obstacle = |name: &str| {
            let file = found.iter().find(|file| file.name == name).unwrap();
            file.obstacle.as_ref().map(|obstacle| (&*obstacle.message, obstacle.is_folder))
        };
        let names: Vec<&str> = found.iter().map(|file| &*file.name).collect();
        assert_eq!(names, ["a", "circle", "dangling", "folder/b", "linked", "one", "two"]);
        assert_eq!(obstacle("linked"), None);
        assert_eq!(obstacle("dangling"), Some(("it is a link to `nowhere`, which does not exist", false)));
        assert_eq!(obstacle("one"), Some(("it is a link that leads in a circle", false)));
        let (message, is_folder) = obstacle("circle").unwrap();
        assert!(message.ends_with("data`, which holds it") && is_folder, "{message}");
        assert!(files_in(&folder.path().join("missing"), None).is_err(), "it was named");
    }
}
