//! Loops over items by several threads.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` with each item on `threads` threads, one of which is the caller's. A thread takes the next item when it
/// has finished its last one, so that no item waits behind a long one.
///
/// All threads end before the call returns. If `work` panics, this function also panics.
pub(super) fn for_each<T: Send>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) + Sync,
) {
    for_each_with(items, threads, || (), |(), item| work(item));
}

/// Calls `work` with each item as [`for_each`] does. Each thread first makes a value with `make`, and passes it to all
/// its calls of `work`.
pub(super) fn for_each_with<T: Send, W>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    make: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, T) + Sync,
) {
    let items = Mutex::new(items);
    let run = || {
        let mut with = make();
        loop {
            // A panic in another thread ends the call in any case, so a poisoned mutex is no reason to stop.
            let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = next else { break };
            work(&mut with, item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [1, 2, 7] {
            let sum = AtomicU64::new(0);
            for_each(0..1000u64, threads, |item| {
                sum.fetch_add(item + 1, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 500_500);
        }
    }
}
