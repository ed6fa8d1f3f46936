//! Bodies of requests: JSON, or a form with files.
//!
//! A body is held in memory as long as work needs it. `ServerLimits::held_bytes` limits the memory of all
//! bodies together.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request, multipart::MultipartError};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;
use minwise::figure::grouped;
use serde::de::DeserializeOwned;

use crate::files::UploadedFile;
use crate::limits::HeldMemory;
use crate::problem::{Problem, ProblemKind};
use crate::state::SharedState;

/// Maximum number of bytes of a rejected body that are read and discarded. Most clients read no answer before
/// they have sent the whole body, and report a broken connection if the server stops reading.
const DRAINED_BYTES: usize = 256 << 20;

/// The whole body of a request.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) content: BodyContent,
    /// Memory that is reserved for the body.
    pub(crate) held: HeldMemory,
}

#[derive(Debug)]
pub(crate) enum BodyContent {
    /// JSON that is not parsed yet.
    Json(Bytes),
    /// The files of a form, with the JSON of its part `options`.
    Files { files: Vec<UploadedFile>, options: Option<Bytes> },
}

impl FromRequest<SharedState> for Received {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &SharedState) -> Result<Self, Problem> {
        let (parts, mut body) = request.into_parts();
        let received = match check_headers(&parts.headers, state.archive.limits.body_bytes) {
            Ok(()) => read_whole(&mut body, state).await,
            // With `Expect: 100-continue`, the client has not begun to send the body, so there is nothing to drain.
            Err(problem) if parts.headers.contains_key(EXPECT) => return Err(problem),
            Err(problem) => Err(problem),
        };
        let (bytes, held) = match received {
            Ok(received) => received,
            Err(problem) => {
                drain(&mut body).await;
                return Err(problem);
            }
        };
        let content = if is_form(&parts.headers) {
            read_form(Request::from_parts(parts, Body::from(bytes))).await?
        } else {
            BodyContent::Json(bytes)
        };
        Ok(Self { content, held })
    }
}

fn media_type(headers: &HeaderMap) -> &str {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim()
}

fn is_form(headers: &HeaderMap) -> bool {
    media_type(headers).eq_ignore_ascii_case("multipart/form-data")
}

/// Returns a problem if a body has another type or, by its headers, is too large.
fn check_headers(headers: &HeaderMap, limit: usize) -> Result<(), Problem> {
    if !is_form(headers) && !media_type(headers).eq_ignore_ascii_case("application/json") {
        return Err(ProblemKind::UnsupportedType.into());
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) { Err(too_large(limit)) } else { Ok(()) }
}

/// Reads a body. Memory is reserved as bytes arrive, so that a client that only announces a large body
/// reserves no memory.
async fn read_whole(body: &mut Body, state: &SharedState) -> Result<(Bytes, HeldMemory), Problem> {
    let limit = state.archive.limits.body_bytes;
    let mut held = state.gate.hold();
    let mut bytes = vec![];
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Problem::new(ProblemKind::BadBody, error.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        held.grow(bytes.len() + data.len()).await?;
        bytes.extend_from_slice(&data);
    }
    Ok((bytes.into(), held))
}

/// Reads and discards at most about `DRAINED_BYTES` of a rejected body, so that its client reads the answer.
async fn drain(body: &mut Body) {
    let mut left = DRAINED_BYTES;
    while left > 0
        && let Some(Ok(frame)) = body.frame().await
    {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
    }
}

/// Reads the files and the options of a form.
async fn read_form(request: Request) -> Result<BodyContent, Problem> {
    let unread = |error: MultipartError| Problem::new(ProblemKind::BadBody, error.body_text());
    let form = Multipart::from_request(request, &()).await;
    let mut form = form.map_err(|refused| Problem::new(ProblemKind::BadBody, refused.body_text()))?;
    let (mut files, mut options) = (vec![], None);
    while let Some(part) = form.next_field().await.map_err(unread)? {
        match part.name() {
            Some("file") => {
                let name = part.file_name().unwrap_or_default().to_owned();
                files.push(UploadedFile { name, bytes: part.bytes().await.map_err(unread)? });
            }
            Some("options") => options = Some(part.bytes().await.map_err(unread)?),
            _ => {
                let detail = "a part of the form is neither `file` nor `options`";
                return Err(Problem::new(ProblemKind::BadBody, detail));
            }
        }
    }
    if files.is_empty() {
        return Err(Problem::new(ProblemKind::BadBody, "The form has no part `file`."));
    }
    Ok(BodyContent::Files { files, options })
}

fn too_large(limit: usize) -> Problem {
    Problem::new(ProblemKind::BodyTooLarge, format!("A body may have {} bytes.", grouped(limit as u64)))
}

/// Parses a body of JSON.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::new(ProblemKind::BadBody, error.to_string()))
}

impl BodyContent {
    /// Parses a body that must be JSON.
    pub(crate) fn value<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        match self {
            Self::Json(body) => json(body),
            Self::Files { .. } => Err(Problem::from(ProblemKind::UnsupportedType)
                .hint("files are not taken here, send `application/json`")),
        }
    }
}
