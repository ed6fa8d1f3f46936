//! The work folder of a run, in which the run can be resumed after it was interrupted.
//!
//! | file | holds | written |
//! |---|---|---|
//! | `lock` | the tag of the run; the process that has the file locked works here | first |
//! | `manifest` | the options that change the result, and the inputs with sizes and content hashes | before the work begins |
//! | `segment-000000`… | the columns of consecutive documents, in input order | as documents are read |
//! | `groups` | the documents that agree in each band | when all groups are known |
//! | `batch-000000`… | the decisions about neighbourhoods, in order | as decisions are made |
//! | `finishing` | the names of the outputs, some of which may be in place | before the first output is put in place, until all are |
//!
//! All files except the lock have checksums, and are complete and synced before they get their final names. An existing
//! file is therefore complete, and a missing file is made again; no other data record the progress of a run. The folder
//! may also hold temporary files. The next process removes the temporary files that have names; unnamed ones vanish
//! with their process.

mod manifest;

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use minwise::Sentence;
use minwise_corpus::{Overwrite, RunTag, TEMPORARY_PREFIX};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind};
use crate::storage::store::{FileKind, OpenCheck, StoreWriter, StoredFile};

pub use manifest::Manifest;

const MADE_BY: &str = "dedup";
const MANIFEST: FileKind =
    FileKind { magic: *b"MINWmani", version: 1, name: "manifest of a run", made_by: MADE_BY };
/// Version 2 came when segments began to count chunks and CSV was cut into smaller chunks. Version 3 came when segments
/// began to record the size of their chunks.
const SEGMENT: FileKind =
    FileKind { magic: *b"MINWsegm", version: 4, name: "segment of a run", made_by: MADE_BY };
const GROUPS: FileKind =
    FileKind { magic: *b"MINWgrps", version: 1, name: "file of band groups", made_by: MADE_BY };
const FINISHING: FileKind =
    FileKind { magic: *b"MINWfini", version: 1, name: "list of outputs", made_by: MADE_BY };
const BATCH: FileKind =
    FileKind { magic: *b"MINWbtch", version: 1, name: "file of decisions", made_by: MADE_BY };

/// File in the work folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkFile {
    Manifest,
    Segment(usize),
    Groups,
    Batch(usize),
    Finishing,
}

impl WorkFile {
    fn name(self) -> String {
        match self {
            Self::Manifest => "manifest".to_owned(),
            Self::Segment(number) => format!("segment-{number:06}"),
            Self::Groups => "groups".to_owned(),
            Self::Batch(number) => format!("batch-{number:06}"),
            Self::Finishing => "finishing".to_owned(),
        }
    }

    fn kind(self) -> FileKind {
        match self {
            Self::Manifest => MANIFEST,
            Self::Segment(_) => SEGMENT,
            Self::Groups => GROUPS,
            Self::Batch(_) => BATCH,
            Self::Finishing => FINISHING,
        }
    }
}

const LOCK: &str = "lock";
/// Last character of a folder's name in the list of outputs.
const FOLDER_SIGN: char = '/';

/// Lock on a work folder before its manifest is known. Temporary files can already be put into the folder, and no other
/// process works in it.
#[derive(Debug)]
pub struct Claim {
    folder: PathBuf,
    /// Lock file, which stays locked as long as it is open.
    lock: Option<File>,
    tag: RunTag,
}

impl Claim {
    /// Returns the tag of the run's temporary outputs. The tag is the same for every process that works in this folder.
    pub(crate) fn tag(&self) -> RunTag {
        self.tag
    }

    /// Creates and locks a folder that [`refuse`] has accepted, and removes the temporary files of killed processes.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if the folder cannot be created or written to, or if another process works in it.
    pub fn new(folder: &Path) -> Result<Self, Error> {
        fs_err::create_dir_all(folder).map_err(|error| io("make", folder, error))?;
        let mut lock = lock(folder)?;
        let tag = tag(&mut lock).map_err(|error| io("write", &folder.join(LOCK), error))?;
        let claim = Self { folder: folder.to_owned(), lock: Some(lock), tag };
        remove_temporary(folder)?;
        let finishing = folder.join(WorkFile::Finishing.name());
        if !is_begun(folder) && finishing.exists() {
            // A finished run was killed while it removed its folder. Its list of outputs must not affect another run.
            remove(&finishing)?;
        }
        Ok(claim)
    }

