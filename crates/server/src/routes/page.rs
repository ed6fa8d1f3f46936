//! The page: the files of `web/`, which are part of the program.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::problem::{Problem, ProblemKind};

/// The addresses that the page shows something at.
pub(crate) const PAGES: [&str; 7] =
    ["/", "/check", "/archive", "/document/{id}", "/pair", "/clusters", "/overview"];

#[derive(RustEmbed)]
#[folder = "web"]
struct Web;

/// The page itself.
pub(crate) async fn page(headers: HeaderMap) -> Result<Response, Problem> {
    file("index.html", &headers)
}

/// A file of the page.
pub(crate) async fn asset(
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // What is no text is no name of a file either.
    file(&path.map_err(|_| ProblemKind::NoSuchAddress)?, &headers)
}

fn file(path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let file = Web::get(path).ok_or(ProblemKind::NoSuchAddress)?;
    let kind = match path.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        _ => "image/svg+xml",
    };
    let hash = file.metadata.sha256_hash();
    let [first, ..] = hash.as_chunks().0 else { return Err(ProblemKind::Internal.into()) };
    let tag = format!("\"{:032x}\"", u128::from_be_bytes(*first));
    let tag = HeaderValue::from_str(&tag).map_err(|_| ProblemKind::Internal)?;
    // Names do not change with what is in a file, so a browser asks each time, and is told that it has it already.
    let known = headers.get_all(IF_NONE_MATCH).iter().any(|known| known == tag);
    let about = [
        (ETAG, tag),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
    ];
    Ok(if known {
        (StatusCode::NOT_MODIFIED, about).into_response()
    } else {
        (about, file.data).into_response()
    })
}
