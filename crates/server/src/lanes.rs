//! Lanes: kinds of work on the archive, each with a bounded number of threads, so that no kind keeps another waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use minwise::Observer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::cores;
use crate::problem::{Problem, ProblemKind};

/// Bytes above which a text is long.
pub(crate) const LONG_TEXT: usize = 1 << 20;

/// A kind of work on the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Reads of the archive, with checks and comparisons of texts up to 1 MiB.
    Read,
    /// Checks and comparisons of longer texts, one at a time, because each takes many times its bytes of memory.
    LongText,
    /// Counts for health checks and metrics. They take no time, so they have threads of their own and never wait for other work.
    Quick,
    /// Changes of the archive. They wait for each other and for the disk, so they would keep reads waiting in a common lane.
    Write,
    /// Texts of uploaded files, which may take seconds to extract.
    File,
}

impl Lane {
    /// The lane of checks and comparisons of texts with this many bytes.
    pub(crate) fn for_text(bytes: usize) -> Self {
        if bytes > LONG_TEXT { Self::LongText } else { Self::Read }
    }
}

/// The places of all lanes.
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
            // Two more than there are cores, because some of them wait for the disk.
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

    /// Waits for a place in a lane. The work gets the turn, and the caller keeps the client.
    pub(crate) async fn enter(&self, lane: Lane) -> Result<(Turn, WaitingClient), Problem> {
        let place = Arc::clone(self.places(lane)).acquire_owned().await;
        let place = place.map_err(|_| ProblemKind::Stopping)?;
        let is_gone = Arc::new(AtomicBool::new(false));
        Ok((Turn { _place: place, is_client_gone: Arc::clone(&is_gone) }, WaitingClient(is_gone)))
    }
}

/// A place in a lane. As an observer, it cancels the work once the client no longer waits for the answer.
///
/// Another piece of work may begin when the turn is dropped. Work that returns its turn keeps the place.
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
// A server drops the future of a request when its client goes away, and all values in it.
#[derive(Debug)]
pub(crate) struct WaitingClient(Arc<AtomicBool>);

impl Drop for WaitingClient {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
