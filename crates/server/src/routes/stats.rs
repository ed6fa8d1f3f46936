//! `GET /stats`: the archive in numbers.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::Texts;
use serde::Serialize;
use utoipa::ToSchema;

use super::json_answer;
use crate::lanes::Lane;
use crate::overview::{Month, SimilarityHistogram};
use crate::problem::Problem;
use crate::state::SharedState;

/// The archive in numbers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stats)]
pub(crate) struct StatsAnswer {
    /// Number of documents.
    documents: u64,
    /// Number of bytes of all texts.
    text_bytes: u64,
    /// Number of bytes of the archive on disk.
    disk_bytes: u64,
    /// Settings by which texts become shingles and sketches.
    spec: String,
    /// Minimum length of a shared passage that a check always finds, in tokens.
    passage: usize,
    /// Number of bands of a sketch.
    bands: usize,
    /// Number of rows of a band.
    rows: usize,
    /// Whether the archive keeps texts.
    text_kept: bool,
    /// Number of changes of the archive so far.
    sequence: u64,
    /// Version of the server.
    version: &'static str,
    /// Histogram of similarities in a sample of documents; null until the histogram is known.
    #[schema(required = true)]
    similarities: Option<SimilarityHistogram>,
    /// Number of added documents per month, in ascending order; absent until the numbers are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    added_by_month: Option<Vec<Month>>,
}

/// Get the archive in numbers.
#[utoipa::path(get, path = "/stats", operation_id = "get_stats", tag = "archive",
    responses((status = 200, description = "The archive in numbers.", body = StatsAnswer)))]
pub(crate) async fn stats(At(state): At<SharedState>) -> Result<Response, Problem> {
    let numbers = state.run(Lane::Read, |archive, _| archive.statistics()).await?;
    let overview = state.overview.after(numbers.changes).await;
    let settings = state.archive.index.settings();
    let answer = StatsAnswer {
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
        similarities: overview.as_ref().map(|overview| overview.similarities.clone()),
        added_by_month: overview.map(|overview| overview.added_by_month.clone()),
    };
    json_answer(StatusCode::OK, &answer)
}
