//! Work that takes longer than a request may: it is queued, one job of each kind runs at a time, and what came of it can be
//! asked for for a while.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use minwise::{Observer, Stage};
use minwise_index::Progress;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use crate::adding::AddedSent;
use crate::problem::{Problem, ProblemKind};
use crate::routes::clusters::ClustersSent;
use crate::shutdown::Until;
use crate::state::{ServerState, SharedState};

/// How long the result of a job is kept,
const KEPT: Duration = Duration::from_hours(1);
/// of how many jobs,
const MOST_KEPT: usize = 64;
/// and bytes of all of them.
const MOST_BYTES: usize = 64 << 20;
/// Jobs that look for clusters, running or waiting: whoever may look can ask for them.
const MOST_CLUSTERS: u32 = 2;

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobState {
    /// The job waits for its turn.
    Queued,
    /// The job runs.
    Running,
    /// The job has ended without an error.
    Done,
    /// The job has ended with an error.
    Failed,
}

/// Kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobKind {
    /// The job adds documents.
    Add,
    /// The job finds clusters.
    Clusters,
}

/// State, progress and result of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct JobSent {
    /// Id of the job.
    id: String,
    /// Kind of the job.
    kind: JobKind,
    /// State of the job.
    pub(crate) state: JobState,
    #[serde(flatten)]
    progress: Progress,
    /// Result of the job, or null: `Added` for `add`, also of a job that failed midway, and `Clusters` for `clusters`.
    #[schema(required = true, value_type = Option<JobResult>)]
    result: Option<SerializedResult>,
    /// Why the job failed, or null.
    #[schema(required = true)]
    error: Option<Problem>,
}

/// Result of a job.
#[derive(ToSchema)]
#[schema(as = JobResult)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is only described")]
pub(crate) enum JobResult {
    /// Result of a job of the kind `add`.
    Added(AddedSent),
    /// Result of a job of the kind `clusters`.
    Clusters(ClustersSent),
}

/// A result that was written once, for as many as ask for it.
#[derive(Debug, Clone)]
pub(crate) struct SerializedResult(Arc<RawValue>);

impl Serialize for SerializedResult {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

/// What work came to: a result, an error, or both where it failed midway.
pub(crate) struct WorkResult<T> {
    pub(crate) result: Option<T>,
    pub(crate) error: Option<Problem>,
}

impl<T> From<Result<T, Problem>> for WorkResult<T> {
    fn from(result: Result<T, Problem>) -> Self {
        match result {
            Ok(result) => Self { result: Some(result), error: None },
            Err(error) => Self { result: None, error: Some(error) },
        }
    }
}

/// What came of a job, and when.
#[derive(Debug)]
struct JobOutcome {
    at: Instant,
    result: Option<SerializedResult>,
    error: Option<Problem>,
}

impl JobOutcome {
    fn new(ended: WorkResult<impl Serialize>) -> Self {
        let result = ended.result.map(|result| serde_json::value::to_raw_value(&result)).transpose();
        let (result, unwritten) = match result {
            Ok(result) => (result.map(|result| SerializedResult(result.into())), None),
            Err(error) => (None, Some(Problem::new(ProblemKind::Internal, error.to_string()))),
        };
        Self { at: Instant::now(), result, error: ended.error.or(unwritten) }
    }

    fn size_bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |result| result.0.get().len())
    }
}

/// What two jobs have in common that come to the same: the change of the archive that they look at, and what they are asked.
pub(crate) type Same = (u64, u64);

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    id: String,
    kind: JobKind,
    same: Option<Same>,
    running: AtomicU64,
    stage: Mutex<Option<Stage>>,
    done: AtomicU64,
    total: AtomicU64,
    outcome: Mutex<Option<JobOutcome>>,
    until: Until,
}

impl Observer for Job {
    fn begin(&self, stage: Stage, total: u64) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
        self.set_progress(0, total);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.until.cancelled()
    }
}