    /// Begins a run, or resumes the run in the folder if its options and inputs are the same.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Changed`] if the run in the folder was begun with other options or inputs, and with
    /// [`ErrorKind::Corpus`] or [`ErrorKind::File`] if the manifest cannot be read or written.
    pub fn begin(mut self, manifest: &Manifest) -> Result<WorkFolder, Error> {
        let resumed = is_begun(&self.folder);
        let work = WorkFolder { folder: self.folder.clone(), _lock: self.lock.take(), resumed };
        if resumed {
            manifest.check(&work.open_piece(WorkFile::Manifest)?)?;
        } else {
            manifest.write(&work)?;
        }
        Ok(work)
    }
}

/// Removes the folder if no run has begun in it, even a folder that existed before. An empty folder may be left by a
/// run that was killed while it removed its folder, and a finished run removes its folder in any case.
impl Drop for Claim {
    fn drop(&mut self) {
        if self.lock.is_some() && !is_begun(&self.folder) {
            // The errors are ignored, because `drop` cannot report them.
            let _ = fs_err::remove_file(self.folder.join(LOCK));
            let _ = fs_err::remove_dir(&self.folder);
        }
    }
}

/// Work folder of a run. While the value exists, no other process works in the folder.
#[derive(Debug)]
pub struct WorkFolder {
    folder: PathBuf,
    /// Lock file, which stays locked as long as it is open.
    _lock: Option<File>,
    resumed: bool,
}

impl WorkFolder {
    /// Begins a run in a folder that is empty or does not exist. With `resume`, resumes the run in the folder if its
    /// options and inputs are the same.
    ///
    /// # Errors
    /// Fails under the same conditions as [`refuse`], [`Claim::new`] and [`Claim::begin`].
    pub fn open(folder: &Path, manifest: &Manifest, resume: bool) -> Result<Self, Error> {
        refuse(folder, resume)?;
        Claim::new(folder)?.begin(manifest)
    }

    /// Records that outputs are about to be put in place, so that a process that resumes the run may replace them. Each
    /// output has its name and whether it is a folder. The kind must be recorded, because a folder briefly does not
    /// exist while it is replaced.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] if the list cannot be written.
    pub fn note_outputs(&self, outputs: &[(String, bool)]) -> Result<(), Error> {
        // Folders are marked by a slash at the end, because earlier versions wrote the names alone, and their lists
        // must stay readable.
        let name = |(name, is_folder): &(String, bool)| {
            if *is_folder { format!("{name}{FOLDER_SIGN}") } else { name.clone() }
        };
        let names: Vec<String> = outputs.iter().map(name).collect();
        self.create(WorkFile::Finishing)?.finish(&names)
    }

    /// Records that all outputs are in place. A process that resumes the run then needs permission to replace them.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if the list cannot be removed.
    pub fn forget_outputs(&self) -> Result<(), Error> {
        remove(&self.path(WorkFile::Finishing))
    }

    /// Reports whether an earlier process began the run.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Removes the folder with all files of the run. The run cannot be resumed afterwards.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if a file of the run cannot be removed.
    pub fn remove(&self) -> Result<(), Error> {
        let folder = &self.folder;
        let remove = |name: &str| remove(&folder.join(name));
        // Three files are removed last. As long as the manifest exists, a killed process can be resumed, and the list
        // of outputs shows that existing outputs belong to its run. Without a manifest, the list only shows that the
        // folder can be removed.
        let last = [WorkFile::Manifest.name(), LOCK.to_owned(), WorkFile::Finishing.name()];
        // Files are removed newest first, because a segment or batch must never exist without those before it.
        for name in entries(folder)?.iter().rev().filter(|name| is_piece(name) && !last.contains(name)) {
            remove(name)?;
        }
        for name in last.iter().filter(|name| folder.join(name).exists()) {
            remove(name)?;
        }
        // The error is ignored, because the folder must stay if it has files of other programs.
        let _ = fs_err::remove_dir(folder);
        Ok(())
    }

