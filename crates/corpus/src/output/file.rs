//! One output file, or standard output.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::gzip::GzipWriter;
use super::{Overwrite, RunTag, existing_parent, exists, parent_of, prefix_of, sync_folder, temporary};
use crate::compression::Compression;
use crate::error::{Error, ErrorKind, Result, STDOUT};
use crate::positional::write_at;
use crate::source::os_error;

/// Size of the buffer that gathers small writes, in bytes. Larger writes bypass the buffer, so that nothing is copied
/// twice.
const BUFFER_BYTES: usize = 256 << 10;

#[cfg(feature = "zstd")]
const ZSTD_LEVEL: i32 = 3;
/// Number of bytes that one worker of libzstd compresses at a time. Another number would change the bytes of every
/// file.
#[cfg(feature = "zstd")]
const ZSTD_JOB_BYTES: u32 = 2 << 20;
#[cfg(feature = "xz")]
const XZ_LEVEL: u32 = 6;

/// Default of [`Output::set_buffer_bytes`].
pub(super) const TABLE_BYTES: u64 = 64 << 20;

/// A file that is written under a temporary name beside its final path, and renamed by [`Output::finish`].
///
/// If the name ends in `.gz`, `.zst`, `.bz2` or `.xz`, the file is compressed. Equal input bytes always give equal
/// output bytes. An `Output` that is dropped without `finish` leaves no file behind. A device or a pipe is written
/// directly.
#[derive(Debug)]
pub struct Output {
    // `encoder` is the first field, so that the file is closed before its temporary name is removed, as Windows
    // requires.
    encoder: Encoder,
    temporary: Option<TempPath>,
    name: String,
    path: PathBuf,
    /// Whether an existing file must have the same bytes as the new file.
    must_be_same: bool,
    /// Number of threads that write or compress.
    threads: usize,
    /// Maximum number of bytes that threads keep in memory before the bytes are written.
    buffer_bytes: u64,
}

#[derive(Debug)]
enum FileTarget {
    File(File),
    Stdout(Stdout),
}

enum Encoder {
    Plain(BufWriter<FileTarget>),
    Gzip(GzipWriter<BufWriter<FileTarget>>),
    /// A compression that the program may be built without.
    Optional(Box<dyn Finish>),
}

/// A compressed stream that can be ended.
trait Finish: Write + Send {
    /// Compresses with several threads, if the compression supports this. The number of threads does not change the
    /// bytes.
    fn set_threads(&mut self, _threads: usize) -> io::Result<()> {
        Ok(())
    }

    /// Writes the end of the stream, and returns the target.
    fn finish(self: Box<Self>) -> io::Result<BufWriter<FileTarget>>;
}

#[cfg(feature = "zstd")]
impl Finish for zstd::stream::write::Encoder<'static, BufWriter<FileTarget>> {
    fn set_threads(&mut self, threads: usize) -> io::Result<()> {
        // libzstd cuts the stream into jobs only if it has a worker, and the jobs decide the bytes.
        self.multithread(u32::try_from(threads).unwrap_or(1).max(1))
    }

    fn finish(self: Box<Self>) -> io::Result<BufWriter<FileTarget>> {
        (*self).finish()
    }
}

#[cfg(feature = "bzip2")]
impl Finish for bzip2::write::BzEncoder<BufWriter<FileTarget>> {
    fn finish(self: Box<Self>) -> io::Result<BufWriter<FileTarget>> {
        (*self).finish()
    }
}

#[cfg(feature = "xz")]
impl Finish for liblzma::write::XzEncoder<BufWriter<FileTarget>> {
    fn finish(self: Box<Self>) -> io::Result<BufWriter<FileTarget>> {
        (*self).finish()
    }
}

