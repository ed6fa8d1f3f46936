//! Documents of the archive that belong together, found by a job.

use axum::extract::State as At;
use axum::http::StatusCode;
use axum::response::Response;
use minwise_index::{Cluster, Clusters, Fault};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::documents::Begun;
use super::sent;
use crate::jobs::{JobKind, Jobs};
use crate::problem::{Kind, Problem};
use crate::shutdown::Phase;
use crate::state::Shared;
use crate::uploads::Received;

/// Clusters that are told, and members of each: what is more, nobody reads on a page.
const CLUSTERS: usize = 1000;
const MEMBERS: usize = 1000;

/// Which documents belong together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Together {
    /// Those with at least this similarity to a keeper.
    threshold: f64,
}

/// The clusters of the archive.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClustersSent {
    /// The largest first, up to 1000.
    clusters: Vec<ClusterSent>,
    /// How many there are beyond those.
    further: usize,
    /// Documents of all clusters.
    documents: u64,
    threshold: f64,
    /// The probability with which a document exactly at the threshold to a keeper is found; above it, it is more.
    recall_at_threshold: f64,
    /// Documents that are like none before them, and share a band with so many such documents that later ones were not compared with
    /// them by it.
    left_out: u64,
}

/// Documents that are similar to one of them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClusterSent {
    /// All its documents.
    size: usize,
    /// The id of the one that was added first.
    keeper: String,
    /// The keeper, then the others, the most similar first, up to 1000.
    members: Vec<MemberSent>,
}

/// A document of a cluster.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemberSent {
    id: String,
    title: Option<String>,
    /// The exact Jaccard similarity to the keeper.
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

/// Look for clusters.
#[utoipa::path(post, path = "/clusters", tag = "clusters", request_body = Together,
    responses((status = 202, description = "A job looks for them; its result is `ClustersSent`", body = Begun),
        (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn begin(At(state): At<Shared>, received: Received) -> Result<Response, Problem> {
    let Together { threshold } = received.content.value()?;
    minwise::candidate::tune::check_threshold(threshold)
        .map_err(|error| Problem::new(Kind::BadOption, error.to_string()))?;
    let changes = state.run(|state| state.told(state.index.statistics())).await?.changes;
    let same = Some((changes, threshold.to_bits()));
    let until = state.end.until(Phase::Stopping);
    let job = Jobs::begin(&state, JobKind::Clusters, same, until, move |state, job| {
        let found = state.index.clusters(threshold, CLUSTERS, job);
        let found = match found {
            Err(error) if error.kind().fault() == Fault::Busy => return Err(Kind::Stopping.into()),
            found => state.told(found)?,
        };
        let Clusters { clusters, further, documents, recall_at_threshold, left_out, .. } = found;
        let clusters = clusters.into_iter().map(ClusterSent::from).collect();
        Ok(ClustersSent { clusters, further, documents, threshold, recall_at_threshold, left_out })
    })?;
    sent(StatusCode::ACCEPTED, &Begun { job })
}
