//! Hands out the tasks of a copy to threads, and returns their results in order, within a memory limit.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Hands out tasks in order, and bounds the bytes of results that are not yet written.
pub(super) struct Gate {
    /// Estimated bytes of the result of each task.
    tasks: Vec<u64>,
    most_bytes: u64,
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    next: usize,
    /// Bytes of each task that is being worked on or waits to be written.
    held: BTreeMap<usize, u64>,
    /// Sum of `held`.
    held_bytes: u64,
    /// Whether no more tasks are handed out.
    is_over: bool,
}

impl Gate {
    pub(super) fn new(tasks: Vec<u64>, most_bytes: u64) -> Self {
        Self { tasks, most_bytes, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        // A panic under the lock leaves valid data, because no change under the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the result of the next task fits into the memory, and returns the number of the task; `None` at the
    /// end. The first task that is not yet written always fits, because otherwise nothing would go on.
    pub(super) fn next(&self) -> Option<usize> {
        let mut state = self.state();
        loop {
            let number = state.next;
            let bytes = *self.tasks.get(number).filter(|_| !state.is_over)?;
            if state.held.is_empty() || state.held_bytes + bytes <= self.most_bytes {
                state.next += 1;
                state.held.insert(number, bytes);
                state.held_bytes += bytes;
                return Some(number);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reports whether a result may have `bytes` bytes, which are more than were estimated.
    pub(super) fn grow(&self, number: usize, bytes: u64) -> bool {
        let mut state = self.state();
        let before = state.held.get(&number).copied().unwrap_or(0);
        let all = state.held_bytes - before + bytes;
        if all > self.most_bytes {
            return false;
        }
        state.held.insert(number, bytes);
        state.held_bytes = all;
        true
    }

    /// Ends a task whose result was written.
    pub(super) fn release(&self, number: usize) {
        let mut state = self.state();
        state.held_bytes -= state.held.remove(&number).unwrap_or(0);
        self.changed.notify_all();
    }

    /// Hands out no more tasks.
    pub(super) fn open(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

/// Opens the gate if a thread panics, so that no other thread waits for its result.
pub(super) struct OpenOnPanic<'g>(pub(super) &'g Gate);

impl Drop for OpenOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.open();
        }
    }
}

/// Results of tasks, which `next` returns in the order of the output.
pub(super) struct Results<R> {
    receive: Receiver<(usize, R)>,
    next: usize,
    /// Results that threads finished before an earlier result.
    waiting: BTreeMap<usize, R>,
}

impl<R> Results<R> {
    pub(super) fn new(receive: Receiver<(usize, R)>) -> Self {
        Self { receive, next: 0, waiting: BTreeMap::new() }
    }

    /// Returns the next result with its number; `None` if the threads ended without it.
    pub(super) fn next(&mut self) -> Option<(usize, R)> {
        let number = self.next;
        while !self.waiting.contains_key(&number) {
            let (number, result) = self.receive.recv().ok()?;
            self.waiting.insert(number, result);
        }
        self.next += 1;
        self.waiting.remove(&number).map(|result| (number, result))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn results_wait_until_they_fit() {
        let gate = Gate::new(vec![6, 6, 20, 1, 1], 10);
        assert_eq!(gate.next(), Some(0));
        assert!(gate.grow(0, 10) && !gate.grow(0, 11));
        gate.release(0);
        assert_eq!(gate.next(), Some(1));
        thread::scope(|scope| {
            let waits = scope.spawn(|| gate.next());
            thread::sleep(std::time::Duration::from_millis(20));
            assert!(!waits.is_finished(), "6 and 20 bytes are more than 10");
            gate.release(1);
            assert_eq!(waits.join().unwrap(), Some(2));
        });
        gate.release(2);
        assert_eq!((gate.next(), gate.next(), gate.next()), (Some(3), Some(4), None));
        let gate = Gate::new(vec![1], 10);
        gate.open();
        assert_eq!(gate.next(), None);
    }

    #[test]
    fn results_come_in_order() {
        let (send, receive) = channel();
        for number in [2, 0, 1] {
            send.send((number, 10 * number)).unwrap();
        }
        drop(send);
        let mut results = Results::new(receive);
        let all: Vec<_> = std::iter::from_fn(|| results.next()).collect();
        assert_eq!(all, [(0, 0), (1, 10), (2, 20)]);
    }
}