impl Output {
    /// Begins a file.
    ///
    /// An existing file is refused unless `overwrite` allows to replace it. The folder must exist.
    ///
    /// # Errors
    /// Fails with one of these kinds:
    /// - [`ErrorKind::EmptyOutputName`]: the path is empty.
    /// - [`ErrorKind::OutputExists`]: the file exists, and `overwrite` refuses to replace it.
    /// - [`ErrorKind::WrongOutputKind`]: the path is that of a folder.
    /// - [`ErrorKind::NoParent`]: the folder of the file does not exist.
    /// - [`ErrorKind::MissingFeature`]: the name asks for a compression that the program was built without.
    /// - [`ErrorKind::Io`]: the operating system refuses another action.
    pub fn create(path: &Path, overwrite: Overwrite) -> Result<Self> {
        Self::create_for(path, overwrite, None)
    }

    /// Begins a file of a run. The file bears the tag of the run, by which a later process finds it if this process
    /// is killed.
    ///
    /// # Errors
    /// Fails as [`create`](Self::create) does.
    pub fn create_for(path: &Path, overwrite: Overwrite, tag: Option<RunTag>) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        if name.is_empty() {
            return Err(Error::new(ErrorKind::EmptyOutputName));
        }
        if name.ends_with(std::path::is_separator) {
            return Err(Error::new(ErrorKind::WrongOutputKind { path: name, found: "the name of a folder" }));
        }
        if let Some(compression) = Compression::of_name(&name) {
            compression.check(&name)?;
        }
        let (target, temporary, path) = match fs_err::metadata(path) {
            Ok(there) if there.is_dir() => {
                return Err(Error::new(ErrorKind::WrongOutputKind { path: name, found: "a folder" }));
            }
            // A device is opened, not replaced, because renaming a file over `/dev/null` would destroy `/dev/null`.
            Ok(there) if !there.is_file() => {
                let file = fs_err::OpenOptions::new().write(true).open(path);
                let file = file.map_err(|error| Error::path("open", path, os_error(error)))?;
                (file.into_parts().0, None, path.to_owned())
            }
            Ok(_) if overwrite == Overwrite::Refuse => return Err(exists(path)),
            Ok(_) => {
                // A link is kept, and the file that it leads to is replaced.
                let path =
                    fs_err::canonicalize(path).map_err(|error| Error::path("open", path, os_error(error)))?;
                let (file, temporary) = temporary_file(&path, tag)?;
                (file, Some(temporary), path)
            }
            // A link that leads nowhere counts as an existing output, with other bytes than any new output.
            Err(_) if path.is_symlink() && overwrite != Overwrite::Allow => return Err(exists(path)),
            Err(_) => {
                let (file, temporary) = temporary_file(path, tag)?;
                (file, Some(temporary), path.to_owned())
            }
        };
        let encoder = Encoder::new(FileTarget::File(target), Compression::of_name(&name))
            .map_err(|error| Error::io("write", &*name, error))?;
        let must_be_same = overwrite == Overwrite::Same;
        Ok(Self { encoder, temporary, name, path, must_be_same, threads: 1, buffer_bytes: TABLE_BYTES })
    }

    /// Writes to standard output, with a buffer. If the reader closes the pipe, writing fails with an error that [is
    /// a broken pipe](Error::is_broken_pipe).
    pub fn stdout() -> Self {
        let encoder = Encoder::Plain(buffered(FileTarget::Stdout(io::stdout())));
        let (name, path) = (STDOUT.to_owned(), PathBuf::new());
        Self {
            encoder,
            temporary: None,
            name,
            path,
            must_be_same: false,
            threads: 1,
            buffer_bytes: TABLE_BYTES,
        }
    }

    /// Writes or compresses with several threads from now on. The caller sets the threads before it writes the first
    /// byte. The number of threads never changes the bytes of the file. The default is one thread.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the threads cannot be started.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        self.threads = threads.max(1);
        let set = match &mut self.encoder {
            Encoder::Plain(_) => Ok(()),
            Encoder::Gzip(encoder) => {
                encoder.set_threads(self.threads);
                Ok(())
            }
            Encoder::Optional(encoder) => encoder.set_threads(self.threads),
        };
        set.map_err(|error| Error::io("write", &*self.name, error))
    }

    /// Sets the maximum bytes of a table that several threads keep in memory before they are written. The default is 64
    /// MiB.
    pub fn set_buffer_bytes(&mut self, bytes: u64) {
        self.buffer_bytes = bytes;
    }

    /// Returns the number of threads that write or compress.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the maximum number of bytes that threads keep in memory before the bytes are written.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    /// Returns the file for threads that write at offsets, from the current offset on; `None` if the output is
    /// compressed, or is a pipe or a device.
    pub(crate) fn positional(&mut self) -> Result<Option<PositionalFile<'_>>> {
        let (Encoder::Plain(buffer), Some(_)) = (&mut self.encoder, &self.temporary) else { return Ok(None) };
        let position = buffer.stream_position().map_err(|error| Error::io("write", &*self.name, error))?;
        Ok(match buffer.get_ref() {
            FileTarget::File(file) => Some(PositionalFile { file, begin: position, name: &self.name }),
            FileTarget::Stdout(_) => None,
        })
    }

    /// Continues at an offset, up to which a [`PositionalFile`] was written.
    pub(crate) fn go_on_at(&mut self, offset: u64) -> Result<()> {
        let Encoder::Plain(buffer) = &mut self.encoder else { return Ok(()) };
        let moved = buffer.seek(SeekFrom::Start(offset));
        moved.map(drop).map_err(|error| Error::io("write", &*self.name, error))
    }

    /// Writes bytes. An error names the output.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the output cannot be written; [`Error::is_broken_pipe`] is true if its reader
    /// closed the pipe.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.encoder.writer().write_all(bytes).map_err(|error| Error::io("write", &*self.name, error))
    }

    /// Reports whether this is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.path.as_os_str().is_empty()
    }

    /// Reports whether the file is compressed by gzip.
    pub(crate) fn is_gzip(&self) -> bool {
        matches!(self.encoder, Encoder::Gzip(_))
    }

    /// Ends the current gzip member. If the file is not compressed by gzip, does nothing.
    pub(crate) fn end_member(&mut self) -> Result<()> {
        match &mut self.encoder {
            Encoder::Gzip(encoder) => {
                encoder.end_member().map_err(|error| Error::io("write", &*self.name, error))
            }
            Encoder::Plain(_) | Encoder::Optional(_) => Ok(()),
        }
    }

    /// Writes bytes that are already gzip members. To a file that is not compressed by gzip, writes them like any
    /// other bytes.
    pub(crate) fn write_members(&mut self, members: &[u8]) -> Result<()> {
        match &mut self.encoder {
            Encoder::Gzip(encoder) => {
                encoder.write_members(members).map_err(|error| Error::io("write", &*self.name, error))
            }
            Encoder::Plain(_) | Encoder::Optional(_) => self.write_bytes(members),
        }
    }

    /// Writes all bytes so far to the disk, so that [`finish`](Self::finish) takes less time.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the output cannot be written.
    pub fn sync(&mut self) -> Result<()> {
        match (&mut self.encoder, &self.temporary) {
            (Encoder::Plain(buffer), Some(_)) => buffer
                .flush()
                .and_then(|()| buffer.get_ref().sync())
                .map_err(|error| Error::io("write", &*self.name, error)),
            // Flushing an encoder would cost compression, and only our own files are synced.
            _ => Ok(()),
        }
    }

    /// Completes the file: all bytes are on the disk before the file gets its name.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the last bytes cannot be written, or if the file cannot be synced or renamed.
    /// In that case, an existing file is kept.
    pub fn finish(self) -> Result<()> {
        self.complete()?.put_in_place()
    }

    /// Completes the file under its temporary name. If a caller completes all its outputs first, an output that cannot
    /// be written is found before any output gets its name.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the last bytes cannot be written, or if the file cannot be synced.
    pub fn complete(self) -> Result<CompleteOutput> {
        self.end()?.sync()
    }

    /// Writes the last bytes of the file. The memory for compression is free afterwards.
    pub(crate) fn end(self) -> Result<UnsyncedOutput> {
        let Self { encoder, temporary, name, path, must_be_same, threads: _, buffer_bytes: _ } = self;
        let target = encoder.finish().map_err(|error| Error::io("write", &*name, error))?;
        Ok(UnsyncedOutput { target, complete: CompleteOutput { temporary, name, path, must_be_same } })
    }
}

