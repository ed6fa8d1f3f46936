//! The folder of a run, in which it can be taken up again after whatever ended it.
//!
//! | file | holds | written |
//! |---|---|---|
//! | `lock` | the tag of the run; whoever has it locked works here | first |
//! | `manifest` | the options that change the result, and the inputs with sizes and content hashes | before the work begins |
//! | `segment-000000`… | what is remembered of documents, in input order | as documents are read |
//! | `groups` | the documents that agree in each band | when all of them are known |
//! | `batch-000000`… | what was decided about neighbourhoods, in order | as decisions fall |
//! | `finishing` | the names of the outputs, some of which may be in place | before the first of them is, until all are |
//!
//! All files except the lock have checksums, and are complete and synced before they get their names. So a file that is there
//! is done, and a missing one is done again; nothing else records how far a run got. Temporary files of a process may lie there
//! too: the next process removes those that have names.

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
/// Version 2, because a segment counts chunks, and CSV is cut into smaller ones than in version 1. Version 3, because a segment
/// has the size of these chunks.
const SEGMENT: FileKind =
    FileKind { magic: *b"MINWsegm", version: 3, name: "segment of a run", made_by: MADE_BY };
const GROUPS: FileKind =
    FileKind { magic: *b"MINWgrps", version: 1, name: "file of band groups", made_by: MADE_BY };
const FINISHING: FileKind =
    FileKind { magic: *b"MINWfini", version: 1, name: "list of outputs", made_by: MADE_BY };
const BATCH: FileKind =
    FileKind { magic: *b"MINWbtch", version: 1, name: "file of decisions", made_by: MADE_BY };

/// A file in the folder of a run.
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
/// The end of the name of a folder in the list of outputs.
const FOLDER_SIGN: char = '/';

/// The folder of a run that is about to be begun or taken up, so that temporary files can lie there before all is known
/// that the run is known by. No other process works in it.
#[derive(Debug)]
pub struct Claim {
    folder: PathBuf,
    /// Locked as long as it is open.
    lock: Option<File>,
    tag: RunTag,
}

impl Claim {
    /// The tag of temporary outputs of the run: the same for every process that works in this folder.
    pub(crate) fn tag(&self) -> RunTag {
        self.tag
    }

    /// Claims a folder that was not [refused](refuse), made if it is not there, and removes what is left of processes that
    /// were killed.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if the folder cannot be made or written to, or if another process works in it.
    pub fn new(folder: &Path) -> Result<Self, Error> {
        fs_err::create_dir_all(folder).map_err(|error| io("make", folder, error))?;
        let mut lock = lock(folder)?;
        let tag = tag(&mut lock).map_err(|error| io("write", &folder.join(LOCK), error))?;
        let claim = Self { folder: folder.to_owned(), lock: Some(lock), tag };
        remove_temporary(folder)?;
        let finishing = folder.join(WorkFile::Finishing.name());
        if !is_begun(folder) && finishing.exists() {
            // A run that was done was ended while it removed its folder. Its outputs are nothing to another run.
            remove(&finishing)?;
        }
        Ok(claim)
    }

    /// Begins a run, or goes on with the one that was begun with the same options on the same inputs.
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

/// Without a run, nothing is left, not even a folder that was empty before: a run that was killed while it removed its folder
/// leaves an empty one, and a run that is done removes its folder no matter who made it.
impl Drop for Claim {
    fn drop(&mut self) {
        if self.lock.is_some() && !is_begun(&self.folder) {
            // There is nothing to be done about what cannot be removed.
            let _ = fs_err::remove_file(self.folder.join(LOCK));
            let _ = fs_err::remove_dir(&self.folder);
        }
    }
}

/// The folder of a run. While it is open, no other process works in it.
#[derive(Debug)]
pub struct WorkFolder {
    folder: PathBuf,
    /// Locked as long as it is open.
    _lock: Option<File>,
    resumed: bool,
}

impl WorkFolder {
    /// Begins a run in a folder that is empty or not there yet, or, with `resume`, goes on with the one that was begun
    /// there with the same options on the same inputs.
    ///
    /// # Errors
    /// Fails where [`refuse`], [`Claim::new`] and [`Claim::begin`] do.
    pub fn open(folder: &Path, manifest: &Manifest, resume: bool) -> Result<Self, Error> {
        refuse(folder, resume)?;
        Claim::new(folder)?.begin(manifest)
    }

    /// Notes that outputs are about to be put in place, so that whoever takes the run up again may replace them. Each has its
    /// name and whether it is a folder: while a folder is replaced, there is a moment in which nothing has its name.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] if the list cannot be written.
    pub fn note_outputs(&self, outputs: &[(String, bool)]) -> Result<(), Error> {
        // A slash at the end of the name of a folder: earlier versions wrote the name alone.
        let name = |(name, is_folder): &(String, bool)| {
            if *is_folder { format!("{name}{FOLDER_SIGN}") } else { name.clone() }
        };
        let names: Vec<String> = outputs.iter().map(name).collect();
        self.create(WorkFile::Finishing)?.finish(&names)
    }

    /// Notes that all outputs are in place: whoever takes the run up again writes others, or replaces these only if told to.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if the list cannot be removed.
    pub fn forget_outputs(&self) -> Result<(), Error> {
        remove(&self.path(WorkFile::Finishing))
    }

