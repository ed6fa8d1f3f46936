//! Jobs: work that takes longer than a request may take. Jobs are queued, one job of each kind runs at a
//! time, and the server keeps the results for an hour.

mod add;
mod clusters;

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

use crate::archive::{AddedAnswer, Archive, ClustersAnswer};
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::Until;

/// Time for which the result of a job is kept.
const KEPT: Duration = Duration::from_hours(1);
/// Maximum number of ended jobs that are kept.
const KEPT_JOBS: usize = 64;
/// Maximum number of bytes of all results that are kept.
const KEPT_BYTES: usize = 64 << 20;
/// Maximum number of jobs that find clusters, running or waiting. The maximum is small, because clients with
/// the right to read can start them.
const CLUSTER_JOBS: u32 = 2;

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

impl JobKind {
    /// Returns the name of the kind in JSON and in metrics.
    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Clusters => "clusters",
        }
    }
}

/// State, progress and result of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct JobAnswer {
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
    /// Reason why the job failed, or null.
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
    Added(AddedAnswer),
    /// Result of a job of the kind `clusters`.
    Clusters(ClustersAnswer),
}

/// JSON of a result. A result is encoded only once, because many requests may ask for it.
#[derive(Debug, Clone)]
pub(crate) struct SerializedResult(Arc<RawValue>);

impl Serialize for SerializedResult {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

/// Result of a job, its error, or both if the job failed midway.
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

/// End of a job: its time, result and error.
#[derive(Debug)]
struct JobOutcome {
    ended: Instant,
    result: Option<SerializedResult>,
    error: Option<Problem>,
}

impl JobOutcome {
    fn new(work: WorkResult<impl Serialize>) -> Self {
        let result = work.result.map(|result| serde_json::value::to_raw_value(&result)).transpose();
        let (result, unwritten) = match result {
            Ok(result) => (result.map(|result| SerializedResult(result.into())), None),
            Err(error) => (None, Some(Problem::new(ProblemKind::Internal, error.to_string()))),
        };
        Self { ended: Instant::now(), result, error: work.error.or(unwritten) }
    }

    fn size_bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |result| result.0.get().len())
    }
}

/// Input of a job, if the result depends only on this input. A second job with the same key would only repeat
/// the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct JobKey {
    /// Number of changes of the archive so far.
    changes: u64,
    /// Bits of the threshold.
    threshold: u64,
}

/// A job that waits, runs or has ended.
#[derive(Debug)]
struct Job {
    id: String,
    kind: JobKind,
    key: Option<JobKey>,
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
    /// Sets the number of finished steps, and the number of all steps.
    fn set_progress(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn outcome(&self) -> MutexGuard<'_, Option<JobOutcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the job in the form of the API.
    fn answer(&self) -> JobAnswer {
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
        JobAnswer { id: self.id.clone(), kind: self.kind, state, progress, result, error }
    }
}

/// Places for jobs of one kind.
#[derive(Debug)]
struct JobSlots {
    /// Semaphore with one permit per job that may run or wait.
    free: Arc<Semaphore>,
    /// Number of permits of `free`.
    count: u32,
    /// Semaphore with one permit, for the job that runs.
    running: Arc<Semaphore>,
}

impl JobSlots {
    fn new(count: u32) -> Self {
        Self { free: Arc::new(Semaphore::new(count as usize)), count, running: Arc::new(Semaphore::new(1)) }
    }

    fn taken(&self) -> usize {
        self.count as usize - self.free.available_permits()
    }
}

/// Jobs that wait or run, and ended jobs whose results are kept. The oldest job is first in `list`.
pub(crate) struct Jobs {
    archive: Arc<Archive>,
    list: Mutex<VecDeque<Arc<Job>>>,
    adding: JobSlots,
    clusters: JobSlots,
    id_hasher: RandomState,
    /// Number of jobs so far.
    begun: AtomicU64,
}

impl Jobs {
    pub(crate) fn new(archive: Arc<Archive>) -> Self {
        let most = u32::try_from(archive.limits.jobs).unwrap_or(u32::MAX).clamp(1, 1 << 20);
        Self {
            archive,
            list: Mutex::default(),
            adding: JobSlots::new(most),
            clusters: JobSlots::new(most.min(CLUSTER_JOBS)),
            id_hasher: RandomState::new(),
            begun: AtomicU64::new(0),
        }
    }

