//! Whether the server answers.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::sent;
use crate::problem::Problem;
use crate::state::Shared;

/// That the server answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    documents: u64,
    /// Bytes that the body of a request may have.
    body_bytes: usize,
    version: &'static str,
}

/// Ask whether the server answers.
#[utoipa::path(get, path = "/health", tag = "archive",
    responses((status = 200, body = Health), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn health(At(state): At<Shared>) -> Result<Response, Problem> {
    let numbers = state.run_quick(|state| state.told(state.index.statistics())).await?;
    let health = Health {
        status: "ok",
        documents: numbers.documents,
        body_bytes: state.limits.body_bytes,
        version: env!("CARGO_PKG_VERSION"),
    };
    sent(StatusCode::OK, &health)
}
