//! Turns: only one thread at a time works on a document that is too large for the memory of one thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Mutex that gives the turn to one thread. A thread that has a turn must not ask for another, because it would wait
/// for itself.
#[derive(Debug, Default)]
pub(crate) struct LargeDocumentLock(Mutex<()>);

impl LargeDocumentLock {
    /// Waits for a turn, if one is needed. The turn ends when the guard is dropped.
    pub(crate) fn take(&self, needed: bool) -> Option<MutexGuard<'_, ()>> {
        // A poisoned mutex is no problem, because it protects no data that could be half written.
        needed.then(|| self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_at_a_time_where_it_is_needed() {
        let (turns, inside, most) = (LargeDocumentLock::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _turn = turns.take(true);
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(1));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }

    /// If a thread had to wait for a turn, the others would wait at the barrier forever.
    #[test]
    fn nobody_waits_where_it_is_not() {
        let (turns, all_inside) = (LargeDocumentLock::default(), Barrier::new(4));
        thread::scope(|scope| {
            for thread in 0..4 {
                let (turns, all_inside) = (&turns, &all_inside);
                scope.spawn(move || {
                    let _turn = turns.take(thread == 0);
                    all_inside.wait();
                });
            }
        });
    }
}
