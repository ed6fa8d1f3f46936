//! A source: one input file, standard input, or documents in memory, as it can be read by position.

use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::compression::Compression;
use crate::error::{Error, ErrorKind, Result, SPOOL};
use crate::format::{Format, Layout};
use crate::members::GzipMembers;
use crate::memory::InMemory;
use crate::positional::read_at;
use crate::problem::FileProblem;

/// A source of records: a file, standard input, or documents in memory.
#[derive(Debug)]
pub struct Source {
    pub(crate) name: Arc<str>,
    /// The byte of `name` at which the path inside the given folder begins.
    pub(crate) id_start: usize,
    pub(crate) origin: Origin,
    pub(crate) store: SourceBytes,
    pub(crate) size_bytes: u64,
    /// The compression of a file that is read in place; `None` if the file is not compressed, or was decompressed to the spool.
    pub(crate) compression: Option<Compression>,
    pub(crate) format: Format,
    /// The gzip file that was decompressed to the spool, if its members are needed.
    pub(crate) packed: Option<Packed>,
}

/// A gzip file whose members are known.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) members: GzipMembers,
    pub(crate) size_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

/// The origin of a source, which gives its path.
#[derive(Debug)]
pub(crate) enum Origin {
    Stdin,
    /// A path that is spelled exactly like the name. Nearly all paths are, so that the path is not stored a second time.
    Named,
    /// A path that is spelled otherwise than the name, such as one that is not UTF-8.
    Path(Box<Path>),
    /// Memory of the program.
    Memory,
    /// A file that the program wrote in place of its memory. Its name is not its path.
    NamedFile(Box<Path>),
}

/// Where the bytes of a source are.
#[derive(Debug)]
pub(crate) enum SourceBytes {
    /// In the file itself. Only some files are kept open, because there may be hundreds of thousands.
    InPlace { modified: Option<SystemTime>, kept_open: Option<Arc<File>> },
    /// In the spool, from `base` on.
    Spooled { base: u64 },
    /// In memory. There are no bytes to read by position, only records.
    Memory(InMemory),
    /// Nowhere: the file cannot be read, for this reason.
    Unreadable { message: String },
}

impl Source {
    /// The path as the user would write it, with forward slashes; `-` for standard input; for documents in memory the name that
    /// they were given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of the file; `None` for standard input and documents in memory.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Stdin | Origin::Memory => None,
            Origin::Named => Some(Path::new(&*self.name)),
            Origin::Path(path) | Origin::NamedFile(path) => Some(path),
        }
    }

    /// Whether the documents are data of the program, so that messages cannot name them by file and line.
    pub fn is_data(&self) -> bool {
        matches!(self.origin, Origin::Memory | Origin::NamedFile(_))
    }

    /// The number of bytes that can be read by position: decompressed for compressed JSONL, as stored for a text
    /// file. For documents in memory, the bytes of their texts.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The path inside the given folder. If the source is a document, this path is its id; in an output folder, it is the
    /// name of the output.
    pub fn id(&self) -> &str {
        self.name.get(self.id_start..).unwrap_or(&self.name)
    }

    /// Whether the source holds many documents or is one.
    pub fn layout(&self) -> Layout {
        self.format.layout()
    }

    /// The format of the source.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The documents, if they lie in memory.
    pub(crate) fn memory(&self) -> Option<&InMemory> {
        match &self.store {
            SourceBytes::Memory(memory) => Some(memory),
            SourceBytes::InPlace { .. } | SourceBytes::Spooled { .. } | SourceBytes::Unreadable { .. } => {
                None
            }
        }
    }

    /// Why the file cannot be read, if it cannot. Such a source was found in a folder or by a pattern; it has no bytes, and is
    /// rejected when it is scanned.
    pub fn unreadable(&self) -> Option<&str> {
        match &self.store {
            SourceBytes::Unreadable { message } => Some(message),
            SourceBytes::InPlace { .. } | SourceBytes::Spooled { .. } | SourceBytes::Memory(_) => None,
        }
    }

    /// Opens the source for reading and checks that it has not changed.
    pub(crate) fn open(&self, spool: Option<&Arc<File>>) -> Result<SourceReader> {
        let name = &*self.name;
        let (file, base) = match (&self.store, self.path()) {
            (SourceBytes::Spooled { base }, _) => (spool.cloned(), *base),
            (SourceBytes::InPlace { modified, kept_open: Some(file) }, _) => {
                let metadata = file.metadata().map_err(|error| Error::io("read", name, error))?;
                self.check_unchanged(&metadata, self.size_bytes, *modified)?;
                (Some(Arc::clone(file)), 0)
            }
            (SourceBytes::InPlace { modified, kept_open: None }, Some(path)) => {
                let file = open_file(path, name)?;
                let metadata = file.metadata().map_err(|error| Error::io("read", name, error))?;
                self.check_unchanged(&metadata, self.size_bytes, *modified)?;
                (Some(Arc::new(file)), 0)
            }
            (SourceBytes::InPlace { .. }, None)
            | (SourceBytes::Memory(_) | SourceBytes::Unreadable { .. }, _) => (None, 0),
        };
        // Without a file, the source has no bytes to read: the spool is empty, or the source is in memory or unreadable.
        Ok(SourceReader { file, base, size_bytes: self.size_bytes, name: Arc::clone(&self.name) })
    }

    /// Opens the gzip file of a source, as it is stored, with its members; `None` if they are not known.
    pub(crate) fn open_packed(&self) -> Result<Option<(SourceReader, &GzipMembers)>> {
        let (Some(packed), Some(path)) = (&self.packed, self.path()) else { return Ok(None) };
        let file = open_file(path, &self.name)?;
        let metadata = file.metadata().map_err(|error| Error::io("read", &*self.name, error))?;
        self.check_unchanged(&metadata, packed.size_bytes, packed.modified)?;
        let (name, size_bytes) = (Arc::clone(&self.name), packed.size_bytes);
        let reader = SourceReader { file: Some(Arc::new(file)), base: 0, size_bytes, name };
        Ok(Some((reader, &packed.members)))
    }

    fn check_unchanged(&self, found: &Metadata, size_bytes: u64, modified: Option<SystemTime>) -> Result<()> {
        if found.len() == size_bytes && found.modified().ok() == modified {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Changed { name: self.name.to_string() }))
    }
}

