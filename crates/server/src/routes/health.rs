//! `GET /health`: whether the server answers.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::json_answer;
use crate::lanes::Lane;
use crate::problem::Problem;
use crate::state::SharedState;

/// State of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// Number of documents in the archive.
    documents: u64,
    /// Maximum size of a request body in bytes.
    body_bytes: usize,
    /// Version of the server.
    version: &'static str,
}

/// Check that the server answers.
#[utoipa::path(get, path = "/health", operation_id = "get_health", tag = "archive",
    responses((status = 200, description = "The server answers.", body = Health)))]
pub(crate) async fn health(At(state): At<SharedState>) -> Result<Response, Problem> {
    let numbers = state.run(Lane::Quick, |archive, _| archive.statistics()).await?;
    let health = Health {
        status: "ok",
        documents: numbers.documents,
        body_bytes: state.archive.limits.body_bytes,
        version: env!("CARGO_PKG_VERSION"),
    };
    json_answer(StatusCode::OK, &health)
}