    /// Locks the list of jobs, and drops the oldest ended jobs if they are too old, too many or too large.
    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        let mut jobs = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut ended, mut bytes) = (0, 0);
        for job in jobs.iter() {
            if let Some(outcome) = job.outcome().as_ref() {
                ended += 1;
                bytes += outcome.size_bytes();
            }
        }
        // The list begins with the oldest job. The last remaining result is kept even if it is too large,
        // because a client waits for it.
        jobs.retain(|job| match job.outcome().as_ref() {
            Some(outcome)
                if outcome.ended.elapsed() > KEPT
                    || ended > KEPT_JOBS
                    || (bytes > KEPT_BYTES && ended > 1) =>
            {
                ended -= 1;
                bytes -= outcome.size_bytes();
                false
            }
            _ => true,
        });
        jobs
    }

    /// Returns the job with this id.
    pub(crate) fn get(&self, id: &str) -> Option<JobAnswer> {
        self.list().iter().find(|job| job.id == id).map(|job| job.answer())
    }

    /// Returns the number of jobs that run or wait.
    pub(crate) fn under_way(&self) -> usize {
        self.adding.taken() + self.clusters.taken()
    }

    /// Waits until no job runs or waits.
    pub(crate) async fn ended(&self) {
        for slots in [&self.adding, &self.clusters] {
            // Acquiring fails only if the semaphore is closed, and no code closes it. The permits are
            // released immediately.
            let _ = slots.free.acquire_many(slots.count).await;
        }
    }

    /// Queues a job and returns its id. If a job with the same key exists and has not failed, `begin` returns
    /// the id of this job instead. `until` stops the job early.
    fn begin<T: Serialize, E: Into<WorkResult<T>>>(
        &self,
        kind: JobKind,
        key: Option<JobKey>,
        until: Until,
        work: impl FnOnce(&Archive, &Job) -> E + Send + 'static,
    ) -> Result<String, Problem> {
        let mut list = self.list();
        let gives_same_result = |job: &&Arc<Job>| {
            let failed = job.outcome().as_ref().is_some_and(|outcome| outcome.error.is_some());
            key.is_some() && job.key == key && job.kind == kind && !failed
        };
        if let Some(job) = list.iter().find(gives_same_result) {
            return Ok(job.id.clone());
        }
        let slots = match kind {
            JobKind::Add => &self.adding,
            JobKind::Clusters => &self.clusters,
        };
        let slot = Arc::clone(&slots.free).try_acquire_owned();
        let slot = slot.map_err(|_| Problem::from(ProblemKind::TooManyJobs).retry_after(5))?;
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        // Ids are random, because a page that is reloaded after a restart of the server must not find another
        // job under its id.
        let id = format!("{:016x}", self.id_hasher.hash_one(number));
        let [running, done, total] = [0, 0, 0].map(AtomicU64::new);
        let (stage, outcome) = (Mutex::default(), Mutex::default());
        let job = Arc::new(Job { id: id.clone(), kind, key, running, stage, done, total, outcome, until });
        list.push_back(Arc::clone(&job));
        let (turn, archive) = (Arc::clone(&slots.running), Arc::clone(&self.archive));
        tokio::spawn(async move {
            let turn = turn.acquire_owned().await;
            job.running.store(1, Ordering::Relaxed);
            let (job_of_thread, archive_of_thread) = (Arc::clone(&job), Arc::clone(&archive));
            let thread = tokio::task::spawn_blocking(move || {
                JobOutcome::new(work(&archive_of_thread, &job_of_thread).into())
            });
            let outcome = thread.await.unwrap_or_else(|panic| {
                JobOutcome::new(WorkResult::<()>::from(Err(archive.panicked(&panic))))
            });
            archive.metrics.job_ended(kind.name(), outcome.error.is_none());
            *job.outcome() = Some(outcome);
            drop((turn, slot));
        });
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::empty_archive;
    use crate::shutdown::Phase;

    fn begin<T: Serialize>(
        jobs: &Jobs,
        kind: JobKind,
        work: impl FnOnce() -> WorkResult<T> + Send + 'static,
    ) -> Result<String, Problem> {
        jobs.begin(kind, None, jobs.archive.shutdown.until(Phase::Over), move |_, _| work())
    }

    fn jobs() -> (tempfile::TempDir, Jobs) {
        let (folder, archive) = empty_archive();
        (folder, Jobs::new(archive))
    }

    #[test]
    fn clusters_keep_nobody_from_adding() {
        let (_folder, jobs) = jobs();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (end, never) = std::sync::mpsc::channel::<()>();
            let waits = move || {
                let _ = never.recv();
                WorkResult::<()>::from(Err(ProblemKind::Internal.into()))
            };
            begin(&jobs, JobKind::Clusters, waits).unwrap();
            begin(&jobs, JobKind::Clusters, || WorkResult::from(Ok(()))).unwrap();
            let refused = begin(&jobs, JobKind::Clusters, || WorkResult::from(Ok(()))).unwrap_err();
            assert_eq!(refused.code, "too_many_jobs");
            let added = begin(&jobs, JobKind::Add, || WorkResult::from(Ok(7))).unwrap();
            let begun = Instant::now();
            while jobs.get(&added).unwrap().state != JobState::Done {
                assert!(begun.elapsed() < Duration::from_mins(1));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop(end);
            jobs.ended().await;
        });
    }

    #[test]
    fn a_job_that_failed_midway_has_a_result_and_an_error() {
        let (_folder, jobs) = jobs();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let midway = || WorkResult { result: Some(3), error: Some(ProblemKind::Stopping.into()) };
            let id = begin(&jobs, JobKind::Add, midway).unwrap();
            jobs.ended().await;
            let job = serde_json::to_value(jobs.get(&id).unwrap()).unwrap();
            assert_eq!((&job["state"], &job["result"]), (&"failed".into(), &3.into()));
            assert_eq!(job["error"]["code"], "stopping");
        });
    }

    #[test]
    fn results_are_kept_up_to_a_size() {
        let (_folder, jobs) = jobs();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let mut ids = vec![];
            for _ in 0..2 {
                let long = || WorkResult::from(Ok("a".repeat(KEPT_BYTES * 2 / 3)));
                ids.push(begin(&jobs, JobKind::Add, long).unwrap());
                jobs.ended().await;
            }
            assert!(jobs.get(&ids[0]).is_none());
            assert!(jobs.get(&ids[1]).is_some());
        });
    }
}
