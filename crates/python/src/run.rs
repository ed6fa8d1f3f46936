//! Runs long work on a thread of its own, while the calling thread handles signals.
//!
//! The calling thread wakes every 50 ms. Then it lets Python handle signals, so that Ctrl-C works, and calls the
//! functions `cancel` and `progress` of the caller. The module has no signal handler of its own, because such a handler
//! would replace that of Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use minwise::{Observer, Stage, Warning};
use pyo3::prelude::*;

use crate::error::{fault, internal_error, spelled};

/// Time between two checks for signals.
const WAKE: Duration = Duration::from_millis(50);
/// Shortest time between two calls of `progress`.
const PROGRESS: Duration = Duration::from_millis(100);

/// Number of bytes of text from which a call gets a thread of its own. A call with less text ends before a person could
/// interrupt it.
pub const SUPERVISED_BYTES: usize = 1 << 20;

/// Functions of the caller, in Python, that are called during a run.
#[derive(Default)]
pub struct Hooks<'py> {
    /// Function that is called with the name of the stage, the amount done and the total.
    pub progress: Option<Bound<'py, PyAny>>,
    /// Function that is called without arguments. If it returns true, the run is cancelled.
    pub cancel: Option<Bound<'py, PyAny>>,
}

/// Observer that stores the progress and the warnings of a run, for the calling thread to pass on to Python.
#[derive(Default)]
pub struct Watch {
    is_cancelled: AtomicBool,
    stage: Mutex<Option<Stage>>,
    done: AtomicU64,
    total: AtomicU64,
    warnings: Mutex<Vec<String>>,
}

impl Observer for Watch {
    fn begin(&self, stage: Stage, total: u64) {
        let mut current = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        *current = Some(stage);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn warn(&self, warning: &Warning) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(spelled(&warning.message()));
    }

    fn cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

impl Watch {
    fn state(&self) -> Option<(&'static str, u64, u64)> {
        let stage = (*self.stage.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some((stage.name(), self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed)))
    }

    fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A flag that the worker is done, with a condition variable to wait for it.
#[derive(Default)]
struct Bell {
    is_done: Mutex<bool>,
    rings: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.is_done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.rings.notify_all();
    }

    /// Waits for the worker for at most [`WAKE`], and reports whether the worker is done.
    fn wait(&self) -> bool {
        let is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.rings.wait_timeout_while(is_done, WAKE, |is_done| !*is_done);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Does work on a thread of its own. If a signal handler or a hook raises an error, the work is cancelled and the error
/// is returned. The thread always ends before this function returns. If `repaired` is above 0, a warning reports that
/// this number of texts had lone surrogates.
pub fn supervise<T: Send>(
    py: Python<'_>,
    hooks: &Hooks<'_>,
    repaired: u64,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let (watch, bell) = (Watch::default(), Bell::default());
    if repaired > 0 {
        // The engine cannot report repaired texts in memory, because they are repaired before its run begins.
        watch.warn(&Warning::Repaired { documents: repaired });
    }
    let (mut told, mut last) = (Instant::now(), None);
    // The hooks are called before the work begins, so that short work can be cancelled, too.
    follow(py, hooks, &watch, &mut told, &mut last)?;
    let mut raised = None;
    let result = std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("minwise".to_owned()).spawn_scoped(scope, || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                fault::check();
                work(&watch)
            }));
            bell.ring();
            result
        })?;
        while !py.detach(|| bell.wait()) {
            if raised.is_some() {
                continue;
            }
            if let Err(error) = follow(py, hooks, &watch, &mut told, &mut last) {
                watch.is_cancelled.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        Ok::<_, std::io::Error>(worker.join())
    });
    let Ok(Ok(result)) = result? else {
        return Err(internal_error(py));
    };
    if let Some(error) = raised {
        return Err(error);
    }
    // `progress` is called once more, because a short run ends before the calling thread wakes, and a progress bar must
    // reach its end.
    if let (Some(progress), Some(state)) = (&hooks.progress, watch.state()) {
        progress.call1(state)?;
    }
    let warnings = watch.warnings();
    if !warnings.is_empty() {
        let warn = py.import("minwise._errors")?.getattr("warn")?;
        for warning in warnings {
            warn.call1((warning,))?;
        }
    }
    py.check_signals()?;
    Ok(result)
}

/// Does work that cannot be cancelled on a thread of its own. If a signal handler raises an error, this function
/// returns the error at once; the thread runs to its end and its result is dropped.
pub fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new().name("minwise".to_owned()).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| {
            fault::check();
            work()
        }));
        // An error of `send` is ignored: it means that the caller was interrupted and no longer waits for the result.
        let _ = sender.send(result);
    })?;
    loop {
        // `detach` needs a closure that is `Send`. A `Receiver` is not `Sync`, so `&Receiver` is not `Send`, but
        // `&mut Receiver` is.
        let borrowed = &mut receiver;
        match py.detach(move || borrowed.recv_timeout(WAKE)) {
            Ok(Ok(result)) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(internal_error(py)),
        }
    }
}

fn follow(
    py: Python<'_>,
    hooks: &Hooks<'_>,
    watch: &Watch,
    told: &mut Instant,
    last: &mut Option<(&'static str, u64, u64)>,
) -> PyResult<()> {
    py.check_signals()?;
    if let Some(cancel) = &hooks.cancel
        && cancel.call0()?.is_truthy()?
    {
        watch.is_cancelled.store(true, Ordering::Relaxed);
    }
    if let Some(progress) = &hooks.progress
        && told.elapsed() >= PROGRESS
    {
        let state = watch.state();
        if let Some(state) = state.filter(|_| state != *last) {
            progress.call1(state)?;
        }
        (*told, *last) = (Instant::now(), state);
    }
    Ok(())
}
