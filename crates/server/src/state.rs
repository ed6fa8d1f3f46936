//! What all requests share, and how they work on the archive: on threads of their own, a bounded number at a time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{SystemTime, UNIX_EPOCH};

use minwise::Observer;
use minwise_index::Index;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::auth::Access;
use crate::jobs::{Job, Jobs};
use crate::limits::{Gate, ServerLimits};
use crate::metrics::Metrics;
use crate::overview::Overview;
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::ShutdownSignal;
use crate::upkeep::Upkeep;

/// A function that receives the events of a server, each as a JSON object. Its field `event` is `request`, `error`,
/// `merged` or `unfinished`; the other fields depend on it.
pub type LogSink = Box<dyn Fn(&Value) + Send + Sync>;

/// What all requests share.
pub(crate) struct ServerState {
    pub(crate) index: Index,
    pub(crate) access: Access,
    pub(crate) limits: ServerLimits,
    pub(crate) gate: Gate,
    pub(crate) jobs: Jobs,
    pub(crate) overview: Overview,
    pub(crate) metrics: Metrics,
    pub(crate) end: ShutdownSignal,
    pub(crate) upkeep: Upkeep,
    /// Documents that were accepted, and not added before the end.
    pub(crate) undone: AtomicU64,
    log: LogSink,
    /// Held by whoever changes the archive, so that what it said of an id still holds when the change is made.
    changing: Mutex<()>,
    /// Looks at the archive at once,
    workers: Arc<Semaphore>,
    /// of them those of long texts, of which each takes many times its bytes,
    long: Arc<Semaphore>,
    /// those that take no time, and are asked for to see whether we are well,
    quick: Arc<Semaphore>,
    /// and changes, which wait for each other and for the disk, and keep nobody from looking.
    writers: Arc<Semaphore>,
    /// Files that are read at once.
    readers: Arc<Semaphore>,
}

/// Bytes of a text that is long.
const LONG: usize = 1 << 20;

/// Somebody waits, until it is dropped.
struct Asking(Arc<AtomicBool>);

impl Asking {
    fn new() -> (Self, StillWaiting) {
        let gone = Arc::new(AtomicBool::new(false));
        (Self(Arc::clone(&gone)), StillWaiting(gone))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Goes on while somebody waits.
#[derive(Debug)]
pub(crate) struct StillWaiting(Arc<AtomicBool>);

impl Observer for StillWaiting {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The state, by everybody who has a part in it.
pub(crate) type SharedState = Arc<ServerState>;

/// Threads that a server may keep busy.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl ServerState {
    pub(crate) fn new(index: Index, access: Access, limits: ServerLimits, log: LogSink) -> SharedState {
        // An index that cannot say how large it is will say so when it is asked for something.
        let documents = index.statistics().map_or(0, |numbers| numbers.documents);
        Arc::new(Self {
            index,
            access,
            gate: Gate::new(&limits),
            jobs: Jobs::new(limits.jobs),
            overview: Overview::default(),
            metrics: Metrics::new(),
            end: ShutdownSignal::new(),
            upkeep: Upkeep::new(&limits, documents),
            limits,
            undone: AtomicU64::new(0),
            log,
            changing: Mutex::new(()),
            workers: Arc::new(Semaphore::new(cores() + 2)),
            long: Arc::new(Semaphore::new(1)),
            quick: Arc::new(Semaphore::new(cores())),
            writers: Arc::new(Semaphore::new(cores() + 2)),
            readers: Arc::new(Semaphore::new(cores())),
        })
    }

    /// Does something on the archive, away from the threads that answer requests.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&ServerState) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(Arc::clone(&self.workers), work).await
    }

    /// The same for a text of this many bytes. The work is told when nobody waits for it any more.
    pub(crate) async fn run_watched<T: Send + 'static>(
        self: &Arc<Self>,
        text_bytes: usize,
        work: impl FnOnce(&ServerState, &StillWaiting) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let places = if text_bytes > LONG { &self.long } else { &self.workers };
        let (_asking, asked) = Asking::new();
        self.run_on(Arc::clone(places), move |state| work(state, &asked)).await
    }

