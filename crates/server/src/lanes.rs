//! Lanes: kinds of work on the archive, each with a bounded number of threads, so that no kind of work delays
//! another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minwise::Observer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::cores;
use crate::problem::{Problem, ProblemKind};

/// Number of bytes above which a text is long.
pub(crate) const LONG_TEXT: usize = 1 << 20;

/// A kind of work on the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Reads of the archive, with checks and comparisons of texts up to 1 MiB.
    Read,
    /// Checks and comparisons of longer texts, one at a time, because each takes many times the size of its
    /// texts in memory.
    LongText,
    /// Counts for health checks and metrics. Such counts are fast, and with threads of their own they never
    /// wait for other work.
    Quick,
    /// Changes of the archive. Each change waits for other changes and for the disk, so changes would delay
    /// reads in a common lane.
    Write,
    /// Extractions of text from uploaded files, which may take seconds.
    File,
}

impl Lane {
    /// Returns the lane for checks and comparisons of texts with this many bytes.
    pub(crate) fn for_text(bytes: usize) -> Self {
        if bytes > LONG_TEXT { Self::LongText } else { Self::Read }
    }
}

/// Semaphores with the places of all lanes.
#[derive(Debug)]
pub(crate) struct Lanes {
    read: Arc<Semaphore>,
    long_text: Arc<Semaphore>,
    quick: Arc<Semaphore>,
    write: Arc<Semaphore>,
    file: Arc<Semaphore>,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        let lane = |places| Arc::new(Semaphore::new(places));
        Self {
            // There are two places more than cores, because some reads wait for the disk.
            read: lane(cores() + 2),
            long_text: lane(1),
            quick: lane(cores()),
            write: lane(cores() + 2),
            file: lane(cores()),
        }
    }

    pub(crate) fn places(&self, lane: Lane) -> &Arc<Semaphore> {
        match lane {
            Lane::Read => &self.read,
            Lane::LongText => &self.long_text,
            Lane::Quick => &self.quick,
            Lane::Write => &self.write,
            Lane::File => &self.file,
        }
    }

    /// Waits for a place in a lane. The caller passes the [`Turn`] to the work, and keeps the
    /// [`WaitingClient`].
    pub(crate) async fn enter(&self, lane: Lane) -> Result<(Turn, WaitingClient), Problem> {
        let place = Arc::clone(self.places(lane)).acquire_owned().await;
        let place = place.map_err(|_| ProblemKind::Stopping)?;
        let is_gone = Arc::new(AtomicBool::new(false));
        Ok((Turn { _place: place, is_client_gone: Arc::clone(&is_gone) }, WaitingClient(is_gone)))
    }
}

/// A place in a lane. As an observer, a turn cancels the work once the client no longer waits for the answer.
///
/// Dropping the turn lets other work begin. Work can return its turn to keep the place.
#[derive(Debug)]
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
    is_client_gone: Arc<AtomicBool>,
}

impl Observer for Turn {
    fn cancelled(&self) -> bool {
        self.is_client_gone.load(Ordering::Relaxed)
    }
}

/// A client that waits for an answer, until this value is dropped.
// When a client disconnects, the server drops the future of its request, and this value with it.
#[derive(Debug)]
pub(crate) struct WaitingClient(Arc<AtomicBool>);

impl Drop for WaitingClient {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
