//! Exit codes of the command.

/// Outcome of a run, as an exit code for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Done = 0,
    /// The command found what it looks for: `check` found a match in an archive, or `compare` found a similarity below
    /// the threshold.
    Finding = 1,
    /// The command failed, or records were rejected.
    Error = 2,
    /// A signal stopped the command.
    Interrupted = 130,
}
