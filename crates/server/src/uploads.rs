//! Bodies as they arrive, and the text of the files among them.
//!
//! A body is held in memory while it is worked on, and all of them together within a bound ([`Limits::held_bytes`]). The name
//! of a file is a name and nothing else: no path of a client is ever opened.
//!
//! [`Limits::held_bytes`]: crate::Limits::held_bytes

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Multipart, Request, multipart::MultipartError};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use minwise_corpus::{Extracted, Limits as FileLimits, Refusal};
use minwise_index::{Mark, NewDocument};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use crate::problem::{Kind, Problem};
use crate::state::Shared;
use crate::wire;

/// The body of a request, whole.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) content: Content,
    /// Its part of the memory for bodies.
    pub(crate) held: OwnedSemaphorePermit,
}

/// What a body is.
#[derive(Debug)]
pub(crate) enum Content {
    /// JSON that was not looked at yet.
    Json(Bytes),
    /// Files of a form, with the JSON beside them.
    Files { files: Vec<File>, options: Option<Bytes> },
}

/// A file that was sent.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
}

impl FromRequest<Shared> for Received {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Problem> {
        let headers = request.headers();
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let kind = header(CONTENT_TYPE).and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        let length = header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let is_form = kind.eq_ignore_ascii_case("multipart/form-data");
        if !is_form && !kind.eq_ignore_ascii_case("application/json") {
            let hint = "send `application/json` or, with files, `multipart/form-data`";
            return Err(Problem::from(Kind::UnsupportedType).hint(hint));
        }
        // Whoever does not say how much it is may send as much as there can be.
        let limit = state.limits.body_bytes;
        let bytes = length.unwrap_or(limit);
        if bytes > limit {
            return Err(too_large(limit));
        }
        let held = state.gate.hold(bytes).await?;
        let content = if is_form {
            files(request, limit).await?
        } else {
            let body = Bytes::from_request(request, state).await;
            Content::Json(body.map_err(|refused| unread(refused.status(), refused.body_text(), limit))?)
        };
        Ok(Self { content, held })
    }
}

async fn files(request: Request, limit: usize) -> Result<Content, Problem> {
    let unread = |error: MultipartError| unread(error.status(), error.body_text(), limit);
    let form = Multipart::from_request(request, &()).await;
    let mut form = form.map_err(|refused| Problem::new(Kind::BadBody, refused.body_text()))?;
    let (mut files, mut options) = (vec![], None);
    while let Some(part) = form.next_field().await.map_err(unread)? {
        match part.name() {
            Some("file") => {
                let name = part.file_name().unwrap_or_default().to_owned();
                files.push(File { name, bytes: part.bytes().await.map_err(unread)? });
            }
            Some("options") => options = Some(part.bytes().await.map_err(unread)?),
            _ => {
                let detail = "a part of the form is neither `file` nor `options`";
                return Err(Problem::new(Kind::BadBody, detail));
            }
        }
    }
    Ok(Content::Files { files, options })
}

fn unread(status: StatusCode, words: String, limit: usize) -> Problem {
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        too_large(limit)
    } else {
        Problem::new(Kind::BadBody, words)
    }
}

fn too_large(limit: usize) -> Problem {
    let hint = "send documents one by one, or fewer at a time";
    Problem::new(Kind::BodyTooLarge, format!("A body may have {limit} bytes.")).hint(hint)
}

/// The value that a body of JSON stands for.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::new(Kind::BadBody, error.to_string()))
}

impl Content {
    /// The value of a body that has to be JSON.
    pub(crate) fn value<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        match self {
            Self::Json(body) => json(body),
            Self::Files { .. } => Err(Problem::from(Kind::UnsupportedType)
                .hint("files are not taken here, send `application/json`")),
        }
    }
}

/// What a file may cost.
pub(crate) fn file_limits(body_bytes: usize, time: Duration) -> FileLimits {
    let limits = FileLimits::default();
    FileLimits { bytes: body_bytes as u64, time, ..limits }
}

/// The document that a file stands for, under its name.
pub(crate) fn document(file: &File, limits: &FileLimits) -> Result<NewDocument, Refusal> {
    let Extracted { text, title, metadata, marks, .. } =
        minwise_corpus::extract(&file.bytes, Some(&file.name), limits)?;
    let marks = if marks.is_empty() { Mark::pages(&text) } else { wire::marks_of_file(&marks) };
    let metadata = metadata.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    Ok(NewDocument { id: file.name.clone(), text, title, metadata, marks })
}
