//! Turns: what is too large for the memory of a thread is worked on by one thread at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whose turn it is. Whoever has one must not ask for another.
#[derive(Debug, Default)]
pub(crate) struct LargeDocumentLock(Mutex<()>);

impl LargeDocumentLock {
    /// Waits for a turn, if one is needed. It ends when the guard is dropped.
    pub(crate) fn take(&self, needed: bool) -> Option<MutexGuard<'_, ()>> {
        // Nothing is behind the lock that could be half done.
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

    /// If anybody had to wait, the barrier would be waited at for ever.
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
