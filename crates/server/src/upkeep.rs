//! Upkeep: merges small changes, because each change leaves separate rows, which make the archive slower to
//! read. The server answers requests during a merge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;

use crate::archive::Archive;
use crate::limits::ServerLimits;
use crate::shutdown::Phase;

/// Number of documents per change: a merge waits for at least one change per 16 documents of the archive. A
/// merge writes the whole archive anew, so its cost per change is at most the cost of writing 16 documents.
const DOCUMENTS_PER_CHANGE: u64 = 16;

/// Merges the changes of an archive when there are enough changes.
pub(crate) struct Upkeep {
    archive: Arc<Archive>,
    /// Number of changes from which a merge is due.
    due: AtomicU64,
    is_merging: AtomicBool,
}

impl Upkeep {
    pub(crate) fn new(archive: Arc<Archive>) -> Self {
        // If the index cannot count its documents yet, the first request gets the error.
        let documents = archive.index.statistics().map_or(0, |numbers| numbers.documents);
        let due = AtomicU64::new(due(&archive.limits, documents));
        Self { archive, due, is_merging: AtomicBool::new(false) }
    }

    /// Starts a merge on a thread of its own if there are enough changes and no merge runs.
    pub(crate) fn merge_if_due(self: &Arc<Self>) {
        let is_due = self.archive.unmerged.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed);
        if !is_due || self.is_merging.swap(true, Ordering::Relaxed) {
            return;
        }
        self.archive.unmerged.store(0, Ordering::Relaxed);
        let upkeep = Arc::clone(self);
        tokio::spawn(async move {
            let thread = Arc::clone(&upkeep);
            let merged = tokio::task::spawn_blocking(move || thread.merge()).await;
            // The flag is cleared outside of `merge`, because a panic in `merge` must not end all upkeep.
            upkeep.is_merging.store(false, Ordering::Relaxed);
            if let Err(panic) = merged {
                upkeep.archive.panicked(&panic);
            }
        });
    }

    fn merge(&self) {
        let archive = &self.archive;
        let merged = archive.index.compact(&archive.shutdown.until(Phase::Stopping));
        // `or_problem` logs an error. If the shutdown interrupts a merge, a later server merges.
        if archive.or_problem(merged).is_ok() {
            archive.metrics.merged.inc();
            archive.log(&json!({"event": "merged"}));
        }
        if let Ok(numbers) = archive.index.statistics() {
            self.due.store(due(&archive.limits, numbers.documents), Ordering::Relaxed);
        }
    }
}

/// Returns the number of changes from which a merge is due, for an archive with this many documents.
fn due(limits: &ServerLimits, documents: u64) -> u64 {
    limits.unmerged_changes.max(documents / DOCUMENTS_PER_CHANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_archive_is_merged_after_more_changes() {
        let limits = ServerLimits { unmerged_changes: 10, ..ServerLimits::default() };
        assert_eq!(due(&limits, 0), 10);
        assert_eq!(due(&limits, 1_600_000), 100_000);
    }
}