/// A file that has all its bytes, which may not be on the disk yet.
#[derive(Debug)]
pub(crate) struct UnsyncedOutput {
    // `target` is the first field, so that the file is closed before its temporary name is removed, as Windows
    // requires.
    target: FileTarget,
    complete: CompleteOutput,
}

impl UnsyncedOutput {
    /// Waits until all bytes are on the disk.
    pub(crate) fn sync(self) -> Result<CompleteOutput> {
        let Self { target, complete } = self;
        if let (FileTarget::File(file), Some(_)) = (target, &complete.temporary) {
            file.sync_all().map_err(|error| Error::io("write", &*complete.name, error))?;
        }
        Ok(complete)
    }
}

/// A plain file that several threads write, each at its own offsets.
#[derive(Debug)]
pub(crate) struct PositionalFile<'o> {
    file: &'o File,
    begin: u64,
    name: &'o str,
}

impl PositionalFile<'_> {
    /// Returns the offset of the first byte to be written.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// Writes all of `bytes` from `offset` on.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        write_at(self.file, offset, bytes).map_err(|error| Error::io("write", self.name, error))
    }

    /// Writes all bytes so far to the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::io("write", self.name, error))
    }
}

/// A file that is on the disk and waits for its name. If the value is dropped, the file is removed.
#[derive(Debug)]
#[must_use]
pub struct CompleteOutput {
    temporary: Option<TempPath>,
    name: String,
    path: PathBuf,
    must_be_same: bool,
}

