//! Jobs that find clusters.

use super::{JobKey, JobKind, Jobs};
use crate::problem::Problem;
use crate::shutdown::Phase;

impl Jobs {
    /// Queues a job that finds the clusters of the archive, and returns its id. `changes` is the number of
    /// changes of the archive so far: until it grows, calls with the same threshold return the same job.
    pub(crate) fn find_clusters(&self, threshold: f64, changes: u64) -> Result<String, Problem> {
        let key = JobKey { changes, threshold: threshold.to_bits() };
        // A search changes nothing and can be repeated, so the shutdown cancels it instead of waiting for it.
        let until = self.archive.shutdown.until(Phase::Stopping);
        self.begin(JobKind::Clusters, Some(key), until, move |archive, job| archive.clusters(threshold, job))
    }
}
