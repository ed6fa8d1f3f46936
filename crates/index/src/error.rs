//! The error type of this crate. `Display` writes a sentence for people, and [`Error::hint`] returns advice.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use minwise::Sentence;
use minwise::figure::grouped;

/// Error of an operation on an [`Index`](crate::Index), with its kind and its cause.
#[derive(Debug)]
pub struct Error {
    kind: Box<ErrorKind>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kind of an error, with its facts for programs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused an operation.
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
    },
    /// The disk of the index is full.
    DiskFull {
        /// The index.
        path: PathBuf,
    },
    /// The folder is not an index.
    NotAnIndex {
        /// The folder.
        path: PathBuf,
    },
    /// The folder for a new index is not empty.
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Another process has the index open.
    Locked {
        /// The index.
        path: PathBuf,
        /// Description of the process, as the process wrote it to the lock file.
        holder: String,
    },
    /// The index was written by another version of the format.
    Version {
        /// The index.
        path: PathBuf,
        /// The version of the index.
        found: u32,
        /// The version that this program reads.
        expected: u32,
    },
    /// The index was made with another Unicode version, under which the same text can have other shingles.
    Unicode {
        /// The Unicode version of the index.
        found: String,
        /// The Unicode version of this program.
        expected: String,
    },
    /// Stored data differ from what was written.
    Damaged {
        /// The index, or a file of it.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// Two indexes, or an index and a file, have different settings.
    Mismatch {
        /// The setting.
        field: &'static str,
        /// First of the two differing values.
        left: String,
        /// Second of the two differing values.
        right: String,
    },
    /// A setting has a value that is not allowed.
    Setting(minwise::Error),
    /// Options of a check have values that are not allowed.
    Options(Vec<OptionProblem>),
    /// No document has this id.
    NoSuchDocument {
        /// The id.
        id: String,
    },
    /// No document can have this id.
    BadId {
        /// Id of the document, or the beginning of the id.
        id: String,
        /// The reason.
        why: &'static str,
    },
    /// The text is too long for an index.
    TextTooLong {
        /// The id of the document.
        id: String,
        /// Size of the text in bytes.
        bytes: usize,
    },
    /// The call needs texts, and the index keeps none.
    NoTexts {
        /// Name of the call, as a noun.
        wanted: &'static str,
    },
    /// An earlier write failed. The index accepts no more changes until it is opened again.
    Stopped {
        /// The index.
        path: PathBuf,
    },
    /// A line of an export cannot be read.
    Import {
        /// The number of the line, from 1.
        line: u64,
        /// The reason.
        why: String,
    },
    /// The observer cancelled the work.
    Interrupted,
}

/// An option of a check with a value that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionProblem {
    /// The name of the option, which is a field of [`CheckOptions`](crate::CheckOptions).
    pub option: &'static str,
    /// The value of the option.
    pub given: String,
    /// The allowed values, as the end of a sentence.
    pub expected: &'static str,
}

impl OptionProblem {
    /// Creates the description of a value that is not allowed.
    pub fn new(option: &'static str, given: impl fmt::Display, expected: &'static str) -> Self {
        Self { option, given: given.to_string(), expected }
    }
}

impl fmt::Display for OptionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be `{}`: it must be {}", self.option, self.given, self.expected)
    }
}

/// The result of a call of an index.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        let error = os_error(error);
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                ErrorKind::DiskFull { path: path.to_owned() }
            }
            _ => ErrorKind::Io { action, path: path.to_owned() },
        };
        Self { kind: Box::new(kind), cause: Some(Box::new(error)) }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        ErrorKind::Damaged { path: path.to_owned(), what: what.into() }.into()
    }

    /// Converts an error of the storage engine of the index at `path`.
    pub(crate) fn store(path: &Path, error: fjall::Error) -> Self {
        match error {
            fjall::Error::Io(error) | fjall::Error::Storage(fjall::LsmError::Io(error)) => {
                Self::io("use", path, error)
            }
            fjall::Error::Poisoned => ErrorKind::Stopped { path: path.to_owned() }.into(),
            fjall::Error::Locked => {
                ErrorKind::Locked { path: path.to_owned(), holder: "another process".to_owned() }.into()
            }
            error => Self {
                kind: Box::new(ErrorKind::Damaged {
                    path: path.to_owned(),
                    what: "the storage engine cannot read its files".to_owned(),
                }),
                cause: Some(Box::new(error)),
            },
        }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the message without the path, for lists of findings in one index.
    pub(crate) fn what(&self) -> String {
        match (self.kind(), &self.cause) {
            (ErrorKind::Damaged { what, .. }, None) => what.clone(),
            (ErrorKind::Damaged { what, .. }, Some(cause)) => format!("{what}: {cause}"),
            _ => self.to_string(),
        }
    }

    /// Reports whether a write failed because the reader of the output closed it (a broken pipe).
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        self.io_error().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the error of the operating system that caused this error, if there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        self.cause.as_ref().and_then(|cause| cause.downcast_ref::<io::Error>())
    }

    /// Returns a stable name of the error, for programs and logs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Returns advice for people on what to do about this error.
    #[must_use]
    pub fn hint(&self) -> Option<Sentence> {
        Some(match self.kind() {
            ErrorKind::DiskFull { .. } => {
                "acknowledged changes are kept; make room, and run the command again".into()
            }
            ErrorKind::NotAnIndex { path } if path.exists() && !is_empty(path) => {
                Sentence::from("an archive is a folder that ").action("index create").text(" made")
            }
            ErrorKind::NotAnIndex { path } => {
                Sentence::new().action_on("index create", path.display().to_string()).text(" makes one")
            }
            ErrorKind::Exists { path } => Sentence::new()
                .action_on("index add", path.display().to_string())
                .text(" adds documents to an archive"),
            ErrorKind::Locked { .. } => {
                "wait for that process, or stop it; a running server checks and adds documents itself".into()
            }
            ErrorKind::Version { .. } | ErrorKind::Unicode { .. } => Sentence::new()
                .action("index export")
                .text(" with the version that made it, then ")
                .action("index import")
                .text(" with this one"),
            ErrorKind::Damaged { .. } => Sentence::new()
                .action("index check")
                .text(" lists the damage, and its ")
                .setting("repair")
                .text(" saves every document that can be read; if the files cannot be opened, ")
                .action("index import")
                .text(" restores an export"),
            ErrorKind::Setting(error) => return error.hint(),
            ErrorKind::NoSuchDocument { .. } => Sentence::new().action("index list").text(" lists all ids"),
            ErrorKind::NoTexts { .. } => {
                Sentence::from("create the archive without ").setting("no-text").text(" to keep texts")
            }
            ErrorKind::Stopped { .. } => {
                "close it, see that there is room on the disk, and open it again".into()
            }
            ErrorKind::Io { action: "read", .. }
                if self.io_error().is_some_and(|e| e.kind() == io::ErrorKind::NotADirectory) =>
            {
                "an archive is a folder: name one that does not exist yet, or an empty one".into()
            }
            ErrorKind::Io { .. }
            | ErrorKind::Mismatch { .. }
            | ErrorKind::Options(_)
            | ErrorKind::BadId { .. }
            | ErrorKind::TextTooLong { .. }
            | ErrorKind::Import { .. }
            | ErrorKind::Interrupted => return None,
        })
    }
}

