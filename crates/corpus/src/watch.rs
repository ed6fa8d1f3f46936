//! Progress and cancellation while inputs are spooled.

/// What [`Corpus::open`](crate::Corpus::open) tells its caller, and asks it, while it decompresses and
/// spools.
///
/// Both methods have a default, so that a caller implements only what it needs. They are called about once
/// per quarter of a mebibyte.
pub trait Watch: Sync {
    /// `bytes` more bytes were spooled.
    fn spooled(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Whether to stop: the work in hand ends with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    fn cancelled(&self) -> bool {
        false
    }
}

/// A [`Watch`] that looks away and never cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
