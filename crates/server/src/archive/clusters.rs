//! Clusters of the archive.

use minwise::Observer;
use minwise_index::{Cluster, Clusters, Fault};
use serde::Serialize;
use utoipa::ToSchema;

use super::Archive;
use crate::problem::{Problem, ProblemKind};

/// Maximum number of clusters in an answer.
const LISTED_CLUSTERS: usize = 1000;
/// Maximum number of members per cluster in an answer.
const LISTED_MEMBERS: usize = 1000;

/// The clusters of near-duplicates in the archive, with the threshold and the recall of the search.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Clusters)]
pub(crate) struct ClustersAnswer {
    /// The clusters, largest first, up to 1000.
    clusters: Vec<ClusterAnswer>,
    /// Number of clusters that are not in the list.
    further: usize,
    /// Number of documents in all clusters.
    documents: u64,
    /// Minimum Jaccard similarity of a document to the keeper of its cluster.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    threshold: f64,
    /// Minimum probability that a document whose similarity to the keeper is exactly the threshold is found.
    #[schema(minimum = 0, maximum = 1)]
    recall_at_threshold: f64,
    /// Number of kept documents (documents that are similar to no earlier document) with which some later documents may not
    /// have been compared. If more than 256 kept documents share a band, later documents with this band are compared only
    /// with the first 256 kept documents; `left_out` counts the other kept documents.
    left_out: u64,
}

/// The keeper, and the documents that are similar to the keeper.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Cluster)]
pub(crate) struct ClusterAnswer {
    /// Number of documents in the cluster.
    size: usize,
    /// Id of the keeper, the document that was added first.
    keeper: String,
    /// The keeper, then the other members by descending similarity; up to 1000 documents.
    members: Vec<MemberAnswer>,
}

/// A document of a cluster.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ClusterMember)]
pub(crate) struct MemberAnswer {
    /// Id of the document.
    id: String,
    /// Title of the document, or null.
    #[schema(required = true)]
    title: Option<String>,
    /// Exact Jaccard similarity to the keeper; 1 for the keeper itself.
    #[schema(minimum = 0, maximum = 1)]
    similarity: f64,
}

impl From<Cluster> for ClusterAnswer {
    fn from(cluster: Cluster) -> Self {
        let size = cluster.members.len() + 1;
        let keeper = cluster.keeper.id.clone();
        let first = MemberAnswer { id: cluster.keeper.id, title: cluster.keeper.title, similarity: 1.0 };
        let others = cluster.members.into_iter().map(|member| MemberAnswer {
            id: member.entry.id,
            title: member.entry.title,
            similarity: member.similarity,
        });
        Self { size, keeper, members: std::iter::once(first).chain(others).take(LISTED_MEMBERS).collect() }
    }
}

impl Archive {
    /// Finds the clusters of the archive.
    pub(crate) fn clusters(
        &self,
        threshold: f64,
        observer: &dyn Observer,
    ) -> Result<ClustersAnswer, Problem> {
        let found = match self.index.clusters(threshold, LISTED_CLUSTERS, observer) {
            // The fault is `Busy` only if the shutdown of the server interrupts the search.
            Err(error) if error.kind().fault() == Fault::Busy => return Err(ProblemKind::Stopping.into()),
            found => self.or_problem(found)?,
        };
        let Clusters { clusters, further, documents, recall_at_threshold, left_out, .. } = found;
        let clusters = clusters.into_iter().map(ClusterAnswer::from).collect();
        Ok(ClustersAnswer { clusters, further, documents, threshold, recall_at_threshold, left_out })
    }
}

/// Returns a problem if clusters cannot have this threshold.
pub(crate) fn check_cluster_threshold(threshold: f64) -> Result<(), Problem> {
    minwise::candidate::tune::check_threshold(threshold)
        .map_err(|error| Problem::new(ProblemKind::BadSetting, error.to_string()))
}
