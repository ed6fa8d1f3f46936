//! Runs work on numbered items with several threads, and passes on the results in the order of the items. The result
//! does not depend on the number of threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Number of results per thread that may wait for an earlier result. More results would fill the memory while the
/// earlier item is processed.
const AHEAD: usize = 4;

/// State that the workers share: results that wait for earlier results, and the receiver.
struct Intake<T, E, R, S> {
    next: usize,
    waiting: BTreeMap<usize, T>,
    /// Total bytes of the waiting results.
    waiting_bytes: u64,
    size: S,
    receive: R,
    failed: Option<(usize, E)>,
}

/// Runs `work` on the items numbered from 0 to `items` (exclusive) with several threads, and passes the results to
/// `receive` in the order of their numbers.
///
/// Each thread creates its own buffers with `prepare`. If several items fail, the error of the first item is returned,
/// as if the items were processed one after the other.
///
/// # Errors
/// Returns the error of `work` or of `receive` for the first item that failed. There are no other errors.
pub fn in_order<W, T: Send, E: Send>(
    items: usize,
    threads: usize,
    prepare: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> Result<T, E> + Sync,
    receive: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    in_order_within(u64::MAX, |_| 0, items, threads, prepare, work, receive)
}

/// Does the same as [`in_order`], but starts no item while more than `most_bytes` bytes of results wait for an earlier
/// result.
///
/// The function `size` returns the bytes of a result. Each thread may finish one more item, so the results in memory
/// take at most `most_bytes` plus one result per thread. The item for which the others wait is always processed.
///
/// # Errors
/// Returns the error of `work` or of `receive` for the first item that failed. There are no other errors.
pub fn in_order_within<W, T: Send, E: Send>(
    most_bytes: u64,
    size: impl Fn(&T) -> u64 + Send,
    items: usize,
    threads: usize,
    prepare: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> Result<T, E> + Sync,
    receive: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let taken = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let intake = Mutex::new(Intake {
        next: 0,
        waiting: BTreeMap::new(),
        waiting_bytes: 0,
        size,
        receive,
        failed: None,
    });
    let taken_in = Condvar::new();
    let ahead = AHEAD * threads.max(1);
    let run = || {
        let mut room = prepare();
        while !stop.load(Ordering::Relaxed) {
            let item = taken.fetch_add(1, Ordering::Relaxed);
            if item >= items {
                break;
            }
            // A panic of a thread ends the whole run when the scope ends, so the data behind a poisoned mutex are never
            // used.
            let mut guard = intake.lock().unwrap_or_else(PoisonError::into_inner);
            let is_too_early = |intake: &Intake<T, E, _, _>| {
                item > intake.next + ahead || item > intake.next && intake.waiting_bytes > most_bytes
            };
            while is_too_early(&guard) && !stop.load(Ordering::Relaxed) {
                guard = taken_in.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            drop(guard);
            let noise = Noise { stop: &stop, intake: &intake, taken_in: &taken_in };
            let result = work(&mut room, item);
            let mut guard = intake.lock().unwrap_or_else(PoisonError::into_inner);
            if guard.take_in(item, result).is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            drop(guard);
            taken_in.notify_all();
            std::mem::forget(noise);
        }
    };
    if threads <= 1 || items <= 1 {
        run();
    } else {
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(items)).map(|_| scope.spawn(run)).collect();
            for worker in workers {
                // Workers are joined one by one, because a scope that joins them itself replaces the message of a panic
                // by its own.
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
    }
    match intake.into_inner().unwrap_or_else(PoisonError::into_inner).failed {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Guard that is dropped only when a thread panics. The drop wakes all other threads, because they would wait for the
/// result of that thread forever.
struct Noise<'a, I> {
    stop: &'a AtomicBool,
    intake: &'a Mutex<I>,
    taken_in: &'a Condvar,
}

impl<I> Drop for Noise<'_, I> {
    fn drop(&mut self) {
        // The mutex is held, because a thread that has read `stop` and does not wait yet would otherwise miss the
        // notification.
        let _guard = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        self.stop.store(true, Ordering::Relaxed);
        self.taken_in.notify_all();
    }
}

impl<T, E, R: FnMut(T) -> Result<(), E>, S: Fn(&T) -> u64> Intake<T, E, R, S> {
    /// Stores a result, and then passes to `receive` all results for which no earlier result is missing. Returns `Err`
    /// if the threads must stop.
    fn take_in(&mut self, item: usize, result: Result<T, E>) -> Result<(), ()> {
        match result {
            Ok(value) => {
                self.waiting_bytes += (self.size)(&value);
                self.waiting.insert(item, value);
            }
            Err(error) => self.fail(item, error),
        }
        while let Some(value) = self.waiting.remove(&self.next) {
            self.waiting_bytes -= (self.size)(&value);
            if self.failed.as_ref().is_some_and(|(first, _)| *first < self.next) {
                break;
            }
            if let Err(error) = (self.receive)(value) {
                self.fail(self.next, error);
                break;
            }
            self.next += 1;
        }
        if self.failed.is_some() { Err(()) } else { Ok(()) }
    }

    fn fail(&mut self, item: usize, error: E) {
        if self.failed.as_ref().is_none_or(|(first, _)| item < *first) {
            self.failed = Some((item, error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [1, 2, 7] {
            let mut received = vec![];
            let work = |(): &mut (), item: usize| {
                thread::sleep(Duration::from_micros((item as u64 * 7919) % 300));
                Ok::<usize, ()>(item * item)
            };
            in_order(
                100,
                threads,
                || (),
                work,
                |value| {
                    received.push(value);
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(received, (0..100).map(|item| item * item).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_that_wait_are_bounded_by_their_bytes() {
        for (most_bytes, most_waiting) in [(0, 3), (1, 4), (u64::MAX, usize::MAX)] {
            let (made, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let most_seen = AtomicUsize::new(0);
            let work = |(): &mut (), item: usize| {
                // The first item takes longest, so that the other results wait for it.
                thread::sleep(Duration::from_millis(if item == 0 { 50 } else { 0 }));
                let waiting = made.fetch_add(1, Ordering::SeqCst) + 1 - received.load(Ordering::SeqCst);
                most_seen.fetch_max(waiting, Ordering::SeqCst);
                Ok::<usize, ()>(item)
            };
            let mut next = 0;
            let receive = |item: usize| {
                assert_eq!(item, next);
                next += 1;
                received.fetch_add(1, Ordering::SeqCst);
                Ok(())
            };
            in_order_within(most_bytes, |_| 1, 200, 3, || (), work, receive).unwrap();
            let most_seen = most_seen.into_inner();
            assert!(most_seen <= most_waiting, "{most_seen} results with {most_bytes} bytes");
            // Without a bound on bytes, more results wait than with a bound.
            assert!(most_bytes < u64::MAX || most_seen > 4, "{most_seen} results");
        }
    }

    #[test]
    fn the_first_error_is_the_one_returned() {
        for threads in [1, 2, 7] {
            let work = |(): &mut (), item: usize| {
                thread::sleep(Duration::from_micros(if item == 20 { 3000 } else { 10 }));
                if item >= 20 { Err(item) } else { Ok(item) }
            };
            let mut received = 0;
            let result = in_order(
                1000,
                threads,
                || (),
                work,
                |_| {
                    received += 1;
                    Ok(())
                },
            );
            assert_eq!(result, Err(20));
            assert_eq!(received, 20);
        }
    }

    #[test]
    fn a_receiver_may_stop_the_work() {
        let mut received = 0;
        let result = in_order(
            10_000,
            3,
            || (),
            |(), item| Ok::<_, &str>(item),
            |item| {
                received += 1;
                if item == 5 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!(result, Err("enough"));
        assert_eq!(received, 6);
    }

    #[test]
    fn nobody_gets_far_ahead_of_a_slow_one() {
        let (slow, most) = (AtomicBool::new(true), AtomicUsize::new(0));
        let work = |(): &mut (), item: usize| {
            if item == 0 {
                thread::sleep(Duration::from_millis(100));
                slow.store(false, Ordering::Relaxed);
            } else if slow.load(Ordering::Relaxed) {
                most.fetch_max(item, Ordering::Relaxed);
            }
            Ok::<(), ()>(())
        };
        in_order(10_000, 3, || (), work, |()| Ok(())).unwrap();
        assert!(most.into_inner() <= 3 * AHEAD);
    }

    #[test]
    fn a_panic_is_not_waited_for_and_keeps_its_message() {
        let work = |(): &mut (), item: usize| {
            assert!(item != 7, "seven");
            Ok::<(), ()>(())
        };
        for threads in [1, 3] {
            let run = || in_order(10_000, threads, || (), work, |()| Ok(()));
            let panic = std::panic::catch_unwind(run).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"seven"), "{threads} threads");
        }
    }

    /// A thread that is just about to wait must not miss the notification either. `resume_unwind` panics without
    /// printing a message.
    #[test]
    fn a_panic_wakes_every_thread() {
        for round in 0..2000 {
            let work = |(): &mut (), item: usize| {
                if item == 5 {
                    for _ in 0..round % 50 * 20 {
                        std::hint::spin_loop();
                    }
                    std::panic::resume_unwind(Box::new("five"));
                }
                Ok::<(), ()>(())
            };
            let run = || in_order_within(0, |()| 1, 10_000, 4, || (), work, |()| Ok(()));
            let panic = std::panic::catch_unwind(run).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"five"));
        }
    }

    #[test]
    fn nothing_to_do() {
        in_order(0, 4, || (), |(), _| Ok::<(), ()>(()), |()| Err(())).unwrap();
    }
}
