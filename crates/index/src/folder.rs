//! The folder of an index: a header, a lock, the number of the last acknowledged change, and the store.
//!
//! | file | holds | changes |
//! |---|---|---|
//! | `header` | format version, settings, checksum; lines of text | never |
//! | `lock` | the process that has the index open; empty after the index was closed | when it is opened and closed |
//! | `acknowledged` | the number of the last change that was acknowledged | with every change |
//! | `store/` | all other data, in the files of the storage engine | with every change |
//! | `repair/`, `store-before-repair/` | the new index of a repair or a rewrite, and the store that it replaces | while a repair or a rewrite runs |
//!
//! When an index is created, the header is written last, so a folder with a header is a complete index. No
//! change is acknowledged before the header is written, so the next attempt to create the index may remove
//! the files of an interrupted attempt. The store makes changes durable. The file `acknowledged` only serves
//! to detect that the store has lost its newest changes. If a bit of a journal flips, the storage engine ends
//! the journal before this bit, and the store looks as if the later changes had never been made.

use std::ffi::OsString;
use std::fs::TryLockError;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fs_err as fs;
use minwise::calendar::rfc3339;
use minwise::text::UNICODE;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind, Result};
use crate::settings::IndexSettings;

/// The version of the format of an index.
pub const FORMAT: u32 = 1;

const MAGIC: &str = "minwise index";
/// Beginning of the content of a lock file.
const HOLDER: &str = "process ";
/// Prefix of the name of a header that is being written.
const UNFINISHED_HEADER: &str = ".header-";

/// The folder of an index, locked by this process.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    // The operating system releases the lock when the process ends, even if it crashes.
    lock: fs::File,
    acknowledged: fs::File,
    /// Whether the folder has a header. Without a header, no change is acknowledged.
    is_index: AtomicBool,
    /// Former content of the lock file, until the index is open. If opening fails, this content is written
    /// back, so that the lock file still names the process that did not close the index.
    before: Mutex<Option<Vec<u8>>>,
    /// Whether [`Folder::create`] made the folder.
    is_new: bool,
}

