//! Limits of requests: their bytes, their time, their number at once, and their number per second.
//!
//! | limit | answer |
//! |---|---|
//! | bytes of a body | 413 |
//! | requests of one client per second | 429, with `Retry-After` |
//! | requests at once | 503, with `Retry-After` |
//! | time of a request | 503, with `Retry-After` |
//! | bytes of a text that is checked | 413 |
//! | connections at once | further connections wait |
//! | bytes of all bodies that are held at once | further bodies wait up to 10 seconds, then 503 with `Retry-After` |
//! | bytes of all jobs that run or wait | 503, with `Retry-After` |

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::Client;
use crate::problem::{Problem, ProblemKind};
use crate::setters::setters;

/// Returns the number of threads that a server may keep busy.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The limits of requests, jobs and connections.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Maximum size of the body of a request, in bytes. Default: 64 MiB.
    pub body_bytes: usize,
    /// Memory in bytes for all bodies that are held at once: one half for requests and answers, the other
    /// half for jobs that run or wait. Each half has room for at least one body. Default: 256 MiB.
    pub held_bytes: usize,
    /// Maximum size in bytes of a text that is checked or compared with another. Default: 16 MiB.
    pub text_bytes: usize,
    /// Maximum time of a request, from its headers to its answer. Default: 1 minute.
    pub time: Duration,
    /// Maximum number of requests that are answered at once. Default: 512.
    pub requests: usize,
    /// Maximum number of connections at once. Default: 1024.
    pub connections: usize,
    /// Maximum number of requests per second and client. A burst may have twice this number. `None` sets no
    /// limit. Default: 100.
    pub rate: Option<NonZeroU32>,
    /// Maximum number of jobs that add documents, running or waiting. Two more jobs may find clusters.
    /// Default: 16.
    pub jobs: usize,
    /// Time for requests and jobs to end after the server was asked to stop. Default: 30 seconds.
    pub grace: Duration,
    /// Maximum time for reading one PDF of a request. Other files take time in proportion to their bytes.
    /// Default: 20 seconds.
    pub file_time: Duration,
    /// Number of changes of the archive after which the server merges them, so that reading stays fast.
    /// Default: 4096.
    pub unmerged_changes: u64,
}

setters!(ServerLimits {
    /// Maximum size of the body of a request, in bytes. Default: 64 MiB.
    body_bytes: usize,
    /// Memory in bytes for all bodies that are held at once: one half for requests and answers, the other
    /// half for jobs that run or wait. Each half has room for at least one body. Default: 256 MiB.
    held_bytes: usize,
    /// Maximum size in bytes of a text that is checked or compared with another. Default: 16 MiB.
    text_bytes: usize,
    /// Maximum time of a request, from its headers to its answer. Default: 1 minute.
    time: Duration,
    /// Maximum number of requests that are answered at once. Default: 512.
    requests: usize,
    /// Maximum number of connections at once. Default: 1024.
    connections: usize,
    /// Maximum number of jobs that add documents, running or waiting. Two more jobs may find clusters.
    /// Default: 16.
    jobs: usize,
    /// Time for requests and jobs to end after the server was asked to stop. Default: 30 seconds.
    grace: Duration,
    /// Maximum time for reading one PDF of a request. Other files take time in proportion to their bytes.
    /// Default: 20 seconds.
    file_time: Duration,
    /// Number of changes of the archive after which the server merges them, so that reading stays fast.
    /// Default: 4096.
    unmerged_changes: u64,
    ;
    /// Maximum number of requests per second and client. A burst may have twice this number. `None` sets no
    /// limit. Default: 100.
    rate: Option<NonZeroU32>,
});

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 64 << 20,
            held_bytes: 256 << 20,
            text_bytes: 16 << 20,
            time: Duration::from_mins(1),
            requests: 512,
            connections: 1024,
            rate: NonZeroU32::new(100),
            jobs: 16,
            grace: Duration::from_secs(30),
            file_time: Duration::from_secs(20),
            unmerged_changes: 1 << 12,
        }
    }
}

/// Size in bytes of a unit of memory. Memory is counted in units, because a semaphore counts in 32 bits.
const UNIT: usize = 1 << 10;
/// Number of bytes per body that are not counted, so that small bodies never wait for large bodies. The limit
/// on requests bounds the sum of these bytes.
const UNCOUNTED: usize = 64 << 10;
/// Maximum time for which a body or an answer waits for memory. Without this maximum, bodies that hold some
/// memory could wait for each other forever.
const WAIT: Duration = Duration::from_secs(10);
/// Number of requests after which idle clients are dropped from the rate limiter.
const SWEEP: u32 = 1 << 10;

/// Counts the requests and the memory in use. Requests beyond the limits are rejected, and bodies wait for
/// memory.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Memory for requests and answers, in units of [`UNIT`] bytes.
    held: Arc<Semaphore>,
    /// Memory for jobs, in units of [`UNIT`] bytes.
    queued: Arc<Semaphore>,
    /// Number of units of `held`, which is also the number of units of `queued`.
    units: u32,
    requests: Arc<Semaphore>,
    rate: Option<DefaultKeyedRateLimiter<Client>>,
    counted: AtomicU32,
}

