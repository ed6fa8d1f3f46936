//! Work that takes longer than a request may: it is queued, one job runs at a time, and what came of it can be asked for
//! for a while.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use minwise_index::Watch;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use crate::problem::{Kind, Problem};
use crate::shutdown::Until;
use crate::state::Shared;

/// How long the result of a job is kept,
const KEPT: Duration = Duration::from_hours(1);
/// and of how many jobs.
const MOST_KEPT: usize = 64;

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobState {
    Queued,
    Running,
    Done,
    Failed,
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobKind {
    /// It adds documents.
    Add,
    /// It looks for clusters.
    Clusters,
}

/// A job, for whoever waits for it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobSent {
    id: String,
    kind: JobKind,
    pub(crate) state: JobState,
    /// Steps that are done,
    done: u64,
    /// of so many; 0 while that is not known.
    total: u64,
    /// What came of it: what became of the documents, or the clusters.
    #[schema(value_type = Option<Object>)]
    result: Option<Box<RawValue>>,
    error: Option<Problem>,
}

/// What came of a job, and when.
type Outcome = (Instant, Result<Box<RawValue>, Problem>);

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    id: String,
    kind: JobKind,
    running: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
    outcome: Mutex<Option<Outcome>>,
    until: Until,
}

impl Watch for Job {
    fn progress(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.until.interrupted()
    }
}

impl Job {
    fn outcome(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sent(&self) -> JobSent {
        let outcome = self.outcome();
        let (state, result, error) = match outcome.as_ref() {
            None if self.running.load(Ordering::Relaxed) == 0 => (JobState::Queued, None, None),
            None => (JobState::Running, None, None),
            Some((_, Ok(result))) => (JobState::Done, Some(result.clone()), None),
            Some((_, Err(problem))) => (JobState::Failed, None, Some(problem.clone())),
        };
        let [done, total] = [&self.done, &self.total].map(|steps| steps.load(Ordering::Relaxed));
        JobSent { id: self.id.clone(), kind: self.kind, state, done, total, result, error }
    }
}

/// The jobs of a server.
#[derive(Debug)]
pub(crate) struct Jobs {
    list: Mutex<VecDeque<Arc<Job>>>,
    /// Jobs that run or wait.
    places: Arc<Semaphore>,
    most: u32,
    /// Whose turn it is.
    turn: Arc<Semaphore>,
    names: RandomState,
    made: AtomicU64,
}

impl Jobs {
    pub(crate) fn new(most: usize) -> Self {
        let most = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, 1 << 20);
        Self {
            list: Mutex::default(),
            places: Arc::new(Semaphore::new(most as usize)),
            most,
            turn: Arc::new(Semaphore::new(1)),
            names: RandomState::new(),
            made: AtomicU64::new(0),
        }
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        let mut jobs = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = jobs.iter().filter(|job| job.outcome().is_some()).count();
        jobs.retain(|job| match job.outcome().as_ref() {
            Some((at, _)) if at.elapsed() > KEPT || ended > MOST_KEPT => {
                ended -= 1;
                false
            }
            _ => true,
        });
        jobs
    }

    /// The job with this id.
    pub(crate) fn get(&self, id: &str) -> Option<JobSent> {
        self.list().iter().find(|job| job.id == id).map(|job| job.sent())
    }

    /// How many jobs run or wait.
    pub(crate) fn under_way(&self) -> usize {
        self.most as usize - self.places.available_permits()
    }

    /// Waits until no job runs or waits.
    pub(crate) async fn ended(&self) {
        // The permits are given back at once; it fails only if they are closed, which nobody does.
        let _ = self.places.acquire_many(self.most).await;
    }

    /// Queues work and returns the id of its job. It is told by `until` when to stop early.
    pub(crate) fn begin<T: Serialize>(
        state: &Shared,
        kind: JobKind,
        until: Until,
        work: impl FnOnce(&crate::state::State, &Job) -> Result<T, Problem> + Send + 'static,
    ) -> Result<String, Problem> {
        let jobs = &state.jobs;
        let place = Arc::clone(&jobs.places).try_acquire_owned();
        let place = place.map_err(|_| Problem::from(Kind::TooManyJobs).retry_after(5))?;
        let number = jobs.made.fetch_add(1, Ordering::Relaxed);
        // An id that another run of the server had must not be that of another job: pages are reloaded.
        let id = format!("{:016x}", jobs.names.hash_one(number));
        let [running, done, total] = [0, 0, 0].map(AtomicU64::new);
        let job =
            Arc::new(Job { id: id.clone(), kind, running, done, total, outcome: Mutex::default(), until });
        jobs.list().push_back(Arc::clone(&job));
        let (turn, state) = (Arc::clone(&jobs.turn), Arc::clone(state));
        tokio::spawn(async move {
            let turn = turn.acquire_owned().await;
            job.running.store(1, Ordering::Relaxed);
            let (theirs, at) = (Arc::clone(&job), Arc::clone(&state));
            let worked = tokio::task::spawn_blocking(move || {
                let result = work(&at, &theirs)?;
                serde_json::value::to_raw_value(&result)
                    .map_err(|error| Problem::new(Kind::Internal, error.to_string()))
            });
            let result = worked.await.unwrap_or_else(|panic| {
                state.log(&serde_json::json!({"event": "error", "message": panic.to_string()}));
                Err(Kind::Internal.into())
            });
            state.metrics.job_ended(kind, result.is_ok());
            *job.outcome() = Some((Instant::now(), result));
            drop((turn, place));
        });
        Ok(id)
    }
}
