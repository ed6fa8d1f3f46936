//! Runs work on a thread that may panic or never end, without harm to the process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::super::Refusal;
use crate::quiet::caught;

/// Stack size of the thread, in bytes. Nested objects are read by recursion, and the default stack is too small for
/// some ordinary files.
const STACK_BYTES: usize = 64 << 20;

/// Slot among the threads that run at once. The slot is freed when its thread ends, even if the caller has stopped
/// waiting.
pub(super) struct ThreadSlot(&'static AtomicUsize);

impl ThreadSlot {
    /// Takes one of `most` slots, if a slot is free.
    pub(super) fn take(running: &'static AtomicUsize, most: usize) -> Result<Self, Refusal> {
        let place = Self(running);
        // If there are too many threads, dropping `place` subtracts this thread from the count.
        if running.fetch_add(1, Ordering::Relaxed) < most { Ok(place) } else { Err(Refusal::Busy) }
    }
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `work` on a thread of its own. If `work` panics, or takes longer than `time`, the result is a refusal.
///
/// A thread cannot be stopped from outside. If `work` takes too long, its thread continues, so `work` should check
/// the deadline often.
pub(super) fn apart<T: Send + 'static>(
    time: Duration,
    place: ThreadSlot,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let (sender, receiver) = sync_channel(1);
    let started =
        thread::Builder::new().name("minwise-pdf".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            let _place = place;
            // Sending fails if the caller has given up waiting.
            let _ = sender.send(guarded(work));
        });
    let thread =
        started.map_err(|error| Refusal::broken(format_args!("no thread to read it on: {error}")))?;
    match receiver.recv_timeout(time) {
        Ok(outcome) => {
            // The thread has sent its result and is about to end, so joining it does not wait.
            let _ = thread.join();
            outcome.unwrap_or_else(|message| Err(Refusal::Broken { why: message }))
        }
        Err(RecvTimeoutError::Timeout) => Err(too_slow(time)),
        Err(RecvTimeoutError::Disconnected) => Err(Refusal::broken("reading it ended without a word")),
    }
}

/// Time at which work must end.
pub(super) struct Deadline {
    time: Duration,
    /// The deadline; `None` if it is later than the clock can state.
    at: Option<Instant>,
}

impl Deadline {
    /// Makes a deadline `time` from now.
    pub(super) fn after(time: Duration) -> Self {
        Self { time, at: Instant::now().checked_add(time) }
    }

    /// Fails if the deadline has passed.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match self.at {
            Some(at) if Instant::now() > at => Err(too_slow(self.time)),
            _ => Ok(()),
        }
    }
}

/// Returns the refusal of work that takes longer than `time`.
fn too_slow(time: Duration) -> Refusal {
    Refusal::TooSlow { limit_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX) }
}

/// Runs `work`. If `work` panics, returns the message of the panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    caught(work).map_err(|words| format!("reading it failed: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn alone<T: Send + 'static>(
        time: Duration,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        static RUNNING: AtomicUsize = AtomicUsize::new(0);
        apart(time, ThreadSlot::take(&RUNNING, usize::MAX)?, work)
    }

    #[test]
    fn results_of_work_are_returned() {
        assert_eq!(alone(MINUTE, || Ok(7)), Ok(7));
        assert_eq!(alone::<()>(MINUTE, || Err(Refusal::Encrypted)), Err(Refusal::Encrypted));
    }

    #[test]
    fn a_panic_is_a_refusal_with_its_words() {
        let refused = alone::<()>(MINUTE, || panic!("no {}", "font"));
        assert_eq!(refused, Err(Refusal::broken("reading it failed: no font")));
        let refused = alone::<()>(MINUTE, || std::panic::panic_any(7));
        assert_eq!(refused, Err(Refusal::broken("reading it failed: it cannot be decoded")));
    }

    #[test]
    fn work_that_takes_too_long_is_refused() {
        let (_keep, never) = sync_channel::<()>(0);
        let refused = alone(Duration::from_millis(20), move || {
            let _ = never.recv();
            Ok(())
        });
        assert_eq!(refused, Err(Refusal::TooSlow { limit_ms: 20 }));
    }

    #[test]
    fn a_thread_that_was_given_up_keeps_its_place_until_it_ends() {
        static RUNNING: AtomicUsize = AtomicUsize::new(0);
        let (end, never) = sync_channel::<()>(0);
        let refused = apart(Duration::from_millis(20), ThreadSlot::take(&RUNNING, 1).unwrap(), move || {
            let _ = never.recv();
            Ok(())
        });
        assert_eq!(refused, Err(Refusal::TooSlow { limit_ms: 20 }));
        assert_eq!(ThreadSlot::take(&RUNNING, 1).err(), Some(Refusal::Busy));
        drop(end);
        let begun = Instant::now();
        while ThreadSlot::take(&RUNNING, 1).is_err() {
            assert!(begun.elapsed() < MINUTE);
            thread::yield_now();
        }
    }
}