impl Job {
    /// `done` of `total` steps are done.
    pub(crate) fn set_progress(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn outcome(&self) -> MutexGuard<'_, Option<JobOutcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    fn sent(&self) -> JobSent {
        let outcome = self.outcome();
        let state = match outcome.as_ref() {
            None if self.running.load(Ordering::Relaxed) == 0 => JobState::Queued,
            None => JobState::Running,
            Some(JobOutcome { error: None, .. }) => JobState::Done,
            Some(_) => JobState::Failed,
        };
        let result = outcome.as_ref().and_then(|outcome| outcome.result.clone());
        let error = outcome.as_ref().and_then(|outcome| outcome.error.clone());
        let [done, total] = [&self.done, &self.total].map(|steps| steps.load(Ordering::Relaxed));
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = Progress::new(stage, done, total);
        JobSent { id: self.id.clone(), kind: self.kind, state, progress, result, error }
    }
}

/// Places for jobs of one kind.
#[derive(Debug)]
struct JobSlots {
    /// For those that run or wait.
    free: Arc<Semaphore>,
    most: u32,
    /// Whose turn it is.
    turn: Arc<Semaphore>,
}

impl JobSlots {
    fn new(most: u32) -> Self {
        Self { free: Arc::new(Semaphore::new(most as usize)), most, turn: Arc::new(Semaphore::new(1)) }
    }

    fn taken(&self) -> usize {
        self.most as usize - self.free.available_permits()
    }
}

/// The jobs of a server.
#[derive(Debug)]
pub(crate) struct Jobs {
    list: Mutex<VecDeque<Arc<Job>>>,
    adding: JobSlots,
    clusters: JobSlots,
    names: RandomState,
    made: AtomicU64,
}