impl CompleteOutput {
    /// Reports whether a file of this name exists already and has the same bytes.
    fn is_there(&self) -> Result<bool> {
        let Some(temporary) = self.temporary.as_deref().filter(|_| self.path.exists()) else {
            return Ok(false);
        };
        super::same::same_files(temporary, &self.path)
    }

    /// Refuses an existing file with other bytes, if it [may not be replaced](Overwrite::Same).
    ///
    /// # Errors
    /// Fails with [`ErrorKind::OutputExists`] if such a file exists, and with [`ErrorKind::Io`] if the file cannot be
    /// read.
    pub fn check(&self) -> Result<()> {
        if self.must_be_same && self.path.exists() && !self.is_there()? {
            return Err(exists(Path::new(&self.name)));
        }
        Ok(())
    }

    /// Renames the file to its final name.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the file cannot be renamed.
    pub fn put_in_place(self) -> Result<()> {
        self.check()?;
        let Self { temporary, name, path, must_be_same } = self;
        // A device or a pipe has no temporary file, so nothing is renamed.
        let Some(temporary) = temporary else { return Ok(()) };
        if must_be_same && path.exists() {
            // The existing file stays, because it has the same bytes, and may have links and permissions of its own.
            return Ok(());
        }
        temporary
            .persist(&path)
            .map_err(|error| Error::io("rename the finished file to", &*name, error.error))?;
        sync_folder(&parent_of(&path))
    }
}

/// Serves `write!`. Errors name the output and keep their kind.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.writer().write(bytes).map_err(|error| named(&self.name, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.writer().flush().map_err(|error| named(&self.name, error))
    }
}

fn named(name: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), Error::io("write", name, error))
}

fn temporary_file(path: &Path, tag: Option<RunTag>) -> Result<(File, TempPath)> {
    let parent = existing_parent(path)?;
    let prefix = prefix_of(tag);
    let file = temporary(0o666, &prefix).tempfile_in(&parent);
    let file = file.map_err(|error| Error::path("write in", &parent, error))?;
    Ok(file.into_parts())
}

