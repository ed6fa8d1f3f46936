//! How far long work on an index has come.

use std::cell::Cell;

use minwise::{Observer, Stage};

/// Tells an observer how far a stage has come. Callers know how much is done in all; observers hear of amounts.
pub(crate) struct Progress<'a> {
    observer: &'a dyn Observer,
    done: Cell<u64>,
}

impl<'a> Progress<'a> {
    /// Begins a stage; a total of 0 is unknown.
    pub(crate) fn begin(observer: &'a dyn Observer, stage: Stage, total: u64) -> Self {
        observer.begin(stage, total);
        Self { observer, done: Cell::new(0) }
    }

    /// So much is done in all.
    pub(crate) fn reach(&self, done: u64) {
        let before = self.done.get();
        if done > before {
            self.observer.advance(done - before);
            self.done.set(done);
        }
    }

    /// Fails if the observer asks to stop.
    pub(crate) fn go_on(&self) -> crate::Result<()> {
        go_on(self.observer)
    }
}

/// Fails if the observer asks to stop.
pub(crate) fn go_on(observer: &dyn Observer) -> crate::Result<()> {
    if observer.cancelled() { Err(crate::ErrorKind::Interrupted.into()) } else { Ok(()) }
}
