//! Finds files that are given more than once.
//!
//! Resolving the paths of a hundred thousand files takes a second; reading their inode numbers is free, because the
//! files are open anyway. Paths are resolved only if an inode number occurs again. The resolved paths distinguish a
//! file that is reached twice from two hard links, which are two inputs.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::Given;

/// Identity of a file on this machine: device and inode on Unix, the resolved path on other systems.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(Identity);

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

impl FileId {
    /// Returns the identity of an open file.
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "other systems have to resolve the path, which can fail")]
    pub(crate) fn of(_path: &Path, metadata: &Metadata) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        Ok(Self((metadata.dev(), metadata.ino())))
    }

    /// Returns the identity of an open file.
    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path, _metadata: &Metadata) -> io::Result<Self> {
        fs_err::canonicalize(path).map(Self)
    }
}

impl FileId {
    /// Returns the identity of the file that is connected to standard input, if there is such a file.
    #[cfg(unix)]
    pub(super) fn of_stdin() -> Option<Self> {
        use std::os::fd::AsFd;
        let file = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        Self::of(Path::new("-"), &metadata).ok()
    }

    /// Returns `None`, because only Unix states which file is connected to standard input.
    #[cfg(not(unix))]
    pub(super) fn of_stdin() -> Option<Self> {
        None
    }
}

/// Files that were seen so far.
#[derive(Debug, Default)]
pub(crate) struct FileIds {
    seen: HashMap<FileId, SeenFiles>,
    /// Resolved paths of files whose inode number occurred more than once.
    resolved: HashSet<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct SeenFiles {
    source: usize,
    given: Given,
}

/// Whether a file is new.
pub(super) enum Admission {
    New,
    /// The file is already the source `first`.
    Repeat {
        first: usize,
        given: Given,
    },
}

impl FileIds {
    /// Notes a file that is to become the source number `source`, and returns whether the file is new.
    pub(super) fn admit<'p>(
        &mut self,
        id: FileId,
        path: &Path,
        source: usize,
        given: Given,
        path_of: impl FnOnce(usize) -> Option<&'p Path>,
    ) -> Admission {
        let Some(&SeenFiles { source: first, given: first_given }) = self.seen.get(&id) else {
            self.seen.insert(id, SeenFiles { source, given });
            return Admission::New;
        };
        let resolve = |path: &Path| fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if let Some(path) = path_of(first) {
            self.resolved.insert(resolve(path));
        }
        if self.resolved.insert(resolve(path)) {
            Admission::New
        } else {
            Admission::Repeat { first, given: first_given }
        }
    }

    /// Forgets a file that was to become the source number `source` but did not become a source.
    pub(super) fn forget(&mut self, id: &FileId, source: usize) {
        // If the file is a hard link of an earlier source, the earlier source keeps the inode number.
        if self.seen.get(id).is_some_and(|seen| seen.source == source) {
            self.seen.remove(id);
        }
    }

    /// Notes the file behind a source that has no path. If the file already belongs to a source with a path, that
    /// source keeps it.
    pub(super) fn note(&mut self, id: FileId, source: usize) {
        self.seen.entry(id).or_insert(SeenFiles { source, given: Given::Named });
    }

    pub(crate) fn source_of(&self, id: &FileId) -> Option<usize> {
        self.seen.get(id).map(|seen| seen.source)
    }
}
