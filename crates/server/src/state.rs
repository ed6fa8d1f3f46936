//! The state that all requests share.

use std::sync::Arc;

use minwise_index::Index;

use crate::archive::{Archive, LogSink};
use crate::auth::Access;
use crate::jobs::Jobs;
use crate::lanes::{Lane, Lanes, Turn};
use crate::limits::{Gate, ServerLimits};
use crate::overview::Overview;
use crate::problem::Problem;
use crate::upkeep::Upkeep;

/// The state that all requests share.
pub(crate) struct ServerState {
    pub(crate) archive: Arc<Archive>,
    pub(crate) access: Access,
    pub(crate) gate: Gate,
    pub(crate) jobs: Jobs,
    pub(crate) overview: Arc<Overview>,
    pub(crate) upkeep: Arc<Upkeep>,
    lanes: Lanes,
}

pub(crate) type SharedState = Arc<ServerState>;

impl ServerState {
    pub(crate) fn new(index: Index, access: Access, limits: ServerLimits, log: LogSink) -> SharedState {
        let archive = Arc::new(Archive::new(index, limits, log));
        Arc::new(Self {
            access,
            gate: Gate::new(&archive.limits),
            jobs: Jobs::new(Arc::clone(&archive)),
            overview: Arc::new(Overview::new(Arc::clone(&archive))),
            upkeep: Arc::new(Upkeep::new(Arc::clone(&archive))),
            lanes: Lanes::new(),
            archive,
        })
    }

    /// Runs work on a thread of a lane, once the lane has a free place. The work gets a [`Turn`], which
    /// reports whether the client still waits for the answer.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&Archive, Turn) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (turn, _client) = self.lanes.enter(lane).await?;
        let archive = Arc::clone(&self.archive);
        // The thread owns the turn, because the thread keeps running after its client has disconnected.
        let done = tokio::task::spawn_blocking(move || work(&archive, turn)).await;
        done.unwrap_or_else(|panic| Err(self.archive.panicked(&panic)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use axum::extract::State as At;
    use axum::response::Response;
    use minwise::Observer;
    use minwise_index::{IndexSettings, NewDocument};
    use serde_json::{Value, json};

    use super::*;
    use crate::files::UploadedFile;
    use crate::lanes::LONG_TEXT;
    use crate::limits::cores;
    use crate::routes::{
        self,
        parameters::{Id, Parameters},
    };
    use crate::uploads::{BodyContent, Received};

    /// Creates the state of a server with an empty archive, and returns it with the folder of the archive.
    fn state() -> (tempfile::TempDir, SharedState) {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        (folder, ServerState::new(index, Access::Local, ServerLimits::default(), Box::new(|_| {})))
    }

    /// Waits at most a minute until the work is cancelled, and reports whether it was.
    fn wait_until_cancelled(turn: &Turn) -> bool {
        let begun = Instant::now();
        while !turn.cancelled() && begun.elapsed() < Duration::from_mins(1) {
            std::thread::yield_now();
        }
        turn.cancelled()
    }

    #[test]
    fn work_is_cancelled_when_its_client_goes_away() {
        let (_folder, state) = state();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            for lane in [Lane::Read, Lane::LongText, Lane::Quick, Lane::Write, Lane::File] {
                let (ended, end) = std::sync::mpsc::channel();
                let work = state.run(lane, move |_, turn| {
                    let _ = ended.send(wait_until_cancelled(&turn));
                    Ok(())
                });
                assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
                assert_eq!(end.recv(), Ok(true), "{lane:?}");
            }
        });
    }

    #[test]
    fn a_lane_is_free_when_the_turn_is_dropped() {
        let (_folder, state) = state();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let places = || state.lanes.places(Lane::File).available_permits();
            let all = places();
            let turn = state.run(Lane::File, |_, turn| Ok(turn)).await.unwrap();
            assert_eq!(places(), all - 1, "work that returns its turn keeps its place");
            let kept = state.run(Lane::Read, move |_, _| {
                let _turn = turn;
                Ok(())
            });
            kept.await.unwrap();
            assert_eq!(places(), all);
        });
    }

    #[test]
    fn long_texts_wait_for_each_other_on_every_route() {
        let (_folder, state) = state();
        let text = "a rose is a rose ".repeat(LONG_TEXT / 16);
        let documents = [NewDocument::new("long", &text), NewDocument::new("short", "a rose")];
        state.archive.index.add(&documents, 0, 1).unwrap();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let json = |body: Value| BodyContent::Json(body.to_string().into());
            let file = |text: &str| {
                let file = UploadedFile { name: "a.txt".to_owned(), bytes: text.to_owned().into() };
                BodyContent::Files { files: vec![file], options: None }
            };
            let received = |content: BodyContent| Received { content, held: state.gate.hold() };
            let similar = async |id: &str| {
                let parameters = Parameters(serde_json::from_value(json!({})).unwrap());
                routes::document::similar(At(Arc::clone(&state)), Id(id.to_owned()), parameters).await
            };
            let check = async |content| routes::check::check(At(Arc::clone(&state)), received(content)).await;
            let pair = async |left: &str| {
                let two = json(json!({"left": {"id": left}, "right": {"id": "short"}}));
                routes::pair::pair(At(Arc::clone(&state)), received(two)).await
            };
            // While the lane for long texts is taken, all routes answer requests with short texts, and no
            // route answers a request with a long text.
            let taken = state.lanes.enter(Lane::LongText).await.unwrap();
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
            // By now, the route for files has read the file, and it keeps its place in the lane for files.
            let files = state.lanes.places(Lane::File);
            assert_eq!(files.available_permits(), cores() - 1);
            drop(taken);
            for answer in waiting {
                answer.await.unwrap();
            }
            assert_eq!(files.available_permits(), cores());
        });
    }

    type Answering<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Response, Problem>> + 'a>>;

    #[test]
    fn waiting_writers_do_not_delay_readers() {
        let (_folder, state) = state();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let changes = state.archive.lock_changes();
        let writers: Vec<_> = (0..10 * cores() + 10)
            .map(|_| {
                let state = Arc::clone(&state);
                let change = |archive: &Archive, _: Turn| {
                    drop(archive.lock_changes());
                    Ok(())
                };
                runtime.spawn(async move { state.run(Lane::Write, change).await })
            })
            .collect();
        let is_full = || state.lanes.places(Lane::Write).available_permits() == 0;
        let begun = Instant::now();
        while !is_full() {
            assert!(begun.elapsed() < Duration::from_mins(1));
            std::thread::yield_now();
        }
        let read = async {
            tokio::time::timeout(Duration::from_mins(1), state.run(Lane::Read, |_, _| Ok(()))).await
        };
        assert!(runtime.block_on(read).unwrap().is_ok());
        assert!(is_full());
        drop(changes);
        for writer in writers {
            assert!(runtime.block_on(writer).unwrap().is_ok());
        }
    }
}
