//! Routes of the API and of the page. Each route decodes a request, calls the archive on a thread of one of
//! the [`lanes`](crate::lanes), and encodes the answer. There is one file per kind of call, and one for the
//! page.

#[allow(unused_qualifications, reason = "the macro that describes a call names its types by their paths")]
pub(crate) mod check;
pub(crate) mod clusters;
#[allow(unused_qualifications, reason = "the macro that describes parameters names them by their paths")]
pub(crate) mod document;
#[allow(unused_qualifications, reason = "the macro that describes parameters names them by their paths")]
pub(crate) mod documents;
pub(crate) mod health;
pub(crate) mod jobs;
pub(crate) mod metrics;
pub(crate) mod page;
pub(crate) mod pair;
pub(crate) mod parameters;
pub(crate) mod stats;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::problem::{Problem, ProblemKind};

/// Encodes an answer as JSON.
// Work calls `json_answer` on its own thread, because encoding a long answer would block a thread that serves
// other connections.
fn json_answer(status: StatusCode, answer: &impl Serialize) -> Result<Response, Problem> {
    let body =
        serde_json::to_vec(answer).map_err(|error| Problem::new(ProblemKind::Internal, error.to_string()))?;
    let json = HeaderValue::from_static("application/json");
    Ok((status, [(CONTENT_TYPE, json)], body).into_response())
}
