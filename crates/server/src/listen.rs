//! Connections: taken up to a number, given up when they are too slow, and brought to an end in order.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
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

use crate::shutdown::Phase;
use crate::state::Shared;

/// Time for the headers of a request. A connection on which nothing is asked ends after it.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// Time before connections are taken again, after the operating system had none left to give.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until `stop`, then brings everything that was begun to an end.
pub(crate) async fn answer(
    listener: TcpListener,
    app: Router,
    state: Shared,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(state.limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
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
        // Answers are written at once, and not held back for more to come.
        let _ = stream.set_nodelay(true);
        let service =
            TowerToHyperService::new(app.clone().map_request(move |request| with_peer(request, peer)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A client that goes away is nobody's error.
            let _ = connection.await;
            drop(place);
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

fn with_peer(request: hyper::Request<Incoming>, peer: SocketAddr) -> hyper::Request<Body> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(peer);
    request
}
