//! The archive of a server: its index, and the calls that read and change it.
//!
//! The functions of [`Archive`] block their thread, so callers run them on a thread of a lane (`lanes`) or of
//! a job (`jobs`).

mod add;
mod check;
mod clusters;
mod documents;
mod pair;

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use minwise_index::{Index, Statistics};
use serde_json::{Value, json};
use tokio::task::JoinError;

use crate::limits::ServerLimits;
use crate::metrics::Metrics;
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::ShutdownSignal;

pub(crate) use add::{AddedAnswer, BATCH_BYTES, Item};
pub(crate) use check::{BOUNDED_OPTIONS, BoundedOption, CheckAnswer, queried_document, queried_text};
pub(crate) use clusters::{ClustersAnswer, check_cluster_threshold};
pub(crate) use pair::{PairAnswer, SideRequest};

/// A function that receives the events of a server, each as a JSON object. The field `event` of an event is
/// `request`, `error`, `merged` or `unfinished`, and determines its other fields.
pub type LogSink = Box<dyn Fn(&Value) + Send + Sync>;

/// The archive of a server.
pub(crate) struct Archive {
    pub(crate) index: Index,
    pub(crate) limits: ServerLimits,
    pub(crate) metrics: Metrics,
    pub(crate) shutdown: ShutdownSignal,
    /// Number of documents that jobs had accepted but not added when the server ended.
    pub(crate) not_added: AtomicU64,
    /// Number of changes since the last merge.
    pub(crate) unmerged: AtomicU64,
    log: LogSink,
    // The index has its own locks, but no lock of the index spans a look-up of ids and the change that
    // follows.
    changes: Mutex<()>,
}

impl Archive {
    pub(crate) fn new(index: Index, limits: ServerLimits, log: LogSink) -> Self {
        Self {
            index,
            limits,
            metrics: Metrics::new(),
            shutdown: ShutdownSignal::new(),
            not_added: AtomicU64::new(0),
            unmerged: AtomicU64::new(0),
            log,
            changes: Mutex::new(()),
        }
    }

    pub(crate) fn statistics(&self) -> Result<Statistics, Problem> {
        self.or_problem(self.index.statistics())
    }

    /// Converts an error of the index to a problem. If only the operator can repair the error, `or_problem`
    /// logs it with the names of files, which the problem leaves out.
    pub(crate) fn or_problem<T>(&self, result: minwise_index::Result<T>) -> Result<T, Problem> {
        result.map_err(|error| {
            let problem = Problem::from(&error);
            if problem.concerns_operator() {
                self.metrics.failures.inc();
                self.log(&json!({"event": "error", "code": problem.code, "message": error.to_string(), "hint": error.hint().map(|hint| hint.to_string())}));
            }
            problem
        })
    }

    /// Logs a panic of a thread and returns the problem that clients see.
    pub(crate) fn panicked(&self, panic: &JoinError) -> Problem {
        self.log(&json!({"event": "error", "message": panic.to_string()}));
        ProblemKind::Internal.into()
    }

    /// Passes an event to the log of the server.
    pub(crate) fn log(&self, event: &Value) {
        (self.log)(event);
    }

    /// Waits until no other thread changes the archive, and keeps other threads from changing it while the
    /// guard lives.
    pub(crate) fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use minwise_index::IndexSettings;

    use super::*;

    /// Creates an empty archive, and returns it with its folder.
    pub(crate) fn empty_archive() -> (tempfile::TempDir, Arc<Archive>) {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        (folder, Arc::new(Archive::new(index, ServerLimits::default(), Box::new(|_| {}))))
    }
}
