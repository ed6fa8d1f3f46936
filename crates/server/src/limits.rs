//! What requests may take: bytes, time, places, and how many a second.
//!
//! | limit | answer |
//! |---|---|
//! | bytes of a body | 413 |
//! | requests of one client a second | 429, and when to come again |
//! | requests at once | 503, and when to come again |
//! | time of a request | 503 |
//! | connections at once | further ones wait |
//! | bytes of all bodies that are held at once | further ones wait |

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::Client;
use crate::problem::{Kind, Problem};

/// What requests may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of the body of a request. Default: 64 MiB.
    pub body_bytes: usize,
    /// Bytes of all bodies that are held at once, those of jobs that wait among them; not fewer than those of one body.
    /// Default: 256 MiB.
    pub held_bytes: usize,
    /// Time for a request, from its headers to its answer. Default: a minute.
    pub time: Duration,
    /// Requests that are answered at once. Default: 512.
    pub requests: usize,
    /// Connections at once. Default: 1024.
    pub connections: usize,
    /// Requests a second of one client, with as many again in one go; none: as many as they like. Default: 100.
    pub rate: Option<NonZeroU32>,
    /// Jobs that run or wait. Default: 16.
    pub jobs: usize,
    /// Time for requests and jobs to come to an end when the server is stopped. Default: 30 seconds.
    pub grace: Duration,
    /// The time that one file of a request may take to be read. Default: 20 seconds.
    pub file_time: Duration,
    /// Changes of the archive after which they are merged, so that it stays fast to read. Default: 4096.
    pub unmerged_changes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 64 << 20,
            held_bytes: 256 << 20,
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

/// Bytes that bodies are counted in.
const UNIT: usize = 1 << 10;
/// Requests between two looks for clients that were not seen for long.
const SWEEP: u32 = 1 << 10;

/// Keeps count of what requests take.
#[derive(Debug)]
pub(crate) struct Gate {
    held: Arc<Semaphore>,
    held_units: u32,
    requests: Arc<Semaphore>,
    rate: Option<DefaultKeyedRateLimiter<Client>>,
    counted: AtomicU32,
}

impl Gate {
    pub(crate) fn new(limits: &Limits) -> Self {
        let most = Semaphore::MAX_PERMITS.min(u32::MAX as usize);
        let held_units = limits.held_bytes.max(limits.body_bytes).div_ceil(UNIT).clamp(1, most);
        let quota = |rate: NonZeroU32| Quota::per_second(rate).allow_burst(rate.saturating_mul(TWICE));
        Self {
            held: Arc::new(Semaphore::new(held_units)),
            held_units: held_units as u32,
            requests: Arc::new(Semaphore::new(limits.requests.clamp(1, most))),
            rate: limits.rate.map(|rate| RateLimiter::dashmap(quota(rate))),
            counted: AtomicU32::new(0),
        }
    }

    /// Counts a request of a client.
    pub(crate) fn count(&self, client: Client) -> Result<(), Problem> {
        let Some(rate) = &self.rate else { return Ok(()) };
        if self.counted.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            rate.retain_recent();
            rate.shrink_to_fit();
        }
        rate.check_key(&client).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            Problem::from(Kind::TooManyRequests).retry_after(wait.as_secs() + 1)
        })
    }

    /// A place among the requests that are answered.
    pub(crate) fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.requests).try_acquire_owned();
        place.map_err(|_| Problem::from(Kind::Busy).retry_after(1))
    }

    /// Waits until there is memory for this many bytes of a body. It is given back with what is returned.
    pub(crate) async fn hold(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let units = (bytes.div_ceil(UNIT) as u32).clamp(1, self.held_units);
        let held = Arc::clone(&self.held).acquire_many_owned(units).await;
        held.map_err(|_| Kind::Stopping.into())
    }
}

/// How many times the rate a client may ask in one go.
const TWICE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_asks_too_often_is_told_when_to_come_again_and_others_are_not_kept() {
        let limits = Limits { rate: NonZeroU32::new(2), requests: 1, ..Limits::default() };
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
    fn clients_that_are_gone_are_forgotten() {
        let limits = Limits { rate: NonZeroU32::new(1_000_000), ..Limits::default() };
        let gate = Gate::new(&limits);
        for client in 0..100 * SWEEP as usize {
            gate.count(Client::Token(client)).unwrap();
        }
        let remembered = gate.rate.as_ref().map(RateLimiter::len).unwrap_or_default();
        assert!(remembered <= 2 * SWEEP as usize, "{remembered} are remembered");
    }
}
