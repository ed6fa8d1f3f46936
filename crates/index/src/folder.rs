//! The folder of an index: a header that says what it is, a lock, a note of what was acknowledged, and the store.
//!
//! | file | holds | changes |
//! |---|---|---|
//! | `header` | format version, settings, checksum; lines of text | never |
//! | `lock` | who has the index open | when it is opened |
//! | `acknowledged` | the number of the last change that was acknowledged | with every change |
//! | `store/` | everything else, in the files of the storage engine | |
//!
//! The header is written last when an index is made, so a folder with a header is a whole index. The note of what was
//! acknowledged is not what makes a change durable; it tells a store that lost its newest changes (a flipped bit in
//! a journal ends it there) from one that never had them.

use std::fs::TryLockError;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fs_err as fs;
use minwise::text::UNICODE;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind, Result};
use crate::settings::Settings;

/// The version of everything that is written here.
pub const FORMAT: u32 = 1;

const MAGIC: &str = "minwise index";

/// An index's folder, held by this process.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    // Held as long as the folder is; the operating system lets go of it when the process ends, however it ends.
    _lock: fs::File,
    acknowledged: fs::File,
}

impl Folder {
    /// Makes the folder and takes its lock. There is no header yet: [`Folder::seal`] writes it.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path.exists() && fs::read_dir(path).map_err(|e| Error::io("read", path, e))?.next().is_some() {
            return Err(ErrorKind::Exists { path: path.to_owned() }.into());
        }
        fs::create_dir_all(path).map_err(|error| Error::io("make", path, error))?;
        let folder = Self::hold(path)?;
        folder.acknowledge(0)?;
        Ok(folder)
    }

    /// Opens a folder that is an index.
    pub(crate) fn open(path: &Path) -> Result<(Self, Settings)> {
        let settings = read_header(path)?;
        Ok((Self::hold(path)?, settings))
    }

    fn hold(path: &Path) -> Result<Self> {
        let lock_path = path.join("lock");
        let mut lock = open_file(&lock_path)?;
        match lock.file().try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = lock.read_to_string(&mut holder);
                let holder = match (read, holder.trim()) {
                    (Ok(_), holder) if !holder.is_empty() => holder.to_owned(),
                    _ => "another process".to_owned(),
                };
                return Err(ErrorKind::Locked { path: path.to_owned(), holder }.into());
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &lock_path, error)),
        }
        let written = lock.set_len(0).and_then(|()| lock.write_all(holder().as_bytes()));
        written.map_err(|error| Error::io("write", &lock_path, error))?;
        let acknowledged = open_file(&path.join("acknowledged"))?;
        Ok(Self { path: path.to_owned(), _lock: lock, acknowledged })
    }

    /// Writes the header, after which the folder is an index.
    pub(crate) fn seal(&self, settings: &Settings) -> Result<()> {
        let path = self.path.join("header");
        let written = (|| {
            let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
            file.write_all(header(settings).as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            fs::File::open(&self.path)?.sync_all()
        })();
        written.map_err(|error| Error::io("write", &path, error))
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the storage engine has its files.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join("store")
    }

    /// Notes that a change was acknowledged.
    pub(crate) fn acknowledge(&self, sequence: u64) -> Result<()> {
        let mut bytes = sequence.to_le_bytes().to_vec();
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let mut file = self.acknowledged.file();
        let written = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&bytes));
        written.map_err(|error| Error::io("write", self.acknowledged.path(), error))
    }

    /// The last change that was acknowledged.
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
            _ => Err(Error::damaged(path, "it does not have its checksum")),
        }
    }
}

#[cfg(test)]
impl Folder {
    /// From now on, notes cannot be written.
    pub(crate) fn refuse_notes(&mut self) {
        self.acknowledged = fs::File::open(self.acknowledged.path()).unwrap();
    }
}

fn open_file(path: &Path) -> Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(|error| Error::io("open", path, error))
}

fn holder() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let command: Vec<String> = std::env::args().take(3).collect();
    format!("process {} (`{}`), since second {seconds} of the epoch\n", std::process::id(), command.join(" "))
}

fn header(settings: &Settings) -> String {
    let mut lines = format!("{MAGIC}\nformat = {FORMAT}\nunicode = {UNICODE}\n");
    for (name, value) in settings.fields() {
        lines.push_str(&format!("{name} = {value}\n"));
    }
    let checksum = xxh3_64(lines.as_bytes());
    format!("{lines}checksum = {checksum:016x}\n")
}

fn read_header(folder: &Path) -> Result<Settings> {
    let path = folder.join("header");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ErrorKind::NotAnIndex { path: folder.to_owned() }.into());
        }
        Err(error) => return Err(Error::io("read", &path, error)),
    };
    let damaged = |what: &str| Error::damaged(&path, what);
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    if text.lines().next() != Some(MAGIC) {
        return Err(damaged("it does not begin as the header of an index does"));
    }
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let found = field("format").and_then(|format| format.parse().ok());
    let found = found.ok_or_else(|| damaged("it has no format version"))?;
    if found != FORMAT {
        return Err(ErrorKind::Version { path: folder.to_owned(), found, expected: FORMAT }.into());
    }
    let (before, checksum) = text.split_once("checksum = ").ok_or_else(|| damaged("it has no checksum"))?;
    if checksum != format!("{:016x}\n", xxh3_64(before.as_bytes())) {
        return Err(damaged("it does not have its checksum"));
    }
    let settings = Settings::from_fields(field).map_err(|what| damaged(&what))?;
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

    fn kind(result: Result<(Folder, Settings)>) -> ErrorKind {
        result.unwrap_err().kind().clone()
    }

    #[test]
    fn a_folder_is_an_index_once_it_has_a_header() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("archive");
        let folder = Folder::create(&path).unwrap();
        assert!(matches!(kind(Folder::open(&path)), ErrorKind::NotAnIndex { .. }));
        let settings = Settings { passage: 40, bits: Some("2".parse().unwrap()), ..Settings::default() };
        folder.seal(&settings).unwrap();
        assert!(
            matches!(kind(Folder::open(&path)), ErrorKind::Locked { holder, .. } if holder.contains("process"))
        );
        drop(folder);
        assert_eq!(Folder::open(&path).unwrap().1, settings);
        assert!(matches!(Folder::create(&path).unwrap_err().kind(), ErrorKind::Exists { .. }));
    }

    #[test]
    fn every_flipped_bit_of_the_small_files_is_told() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create(parent.path()).unwrap();
        folder.seal(&Settings::default()).unwrap();
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
