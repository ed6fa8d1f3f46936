//! The archive over HTTP: an API that returns shared passages, described by `OpenAPI`, and a page for people.
//!
//! ```
//! use std::thread;
//!
//! use minwise_index::{Index, IndexSettings};
//! use minwise_server::{Server, ServerOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("archive");
//! let index = Index::create(&path, &IndexSettings::default())?;
//! // Port 0 is any free port.
//! let server = Server::listen("127.0.0.1:0".parse()?, ServerOptions::default())?;
//! println!("http://{}", server.address());
//!
//! let stopper = server.stopper();
//! // A program would stop the server on Ctrl-C.
//! thread::spawn(move || stopper.stop());
//! server.run(index)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The defaults protect the server. Without tokens, the server listens on loopback addresses only. Every
//! request has limits ([`ServerLimits`]). Uploaded files are parsed on threads of their own within limits,
//! and no input of a client is used as a path.

mod app;
mod archive;
mod auth;
mod error;
mod files;
mod jobs;
mod lanes;
mod limits;
mod listen;
mod metrics;
mod month;
mod outgoing;
mod overview;
mod problem;
mod routes;
mod setters;
mod shutdown;
mod state;
mod upkeep;
mod uploads;
mod wire;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use minwise_index::Index;
use socket2::SockRef;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

/// The crate of the router that [`app`] returns.
pub use axum;
/// The crate of the JSON values that a [`LogSink`] receives.
pub use serde_json;

pub use archive::LogSink;
pub use auth::{Right, Tokens};
pub use error::{Error, Result};
pub use limits::ServerLimits;

use auth::Access;
use limits::cores;
use setters::setters;
use state::{ServerState, SharedState};

/// Options of a server.
#[non_exhaustive]
pub struct ServerOptions {
    /// Tokens of the clients that are admitted. Default: none, so that every process on this machine may read
    /// and write, and no other machine may.
    pub tokens: Option<Tokens>,
    /// The limits of requests. Default: [`ServerLimits::default`].
    pub limits: ServerLimits,
    /// A function that receives each event, as a JSON object. Default: events are dropped.
    pub log: LogSink,
}

/// A server that listens. [`run`](Self::run) answers requests.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: ServerOptions,
    stop: watch::Sender<bool>,
}

/// The outcome of a server that has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerOutcome {
    /// Number of documents that jobs had accepted but had no time to add.
    pub not_added: u64,
}

/// Length of the queue of connections that are not accepted yet, unless the operating system sets a lower limit.
// The queue is long, because Linux uses SYN cookies if the queue is full, and may then lose up to three bytes
// at the beginning of a request. The server would parse the remaining bytes as the request.
const BACKLOG: i32 = 4096;
/// Minimum time that threads have to end after the last answer.
const LEAST_GRACE: Duration = Duration::from_secs(5);

