//! The exit codes of the command.

/// How a run ended, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// A finding that was asked for: `check` found something in an archive, or `compare` found the documents less similar
    /// than the threshold.
    Finding = 1,
    /// An error, or records that were rejected.
    Error = 2,
    /// Stopped by a signal.
    Interrupted = 130,
}