impl Folder {
    /// Creates the folder and takes its lock. [`Folder::seal`] writes the header later.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let is_new = !path.exists();
        if !is_new {
            // The folder is checked before anything is written, because it may hold other files.
            remains(path)?;
        }
        fs::create_dir_all(path).map_err(|error| Error::io("make", path, error))?;
        let mut folder = Self::hold(path).inspect_err(|_| {
            if is_new {
                // `hold` has removed the lock file that it made, so the folder is empty. If another process
                // has a lock file in the folder, `remove_dir` fails and the folder stays.
                let _ = fs::remove_dir(path);
            }
        })?;
        folder.is_new = is_new;
        folder.claim()
    }

    /// Removes the files of an interrupted attempt from a locked folder, and sets the acknowledged change to 0.
    fn claim(self) -> Result<Self> {
        // Another process may have created an index in the folder before this process had the lock.
        let remains = remains(&self.path).inspect_err(|_| self.restore_lock())?;
        match self.clear(&remains) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.give_up();
                Err(error)
            }
        }
    }

    /// Removes the files of an interrupted attempt, and sets the acknowledged change to 0.
    fn clear(&self, remains: &[OsString]) -> Result<()> {
        for name in remains {
            let path = self.path.join(name);
            let removed = match name.to_str() {
                Some("lock" | "acknowledged") => Ok(()),
                Some("store") => fs::remove_dir_all(&path),
                _ => fs::remove_file(&path),
            };
            removed.map_err(|error| Error::io("remove", &path, error))?;
        }
        self.note(0)
    }

    /// Removes the files of an index that could not be completed. Errors are ignored, because the next
    /// attempt removes the remaining files.
    pub(crate) fn give_up(self) {
        // The header is removed first, because a folder without a header is no index, even if other files
        // cannot be removed.
        let _ = fs::remove_file(self.path.join("header"));
        let _ = fs::remove_dir_all(self.store());
        for name in ["acknowledged", "lock"] {
            let _ = fs::remove_file(self.path.join(name));
        }
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Opens the folder of an index and takes its lock.
    pub(crate) fn open(path: &Path) -> Result<(Self, IndexSettings)> {
        let settings = read_header(path)?;
        let folder = Self::hold(path)?;
        folder.is_index.store(true, Ordering::Relaxed);
        folder.end_repair()?;
        Ok((folder, settings))
    }

    fn hold(path: &Path) -> Result<Self> {
        let lock_path = path.join("lock");
        let mut is_new = !lock_path.exists();
        let mut lock = locked(path, &lock_path)?;
        // Between the opening and the locking of the file, another process whose opening failed may have removed
        // it. A lock on a removed file excludes nobody, because the next process creates another file.
        while !is_at(lock.file(), &lock_path) {
            is_new = true;
            lock = locked(path, &lock_path)?;
        }
        let mut before = vec![];
        let read = lock.read_to_end(&mut before);
        let opened = read.and_then(|_| replace(lock.file(), holder().as_bytes()));
        let opened = opened.map_err(|error| Error::io("write", &lock_path, error));
        let opened = opened.and_then(|()| open_file(&path.join("acknowledged")));
        let acknowledged = opened.inspect_err(|_| {
            // An error of this cleanup is ignored, because it must not hide the error that is returned.
            let _ = if is_new { fs::remove_file(&lock_path) } else { replace(lock.file(), &before) };
        })?;
        let (path, is_index) = (path.to_owned(), AtomicBool::new(false));
        Ok(Self { path, lock, acknowledged, is_index, before: Mutex::new(Some(before)), is_new: false })
    }

    /// Restores the former content of the lock file, or empties the file if the index was open.
    fn restore_lock(&self) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        // An error is ignored: the lock file then names a process that has ended, and `unclosed` reports the
        // index as unclosed, which does no harm.
        let _ = replace(self.lock.file(), &before.unwrap_or_default());
    }

    /// Discards the former content of the lock file, because the index is open. Closing the index empties the
    /// file.
    pub(crate) fn note_open(&self) {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Writes the header. From then on, the folder is an index in which changes up to `sequence` are acknowledged.
    pub(crate) fn seal(&self, settings: &IndexSettings, sequence: u64) -> Result<()> {
        let path = self.path.join("header");
        let written = (|| {
            // If the header were on disk without the file `acknowledged`, the index would count as damaged.
            self.acknowledged.file().sync_all()?;
            let mut file = tempfile::Builder::new().prefix(UNFINISHED_HEADER).tempfile_in(&self.path)?;
            file.write_all(header(settings).as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        })();
        written.map_err(|error| Error::io("write", &path, error))?;
        sync_folder(&self.path)?;
        self.is_index.store(true, Ordering::Relaxed);
        // The number is written after the header, because a number without a header means that an index has
        // lost its header.
        self.acknowledge(sequence)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the storage engine.
    pub(crate) fn store(&self) -> PathBuf {
        Self::store_of(&self.path)
    }

    /// Returns the folder of the storage engine of the index at `path`.
    pub(crate) fn store_of(path: &Path) -> PathBuf {
        path.join("store")
    }

    /// Returns the folder to which a repair moves the old store.
    fn replaced(&self) -> PathBuf {
        self.path.join("store-before-repair")
    }

    /// Returns the folder in which a repair or a rewrite creates the new index.
    pub(crate) fn room_for_repair(&self) -> PathBuf {
        self.path.join("repair")
    }

    /// Replaces the store of this index by the store of the new index of a repair. Both stores must be
    /// closed.
    pub(crate) fn replace_store(&self) -> Result<()> {
        let (store, replaced, room) = (self.store(), self.replaced(), self.room_for_repair());
        fs::rename(&store, &replaced).map_err(|error| Error::io("move", &store, error))?;
        fs::rename(room.join("store"), &store).map_err(|error| Error::io("move", &room, error))?;
        sync_folder(&self.path)?;
        self.end_repair()
    }

    /// Removes the files of a repair, which may have been interrupted anywhere. If the new store is not in
    /// its place, the old store is moved back.
    pub(crate) fn end_repair(&self) -> Result<()> {
        let (store, replaced) = (self.store(), self.replaced());
        if replaced.exists() && !store.exists() {
            fs::rename(&replaced, &store).map_err(|error| Error::io("move", &replaced, error))?;
            sync_folder(&self.path)?;
        }
        for folder in [replaced, self.room_for_repair()] {
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(|error| Error::io("remove", &folder, error))?;
            }
        }
        Ok(())
    }

    /// Writes the number of an acknowledged change, if the folder has a header.
    pub(crate) fn acknowledge(&self, sequence: u64) -> Result<()> {
        if self.is_index.load(Ordering::Relaxed) { self.note(sequence) } else { Ok(()) }
    }

    fn note(&self, sequence: u64) -> Result<()> {
        let bytes = note(sequence);
        let mut file = self.acknowledged.file();
        // `set_len` shortens the file, because damaged content may be longer than `bytes`.
        let written = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&bytes))
            .and_then(|()| file.set_len(bytes.len() as u64));
        written.map_err(|error| Error::io("write", self.acknowledged.path(), error))
    }

    /// Returns the number of the last acknowledged change.
    pub(crate) fn acknowledged(&self) -> Result<u64> {
        let path = self.acknowledged.path();
        let mut bytes = vec![];
        let mut file = self.acknowledged.file();
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
        read.map_err(|error| Error::io("read", path, error))?;
        match bytes.as_chunks::<8>() {
            ([sequence, checksum], []) if xxh3_64(sequence).to_le_bytes() == *checksum => {
                Ok(u64::from_le_bytes(*sequence))
            }
            _ => Err(Error::damaged(path, "it does not match its checksum")),
        }
    }
}

