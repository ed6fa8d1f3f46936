//! The router: all routes, the layers that every request passes, and the `OpenAPI` description of the routes.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Instant;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::{DefaultBodyLimit, Extension, MatchedPath, Request, State as At};
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::metrics::gauge::Gauge;
use serde_json::{Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel, DefaultPredicate};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Content, Info, OpenApi, OpenApiBuilder, Ref, RefOr, ResponseBuilder, Schema, Server, Tag,
};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Right;
use crate::outgoing::HoldingBody;
use crate::problem::{Problem, ProblemKind};
use crate::routes::{check, clusters, document, documents, health, jobs, metrics, page, pair, stats};
use crate::state::SharedState;

/// The path of the API.
const API: &str = "/api/v1";

/// Groups of calls with their descriptions, in the order in which a reader needs them.
const TAGS: [(&str, &str); 5] = [
    ("documents", "Documents of the archive: add, list, read, replace and remove them."),
    ("check", "Texts and files that are compared with the archive, or with each other."),
    ("clusters", "Near-duplicates within the archive."),
    ("jobs", "Work that takes longer than a request."),
    ("archive", "State and numbers of the archive."),
];

/// Name of the security scheme of tokens in the description of the API.
const TOKEN: &str = "token";

/// Routes that use POST only because they need a body, and that change nothing.
const READ_ONLY_POSTS: [&str; 3] = ["/api/v1/check", "/api/v1/pair", "/api/v1/clusters"];

/// Content security policy of the page: the browser loads only files of this server, and turns no string into
/// a script or into HTML.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'",
);

fn api_routes() -> OpenApiRouter<SharedState> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(stats::stats))
        .routes(routes!(documents::list, documents::add))
        .routes(routes!(document::get, document::put, document::delete))
        .routes(routes!(document::similar))
        .routes(routes!(check::check))
        .routes(routes!(pair::pair))
        .routes(routes!(clusters::begin))
        .routes(routes!(jobs::get))
}

pub(crate) fn description() -> OpenApi {
    with_facts(api_routes().split_for_parts().1)
}

/// Adds the parts of the description that the routes do not state: the introduction, tokens, problems, tags
/// and the path.
fn with_facts(mut api: OpenApi) -> OpenApi {
    let mut info = Info::new("Minwise", env!("CARGO_PKG_VERSION"));
    let about = "An archive of documents, against which new documents are checked for shared text. Offsets are bytes of the \
                 UTF-8 text. Counts for Prometheus are at `/metrics` of the server, outside of this API.\n\n\
                 A token is a word, or one character of a script without spaces. A shingle is a number of tokens in a \
                 row, five unless the archive was created with another setting. The containment of a text in another text \
                 is the share of its shingles that the other text has, too. The Jaccard similarity of two texts is the number \
                 of shingles that both have, divided by the number of shingles that at least one of them has. A passage is a \
                 stretch of text that two texts share. Text that options of a check ignore is left out: its shingles do not count.";
    info.description = Some(about.to_owned());
    api.info = info;
    // A server without `--tokens` needs no token, so the security of the API lists two alternatives: none,
    // and a token.
    let mut token = Http::new(HttpAuthScheme::Bearer);
    token.description = Some("Access token, if the server was started with `--tokens`.".to_owned());
    api.components.get_or_insert_default().add_security_scheme(TOKEN, SecurityScheme::Http(token));
    for schema in api.components.get_or_insert_default().schemas.values_mut() {
        if let RefOr::T(Schema::Object(object)) = schema {
            object.properties.values_mut().for_each(describe_default);
        }
    }
    let problem = Problem::name().into_owned();
    api.components.get_or_insert_default().schemas.insert(problem.clone(), Problem::schema());
    let failed = ResponseBuilder::new()
        .description("The call failed; `code` is the reason.")
        .content("application/problem+json", Content::new(Some(Ref::from_schema_name(problem))))
        .build();
    for path in api.paths.paths.values_mut() {
        let operations = [&mut path.get, &mut path.put, &mut path.post, &mut path.delete];
        for operation in operations.into_iter().flatten() {
            operation.responses.responses.insert("default".to_owned(), failed.clone().into());
            // The body is not marked as required, although the server rejects a call without it. If a body of
            // several types is required, `openapi-python-client` 0.28 and later leave out an import (its
            // issue 1451), and the client does not load.
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && body.content.len() > 1
            {
                body.required = None;
            }
        }
    }
    let tag = |(name, description): (&str, &str)| {
        let mut tag = Tag::new(name);
        tag.description = Some(description.to_owned());
        tag
    };
    api.tags = Some(TAGS.map(tag).into());
    let security = [SecurityRequirement::default(), SecurityRequirement::new(TOKEN, [""; 0])];
    OpenApiBuilder::from(api).servers(Some([Server::new(API)])).security(Some(security)).build()
}