fn buffered(target: FileTarget) -> BufWriter<FileTarget> {
    BufWriter::with_capacity(BUFFER_BYTES, target)
}

impl Encoder {
    fn new(target: FileTarget, compression: Option<Compression>) -> io::Result<Self> {
        let target = buffered(target);
        Ok(match compression {
            None => Self::Plain(target),
            Some(Compression::Gzip) => Self::Gzip(GzipWriter::new(target)),
            #[cfg(feature = "zstd")]
            Some(Compression::Zstd) => {
                let mut encoder = zstd::stream::write::Encoder::new(target, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                encoder.set_parameter(zstd::zstd_safe::CParameter::JobSize(ZSTD_JOB_BYTES))?;
                encoder.multithread(1)?;
                Self::Optional(Box::new(encoder))
            }
            #[cfg(feature = "bzip2")]
            Some(Compression::Bzip2) => {
                let level = bzip2::Compression::best();
                Self::Optional(Box::new(bzip2::write::BzEncoder::new(target, level)))
            }
            #[cfg(feature = "xz")]
            Some(Compression::Xz) => {
                Self::Optional(Box::new(liblzma::write::XzEncoder::new(target, XZ_LEVEL)))
            }
            #[cfg(not(all(feature = "bzip2", feature = "xz", feature = "zstd")))]
            Some(missing) => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, format!("{missing:?} is missing")));
            }
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(target) => target,
            Self::Gzip(encoder) => encoder,
            Self::Optional(encoder) => encoder,
        }
    }

    fn finish(self) -> io::Result<FileTarget> {
        let mut buffer = match self {
            Self::Plain(target) => target,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Optional(encoder) => encoder.finish()?,
        };
        buffer.flush()?;
        buffer.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Gzip(_) => "Gzip",
            Self::Optional(_) => "Optional",
        })
    }
}

impl FileTarget {
    fn sync(&self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync_data(),
            Self::Stdout(_) => Ok(()),
        }
    }
}

