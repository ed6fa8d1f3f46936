//! Who follows long work.

/// Follows long work, and may end it.
pub trait Watch: Sync {
    /// `done` of `total` steps are done.
    fn progress(&self, done: u64, total: u64);

    /// Whether to stop.
    fn interrupted(&self) -> bool;
}

/// Nobody does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn progress(&self, _done: u64, _total: u64) {}

    fn interrupted(&self) -> bool {
        false
    }
}

pub(crate) fn go_on(watch: &dyn Watch) -> crate::Result<()> {
    if watch.interrupted() { Err(crate::ErrorKind::Interrupted.into()) } else { Ok(()) }
}