/// Moves the default of a field into its description.
// `openapi-typescript` makes every field with a `default` required, so callers would have to send all
// options.
fn describe_default(field: &mut RefOr<Schema>) {
    let (default, description) = match field {
        RefOr::T(Schema::Object(object)) => (&mut object.default, &mut object.description),
        RefOr::T(Schema::Array(array)) => (&mut array.default, &mut array.description),
        RefOr::T(Schema::OneOf(one)) => (&mut one.default, &mut one.description),
        _ => return,
    };
    let is_nothing = |default: &Value| match default {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let is_described = description.as_ref().is_some_and(|words| words.contains("Default: "));
    if let Some(default) = default.take().filter(|default| !is_nothing(default) && !is_described) {
        let description = description.get_or_insert_default();
        if !description.contains("Default: ") {
            let _ = write!(description, " Default: {default}.");
        }
    }
}

/// Returns the router of a server: the API, its description, the metrics and the files of the page.
pub(crate) fn router(state: SharedState) -> Router {
    let (routes, api) = api_routes().split_for_parts();
    // The description has only strings, numbers and lists, so encoding it cannot fail.
    let api = axum::body::Bytes::from(with_facts(api).to_json().unwrap_or_default());
    let routes = routes.route("/openapi.json", get(move || std::future::ready(description_answer(&api))));
    let mut app = Router::new()
        .nest(API, routes)
        .route("/metrics", get(metrics::metrics))
        .route("/assets/{*path}", get(page::asset));
    for address in page::PAGES {
        app = app.route(address, get(page::page));
    }
    with_layers(app, state)
}

/// Adds the layers that every request passes.
fn with_layers(app: Router<SharedState>, state: SharedState) -> Router {
    app.fallback(|| std::future::ready(Problem::from(ProblemKind::NoSuchAddress)))
        .method_not_allowed_fallback(|| std::future::ready(Problem::from(ProblemKind::MethodNotAllowed)))
        .layer(DefaultBodyLimit::max(state.archive.limits.body_bytes))
        .layer(CatchPanicLayer::custom(|_| Problem::from(ProblemKind::Internal).into_response()))
        .layer(from_fn_with_state(state.clone(), admit))
        .layer(from_fn(show_problems_as_html))
        // Compression is outside of `admit`, so that the memory reserved for an answer is released only after
        // its last byte is compressed and written.
        .layer(compression())
        .layer(from_fn_with_state(state.clone(), observe))
        .with_state(state)
}

/// Minimum size in bytes of a compressed answer. A smaller answer fits into one packet anyway.
const LEAST_COMPRESSED: u64 = 1024;

/// Compresses answers for clients that accept it.
// The level is the fastest, because compressing a pair of 1.7 MB must not block a thread that serves other
// connections.
fn compression() -> CompressionLayer<impl Predicate> {
    let large = DefaultPredicate::new().and(SizeAbove::new(LEAST_COMPRESSED));
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(large)
}

/// Returns the router that serves while the archive is being opened. This router serves the files of the
/// page, and answers all other requests with the problem `opening`.
pub(crate) fn while_opening(detail: &str) -> Router {
    let problem = Problem::new(ProblemKind::Opening, detail).retry_after(2);
    let headers = |mut response: Response| async {
        secure(response.headers_mut());
        response
    };
    Router::new()
        .route("/assets/{*path}", get(page::asset))
        .fallback(move || std::future::ready(problem.clone()))
        .layer(from_fn(show_problems_as_html))
        .layer(axum::middleware::map_response(headers))
}

/// Reports whether programs use this address. Problems at such an address are JSON even for browsers.
fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/") || path == "/metrics"
}

/// Reports whether the client accepts HTML, as browsers do when a person opens an address.
fn accepts_html(headers: &HeaderMap) -> bool {
    let named = |accept: &HeaderValue| accept.to_str().is_ok_and(|accept| accept.contains("text/html"));
    headers.get_all(ACCEPT).iter().any(named)
}

/// Replaces a problem by its HTML form if a person opens the address in a browser.
async fn show_problems_as_html(request: Request, next: Next) -> Response {
    let is_browser = request.method().is_safe()
        && !is_for_programs(request.uri().path())
        && accepts_html(request.headers());
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) if is_browser => page::problem(&problem),
        _ => response,
    }
}

fn description_answer(api: &axum::body::Bytes) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(axum::http::header::CONTENT_TYPE, json)], api.clone()).into_response()
}