/// Handle that stops a server from any thread.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Asks the server to accept no new connections, to finish requests and jobs, and to stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens on an address. An address that other machines can reach needs tokens.
    ///
    /// # Errors
    /// Fails with [`Error::Unprotected`] if there are no tokens and other machines can reach the address, and
    /// with [`Error::Listen`] if the operating system refuses the address.
    pub fn listen(address: SocketAddr, options: ServerOptions) -> Result<Self> {
        if options.tokens.is_none() && !address.ip().to_canonical().is_loopback() {
            return Err(Error::Unprotected { address });
        }
        let wrong = |error| Error::Listen { address, error };
        let listener = TcpListener::bind(address).map_err(wrong)?;
        // The queue length is set again, because the standard library sets a length of 128.
        SockRef::from(&listener).listen(BACKLOG).map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        Ok(Self { listener, address, options, stop: watch::Sender::new(false) })
    }

    /// Returns the address on which the server listens. If port 0 was requested, the address has the port
    /// that the system chose.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a handle that stops the server.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Calls `open`, which may take a while, and returns its value. Meanwhile, the server answers every
    /// request with the problem `opening` and `detail`. A browser shows the problem as a page, and asks again
    /// until the archive is open.
    ///
    /// # Errors
    /// Fails with [`Error::Threads`] if no runtime can be started, and with [`Error::Listen`] if the server
    /// cannot listen on the address.
    ///
    /// ```
    /// use minwise_index::{Index, IndexSettings};
    /// use minwise_server::{Server, ServerOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("archive");
    /// # drop(Index::create(&path, &IndexSettings::default())?);
    /// let server = Server::listen("127.0.0.1:0".parse()?, ServerOptions::default())?;
    /// let index = server.while_opening("Recent changes are read again.", || Index::open(&path))??;
    /// # drop(index);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn while_opening<T: Send>(&self, detail: &str, open: impl FnOnce() -> T + Send) -> Result<T> {
        let address = self.address;
        let wrong = |error| Error::Listen { address, error };
        let listener = self.listener.try_clone().map_err(wrong)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Threads)?;
        let app = app::while_opening(detail);
        thread::scope(|scope| {
            let (sender, opened) = oneshot::channel();
            let opening = scope.spawn(move || {
                let opened = open();
                // Sending fails if the runtime could not listen and dropped the receiver. `answered` has that error.
                let _ = sender.send(());
                opened
            });
            let answered = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).map_err(wrong)?;
                // The receiver returns an error if `open` panics. `join` below resumes the panic.
                let _ = listen::answer_until(&listener, app, opened).await;
                Ok(())
            });
            let opened = opening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            answered.map(|()| opened)
        })
    }

    /// Answers requests until the server is stopped. Then `run` finishes requests and jobs, within
    /// [`ServerLimits::grace`], and closes the index.
    ///
    /// # Errors
    /// Fails with [`Error::Threads`] if threads cannot be started, and with [`Error::Listen`] if the socket
    /// cannot be used.
    pub fn run(self, index: Index) -> Result<ServerOutcome> {
        let grace = self.options.limits.grace;
        let state = self.options.state(index);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores())
            // The limit exceeds the number of threads that all lanes, jobs, the overview and merges can use
            // together, so no work waits for it.
            .max_blocking_threads(8 * cores() + 16)
            .thread_name("minwise-server")
            .enable_all()
            .build()
            .map_err(Error::Threads)?;
        let address = self.address;
        let listener = self.listener;
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)
                .map_err(|error| Error::Listen { address, error })?;
            let mut stop = self.stop.subscribe();
            let stop = async move {
                // Waiting fails only if all senders are dropped, and `self.stop` is one of them.
                let _ = stop.wait_for(|stop| *stop).await;
            };
            listen::answer(listener, app::router(state.clone()), Arc::clone(&state), stop).await;
            Ok(ServerOutcome { not_added: state.archive.not_added.load(Ordering::Relaxed) })
        });
        // Threads that still run are abandoned. A change that such a thread has begun is in the index as a
        // whole or not at all, as after a crash.
        runtime.shutdown_timeout(grace.max(LEAST_GRACE));
        ended
    }
}

/// Returns the routes of a server, for programs that accept connections themselves. Every request needs the
/// address of the client, as an extension of the type [`SocketAddr`].
///
/// The router is a type of [`axum`], which this crate re-exports. A new major version of axum is a new major
/// version of this crate, too.
pub fn app(index: Index, options: ServerOptions) -> axum::Router {
    app::router(options.state(index))
}

setters!(ServerOptions {
    /// The limits of requests. Default: [`ServerLimits::default`].
    limits: ServerLimits,
    /// A function that receives each event, as a JSON object. Default: events are dropped.
    log: LogSink,
    ;
    /// Tokens of the clients that are admitted. Default: none, so that every process on this machine may read
    /// and write, and no other machine may.
    tokens: Option<Tokens>,
});

impl Default for ServerOptions {
    /// Returns options without tokens and without a log, and with the default limits.
    fn default() -> Self {
        Self { tokens: None, limits: ServerLimits::default(), log: Box::new(|_| {}) }
    }
}

impl ServerOptions {
    fn state(self, index: Index) -> SharedState {
        let access = self.tokens.map_or(Access::Local, Access::Tokens);
        ServerState::new(index, access, self.limits, self.log)
    }
}

/// Returns the description of the API, which is also at `GET /api/v1/openapi.json`.
#[must_use]
pub fn openapi() -> String {
    app::description().to_pretty_json().unwrap_or_default() + "\n"
}

/// Tests the example of this crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