/// Returns the error of the operating system inside an error of `fs_err`.
// The error of `fs_err` is unwrapped because the messages of this crate already name the path.
fn os_error(error: io::Error) -> io::Error {
    let inside = error.get_ref().and_then(|wrapped| wrapped.source());
    let number = inside.and_then(|inside| inside.downcast_ref::<io::Error>()?.raw_os_error());
    number.or(error.raw_os_error()).map_or(error, io::Error::from_raw_os_error)
}

/// Reports whether `path` is an empty folder.
fn is_empty(path: &Path) -> bool {
    fs_err::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind: Box::new(kind), cause: None }
    }
}

impl From<minwise::Error> for Error {
    fn from(error: minwise::Error) -> Self {
        match error.kind() {
            minwise::ErrorKind::SpecMismatch { field, left, right } => {
                ErrorKind::Mismatch { field, left: left.clone(), right: right.clone() }.into()
            }
            _ => ErrorKind::Setting(error).into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Io { action, path } => write!(f, "cannot {action} `{}`", path.display())?,
            ErrorKind::DiskFull { path } => {
                write!(f, "there is no room left on the disk of `{}`", path.display())?;
            }
            ErrorKind::NotAnIndex { path } => write!(f, "`{}` is not an archive", path.display())?,
            ErrorKind::Exists { path } => write!(f, "`{}` exists already and is not empty", path.display())?,
            ErrorKind::Locked { path, holder } => {
                write!(f, "the archive `{}` is in use by {holder}", path.display())?;
            }
            ErrorKind::Version { path, found, expected } => write!(
                f,
                "the archive `{}` has format version {found}, and this program reads version {expected}",
                path.display()
            )?,
            ErrorKind::Unicode { found, expected } => {
                write!(f, "the archive was made with Unicode {found}, and this program has {expected}")?;
            }
            ErrorKind::Damaged { path, what } => {
                write!(f, "the archive `{}` is damaged: {what}", path.display())?;
            }
            ErrorKind::Mismatch { field, left, right } => write!(
                f,
                "the settings differ: {field} is `{left}` in the first and `{right}` in the second"
            )?,
            ErrorKind::Setting(error) => write!(f, "{error}")?,
            ErrorKind::Options(problems) => {
                for (at, problem) in problems.iter().enumerate() {
                    write!(f, "{}{problem}", if at > 0 { "; " } else { "" })?;
                }
            }
            ErrorKind::NoSuchDocument { id } => write!(f, "no document has the id `{id}`")?,
            ErrorKind::BadId { id, why } => write!(f, "no document can have the id `{id}`: {why}")?,
            ErrorKind::TextTooLong { id, bytes } => {
                write!(
                    f,
                    "the text of `{id}` has {} bytes, and an archive takes texts of up to 1 GiB",
                    grouped(*bytes as u64)
                )?;
            }
            ErrorKind::NoTexts { wanted } => {
                write!(f, "the archive was made without texts, and {wanted} needs them")?;
            }
            ErrorKind::Stopped { path } => write!(
                f,
                "the archive `{}` takes no more changes, because writing an earlier one failed",
                path.display()
            )?,
            ErrorKind::Import { line, why } => {
                write!(f, "line {line} is not a document of an exported archive: {why}")?;
            }
            ErrorKind::Interrupted => f.write_str("interrupted")?,
        }
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().and_then(|cause| cause.source())
    }
}
