//! What an error is to someone who asked over a wire: a stable name, and who can do something about it.
//!
//! Both are here, beside the kinds, so that a new kind cannot be forgotten.

use crate::error::ErrorKind;

/// Who can do something about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Whoever asked: it cannot be done as it was asked for.
    Request,
    /// Whoever asked: there is no such document.
    Missing,
    /// Whoever asked: it is too large.
    TooLarge,
    /// Nobody has to: it may be asked again later.
    Busy,
    /// Whoever runs the index, by making room on the disk.
    Room,
    /// Whoever runs the index: it cannot be used as it is.
    Index,
}

impl ErrorKind {
    /// A stable name for programs.
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

    /// Who can do something about it.
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