impl Drop for Folder {
    /// Empties the lock file, so that [`unclosed`] knows that the index was closed. If the index could not be
    /// opened, `drop` restores the former content. In a folder without a header, the lock file stays, because
    /// [`remains`] reads it.
    fn drop(&mut self) {
        if self.is_index.load(Ordering::Relaxed) {
            self.restore_lock();
        }
    }
}

/// Returns the last process that had the index open, if it ended without closing the index and no other
/// process has it open.
pub(crate) fn unclosed(path: &Path) -> Result<Option<String>> {
    read_header(path)?;
    let holder = || {
        let mut lock = fs::File::open(path.join("lock")).ok()?;
        // An index that was closed has an empty lock.
        if lock.file().metadata().ok()?.len() == 0 {
            return None;
        }
        lock.file().try_lock_shared().ok()?;
        let mut holder = String::new();
        lock.read_to_string(&mut holder).ok()?;
        Some(holder.trim().to_owned()).filter(|holder| !holder.is_empty())
    };
    Ok(holder())
}

/// Number of attempts to take a lock.
const LOCK_ATTEMPTS: u32 = 50;
/// Pause between two attempts to take a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Takes a lock, in several attempts, because [`unclosed`] of another process may hold it for a moment.
fn try_lock(file: &std::fs::File) -> std::result::Result<(), TryLockError> {
    for _ in 1..LOCK_ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            locked => return locked,
        }
    }
    file.try_lock()
}

/// Opens and locks the lock file of the index at `path`.
fn locked(path: &Path, lock_path: &Path) -> Result<fs::File> {
    let mut lock = open_file(lock_path)?;
    match try_lock(lock.file()) {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let read = lock.read_to_string(&mut holder);
            let holder = match (read, holder.trim()) {
                (Ok(_), holder) if !holder.is_empty() => holder.to_owned(),
                _ => "another process".to_owned(),
            };
            Err(ErrorKind::Locked { path: path.to_owned(), holder }.into())
        }
        Err(TryLockError::Error(error)) => Err(Error::io("lock", lock_path, error)),
    }
}

/// Reports whether an open file is the file at `path`.
#[cfg(unix)]
fn is_at(file: &std::fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |file: std::fs::Metadata| (file.dev(), file.ino());
    file.metadata().map(id).is_ok_and(|open| fs::metadata(path).map(id).is_ok_and(|there| there == open))
}

/// Reports whether an open file is the file at `path`. Outside Unix, an open file keeps its name, so it is
/// enough that `path` exists.
#[cfg(not(unix))]
fn is_at(_file: &std::fs::File, path: &Path) -> bool {
    path.exists()
}

/// Replaces the content of a file.
fn replace(mut file: &std::fs::File, content: &[u8]) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(content)
}

#[cfg(test)]
impl Folder {
    /// Makes every later write of the acknowledged change fail.
    pub(crate) fn refuse_notes(&mut self) {
        self.acknowledged = fs::File::open(self.acknowledged.path()).unwrap();
    }
}