impl Gate {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let most = Semaphore::MAX_PERMITS.min(u32::MAX as usize);
        let units = (limits.held_bytes / 2).max(limits.body_bytes).div_ceil(UNIT).clamp(1, most);
        let quota = |rate: NonZeroU32| Quota::per_second(rate).allow_burst(rate.saturating_mul(BURST));
        Self {
            held: Arc::new(Semaphore::new(units)),
            queued: Arc::new(Semaphore::new(units)),
            units: units as u32,
            requests: Arc::new(Semaphore::new(limits.requests.clamp(1, most))),
            rate: limits.rate.map(|rate| RateLimiter::dashmap(quota(rate))),
            counted: AtomicU32::new(0),
        }
    }

    /// Counts a request of a client, and returns a problem if the client exceeds its rate.
    pub(crate) fn count(&self, client: Client) -> Result<(), Problem> {
        let Some(rate) = &self.rate else { return Ok(()) };
        if self.counted.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            rate.retain_recent();
            rate.shrink_to_fit();
        }
        rate.check_key(&client).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            Problem::from(ProblemKind::TooManyRequests).retry_after(wait.as_secs() + 1)
        })
    }

    /// Returns a place among the requests that are answered at once.
    pub(crate) fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.requests).try_acquire_owned();
        place.map_err(|_| Problem::from(ProblemKind::Busy).retry_after(1))
    }

    /// Returns an empty reservation of memory for one request body or answer. Dropping the reservation frees its
    /// memory.
    pub(crate) fn hold(&self) -> HeldMemory {
        HeldMemory { memory: Arc::clone(&self.held), most: self.units, permit: None }
    }

    /// Reserves memory for a job of this many bytes, if enough is free. A job does not wait for memory,
    /// because the wait may be long.
    pub(crate) fn queue(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let units = bytes.div_ceil(UNIT).min(self.units as usize) as u32;
        Arc::clone(&self.queued).try_acquire_many_owned(units).map_err(|_| {
            let detail = "Running and waiting jobs hold all memory for jobs.";
            Problem::new(ProblemKind::TooManyJobs, detail).retry_after(5)
        })
    }
}

/// Memory that is reserved for one body or answer.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    memory: Arc<Semaphore>,
    most: u32,
    permit: Option<OwnedSemaphorePermit>,
}

impl HeldMemory {
    /// Waits until memory for `bytes` bytes in total is reserved.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        let units = bytes.saturating_sub(UNCOUNTED).div_ceil(UNIT).min(self.most as usize);
        let missing = units.saturating_sub(self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        if missing == 0 {
            return Ok(());
        }
        let more = Arc::clone(&self.memory).acquire_many_owned(missing as u32);
        let more = tokio::time::timeout(WAIT, more).await;
        let more = more
            .map_err(|_| Problem::from(ProblemKind::Busy).retry_after(5))?
            .map_err(|_| ProblemKind::Stopping)?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        Ok(())
    }
}

/// Size of a burst: the number of seconds whose requests a client may send at once.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_beyond_its_rate_is_refused_and_others_are_not() {
        let limits = ServerLimits { rate: NonZeroU32::new(2), requests: 1, ..ServerLimits::default() };
        let gate = Gate::new(&limits);
        let [one, other] = [Client::Token(0), Client::Token(1)];
        assert!((0..4).all(|_| gate.count(one).is_ok()));
        assert_eq!(gate.count(one).unwrap_err().code, "too_many_requests");
        assert!(gate.count(other).is_ok());
        let place = gate.enter().unwrap();
        assert_eq!(gate.enter().unwrap_err().code, "busy");
        drop(place);
        assert!(gate.enter().is_ok());
    }

    #[test]
    fn idle_clients_are_forgotten() {
        let limits = ServerLimits { rate: NonZeroU32::new(1_000_000), ..ServerLimits::default() };
        let gate = Gate::new(&limits);
        for client in 0..100 * SWEEP as usize {
            gate.count(Client::Token(client)).unwrap();
        }
        let remembered = gate.rate.as_ref().map(RateLimiter::len).unwrap_or_default();
        assert!(remembered <= 2 * SWEEP as usize, "{remembered} are remembered");
    }

    #[test]
    fn jobs_and_requests_have_memory_of_their_own() {
        let limits = ServerLimits { body_bytes: 1 << 20, held_bytes: 4 << 20, ..ServerLimits::default() };
        let gate = Gate::new(&limits);
        let first = gate.queue(1 << 20).unwrap();
        let second = gate.queue(1 << 20).unwrap();
        assert_eq!(gate.queue(1 << 10).unwrap_err().code, "too_many_jobs");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(async {
            let (mut one, mut small, mut other) = (gate.hold(), gate.hold(), gate.hold());
            one.grow(UNCOUNTED + (1 << 20)).await.unwrap();
            one.grow(UNCOUNTED + (2 << 20)).await.unwrap();
            small.grow(UNCOUNTED).await.expect("a small body does not wait");
            let waits = tokio::time::timeout(Duration::from_millis(20), other.grow(UNCOUNTED + 1)).await;
            assert!(waits.is_err(), "a large body waits");
            drop(one);
            other.grow(UNCOUNTED + 1).await.unwrap();
        });
        drop((first, second));
        assert!(gate.queue(1 << 30).is_ok(), "a job larger than all memory gets all of it");
    }
}
