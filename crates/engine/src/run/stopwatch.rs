//! Observer of a run that measures the time of its stages, and through which the run can stop itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use minwise::{Observer, Stage, Warning};

/// Observer that forwards all calls to another observer, and records when each stage began.
pub(super) struct Stopwatch<'a> {
    observer: &'a dyn Observer,
    given_up: AtomicBool,
    began: Mutex<Vec<(&'static str, Instant)>>,
}

impl<'a> Stopwatch<'a> {
    pub(super) fn new(observer: &'a dyn Observer) -> Self {
        let began = Mutex::new(vec![(Stage::Open.name(), Instant::now())]);
        Self { observer, given_up: AtomicBool::new(false), began }
    }

    /// Cancels the run, as if the observer had cancelled it.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Records that a stage begins, without a call to the observer.
    pub(super) fn turn_to(&self, stage: Stage) {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        // The stopwatch starts in the stage `Open`. Opening templates and decompressing count towards the current
        // stage.
        if !matches!(stage, Stage::Open | Stage::Unpack)
            && began.last().is_none_or(|(last, _)| *last != stage.name())
        {
            began.push((stage.name(), Instant::now()));
        }
    }

    /// Returns the duration of each stage; the current stage ends now.
    pub(super) fn times(&self) -> Vec<(&'static str, Duration)> {
        let began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = began.iter().skip(1).map(|(_, end)| *end).chain([Instant::now()]);
        began.iter().zip(ends).map(|((what, start), end)| (*what, end.duration_since(*start))).collect()
    }
}

impl Observer for Stopwatch<'_> {
    fn begin(&self, stage: Stage, total: u64) {
        self.turn_to(stage);
        self.observer.begin(stage, total);
    }

    fn end(&self, stage: Stage) {
        self.observer.end(stage);
    }

    fn advance(&self, amount: u64) {
        self.observer.advance(amount);
    }

    fn warn(&self, warning: &Warning) {
        self.observer.warn(warning);
    }

    fn cancelled(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) || self.observer.cancelled()
    }
}
