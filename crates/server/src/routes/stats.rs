//! The archive in numbers.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::Texts;
use serde::Serialize;
use utoipa::ToSchema;

use super::sent;
use crate::overview::{Month, Overview, Similarities};
use crate::problem::Problem;
use crate::state::Shared;

/// The archive in numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatsSent {
    documents: u64,
    text_bytes: u64,
    disk_bytes: u64,
    spec: String,
    /// Tokens of a shared passage that is certain to be found.
    passage: usize,
    bands: usize,
    rows: usize,
    text_kept: bool,
    /// Changes so far.
    sequence: u64,
    version: &'static str,
    /// None while it is not known.
    similarities: Option<Similarities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added_by_month: Option<Vec<Month>>,
}

/// Show the archive in numbers.
#[utoipa::path(get, path = "/stats", tag = "archive",
    responses((status = 200, body = StatsSent), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn stats(At(state): At<Shared>) -> Result<Response, Problem> {
    let numbers = state.run(|state| state.told(state.index.statistics())).await?;
    let seen = Overview::at(&state, numbers.changes).await;
    let settings = state.index.settings();
    let answer = StatsSent {
        documents: numbers.documents,
        text_bytes: numbers.text_bytes,
        disk_bytes: numbers.disk_bytes,
        spec: settings.spec.to_string(),
        passage: settings.passage,
        bands: settings.bands,
        rows: settings.rows,
        text_kept: settings.texts == Texts::Kept,
        sequence: numbers.changes,
        version: env!("CARGO_PKG_VERSION"),
        similarities: seen.as_ref().map(|seen| seen.similarities.clone()),
        added_by_month: seen.map(|seen| seen.added_by_month.clone()),
    };
    sent(StatusCode::OK, &answer)
}
