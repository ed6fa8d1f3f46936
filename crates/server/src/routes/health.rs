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
    version: &'static str,
}

/// Ask whether the server answers.
#[utoipa::path(get, path = "/health", tag = "archive",
    responses((status = 200, body = Health), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn health(At(state): At<Shared>) -> Result<Response, Problem> {
    let numbers = state.run(|state| state.told(state.index.statistics())).await?;
    sent(
        StatusCode::OK,
        &Health { status: "ok", documents: numbers.documents, version: env!("CARGO_PKG_VERSION") },
    )
}
