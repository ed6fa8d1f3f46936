//! What can stop a run.

use std::fmt;

use crate::memory::Memory;

/// The reason why a run ended without a result.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting cannot be used.
    Setting(minwise::Error),
    /// Something could not be read or written.
    Corpus(minwise_corpus::Error),
    /// More records were rejected than allowed.
    TooManyRejects {
        /// How many were allowed.
        allowed: u64,
        /// The record that was one too many, in words.
        last: String,
    },
    /// The corpus has more documents than can be numbered.
    TooManyDocuments,
    /// A field that the keeper policy looks at is in no document.
    NoSuchField {
        /// The field.
        field: String,
        /// Those that the first document has.
        fields: Vec<String>,
    },
    /// A document that was asked for is not there.
    NoSuchId {
        /// The id.
        id: String,
        /// Where ids come from.
        hint: &'static str,
    },
    /// A file of our own cannot be read or written.
    File {
        /// The file.
        path: String,
        /// What was being done, as a verb.
        action: &'static str,
        /// Why it failed.
        reason: String,
        /// What to try instead.
        hint: Option<String>,
    },
    /// A run cannot be taken up again, because it was begun with something else.
    Changed {
        /// What differs.
        reason: String,
    },
    /// The documents are too many for the memory that was allowed.
    TooLittleMemory {
        /// What was allowed.
        allowed: Memory,
        /// What is needed.
        needed: Memory,
        /// What for, in words.
        reason: String,
        /// How many threads it would be enough for, if there are any.
        threads: Option<usize>,
    },
    /// The person asked to stop.
    Cancelled,
}

impl Error {
    /// What went wrong, for code that wants to react to it.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// What to try instead, where there is something to say.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.kind {
            ErrorKind::Setting(error) => error.hint(),
            ErrorKind::Corpus(error) => error.hint(),
            ErrorKind::TooManyRejects { .. } => {
                Some("`--dry-run --report DIR` lists every rejected record in `DIR/rejects.jsonl`".to_owned())
            }
            ErrorKind::TooManyDocuments => Some("split the corpus, or run it in parts".to_owned()),
            ErrorKind::NoSuchField { fields, .. } => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|field| format!("`{}`", minwise_corpus::escape_control(field)))
                    .collect();
                Some(format!("the fields of the first document are {}", fields.join(", ")))
            }
            ErrorKind::NoSuchId { hint, .. } => Some((*hint).to_owned()),
            ErrorKind::File { hint, .. } => hint.clone(),
            ErrorKind::Changed { .. } => {
                Some("take the options and inputs of then, or begin anew with another `--work`".to_owned())
            }
            ErrorKind::TooLittleMemory { needed, threads: None, .. } => {
                Some(format!("`--memory {needed}` would be enough"))
            }
            ErrorKind::TooLittleMemory { needed, threads: Some(threads), .. } => {
                Some(format!("`--threads {threads}` or `--memory {needed}` would be enough"))
            }
            ErrorKind::Cancelled => None,
        }
    }

    /// A file of our own that cannot be read or written.
    pub(crate) fn file(action: &'static str, path: &str, reason: String) -> Self {
        ErrorKind::File { path: path.to_owned(), action, reason, hint: None }.into()
    }

    /// Whether the person asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match &self.kind {
            ErrorKind::Cancelled => true,
            ErrorKind::Corpus(error) => error.is_cancelled(),
            _ => false,
        }
    }

    /// Whether whoever read the output has stopped reading.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, ErrorKind::Corpus(error) if error.is_broken_pipe())
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind }
    }
}

impl From<minwise::Error> for Error {
    fn from(error: minwise::Error) -> Self {
        ErrorKind::Setting(error).into()
    }
}

impl From<minwise_corpus::Error> for Error {
    fn from(error: minwise_corpus::Error) -> Self {
        ErrorKind::Corpus(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Setting(error) => error.fmt(f),
            ErrorKind::Corpus(error) => error.fmt(f),
            ErrorKind::TooManyRejects { allowed, last } => {
                write!(f, "more than {allowed} records were rejected; the last one: {last}")
            }
            ErrorKind::TooManyDocuments => f.write_str("the corpus has more than 4 294 967 294 documents"),
            ErrorKind::NoSuchField { field, .. } => {
                write!(f, "no document has the field `{}`", minwise_corpus::escape_control(field))
            }
            ErrorKind::NoSuchId { id, .. } => {
                write!(f, "no document has the id `{}`", minwise_corpus::escape_control(id))
            }
            ErrorKind::File { path, action, reason, .. } => {
                write!(f, "cannot {action} `{}`: {reason}", minwise_corpus::escape_control(path))
            }
            ErrorKind::Changed { reason } => {
                write!(f, "the run cannot be taken up again: {}", minwise_corpus::escape_control(reason))
            }
            ErrorKind::TooLittleMemory { allowed, needed, reason, .. } => {
                write!(f, "{reason} need {needed} of memory, and {allowed} are allowed")
            }
            ErrorKind::Cancelled => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Setting(error) => std::error::Error::source(error),
            ErrorKind::Corpus(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}
