//! Documents of the archive that belong together, found by a job.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::{Cluster, Clusters, Fault};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::documents::StartedJob;
use super::sent;
use crate::jobs::{JobKind, Jobs};
use crate::problem::{Problem, ProblemKind};
use crate::shutdown::Phase;
use crate::state::SharedState;
use crate::uploads::Received;

/// Clusters that are told, and members of each: what is more, nobody reads on a page.
const CLUSTERS: usize = 1000;
const MEMBERS: usize = 1000;

/// Which documents form a cluster.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ClustersRequest)]
pub(crate) struct ClustersRequest {
    /// Minimum Jaccard similarity of a document to the keeper of its cluster: above 0 and at most 1.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    threshold: f64,
}

/// The clusters of the archive.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Clusters)]
pub(crate) struct ClustersSent {
    /// The clusters, largest first, up to 1000.
    clusters: Vec<ClusterSent>,
    /// Number of clusters that are not in the list.
    further: usize,
    /// Number of documents in all clusters.
    documents: u64,
    /// Minimum Jaccard similarity of a document to the keeper of its cluster.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    threshold: f64,
    /// Minimum probability that a document exactly at the threshold is found.
    #[schema(minimum = 0, maximum = 1)]
    recall_at_threshold: f64,
    /// Number of documents that share a band with so many others that later documents were not compared with them by this band.
    left_out: u64,
}

/// Documents that are similar to one of them, the keeper.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Cluster)]
pub(crate) struct ClusterSent {
    /// Number of documents in the cluster.
    size: usize,
    /// Id of the keeper, the document that was added first.
    keeper: String,
    /// The keeper, then the others, most similar first, up to 1000.
    members: Vec<MemberSent>,
}

/// A document of a cluster.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ClusterMember)]
pub(crate) struct MemberSent {
    /// Id of the document.
    id: String,
    /// Title of the document, or null.
    #[schema(required = true)]
    title: Option<String>,
    /// Exact Jaccard similarity to the keeper; 1 for the keeper itself.
    #[schema(minimum = 0, maximum = 1)]
    similarity: f64,
}

impl From<Cluster> for ClusterSent {
    fn from(cluster: Cluster) -> Self {
        let size = cluster.members.len() + 1;
        let keeper = cluster.keeper.id.clone();
        let first = MemberSent { id: cluster.keeper.id, title: cluster.keeper.title, similarity: 1.0 };
        let others = cluster.members.into_iter().map(|member| MemberSent {
            id: member.entry.id,
            title: member.entry.title,
            similarity: member.similarity,
        });
        Self { size, keeper, members: std::iter::once(first).chain(others).take(MEMBERS).collect() }
    }
}

/// Find the clusters of the archive.
///
/// The search runs as a job. Until the archive changes, a call with the same threshold returns the same job.
#[utoipa::path(post, path = "/clusters", operation_id = "find_clusters", tag = "clusters",
    request_body(description = "The threshold of the clusters", content = ClustersRequest),
    responses((status = 202, description = "A job finds the clusters; its `result` is `Clusters`", body = StartedJob)))]
pub(crate) async fn begin(At(state): At<SharedState>, received: Received) -> Result<Response, Problem> {
    let ClustersRequest { threshold } = received.content.value()?;
    minwise::candidate::tune::check_threshold(threshold)
        .map_err(|error| Problem::new(ProblemKind::BadSetting, error.to_string()))?;
    let changes = state.run(|state| state.told(state.index.statistics())).await?.changes;
    let same = Some((changes, threshold.to_bits()));
    let until = state.end.until(Phase::Stopping);
    let job = Jobs::begin(&state, JobKind::Clusters, same, until, move |state, job| {
        let found = state.index.clusters(threshold, CLUSTERS, job);
        let found = match found {
            Err(error) if error.kind().fault() == Fault::Busy => return Err(ProblemKind::Stopping.into()),
            found => state.told(found)?,
        };
        let Clusters { clusters, further, documents, recall_at_threshold, left_out, .. } = found;
        let clusters = clusters.into_iter().map(ClusterSent::from).collect();
        Ok(ClustersSent { clusters, further, documents, threshold, recall_at_threshold, left_out })
    })?;
    sent(StatusCode::ACCEPTED, &StartedJob { job })
}
