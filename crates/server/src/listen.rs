//! Connections: taken up to a number, given up when they are too slow, and brought to an end in order.

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
use crate::outgoing::Impatient;
use crate::shutdown::Phase;
use crate::state::SharedState;

/// Time for the headers of a request. A connection on which nothing is asked ends after it.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// Time for a client to take some of its answer.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// The part of all connections that one client may have.
const PART: usize = 4;
/// Time before connections are taken again, after the operating system had none left to give.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until `stop`, then brings everything that was begun to an end.
pub(crate) async fn answer(
    listener: TcpListener,
    app: Router,
    state: SharedState,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(state.limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let clients = Clients::new(state.limits.connections);
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let taken = async {
            // There is always a place at last, since nobody closes them.
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
        // Whoever has too many is cut off, and may come again.
        let Some(one_of_theirs) = clients.enter(peer.ip()) else { continue };
        // Answers are written at once, and not held back for more to come.
        let _ = stream.set_nodelay(true);
        let service =
            TowerToHyperService::new(app.clone().map_request(move |request| with_peer(request, peer)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .serve_connection(TokioIo::new(Impatient::new(stream, WRITE_TIME)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A client that goes away is nobody's error.
            let _ = connection.await;
            drop((place, one_of_theirs));
        });
    }
    drop(listener);
    state.end.reach(Phase::Stopping);
    let ended = async {
        connections.shutdown().await;
        state.jobs.ended().await;
    };
    if tokio::time::timeout(state.limits.grace, ended).await.is_err() {
        state.end.reach(Phase::Over);
        // The batch that is being written is brought to its end, however long the disk takes.
        state.jobs.ended().await;
    }
}

/// Connections that are answered at once while the archive is being opened.
const MEANWHILE: usize = 64;

/// Answers requests by `app` until `opened` is there, and returns that. Every connection ends with its answer, so that the next
/// request comes to the archive.
pub(crate) async fn meanwhile<T>(listener: &TcpListener, app: Router, opened: impl Future<Output = T>) -> T {
    let places = Arc::new(Semaphore::new(MEANWHILE));
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
            .serve_connection(TokioIo::new(Impatient::new(stream, WRITE_TIME)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A client that goes away is nobody's error.
            let _ = connection.await;
            drop(place);
        });
    };
    // Answers that were begun are finished, but nobody waits long for a slow client.
    let _ = tokio::time::timeout(LAST_ANSWERS, connections.shutdown()).await;
    opened
}

/// Time for the last answers before the archive is open.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Connections by client.
#[derive(Debug, Clone)]
struct Clients {
    most: usize,
    counts: Arc<Mutex<HashMap<Client, usize>>>,
}

impl Clients {
    fn new(connections: usize) -> Self {
        Self { most: connections.div_ceil(PART).max(1), counts: Arc::default() }
    }

    /// A place for a connection from this address, if it has not too many. Through this machine everybody may come: a proxy
    /// brings all of its clients from one address.
    fn enter(&self, address: IpAddr) -> Option<OneOfTheirs> {
        let client = Client::at(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client).or_default();
        if *count >= self.most && !address.to_canonical().is_loopback() {
            return None;
        }
        *count += 1;
        Some(OneOfTheirs { client, counts: Arc::clone(&self.counts) })
    }
}

/// A connection of a client.
struct OneOfTheirs {
    client: Client,
    counts: Arc<Mutex<HashMap<Client, usize>>>,
}

impl Drop for OneOfTheirs {
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
        let ours: Vec<_> = (0..8).map(|_| enter("127.0.0.1")).collect();
        assert!(ours.iter().all(Option::is_some), "behind a proxy all are one address");
        drop((second, ours));
        assert!(clients.counts.lock().unwrap().is_empty(), "who is gone is forgotten");
    }
}
