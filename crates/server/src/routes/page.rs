//! The page: the files of the folder `web`, which are embedded in the program.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::problem::{Problem, ProblemKind};

/// Addresses of the views of the page.
pub(crate) const PAGES: [&str; 7] =
    ["/", "/check", "/archive", "/document/{id}", "/pair", "/clusters", "/overview"];

#[derive(RustEmbed)]
#[folder = "web"]
struct Web;

/// Answers with the page itself.
pub(crate) async fn page(headers: HeaderMap) -> Result<Response, Problem> {
    file("index.html", &headers)
}

/// Answers with a file of the page.
pub(crate) async fn asset(
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // A path that is not UTF-8 names no file of the page.
    file(&path.map_err(|_| ProblemKind::NoSuchAddress)?, &headers)
}

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// Shows a problem as HTML. For an unknown address, the answer is the page itself, because the page links to
/// all known addresses.
pub(crate) fn problem(problem: &Problem) -> Response {
    let status = problem.status();
    if let Some(page) = Web::get("index.html").filter(|_| status == StatusCode::NOT_FOUND) {
        return (status, [(CONTENT_TYPE, HTML)], page.data).into_response();
    }
    let (title, detail, hint) = problem.sentences();
    let paragraph = |words: &str| format!("<p>{}</p>\n", escaped(words));
    let again = if problem.code == "opening" { "<meta http-equiv=\"refresh\" content=\"2\">\n" } else { "" };
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n{again}<title>{title} · Minwise</title>\n\
         <link rel=\"icon\" href=\"/assets/icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"/assets/style/colours.css\">\n\
         <link rel=\"stylesheet\" href=\"/assets/style/base.css\">\n\
         <link rel=\"stylesheet\" href=\"/assets/style/shell.css\">\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<div class=\"notice\">\n{}{}</div>\n</main>\n</body>\n</html>\n",
        detail.map(paragraph).unwrap_or_default(),
        paragraph(hint),
        title = escaped(title),
    );
    let mut response = (status, [(CONTENT_TYPE, HTML)], page).into_response();
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
    // The tag is weak, because the compressed file has the same tag as the file.
    let tag = format!("W/\"{:032x}\"", u128::from_be_bytes(*first));
    let tag = HeaderValue::from_str(&tag).map_err(|_| ProblemKind::Internal)?;
    // Browsers must ask each time, because the name of a file stays the same when its content changes. The
    // answer 304 saves the transfer.
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
