//! Accepts connections up to a limit, closes slow connections, and ends all connections in order when the
//! server stops.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::auth::Client;
use crate::outgoing::WriteTimeout;
use crate::shutdown::Phase;
use crate::state::SharedState;

/// Maximum time for the headers of a request, and between two requests of a connection.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// Maximum time for which a client may read nothing of its answer.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// Divisor of the limit on connections: one client may have a quarter of all connections.
const PARTS: usize = 4;
/// Pause after the operating system failed to accept a connection, for example because too many files are
/// open.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until `stop`, then ends all connections and jobs.
pub(crate) async fn answer(
    listener: TcpListener,
    app: Router,
    state: SharedState,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(state.archive.limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let clients = Clients::new(state.archive.limits.connections);
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let taken = async {
            // Acquiring fails only if the semaphore is closed, and no code closes it.
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            () = &mut stop => break,
            taken = taken => taken,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // If the client has too many connections, the new connection is closed, and the client may connect
        // again.
        let Some(client_place) = clients.enter(peer.ip()) else { continue };
        // Without `nodelay`, the last part of an answer could wait for an acknowledgement of the part before
        // (Nagle's algorithm).
        let _ = stream.set_nodelay(true);
        let service =
            TowerToHyperService::new(app.clone().map_request(move |request| with_peer(request, peer)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIME)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // An error means that the client has disconnected, so there is nothing to answer or to log.
            let _ = connection.await;
            drop((place, client_place));
        });
    }
    drop(listener);
    state.archive.shutdown.reach(Phase::Stopping);
    let ended = async {
        connections.shutdown().await;
        state.jobs.ended().await;
    };
    if tokio::time::timeout(state.archive.limits.grace, ended).await.is_err() {
        state.archive.shutdown.reach(Phase::Over);
        // A batch that is being written must be completed, however long the disk takes.
        state.jobs.ended().await;
    }
}

/// Maximum number of connections while the archive is being opened.
const OPENING_CONNECTIONS: usize = 64;

/// Answers requests by `app` until `opened` is ready, and returns its value. Every connection closes after
/// one answer, so that the next request of the client reaches the archive.
pub(crate) async fn answer_until<T>(
    listener: &TcpListener,
    app: Router,
    opened: impl Future<Output = T>,
) -> T {
    let places = Arc::new(Semaphore::new(OPENING_CONNECTIONS));
    let connections = GracefulShutdown::new();
    let mut opened = std::pin::pin!(opened);
    let opened = loop {
        let taken = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            opened = &mut opened => break opened,
            taken = taken => taken,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let service =
            TowerToHyperService::new(app.clone().map_request(move |request| with_peer(request, peer)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .keep_alive(false)
            .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIME)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // An error means that the client has disconnected, so there is nothing to answer or to log.
            let _ = connection.await;
            drop(place);
        });
    };
    // The time is limited, because a slow client must not delay the archive for long.
    let _ = tokio::time::timeout(LAST_ANSWERS, connections.shutdown()).await;
    opened
}

/// Maximum time for finishing the answers that were begun while the archive was being opened.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Number of connections of each client.
#[derive(Debug, Clone)]
struct Clients {
    most: usize,
    counts: Arc<Mutex<HashMap<Client, usize>>>,
}

impl Clients {
    fn new(connections: usize) -> Self {
        Self { most: connections.div_ceil(PARTS).max(1), counts: Arc::default() }
    }

    /// Returns a place for a connection from this address, or `None` if its client has too many connections.
    /// Loopback addresses have no limit, because a proxy on this machine connects for all of its clients.
    fn enter(&self, address: IpAddr) -> Option<ClientPlace> {
        let client = Client::at(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client).or_default();
        if *count >= self.most && !address.to_canonical().is_loopback() {
            return None;
        }
        *count += 1;
        Some(ClientPlace { client, counts: Arc::clone(&self.counts) })
    }
}

/// The place of one connection of a client. Dropping the value frees the place.
struct ClientPlace {
    client: Client,
    counts: Arc<Mutex<HashMap<Client, usize>>>,
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = counts.entry(self.client) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

fn with_peer(request: hyper::Request<Incoming>, peer: SocketAddr) -> hyper::Request<Body> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(peer);
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_does_not_take_all_connections() {
        let clients = Clients::new(8);
        let enter = |address: &str| clients.enter(address.parse().unwrap());
        let first = enter("10.0.0.1");
        let second = enter("10.0.0.1");
        assert!(first.is_some() && second.is_some());
        assert!(enter("10.0.0.1").is_none());
        assert!(enter("10.0.0.2").is_some());
        drop(first);
        assert!(enter("10.0.0.1").is_some());
        let local: Vec<_> = (0..8).map(|_| enter("127.0.0.1")).collect();
        assert!(local.iter().all(Option::is_some), "a proxy has one address for all its clients");
        drop((second, local));
        assert!(clients.counts.lock().unwrap().is_empty(), "clients without connections are forgotten");
    }
}
