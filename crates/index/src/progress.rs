//! Progress of long work.

use std::cell::Cell;

use minwise::{Observer, Stage};
use serde::Serialize;

/// Progress of long work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Progress {
    /// Name of the stage, such as `read` or `clusters`; null before the first stage begins.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub stage: Option<&'static str>,
    /// Unit of `done` and `total`: `bytes`, or `steps` such as documents; null before the first stage begins.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub unit: Option<&'static str>,
    /// Amount that is done, in the unit `unit`.
    pub done: u64,
    /// Amount of the whole stage, in the unit `unit`; 0 while this amount is unknown.
    pub total: u64,
}

impl Progress {
    /// Creates the progress within a stage.
    #[must_use]
    pub fn new(stage: Option<Stage>, done: u64, total: u64) -> Self {
        Self { stage: stage.map(Stage::name), unit: stage.map(|stage| stage.unit().name()), done, total }
    }
}

/// Reports progress to an observer. Callers pass the total so far, and the observer receives the difference
/// from the last total.
pub(crate) struct Reached<'a> {
    observer: &'a dyn Observer,
    done: Cell<u64>,
}

impl<'a> Reached<'a> {
    /// Begins a stage. A `total` of 0 means that the total is unknown.
    pub(crate) fn begin(observer: &'a dyn Observer, stage: Stage, total: u64) -> Self {
        observer.begin(stage, total);
        Self { observer, done: Cell::new(0) }
    }

    /// Reports the amount that is done so far.
    pub(crate) fn reach(&self, done: u64) {
        let before = self.done.get();
        if done > before {
            self.observer.advance(done - before);
            self.done.set(done);
        }
    }

    /// Returns an error if the observer cancels.
    pub(crate) fn go_on(&self) -> crate::Result<()> {
        go_on(self.observer)
    }
}

/// Returns an error if the observer cancels.
pub(crate) fn go_on(observer: &dyn Observer) -> crate::Result<()> {
    if observer.cancelled() { Err(crate::ErrorKind::Interrupted.into()) } else { Ok(()) }
}
