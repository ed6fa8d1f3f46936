//! What all requests share, and how they work on the archive: on threads of their own, a bounded number at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{SystemTime, UNIX_EPOCH};

use minwise_index::Index;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::auth::Access;
use crate::jobs::Jobs;
use crate::limits::{Gate, Limits};
use crate::metrics::Metrics;
use crate::overview::Overview;
use crate::problem::{Kind, Problem};
use crate::shutdown::End;
use crate::upkeep::Upkeep;

/// Takes note of what happens, for those who read the log.
pub type Log = Box<dyn Fn(&Value) + Send + Sync>;

/// What all requests share.
pub(crate) struct State {
    pub(crate) index: Index,
    pub(crate) access: Access,
    pub(crate) limits: Limits,
    pub(crate) gate: Gate,
    pub(crate) jobs: Jobs,
    pub(crate) overview: Overview,
    pub(crate) metrics: Metrics,
    pub(crate) end: End,
    pub(crate) upkeep: Upkeep,
    log: Log,
    /// Held by whoever changes the archive, so that what it said of an id still holds when the change is made.
    changing: Mutex<()>,
    /// Work on the archive at once.
    workers: Arc<Semaphore>,
    /// Files that are read at once.
    readers: Arc<Semaphore>,
}

/// The state, by everybody who has a part in it.
pub(crate) type Shared = Arc<State>;

/// Threads that a server may keep busy.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl State {
    pub(crate) fn new(index: Index, access: Access, limits: Limits, log: Log) -> Shared {
        Arc::new(Self {
            index,
            access,
            gate: Gate::new(&limits),
            jobs: Jobs::new(limits.jobs),
            overview: Overview::default(),
            metrics: Metrics::new(),
            end: End::new(),
            upkeep: Upkeep::default(),
            limits,
            log,
            changing: Mutex::new(()),
            // A change waits for the disk, so that more of them than there are cores can be under way.
            workers: Arc::new(Semaphore::new(2 * cores() + 2)),
            readers: Arc::new(Semaphore::new(cores())),
        })
    }

    /// Does something on the archive, away from the threads that answer requests.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&State) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(Arc::clone(&self.workers), work).await
    }

    /// The same for what reads files of strangers, which may take long.
    pub(crate) async fn run_reading<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&State) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(Arc::clone(&self.readers), work).await
    }

    async fn run_on<T: Send + 'static>(
        self: &Arc<Self>,
        places: Arc<Semaphore>,
        work: impl FnOnce(&State) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        // The place is held until the work is done, whether or not somebody still waits for it.
        let place = places.acquire_owned().await.map_err(|_| Kind::Stopping)?;
        let state = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&state)
        });
        done.await.unwrap_or_else(|panic| {
            self.log(&json!({"event": "error", "message": panic.to_string()}));
            Err(Kind::Internal.into())
        })
    }

    /// What the index said, with what only whoever runs the server should know in the log.
    pub(crate) fn told<T>(&self, result: minwise_index::Result<T>) -> Result<T, Problem> {
        result.map_err(|error| {
            let problem = Problem::from(&error);
            if problem.is_ours() {
                self.metrics.failures.inc();
                self.log(&json!({"event": "error", "code": problem.code, "message": error.to_string(), "hint": error.hint()}));
            }
            problem
        })
    }

    pub(crate) fn log(&self, event: &Value) {
        (self.log)(event);
    }

    /// Waits until nobody else changes the archive.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