/// Opens a file for reading; the error names it as the user did.
///
/// # Errors
/// Fails with [`ErrorKind::Io`] if the file cannot be opened.
pub fn open_file(path: &Path, name: &str) -> Result<File> {
    // `fs_err` would repeat the path, which our `Error` states already.
    let file = fs_err::OpenOptions::new().read(true).open(path);
    Ok(file.map_err(|error| Error::io("open", name, os_error(error)))?.into_parts().0)
}

/// The operating system's error inside one of `fs_err`, whose text repeats the path.
pub fn os_error(error: std::io::Error) -> std::io::Error {
    let inside = error.get_ref().and_then(|wrapped| wrapped.source());
    let number = inside.and_then(|inside| inside.downcast_ref::<std::io::Error>()?.raw_os_error());
    number.or(error.raw_os_error()).map_or(error, std::io::Error::from_raw_os_error)
}

/// The operating system's reason for an error, without the path.
pub fn reason_of(error: std::io::Error) -> String {
    os_error(error).to_string()
}

/// An open source.
#[derive(Clone, Debug)]
pub(crate) struct SourceReader {
    pub(crate) file: Option<Arc<File>>,
    pub(crate) base: u64,
    pub(crate) size_bytes: u64,
    pub(crate) name: Arc<str>,
}

impl SourceReader {
    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Fills `out` from `offset` on. The caller asks only for bytes that were there when the corpus was
    /// opened, so that too few of them means that the file has changed.
    pub(crate) fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None if out.is_empty() => return Ok(()),
            None => return Err(Error::io("read", SPOOL, std::io::ErrorKind::NotFound.into())),
        };
        match read_at(file, self.base + offset, out) {
            Ok(bytes) if bytes == out.len() => Ok(()),
            Ok(_) => Err(self.changed()),
            Err(error) => Err(Error::io("read", &*self.name, error)),
        }
    }

    /// Makes the error that the source has changed.
    pub(crate) fn changed(&self) -> Error {
        Error::new(ErrorKind::Changed { name: self.name.to_string() })
    }

    /// Makes the error that an offset does not fit the bytes that were read.
    pub(crate) fn misplaced(&self, offset: u64) -> Error {
        Error::new(ErrorKind::Misplaced { name: self.name.to_string(), offset })
    }

    /// Makes an error about the content of the source.
    pub(crate) fn bad(&self, place: impl Into<String>, message: impl Into<String>) -> Error {
        Error::inside(&*self.name, FileProblem::Content { place: place.into(), message: message.into() })
    }
}