    fn path(&self, piece: WorkFile) -> PathBuf {
        self.folder.join(piece.name())
    }

    pub(crate) fn has(&self, piece: WorkFile) -> bool {
        self.path(piece).exists()
    }

    /// Begins to write a file of the run.
    pub(crate) fn create(&self, piece: WorkFile) -> Result<StoreWriter, Error> {
        StoreWriter::create(&self.path(piece), piece.kind(), Overwrite::Allow)
    }

    /// Opens a file that another process wrote, and checks every byte.
    pub(crate) fn open_piece(&self, piece: WorkFile) -> Result<StoredFile, Error> {
        StoredFile::open(&self.path(piece), piece.kind(), OpenCheck::Everything)
    }

    /// Opens a file that this process has just written, and checks only its header.
    pub(crate) fn reopen(&self, piece: WorkFile) -> Result<StoredFile, Error> {
        StoredFile::open(&self.path(piece), piece.kind(), OpenCheck::Description)
    }
}

/// Reports whether a run was begun in the folder.
pub(crate) fn is_begun(folder: &Path) -> bool {
    folder.join(WorkFile::Manifest.name()).exists()
}

/// Refuses a folder in which no run can begin, or, with `resume`, in which no run can be resumed.
///
/// # Errors
/// Fails with [`ErrorKind::File`] if the folder cannot be read, if it is not empty and `resume` is false, or if
/// `resume` is true and the folder has files but no run.
pub fn refuse(folder: &Path, resume: bool) -> Result<(), Error> {
    if !folder.exists() {
        return Ok(());
    }
    minwise_corpus::refuse_file(folder)?;
    let strange = others(folder)?;
    let begun = is_begun(folder);
    if (begun || !strange.is_empty()) && !resume {
        return Err(ErrorKind::File {
            path: folder.display().to_string(),
            action: "begin a run in",
            reason: "it is not empty".to_owned(),
            hint: Some(if begun {
                Sentence::new().setting("resume").text(" continues the run that was begun there")
            } else {
                "name a folder that is empty or not there yet".into()
            }),
        }
        .into());
    }
    if !begun && !strange.is_empty() {
        return Err(ErrorKind::File {
            path: folder.display().to_string(),
            action: "continue a run in",
            reason: format!("it holds no run, but other files, such as `{}`", strange[0]),
            hint: Some(Sentence::from("name the folder that ").setting("work").text(" was given before")),
        }
        .into());
    }
    Ok(())
}

/// Returns, for each output, whether it is a folder, if the run in the folder ended while it put these outputs in
/// place.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] or [`ErrorKind::File`] if the list of outputs cannot be read or is damaged.
pub fn was_finishing(folder: &Path, outputs: &[String]) -> Result<Option<Vec<bool>>, Error> {
    let path = folder.join(WorkFile::Finishing.name());
    // Whether the list belongs to the same run is decided by the manifest. Without a manifest there is no run.
    if !is_begun(folder) || !path.exists() {
        return Ok(None);
    }
    let file = StoredFile::open(&path, FINISHING, OpenCheck::Everything)?;
    let noted: Vec<String> = about(&file)?;
    let names = noted.iter().map(|name| name.strip_suffix(FOLDER_SIGN).unwrap_or(name));
    let is_same = names.eq(outputs);
    Ok(is_same.then(|| noted.iter().map(|name| name.ends_with(FOLDER_SIGN)).collect()))
}

/// Reads the description in the header of a file.
pub(crate) fn about<T: DeserializeOwned>(file: &StoredFile) -> Result<T, Error> {
    T::deserialize(file.about())
        .map_err(|error| file.wrong(format!("its description is incomplete: {error}")))
}

