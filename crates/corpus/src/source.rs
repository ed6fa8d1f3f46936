//! A source: one input file, standard input, or documents in memory. A source can be read by position.

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
    /// Offset in `name` at which the path inside the given folder begins.
    pub(crate) id_start: usize,
    pub(crate) origin: Origin,
    pub(crate) store: SourceBytes,
    pub(crate) size_bytes: u64,
    /// The compression of a file that is read in place; `None` if the file is not compressed, or was decompressed to
    /// the spool.
    pub(crate) compression: Option<Compression>,
    pub(crate) format: Format,
    /// The gzip file that was decompressed to the spool; `None` if its members are not needed.
    pub(crate) packed: Option<Packed>,
}

/// A gzip file whose members are known.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) members: GzipMembers,
    pub(crate) size_bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

/// Origin of a source, from which its path follows.
#[derive(Debug)]
pub(crate) enum Origin {
    Stdin,
    /// A path that is spelled exactly like the name. Nearly all paths are, so the path is not stored a second time.
    Named,
    /// A path that is spelled differently from the name, for example because it is not UTF-8.
    Path(Box<Path>),
    /// Memory of the program.
    Memory,
    /// A file that the program wrote to hold its data outside memory. The name of the source is not the path of this
    /// file.
    NamedFile(Box<Path>),
}

/// Location of the bytes of a source.
#[derive(Debug)]
pub(crate) enum SourceBytes {
    /// The file itself. Only some files are kept open, because there may be hundreds of thousands of files.
    InPlace { modified: Option<SystemTime>, kept_open: Option<Arc<File>> },
    /// A spool, from the offset `base` on. There is no file if nothing was spooled.
    Spooled { base: u64, file: Option<Arc<File>> },
    /// Memory. Records can be read, but there are no bytes to read by position.
    Memory(InMemory),
    /// No bytes, because the file cannot be read, for this reason.
    Unreadable { message: String },
}

impl Source {
    /// Returns the path as the user would write it, with forward slashes; `-` for standard input; for documents in
    /// memory, the name that the program gave them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of the file; `None` for standard input and documents in memory.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Stdin | Origin::Memory => None,
            Origin::Named => Some(Path::new(&*self.name)),
            Origin::Path(path) | Origin::NamedFile(path) => Some(path),
        }
    }

    /// Reports whether the documents are data of the program, so that messages cannot name them by file and line.
    pub fn is_data(&self) -> bool {
        matches!(self.origin, Origin::Memory | Origin::NamedFile(_))
    }

    /// Returns the number of bytes that can be read by position: the decompressed size of compressed JSONL, or the
    /// stored size of a text file. For documents in memory, returns the total size of their texts.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the path inside the given folder. If the source is a document, this path is its id; in an output
    /// folder, this path is the name of the output.
    pub fn id(&self) -> &str {
        self.name.get(self.id_start..).unwrap_or(&self.name)
    }

    /// Returns whether the source holds many documents or is one document.
    pub fn layout(&self) -> Layout {
        self.format.layout()
    }

    /// Returns the format of the source.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the documents, if they lie in memory.
    pub(crate) fn memory(&self) -> Option<&InMemory> {
        match &self.store {
            SourceBytes::Memory(memory) => Some(memory),
            SourceBytes::InPlace { .. } | SourceBytes::Spooled { .. } | SourceBytes::Unreadable { .. } => {
                None
            }
        }
    }

    /// Returns the reason why the file cannot be read; `None` if it can. An unreadable file was found in a folder or
    /// by a pattern. Its source has no bytes, and a scan rejects it.
    pub fn unreadable(&self) -> Option<&str> {
        match &self.store {
            SourceBytes::Unreadable { message } => Some(message),
            SourceBytes::InPlace { .. } | SourceBytes::Spooled { .. } | SourceBytes::Memory(_) => None,
        }
    }

    /// Opens the source for reading and checks that it has not changed.
    pub(crate) fn open(&self) -> Result<SourceReader> {
        let name = &*self.name;
        let (file, base) = match (&self.store, self.path()) {
            (SourceBytes::Spooled { base, file }, _) => (file.clone(), *base),
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
        // Without a file, the source has no bytes to read: the spool is empty, or the source is in memory or
        // unreadable.
        Ok(SourceReader { file, base, size_bytes: self.size_bytes, name: Arc::clone(&self.name) })
    }

    /// Fills `out` with the bytes from `offset` on, and checks that the source has not changed.
    pub(crate) fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        // The open file is borrowed, because threads that count references to one file for every record they read wait
        // for each other.
        let (file, base) = match &self.store {
            SourceBytes::Spooled { base, file: Some(file) } => (file, *base),
            SourceBytes::InPlace { modified, kept_open: Some(file) } => {
                let metadata = file.metadata().map_err(|error| Error::io("read", &*self.name, error))?;
                self.check_unchanged(&metadata, self.size_bytes, *modified)?;
                (file, 0)
            }
            _ => return self.open()?.read_exact_at(offset, out),
        };
        read_exact(file, base + offset, out, &self.name)
    }

    /// Opens the gzip file of a source, as it is stored, with its members; `None` if the members are not known.
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

/// Fills `out` with the bytes of a file from `offset` on. A short read means that the file has changed.
fn read_exact(file: &File, offset: u64, out: &mut [u8], name: &str) -> Result<()> {
    match read_at(file, offset, out) {
        Ok(bytes) if bytes == out.len() => Ok(()),
        Ok(_) => Err(Error::new(ErrorKind::Changed { name: name.to_owned() })),
        Err(error) => Err(Error::io("read", name, error)),
    }
}

/// Opens a file for reading. Its error names the file as the user did.
///
/// # Errors
/// Fails with [`ErrorKind::Io`] if the file cannot be opened.
pub fn open_file(path: &Path, name: &str) -> Result<File> {
    // `fs_err` would repeat the path, which our `Error` states already.
    let file = fs_err::OpenOptions::new().read(true).open(path);
    Ok(file.map_err(|error| Error::io("open", name, os_error(error)))?.into_parts().0)
}

/// Returns the operating system's error inside an error of `fs_err`, because the text of the outer error repeats the
/// path.
pub fn os_error(error: std::io::Error) -> std::io::Error {
    let inside = error.get_ref().and_then(|wrapped| wrapped.source());
    let number = inside.and_then(|inside| inside.downcast_ref::<std::io::Error>()?.raw_os_error());
    number.or(error.raw_os_error()).map_or(error, std::io::Error::from_raw_os_error)
}

/// Returns the operating system's reason for an error, without the path.
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

    /// Fills `out` with the bytes from `offset` on. Callers request only bytes that existed when the corpus was
    /// opened, so a short read means that the file has changed.
    pub(crate) fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None if out.is_empty() => return Ok(()),
            None => return Err(Error::io("read", SPOOL, std::io::ErrorKind::NotFound.into())),
        };
        read_exact(file, self.base + offset, out, &self.name)
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