impl Seek for FileTarget {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(position),
            Self::Stdout(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

impl Write for FileTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> Result<()> {
        let mut output = Output::create(path, overwrite)?;
        output.write_bytes(bytes)?;
        output.finish()
    }

    #[test]
    fn a_file_appears_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let mut output = Output::create(&path, Overwrite::Refuse).unwrap();
        writeln!(output, "one").unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"one\n");
        assert_eq!(names(folder.path()), ["out.jsonl"]);
    }

    #[test]
    fn a_complete_file_waits_for_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.gz");
        for in_place in [false, true] {
            let mut output = Output::create(&path, Overwrite::Refuse).unwrap();
            output.write_bytes(b"one").unwrap();
            let complete = output.complete().unwrap();
            assert!(!path.exists());
            if in_place {
                complete.put_in_place().unwrap();
            } else {
                drop(complete);
            }
            assert_eq!(names(folder.path()), if in_place { &["out.gz"][..] } else { &[] });
        }
    }

    #[test]
    fn a_file_that_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "a.gz", "a.zst", "a.bz2", "a.xz"] {
            let mut output = Output::create(&folder.path().join(name), Overwrite::Refuse).unwrap();
            output.write_bytes(b"one").unwrap();
        }
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn what_is_there_is_replaced_only_on_demand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write(&path, b"old", Overwrite::Refuse).unwrap();
        let error = write(&path, b"new", Overwrite::Refuse).unwrap_err();
        assert!(error.to_string().ends_with("out` exists already"), "{error}");
        assert_eq!(error.hint().unwrap().to_string(), "`overwrite` replaces it");
        let unfinished = Output::create(&path, Overwrite::Allow).unwrap();
        drop(unfinished);
        assert_eq!(fs_err::read(&path).unwrap(), b"old");
        write(&path, b"new", Overwrite::Allow).unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_the_same_bytes_is_left_alone() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write(&path, b"one", Overwrite::Same).unwrap();
        let number = || fs_err::metadata(&path).unwrap().ino();
        let before = number();
        write(&path, b"one", Overwrite::Same).unwrap();
        assert_eq!(number(), before);
        let error = write(&path, b"two", Overwrite::Same).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutputExists { .. }), "{error}");
        write(&path, b"one", Overwrite::Allow).unwrap();
        assert_ne!(number(), before);
        assert_eq!(names(folder.path()), ["out"]);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        for overwrite in [Overwrite::Same, Overwrite::Refuse] {
            let error = write(&link, b"one", overwrite).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutputExists { .. }), "{error}");
        }
        assert!(link.is_symlink());
    }

    #[test]
    fn compression_goes_by_the_name_and_is_deterministic() {
        let folder = tempfile::tempdir().unwrap();
        let text = "a rose is a rose\n".repeat(1000);
        for name in ["out.gz", "out.zst", "out.bz2", "out.xz"] {
            let path = folder.path().join(name);
            write(&path, text.as_bytes(), Overwrite::Refuse).unwrap();
            let bytes = fs_err::read(&path).unwrap();
            let mut back = String::new();
            Compression::of(&bytes).unwrap().decoder(&*bytes).unwrap().read_to_string(&mut back).unwrap();
            assert_eq!(back, text);
            write(&path, text.as_bytes(), Overwrite::Allow).unwrap();
            assert_eq!(fs_err::read(&path).unwrap(), bytes);
        }
    }

    /// Returns 9 MiB of numbers, which are more than four jobs of libzstd, so that its workers share the work.
    #[cfg(feature = "zstd")]
    fn several_jobs() -> Vec<u8> {
        let mut state = 1_u64;
        let mut bytes = Vec::with_capacity(9 << 20);
        while bytes.len() < 9 << 20 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            writeln!(bytes, "{}", state >> 44).unwrap();
        }
        bytes
    }

    /// A run writes the same bytes on every machine, and a reader that stops after the first frame loses no record.
    #[cfg(feature = "zstd")]
    #[test]
    fn the_threads_of_zstd_write_one_frame_with_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = several_jobs();
        let written = |threads| {
            let path = folder.path().join("out.zst");
            let mut output = Output::create(&path, Overwrite::Allow).unwrap();
            output.set_threads(threads).unwrap();
            // The sizes of single writes must not matter, because they depend on the chunks of a run.
            for part in bytes.chunks(100_000 * threads) {
                output.write_bytes(part).unwrap();
            }
            output.finish().unwrap();
            fs_err::read(path).unwrap()
        };
        let one = written(1);
        assert!(one.len() > 3 << 20, "{} bytes are too few jobs", one.len());
        assert_eq!(zstd::zstd_safe::find_frame_compressed_size(&one), Ok(one.len()));
        assert!(zstd::stream::decode_all(&*one).unwrap() == bytes);
        for threads in [2, 7] {
            assert!(written(threads) == one, "{threads} threads");
        }
    }

    #[test]
    fn a_missing_folder_and_a_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Output::create(&folder.path().join("no/out"), Overwrite::Allow).unwrap_err();
        assert!(error.to_string().contains("there is no folder"), "{error}");
        assert!(error.hint().unwrap().to_string().contains("mkdir -p"));
        let error = Output::create(folder.path(), Overwrite::Allow).unwrap_err();
        assert!(error.to_string().ends_with("it is a folder"), "{error}");
        let error = Output::create(Path::new(""), Overwrite::Allow).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::EmptyOutputName), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_and_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let null = Path::new("/dev/null");
        write(null, b"gone", Overwrite::Refuse).unwrap();
        assert!(fs_err::metadata(null).unwrap().file_type().is_char_device());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_are_ordinary() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs_err::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new", Overwrite::Allow).unwrap();
        assert!(fs_err::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs_err::read(&file).unwrap(), b"new");
        let plain = folder.path().join("plain");
        fs_err::write(&plain, "").unwrap();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&plain));
    }
}