/// Returns the names of the files that an interrupted attempt to create an index has left in a folder. Fails
/// if the folder has content that must not be overwritten: other files, a complete index, or an index that
/// has lost its header, whose file `acknowledged` names a change.
fn remains(path: &Path) -> Result<Vec<OsString>> {
    let read = |error| Error::io("read", path, error);
    let names = fs::read_dir(path).map_err(read)?.map(|entry| Ok(entry?.file_name()));
    let names: Vec<OsString> = names.collect::<std::io::Result<_>>().map_err(read)?;
    let content = |name: &str| match fs::read(path.join(name)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(vec![]),
        content => content.map_err(read),
    };
    let is_of_one = |name: &OsString| {
        name.to_str().is_some_and(|name| {
            ["lock", "acknowledged", "store"].contains(&name) || name.starts_with(UNFINISHED_HEADER)
        })
    };
    let noted = content("acknowledged")?;
    let is_ours = names.iter().all(is_of_one)
        && (noted.is_empty() || noted == note(0))
        && (!path.join("store").exists() || content("lock")?.starts_with(HOLDER.as_bytes()));
    if is_ours { Ok(names) } else { Err(ErrorKind::Exists { path: path.to_owned() }.into()) }
}

/// Returns the content of the file `acknowledged` for change number `sequence`.
fn note(sequence: u64) -> Vec<u8> {
    let sequence = sequence.to_le_bytes();
    [sequence, xxh3_64(&sequence).to_le_bytes()].concat()
}

/// Syncs the entries of a folder to disk.
fn sync_folder(path: &Path) -> Result<()> {
    fs::File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| Error::io("write", path, error))
}

fn open_file(path: &Path) -> Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(|error| Error::io("open", path, error))
}

fn holder() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut words = std::env::args_os();
    // The folder of the program says nothing about the process.
    let program = words.next().map(PathBuf::from);
    let program = program.as_deref().and_then(Path::file_name).map(std::ffi::OsStr::to_os_string);
    let words = program.into_iter().chain(words).map(|word| word.to_string_lossy().into_owned());
    let command = shortened(&words.collect::<Vec<_>>().join(" "));
    format!("{HOLDER}{} (`{command}`), since {}\n", std::process::id(), rfc3339(seconds))
}

/// Greatest number of characters of a command in the lock file. A command can name thousands of files.
const COMMAND: usize = 80;

fn shortened(command: &str) -> String {
    match command.char_indices().nth(COMMAND) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command.to_owned(),
    }
}

fn header(settings: &IndexSettings) -> String {
    let mut lines = format!("{MAGIC}\nformat = {FORMAT}\nunicode = {UNICODE}\n");
    for (name, value) in settings.fields() {
        lines.push_str(&format!("{name} = {value}\n"));
    }
    let checksum = xxh3_64(lines.as_bytes());
    format!("{lines}checksum = {checksum:016x}\n")
}