impl Jobs {
    pub(crate) fn new(most: usize) -> Self {
        let most = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, 1 << 20);
        Self {
            list: Mutex::default(),
            adding: JobSlots::new(most),
            clusters: JobSlots::new(most.min(MOST_CLUSTERS)),
            names: RandomState::new(),
            made: AtomicU64::new(0),
        }
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        let mut jobs = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut ended, mut bytes) = (0, 0);
        for job in jobs.iter() {
            if let Some(outcome) = job.outcome().as_ref() {
                ended += 1;
                bytes += outcome.size_bytes();
            }
        }
        // The oldest come first. The last to end is kept, whatever its size: somebody waits for it.
        jobs.retain(|job| match job.outcome().as_ref() {
            Some(outcome)
                if outcome.at.elapsed() > KEPT || ended > MOST_KEPT || (bytes > MOST_BYTES && ended > 1) =>
            {
                ended -= 1;
                bytes -= outcome.size_bytes();
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
        self.adding.taken() + self.clusters.taken()
    }

    /// Waits until no job runs or waits.
    pub(crate) async fn ended(&self) {
        // The permits are given back at once; it fails only if they are closed, which nobody does.
        for places in [&self.adding, &self.clusters] {
            let _ = places.free.acquire_many(places.most).await;
        }
    }

    /// Queues work and returns the id of its job, or that of one which comes to the same. It is told by `until` when to stop
    /// early.
    pub(crate) fn begin<T: Serialize, E: Into<WorkResult<T>>>(
        state: &SharedState,
        kind: JobKind,
        same: Option<Same>,
        until: Until,
        work: impl FnOnce(&ServerState, &Job) -> E + Send + 'static,
    ) -> Result<String, Problem> {
        let jobs = &state.jobs;
        let mut list = jobs.list();
        let comes_to_it = |job: &&Arc<Job>| {
            let failed = job.outcome().as_ref().is_some_and(|outcome| outcome.error.is_some());
            same.is_some() && job.same == same && job.kind == kind && !failed
        };
        if let Some(job) = list.iter().find(comes_to_it) {
            return Ok(job.id.clone());
        }
        let places = match kind {
            JobKind::Add => &jobs.adding,
            JobKind::Clusters => &jobs.clusters,
        };
        let place = Arc::clone(&places.free).try_acquire_owned();
        let place = place.map_err(|_| Problem::from(ProblemKind::TooManyJobs).retry_after(5))?;
        let number = jobs.made.fetch_add(1, Ordering::Relaxed);
        // An id that another run of the server had must not be that of another job: pages are reloaded.
        let id = format!("{:016x}", jobs.names.hash_one(number));
        let [running, done, total] = [0, 0, 0].map(AtomicU64::new);
        let (stage, outcome) = (Mutex::default(), Mutex::default());
        let job = Arc::new(Job { id: id.clone(), kind, same, running, stage, done, total, outcome, until });
        list.push_back(Arc::clone(&job));
        let (turn, state) = (Arc::clone(&places.turn), Arc::clone(state));
        tokio::spawn(async move {
            let turn = turn.acquire_owned().await;
            job.running.store(1, Ordering::Relaxed);
            let (theirs, at) = (Arc::clone(&job), Arc::clone(&state));
            let worked = tokio::task::spawn_blocking(move || JobOutcome::new(work(&at, &theirs).into()));
            let outcome = worked
                .await
                .unwrap_or_else(|panic| JobOutcome::new(WorkResult::<()>::from(Err(state.broken(&panic)))));
            state.metrics.job_ended(kind, outcome.error.is_none());
            *job.outcome() = Some(outcome);
            drop((turn, place));
        });
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shutdown::Phase;
    use crate::state::tests::state;

    fn begin<T: Serialize>(
        state: &SharedState,
        kind: JobKind,
        work: impl FnOnce() -> WorkResult<T> + Send + 'static,
    ) -> Result<String, Problem> {
        Jobs::begin(state, kind, None, state.end.until(Phase::Over), move |_, _| work())
    }

    #[test]
    fn clusters_keep_nobody_from_adding() {
        let (_folder, state) = state();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (end, never) = std::sync::mpsc::channel::<()>();
            let waits = move || {
                let _ = never.recv();
                WorkResult::<()>::from(Err(ProblemKind::Internal.into()))
            };
            begin(&state, JobKind::Clusters, waits).unwrap();
            begin(&state, JobKind::Clusters, || WorkResult::from(Ok(()))).unwrap();
            let refused = begin(&state, JobKind::Clusters, || WorkResult::from(Ok(()))).unwrap_err();
            assert_eq!(refused.code, "too_many_jobs");
            let added = begin(&state, JobKind::Add, || WorkResult::from(Ok(7))).unwrap();
            let begun = Instant::now();
            while state.jobs.get(&added).unwrap().state != JobState::Done {
                assert!(begun.elapsed() < Duration::from_mins(1));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop(end);
            state.jobs.ended().await;
        });
    }

    #[test]
    fn a_job_that_failed_midway_has_a_result_and_an_error() {
        let (_folder, state) = state();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let midway = || WorkResult { result: Some(3), error: Some(ProblemKind::Stopping.into()) };
            let id = begin(&state, JobKind::Add, midway).unwrap();
            state.jobs.ended().await;
            let job = serde_json::to_value(state.jobs.get(&id).unwrap()).unwrap();
            assert_eq!((&job["state"], &job["result"]), (&"failed".into(), &3.into()));
            assert_eq!(job["error"]["code"], "stopping");
        });
    }

    #[test]
    fn results_are_kept_up_to_a_size() {
        let (_folder, state) = state();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let mut ids = vec![];
            for _ in 0..2 {
                let long = || WorkResult::from(Ok("a".repeat(MOST_BYTES * 2 / 3)));
                ids.push(begin(&state, JobKind::Add, long).unwrap());
                state.jobs.ended().await;
            }
            assert!(state.jobs.get(&ids[0]).is_none());
            assert!(state.jobs.get(&ids[1]).is_some());
        });
    }
}