    /// Whether an earlier process began the run.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Removes the folder with everything that the run put there. Nobody may go on with the run after that.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::File`] if a file of the run cannot be removed.
    pub fn remove(&self) -> Result<(), Error> {
        let folder = &self.folder;
        let remove = |name: &str| remove(&folder.join(name));
        // As long as there is a manifest, whoever is ended here can be taken up again, and finds by the list of outputs that
        // those in place are its own. Without a manifest the list says nothing, but that the folder is to go.
        let last = [WorkFile::Manifest.name(), LOCK.to_owned(), WorkFile::Finishing.name()];
        // The newest first: a piece is never there without those before it.
        for name in entries(folder)?.iter().rev().filter(|name| is_piece(name) && !last.contains(name)) {
            remove(name)?;
        }
        for name in last.iter().filter(|name| folder.join(name).exists()) {
            remove(name)?;
        }
        // Something that somebody else put there stays, and so does the folder then.
        let _ = fs_err::remove_dir(folder);
        Ok(())
    }

    fn path(&self, piece: WorkFile) -> PathBuf {
        self.folder.join(piece.name())
    }

    pub(crate) fn has(&self, piece: WorkFile) -> bool {
        self.path(piece).exists()
    }

    /// Begins a piece.
    pub(crate) fn create(&self, piece: WorkFile) -> Result<StoreWriter, Error> {
        StoreWriter::create(&self.path(piece), piece.kind(), Overwrite::Allow)
    }

    /// Opens a piece that another process wrote, and checks every byte of it.
    pub(crate) fn open_piece(&self, piece: WorkFile) -> Result<StoredFile, Error> {
        StoredFile::open(&self.path(piece), piece.kind(), OpenCheck::Everything)
    }

    /// Opens a piece that this process has just written.
    pub(crate) fn reopen(&self, piece: WorkFile) -> Result<StoredFile, Error> {
        StoredFile::open(&self.path(piece), piece.kind(), OpenCheck::Description)
    }
}

/// Whether a run was begun in a folder.
pub(crate) fn is_begun(folder: &Path) -> bool {
    folder.join(WorkFile::Manifest.name()).exists()
}

/// Refuses a folder in which no run can be begun, or, with `resume`, none can be taken up.
///
/// # Errors
/// Fails with [`ErrorKind::File`] if the folder is not empty and no run is to be resumed, if a run is to be resumed and there
/// are other files but no run, and if the folder cannot be read.
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

/// If the run in a folder was ended while it put these outputs in place, which of them are folders.
///
/// # Errors
/// Fails with [`ErrorKind::Corpus`] or [`ErrorKind::File`] if the list of outputs cannot be read or is damaged.
pub fn was_finishing(folder: &Path, outputs: &[String]) -> Result<Option<Vec<bool>>, Error> {
    let path = folder.join(WorkFile::Finishing.name());
    // Whether it is the same run is for the manifest to say, and without one there is no run.
    if !is_begun(folder) || !path.exists() {
        return Ok(None);
    }
    let file = StoredFile::open(&path, FINISHING, OpenCheck::Everything)?;
    let noted: Vec<String> = about(&file)?;
    let names = noted.iter().map(|name| name.strip_suffix(FOLDER_SIGN).unwrap_or(name));
    let is_same = names.eq(outputs);
    Ok(is_same.then(|| noted.iter().map(|name| name.ends_with(FOLDER_SIGN)).collect()))
}

/// What a piece says of itself.
pub(crate) fn about<T: DeserializeOwned>(file: &StoredFile) -> Result<T, Error> {
    T::deserialize(file.about())
        .map_err(|error| file.wrong(format!("its description is incomplete: {error}")))
}

/// Finishes a piece with what it says of itself.
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

/// The tag in a file that is locked. If there is none, a random one is written.
///
/// The path of the folder would not do: two machines may share the folder of the outputs and not that of the work, and each
/// would remove the temporary outputs of the other.
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
    // Temporary outputs with this tag may be on the disk before the tag is.
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

/// Whether a file is one that a run puts into its folder.
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

/// Files that no run put there.
fn others(folder: &Path) -> Result<Vec<String>, Error> {
    Ok(entries(folder)?.into_iter().filter(|name| name != LOCK && !is_piece(name)).collect())
}

/// Removes what a process that was killed left under names of its own.
fn remove_temporary(folder: &Path) -> Result<(), Error> {
    for name in entries(folder)?.iter().filter(|name| name.starts_with(TEMPORARY_PREFIX)) {
        remove(&folder.join(name))?;
    }
    Ok(())
}

/// Removes a file, or a folder with what is in it.
fn remove(path: &Path) -> Result<(), Error> {
    let removed = if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) };
    removed.map_err(|error| io("remove", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes of one run find each other's temporary outputs, and no others, whatever the path of the folder is.
    #[test]
    fn a_tag_belongs_to_one_run() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("work");
        let tag_of = || {
            let claim = Claim::new(&folder).unwrap();
            // A process that is killed leaves the lock as it is; dropping the claim would remove it.
            let text = fs_err::read(folder.join(LOCK)).unwrap();
            let tag = claim.tag();
            drop(claim);
            (tag, text)
        };
        let (first, lock) = tag_of();
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join(LOCK), lock).unwrap();
        assert_eq!(tag_of().0, first);
        // A folder of the same path that has no lock is that of another run.
        assert_ne!(tag_of().0, first);
        // A process that was killed before it wrote its tag has no outputs.
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join(LOCK), "").unwrap();
        assert_ne!(tag_of().0, first);
    }
}
