//! `POST /clusters`: starts a job that finds the clusters of the archive.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::jobs::StartedJob;
use super::json_answer;
use crate::archive::check_cluster_threshold;
use crate::lanes::Lane;
use crate::problem::Problem;
use crate::state::SharedState;
use crate::uploads::Received;

/// Condition under which documents form a cluster.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ClustersRequest)]
pub(crate) struct ClustersRequest {
    /// Minimum Jaccard similarity of a document to the keeper of its cluster: above 0 and at most 1.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    threshold: f64,
}

/// Find the clusters of the archive.
///
/// The search runs as a job. Until the archive changes, a call with the same threshold returns the same job.
#[utoipa::path(post, path = "/clusters", operation_id = "find_clusters", tag = "clusters",
    request_body(description = "The threshold of the clusters.", content = ClustersRequest),
    responses((status = 202, description = "A job finds the clusters; its `result` is `Clusters`.", body = StartedJob)))]
pub(crate) async fn begin(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let ClustersRequest { threshold } = received.content.value()?;
    check_cluster_threshold(threshold)?;
    let changes = state.run(Lane::Read, |archive, _| archive.statistics()).await?.changes;
    let job = state.jobs.find_clusters(threshold, changes)?;
    json_answer(StatusCode::ACCEPTED, &StartedJob { job })
}
