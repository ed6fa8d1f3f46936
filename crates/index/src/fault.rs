//! Codes and faults of errors, for interfaces such as the server.
//!
//! `code` and `fault` are methods of `ErrorKind` that match every kind, so a new kind does not compile until
//! both methods handle it.

use crate::error::ErrorKind;

/// The person or program that can repair an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The caller, by changing the request.
    Request,
    /// The caller, by naming another document, because no document has the id.
    Missing,
    /// The caller, by sending a smaller text.
    TooLarge,
    /// Nobody: the caller can repeat the request later.
    Busy,
    /// The operator, by freeing disk space.
    Room,
    /// The operator, because the index cannot be used in its current state.
    Index,
}

impl ErrorKind {
    /// Returns a stable name of the kind, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::DiskFull { .. } => "disk_full",
            Self::NotAnIndex { .. } => "not_an_index",
            Self::Exists { .. } => "output_exists",
            Self::Locked { .. } => "locked",
            Self::Version { .. } => "version",
            Self::Unicode { .. } => "unicode",
            Self::Damaged { .. } => "damaged",
            Self::Mismatch { .. } => "spec_mismatch",
            Self::Setting(error) => error.code(),
            Self::Options(_) => "bad_setting",
            Self::NoSuchDocument { .. } => "no_such_document",
            Self::BadId { .. } => "bad_id",
            Self::TextTooLong { .. } => "text_too_long",
            Self::NoTexts { .. } => "no_texts",
            Self::Stopped { .. } => "stopped",
            Self::Import { .. } => "import",
            Self::Interrupted => "cancelled",
        }
    }

    /// Returns the party that can repair an error of this kind.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Mismatch { .. }
            | Self::Setting(_)
            | Self::Options(_)
            | Self::BadId { .. }
            | Self::NoTexts { .. }
            | Self::Exists { .. }
            | Self::Import { .. } => Fault::Request,
            Self::NoSuchDocument { .. } => Fault::Missing,
            Self::TextTooLong { .. } => Fault::TooLarge,
            Self::Locked { .. } | Self::Interrupted => Fault::Busy,
            Self::DiskFull { .. } | Self::Stopped { .. } => Fault::Room,
            Self::Io { .. }
            | Self::NotAnIndex { .. }
            | Self::Version { .. }
            | Self::Unicode { .. }
            | Self::Damaged { .. } => Fault::Index,
        }
    }
}