/// Returns the right that a request needs. Routes need the right to write unless they are listed as changing
/// nothing.
fn needed_right(method: &Method, path: &str) -> Right {
    if method.is_safe() || READ_ONLY_POSTS.contains(&path) { Right::Read } else { Right::Write }
}

/// Passes a request to its route if its host, origin, token and rate allow it and a place is free; otherwise
/// returns a problem.
async fn admit(
    At(state): At<SharedState>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    state.access.check_host(request.headers())?;
    let path = request.uri().path();
    if !is_for_programs(path) {
        // The files of the page are public, because everything confidential comes from the API.
        return Ok(next.run(request).await);
    }
    // The site is checked before the request is counted, so that another site cannot use up the request rate
    // of the person at the browser.
    state.access.check_site(request.headers())?;
    let right = needed_right(request.method(), path);
    let (client, allowed) = state.access.judge(request.headers(), right, peer.ip());
    // Requests with a wrong token count, too, so that the rate limits guessing.
    state.gate.count(client)?;
    allowed?;
    let place = state.gate.enter()?;
    let answer = async {
        let answer = next.run(request).await;
        let bytes = answer.body().size_hint().exact().unwrap_or_default();
        let mut held = state.gate.hold();
        held.grow(usize::try_from(bytes).unwrap_or(usize::MAX)).await?;
        Ok(answer.map(|body| HoldingBody::body(body, (place, held))))
    };
    let answer = tokio::time::timeout(state.archive.limits.time, answer).await;
    answer.unwrap_or_else(|_| Err(Problem::from(ProblemKind::TooSlow).retry_after(5)))
}

/// Guard that counts a request as in flight. The guard is dropped when the answer is ready or the client
/// disconnects.
struct InFlight<'s>(&'s Gauge);

impl<'s> InFlight<'s> {
    fn new(count: &'s Gauge) -> Self {
        count.inc();
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Counts and logs a request, and sets the headers that all answers have.
async fn observe(
    At(state): At<SharedState>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let metrics = &state.archive.metrics;
    let in_flight = InFlight::new(&metrics.in_flight);
    let mut response = next.run(request).await;
    drop(in_flight);
    if !method.is_safe() {
        state.upkeep.merge_if_due();
    }
    let (status, time) = (response.status().as_u16(), begun.elapsed());
    // A client may invent methods, and each label would take memory, so unknown methods share one label.
    let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE].contains(&method);
    metrics.answered(&route, if known { method.as_str() } else { "other" }, status, time);
    state.archive.log(&json!({
        "event": "request", "method": method.as_str(), "path": path, "status": status,
        "elapsed_ms": time.as_secs_f64() * 1e3, "peer": peer.ip().to_string(),
    }));
    secure(response.headers_mut());
    response
}

/// Sets the headers that all answers have.
fn secure(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ] {
        headers.insert(name, value);
    }
    // Documents are confidential, so no cache may keep them.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::body::Body;
    use minwise_index::{Index, IndexSettings};
    use tower::ServiceExt;

    use super::*;
    use crate::auth::Access;
    use crate::lanes::Lane;
    use crate::limits::ServerLimits;
    use crate::state::ServerState;

    #[test]
    fn a_panic_is_a_problem_and_the_server_goes_on() {
        async fn broken() -> Response {
            panic!("on purpose")
        }
        async fn broken_behind(At(state): At<SharedState>) -> Result<Response, Problem> {
            state.run(Lane::Read, |_, _| panic!("on purpose, on another thread")).await
        }
        let folder = tempfile::tempdir().unwrap();
        let index = Index::create(folder.path().join("archive"), &IndexSettings::default()).unwrap();
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&notes);
        let log = Box::new(move |event: &Value| log.lock().unwrap().push(event["event"].to_string()));
        let state = ServerState::new(index, Access::Local, ServerLimits::default(), log);
        let app = Router::new().route("/broken", get(broken)).route("/behind", get(broken_behind));
        let app = with_layers(app.route("/whole", get(|| async { "whole" })), state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (path, status) in [("/broken", 500), ("/behind", 500), ("/whole", 200)] {
            let request = Request::get(path).header("host", "localhost");
            let request = request.extension(SocketAddr::from(([127, 0, 0, 1], 1)));
            let answer = runtime.block_on(app.clone().oneshot(request.body(Body::empty()).unwrap())).unwrap();
            assert_eq!(answer.status(), status, "{path}");
        }
        assert_eq!(*notes.lock().unwrap(), ["\"request\"", "\"error\"", "\"request\"", "\"request\""]);
    }
}