/// Finishes a file with the description for its header.
pub(crate) fn finish(writer: StoreWriter, about: &impl Serialize) -> Result<(), Error> {
    writer.finish(about)
}

fn io(action: &'static str, path: &Path, error: std::io::Error) -> Error {
    Error::io(action, &path.display().to_string(), error)
}

fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK);
    let file = fs_err::OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&path);
    let file = file.map_err(|error| io("open", &path, error))?.into_parts().0;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ErrorKind::File {
            path: folder.display().to_string(),
            action: "work in",
            reason: "another process is at work there".to_owned(),
            hint: Some("wait for it, or name another folder".into()),
        }
        .into()),
        Err(TryLockError::Error(error)) => Err(io("lock", &path, error)),
    }
}

/// Reads the tag from the locked file. If the file has no tag, writes a random one.
///
/// The tag is not derived from the folder's path. Two machines may share the folder of the outputs but not the work
/// folder, and with equal tags each would remove the temporary outputs of the other.
fn tag(lock: &mut File) -> std::io::Result<RunTag> {
    let mut text = String::new();
    lock.read_to_string(&mut text)?;
    if let Some(id) = text.strip_suffix('\n').and_then(|text| u64::from_str_radix(text, 16).ok()) {
        return Ok(RunTag::new(id));
    }
    let id = RandomState::new().hash_one(std::process::id());
    lock.set_len(0)?;
    lock.rewind()?;
    writeln!(lock, "{id:016x}")?;
    // The tag is synced now, because a temporary output could otherwise reach the disk before its tag, and could not be
    // found after a crash.
    lock.sync_data()?;
    Ok(RunTag::new(id))
}

fn entries(folder: &Path) -> Result<Vec<String>, Error> {
    let mut names = vec![];
    for entry in fs_err::read_dir(folder).map_err(|error| io("read", folder, error))? {
        let entry = entry.map_err(|error| io("read", folder, error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// Reports whether a file name is one that a run gives to a file in its folder.
fn is_piece(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() >= 6 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    [WorkFile::Manifest, WorkFile::Groups, WorkFile::Finishing].iter().any(|piece| piece.name() == name)
        || numbered("segment-")
        || numbered("batch-")
        || name.starts_with(TEMPORARY_PREFIX)
}

/// Returns the names of files that belong to no run.
fn others(folder: &Path) -> Result<Vec<String>, Error> {
    Ok(entries(folder)?.into_iter().filter(|name| name != LOCK && !is_piece(name)).collect())
}

/// Removes the temporary files that a killed process left.
fn remove_temporary(folder: &Path) -> Result<(), Error> {
    for name in entries(folder)?.iter().filter(|name| name.starts_with(TEMPORARY_PREFIX)) {
        remove(&folder.join(name))?;
    }
    Ok(())
}

/// Removes a file, or a folder with its content.
fn remove(path: &Path) -> Result<(), Error> {
    let removed = if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
    removed.map_err(|error| io("remove", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes of one run must find each other's temporary outputs, and no others, whatever the path of the folder
    /// is.
    #[test]
    fn a_tag_belongs_to_one_run() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("work");
        let tag_of = || {
            let claim = Claim::new(&folder).unwrap();
            // The lock is read before the claim is dropped, because dropping removes it, but a killed process leaves
            // it.
            let text = fs_err::read(folder.join(LOCK)).unwrap();
            let tag = claim.tag();
            drop(claim);
            (tag, text)
        };
        let (first, lock) = tag_of();
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join(LOCK), lock).unwrap();
        assert_eq!(tag_of().0, first);
        // A folder with the same path but without a lock belongs to another run.
        assert_ne!(tag_of().0, first);
        // A process that was killed before it wrote its tag has no outputs, so a new tag is right.
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join(LOCK), "").unwrap();
        assert_ne!(tag_of().0, first);
    }
}