fn read_header(folder: &Path) -> Result<IndexSettings> {
    let path = folder.join("header");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Err(ErrorKind::NotAnIndex { path: folder.to_owned() }.into());
        }
        Err(error) => return Err(Error::io("read", &path, error)),
    };
    let damaged = |what: &str| Error::damaged(&path, what);
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    if text.lines().next() != Some(MAGIC) {
        return Err(damaged("it does not begin as the header of an archive does"));
    }
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let found = field("format").and_then(|format| format.parse().ok());
    let found = found.ok_or_else(|| damaged("it has no format version"))?;
    if found != FORMAT {
        return Err(ErrorKind::Version { path: folder.to_owned(), found, expected: FORMAT }.into());
    }
    let (before, checksum) = text.split_once("checksum = ").ok_or_else(|| damaged("it has no checksum"))?;
    if checksum != format!("{:016x}\n", xxh3_64(before.as_bytes())) {
        return Err(damaged("it does not match its checksum"));
    }
    let settings = IndexSettings::from_fields(field).map_err(|what| damaged(&what))?;
    match field("unicode") {
        Some(UNICODE) => Ok(settings),
        found => Err(ErrorKind::Unicode {
            found: found.unwrap_or_default().to_owned(),
            expected: UNICODE.to_owned(),
        }
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(result: Result<(Folder, IndexSettings)>) -> ErrorKind {
        result.unwrap_err().kind().clone()
    }

    #[test]
    fn a_folder_is_an_index_once_it_has_a_header() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("archive");
        let folder = Folder::create(&path).unwrap();
        assert!(matches!(kind(Folder::open(&path)), ErrorKind::NotAnIndex { .. }));
        let settings =
            IndexSettings { passage: 40, bits: Some("2".parse().unwrap()), ..IndexSettings::default() };
        folder.seal(&settings, 0).unwrap();
        assert!(
            matches!(kind(Folder::open(&path)), ErrorKind::Locked { holder, .. } if holder.contains("process"))
        );
        drop(folder);
        assert_eq!(Folder::open(&path).unwrap().1, settings);
        assert!(matches!(Folder::create(&path).unwrap_err().kind(), ErrorKind::Exists { .. }));
    }

    #[test]
    fn an_index_that_was_not_closed_names_its_holder_and_a_date() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("archive");
        assert!(matches!(unclosed(&path).unwrap_err().kind(), ErrorKind::NotAnIndex { .. }));
        let folder = Folder::create(&path).unwrap();
        folder.seal(&IndexSettings::default(), 0).unwrap();
        assert_eq!(unclosed(&path).unwrap(), None, "it is open");
        let holder = fs::read_to_string(path.join("lock")).unwrap();
        let (_, since) = holder.trim().rsplit_once(", since ").unwrap();
        assert_eq!((since.len(), &since[4..5], &since[19..]), (20, "-", "Z"), "{since}");
        drop(folder);
        assert_eq!(unclosed(&path).unwrap(), None, "it was closed");
        // A process that is killed leaves its lock file unchanged.
        fs::write(path.join("lock"), &holder).unwrap();
        assert_eq!(unclosed(&path).unwrap().as_deref(), Some(holder.trim()));
        drop(Folder::open(&path).unwrap());
        assert_eq!(unclosed(&path).unwrap().as_deref(), Some(holder.trim()), "it was not opened");
        let (folder, _) = Folder::open(&path).unwrap();
        folder.note_open();
        drop(folder);
        assert_eq!(unclosed(&path).unwrap(), None);
    }

    #[test]
    fn an_index_that_cannot_be_opened_still_names_who_did_not_close_it() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("archive");
        drop(crate::Index::create(&path, &IndexSettings::default()).unwrap());
        let holder = "process 7 (`minwise serve`), since 2026-11-18T09:00:00Z";
        fs::write(path.join("lock"), format!("{holder}\n")).unwrap();
        fs::write(path.join("acknowledged"), note(9)).unwrap();
        assert!(matches!(crate::Index::open(&path).unwrap_err().kind(), ErrorKind::Damaged { .. }));
        assert_eq!(unclosed(&path).unwrap().as_deref(), Some(holder));
        fs::write(path.join("acknowledged"), note(0)).unwrap();
        drop(crate::Index::open(&path).unwrap());
        assert_eq!(unclosed(&path).unwrap(), None);
    }

    /// `unclosed` holds the lock of an index for a moment, and a process that opens the index at that moment
    /// waits.
    #[test]
    fn a_look_at_the_lock_refuses_nobody() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path();
        Folder::create(path).unwrap().seal(&IndexSettings::default(), 0).unwrap();
        let lock = fs::File::open(path.join("lock")).unwrap();
        lock.file().lock_shared().unwrap();
        std::thread::scope(|scope| {
            let opening = scope.spawn(|| Folder::open(path).map(drop));
            std::thread::sleep(Duration::from_millis(20));
            drop(lock);
            opening.join().unwrap().unwrap();
        });
    }

    /// Creates the folder that a process leaves if it ends before it writes the header.
    fn unfinished(path: &Path) {
        let folder = Folder::create(path).unwrap();
        fs::create_dir_all(folder.store()).unwrap();
        fs::write(folder.store().join("0.jnl"), "half of it").unwrap();
        fs::write(path.join(".header-Xy7"), "minwise").unwrap();
    }

    #[test]
    fn what_a_failed_attempt_left_does_not_stand_in_the_way() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("archive");
        for _ in 0..2 {
            unfinished(&path);
            fs::write(path.join("acknowledged"), "").unwrap();
        }
        let folder = Folder::create(&path).unwrap();
        folder.seal(&IndexSettings::default(), 0).unwrap();
        assert_eq!((folder.acknowledged().unwrap(), folder.store().exists()), (0, false));
        let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }

    #[test]
    fn what_is_not_of_a_failed_attempt_is_left_alone() {
        let exists =
            |path: &Path| matches!(Folder::create(path).unwrap_err().kind(), ErrorKind::Exists { .. });
        let parent = tempfile::tempdir().unwrap();
        for (at, spoil) in [
            |path: &Path| fs::write(path.join("notes.txt"), "mine").unwrap(),
            // A folder of an index that has lost its header.
            |path: &Path| fs::write(path.join("acknowledged"), note(1)).unwrap(),
            // A folder with a lock file of another program.
            |path: &Path| fs::write(path.join("lock"), "").unwrap(),
        ]
        .into_iter()
        .enumerate()
        {
            let path = parent.path().join(at.to_string());
            unfinished(&path);
            spoil(&path);
            assert!(exists(&path), "{at}");
            assert!(path.join("store/0.jnl").exists(), "{at}");
        }
        let other = parent.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("store"), "").unwrap();
        assert!(exists(&other) && !other.join("lock").exists());
    }

    // The process that held the lock gives up, and removes the lock file while another process waits for it.
    #[cfg(unix)]
    #[test]
    fn a_lock_on_a_file_that_was_removed_is_not_held() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path();
        let first = Folder::hold(path).unwrap();
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Folder::hold(path));
            // By then, the waiting thread has opened the file and tries again and again to lock it.
            std::thread::sleep(Duration::from_millis(60));
            fs::remove_file(path.join("lock")).unwrap();
            drop(first);
            waiting.join().unwrap()
        });
        let _waiting = waiting.unwrap();
        let third = Folder::hold(path).unwrap_err();
        assert!(matches!(third.kind(), ErrorKind::Locked { .. }), "{third}");
    }

    // Another process creates an index between the first check of the folder and the lock.
    #[test]
    fn an_index_that_was_made_meanwhile_is_seen_once_the_lock_is_taken() {
        let parent = tempfile::tempdir().unwrap();
        Folder::create(parent.path()).unwrap().seal(&IndexSettings::default(), 0).unwrap();
        let folder = Folder::hold(parent.path()).unwrap();
        assert!(matches!(folder.claim().unwrap_err().kind(), ErrorKind::Exists { .. }));
        assert_eq!(unclosed(parent.path()).unwrap(), None);
    }

    #[test]
    fn a_repair_that_was_interrupted_is_ended_when_the_folder_is_opened() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path();
        Folder::create(path).unwrap().seal(&IndexSettings::default(), 0).unwrap();
        let put = |folder: &str| {
            fs::create_dir_all(path.join(folder)).unwrap();
            fs::write(path.join(folder).join("which"), folder).unwrap();
        };
        for (there, store) in [
            (&["store", "repair", "repair/store"][..], "store"),
            (&["store-before-repair", "repair", "repair/store"], "store-before-repair"),
            (&["store-before-repair", "store", "repair"], "store"),
        ] {
            for folder in there {
                put(folder);
            }
            let folder = Folder::open(path).unwrap().0;
            assert_eq!(fs::read_to_string(path.join("store/which")).unwrap(), store, "{there:?}");
            assert!(!folder.replaced().exists() && !folder.room_for_repair().exists(), "{there:?}");
            fs::remove_dir_all(folder.store()).unwrap();
        }
    }

    #[test]
    fn a_note_takes_the_place_of_whatever_was_there() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("acknowledged");
        let folder = Folder::create(parent.path()).unwrap();
        for there in ["", "short", "longer than the sixteen bytes of a note"] {
            fs::write(&path, there).unwrap();
            folder.note(7).unwrap();
            assert_eq!(folder.acknowledged().unwrap(), 7, "{there}");
        }
    }

    #[test]
    fn every_flipped_bit_of_the_small_files_is_told() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create(parent.path()).unwrap();
        folder.seal(&IndexSettings::default(), 0).unwrap();
        folder.acknowledge(77).unwrap();
        assert_eq!(folder.acknowledged().unwrap(), 77);
        drop(folder);
        for name in ["header", "acknowledged"] {
            let path = parent.path().join(name);
            let whole = fs::read(&path).unwrap();
            for bit in 0..8 * whole.len() {
                let mut flipped = whole.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                fs::write(&path, flipped).unwrap();
                let opened = Folder::open(parent.path()).and_then(|(folder, _)| folder.acknowledged());
                assert!(opened.is_err(), "bit {bit} of `{name}`");
            }
            fs::write(&path, whole).unwrap();
        }
        assert_eq!(Folder::open(parent.path()).unwrap().0.acknowledged().unwrap(), 77);
    }
}