    /// The same for what takes no time, however busy all others are.
    pub(crate) async fn run_quick<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&ServerState) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(Arc::clone(&self.quick), work).await
    }

    /// The same for what changes the archive.
    pub(crate) async fn run_writing<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&ServerState) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(Arc::clone(&self.writers), work).await
    }

    /// The same for what reads files of strangers, which may take long.
    pub(crate) async fn run_reading<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&ServerState) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run_on(Arc::clone(&self.readers), work).await
    }

    /// Reads files, and then does something with what was read, as for a text of the bytes that are told with it. It keeps its
    /// place among those that read until it is done: what was read is in memory.
    pub(crate) async fn run_read<R: Send + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&ServerState) -> Result<(R, usize), Problem> + Send + 'static,
        work: impl FnOnce(&ServerState, &StillWaiting, R) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = Arc::clone(&self.readers).acquire_owned().await.map_err(|_| ProblemKind::Stopping)?;
        let (what, bytes, place) = self
            .apart(move |state| {
                let (what, bytes) = read(state)?;
                Ok((what, bytes, place))
            })
            .await?;
        self.run_watched(bytes, move |state, asked| {
            let _place = place;
            work(state, asked, what)
        })
        .await
    }

    async fn run_on<T: Send + 'static>(
        self: &Arc<Self>,
        places: Arc<Semaphore>,
        work: impl FnOnce(&ServerState) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        // The place is held until the work is done, whether or not somebody still waits for it.
        let place = places.acquire_owned().await.map_err(|_| ProblemKind::Stopping)?;
        self.apart(move |state| {
            let _place = place;
            work(state)
        })
        .await
    }

    /// Does something on another thread.
    async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&ServerState) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let state = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&state));
        done.await.unwrap_or_else(|panic| Err(self.broken(&panic)))
    }

    /// What a mistake of ours is to others. What it was is in the log.
    pub(crate) fn broken(&self, panic: &JoinError) -> Problem {
        self.log(&json!({"event": "error", "message": panic.to_string()}));
        ProblemKind::Internal.into()
    }

    /// What the index said, with what only whoever runs the server should know in the log.
    pub(crate) fn told<T>(&self, result: minwise_index::Result<T>) -> Result<T, Problem> {
        result.map_err(|error| {
            let problem = Problem::from(&error);
            if problem.is_ours() {
                self.metrics.failures.inc();
                self.log(&json!({"event": "error", "code": problem.code, "message": error.to_string(), "hint": error.hint().map(|hint| hint.to_string())}));
            }
            problem
        })
    }

    /// Takes note of a job that did not add all that it had accepted.
    pub(crate) fn unfinished(&self, job: &Job, done: u64, total: u64) {
        if job.cancelled() {
            self.undone.fetch_add(total - done, Ordering::Relaxed);
        }
        self.log(&json!({"event": "unfinished", "job": job.id(), "done": done, "total": total}));
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

#[cfg(test)]
pub(crate) mod tests {
    use std::time::{Duration, Instant};

    use axum::extract::State as At;
    use axum::response::Response;
    use minwise_index::{IndexSettings, NewDocument};

    use super::*;
    use crate::routes::{
        self,
        parameters::{Id, Parameters},
    };
    use crate::uploads::{BodyContent, Received, UploadedFile};

    /// An archive that is empty, and the folder that it is in.
    pub(crate) fn state() -> (tempfile::TempDir, SharedState) {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        (folder, ServerState::new(index, Access::Local, ServerLimits::default(), Box::new(|_| {})))
    }

    #[test]
    fn work_ends_when_nobody_waits_for_it() {
        let (_folder, state) = state();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let (ended, end) = std::sync::mpsc::channel();
            let work = state.run_watched(0, move |_, asked| {
                let begun = Instant::now();
                while !asked.cancelled() && begun.elapsed() < Duration::from_mins(1) {
                    std::thread::yield_now();
                }
                let _ = ended.send(asked.cancelled());
                Ok(())
            });
            assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
            assert_eq!(end.recv(), Ok(true));
        });
    }

    #[test]
    fn so_does_work_on_what_was_read() {
        let (_folder, state) = state();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let (ended, end) = std::sync::mpsc::channel();
            let work = state.run_read(
                |_| Ok((7, 0)),
                move |_, asked, read: u32| {
                    let begun = Instant::now();
                    while !asked.cancelled() && begun.elapsed() < Duration::from_mins(1) {
                        std::thread::yield_now();
                    }
                    let _ = ended.send((read, asked.cancelled()));
                    Ok(())
                },
            );
            assert!(tokio::time::timeout(Duration::from_millis(200), work).await.is_err());
            assert_eq!(end.recv(), Ok((7, true)));
        });
    }

    #[test]
    fn long_texts_wait_for_each_other_wherever_they_come_from() {
        let (_folder, state) = state();
        let text = "a rose is a rose ".repeat(LONG / 16);
        let documents = [NewDocument::new("long", &text), NewDocument::new("short", "a rose")];
        state.index.add(&documents, 0, 1).unwrap();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let json = |body: Value| BodyContent::Json(body.to_string().into());
            let file = |text: &str| {
                let file = UploadedFile { name: "a.txt".to_owned(), bytes: text.to_owned().into() };
                BodyContent::Files { files: vec![file], options: None }
            };
            let received = |content: BodyContent| Received { content, held: state.gate.hold() };
            let similar = async |id: &str| {
                let nearness = Parameters(serde_json::from_value(json!({})).unwrap());
                routes::document::similar(At(Arc::clone(&state)), Id(id.to_owned()), nearness).await
            };
            let check = async |content| routes::check::check(At(Arc::clone(&state)), received(content)).await;
            let pair = async |left: &str| {
                let two = json(json!({"left": {"id": left}, "right": {"id": "short"}}));
                routes::pair::pair(At(Arc::clone(&state)), received(two)).await
            };
            // All short ones are answered while a long one is looked at, and no long one is.
            let turn = Arc::clone(&state.long).acquire_owned().await.unwrap();
            check(file("a rose")).await.unwrap();
            similar("short").await.unwrap();
            pair("short").await.unwrap();
            let mut waiting = [
                Box::pin(check(json(json!({ "text": text })))) as Answering<'_>,
                Box::pin(check(file(&text))),
                Box::pin(similar("long")),
                Box::pin(pair("long")),
            ];
            let mut waited = vec![];
            for answer in &mut waiting {
                waited.push(tokio::time::timeout(Duration::from_millis(500), answer).await.is_err());
            }
            assert_eq!(waited, [true; 4]);
            drop(turn);
            for answer in waiting {
                answer.await.unwrap();
            }
        });
    }

    /// An answer that may have to be waited for.
    type Answering<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Response, Problem>> + 'a>>;

    #[test]
    fn writers_that_wait_keep_nobody_from_looking() {
        let (_folder, state) = state();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let changing = state.changing();
        let writers: Vec<_> = (0..10 * cores() + 10)
            .map(|_| {
                let state = Arc::clone(&state);
                let change = |state: &ServerState| {
                    drop(state.changing());
                    Ok(())
                };
                runtime.spawn(async move { state.run_writing(change).await })
            })
            .collect();
        let writing = || state.writers.available_permits() == 0;
        let begun = Instant::now();
        while !writing() {
            assert!(begun.elapsed() < Duration::from_mins(1));
            std::thread::yield_now();
        }
        let look = async { tokio::time::timeout(Duration::from_mins(1), state.run(|_| Ok(()))).await };
        assert!(runtime.block_on(look).unwrap().is_ok());
        assert!(writing());
        drop(changing);
        for writer in writers {
            assert!(runtime.block_on(writer).unwrap().is_ok());
        }
    }
}
